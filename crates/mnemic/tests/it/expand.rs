//! Recall that follows links: who joins, with what score, and who never does.

use std::collections::HashMap;

use mnemic::{
    ErrorKind, Expand, Hit, Include, Link, Memory, MemoryUpdate, NewMemory, NewRelation, Outcome,
    Preset, Recall, RelationKind, Scope,
};
use proptest::prelude::*;

use crate::support::{builder, memory, sound, time};

const NOW: &str = "2026-02-01";

/// A memory by words alone, so that what no word finds is no candidate.
fn words() -> Memory {
    Memory::builder().no_embedder().open_in_memory().unwrap()
}

fn put(memory: &Memory, id: &str, content: &str) {
    let new = NewMemory::new(content)
        .id(id)
        .created_at(time("2026-01-01"));
    memory.store(new).unwrap();
}

fn draw(memory: &Memory, from: &str, to: &str) {
    memory.relate((from, to, "cites", "by name")).unwrap();
}

fn asked(query: &str) -> Recall {
    Recall::new(query).now(time(NOW))
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.id.as_str()).collect()
}

/// `hit` is found; `one`, `two` and `three` are so many steps from it.
fn chain() -> Memory {
    let memory = words();
    put(&memory, "hit", "deploys freeze on Fridays");
    for id in ["one", "two", "three"] {
        put(&memory, id, "something else");
    }
    draw(&memory, "hit", "one");
    draw(&memory, "two", "one");
    draw(&memory, "two", "three");
    memory
}

#[test]
fn neighbours_join_with_what_is_left_of_the_score() {
    let memory = chain();
    assert_eq!(ids(&memory.recall(asked("deploys")).unwrap()), ["hit"]);
    let expanded = asked("deploys").expand(Expand::new().depth(2).decay(0.6));
    let hits = memory.recall(expanded.clone()).unwrap();
    assert_eq!(ids(&hits), ["hit", "one", "two"]);
    let best = &hits[0];
    assert_eq!(best.signals.expanded, None);
    for (hit, factor) in hits[1..].iter().zip([0.6, 0.36]) {
        assert!((hit.score - factor * best.score).abs() < 1e-12);
        assert!((hit.relevance - factor * best.relevance).abs() < 1e-12);
        assert_eq!((hit.signals.word, hit.signals.bm25), (0.0, None));
        assert!((hit.signals.factor() - factor).abs() < 1e-12);
    }
    let how = hits[2].signals.expanded.as_ref().unwrap();
    assert_eq!((&*how.from, how.distance, how.outward), ("hit", 2, false));
    assert_eq!(how.link, Link::Relation(RelationKind::from("cites")));
    assert!(
        hits[2]
            .signals
            .to_string()
            .ends_with("2 steps from hit (cites ←), × 0.36"),
        "{}",
        hits[2].signals
    );

    let told = memory.explain(expanded.clone(), "two").unwrap();
    assert_eq!(told.outcome, Outcome::Hit { rank: 3, of: 3 });
    assert_eq!(told.score, Some(hits[2].score));
    assert_eq!(told.signals.as_ref(), Some(&hits[2].signals));
    let text = told.to_string();
    assert!(
        text.contains("expanded   2 steps from hit (cites ←)"),
        "{text}"
    );
    assert!(text.contains("= 0.360 · that of hit"), "{text}");
    let told = memory.explain(expanded, "three").unwrap();
    assert!(told.to_string().contains("no leg finds it"), "{told}");
}

trait Factor {
    fn factor(&self) -> f64;
}

impl Factor for mnemic::Signals {
    fn factor(&self) -> f64 {
        self.expanded.as_ref().map_or(0.0, |how| how.factor)
    }
}

#[test]
fn each_choice_of_links_is_kept() {
    let memory = words();
    put(&memory, "hit", "deploys freeze on Fridays");
    for id in ["cited", "citing", "objection", "cause", "effect"] {
        put(&memory, id, "something else");
    }
    draw(&memory, "hit", "cited");
    draw(&memory, "citing", "hit");
    memory
        .relate(("objection", "hit", "contradicts", "not in May"))
        .unwrap();
    let caused_by = |id: &str| MemoryUpdate::new().caused_by(id);
    memory.update("hit", caused_by("cause")).unwrap();
    memory.update("effect", caused_by("hit")).unwrap();
    let around = |expand: Expand| {
        let hits = memory.recall(asked("deploys").expand(expand)).unwrap();
        let mut found: Vec<String> = hits.into_iter().map(|hit| hit.memory.id).collect();
        assert_eq!(found.remove(0), "hit");
        found.sort_unstable();
        found
    };
    let all = ["cause", "cited", "citing", "effect", "objection"];
    assert_eq!(around(Expand::new()), all);
    assert_eq!(around(Expand::new().outward()), ["cited", "effect"]);
    assert_eq!(
        around(Expand::new().inward()),
        ["cause", "citing", "objection"]
    );
    assert_eq!(
        around(Expand::new().kinds([RelationKind::CONTRADICTS])),
        ["objection"]
    );
    assert_eq!(
        around(Expand::new().kinds(["contradicts"]).causes(true)),
        ["cause", "effect", "objection"]
    );
    assert_eq!(
        around(Expand::new().causes(false)),
        ["cited", "citing", "objection"]
    );
    assert!(around(Expand::new().depth(0)).is_empty());
    assert!(around(Expand::new().limit(0)).is_empty());
    assert!(around(Expand::new().decay(0.0)).is_empty());
    assert!(around(Expand::new().from_best(0)).is_empty());
    assert_eq!(around(Expand::new().limit(2)).len(), 2);
}

#[test]
fn a_decay_that_is_none_is_refused() {
    let memory = chain();
    for decay in [-0.1, 1.01, f64::NAN, f64::INFINITY] {
        let error = memory
            .recall(asked("deploys").expand(Expand::new().decay(decay)))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&decay.to_string()), "{error}");
    }
    let whole = asked("deploys").expand(Expand::new().decay(1.0));
    let hits = memory.recall(whole).unwrap();
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0].score, hits[1].score);
}

#[test]
fn what_joins_passes_the_filter_and_scopes_are_not_crossed() {
    let memory = words();
    let store = |id: &str, content: &str, project: &str, tags: &[&str], day: &str| {
        let new = NewMemory::new(content).id(id).project(project);
        memory
            .store(new.tags(tags.iter().copied()).created_at(time(day)))
            .unwrap();
    };
    store("hit", "deploys freeze", "web", &["ops"], "2026-01-05");
    store("near", "x", "web", &["ops"], "2026-01-05");
    store("untagged", "x", "web", &[], "2026-01-05");
    store("behind", "x", "web", &["ops"], "2026-01-05");
    store("old", "x", "web", &["ops"], "2025-01-05");
    store("foreign", "x", "home", &["ops"], "2026-01-05");
    store("beyond", "x", "web", &["ops"], "2026-01-05");
    for (from, to) in [
        ("hit", "near"),
        ("hit", "untagged"),
        ("untagged", "behind"),
        ("hit", "old"),
        ("hit", "foreign"),
        ("foreign", "beyond"),
    ] {
        draw(&memory, from, to);
    }
    let recall = asked("deploys")
        .tags_any(["ops"])
        .since(time("2026-01-01"))
        .expand(Expand::new().depth(2));
    let found = |recall: Recall| {
        let hits = memory.recall(recall).unwrap();
        let mut ids: Vec<String> = hits.into_iter().map(|hit| hit.memory.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(
        found(recall.clone().project("web")),
        ["behind", "hit", "near"]
    );
    assert_eq!(
        found(recall.clone().scope(Scope::All)),
        ["behind", "beyond", "foreign", "hit", "near"]
    );
    assert_eq!(
        found(recall.clone().project("web").ids(["hit", "behind"])),
        ["behind", "hit"]
    );
    let web = memory.in_project("web");
    let hits = web.recall(recall).unwrap();
    assert_eq!(hits.len(), 3);
    assert!(
        hits.iter()
            .all(|hit| hit.memory.project.as_deref() == Some("web"))
    );
}

#[test]
fn what_is_not_current_joins_only_where_it_is_asked_for() {
    let memory = chain();
    put(&memory, "newer", "something newer");
    memory.supersede("one", "newer").unwrap();
    let ask = || asked("deploys").expand(Expand::new().depth(2));
    // Through the one that is superseded to what lies behind it.
    assert_eq!(ids(&memory.recall(ask()).unwrap()), ["hit", "newer", "two"]);
    let all = memory.recall(ask().include(Include::all())).unwrap();
    assert_eq!(ids(&all), ["hit", "one", "newer", "two"]);
    memory.forget(["newer", "two"]).unwrap();
    assert_eq!(ids(&memory.recall(ask()).unwrap()), ["hit"]);
}

#[test]
fn what_was_known_then_is_told_by_what_was_drawn_then() {
    let memory = words();
    put(&memory, "hit", "deploys freeze on Fridays");
    put(&memory, "near", "something else");
    let drawn = NewRelation::because("hit", "near", "cites", "by name");
    memory.relate(drawn.created_at(time("2026-01-20"))).unwrap();
    let then = |day: &str| {
        let recall = asked("deploys").expand(Expand::new()).as_of(time(day));
        memory.recall(recall).unwrap().len()
    };
    assert_eq!((then("2026-01-19"), then("2026-01-20")), (1, 2));
}

#[test]
fn limit_floors_and_budget_cut_what_joined() {
    let memory = chain();
    put(
        &memory,
        "other",
        "deploys are done by the bot, and by nobody else at all",
    );
    let expand = Expand::new().depth(2).decay(0.9);
    let hits = memory
        .recall(asked("deploys freeze").expand(expand.clone()))
        .unwrap();
    assert_eq!(ids(&hits), ["hit", "one", "two", "other"]);
    let cut = asked("deploys freeze").expand(expand.clone()).limit(2);
    assert_eq!(ids(&memory.recall(cut).unwrap()), ["hit", "one"]);
    let floor = asked("deploys freeze")
        .expand(expand.clone())
        .min_score(hits[1].score);
    assert_eq!(ids(&memory.recall(floor).unwrap()), ["hit", "one"]);
    let floor = asked("deploys freeze")
        .expand(expand.clone())
        .min_relevance(hits[1].relevance);
    assert_eq!(ids(&memory.recall(floor).unwrap()), ["hit", "one"]);
    let packed = asked("deploys freeze")
        .expand(expand)
        .budget(9, |text: &str| text.split_whitespace().count());
    assert!(memory.recall(packed).unwrap().len() < 4);
}

#[test]
fn without_it_a_recall_is_what_it_was() {
    let (plain, linked) = (memory(), memory());
    for memory in [&plain, &linked] {
        for i in 0..40 {
            put(
                memory,
                &format!("m{i}"),
                &format!("w{} w{} w{}", i % 7, i % 5, i % 3),
            );
        }
    }
    for i in 0..39 {
        draw(&linked, &format!("m{i}"), &format!("m{}", i + 1));
    }
    for query in ["w1 w2", "w6", "w0 w4"] {
        let ask = || asked(query).limit(7);
        let expected = plain.recall(ask()).unwrap();
        assert_eq!(linked.recall(ask()).unwrap(), expected);
        assert!(expected.iter().all(|hit| hit.signals.expanded.is_none()));
        // Where there are no links, it does nothing.
        let expanded = plain.recall(ask().expand(Expand::new().depth(5)));
        assert_eq!(expanded.unwrap(), expected);
    }
    sound(&linked);
}

#[test]
fn a_reranker_reads_what_joined() {
    use mnemic::{EmbedError, Reranker, RerankingModel};
    #[derive(Debug)]
    struct Likes(RerankingModel);
    impl Reranker for Likes {
        fn model(&self) -> &RerankingModel {
            &self.0
        }
        fn rerank(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
            let grade = |text: &&str| if text.contains("else") { 0.9 } else { 0.1 };
            Ok(passages.iter().map(grade).collect())
        }
    }
    let memory = Memory::builder()
        .no_embedder()
        .reranker(Likes(RerankingModel::new("likes", "1")))
        .open_in_memory()
        .unwrap();
    put(&memory, "hit", "deploys freeze on Fridays");
    put(&memory, "near", "something else");
    draw(&memory, "hit", "near");
    let recall = asked("deploys").expand(Expand::new());
    let hits = memory.recall(recall.clone()).unwrap();
    assert_eq!(ids(&hits), ["near", "hit"]);
    assert!(hits[0].signals.expanded.is_some());
    assert!(hits[0].signals.rerank.is_some());
    let told = memory.explain(recall, "near").unwrap();
    assert_eq!(told.outcome, Outcome::Hit { rank: 1, of: 2 });
    assert!(told.to_string().contains("reranker"), "{told}");
}

const PRESETS: [fn() -> Preset; 4] = [
    Preset::default,
    Preset::rekal,
    Preset::word_only,
    Preset::vector_only,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Nobody is lost by links, nobody falls, and each score that rose is the part that was said of the score it came from.
    #[test]
    fn scores_come_from_where_they_are_said_to(
        texts in prop::collection::vec(prop::collection::vec(0..9u8, 1..4), 2..14),
        links in prop::collection::vec((0..14usize, 0..14usize), 0..20),
        decay in prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0f64],
        depth in 0..4usize,
        query in 0..9u8,
        preset in 0..PRESETS.len(),
        by_words in any::<bool>(),
    ) {
        let memory = if by_words { words() } else { builder().open_in_memory().unwrap() };
        for (i, words) in texts.iter().enumerate() {
            let words: Vec<String> = words.iter().map(|w| format!("w{w}")).collect();
            put(&memory, &format!("m{i}"), &words.join(" "));
        }
        for (from, to) in links {
            let (from, to) = (from % texts.len(), to % texts.len());
            if from != to {
                draw(&memory, &format!("m{from}"), &format!("m{to}"));
            }
        }
        let plain = asked(&format!("w{query}")).preset(PRESETS[preset]()).no_limit();
        let recall = plain.clone().expand(Expand::new().decay(decay).depth(depth));
        let (before, after) = (memory.recall(plain).unwrap(), memory.recall(recall.clone()).unwrap());
        // The resident index answers the second time; alike.
        prop_assert_eq!(&memory.recall(recall.clone()).unwrap(), &after);
        let scores: HashMap<&str, f64> = before.iter().map(|hit| (hit.memory.id.as_str(), hit.score)).collect();
        let place: HashMap<&str, usize> = after.iter().enumerate().map(|(i, hit)| (hit.memory.id.as_str(), i)).collect();
        for id in scores.keys() {
            prop_assert!(place.contains_key(id));
        }
        prop_assert!(after.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for (i, hit) in after.iter().enumerate() {
            let own = scores.get(hit.memory.id.as_str()).copied();
            match &hit.signals.expanded {
                None => prop_assert!(own.is_none_or(|own| own == hit.score)),
                Some(how) => {
                    let given = scores[how.from.as_str()];
                    prop_assert_eq!(hit.score, how.factor * given);
                    prop_assert_eq!(how.factor, decay.powi(how.distance as i32));
                    prop_assert!(own.is_none_or(|own| own < hit.score));
                    prop_assert!(how.distance >= 1 && how.distance <= depth);
                    prop_assert!(hit.score <= given);
                }
            }
            let told = memory.explain(recall.clone(), &hit.memory.id).unwrap();
            prop_assert_eq!(told.outcome, Outcome::Hit { rank: i + 1, of: after.len() });
            prop_assert_eq!(told.score, Some(hit.score));
        }
    }
}

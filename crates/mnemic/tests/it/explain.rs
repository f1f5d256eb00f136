//! Why a memory is a hit, or is not: against what recall itself returns.

use mnemic::{
    Calibrate, Condition, Dropped, ErrorKind, Explanation, Memory, NewMemory, Outcome, Preset,
    Recall, Scope, Silence, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{Parsed, builder, memory, time};

fn dropped(explanation: Explanation) -> Dropped {
    match explanation.outcome {
        Outcome::Dropped(dropped) => dropped,
        other => panic!("{other:?}"),
    }
}

/// Three memories of the project `web`, their cosines to `[1 0 0]` known.
fn web() -> Memory {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let store = |id: &str, text: &str| {
        let new = NewMemory::new(text).id(id).project("web").tags(["ops"]);
        memory.store(new.created_at(time("2026-05-01"))).unwrap();
    };
    store("a", "[1 0 0] zebra");
    store("b", "[0.8 0.6 0] horse");
    store("c", "[0 1 0] cow");
    memory
}

fn ask() -> Recall {
    Recall::new("[1 0 0] zebra")
        .project("web")
        .now(time("2026-05-31"))
}

#[test]
fn a_hit_has_the_numbers_of_the_recall() {
    let memory = web();
    let hits = memory.recall(ask()).unwrap();
    for (place, hit) in hits.iter().enumerate() {
        let explanation = memory.explain(ask(), &hit.memory.id).unwrap();
        assert_eq!(
            explanation.outcome,
            Outcome::Hit {
                rank: place + 1,
                of: 3
            }
        );
        assert_eq!(explanation.memory, hit.memory);
        assert_eq!(explanation.score, Some(hit.score));
        assert_eq!(explanation.relevance, Some(hit.relevance));
        assert_eq!(explanation.signals, Some(hit.signals));
    }
    let first = memory.explain(ask(), "a").unwrap();
    assert_eq!(
        (first.held, first.lacking),
        (vec!["1".into(), "0".into(), "zebra".into()], vec![])
    );
    assert_eq!(first.without_vectors, None);
}

#[test]
fn each_stage_is_named_with_its_numbers() {
    let memory = web();
    let explain = |recall: Recall| dropped(memory.explain(recall, "b").unwrap());
    let (scope, project) = (Scope::Global, Some("web".to_owned()));
    assert_eq!(
        explain(ask().scope(scope.clone())),
        Dropped::Scope { scope, project }
    );

    let (later, earlier) = (time("2026-05-02"), time("2026-05-01"));
    let all_wrong = ask()
        .tags_any(["art"])
        .tags_all(["ops", "art"])
        .tags_none(["OPS"])
        .since(later)
        .until(earlier)
        .ids(["a"]);
    let failed = vec![
        Condition::TagsAny(vec!["art".into()]),
        Condition::TagsAll(vec!["ops".into(), "art".into()]),
        Condition::TagsNone(vec!["OPS".into()]),
        Condition::Since(later),
        Condition::Until(earlier),
        Condition::Ids,
    ];
    assert_eq!(explain(all_wrong), Dropped::Filter { failed });

    let mut question = ask();
    assert_eq!(
        explain(question.clone().min_score(2.0)),
        Dropped::MinScore {
            score: memory.recall(ask()).unwrap()[1].score,
            floor: 2.0
        }
    );
    question = question.min_relevance(0.95);
    let relevance = memory.recall(ask()).unwrap()[1].relevance;
    assert_eq!(
        explain(question),
        Dropped::MinRelevance {
            relevance,
            floor: 0.95
        }
    );
    assert_eq!(
        explain(ask().limit(1)),
        Dropped::Limit { rank: 2, limit: 1 }
    );
    assert_eq!(
        explain(ask().limit(0)),
        Dropped::Limit { rank: 2, limit: 0 }
    );
    let budget = explain(ask().budget(15, |text: &str| if text.contains("zebra") { 9 } else { 7 }));
    assert_eq!(
        budget,
        Dropped::Budget {
            rank: 2,
            tokens: 7,
            left: 6,
            budget: 15
        }
    );

    let calibration = memory
        .calibrate(Calibrate::new(Preset::default()).queries(20))
        .unwrap();
    let floor = calibration.relevance(100.0);
    assert!(floor > relevance, "{floor}");
    assert_eq!(
        explain(ask().min_percentile(100.0)),
        Dropped::MinPercentile {
            relevance,
            floor,
            percent: 100.0
        }
    );
}

#[test]
fn a_memory_beyond_the_candidates_has_its_rank_in_each_leg() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    // Each a little further off than the one before; the words of all are alike, but for those of the last.
    let crowd =
        (0..50).map(|i| NewMemory::new(format!("[1 0.{i:02} 0] crowd")).id(format!("{i:02}")));
    memory.store_all(crowd).unwrap();
    memory
        .store(NewMemory::new("[0 1 0] crowd after a long while of other words").id("last"))
        .unwrap();
    let found = memory
        .explain(Recall::new("[1 0 0] crowd").limit(3), "last")
        .unwrap();
    assert_eq!(found.without_vectors, None);
    let word = found.signals.unwrap().word_rank;
    assert_eq!(word, Some(51));
    assert_eq!(
        dropped(found),
        Dropped::NotACandidate {
            word_rank: word,
            vector_rank: Some(51),
            candidates: 30
        }
    );
    let deeper = memory
        .explain(Recall::new("[1 0 0] crowd").limit(17), "last")
        .unwrap();
    assert_eq!(
        dropped(deeper),
        Dropped::Limit {
            rank: 51,
            limit: 17
        }
    );
}

#[test]
fn what_no_leg_finds_is_told_apart() {
    let memory = memory();
    memory
        .store_all([
            NewMemory::new("alpha").id("a"),
            NewMemory::new("beta").id("b"),
        ])
        .unwrap();
    let none = Dropped::NotACandidate {
        word_rank: None,
        vector_rank: None,
        candidates: 30,
    };
    let words = memory
        .explain(Recall::new("alpha").preset(Preset::word_only()), "b")
        .unwrap();
    assert_eq!((words.score, words.signals), (None, None));
    assert_eq!(words.without_vectors, Some(Silence::NoWeight));
    assert_eq!(
        (words.held.clone(), words.lacking.clone()),
        (vec![], vec!["alpha".to_owned()])
    );
    assert_eq!(dropped(words), none);

    let blank = memory.explain(Recall::new("🎉 …"), "a").unwrap();
    assert_eq!(blank.without_vectors, None);
    assert_eq!(dropped(blank), Dropped::NoWords);
}

#[test]
fn why_vectors_were_not_searched_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = Memory::builder().no_embedder().open(&path).unwrap();
    words.store(NewMemory::new("alpha").id("a")).unwrap();
    let no_model = words.explain("alpha", "a").unwrap();
    assert_eq!(no_model.without_vectors, Some(Silence::NoModel));
    assert_eq!(no_model.outcome, Outcome::Hit { rank: 1, of: 1 });
    drop(words);
    let model = builder().open(&path).unwrap();
    let no_vectors = model.explain("alpha", "a").unwrap();
    assert_eq!(no_vectors.without_vectors, Some(Silence::NoVectors));
    assert_eq!(no_vectors.signals.unwrap().cosine, None);
    model.repair().unwrap();
    assert_eq!(model.explain("alpha", "a").unwrap().without_vectors, None);
}

#[test]
fn an_id_of_no_memory_is_not_found() {
    let error = web().explain(ask(), "nobody").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("nobody"));
}

#[test]
fn explaining_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder()
        .open(&path)
        .unwrap()
        .store(NewMemory::new("alpha").id("a"))
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let reader = builder().open_read_only(&path).unwrap();
    assert_eq!(
        reader.explain("alpha", "a").unwrap().outcome,
        Outcome::Hit { rank: 1, of: 1 }
    );
    assert_eq!(
        reader
            .explain(Recall::new("alpha").project("p"), "a")
            .unwrap()
            .score,
        None
    );
    drop(reader);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn it_prints_what_a_person_understands() {
    let memory = web();
    let print = |recall: Recall, id: &str| memory.explain(recall, id).unwrap().to_string();
    let hit = memory.explain(ask(), "a").unwrap();
    let signals = hit.signals.unwrap();
    assert_eq!(
        hit.to_string(),
        format!(
            "a: \"[1 0 0] zebra\"\n  hit 1 of 3\n  words      {:.3}, rank 1; held: 1, 0, zebra; not held: none\n  \
             vector     1.000, rank 1; cosine 1.000\n  newness    0.500; 30.0 days old\n  \
             relevance  {:.3} = (0.5 · words + 0.5 · vector) / 1\n  \
             score      {:.3} = 0.99 · relevance + 0.01 · newness\n",
            signals.word,
            hit.relevance.unwrap(),
            hit.score.unwrap()
        )
    );
    for (recall, expected) in [
        (
            ask().scope(Scope::Global),
            "it is of the project \"web\", and global memories were asked for",
        ),
        (
            ask().since(time("2026-06-01")),
            "created before 2026-06-01 00:00:00 (since)",
        ),
        (
            ask().limit(2),
            "dropped by the limit: it is number 3, and 2 were asked for",
        ),
        (ask().min_relevance(0.9), "dropped by min_relevance"),
        (
            ask().budget(3, |_: &str| 2),
            "number 3 has 2 tokens, and better ones left 1 of 3",
        ),
        (
            Recall::new("zebra")
                .preset(Preset::word_only())
                .project("web"),
            "no leg finds it",
        ),
    ] {
        let text = print(recall, "c");
        assert!(text.contains(expected), "{text}");
    }
}

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "夜景", "zeta"];
const PROJECTS: [Option<&str>; 2] = [None, Some("web")];
const TAGS: [&str; 3] = ["art", "ops", "Ops"];

/// A question with every obstacle that there is, each of which may be there or not.
#[derive(Debug, Clone)]
struct Question {
    text: String,
    scope: Scope,
    tags_any: Vec<String>,
    tags_all: Vec<String>,
    tags_none: Vec<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    ids: Option<Vec<String>>,
    limit: usize,
    min_score: Option<f64>,
    min_relevance: Option<f64>,
    percentile: Option<f64>,
    budget: Option<usize>,
    preset: Preset,
}

impl Question {
    fn recall(&self) -> Recall {
        let mut recall = Recall::new(&self.text)
            .scope(self.scope.clone())
            .tags_any(self.tags_any.clone())
            .tags_all(self.tags_all.clone())
            .tags_none(self.tags_none.clone())
            .limit(self.limit)
            .preset(self.preset)
            .now(time("2026-02-01"));
        if let Some(time) = self.since {
            recall = recall.since(time);
        }
        if let Some(time) = self.until {
            recall = recall.until(time);
        }
        if let Some(ids) = &self.ids {
            recall = recall.ids(ids.clone());
        }
        if let Some(floor) = self.min_score {
            recall = recall.min_score(floor);
        }
        if let Some(floor) = self.min_relevance {
            recall = recall.min_relevance(floor);
        }
        if let Some(percent) = self.percentile {
            recall = recall.min_percentile(percent);
        }
        if let Some(tokens) = self.budget {
            recall = recall.budget(tokens, |text: &str| text.split_whitespace().count());
        }
        recall
    }

    /// The question without the obstacle that was named.
    fn without(&self, dropped: &Dropped) -> Self {
        let mut lifted = self.clone();
        match dropped {
            Dropped::Scope { .. } => lifted.scope = Scope::All,
            Dropped::Filter { failed } => {
                for condition in failed {
                    match condition {
                        Condition::TagsAny(_) => lifted.tags_any.clear(),
                        Condition::TagsAll(_) => lifted.tags_all.clear(),
                        Condition::TagsNone(_) => lifted.tags_none.clear(),
                        Condition::Since(_) => lifted.since = None,
                        Condition::Until(_) => lifted.until = None,
                        Condition::Ids => lifted.ids = None,
                        other => panic!("{other}"),
                    }
                }
            }
            Dropped::NoWords => lifted.text = "alpha beta".into(),
            Dropped::NotACandidate { .. } | Dropped::Limit { .. } => lifted.limit = usize::MAX,
            Dropped::MinScore { .. } => lifted.min_score = None,
            Dropped::MinRelevance { .. } => lifted.min_relevance = None,
            Dropped::MinPercentile { .. } => lifted.percentile = None,
            Dropped::Budget { .. } => lifted.budget = None,
            other => panic!("{other}"),
        }
        lifted
    }
}

/// Where in the order of the stages one is.
fn stage(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Dropped(Dropped::Scope { .. }) => 0,
        Outcome::Dropped(Dropped::Filter { .. }) => 1,
        Outcome::Dropped(Dropped::NoWords) => 2,
        Outcome::Dropped(Dropped::NotACandidate { .. }) => 3,
        Outcome::Dropped(Dropped::MinScore { .. }) => 4,
        Outcome::Dropped(Dropped::MinRelevance { .. }) => 5,
        Outcome::Dropped(Dropped::MinPercentile { .. }) => 6,
        Outcome::Dropped(Dropped::Limit { .. }) => 7,
        Outcome::Dropped(Dropped::Budget { .. }) => 8,
        Outcome::Hit { .. } => 9,
        other => panic!("{other:?}"),
    }
}

/// Each number that a reason states is true, and lifting the obstacle it names takes the memory to a later stage.
fn verify(memory: &Memory, question: &Question, id: &str) -> Result<(), TestCaseError> {
    let explanation = memory.explain(question.recall(), id).unwrap();
    let hits = memory.recall(question.recall()).unwrap();
    let place = hits.iter().position(|hit| hit.memory.id == id);
    let Outcome::Dropped(reason) = &explanation.outcome else {
        let place = place.expect("a hit is among the hits");
        prop_assert_eq!(
            &explanation.outcome,
            &Outcome::Hit {
                rank: place + 1,
                of: hits.len()
            }
        );
        prop_assert_eq!(explanation.score, Some(hits[place].score));
        prop_assert_eq!(explanation.signals, Some(hits[place].signals));
        return Ok(());
    };
    prop_assert_eq!(place, None, "{}", explanation);
    prop_assert!(!explanation.to_string().is_empty());
    let lifted = question.without(reason);
    let after = memory.explain(lifted.recall(), id).unwrap();
    match reason {
        Dropped::NotACandidate {
            word_rank: None,
            vector_rank: None,
            ..
        } => {
            // No limit helps where no leg finds it.
            prop_assert_eq!(stage(&after.outcome), 3);
            let bare = Recall::new(&question.text)
                .scope(Scope::All)
                .no_limit()
                .preset(question.preset);
            prop_assert!(
                memory
                    .recall(bare)
                    .unwrap()
                    .iter()
                    .all(|hit| hit.memory.id != id)
            );
            return Ok(());
        }
        Dropped::NotACandidate {
            word_rank,
            vector_rank,
            candidates,
        } => {
            prop_assert_eq!(*candidates, (3 * question.limit).max(30));
            // Ranks are shared; so those that are better, and not the rank, fill the candidates.
            let bare = Question {
                min_score: None,
                min_relevance: None,
                percentile: None,
                budget: None,
                ..lifted.clone()
            };
            let all = memory.recall(bare.recall()).unwrap();
            let as_good =
                |rank: fn(&mnemic::Signals) -> Option<usize>, own: &Option<usize>| match own {
                    Some(own) => all
                        .iter()
                        .filter(|hit| rank(&hit.signals).is_some_and(|rank| rank <= *own))
                        .count(),
                    None => usize::MAX,
                };
            prop_assert!(as_good(|signals| signals.word_rank, word_rank) > *candidates);
            prop_assert!(as_good(|signals| signals.vector_rank, vector_rank) > *candidates);
        }
        Dropped::MinScore { score, floor } => prop_assert!(score < floor),
        Dropped::MinRelevance { relevance, floor }
        | Dropped::MinPercentile {
            relevance, floor, ..
        } => {
            prop_assert!(relevance < floor);
        }
        Dropped::Limit { rank, limit } => {
            prop_assert!(rank > limit);
            prop_assert_eq!(*limit, question.limit);
        }
        Dropped::Budget {
            rank,
            tokens,
            left,
            budget,
        } => {
            prop_assert!(tokens > left && left <= budget);
            prop_assert_eq!(
                &after.outcome,
                &Outcome::Hit {
                    rank: *rank,
                    of: memory.recall(lifted.recall()).unwrap().len()
                }
            );
        }
        _ => {}
    }
    prop_assert!(
        stage(&after.outcome) > stage(&explanation.outcome),
        "{}\n{}",
        explanation,
        after
    );
    Ok(())
}

fn words(least: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), least..5)
        .prop_map(|words| words.join(" "))
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    let tag = prop::sample::select(&TAGS[..]).prop_map(str::to_owned);
    prop_oneof![9 => Just(Vec::new()), 1 => prop::collection::vec(tag, 1..3)]
}

fn day() -> impl Strategy<Value = Timestamp> {
    (1u8..28).prop_map(|day| time(&format!("2026-01-{day:02}")))
}

fn maybe<T: std::fmt::Debug + Clone + 'static>(
    percent: u32,
    some: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(f64::from(percent) / 100.0, some)
}

fn question() -> impl Strategy<Value = Question> {
    let scope = prop::sample::select(vec![
        Scope::Global,
        Scope::Project("web".into()),
        Scope::ProjectAndGlobal("web".into()),
        Scope::All,
        Scope::All,
    ]);
    let preset = prop::sample::select(vec![
        Preset::default(),
        Preset::default(),
        Preset::rekal(),
        Preset::reciprocal_rank(),
        Preset::word_only(),
        Preset::vector_only(),
    ]);
    let filter = (
        tags(),
        tags(),
        tags(),
        maybe(15, day()),
        maybe(15, day()),
        maybe(10, prop::collection::vec("[0-6][0-9]", 0..40)),
    );
    let cuts = (
        0usize..16,
        maybe(20, 0.0..0.7f64),
        maybe(20, 0.0..0.7f64),
        maybe(20, 0.0..100.0f64),
        maybe(50, 0usize..40),
    );
    let text = prop_oneof![15 => words(1), 1 => Just("…".to_owned())];
    (text, scope, filter, cuts, preset).prop_map(|(text, scope, filter, cuts, preset)| {
        let (tags_any, tags_all, tags_none, since, until, ids) = filter;
        let (limit, min_score, min_relevance, percentile, budget) = cuts;
        // The relevance of ranks has no percentiles.
        let percentile = percentile.filter(|_| preset != Preset::reciprocal_rank());
        Question {
            text,
            scope,
            tags_any,
            tags_all,
            tags_none,
            since,
            until,
            ids,
            limit,
            min_score,
            min_relevance,
            percentile,
            budget,
            preset,
        }
    })
}

proptest! {
    #![proptest_config(Config::with_cases(24))]

    #[test]
    fn what_is_explained_is_what_recall_does(
        rows in prop::collection::vec((words(1), 0usize..2, tags(), day()), 0..70),
        questions in prop::collection::vec(question(), 1..4),
        with_model in prop::bool::weighted(0.8),
    ) {
        let memory = if with_model { memory() } else { Memory::builder().no_embedder().open_in_memory().unwrap() };
        let new = |(i, (text, project, tags, created)): (usize, &(String, usize, Vec<String>, Timestamp))| {
            let new = NewMemory::new(text).id(format!("{i:02}")).tags(tags.clone()).created_at(*created);
            match PROJECTS[*project] {
                Some(project) => new.project(project),
                None => new,
            }
        };
        memory.store_all(rows.iter().enumerate().map(new)).unwrap();
        for question in &questions {
            if question.percentile.is_some() {
                let calibrated = memory.calibrate(Calibrate::new(question.preset).queries(20));
                prop_assert_eq!(calibrated.is_ok(), !rows.is_empty());
                if rows.is_empty() {
                    continue;
                }
            }
            for i in 0..rows.len() {
                verify(&memory, question, &format!("{i:02}"))?;
            }
        }
    }
}

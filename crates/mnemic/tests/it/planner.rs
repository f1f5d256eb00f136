//! Plans: which intent a question has, what a plan changes, and that it never takes a hit away.

use std::sync::Arc;

use mnemic::{
    EmbedError, ErrorKind, Intent, Memory, NewMemory, Outcome, Plan, Preset, QueryPlanner, Recall,
    Reranker, RerankingModel, RulePlanner, Scope,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{builder, contents, memory, time};

/// A question with the intent that whoever wrote it had in mind.
#[derive(Debug)]
struct Question {
    lot: &'static str,
    intent: Intent,
    language: &'static str,
    text: &'static str,
}

fn questions() -> Vec<Question> {
    let text = include_str!("../fixtures/intents.tsv");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let [lot, intent, language, text] =
                line.splitn(4, '\t').collect::<Vec<_>>().try_into().unwrap();
            let mut intents = Intent::ALL.into_iter();
            let intent = intents.find(|one| one.to_string() == intent).unwrap();
            Question {
                lot,
                intent,
                language,
                text,
            }
        })
        .collect()
}

/// `cargo test -p mnemic --test it planner::intents -- --nocapture` prints the figures of docs/entities-and-intent.md.
#[test]
fn intents_of_questions_are_as_measured() {
    let questions = questions();
    let planner = RulePlanner::new();
    let right = |what: String, of: &dyn Fn(&Question) -> bool| {
        let of: Vec<_> = questions.iter().filter(|question| of(question)).collect();
        let right = of
            .iter()
            .filter(|question| planner.plan(question.text).intent() == question.intent);
        let (right, of) = (right.count(), of.len());
        println!("{what}: {right} of {of}");
        (right, of)
    };
    for language in ["en", "zh", "de"] {
        right(language.to_owned(), &|question| {
            question.language == language
        });
    }
    for intent in Intent::ALL {
        right(intent.to_string(), &|question| question.intent == intent);
    }
    for question in &questions {
        let plan = planner.plan(question.text);
        if plan.intent() != question.intent {
            println!("{question:?}: {plan}");
        }
    }
    for (lot, measured) in [("1", (90, 90)), ("2", (39, 42)), ("3", (48, 50))] {
        let found = right(format!("lot {lot}"), &|question| question.lot == lot);
        assert!(
            found.0 >= measured.0 && found.1 == measured.1,
            "lot {lot}: {found:?}"
        );
    }
}

/// Sets the kind of memories, as the file holds it.
fn set_kinds(path: &std::path::Path, kinds: &[(&str, &str)]) {
    let connection = rusqlite::Connection::open(path).unwrap();
    for (id, kind) in kinds {
        let sql = "INSERT INTO lifecycle (seq, kind) SELECT seq, ?2 FROM memories WHERE id = ?1";
        assert_eq!(connection.execute(sql, (id, kind)).unwrap(), 1);
    }
}

#[test]
fn a_preferred_kind_is_raised_and_no_other_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let store = |id: &str, text: &str| {
        let new = NewMemory::new(text).id(id).created_at(time("2026-05-01"));
        memory.store(new).unwrap();
    };
    store("fact", "rotate the signing key every year");
    store("steps", "rotate the signing key every week");
    store("other", "the office dog is called Biscuit");
    let question = "how to rotate the signing key";
    let ask = || Recall::new(question).now(time("2026-05-31"));
    let planner = RulePlanner::new();
    let plain = memory.recall(ask()).unwrap();
    let unmarked = memory.recall_planned(ask(), &planner).unwrap();
    assert_eq!(unmarked.plan.intent(), Intent::Procedural);
    assert_eq!(
        (&unmarked.hits, unmarked.filled),
        (&plain, 0),
        "no memory is procedural: as without"
    );

    set_kinds(&path, &[("other", "procedural"), ("steps", "procedural")]);
    let planned = memory.recall_planned(ask(), &planner).unwrap();
    assert_eq!(planned.hits.len(), 3);
    assert_eq!(planned.hits[0].memory.id, "steps");
    let before = plain.iter().find(|hit| hit.memory.id == "steps").unwrap();
    assert!((planned.hits[0].score - (before.score * 1.1).min(1.0)).abs() < 1e-12);
    assert_eq!(planned.hits[0].relevance, before.relevance);
    assert_eq!(planned.hits[0].signals.raised, 0.1);
    assert!(
        planned.hits[0]
            .signals
            .to_string()
            .ends_with("raised by 10 %")
    );
    assert_eq!(planned.hits[1].signals.raised, 0.0);

    let plan = planner.plan(question);
    let explained = memory.explain(ask().plan(plan.clone()), "steps").unwrap();
    assert_eq!(explained.outcome, Outcome::Hit { rank: 1, of: 3 });
    assert_eq!(explained.score, Some(planned.hits[0].score));
    assert_eq!(explained.plan.as_ref(), Some(&plan));
    let text = explained.to_string();
    assert!(
        text.contains("intent procedural (the rule \"how to\")"),
        "{text}"
    );
    assert!(text.contains("raised     by 10 %"), "{text}");
}

#[test]
fn a_plan_that_finds_nothing_is_filled_up() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    memory
        .store_all(["alpha beta", "alpha gamma", "alpha delta"])
        .unwrap();
    // Vectors alone, of a handle without a model.
    let planner =
        RulePlanner::empty().plan_for(Plan::new(Intent::General).preset(Preset::vector_only()));
    let planned = memory
        .recall_planned(Recall::new("alpha beta").limit(2), &planner)
        .unwrap();
    assert_eq!((planned.hits.len(), planned.filled), (2, 2));
    assert_eq!(
        planned.hits,
        memory.recall(Recall::new("alpha beta").limit(2)).unwrap()
    );
    let plan = planner.plan("");
    let filled = Recall::new("alpha beta").plan(plan).limit(2);
    let explained = memory.explain(filled, &planned.hits[0].memory.id).unwrap();
    assert_eq!(explained.outcome, Outcome::Hit { rank: 1, of: 2 });
    assert_eq!(explained.score, Some(planned.hits[0].score));
    // It prints the weights by which it was found, not the plan's.
    let text = explained.to_string();
    assert!(
        text.contains("words      0.") && text.contains("rank 1"),
        "{text}"
    );
    assert!(!text.contains("no weight"), "{text}");
}

#[test]
fn how_to_and_chinese_find_what_is_there() {
    let memory = memory();
    memory
        .store_all([
            "deploy with the bot, on the channel",
            "用机器人部署服务",
            "无关的事情",
        ])
        .unwrap();
    for planner in [RulePlanner::new(), RulePlanner::agent_memory()] {
        let how = memory.recall_planned("how to deploy", &planner).unwrap();
        assert_eq!(how.plan.intent(), Intent::Procedural);
        assert_eq!(
            contents(&how.hits)[0],
            "deploy with the bot, on the channel"
        );
        let chinese = memory.recall_planned("怎么部署服务？", &planner).unwrap();
        assert_eq!(chinese.plan.intent(), Intent::Procedural);
        assert_eq!(contents(&chinese.hits)[0], "用机器人部署服务");
    }
}

#[test]
fn agent_memorys_router_is_reciprocal_rank_fusion_of_ten_a_leg() {
    let memory = memory();
    let news = (0..40).map(|i| {
        let text = format!("alpha {}", "filler ".repeat(i));
        let new = NewMemory::new(text).id(format!("{i:02}"));
        if i == 3 { new.entities(["Alpha"]) } else { new }
    });
    memory.store_all(news).unwrap();
    let planner = RulePlanner::agent_memory();
    let planned = memory
        .recall_planned(Recall::new("alpha").limit(5), &planner)
        .unwrap();
    assert_eq!((planned.hits.len(), planned.filled), (5, 0));
    for hit in &planned.hits {
        let signals = &hit.signals;
        let ranks = [signals.word_rank, signals.vector_rank, signals.entity_rank];
        let expected: f64 = ranks
            .iter()
            .flatten()
            .map(|rank| 1.0 / (60.0 + *rank as f64))
            .sum();
        assert!((hit.score - expected).abs() < 1e-12, "{signals}");
        assert!(ranks.iter().flatten().all(|rank| *rank <= 10));
    }
    assert_eq!(
        planned
            .hits
            .iter()
            .filter(|hit| hit.signals.entity_rank == Some(1))
            .count(),
        1
    );
    // Candidates are ten a leg, and at least the limit.
    let ten = memory
        .recall_planned(Recall::new("alpha").limit(30), &planner)
        .unwrap();
    assert_eq!(ten.hits.len(), 30);
}

#[test]
fn a_percentile_keeps_the_weights_it_was_measured_with() {
    let memory = memory();
    memory
        .store_all((0..30).map(|i| format!("word{i} alpha")))
        .unwrap();
    memory.calibrate(Preset::default()).unwrap();
    let planned = |recall: Recall| memory.recall_planned(recall, &RulePlanner::agent_memory());
    let sure = Recall::new("what is word3 alpha").min_percentile(10.0);
    assert_eq!(
        planned(sure.clone()).unwrap().hits,
        memory.recall(sure).unwrap()
    );
    let error = planned(Recall::new("alpha").min_percentile(200.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_causal_question_brings_the_causes_and_no_other_link() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let store = |new: NewMemory| memory.store(new.created_at(time("2026-05-01"))).unwrap();
    store(NewMemory::new("the pager was silent").id("first"));
    store(
        NewMemory::new("the shop was down all weekend")
            .id("second")
            .caused_by("first"),
    );
    store(
        NewMemory::new("deploys freeze on Fridays")
            .id("rule")
            .caused_by("second"),
    );
    store(
        NewMemory::new("the bot was told")
            .id("after")
            .caused_by("rule"),
    );
    store(NewMemory::new("a friend of the rule").id("friend"));
    memory
        .relate(("friend", "rule", "supports", "it says so"))
        .unwrap();
    for planner in [RulePlanner::new(), RulePlanner::agent_memory()] {
        let ask = |text: &str| {
            memory
                .recall_planned(Recall::new(text).now(time("2026-05-31")), &planner)
                .unwrap()
        };
        let planned = ask("why do deploys freeze?");
        assert_eq!(planned.plan.intent(), Intent::Causal);
        let ids: Vec<&str> = planned
            .hits
            .iter()
            .map(|hit| hit.memory.id.as_str())
            .collect();
        assert_eq!(ids, ["rule", "second", "first"]);
        let [rule, second, first] = [0, 1, 2].map(|place: usize| planned.hits[place].score);
        assert!((second - 0.7 * rule).abs() < 1e-12 && (first - 0.49 * rule).abs() < 1e-12);
        assert_eq!(ask("when do deploys freeze?").hits.len(), 1);
    }
}

#[test]
fn planners_are_planners_behind_pointers() {
    let planner: Box<dyn QueryPlanner> = Box::new(Arc::new(RulePlanner::new()));
    assert_eq!(planner.plan("why?").intent(), Intent::Causal);
    assert_eq!(planner.plan("🎉").to_string(), "intent general");
    let memory = memory();
    let web = memory.in_project("web");
    web.store("alpha is why").unwrap();
    let planned = web.recall_planned("why alpha", &planner).unwrap();
    assert_eq!(
        (planned.hits.len(), planned.plan.intent()),
        (1, Intent::Causal)
    );
    assert!(
        web.recall_planned(Recall::new("alpha").project("other"), &planner)
            .is_err()
    );
}

const WORDS: [&str; 8] = [
    "alpha",
    "beta",
    "gamma",
    "夜景",
    "how to",
    "why",
    "什么时候",
    "delta",
];

fn words(least: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), least..5)
        .prop_map(|words| words.join(" "))
}

fn plans() -> impl Strategy<Value = Plan> {
    let preset = prop::sample::select(vec![
        None,
        Some(Preset::rekal()),
        Some(Preset::reciprocal_rank()),
        Some(Preset::word_only()),
        Some(Preset::vector_only()),
        Some(Preset::default().weights(0.0, 0.0)),
        Some(Preset::default().recency(1.0, 30.0)),
    ]);
    let numbers = (
        prop::option::of(-1.0..3.0f64),
        prop::option::of(0usize..40),
        0.0..5.0f64,
    );
    (
        preset,
        numbers,
        prop::sample::select(vec!["semantic", "procedural", "none"]),
    )
        .prop_map(|(preset, (entities, candidates, by), kind)| {
            let mut plan = Plan::new(Intent::General).prefer_kinds([kind], by);
            if let Some(preset) = preset {
                plan = plan.preset(preset);
            }
            if let Some(weight) = entities {
                plan = plan.entity_weight(weight);
            }
            candidates.map_or(plan.clone(), |candidates| plan.candidates(candidates))
        })
}

/// Scores a passage by its length, as good as anything.
#[derive(Debug)]
struct Letters(RerankingModel);

impl Reranker for Letters {
    fn model(&self) -> &RerankingModel {
        &self.0
    }
    fn rerank(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let score = |text: &&str| (text.len() * 7 % 11) as f32 / 10.0;
        Ok(passages.iter().map(score).collect())
    }
}

proptest! {
    #![proptest_config(Config::with_cases(64))]

    /// Whatever the plan, the question, the floors and the budget: a planned recall has hits where a plain one has, as many
    /// of them where there is no budget, none twice, and none that the filter does not admit.
    #[test]
    fn a_plan_never_takes_a_hit_away(
        rows in prop::collection::vec((words(1), any::<bool>(), any::<bool>()), 0..40),
        asked in prop::collection::vec((words(1), plans(), 0usize..12, prop::option::of(0.0..0.8f64), prop::option::of(0.0..0.8f64), prop::option::of(0usize..30)), 1..6),
        with_model in any::<bool>(), with_index in any::<bool>(), with_reranker in any::<bool>(),
    ) {
        let builder = if with_model { builder() } else { Memory::builder().no_embedder() };
        let builder = if with_reranker { builder.reranker(Letters(RerankingModel::new("letters", "1"))) } else { builder };
        let memory = builder.index_budget(if with_index { 1 << 30 } else { 0 }).open_in_memory().unwrap();
        memory.store_all(rows.iter().enumerate().map(|(i, (text, web, entity))| {
            let new = NewMemory::new(text).id(format!("{i:02}"));
            let new = if *web { new.project("web") } else { new };
            if *entity { new.entities(["alpha"]) } else { new }
        })).unwrap();
        for (question, plan, limit, score, relevance, budget) in asked {
            let mut recall = Recall::new(&question).scope(Scope::Project("web".into())).limit(limit).now(time("2026-05-31"));
            if let Some(score) = score {
                recall = recall.min_score(score);
            }
            if let Some(relevance) = relevance {
                recall = recall.min_relevance(relevance);
            }
            if let Some(budget) = budget {
                recall = recall.budget(budget, |text: &str| text.split_whitespace().count());
            }
            recall = recall.rerank(4);
            let plain = memory.recall(recall.clone()).unwrap();
            let planner = RulePlanner::empty().plan_for(plan);
            let planned = memory.recall_planned(recall, &planner).unwrap();
            let hits = &planned.hits;
            prop_assert!(!hits.is_empty() || plain.is_empty());
            prop_assert!(budget.is_some() || hits.len() >= plain.len());
            prop_assert!(hits.len() <= limit && planned.filled <= hits.len());
            let mut ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), hits.len());
            prop_assert!(hits.iter().all(|hit| hit.memory.project.as_deref() == Some("web")));
        }
    }
}

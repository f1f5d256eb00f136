//! Random small memories and questions: what `explain` says of each memory is what recall does with it, and the obstacle it
//! names is the one that is in the way.

use mnemic::{
    Calibrate, Condition, Dropped, Memory, NewMemory, Outcome, Preset, Recall, Scope, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{memory, time};

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
        Outcome::Dropped(Dropped::MinPercentile { .. }) => 4,
        Outcome::Dropped(Dropped::MinScore { .. }) => 5,
        Outcome::Dropped(Dropped::MinRelevance { .. }) => 6,
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
        prop_assert_eq!(explanation.signals, Some(hits[place].signals.clone()));
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
            ..
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

//! Why a memory is a hit, or is not: against what recall itself returns.

use mnemic::{
    Calibrate, Condition, Dropped, ErrorKind, Explanation, Memory, NewMemory, Outcome, Preset,
    Recall, Scope, Silence,
};

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
        assert_eq!(explanation.signals, Some(hit.signals.clone()));
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
    let word = found.signals.as_ref().unwrap().word_rank;
    assert_eq!(word, Some(51));
    assert_eq!(
        dropped(found),
        Dropped::NotACandidate {
            word_rank: word,
            vector_rank: Some(51),
            entity_rank: None,
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
        entity_rank: None,
        candidates: 30,
    };
    let words = memory
        .explain(Recall::new("alpha").preset(Preset::word_only()), "b")
        .unwrap();
    assert_eq!((words.score, &words.signals), (None, &None));
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
    let signals = hit.signals.as_ref().unwrap();
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

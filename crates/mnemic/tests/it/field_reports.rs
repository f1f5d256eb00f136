//! Faults that users of memory and hybrid-search software have met, each as a test of what is right. The numbers are
//! those of `docs/field-reports.md`.

use std::sync::Arc;
use std::time::Duration;

use mnemic::{
    Durability, EmbedError, ErrorKind, Memory, NewMemory, Preset, Prune, Recall, Scope, Timeline,
};

use crate::support::{Faulty, Parsed, WordHash, builder, contents, memory, sound, time};

fn words(query: &str) -> Recall {
    Recall::new(query).preset(Preset::word_only())
}

fn vectors(query: &str) -> Recall {
    Recall::new(query).preset(Preset::vector_only())
}

#[test]
fn a1_a_filter_never_starves_the_vector_leg() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let near = (0..300).map(|i| {
        NewMemory::new(format!("[1 0 0.{i:03}] near"))
            .project("x")
            .tags(["kind:x"])
            .created_at(time("2026-05-01"))
    });
    memory.store_all(near).unwrap();
    let far = NewMemory::new("[0.2 1 0] far")
        .project("y")
        .tags(["kind:y"])
        .created_at(time("2026-01-01"));
    let id = memory.store(far).unwrap().id;
    let query = || vectors("[1 0 0] where").scope(Scope::All).limit(5);
    for recall in [
        query().project("y"),
        query().tags_any(["kind:y"]),
        query().tags_all(["kind:y"]),
        query().tags_none(["kind:x"]),
        query().until(time("2026-02-01")),
        query().ids([&id]),
    ] {
        let hits = memory.recall(recall.clone()).unwrap();
        assert_eq!(hits.len(), 1, "{recall:?}");
        assert_eq!(hits[0].memory.id, id);
    }
}

#[test]
fn a3_hyphenated_words_are_found() {
    let memory = memory();
    memory
        .store_all([
            "ticket KX-204 in review",
            "a state-of-the-art engine",
            "something else",
        ])
        .unwrap();
    for (query, content) in [
        ("KX-204", "ticket KX-204 in review"),
        ("kx-204", "ticket KX-204 in review"),
        ("state-of-the-art", "a state-of-the-art engine"),
    ] {
        assert_eq!(
            contents(&memory.recall(words(query)).unwrap()),
            [content],
            "{query}"
        );
    }
}

#[test]
fn a4_punctuation_is_never_an_operator() {
    let memory = memory();
    let stored = [
        "we don't ship on Fridays",
        "the C++ part",
        "ask @team",
        "why not",
        "50% done",
        "see src/a.rs",
        "call foo::bar",
        "TODO: fix this",
        "an AND gate",
        "NEAR the OR gate",
    ];
    memory.store_all(stored).unwrap();
    for (query, content) in [
        ("don't", Some(0)),
        ("C++", Some(1)),
        ("@team", Some(2)),
        ("why?", Some(3)),
        ("50%", Some(4)),
        ("src/a.rs", Some(5)),
        ("foo::bar", Some(6)),
        ("TODO: fix", Some(7)),
        ("(", None),
        ("\"", None),
        ("*", None),
        ("AND", Some(8)),
        ("NEAR", Some(9)),
        ("content:gate*", Some(8)),
        ("^gate", Some(8)),
        ("gate\" OR \"team", Some(2)),
        ("-gate", Some(8)),
        ("\0gate", Some(8)),
        ("'; DROP TABLE memories; --", None),
        ("{gate team}", Some(2)),
        ("gate + team", Some(2)),
        ("NEAR(gate team, 2)", Some(9)),
    ] {
        let hits = memory.recall(words(query)).unwrap();
        let found = contents(&hits);
        match content {
            Some(i) => assert!(found.contains(&stored[i]), "{query:?}: {found:?}"),
            None => assert_eq!(found, [""; 0], "{query:?}"),
        }
        memory.recall(query).unwrap();
    }
}

#[test]
fn a5_one_absent_word_does_not_zero_a_match() {
    let memory = memory();
    memory
        .store_all(["deploys freeze on Fridays", "lunch is at noon"])
        .unwrap();
    let hits = memory
        .recall(words("why do deploys freeze on Fridays again, Hieronymus?"))
        .unwrap();
    assert_eq!(contents(&hits), ["deploys freeze on Fridays"]);
}

#[test]
fn a6_an_edited_text_matches_only_as_it_is_now() {
    let memory = memory();
    let id = memory
        .store(NewMemory::new("desk plant is a fern").created_at(time("2026-01-01")))
        .unwrap()
        .id;
    memory.update(&id, "desk plant is a cactus").unwrap();
    assert_eq!(contents(&memory.recall(words("fern")).unwrap()), [""; 0]);
    let hits = memory.recall(words("cactus")).unwrap();
    assert_eq!(contents(&hits), ["desk plant is a cactus"]);
    assert_eq!(
        (&hits[0].memory.id, hits[0].memory.created_at),
        (&id, time("2026-01-01"))
    );
    let cosine = |query| {
        memory.recall(vectors(query)).unwrap()[0]
            .signals
            .cosine
            .unwrap()
    };
    assert!(cosine("desk plant is a cactus") > 0.999_999);
    assert!(cosine("desk plant is a fern") < 0.99);
    sound(&memory);
}

#[test]
fn a7_deletes_leave_nothing_behind_by_any_path() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let near = |i: usize| {
        NewMemory::new(format!("[1 0 0.{i:02}] near"))
            .id(format!("near{i}"))
            .project(if i.is_multiple_of(2) { "even" } else { "odd" })
            .created_at(time(if i < 30 { "2026-01-01" } else { "2026-06-01" }))
    };
    memory.store_all((0..50).map(near)).unwrap();
    memory
        .store(NewMemory::new("[0 1 0] live").id("live"))
        .unwrap();
    assert!(memory.delete("near0").unwrap());
    assert!(!memory.delete("near0").unwrap());
    let report = memory
        .delete_all(["near1", "near2", "absent", "near1"])
        .unwrap();
    assert_eq!(
        (report.deleted, report.missing),
        (2, vec!["absent".to_owned(), "near1".to_owned()])
    );
    assert_eq!(
        memory
            .prune(Prune::new().project("even").apply())
            .unwrap()
            .ids
            .len(),
        23
    );
    assert_eq!(
        memory
            .prune(
                Prune::new()
                    .project("odd")
                    .until(time("2026-02-01"))
                    .apply()
            )
            .unwrap()
            .ids
            .len(),
        14
    );
    memory.replace("near31", "[0 0 1] another").unwrap();
    let left: Vec<String> = (33..50).step_by(2).map(|i| format!("near{i}")).collect();
    memory.delete_all(&left).unwrap();
    sound(&memory);
    let hits = memory
        .recall(vectors("[1 0 0] any").scope(Scope::All))
        .unwrap();
    let mut found = contents(&hits);
    found.sort_unstable();
    assert_eq!(found, ["[0 0 1] another", "[0 1 0] live"]);
    memory.store_all((0..50).map(near)).unwrap();
    sound(&memory);
    assert_eq!(
        memory
            .recall(vectors("[1 0 0] any").scope(Scope::All).no_limit())
            .unwrap()
            .len(),
        52
    );
}

#[test]
fn a9_another_model_of_the_same_width_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder()
        .open(&path)
        .unwrap()
        .store("by the first model")
        .unwrap();
    for (id, revision) in [("other", "1"), ("word-hash", "2")] {
        let other = WordHash::named(id, revision, crate::support::DIMS);
        let error = Memory::builder().embedder(other).open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ModelMismatch);
        let text = error.to_string();
        assert!(
            text.contains("word-hash (revision 1)")
                && text.contains(&format!("{id} (revision {revision})")),
            "{text}"
        );
    }
    // A model of the same space may ask, but not store.
    let mut model = mnemic::Embedder::model(&WordHash::default()).clone();
    model.id = "distilled".into();
    #[derive(Debug)]
    struct Distilled(mnemic::EmbeddingModel);
    impl mnemic::Embedder for Distilled {
        fn model(&self) -> &mnemic::EmbeddingModel {
            &self.0
        }
        fn embed(
            &self,
            kind: mnemic::InputKind,
            texts: &[&str],
        ) -> Result<Vec<mnemic::Embedding>, EmbedError> {
            WordHash::default().embed(kind, texts)
        }
    }
    let memory = Memory::builder()
        .embedder(Distilled(model))
        .open(&path)
        .unwrap();
    assert!(
        memory.recall("by the first model").unwrap()[0]
            .signals
            .cosine
            .unwrap()
            > 0.99
    );
    let error = memory.store("by another").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(error.to_string().contains("distilled"), "{error}");
    sound(&memory);
    // Without a model the words are there still; storing would leave a memory without a vector.
    let memory = Memory::builder().no_embedder().open(&path).unwrap();
    assert_eq!(memory.recall("first model").unwrap().len(), 1);
    assert_eq!(
        memory.store("by none").unwrap_err().kind(),
        ErrorKind::ModelMismatch
    );
}

#[test]
fn a9_a_model_that_changes_under_an_open_handle_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let first = builder().open(&path).unwrap();
    let other = WordHash::named("other", "1", 8);
    let second = Memory::builder().embedder(other).open(&path).unwrap();
    second.store("by the other").unwrap();
    assert_eq!(
        first.recall("other").unwrap_err().kind(),
        ErrorKind::ModelMismatch
    );
    assert_eq!(
        first.store("by the first").unwrap_err().kind(),
        ErrorKind::ModelMismatch
    );
    sound(&second);
}

#[test]
fn a10_newness_decides_near_ties_only() {
    let memory = Memory::open_in_memory().unwrap();
    let now = time("2026-11-01");
    memory
        .store(
            NewMemory::new("The staging database password rotates every Tuesday")
                .created_at(time("2024-11-01")),
        )
        .unwrap();
    let unrelated = [
        "Anna likes the window seat",
        "The printer is on floor three",
        "Lunch moved to half past twelve",
        "The cat is called Mina",
        "Invoices go to the green folder",
        "The gym opens at six",
        "Tram 4 is replaced by buses",
        "The meeting room has a new screen",
        "Coffee beans are in the left cupboard",
        "Peter is on leave",
        "The plant needs little water",
        "Parking is free after eight",
    ];
    memory
        .store_all(unrelated.map(|text| NewMemory::new(text).created_at(now)))
        .unwrap();
    let hits = memory
        .recall(Recall::new("when does the staging database password rotate?").now(now))
        .unwrap();
    assert_eq!(
        hits[0].memory.content,
        "The staging database password rotates every Tuesday"
    );
    assert!(
        hits[0].score > 2.0 * hits[1].score,
        "{} {}",
        hits[0].score,
        hits[1].score
    );
    // Two equal texts: the newer one is first, and they differ in nothing but newness.
    memory
        .store(
            NewMemory::new("The staging database password rotates every Tuesday").created_at(now),
        )
        .unwrap();
    let hits = memory
        .recall(Recall::new("when does the staging database password rotate?").now(now))
        .unwrap();
    assert_eq!(hits[0].memory.created_at, now);
    assert_eq!(hits[1].memory.created_at, time("2024-11-01"));
    assert!((hits[0].relevance - hits[1].relevance).abs() < 1e-9);
}

#[test]
fn a11_a_tiny_store_returns_its_exact_match() {
    for others in [0, 1] {
        let memory = Memory::open_in_memory().unwrap();
        memory.store("heliotrope").unwrap();
        if others == 1 {
            memory.store("something else entirely").unwrap();
        }
        for preset in [Preset::default(), Preset::rekal(), Preset::word_only()] {
            // .25 is the floor that rekal's tools document.
            let hits = memory
                .recall(
                    Recall::new("heliotrope")
                        .preset(preset)
                        .min_score(0.25)
                        .min_relevance(0.25),
                )
                .unwrap();
            assert_eq!(contents(&hits)[..1], ["heliotrope"], "{preset:?}");
        }
    }
}

#[test]
fn a12_words_of_scripts_without_spaces_are_found() {
    let memory = memory();
    memory
        .store_all(["今日は東京塔の夜景を見た", "再試行gen-kx後", "天気がいい"])
        .unwrap();
    for (query, content) in [
        ("夜景", "今日は東京塔の夜景を見た"),
        ("東京塔", "今日は東京塔の夜景を見た"),
        ("夜景はいつ見た?", "今日は東京塔の夜景を見た"),
        ("kx", "再試行gen-kx後"),
        ("天気", "天気がいい"),
    ] {
        assert_eq!(
            contents(&memory.recall(words(query)).unwrap())[..1],
            [content],
            "{query}"
        );
    }
}

#[test]
fn a13_a_model_of_another_width_is_a_typed_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder().open(&path).unwrap().store("kept").unwrap();
    let wide = WordHash::named("wide", "1", 768);
    let error = Memory::builder().embedder(wide).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(
        error.to_string().contains("32 dimensions") && error.to_string().contains("768 dimensions"),
        "{error}"
    );
    let memory = builder().open(&path).unwrap();
    sound(&memory);
    assert_eq!(memory.recall("kept").unwrap().len(), 1);
}

#[test]
fn a14_times_are_compared_as_instants() {
    let memory = memory();
    let times = [
        "2030-01-01T09:00:00+09:00",
        "2030-01-01T00:30:00Z",
        "2030-01-01 00:10:00",
        "2030-01-01T00:00:00.1Z",
    ];
    for (i, text) in times.iter().enumerate() {
        memory
            .store(
                NewMemory::new(format!("event {i}"))
                    .id(format!("{i}"))
                    .created_at(time(text)),
            )
            .unwrap();
    }
    let listed = |timeline: Timeline| -> Vec<String> {
        memory
            .timeline(timeline.oldest_first())
            .unwrap()
            .into_iter()
            .map(|m| m.id)
            .collect()
    };
    assert_eq!(listed(Timeline::new()), ["0", "3", "2", "1"]);
    assert_eq!(
        listed(Timeline::new().since(time("2030-01-01T00:00:00.05Z"))),
        ["3", "2", "1"]
    );
    assert_eq!(
        listed(
            Timeline::new()
                .since(time("2030-01-01T00:00:00.1Z"))
                .until(time("2030-01-01T01:30:00+01:00"))
        ),
        ["3", "2"]
    );
    let hits = memory
        .recall(
            Recall::new("event")
                .since(time("2030-01-01 00:05:00"))
                .until(time("2030-01-01 00:20:00")),
        )
        .unwrap();
    assert_eq!(contents(&hits), ["event 2"]);
    memory
        .prune(
            Prune::new()
                .until(time("2030-01-01T09:05:00+09:00"))
                .apply(),
        )
        .unwrap();
    assert_eq!(listed(Timeline::new()), ["2", "1"]);
    for refused in ["yesterday", "2030-01-01 25:00", "20300101000000"] {
        assert!(refused.parse::<mnemic::Timestamp>().is_err(), "{refused}");
    }
}

#[test]
fn a15_a_failed_embedding_stores_nothing_and_says_so() {
    let faulty = Arc::new(Faulty::new());
    let memory = Memory::builder()
        .embedder(faulty.clone())
        .open_in_memory()
        .unwrap();
    let id = memory.store("here before").unwrap().id;
    faulty.fault(Some(|_| Err(EmbedError::run("the model is gone"))));
    let error = memory
        .store_all(["one", "two cursed", "three"])
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Embedding);
    assert!(error.to_string().contains("the model is gone"), "{error}");
    assert_eq!(
        memory.update(&id, "cursed").unwrap_err().kind(),
        ErrorKind::Embedding
    );
    assert_eq!(
        memory.replace(&id, "cursed").unwrap_err().kind(),
        ErrorKind::Embedding
    );
    assert_eq!(
        memory.recall("cursed").unwrap_err().kind(),
        ErrorKind::Embedding
    );
    // The words alone can still be asked.
    assert_eq!(memory.recall(words("cursed before")).unwrap().len(), 1);
    assert_eq!(memory.timeline(Timeline::new()).unwrap().len(), 1);
    assert_eq!(memory.get(&id).unwrap().unwrap().content, "here before");
    sound(&memory);
}

#[test]
fn a16_tags_match_whole_and_round_trip() {
    let memory = memory();
    let tags = [
        "art",
        "smart",
        "a,b",
        "say \"hi\"",
        "*",
        "",
        "ÉTÉ",
        "写真",
        "a\0b",
        "%",
        "🎉",
        "[\"x\"]",
    ];
    for (i, tag) in tags.iter().enumerate() {
        memory
            .store(
                NewMemory::new(format!("note {i}"))
                    .id(format!("{i}"))
                    .tags([*tag, "both"]),
            )
            .unwrap();
        assert_eq!(
            memory.get(&format!("{i}")).unwrap().unwrap().tags,
            [*tag, "both"]
        );
    }
    for (i, tag) in tags.iter().enumerate() {
        let found = |recall: Recall| -> Vec<String> {
            memory
                .recall(recall.no_limit())
                .unwrap()
                .into_iter()
                .map(|hit| hit.memory.id)
                .collect()
        };
        assert_eq!(
            found(Recall::new("note").tags_any([*tag])),
            [format!("{i}")],
            "{tag:?}"
        );
        assert_eq!(
            found(Recall::new("note").tags_all([*tag, "both"])),
            [format!("{i}")],
            "{tag:?}"
        );
        assert_eq!(
            found(Recall::new("note").tags_all([*tag, "absent"])),
            [""; 0],
            "{tag:?}"
        );
        assert_eq!(
            found(Recall::new("note").tags_none([*tag])).len(),
            tags.len() - 1,
            "{tag:?}"
        );
    }
    let found = |tag: &str| {
        memory
            .recall(Recall::new("note").tags_any([tag]))
            .unwrap()
            .len()
    };
    // Without regard to case and composition, in every script; never a part of a tag.
    assert_eq!(
        (
            found("été"),
            found("E\u{301}TE\u{301}"),
            found("ART"),
            found("ar"),
            found("写")
        ),
        (1, 1, 1, 0, 0)
    );
    assert_eq!(
        memory
            .recall(Recall::new("note").tags_any(["art", "smart"]))
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a21_a_vector_that_is_none_is_refused_at_the_door() {
    let faulty = Arc::new(Faulty::new());
    let memory = Memory::builder()
        .embedder(faulty.clone())
        .open_in_memory()
        .unwrap();
    memory.store_all(["alpha beta", "gamma delta"]).unwrap();
    let before = memory.recall("alpha").unwrap();
    let faults: [crate::support::Fault; 5] = [
        |_| Ok(Some(vec![0.0; 32])),
        |_| Ok(Some(vec![f32::NAN; 32])),
        |_| Ok(Some(vec![f32::INFINITY; 32])),
        |_| Ok(Some(vec![1.0; 31])),
        |_| Ok(Some(vec![f32::MAX; 0])),
    ];
    for fault in faults {
        faulty.fault(Some(fault));
        assert_eq!(
            memory.store("cursed").unwrap_err().kind(),
            ErrorKind::Embedding
        );
        assert_eq!(
            memory.recall("cursed").unwrap_err().kind(),
            ErrorKind::Embedding
        );
    }
    // Nothing to embed is the text's fault, not the model's.
    faulty.fault(Some(|_| Ok(None)));
    assert_eq!(
        memory.store("cursed").unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(memory.recall("cursed alpha").unwrap().len(), 1);
    faulty.fault(None);
    sound(&memory);
    assert_eq!(
        contents(&memory.recall("alpha").unwrap()),
        contents(&before)
    );
}

#[test]
fn a22_reading_takes_no_write_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder()
        .busy_timeout(Duration::from_millis(50))
        .open(&path)
        .unwrap();
    memory.store("readable").unwrap();
    let read_only = builder().open_read_only(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for memory in [&memory, &read_only] {
        assert_eq!(memory.recall("readable").unwrap().len(), 1);
        assert_eq!(memory.timeline(Timeline::new()).unwrap().len(), 1);
        assert_eq!(memory.health().unwrap().memories, 1);
        let copy = folder
            .path()
            .join(format!("copy-{}.db", memory.health().unwrap().file_bytes));
        memory.backup(&copy).unwrap();
        std::fs::remove_file(copy).unwrap();
    }
    assert_eq!(memory.store("not now").unwrap_err().kind(), ErrorKind::Busy);
    assert_eq!(
        read_only.store("never").unwrap_err().kind(),
        ErrorKind::ReadOnly
    );
    other.execute_batch("ROLLBACK").unwrap();
    memory.store("now").unwrap();
    sound(&memory);
}

#[test]
fn a23_better_word_matches_score_strictly_better() {
    let memory = memory();
    memory.store("zebra zebra zebra crossing").unwrap();
    memory
        .store(format!(
            "zebra {}",
            "and other words that fill the text ".repeat(20)
        ))
        .unwrap();
    memory
        .store_all((0..10).map(|i| format!("another item number {i}")))
        .unwrap();
    let hits = memory.recall(words("zebra")).unwrap();
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0].memory.content, "zebra zebra zebra crossing");
    assert!(hits[0].score > hits[1].score && hits[1].score > 0.0);
    assert!(
        hits.iter()
            .all(|hit| hit.score.is_finite() && hit.signals.bm25.unwrap().is_finite())
    );
    assert!(hits[0].signals.bm25 > hits[1].signals.bm25);
}

#[test]
fn a24_any_limit_works() {
    let memory = memory();
    memory
        .store_all((0..5_000).map(|i| format!("item w{i}")))
        .unwrap();
    for (limit, expected) in [
        (0, 0),
        (10, 10),
        (4_096, 4_096),
        (4_097, 4_097),
        (5_000, 5_000),
        (90_000, 5_000),
    ] {
        for preset in [
            Preset::default(),
            Preset::vector_only(),
            Preset::word_only(),
            Preset::reciprocal_rank(),
        ] {
            let hits = memory
                .recall(Recall::new("item").preset(preset).limit(limit))
                .unwrap();
            assert_eq!(hits.len(), expected, "limit {limit}, {preset:?}");
        }
    }
    assert_eq!(
        memory.recall(Recall::new("item").no_limit()).unwrap().len(),
        5_000
    );
}

#[test]
fn a25_a_question_without_a_word_has_no_hits() {
    let memory = Memory::open_in_memory().unwrap();
    memory.store("something -!? …").unwrap();
    for query in ["", "   ", "\t\n", "-!?", "…", "\"\"", "🎉", "\0"] {
        assert_eq!(memory.recall(query).unwrap(), [], "{query:?}");
        assert_eq!(memory.recall(words(query)).unwrap(), [], "{query:?}");
        assert_eq!(memory.recall(vectors(query)).unwrap(), [], "{query:?}");
    }
}

#[test]
fn a26_nothing_is_pruned_without_a_filter() {
    let memory = memory();
    memory
        .store_all([
            NewMemory::new("of a").project("a"),
            NewMemory::new("of b").project("b"),
            NewMemory::new("global"),
        ])
        .unwrap();
    for prune in [
        Prune::new(),
        Prune::new().apply(),
        Prune::new().tags_any([""; 0]).apply(),
        Prune::new().tags_all([""; 0]).apply(),
        Prune::new().tags_none([""; 0]).apply(),
        Prune::new().project("").apply(),
        Prune::new()
            .scope(Scope::ProjectAndGlobal(String::new()))
            .apply(),
        Prune::new().scope(Scope::All).apply(),
    ] {
        assert_eq!(
            memory.prune(prune.clone()).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{prune:?}"
        );
    }
    assert_eq!(memory.health().unwrap().memories, 3);
    let rehearsal = memory.prune(Prune::new().project("a")).unwrap();
    assert!(rehearsal.dry_run);
    assert_eq!(
        (rehearsal.ids.len(), memory.health().unwrap().memories),
        (1, 3)
    );
    let pruned = memory.prune(Prune::new().project("a").apply()).unwrap();
    assert_eq!((pruned.dry_run, pruned.ids), (false, rehearsal.ids));
    assert_eq!(
        memory.prune(Prune::new().ids([""; 0]).apply()).unwrap().ids,
        [""; 0]
    );
    let mut left: Vec<String> = memory
        .timeline(Timeline::new())
        .unwrap()
        .into_iter()
        .map(|m| m.content)
        .collect();
    left.sort();
    assert_eq!(left, ["global", "of b"]);
    sound(&memory);
}

#[test]
fn a27_project_names_are_literal() {
    let memory = memory();
    let projects = [
        "a_b",
        "acb",
        "100%",
        "100x",
        "%",
        "_",
        "",
        "旅行/travel",
        "A_B",
        "a_b ",
        "'; --",
        "a\0b",
    ];
    memory
        .store_all(
            projects
                .iter()
                .map(|p| NewMemory::new(format!("note of {p:?}")).project(*p)),
        )
        .unwrap();
    for project in projects {
        let hits = memory.recall(Recall::new("note").project(project)).unwrap();
        assert_eq!(hits.len(), 1, "{project:?}");
        assert_eq!(hits[0].memory.project.as_deref(), Some(project));
        assert_eq!(
            memory
                .timeline(Timeline::new().project(project))
                .unwrap()
                .len(),
            1,
            "{project:?}"
        );
    }
    assert_eq!(
        memory.recall("note").unwrap(),
        [],
        "a project's memory is never global"
    );
    for project in ["a_b", "%"] {
        assert_eq!(
            memory
                .prune(Prune::new().project(project).apply())
                .unwrap()
                .ids
                .len(),
            1,
            "{project:?}"
        );
    }
    assert_eq!(memory.health().unwrap().memories, projects.len() as u64 - 2);
    sound(&memory);
}

#[test]
fn a30_a_newer_file_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder().open(&path).unwrap().store("kept").unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    for result in [builder().open(&path), builder().open_read_only(&path)] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NewerFile);
        assert!(
            error.to_string().contains("99") && error.to_string().contains("versions up to 1"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a31_a_backup_has_what_the_log_holds() {
    let folder = tempfile::tempdir().unwrap();
    let memory = builder()
        .durability(Durability::Normal)
        .open(folder.path().join("a b#c.db"))
        .unwrap();
    for i in 0..100 {
        memory.store(format!("item {i}")).unwrap();
    }
    let to = folder.path().join("copy of 100%?.db");
    let report = memory.backup(&to).unwrap();
    assert_eq!(report.bytes, std::fs::metadata(&to).unwrap().len());
    let copy = builder().open(&to).unwrap();
    sound(&copy);
    assert_eq!(copy.health().unwrap().memories, 100);
    assert_eq!(
        copy.recall("item 42").unwrap(),
        memory.recall("item 42").unwrap()
    );
    let error = memory.backup(&to).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    sound(&copy);
    let in_memory = crate::support::memory();
    in_memory.store("kept in memory").unwrap();
    let to = folder.path().join("from memory.db");
    in_memory.backup(&to).unwrap();
    assert_eq!(
        builder().open(&to).unwrap().recall("kept").unwrap().len(),
        1
    );
    let names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        !names.iter().any(|name| name.contains("partial")),
        "{names:?}"
    );
}

#[test]
fn a32_a_time_in_the_future_is_new_and_no_more() {
    let memory = Memory::open_in_memory().unwrap();
    let now = time("2026-06-01");
    memory
        .store_all([
            NewMemory::new("the launch party is in the garden").created_at(time("2026-06-11")),
            NewMemory::new("the launch is planned").created_at(time("2036-06-01")),
            NewMemory::new("the launch code is heliotrope").created_at(time("2026-05-01")),
        ])
        .unwrap();
    for preset in [Preset::default(), Preset::rekal()] {
        let hits = memory
            .recall(
                Recall::new("launch code heliotrope")
                    .preset(preset)
                    .now(now),
            )
            .unwrap();
        assert_eq!(hits.len(), 3);
        assert_eq!(
            hits[0].memory.content, "the launch code is heliotrope",
            "{preset:?}"
        );
        for hit in &hits {
            assert!(
                (0.0..=1.0).contains(&hit.signals.recency) && (0.0..=1.0).contains(&hit.score),
                "{hit:?}"
            );
            let future = hit.memory.created_at > now;
            assert_eq!(hit.signals.recency == 1.0, future, "{hit:?}");
        }
    }
}

#[test]
fn a33_the_log_shrinks_after_a_slow_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder()
        .durability(Durability::Normal)
        .open(&path)
        .unwrap();
    memory.store("first").unwrap();
    let slow = rusqlite::Connection::open(&path).unwrap();
    slow.execute_batch("BEGIN; SELECT count(*) FROM memories")
        .unwrap();
    for batch in 0..20 {
        memory
            .store_all((0..1_000).map(|i| {
                format!(
                    "item {i} of batch {batch}, with some more words to it than the others have"
                )
            }))
            .unwrap();
    }
    let grown = memory.health().unwrap().log_bytes;
    assert!(grown > 16 << 20, "{grown}");
    slow.execute_batch("COMMIT").unwrap();
    memory.store("last").unwrap();
    assert_eq!(memory.health().unwrap().log_bytes, 0);
    assert_eq!(memory.health().unwrap().memories, 20_002);
}

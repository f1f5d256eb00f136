//! What a question finds, and in which order.

use mnemic::{Memory, NewMemory, Preset, Recall, Scope};

use crate::field_reports::{vectors, words};
use crate::support::{Parsed, contents, memory, time};
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

//! Sizes and contents at the edge: each has a documented outcome (docs/reliability.md), none is a panic or a hang.

use mnemic::{ErrorKind, Memory, NewMemory, Prune, Recall, Timeline};

use crate::support::builder;

fn sound(memory: &Memory) {
    let report = memory.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
}

#[test]
fn a_memory_of_ten_megabytes_is_stored_whole_and_found() {
    let memory = builder().open_in_memory().unwrap();
    let text = "a long report about many things ".repeat(330_000) + "and the zebra at its end";
    assert!(text.len() > 10_000_000);
    let id = memory.store(&*text).unwrap().id;
    assert_eq!(memory.get(&id).unwrap().unwrap().content, text);
    assert_eq!(memory.recall("zebra").unwrap()[0].memory.id, id);
    memory.update(&id, "short now").unwrap();
    assert!(
        memory
            .recall(Recall::new("zebra").preset(mnemic::Preset::word_only()))
            .unwrap()
            .is_empty()
    );
    sound(&memory);
}

#[test]
fn a_memory_of_a_hundred_thousand_tags_is_found_by_each() {
    let memory = builder().open_in_memory().unwrap();
    let tags: Vec<String> = (0..100_000).map(|i| format!("tag {i}")).collect();
    let id = memory
        .store(NewMemory::new("item w1").tags(&tags))
        .unwrap()
        .id;
    assert_eq!(memory.get(&id).unwrap().unwrap().tags.len(), 100_000);
    for tag in [&tags[0], &tags[99_999]] {
        assert_eq!(
            memory
                .recall(Recall::new("item").tags_all([tag]))
                .unwrap()
                .len(),
            1
        );
    }
    // As a filter, too.
    assert_eq!(
        memory
            .recall(Recall::new("item").tags_any(&tags))
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        memory
            .timeline(Timeline::new().tags_all(&tags))
            .unwrap()
            .len(),
        1
    );
    assert!(memory.delete(&id).unwrap());
    sound(&memory);
}

#[test]
fn forty_thousand_ids_are_deleted_filtered_and_pruned_at_once() {
    let memory = builder().open_in_memory().unwrap();
    let stored = memory
        .store_all((0..40_000).map(|i| format!("item w{i}")))
        .unwrap();
    let ids: Vec<String> = stored.into_iter().map(|stored| stored.id).collect();
    assert_eq!(
        memory.timeline(Timeline::new().ids(&ids)).unwrap().len(),
        40_000
    );
    assert_eq!(
        memory
            .recall(Recall::new("item w7").ids(&ids[..39_000]))
            .unwrap()[0]
            .memory
            .content,
        "item w7"
    );
    assert_eq!(
        memory
            .prune(Prune::new().ids(&ids[..10_000]).apply())
            .unwrap()
            .ids
            .len(),
        10_000
    );
    let report = memory.delete_all(&ids).unwrap();
    assert_eq!((report.deleted, report.missing.len()), (30_000, 10_000));
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn nul_bytes_and_odd_characters_are_kept_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let memory = builder().open(folder.path().join("odd.db")).unwrap();
    let odd = "before\0after w1\u{feff}\u{202e}\u{0301} \r\n\u{fffe}\u{10ffff} end w2";
    let id = memory
        .store(
            NewMemory::new(odd)
                .project("p\0q")
                .tags(["t\0u", "\u{202e}"]),
        )
        .unwrap()
        .id;
    let stored = memory.get(&id).unwrap().unwrap();
    assert_eq!(
        (&*stored.content, stored.project.as_deref()),
        (odd, Some("p\0q"))
    );
    assert_eq!(stored.tags, ["t\0u", "\u{202e}"]);
    for query in ["w1", "w2", "before", "after", "before\0after"] {
        let hits = memory.recall(Recall::new(query).project("p\0q")).unwrap();
        assert_eq!(hits.len(), 1, "{query:?}");
        assert!(hits[0].signals.word > 0.0, "{query:?}");
    }
    assert_eq!(
        memory
            .recall(Recall::new("w1").project("p\0q").tags_any(["t\0u"]))
            .unwrap()
            .len(),
        1
    );
    assert_eq!(memory.recall(Recall::new("w1").project("p")).unwrap(), []);
    sound(&memory);
}

#[test]
fn what_says_nothing_is_refused_and_asks_nothing() {
    let memory = builder().open_in_memory().unwrap();
    for text in ["", " ", "\n\t\u{3000}"] {
        assert_eq!(
            memory.store(text).unwrap_err().kind(),
            ErrorKind::InvalidInput,
            "{text:?}"
        );
    }
    memory.store("item w1").unwrap();
    for query in ["", " ", "\0", "?!", "\u{202e}"] {
        assert_eq!(memory.recall(query).unwrap(), [], "{query:?}");
    }
}

/// Marks and signs without a letter to stand on are words to one part of Unicode and none to another.
#[test]
fn marks_alone_are_stored_and_asked_for() {
    let memory = crate::support::memory();
    for text in [
        "¨",
        "\u{301}",
        "a ¨ b",
        "\u{345}\u{300}",
        "ª º",
        "\u{e0001}",
        "٠ ¨",
    ] {
        memory.store(format!("{text} beside a word")).unwrap();
        memory.recall(text).unwrap();
        memory.recall(format!("{text} word").as_str()).unwrap();
        memory.assess(text).unwrap();
    }
    crate::support::sound(&memory);
}

//! What is kept: writes, deletes, models, times, tags, files.

use std::sync::Arc;
use std::time::Duration;

use mnemic::{
    Durability, EmbedError, ErrorKind, Memory, NewMemory, Prune, Recall, Scope, Timeline,
};

use crate::field_reports::{vectors, words};
use crate::support::{Faulty, Parsed, WordHash, builder, contents, memory, sound, time};
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
    let memory = builder().open(&path).unwrap();
    memory.store("kept").unwrap();
    let known = format!(
        "versions up to {}:",
        memory.health().unwrap().schema_version
    );
    drop(memory);
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    for result in [builder().open(&path), builder().open_read_only(&path)] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NewerFile);
        assert!(
            error.to_string().contains("99") && error.to_string().contains(&known),
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
    let recall = Recall::new("item 42").now("2026-06-01".parse().unwrap());
    assert_eq!(
        copy.recall(recall.clone()).unwrap(),
        memory.recall(recall).unwrap()
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

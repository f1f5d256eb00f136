//! Each verb's ordinary life, and its edges.

use mnemic::{
    EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, InputKind, Memory, MemoryUpdate,
    NewMemory, Preset, Recall, Timeline,
};

use crate::support::{WordHash, builder, contents, memory, sound, time};

#[test]
fn a_memory_survives_closing_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let given = NewMemory::new("Grüße aus 東京 🎉 'quoted' \"twice\" \0 nul")
        .project("旅行/travel")
        .tags(["写真", "a,b"])
        .created_at(time("2026-01-02T03:04:05Z"));
    let stored = builder().open(&path).unwrap().store(given).unwrap();
    assert_eq!(stored.id.len(), 16);
    for memory in [
        builder().open(&path).unwrap(),
        builder().open_read_only(&path).unwrap(),
    ] {
        let got = memory.get(&stored.id).unwrap().unwrap();
        assert_eq!(got.content, "Grüße aus 東京 🎉 'quoted' \"twice\" \0 nul");
        assert_eq!(got.project.as_deref(), Some("旅行/travel"));
        assert_eq!(got.tags, ["写真", "a,b"]);
        assert_eq!(got.created_at.to_string(), "2026-01-02 03:04:05");
        assert_eq!(got.updated_at, got.created_at);
        assert_eq!(memory.get("absent").unwrap(), None);
        assert!(memory.check().unwrap().is_ok());
        let nul = memory
            .recall(Recall::new("nul").project("旅行/travel"))
            .unwrap();
        assert_eq!(contents(&nul), [got.content]);
    }
}

#[test]
fn an_update_touches_what_it_names() {
    let memory = memory();
    let id = memory
        .store(
            NewMemory::new("text")
                .project("p")
                .tags(["a"])
                .created_at(time("2020-01-01")),
        )
        .unwrap()
        .id;
    let same = memory.update(&id, MemoryUpdate::new()).unwrap();
    assert_eq!(same.updated_at, time("2020-01-01"));
    let moved = memory.update(&id, MemoryUpdate::new().global()).unwrap();
    assert_eq!(
        (
            moved.project.clone(),
            moved.tags.clone(),
            moved.content.as_str()
        ),
        (None, vec!["a".to_owned()], "text")
    );
    assert!(moved.updated_at > time("2026-01-01") && moved.created_at == time("2020-01-01"));
    let tagged = memory
        .update(&id, MemoryUpdate::new().project("q").no_tags())
        .unwrap();
    assert_eq!(
        (tagged.project.as_deref(), tagged.tags.len()),
        (Some("q"), 0)
    );
    let told = memory
        .update(
            &id,
            MemoryUpdate::new().content("told anew").tags(["b", "c"]),
        )
        .unwrap();
    assert_eq!(memory.get(&id).unwrap().unwrap(), told);
    assert_eq!(
        memory
            .recall(Recall::new("told").project("q").tags_all(["b", "c"]))
            .unwrap()
            .len(),
        1
    );
    // A word may be found by a tag or the project too.
    let by_tag = Recall::new("b").project("q").preset(Preset::word_only());
    assert_eq!(memory.recall(by_tag).unwrap().len(), 1);
    sound(&memory);
}

#[test]
fn a_replacement_inherits_unless_told() {
    let memory = memory();
    let store = || {
        memory
            .store(
                NewMemory::new("old")
                    .project("p")
                    .tags(["a"])
                    .created_at(time("2020-01-01")),
            )
            .unwrap()
            .id
    };
    let read = |id: &str| memory.get(id).unwrap().unwrap();
    let old = store();
    let new = memory.replace(&old, "new").unwrap();
    assert_ne!(new.id, old);
    assert_eq!(memory.get(&old).unwrap(), None);
    let got = read(&new.id);
    assert_eq!(
        (got.content.as_str(), got.project.as_deref(), got.tags),
        ("new", Some("p"), vec!["a".to_owned()])
    );
    assert!(got.created_at > time("2026-01-01"));
    let told = memory
        .replace(&store(), NewMemory::new("new").global().tags(["b"]))
        .unwrap();
    assert_eq!(
        (read(&told.id).project, read(&told.id).tags),
        (None, vec!["b".to_owned()])
    );
    let same_id = store();
    let again = memory
        .replace(&same_id, NewMemory::new("newer").id(&same_id))
        .unwrap();
    assert_eq!(
        (again.id, read(&same_id).content),
        (same_id.clone(), "newer".to_owned())
    );
    assert_eq!(
        memory.replace(&old, "gone").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let taken = memory
        .replace(&told.id, NewMemory::new("x").id(&same_id))
        .unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        read(&told.id).content,
        "new",
        "a failed replacement leaves the old memory"
    );
    sound(&memory);
}

#[test]
fn a_batch_is_all_or_nothing() {
    let memory = memory();
    let none: [&str; 0] = [];
    assert_eq!(memory.store_all(none).unwrap(), []);
    memory.store(NewMemory::new("first").id("taken")).unwrap();
    for batch in [
        vec![
            NewMemory::new("a"),
            NewMemory::new("b").id("taken"),
            NewMemory::new("c"),
        ],
        vec![
            NewMemory::new("a"),
            NewMemory::new("b").id("x"),
            NewMemory::new("c").id("x"),
        ],
        vec![NewMemory::new("a"), NewMemory::new("  ")],
    ] {
        memory.store_all(batch).unwrap_err();
        assert_eq!(memory.health().unwrap().memories, 1);
    }
    let stored = memory
        .store_all((0..1_000).map(|i| format!("item {i}")))
        .unwrap();
    assert_eq!(
        memory.get(&stored[777].id).unwrap().unwrap().content,
        "item 777"
    );
    sound(&memory);
}

#[test]
fn a_timeline_lists_what_was_asked() {
    let memory = memory();
    for (i, at) in ["2026-03-01", "2026-01-01", "2026-02-01"]
        .iter()
        .enumerate()
    {
        let project = if i == 2 { "b" } else { "a" };
        memory
            .store(
                NewMemory::new(format!("{i}"))
                    .project(project)
                    .tags([format!("t{i}")])
                    .created_at(time(at)),
            )
            .unwrap();
    }
    let listed = |timeline: Timeline| -> String {
        memory
            .timeline(timeline)
            .unwrap()
            .into_iter()
            .map(|m| m.content)
            .collect()
    };
    assert_eq!(listed(Timeline::new()), "021");
    assert_eq!(listed(Timeline::new().oldest_first()), "120");
    assert_eq!(listed(Timeline::new().limit(2)), "02");
    assert_eq!(listed(Timeline::new().limit(0)), "");
    assert_eq!(listed(Timeline::new().limit(1).no_limit()), "021");
    assert_eq!(listed(Timeline::new().project("a").oldest_first()), "10");
    assert_eq!(listed(Timeline::new().tags_any(["t1", "t2"])), "21");
    assert_eq!(
        listed(
            Timeline::new()
                .since(time("2026-02-01"))
                .until(time("2026-03-01"))
        ),
        "2"
    );
}

#[test]
fn a_file_used_by_words_alone_gets_vectors_by_repair() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words_only = Memory::builder().no_embedder().open(&path).unwrap();
    words_only
        .store_all((0..600).map(|i| format!("item {i}")))
        .unwrap();
    drop(words_only);
    let memory = builder().open(&path).unwrap();
    assert!(memory.check().unwrap().is_ok());
    memory.store("with a vector").unwrap();
    let report = memory.check().unwrap();
    assert_eq!(
        (
            report.missing_vectors.len(),
            report.memories,
            report.vectors
        ),
        (600, 601, 1)
    );
    // Meanwhile both are found, the ones without a vector by their words.
    assert_eq!(
        memory.recall("item 123").unwrap()[0].memory.content,
        "item 123"
    );
    let repaired = memory.repair().unwrap();
    assert_eq!(
        (repaired.vectors_added, repaired.remaining.is_ok()),
        (600, true)
    );
    sound(&memory);
    let again = memory.repair().unwrap();
    assert_eq!(
        (again.vectors_added, again.file),
        (0, mnemic::FileRepairReport::default())
    );
    let hit = &memory.recall("item 123").unwrap()[0];
    assert!(hit.signals.cosine.unwrap() > 0.999);
}

#[test]
fn health_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory
        .store_all([
            NewMemory::new("a").project("p"),
            NewMemory::new("b").project("q"),
            NewMemory::new("c"),
        ])
        .unwrap();
    let health = memory.health().unwrap();
    assert_eq!(
        (
            health.memories,
            health.vectors,
            health.projects,
            health.schema_version
        ),
        (3, 3, 2, 3)
    );
    assert_eq!(
        health.model.as_ref(),
        Some(mnemic::Embedder::model(&WordHash::default()))
    );
    assert_eq!(health.embedder, health.model);
    assert_eq!(health.file_bytes, std::fs::metadata(&path).unwrap().len());
    assert!(health.log_bytes > 0);
    assert!(
        health
            .to_string()
            .starts_with("3 memories, 3 vectors by word-hash")
    );
}

#[test]
fn a_closed_file_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let names = || -> Vec<String> {
        std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let memory = builder().open(&path).unwrap();
    memory.store("one").unwrap();
    let copy = folder.path().join("copy.db");
    memory.backup(&copy).unwrap();
    memory.store("two").unwrap();
    assert_eq!(memory.recall("one").unwrap().len(), 2);
    drop(memory);
    let mut found = names();
    found.sort();
    assert_eq!(found, ["a.db", "copy.db"]);
    // So a backup may be put in its place.
    std::fs::rename(&copy, &path).unwrap();
    let restored = builder().open(&path).unwrap();
    sound(&restored);
    assert_eq!(restored.health().unwrap().memories, 1);
}

#[cfg(unix)]
#[test]
fn a_link_is_the_file_it_points_to() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.db"), folder.path().join("link.db"));
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(
        builder().open_read_only(&link).unwrap_err().kind(),
        ErrorKind::Io
    );
    let writer = builder().open(&real).unwrap();
    writer.store("one").unwrap();
    let reader = builder().open_read_only(&link).unwrap();
    assert_eq!(reader.recall("one").unwrap().len(), 1);
    writer.store("two").unwrap();
    assert_eq!(reader.recall("two").unwrap().len(), 2);
    builder().open(&link).unwrap().store("three").unwrap();
    assert_eq!(writer.health().unwrap().memories, 3);
}

#[test]
fn a_backup_touches_no_file_but_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("x.db.partial"), "mine").unwrap();
    let memory = builder().open(at("a.db")).unwrap();
    memory.store("one").unwrap();
    memory.backup(at("x.db")).unwrap();
    assert_eq!(std::fs::read(at("x.db.partial")).unwrap(), b"mine");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            at("x.db").metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    assert_eq!(
        memory.backup(at("no/such/x.db")).unwrap_err().kind(),
        ErrorKind::Io
    );
    assert_eq!(
        memory.backup(folder.path()).unwrap_err().kind(),
        ErrorKind::Io
    );
    // Two at once to one name: one wins, the other says so.
    let results: Vec<bool> = std::thread::scope(|scope| {
        let both: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| memory.backup(at("y.db")).is_ok()))
            .collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|won| **won).count(), 1, "{results:?}");
    sound(&builder().open(at("y.db")).unwrap());
    // A read-only handle backs up what is there now, not what was there when it was opened.
    drop(memory);
    let reader = builder().open_read_only(at("a.db")).unwrap();
    assert_eq!(reader.recall("one").unwrap().len(), 1);
    builder().open(at("a.db")).unwrap().store("two").unwrap();
    reader.backup(at("z.db")).unwrap();
    assert_eq!(
        builder()
            .open(at("z.db"))
            .unwrap()
            .health()
            .unwrap()
            .memories,
        2
    );
}

#[test]
fn any_timeout_will_do() {
    for timeout in [std::time::Duration::ZERO, std::time::Duration::MAX] {
        let folder = tempfile::tempdir().unwrap();
        let memory = builder()
            .busy_timeout(timeout)
            .open(folder.path().join("a.db"))
            .unwrap();
        memory.store("one").unwrap();
        assert_eq!(memory.recall("one").unwrap().len(), 1);
    }
}

/// [`WordHash`] with a window of five words.
#[derive(Debug)]
struct FiveWords(WordHash);

impl Embedder for FiveWords {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.0.embed(kind, texts)
    }
    fn max_tokens(&self) -> Option<usize> {
        Some(5)
    }
    fn windows(&self, kind: InputKind, text: &str) -> Result<usize, EmbedError> {
        assert_eq!(kind, InputKind::Passage);
        if text.contains("unreadable") {
            return Err(EmbedError::run("unreadable"));
        }
        Ok(text.split_whitespace().count().div_ceil(5))
    }
}

#[test]
fn storing_tells_in_how_many_windows_a_text_was_embedded() {
    let builder = Memory::builder().embedder(FiveWords(WordHash::default()));
    let memory = builder.open_in_memory().unwrap();
    let stored = memory
        .store_all([
            "one two",
            "one two three four five six",
            "a b c d e f g h i j k",
        ])
        .unwrap();
    let windows: Vec<usize> = stored.iter().map(|stored| stored.windows).collect();
    assert_eq!(windows, [1, 2, 3]);
    let shorter = memory.replace(&stored[2].id, "a b c").unwrap();
    assert_eq!(shorter.windows, 1);
    let error = memory.store("unreadable text").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Embedding);
    assert_eq!(memory.health().unwrap().memories, 3);
    // A model that does not tell reads a text in one go; without a model there is no window.
    assert_eq!(
        crate::support::memory().store("one two").unwrap().windows,
        1
    );
    let wordless = Memory::builder().no_embedder().open_in_memory().unwrap();
    assert_eq!(wordless.store("one two").unwrap().windows, 0);
}

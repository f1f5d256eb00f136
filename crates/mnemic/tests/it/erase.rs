//! Erasing leaves no byte behind, compacting gains what deletions left, restoring replaces only what it can replace whole.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mnemic::{ErrorKind, Memory, MemoryUpdate, NewMemory, Recall, Scope};

use crate::support::{WordHash, builder, contents, sound};

/// Of the files beside a database, those that hold a pattern.
fn holding(path: &Path, pattern: &[u8]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| {
        let bytes = std::fs::read(file).unwrap();
        bytes.windows(pattern.len()).any(|window| window == pattern)
    });
    files
}

fn vector_bytes(text: &str) -> Vec<u8> {
    let vector = WordHash::default().vector(text).unwrap();
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Words that stemming and folding leave as they are, so that the word index holds them as written.
const CONTENT: &str = "qzvkrtx";
const OLD: &str = "wjqxpml";
const TAG: &str = "bvzrkqj";
const PROJECT: &str = "hgkwzxq";
const REPLACED: &str = "mzqtkvb";

/// A file with memories of which one, its older text and one that it replaced are to be erased; and its id.
fn file(path: &Path) -> (Memory, String) {
    let memory = builder()
        .busy_timeout(Duration::from_millis(200))
        .open(path)
        .unwrap();
    let others = |from: usize| {
        (from..from + 400).map(|i| NewMemory::new(format!("other w{i} x{}", i % 7)).project("p"))
    };
    memory.store_all(others(0)).unwrap();
    let secret = NewMemory::new(format!("the old text {OLD}"))
        .project(PROJECT)
        .tags([TAG]);
    let id = memory.store(secret).unwrap().id;
    let replaced = memory.store(format!("replaced {REPLACED}")).unwrap().id;
    memory.store_all(others(400)).unwrap();
    memory
        .update(&id, format!("the secret is {CONTENT}"))
        .unwrap();
    memory
        .update(&id, MemoryUpdate::new().tags([TAG, "more"]))
        .unwrap();
    memory.replace(&replaced, "nothing to hide").unwrap();
    memory.store_all(others(800)).unwrap();
    (memory, id)
}

fn traces(path: &Path) -> Vec<(String, Vec<PathBuf>)> {
    let mut found: Vec<(String, Vec<PathBuf>)> = [CONTENT, OLD, TAG, PROJECT, REPLACED]
        .iter()
        .map(|word| ((*word).to_owned(), holding(path, word.as_bytes())))
        .collect();
    for text in [
        format!("the secret is {CONTENT}"),
        format!("the old text {OLD}"),
        format!("replaced {REPLACED}"),
    ] {
        let pattern = vector_bytes(&text);
        found.push((format!("vector of {text}"), holding(path, &pattern)));
    }
    found.retain(|(_, files)| !files.is_empty());
    found
}

#[test]
fn no_byte_of_an_erased_memory_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (memory, id) = file(&path);
    assert_eq!(traces(&path).len(), 8, "the test looks in the right place");
    let untouched = holding(&path, &vector_bytes("other w5 x5"));
    assert!(!untouched.is_empty());
    assert!(memory.erase(&id).unwrap());
    assert_eq!(traces(&path), []);
    assert!(!memory.health().unwrap().erasure_pending);
    // One page: that nothing is pending any more.
    assert!(memory.health().unwrap().log_bytes < 5_000);
    assert!(!memory.erase(&id).unwrap());
    sound(&memory);
    assert_eq!(memory.health().unwrap().memories, 1_201);
    let hits = memory
        .recall(Recall::new("w5 x5").scope(Scope::All))
        .unwrap();
    assert_eq!(contents(&hits)[0], "other w5 x5");
    drop(memory);
    assert_eq!(traces(&path), []);
}

#[test]
fn a_plain_deletion_is_erased_later_by_an_erasure_without_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (memory, id) = file(&path);
    memory.delete(&id).unwrap();
    assert_ne!(traces(&path), []);
    let report = memory.erase_all([&id]).unwrap();
    assert_eq!((report.deleted, report.missing), (0, vec![id]));
    assert_eq!(traces(&path), []);
    assert_eq!(memory.erase_all([""; 0]).unwrap().deleted, 0);
    sound(&memory);
}

#[test]
fn what_a_reembedding_gathered_is_erased_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (memory, id) = file(&path);
    let coming = WordHash::named("coming", "1", 40);
    let vector = coming.vector(&format!("the secret is {CONTENT}")).unwrap();
    let pattern: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
    let stop = |progress: mnemic::Progress| match progress.done < progress.total {
        true => std::ops::ControlFlow::Continue(()),
        false => std::ops::ControlFlow::Break(()),
    };
    memory.reembed(coming, stop).unwrap();
    assert_ne!(holding(&path, &pattern).len(), 0);
    assert!(memory.erase(&id).unwrap());
    assert_eq!(holding(&path, &pattern).len(), 0);
    assert_eq!(traces(&path), []);
    assert_eq!(memory.coverage().unwrap().staged, 1_201);
    sound(&memory);
}

/// A reader of an older state needs the log, which holds the text: the error says so, and a later call completes it.
#[test]
fn a_reader_of_an_older_state_puts_an_erasure_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (memory, id) = file(&path);
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count: i64 = reader
        .query_row("SELECT count(*) FROM memories", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 1_202);
    let error = memory.erase(&id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("still reads"), "{error}");
    assert!(memory.health().unwrap().erasure_pending);
    assert_eq!(memory.get(&id).unwrap(), None);
    assert_ne!(traces(&path), []);
    sound(&memory);
    reader.execute_batch("COMMIT").unwrap();
    memory.compact().unwrap();
    assert_eq!(traces(&path), []);
    assert!(!memory.health().unwrap().erasure_pending);
}

/// Other handles that are open, but do not read at that moment, are in nobody's way.
#[test]
fn an_erasure_goes_on_beside_other_handles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (memory, id) = file(&path);
    let elsewhere = builder().open(&path).unwrap();
    let read_only = builder().open_read_only(&path).unwrap();
    for other in [&elsewhere, &read_only] {
        other.recall("other w5").unwrap();
        other.recall("other w5").unwrap();
    }
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for _ in 0..50 {
                elsewhere.recall("other w5").unwrap();
                read_only.recall("other w5").unwrap();
            }
        });
        // A recall may hold its state for longer than the timeout here: then once more.
        while memory.erase(&id).is_err() {}
        busy.join().unwrap();
    });
    memory.erase_all([""; 0]).unwrap();
    assert_eq!(traces(&path), []);
    for other in [&elsewhere, &read_only, &memory] {
        let hits = other
            .recall(Recall::new("w5 x5").scope(Scope::All))
            .unwrap();
        assert_eq!(contents(&hits)[0], "other w5 x5");
    }
    elsewhere.store("written after it").unwrap();
    sound(&memory);
}

#[test]
fn compacting_gains_what_deletions_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let stored = memory
        .store_all((0..3_000).map(|i| format!("item w{i} of x{}", i % 17)))
        .unwrap();
    memory
        .delete_all(
            stored
                .iter()
                .enumerate()
                .filter(|(i, _)| i % 10 != 0)
                .map(|(_, s)| &s.id),
        )
        .unwrap();
    let question = || Recall::new("item w30").now("2027-01-01".parse().unwrap());
    let before = memory.recall(question()).unwrap();
    let report = memory.compact().unwrap();
    assert!(report.bytes_after * 4 < report.bytes_before, "{report:?}");
    assert_eq!(memory.health().unwrap().file_bytes, report.bytes_after);
    assert_eq!(memory.recall(question()).unwrap(), before);
    let fresh = builder().open(&path).unwrap();
    assert_eq!(fresh.recall(question()).unwrap(), before);
    sound(&memory);
    // Once more: there is nothing to gain.
    let again = memory.compact().unwrap();
    assert_eq!(again.bytes_after, report.bytes_after);
}

fn restored(path: &Path) -> Vec<String> {
    let memory = builder().open(path).unwrap();
    sound(&memory);
    let mut all: Vec<String> = memory
        .timeline(mnemic::Timeline::new())
        .unwrap()
        .into_iter()
        .map(|memory| memory.content)
        .collect();
    all.sort();
    all
}

#[test]
fn a_backup_is_restored_and_what_was_there_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let memory = builder().open(at("a.db")).unwrap();
    memory.store("one").unwrap();
    memory.backup(at("backup.db")).unwrap();
    memory.store("two").unwrap();
    let backup = std::fs::read(at("backup.db")).unwrap();
    // Not while it is open, by this process or another.
    let error = Memory::restore(at("backup.db"), at("a.db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("close it"), "{error}");
    memory.store("three").unwrap();
    drop(memory);
    let report = Memory::restore(at("backup.db"), at("a.db")).unwrap();
    assert_eq!(report.kept.as_deref(), Some(&*at("a.before-restore.db")));
    assert!(report.check.is_ok());
    assert_eq!(restored(&at("a.db")), ["one"]);
    assert_eq!(
        restored(&at("a.before-restore.db")),
        ["one", "three", "two"]
    );
    assert_eq!(
        std::fs::read(at("backup.db")).unwrap(),
        backup,
        "the backup is as it was"
    );
    // Again: another name for what was there.
    let report = Memory::restore(at("a.before-restore.db"), at("a.db")).unwrap();
    assert_eq!(report.kept.as_deref(), Some(&*at("a.before-restore-2.db")));
    assert_eq!(restored(&at("a.db")), ["one", "three", "two"]);
    // To where nothing is.
    let report = Memory::restore(at("backup.db"), at("new.db")).unwrap();
    assert_eq!(report.kept, None);
    assert_eq!(restored(&at("new.db")), ["one"]);
    // Not where the log of a file that is gone would be taken for its own.
    std::fs::write(at("lost.db-wal"), "frames").unwrap();
    let error = Memory::restore(at("backup.db"), at("lost.db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!at("lost.db").exists());
    std::fs::remove_file(at("lost.db-wal")).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "a.before-restore-2.db",
            "a.before-restore.db",
            "a.db",
            "backup.db",
            "new.db"
        ]
    );
}

/// Every backup taken while others write is one state: whole transactions, in their order.
#[test]
fn a_backup_is_one_state_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = || builder().durability(mnemic::Durability::Normal);
    let memory = options().open(at("a.db")).unwrap();
    let elsewhere = options().open(at("a.db")).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (name, writer) in [("here", &memory), ("elsewhere", &elsewhere)] {
            let done = &done;
            scope.spawn(move || {
                for i in 0.. {
                    let pair = [0, 1].map(|half| format!("{name} {i} {half}"));
                    writer.store_all(pair).unwrap();
                    if done.load(std::sync::atomic::Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let mut counts = Vec::new();
        for round in 0..8 {
            let to = at(&format!("backup-{round}.db"));
            memory.backup(&to).unwrap();
            let copy = restored(&to);
            for name in ["here", "elsewhere"] {
                let of = copy.iter().filter(|text| text.starts_with(name)).count();
                let whole = (0..of / 2).all(|i| {
                    let pair = [0, 1].map(|half| format!("{name} {i} {half}"));
                    pair.iter().all(|text| copy.binary_search(text).is_ok())
                });
                assert!(of % 2 == 0 && whole, "round {round}: {of}");
            }
            counts.push(copy.len());
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(counts.is_sorted() && counts[7] > counts[0], "{counts:?}");
    });
}

/// A handle of the old file that comes to write finds that it was replaced; one that reads goes over to the new file.
#[test]
fn who_has_the_old_file_in_sight_notices_the_restored_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let memory = builder().open(at("a.db")).unwrap();
    memory.store("one").unwrap();
    memory.backup(at("backup.db")).unwrap();
    memory.store("two").unwrap();
    drop(memory);
    let reader = builder().open_read_only(at("a.db")).unwrap();
    assert_eq!(reader.recall("two").unwrap().len(), 2);
    Memory::restore(at("backup.db"), at("a.db")).unwrap();
    assert_eq!(contents(&reader.recall("one two").unwrap()), ["one"]);
}

#[test]
fn what_is_no_sound_backup_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let memory = builder().open(at("a.db")).unwrap();
    memory
        .store_all((0..300).map(|i| format!("item w{i}")))
        .unwrap();
    memory.backup(at("backup.db")).unwrap();
    drop(memory);
    let present = std::fs::read(at("a.db")).unwrap();
    let sound = std::fs::read(at("backup.db")).unwrap();
    let harmed = |from: usize, to: usize| {
        let mut bytes = sound.clone();
        bytes[from..to].fill(0x55);
        bytes
    };
    let sql = |name: &str, sql: &str| {
        std::fs::write(at(name), &sound).unwrap();
        let raw = rusqlite::Connection::open(at(name)).unwrap();
        raw.execute_batch(sql).unwrap();
    };
    std::fs::write(at("cut.db"), &sound[..sound.len() / 2]).unwrap();
    std::fs::write(at("header.db"), harmed(0, 50)).unwrap();
    std::fs::write(at("pages.db"), harmed(8 * 4096, 12 * 4096)).unwrap();
    std::fs::write(at("empty.db"), b"").unwrap();
    sql("newer.db", "PRAGMA user_version = 99");
    sql("other.db", "PRAGMA application_id = 7");
    sql("table.db", "DROP TABLE memory_tags");
    sql("words.db", "DELETE FROM memories_fts_data WHERE id > 10");
    sql("model.db", "DELETE FROM meta WHERE key = 'model'");
    for (name, kinds) in [
        ("cut.db", &[ErrorKind::Corrupt][..]),
        ("header.db", &[ErrorKind::Corrupt]),
        ("pages.db", &[ErrorKind::Corrupt]),
        ("empty.db", &[ErrorKind::NotAMemoryFile]),
        ("newer.db", &[ErrorKind::NewerFile]),
        ("other.db", &[ErrorKind::NotAMemoryFile]),
        ("table.db", &[ErrorKind::Corrupt]),
        ("words.db", &[ErrorKind::Corrupt]),
        ("model.db", &[ErrorKind::Corrupt]),
        ("absent.db", &[ErrorKind::Io]),
        ("a.db", &[ErrorKind::InvalidInput]),
    ] {
        let error = Memory::restore(at(name), at("a.db")).unwrap_err();
        assert!(kinds.contains(&error.kind()), "{name}: {error:?}");
        assert_eq!(std::fs::read(at("a.db")).unwrap(), present, "{name}");
    }
    // Nor over a database of something else, or a newer one.
    for (name, kind) in [
        ("other.db", ErrorKind::NotAMemoryFile),
        ("newer.db", ErrorKind::NewerFile),
    ] {
        let error = Memory::restore(at("backup.db"), at(name)).unwrap_err();
        assert_eq!(error.kind(), kind);
    }
    // But over a damaged one, which is kept: that is what a backup is for.
    for name in ["cut.db", "header.db", "pages.db"] {
        let damaged = std::fs::read(at(name)).unwrap();
        let report = Memory::restore(at("backup.db"), at(name)).unwrap();
        assert_eq!(restored(&at(name)).len(), 300);
        assert_eq!(
            std::fs::read(report.kept.unwrap()).unwrap().len(),
            damaged.len()
        );
    }
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with('.')).count(), 0);
}

/// A backup of a file in which some memories wait for their vectors is as good as that file.
#[test]
fn a_backup_without_all_vectors_is_restored_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let words = Memory::builder().no_embedder().open(at("a.db")).unwrap();
    let id = words.store("by words alone").unwrap().id;
    builder()
        .open(at("a.db"))
        .unwrap()
        .store("with a vector")
        .unwrap();
    words.backup(at("backup.db")).unwrap();
    let report = Memory::restore(at("backup.db"), at("b.db")).unwrap();
    assert_eq!(report.check.missing_vectors, [id]);
}

/// The connection that rewrites the file is the one that reads, where there is no file.
#[test]
fn a_memory_without_a_file_is_searched_after_it_was_rewritten() {
    let memory = builder().open_in_memory().unwrap();
    let ids: Vec<String> = memory
        .store_all((0..20).map(|i| format!("item w{i}")))
        .unwrap()
        .into_iter()
        .map(|stored| stored.id)
        .collect();
    memory.recall("item w7").unwrap();
    memory.compact().unwrap();
    assert_eq!(
        memory.recall("item w7").unwrap()[0].memory.content,
        "item w7"
    );
    assert!(memory.erase(&ids[7]).unwrap());
    assert!(
        memory
            .recall("item w7")
            .unwrap()
            .iter()
            .all(|hit| hit.memory.id != ids[7])
    );
    assert_eq!(
        memory.recall("item w8").unwrap()[0].memory.content,
        "item w8"
    );
    assert!(memory.check().unwrap().is_ok());
}

//! Files of rekal, whole and odd, adopted and killed. Here, as making one needs a raw connection with its extensions.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::*;
use crate::foreign::ForeignFile;
use crate::open::beside;

/// The shape of rekal 2, with what each later test adds.
const REKAL_2: &str = "
    CREATE TABLE conversations (id TEXT PRIMARY KEY, title TEXT);
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, content TEXT NOT NULL, memory_type TEXT NOT NULL DEFAULT 'fact',
        tier TEXT NOT NULL DEFAULT 'durable', project TEXT, conversation_id TEXT REFERENCES conversations(id), tags TEXT,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, expires_at TEXT, access_count INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE memory_links (from_id TEXT NOT NULL REFERENCES memories(id),
        to_id TEXT NOT NULL REFERENCES memories(id), relation TEXT NOT NULL);
    CREATE TABLE project_config (project TEXT, key TEXT, value TEXT);
    CREATE VIRTUAL TABLE memories_fts USING fts5(content, tags, project, content='memories', content_rowid='rowid');
    CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
        INSERT INTO memories_fts(rowid, content, tags, project) VALUES (new.rowid, new.content, new.tags, new.project);
    END;
    CREATE VIRTUAL TABLE memory_vec USING vec0(id TEXT PRIMARY KEY, embedding float[4]);
    CREATE INDEX idx_memories ON memories (tier);
    INSERT INTO conversations VALUES ('c1', 'a chat');
    INSERT INTO memories VALUES
        ('a1', 'old truth', 'fact', 'durable', 'p', 'c1', NULL, '2026-01-01 00:00:00', '2026-01-01 00:00:00', NULL, 0),
        ('a2', 'new truth', 'fact', 'durable', 'p', NULL, '[\"x\"]', '2026-01-02 00:00:00', '2026-01-03 00:00:00', NULL, 7),
        ('a3', 'scratch', 'fact', 'scratch', NULL, NULL, NULL, '2026-01-01 00:00:00', '2026-01-01 00:00:00', '2999-01-01', 0),
        ('a4', 'kept', 'fact', 'durable', NULL, NULL, NULL, '2026-01-04 00:00:00', '2026-01-04 00:00:00', NULL, 0);
    INSERT INTO memory_links VALUES ('a2', 'a1', 'supersedes');
    INSERT INTO project_config VALUES ('p', 'w', '1');
    INSERT INTO memory_vec VALUES ('a1', '[1,0,0,0]'), ('a2', '[0,1,0,0]'), ('a3', '[0,0,1,0]'), ('a4', '[0,0,0,1]');
    DELETE FROM memory_vec WHERE id = 'a4';
    INSERT INTO memory_vec VALUES ('a4', '[0,0,0.6,0.8]');
";

fn raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    crate::extension::register(&connection).unwrap();
    connection
}

/// A file of rekal 2, then changed by `sql`.
fn rekal_2(folder: &Path, name: &str, sql: &str) -> PathBuf {
    let path = folder.join(name);
    let connection = raw(&path);
    connection
        .execute_batch("PRAGMA synchronous = OFF")
        .unwrap();
    connection.execute_batch(REKAL_2).unwrap();
    connection.execute_batch(sql).unwrap();
    path
}

fn adopt(path: &Path) -> AdoptReport {
    Store::adopt_rekal(path, OpenOptions::default(), None).unwrap()
}

/// `(id, content, vector)` of every memory, with the file found sound.
fn rows(path: &Path) -> Vec<(String, String, Option<Vec<f32>>)> {
    let mut store = Store::open(path, OpenOptions::default()).unwrap();
    let report = store.check().unwrap();
    let mut sound = report.clone();
    sound.missing_vectors.clear();
    assert!(sound.is_ok(), "{report:?}");
    store
        .read(|snapshot| {
            let mut rows = Vec::new();
            snapshot.each_memory(&crate::Filter::default(), true, |row, vector| {
                rows.push((row.id, row.content, vector));
                Ok::<_, SchemaError>(())
            })?;
            Ok::<_, SchemaError>(rows)
        })
        .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn left(report: &AdoptReport) -> Vec<String> {
    report.left.iter().map(ToString::to_string).collect()
}

#[test]
fn rekal_is_adopted_by_its_own_rules_and_what_stays_behind_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let before = std::fs::read(&path).unwrap();
    let report = adopt(&path);
    assert_eq!(
        (report.already, report.memories, report.vectors),
        (false, 2, 2)
    );
    let model = report.model.clone().unwrap();
    assert!(model.is_unknown() && model.dims == 4, "{model:?}");
    assert_eq!(
        left(&report),
        [
            "memories: 1 row (a scratch note, kept for a while only)",
            "memories: 1 row (superseded by another memory)",
            "memories.memory_type: 2 (mnemic has no such field)",
            "memories.tier: 2 (mnemic has no such field)",
            "memories.access_count: 1 (mnemic has no such field)",
            "conversations: 1 row (mnemic has no such table)",
            "memory_links: 1 row (mnemic has no such table)",
            "project_config: 1 row (mnemic has no such table)",
        ]
    );
    assert_eq!(
        rows(&path),
        [
            (
                "a2".into(),
                "new truth".into(),
                Some(vec![0.0, 1.0, 0.0, 0.0])
            ),
            ("a4".into(), "kept".into(), Some(vec![0.0, 0.0, 0.6, 0.8])),
        ]
    );
    assert_eq!(names(folder.path()), ["m.db", "m.db.rekal-copy"]);
    // The copy is the old file: rekal's tables, to the row.
    let copy = raw(report.copy.as_deref().unwrap());
    let count = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM memories"), 4);
    assert_eq!(count("SELECT count(*) FROM memory_vec"), 4);
    assert_eq!(
        count("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'truth'"),
        2
    );
    let copied = std::fs::read(report.copy.as_deref().unwrap()).unwrap();
    assert_eq!(copied.len(), before.len());
    // Nothing of rekal is left in the file, and its times came over.
    let adopted = raw(&path);
    let names: i64 = adopted
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'mnemic_st%' OR name IN ('conversations', 'memories_ai')", [], |row| row.get(0))
        .unwrap();
    assert_eq!(names, 0);
    let times: (String, String) = adopted
        .query_row(
            "SELECT created_at, updated_at FROM memories WHERE id = 'a2'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(
        times,
        ("2026-01-02 00:00:00".into(), "2026-01-03 00:00:00".into())
    );
}

#[test]
fn to_adopt_twice_does_nothing_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let first = adopt(&path);
    let image = std::fs::read(&path).unwrap();
    let second = adopt(&path);
    assert_eq!(
        (second.already, second.memories, second.vectors),
        (true, 2, 2)
    );
    assert_eq!(
        (second.model, second.copy, second.left),
        (first.model, None, vec![])
    );
    assert_eq!(std::fs::read(&path).unwrap(), image);
    assert_eq!(names(folder.path()), ["m.db", "m.db.rekal-copy"]);
}

#[test]
fn odd_rows_of_rekal_are_taken_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "
        INSERT INTO memories (id, content, tags, created_at, updated_at) VALUES
            (NULL, 'no id', NULL, '2026-02-01 00:00:00', '2026-02-01 00:00:00'),
            ('an id with spaces', 'odd id', 'not json', '2026-02-02 00:00:00', '2026-02-02 00:00:00'),
            ('b3', 'no time', '[1]', 'yesterday', '2026-02-03 00:00:00'),
            ('b4', CAST(x'66ff6f' AS TEXT), NULL, '2026-02-04T00:00:00Z', '2026-02-04 00:00:00'),
            ('b5', 'no vector', NULL, '2026-02-05 00:00:00', '2026-02-05 00:00:00'),
            ('b6', 'zero vector', NULL, '2026-02-06 00:00:00', '2026-02-06 00:00:00'),
            ('b7', 'long vector', NULL, '2026-02-07 00:00:00', '2026-02-07 00:00:00');
        INSERT INTO memory_vec VALUES ('an id with spaces', '[1,0,0,0]'), ('b6', '[0,0,0,0]'), ('b7', '[3,0,4,0]'),
            ('nobody', '[1,0,0,0]');";
    let path = rekal_2(folder.path(), "m.db", sql);
    let report = adopt(&path);
    assert_eq!((report.memories, report.vectors), (9, 4));
    let left = left(&report);
    for expected in [
        "memories.id: 2 (no id here: a new one was made)",
        "memories.created_at: 1 (no time: the other one was taken, or now)",
        "memories.content: 1 (not UTF-8: what could not be read was replaced)",
        "memory_vec: 1 row (no memory has their id)",
        "memory_vec: 1 row (no vector: zero, not finite, or of another width)",
    ] {
        assert!(
            left.iter().any(|left| left == expected),
            "{expected}: {left:?}"
        );
    }
    let rows = rows(&path);
    let of = |content: &str| rows.iter().find(|row| row.1 == content).unwrap();
    assert_eq!(of("no id").0.len(), 16);
    assert_eq!(of("odd id").2, Some(vec![1.0, 0.0, 0.0, 0.0]));
    assert_eq!(of("f\u{fffd}o").0, "b4");
    assert_eq!(of("no vector").2, None);
    assert_eq!(
        of("long vector").2,
        Some(vec![0.6, 0.0, 0.8, 0.0]),
        "made unit length"
    );
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    let row = store.read(|s| s.row("b3")).unwrap().unwrap();
    assert_eq!(
        (row.tags, row.created_at.to_string()),
        (vec!["[1]".to_owned()], "2026-02-03 00:00:00".into())
    );
}

#[test]
fn what_a_newer_rekal_adds_is_counted_and_in_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "
        ALTER TABLE memories ADD COLUMN mood TEXT;
        UPDATE memories SET mood = 'glad' WHERE id = 'a4';
        CREATE TABLE moods (mood TEXT);
        INSERT INTO moods VALUES ('glad'), ('sad');
        CREATE VIEW happy AS SELECT * FROM memories WHERE mood = 'glad';
        CREATE TRIGGER moody AFTER INSERT ON moods BEGIN DELETE FROM memories; END;
        CREATE VIRTUAL TABLE mood_vec USING vec0(id TEXT PRIMARY KEY, embedding float[2]);
        INSERT INTO mood_vec VALUES ('glad', '[1,0]');";
    let path = rekal_2(folder.path(), "m.db", sql);
    let left = left(&adopt(&path));
    for expected in [
        "memories.mood: 1 (mnemic has no such field)",
        "moods: 2 rows (mnemic has no such table)",
        "mood_vec: 1 row (mnemic has no such table)",
    ] {
        assert!(
            left.iter().any(|left| left == expected),
            "{expected}: {left:?}"
        );
    }
    assert_eq!(rows(&path).len(), 2);
}

#[test]
fn what_a_log_beside_the_file_holds_is_adopted_and_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let writer = raw(&path);
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    writer
        .execute_batch(
            "INSERT INTO memories (id, content, created_at, updated_at) VALUES ('w1', 'in the log', '2026-03-01 00:00:00', '2026-03-01 00:00:00');
             INSERT INTO memory_vec VALUES ('w1', '[0,1,0,0]');",
        )
        .unwrap();
    // Copied while it is open: the log lies there as a crash would leave it.
    let crashed = folder.path().join("crashed.db");
    std::fs::copy(&path, &crashed).unwrap();
    std::fs::copy(beside(&path, "-wal"), beside(&crashed, "-wal")).unwrap();
    let report = adopt(&crashed);
    assert_eq!((report.memories, report.vectors), (3, 3));
    assert_eq!(rows(&crashed)[2].1, "in the log");
    let copy = raw(report.copy.as_deref().unwrap());
    let count: i64 = copy
        .query_row("SELECT count(*) FROM memories", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 5);
}

/// More than SQLite's cache holds, so that it writes to the file before the commit and shuts readers out.
#[test]
fn a_file_larger_than_the_cache_is_adopted() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "
        BEGIN;
        DROP TABLE memory_vec;
        CREATE VIRTUAL TABLE memory_vec USING vec0(id TEXT PRIMARY KEY, embedding float[4096], chunk_size=8);
        WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 1500)
        INSERT INTO memories (id, content, created_at, updated_at)
        SELECT 'k' || i, 'note ' || i, '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM k;
        INSERT INTO memory_vec
        SELECT id, '[' || rtrim(replace(hex(zeroblob(2048)), '0', '1,'), ',') || ']' FROM memories;
        COMMIT;";
    let path = rekal_2(folder.path(), "m.db", sql);
    assert!(path.metadata().unwrap().len() > 20 << 20);
    let report = adopt(&path);
    assert_eq!((report.memories, report.vectors), (1_502, 1_502));
    assert_eq!(rows(&path).len(), 1_502);
    let copy = report.copy.unwrap();
    let count: i64 = raw(&copy)
        .query_row("SELECT count(*) FROM memories", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 1_504);
}

#[test]
fn a_file_that_is_not_rekals_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sql, told) in [
        ("empty.db", "", "no table memories"),
        ("other.db", "CREATE TABLE notes (x)", "no table memories"),
        ("near.db", "CREATE TABLE memories (id, content)", "no column project"),
        (
            "agent.db",
            "CREATE TABLE memories (id, content, project, tags, updated_at, memory_type, created_at, trust_score,
                                    source_id, tags_json, entity_refs_json, deleted_at);
             CREATE TABLE memory_vectors (memory_id, embedding_json)",
            "one of agent-memory, not of rekal",
        ),
    ] {
        let path = folder.path().join(name);
        raw(&path).execute_batch(sql).unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = Store::adopt_rekal(&path, OpenOptions::default(), None).unwrap_err();
        assert!(matches!(error, SchemaError::NotAMemoryFile { .. }), "{error:?}");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    let path = folder.path().join("text.db");
    std::fs::write(
        &path,
        "a text, and no database at all, but long enough to be one. ".repeat(40),
    )
    .unwrap();
    let error = Store::adopt_rekal(&path, OpenOptions::default(), None).unwrap_err();
    assert!(matches!(error, SchemaError::Corrupt { .. }), "{error:?}");
    let absent = folder.path().join("absent.db");
    let error = Store::adopt_rekal(&absent, OpenOptions::default(), None).unwrap_err();
    assert!(matches!(error, SchemaError::Io { .. }), "{error:?}");
    assert_eq!(
        names(folder.path()),
        ["agent.db", "empty.db", "near.db", "other.db", "text.db"]
    );
}

#[test]
fn a_model_of_another_width_is_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let before = std::fs::read(&path).unwrap();
    let mut model = RecordedModel {
        space: "s".into(),
        id: "m".into(),
        revision: "1".into(),
        dims: 5,
    };
    let refused = Store::adopt_rekal(&path, OpenOptions::default(), Some(&model)).unwrap_err();
    assert!(
        matches!(refused, SchemaError::ModelMismatch { .. }),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["m.db"]);
    model.dims = 4;
    let report = Store::adopt_rekal(&path, OpenOptions::default(), Some(&model)).unwrap();
    assert_eq!(report.model, Some(model));
}

#[test]
fn a_writer_at_work_is_waited_for_then_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let writer = raw(&path);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = OpenOptions {
        busy_timeout: std::time::Duration::from_millis(50),
        ..OpenOptions::default()
    };
    let error = Store::adopt_rekal(&path, options, None).unwrap_err();
    assert!(matches!(error, SchemaError::Busy { .. }), "{error:?}");
    assert_eq!(names(folder.path()), ["m.db"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_refused_and_may_be_imported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    // Root writes where it may not: then the file is not read-only for this test.
    if std::fs::OpenOptions::new().write(true).open(&path).is_err() {
        let error = Store::adopt_rekal(&path, OpenOptions::default(), None).unwrap_err();
        assert!(matches!(error, SchemaError::ReadOnly { .. }), "{error:?}");
    }
    let file = ForeignFile::open(&path, System::Rekal, OpenOptions::default()).unwrap();
    let mut dropped = Vec::new();
    file.memories(|memory| {
        dropped.push(memory.dropped.is_some());
        Ok::<_, SchemaError>(())
    })
    .unwrap();
    assert_eq!(dropped, [true, false, true, false]);
    file.finish().unwrap();
    assert_eq!(names(folder.path()), ["m.db"]);
}

#[test]
fn a_file_that_is_written_to_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = rekal_2(folder.path(), "m.db", "");
    let file = ForeignFile::open(&path, System::Rekal, OpenOptions::default()).unwrap();
    raw(&path)
        .execute_batch("DELETE FROM memory_links")
        .unwrap();
    let error = file.finish().unwrap_err();
    assert!(matches!(error, SchemaError::Changed { .. }), "{error:?}");
}

/// The process dies after any step of an adoption: the file is rekal's still, whole, or mnemic's, whole, and adopting it
/// again completes. The dying process is this test, run again with the place to die in its environment.
#[test]
fn an_adoption_may_be_killed_after_any_step() {
    if let Ok(place) = std::env::var("MNEMIC_TEST_ADOPT") {
        let (path, die_at) = place.split_once('|').unwrap();
        let die_at: usize = die_at.parse().unwrap();
        let options = OpenOptions {
            // A killed process loses nothing either way, and the disk is not waited for.
            durability: crate::Durability::Normal,
            ..OpenOptions::default()
        };
        adopt_with(Path::new(path), options, None, &mut |step| {
            if step == die_at {
                std::process::abort();
            }
        })
        .unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for wal in [false, true] {
        let mode = if wal { "PRAGMA journal_mode = WAL" } else { "" };
        let mut ours = 0;
        for die_at in 1.. {
            let folder = folder.path().join(format!("{wal}-{die_at}"));
            std::fs::create_dir(&folder).unwrap();
            let path = rekal_2(&folder, "m.db", mode);
            let status = std::process::Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "adopt::tests::an_adoption_may_be_killed_after_any_step",
                ])
                .env("MNEMIC_TEST_ADOPT", format!("{}|{die_at}", path.display()))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .status()
                .unwrap();
            if status.success() {
                assert!(die_at > 30, "only {die_at} places to die");
                break;
            }
            let is_rekals = raw(&path)
                .query_row("SELECT count(*) FROM memory_links", [], |row| {
                    row.get::<_, i64>(0)
                })
                .is_ok();
            let report = adopt(&path);
            assert_eq!(
                (report.already, report.memories, report.vectors),
                (!is_rekals, 2, 2),
                "dead after {die_at}"
            );
            assert_eq!(rows(&path).len(), 2, "dead after {die_at}");
            ours += u32::from(!is_rekals);
            // The copy of the first attempt serves the second.
            let copies = names(&folder)
                .iter()
                .filter(|name| name.contains("rekal-copy"))
                .count();
            assert_eq!(copies, 1, "dead after {die_at}: {:?}", names(&folder));
        }
        assert_eq!(ours, 1, "only after the commit the file is ours");
    }
}

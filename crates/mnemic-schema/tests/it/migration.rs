use std::path::Path;

use mnemic_schema::{APPLICATION_ID, OpenOptions, SCHEMA_VERSION, SchemaError, Store};
use rusqlite::Connection;

use crate::{axis, put, row};

fn schema_of(path: &Path) -> String {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT type || ' ' || name || coalesce(char(10) || sql, '') FROM sqlite_schema ORDER BY type, name",
        )
        .unwrap();
    let rows: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    rows.join("\n\n") + "\n"
}

/// The whole schema of a file with vectors, as a committed text: a change of it must be seen in review.
#[test]
fn the_schema_is_the_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    put(&mut store, &row("a"), Some(&axis(0, 0.0))).unwrap();
    drop(store);
    let found = schema_of(&path);
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schema.snapshot.sql");
    if std::env::var_os("MNEMIC_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&snapshot, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&snapshot).unwrap();
    assert_eq!(
        found, expected,
        "MNEMIC_UPDATE_SNAPSHOTS=1 writes the new snapshot"
    );
    let connection = Connection::open(&path).unwrap();
    let number = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(number("PRAGMA application_id"), i64::from(APPLICATION_ID));
    assert_eq!(number("PRAGMA user_version"), SCHEMA_VERSION);
}

#[test]
fn a_newer_file_is_refused_unchanged_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    drop(Store::open(&path, OpenOptions::default()).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", SCHEMA_VERSION + 41)
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    for open in [Store::open, Store::open_read_only] {
        match open(&path, OpenOptions::default()) {
            Err(SchemaError::NewerFile {
                found, supported, ..
            }) => {
                assert_eq!((found, supported), (SCHEMA_VERSION + 41, SCHEMA_VERSION));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE TABLE memories (id TEXT PRIMARY KEY); INSERT INTO memories VALUES ('x');",
        )
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    for open in [Store::open, Store::open_read_only] {
        let error = open(&path, OpenOptions::default()).unwrap_err();
        assert!(
            matches!(&error, SchemaError::NotAMemoryFile { reason, .. } if reason.contains("memories")),
            "{error:?}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let text = folder.path().join("text.db");
    std::fs::write(&text, "this is no database at all, but long enough to be read as a header of one.........................").unwrap();
    let error = Store::open(&text, OpenOptions::default()).unwrap_err();
    assert!(matches!(error, SchemaError::Corrupt { .. }), "{error:?}");
}

#[test]
fn an_index_of_an_older_text_form_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    put(&mut store, &row("東京塔"), None).unwrap();
    drop(store);
    // As a version that indexed the text as it stands would have left it.
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "INSERT INTO memories_fts (memories_fts) VALUES ('delete-all');
             INSERT INTO memories_fts (rowid, content) SELECT seq, content FROM memories;
             UPDATE meta SET value = '0' WHERE key = 'index_text_version';",
        )
        .unwrap();
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    assert!(store.check().unwrap().is_ok());
    assert_eq!(crate::search::found(&mut store, "東京"), 1);
}

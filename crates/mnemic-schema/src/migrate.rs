//! Brings a file to the newest schema: ordered, immutable steps in one transaction. It never touches a newer file or a
//! database of something else.

use std::path::Path;

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Doing, SchemaError};
use crate::text::index_text_version;

/// Marks a SQLite database as a file of mnemic: `mnem` in ASCII.
pub const APPLICATION_ID: i32 = 0x6d6e_656d;

/// The steps, in order. A step that was ever released is never edited: a change is a new step.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_memories.sql"),
    include_str!("../migrations/0002_lifecycle.sql"),
    include_str!("../migrations/0003_documents.sql"),
];

/// The newest schema version that this library knows and writes (`PRAGMA user_version`).
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// What the header of a file tells about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// Nothing in it yet.
    Empty,
    /// Ours, at this version.
    Ours(i64),
}

/// Reads which file this is; refuses what is not ours or newer than this library. Writes nothing.
pub(crate) fn inspect(
    connection: &Connection,
    path: &Path,
    supported: i64,
) -> Result<FileState, SchemaError> {
    // One statement, so one state of the file: another process may be migrating it at this moment.
    let (tables, application, version): (Option<String>, i64, i64) = connection
        .query_row(
            "SELECT (SELECT group_concat(name, ', ') FROM (
                        SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 20)),
                    (SELECT application_id FROM pragma_application_id),
                    (SELECT user_version FROM pragma_user_version)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .doing("reading the header of the file")?;
    if application == i64::from(APPLICATION_ID) {
        return if version > supported {
            Err(SchemaError::NewerFile {
                path: path.to_owned(),
                found: version,
                supported,
            })
        } else if version < 1 {
            Err(not_ours(path, format!("its schema version is {version}")))
        } else {
            Ok(FileState::Ours(version))
        };
    }
    if application != 0 || version != 0 || tables.is_some() {
        let what_to_do = match crate::foreign::system_of(connection)? {
            Some(system @ crate::foreign::System::Rekal) => {
                format!("it is one of {system}: adopt or import it")
            }
            Some(system) => format!("it is one of {system}: import it"),
            None => format!(
                "it is a SQLite database of another program (application id {application}, version {version}, tables: {})",
                tables.unwrap_or_default()
            ),
        };
        return Err(not_ours(path, what_to_do));
    }
    Ok(FileState::Empty)
}

fn not_ours(path: &Path, reason: String) -> SchemaError {
    SchemaError::NotAMemoryFile {
        path: path.to_owned(),
        reason,
    }
}

/// Applies the steps that the file lacks. All of them, or none where anything fails or the process dies.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), SchemaError> {
    migrate_with(connection, path, MIGRATIONS, &mut |_| {})
}

/// [`migrate`] over any steps; `after_statement` is called after each statement with how many ran.
fn migrate_with(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
    after_statement: &mut dyn FnMut(usize),
) -> Result<(), SchemaError> {
    let newest = migrations.len() as i64;
    if inspect(connection, path, newest)? == FileState::Ours(newest)
        && indexed_by(connection)? == Some(index_text_version())
    {
        return Ok(());
    }
    let doing = "migrating the schema";
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .doing(doing)?;
    // Another process may have migrated while this one waited for the lock.
    let from = match inspect(&transaction, path, newest)? {
        FileState::Empty => 0,
        FileState::Ours(version) => version,
    };
    apply(&transaction, from, migrations, after_statement)?;
    transaction.commit().doing(doing)
}

/// The steps after version `from`, in a transaction of the caller's.
pub(crate) fn apply(
    transaction: &Connection,
    from: i64,
    migrations: &[&str],
    after_statement: &mut dyn FnMut(usize),
) -> Result<(), SchemaError> {
    let newest = migrations.len() as i64;
    let doing = "migrating the schema";
    let mut ran = 0;
    let steps =
        usize::try_from(from).map_or(&[][..], |from| migrations.get(from..).unwrap_or_default());
    for step in steps {
        let mut batch = rusqlite::Batch::new(transaction, step);
        while let Some(mut statement) = batch.next().doing(doing)? {
            run(&mut statement).doing(doing)?;
            ran += 1;
            after_statement(ran);
        }
    }
    if !steps.is_empty() {
        transaction
            .pragma_update(None, "application_id", APPLICATION_ID)
            .and_then(|()| transaction.pragma_update(None, "user_version", newest))
            .doing(doing)?;
        after_statement(ran + 1);
    }
    if indexed_by(transaction)? != Some(index_text_version()) {
        let words: Vec<String> = transaction
            .prepare("SELECT name FROM sqlite_schema WHERE name IN ('memories_fts', 'chunks_fts')")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .doing(doing)?;
        for index in words {
            transaction
                .execute(
                    &format!("INSERT INTO {index} ({index}) VALUES ('rebuild')"),
                    [],
                )
                .doing(doing)?;
        }
        transaction
            .execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES ('index_text_version', ?1)",
                [index_text_version()],
            )
            .doing(doing)?;
        after_statement(ran + 2);
    }
    Ok(())
}

/// The version of the text form that the word index was made with; `None` where the file does not say.
fn indexed_by(connection: &Connection) -> Result<Option<String>, SchemaError> {
    let value: Option<String> = connection
        .prepare("SELECT value FROM meta WHERE key = 'index_text_version'")
        .and_then(|mut statement| {
            statement
                .query_map([], |row| row.get(0))?
                .next()
                .transpose()
        })
        .doing("reading the version of the word index")?;
    Ok(value)
}

/// Runs a statement whether or not it answers with rows.
fn run(statement: &mut rusqlite::Statement<'_>) -> rusqlite::Result<()> {
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A later version of the schema, of which `migrate_with` is to be interrupted anywhere.
    const LATER: &[&str] = &[
        MIGRATIONS[0],
        "ALTER TABLE memories ADD COLUMN importance REAL NOT NULL DEFAULT 0.5;
         CREATE TABLE extra (x); -- a comment between
         INSERT INTO extra SELECT seq FROM memories;",
        "CREATE INDEX extra_x ON extra (x); UPDATE memories SET importance = 0.75;",
    ];

    fn connection(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        crate::extension::register(&connection).unwrap();
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .unwrap();
        connection
    }

    fn version(connection: &Connection) -> i64 {
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    }

    /// A29: the process dies after any statement of a migration; the next open finds all data and completes it. The
    /// dying process is this test, run again with the place to die in its environment.
    #[test]
    fn a_migration_may_be_killed_after_any_statement() {
        if let Ok(place) = std::env::var("MNEMIC_TEST_MIGRATE") {
            let (path, die_at) = place.split_once('|').unwrap();
            let die_at: usize = die_at.parse().unwrap();
            let path = Path::new(path);
            migrate_with(&mut connection(path), path, LATER, &mut |ran| {
                if ran == die_at {
                    std::process::abort();
                }
            })
            .unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        for from_version in [0, 1] {
            for die_at in 1.. {
                let path = folder.path().join(format!("{from_version}-{die_at}.db"));
                if from_version == 1 {
                    let mut first = connection(&path);
                    migrate_with(&mut first, &path, &LATER[..1], &mut |_| {}).unwrap();
                    first
                        .execute("INSERT INTO memories (content) VALUES ('kept whole')", [])
                        .unwrap();
                }
                let status = std::process::Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "migrate::tests::a_migration_may_be_killed_after_any_statement",
                    ])
                    .env(
                        "MNEMIC_TEST_MIGRATE",
                        format!("{}|{die_at}", path.display()),
                    )
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .status()
                    .unwrap();
                let mut second = connection(&path);
                if status.success() {
                    assert!(die_at > 5, "{from_version}: only {die_at} places to die");
                    break;
                }
                assert_eq!(version(&second), from_version, "dead after {die_at}");
                migrate_with(&mut second, &path, LATER, &mut |_| {}).unwrap();
                assert_eq!(version(&second), 3, "dead after {die_at}");
                let kept = "SELECT count(*) FROM memories m JOIN extra ON x = seq
                            WHERE content = 'kept whole' AND importance = 0.75";
                let kept: i64 = second.query_row(kept, [], |row| row.get(0)).unwrap();
                assert_eq!(kept, from_version);
                let found = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'kept'";
                let found: i64 = second.query_row(found, [], |row| row.get(0)).unwrap();
                assert_eq!(found, from_version);
            }
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::extension::register(&connection).unwrap();
        let path = Path::new("x");
        migrate_with(&mut connection, path, &LATER[..1], &mut |_| {}).unwrap();
        let broken = [LATER[0], "CREATE TABLE half (x); CREATE TABLE half (x);"];
        assert!(migrate_with(&mut connection, path, &broken, &mut |_| {}).is_err());
        assert_eq!(version(&connection), 1);
        let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        let half: i64 = connection.query_row(half, [], |row| row.get(0)).unwrap();
        assert_eq!(half, 0);
    }

    #[test]
    fn migrating_twice_writes_nothing_the_second_time() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::extension::register(&connection).unwrap();
        let path = Path::new("x");
        migrate(&mut connection, path).unwrap();
        let changes = connection.total_changes();
        migrate(&mut connection, path).unwrap();
        assert_eq!(connection.total_changes(), changes);
    }

    /// Eight connections meet one new file at once: all succeed.
    #[test]
    fn many_may_open_one_new_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..30 {
            let path = &folder.path().join(format!("{round}.db"));
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        crate::Store::open(path, crate::OpenOptions::default()).unwrap();
                    });
                }
            });
        }
    }
}

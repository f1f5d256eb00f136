//! Opens a file: path, connection, PRAGMAs, migration. It never writes to a file that is read-only, newer, or not ours.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Doing, SchemaError};
use crate::extension;
use crate::frozen::{FileIdentity, Frozen};
use crate::indexed::prepare_terms;
use crate::migrate::{self, FileState, SCHEMA_VERSION};
use crate::read::Snapshot;
use crate::write::WriteTransaction;

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// A commit survives the crash of the process. A power cut or a crash of the operating system may take the last
    /// commits before it, whole, but never damages the file (`synchronous = NORMAL`). Tens of times faster a commit.
    Normal,
    /// A commit survives a power cut: it is on the disk when the call returns (`synchronous = FULL`).
    #[default]
    Full,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// What a commit survives. Default: [`Durability::Full`].
    pub durability: Durability,
    /// How long to wait for another connection's lock. Default: 5 seconds.
    pub busy_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// The write-ahead log is cut back to nothing, as soon as no reader needs it, once it is larger than this (bytes).
const WAL_LIMIT: u64 = 16 << 20;

/// The longest wait for a lock that is asked of SQLite, which counts milliseconds in 32 bits: a day.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(86_400);

/// One connection to a memory file.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// `None` in memory.
    path: Option<PathBuf>,
    options: OpenOptions,
    writable: bool,
    /// Set where the file is read as it lies, without locks: see [`Frozen`].
    frozen: Option<Frozen>,
    /// Which file is open; `None` in memory.
    identity: Option<FileIdentity>,
    /// How often the connection was opened anew, to a file that may be another one.
    reopened: u64,
    /// Who writes by it.
    actor: Option<String>,
}

impl Store {
    /// Opens a file for reading and writing, makes it where there is none (readable by its owner alone), and brings it
    /// to the newest schema.
    ///
    /// # Errors
    /// [`SchemaError::BadPath`], [`SchemaError::NewerFile`], [`SchemaError::NotAMemoryFile`],
    /// [`SchemaError::Corrupt`], [`SchemaError::ReadOnly`], [`SchemaError::Busy`]; nothing was written then.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, SchemaError> {
        let path = absolute(path)?;
        create_private(&path)?;
        // Before the connection is opened: a file that is put in its place between the two is noticed.
        let identity = FileIdentity::of(&path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = connect(&path, flags, options)?;
        let merge_on_close = |merge: bool| {
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !merge)
                .doing("setting up the connection")
        };
        // A file that is refused is left as it is, a log beside it too.
        merge_on_close(false)?;
        migrate::inspect(&connection, &path, SCHEMA_VERSION)?;
        merge_on_close(true)?;
        // Where another file was put in its place before SQLite had the lock, this one is of no use to anybody.
        if FileIdentity::of(&path) != identity {
            return Err(SchemaError::Replaced { path });
        }
        if connection.is_readonly("main").unwrap_or(false) {
            return Err(SchemaError::ReadOnly {
                doing: "opening the file for writing (open it read-only instead)",
            });
        }
        write_ahead_log(&connection, options.busy_timeout)?;
        migrate::migrate(&mut connection, &path)?;
        prepare_terms(&connection)?;
        Ok(Self {
            connection,
            path: Some(path),
            options,
            writable: true,
            frozen: None,
            identity,
            reopened: 0,
            actor: None,
        })
    }

    /// Opens a memory that lives in this process alone and is gone when dropped.
    ///
    /// # Errors
    /// [`SchemaError::Sqlite`] where SQLite fails (out of memory, say).
    pub fn open_in_memory(options: OpenOptions) -> Result<Self, SchemaError> {
        let mut connection =
            Connection::open_in_memory().doing("opening a memory without a file")?;
        set_up(&connection, options)?;
        migrate::migrate(&mut connection, Path::new(":memory:"))?;
        prepare_terms(&connection)?;
        Ok(Self {
            connection,
            path: None,
            options,
            writable: true,
            frozen: None,
            identity: None,
            reopened: 0,
            actor: None,
        })
    }

    /// Opens a file for reading only. Nothing is written to the file or its log.
    ///
    /// Where no other process has the file open (no write-ahead log lies beside it), it is read as it lies and nothing is
    /// made beside it; each [`Store::read`] then makes sure that nobody changed it meanwhile. Where a log lies beside it,
    /// SQLite may make the log's index (`-shm`), which holds nothing of the memory.
    ///
    /// # Errors
    /// [`SchemaError::UnmergedLog`] where the file cannot be read without writing, [`SchemaError::Io`] where there is no
    /// such file, and as [`Store::open`].
    /// A file of an older schema is [`SchemaError::ReadOnly`]: it must be opened for writing once.
    pub fn open_read_only(path: &Path, options: OpenOptions) -> Result<Self, SchemaError> {
        let path = existing(path)?;
        let identity = FileIdentity::of(&path);
        let (connection, frozen) = connect_read_only(&path, options)?;
        match migrate::inspect(&connection, &path, SCHEMA_VERSION)? {
            FileState::Ours(SCHEMA_VERSION) => {}
            FileState::Ours(_) => {
                return Err(SchemaError::ReadOnly {
                    doing: "migrating a file of an older schema (open it for writing once)",
                });
            }
            FileState::Empty => {
                return Err(SchemaError::NotAMemoryFile {
                    path,
                    reason: "it is empty".to_owned(),
                });
            }
        }
        prepare_terms(&connection)?;
        Ok(Self {
            connection,
            path: Some(path),
            options,
            writable: false,
            frozen,
            identity,
            reopened: 0,
            actor: None,
        })
    }

    /// What opens further connections to the same file that only read; `None` in memory, where there is but one.
    #[must_use]
    pub fn readers(&self) -> Option<Readers> {
        self.path.as_ref().map(|path| Readers {
            path: path.clone(),
            options: self.options,
            beside_writer: self.writable,
            identity: self.identity,
        })
    }

    /// The file's absolute path; `None` in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Who writes by it from now on, for the history.
    pub fn set_actor(&mut self, actor: Option<&str>) {
        if self.actor.as_deref() != actor {
            self.actor = actor.map(ToOwned::to_owned);
        }
    }

    /// Whether this connection may write.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Runs `reading` on one snapshot of the file: all it reads is of one state, whatever others write meanwhile.
    ///
    /// It may be run again, from the start, where the file was found to have changed under a lock-free read.
    ///
    /// # Errors
    /// What `reading` returns; [`SchemaError::Busy`], [`SchemaError::Corrupt`] or [`SchemaError::Sqlite`] where no
    /// snapshot can be had.
    pub fn read<T, E: From<SchemaError>>(
        &mut self,
        mut reading: impl FnMut(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        // Each time it was found stale, another process wrote: that many in a row never happen.
        for _ in 0..100 {
            if self.frozen_is_stale() {
                self.thaw()?;
            }
            let answer = self.read_once(&mut reading);
            if !self.frozen_is_stale() {
                return answer;
            }
        }
        Err(SchemaError::Replaced {
            path: self.path.clone().unwrap_or_default(),
        }
        .into())
    }

    fn read_once<T, E: From<SchemaError>>(
        &mut self,
        reading: &mut impl FnMut(&Snapshot<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let file = self.file();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .doing("beginning to read")?;
        // Dropped at the end: a rollback of a transaction that only read.
        reading(&Snapshot::new(transaction, file))
    }

    /// A number that differs where the connection was opened to another file.
    fn file(&self) -> u64 {
        let identity = self.identity.map_or(0, FileIdentity::number);
        identity ^ self.reopened.rotate_left(48)
    }

    pub(crate) fn frozen_is_stale(&self) -> bool {
        self.frozen
            .as_ref()
            .is_some_and(|frozen| !frozen.is_current())
    }

    /// Reopens a file that was read as it lay, now that others write to it.
    pub(crate) fn thaw(&mut self) -> Result<(), SchemaError> {
        if let Some(path) = &self.path {
            self.identity = FileIdentity::of(path);
            self.reopened += 1;
            let (connection, frozen) = connect_read_only(path, self.options)?;
            prepare_terms(&connection)?;
            self.connection = connection;
            self.frozen = frozen;
        }
        Ok(())
    }

    /// Runs `writing` in one transaction that holds the write lock from its start: all of it is committed where it
    /// returns `Ok`, none of it where it returns `Err` or the process dies.
    ///
    /// # Errors
    /// What `writing` returns; [`SchemaError::ReadOnly`]; [`SchemaError::Busy`] where the lock could not be had in time.
    pub fn write<T, E: From<SchemaError>>(
        &mut self,
        writing: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut writer = self.begin_writing()?;
        let answer = writing(&mut writer)?;
        writer.commit()?;
        self.trim_log();
        Ok(answer)
    }

    /// Runs `writing` as [`Store::write`] does, and keeps nothing of it, whatever it returns.
    pub(crate) fn rehearse<T>(
        &mut self,
        writing: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, SchemaError>,
    ) -> Result<T, SchemaError> {
        // Dropped without a commit: rolled back.
        writing(&mut self.begin_writing()?)
    }

    fn begin_writing(&mut self) -> Result<WriteTransaction<'_>, SchemaError> {
        if !self.writable {
            return Err(SchemaError::ReadOnly { doing: "writing" });
        }
        if let Some(path) = &self.path
            && FileIdentity::of(path) != self.identity
        {
            return Err(SchemaError::Replaced { path: path.clone() });
        }
        let file = self.file();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .doing("beginning to write")?;
        let mut transaction = WriteTransaction::new(transaction, file);
        transaction.set_actor(self.actor.as_deref());
        Ok(transaction)
    }

    /// Cuts back a large write-ahead log, unless a reader is in the way: then the next commit tries again.
    fn trim_log(&self) {
        let large = self.path.as_deref().is_some_and(|path| {
            std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > WAL_LIMIT)
        });
        if large {
            // Never waits: with the timeout of 0 a reader in the way makes it give up at once. A failure loses nothing
            // (the log stays as it is), so that the commit just made is still a success.
            let _ = self.connection.busy_timeout(Duration::ZERO);
            let _ = self
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            let _ = self
                .connection
                .busy_timeout(self.options.busy_timeout.min(LONGEST_WAIT));
        }
    }

    pub(crate) fn options(&self) -> OpenOptions {
        self.options
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// Opens connections that only read. It needs no connection itself, so that a busy writer is in nobody's way.
#[derive(Debug, Clone)]
pub struct Readers {
    path: PathBuf,
    options: OpenOptions,
    beside_writer: bool,
    identity: Option<FileIdentity>,
}

impl Readers {
    /// Another connection to the file, for reading only. The [`Store`] that these readers came from must be open still.
    ///
    /// # Errors
    /// As [`Store::open_read_only`].
    pub fn open(&self) -> Result<Store, SchemaError> {
        if !self.beside_writer {
            return Store::open_read_only(&self.path, self.options);
        }
        // The write-ahead log is there, as the writer has the file open.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let identity = FileIdentity::of(&self.path);
        if identity != self.identity {
            return Err(SchemaError::Replaced {
                path: self.path.clone(),
            });
        }
        let connection = connect(&self.path, flags, self.options)?;
        prepare_terms(&connection)?;
        Ok(Store {
            connection,
            path: Some(self.path.clone()),
            options: self.options,
            writable: false,
            frozen: None,
            identity,
            reopened: 0,
            actor: None,
        })
    }
}

/// The file that lies beside a database under its name and a suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Exactly the path given, made absolute so that a change of directory does not matter; refuses what SQLite would read
/// as something else.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, SchemaError> {
    let refuse = |reason| {
        Err(SchemaError::BadPath {
            path: path.to_owned(),
            reason,
        })
    };
    if path.as_os_str().is_empty() {
        return refuse("the path is empty");
    }
    if path.as_os_str() == ":memory:" {
        return refuse("for a memory without a file call open_in_memory()");
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return refuse("a path cannot hold a NUL character");
    }
    // SQLite names the log after what a link points to, so the file's own name is the one to know it by.
    let resolved = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => return refuse("it is a directory"),
        Ok(metadata) if !metadata.is_file() => return refuse("it is not a regular file"),
        Ok(_) if cfg!(unix) => path.canonicalize(),
        _ => std::path::absolute(path),
    };
    resolved.map_err(|source| SchemaError::Io {
        doing: "resolving",
        path: path.to_owned(),
        source,
    })
}

/// The path of a file that is there, made absolute.
pub(crate) fn existing(path: &Path) -> Result<PathBuf, SchemaError> {
    let path = absolute(path)?;
    std::fs::metadata(&path).map_err(|source| SchemaError::Io {
        doing: "opening",
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

/// Makes the file where there is none, readable and writable by its owner alone: memories are private.
fn create_private(path: &Path) -> Result<(), SchemaError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // A link that points nowhere exists too, but is no file.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.exists() => Ok(()),
        Err(source) => Err(SchemaError::Io {
            doing: "creating",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Opens a connection to exactly this file and sets it up; `SQLITE_OPEN_URI` is not among the flags, so that no
/// character of the path has a meaning.
pub(crate) fn connect(
    path: &Path,
    flags: OpenFlags,
    options: OpenOptions,
) -> Result<Connection, SchemaError> {
    let connection = Connection::open_with_flags(path, flags).doing("opening the file")?;
    set_up(&connection, options)?;
    Ok(connection)
}

pub(crate) fn connect_read_only(
    path: &Path,
    options: OpenOptions,
) -> Result<(Connection, Option<Frozen>), SchemaError> {
    if let Some(frozen) = Frozen::of(path) {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection =
            Connection::open_with_flags(frozen.uri(), flags).doing("opening the file")?;
        set_up(&connection, options)?;
        return Ok((connection, Some(frozen)));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = connect(path, flags, options).and_then(|connection| {
        connection
            .query_row("PRAGMA schema_version", [], |_| Ok(()))
            .doing("opening the file")?;
        Ok(connection)
    });
    match opened {
        Ok(connection) => Ok((connection, None)),
        // SQLite cannot read the log without writing beside the file, and may not write there.
        Err(SchemaError::Sqlite { source, .. })
            if source.sqlite_error_code() == Some(ErrorCode::CannotOpen) =>
        {
            Err(SchemaError::UnmergedLog {
                path: path.to_owned(),
            })
        }
        Err(other) => Err(other),
    }
}

/// What every connection is told, and why.
///
/// | setting | why |
/// |---|---|
/// | `busy_timeout` | another process's lock is waited for, not an error |
/// | `foreign_keys = ON` | no tag row without its memory |
/// | `recursive_triggers = ON` | REPLACE fires the delete triggers; without it, it would leave orphans in the indexes |
/// | `trusted_schema = ON` | a trigger on `memories` deletes from `memory_vec`, which SQLite allows to trusted schemas only |
/// | `cell_size_check = ON` | a page that a damaged or hostile file bends is noticed when it is read |
/// | stable plans | a plan never rests on a bound value: beside partial indexes, SQLite would else prepare a statement anew for each value, which costs more than most statements do |
/// | defensive mode | no statement can write to the tables inside the indexes, or to the schema as text |
/// | `synchronous` | what a commit survives: see [`Durability`] |
/// | `temp_store = MEMORY` | sorting writes no temporary files |
/// | `cache_size = 16 MiB` | bulk loads are many times slower with SQLite's 2 MB |
/// | `journal_size_limit` | a write-ahead log that a slow reader let grow is cut back when it is begun anew |
fn set_up(connection: &Connection, options: OpenOptions) -> Result<(), SchemaError> {
    let doing = "setting up the connection";
    connection
        .busy_timeout(options.busy_timeout.min(LONGEST_WAIT))
        .doing(doing)?;
    connection.set_prepared_statement_cache_capacity(128);
    let synchronous = match options.durability {
        Durability::Normal => "NORMAL",
        Durability::Full => "FULL",
    };
    connection
        .execute_batch(&format!(
            "PRAGMA foreign_keys = ON;
             PRAGMA recursive_triggers = ON;
             PRAGMA trusted_schema = ON;
             PRAGMA synchronous = {synchronous};
             PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -16384;
             PRAGMA cell_size_check = ON;
             PRAGMA journal_size_limit = {WAL_LIMIT};"
        ))
        .and_then(|()| extension::register(connection))
        .and_then(|()| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true))
        .doing(doing)?;
    set_defensive(connection, true)
}

/// Whether statements are kept from writing to the tables inside the indexes, or to the schema as text.
pub(crate) fn set_defensive(connection: &Connection, on: bool) -> Result<(), SchemaError> {
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, on)
        .map(drop)
        .doing("setting up the connection")
}

/// Switches to a write-ahead log: readers do not wait for the writer, nor the writer for readers. SQLite does not wait
/// for the lock that this needs where several processes open one new file at once, so this does.
fn write_ahead_log(connection: &Connection, timeout: Duration) -> Result<(), SchemaError> {
    let begun = Instant::now();
    loop {
        let answer = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
            .doing("switching to a write-ahead log");
        match answer {
            Err(SchemaError::Busy { .. }) if begun.elapsed() < timeout => {
                std::thread::sleep(Duration::from_millis(2));
            }
            // On a file system without shared memory SQLite keeps its rollback journal, which is as safe.
            other => return other.map(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_statement_is_prepared_anew_for_another_value() {
        let store = Store::open_in_memory(OpenOptions::default()).unwrap();
        let sql = format!("{} WHERE m.seq = ?1", crate::row::select_memories());
        for seq in 0..5 {
            let mut statement = store.connection.prepare_cached(&sql).unwrap();
            let found = statement.exists([seq]).unwrap();
            assert!(!found);
            let status = rusqlite::StatementStatus::RePrepare;
            assert_eq!(statement.get_status(status), 0, "{seq}");
        }
    }

    #[test]
    fn every_connection_is_set_up_as_documented() {
        let folder = tempfile::tempdir().unwrap();
        for (durability, synchronous) in [(Durability::Normal, 1), (Durability::Full, 2)] {
            let path = folder.path().join(format!("{durability:?}.db"));
            let options = OpenOptions {
                durability,
                ..OpenOptions::default()
            };
            let writer = Store::open(&path, options).unwrap();
            let reader = writer.readers().unwrap().open().unwrap();
            drop(Store::open(&folder.path().join("frozen.db"), options).unwrap());
            let frozen = Store::open_read_only(&folder.path().join("frozen.db"), options).unwrap();
            for store in [&writer, &reader, &frozen] {
                let number = |pragma: &str| {
                    let sql = format!("PRAGMA {pragma}");
                    let answer = store
                        .connection
                        .query_row(&sql, [], |row| row.get::<_, i64>(0));
                    answer.unwrap()
                };
                assert_eq!(number("synchronous"), synchronous);
                assert_eq!(number("foreign_keys"), 1);
                assert_eq!(number("recursive_triggers"), 1);
                assert_eq!(number("trusted_schema"), 1);
                assert_eq!(number("temp_store"), 2);
                assert_eq!(number("cache_size"), -16_384);
                assert_eq!(number("busy_timeout"), 5_000);
                let stable = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
                assert!(store.connection.db_config(stable).unwrap());
            }
            let mode = "PRAGMA journal_mode";
            let mode: String = writer
                .connection
                .query_row(mode, [], |row| row.get(0))
                .unwrap();
            assert_eq!(mode, "wal");
        }
    }
}

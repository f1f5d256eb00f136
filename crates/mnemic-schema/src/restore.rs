//! Puts a backup in the place of a file. It never puts anything there that it did not check, and never removes the file
//! that was there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tempfile::{NamedTempFile, TempPath};

use crate::backup::{sync_folder, whole};
use crate::check::CheckReport;
use crate::error::{Doing, SchemaError};
use crate::migrate::{self, SCHEMA_VERSION};
use crate::open::{OpenOptions, Store, absolute, beside, connect, connect_read_only};

/// What a restoration did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Restored {
    /// Where the file that was there lies now; `None` where there was none.
    pub kept: Option<PathBuf>,
    /// What the check of the restored file found: nothing, or memories without a vector.
    pub check: CheckReport,
}

/// Puts the memory of a backup in the place of a file: the backup is read (and left as it is), copied beside the target,
/// brought to the newest schema and checked; the file that is there is copied beside itself
/// (`agent.before-restore.db`, `agent.before-restore-2.db`, …); then the restored one takes its name.
///
/// # Errors
/// The target is as it was then. [`SchemaError::Busy`] where it is open, in this process or another: close it first. (A
/// handle that only reads a file that nobody has open for writing is not known; it notices the other file.)
/// [`SchemaError::Damaged`], [`SchemaError::Corrupt`], [`SchemaError::NewerFile`], [`SchemaError::NotAMemoryFile`] where
/// the backup is not sound, or the target is a database of something else; [`SchemaError::Io`].
pub fn restore(from: &Path, to: &Path, options: OpenOptions) -> Result<Restored, SchemaError> {
    let from = absolute(from)?;
    let target = absolute(to)?;
    let io = |source| SchemaError::Io {
        doing: "restoring to",
        path: target.clone(),
        source,
    };
    if from == target {
        return Err(SchemaError::BadPath {
            path: from,
            reason: "a file cannot be restored from itself",
        });
    }
    let folder = target.parent().map_or_else(PathBuf::new, Path::to_owned);
    let (copy, check) = checked_copy(&from, &folder, options)?;
    let present = if target.exists() {
        Some(Present::lock(&target, options)?)
    } else {
        let logs = ["-wal", "-journal"].map(|suffix| beside(&target, suffix));
        if logs.iter().any(|log| log.symlink_metadata().is_ok()) {
            return Err(io(std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "the log of another file lies beside it and would be taken for its own: move it away",
            )));
        }
        None
    };
    let kept = match present {
        Some(present) => Some(present.give_way(copy)?),
        None => {
            copy.persist_noclobber(&target)
                .map_err(|error| io(error.error))?;
            None
        }
    };
    sync_folder(&folder).map_err(io)?;
    Ok(Restored { kept, check })
}

/// A copy of a backup beside the target, of the newest schema, whole on the disk, and what its check found.
fn checked_copy(
    from: &Path,
    folder: &Path,
    options: OpenOptions,
) -> Result<(TempPath, CheckReport), SchemaError> {
    let io = |source| SchemaError::Io {
        doing: "copying the backup to",
        path: folder.to_owned(),
        source,
    };
    std::fs::metadata(from).map_err(|source| SchemaError::Io {
        doing: "opening the backup",
        path: from.to_owned(),
        source,
    })?;
    let (connection, frozen) = connect_read_only(from, options)?;
    if migrate::inspect(&connection, from, SCHEMA_VERSION)? == migrate::FileState::Empty {
        return Err(SchemaError::NotAMemoryFile {
            path: from.to_owned(),
            reason: "it is empty".to_owned(),
        });
    }
    whole(&connection, from)?;
    let copy = NamedTempFile::with_prefix_in(".restore-", folder).map_err(io)?;
    crate::backup::copy_into(&connection, copy.path())?;
    // Read without locks: somebody may have written to it meanwhile.
    if frozen.is_some_and(|frozen| !frozen.is_current()) {
        return Err(SchemaError::Changed {
            path: from.to_owned(),
        });
    }
    let copy = copy.into_temp_path();
    let mut store = Store::open(&copy, options)?;
    let mut check = store.check()?;
    // Memories may be without a vector where they were stored without a model: that is no damage.
    let missing = std::mem::take(&mut check.missing_vectors);
    if !check.is_ok() {
        return Err(SchemaError::Damaged {
            path: from.to_owned(),
            found: check.summary(),
        });
    }
    check.missing_vectors = missing;
    drop(store);
    std::fs::File::open(&copy)
        .and_then(|copy| copy.sync_all())
        .map_err(io)?;
    Ok((copy, check))
}

/// The file that is to give way, kept from being opened by others where that can be done.
struct Present {
    path: PathBuf,
    /// Holds its lock; `None` where it is so damaged that SQLite cannot lock it.
    lock: Option<Connection>,
}

impl Present {
    fn lock(path: &Path, options: OpenOptions) -> Result<Self, SchemaError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Not for as long as a writer would: who has it open has it open for long.
        let options = OpenOptions {
            busy_timeout: options.busy_timeout.min(Duration::from_millis(500)),
            ..options
        };
        let locked = connect(path, flags, options).and_then(|connection| {
            migrate::inspect(&connection, path, SCHEMA_VERSION)?;
            // Merges the log and removes it, and fails while any other connection has the file open. The lock is then kept
            // without a transaction, as pages are not copied out of one that writes.
            connection
                .pragma_update_and_check(None, "journal_mode", "DELETE", |row| {
                    row.get::<_, String>(0)
                })
                .and_then(|_| {
                    connection
                        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
                })
                .doing("restoring (the file that is there is open: close it everywhere first)")?;
            Ok(connection)
        });
        let lock = match locked {
            Ok(lock) => Some(lock),
            // What it holds is kept all the same.
            Err(SchemaError::Corrupt { .. }) => None,
            Err(other) => return Err(other),
        };
        Ok(Self {
            path: path.to_owned(),
            lock,
        })
    }

    /// Copies the file to another name and puts the restored one in its place; answers the other name.
    fn give_way(mut self, restored: TempPath) -> Result<PathBuf, SchemaError> {
        let kept = self.kept_as();
        let io = |source| SchemaError::Io {
            doing: "keeping the file that is there as",
            path: kept.clone(),
            source,
        };
        // A copy and not a second name, which would leave one file under both where the process dies between.
        let folder = kept.parent().unwrap_or(Path::new(""));
        let copy = NamedTempFile::with_prefix_in(".restore-", folder)
            .map_err(io)?
            .into_temp_path();
        match &self.lock {
            Some(lock) => copy_pages(lock, &copy)?,
            None => drop(std::fs::copy(&self.path, &copy).map_err(io)?),
        }
        std::fs::File::open(&copy)
            .and_then(|copy| copy.sync_all())
            .map_err(io)?;
        copy.persist_noclobber(&kept)
            .map_err(|error| io(error.error))?;
        // What a damaged file left beside it would be taken for the new one's.
        for suffix in ["-wal", "-journal"] {
            if beside(&self.path, suffix).exists() {
                std::fs::rename(beside(&self.path, suffix), beside(&kept, suffix)).map_err(io)?;
            }
        }
        let _ = std::fs::remove_file(beside(&self.path, "-shm"));
        if cfg!(windows) {
            // A file that is open cannot be replaced there.
            self.lock = None;
        }
        let put = restored.persist(&self.path);
        put.map_err(|error| SchemaError::Io {
            doing: "restoring to",
            path: self.path.clone(),
            source: error.error,
        })?;
        Ok(kept)
    }

    /// A name beside the file's own that nothing has.
    fn kept_as(&self) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default();
        let extension = self.path.extension();
        let name = |number: u32| {
            let mut name = stem.to_owned();
            name.push(".before-restore");
            if number > 1 {
                name.push(format!("-{number}"));
            }
            if let Some(extension) = extension {
                name.push(".");
                name.push(extension);
            }
            self.path.with_file_name(name)
        };
        let mut number = 1;
        while name(number).symlink_metadata().is_ok() {
            number += 1;
        }
        name(number)
    }
}

/// Copies every page that a connection sees, the damaged ones too, while it keeps its lock.
fn copy_pages(from: &Connection, to: &Path) -> Result<(), SchemaError> {
    let doing = "keeping the file that is there";
    let mut to = Connection::open(to).doing(doing)?;
    let backup = Backup::new(from, &mut to).doing(doing)?;
    let answer = backup.step(-1).doing(doing)?;
    if answer == StepResult::Done {
        return Ok(());
    }
    Err(SchemaError::Io {
        doing,
        path: PathBuf::from(from.path().unwrap_or_default()),
        source: std::io::Error::other(format!("the copy did not end: {answer:?}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the moment of the lock on, nobody else may write to the file that gives way, nor begin to read it.
    #[test]
    fn the_file_that_gives_way_is_locked_without_a_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let options = OpenOptions {
            busy_timeout: Duration::ZERO,
            ..OpenOptions::default()
        };
        drop(Store::open(&path, options).unwrap());
        let present = Present::lock(&path, options).unwrap();
        let error = Store::open(&path, options).unwrap_err();
        assert!(matches!(error, SchemaError::Busy { .. }), "{error:?}");
        assert!(present.lock.as_ref().unwrap().is_autocommit());
        let copy = folder.path().join("copy.db");
        copy_pages(present.lock.as_ref().unwrap(), &copy).unwrap();
        assert!(
            Store::open(&path, options).is_err(),
            "copying keeps the lock"
        );
        drop(present);
        assert!(
            Store::open(&path, options)
                .unwrap()
                .check()
                .unwrap()
                .is_ok()
        );
        assert!(
            Store::open(&copy, options)
                .unwrap()
                .check()
                .unwrap()
                .is_ok()
        );
    }
}

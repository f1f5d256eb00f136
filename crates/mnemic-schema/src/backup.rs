//! A copy of the whole file while others go on writing. It never copies bytes of an open file, and never touches a file
//! that it did not make.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::NamedTempFile;

use crate::error::{Doing, SchemaError};
use crate::open::{OpenOptions, Store, absolute, connect_read_only};

impl Store {
    /// Writes one state of the memory to a new file (SQLite's `VACUUM INTO`: what the write-ahead log holds is in it,
    /// free pages are not), readable by its owner alone, checks the copy, and only then gives it its name. Answers with
    /// the size in bytes.
    ///
    /// # Errors
    /// [`SchemaError::Io`] where the target exists or cannot be made, [`SchemaError::Corrupt`] or
    /// [`SchemaError::Damaged`] where the copy fails its check; no file is left then.
    pub fn backup(&mut self, to: &Path) -> Result<u64, SchemaError> {
        let io = |source| SchemaError::Io {
            doing: "backing up to",
            path: to.to_owned(),
            source,
        };
        if to.symlink_metadata().is_ok() {
            return Err(io(std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "the file exists already: give another name or remove it",
            )));
        }
        let target = absolute(to)?;
        let folder = target.parent().map_or_else(PathBuf::new, Path::to_owned);
        let copy = loop {
            if self.frozen_is_stale() {
                self.thaw()?;
            }
            // A name of its own, made by it alone: two backups at once do not meet.
            let copy = NamedTempFile::with_prefix_in(".backup-", &folder).map_err(io)?;
            copy_into(self.connection(), copy.path())?;
            // A file that was read as it lay may have been written to meanwhile: then once more, with locks.
            if !self.frozen_is_stale() {
                break copy;
            }
        };
        whole(&connect_read_only(copy.path(), OpenOptions::default())?.0)?;
        copy.as_file().sync_all().map_err(io)?;
        let copy = copy
            .persist_noclobber(&target)
            .map_err(|error| io(error.error))?;
        sync_folder(&folder).map_err(io)?;
        copy.metadata().map(|metadata| metadata.len()).map_err(io)
    }
}

/// Writes one state of what a connection sees into a file that is empty.
pub(crate) fn copy_into(connection: &Connection, path: &Path) -> Result<(), SchemaError> {
    // SQLite reads the name as an ordinary path unless it begins with `file:`; an absolute one does not.
    let name = path.to_str().map(|path| Value::Text(path.to_owned()));
    let name = name.ok_or_else(|| SchemaError::BadPath {
        path: path.to_owned(),
        reason: "a backup's path must be valid Unicode",
    })?;
    connection
        .execute("VACUUM INTO ?1", [name])
        .map(|_| ())
        .doing("writing the backup")
}

/// Whether SQLite finds a database whole: its pages, its tables and indexes, the words that FTS5 keeps.
pub(crate) fn whole(connection: &Connection) -> Result<(), SchemaError> {
    let answer: String = connection
        .query_row(
            "SELECT integrity_check FROM pragma_integrity_check",
            [],
            |row| row.get(0),
        )
        .doing("checking the backup")?;
    if answer == "ok" {
        return Ok(());
    }
    Err(SchemaError::Damaged {
        path: connection.path().map(PathBuf::from).unwrap_or_default(),
        found: answer,
    })
}

/// Makes sure that the names in a folder survive a power cut.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

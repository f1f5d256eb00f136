//! A copy of the whole file while others go on writing. It never copies bytes of an open file.

use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;

use crate::error::{Doing, SchemaError};
use crate::open::{OpenOptions, Store, absolute, beside};

impl Store {
    /// Writes one state of the memory to a new file (SQLite's `VACUUM INTO`: what the write-ahead log holds is in it,
    /// free pages are not), checks the copy, and only then gives it its name. Answers with the size in bytes.
    ///
    /// # Errors
    /// [`SchemaError::Io`] where the target exists or cannot be made, [`SchemaError::Corrupt`] where the copy fails its
    /// check; the target is not there then.
    pub fn backup(&mut self, to: &Path) -> Result<u64, SchemaError> {
        let to = absolute(to)?;
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        if exists(&to) {
            return Err(SchemaError::Io {
                doing: "backing up to",
                path: to,
                source: std::io::Error::new(
                    std::io::ErrorKind::AlreadyExists,
                    "the file exists already: give another name or remove it",
                ),
            });
        }
        let partial = Partial(beside(&to, ".partial"));
        // Left by a backup that was killed.
        let _ = std::fs::remove_file(&partial.0);
        self.copy_into(&partial.0)?;
        let mut copy = Self::open_read_only(&partial.0, OpenOptions::default())?;
        copy.read(|snapshot| {
            let answer: Option<String> = snapshot
                .connection()
                .query_row(
                    "SELECT integrity_check FROM pragma_integrity_check",
                    [],
                    |row| row.get(0),
                )
                .optional()
                .doing("checking the backup")?;
            if answer.as_deref() == Some("ok") {
                Ok(())
            } else {
                Err(SchemaError::BadRow {
                    id: "of the backup".to_owned(),
                    found: answer.unwrap_or_default(),
                })
            }
        })?;
        drop(copy);
        let io = |source| SchemaError::Io {
            doing: "backing up to",
            path: to.clone(),
            source,
        };
        std::fs::File::open(&partial.0)
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&partial.0, &to))
            .and_then(|()| std::fs::metadata(&to))
            .map(|metadata| metadata.len())
            .map_err(io)
    }

    fn copy_into(&self, path: &Path) -> Result<(), SchemaError> {
        use rusqlite::types::Value;
        // SQLite reads the name as an ordinary path unless it begins with `file:`; an absolute one does not.
        let name = path.to_str().map(|path| Value::Text(path.to_owned()));
        let name = name.ok_or_else(|| SchemaError::BadPath {
            path: path.to_owned(),
            reason: "a backup's path must be valid Unicode",
        })?;
        self.connection()
            .execute("VACUUM INTO ?1", [name])
            .map(|_| ())
            .doing("writing the backup")
    }
}

/// Removes an unfinished copy.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

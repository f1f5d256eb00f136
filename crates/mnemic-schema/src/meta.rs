//! Values that the facade keeps in the table `meta` under names of its own. It never reads or writes the names by which
//! the file describes itself: which model made the vectors, the version of the indexed text.

use rusqlite::{OptionalExtension, params};

use crate::error::{Doing, SchemaError};
use crate::read::Snapshot;
use crate::write::WriteTransaction;

/// The beginning of the keys of such values, so that none can ever be a key of the file itself.
const PREFIX: &str = "note:";

impl Snapshot<'_> {
    /// The value noted under a name, if there is one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note(&self, name: &str) -> Result<Option<String>, SchemaError> {
        self.connection()
            .prepare_cached("SELECT value FROM meta WHERE key = ?1")
            .and_then(|mut statement| {
                let key = format!("{PREFIX}{name}");
                statement.query_row([key], |row| row.get(0)).optional()
            })
            .doing("reading a note of the file")
    }
}

impl WriteTransaction<'_> {
    /// Notes a value under a name, in place of what was noted there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn set_note(&mut self, name: &str, value: &str) -> Result<(), SchemaError> {
        self.execute(
            "noting a value in the file",
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
            params![format!("{PREFIX}{name}"), value],
        )?;
        Ok(())
    }
}

//! What an index in memory needs to hold and to follow the file. It never holds anything itself.

use rusqlite::OptionalExtension;

use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::search::floats;
use crate::text::fold;
use crate::timestamp::Timestamp;
use crate::words::row_length;

/// How far a file has come, as far as an index in memory is concerned: two snapshots with the same state hold the same
/// rows with the same vectors, projects, times and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexState {
    /// Which file this is: another number is another file, of which nothing is known.
    pub file: u64,
    /// The last entry of the log of changes (0 where there never was one).
    pub log: i64,
    /// The largest key that was ever given (0 where none was).
    pub last_seq: i64,
}

/// What an index in memory holds of a row beside its vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRow {
    /// The key: of a memory or of a passage. The rest is the memory's, but for the length.
    pub seq: i64,
    /// The project; `None` is global.
    pub project: Option<String>,
    /// When it was created. A time that is none (`check` reports it) is the earliest there is.
    pub created_at: Timestamp,
    /// How many tokens it has in the word index, in content, tags and project together.
    pub length: u32,
}

impl Snapshot<'_> {
    /// How far this snapshot has come, in what an index of memories holds.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_state(&self) -> Result<IndexState, SchemaError> {
        self.index_state_in(Indexed::Memories)
    }

    /// As [`Snapshot::index_state`], of memories or of passages. Where there never was a passage, its last key is 0.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_state_in(&self, indexed: Indexed) -> Result<IndexState, SchemaError> {
        self.connection()
            .prepare_cached(&indexed.filled(
                "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{log}'), 0),
                        coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{base}'), 0)",
            ))
            .and_then(|mut statement| {
                statement.query_row([], |row| {
                    Ok(IndexState {
                        file: self.file(),
                        log: row.get(0)?,
                        last_seq: row.get(1)?,
                    })
                })
            })
            .doing("reading how far the file has come")
    }

    /// The keys of the rows that changed after a state of the log, each once; `None` where the log does not reach back
    /// so far.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn changed_since(&self, log: i64) -> Result<Option<Vec<i64>>, SchemaError> {
        self.changed_since_in(Indexed::Memories, log)
    }

    /// As [`Snapshot::changed_since`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn changed_since_in(
        &self,
        indexed: Indexed,
        log: i64,
    ) -> Result<Option<Vec<i64>>, SchemaError> {
        let doing = "reading the log of changes";
        let known: i64 = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT count(*) FROM {log} WHERE entry > ?1"))
            .and_then(|mut statement| statement.query_row([log], |row| row.get(0)))
            .doing(doing)?;
        if known != self.index_state_in(indexed)?.log.saturating_sub(log) {
            return Ok(None);
        }
        self.connection()
            .prepare_cached(
                &indexed.filled("SELECT DISTINCT {key} FROM {log} WHERE entry > ?1 ORDER BY {key}"),
            )
            .and_then(|mut statement| statement.query_map([log], |row| row.get(0))?.collect())
            .map(Some)
            .doing(doing)
    }

    /// Visits the rows after a key, in the order of their keys.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_rows_after(
        &self,
        indexed: Indexed,
        seq: i64,
        mut visit: impl FnMut(IndexRow),
    ) -> Result<(), SchemaError> {
        let doing = "reading the rows of the index";
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled(
                "SELECT {id}, m.project, m.created_at, d.sz
                 FROM {from} LEFT JOIN {words}_docsize d ON d.id = {id} WHERE {id} > ?1 ORDER BY {id}",
            ))
            .doing(doing)?;
        let mut rows = statement.query([seq]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(index_row(row).doing(doing)?);
        }
        Ok(())
    }

    /// The row with a key, if there is one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_row(&self, indexed: Indexed, seq: i64) -> Result<Option<IndexRow>, SchemaError> {
        self.connection()
            .prepare_cached(&indexed.filled(
                "SELECT {id}, m.project, m.created_at, d.sz
                 FROM {from} LEFT JOIN {words}_docsize d ON d.id = {id} WHERE {id} = ?1",
            ))
            .and_then(|mut statement| statement.query_row([seq], index_row).optional())
            .doing("reading a row of the index")
    }

    /// Visits every vector of the file, in any order: one pass, many times faster than looking each up.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vectors(&self, visit: impl FnMut(i64, &[f32])) -> Result<(), SchemaError> {
        self.vectors_in(Indexed::Memories, visit)
    }

    /// As [`Snapshot::vectors`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vectors_in(
        &self,
        indexed: Indexed,
        mut visit: impl FnMut(i64, &[f32]),
    ) -> Result<(), SchemaError> {
        if !self.has_vectors_of(indexed)? {
            return Ok(());
        }
        let doing = "reading the vectors";
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT {key}, embedding FROM {vectors}"))
            .doing(doing)?;
        let mut rows = statement.query([]).doing(doing)?;
        let mut vector = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            let bytes = row
                .get_ref(1)
                .and_then(|value| Ok(value.as_blob()?))
                .doing(doing)?;
            vector.clear();
            vector.extend(floats(bytes));
            visit(row.get(0).doing(doing)?, &vector);
        }
        Ok(())
    }

    /// The vector of the row with a key, if it has one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vector(&self, seq: i64) -> Result<Option<Vec<f32>>, SchemaError> {
        self.vector_in(Indexed::Memories, seq)
    }

    /// As [`Snapshot::vector`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vector_in(&self, indexed: Indexed, seq: i64) -> Result<Option<Vec<f32>>, SchemaError> {
        if !self.has_vectors_of(indexed)? {
            return Ok(None);
        }
        let bytes: Option<Vec<u8>> = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT embedding FROM {vectors} WHERE {key} = ?1"))
            .and_then(|mut statement| statement.query_row([seq], |row| row.get(0)).optional())
            .doing("reading a vector")?;
        Ok(bytes.map(|bytes| floats(&bytes).collect()))
    }

    /// Visits the keys of the memories with a tag, in order. Tags are compared as a [`crate::Filter`] compares them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tagged(&self, tag: &str, visit: impl FnMut(i64)) -> Result<(), SchemaError> {
        self.tagged_in(Indexed::Memories, tag, visit)
    }

    /// As [`Snapshot::tagged`], of memories or of the passages of memories with the tag.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tagged_in(
        &self,
        indexed: Indexed,
        tag: &str,
        mut visit: impl FnMut(i64),
    ) -> Result<(), SchemaError> {
        let doing = "reading which memories have a tag";
        let mut statement = self
            .connection()
            .prepare_cached(match indexed {
                Indexed::Memories => "SELECT seq FROM memory_tags WHERE tag = ?1 ORDER BY seq",
                Indexed::Passages => {
                    "SELECT c.chunk FROM memory_tags t JOIN chunks c ON c.seq = t.seq WHERE t.tag = ?1 ORDER BY c.chunk"
                }
            })
            .doing(doing)?;
        let mut rows = statement.query([fold(tag)]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(row.get(0).doing(doing)?);
        }
        Ok(())
    }

    /// The keys of what the memory with an id has in an index: its own, or those of its passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn keys_in(&self, indexed: Indexed, id: &str) -> Result<Vec<i64>, SchemaError> {
        match indexed {
            Indexed::Memories => Ok(self.key_of(id)?.into_iter().collect()),
            Indexed::Passages => self
                .connection()
                .prepare_cached(
                    "SELECT c.chunk FROM memories m JOIN chunks c ON c.seq = m.seq WHERE m.id = ?1 ORDER BY c.chunk",
                )
                .and_then(|mut statement| statement.query_map([id], |row| row.get(0))?.collect())
                .doing("looking up the passages of a document"),
        }
    }

    /// The key of the memory with an id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn key_of(&self, id: &str) -> Result<Option<i64>, SchemaError> {
        self.connection()
            .prepare_cached("SELECT seq FROM memories WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
            .doing("looking up an id")
    }
}

fn index_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<IndexRow> {
    let created: String = row.get(2)?;
    Ok(IndexRow {
        seq: row.get(0)?,
        project: row.get(1)?,
        created_at: created.parse().unwrap_or(Timestamp::MIN),
        length: row_length(row, 3)?,
    })
}

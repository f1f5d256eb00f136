//! Reading rows of one snapshot. It never writes, and knows nothing of ranking.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Transaction, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::{Filter, Scope};
use crate::indexed::Indexed;
use crate::row::{MemoryRow, RecordedModel, RowKey, select_memories};

/// Where `meta` records the model of the live vectors: space, id, revision, width.
pub(crate) const MODEL_KEYS: [&str; 4] = ["space", "model", "model_revision", "dims"];

/// One state of the file. All reading goes through it.
#[derive(Debug)]
pub struct Snapshot<'c> {
    transaction: Transaction<'c>,
    /// Differs where the connection was opened to another file.
    file: u64,
}

/// In which order rows are listed. Rows of one instant follow in the order in which they were stored (or its reverse).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Latest created first.
    #[default]
    NewestFirst,
    /// Earliest created first.
    OldestFirst,
}

impl<'c> Snapshot<'c> {
    pub(crate) fn new(transaction: Transaction<'c>, file: u64) -> Self {
        Self { transaction, file }
    }

    pub(crate) fn file(&self) -> u64 {
        self.file
    }

    pub(crate) fn into_transaction(self) -> Transaction<'c> {
        self.transaction
    }

    pub(crate) fn connection(&self) -> &rusqlite::Connection {
        &self.transaction
    }

    /// The memory with an id.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where the row is damaged, and what SQLite reports.
    pub fn row(&self, id: &str) -> Result<Option<MemoryRow>, SchemaError> {
        let sql = format!("{} WHERE m.id = ?1", select_memories());
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([id], MemoryRow::read).optional())
            .doing("reading a memory")?
            .transpose()
    }

    /// The project of the memory with an id (`Some(None)`: it has none), if there is such a memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn project_of(&self, id: &str) -> Result<Option<Option<String>>, SchemaError> {
        self.connection()
            .prepare_cached("SELECT project FROM memories WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
            .doing("reading the project of a memory")
    }

    /// The memories with these keys, in the order of the keys; absent ones are left out.
    ///
    /// # Errors
    /// As [`Snapshot::row`].
    pub fn rows(&self, seqs: &[i64]) -> Result<Vec<MemoryRow>, SchemaError> {
        let doing = "reading memories";
        let sql = format!("{} WHERE m.seq = ?1", select_memories());
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = Vec::with_capacity(seqs.len());
        for seq in seqs {
            let row = statement.query_row([seq], MemoryRow::read).optional();
            if let Some(row) = row.doing(doing)? {
                rows.push(row?);
            }
        }
        Ok(rows)
    }

    /// What ranking needs of the memories with these keys, in their order; absent ones are left out.
    ///
    /// # Errors
    /// As [`Snapshot::row`].
    pub fn keys(&self, seqs: &[i64]) -> Result<Vec<RowKey>, SchemaError> {
        self.row_keys_in(Indexed::Memories, seqs)
    }

    /// As [`Snapshot::keys`], of memories or of passages: of a passage its own key, with the id and time of its document.
    ///
    /// # Errors
    /// As [`Snapshot::row`].
    pub fn row_keys_in(&self, indexed: Indexed, seqs: &[i64]) -> Result<Vec<RowKey>, SchemaError> {
        let doing = "reading the keys of memories";
        let mut statement = self
            .connection()
            .prepare_cached(
                &indexed.filled("SELECT m.id, m.created_at FROM {from} WHERE {id} = ?1"),
            )
            .doing(doing)?;
        let mut keys = Vec::with_capacity(seqs.len());
        for &seq in seqs {
            let found: Option<(String, String)> = statement
                .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .doing(doing)?;
            if let Some((id, created)) = found {
                let created_at = created.parse().map_err(|error| SchemaError::BadRow {
                    id: id.clone(),
                    found: format!("{error}"),
                })?;
                keys.push(RowKey {
                    seq,
                    id,
                    created_at,
                });
            }
        }
        Ok(keys)
    }

    /// The memories that pass a filter, by time of creation; at most `limit` (all where `None`).
    ///
    /// # Errors
    /// As [`Snapshot::row`].
    pub fn list(
        &self,
        filter: &Filter,
        order: Order,
        limit: Option<usize>,
    ) -> Result<Vec<MemoryRow>, SchemaError> {
        let doing = "listing memories";
        let (conditions, mut values) = filter.clause();
        let direction = match order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        let sql = format!(
            "{} WHERE TRUE{conditions}
             ORDER BY m.created_at {direction}, m.seq {direction} LIMIT ?",
            select_memories()
        );
        // SQLite reads a negative limit as none.
        values.push(Value::Integer(
            limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        ));
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), MemoryRow::read)
            .doing(doing)?;
        rows.map(|row| row.doing(doing)?).collect()
    }

    /// The ids of the memories that pass a filter, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn ids(&self, filter: &Filter) -> Result<Vec<String>, SchemaError> {
        let doing = "listing the ids of memories";
        let (conditions, values) = filter.clause();
        let sql = format!(
            "SELECT m.id FROM memories m WHERE TRUE{conditions} ORDER BY m.created_at, m.seq"
        );
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let ids = statement
            .query_map(params_from_iter(values), |row| row.get(0))
            .doing(doing)?;
        ids.collect::<rusqlite::Result<_>>().doing(doing)
    }

    /// How many memories there are.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn memory_count(&self) -> Result<u64, SchemaError> {
        self.count("SELECT count(*) FROM memories")
    }

    /// How many memories of a scope there are.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn scope_count(&self, scope: &Scope) -> Result<u64, SchemaError> {
        let (conditions, values) = Filter::from(scope.clone()).clause();
        self.connection()
            .prepare_cached(&format!(
                "SELECT count(*) FROM memories m WHERE TRUE{conditions}"
            ))
            .and_then(|mut statement| {
                statement.query_row(rusqlite::params_from_iter(values), |row| {
                    row.get::<_, i64>(0)
                })
            })
            .map(i64::unsigned_abs)
            .doing("counting the memories of a scope")
    }

    /// How many vectors of memories there are (0 where no model is recorded).
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vector_count(&self) -> Result<u64, SchemaError> {
        self.vector_count_in(Indexed::Memories)
    }

    /// How many vectors of memories or of passages there are.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn vector_count_in(&self, indexed: Indexed) -> Result<u64, SchemaError> {
        if self.has_vectors_of(indexed)? {
            self.count(&indexed.filled("SELECT count(*) FROM {vectors}"))
        } else {
            Ok(0)
        }
    }

    /// Whether there is any vector, of a memory or of a passage: whether the file is bound to its model.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_any_vector(&self) -> Result<bool, SchemaError> {
        for indexed in Indexed::ALL {
            if self.has_vectors_of(indexed)?
                && self.count(&indexed.filled("SELECT EXISTS (SELECT 1 FROM {vectors})"))? > 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many distinct projects there are, not counting global.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn project_count(&self) -> Result<u64, SchemaError> {
        self.count("SELECT count(DISTINCT project) FROM memories")
    }

    /// The model that made the file's vectors; `None` where it has none yet.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where the record is damaged, and what SQLite reports.
    pub fn recorded_model(&self) -> Result<Option<RecordedModel>, SchemaError> {
        self.model_at(MODEL_KEYS)
    }

    /// The model that `meta` records under four keys: space, id, revision, width.
    pub(crate) fn model_at(&self, keys: [&str; 4]) -> Result<Option<RecordedModel>, SchemaError> {
        let parts: [Option<String>; 4] = self
            .connection()
            .prepare_cached(
                "SELECT (SELECT value FROM meta WHERE key = ?1),
                        (SELECT value FROM meta WHERE key = ?2),
                        (SELECT value FROM meta WHERE key = ?3),
                        (SELECT value FROM meta WHERE key = ?4)",
            )
            .and_then(|mut statement| {
                statement.query_row(keys, |row| {
                    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
                })
            })
            .doing("reading which model made the vectors")?;
        let [Some(space), Some(id), Some(revision), Some(dims)] = parts else {
            return Ok(None);
        };
        let dims = dims.parse().map_err(|_| SchemaError::BadRow {
            id: "meta.dims".to_owned(),
            found: format!("{dims:?} instead of a width"),
        })?;
        Ok(Some(RecordedModel {
            space,
            id,
            revision,
            dims,
        }))
    }

    pub(crate) fn has_vector_table(&self) -> Result<bool, SchemaError> {
        self.has_vectors_of(Indexed::Memories)
    }

    /// Whether memories or passages have a table of vectors.
    pub(crate) fn has_vectors_of(&self, indexed: Indexed) -> Result<bool, SchemaError> {
        self.has_table(indexed.names().vectors)
    }

    /// Whether the file says that it has a table of chunk vectors.
    pub(crate) fn has_passage_vectors(&self) -> Result<bool, SchemaError> {
        Ok(self.count("SELECT count(*) FROM meta WHERE key = 'passage_vectors'")? > 0)
    }

    pub(crate) fn has_table(&self, name: &str) -> Result<bool, SchemaError> {
        self.connection()
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)")
            .and_then(|mut statement| statement.query_row([name], |row| row.get(0)))
            .doing("looking for a table")
    }

    pub(crate) fn count(&self, sql: &str) -> Result<u64, SchemaError> {
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
            .map(i64::unsigned_abs)
            .doing("counting rows")
    }
}

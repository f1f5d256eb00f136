//! The one path by which rows are written: row, word index, tags and vector together. It never embeds and never commits
//! by halves.

use std::ops::Deref;

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::{Doing, SchemaError};
use crate::events::Action;
use crate::indexed::Indexed;
use crate::journal::Journal;
use crate::read::{MODEL_KEYS, Snapshot};
use crate::row::{Embedded, NewRow, RecordedModel, RowChange};
use crate::search::bytes;
use crate::tags;
use crate::timestamp::Timestamp;

/// Entries of the log of changes that are kept.
const INDEX_LOG_ENTRIES: i64 = 10_000;

/// A transaction that holds the write lock. It reads as a [`Snapshot`] does.
#[derive(Debug)]
pub struct WriteTransaction<'c> {
    snapshot: Snapshot<'c>,
    /// The model that the file was found or made to be of, once that was looked up.
    model: Option<RecordedModel>,
    pub(crate) journal: Journal,
}

impl<'c> Deref for WriteTransaction<'c> {
    type Target = Snapshot<'c>;

    fn deref(&self) -> &Snapshot<'c> {
        &self.snapshot
    }
}

impl<'c> WriteTransaction<'c> {
    pub(crate) fn new(transaction: Transaction<'c>, file: u64) -> Self {
        Self {
            snapshot: Snapshot::new(transaction, file),
            model: None,
            journal: Journal::default(),
        }
    }

    pub(crate) fn commit(mut self) -> Result<(), SchemaError> {
        self.trim_index_log()?;
        self.trim_history()?;
        self.snapshot
            .into_transaction()
            .commit()
            .doing("committing")
    }

    /// Keeps the last [`INDEX_LOG_ENTRIES`] of the logs, to a quarter more: an index further behind is loaded anew.
    fn trim_index_log(&self) -> Result<(), SchemaError> {
        for indexed in Indexed::ALL {
            self.trim_log_of(indexed)?;
        }
        Ok(())
    }

    fn trim_log_of(&self, indexed: Indexed) -> Result<(), SchemaError> {
        let doing = "trimming the log of changes";
        let span: Option<(i64, i64)> =
            self.connection()
                .prepare_cached(&indexed.filled(
                    "SELECT (SELECT min(entry) FROM {log}), (SELECT max(entry) FROM {log})",
                ))
                .and_then(|mut statement| {
                    statement
                        .query_row([], |row| Ok(row.get::<_, Option<i64>>(0)?.zip(row.get(1)?)))
                })
                .doing(doing)?;
        if let Some((first, last)) = span
            && last - first > INDEX_LOG_ENTRIES + INDEX_LOG_ENTRIES / 4
        {
            let keep_from = last - INDEX_LOG_ENTRIES;
            self.execute(
                doing,
                &indexed.filled("DELETE FROM {log} WHERE entry < ?1"),
                params![keep_from],
            )?;
        }
        Ok(())
    }

    /// Inserts a memory with its vector, and answers with its id. Without a vector only where the file has none.
    ///
    /// The first vector of a file records its model. A file without vectors takes any model.
    ///
    /// # Errors
    /// [`SchemaError::AlreadyExists`], [`SchemaError::BadId`], [`SchemaError::BadVector`],
    /// [`SchemaError::ModelMismatch`], and what SQLite reports.
    pub fn insert(
        &mut self,
        row: &NewRow,
        embedded: Option<Embedded<'_>>,
    ) -> Result<String, SchemaError> {
        self.admit(embedded.map(|embedded| embedded.model))?;
        let (seq, id) = self.insert_row(row)?;
        if let Some(embedded) = embedded {
            self.insert_vector(seq, &id, embedded)?;
        }
        self.note_stored(&id, row.project.as_deref())?;
        Ok(id)
    }

    /// Inserts a memory without a vector; answers with its key and id.
    pub(crate) fn insert_row(&mut self, row: &NewRow) -> Result<(i64, String), SchemaError> {
        if let Some(id) = &row.id {
            if id.is_empty() || id.len() > 64 || !id.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(SchemaError::BadId { id: id.clone() });
            }
            if self.key_of(id)?.is_some() {
                return Err(SchemaError::AlreadyExists { id: id.clone() });
            }
        }
        let created = row.created_at.to_string();
        let (seq, id) = self
            .connection()
            .prepare_cached(
                "INSERT INTO memories (id, content, project, tags, created_at, updated_at)
                 VALUES (coalesce(?1, lower(hex(randomblob(8)))), ?2, ?3, ?4, ?5, ?5) RETURNING seq, id",
            )
            .and_then(|mut statement| {
                statement.query_row(
                    params![row.id, row.content, row.project, tags::to_json(&row.tags), created],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
            })
            .doing("storing a memory")?;
        self.insert_entities(seq, &row.entities)?;
        Ok((seq, id))
    }

    /// Changes a memory in place: id, key and time of creation stay. Other content needs its vector where the file has
    /// vectors.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], and as [`WriteTransaction::insert`].
    pub fn update(
        &mut self,
        id: &str,
        change: &RowChange,
        updated_at: Timestamp,
        embedded: Option<Embedded<'_>>,
    ) -> Result<(), SchemaError> {
        let doing = "updating a memory";
        let seq = self
            .key_of(id)?
            .ok_or_else(|| SchemaError::NotFound { id: id.to_owned() })?;
        self.note_change(id, &Action::Updated, None)?;
        if let Some(content) = &change.content {
            if self.is_document(seq)? {
                return Err(SchemaError::IsDocument { id: id.to_owned() });
            }
            self.admit(embedded.map(|embedded| embedded.model))?;
            self.execute(
                doing,
                "UPDATE memories SET content = ?2 WHERE seq = ?1",
                params![seq, content],
            )?;
            if let Some(embedded) = embedded {
                self.execute(doing, "DELETE FROM memory_vec WHERE seq = ?1", params![seq])?;
                self.insert_vector(seq, id, embedded)?;
            }
        }
        if change.content.is_some() || change.tags.is_some() || change.entities.is_some() {
            self.log(seq)?;
        }
        if let Some(project) = &change.project {
            self.execute(
                doing,
                "UPDATE memories SET project = ?2 WHERE seq = ?1",
                params![seq, project],
            )?;
        }
        if let Some(tags) = &change.tags {
            let json = tags::to_json(tags);
            self.execute(
                doing,
                "UPDATE memories SET tags = ?2 WHERE seq = ?1",
                params![seq, json],
            )?;
        }
        if let Some(entities) = &change.entities {
            self.set_entities(id, entities)?;
        }
        let now = updated_at.to_string();
        self.execute(
            doing,
            "UPDATE memories SET updated_at = ?2 WHERE seq = ?1",
            params![seq, now],
        )?;
        Ok(())
    }

    /// Deletes a memory with all that belongs to it; tells whether it was there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn delete(&mut self, id: &str) -> Result<bool, SchemaError> {
        self.note_change(id, &Action::Deleted, None)?;
        let deleted = self.execute(
            "deleting a memory",
            "DELETE FROM memories WHERE id = ?1",
            params![id],
        )?;
        Ok(deleted > 0)
    }

    /// [`WriteTransaction::delete`] of which the history keeps no image.
    pub(crate) fn erase_row(&self, id: &str) -> Result<bool, SchemaError> {
        let deleted = self.execute(
            "erasing a memory",
            "DELETE FROM memories WHERE id = ?1",
            params![id],
        )?;
        Ok(deleted > 0)
    }

    /// Gives a memory that has no vector its vector, if its content is still the one given; tells whether it did.
    ///
    /// # Errors
    /// [`SchemaError::BadVector`], [`SchemaError::ModelMismatch`], and what SQLite reports.
    pub fn add_missing_vector(
        &mut self,
        seq: i64,
        content: &str,
        embedded: Embedded<'_>,
    ) -> Result<bool, SchemaError> {
        self.add_missing_vector_in(
            Indexed::Memories,
            seq,
            content,
            embedded.model,
            Some(embedded.vector),
        )
    }

    /// As [`WriteTransaction::add_missing_vector`], of a memory or of a passage: of the latter also that the model finds
    /// nothing to embed in it (no vector).
    ///
    /// # Errors
    /// As [`WriteTransaction::add_missing_vector`].
    pub fn add_missing_vector_in(
        &mut self,
        indexed: Indexed,
        key: i64,
        content: &str,
        model: &RecordedModel,
        vector: Option<&[f32]>,
    ) -> Result<bool, SchemaError> {
        self.admit(Some(model))?;
        if indexed == Indexed::Passages {
            self.make_passage_vectors(model.dims)?;
        }
        let id: Option<String> = self
            .connection()
            .prepare_cached(&indexed.filled(
                "SELECT m.id FROM {from} WHERE {id} = ?1 AND {text} = ?2
                 AND NOT EXISTS (SELECT 1 FROM {vectors} v WHERE v.{key} = ?1)",
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params![key, content], |row| row.get(0))
                    .optional()
            })
            .doing("adding a missing vector")?;
        match (id, vector, indexed) {
            (None, ..) | (_, None, Indexed::Memories) => Ok(false),
            (Some(id), Some(vector), _) => {
                let embedded = Embedded { model, vector };
                self.insert_vector_in(indexed, key, &id, embedded)?;
                self.log_in(indexed, key)?;
                Ok(true)
            }
            (Some(_), None, Indexed::Passages) => {
                self.note_nothing_to_embed(key, &model.space)?;
                Ok(true)
            }
        }
    }

    /// Notes that a row changed in what an index in memory holds of it.
    pub(crate) fn log(&self, seq: i64) -> Result<(), SchemaError> {
        self.log_in(Indexed::Memories, seq)
    }

    pub(crate) fn log_in(&self, indexed: Indexed, key: i64) -> Result<(), SchemaError> {
        self.execute(
            "noting a change for the indexes",
            &indexed.filled("INSERT INTO {log} ({key}) VALUES (?1)"),
            params![key],
        )?;
        Ok(())
    }

    pub(crate) fn execute(
        &self,
        doing: &'static str,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, SchemaError> {
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .doing(doing)
    }

    /// Makes sure that a text embedded so (or not at all) may join the file, and that the vector table is there for it.
    pub(crate) fn admit(&mut self, given: Option<&RecordedModel>) -> Result<(), SchemaError> {
        if given.is_some() && self.model.as_ref() == given {
            return Ok(());
        }
        let recorded = self.recorded_model()?;
        if recorded.as_ref() != given {
            if self.has_any_vector()? {
                return Err(match recorded {
                    Some(recorded) => SchemaError::ModelMismatch {
                        recorded: recorded.to_string(),
                        given: given.map_or_else(|| "no model".to_owned(), ToString::to_string),
                    },
                    None => SchemaError::BadRow {
                        id: "of the file".to_owned(),
                        found: "vectors, but no record of the model that made them".to_owned(),
                    },
                });
            }
            self.record_model(given)?;
        }
        self.model = given.cloned();
        Ok(())
    }

    /// Makes the (empty) vector table that of another model, or of none; that of chunks is made with its first vector.
    pub(crate) fn record_model(&self, model: Option<&RecordedModel>) -> Result<(), SchemaError> {
        let doing = "recording the model of the vectors";
        self.connection()
            .execute_batch(
                "DROP TRIGGER IF EXISTS chunks_vec_delete; DROP TABLE IF EXISTS chunk_vec;
                 DELETE FROM meta WHERE key = 'passage_vectors';",
            )
            .doing(doing)?;
        let Some(model) = model else {
            self.execute(
                doing,
                "DELETE FROM meta WHERE key IN ('space', 'model', 'model_revision', 'dims')",
                [],
            )?;
            return self
                .connection()
                .execute_batch(
                    "DROP TRIGGER IF EXISTS memories_vec_delete; DROP TABLE IF EXISTS memory_vec;",
                )
                .doing(doing);
        };
        self.connection()
            .execute_batch(&Indexed::Memories.vector_index_sql(model.dims))
            .doing(doing)?;
        self.record_at(MODEL_KEYS, model)
    }

    /// Records a model in `meta` under four keys: space, id, revision, width.
    pub(crate) fn record_at(
        &self,
        keys: [&str; 4],
        model: &RecordedModel,
    ) -> Result<(), SchemaError> {
        let dims = model.dims.to_string();
        let values = [&model.space, &model.id, &model.revision, &dims];
        for (key, value) in keys.into_iter().zip(values) {
            self.execute(
                "recording a model",
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
                params![key, value],
            )?;
        }
        Ok(())
    }

    /// Makes the table of chunk vectors where there is none yet.
    pub(crate) fn make_passage_vectors(&self, dims: usize) -> Result<(), SchemaError> {
        if self.has_passage_vectors()? {
            return Ok(());
        }
        let doing = "making the table of chunk vectors";
        self.connection()
            .execute_batch(&Indexed::Passages.vector_index_sql(dims))
            .doing(doing)?;
        self.execute(
            doing,
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('passage_vectors', '1')",
            [],
        )?;
        Ok(())
    }

    pub(crate) fn insert_vector(
        &self,
        seq: i64,
        id: &str,
        embedded: Embedded<'_>,
    ) -> Result<(), SchemaError> {
        self.insert_vector_in(Indexed::Memories, seq, id, embedded)
    }

    /// The vector is looked at first: vec0 itself takes NaN, infinity and zero.
    pub(crate) fn insert_vector_in(
        &self,
        indexed: Indexed,
        key: i64,
        id: &str,
        embedded: Embedded<'_>,
    ) -> Result<(), SchemaError> {
        embedded.check(|| match indexed {
            Indexed::Memories => format!("memory {id}"),
            Indexed::Passages => format!("a passage of the document {id}"),
        })?;
        self.execute(
            "storing a vector",
            &indexed.filled("INSERT INTO {vectors} ({key}, embedding) VALUES (?1, ?2)"),
            params![key, bytes(embedded.vector)],
        )?;
        Ok(())
    }
}

/// What makes a vector useless for cosine, if anything.
pub(crate) fn defect(vector: &[f32]) -> Option<&'static str> {
    // In f32, as sqlite-vec computes: a length that underflows or overflows there has no cosine either.
    let square: f32 = vector.iter().map(|x| x * x).sum();
    if !square.is_finite() {
        Some("it holds a NaN, an infinity, or numbers too large to have a length")
    } else if square < f32::MIN_POSITIVE {
        Some("it is the zero vector, or too small to have a direction")
    } else {
        None
    }
}

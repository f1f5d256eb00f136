//! The vectors of a coming model, gathered in a table of their own beside the live ones, and the one transaction in which
//! they take their place. It never embeds. Also which memories lack a vector, in either space.

use rusqlite::{OptionalExtension, params};

use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::row::{Embedded, RecordedModel};
use crate::search::bytes;
use crate::write::WriteTransaction;

/// Which vectors are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Those that recall searches.
    Live,
    /// Those of the coming model.
    Staging,
}

/// What a re-embedding found when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The live vectors are this model's already.
    IsLive,
    /// Vectors of this model are staged (none, where it is the first time).
    Staging,
}

/// How a switch to the staged vectors ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// The staged vectors are the live ones now; so many memories and passages have none.
    Done(u64),
    /// Nothing was changed, as so many memories and passages have no staged vector.
    Missing(u64),
}

/// How many memories and passages have a vector, counted by joins and not by differences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// Memories.
    pub memories: u64,
    /// Memories with a vector.
    pub embedded: u64,
    /// Memories without one.
    pub missing: u64,
    /// Vectors without a memory.
    pub orphaned: u64,
    /// The coming model, where a re-embedding has begun.
    pub staged_model: Option<RecordedModel>,
    /// Memories with a staged vector.
    pub staged: u64,
    /// Documents.
    pub documents: u64,
    /// Documents whose source was changed and not cut anew, so that their chunks are of an older one, or none.
    pub stale: u64,
    /// Chunks of documents.
    pub chunks: u64,
    /// Chunks with a vector.
    pub chunks_embedded: u64,
    /// Chunks in whose text the model found nothing to embed.
    pub chunks_empty: u64,
    /// Chunks without a vector, but for those.
    pub chunks_missing: u64,
    /// Vectors of chunks without a chunk.
    pub chunks_orphaned: u64,
    /// Chunks that the coming model has embedded, or found nothing to embed in.
    pub chunks_staged: u64,
}

const STAGING_KEYS: [&str; 4] = [
    "staging_space",
    "staging_model",
    "staging_model_revision",
    "staging_dims",
];

/// What has no staged vector, in the order of its keys: both sides are read from the narrow indexes alone.
const UNSTAGED: &str = "SELECT {key} FROM {base} EXCEPT SELECT {key} FROM {staging} ORDER BY {key}";

/// The condition on `chunks` that the model of the file's vectors did not find their text empty.
const NOT_EMPTY: &str =
    "nothing_for IS NOT coalesce((SELECT value FROM meta WHERE key = 'space'), '')";

impl Snapshot<'_> {
    /// The coming model; `None` where no re-embedding has begun.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where the record is damaged, and what SQLite reports.
    pub fn staged_model(&self) -> Result<Option<RecordedModel>, SchemaError> {
        self.model_at(STAGING_KEYS)
    }

    /// The keys of the memories that have no vector in a space, in order.
    ///
    /// # Errors
    /// [`SchemaError::NotStaging`], and what SQLite reports.
    pub fn unembedded(&self, space: Space) -> Result<Vec<i64>, SchemaError> {
        self.unembedded_in(Indexed::Memories, space)
    }

    /// As [`Snapshot::unembedded`], of memories or of passages; a passage in which the model of the space found nothing to
    /// embed is none of them.
    ///
    /// # Errors
    /// As [`Snapshot::unembedded`].
    pub fn unembedded_in(&self, indexed: Indexed, space: Space) -> Result<Vec<i64>, SchemaError> {
        let sql = match space {
            Space::Live => format!(
                "SELECT {{key}} FROM {{base}} WHERE {} ORDER BY {{key}}",
                self.lacking(indexed)?
            ),
            Space::Staging => {
                self.must_be_staging(None)?;
                UNSTAGED.to_owned()
            }
        };
        self.connection()
            .prepare_cached(&indexed.filled(&sql))
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .doing("looking for texts without a vector")
    }

    /// The keys of the passages of a document that have no vector, in order; none where there is no such document.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn unembedded_of(&self, id: &str) -> Result<Vec<i64>, SchemaError> {
        let passages = Indexed::Passages;
        let sql = passages.filled(&format!(
            "SELECT {{key}} FROM {{base}} WHERE seq = (SELECT seq FROM memories WHERE id = ?1) AND {} ORDER BY {{key}}",
            self.lacking(passages)?
        ));
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map([id], |row| row.get(0))?.collect())
            .doing("looking for passages without a vector")
    }

    /// The condition on `{base}` that a live vector is missing.
    pub(crate) fn lacking(&self, indexed: Indexed) -> Result<String, SchemaError> {
        let has_none = match self.has_vectors_of(indexed)? {
            true => "{key} NOT IN (SELECT {key} FROM {vectors})",
            false => "TRUE",
        };
        Ok(match indexed {
            Indexed::Memories => has_none.to_owned(),
            Indexed::Passages => format!("{has_none} AND {NOT_EMPTY}"),
        })
    }

    /// The same of one row of `{base}` at a time, looked up by its key: for a few rows of a large file.
    pub(crate) fn lacks(&self, indexed: Indexed) -> Result<String, SchemaError> {
        let has_none = match self.has_vectors_of(indexed)? {
            true => "NOT EXISTS (SELECT 1 FROM {vectors} v WHERE v.{key} = {base}.{key})",
            false => "TRUE",
        };
        Ok(match indexed {
            Indexed::Memories => has_none.to_owned(),
            Indexed::Passages => format!("{has_none} AND {NOT_EMPTY}"),
        })
    }

    /// The texts of memories, in the order of the keys given, until they come to `most_bytes`; absent ones are left out.
    /// Answers with how many of the keys it went through: at least one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts(
        &self,
        seqs: &[i64],
        most_bytes: usize,
    ) -> Result<(usize, Vec<(i64, String)>), SchemaError> {
        self.texts_in(Indexed::Memories, seqs, most_bytes)
    }

    /// As [`Snapshot::texts`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts_in(
        &self,
        indexed: Indexed,
        seqs: &[i64],
        most_bytes: usize,
    ) -> Result<(usize, Vec<(i64, String)>), SchemaError> {
        let doing = "reading texts";
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT {text} FROM {base} WHERE {key} = ?1"))
            .doing(doing)?;
        let mut texts = Vec::new();
        let (mut bytes, mut through) = (0, 0);
        for &seq in seqs {
            let text = statement
                .query_row([seq], |row| crate::row::text(row, 0))
                .optional()
                .doing(doing)?;
            through += 1;
            if let Some(text) = text.flatten() {
                bytes += text.len();
                texts.push((seq, text));
            }
            if bytes >= most_bytes {
                break;
            }
        }
        Ok((through, texts))
    }

    /// The ids of memories, in the order of the keys given; absent ones are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn ids_of(&self, seqs: &[i64]) -> Result<Vec<String>, SchemaError> {
        self.ids_of_in(Indexed::Memories, seqs)
    }

    /// The ids of memories, or of the documents of passages, in the order of the keys given; absent ones are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn ids_of_in(&self, indexed: Indexed, seqs: &[i64]) -> Result<Vec<String>, SchemaError> {
        let doing = "reading ids";
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled("SELECT m.id FROM {from} WHERE {id} = ?1"))
            .doing(doing)?;
        let ids = seqs.iter().map(|seq| {
            statement
                .query_row([seq], |row| crate::row::text(row, 0))
                .optional()
                .doing(doing)
                .map(Option::flatten)
        });
        ids.filter_map(Result::transpose).collect()
    }

    /// How many memories have a vector in a space, counted by a join.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn embedded_count(&self, space: Space) -> Result<u64, SchemaError> {
        self.embedded_count_in(Indexed::Memories, space)
    }

    /// As [`Snapshot::embedded_count`], of memories or of passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn embedded_count_in(&self, indexed: Indexed, space: Space) -> Result<u64, SchemaError> {
        let sql = match space {
            Space::Live if !self.has_vectors_of(indexed)? => return Ok(0),
            Space::Live => {
                "SELECT count(*) FROM {base} WHERE {key} IN (SELECT {key} FROM {vectors})"
            }
            Space::Staging
                if self.staged_model()?.is_none()
                    || !self.has_table(indexed.names().staging)? =>
            {
                return Ok(0);
            }
            Space::Staging => {
                "SELECT count(*) FROM (SELECT {key} FROM {base} INTERSECT SELECT {key} FROM {staging})"
            }
        };
        self.count(&indexed.filled(sql))
    }

    /// How many chunks of documents there are.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn chunk_count(&self) -> Result<u64, SchemaError> {
        self.count("SELECT count(*) FROM chunks")
    }

    /// How many memories and passages have a vector, live and staged: joins over the whole file.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn coverage(&self) -> Result<Coverage, SchemaError> {
        let memories = self.memory_count()?;
        let embedded = self.embedded_count(Space::Live)?;
        Ok(Coverage {
            memories,
            embedded,
            missing: memories.saturating_sub(embedded),
            orphaned: self.orphaned(Indexed::Memories)?,
            staged_model: self.staged_model()?,
            staged: self.embedded_count(Space::Staging)?,
            documents: self.count("SELECT count(*) FROM documents")?,
            stale: self.count("SELECT count(*) FROM documents WHERE chunked = 0")?,
            chunks: self.chunk_count()?,
            chunks_embedded: self.embedded_count_in(Indexed::Passages, Space::Live)?,
            chunks_empty: self.count(&format!(
                "SELECT count(*) FROM chunks WHERE NOT ({NOT_EMPTY})"
            ))?,
            chunks_missing: self.count(&Indexed::Passages.filled(&format!(
                "SELECT count(*) FROM {{base}} WHERE {}",
                self.lacking(Indexed::Passages)?
            )))?,
            chunks_orphaned: self.orphaned(Indexed::Passages)?,
            chunks_staged: self.embedded_count_in(Indexed::Passages, Space::Staging)?,
        })
    }

    /// How many vectors have no memory or chunk.
    fn orphaned(&self, indexed: Indexed) -> Result<u64, SchemaError> {
        if !self.has_vectors_of(indexed)? {
            return Ok(0);
        }
        self.count(
            &indexed.filled(
                "SELECT count(*) FROM {vectors} WHERE {key} NOT IN (SELECT {key} FROM {base})",
            ),
        )
    }

    /// Refuses where no vectors are staged, or not those of the model given.
    fn must_be_staging(&self, model: Option<&RecordedModel>) -> Result<(), SchemaError> {
        let staged = self.staged_model()?;
        if staged.is_some() && (model.is_none() || staged.as_ref() == model) {
            return Ok(());
        }
        Err(SchemaError::NotStaging {
            found: staged.map(|model| model.to_string()),
        })
    }
}

impl WriteTransaction<'_> {
    /// Makes ready for the vectors of a model. What was staged of this model stays, what was staged of another is dropped.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn begin_staging(&mut self, model: &RecordedModel) -> Result<Begun, SchemaError> {
        if self.recorded_model()?.as_ref() == Some(model) {
            self.abandon_staging()?;
            return Ok(Begun::IsLive);
        }
        let anew = self.staged_model()?.as_ref() != Some(model);
        for indexed in Indexed::ALL {
            // One that was begun before there were documents has no table for them.
            if anew || !self.has_table(indexed.names().staging)? {
                self.connection()
                    .execute_batch(&indexed.staging_sql())
                    .doing("making the table of staged vectors")?;
            }
        }
        if anew {
            self.record_at(STAGING_KEYS, model)?;
        }
        Ok(Begun::Staging)
    }

    /// Stages the vector of a memory, if its content is still the one given and it has none yet; tells whether it did.
    ///
    /// # Errors
    /// [`SchemaError::NotStaging`] where no vectors of this model are staged (any more), [`SchemaError::BadVector`], and
    /// what SQLite reports.
    pub fn stage(
        &mut self,
        seq: i64,
        content: &str,
        embedded: Embedded<'_>,
    ) -> Result<bool, SchemaError> {
        self.stage_in(
            Indexed::Memories,
            seq,
            content,
            embedded.model,
            Some(embedded.vector),
        )
    }

    /// As [`WriteTransaction::stage`], of a memory or of a passage: of the latter also that the model finds nothing to
    /// embed in it (no vector).
    ///
    /// # Errors
    /// As [`WriteTransaction::stage`].
    pub fn stage_in(
        &mut self,
        indexed: Indexed,
        key: i64,
        content: &str,
        model: &RecordedModel,
        vector: Option<&[f32]>,
    ) -> Result<bool, SchemaError> {
        self.must_be_staging(Some(model))?;
        if let Some(vector) = vector {
            let embedded = Embedded { model, vector };
            embedded.check(|| match indexed {
                Indexed::Memories => format!("the memory with the key {key}"),
                Indexed::Passages => format!("the passage with the key {key}"),
            })?;
        }
        let staged = self.execute(
            "staging a vector",
            &indexed.filled(
                "INSERT OR IGNORE INTO {staging} ({key}, vector)
                 SELECT {key}, ?3 FROM {base} WHERE {key} = ?1 AND {text} = ?2",
            ),
            params![key, content, vector.map(bytes)],
        )?;
        Ok(staged > 0)
    }

    /// Puts the staged vectors of a model in the place of the live ones, all in this transaction: the old table is dropped
    /// and a new one filled, as sqlite-vec cannot rename one. Where more than `leave` memories and passages have no staged
    /// vector, nothing is changed.
    ///
    /// # Errors
    /// [`SchemaError::NotStaging`], and what SQLite reports.
    pub fn switch_to_staged(
        &mut self,
        model: &RecordedModel,
        leave: u64,
    ) -> Result<Switch, SchemaError> {
        self.must_be_staging(Some(model))?;
        let mut missing = 0;
        for indexed in Indexed::ALL {
            let unstaged = indexed.filled(UNSTAGED);
            missing += self.count(&format!("SELECT count(*) FROM ({unstaged})"))?;
        }
        if missing > leave {
            return Ok(Switch::Missing(missing));
        }
        self.record_model(Some(model))?;
        let doing = "putting the staged vectors in place";
        for indexed in Indexed::ALL {
            if indexed == Indexed::Passages {
                self.execute(
                    doing,
                    "UPDATE chunks SET nothing_for = ?1
                     WHERE chunk IN (SELECT chunk FROM chunk_staging WHERE vector IS NULL)",
                    [&model.space],
                )?;
                let some = "SELECT count(*) FROM chunk_staging WHERE vector IS NOT NULL";
                if self.count(some)? == 0 {
                    continue;
                }
                self.make_passage_vectors(model.dims)?;
            }
            self.execute(
                doing,
                &indexed.filled(
                    "INSERT INTO {vectors} ({key}, embedding)
                     SELECT s.{key}, s.vector FROM {staging} s JOIN {base} b ON b.{key} = s.{key}
                     WHERE s.vector IS NOT NULL ORDER BY s.{key}",
                ),
                [],
            )?;
        }
        self.abandon_staging()?;
        self.restart_log()?;
        Ok(Switch::Done(missing))
    }

    /// Drops what is staged; answers how many vectors that were, `None` where no re-embedding had begun.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn abandon_staging(&mut self) -> Result<Option<u64>, SchemaError> {
        if self.staged_model()?.is_none() {
            return Ok(None);
        }
        let doing = "dropping the staged vectors";
        let mut staged = 0;
        for indexed in Indexed::ALL {
            if self.has_table(indexed.names().staging)? {
                staged += self.count(&indexed.filled("SELECT count(vector) FROM {staging}"))?;
            }
            self.connection()
                .execute_batch(&indexed.filled(
                    "DROP TRIGGER IF EXISTS {staging}_delete;
                     DROP TRIGGER IF EXISTS {staging}_update;
                     DROP TABLE IF EXISTS {staging};",
                ))
                .doing(doing)?;
        }
        self.execute(
            doing,
            "DELETE FROM meta WHERE key IN
                 ('staging_space', 'staging_model', 'staging_model_revision', 'staging_dims')",
            [],
        )?;
        Ok(Some(staged))
    }

    /// Empties the logs of changes and leaves a gap in their numbers, so that every index in memory is loaded anew: what it
    /// knows of a model that was left and came back may be older than the log.
    pub(crate) fn restart_log(&self) -> Result<(), SchemaError> {
        for indexed in Indexed::ALL {
            self.log_in(indexed, 0)?;
            self.execute(
                "emptying the log of changes",
                &indexed.filled("DELETE FROM {log}"),
                [],
            )?;
        }
        Ok(())
    }
}

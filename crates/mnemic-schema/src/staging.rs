//! The vectors of a coming model, gathered in a table of their own beside the live ones, and the one transaction in which
//! they take their place. It never embeds. Also which memories lack a vector, in either space.

use rusqlite::{OptionalExtension, params};

use crate::error::{Doing, SchemaError};
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
    /// The staged vectors are the live ones now; so many memories have none.
    Done(u64),
    /// Nothing was changed, as so many memories have no staged vector.
    Missing(u64),
}

/// How many memories have a vector, counted by joins and not by differences.
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
}

const STAGING_KEYS: [&str; 4] = [
    "staging_space",
    "staging_model",
    "staging_model_revision",
    "staging_dims",
];

/// The memories without a staged vector, in the order of their keys: both sides are read from the narrow indexes alone.
const UNSTAGED: &str =
    "SELECT seq FROM memories EXCEPT SELECT seq FROM vector_staging ORDER BY seq";

/// The table of the coming model's vectors, empty.
pub(crate) const STAGING_SQL: &str = include_str!("../migrations/vector_staging.sql");

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
        let sql = match space {
            Space::Live if !self.has_vector_table()? => "SELECT seq FROM memories ORDER BY seq",
            Space::Live => {
                "SELECT seq FROM memories WHERE seq NOT IN (SELECT seq FROM memory_vec) ORDER BY seq"
            }
            Space::Staging => {
                self.must_be_staging(None)?;
                UNSTAGED
            }
        };
        self.connection()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .doing("looking for memories without a vector")
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
        let doing = "reading texts";
        let mut statement = self
            .connection()
            .prepare_cached("SELECT content FROM memories WHERE seq = ?1")
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
        let doing = "reading ids";
        let mut statement = self
            .connection()
            .prepare_cached("SELECT id FROM memories WHERE seq = ?1")
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
        match space {
            Space::Live if !self.has_vector_table()? => Ok(0),
            Space::Live => self
                .count("SELECT count(*) FROM memories WHERE seq IN (SELECT seq FROM memory_vec)"),
            Space::Staging if self.staged_model()?.is_none() => Ok(0),
            Space::Staging => self.count(
                "SELECT count(*) FROM
                     (SELECT seq FROM memories INTERSECT SELECT seq FROM vector_staging)",
            ),
        }
    }

    /// How many memories have a vector, live and staged: joins over the whole file.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn coverage(&self) -> Result<Coverage, SchemaError> {
        let orphaned = if self.has_vector_table()? {
            self.count(
                "SELECT count(*) FROM memory_vec WHERE seq NOT IN (SELECT seq FROM memories)",
            )?
        } else {
            0
        };
        let memories = self.memory_count()?;
        let embedded = self.embedded_count(Space::Live)?;
        Ok(Coverage {
            memories,
            embedded,
            missing: memories.saturating_sub(embedded),
            orphaned,
            staged_model: self.staged_model()?,
            staged: self.embedded_count(Space::Staging)?,
        })
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
        if self.staged_model()?.as_ref() != Some(model) {
            self.connection()
                .execute_batch(STAGING_SQL)
                .doing("making the table of staged vectors")?;
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
        self.must_be_staging(Some(embedded.model))?;
        embedded.check(|| format!("the memory with the key {seq}"))?;
        let staged = self.execute(
            "staging a vector",
            "INSERT OR IGNORE INTO vector_staging (seq, vector)
             SELECT seq, ?3 FROM memories WHERE seq = ?1 AND content = ?2",
            params![seq, content, bytes(embedded.vector)],
        )?;
        Ok(staged > 0)
    }

    /// Puts the staged vectors of a model in the place of the live ones, all in this transaction: the old table is dropped
    /// and a new one filled, as sqlite-vec cannot rename one. Where more than `leave` memories have no staged vector,
    /// nothing is changed.
    ///
    /// # Errors
    /// [`SchemaError::NotStaging`], and what SQLite reports.
    pub fn switch_to_staged(
        &mut self,
        model: &RecordedModel,
        leave: u64,
    ) -> Result<Switch, SchemaError> {
        self.must_be_staging(Some(model))?;
        let missing = self.count(&format!("SELECT count(*) FROM ({UNSTAGED})"))?;
        if missing > leave {
            return Ok(Switch::Missing(missing));
        }
        self.record_model(Some(model))?;
        self.execute(
            "putting the staged vectors in place",
            "INSERT INTO memory_vec (seq, embedding)
             SELECT s.seq, s.vector FROM vector_staging s JOIN memories m ON m.seq = s.seq ORDER BY s.seq",
            [],
        )?;
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
        let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'vector_staging'";
        let staged = match self.count(there)? {
            0 => 0,
            _ => self.count("SELECT count(*) FROM vector_staging")?,
        };
        self.connection()
            .execute_batch(
                "DROP TRIGGER IF EXISTS vector_staging_delete;
                 DROP TRIGGER IF EXISTS vector_staging_update;
                 DROP TABLE IF EXISTS vector_staging;
                 DELETE FROM meta WHERE key IN
                     ('staging_space', 'staging_model', 'staging_model_revision', 'staging_dims');",
            )
            .doing("dropping the staged vectors")?;
        Ok(Some(staged))
    }

    /// Empties the log of changes and leaves a gap in its numbers, so that every index in memory is loaded anew: what it
    /// knows of a model that was left and came back may be older than the log.
    pub(crate) fn restart_log(&self) -> Result<(), SchemaError> {
        self.log(0)?;
        self.execute("emptying the log of changes", "DELETE FROM index_log", [])?;
        Ok(())
    }
}

//! Writing what is said of memories, how they stand, and how often they were used. It judges nothing, and changes no row of
//! `memories`.

use rusqlite::params;

use crate::error::SchemaError;
use crate::events::Action;
use crate::lifecycle::{Lifecycle, Usage};
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

impl WriteTransaction<'_> {
    /// Writes all that is said of a memory; the default leaves no row. Nothing is written where it is so already.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`] where the memory, its causal parent or the one that supersedes it is not there,
    /// [`SchemaError::BadLifecycle`] where a value is out of its range or a memory would be its own cause or stand, directly
    /// or not, in the place of the one that supersedes it; and what SQLite reports.
    pub fn set_lifecycle(&mut self, id: &str, lifecycle: &Lifecycle) -> Result<(), SchemaError> {
        self.write_lifecycle(id, lifecycle, true)
    }

    /// [`WriteTransaction::set_lifecycle`]; circles may be left to be looked at later.
    pub(crate) fn write_lifecycle(
        &mut self,
        id: &str,
        lifecycle: &Lifecycle,
        look_for_circles: bool,
    ) -> Result<(), SchemaError> {
        let doing = "writing the lifecycle of a memory";
        let bad = |reason: String| SchemaError::BadLifecycle {
            id: id.to_owned(),
            reason,
        };
        if let Some(defect) = lifecycle.defect() {
            return Err(bad(defect));
        }
        let seq = self.must_have(id)?;
        self.note_change(id, &Action::Updated, None)?;
        if *lifecycle == Lifecycle::default() {
            self.execute(doing, "DELETE FROM lifecycle WHERE seq = ?1", [seq])?;
            return Ok(());
        }
        let parent = self.key_of_named(&lifecycle.causal_parent)?;
        if let Some(parent) = parent
            && (parent == seq || look_for_circles && self.is_among_causes(seq, parent)?)
        {
            return Err(bad(format!(
                "it would be among its own causes with the causal parent {:?}",
                lifecycle.causal_parent.as_deref().unwrap_or_default()
            )));
        }
        let superseding = self.key_of_named(&lifecycle.superseded_by)?;
        if superseding == Some(seq) {
            return Err(bad("it cannot supersede itself".to_owned()));
        }
        if let Some(by) = superseding
            && look_for_circles
            && self.stands_for(seq, by)?
        {
            let by = lifecycle.superseded_by.as_deref().unwrap_or_default();
            return Err(bad(format!(
                "{by:?} cannot supersede it, as it stands in the place of {by:?}"
            )));
        }
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        self.execute(
            doing,
            "INSERT INTO lifecycle (seq, kind, importance, trust, layer, decay_rate, pinned, source, valid_from, valid_until,
                                    causal_parent, superseded_at, superseded_by, forgotten_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (seq) DO UPDATE SET
                 kind = excluded.kind, importance = excluded.importance, trust = excluded.trust, layer = excluded.layer,
                 decay_rate = excluded.decay_rate, pinned = excluded.pinned, source = excluded.source,
                 valid_from = excluded.valid_from, valid_until = excluded.valid_until,
                 causal_parent = excluded.causal_parent, superseded_at = excluded.superseded_at,
                 superseded_by = excluded.superseded_by, forgotten_at = excluded.forgotten_at",
            params![
                seq,
                lifecycle.kind.as_str(),
                lifecycle.importance,
                lifecycle.trust,
                lifecycle.layer.as_str(),
                lifecycle.decay_rate,
                lifecycle.pinned,
                lifecycle.source,
                time(lifecycle.valid_from),
                time(lifecycle.valid_until),
                parent,
                time(lifecycle.superseded_at),
                superseding,
                time(lifecycle.forgotten_at),
            ],
        )?;
        Ok(())
    }

    /// Counts uses of memories at an instant; answers the ids that no memory has. The memories' own rows are not touched,
    /// and no index is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn touch(
        &mut self,
        ids: &[String],
        times: u64,
        at: Timestamp,
    ) -> Result<Vec<String>, SchemaError> {
        let mut missing = Vec::new();
        let (times, at) = (i64::try_from(times).unwrap_or(i64::MAX), at.to_string());
        for id in ids {
            let touched = self.execute(
                "counting the use of a memory",
                "INSERT INTO memory_access (seq, accesses, accessed_at) SELECT seq, ?2, ?3 FROM memories WHERE id = ?1
                 ON CONFLICT (seq) DO UPDATE SET
                     accesses = min(accesses + excluded.accesses, 4611686018427387904),
                     accessed_at = max(accessed_at, excluded.accessed_at)",
                params![id, times, at],
            )?;
            if touched == 0 {
                missing.push(id.clone());
            }
        }
        Ok(missing)
    }

    /// Writes how often a memory was used; never used leaves no row.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], and what SQLite reports.
    pub fn set_usage(&mut self, id: &str, usage: Usage) -> Result<(), SchemaError> {
        let doing = "writing how often a memory was used";
        let seq = self.must_have(id)?;
        let Some(last) = usage.last else {
            self.execute(doing, "DELETE FROM memory_access WHERE seq = ?1", [seq])?;
            return Ok(());
        };
        let accesses = i64::try_from(usage.accesses).unwrap_or(i64::MAX);
        self.execute(
            doing,
            "INSERT OR REPLACE INTO memory_access (seq, accesses, accessed_at) VALUES (?1, ?2, ?3)",
            params![seq, accesses, last.to_string()],
        )?;
        Ok(())
    }

    fn key_of_named(&self, id: &Option<String>) -> Result<Option<i64>, SchemaError> {
        id.as_ref().map(|id| self.must_have(id)).transpose()
    }

    /// The key of a memory that must be there.
    pub(crate) fn must_have(&self, id: &str) -> Result<i64, SchemaError> {
        self.key_of(id)?
            .ok_or_else(|| SchemaError::NotFound { id: id.to_owned() })
    }
}

impl WriteTransaction<'_> {
    /// Puts a memory in the place of another one from an instant on: the old one is kept, with an edge of the kind
    /// `supersedes` to it. Where another one stood in its place before, it stays so from then on, and has the edge too.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`]; [`SchemaError::BadLifecycle`] where the two are one, or the old one stands, directly or not,
    /// in the place of the new one; and what SQLite reports.
    pub fn supersede(&mut self, old: &str, by: &str, at: Timestamp) -> Result<(), SchemaError> {
        let doing = "superseding a memory";
        let (old_seq, by_seq) = (self.must_have(old)?, self.must_have(by)?);
        if self.stands_for(old_seq, by_seq)? {
            return Err(SchemaError::BadLifecycle {
                id: old.to_owned(),
                reason: format!("{by:?} cannot supersede it, as it stands in the place of {by:?}"),
            });
        }
        let detail = serde_json::json!({ "by": by }).to_string();
        self.note_change(old, &Action::Superseded, Some(detail))?;
        let at = at.to_string();
        self.execute(
            doing,
            "INSERT INTO lifecycle (seq, superseded_at, superseded_by) VALUES (?1, ?3, ?2)
             ON CONFLICT (seq) DO UPDATE SET superseded_at = excluded.superseded_at, superseded_by = excluded.superseded_by
                 WHERE superseded_at IS NULL",
            params![old_seq, by_seq, at],
        )?;
        self.execute(
            doing,
            "INSERT OR IGNORE INTO relations (from_seq, to_seq, kind, created_at) VALUES (?2, ?1, 'supersedes', ?3)",
            params![old_seq, by_seq, at],
        )?;
        Ok(())
    }
}

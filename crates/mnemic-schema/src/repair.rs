//! Mends what the check finds, as far as the file itself allows. It never embeds: a memory left without a vector is for
//! the caller to embed ([`crate::WriteTransaction::add_missing_vector`]).

use rusqlite::params;

use crate::check::{LIFECYCLE_TIMES, is_time};
use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::open::Store;
use crate::tags;
use crate::{open, structure};

/// What was mended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// What of the schema was made anew.
    pub restored: Vec<String>,
    /// Whether the vectors could not be read and the vector table was made anew, empty: each memory, or each passage, is to
    /// be embedded.
    pub vector_index_rebuilt: bool,
    /// Memories with a text that was not UTF-8: what could not be read became replacement characters.
    pub texts_mended: u64,
    /// Vectors removed because no memory has their key.
    pub orphan_vectors_removed: u64,
    /// Vectors removed because they were zero, not finite, of the wrong width, or one too many.
    pub bad_vectors_removed: u64,
    /// Staged vectors removed because they were without a memory, zero, not finite or of the wrong width.
    pub staged_vectors_removed: u64,
    /// Memories whose tags were no list: the text found became their one tag.
    pub tags_mended: u64,
    /// Memories whose time was none: it became the earlier sound one of the two, or the time of the repair.
    pub times_mended: u64,
    /// Memories of whose lifecycle a time was none: it is not said any more.
    pub lifecycles_mended: u64,
    /// Rows of lifecycles, relations, entities, uses and documents removed because their memory is gone.
    pub orphan_rows_removed: u64,
    /// Chunks removed because they were without a document.
    pub orphan_chunks_removed: u64,
    /// Memories whose entities were not what the entity filter looks at.
    pub entities_mended: u64,
    /// Whether a word index was built anew.
    pub word_index_rebuilt: bool,
    /// Whether the tag index was built anew.
    pub tag_index_rebuilt: bool,
}

impl Store {
    /// Mends the file in one transaction: everything that a [`crate::CheckReport`] lists, but for missing vectors and
    /// what SQLite's own check reports.
    ///
    /// # Errors
    /// [`SchemaError::ReadOnly`], [`SchemaError::Busy`], and what SQLite reports.
    pub fn repair(&mut self, now: crate::Timestamp) -> Result<RepairReport, SchemaError> {
        // What is left of a broken index is cleared away by hand, which the defensive mode forbids.
        open::set_defensive(self.connection(), false)?;
        let repaired = self.repair_everything(now);
        open::set_defensive(self.connection(), true)?;
        repaired
    }

    fn repair_everything(&mut self, now: crate::Timestamp) -> Result<RepairReport, SchemaError> {
        let doing = "repairing the file";
        // The structure first, as the check needs it; its words and tags are then found missing, and built.
        let restored = self.write(|transaction| structure::restore(transaction))?;
        let found = self.check()?;
        self.write(|transaction| {
            let mut report = RepairReport {
                restored,
                ..RepairReport::default()
            };
            if found.vector_index.is_some()
                && let Some(model) = transaction.recorded_model()?
            {
                structure::renew_vector_table(transaction, Indexed::Memories, model.dims)?;
                report.vector_index_rebuilt = true;
            }
            for id in &found.bad_texts {
                report.texts_mended += mend_texts(transaction, id)?;
            }
            for seq in &found.orphan_vectors {
                transaction.execute(doing, "DELETE FROM memory_vec WHERE seq = ?1", [seq])?;
                report.orphan_vectors_removed += 1;
            }
            for seq in found.bad_vectors.iter().chain(&found.duplicate_vectors) {
                if found.orphan_vectors.binary_search(seq).is_err() {
                    transaction.execute(doing, "DELETE FROM memory_vec WHERE seq = ?1", [seq])?;
                    report.bad_vectors_removed += 1;
                }
            }
            for seq in &found.bad_staged {
                transaction.execute(doing, "DELETE FROM vector_staging WHERE seq = ?1", [seq])?;
                report.staged_vectors_removed += 1;
            }
            let words_differ = !report.restored.is_empty()
                || found.word_index.is_some()
                || !found.missing_words.is_empty()
                || !found.orphan_words.is_empty();
            if words_differ {
                // First, so that the triggers below find the index as they expect it.
                transaction.execute(
                    doing,
                    "INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')",
                    [],
                )?;
                report.word_index_rebuilt = true;
            }
            transaction.repair_documents(&found.documents, &mut report)?;
            for id in &found.bad_tags {
                let text: Option<String> = transaction
                    .connection()
                    .query_row("SELECT tags FROM memories WHERE id = ?1", [id], |row| {
                        row.get(0)
                    })
                    .doing(doing)?;
                let json = text.and_then(|text| tags::to_json(&[text]));
                transaction.execute(
                    doing,
                    "UPDATE memories SET tags = ?2 WHERE id = ?1",
                    params![id, json],
                )?;
                report.tags_mended += 1;
            }
            for id in &found.bad_times {
                mend_times(transaction, id, now)?;
                report.times_mended += 1;
            }
            for id in &found.bad_lifecycles {
                mend_lifecycle(transaction, id)?;
                report.lifecycles_mended += 1;
            }
            report.orphan_rows_removed = remove_orphans(transaction)?;
            if !found.stale_tags.is_empty() {
                transaction.execute(doing, "DELETE FROM memory_tags", [])?;
                transaction.execute(
                    doing,
                    "INSERT OR IGNORE INTO memory_tags (tag, seq)
                     SELECT mnemic_fold(j.value), m.seq FROM memories m, json_each(m.tags) j",
                    [],
                )?;
                report.tag_index_rebuilt = true;
            }
            if !found.stale_entities.is_empty() {
                transaction.mend_entities()?;
                report.entities_mended = found.stale_entities.len() as u64;
            }
            if report != RepairReport::default() {
                // Lengths, tags and vectors may be others now, which no entry tells.
                transaction.restart_log()?;
            }
            Ok(report)
        })
    }
}

/// Removes rows whose memory is gone, which a program that does not enforce foreign keys may leave.
fn remove_orphans(transaction: &crate::WriteTransaction<'_>) -> Result<u64, SchemaError> {
    let doing = "removing rows without a memory";
    let mut removed = 0;
    for sql in [
        "DELETE FROM lifecycle WHERE seq NOT IN (SELECT seq FROM memories)",
        "UPDATE lifecycle SET causal_parent = NULL WHERE causal_parent NOT IN (SELECT seq FROM memories)",
        "UPDATE lifecycle SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT seq FROM memories)",
        "DELETE FROM memory_access WHERE seq NOT IN (SELECT seq FROM memories)",
        "DELETE FROM relations WHERE from_seq NOT IN (SELECT seq FROM memories) OR to_seq NOT IN (SELECT seq FROM memories)",
        "DELETE FROM memory_entities WHERE seq NOT IN (SELECT seq FROM memories)",
        "DELETE FROM documents WHERE seq NOT IN (SELECT seq FROM memories)",
    ] {
        removed += transaction.execute(doing, sql, [])?;
    }
    Ok(u64::try_from(removed).unwrap_or(u64::MAX))
}

/// Takes the times that are none out of a lifecycle.
fn mend_lifecycle(transaction: &crate::WriteTransaction<'_>, id: &str) -> Result<(), SchemaError> {
    let doing = "repairing the lifecycle of a memory";
    for column in LIFECYCLE_TIMES {
        let time: Option<String> = transaction
            .connection()
            .query_row(
                &format!("SELECT CAST(l.{column} AS TEXT) FROM lifecycle l JOIN memories m ON m.seq = l.seq WHERE m.id = ?1"),
                [id],
                |row| row.get(0),
            )
            .doing(doing)?;
        if time.is_some_and(|time| !is_time(&time)) {
            transaction.execute(
                doing,
                &format!("UPDATE lifecycle SET {column} = NULL WHERE seq = (SELECT seq FROM memories WHERE id = ?1)"),
                [id],
            )?;
        }
    }
    Ok(())
}

/// Writes the texts of a memory as they are read.
fn mend_texts(transaction: &crate::WriteTransaction<'_>, id: &str) -> Result<u64, SchemaError> {
    let doing = "repairing the texts of a memory";
    let Some(row) = transaction.row(id)? else {
        // Its id is not UTF-8 either: it cannot be named.
        return Ok(0);
    };
    transaction.execute(
        doing,
        "UPDATE memories SET content = ?2, project = ?3, tags = ?4 WHERE seq = ?1",
        params![row.seq, row.content, row.project, tags::to_json(&row.tags)],
    )?;
    Ok(1)
}

fn mend_times(
    transaction: &crate::WriteTransaction<'_>,
    id: &str,
    now: crate::Timestamp,
) -> Result<(), SchemaError> {
    let doing = "repairing the times of a memory";
    let texts: [Option<String>; 2] = transaction
        .connection()
        .query_row(
            "SELECT CAST(created_at AS TEXT), CAST(updated_at AS TEXT) FROM memories WHERE id = ?1",
            [id],
            |row| Ok([row.get(0)?, row.get(1)?]),
        )
        .doing(doing)?;
    let [created, updated] =
        texts.map(|text| text.and_then(|text| text.parse::<crate::Timestamp>().ok()));
    let mended = [
        created.or(updated).unwrap_or(now),
        updated.or(created).unwrap_or(now),
    ];
    let [created, updated] = mended.map(|time| time.to_string());
    transaction.execute(
        doing,
        "UPDATE memories SET created_at = ?2, updated_at = ?3 WHERE id = ?1",
        params![id, created, updated],
    )?;
    Ok(())
}

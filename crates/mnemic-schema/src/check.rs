//! The integrity check: every invariant of the file, counted by joins. It never mends anything.

use crate::document_check::{self, DocumentFaults};
use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::open::Store;
use crate::read::Snapshot;
use crate::search::floats;
use crate::structure;
use crate::tags;
use crate::write::defect;

/// What the check found. Lists hold every finding; all empty is a sound file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// Memories in the file.
    pub memories: u64,
    /// Vectors in the file.
    pub vectors: u64,
    /// Whether the file has vectors at all (it records a model).
    pub has_model: bool,
    /// Tables, indexes, triggers and views that are missing or are not what they should be. Where a table is missing,
    /// nothing else is looked at.
    pub structure: Vec<String>,
    /// Why the vectors cannot be read, where they cannot.
    pub vector_index: Option<String>,
    /// Whether there are vectors but no record of the model that made them.
    pub model_missing: bool,
    /// Ids of memories with a text that is not UTF-8.
    pub bad_texts: Vec<String>,
    /// Ids of memories without a vector, in a file that has vectors.
    pub missing_vectors: Vec<String>,
    /// Keys of vectors without a memory.
    pub orphan_vectors: Vec<i64>,
    /// Keys that have more than one vector.
    pub duplicate_vectors: Vec<i64>,
    /// Keys of vectors that are zero, not finite, or of the wrong width.
    pub bad_vectors: Vec<i64>,
    /// Keys of staged vectors without a memory, or zero, not finite, or of the wrong width.
    pub bad_staged: Vec<i64>,
    /// Ids of memories that the word index does not know.
    pub missing_words: Vec<String>,
    /// Keys that the word index knows and no memory has.
    pub orphan_words: Vec<i64>,
    /// What the word index's own comparison with the memories reports.
    pub word_index: Option<String>,
    /// Ids of memories whose tags are not a JSON array of strings.
    pub bad_tags: Vec<String>,
    /// Ids of memories whose tags differ from what the tag filter looks at.
    pub stale_tags: Vec<String>,
    /// Ids of memories with a time that is none.
    pub bad_times: Vec<String>,
    /// What is wrong with documents and their passages.
    pub documents: DocumentFaults,
    /// Ids of memories of whose lifecycle a time is none.
    pub bad_lifecycles: Vec<String>,
    /// What SQLite's own integrity check reports.
    pub sqlite: Vec<String>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let Self {
            memories: _,
            vectors: _,
            has_model: _,
            structure,
            vector_index,
            model_missing,
            bad_texts,
            missing_vectors,
            orphan_vectors,
            duplicate_vectors,
            bad_vectors,
            bad_staged,
            missing_words,
            orphan_words,
            word_index,
            bad_tags,
            stale_tags,
            bad_times,
            documents,
            bad_lifecycles,
            sqlite,
        } = self;
        structure.is_empty()
            && vector_index.is_none()
            && !model_missing
            && bad_texts.is_empty()
            && missing_vectors.is_empty()
            && orphan_vectors.is_empty()
            && duplicate_vectors.is_empty()
            && bad_vectors.is_empty()
            && bad_staged.is_empty()
            && missing_words.is_empty()
            && orphan_words.is_empty()
            && word_index.is_none()
            && bad_tags.is_empty()
            && stale_tags.is_empty()
            && bad_times.is_empty()
            && documents.is_ok()
            && bad_lifecycles.is_empty()
            && sqlite.is_empty()
    }
}

impl CheckReport {
    /// The findings in a few words, for a message; empty where there is none.
    pub(crate) fn summary(&self) -> String {
        let lists = [
            ("texts that are not UTF-8", self.bad_texts.len()),
            ("missing vectors", self.missing_vectors.len()),
            ("vectors without a memory", self.orphan_vectors.len()),
            ("duplicate vectors", self.duplicate_vectors.len()),
            ("bad vectors", self.bad_vectors.len()),
            ("bad staged vectors", self.bad_staged.len()),
            (
                "memories missing in the word index",
                self.missing_words.len(),
            ),
            ("words without a memory", self.orphan_words.len()),
            ("bad tags", self.bad_tags.len()),
            ("stale tags", self.stale_tags.len()),
            ("bad times", self.bad_times.len()),
            ("bad lifecycles", self.bad_lifecycles.len()),
        ];
        let counts = lists.iter().filter(|(_, count)| *count > 0);
        let mut parts: Vec<String> = counts
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        parts.extend(self.documents.summary());
        parts.extend(self.structure.iter().chain(&self.sqlite).take(3).cloned());
        parts.extend(self.vector_index.iter().chain(&self.word_index).cloned());
        if self.model_missing {
            parts.push("vectors of an unknown model".to_owned());
        }
        parts.join(", ")
    }
}

impl Store {
    /// Checks every invariant on one snapshot. On a writable store the word index's own comparison needs the write lock
    /// for a moment (and is rolled back); it is left out where another connection keeps the lock, and on a read-only store.
    ///
    /// # Errors
    /// What SQLite reports, if the file cannot be read at all.
    pub fn check(&mut self) -> Result<CheckReport, SchemaError> {
        let mut report = self.read(check_snapshot)?;
        let whole = !report
            .structure
            .iter()
            .any(|fault| fault.starts_with("table") || fault.starts_with("view"));
        if self.is_writable() && whole {
            if report.word_index.is_none() {
                report.word_index = self.compare_word_index(Indexed::Memories)?;
            }
            if report.documents.word_index.is_none() {
                report.documents.word_index = self.compare_word_index(Indexed::Passages)?;
            }
        }
        Ok(report)
    }

    /// FTS5's own comparison of the index with what it indexes, which is spelled as an insert.
    fn compare_word_index(&mut self, indexed: Indexed) -> Result<Option<String>, SchemaError> {
        let answer = self.rehearse(|transaction| {
            transaction.execute(
                "comparing the word index with the texts",
                &indexed
                    .filled("INSERT INTO {words} ({words}, rank) VALUES ('integrity-check', 1)"),
                [],
            )
        });
        match answer {
            Ok(_) | Err(SchemaError::Busy { .. }) => Ok(None),
            Err(SchemaError::Corrupt { source, .. }) => Ok(Some(source.to_string())),
            Err(other) => Err(other),
        }
    }
}

fn check_snapshot(snapshot: &Snapshot<'_>) -> Result<CheckReport, SchemaError> {
    let structure = structure::faults(snapshot)?;
    if structure.iter().any(|fault| fault.is_table()) {
        return Ok(CheckReport {
            structure: structure.iter().map(ToString::to_string).collect(),
            ..CheckReport::default()
        });
    }
    let mut report = CheckReport {
        structure: structure.iter().map(ToString::to_string).collect(),
        memories: snapshot.memory_count()?,
        missing_words: list(
            snapshot,
            "SELECT id FROM memories WHERE seq NOT IN (SELECT id FROM memories_fts_docsize) ORDER BY seq",
        )?,
        orphan_words: list(
            snapshot,
            "SELECT id FROM memories_fts_docsize WHERE id NOT IN (SELECT seq FROM memories) ORDER BY id",
        )?,
        stale_tags: list(
            snapshot,
            "WITH told (seq, tag) AS (
                 SELECT m.seq, mnemic_fold(j.value) FROM memories m, json_each(m.tags) j
                 WHERE json_valid(m.tags) AND json_type(m.tags) = 'array'
             ), stale (seq) AS (
                 SELECT seq FROM (SELECT seq, tag FROM told EXCEPT SELECT seq, tag FROM memory_tags)
                 UNION SELECT seq FROM (SELECT seq, tag FROM memory_tags EXCEPT SELECT seq, tag FROM told)
             ) SELECT coalesce(m.id, 'key ' || stale.seq) FROM stale LEFT JOIN memories m USING (seq) ORDER BY seq",
        )?,
        bad_staged: check_staged(snapshot)?,
        documents: document_check::check(snapshot)?,
        bad_lifecycles: check_lifecycles(snapshot)?,
        ..CheckReport::default()
    };
    check_rows(snapshot, &mut report)?;
    match check_vectors(snapshot, &mut report) {
        Err(SchemaError::Sqlite { source, .. } | SchemaError::Corrupt { source, .. }) => {
            report.vector_index = Some(source.to_string());
        }
        other => other?,
    }
    // A search first: FTS5 then drops what it remembers of the index if another connection wrote meanwhile, which its part
    // of the integrity check forgets to do, and would take for damage.
    let searched: Result<Vec<i64>, SchemaError> = list(
        snapshot,
        "SELECT rowid FROM memories_fts WHERE memories_fts MATCH 'a' LIMIT 1",
    );
    match searched {
        Err(SchemaError::Sqlite { source, .. } | SchemaError::Corrupt { source, .. }) => {
            report.word_index = Some(source.to_string());
        }
        searched => drop(searched?),
    }
    report.sqlite = list(
        snapshot,
        "SELECT integrity_check FROM pragma_integrity_check",
    )?;
    report.sqlite.retain(|line: &String| line != "ok");
    let foreign: Vec<String> = list(
        snapshot,
        "SELECT \"table\" || ' row ' || coalesce(rowid, '?') || ' has no ' || parent FROM pragma_foreign_key_check",
    )?;
    report.sqlite.extend(foreign);
    Ok(report)
}

pub(crate) fn list<T: rusqlite::types::FromSql>(
    snapshot: &Snapshot<'_>,
    sql: &str,
) -> Result<Vec<T>, SchemaError> {
    snapshot
        .connection()
        .prepare(sql)
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .doing("checking the file")
}

fn check_rows(snapshot: &Snapshot<'_>, report: &mut CheckReport) -> Result<(), SchemaError> {
    let doing = "checking the memories";
    let mut statement = snapshot
        .connection()
        .prepare(
            "SELECT id, content, project, tags, created_at, updated_at FROM memories ORDER BY seq",
        )
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let mut texts = Vec::new();
        for column in 0..6 {
            let value = row
                .get_ref(column)
                .and_then(|value| Ok(value.as_bytes_or_null()?));
            texts.push(value.doing(doing)?);
        }
        let [id, _, _, tags, created, updated] = texts.as_slice() else {
            continue;
        };
        let lossy =
            |bytes: &Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let id = lossy(id);
        if texts
            .iter()
            .flatten()
            .any(|bytes| std::str::from_utf8(bytes).is_err())
        {
            report.bad_texts.push(id.clone());
        }
        if tags.is_some() && tags::from_json(&lossy(tags)).is_none() {
            report.bad_tags.push(id.clone());
        }
        if !is_time(&lossy(created)) || !is_time(&lossy(updated)) {
            report.bad_times.push(id);
        }
    }
    Ok(())
}

/// The times that a lifecycle holds.
pub(crate) const LIFECYCLE_TIMES: [&str; 4] =
    ["valid_from", "valid_until", "superseded_at", "forgotten_at"];

/// Ids of memories with a time in their lifecycle that is none, or is spelled so that it sorts at another place.
fn check_lifecycles(snapshot: &Snapshot<'_>) -> Result<Vec<String>, SchemaError> {
    let doing = "checking the lifecycles";
    let mut statement = snapshot
        .connection()
        .prepare(
            "SELECT m.id, l.valid_from, l.valid_until, l.superseded_at, l.forgotten_at
             FROM lifecycle l JOIN memories m ON m.seq = l.seq
             WHERE coalesce(l.valid_from, l.valid_until, l.superseded_at, l.forgotten_at) IS NOT NULL ORDER BY l.seq",
        )
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    let mut bad = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        for column in 1..=LIFECYCLE_TIMES.len() {
            let time = crate::row::text(row, column).doing(doing)?;
            if time.is_some_and(|time| !is_time(&time)) {
                bad.push(crate::row::text(row, 0).doing(doing)?.unwrap_or_default());
                break;
            }
        }
    }
    Ok(bad)
}

/// Whether a text is a time, spelled as all are: one that is spelled another way would sort at another place.
pub(crate) fn is_time(text: &str) -> bool {
    text.parse::<crate::Timestamp>()
        .is_ok_and(|time| time.to_string() == text)
}

fn check_vectors(snapshot: &Snapshot<'_>, report: &mut CheckReport) -> Result<(), SchemaError> {
    let doing = "checking the vectors";
    let model = snapshot.recorded_model()?;
    report.has_model = model.is_some();
    if !snapshot.has_vector_table()? {
        if model.is_some() {
            report.missing_vectors = list(snapshot, "SELECT id FROM memories ORDER BY seq")?;
        }
        return Ok(());
    }
    report.vectors = snapshot.vector_count()?;
    report.model_missing = model.is_none() && snapshot.has_any_vector()?;
    report.missing_vectors = list(
        snapshot,
        "SELECT id FROM memories WHERE seq NOT IN (SELECT seq FROM memory_vec) ORDER BY seq",
    )?;
    report.orphan_vectors = list(
        snapshot,
        "SELECT DISTINCT seq FROM memory_vec WHERE seq NOT IN (SELECT seq FROM memories) ORDER BY seq",
    )?;
    report.duplicate_vectors = list(
        snapshot,
        "SELECT seq FROM memory_vec GROUP BY seq HAVING count(*) > 1 ORDER BY seq",
    )?;
    let mut statement = snapshot
        .connection()
        .prepare("SELECT seq, embedding FROM memory_vec ORDER BY seq")
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let blob: Vec<u8> = row.get(1).doing(doing)?;
        let sound = is_sound(&blob, model.as_ref().map(|model| model.dims));
        if !sound {
            report.bad_vectors.push(row.get(0).doing(doing)?);
        }
    }
    Ok(())
}

/// Whether a stored vector has the width, and a direction.
pub(crate) fn is_sound(blob: &[u8], dims: Option<usize>) -> bool {
    let vector: Vec<f32> = floats(blob).collect();
    defect(&vector).is_none()
        && vector.len() * 4 == blob.len()
        && dims.is_none_or(|dims| dims == vector.len())
}

fn check_staged(snapshot: &Snapshot<'_>) -> Result<Vec<i64>, SchemaError> {
    let doing = "checking the staged vectors";
    let Some(model) = snapshot.staged_model()? else {
        return Ok(Vec::new());
    };
    let mut statement = snapshot
        .connection()
        .prepare(
            "SELECT s.seq, s.vector, m.seq IS NOT NULL FROM vector_staging s
             LEFT JOIN memories m ON m.seq = s.seq ORDER BY s.seq",
        )
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    let mut bad = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        let blob: Vec<u8> = row.get(1).doing(doing)?;
        let has_memory: bool = row.get(2).doing(doing)?;
        if !has_memory || !is_sound(&blob, Some(model.dims)) {
            bad.push(row.get(0).doing(doing)?);
        }
    }
    Ok(bad)
}

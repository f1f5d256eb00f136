//! The integrity check: every invariant of the file, counted by joins. It never mends anything.

use crate::error::{Doing, SchemaError};
use crate::open::Store;
use crate::read::Snapshot;
use crate::search::floats;
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
    /// Ids of memories without a vector, in a file that has vectors.
    pub missing_vectors: Vec<String>,
    /// Keys of vectors without a memory.
    pub orphan_vectors: Vec<i64>,
    /// Keys that have more than one vector.
    pub duplicate_vectors: Vec<i64>,
    /// Keys of vectors that are zero, not finite, or of the wrong width.
    pub bad_vectors: Vec<i64>,
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
            missing_vectors,
            orphan_vectors,
            duplicate_vectors,
            bad_vectors,
            missing_words,
            orphan_words,
            word_index,
            bad_tags,
            stale_tags,
            bad_times,
            sqlite,
        } = self;
        missing_vectors.is_empty()
            && orphan_vectors.is_empty()
            && duplicate_vectors.is_empty()
            && bad_vectors.is_empty()
            && missing_words.is_empty()
            && orphan_words.is_empty()
            && word_index.is_none()
            && bad_tags.is_empty()
            && stale_tags.is_empty()
            && bad_times.is_empty()
            && sqlite.is_empty()
    }
}

impl Store {
    /// Checks every invariant on one snapshot. On a writable store it takes the write lock for the word index's own
    /// comparison (and rolls back); a read-only one is checked all but for that.
    ///
    /// # Errors
    /// What SQLite reports, if the file cannot be read at all.
    pub fn check(&mut self) -> Result<CheckReport, SchemaError> {
        let mut report = self.read(check_snapshot)?;
        if self.is_writable() {
            report.word_index = self.compare_word_index()?;
        }
        Ok(report)
    }

    /// FTS5's own comparison of the index with what it indexes. It is spelled as an insert and needs the write lock.
    fn compare_word_index(&mut self) -> Result<Option<String>, SchemaError> {
        let answer = self.write(|transaction| {
            transaction.execute(
                "comparing the word index with the memories",
                "INSERT INTO memories_fts (memories_fts, rank) VALUES ('integrity-check', 1)",
                [],
            )
        });
        match answer {
            Ok(_) => Ok(None),
            Err(SchemaError::Corrupt { source, .. }) => Ok(Some(source.to_string())),
            Err(other) => Err(other),
        }
    }
}

fn check_snapshot(snapshot: &Snapshot<'_>) -> Result<CheckReport, SchemaError> {
    let mut report = CheckReport {
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
        ..CheckReport::default()
    };
    check_rows(snapshot, &mut report)?;
    check_vectors(snapshot, &mut report)?;
    // A search first: FTS5 then drops what it remembers of the index if another connection wrote meanwhile, which its part
    // of the integrity check forgets to do, and would take for damage.
    let _: Vec<i64> = list(
        snapshot,
        "SELECT rowid FROM memories_fts WHERE memories_fts MATCH 'a' LIMIT 1",
    )?;
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

fn list<T: rusqlite::types::FromSql>(
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
        .prepare("SELECT id, tags, created_at, updated_at FROM memories ORDER BY seq")
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let id: String = row.get(0).doing(doing)?;
        let texts = [row.get(1), row.get(2), row.get(3)];
        let [tags, created, updated]: [rusqlite::Result<Option<String>>; 3] = texts;
        let is_time = |text: &Option<String>| {
            text.as_deref()
                .is_some_and(|text| text.parse::<crate::Timestamp>().is_ok())
        };
        if tags
            .doing(doing)?
            .is_some_and(|json| tags::from_json(&json).is_none())
        {
            report.bad_tags.push(id.clone());
        }
        if !is_time(&created.doing(doing)?) || !is_time(&updated.doing(doing)?) {
            report.bad_times.push(id);
        }
    }
    Ok(())
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
        let vector: Vec<f32> = floats(&blob).collect();
        let sound = defect(&vector).is_none()
            && vector.len() * 4 == blob.len()
            && model
                .as_ref()
                .is_some_and(|model| model.dims == vector.len());
        if !sound {
            report.bad_vectors.push(row.get(0).doing(doing)?);
        }
    }
    Ok(())
}

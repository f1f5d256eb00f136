//! Turns a file of rekal into one of mnemic, in its place: a copy first, then one transaction. It never loses a row that
//! the copy does not hold, and never embeds.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use crate::error::{Doing, SchemaError};
use crate::foreign::{self, Left, System, columns, quoted, rekal};
use crate::keep_copy::keep_copy;
use crate::migrate::{self, FileState, MIGRATIONS, SCHEMA_VERSION};
use crate::open::{OpenOptions, Store, connect, existing, set_defensive};
use crate::row::{Embedded, NewRow, RecordedModel, text};
use crate::search::floats;
use crate::tags;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// What an adoption did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AdoptReport {
    /// Whether the file was one of mnemic already, so that nothing was done.
    pub already: bool,
    /// Memories in the file now.
    pub memories: u64,
    /// Vectors in the file now.
    pub vectors: u64,
    /// The model that the file records for its vectors; unknown unless it was said.
    pub model: Option<RecordedModel>,
    /// What did not come over, or not as it was, and why. The copy holds all of it.
    pub left: Vec<Left>,
    /// Where the file lies as it was before; `None` where nothing was done.
    pub copy: Option<PathBuf>,
}

/// The rows that come over, in the order in which they were stored, while the old tables make way for the new ones.
const STAGED: &str = "mnemic_staged";

/// Rows of the stage that are read at once.
const PAGE: usize = 256;

impl Store {
    /// Turns a file of rekal, of any version, into one of mnemic. First a copy of it is put beside it (its name with
    /// `.rekal-copy`, and a number where that name is taken); then one transaction does all. Where the process dies, the
    /// file is rekal's still or mnemic's already, and adopting it again completes or does nothing.
    ///
    /// Memories keep id, text, project, tags, times and vector. By rekal's own rules scratch and superseded memories
    /// stay behind. `model` names the model of the vectors; without it the file records [`RecordedModel::unknown`].
    ///
    /// # Errors
    /// [`SchemaError::NotAMemoryFile`] where it is no file of rekal, [`SchemaError::ModelMismatch`] where `model` is of
    /// another width than the vectors, [`SchemaError::Io`] where there is no such file or the copy cannot be made,
    /// [`SchemaError::ReadOnly`], [`SchemaError::Busy`], [`SchemaError::Corrupt`], and what SQLite reports; the file is
    /// unchanged then.
    pub fn adopt_rekal(
        path: &Path,
        options: OpenOptions,
        model: Option<&RecordedModel>,
    ) -> Result<AdoptReport, SchemaError> {
        adopt_with(path, options, model, &mut |_| {})
    }
}

/// [`Store::adopt_rekal`]; `after_step` is called after each step with its number.
fn adopt_with(
    path: &Path,
    options: OpenOptions,
    model: Option<&RecordedModel>,
    after_step: &mut dyn FnMut(usize),
) -> Result<AdoptReport, SchemaError> {
    let doing = "adopting a file of rekal";
    let path = existing(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(&path, flags, options)?;
    // A file that is refused is left as it is, a log beside it too.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .doing(doing)?;
    if is_ours(&connection, &path)? {
        drop(connection);
        return already(&path, options);
    }
    if connection.is_readonly("main").unwrap_or(false) {
        return Err(SchemaError::ReadOnly {
            doing: "adopting the file (import it into another one instead)",
        });
    }
    // Tables are dropped whose rows refer to each other, and some in which an index kept itself.
    set_defensive(&connection, false)?;
    connection
        .execute_batch("PRAGMA foreign_keys = OFF")
        .doing(doing)?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .doing(doing)?;
    // Another process may have adopted it while this one waited for the lock.
    if is_ours(&transaction, &path)? {
        drop(transaction);
        drop(connection);
        return already(&path, options);
    }
    let mut steps = 0;
    let mut step = || {
        steps += 1;
        after_step(steps);
    };
    let dims = width(&transaction)?;
    if let (Some(model), Some(dims)) = (model, dims)
        && model.dims != dims
    {
        return Err(SchemaError::ModelMismatch {
            recorded: RecordedModel::unknown("", dims).to_string(),
            given: model.to_string(),
        });
    }
    // The lock is held, so that the copy is of the very state that is adopted; and nothing is written yet, as SQLite lets
    // nobody read a file whose changes have outgrown its cache.
    let copy = keep_copy(&path, options)?;
    step();
    let mut left = stage(&transaction)?;
    step();
    clear(&transaction, &mut step)?;
    migrate::apply(&transaction, 0, MIGRATIONS, &mut |_| step())?;
    let model = match (model, dims) {
        (Some(model), _) => Some(model.clone()),
        (None, Some(dims)) => Some(RecordedModel::unknown(mark(&transaction)?, dims)),
        (None, None) => None,
    };
    let mut writer = WriteTransaction::new(transaction, 0);
    fill(&mut writer, model.as_ref(), &mut left, &mut step)?;
    let drop_stage = format!("DROP TABLE {STAGED}");
    writer.execute(doing, &drop_stage, [])?;
    let mut report = counts(&writer)?;
    step();
    writer.commit()?;
    step();
    // From here on the file is ours, and its log is merged as ever.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
        .doing(doing)?;
    report.left = left;
    report.copy = Some(copy);
    Ok(report)
}

/// Whether it is a file of mnemic; an error where it is neither that nor one of rekal.
fn is_ours(connection: &Connection, path: &Path) -> Result<bool, SchemaError> {
    match migrate::inspect(connection, path, SCHEMA_VERSION) {
        Ok(FileState::Ours(_)) => Ok(true),
        Ok(FileState::Empty) | Err(SchemaError::NotAMemoryFile { .. }) => {
            foreign::require(connection, path, System::Rekal).map(|()| false)
        }
        Err(other) => Err(other),
    }
}

fn already(path: &Path, options: OpenOptions) -> Result<AdoptReport, SchemaError> {
    let report = match Store::open_read_only(path, options) {
        Ok(mut store) => store.read(counts)?,
        // An older schema: it must be opened for writing.
        Err(SchemaError::ReadOnly { .. }) => Store::open(path, options)?.read(counts)?,
        Err(other) => return Err(other),
    };
    Ok(AdoptReport {
        already: true,
        ..report
    })
}

fn counts(snapshot: &crate::Snapshot<'_>) -> Result<AdoptReport, SchemaError> {
    Ok(AdoptReport {
        memories: snapshot.memory_count()?,
        vectors: snapshot.vector_count()?,
        model: snapshot.recorded_model()?,
        ..AdoptReport::default()
    })
}

/// Puts the rows that come over aside, and counts what does not.
fn stage(transaction: &Transaction<'_>) -> Result<Vec<Left>, SchemaError> {
    let doing = "putting the memories aside";
    let dropped = rekal::dropped_sql(transaction)?;
    let (vector, join) = rekal::vector_sql(transaction)?;
    let mut left = left_behind(transaction, &dropped)?;
    // Whatever type a value is of, a text is what it is to be.
    let sql = format!(
        "CREATE TABLE {STAGED} (n INTEGER PRIMARY KEY, id, content, project, tags, created_at, updated_at, vector);
         INSERT INTO {STAGED} (id, content, project, tags, created_at, updated_at, vector)
         SELECT CAST(m.id AS TEXT), CAST(m.content AS TEXT), CAST(m.project AS TEXT), CAST(m.tags AS TEXT),
                CAST(m.created_at AS TEXT), CAST(m.updated_at AS TEXT), {vector}
         FROM memories m {join} WHERE ({dropped}) IS NULL ORDER BY m.rowid;"
    );
    transaction.execute_batch(&sql).doing(doing)?;
    let renamed = transaction
        .execute(
            &format!(
                "UPDATE {STAGED} SET id = lower(hex(randomblob(8)))
                 WHERE id IS NULL OR length(id) NOT BETWEEN 1 AND 64 OR id GLOB '*[^!-~]*'
                    OR n NOT IN (SELECT min(n) FROM {STAGED} GROUP BY id)"
            ),
            [],
        )
        .doing(doing)?;
    note(
        &mut left,
        "id",
        renamed as u64,
        "no id here: a new one was made",
    );
    Ok(left)
}

/// Rows of other tables, rows that rekal would drop, and values in columns that no memory has here.
fn left_behind(transaction: &Transaction<'_>, dropped: &str) -> Result<Vec<Left>, SchemaError> {
    let doing = "counting what does not come over";
    let mut left = Vec::new();
    let count = |sql: &str| -> Result<u64, SchemaError> {
        let count: i64 = transaction
            .query_row(sql, [], |row| row.get(0))
            .doing(doing)?;
        Ok(count.unsigned_abs())
    };
    for why in [rekal::SCRATCH, rekal::SUPERSEDED] {
        let rows = count(&format!(
            "SELECT count(*) FROM memories m WHERE ({dropped}) IS '{why}'"
        ))?;
        if rows > 0 {
            left.push(Left::new("memories", None, rows, why));
        }
    }
    for column in columns(transaction, "memories")? {
        let held = [
            "id",
            "content",
            "project",
            "tags",
            "created_at",
            "updated_at",
        ];
        if held.contains(&column.as_str()) {
            continue;
        }
        let name = quoted(&column);
        let values = count(&format!(
            "SELECT count(*) FROM memories m WHERE ({dropped}) IS NULL AND coalesce(m.{name}, '') NOT IN ('', 0)"
        ))?;
        note(&mut left, &column, values, "mnemic has no such field");
    }
    for table in foreign::tables(transaction)? {
        if table.rows > 0 && table.name != "memories" && table.name != "memory_vec" {
            left.push(Left::new(
                table.name,
                None,
                table.rows,
                "mnemic has no such table",
            ));
        }
    }
    let orphans = rekal::orphan_vectors(transaction)?;
    if orphans > 0 {
        let why = "no memory has their id";
        left.push(Left::new("memory_vec", None, orphans, why));
    }
    Ok(left)
}

/// Notes values of a field of the memories.
fn note(left: &mut Vec<Left>, field: &str, count: u64, why: &str) {
    if count > 0 {
        left.push(Left::new("memories", Some(field), count, why));
    }
}

/// Numbers in a vector, as most of those that come over have it; `None` where there is none.
fn width(transaction: &Transaction<'_>) -> Result<Option<usize>, SchemaError> {
    let dropped = rekal::dropped_sql(transaction)?;
    let (vector, join) = rekal::vector_sql(transaction)?;
    let sql = format!(
        "SELECT length({vector}) FROM memories m {join} WHERE ({dropped}) IS NULL AND {vector} IS NOT NULL
         GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    );
    let bytes: Option<i64> = transaction
        .query_row(&sql, [], |row| row.get(0))
        .optional()
        .doing("reading the width of the vectors")?;
    Ok(bytes
        .and_then(|bytes| usize::try_from(bytes / 4).ok())
        .filter(|&dims| dims > 0))
}

/// What tells this file's unknown model from that of another file.
fn mark(transaction: &Transaction<'_>) -> Result<String, SchemaError> {
    transaction
        .query_row("SELECT lower(hex(randomblob(8)))", [], |row| row.get(0))
        .doing("making a mark for an unknown model")
}

/// Drops all that rekal made, but for the stage.
fn clear(transaction: &Transaction<'_>, step: &mut dyn FnMut()) -> Result<(), SchemaError> {
    let doing = "dropping the tables of rekal";
    let drop_all = |query: &str, step: &mut dyn FnMut()| -> Result<(), SchemaError> {
        let found: Vec<(String, String)> = transaction
            .prepare(query)
            .and_then(|mut statement| {
                statement
                    .query_map([STAGED], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            })
            .doing(doing)?;
        for (kind, name) in found {
            let sql = format!("DROP {kind} IF EXISTS {}", quoted(&name));
            transaction.execute_batch(&sql).doing(doing)?;
            step();
        }
        Ok(())
    };
    // Triggers and views first, as they name the tables; then the virtual tables, which take their own tables along.
    drop_all(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') AND name <> ?1",
        step,
    )?;
    drop_all(
        "SELECT type, name FROM sqlite_schema
         WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%' AND name <> ?1",
        step,
    )?;
    drop_all(
        "SELECT type, name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> ?1",
        step,
    )
}

/// Writes the staged rows by the one path by which rows are written, then their vectors.
fn fill(
    writer: &mut WriteTransaction<'_>,
    model: Option<&RecordedModel>,
    left: &mut Vec<Left>,
    step: &mut dyn FnMut(),
) -> Result<(), SchemaError> {
    let mut mended = Mended::default();
    each_staged(writer, |writer, staged| {
        let row = mended.row(staged);
        let updated = row.1;
        writer.insert(&row.0, None)?;
        if updated != row.0.created_at
            && let Some(id) = &row.0.id
        {
            writer.set_times(id, row.0.created_at, updated)?;
        }
        step();
        Ok(())
    })?;
    note(
        left,
        "created_at",
        mended.times,
        "no time: the other one was taken, or now",
    );
    note(
        left,
        "content",
        mended.texts,
        "not UTF-8: what could not be read was replaced",
    );
    let Some(model) = model else { return Ok(()) };
    let mut bad = 0;
    each_staged(writer, |writer, staged| {
        let id = staged.id.unwrap_or_default();
        let (Some(blob), Some(seq)) = (staged.vector, writer.key_of(&id)?) else {
            return Ok(());
        };
        let vector = unit(floats(&blob).collect());
        let content = staged.content.unwrap_or_default();
        let embedded = Embedded {
            model,
            vector: &vector,
        };
        match writer.add_missing_vector(seq, &content, embedded) {
            Err(SchemaError::BadVector { .. }) => bad += 1,
            other => {
                other?;
            }
        }
        step();
        Ok(())
    })?;
    if bad > 0 {
        let why = "no vector: zero, not finite, or of another width";
        left.push(Left::new("memory_vec", None, bad, why));
    }
    Ok(())
}

/// A vector of unit length, as all vectors of a file are; one that has it but for rounding is left as it is.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if square.is_finite() && square > 0.0 && (square - 1.0).abs() > 1e-4 {
        for x in &mut vector {
            *x = (f64::from(*x) / square.sqrt()) as f32;
        }
    }
    vector
}

/// A row of the stage. What is not UTF-8 is read with replacement characters.
#[derive(Debug)]
struct Staged {
    id: Option<String>,
    content: Option<String>,
    project: Option<String>,
    tags: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    vector: Option<Vec<u8>>,
    /// Whether all texts are UTF-8.
    clean: bool,
}

fn each_staged<'c>(
    writer: &mut WriteTransaction<'c>,
    mut visit: impl FnMut(&mut WriteTransaction<'c>, Staged) -> Result<(), SchemaError>,
) -> Result<(), SchemaError> {
    let doing = "reading the memories put aside";
    let sql = format!("SELECT * FROM {STAGED} WHERE n > ?1 ORDER BY n LIMIT {PAGE}");
    let mut after = 0i64;
    loop {
        let page: Vec<(i64, Staged)> = writer
            .connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params![after], |row| Ok((row.get(0)?, read_staged(row)?)))?
                    .collect()
            })
            .doing(doing)?;
        for (n, staged) in page {
            after = n;
            visit(writer, staged)?;
        }
        let more: bool = writer
            .connection()
            .prepare_cached(&format!(
                "SELECT EXISTS (SELECT 1 FROM {STAGED} WHERE n > ?1)"
            ))
            .and_then(|mut statement| statement.query_row([after], |row| row.get(0)))
            .doing(doing)?;
        if !more {
            return Ok(());
        }
    }
}

fn read_staged(row: &rusqlite::Row<'_>) -> rusqlite::Result<Staged> {
    let mut clean = true;
    for column in 1..7 {
        let bytes = row.get_ref(column)?.as_bytes_or_null()?;
        clean &= bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    }
    Ok(Staged {
        id: text(row, 1)?,
        content: text(row, 2)?,
        project: text(row, 3)?,
        tags: text(row, 4)?,
        created_at: text(row, 5)?,
        updated_at: text(row, 6)?,
        vector: row
            .get_ref(7)?
            .as_blob_or_null()
            .ok()
            .flatten()
            .map(ToOwned::to_owned),
        clean,
    })
}

/// Rows in which something could not be taken as it was.
#[derive(Debug, Default)]
struct Mended {
    times: u64,
    texts: u64,
}

impl Mended {
    /// The row to insert, and when it was last changed.
    fn row(&mut self, staged: Staged) -> (NewRow, Timestamp) {
        let time = |text: Option<String>| text.and_then(|text| text.parse::<Timestamp>().ok());
        let (created, updated) = (time(staged.created_at), time(staged.updated_at));
        self.times += u64::from(created.is_none() || updated.is_none());
        self.texts += u64::from(!staged.clean);
        let now = Timestamp::now();
        let tags = staged.tags.as_deref().map(tags::lenient_from_json);
        let row = NewRow {
            id: staged.id,
            content: staged.content.unwrap_or_default(),
            project: staged.project,
            tags: tags.unwrap_or_default(),
            created_at: created.or(updated).unwrap_or(now),
            entities: Vec::new(),
        };
        (row, updated.or(created).unwrap_or(now))
    }
}

#[cfg(test)]
#[path = "adopt_tests.rs"]
mod tests;

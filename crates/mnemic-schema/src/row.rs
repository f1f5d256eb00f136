//! The rows of the file as Rust values. It never talks to SQLite but to read a row of a result.

use rusqlite::Row;

use crate::error::SchemaError;
use crate::lifecycle::{LIFECYCLE_COLUMNS, Lifecycle, MEMORY_JOINS, Usage};
use crate::tags;
use crate::timestamp::Timestamp;
use crate::write::defect;

/// A memory as the file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// The key that joins all tables and indexes; never used twice.
    pub seq: i64,
    /// The id that users know.
    pub id: String,
    /// The text.
    pub content: String,
    /// The project; `None` is global.
    pub project: Option<String>,
    /// The tags, as they were given.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What is said of it beside its text.
    pub lifecycle: Lifecycle,
    /// How often it was used.
    pub usage: Usage,
}

/// Begins a statement that reads [`MemoryRow`]s: its columns, in their order, of the memories `m`.
pub(crate) fn select_memories() -> String {
    select_memories_with("")
}

/// As [`select_memories`], with more columns (each after a comma) behind the others.
pub(crate) fn select_memories_with(more: &str) -> String {
    format!(
        "SELECT m.seq, m.id, m.content, m.project, m.tags, m.created_at, m.updated_at, {LIFECYCLE_COLUMNS}{more} FROM {MEMORY_JOINS}"
    )
}

impl MemoryRow {
    /// Reads a row of [`select_memories`]. Tags of another shape are read as one tag; a time that is none is an error.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Result<Self, SchemaError>> {
        let id = text(row, 1)?.unwrap_or_default();
        let created = text(row, 5)?.unwrap_or_default();
        let updated = text(row, 6)?.unwrap_or_default();
        let tags = text(row, 4)?;
        let (created_at, updated_at) =
            match (created.parse::<Timestamp>(), updated.parse::<Timestamp>()) {
                (Ok(created), Ok(updated)) => (created, updated),
                (Err(error), _) | (_, Err(error)) => {
                    return Ok(Err(SchemaError::BadRow {
                        id,
                        found: error.to_string(),
                    }));
                }
            };
        Ok(Ok(Self {
            seq: row.get(0)?,
            id,
            content: text(row, 2)?.unwrap_or_default(),
            project: text(row, 3)?,
            tags: tags
                .as_deref()
                .map(tags::lenient_from_json)
                .unwrap_or_default(),
            created_at,
            updated_at,
            lifecycle: Lifecycle::read(row, 7)?,
            usage: Usage::read(row, 20)?,
        }))
    }
}

/// A text of a row. What a damaged file holds that is not UTF-8 is read with replacement characters, so that one such row
/// does not hide the others (`check` reports it).
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let value = row.get_ref(column)?;
    Ok(value
        .as_bytes_or_null()?
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

/// What ranking needs of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RowKey {
    /// As in [`MemoryRow`].
    pub seq: i64,
    /// As in [`MemoryRow`].
    pub id: String,
    /// As in [`MemoryRow`].
    pub created_at: Timestamp,
}

/// A memory to insert.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRow {
    /// The id, or `None` to have one made (16 hexadecimal digits).
    pub id: Option<String>,
    /// The text.
    pub content: String,
    /// The project; `None` is global.
    pub project: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// When it was created; also its first time of change.
    pub created_at: Timestamp,
}

/// What to change of a memory; `None` leaves a part as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowChange {
    /// Another text.
    pub content: Option<String>,
    /// Another project; `Some(None)` makes it global.
    pub project: Option<Option<String>>,
    /// Other tags.
    pub tags: Option<Vec<String>>,
}

/// The model that made a file's vectors, as its table `meta` records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedModel {
    /// The space the vectors live in.
    pub space: String,
    /// The model's id.
    pub id: String,
    /// The model's revision.
    pub revision: String,
    /// Numbers in a vector.
    pub dims: usize,
}

/// The space of vectors of which nobody said by which model they were made. Two files of
/// it may hold vectors of two models, so their marks differ, and no question can be embedded for either.
pub const UNKNOWN_SPACE: &str = "unknown";

impl RecordedModel {
    /// The model of vectors of which nothing is known but their width. `mark` tells two such files apart.
    #[must_use]
    pub fn unknown(mark: impl Into<String>, dims: usize) -> Self {
        Self {
            space: UNKNOWN_SPACE.to_owned(),
            id: UNKNOWN_SPACE.to_owned(),
            revision: mark.into(),
            dims,
        }
    }

    /// Whether nobody said by which model the vectors were made.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.space == UNKNOWN_SPACE
    }
}

impl std::fmt::Display for RecordedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_unknown() {
            return write!(
                f,
                "a model that the file does not name ({} dimensions; if you know it, say so with name_model, else embed all anew)",
                self.dims
            );
        }
        write!(
            f,
            "{} (revision {}) in space {}, {} dimensions",
            self.id, self.revision, self.space, self.dims
        )
    }
}

/// A vector and the model that made it.
#[derive(Debug, Clone, Copy)]
pub struct Embedded<'a> {
    /// The model.
    pub model: &'a RecordedModel,
    /// The vector, of the model's width.
    pub vector: &'a [f32],
}

impl Embedded<'_> {
    /// Refuses what vec0 would take but cosine cannot compare: another width, zero, NaN, infinity.
    pub(crate) fn check(&self, of: impl Fn() -> String) -> Result<(), SchemaError> {
        let Self { model, vector } = self;
        let reason = if vector.len() == model.dims {
            defect(vector).map(str::to_owned)
        } else {
            Some(format!(
                "it has {} numbers, those of {model} have {}",
                vector.len(),
                model.dims
            ))
        };
        reason.map_or(Ok(()), |reason| {
            Err(SchemaError::BadVector { of: of(), reason })
        })
    }
}

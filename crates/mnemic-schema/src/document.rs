//! Reading documents and their passages: memories with a long source that is cut into chunks. It never cuts, embeds or
//! writes.

use std::ops::Range;

use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Filter;
use crate::read::Snapshot;
use crate::row::{MemoryRow, select_memories_with, text};
use crate::timestamp::Timestamp;

/// What a document is beside its memory and its source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentParts {
    /// What it is called.
    pub title: String,
    /// What it is and why it is kept.
    pub description: Option<String>,
    /// Where it can be found.
    pub link: Option<String>,
    /// JSON of the user's own.
    pub metadata: Option<String>,
    /// When what it tells of happened.
    pub event_date: Option<Timestamp>,
    /// Where the source came from: a path, say.
    pub origin: Option<String>,
    /// What told the version of the source there.
    pub origin_hash: Option<String>,
    /// How the source is cut: JSON.
    pub chunking: String,
    /// How many characters of the source the card holds at most.
    pub preview: u32,
}

/// A document as the file holds it, without its source.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRow {
    /// The memory that it is; its text is the card.
    pub memory: MemoryRow,
    /// The rest.
    pub parts: DocumentParts,
    /// Whether its chunks are those of its source.
    pub chunked: bool,
    /// How many chunks it has.
    pub chunks: u64,
}

/// A chunk as the file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRow {
    /// The key of the indexes of passages; never used twice.
    pub chunk: i64,
    /// The key of the document's memory.
    pub seq: i64,
    /// Its place among the chunks of the document, from 0.
    pub place: u64,
    /// Its span in the source, in bytes.
    pub bytes: Range<usize>,
    /// Its span in the source, in code points.
    pub chars: Range<usize>,
    /// What is known of it: JSON.
    pub metadata: Option<String>,
    /// The text at that span.
    pub text: String,
}

/// The text of a document's memory: title, description and the first `preview` characters of the source, a line each.
/// It is what whole documents are found by.
#[must_use]
pub fn card(title: &str, description: Option<&str>, source: &str, preview: u32) -> String {
    let preview = usize::try_from(preview).unwrap_or(usize::MAX);
    let end = source.char_indices().nth(preview);
    let beginning = match end {
        Some((end, _)) => source.get(..end).unwrap_or(source),
        None => source,
    };
    let parts = [Some(title), description, Some(beginning)];
    let parts = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

/// Begins a statement that reads [`DocumentRow`]s: the memories `m` with the documents `d`.
fn select_documents() -> String {
    let select = select_memories_with(
        ", d.title AS document_title, d.description, d.link, d.metadata, d.event_date, d.origin, d.origin_hash,
         d.chunking, d.preview, d.chunked, (SELECT count(*) FROM chunks c WHERE c.seq = d.seq)",
    );
    format!("{select} JOIN documents d ON d.seq = m.seq")
}

/// The columns of [`ChunkRow`], in its order.
pub(crate) const CHUNK_COLUMNS: &str = "c.chunk, c.seq, c.place, c.start_byte, c.end_byte, c.start_char, c.end_char, c.metadata, c.text";

impl DocumentRow {
    /// Reads a row of [`select_documents`].
    fn read(row: &Row<'_>) -> rusqlite::Result<Result<Self, SchemaError>> {
        let at = row.as_ref().column_index("document_title")?;
        let memory = match MemoryRow::read(row)? {
            Ok(memory) => memory,
            Err(error) => return Ok(Err(error)),
        };
        let event_date = match text(row, at + 4)?.map(|date| date.parse::<Timestamp>()) {
            None => None,
            Some(Ok(date)) => Some(date),
            Some(Err(error)) => {
                return Ok(Err(SchemaError::BadRow {
                    id: memory.id,
                    found: error.to_string(),
                }));
            }
        };
        Ok(Ok(Self {
            parts: DocumentParts {
                title: text(row, at)?.unwrap_or_default(),
                description: text(row, at + 1)?,
                link: text(row, at + 2)?,
                metadata: text(row, at + 3)?,
                event_date,
                origin: text(row, at + 5)?,
                origin_hash: text(row, at + 6)?,
                chunking: text(row, at + 7)?.unwrap_or_default(),
                preview: u32::try_from(row.get::<_, i64>(at + 8)?).unwrap_or(u32::MAX),
            },
            chunked: row.get(at + 9)?,
            chunks: row.get::<_, i64>(at + 10)?.unsigned_abs(),
            memory,
        }))
    }
}

impl ChunkRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        // A number that is no place in a text is one beyond every text: `check` reports the chunk.
        let number = |column| -> rusqlite::Result<usize> {
            Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(usize::MAX))
        };
        Ok(Self {
            chunk: row.get(0)?,
            seq: row.get(1)?,
            place: row.get::<_, i64>(2)?.unsigned_abs(),
            bytes: number(3)?..number(4)?,
            chars: number(5)?..number(6)?,
            metadata: text(row, 7)?,
            text: text(row, 8)?.unwrap_or_default(),
        })
    }
}

impl Snapshot<'_> {
    /// The document with an id; `None` where there is no such memory, or it is not a document.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where the row is damaged, and what SQLite reports.
    pub fn document(&self, id: &str) -> Result<Option<DocumentRow>, SchemaError> {
        self.connection()
            .prepare_cached(&format!("{} WHERE m.id = ?1", select_documents()))
            .and_then(|mut statement| statement.query_row([id], DocumentRow::read).optional())
            .doing("reading a document")?
            .transpose()
    }

    /// The documents whose memories pass a filter, newest first.
    ///
    /// # Errors
    /// As [`Snapshot::document`].
    pub fn documents(&self, filter: &Filter) -> Result<Vec<DocumentRow>, SchemaError> {
        let doing = "listing documents";
        let (conditions, values) = filter.clause();
        let sql = format!(
            "{} WHERE TRUE{conditions} ORDER BY m.created_at DESC, m.seq DESC",
            select_documents()
        );
        let mut statement = self.connection().prepare(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), DocumentRow::read)
            .doing(doing)?;
        rows.map(|row| row.doing(doing)?).collect()
    }

    /// The keys and ids of the documents with chunks whose memories pass a filter, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn documents_passing(&self, filter: &Filter) -> Result<Vec<(i64, String)>, SchemaError> {
        let doing = "listing the keys of documents";
        let (conditions, values) = filter.clause();
        let sql = format!(
            "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT seq FROM documents)
                 AND EXISTS (SELECT 1 FROM chunks c WHERE c.seq = m.seq){conditions} ORDER BY m.seq"
        );
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<_>>().doing(doing)
    }

    /// The ids of the documents of an origin, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn documents_of(&self, origin: &str) -> Result<Vec<String>, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT m.id FROM documents d JOIN memories m ON m.seq = d.seq WHERE d.origin = ?1 ORDER BY m.seq",
            )
            .and_then(|mut statement| statement.query_map([origin], |row| row.get(0))?.collect())
            .doing("looking up an origin")
    }

    /// The ids of the documents whose chunks are not those of their source, oldest first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn stale_documents(&self) -> Result<Vec<String>, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT m.id FROM documents d JOIN memories m ON m.seq = d.seq WHERE d.chunked = 0 ORDER BY m.seq",
            )
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .doing("looking for stale documents")
    }

    /// The source of the document with an id.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn source(&self, id: &str) -> Result<Option<String>, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT d.source FROM documents d JOIN memories m ON m.seq = d.seq WHERE m.id = ?1",
            )
            .and_then(|mut statement| statement.query_row([id], |row| text(row, 0)).optional())
            .map(Option::flatten)
            .doing("reading the source of a document")
    }

    /// Whether there are chunks at all.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_chunks(&self) -> Result<bool, SchemaError> {
        Ok(self.count("SELECT EXISTS (SELECT 1 FROM chunks)")? > 0)
    }

    /// The chunks of the document with a key, in their order; of some places only where given.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn chunks_of(&self, seq: i64, places: Range<u64>) -> Result<Vec<ChunkRow>, SchemaError> {
        let doing = "reading the chunks of a document";
        let bound = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        let mut statement = self
            .connection()
            .prepare_cached(&format!(
                "SELECT {CHUNK_COLUMNS} FROM chunks c WHERE c.seq = ?1 AND c.place >= ?2 AND c.place < ?3 ORDER BY c.place"
            ))
            .doing(doing)?;
        let rows = statement
            .query_map(
                params![seq, bound(places.start), bound(places.end)],
                ChunkRow::read,
            )
            .doing(doing)?;
        rows.collect::<rusqlite::Result<_>>().doing(doing)
    }

    /// The chunks with these keys, in the order of the keys; absent ones are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn chunks(&self, keys: &[i64]) -> Result<Vec<ChunkRow>, SchemaError> {
        let doing = "reading chunks";
        let mut statement = self
            .connection()
            .prepare_cached(&format!(
                "SELECT {CHUNK_COLUMNS} FROM chunks c WHERE c.chunk = ?1"
            ))
            .doing(doing)?;
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            rows.extend(
                statement
                    .query_row([key], ChunkRow::read)
                    .optional()
                    .doing(doing)?,
            );
        }
        Ok(rows)
    }

    /// The keys of the chunks of the document with a key, in their order.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn chunk_keys(&self, seq: i64) -> Result<Vec<i64>, SchemaError> {
        self.connection()
            .prepare_cached("SELECT chunk FROM chunks WHERE seq = ?1 ORDER BY place")
            .and_then(|mut statement| statement.query_map([seq], |row| row.get(0))?.collect())
            .doing("looking up the chunks of a document")
    }

    /// The keys of the documents that chunks are of, in the order of the chunks' keys; absent ones are left out.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn documents_of_chunks(&self, keys: &[i64]) -> Result<Vec<(i64, i64)>, SchemaError> {
        let doing = "looking up the documents of chunks";
        let mut statement = self
            .connection()
            .prepare_cached("SELECT seq FROM chunks WHERE chunk = ?1")
            .doing(doing)?;
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let seq: Option<i64> = statement
                .query_row([key], |row| row.get(0))
                .optional()
                .doing(doing)?;
            found.extend(seq.map(|seq| (*key, seq)));
        }
        Ok(found)
    }

    /// How many chunks of the document with a key lack a vector, though there may be something to embed in them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn missing_of(&self, seq: i64) -> Result<u64, SchemaError> {
        let passages = crate::Indexed::Passages;
        let sql = passages.filled(&format!(
            "SELECT count(*) FROM {{base}} WHERE seq = ?1 AND {}",
            self.lacks(passages)?
        ));
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([seq], |row| row.get::<_, i64>(0)))
            .map(i64::unsigned_abs)
            .doing("counting what lacks a vector")
    }

    /// The title of the document with a key.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn title(&self, seq: i64) -> Result<Option<String>, SchemaError> {
        self.connection()
            .prepare_cached("SELECT title FROM documents WHERE seq = ?1")
            .and_then(|mut statement| statement.query_row([seq], |row| text(row, 0)).optional())
            .map(Option::flatten)
            .doing("reading the title of a document")
    }

    pub(crate) fn is_document(&self, seq: i64) -> Result<bool, SchemaError> {
        self.connection()
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM documents WHERE seq = ?1)")
            .and_then(|mut statement| statement.query_row([seq], |row| row.get(0)))
            .doing("looking for a document")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_cut_at_a_character() {
        assert_eq!(card("T", Some("d"), "source", 3), "T\nd\nsou");
        assert_eq!(card("T", None, "👩‍👩‍👧x", 2), "T\n👩\u{200d}");
        assert_eq!(card("T", Some(" "), "", 9), "T");
        assert_eq!(card("T", None, "source", 0), "T");
    }
}

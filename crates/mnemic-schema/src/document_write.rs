//! Writing documents: memory, source, chunks, their words and vectors in one transaction, so that the chunks of exactly
//! one version are there. It neither cuts nor embeds. A chunk that is in the new version too keeps its row and its vector.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use rusqlite::params;

use crate::document::{DocumentParts, card};
use crate::error::{Doing, SchemaError};
use crate::events::Action;
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::row::{Embedded, NewRow, RecordedModel};
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// A piece of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChunk {
    /// Its span in the source, in bytes.
    pub bytes: Range<usize>,
    /// Its span in the source, in code points.
    pub chars: Range<usize>,
    /// What is known of it: JSON.
    pub metadata: Option<String>,
}

/// What a model made of a chunk's text.
#[derive(Debug, Clone, PartialEq)]
pub enum ChunkVector {
    /// Its vector.
    Vector(Vec<f32>),
    /// The model finds nothing to embed in it.
    Nothing,
}

/// What a model made of the texts of chunks, by text. A text that is not in it is left without a vector.
#[derive(Debug, Clone, Copy)]
pub struct ChunkVectors<'a> {
    /// The model.
    pub model: &'a RecordedModel,
    /// By text.
    pub by_text: &'a HashMap<String, ChunkVector>,
}

/// What became of the chunks of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunksWritten {
    /// Chunks of the document now.
    pub chunks: u64,
    /// Of these, rows that were there before.
    pub kept: u64,
    /// Of these, those that got their vector now (of a text that was there already, that one).
    pub embedded: u64,
    /// Of these, those that have no vector although there may be something to embed in them.
    pub missing: u64,
    /// Chunks of the version before that are gone.
    pub removed: u64,
}

/// A chunk that is there, as far as writing the next version needs it.
struct Old {
    chunk: i64,
    text: String,
    columns: Columns,
    embedded: bool,
}

/// What of a chunk may change while its text and its vector stay.
#[derive(PartialEq)]
struct Columns {
    place: i64,
    spans: [i64; 4],
    metadata: Option<String>,
}

impl Columns {
    fn of(place: usize, chunk: &NewChunk) -> Self {
        let number = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
        Self {
            place: number(place),
            spans: [
                number(chunk.bytes.start),
                number(chunk.bytes.end),
                number(chunk.chars.start),
                number(chunk.chars.end),
            ],
            metadata: chunk.metadata.clone(),
        }
    }
}

impl Snapshot<'_> {
    /// Of the texts of a document's next version, those that none of its chunks has with a vector (of the file's model, or
    /// with the knowledge that there is nothing to embed), each once. Of a document that is not there: all.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn texts_to_embed(&self, id: &str, texts: &[&str]) -> Result<Vec<String>, SchemaError> {
        let known: HashSet<String> = match self.key_of(id)? {
            Some(seq) => {
                let old = self.old_chunks(seq)?;
                let embedded = old.into_iter().filter(|old| old.embedded);
                embedded.map(|old| old.text).collect()
            }
            None => HashSet::new(),
        };
        let mut seen = HashSet::new();
        let texts = texts.iter().filter(|text| !known.contains(**text));
        Ok(texts
            .filter(|text| seen.insert(**text))
            .map(|text| (*text).to_owned())
            .collect())
    }

    fn old_chunks(&self, seq: i64) -> Result<Vec<Old>, SchemaError> {
        let doing = "reading the chunks of a document";
        let sql = Indexed::Passages.filled(&format!(
            "SELECT chunk, text, place, start_byte, end_byte, start_char, end_char, metadata, NOT ({})
             FROM chunks WHERE seq = ?1 ORDER BY place",
            self.lacks(Indexed::Passages)?
        ));
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map([seq], |row| {
                Ok(Old {
                    chunk: row.get(0)?,
                    text: crate::row::text(row, 1)?.unwrap_or_default(),
                    columns: Columns {
                        place: row.get(2)?,
                        spans: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?],
                        metadata: crate::row::text(row, 7)?,
                    },
                    embedded: row.get(8)?,
                })
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<_>>().doing(doing)
    }
}

impl WriteTransaction<'_> {
    /// Inserts a document: its memory (with the card as its text, whatever the row says), its source and its chunks.
    /// Answers with its id. Its vectors are those given: the memory's, and the chunks' by their texts.
    ///
    /// # Errors
    /// As [`WriteTransaction::insert`]; [`SchemaError::BadChunks`].
    pub fn insert_document(
        &mut self,
        row: &NewRow,
        parts: &DocumentParts,
        source: &str,
        chunks: &[NewChunk],
        embedded: Option<Embedded<'_>>,
        vectors: Option<ChunkVectors<'_>>,
    ) -> Result<(String, ChunksWritten), SchemaError> {
        self.admit_document(embedded, vectors)?;
        let row = NewRow {
            content: card(
                &parts.title,
                parts.description.as_deref(),
                source,
                parts.preview,
            ),
            ..row.clone()
        };
        let (seq, id) = self.insert_row(&row)?;
        if let Some(embedded) = embedded {
            self.insert_vector(seq, &id, embedded)?;
        }
        self.execute(
            "storing a document",
            "INSERT INTO documents
                 (seq, title, description, link, metadata, event_date, origin, origin_hash, chunking, preview, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                seq,
                parts.title,
                parts.description,
                parts.link,
                parts.metadata,
                parts.event_date.map(|date| date.to_string()),
                parts.origin,
                parts.origin_hash,
                parts.chunking,
                parts.preview,
                source
            ],
        )?;
        let written = self.write_chunks(seq, &id, source, chunks, vectors)?;
        self.note_stored(&id, row.project.as_deref())?;
        Ok((id, written))
    }

    /// Writes the next version of a document: its parts, its source and its chunks, those that stay with their vectors.
    /// The vector of the card is needed where the card is another one.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], [`SchemaError::NotADocument`], and as [`WriteTransaction::insert_document`].
    #[expect(clippy::too_many_arguments, reason = "each is a part of one version")]
    pub fn write_document(
        &mut self,
        id: &str,
        parts: &DocumentParts,
        source: &str,
        chunks: &[NewChunk],
        embedded: Option<Embedded<'_>>,
        vectors: Option<ChunkVectors<'_>>,
        updated_at: Timestamp,
    ) -> Result<ChunksWritten, SchemaError> {
        let doing = "writing a document";
        let missing = || SchemaError::NotFound { id: id.to_owned() };
        let seq = self.key_of(id)?.ok_or_else(missing)?;
        if !self.is_document(seq)? {
            return Err(SchemaError::NotADocument { id: id.to_owned() });
        }
        self.admit_document(embedded, vectors)?;
        // Cut anew without a change, it is as it was.
        let before = self.document(id)?;
        let changes = before.is_none_or(|before| before.parts != *parts)
            || self.source(id)?.as_deref() != Some(source);
        if changes {
            self.note_change(id, &Action::Updated, None)?;
        }
        let card = card(
            &parts.title,
            parts.description.as_deref(),
            source,
            parts.preview,
        );
        let changed = self.execute(
            doing,
            "UPDATE memories SET content = ?2 WHERE seq = ?1 AND content <> ?2",
            params![seq, card],
        )?;
        let has_vectors = self.has_vector_table()?;
        if changed > 0 && has_vectors {
            self.execute(doing, "DELETE FROM memory_vec WHERE seq = ?1", params![seq])?;
        }
        if let Some(embedded) = embedded
            && self.vector(seq)?.is_none()
        {
            self.insert_vector(seq, id, embedded)?;
        }
        self.execute(
            doing,
            "UPDATE documents SET title = ?2, description = ?3, link = ?4, metadata = ?5, event_date = ?6, origin = ?7,
                 origin_hash = ?8, preview = ?9 WHERE seq = ?1",
            params![
                seq,
                parts.title,
                parts.description,
                parts.link,
                parts.metadata,
                parts.event_date.map(|date| date.to_string()),
                parts.origin,
                parts.origin_hash,
                parts.preview
            ],
        )?;
        // Together, as each says that it is to be cut again.
        self.execute(
            doing,
            "UPDATE documents SET source = ?2, chunking = ?3 WHERE seq = ?1",
            params![seq, source, parts.chunking],
        )?;
        if changes {
            self.execute(
                doing,
                "UPDATE memories SET updated_at = ?2 WHERE seq = ?1",
                params![seq, updated_at.to_string()],
            )?;
        }
        let written = self.write_chunks(seq, id, source, chunks, vectors)?;
        self.log(seq)?;
        Ok(written)
    }

    /// Makes sure that the models of a document's vectors are the file's. What has no vector joins any file: it is found
    /// missing.
    fn admit_document(
        &mut self,
        embedded: Option<Embedded<'_>>,
        vectors: Option<ChunkVectors<'_>>,
    ) -> Result<(), SchemaError> {
        let models = [
            embedded.map(|embedded| embedded.model),
            vectors.map(|vectors| vectors.model),
        ];
        for model in models.into_iter().flatten() {
            self.admit(Some(model))?;
        }
        Ok(())
    }

    /// Makes the chunks of a document those given.
    fn write_chunks(
        &mut self,
        seq: i64,
        id: &str,
        source: &str,
        chunks: &[NewChunk],
        vectors: Option<ChunkVectors<'_>>,
    ) -> Result<ChunksWritten, SchemaError> {
        let doing = "writing the chunks of a document";
        let texts = texts_of(id, source, chunks)?;
        let old = self.old_chunks(seq)?;
        let mut by_text: HashMap<&str, VecDeque<&Old>> = HashMap::new();
        for old in &old {
            by_text.entry(&old.text).or_default().push_back(old);
        }
        // Equal texts in their order.
        let stays: Vec<Option<&Old>> = texts
            .iter()
            .map(|text| by_text.get_mut(text).and_then(VecDeque::pop_front))
            .collect();
        let embedded: HashMap<&str, i64> = old
            .iter()
            .filter(|old| old.embedded)
            .map(|old| (&*old.text, old.chunk))
            .collect();
        let mut written = ChunksWritten {
            chunks: chunks.len() as u64,
            ..ChunksWritten::default()
        };
        for old in by_text.into_values().flatten() {
            self.execute(
                doing,
                "DELETE FROM chunks WHERE chunk = ?1",
                params![old.chunk],
            )?;
            written.removed += 1;
        }
        let columns: Vec<Columns> = chunks
            .iter()
            .enumerate()
            .map(|(place, chunk)| Columns::of(place, chunk))
            .collect();
        let moved: Vec<(&Old, &Columns)> = stays
            .iter()
            .zip(&columns)
            .filter_map(|(old, columns)| Some(((*old)?, columns)))
            .filter(|(old, columns)| old.columns != **columns)
            .collect();
        // Out of the way first: no two chunks of a document may have one place.
        for (old, _) in &moved {
            self.execute(
                doing,
                "UPDATE chunks SET place = -1 - place WHERE chunk = ?1",
                params![old.chunk],
            )?;
        }
        for (old, columns) in &moved {
            let [start_byte, end_byte, start_char, end_char] = columns.spans;
            self.execute(
                doing,
                "UPDATE chunks SET place = ?2, start_byte = ?3, end_byte = ?4, start_char = ?5, end_char = ?6, metadata = ?7
                 WHERE chunk = ?1",
                params![old.chunk, columns.place, start_byte, end_byte, start_char, end_char, columns.metadata],
            )?;
        }
        for ((old, columns), text) in stays.iter().zip(&columns).zip(&texts) {
            let chunk = match old {
                Some(old) => {
                    written.kept += 1;
                    if old.embedded {
                        continue;
                    }
                    old.chunk
                }
                None => self.insert_chunk(seq, columns, text)?,
            };
            let known = vectors.and_then(|vectors| vectors.by_text.get(*text));
            // A text that is there more often than before: the same vector.
            let known = match (known, embedded.get(*text)) {
                (None, Some(old)) => Some(
                    self.vector_in(Indexed::Passages, *old)?
                        .map_or(ChunkVector::Nothing, ChunkVector::Vector),
                ),
                (known, _) => known.cloned(),
            };
            let model = match vectors {
                Some(vectors) => Some(vectors.model.clone()),
                None => self.recorded_model()?,
            };
            match known.zip(model) {
                Some((ChunkVector::Vector(vector), model)) => {
                    self.make_passage_vectors(model.dims)?;
                    let embedded = Embedded {
                        model: &model,
                        vector: &vector,
                    };
                    self.insert_vector_in(Indexed::Passages, chunk, id, embedded)?;
                    self.log_in(Indexed::Passages, chunk)?;
                    written.embedded += 1;
                }
                Some((ChunkVector::Nothing, model)) => {
                    self.note_nothing_to_embed(chunk, &model.space)?;
                }
                None => written.missing += 1,
            }
        }
        self.execute(
            doing,
            "UPDATE documents SET chunked = 1 WHERE seq = ?1",
            params![seq],
        )?;
        Ok(written)
    }

    fn insert_chunk(&self, seq: i64, columns: &Columns, text: &str) -> Result<i64, SchemaError> {
        let [start_byte, end_byte, start_char, end_char] = columns.spans;
        self.connection()
            .prepare_cached(
                "INSERT INTO chunks (seq, place, start_byte, end_byte, start_char, end_char, metadata, text)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING chunk",
            )
            .and_then(|mut statement| {
                statement.query_row(
                    params![
                        seq,
                        columns.place,
                        start_byte,
                        end_byte,
                        start_char,
                        end_char,
                        columns.metadata,
                        text
                    ],
                    |row| row.get(0),
                )
            })
            .doing("storing a chunk")
    }

    /// Notes that a model finds nothing to embed in a chunk.
    pub(crate) fn note_nothing_to_embed(&self, chunk: i64, space: &str) -> Result<(), SchemaError> {
        self.execute(
            "noting that there is nothing to embed",
            "UPDATE chunks SET nothing_for = ?2 WHERE chunk = ?1",
            params![chunk, space],
        )?;
        Ok(())
    }
}

/// The texts at the spans of chunks; refuses spans that are none of the source, whose counts differ, or out of order.
fn texts_of<'a>(
    id: &str,
    source: &'a str,
    chunks: &[NewChunk],
) -> Result<Vec<&'a str>, SchemaError> {
    let bad = |place: usize, what: String| SchemaError::BadChunks {
        id: id.to_owned(),
        reason: format!("chunk {place} {what}"),
    };
    let mut texts = Vec::with_capacity(chunks.len());
    // How many code points begin before a byte: counted on from the last start.
    let (mut byte, mut char) = (0, 0);
    for (place, chunk) in chunks.iter().enumerate() {
        let text = source
            .get(chunk.bytes.clone())
            .filter(|text| !text.is_empty())
            .ok_or_else(|| {
                bad(
                    place,
                    format!("spans the bytes {:?}, which are no text of it", chunk.bytes),
                )
            })?;
        let between = source
            .get(byte..chunk.bytes.start)
            .ok_or_else(|| bad(place, "begins before the one before it".to_owned()))?;
        char += between.chars().count();
        byte = chunk.bytes.start;
        let chars = char..char + text.chars().count();
        if chars != chunk.chars {
            return Err(bad(
                place,
                format!("spans the characters {chars:?}, and says {:?}", chunk.chars),
            ));
        }
        texts.push(text);
    }
    Ok(texts)
}

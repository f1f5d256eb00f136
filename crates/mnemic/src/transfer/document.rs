//! A document on its way out and in: its parts, its source, and its passages by their spans, with what a model made of
//! them. It neither cuts nor embeds.

use std::collections::HashMap;

use mnemic_schema::{
    CarriedPassage, ChunkVector, DocumentParts, DocumentRow, NewChunk, Timestamp, card,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::unit;
use super::lines::Fields;
use super::said::{Object, json};
use crate::document::cut;
use crate::document::types::{CHUNKING, PREVIEW};
use crate::{EmbeddingModel, Result};

/// A document that is to be taken in, beside the memory that it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DocumentEntry {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) link: Option<String>,
    pub(super) metadata: Option<String>,
    /// Microseconds.
    pub(super) event_date: Option<i64>,
    pub(super) origin: Option<String>,
    pub(super) origin_hash: Option<String>,
    pub(super) chunking: String,
    pub(super) preview: u32,
    pub(super) source: String,
    /// `None`: to be cut.
    pub(super) passages: Option<Vec<PassageEntry>>,
}

/// A passage, by its span in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PassageEntry {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) metadata: Option<String>,
    /// Whether the model finds nothing to embed in it.
    pub(super) nothing: bool,
    /// The bits of its numbers, as text might round them.
    pub(super) vector: Option<Vec<u32>>,
}

impl PassageEntry {
    pub(super) fn of(chunk: NewChunk) -> Self {
        Self {
            start: chunk.bytes.start,
            end: chunk.bytes.end,
            metadata: chunk.metadata,
            nothing: false,
            vector: None,
        }
    }

    pub(super) fn set_vector(&mut self, vector: Option<Vec<f32>>) {
        self.nothing = vector.is_none();
        self.vector = vector.map(|vector| vector.iter().map(|x| x.to_bits()).collect());
    }
}

impl DocumentEntry {
    /// One of which nothing but title and source is said.
    pub(super) fn new(title: String, source: String) -> Result<Self> {
        Ok(Self {
            title,
            description: None,
            link: None,
            metadata: None,
            event_date: None,
            origin: None,
            origin_hash: None,
            chunking: cut::json(&CHUNKING)?,
            preview: PREVIEW,
            source,
            passages: None,
        })
    }

    pub(super) fn card(&self) -> String {
        let description = self.description.as_deref();
        card(&self.title, description, &self.source, self.preview)
    }

    pub(super) fn parts(&self) -> Result<DocumentParts> {
        let event_date = self.event_date.map(Timestamp::from_micros).transpose()?;
        Ok(DocumentParts {
            title: self.title.clone(),
            description: self.description.clone(),
            link: self.link.clone(),
            metadata: self.metadata.clone(),
            event_date,
            origin: self.origin.clone(),
            origin_hash: self.origin_hash.clone(),
            chunking: self.chunking.clone(),
            preview: self.preview,
        })
    }

    /// Whether a stored document is this one, passages aside.
    pub(super) fn is(&self, parts: &DocumentParts, source: &str) -> bool {
        let same = |own: &Option<String>, other: &Option<String>| {
            let line = |json: &Option<String>| json.as_deref().and_then(super::said::one_line);
            line(own) == line(other)
        };
        let own = self.parts().ok();
        own.is_some_and(|own| {
            same(&own.metadata, &parts.metadata)
                && DocumentParts {
                    metadata: parts.metadata.clone(),
                    ..own
                } == *parts
        }) && self.source == source
    }

    /// The texts of its passages; empty where a span is none.
    pub(super) fn texts(&self) -> Vec<&str> {
        let passages = self.passages.iter().flatten();
        passages
            .map(|passage| self.source.get(passage.start..passage.end))
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Its passages as the file keeps them. The spans are of the source, and begin in order.
    pub(super) fn chunks(&self) -> Vec<NewChunk> {
        let (mut byte, mut char) = (0, 0);
        let count = |from: usize, to: usize| {
            let text = self.source.get(from..to).unwrap_or_default();
            text.chars().count()
        };
        let passages = self.passages.iter().flatten();
        passages
            .map(|passage| {
                char += count(byte, passage.start);
                byte = passage.start;
                let end = char + count(passage.start, passage.end);
                NewChunk {
                    bytes: passage.start..passage.end,
                    chars: char..end,
                    metadata: passage.metadata.clone(),
                }
            })
            .collect()
    }

    /// What a model made of the texts of its passages.
    pub(super) fn by_text(&self) -> HashMap<String, ChunkVector> {
        let passages = self.passages.iter().flatten();
        let made = passages.zip(self.texts()).filter_map(|(passage, text)| {
            let vector = match &passage.vector {
                Some(bits) => {
                    let numbers = bits.iter().map(|bits| f32::from_bits(*bits));
                    ChunkVector::Vector(numbers.collect())
                }
                None if passage.nothing => ChunkVector::Nothing,
                None => return None,
            };
            Some((text.to_owned(), vector))
        });
        made.collect()
    }

    /// How many of its passages have a vector.
    pub(super) fn vectors(&self) -> u64 {
        let passages = self.passages.iter().flatten();
        passages.filter(|passage| passage.vector.is_some()).count() as u64
    }

    /// What is wrong with the spans, if anything.
    fn defect(&self) -> Option<String> {
        let mut last = 0;
        for (passage, place) in self.passages.iter().flatten().zip(1..) {
            let (start, end) = (passage.start, passage.end);
            if start >= end || start < last || self.source.get(start..end).is_none() {
                return Some(format!(
                    "passage {place}: bytes {start} to {end} are no span of the source, or not behind the one before"
                ));
            }
            last = start;
        }
        None
    }
}

/// The field `document` of a memory's line.
pub(super) fn field(row: &DocumentRow, source: &str, passages: &[CarriedPassage]) -> String {
    let parts = &row.parts;
    let mut document = Object::new();
    document.text("title", Some(&parts.title));
    document.text("description", parts.description.as_deref());
    document.text("link", parts.link.as_deref());
    document.json("metadata", parts.metadata.as_deref());
    document.time("event_date", parts.event_date);
    document.text("origin", parts.origin.as_deref());
    document.text("origin_hash", parts.origin_hash.as_deref());
    document.json("chunking", Some(&parts.chunking));
    document.raw("preview", &parts.preview.to_string());
    document.text("source", Some(source));
    // Those of another source are none of this one.
    if row.chunked {
        let passages: Vec<String> = passages.iter().map(passage).collect();
        document.raw("passages", &format!("[{}]", passages.join(",")));
    }
    format!(",\"document\":{}", document.written())
}

fn passage(passage: &CarriedPassage) -> String {
    let mut object = Object::new();
    object.raw("start", &passage.bytes.start.to_string());
    object.raw("end", &passage.bytes.end.to_string());
    object.json("metadata", passage.metadata.as_deref());
    if passage.nothing {
        object.raw("nothing", "true");
    }
    if let Some(vector) = &passage.vector {
        let numbers: Vec<String> = vector.iter().map(|x| format!("{x:?}")).collect();
        object.raw("vector", &format!("[{}]", numbers.join(",")));
    }
    object.written()
}

/// Reads the field `document` of a memory's line.
pub(super) fn read(
    line: u64,
    fields: &mut Fields,
    model: Option<&EmbeddingModel>,
    mut unknown: impl FnMut(&str),
) -> Result<Option<DocumentEntry>> {
    let Some(mut said) = fields.optional_object("document")? else {
        return Ok(None);
    };
    let title: String = said.required("title")?;
    if title.trim().is_empty() {
        return Err(said.wrong("title", "a document needs a title"));
    }
    let source: Option<String> = said.optional("source")?;
    let mut document = DocumentEntry::new(title, source.unwrap_or_default())?;
    document.description = said.optional("description")?;
    document.link = said.optional("link")?;
    document.metadata = json(&mut said, "metadata", false)?;
    document.event_date = said.time("event_date")?.map(Timestamp::as_micros);
    document.origin = said.optional("origin")?;
    document.origin_hash = said.optional("origin_hash")?;
    if let Some(chunking) = json(&mut said, "chunking", true)? {
        document.chunking = chunking;
    }
    document.preview = said.optional("preview")?.unwrap_or(PREVIEW);
    let passages: Option<Vec<Box<serde_json::value::RawValue>>> = said.optional("passages")?;
    if let Some(passages) = passages {
        let mut read = Vec::with_capacity(passages.len());
        for passage in passages {
            let mut passage = Fields::parse(line, passage.get())?;
            let mut entry = PassageEntry {
                start: passage.required("start")?,
                end: passage.required("end")?,
                metadata: json(&mut passage, "metadata", false)?,
                nothing: false,
                vector: None,
            };
            let nothing = passage.optional("nothing")?.unwrap_or(false);
            if let Some(vector) = super::jsonl::vector(&mut passage, model)? {
                entry.set_vector(Some(vector));
            }
            entry.nothing = nothing && entry.vector.is_none();
            for (name, _) in passage.rest() {
                unknown(&format!("document.passages.{name}"));
            }
            read.push(entry);
        }
        document.passages = Some(read);
    }
    if let Some(defect) = document.defect() {
        return Err(fields.wrong("document", defect));
    }
    for (name, _) in said.rest() {
        unknown(&format!("document.{name}"));
    }
    Ok(Some(document))
}

/// Where texts stand in a source, one behind the other; `None` where one of them does not.
pub(super) fn slices(
    source: &str,
    texts: Vec<(String, Option<String>, Option<Vec<f32>>)>,
) -> Option<Vec<PassageEntry>> {
    let mut from = 0;
    let mut found = Vec::with_capacity(texts.len());
    for (text, metadata, vector) in texts {
        let start = from
            + source
                .get(from..)?
                .find(text.as_str())
                .filter(|_| !text.is_empty())?;
        let mut entry = PassageEntry {
            start,
            end: start + text.len(),
            metadata: metadata.filter(|json| serde_json::from_str::<Value>(json).is_ok()),
            nothing: false,
            vector: None,
        };
        if let Some(vector) = vector.and_then(|vector| unit(vector).ok()) {
            entry.set_vector(Some(vector));
        }
        found.push(entry);
        // The next one may overlap this one, but begins behind its beginning.
        from = start + text.chars().next().map_or(1, char::len_utf8);
    }
    Some(found)
}

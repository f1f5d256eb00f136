//! What a node of RA-H becomes, a document whose card is what RA-H embeds, and what its edges and chunks do. All other
//! fields are left, and said.

use mnemic_schema::{ForeignMemory, ForeignRow, ForeignValue, Lifecycle, Timestamp, Usage};
use serde_json::Value;
use serde_json::value::RawValue;

use super::document::DocumentEntry;
use super::entry::{Entry, unit};
use super::left::to_json;
use super::reading::{Mapped, Object, Vector};
use super::records::RelationRecord;
use super::said::{is_too_deep, one_line};

/// The fields that come over.
const HELD: [&str; 9] = [
    "id",
    "title",
    "description",
    "source",
    "link",
    "metadata",
    "event_date",
    "created_at",
    "updated_at",
];

/// The row, and the vector that it holds of a whole node.
pub(super) fn from_row(memory: ForeignMemory) -> (Object, Vector) {
    let vector = memory.row.iter().find(|(name, _)| name == "embedding");
    // One that cannot be read is there too, as none of any length.
    let vector = match vector.map(|(_, value)| value) {
        None | Some(ForeignValue::Null) => None,
        Some(ForeignValue::Blob(bytes)) => Some(floats(bytes)),
        Some(_) => Some(Vec::new()),
    };
    (to_json(memory.row), vector)
}

/// Little-endian f32.
pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .filter_map(|chunk| chunk.try_into().ok().map(f32::from_le_bytes))
        .collect()
}

pub(super) fn map(place: u64, row: &Object, vector: Vector) -> Result<Mapped, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let number = row.get("id").and_then(Value::as_i64);
    let number = number.ok_or("its id is missing, or no number")?;
    for field in ["title", "description", "source"] {
        if row.get(field).is_some_and(|value| !value.is_null()) && text(field).is_none() {
            return Err(format!("its {field} is no text"));
        }
    }
    // One without a title is called by the rest of it.
    let said = |name: &str| text(name).filter(|part| !part.trim().is_empty());
    let title = said("title").or(said("description")).or(said("source"));
    let title = title.ok_or("it has no text")?;
    let source = text("source").unwrap_or_default();
    let mut document = DocumentEntry::new(title.to_owned(), source.to_owned())
        .map_err(|error| error.to_string())?;
    let mut odd = Vec::new();
    document.description = said("description").map(ToOwned::to_owned);
    document.link = said("link").map(ToOwned::to_owned);
    if let Some(json) = said("metadata").and_then(one_line) {
        if serde_json::from_str::<&RawValue>(&json).is_ok() && !is_too_deep(&json) {
            document.metadata = Some(json);
        } else {
            odd.push(("metadata", "no JSON"));
        }
    }
    if let Some(date) = said("event_date") {
        match date.parse::<Timestamp>() {
            Ok(date) => document.event_date = Some(date.as_micros()),
            Err(_) => odd.push(("event_date", "no time")),
        }
    }
    let content = document.card();
    let time = |name: &str| text(name).and_then(|time| time.parse::<Timestamp>().ok());
    let (created, updated) = (time("created_at"), time("updated_at"));
    let created_at = created.or(updated).ok_or("it has no time")?;
    // Its vector is that of this very text, or of another one.
    let vector = vector
        .filter(|_| text("embedding_text") == Some(&content))
        .and_then(|vector| unit(vector).ok());
    Ok(Mapped::Memory {
        entry: Box::new(Entry {
            place,
            id: format!("ra-h-{number}"),
            content,
            project: None,
            tags: Vec::new(),
            created_at,
            updated_at: updated.unwrap_or(created_at),
            lifecycle: Lifecycle::default(),
            usage: Usage::default(),
            entities: None,
            document: Some(Box::new(document)),
            vector: vector.map(|vector| (vector, true)),
        }),
        held: &HELD,
        odd,
    })
}

/// The columns that its edges have.
pub(super) const EDGE: [&str; 7] = [
    "id",
    "from_node_id",
    "to_node_id",
    "explanation",
    "context",
    "source",
    "created_at",
];

/// What an edge becomes: a relation of the kind that its context names as its `type`, else `related_to`.
pub(super) fn edge(place: u64, row: &Object) -> Result<RelationRecord, &'static str> {
    let text = |name: &str| {
        let text = row.get(name).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty())
    };
    let node = |name: &str| row.get(name).and_then(Value::as_i64);
    let from = node("from_node_id").ok_or("it names no node to start from")?;
    let to = node("to_node_id").ok_or("it names no node to lead to")?;
    if from == to {
        return Err("it is of a node to itself");
    }
    let created_at: Option<Timestamp> = text("created_at").and_then(|time| time.parse().ok());
    let context = match text("context").and_then(one_line) {
        Some(json) if serde_json::from_str::<&RawValue>(&json).is_err() || is_too_deep(&json) => {
            return Err("its context is no JSON");
        }
        other => other,
    };
    let parsed = context
        .as_deref()
        .and_then(|json| serde_json::from_str::<Value>(json).ok());
    let kind = parsed
        .as_ref()
        .and_then(|context| context.get("type")?.as_str())
        .filter(|kind| !kind.is_empty());
    Ok(RelationRecord {
        place,
        from: format!("ra-h-{from}"),
        to: format!("ra-h-{to}"),
        kind: kind.unwrap_or("related_to").to_owned(),
        explanation: text("explanation").map(ToOwned::to_owned),
        context,
        source: text("source").map(ToOwned::to_owned),
        created_at: created_at.ok_or("it has no time")?.as_micros(),
    })
}

/// A chunk: text, metadata and vector, as far as they are there; and the names of its other fields.
pub(super) type Chunk = (String, Option<String>, Option<Vec<f32>>);

/// What of a chunk comes over.
pub(super) const CHUNK: [&str; 6] = [
    "id",
    "node_id",
    "chunk_idx",
    "text",
    "metadata",
    "embedding",
];

pub(super) fn chunk(row: &ForeignRow) -> Chunk {
    let value = |name: &str| {
        row.iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value)
    };
    let text = |name: &str| match value(name) {
        Some(ForeignValue::Text(text)) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    };
    let vector = match value("embedding") {
        Some(ForeignValue::Blob(bytes)) => Some(floats(bytes)),
        _ => None,
    };
    (text("text").unwrap_or_default(), text("metadata"), vector)
}

/// Why a table of its file is left.
pub(super) fn why(table: &str) -> &'static str {
    match table {
        "chunks" => "it lacks columns that RA-H's has",
        "vec_chunks" => "vectors of passages, which are made anew",
        "vec_nodes" => "an index of vectors that the nodes hold",
        "edges" => "it lacks columns that RA-H's has",
        "dimension_migration_snapshots" => "its record of an old change",
        _ => "mnemic has no such table",
    }
}

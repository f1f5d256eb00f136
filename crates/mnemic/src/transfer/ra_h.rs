//! What a node of RA-H becomes: a memory whose text is what RA-H embeds, title, description and source. All other fields
//! are left, and said.

use mnemic_schema::{ForeignMemory, ForeignValue, Timestamp};
use serde_json::Value;

use super::entry::{Entry, unit};
use super::left::to_json;
use super::reading::{Mapped, Object, Vector};

/// The fields that come over.
const HELD: [&str; 6] = [
    "id",
    "title",
    "description",
    "source",
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
    let parts: Vec<&str> = ["title", "description", "source"]
        .into_iter()
        .filter_map(text)
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
        return Err("it has no text".to_owned());
    }
    let content = parts.join("\n");
    let time = |name: &str| text(name).and_then(|time| time.parse::<Timestamp>().ok());
    let (created, updated) = (time("created_at"), time("updated_at"));
    let created_at = created.or(updated).ok_or("it has no time")?;
    // Its vector is that of this very text, or of another one.
    let vector = vector
        .filter(|_| text("embedding_text") == Some(&content))
        .and_then(|vector| unit(vector).ok());
    Ok(Mapped::Memory {
        entry: Entry {
            place,
            id: format!("ra-h-{number}"),
            content,
            project: None,
            tags: Vec::new(),
            created_at,
            updated_at: updated.unwrap_or(created_at),
            entities: None,
            vector: vector.map(|vector| (vector, true)),
        },
        held: &HELD,
    })
}

/// Why a table of its file is left.
pub(super) fn why(table: &str) -> &'static str {
    match table {
        "chunks" => "slices of sources, which came over whole; mnemic has no passages yet",
        "vec_chunks" => "vectors of slices of sources",
        "vec_nodes" => "an index of vectors that the nodes hold",
        "edges" => "mnemic has no relations yet",
        "dimension_migration_snapshots" => "its record of an old change",
        _ => "mnemic has no such table",
    }
}

//! What a memory of agent-memory becomes. Its own fields that mnemic holds are named here; all others are left, and said.

use mnemic_schema::{ForeignMemory, ForeignValue, Timestamp};
use serde_json::Value;

use super::entry::{Entry, id_defect, unit};
use super::left::to_json;
use super::lines::numbers;
use super::reading::{Mapped, Object, Vector};

/// A row of its database, in the names of its JSON lines.
pub(super) fn from_row(memory: ForeignMemory) -> (Object, Vector) {
    let mut row = to_json(memory.row);
    for (column, name) in [("tags_json", "tags"), ("entity_refs_json", "entity_refs")] {
        if let Some(Value::String(text)) = row.get(column)
            && let Ok(list) = serde_json::from_str::<Value>(text)
        {
            row.insert(name.to_owned(), list);
            row.remove(column);
        }
    }
    // One that cannot be read is there too, as none of any length.
    let vector = match memory.vector {
        ForeignValue::Null => None,
        ForeignValue::Text(text) => Some(numbers(&text).unwrap_or_default()),
        _ => Some(Vec::new()),
    };
    (row, vector)
}

/// The fields that come over; the memory's other fields have no place yet.
const HELD: [&str; 6] = [
    "id",
    "content",
    "tags",
    "created_at",
    "deleted_at",
    "entity_refs",
];

pub(super) fn map(place: u64, row: &Object, vector: Vector) -> Result<Mapped, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let id = text("id").ok_or("its id is missing, or no text")?;
    if let Some(defect) = id_defect(id) {
        return Err(format!("its id: {defect}"));
    }
    if row.get("deleted_at").is_some_and(|time| !time.is_null()) {
        return Ok(Mapped::Dropped("it was deleted there".to_owned()));
    }
    let content = text("content").filter(|content| !content.trim().is_empty());
    let content = content.ok_or("its content is missing, or no text")?;
    let created_at: Timestamp = text("created_at")
        .and_then(|time| time.parse().ok())
        .ok_or("its created_at is missing, or no time")?;
    let list = |name: &str| -> Option<Vec<String>> {
        match row.get(name) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|text| text.as_str().map(ToOwned::to_owned));
                texts.collect()
            }
            Some(_) => None,
        }
    };
    let mut entities = list("entity_refs").ok_or("its entity_refs are no list of texts")?;
    entities.retain(|name| !name.trim().is_empty());
    Ok(Mapped::Memory {
        entry: Entry {
            place,
            id: id.to_owned(),
            content: content.to_owned(),
            project: None,
            tags: list("tags").ok_or("its tags are no list of texts")?,
            created_at,
            updated_at: created_at,
            entities: (!entities.is_empty()).then_some((entities, true)),
            vector: vector
                .and_then(|vector| unit(vector).ok())
                .map(|vector| (vector, true)),
        },
        held: &HELD,
    })
}

/// Why a table of its file is left.
pub(super) fn why(table: &str) -> &'static str {
    match table {
        "entity_index" => "an index of the entities that its memories name",
        "memory_vec_index" => "an index of its vectors",
        "backend_meta" => "its settings",
        "relations" | "relation" => "mnemic has no relations yet",
        "evolution_log" | "audit_log" => "mnemic has no log of what happened to a memory yet",
        _ => "mnemic has no such table",
    }
}

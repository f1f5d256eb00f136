//! What a memory of rekal becomes: the same.

use mnemic_schema::{ForeignMemory, ForeignValue, Lifecycle, Timestamp, Usage};
use serde_json::Value;

use super::entry::{Entry, id_defect, unit};
use super::left::to_json;
use super::ra_h::floats;
use super::reading::{Mapped, Object, Vector};

/// The fields that come over.
const HELD: [&str; 6] = [
    "id",
    "content",
    "project",
    "tags",
    "created_at",
    "updated_at",
];

pub(super) fn from_row(memory: ForeignMemory) -> (Object, Vector) {
    // One that cannot be read is there too, as none of any length.
    let vector = match memory.vector {
        ForeignValue::Null => None,
        ForeignValue::Blob(bytes) => Some(floats(&bytes)),
        _ => Some(Vec::new()),
    };
    (to_json(memory.row), vector)
}

pub(super) fn map(place: u64, row: &Object, vector: Vector) -> Result<Mapped, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let id = text("id").ok_or("its id is missing, or no text")?;
    if let Some(defect) = id_defect(id) {
        return Err(format!("its id: {defect}"));
    }
    let content = text("content").filter(|content| !content.trim().is_empty());
    let content = content.ok_or("its content is missing, or no text")?;
    let time = |name: &str| text(name).and_then(|time| time.parse::<Timestamp>().ok());
    let (created, updated) = (time("created_at"), time("updated_at"));
    let created_at = created.or(updated).ok_or("it has no time")?;
    let project = row.get("project").filter(|project| !project.is_null());
    let project = project
        .map(|project| project.as_str().ok_or("its project is no text"))
        .transpose()?;
    // A text that is no list is one tag, so that nothing is lost.
    let tags = match row.get("tags") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(tags)) => {
            serde_json::from_str(tags).unwrap_or_else(|_| vec![tags.to_owned()])
        }
        Some(_) => return Err("its tags are no text".to_owned()),
    };
    Ok(Mapped::Memory {
        entry: Box::new(Entry {
            place,
            id: id.to_owned(),
            content: content.to_owned(),
            project: project.map(ToOwned::to_owned),
            tags,
            created_at,
            updated_at: updated.unwrap_or(created_at),
            lifecycle: Lifecycle::default(),
            usage: Usage::default(),
            entities: None,
            document: None,
            vector: vector
                .and_then(|vector| unit(vector).ok())
                .map(|vector| (vector, true)),
        }),
        held: &HELD,
        odd: Vec::new(),
    })
}

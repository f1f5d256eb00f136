//! What a memory, a relation and a log entry of agent-memory become. What of them has no place is left, and said.

use mnemic_schema::{ForeignMemory, ForeignValue, Kind, Layer, Lifecycle, Timestamp, Usage};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::entry::{Entry, id_defect, unit};
use super::left::to_json;
use super::lines::numbers;
use super::reading::{Mapped, Object, Vector};
use super::records::{EventRecord, RelationRecord};
use super::said::{distinct, is_too_deep, one_line};

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

/// The fields that come over: all that it has.
const HELD: [&str; 18] = [
    "id",
    "content",
    "memory_type",
    "created_at",
    "last_accessed",
    "access_count",
    "valid_from",
    "valid_until",
    "trust_score",
    "importance",
    "layer",
    "decay_rate",
    "source_id",
    "causal_parent_id",
    "supersedes_id",
    "entity_refs",
    "tags",
    "deleted_at",
];

/// Fields that could not be taken, and why.
type Odd = Vec<(&'static str, &'static str)>;

pub(super) fn map(place: u64, row: &Object, vector: Vector) -> Result<Mapped, String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let id = text("id").ok_or("its id is missing, or no text")?;
    if let Some(defect) = id_defect(id) {
        return Err(format!("its id: {defect}"));
    }
    let content = text("content").filter(|content| !content.trim().is_empty());
    let content = content.ok_or("its content is missing, or no text")?;
    let created_at: Timestamp = text("created_at")
        .and_then(|time| time.parse().ok())
        .ok_or("its created_at is missing, or no time")?;
    let tags = texts(row.get("tags")).ok_or("its tags are no list of texts")?;
    let mut odd = Odd::new();
    let lifecycle = lifecycle(id, row, created_at, &mut odd);
    let usage = usage(row, created_at, &mut odd);
    let entities = texts(row.get("entity_refs")).unwrap_or_else(|| {
        odd.push(("entity_refs", "no list of texts"));
        Vec::new()
    });
    Ok(Mapped::Memory {
        entry: Box::new(Entry {
            place,
            id: id.to_owned(),
            content: content.to_owned(),
            project: None,
            tags,
            created_at,
            updated_at: created_at,
            lifecycle,
            usage,
            entities: Some(distinct(entities))
                .filter(|names| !names.is_empty())
                .map(|names| (names, true)),
            document: None,
            vector: vector
                .and_then(|vector| unit(vector).ok())
                .map(|vector| (vector, true)),
        }),
        held: &HELD,
        odd,
    })
}

/// A list of texts; none where there is no list at all.
fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|text| text.as_str().map(ToOwned::to_owned))
            .collect(),
        Some(_) => None,
    }
}

fn lifecycle(id: &str, row: &Object, created_at: Timestamp, odd: &mut Odd) -> Lifecycle {
    let said = |name: &str| row.get(name).filter(|value| !value.is_null());
    let mut lifecycle = Lifecycle::default();
    let most = [1.0, 1.0, f64::MAX];
    let numbers = [
        ("importance", &mut lifecycle.importance),
        ("trust_score", &mut lifecycle.trust),
        ("decay_rate", &mut lifecycle.decay_rate),
    ];
    for ((name, to), most) in numbers.into_iter().zip(most) {
        match said(name).map(Value::as_f64) {
            None => {}
            Some(Some(number)) if (0.0..=most).contains(&number) => *to = number,
            Some(_) => odd.push((name, "no number, or out of its range")),
        }
    }
    match said("memory_type").map(Value::as_str) {
        None => {}
        Some(Some(kind)) if !kind.is_empty() => lifecycle.kind = Kind::from(kind),
        Some(_) => odd.push(("memory_type", "no text")),
    }
    match said("layer").map(|layer| layer.as_str().and_then(Layer::named)) {
        None => {}
        Some(Some(layer)) => lifecycle.layer = layer,
        Some(None) => odd.push(("layer", "no layer that mnemic has")),
    }
    match said("source_id").map(Value::as_str) {
        None => {}
        Some(Some(source)) => lifecycle.source = Some(source.to_owned()),
        Some(None) => odd.push(("source_id", "no text")),
    }
    let mut time = |name: &'static str, why: &'static str| -> Option<Option<Timestamp>> {
        let value = said(name).filter(|value| value.as_str() != Some(""))?;
        let time = value.as_str().and_then(|time| time.parse().ok());
        if time.is_none() {
            odd.push((name, why));
        }
        Some(time)
    };
    lifecycle.valid_from = time("valid_from", "no time").flatten();
    lifecycle.valid_until = time("valid_until", "no time").flatten();
    // One that was deleted is never recalled because it is not known when.
    lifecycle.forgotten_at = time(
        "deleted_at",
        "no time: it is forgotten since it was created",
    )
    .map(|time| time.unwrap_or(created_at));
    if let (Some(from), Some(until)) = (lifecycle.valid_from, lifecycle.valid_until)
        && from >= until
    {
        (lifecycle.valid_from, lifecycle.valid_until) = (None, None);
        for name in ["valid_from", "valid_until"] {
            odd.push((name, "it would begin to hold when it holds no more"));
        }
    }
    for name in ["causal_parent_id", "supersedes_id"] {
        let link = said(name).map(|link| {
            let other = link.as_str();
            other.filter(|other| *other != id && id_defect(other).is_none())
        });
        match link {
            None => {}
            Some(None) => odd.push((name, "no id of another memory")),
            // What it supersedes is said of that one.
            Some(Some(_)) if name == "supersedes_id" => {}
            Some(Some(other)) => lifecycle.causal_parent = Some(other.to_owned()),
        }
    }
    lifecycle
}

/// One that was never used has been accessed when it was created, there.
fn usage(row: &Object, created_at: Timestamp, odd: &mut Odd) -> Usage {
    let said = |name: &str| row.get(name).filter(|value| !value.is_null());
    let mut usage = Usage::default();
    match said("access_count").map(Value::as_u64) {
        None => {}
        Some(Some(count)) if count <= 1 << 62 => usage.accesses = count,
        Some(_) => odd.push(("access_count", "no count")),
    }
    let last = said("last_accessed").map(|time| time.as_str().and_then(|time| time.parse().ok()));
    if last == Some(None) {
        odd.push(("last_accessed", "no time"));
    }
    let last: Option<Timestamp> = last.flatten();
    usage.last = match usage.accesses {
        0 => last.filter(|last| *last != created_at),
        _ => Some(last.unwrap_or(created_at)),
    };
    usage
}

/// The memory that one supersedes, as its row says.
pub(super) fn supersedes(row: &Object) -> Option<&str> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let (id, old) = (text("id")?, text("supersedes_id")?);
    (old != id && id_defect(old).is_none()).then_some(old)
}

/// What a relation becomes; or what is wrong with it.
pub(super) fn relation(place: u64, row: &Object) -> Result<RelationRecord, &'static str> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let id = |name: &str| text(name).filter(|id| id_defect(id).is_none());
    let from = id("source_id").ok_or("its source_id is missing, or no id")?;
    let to = id("target_id").ok_or("its target_id is missing, or no id")?;
    if from == to {
        return Err("it is of a memory to itself");
    }
    let kind = text("relation_type").filter(|kind| !kind.is_empty());
    let created_at: Option<Timestamp> = text("created_at").and_then(|time| time.parse().ok());
    Ok(RelationRecord {
        place,
        from: from.to_owned(),
        to: to.to_owned(),
        kind: kind
            .ok_or("its relation_type is missing, or no text")?
            .to_owned(),
        explanation: None,
        context: None,
        source: None,
        created_at: created_at
            .ok_or("its created_at is missing, or no time")?
            .as_micros(),
    })
}

/// What an entry of one of its logs becomes; or what is wrong with it.
pub(super) fn event(place: u64, row: &Object) -> Result<EventRecord, &'static str> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    if text("target_type") != Some("memory") {
        return Err("it is of no memory");
    }
    let memory = text("memory").filter(|id| id_defect(id).is_none());
    let at: Option<Timestamp> = text("created_at").and_then(|time| time.parse().ok());
    let action = text("word").filter(|word| !word.is_empty());
    let payload = text("payload").unwrap_or_default();
    let is_json = serde_json::from_str::<&RawValue>(payload).is_ok() && !is_too_deep(payload);
    let payload = match one_line(payload) {
        Some(payload) if is_json => payload,
        Some(other) if !other.is_empty() => json!(other).to_string(),
        _ => "{}".to_owned(),
    };
    let log = json!(text("log"));
    Ok(EventRecord {
        place,
        number: None,
        at: at.ok_or("it has no time")?.as_micros(),
        action: action.ok_or("it does not say what happened")?.to_owned(),
        memory: memory.ok_or("it names no memory")?.to_owned(),
        project: None,
        actor: text("actor").map(ToOwned::to_owned),
        batch: None,
        detail: Some(format!(r#"{{"log":{log},"payload":{payload}}}"#)),
        before: None,
        undoes: None,
    })
}

/// Why a table of its file is left.
pub(super) fn why(table: &str) -> &'static str {
    match table {
        "entity_index" => "an index of the entities that its memories name",
        "memory_vec_index" => "an index of its vectors",
        "backend_meta" => "its settings",
        "relations" | "evolution_log" | "audit_log" => "it lacks columns that agent-memory's has",
        _ => "mnemic has no such table",
    }
}

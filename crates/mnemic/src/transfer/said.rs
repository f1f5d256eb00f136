//! What is said of a memory beside its text, relations and events, as fields of JSON lines: written, and read with every
//! value looked at. It never knows what is in the memory.

use mnemic_schema::{
    CarriedEvent, Kind, Layer, Lifecycle, NewRelationRow, Timestamp, Usage, fold, image_defect,
};
use serde_json::Value;

use super::entry::id_defect;
use super::lines::Fields;
use super::records::{EventRecord, RelationRecord};
use crate::Result;

/// A time as other programs read it, its zone said.
pub(super) fn rfc3339(time: Timestamp) -> String {
    time.to_string().replace(' ', "T") + "Z"
}

/// Fields of an object, in their order.
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Self(String::new())
    }

    pub(super) fn raw(&mut self, name: &str, json: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        self.0.push_str(&format!("{comma}\"{name}\":{json}"));
    }

    pub(super) fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.raw(name, &Value::from(text).to_string());
        }
    }

    pub(super) fn time(&mut self, name: &str, time: Option<Timestamp>) {
        if let Some(time) = time {
            self.raw(name, &format!("\"{}\"", rfc3339(time)));
        }
    }

    /// A JSON text as it is, on one line.
    pub(super) fn json(&mut self, name: &str, json: Option<&str>) {
        if let Some(json) = json.and_then(one_line) {
            self.raw(name, &json);
        }
    }

    pub(super) fn written(self) -> String {
        format!("{{{}}}", self.0)
    }

    /// The shortest decimals that are this very number.
    fn number(&mut self, name: &str, number: f64, unsaid: f64) {
        if number != unsaid && number.is_finite() {
            self.raw(name, &format!("{number:?}"));
        }
    }
}

/// The fields that a memory's line has of its lifecycle, use and entities: nothing where nothing is said. Each begins with a
/// comma.
pub(super) fn memory_fields(lifecycle: &Lifecycle, usage: Usage, entities: &[String]) -> String {
    let mut fields = String::new();
    let unsaid = Lifecycle::default();
    let mut life = Object::new();
    if lifecycle.kind != unsaid.kind {
        life.text("kind", Some(lifecycle.kind.as_str()));
    }
    life.number("importance", lifecycle.importance, unsaid.importance);
    life.number("trust", lifecycle.trust, unsaid.trust);
    if lifecycle.layer != unsaid.layer {
        life.text("layer", Some(lifecycle.layer.as_str()));
    }
    life.number("decay_rate", lifecycle.decay_rate, unsaid.decay_rate);
    if lifecycle.pinned {
        life.raw("pinned", "true");
    }
    life.text("source", lifecycle.source.as_deref());
    life.time("valid_from", lifecycle.valid_from);
    life.time("valid_until", lifecycle.valid_until);
    life.text("causal_parent", lifecycle.causal_parent.as_deref());
    life.time("superseded_at", lifecycle.superseded_at);
    life.text("superseded_by", lifecycle.superseded_by.as_deref());
    life.time("forgotten_at", lifecycle.forgotten_at);
    if !life.0.is_empty() {
        fields.push_str(&format!(",\"lifecycle\":{{{}}}", life.0));
    }
    if let Some(last) = usage.last {
        let (accesses, last) = (usage.accesses, rfc3339(last));
        fields.push_str(&format!(
            ",\"usage\":{{\"accesses\":{accesses},\"last\":\"{last}\"}}"
        ));
    }
    if !entities.is_empty() {
        fields.push_str(&format!(",\"entities\":{}", Value::from(entities)));
    }
    fields
}

/// A relation as a line.
pub(super) fn relation_line(relation: &NewRelationRow) -> String {
    let mut line = Object::new();
    line.text("type", Some("relation"));
    line.text("from", Some(&relation.from));
    line.text("to", Some(&relation.to));
    line.text("kind", Some(&relation.kind));
    line.text("explanation", relation.explanation.as_deref());
    if let Some(context) = relation.context.as_deref().and_then(one_line) {
        line.raw("context", &context);
    }
    line.text("source", relation.source.as_deref());
    line.time("created_at", Some(relation.created_at));
    format!("{{{}}}", line.0)
}

/// An event as a line. Without its image, what an undoing undid is not said either: without the one, the other would read
/// as if there had been nothing before.
pub(super) fn event_line(event: &CarriedEvent, images: bool) -> String {
    let mut line = Object::new();
    line.text("type", Some("event"));
    line.raw("number", &event.number.to_string());
    line.time("at", Some(event.at));
    line.text("action", Some(event.action.as_str()));
    line.text("memory", Some(&event.memory));
    line.text("project", event.project.as_deref());
    line.text("actor", event.actor.as_deref());
    if event.batch != event.number {
        line.raw("batch", &event.batch.to_string());
    }
    if let Some(detail) = event.detail.as_deref().and_then(one_line) {
        line.raw("detail", &detail);
    }
    let before = event.before.as_deref().and_then(one_line);
    if let Some(undoes) = event.undoes.filter(|_| images || before.is_none()) {
        line.raw("undoes", &undoes.to_string());
    }
    if let Some(before) = before.filter(|_| images) {
        line.raw("before", &before);
    }
    format!("{{{}}}", line.0)
}

/// A JSON text on one line: breaks can only stand between its parts. Null is none.
pub(super) fn one_line(json: &str) -> Option<String> {
    let json = json.trim();
    (json != "null").then(|| json.replace(['\n', '\r'], " "))
}

/// A link that a lifecycle has to another memory, by its id.
fn id(fields: &mut Fields, name: &str) -> Result<Option<String>> {
    let id: Option<String> = fields.optional(name)?;
    match id.as_deref().and_then(id_defect) {
        Some(defect) => Err(fields.wrong(name, defect)),
        None => Ok(id),
    }
}

/// Reads the field `lifecycle` of the memory with an id; `unknown` is told of the fields that are not known.
pub(super) fn lifecycle(
    fields: &mut Fields,
    own: &str,
    mut unknown: impl FnMut(&str),
) -> Result<Lifecycle> {
    let mut lifecycle = Lifecycle::default();
    let Some(mut said) = fields.optional_object("lifecycle")? else {
        return Ok(lifecycle);
    };
    if let Some(kind) = said.optional::<String>("kind")? {
        lifecycle.kind = Kind::from(kind);
    }
    if let Some(layer) = said.optional::<String>("layer")? {
        lifecycle.layer = Layer::named(&layer).ok_or_else(|| {
            said.wrong(
                "layer",
                format_args!("{layer:?} is neither \"short_term\" nor \"long_term\""),
            )
        })?;
    }
    for (name, to) in [
        ("importance", &mut lifecycle.importance),
        ("trust", &mut lifecycle.trust),
        ("decay_rate", &mut lifecycle.decay_rate),
    ] {
        if let Some(number) = said.number(name)? {
            *to = number;
        }
    }
    lifecycle.pinned = said.optional("pinned")?.unwrap_or_default();
    lifecycle.source = said.optional("source")?;
    lifecycle.valid_from = said.time("valid_from")?;
    lifecycle.valid_until = said.time("valid_until")?;
    lifecycle.superseded_at = said.time("superseded_at")?;
    lifecycle.forgotten_at = said.time("forgotten_at")?;
    lifecycle.causal_parent = id(&mut said, "causal_parent")?;
    lifecycle.superseded_by = id(&mut said, "superseded_by")?;
    for (name, link) in [
        ("causal_parent", &lifecycle.causal_parent),
        ("superseded_by", &lifecycle.superseded_by),
    ] {
        if link.as_deref() == Some(own) {
            return Err(said.wrong(name, "it is the memory itself"));
        }
    }
    if lifecycle.superseded_by.is_some() && lifecycle.superseded_at.is_none() {
        return Err(said.wrong(
            "superseded_at",
            "it is missing, though superseded_by is there",
        ));
    }
    if let Some(defect) = lifecycle.defect() {
        return Err(fields.wrong("lifecycle", defect));
    }
    for (name, _) in said.rest() {
        unknown(name);
    }
    Ok(lifecycle)
}

/// Most uses that are counted: sums of two fit still.
const MOST_USES: u64 = 1 << 62;

/// Reads the field `usage`.
pub(super) fn usage(fields: &mut Fields, mut unknown: impl FnMut(&str)) -> Result<Usage> {
    let mut usage = Usage::default();
    let Some(mut said) = fields.optional_object("usage")? else {
        return Ok(usage);
    };
    usage.accesses = said.required("accesses")?;
    if usage.accesses > MOST_USES {
        return Err(said.wrong("accesses", format_args!("it is more than {MOST_USES}")));
    }
    let last = said.time("last")?;
    usage.last = Some(last.ok_or_else(|| said.wrong("last", "it is missing"))?);
    for (name, _) in said.rest() {
        unknown(name);
    }
    Ok(usage)
}

/// The names that are kept of those that were given: of equal ones the first, and none that is empty.
pub(super) fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .filter(|name| {
            let folded = fold(name);
            !folded.is_empty() && seen.insert(folded)
        })
        .collect()
}

/// Deepest nesting of a JSON text that is taken: SQLite reads no more than a thousand.
const DEEPEST: usize = 900;

/// A field that is any JSON, as its text on one line; absent and null are the same.
pub(super) fn json(fields: &mut Fields, name: &str, only_object: bool) -> Result<Option<String>> {
    let Some(text) = fields.raw(name).as_deref().and_then(one_line) else {
        return Ok(None);
    };
    if only_object && !text.starts_with('{') {
        return Err(fields.wrong(name, "it is not an object"));
    }
    if is_too_deep(&text) {
        return Err(fields.wrong(name, format_args!("it is nested deeper than {DEEPEST}")));
    }
    Ok(Some(text))
}

/// Whether a JSON text is nested deeper than is taken.
pub(super) fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    json.bytes().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

fn memory_id(fields: &mut Fields, name: &str) -> Result<String> {
    id(fields, name)?.ok_or_else(|| fields.wrong(name, "it is missing"))
}

fn not_empty(fields: &mut Fields, name: &str) -> Result<String> {
    let text: String = fields.required(name)?;
    if text.is_empty() {
        return Err(fields.wrong(name, "it is empty"));
    }
    Ok(text)
}

/// Reads a relation's line.
pub(super) fn relation(place: u64, fields: &mut Fields) -> Result<RelationRecord> {
    let (from, to) = (memory_id(fields, "from")?, memory_id(fields, "to")?);
    if from == to {
        return Err(fields.wrong("to", "it is where the relation starts from"));
    }
    let created_at = fields.time("created_at")?;
    Ok(RelationRecord {
        place,
        from,
        to,
        kind: not_empty(fields, "kind")?,
        explanation: fields.optional("explanation")?,
        context: json(fields, "context", false)?,
        source: fields.optional("source")?,
        created_at: created_at
            .ok_or_else(|| fields.wrong("created_at", "it is missing"))?
            .as_micros(),
    })
}

/// Greatest number of an event that is taken: there is room for as many again.
const MOST_EVENTS: i64 = 1 << 53;

/// Reads an event's line.
pub(super) fn event(place: u64, fields: &mut Fields) -> Result<EventRecord> {
    let number: i64 = fields.required("number")?;
    if !(1..=MOST_EVENTS).contains(&number) {
        return Err(fields.wrong("number", format_args!("it is not in 1 to {MOST_EVENTS}")));
    }
    let batch = fields.optional("batch")?.unwrap_or(number);
    if !(1..=number).contains(&batch) {
        return Err(fields.wrong(
            "batch",
            format_args!("the first event of the same change is one in 1 to {number}"),
        ));
    }
    let undoes: Option<i64> = fields.optional("undoes")?;
    if undoes.is_some_and(|undone| !(1..number).contains(&undone)) {
        return Err(fields.wrong("undoes", "it is not the number of an earlier event"));
    }
    let at = fields.time("at")?;
    let memory = memory_id(fields, "memory")?;
    let before = json(fields, "before", true)?;
    if let Some(defect) = before
        .as_deref()
        .and_then(|json| image_defect(json, &memory))
    {
        return Err(fields.wrong("before", defect));
    }
    Ok(EventRecord {
        place,
        number: Some(number),
        at: at
            .ok_or_else(|| fields.wrong("at", "it is missing"))?
            .as_micros(),
        action: not_empty(fields, "action")?,
        memory,
        project: fields.optional("project")?,
        actor: fields.optional("actor")?,
        batch: Some(batch),
        detail: json(fields, "detail", true)?,
        before,
        undoes,
    })
}

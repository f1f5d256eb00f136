//! Memories and relations as agent-memory's own JSON lines, in the order in which its foreign keys take them. What it has
//! no place for is counted.

use std::collections::{BTreeMap, HashMap, HashSet};

use mnemic_schema::{Filter, Kind, Lifecycle, MemoryRow, NamedLink, Snapshot, Timestamp};
use serde_json::{Value, json};

use super::export::{Export, ExportReport};
use super::left::Leavings;
use crate::Result;

/// The kinds of relation that it knows.
const KINDS: [&str; 5] = [
    "derived_from",
    "supersedes",
    "supports",
    "contradicts",
    "related_to",
];

const NO_PLACE: &str = "agent-memory has no such field";

/// Writes all that passes the filter of an export.
pub(super) fn write(
    snapshot: &Snapshot<'_>,
    export: &Export,
    mut line: impl FnMut(&str) -> Result<()>,
) -> Result<ExportReport> {
    let mut report = ExportReport::default();
    let mut left = Leavings::new(None);
    let links = Links::read(snapshot, &export.filter)?;
    let mut memory = |row: MemoryRow, vector: Option<Vec<f32>>| -> Result<()> {
        report.memories += 1;
        report.vectors += u64::from(vector.is_some());
        let superseded = links
            .superseded
            .get(&row.seq)
            .map_or(&[][..], Vec::as_slice);
        let ids = snapshot.ids_of(superseded)?;
        line(&memory_line(
            &row,
            vector.as_deref(),
            ids,
            &links,
            &mut left,
        ))
    };
    // Those that name no other, as they were stored; then the others, each after those that it names.
    let mut first = |row: MemoryRow, vector: Option<Vec<f32>>| match links.naming.contains(&row.seq)
    {
        true => Ok(()),
        false => memory(row, vector),
    };
    snapshot.each_memory(&export.filter, export.vectors, &mut first)?;
    snapshot.each_of(&links.order, export.vectors, &mut memory)?;
    snapshot.each_relation(&export.filter, |relation| {
        if !KINDS.contains(&relation.kind.as_str()) {
            let why = "of a kind that agent-memory does not know";
            left.count("relation", None, 1, why);
            return Ok(());
        }
        for (name, said) in [
            ("explanation", &relation.explanation),
            ("context", &relation.context),
            ("source", &relation.source),
        ] {
            left.count("relation", Some(name), u64::from(said.is_some()), NO_PLACE);
        }
        report.relations += 1;
        let payload = json!({
            "source_id": relation.from, "target_id": relation.to, "relation_type": relation.kind,
            "created_at": iso(relation.created_at),
        });
        line(&json!({ "type": "relation", "payload": payload }).to_string())
    })?;
    let (_, events) = snapshot.count_links(&export.filter)?;
    left.count("event", None, events, "agent-memory's lines hold no logs");
    report.left = left.counted();
    Ok(report)
}

/// Which memories name which others.
struct Links {
    /// The memories that name another one.
    naming: HashSet<i64>,
    /// These, each after those that it names.
    order: Vec<i64>,
    /// What a memory supersedes, the one that it names first.
    superseded: BTreeMap<i64, Vec<i64>>,
    /// Memories that come without what they supersede, as that names them as its cause: agent-memory could store neither
    /// first.
    circular: HashSet<i64>,
    /// Memories whose causal parent is written.
    caused: HashSet<i64>,
}

impl Links {
    fn read(snapshot: &Snapshot<'_>, filter: &Filter) -> Result<Self> {
        let parents: HashMap<i64, i64> = snapshot
            .links_among(filter, NamedLink::CausalParent)?
            .into_iter()
            .collect();
        let mut superseded: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for (old, new) in snapshot.links_among(filter, NamedLink::SupersededBy)? {
            superseded.entry(new).or_default().push(old);
        }
        let mut naming: Vec<i64> = parents.keys().chain(superseded.keys()).copied().collect();
        naming.sort_unstable();
        naming.dedup();
        let mut links = Self {
            naming: naming.iter().copied().collect(),
            order: Vec::with_capacity(naming.len()),
            caused: parents.keys().copied().collect(),
            superseded,
            circular: HashSet::new(),
        };
        // Depth first, without recursion: a memory is written when both that it names were.
        let mut state: HashMap<i64, bool> = HashMap::new();
        for start in naming {
            let mut stack = vec![start];
            while let Some(&at) = stack.last() {
                match state.get(&at) {
                    Some(true) => {
                        stack.pop();
                        continue;
                    }
                    Some(false) => {
                        state.insert(at, true);
                        links.order.push(at);
                        stack.pop();
                        continue;
                    }
                    None => {}
                }
                state.insert(at, false);
                let old = links
                    .superseded
                    .get(&at)
                    .and_then(|old| old.first().copied());
                if let Some(old) = old.filter(|old| links.naming.contains(old)) {
                    match state.get(&old) {
                        None => stack.push(old),
                        Some(false) => {
                            links.circular.insert(at);
                        }
                        Some(true) => {}
                    }
                }
                // Last pushed, first looked at: causes lead in no circle by themselves.
                if let Some(parent) = parents
                    .get(&at)
                    .filter(|parent| links.naming.contains(parent))
                {
                    match state.get(parent) {
                        None => stack.push(*parent),
                        Some(false) => {
                            links.caused.remove(&at);
                        }
                        Some(true) => {}
                    }
                }
            }
        }
        Ok(links)
    }
}

fn memory_line(
    row: &MemoryRow,
    vector: Option<&[f32]>,
    superseded: Vec<String>,
    links: &Links,
    left: &mut Leavings<'_>,
) -> String {
    let Lifecycle {
        kind,
        importance,
        trust,
        layer,
        decay_rate,
        pinned,
        source,
        valid_from,
        valid_until,
        causal_parent,
        superseded_at: _,
        superseded_by: _,
        forgotten_at,
        ..
    } = &row.lifecycle;
    let mut lost = |name: &str, is_lost: bool, why: &str| {
        left.count("memory", Some(name), u64::from(is_lost), why);
    };
    lost("project", row.project.is_some(), NO_PLACE);
    lost("pinned", *pinned, NO_PLACE);
    lost("updated_at", row.updated_at != row.created_at, NO_PLACE);
    let other_kind = matches!(kind, Kind::Other(_));
    lost(
        "kind",
        other_kind,
        "one that agent-memory does not know: written as semantic",
    );
    let has_parent = links.caused.contains(&row.seq);
    let parent = causal_parent.as_deref().filter(|_| has_parent);
    lost(
        "causal_parent",
        parent.is_none() && causal_parent.is_some(),
        "it names a memory that is not written, or not before it",
    );
    let is_circular = links.circular.contains(&row.seq);
    let more = superseded.len().saturating_sub(usize::from(!is_circular));
    for _ in 0..more {
        let why = "a memory of agent-memory supersedes one, and none that it leads to";
        lost("superseded_by", true, why);
    }
    let supersedes = superseded.into_iter().next().filter(|_| !is_circular);
    let kind = if other_kind {
        "semantic"
    } else {
        kind.as_str()
    };
    let time = |time: &Option<Timestamp>| time.map(iso);
    let payload = json!({
        "id": row.id, "content": row.content, "memory_type": kind, "embedding": Value::Null,
        "created_at": iso(row.created_at),
        "last_accessed": iso(row.usage.last.unwrap_or(row.created_at)),
        "access_count": row.usage.accesses,
        "valid_from": time(valid_from), "valid_until": time(valid_until),
        "trust_score": trust, "importance": importance, "layer": layer.as_str(), "decay_rate": decay_rate,
        "source_id": source.as_deref().unwrap_or("manual"),
        "causal_parent_id": parent, "supersedes_id": supersedes,
        "entity_refs": row.entities, "tags": row.tags, "deleted_at": time(forgotten_at),
    });
    // The shortest decimals that are these very f32.
    let numbers: Vec<String> = vector
        .unwrap_or_default()
        .iter()
        .map(|x| format!("{x:?}"))
        .collect();
    let embedding = format!("\"embedding\":[{}]", numbers.join(","));
    // A quote within a text would be escaped: there is one such place.
    let payload = payload
        .to_string()
        .replacen("\"embedding\":null", &embedding, 1);
    format!(r#"{{"type":"memory","payload":{payload}}}"#)
}

/// As Python's `datetime.fromisoformat` reads it, in any of its versions: six digits of a fraction or none.
fn iso(time: Timestamp) -> String {
    let text = time.to_string().replace(' ', "T");
    match text.split_once('.') {
        Some((seconds, fraction)) => format!("{seconds}.{fraction:0<6}+00:00"),
        None => format!("{text}+00:00"),
    }
}

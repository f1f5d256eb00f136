//! What agent-memory's rows say of one another, gathered while they are read: who supersedes whom and since when, and which
//! causes lead in a circle. It holds ids alone.

use std::collections::{HashMap, HashSet};

use mnemic_schema::Timestamp;
use serde_json::json;

use super::agent_memory::supersedes;
use super::entry::Entry;
use super::left::Leavings;
use super::reading::{Aside, Object};
use super::records::RelationRecord;
use crate::Result;

#[derive(Debug, Default)]
pub(super) struct Threads {
    parents: HashMap<String, String>,
    /// New, old, when the new one was created, and its place.
    superseding: Vec<(String, String, Timestamp, u64)>,
    /// When a relation `supersedes` of two memories was drawn.
    drawn: HashMap<(String, String), i64>,
}

impl Threads {
    pub(super) fn memory(&mut self, row: &Object, entry: &Entry) {
        if let Some(parent) = &entry.lifecycle.causal_parent {
            self.parents.insert(entry.id.clone(), parent.clone());
        }
        if let Some(old) = supersedes(row) {
            let thread = (
                entry.id.clone(),
                old.to_owned(),
                entry.created_at,
                entry.place,
            );
            self.superseding.push(thread);
        }
    }

    pub(super) fn relation(&mut self, relation: &RelationRecord) {
        if relation.kind == "supersedes" {
            let ends = (relation.from.clone(), relation.to.clone());
            self.drawn.insert(ends, relation.created_at);
        }
    }

    /// Says it of the memories that were put aside. `table` is what their rows are counted under.
    pub(super) fn tie(
        self,
        table: &str,
        aside: &mut Aside,
        leavings: &mut Leavings<'_>,
    ) -> Result<()> {
        let lose = |leavings: &mut Leavings<'_>, field: &str, of: &str, to: &str, why: &str| {
            leavings.count(table, Some(field), 1, why);
            leavings.line(&link_line(of, field, to))
        };
        let mut superseded: HashMap<String, (Timestamp, String)> = HashMap::new();
        for (new, old, created_at, place) in self.superseding {
            if !aside.ids.has(&old) {
                lose(leavings, "supersedes_id", &new, &old, NOT_THERE)?;
                continue;
            }
            let since = match self.drawn.get(&(new.clone(), old.clone())) {
                Some(micros) => Timestamp::from_micros(*micros)?,
                None => {
                    aside.relations.push(&RelationRecord {
                        place,
                        from: new.clone(),
                        to: old.clone(),
                        kind: "supersedes".to_owned(),
                        explanation: None,
                        context: None,
                        source: None,
                        created_at: created_at.as_micros(),
                    })?;
                    created_at
                }
            };
            // Where several did, the first one stands in its place.
            let by = (since, new);
            match superseded.get_mut(&old) {
                Some(known) if *known <= by => {}
                Some(known) => *known = by,
                None => {
                    superseded.insert(old, by);
                }
            }
        }
        let next: HashMap<&str, &str> = superseded
            .iter()
            .map(|(old, (_, new))| (old.as_str(), new.as_str()))
            .collect();
        for old in circular(&next) {
            if let Some((_, new)) = superseded.remove(&old) {
                lose(leavings, "supersedes_id", &new, &old, CIRCULAR)?;
            }
        }
        let next: HashMap<&str, &str> = self
            .parents
            .iter()
            .map(|(child, parent)| (child.as_str(), parent.as_str()))
            .collect();
        for child in circular(&next) {
            let parent = self.parents.get(&child).map_or("", String::as_str);
            lose(leavings, "causal_parent_id", &child, parent, CIRCULAR)?;
            aside.without_cause.insert(child);
        }
        aside.superseded = superseded;
        Ok(())
    }
}

pub(super) const NOT_THERE: &str = "it names a memory that is neither in the import nor here";
const CIRCULAR: &str = "it leads in a circle";

/// A link that is left, as a line.
pub(super) fn link_line(of: &str, field: &str, to: &str) -> String {
    json!({ "type": "link", "memory": of, "field": field, "to": to }).to_string()
}

/// Of each circle that following `next` comes to, the greatest id, in order: without its step there is none.
fn circular(next: &HashMap<&str, &str>) -> Vec<String> {
    let mut done: HashSet<&str> = HashSet::with_capacity(next.len());
    let mut found = Vec::new();
    for &start in next.keys() {
        let mut path: Vec<&str> = Vec::new();
        let mut on_path: HashMap<&str, usize> = HashMap::new();
        let mut at = start;
        while !done.contains(at) {
            if let Some(&since) = on_path.get(at) {
                let greatest = path.iter().skip(since).max();
                found.extend(greatest.map(|id| (*id).to_owned()));
                break;
            }
            on_path.insert(at, path.len());
            path.push(at);
            match next.get(at) {
                Some(&there) => at = there,
                None => break,
            }
        }
        done.extend(path);
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_of_each_circle_is_found() {
        let next = HashMap::from([
            ("a", "b"),
            ("b", "c"),
            ("c", "b"),
            ("d", "e"),
            ("x", "y"),
            ("y", "z"),
            ("z", "x"),
        ]);
        assert_eq!(circular(&next), ["c", "z"]);
        assert_eq!(circular(&HashMap::from([("a", "b")])), [""; 0]);
    }
}

//! From memory to memory along relations and causal parents, breadth first, level by level. Every memory is come to once, so
//! a circle ends by itself.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Scope;
use crate::graph::{Direction, Links, Reached, StepRow, keys, of_scope, texts};
use crate::read::Snapshot;

impl Snapshot<'_> {
    /// The memories within so many steps of one, nearest first and at one distance by key; each once, with its least
    /// distance, and never the one it starts from. Of several last steps it tells the one from the memory with the
    /// smallest key, by the relation made first, a causal parent last.
    ///
    /// The memory that it starts from is not held against the scope.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn walk(
        &self,
        start: i64,
        links: &Links,
        depth: usize,
    ) -> Result<Vec<Reached>, SchemaError> {
        let mut reached: Vec<Reached> = Vec::new();
        let mut seen = HashSet::from([start]);
        let mut level = vec![start];
        for distance in 1..=depth {
            let mut next = Vec::new();
            for step in self.steps(&level, links)? {
                if seen.insert(step.there) {
                    next.push(step.there);
                    reached.push(Reached { distance, step });
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        Ok(reached)
    }

    /// A shortest way from one memory to another in at most so many steps; `None` where there is none, no step where they
    /// are the same. Of equally short ways it is the one that goes, step by step, to the memory with the smallest key, by
    /// the relation made first, a causal parent last.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn shortest_path(
        &self,
        from: i64,
        to: i64,
        links: &Links,
        depth: usize,
    ) -> Result<Option<Vec<StepRow>>, SchemaError> {
        // How far it is still, from the end: so the first step can be chosen knowing the others.
        let backward = Links {
            direction: links.direction.reversed(),
            ..links.clone()
        };
        let mut left = HashMap::from([(to, 0)]);
        let mut level = vec![to];
        let mut distance = 0;
        while !left.contains_key(&from) {
            if distance == depth || level.is_empty() {
                return Ok(None);
            }
            distance += 1;
            let mut next = Vec::new();
            for step in self.steps(&level, &backward)? {
                left.entry(step.there).or_insert_with(|| {
                    next.push(step.there);
                    distance
                });
            }
            level = next;
        }
        let mut path: Vec<StepRow> = Vec::new();
        let mut here = from;
        while here != to {
            let next_left = left.get(&here).copied().unwrap_or_default().checked_sub(1);
            let steps = self.steps(&[here], links)?;
            let step = steps
                .into_iter()
                .find(|step| next_left.is_some() && left.get(&step.there).copied() == next_left);
            // One snapshot: what was walked backward is there forward.
            let Some(step) = step else { return Ok(None) };
            here = step.there;
            path.push(step);
        }
        Ok(Some(path))
    }

    /// The causes of a memory (inward) or what it caused (outward), with their distances.
    ///
    /// # Errors
    /// As [`Snapshot::walk`].
    pub fn causes(
        &self,
        start: i64,
        scope: &Scope,
        direction: Direction,
        depth: usize,
    ) -> Result<Vec<Reached>, SchemaError> {
        let links = Links {
            scope: scope.clone(),
            causes: true,
            direction,
            ..Links::default()
        };
        self.walk(start, &links, depth)
    }

    /// All steps from these memories, by the memory they go to, then the one they come from, then the time at which the
    /// relation was made, a causal parent last.
    fn steps(&self, from: &[i64], links: &Links) -> Result<Vec<StepRow>, SchemaError> {
        let doing = "following relations";
        let (outward, inward) = (
            links.direction.has(Direction::Outward),
            links.direction.has(Direction::Inward),
        );
        let mut values = Vec::new();
        let mut parts = Vec::new();
        // CROSS JOIN: from the memories at hand, of which there are few, by the index.
        let mut part = |columns: &str, table: &str, here: &str, there: &str, is_relation: bool| {
            values.push(keys(from));
            let mut sql = format!(
                "SELECT {here} AS here, {there} AS there, {columns}
                 FROM json_each(?) w CROSS JOIN {table} ON {here} = w.value"
            );
            if links.scope != Scope::All {
                sql += &format!(" CROSS JOIN memories m ON m.seq = {there}");
            }
            sql += &format!(" WHERE {there} IS NOT NULL");
            sql += &of_scope("m", &links.scope, &mut values);
            if let Some(known) = links.known.filter(|_| is_relation) {
                values.push(Value::Text(known.to_string()));
                sql += " AND r.created_at <= ?";
            }
            if is_relation && !links.kinds.is_empty() {
                values.push(texts(&links.kinds));
                sql += " AND r.kind IN (SELECT value FROM json_each(?))";
            }
            parts.push(sql);
        };
        if links.relations && outward {
            part(
                "r.relation, r.kind, 1",
                "relations r",
                "r.from_seq",
                "r.to_seq",
                true,
            );
        }
        if links.relations && inward {
            part(
                "r.relation, r.kind, 0",
                "relations r",
                "r.to_seq",
                "r.from_seq",
                true,
            );
        }
        if links.causes && outward {
            part(
                "NULL, NULL, 1",
                "lifecycle l",
                "l.causal_parent",
                "l.seq",
                false,
            );
        }
        if links.causes && inward {
            part(
                "NULL, NULL, 0",
                "lifecycle l",
                "l.seq",
                "l.causal_parent",
                false,
            );
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let sql = parts.join(" UNION ALL ");
        let mut steps: Vec<StepRow> = self
            .connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter::<Vec<Value>>(values), step)?
                    .collect()
            })
            .doing(doing)?;
        steps.sort_by_key(|step| {
            let made = step.relation.unwrap_or(i64::MAX);
            (step.there, step.here, made, step.outward)
        });
        Ok(steps)
    }
}

fn step(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    Ok(StepRow {
        here: row.get(0)?,
        there: row.get(1)?,
        relation: row.get(2)?,
        kind: crate::row::text(row, 3)?,
        outward: row.get(4)?,
    })
}

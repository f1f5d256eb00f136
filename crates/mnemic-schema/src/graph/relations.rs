//! Relations one by one and in lists. Nothing here follows them from memory to memory.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::events::Action;
use crate::filter::{Filter, Scope};
use crate::graph::{
    Direction, HubRow, NewRelationRow, RelationChange, RelationFilter, RelationRow, at_most, keys,
    of_scope, texts,
};
use crate::read::Snapshot;
use crate::row::text;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// What a relation may be given once more: explanation, context, source.
type Said = (Option<String>, Option<String>, Option<String>);

impl WriteTransaction<'_> {
    /// Writes a relation whose ends are of a scope. Where there is one of the same ends and kind, what is given of
    /// explanation, context and source takes the place of what it had; what is `None` stays.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`] where an end is not there (or of another scope), and what SQLite reports: also for an
    /// empty kind, a relation of a memory to itself, or a context that is no JSON.
    pub fn relate(
        &mut self,
        relation: &NewRelationRow,
        scope: &Scope,
    ) -> Result<RelationChange, SchemaError> {
        let doing = "writing a relation";
        let from = self.end(&relation.from, scope)?;
        let to = self.end(&relation.to, scope)?;
        let known: Option<(i64, Said)> = self
            .connection()
            .prepare_cached(
                "SELECT relation, explanation, context, source FROM relations
                 WHERE from_seq = ?1 AND to_seq = ?2 AND kind = ?3",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![from, to, relation.kind], |row| {
                        Ok((row.get(0)?, (text(row, 1)?, text(row, 2)?, text(row, 3)?)))
                    })
                    .optional()
            })
            .doing(doing)?;
        let Some((key, had)) = known else {
            self.execute(
                doing,
                "INSERT INTO relations (from_seq, to_seq, kind, explanation, context, source, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    from,
                    to,
                    relation.kind,
                    relation.explanation,
                    relation.context,
                    relation.source,
                    relation.created_at.to_string()
                ],
            )?;
            self.note_relation(
                &Action::Related,
                &relation.from,
                &relation.to,
                &relation.kind,
            )?;
            return Ok(RelationChange::Added);
        };
        let now: Said = (
            relation.explanation.clone().or_else(|| had.0.clone()),
            relation.context.clone().or_else(|| had.1.clone()),
            relation.source.clone().or_else(|| had.2.clone()),
        );
        if now == had {
            return Ok(RelationChange::Unchanged);
        }
        self.execute(
            doing,
            "UPDATE relations SET explanation = ?2, context = ?3, source = ?4 WHERE relation = ?1",
            params![key, now.0, now.1, now.2],
        )?;
        self.note_relation(
            &Action::Related,
            &relation.from,
            &relation.to,
            &relation.kind,
        )?;
        Ok(RelationChange::Updated)
    }

    /// Deletes a relation whose ends are of a scope; tells whether it was there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn unrelate(
        &mut self,
        from: &str,
        to: &str,
        kind: &str,
        scope: &Scope,
    ) -> Result<bool, SchemaError> {
        let keys = (self.key_within(from, scope)?, self.key_within(to, scope)?);
        let (Some(from_seq), Some(to_seq)) = keys else {
            return Ok(false);
        };
        let deleted = self.execute(
            "deleting a relation",
            "DELETE FROM relations WHERE from_seq = ?1 AND to_seq = ?2 AND kind = ?3",
            params![from_seq, to_seq, kind],
        )?;
        if deleted > 0 {
            self.note_relation(&Action::Unrelated, from, to, kind)?;
        }
        Ok(deleted > 0)
    }

    /// Notes which relation was made, changed or removed; not what it says, which is to go with its memories, and of another
    /// project not whither it leads, which is none of the business of who reads this one's history.
    fn note_relation(
        &mut self,
        action: &Action,
        from: &str,
        to: &str,
        kind: &str,
    ) -> Result<(), SchemaError> {
        if !self.keeps_history()? {
            return Ok(());
        }
        let detail = if self.project_of(from)? == self.project_of(to)? {
            serde_json::json!({ "to": to, "kind": kind })
        } else {
            serde_json::json!({ "kind": kind })
        };
        self.note(from, action, Some(detail.to_string()))
    }

    fn end(&self, id: &str, scope: &Scope) -> Result<i64, SchemaError> {
        self.key_within(id, scope)?
            .ok_or_else(|| SchemaError::NotFound { id: id.to_owned() })
    }
}

impl Snapshot<'_> {
    /// The key of the memory with an id, where it is of a scope.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn key_within(&self, id: &str, scope: &Scope) -> Result<Option<i64>, SchemaError> {
        let mut values = vec![Value::Text(id.to_owned())];
        let condition = of_scope("m", scope, &mut values);
        self.connection()
            .prepare_cached(&format!(
                "SELECT m.seq FROM memories m WHERE m.id = ?{condition}"
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params_from_iter(values), |row| row.get(0))
                    .optional()
            })
            .doing("looking up an id")
    }

    /// Which of these memories pass a filter, by ascending key.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn passing(&self, seqs: &[i64], filter: &Filter) -> Result<Vec<i64>, SchemaError> {
        let (conditions, filter_values) = filter.clause();
        let mut values = vec![keys(seqs)];
        // CROSS JOIN: from the few keys at hand, whatever index a condition has.
        values.extend(filter_values);
        self.connection()
            .prepare_cached(&format!(
                "SELECT DISTINCT m.seq FROM json_each(?) k CROSS JOIN memories m ON m.seq = k.value
                 WHERE TRUE{conditions} ORDER BY m.seq"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), |row| row.get(0))?
                    .collect()
            })
            .doing("holding memories against a filter")
    }

    /// The relations that pass a filter, latest made first; those of one instant in the reverse of the order in which they
    /// were written. At most `limit` (all where `None`).
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where one is damaged, and what SQLite reports.
    pub fn relations(
        &self,
        filter: &RelationFilter,
        limit: Option<usize>,
    ) -> Result<Vec<RelationRow>, SchemaError> {
        let doing = "listing relations";
        let mut values = Vec::new();
        let mut conditions = of_scope("f", &filter.scope, &mut values);
        conditions += &of_scope("t", &filter.scope, &mut values);
        if let Some(seq) = filter.of {
            values.push(Value::Integer(seq));
            conditions += match filter.direction {
                Direction::Outward => " AND r.from_seq = ?",
                Direction::Inward => " AND r.to_seq = ?",
                Direction::Both => {
                    values.push(Value::Integer(seq));
                    " AND (r.from_seq = ? OR r.to_seq = ?)"
                }
            };
        }
        if !filter.kinds.is_empty() {
            values.push(texts(&filter.kinds));
            conditions += " AND r.kind IN (SELECT value FROM json_each(?))";
        }
        if let Some(ids) = &filter.among {
            for end in ["from", "to"] {
                values.push(texts(ids));
                conditions += &format!(
                    " AND r.{end}_seq IN
                     (SELECT seq FROM memories WHERE id IN (SELECT value FROM json_each(?)))"
                );
            }
        }
        values.push(at_most(limit));
        let sql = format!(
            "SELECT r.relation, f.id, t.id, r.kind, r.explanation, r.context, r.source, r.created_at
             FROM relations r JOIN memories f ON f.seq = r.from_seq JOIN memories t ON t.seq = r.to_seq
             WHERE TRUE{conditions} ORDER BY r.created_at DESC, r.relation DESC LIMIT ?"
        );
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), relation)
            .doing(doing)?;
        rows.map(|row| row.doing(doing)?).collect()
    }

    /// The memories of a scope with the most relations to others of it, most first; equal ones by time of change, latest
    /// first, then the last stored first. At most `limit`; none without a relation. It reads every relation.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn hubs(&self, scope: &Scope, limit: usize) -> Result<Vec<HubRow>, SchemaError> {
        let mut values = Vec::new();
        let ends = match scope {
            Scope::All => String::from(
                "SELECT from_seq AS seq, 1 AS outward FROM relations
                 UNION ALL SELECT to_seq, 0 FROM relations",
            ),
            _ => {
                let mut end = |end: &str, outward: u8| {
                    let mut conditions = of_scope("f", scope, &mut values);
                    conditions += &of_scope("t", scope, &mut values);
                    format!(
                        "SELECT r.{end}_seq AS seq, {outward} AS outward FROM relations r
                         JOIN memories f ON f.seq = r.from_seq JOIN memories t ON t.seq = r.to_seq
                         WHERE TRUE{conditions}"
                    )
                };
                let (from, to) = (end("from", 1), end("to", 0));
                format!("{from} UNION ALL {to}")
            }
        };
        values.push(at_most(Some(limit)));
        let sql = format!(
            "SELECT m.seq, e.outward, e.ends - e.outward
             FROM (SELECT seq, sum(outward) AS outward, count(*) AS ends FROM ({ends}) GROUP BY seq) e
             JOIN memories m ON m.seq = e.seq
             ORDER BY e.ends DESC, m.updated_at DESC, m.seq DESC LIMIT ?"
        );
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), |row| {
                        Ok(HubRow {
                            seq: row.get(0)?,
                            outward: row.get::<_, i64>(1)?.unsigned_abs(),
                            inward: row.get::<_, i64>(2)?.unsigned_abs(),
                        })
                    })?
                    .collect()
            })
            .doing("counting relations")
    }

    /// The keys of the memories of a scope that were changed last, latest first; those of one instant, the last stored first.
    /// It looks at the time of every memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_updated(&self, scope: &Scope, limit: usize) -> Result<Vec<i64>, SchemaError> {
        let mut values = Vec::new();
        let condition = of_scope("m", scope, &mut values);
        values.push(at_most(Some(limit)));
        self.connection()
            .prepare_cached(&format!(
                "SELECT m.seq FROM memories m WHERE TRUE{condition}
                 ORDER BY m.updated_at DESC, m.seq DESC LIMIT ?"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), |row| row.get(0))?
                    .collect()
            })
            .doing("listing what was changed last")
    }
}

/// Reads the columns of a [`RelationRow`].
fn relation(row: &Row<'_>) -> rusqlite::Result<Result<RelationRow, SchemaError>> {
    let from = text(row, 1)?.unwrap_or_default();
    let created = text(row, 7)?.unwrap_or_default();
    let created_at = match created.parse::<Timestamp>() {
        Ok(time) => time,
        Err(error) => {
            let found = format!("a relation with a bad time: {error}");
            return Ok(Err(SchemaError::BadRow { id: from, found }));
        }
    };
    Ok(Ok(RelationRow {
        relation: row.get(0)?,
        from,
        to: text(row, 2)?.unwrap_or_default(),
        kind: text(row, 3)?.unwrap_or_default(),
        explanation: text(row, 4)?,
        context: text(row, 5)?,
        source: text(row, 6)?,
        created_at,
    }))
}

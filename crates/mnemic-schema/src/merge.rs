//! What one memory takes over from others that it is merged from, and by what they are found: their first entity. The
//! others keep all they have, so that taking it back is only a matter of taking the new one away.

use rusqlite::params;
use rusqlite::types::Value;

use crate::error::{Doing, SchemaError};
use crate::filter::{Filter, Scope};
use crate::read::Snapshot;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// What [`WriteTransaction::take_over`] gave a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TakenOver {
    /// Relations from and to it.
    pub relations: u64,
    /// Entities.
    pub entities: u64,
}

/// A memory and what it is about first of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstEntity {
    /// The key of the memory.
    pub seq: i64,
    /// Its project; `None` is none.
    pub project: Option<String>,
    /// The entity, as entities are compared.
    pub entity: String,
    /// When the memory was created. A time that is none is the earliest there is.
    pub created_at: Timestamp,
}

impl WriteTransaction<'_> {
    /// Gives a memory what others have: their relations with all but each other and their entities, in the order of
    /// the ids given, and their uses, summed. What it has itself stays. Relations that say that something stands in the
    /// place of one of them are not among it, nor are those whose other end is outside of the scope.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], and what SQLite reports.
    pub fn take_over(
        &mut self,
        id: &str,
        from: &[String],
        scope: &Scope,
    ) -> Result<TakenOver, SchemaError> {
        let seq = self.must_have(id)?;
        let others = from
            .iter()
            .map(|id| self.must_have(id))
            .collect::<Result<Vec<i64>, _>>()?;
        let all = serde_json::Value::from(others.as_slice()).to_string();
        let of_scope = Filter {
            scope: scope.clone(),
            ..Filter::default()
        };
        let (conditions, values) = of_scope.clause();
        let mut taken = TakenOver::default();
        for other in &others {
            for (ends, mine, whose) in [
                ("?1, to_seq", "from_seq = ?2", "to_seq"),
                (
                    "from_seq, ?1",
                    "to_seq = ?2 AND kind <> 'supersedes'",
                    "from_seq",
                ),
            ] {
                let sql = format!(
                    "INSERT OR IGNORE INTO relations (from_seq, to_seq, kind, explanation, context, source, created_at)
                     SELECT {ends}, kind, explanation, context, source, created_at FROM relations
                     WHERE {mine} AND {whose} <> ?1 AND {whose} NOT IN (SELECT value FROM json_each(?3))
                       AND EXISTS (SELECT 1 FROM memories m WHERE m.seq = {whose}{conditions}) ORDER BY relation"
                );
                let mut given = vec![
                    Value::Integer(seq),
                    Value::Integer(*other),
                    Value::Text(all.clone()),
                ];
                given.extend(values.iter().cloned());
                let added = self.execute(
                    "taking over relations",
                    &sql,
                    rusqlite::params_from_iter(given),
                )?;
                taken.relations += added as u64;
            }
            let added = self.execute(
                "taking over entities",
                "INSERT OR IGNORE INTO memory_entities (entity, seq, name, place)
                 SELECT entity, ?1, name,
                        coalesce((SELECT max(place) + 1 FROM memory_entities WHERE seq = ?1), 0) + row_number() OVER (ORDER BY place) - 1
                 FROM memory_entities WHERE seq = ?2 ORDER BY place",
                params![seq, other],
            )?;
            taken.entities += added as u64;
            self.execute(
                "taking over uses",
                "INSERT INTO memory_access (seq, accesses, accessed_at)
                 SELECT ?1, accesses, accessed_at FROM memory_access WHERE seq = ?2
                 ON CONFLICT (seq) DO UPDATE SET
                     accesses = min(accesses + excluded.accesses, 4611686018427387904),
                     accessed_at = max(accessed_at, excluded.accessed_at)",
                params![seq, other],
            )?;
        }
        Ok(taken)
    }
}

impl Snapshot<'_> {
    /// The keys of the last stored memories that pass a filter and are no documents, at most `limit` and below `before`; last stored first.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_keys(
        &self,
        filter: &Filter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<i64>, SchemaError> {
        let doing = "listing the keys of memories";
        let (conditions, mut values) = filter.clause();
        values.push(Value::Integer(before.unwrap_or(i64::MAX)));
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        self.connection()
            .prepare_cached(&format!(
                "SELECT m.seq FROM memories m WHERE m.seq NOT IN (SELECT seq FROM documents){conditions} AND m.seq < ?
                 ORDER BY m.seq DESC LIMIT ?"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map(rusqlite::params_from_iter(values), |row| row.get(0))?
                    .collect()
            })
            .doing(doing)
    }

    /// The last stored memories that pass a filter, have an entity and are no documents, at most `limit` and of keys below `before`; by
    /// project, first entity and time of creation.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn first_entities(
        &self,
        filter: &Filter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<FirstEntity>, SchemaError> {
        let doing = "reading what memories are about";
        let (conditions, mut values) = filter.clause();
        // Of several entities of one place (none should be) the first by name.
        let sql = format!(
            "SELECT seq, project, entity, created_at FROM (
                 SELECT m.seq, m.project, m.created_at,
                        (SELECT e.entity FROM memory_entities e WHERE e.seq = m.seq ORDER BY e.place, e.entity LIMIT 1) AS entity
                 FROM memories m
                 WHERE m.seq IN (SELECT seq FROM memory_entities) AND m.seq NOT IN (SELECT seq FROM documents){conditions} AND m.seq < ?
                 ORDER BY m.seq DESC LIMIT ?
             ) ORDER BY project, entity, created_at, seq"
        );
        values.push(Value::Integer(before.unwrap_or(i64::MAX)));
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map(rusqlite::params_from_iter(values), |row| {
                let created: String = row.get(3)?;
                Ok(FirstEntity {
                    seq: row.get(0)?,
                    project: row.get(1)?,
                    entity: row.get(2)?,
                    created_at: created.parse().unwrap_or(Timestamp::MIN),
                })
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<_>>().doing(doing)
    }
}

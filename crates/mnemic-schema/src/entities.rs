//! Entities: by which names a memory can be looked up, set and read. It finds none in a text.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::{Filter, Scope};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::tags;
use crate::text::fold;
use crate::write::WriteTransaction;

/// An entity and how many memories have it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityCount {
    /// Its name, in the spelling that most of those memories give it; of equally many, the first in the order of bytes.
    pub name: String,
    /// Memories.
    pub memories: u64,
}

impl Snapshot<'_> {
    /// The entities of a memory as they were given, in their order; `None` where there is no such memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entities_of(&self, id: &str) -> Result<Option<Vec<String>>, SchemaError> {
        let names: Option<String> = self
            .connection()
            .prepare_cached(
                "SELECT (SELECT json_group_array(name ORDER BY place) FROM memory_entities e WHERE e.seq = m.seq)
                 FROM memories m WHERE m.id = ?1",
            )
            .and_then(|mut statement| statement.query_row([id], |row| row.get(0)).optional())
            .doing("reading the entities of a memory")?;
        Ok(names.as_deref().map(tags::lenient_from_json))
    }

    /// Visits the keys of the memories that have an entity and pass a filter, in order. Entities are compared as a
    /// [`Filter`] compares them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn with_entity(
        &self,
        entity: &str,
        filter: &Filter,
        mut visit: impl FnMut(i64),
    ) -> Result<(), SchemaError> {
        let doing = "reading which memories have an entity";
        let entity = Value::Text(fold(entity));
        let (sql, values) = if *filter == Filter::default() {
            let sql = "SELECT seq FROM memory_entities WHERE entity = ? ORDER BY seq".to_owned();
            (sql, vec![entity])
        } else {
            let (conditions, values) = filter.clause();
            let sql = format!(
                "SELECT e.seq FROM memory_entities e CROSS JOIN memories m ON m.seq = e.seq
                 WHERE e.entity = ?{conditions} ORDER BY e.seq"
            );
            (sql, [vec![entity], values].concat())
        };
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(row.get(0).doing(doing)?);
        }
        Ok(())
    }

    /// As [`Snapshot::with_entity`] without a filter, of what the memories have in an index: their own keys, or those of their
    /// passages.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn with_entity_in(
        &self,
        indexed: Indexed,
        entity: &str,
        mut visit: impl FnMut(i64),
    ) -> Result<(), SchemaError> {
        if indexed == Indexed::Memories {
            return self.with_entity(entity, &Filter::default(), visit);
        }
        let doing = "reading which passages have an entity";
        let mut statement = self
            .connection()
            .prepare_cached(
                "SELECT c.chunk FROM memory_entities e JOIN chunks c ON c.seq = e.seq WHERE e.entity = ?1 ORDER BY c.chunk",
            )
            .doing(doing)?;
        let mut rows = statement.query([fold(entity)]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(row.get(0).doing(doing)?);
        }
        Ok(())
    }

    /// Whether any memory, of whatever scope, has an entity.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_entity(&self, entity: &str) -> Result<bool, SchemaError> {
        self.connection()
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory_entities WHERE entity = ?1)")
            .and_then(|mut statement| statement.query_row([fold(entity)], |row| row.get(0)))
            .doing("looking up an entity")
    }

    /// The entities of a scope that most memories have, the most frequent first, equal ones by name; at most `limit` (all
    /// where `None`).
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn entities(
        &self,
        scope: &Scope,
        limit: Option<usize>,
    ) -> Result<Vec<EntityCount>, SchemaError> {
        let doing = "counting entities";
        let (conditions, mut values) = Filter::from(scope.clone()).clause();
        // SQLite reads a negative limit as none.
        values.push(Value::Integer(
            limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        ));
        let sql = format!(
            "WITH spelled (entity, name, memories) AS (
                 SELECT e.entity, e.name, count(*) FROM memory_entities e JOIN memories m ON m.seq = e.seq
                 WHERE TRUE{conditions} GROUP BY e.entity, e.name
             ), ranked (entity, name, place, total) AS (
                 SELECT entity, name, row_number() OVER (PARTITION BY entity ORDER BY memories DESC, name),
                        sum(memories) OVER (PARTITION BY entity)
                 FROM spelled
             )
             SELECT name, total FROM ranked WHERE place = 1 ORDER BY total DESC, entity LIMIT ?"
        );
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                let rows = statement.query_map(params_from_iter(values), |row| {
                    Ok(EntityCount {
                        name: row.get(0)?,
                        memories: row.get::<_, i64>(1)?.unsigned_abs(),
                    })
                })?;
                rows.collect()
            })
            .doing(doing)
    }

    /// The kinds of the memories with these keys, in their order; one of which nothing was said is `semantic`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn kinds(&self, seqs: &[i64]) -> Result<Vec<String>, SchemaError> {
        let doing = "reading the kinds of memories";
        let mut statement = self
            .connection()
            .prepare_cached("SELECT kind FROM lifecycle WHERE seq = ?1")
            .doing(doing)?;
        seqs.iter()
            .map(|seq| {
                let kind = statement.query_row([seq], |row| row.get(0)).optional();
                Ok(kind.doing(doing)?.unwrap_or_else(|| "semantic".to_owned()))
            })
            .collect()
    }
}

impl WriteTransaction<'_> {
    /// Gives a memory these entities instead of those that it has. Of names that are compared as equal the first counts,
    /// and an empty one is none. Where nothing changes nothing is written.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], and what SQLite reports.
    pub fn set_entities(&mut self, id: &str, names: &[String]) -> Result<(), SchemaError> {
        let seq = self
            .key_of(id)?
            .ok_or_else(|| SchemaError::NotFound { id: id.to_owned() })?;
        let distinct = distinct(names);
        let known = self.entities_of(id)?.unwrap_or_default();
        if distinct.iter().map(|(_, name)| *name).eq(&known) {
            return Ok(());
        }
        self.execute(
            "taking the entities off a memory",
            "DELETE FROM memory_entities WHERE seq = ?1",
            params![seq],
        )?;
        self.add_entities(seq, &distinct)
    }

    /// Gives a new memory its entities.
    pub(crate) fn insert_entities(&self, seq: i64, names: &[String]) -> Result<(), SchemaError> {
        if names.is_empty() {
            return Ok(());
        }
        self.add_entities(seq, &distinct(names))
    }

    /// Compares every entity anew by its name, and drops those of no memory.
    pub(crate) fn mend_entities(&self) -> Result<(), SchemaError> {
        for sql in [
            "DELETE FROM memory_entities WHERE seq NOT IN (SELECT seq FROM memories) OR mnemic_fold(name) = ''",
            "UPDATE OR REPLACE memory_entities SET entity = mnemic_fold(name) WHERE entity IS NOT mnemic_fold(name)",
        ] {
            self.execute("repairing entities", sql, [])?;
        }
        Ok(())
    }

    fn add_entities(&self, seq: i64, entities: &[(String, &String)]) -> Result<(), SchemaError> {
        for (place, (entity, name)) in (0i64..).zip(entities) {
            self.execute(
                "storing the entities of a memory",
                "INSERT INTO memory_entities (entity, seq, name, place) VALUES (?1, ?2, ?3, ?4)",
                params![entity, seq, name, place],
            )?;
        }
        Ok(())
    }
}

/// The names in their order, each entity once, with the form under which it is compared.
fn distinct(names: &[String]) -> Vec<(String, &String)> {
    let mut seen = std::collections::HashSet::new();
    let folded = names.iter().map(|name| (fold(name), name));
    folded
        .filter(|(entity, _)| !entity.is_empty() && seen.insert(entity.clone()))
        .collect()
}

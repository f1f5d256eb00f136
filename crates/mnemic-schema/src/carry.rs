//! Relations, entities and events on their way out of a file and into another one, row by row. It never decides what
//! becomes of a row that differs.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::events::Action;
use crate::filter::Filter;
use crate::graph::NewRelationRow;
use crate::image::Image;
use crate::lifecycle::Lifecycle;
use crate::read::Snapshot;
use crate::row::{MemoryRow, text};
use crate::search::floats;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// An event as it goes from file to file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedEvent {
    /// Its number.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub action: Action,
    /// The id of the memory it happened to.
    pub memory: String,
    /// The project that the memory was of.
    pub project: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// The number of the first event of the same change.
    pub batch: i64,
    /// A JSON text.
    pub detail: Option<String>,
    /// The memory as it was before, as JSON.
    pub before: Option<String>,
    /// The number of the event that this one undid.
    pub undoes: Option<i64>,
}

/// A passage as it goes from file to file.
#[derive(Debug, Clone, PartialEq)]
pub struct CarriedPassage {
    /// Its span in the source, in bytes.
    pub bytes: std::ops::Range<usize>,
    /// What is known of it: JSON.
    pub metadata: Option<String>,
    /// Whether the model of the file finds nothing to embed in it.
    pub nothing: bool,
    /// Its vector, where it has one.
    pub vector: Option<Vec<f32>>,
}

/// The links of a memory that name another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedLink {
    /// [`Lifecycle::causal_parent`].
    CausalParent,
    /// [`Lifecycle::superseded_by`].
    SupersededBy,
}

impl NamedLink {
    fn column(self) -> &'static str {
        match self {
            Self::CausalParent => "causal_parent",
            Self::SupersededBy => "superseded_by",
        }
    }
}

fn time_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let time = text(row, column)?.and_then(|time| time.parse().ok());
    Ok(time.unwrap_or(Timestamp::MIN))
}

fn read_relation(row: &Row<'_>) -> rusqlite::Result<NewRelationRow> {
    Ok(NewRelationRow {
        from: text(row, 0)?.unwrap_or_default(),
        to: text(row, 1)?.unwrap_or_default(),
        kind: text(row, 2)?.unwrap_or_default(),
        explanation: text(row, 3)?,
        context: text(row, 4)?,
        source: text(row, 5)?,
        created_at: time_of(row, 6)?,
    })
}

const RELATION: &str =
    "SELECT f.id, t.id, r.kind, r.explanation, r.context, r.source, r.created_at FROM relations r
     JOIN memories f ON f.seq = r.from_seq JOIN memories t ON t.seq = r.to_seq";

/// The relations `r` whose ends both pass a filter, and the events `e` of memories that pass it: all of them where every
/// memory does, those of memories that are gone too.
fn relations_of(filter: &Filter) -> (String, Vec<Value>) {
    if filter.is_empty() {
        return (String::new(), Vec::new());
    }
    let (conditions, values) = filter.clause();
    let passing = format!("(SELECT m.seq FROM memories m WHERE TRUE{conditions})");
    let sql = format!(" WHERE r.from_seq IN {passing} AND r.to_seq IN {passing}");
    (sql, [values.clone(), values].concat())
}

fn events_of(filter: &Filter) -> (String, Vec<Value>) {
    if filter.is_empty() {
        return (String::new(), Vec::new());
    }
    let (conditions, values) = filter.clause();
    let sql = format!(" WHERE e.memory IN (SELECT m.id FROM memories m WHERE TRUE{conditions})");
    (sql, values)
}

impl Snapshot<'_> {
    /// Visits the relations whose ends both pass a filter, in the order in which they were made.
    ///
    /// # Errors
    /// What `visit` returns, which ends the visit, and what SQLite reports.
    pub fn each_relation<E: From<SchemaError>>(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(NewRelationRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let doing = "reading relations one by one";
        let (conditions, values) = relations_of(filter);
        let sql = format!("{RELATION}{conditions} ORDER BY r.created_at, r.relation");
        let mut statement = self.connection().prepare(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(read_relation(row).doing(doing)?)?;
        }
        Ok(())
    }

    /// Visits the events of the memories that pass a filter (of all, those that are gone too, where every memory does),
    /// by their numbers.
    ///
    /// # Errors
    /// As [`Snapshot::each_relation`].
    pub fn each_event<E: From<SchemaError>>(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(CarriedEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let doing = "reading events one by one";
        let (conditions, values) = events_of(filter);
        let sql = format!(
            "SELECT e.event, e.at, e.action, e.memory, e.project, e.actor, e.batch, e.detail, e.before, e.undoes
             FROM memory_events e{conditions} ORDER BY e.event"
        );
        let mut statement = self.connection().prepare(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            let event = || -> rusqlite::Result<CarriedEvent> {
                Ok(CarriedEvent {
                    number: row.get(0)?,
                    at: time_of(row, 1)?,
                    action: Action::from(text(row, 2)?.unwrap_or_default().as_str()),
                    memory: text(row, 3)?.unwrap_or_default(),
                    project: text(row, 4)?,
                    actor: text(row, 5)?,
                    batch: row.get(6)?,
                    detail: text(row, 7)?,
                    before: text(row, 8)?,
                    undoes: row.get(9)?,
                })
            };
            visit(event().doing(doing)?)?;
        }
        Ok(())
    }

    /// How many relations and events [`Snapshot::each_relation`] and [`Snapshot::each_event`] visit.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_links(&self, filter: &Filter) -> Result<(u64, u64), SchemaError> {
        let count = |sql: String, values: Vec<Value>| {
            self.connection()
                .prepare(&sql)
                .and_then(|mut statement| {
                    statement.query_row(params_from_iter(values), |row| row.get::<_, i64>(0))
                })
                .map(i64::unsigned_abs)
                .doing("counting relations and events")
        };
        let (relations, values) = relations_of(filter);
        let relations = count(
            format!("SELECT count(*) FROM relations r{relations}"),
            values,
        )?;
        let (events, values) = events_of(filter);
        let events = count(
            format!("SELECT count(*) FROM memory_events e{events}"),
            values,
        )?;
        Ok((relations, events))
    }

    /// Whether there are documents at all.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_documents(&self) -> Result<bool, SchemaError> {
        Ok(self.count("SELECT EXISTS (SELECT 1 FROM documents)")? > 0)
    }

    /// The passages of the document with a key, in their order, with their vectors where they have one and `with_vectors`
    /// says so.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn carried_passages(
        &self,
        seq: i64,
        with_vectors: bool,
    ) -> Result<Vec<CarriedPassage>, SchemaError> {
        let doing = "reading the passages of a document";
        let space = self.recorded_model()?.map(|model| model.space);
        let with_vectors = with_vectors && self.has_passage_vectors()?;
        let (column, join) = match with_vectors {
            true => ("v.embedding", "LEFT JOIN chunk_vec v ON v.chunk = c.chunk"),
            false => ("NULL", ""),
        };
        let mut statement = self
            .connection()
            .prepare_cached(&format!(
                "SELECT c.start_byte, c.end_byte, c.metadata, c.nothing_for, {column}
                 FROM chunks c {join} WHERE c.seq = ?1 ORDER BY c.place"
            ))
            .doing(doing)?;
        let number = |row: &Row<'_>, column: usize| -> rusqlite::Result<usize> {
            Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(usize::MAX))
        };
        let rows = statement
            .query_map([seq], |row| {
                let nothing_for = text(row, 3)?;
                let blob: Option<Vec<u8>> = row.get(4)?;
                Ok(CarriedPassage {
                    bytes: number(row, 0)?..number(row, 1)?,
                    metadata: text(row, 2)?,
                    nothing: with_vectors && nothing_for.is_some() && nothing_for == space,
                    vector: blob.map(|blob| floats(&blob).collect()),
                })
            })
            .doing(doing)?;
        rows.collect::<rusqlite::Result<_>>().doing(doing)
    }

    /// The links from one memory to another among those that pass a filter, by key: which memory names which other one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn links_among(
        &self,
        filter: &Filter,
        link: NamedLink,
    ) -> Result<Vec<(i64, i64)>, SchemaError> {
        let column = link.column();
        let (conditions, values) = filter.clause();
        let passing = format!("(SELECT m.seq FROM memories m WHERE TRUE{conditions})");
        let sql = format!(
            "SELECT l.seq, l.{column} FROM lifecycle l
             WHERE l.{column} IS NOT NULL AND l.seq IN {passing} AND l.{column} IN {passing} ORDER BY l.seq"
        );
        self.connection()
            .prepare(&sql)
            .and_then(|mut statement| {
                let values = [values.clone(), values].concat();
                statement
                    .query_map(params_from_iter(values), |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })?
                    .collect()
            })
            .doing("reading the links among memories")
    }

    /// Visits the memories with some keys, in the order given, with their vectors where they have one.
    ///
    /// # Errors
    /// As [`Snapshot::each_memory`].
    pub fn each_of<E: From<SchemaError>>(
        &self,
        keys: &[i64],
        with_vectors: bool,
        mut visit: impl FnMut(MemoryRow, Option<Vec<f32>>) -> Result<(), E>,
    ) -> Result<(), E> {
        for key in keys {
            let id: Option<String> = self
                .connection()
                .prepare_cached("SELECT id FROM memories WHERE seq = ?1")
                .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
                .doing("reading memories by their keys")?;
            let filter = Filter {
                ids: Some(id.into_iter().collect()),
                ..Filter::default()
            };
            self.each_memory(&filter, with_vectors, &mut visit)?;
        }
        Ok(())
    }

    /// The relation of two memories and a kind, if there is one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn carried_relation(
        &self,
        from: &str,
        to: &str,
        kind: &str,
    ) -> Result<Option<NewRelationRow>, SchemaError> {
        self.connection()
            .prepare_cached(&format!(
                "{RELATION} WHERE f.id = ?1 AND t.id = ?2 AND r.kind = ?3"
            ))
            .and_then(|mut statement| {
                statement
                    .query_row(params![from, to, kind], read_relation)
                    .optional()
            })
            .doing("looking up a relation")
    }

    /// The numbers of the events that say what this one does, numbers aside, in their order; that of a number guessed alone
    /// where it is one of them.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn events_like(
        &self,
        event: &CarriedEvent,
        guess: Option<i64>,
    ) -> Result<Vec<i64>, SchemaError> {
        // Of one memory or of one instant there may be many.
        let by = |also: &str| -> Result<Vec<i64>, SchemaError> {
            self.connection()
                .prepare_cached(&format!(
                    "SELECT event FROM memory_events
                     WHERE memory = ?1 AND at = ?2 AND action = ?3 AND project IS ?4 AND actor IS ?5 AND detail IS ?6
                       AND before IS ?7 AND (undoes IS NULL) = ?8 AND {also} ORDER BY event"
                ))
                .and_then(|mut statement| {
                    let values = params![
                        event.memory,
                        event.at.to_string(),
                        event.action.as_str(),
                        event.project,
                        event.actor,
                        event.detail,
                        event.before,
                        event.undoes.is_none(),
                        guess
                    ];
                    statement.query_map(values, |row| row.get(0))?.collect()
                })
                .doing("looking up events")
        };
        let found = by("event = ?9")?;
        if found.is_empty() {
            return by("?9 IS ?9");
        }
        Ok(found)
    }

    /// The greatest number that an event of this file has or had; 0 where there was none.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn last_event(&self) -> Result<i64, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory_events'), 0),
                            coalesce((SELECT max(event) FROM memory_events), 0),
                            coalesce((SELECT max(batch) FROM memory_events), 0))",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .doing("looking up the last event")
    }

    /// The ids of memories that lead in a circle by a link, if any do: those of the first such circle, by key.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn circle(&self, link: NamedLink) -> Result<Vec<String>, SchemaError> {
        let doing = "looking for a circle among memories";
        let column = link.column();
        let next: std::collections::HashMap<i64, i64> = self
            .connection()
            .prepare(&format!(
                "SELECT seq, {column} FROM lifecycle WHERE {column} IS NOT NULL"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect()
            })
            .doing(doing)?;
        let Some(first) = first_circle(&next) else {
            return Ok(Vec::new());
        };
        let mut ids = Vec::new();
        for seq in first {
            let id: Option<String> = self
                .connection()
                .prepare_cached("SELECT id FROM memories WHERE seq = ?1")
                .and_then(|mut statement| statement.query_row([seq], |row| row.get(0)).optional())
                .doing(doing)?;
            ids.extend(id);
        }
        Ok(ids)
    }
}

/// The circle that begins at the smallest key, where following `next` comes to one. Each key is looked at twice at most.
fn first_circle(next: &std::collections::HashMap<i64, i64>) -> Option<Vec<i64>> {
    let mut done = std::collections::HashSet::with_capacity(next.len());
    let mut found: Option<Vec<i64>> = None;
    for &start in next.keys() {
        let mut path = Vec::new();
        let mut on_path = std::collections::HashMap::new();
        let mut at = start;
        while !done.contains(&at) {
            if let Some(&since) = on_path.get(&at) {
                let mut circle: Vec<i64> = path.iter().skip(since).copied().collect();
                circle.sort_unstable();
                if found.as_ref().is_none_or(|found| circle < *found) {
                    found = Some(circle);
                }
                break;
            }
            on_path.insert(at, path.len());
            path.push(at);
            match next.get(&at) {
                Some(&there) => at = there,
                None => break,
            }
        }
        done.extend(path);
    }
    found
}

impl WriteTransaction<'_> {
    /// Writes all that is said of a memory, as [`WriteTransaction::set_lifecycle`] does, but for a circle of causes, which
    /// may stand while many are written: [`Snapshot::circle`] finds it at the end.
    ///
    /// # Errors
    /// As [`WriteTransaction::set_lifecycle`].
    pub fn carry_lifecycle(&mut self, id: &str, lifecycle: &Lifecycle) -> Result<(), SchemaError> {
        self.write_lifecycle(id, lifecycle, false)
    }

    /// Writes a relation whose ends are there; one of the same ends and kind becomes what this one says.
    ///
    /// # Errors
    /// [`SchemaError::NotFound`], and what SQLite reports: also for an empty kind, a relation of a memory to itself, or a
    /// context that is no JSON.
    pub fn carry_relation(&mut self, relation: &NewRelationRow) -> Result<(), SchemaError> {
        let (from, to) = (
            self.must_have(&relation.from)?,
            self.must_have(&relation.to)?,
        );
        self.execute(
            "writing a relation",
            "INSERT INTO relations (from_seq, to_seq, kind, explanation, context, source, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (from_seq, to_seq, kind) DO UPDATE SET
                 explanation = excluded.explanation, context = excluded.context, source = excluded.source,
                 created_at = excluded.created_at",
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
        Ok(())
    }

    /// Adds an event of another file's history under its number, which none has here.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn carry_event(&mut self, event: &CarriedEvent) -> Result<(), SchemaError> {
        self.execute(
            "adding an event of another history",
            "INSERT INTO memory_events (event, at, action, memory, project, actor, batch, detail, before, undoes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                event.number,
                event.at.to_string(),
                event.action.as_str(),
                event.memory,
                event.project,
                event.actor,
                event.batch,
                event.detail,
                event.before,
                event.undoes
            ],
        )?;
        Ok(())
    }
}

/// What is wrong with a memory as it was before an event, if anything: it must be one, of this id, that can be put back.
#[must_use]
pub fn image_defect(json: &str, id: &str) -> Option<String> {
    let image = match Image::parse(json) {
        Ok(image) => image,
        Err(SchemaError::BadRow { found, .. }) => return Some(format!("it is {found}")),
        Err(error) => return Some(error.to_string()),
    };
    if image.id != id {
        return Some(format!("it is of the memory {:?}, not of {id:?}", image.id));
    }
    if image.content.trim().is_empty() {
        return Some("it is of a memory without a text".to_owned());
    }
    image.lifecycle.defect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_circle_is_found_and_a_chain_is_none() {
        let chain: std::collections::HashMap<i64, i64> =
            (1..100_000).map(|seq| (seq, seq + 1)).collect();
        assert_eq!(first_circle(&chain), None);
        let mut circles = chain;
        circles.insert(100_000, 99_998);
        assert_eq!(first_circle(&circles), Some(vec![99_998, 99_999, 100_000]));
        circles.insert(4, 2);
        assert_eq!(first_circle(&circles), Some(vec![2, 3, 4]));
    }
}

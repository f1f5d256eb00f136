//! The history as it is read: what happened to memories and who did it. Noting it is the journal's.

use std::fmt;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Scope;
use crate::image::Image;
use crate::read::{Order, Snapshot};
use crate::row::text;
use crate::timestamp::Timestamp;

/// What happened to a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Action {
    /// It was stored.
    Stored,
    /// It was changed in place.
    Updated,
    /// Another one was stored in its place, and it was deleted.
    Replaced,
    /// It was deleted.
    Deleted,
    /// It was deleted by a filter.
    Pruned,
    /// It was deleted so that nothing of it is left.
    Erased,
    /// Another one stands in its place from then on.
    Superseded,
    /// It is no longer recalled.
    Forgotten,
    /// It is recalled again.
    Revived,
    /// It went over to the long-term layer.
    Promoted,
    /// It went over to the short-term layer.
    Demoted,
    /// A relation that begins at it was made or changed.
    Related,
    /// A relation that begins at it was removed.
    Unrelated,
    /// An earlier event was undone.
    Undone,
    /// Another system's word for what happened there.
    Other(String),
}

impl Action {
    const NAMED: [(Self, &'static str); 14] = [
        (Self::Stored, "stored"),
        (Self::Updated, "updated"),
        (Self::Replaced, "replaced"),
        (Self::Deleted, "deleted"),
        (Self::Pruned, "pruned"),
        (Self::Erased, "erased"),
        (Self::Superseded, "superseded"),
        (Self::Forgotten, "forgotten"),
        (Self::Revived, "revived"),
        (Self::Promoted, "promoted"),
        (Self::Demoted, "demoted"),
        (Self::Related, "related"),
        (Self::Unrelated, "unrelated"),
        (Self::Undone, "undone"),
    ];

    /// Its name, as the file has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if let Self::Other(name) = self {
            return name;
        }
        let found = Self::NAMED.iter().find(|(action, _)| action == self);
        found.map_or("", |(_, name)| name)
    }
}

impl From<&str> for Action {
    fn from(name: &str) -> Self {
        let found = Self::NAMED.into_iter().find(|(_, own)| *own == name);
        found.map_or_else(|| Self::Other(name.to_owned()), |(action, _)| action)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much of the history a file keeps. Older events go when newer ones come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Retention {
    /// The newest so many events; 0 keeps none.
    pub events: u64,
    /// Those of the last so many days; `None` is of any age.
    pub days: Option<u32>,
}

impl Default for Retention {
    /// The newest hundred thousand, of any age.
    fn default() -> Self {
        Self {
            events: 100_000,
            days: None,
        }
    }
}

/// An event as the file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its number: later events have greater ones.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub action: Action,
    /// The id of the memory it happened to, which may be gone.
    pub memory: String,
    /// The project that the memory was of.
    pub project: Option<String>,
    /// Who did it, as the handle said.
    pub actor: Option<String>,
    /// The number of the first event of the same change: those of one batch were made in one transaction.
    pub batch: i64,
    /// More of it, as a JSON object.
    pub detail: Option<String>,
    /// Whether the memory is kept as it was before, so that the event can be undone.
    pub has_image: bool,
    /// The number of the event that this one undid.
    pub undoes: Option<i64>,
    /// The number of the event that undid this one.
    pub undone_by: Option<i64>,
}

/// Which events are listed. The default is all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// Of memories that were of this scope.
    pub scope: Scope,
    /// Of the memory with this id.
    pub memory: Option<String>,
    /// At this instant or later.
    pub since: Option<Timestamp>,
    /// Before this instant.
    pub until: Option<Timestamp>,
    /// Done by this actor.
    pub actor: Option<String>,
    /// One of these (no condition where empty).
    pub actions: Vec<Action>,
    /// Of one change.
    pub batch: Option<i64>,
}

const EVENT_COLUMNS: &str = "e.event, e.at, e.action, e.memory, e.project, e.actor, e.batch, e.detail, e.before IS NOT NULL, e.undoes,
     (SELECT max(u.event) FROM memory_events u WHERE u.undoes = e.event)";

fn read_event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let at = text(row, 1)?.and_then(|at| at.parse().ok());
    Ok(Event {
        number: row.get(0)?,
        at: at.unwrap_or(Timestamp::MIN),
        action: Action::from(text(row, 2)?.unwrap_or_default().as_str()),
        memory: text(row, 3)?.unwrap_or_default(),
        project: text(row, 4)?,
        actor: text(row, 5)?,
        batch: row.get(6)?,
        detail: text(row, 7)?,
        has_image: row.get(8)?,
        undoes: row.get(9)?,
        undone_by: row.get(10)?,
    })
}

/// Where `meta` tells how much is kept: events, days.
pub(crate) const HISTORY: [&str; 2] = ["history_events", "history_days"];

impl Snapshot<'_> {
    /// How much of the history the file keeps; `None` where it keeps none.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn retention(&self) -> Result<Option<Retention>, SchemaError> {
        let kept: (Option<String>, Option<String>) = self
            .connection()
            .prepare_cached(
                "SELECT (SELECT value FROM meta WHERE key = ?1), (SELECT value FROM meta WHERE key = ?2)",
            )
            .and_then(|mut statement| {
                statement.query_row(HISTORY, |row| Ok((row.get(0)?, row.get(1)?)))
            })
            .doing("reading how much history is kept")?;
        Ok(kept.0.map(|events| Retention {
            events: events.parse().unwrap_or(Retention::default().events),
            days: kept.1.and_then(|days| days.parse().ok()),
        }))
    }

    /// Events, by their numbers; at most `limit` (all where `None`).
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn events(
        &self,
        filter: &EventFilter,
        order: Order,
        limit: Option<usize>,
    ) -> Result<Vec<Event>, SchemaError> {
        let doing = "reading the history";
        let mut sql = format!("SELECT {EVENT_COLUMNS} FROM memory_events e WHERE TRUE");
        let mut values = Vec::new();
        let mut and = |condition: &str, value: Option<Value>| {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.extend(value);
        };
        let told = |text: &str| Some(Value::Text(text.to_owned()));
        match &filter.scope {
            Scope::Global => and("e.project IS NULL", None),
            Scope::Project(project) => and("e.project = ?", told(project)),
            Scope::ProjectAndGlobal(project) => {
                and("(e.project = ? OR e.project IS NULL)", told(project));
            }
            Scope::All => {}
        }
        if let Some(memory) = &filter.memory {
            and("e.memory = ?", told(memory));
        }
        if let Some(since) = filter.since {
            and("e.at >= ?", told(&since.to_string()));
        }
        if let Some(until) = filter.until {
            and("e.at < ?", told(&until.to_string()));
        }
        if let Some(actor) = &filter.actor {
            and("e.actor = ?", told(actor));
        }
        if !filter.actions.is_empty() {
            let names: Vec<&str> = filter.actions.iter().map(Action::as_str).collect();
            and(
                "e.action IN (SELECT value FROM json_each(?))",
                told(&serde_json::Value::from(names).to_string()),
            );
        }
        if let Some(batch) = filter.batch {
            and("e.batch = ?", Some(Value::Integer(batch)));
        }
        let direction = match order {
            Order::NewestFirst => "DESC",
            Order::OldestFirst => "ASC",
        };
        sql.push_str(&format!(" ORDER BY e.event {direction} LIMIT ?"));
        values.push(Value::Integer(
            limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        ));
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), read_event)?
                    .collect()
            })
            .doing(doing)
    }

    /// The event with a number, with the memory as it was before it.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where that is damaged, and what SQLite reports.
    pub fn event(&self, number: i64) -> Result<Option<(Event, Option<Image>)>, SchemaError> {
        let found: Option<(Event, Option<String>)> = self
            .connection()
            .prepare_cached(&format!(
                "SELECT {EVENT_COLUMNS}, e.before FROM memory_events e WHERE e.event = ?1"
            ))
            .and_then(|mut statement| {
                statement
                    .query_row([number], |row| Ok((read_event(row)?, text(row, 11)?)))
                    .optional()
            })
            .doing("reading an event")?;
        found
            .map(|(event, image)| {
                let image = image.map(|image| Image::parse(&image)).transpose()?;
                Ok((event, image))
            })
            .transpose()
    }

    /// The first later event that changed the memory of an event and stands still (is neither undone nor an undoing), other
    /// than in its own batch.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn changed_after(&self, event: &Event, memory: &str) -> Result<Option<i64>, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT e.event FROM memory_events e
                 WHERE e.memory = ?1 AND e.event > ?2 AND e.batch <> ?3 AND e.action NOT IN ('related', 'unrelated')
                   AND NOT EXISTS (SELECT 1 FROM memory_events u WHERE u.undoes = e.event AND
                       NOT EXISTS (SELECT 1 FROM memory_events v WHERE v.undoes = u.event))
                   AND NOT (e.undoes IS NOT NULL AND e.undoes > ?2)
                 ORDER BY e.event LIMIT 1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![memory, event.number, event.batch], |row| row.get(0))
                    .optional()
            })
            .doing("looking for later events of a memory")
    }
}

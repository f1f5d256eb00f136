//! The history: what happened to memories and who did it, noted in the same transaction as the change, where the file is
//! told to keep it. It never decides what happens.

use std::collections::HashSet;
use std::fmt;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Scope;
use crate::image::Image;
use crate::read::{Order, Snapshot};
use crate::row::text;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

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

/// What a transaction knows of the history it writes.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    actor: Option<String>,
    /// What changes are called, where it is not what they are called by themselves.
    action: Option<Action>,
    /// What the file keeps, once that was looked up.
    retention: Option<Option<Retention>>,
    at: Option<Timestamp>,
    batch: Option<i64>,
    /// The memories whose change is noted already: what follows in the same transaction is part of it.
    noted: HashSet<String>,
}

const HISTORY: [&str; 2] = ["history_events", "history_days"];

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

impl WriteTransaction<'_> {
    /// Tells the file how much of the history to keep from now on; `None` keeps none and drops what there is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn keep_history(&mut self, retention: Option<Retention>) -> Result<(), SchemaError> {
        let doing = "telling how much history to keep";
        let values = [
            retention.map(|kept| kept.events.to_string()),
            retention
                .and_then(|kept| kept.days)
                .map(|days| days.to_string()),
        ];
        for (key, value) in HISTORY.into_iter().zip(values) {
            match value {
                Some(value) => self.execute(
                    doing,
                    "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
                    params![key, value],
                )?,
                None => self.execute(doing, "DELETE FROM meta WHERE key = ?1", [key])?,
            };
        }
        self.journal.retention = Some(retention);
        if retention.is_none() {
            self.execute(doing, "DELETE FROM memory_events", [])?;
        }
        Ok(())
    }

    /// Who does what this transaction does.
    pub(crate) fn set_actor(&mut self, actor: Option<&str>) {
        self.journal.actor = actor.map(ToOwned::to_owned);
    }

    /// Has what follows noted as this, whatever it is called by itself; `None` ends that.
    pub fn call_it(&mut self, action: Option<Action>) {
        self.journal.action = action;
    }

    /// Whether this file keeps its history.
    pub(crate) fn keeps_history(&mut self) -> Result<bool, SchemaError> {
        if self.journal.retention.is_none() {
            self.journal.retention = Some(self.retention()?);
        }
        Ok(self.journal.retention.flatten().is_some())
    }

    /// Notes a change of a memory that is about to be made, with the memory as it is now. Once a transaction, but that a
    /// deletion is always noted.
    pub(crate) fn note_change(
        &mut self,
        id: &str,
        action: &Action,
        detail: Option<String>,
    ) -> Result<(), SchemaError> {
        if !self.keeps_history()? {
            return Ok(());
        }
        let deletes = *action == Action::Deleted;
        if !self.journal.noted.insert(id.to_owned()) && !deletes {
            return Ok(());
        }
        let Some(seq) = self.key_of(id)? else {
            return Ok(());
        };
        let image = self.image(seq)?;
        let project = self.project_of(id)?.flatten();
        self.add_event(id, project, action, detail, image, None)
    }

    /// Notes that a memory was just stored.
    pub(crate) fn note_stored(
        &mut self,
        id: &str,
        project: Option<&str>,
    ) -> Result<(), SchemaError> {
        if !self.keeps_history()? || !self.journal.noted.insert(id.to_owned()) {
            return Ok(());
        }
        self.add_event(
            id,
            project.map(ToOwned::to_owned),
            &Action::Stored,
            None,
            None,
            None,
        )
    }

    /// Notes something of a memory that leaves the memory as it is.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note(
        &mut self,
        id: &str,
        action: &Action,
        detail: Option<String>,
    ) -> Result<(), SchemaError> {
        if !self.keeps_history()? {
            return Ok(());
        }
        let project = self.project_of(id)?.flatten();
        self.add_event(id, project, action, detail, None, None)
    }

    /// Notes that an event is undone, before it is: what follows of this memory in this transaction is part of it.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn note_undoing(&mut self, event: &Event) -> Result<(), SchemaError> {
        if !self.keeps_history()? {
            return Ok(());
        }
        self.journal.noted.insert(event.memory.clone());
        let image = match self.key_of(&event.memory)? {
            Some(seq) => self.image(seq)?,
            None => None,
        };
        let project = event.project.clone();
        self.add_event(
            &event.memory,
            project,
            &Action::Undone,
            None,
            image,
            Some(event.number),
        )
    }

    /// Adds an event of another system's history, as it was noted there; tells whether it was not there yet.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn import_event(
        &mut self,
        at: Timestamp,
        action: &Action,
        memory: &str,
        actor: Option<&str>,
        detail: Option<&str>,
    ) -> Result<bool, SchemaError> {
        let project = self.project_of(memory)?.flatten();
        let added = self.execute(
            "adding an event of another history",
            "INSERT INTO memory_events (at, action, memory, project, actor, batch, detail)
             SELECT ?1, ?2, ?3, ?4, ?5, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory_events'), 0) + 1, ?6
             WHERE NOT EXISTS (SELECT 1 FROM memory_events WHERE memory = ?3 AND at = ?1 AND action = ?2
                                 AND actor IS ?5 AND detail IS ?6)",
            params![at.to_string(), action.as_str(), memory, project, actor, detail],
        )?;
        Ok(added > 0)
    }

    /// Takes out of the history all that tells of a memory's text, and that it is erased into it.
    pub(crate) fn erase_from_history(&mut self, id: &str) -> Result<(), SchemaError> {
        let stripped = self.execute(
            "taking a memory out of the history",
            "UPDATE memory_events SET before = NULL, detail = NULL, project = NULL
             WHERE memory = ?1 AND (before IS NOT NULL OR detail IS NOT NULL OR project IS NOT NULL)",
            [id],
        )?;
        // The images of others tell how they were related to it.
        self.execute(
            "taking a memory out of the history of others",
            "UPDATE memory_events SET before = NULL WHERE before IS NOT NULL AND instr(before, ?1) > 0 AND EXISTS (
                 SELECT 1 FROM json_each(before, '$.relations') r
                 WHERE r.value ->> 'from' = ?1 OR r.value ->> 'to' = ?1)",
            [id],
        )?;
        if stripped > 0 && self.keeps_history()? {
            self.add_event(id, None, &Action::Erased, None, None, None)?;
        }
        Ok(())
    }

    fn add_event(
        &mut self,
        memory: &str,
        project: Option<String>,
        action: &Action,
        detail: Option<String>,
        before: Option<String>,
        undoes: Option<i64>,
    ) -> Result<(), SchemaError> {
        // What an undoing or a replacing does by the way is called by its own name.
        let action = match &self.journal.action {
            Some(called) if undoes.is_none() && *action != Action::Stored => called.clone(),
            _ => action.clone(),
        };
        let at = *self.journal.at.get_or_insert_with(Timestamp::now);
        let number: i64 = self
            .connection()
            .prepare_cached(
                "INSERT INTO memory_events (at, action, memory, project, actor, batch, detail, before, undoes)
                 VALUES (?1, ?2, ?3, ?4, ?5,
                         coalesce(?6, (SELECT seq FROM sqlite_sequence WHERE name = 'memory_events') + 1, 1), ?7, ?8, ?9)
                 RETURNING event",
            )
            .and_then(|mut statement| {
                statement.query_row(
                    params![
                        at.to_string(),
                        action.as_str(),
                        memory,
                        project,
                        self.journal.actor,
                        self.journal.batch,
                        detail,
                        before,
                        undoes
                    ],
                    |row| row.get(0),
                )
            })
            .doing("noting what happens to a memory")?;
        self.journal.batch.get_or_insert(number);
        Ok(())
    }

    /// Drops the events that are no longer kept, where this transaction added some.
    pub(crate) fn trim_history(&mut self) -> Result<(), SchemaError> {
        let (Some(last), Some(Some(kept))) = (self.journal.batch, self.journal.retention) else {
            return Ok(());
        };
        let doing = "trimming the history";
        let events = i64::try_from(kept.events).unwrap_or(i64::MAX);
        self.execute(
            doing,
            "DELETE FROM memory_events WHERE event <= (SELECT max(event) FROM memory_events) - ?1",
            [events],
        )?;
        if let Some(days) = kept.days {
            let micros = i64::from(days).saturating_mul(86_400_000_000);
            let now = self.journal.at.unwrap_or_else(Timestamp::now);
            let oldest = Timestamp::from_micros(now.as_micros().saturating_sub(micros))
                .unwrap_or(Timestamp::MIN);
            self.execute(
                doing,
                "DELETE FROM memory_events WHERE at < ?1 AND event < ?2",
                params![oldest.to_string(), last],
            )?;
        }
        Ok(())
    }
}

//! The journal: notes what happens to memories in the same transaction as the change, where the file is told to keep its
//! history. It never decides what happens.

use std::collections::HashSet;

use rusqlite::params;

use crate::error::{Doing, SchemaError};
use crate::events::{Action, Event, HISTORY, Retention};
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

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
        if deletes {
            // What is stored under its id from now on is another memory.
            self.journal.noted.remove(id);
        } else if !self.journal.noted.insert(id.to_owned()) {
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
        // No image alone may be one that was erased.
        let detail = image
            .is_none()
            .then(|| serde_json::json!({ "was": "absent" }).to_string());
        self.add_event(
            &event.memory,
            project,
            &Action::Undone,
            detail,
            image,
            Some(event.number),
        )
    }

    /// Takes out of the history all that tells of a memory's text, and that it is erased into it.
    pub(crate) fn erase_from_history(&mut self, id: &str) -> Result<(), SchemaError> {
        let stripped = self.execute(
            "taking a memory out of the history",
            "UPDATE memory_events SET before = NULL, detail = NULL, project = NULL
             WHERE memory = ?1 AND (before IS NOT NULL OR detail IS NOT NULL OR project IS NOT NULL)",
            [id],
        )?;
        // The images of others tell how they were related to it. An id that JSON writes as it is spares parsing most.
        let as_it_is = id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'));
        self.execute(
            "taking a memory out of the history of others",
            "UPDATE memory_events SET before = NULL WHERE before IS NOT NULL AND (NOT ?2 OR instr(before, ?1) > 0) AND EXISTS (
                 SELECT 1 FROM json_each(before, '$.relations') r
                 WHERE r.value ->> 'from' = ?1 OR r.value ->> 'to' = ?1)",
            params![id, as_it_is],
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

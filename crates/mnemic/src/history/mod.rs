//! The history of a file: how much of it is kept, what happened, and undoing it.

mod undo;

use mnemic_schema::{Action, Event, EventFilter, Order, Retention, Scope, Timestamp};

use crate::Result;
use crate::memory::Memory;

pub use undo::Undone;

/// How much of its history a file keeps, from [`Memory::keep_history`] on. The default is the newest hundred thousand
/// events, of any age.
///
/// ```
/// use mnemic::History;
///
/// let a_year = History::new().days(365).events(1_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use = "nothing is kept until it is given to Memory::keep_history"]
pub struct History(Retention);

impl History {
    /// The newest hundred thousand events, of any age.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the newest so many events.
    pub fn events(mut self, events: u64) -> Self {
        self.0.events = events;
        self
    }

    /// Only those of the last so many days.
    pub fn days(mut self, days: u32) -> Self {
        self.0.days = Some(days);
        self
    }

    /// How many events at most.
    #[must_use]
    pub fn most_events(self) -> u64 {
        self.0.events
    }

    /// Of how many days at most; `None` is of any age.
    #[must_use]
    pub fn most_days(self) -> Option<u32> {
        self.0.days
    }
}

/// Which events [`Memory::events`] lists. The default is all of them, newest first.
///
/// ```
/// use mnemic::{Action, Events};
///
/// let deletions = Events::new().actions([Action::Deleted, Action::Pruned]).actor("agent-7").limit(20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "nothing is listed until it is given to Memory::events"]
pub struct Events {
    pub(crate) filter: EventFilter,
    order: Order,
    limit: Option<usize>,
}

impl Events {
    /// All events, newest first.
    pub fn new() -> Self {
        Self::default()
    }

    /// Those of one memory, by its id, which may be gone.
    pub fn of(id: impl Into<String>) -> Self {
        let mut events = Self::new();
        events.filter.memory = Some(id.into());
        events
    }

    /// Only of memories that were of this scope.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.filter.scope = scope;
        self
    }

    /// Only at this instant or later.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.filter.since = Some(time);
        self
    }

    /// Only before this instant.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.filter.until = Some(time);
        self
    }

    /// Only what this actor did.
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.filter.actor = Some(actor.into());
        self
    }

    /// Only these actions; no actions is no condition.
    pub fn actions(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.filter.actions = actions.into_iter().collect();
        self
    }

    /// Only the events of one change ([`Event::batch`]).
    pub fn batch(mut self, batch: i64) -> Self {
        self.filter.batch = Some(batch);
        self
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Earliest first.
    pub fn oldest_first(mut self) -> Self {
        self.order = Order::OldestFirst;
        self
    }
}

impl Memory {
    /// Has the file keep its history from now on: every change of a memory, by any handle of any process, is noted in the
    /// transaction that makes it, with who did it and with the memory as it was before, so that it can be undone. It is a
    /// setting of the file; a file that was never told keeps none. A memory that is deleted stays in the history until it
    /// falls out of it, or is erased ([`Memory::erase`] takes it out of there too).
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Action, Events, History, Memory};
    ///
    /// let memory = Memory::open_in_memory()?.acting_as("agent-7");
    /// memory.keep_history(History::new().days(90))?;
    /// let id = memory.store("the desk plant is a fern")?.id;
    /// memory.update(&id, "the desk plant is a cactus")?;
    ///
    /// let newest = &memory.events(Events::of(&id))?[0];
    /// assert_eq!(newest.action, Action::Updated);
    /// assert_eq!(newest.actor.as_deref(), Some("agent-7"));
    /// memory.undo(newest.number)?;
    /// assert_eq!(memory.get(&id)?.unwrap().content, "the desk plant is a fern");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn keep_history(&self, history: History) -> Result<()> {
        self.write(|transaction| Ok(transaction.keep_history(Some(history.0))?))
    }

    /// Has the file keep no history any more, and drops what it kept.
    ///
    /// # Errors
    /// As [`Memory::keep_history`].
    pub fn drop_history(&self) -> Result<()> {
        self.write(|transaction| Ok(transaction.keep_history(None)?))
    }

    /// How much of its history the file keeps; `None` where it keeps none.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    pub fn history(&self) -> Result<Option<History>> {
        self.read(|snapshot| Ok(snapshot.retention()?.map(History)))
    }

    /// What happened, newest first unless told otherwise. Empty in a file that keeps no history.
    ///
    /// # Errors
    /// As [`Memory::history`].
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn events(&self, events: Events) -> Result<Vec<Event>> {
        self.read(|snapshot| Ok(snapshot.events(&events.filter, events.order, events.limit)?))
    }
}

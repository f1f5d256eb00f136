//! The verbs that read without ranking: get and timeline.

use mnemic_schema::{Filter, Order, Timestamp};

use crate::Result;
use crate::filter::{Clocks, Include, clock_verbs, filter_verbs};
use crate::memory::Memory;
use crate::types::StoredMemory;

/// Which memories [`Memory::timeline`] lists, and how many. The default is all of them but the forgotten, newest first:
/// what was superseded or is not valid now is part of what happened ([`Timeline::include`]).
///
/// ```
/// use mnemic::Timeline;
///
/// let last_may = Timeline::new().since("2026-05-01".parse()?).until("2026-06-01".parse()?).oldest_first();
/// # Ok::<(), mnemic::TimestampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a timeline lists nothing until it is given to Memory::timeline"]
pub struct Timeline {
    pub(crate) filter: Filter,
    order: Order,
    limit: Option<usize>,
    clocks: Clocks,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            order: Order::default(),
            limit: None,
            clocks: Clocks {
                include: Include::new().superseded().upcoming().expired(),
                ..Clocks::default()
            },
        }
    }
}

filter_verbs!(Timeline);
clock_verbs!(Timeline);

impl Timeline {
    /// All memories of all projects but the forgotten, newest first.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// As many as there are (the default).
    pub fn no_limit(mut self) -> Self {
        self.limit = None;
        self
    }

    /// Earliest created first.
    pub fn oldest_first(mut self) -> Self {
        self.order = Order::OldestFirst;
        self
    }
}

impl Memory {
    /// The memory with an id, if there is one.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn get(&self, id: &str) -> Result<Option<StoredMemory>> {
        self.read(|snapshot| Ok(snapshot.row(id)?.map(Into::into)))
    }

    /// The memories that pass a filter, by time of creation. Memories of one instant follow in the order in which they
    /// were stored (newest first: the last stored first).
    ///
    /// # Errors
    /// As [`Memory::get`].
    ///
    /// ```
    /// use mnemic::{Memory, Timeline};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["first", "second", "third"])?;
    /// let newest = memory.timeline(Timeline::new().limit(2))?;
    /// assert_eq!(newest[0].content, "third");
    /// assert_eq!(newest[1].content, "second");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn timeline(&self, timeline: Timeline) -> Result<Vec<StoredMemory>> {
        let Timeline {
            mut filter,
            order,
            limit,
            clocks,
        } = timeline;
        filter.standing = clocks.standing(Timestamp::now());
        self.read(|snapshot| {
            let rows = snapshot.list(&filter, order, limit)?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }
}

//! Relations in lists, and the memories with the most of them. Nothing is followed further than one relation.

use mnemic_schema::{Direction, HubRow, RelationFilter, Scope, Snapshot};

use crate::graph::relation::{Relation, RelationKind, kinds};
use crate::memory::Memory;
use crate::types::StoredMemory;
use crate::{Error, Result};

/// Which relations [`Memory::relations`] lists. An id becomes all those of that memory.
///
/// ```
/// use mnemic::{Direction, RelationKind, Relations};
///
/// let objections = Relations::of("0123456789abcdef").inward().kinds([RelationKind::CONTRADICTS]);
/// let inner = Relations::among(["a", "b", "c"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "this lists nothing until it is given to Memory::relations"]
pub struct Relations {
    of: Option<String>,
    pub(crate) filter: RelationFilter,
    limit: Option<usize>,
}

impl Relations {
    /// All relations, latest made first.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those that start from a memory or lead to it.
    pub fn of(id: impl Into<String>) -> Self {
        Self {
            of: Some(id.into()),
            ..Self::default()
        }
    }

    /// Those from one of these memories to another of them; ids that no memory has are of no account.
    pub fn among<T: Into<String>>(ids: impl IntoIterator<Item = T>) -> Self {
        let mut relations = Self::default();
        relations.filter.among = Some(ids.into_iter().map(Into::into).collect());
        relations
    }

    /// Of a memory ([`Relations::of`]), only those that start from it.
    pub fn outward(mut self) -> Self {
        self.filter.direction = Direction::Outward;
        self
    }

    /// Of a memory ([`Relations::of`]), only those that lead to it.
    pub fn inward(mut self) -> Self {
        self.filter.direction = Direction::Inward;
        self
    }

    /// Only those of these kinds; no kinds is no condition.
    pub fn kinds<K: Into<RelationKind>>(mut self, of: impl IntoIterator<Item = K>) -> Self {
        self.filter.kinds = kinds(of);
        self
    }

    /// Only those with both ends in a scope. Default: all.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.filter.scope = scope;
        self
    }

    /// At most so many. Default: all.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

impl<T: Into<String>> From<T> for Relations {
    fn from(id: T) -> Self {
        Self::of(id)
    }
}

/// A memory and how many relations it has, from [`Memory::hubs`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hub {
    /// The memory.
    pub memory: StoredMemory,
    /// Relations that start from it.
    pub outward: u64,
    /// Relations that lead to it.
    pub inward: u64,
}

impl Hub {
    /// All its relations.
    #[must_use]
    pub fn relations(&self) -> u64 {
        self.outward + self.inward
    }
}

impl Memory {
    /// The relations of a memory, among some, or all: latest made first, those of one instant in the reverse of the order in
    /// which they were drawn.
    ///
    /// # Errors
    /// `NotFound` where there is no memory to list those of; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, Relations};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let (a, b) = (memory.store("a")?.id, memory.store("b")?.id);
    /// memory.relate((&a, &b, "cites", "b is named in its second line"))?;
    /// assert_eq!(memory.relations(&b)?[0].explanation.as_deref(), Some("b is named in its second line"));
    /// assert!(memory.relations(Relations::of(&b).outward())?.is_empty());
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn relations(&self, relations: impl Into<Relations>) -> Result<Vec<Relation>> {
        let Relations {
            of,
            mut filter,
            limit,
        } = relations.into();
        self.read(|snapshot| {
            if let Some(id) = &of {
                filter.of = Some(key(snapshot, id, &filter.scope)?);
            }
            let rows = snapshot.relations(&filter, limit)?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }

    /// The memories with the most relations, most first; equal ones by time of change, latest first, then the last stored
    /// first. At most `limit`, and none without a relation. Causal parents do not count.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let ids: Vec<String> = memory.store_all(["hub", "a", "b"])?.into_iter().map(|stored| stored.id).collect();
    /// memory.relate_all([(&ids[1], &ids[0], "supports", "an example"), (&ids[0], &ids[2], "cites", "by name")])?;
    /// let hubs = memory.hubs(10)?;
    /// assert_eq!((&*hubs[0].memory.content, hubs[0].relations()), ("hub", 2));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn hubs(&self, limit: usize) -> Result<Vec<Hub>> {
        self.hubs_within(&Scope::All, limit)
    }

    /// As [`Memory::hubs`], of a scope, by the relations within it.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "hubs", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn hubs_within(&self, scope: &Scope, limit: usize) -> Result<Vec<Hub>> {
        self.read(|snapshot| {
            let hubs: Vec<HubRow> = snapshot.hubs(scope, limit)?;
            let seqs: Vec<i64> = hubs.iter().map(|hub| hub.seq).collect();
            let rows = snapshot.rows(&seqs)?.into_iter();
            Ok(rows
                .zip(hubs)
                .map(|(row, hub)| Hub {
                    memory: row.into(),
                    outward: hub.outward,
                    inward: hub.inward,
                })
                .collect())
        })
    }

    /// The memories that were stored or changed last, latest first; those of one second, the last stored first. At most
    /// `limit`. ([`Memory::timeline`] is by time of creation.)
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let new_year = |text: &str| Ok::<_, mnemic::Error>(NewMemory::new(text).created_at("2026-01-01".parse()?));
    /// let first = memory.store(new_year("a")?)?.id;
    /// memory.store(new_year("b")?)?;
    /// memory.update(&first, "a, corrected")?;
    /// assert_eq!(memory.recently_updated(1)?[0].content, "a, corrected");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn recently_updated(&self, limit: usize) -> Result<Vec<StoredMemory>> {
        self.recently_updated_within(&Scope::All, limit)
    }

    /// As [`Memory::recently_updated`], of a scope.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(
            name = "recently_updated",
            level = "info",
            skip_all,
            err(level = "debug")
        )
    )]
    pub(crate) fn recently_updated_within(
        &self,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<StoredMemory>> {
        self.read(|snapshot| {
            let seqs = snapshot.last_updated(scope, limit)?;
            let rows = snapshot.rows(&seqs)?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }
}

/// The key of a memory of a scope; any other is not there.
pub(crate) fn key(snapshot: &Snapshot<'_>, id: &str, scope: &Scope) -> Result<i64> {
    snapshot
        .key_within(id, scope)?
        .ok_or_else(|| Error::not_found(id))
}

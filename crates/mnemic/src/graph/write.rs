//! The verbs that draw and remove relations. They write `relations` alone: no memory changes by one.

use mnemic_schema::{NewRelationRow, Scope, Timestamp};

use crate::Result;
use crate::graph::relation::{NewRelation, Related, RelationKind};
use crate::memory::Memory;
use crate::trace::event;

impl Memory {
    /// Draws a relation between two memories. There is one of each kind from a memory to another: drawing it again changes
    /// nothing, but for an explanation, context or source that is given and differs, which takes the place of the old one.
    ///
    /// A relation is a line between two memories and no more: one of the kind `supersedes` takes nothing out of recall, as
    /// [`Memory::supersede`] does. It goes with either of its memories, by whatever verb that is deleted.
    ///
    /// # Errors
    /// `NotFound` naming the end that is not there; `InvalidInput` where the two are one, the kind is empty, the context is
    /// no JSON, or the relation says neither why it is there nor who made it ([`NewRelation`]); `ReadOnly`, `Busy`,
    /// `Storage`. Nothing is drawn then.
    ///
    /// ```
    /// use mnemic::{Memory, NewRelation, Related, RelationKind};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let rule = memory.store("deploys freeze on Fridays")?.id;
    /// let outage = memory.store("the shop was down for a weekend after a Friday deploy")?.id;
    ///
    /// let why = NewRelation::because(&outage, &rule, RelationKind::SUPPORTS, "the rule was made the week after");
    /// assert_eq!(memory.relate(why.clone())?, Related::Added);
    /// assert_eq!(memory.relate(why)?, Related::Unchanged);
    /// assert_eq!(memory.relations(&rule)?[0].from, outage);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn relate(&self, relation: impl Into<NewRelation>) -> Result<Related> {
        let related = self.relate_within(&Scope::All, [relation])?;
        Ok(related.into_iter().next().unwrap_or(Related::Unchanged))
    }

    /// Draws many relations in one transaction: all of them, or none. Answers in the order given.
    ///
    /// # Errors
    /// As [`Memory::relate`].
    ///
    /// ```
    /// use mnemic::{Memory, Related};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let ids: Vec<String> = memory.store_all(["a", "b", "c"])?.into_iter().map(|stored| stored.id).collect();
    /// let drawn = memory.relate_all([
    ///     (&ids[0], &ids[1], "related_to", "neighbours in the alphabet"),
    ///     (&ids[1], &ids[2], "related_to", "neighbours in the alphabet"),
    /// ])?;
    /// assert_eq!(drawn, [Related::Added, Related::Added]);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn relate_all<I>(&self, relations: I) -> Result<Vec<Related>>
    where
        I: IntoIterator,
        I::Item: Into<NewRelation>,
    {
        self.relate_within(&Scope::All, relations)
    }

    /// As [`Memory::relate_all`], between memories of a scope; any other is not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "relate", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn relate_within<I>(&self, scope: &Scope, relations: I) -> Result<Vec<Related>>
    where
        I: IntoIterator,
        I::Item: Into<NewRelation>,
    {
        let now = Timestamp::now();
        let rows: Vec<NewRelationRow> = relations
            .into_iter()
            .map(|relation| relation.into().into_row(now))
            .collect::<Result<_>>()?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        event!(relations = rows.len(), "relating");
        self.write(|transaction| {
            let drawn = rows.iter().map(|row| transaction.relate(row, scope));
            drawn.map(|change| Ok(change?.into())).collect()
        })
    }

    /// Removes the relation of a kind from one memory to another. Answers whether it was there.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`.
    ///
    /// ```
    /// use mnemic::Memory;
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let (a, b) = (memory.store("a")?.id, memory.store("b")?.id);
    /// memory.relate((&a, &b, "related_to", "neighbours in the alphabet"))?;
    /// assert!(memory.unrelate(&a, &b, "related_to")?);
    /// assert!(!memory.unrelate(&a, &b, "related_to")?);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn unrelate(&self, from: &str, to: &str, kind: impl Into<RelationKind>) -> Result<bool> {
        self.unrelate_within(&Scope::All, from, to, &kind.into())
    }

    /// As [`Memory::unrelate`], between memories of a scope; any other has no relation.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "unrelate", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn unrelate_within(
        &self,
        scope: &Scope,
        from: &str,
        to: &str,
        kind: &RelationKind,
    ) -> Result<bool> {
        self.write(|transaction| Ok(transaction.unrelate(from, to, kind.as_str(), scope)?))
    }
}

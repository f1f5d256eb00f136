//! The verbs on how a memory stands: supersede, forget, revive, touch. They never change its text, nor any index of it.

pub(crate) mod checkup;
pub(crate) mod maintain;
pub(crate) mod said;

use mnemic_schema::{Action, Lifecycle, Scope, Snapshot, Timestamp, WriteTransaction};

use crate::lifecycle::said::Said;
use crate::memory::Memory;
use crate::{Error, Result};

impl Memory {
    /// Puts one memory in the place of another: the old one is kept, with a relation `supersedes` to it, but is not recalled
    /// unless asked for ([`crate::Include::superseded`], [`crate::Recall::as_of`]). Where something stands in its place
    /// already, that stays so, and the relation is added.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` where the two are one, or the old one stands in the place of the new one; `ReadOnly`,
    /// `Busy`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Include, Memory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let old = memory.store("the cache TTL is 5 minutes")?.id;
    /// let new = memory.store("the cache TTL is 30 minutes")?.id;
    /// memory.supersede(&old, &new)?;
    /// assert_eq!(memory.recall("cache TTL")?.len(), 1);
    /// assert_eq!(memory.recall(Recall::new("cache TTL").include(Include::all()))?.len(), 2);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn supersede(&self, old: &str, by: &str) -> Result<()> {
        self.supersede_within(&Scope::All, old, by)
    }

    /// As [`Memory::supersede`], of memories of a scope; others are not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "supersede", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn supersede_within(&self, scope: &Scope, old: &str, by: &str) -> Result<()> {
        let now = Timestamp::now();
        self.write(|transaction| {
            within(transaction, scope, old)?;
            within(transaction, scope, by)?;
            Ok(transaction.supersede(old, by, now)?)
        })
    }

    /// Forgets memories: they are kept, but not recalled unless asked for ([`crate::Include::forgotten`]), until
    /// [`Memory::revive`] says otherwise. To have them gone, [`Memory::delete`] them. One that is forgotten already stays
    /// so.
    ///
    /// # Errors
    /// `NotFound` where one is not there (none is forgotten then), `ReadOnly`, `Busy`, `Storage`.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let id = memory.store("the old office is in Harbour Street")?.id;
    /// memory.forget([&id])?;
    /// assert!(memory.recall("where is the office?")?.is_empty());
    /// memory.revive([&id])?;
    /// assert_eq!(memory.recall("where is the office?")?.len(), 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn forget<I>(&self, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.forget_within(&Scope::All, ids)
    }

    /// As [`Memory::forget`], of memories of a scope; others are not there.
    pub(crate) fn forget_within<I>(&self, scope: &Scope, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let now = Timestamp::now();
        self.change_lifecycles(scope, ids, Action::Forgotten, |lifecycle| {
            lifecycle.forgotten_at.get_or_insert(now);
        })
    }

    /// Has memories that were forgotten recalled again. One that was not stays as it is.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn revive<I>(&self, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.revive_within(&Scope::All, ids)
    }

    /// As [`Memory::revive`], of memories of a scope; others are not there.
    pub(crate) fn revive_within<I>(&self, scope: &Scope, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.change_lifecycles(scope, ids, Action::Revived, |lifecycle| {
            lifecycle.forgotten_at = None;
        })
    }

    /// Changes how memories of a scope stand, in one transaction.
    pub(crate) fn change_lifecycles<I>(
        &self,
        scope: &Scope,
        ids: I,
        action: Action,
        change: impl Fn(&mut Lifecycle),
    ) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids: Vec<I::Item> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.write(|transaction| {
            transaction.call_it(Some(action));
            for id in &ids {
                let id = id.as_ref();
                within(transaction, scope, id)?;
                let row = transaction.row(id)?.ok_or_else(|| Error::not_found(id))?;
                let mut lifecycle = row.lifecycle.clone();
                change(&mut lifecycle);
                if lifecycle != row.lifecycle {
                    transaction.set_lifecycle(id, &lifecycle)?;
                }
            }
            Ok(())
        })
    }

    /// Counts one use of each of these memories, now: what [`Memory::maintain`] judges by. Recall itself never counts, as
    /// reading writes nothing; give the ids of the hits that were of use. No index is written. Answers the ids that no
    /// memory has.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let id = memory.store("tea is in the left drawer")?.id;
    /// memory.touch([&id])?;
    /// assert_eq!(memory.get(&id)?.unwrap().usage.accesses, 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn touch<I>(&self, ids: I) -> Result<Vec<String>>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.touch_within(&Scope::All, ids, Timestamp::now())
    }

    /// As [`Memory::touch`], at an instant: for uses that were noted elsewhere.
    ///
    /// # Errors
    /// As [`Memory::touch`].
    pub fn touch_at<I>(&self, ids: I, time: Timestamp) -> Result<Vec<String>>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.touch_within(&Scope::All, ids, time)
    }

    /// As [`Memory::touch`], of memories of a scope; others are not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "touch", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn touch_within<I>(
        &self,
        scope: &Scope,
        ids: I,
        at: Timestamp,
    ) -> Result<Vec<String>>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids: Vec<String> = ids.into_iter().map(|id| id.as_ref().to_owned()).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction| {
            let mut missing = Vec::new();
            for id in &ids {
                if !is_within(transaction, scope, id)?
                    || !transaction
                        .touch(std::slice::from_ref(id), 1, at)?
                        .is_empty()
                {
                    missing.push(id.clone());
                }
            }
            Ok(missing)
        })
    }
}

/// Makes sure that there is a memory with an id in a scope.
pub(crate) fn within(snapshot: &Snapshot<'_>, scope: &Scope, id: &str) -> Result<()> {
    if is_within(snapshot, scope, id)? {
        Ok(())
    } else {
        Err(Error::not_found(id))
    }
}

/// Whether there is a memory with an id in a scope.
pub(crate) fn is_within(snapshot: &Snapshot<'_>, scope: &Scope, id: &str) -> Result<bool> {
    let project = snapshot.project_of(id)?;
    Ok(project.is_some_and(|project| scope.admits(project.as_deref())))
}

/// Says something of a memory that is there, and has it supersede others, all of a scope.
pub(crate) fn say(
    transaction: &mut WriteTransaction<'_>,
    scope: &Scope,
    id: &str,
    before: Lifecycle,
    said: &Said,
) -> Result<()> {
    if let Some(Some(parent)) = &said.causal_parent {
        within(transaction, scope, parent)?;
    }
    let mut lifecycle = before.clone();
    said.apply(&mut lifecycle);
    if lifecycle != before {
        transaction.set_lifecycle(id, &lifecycle)?;
    }
    Ok(())
}

//! The verbs that write: store, update, replace, delete, prune. They embed first, then write in one transaction.

use mnemic_embed::{Embedder, InputKind};
use mnemic_schema::{
    Action, Embedded, Filter, Lifecycle, MemoryRow, NewRow, RecordedModel, RowChange, Scope,
    Snapshot, Timestamp, WriteTransaction,
};

use crate::embedding::{nothing_to_embed, passages, recorded};
use crate::filter::filter_verbs;
use crate::lifecycle;
use crate::lifecycle::said::Said;
use crate::memory::Memory;
use crate::trace::event;
use crate::types::{Deleted, MemoryUpdate, NewMemory, Pruned, Stored, StoredMemory};
use crate::{Error, Result};

/// Which memories [`Memory::prune`] deletes. At least one filter is required, and nothing is deleted before
/// [`Prune::apply`] is said.
///
/// ```
/// use mnemic::{Memory, NewMemory, Prune};
///
/// let memory = Memory::open_in_memory()?;
/// memory.store(NewMemory::new("a note of an old project").project("old"))?;
/// memory.store(NewMemory::new("a note of a new project").project("new"))?;
///
/// let rehearsal = memory.prune(Prune::new().project("old"))?;
/// assert_eq!((rehearsal.dry_run, rehearsal.ids.len()), (true, 1));
/// memory.prune(Prune::new().project("old").apply())?;
/// assert_eq!(memory.health()?.memories, 1);
/// # Ok::<(), mnemic::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a prune does nothing until it is given to Memory::prune"]
pub struct Prune {
    pub(crate) filter: Filter,
    apply: bool,
}

filter_verbs!(Prune);

impl Prune {
    /// No filter yet; a rehearsal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Deletes for real.
    pub fn apply(mut self) -> Self {
        self.apply = true;
        self
    }
}

impl Memory {
    /// Stores a memory.
    ///
    /// # Errors
    /// `InvalidInput` (no text, a bad id), `AlreadyExists`, `Embedding`, `ModelMismatch`, `ReadOnly`, `Busy`, `Storage`;
    /// nothing is stored then.
    pub fn store(&self, memory: impl Into<NewMemory>) -> Result<Stored> {
        let mut stored = self.store_all([memory])?;
        stored
            .pop()
            .ok_or_else(|| Error::invalid("nothing was stored"))
    }

    /// Stores many memories in one transaction: all of them, or none. Many times faster than one by one.
    ///
    /// Answers in the order given. With no memories it does nothing.
    ///
    /// # Errors
    /// As [`Memory::store`].
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let stored = memory.store_all(["tea is in the left drawer", "the spare key is with Anna"])?;
    /// assert_eq!(memory.get(&stored[1].id)?.unwrap().content, "the spare key is with Anna");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn store_all<I>(&self, memories: I) -> Result<Vec<Stored>>
    where
        I: IntoIterator,
        I::Item: Into<NewMemory>,
    {
        let memories = memories.into_iter().map(Into::into).collect();
        self.store_all_within(&Scope::All, memories)
    }

    /// As [`Memory::store_all`]; memories that they name are of a scope, others are not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "store_all", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn store_all_within(
        &self,
        scope: &Scope,
        memories: Vec<NewMemory>,
    ) -> Result<Vec<Stored>> {
        let now = Timestamp::now();
        for memory in &memories {
            check_content(&memory.content)?;
        }
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        event!(memories = memories.len(), "storing");
        let (rows, said): (Vec<NewRow>, Vec<Sayings>) = memories
            .into_iter()
            .map(|memory| new_row(memory, None, now))
            .unzip();
        let texts: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
        self.with_model(|embedder| {
            let embeddings = embed_all(embedder, &texts)?;
            let windows = windows(embedder, &texts)?;
            self.write(|transaction| {
                let mut stored = Vec::with_capacity(rows.len());
                for (i, row) in rows.iter().enumerate() {
                    stored.push(Stored {
                        id: transaction.insert(row, embeddings.get(i))?,
                        created_at: row.created_at,
                        windows: windows.get(i).copied().unwrap_or_default(),
                    });
                }
                // When all are there, as one may name another.
                for (stored, said) in stored.iter().zip(&said) {
                    said.say(transaction, scope, &stored.id, now)?;
                }
                Ok(stored)
            })
        })
    }

    /// Changes a memory in place: its id and time of creation stay, everything that changes is indexed anew. Answers
    /// with the memory as it is now. A change of nothing changes nothing, not even the time of change.
    ///
    /// # Errors
    /// `NotFound`, and as [`Memory::store`]; nothing is changed then.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let id = memory.store("the desk plant is a fern")?.id;
    /// let changed = memory.update(&id, "the desk plant is a cactus")?;
    /// assert_eq!(changed.id, id);
    /// assert_eq!(memory.recall("cactus")?[0].memory, changed);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn update(&self, id: &str, change: impl Into<MemoryUpdate>) -> Result<StoredMemory> {
        self.update_within(&Scope::All, id, change.into())
    }

    /// As [`Memory::update`], of a memory of a scope; any other is not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "update", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn update_within(
        &self,
        scope: &Scope,
        id: &str,
        change: MemoryUpdate,
    ) -> Result<StoredMemory> {
        if change == MemoryUpdate::default() {
            let found = self.get(id)?;
            return found
                .filter(|memory| scope.admits(memory.project.as_deref()))
                .ok_or_else(|| Error::not_found(id));
        }
        if let Some(content) = &change.content {
            check_content(content)?;
        }
        let MemoryUpdate {
            content,
            project,
            tags,
            said,
        } = change;
        let change = RowChange {
            content,
            project,
            tags,
        };
        self.with_model(|embedder| {
            let embeddings = match &change.content {
                Some(content) => embed_all(embedder, &[content])?,
                None => Embeddings::default(),
            };
            self.write(|transaction| {
                let before = row_within(transaction, scope, id)?;
                transaction.update(id, &change, Timestamp::now(), embeddings.get(0))?;
                lifecycle::say(transaction, scope, id, before.lifecycle, &said)?;
                let row = transaction.row(id)?.ok_or_else(|| Error::not_found(id))?;
                Ok(row.into())
            })
        })
    }

    /// Stores a new memory in place of an old one, in one transaction: the old one is gone, the new one has its own id,
    /// and keeps the old one's project, tags and what was said of it unless it has its own ([`NewMemory::global`] drops the
    /// project, `tags([""; 0])` the tags). Relations and causes of the old one go with it: to keep those, [`Memory::update`]
    /// it, or [`Memory::supersede`] it.
    ///
    /// # Errors
    /// `NotFound`, and as [`Memory::store`]; the old memory is there still then.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let old = memory.store(NewMemory::new("cache TTL is 5 minutes").project("gateway"))?;
    /// let new = memory.replace(&old.id, "cache TTL is 30 minutes")?;
    /// assert_eq!(memory.get(&old.id)?, None);
    /// assert_eq!(memory.get(&new.id)?.unwrap().project.as_deref(), Some("gateway"));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn replace(&self, id: &str, with: impl Into<NewMemory>) -> Result<Stored> {
        self.replace_within(&Scope::All, id, with.into())
    }

    /// As [`Memory::replace`], of a memory of a scope; any other is not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "replace", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn replace_within(
        &self,
        scope: &Scope,
        id: &str,
        with: NewMemory,
    ) -> Result<Stored> {
        check_content(&with.content)?;
        let now = Timestamp::now();
        self.with_model(|embedder| {
            let embeddings = embed_all(embedder, &[&with.content])?;
            let windows = windows(embedder, &[&with.content])?;
            self.write(|transaction| {
                let old = row_within(transaction, scope, id)?;
                transaction.call_it(Some(Action::Replaced));
                transaction.delete(id)?;
                transaction.call_it(None);
                let (row, said) = new_row(with.clone(), Some(old.into()), now);
                let id = transaction.insert(&row, embeddings.get(0))?;
                said.say(transaction, scope, &id, now)?;
                Ok(Stored {
                    id,
                    created_at: row.created_at,
                    windows: windows.first().copied().unwrap_or_default(),
                })
            })
        })
    }

    /// Deletes a memory with all that belongs to it. Answers whether it was there.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`.
    pub fn delete(&self, id: &str) -> Result<bool> {
        self.write(|transaction| Ok(transaction.delete(id)?))
    }

    /// Deletes many memories in one transaction; ids that no memory has are reported, not an error.
    ///
    /// # Errors
    /// As [`Memory::delete`].
    pub fn delete_all<I>(&self, ids: I) -> Result<Deleted>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.delete_within(&Scope::All, ids)
    }

    /// As [`Memory::delete_all`], of memories of a scope; others are missing.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "delete_all", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn delete_within<I>(&self, scope: &Scope, ids: I) -> Result<Deleted>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids: Vec<I::Item> = ids.into_iter().collect();
        self.write(|transaction| {
            let mut report = Deleted::default();
            for id in &ids {
                let id = id.as_ref();
                let within = transaction
                    .project_of(id)?
                    .is_some_and(|project| scope.admits(project.as_deref()));
                if within && transaction.delete(id)? {
                    report.deleted += 1;
                } else {
                    report.missing.push(id.to_owned());
                }
            }
            Ok(report)
        })
    }

    /// Deletes all memories that pass a filter, or tells which it would delete: see [`Prune`].
    ///
    /// # Errors
    /// `InvalidInput` where no filter was given (no tags is none, and neither is the empty project name, which is more
    /// likely a variable that was never set); `ReadOnly`, `Busy`, `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn prune(&self, prune: Prune) -> Result<Pruned> {
        let Prune { filter, apply } = prune;
        if let Scope::Project(project) | Scope::ProjectAndGlobal(project) = &filter.scope
            && project.is_empty()
        {
            return Err(Error::invalid(
                "prune was given the empty project name: to prune what has no project, give Scope::Global",
            ));
        }
        if filter.is_empty() {
            return Err(Error::invalid(
                "prune needs a filter: a project or scope, tags, a time, or ids",
            ));
        }
        let ids = if apply {
            self.write(|transaction| {
                transaction.call_it(Some(Action::Pruned));
                let ids = transaction.ids(&filter)?;
                for id in &ids {
                    transaction.delete(id)?;
                }
                Ok(ids)
            })?
        } else {
            self.read(|snapshot| Ok(snapshot.ids(&filter)?))?
        };
        Ok(Pruned {
            dry_run: !apply,
            ids,
        })
    }
}

/// In how many windows the model embeds each text; nothing without a model.
fn windows(embedder: Option<&dyn Embedder>, texts: &[&str]) -> Result<Vec<usize>> {
    let Some(embedder) = embedder else {
        return Ok(Vec::new());
    };
    let windows = |text: &&str| Ok(embedder.windows(InputKind::Passage, text)?);
    texts.iter().map(windows).collect()
}

/// The vectors of texts to store; a text without one is an error.
fn embed_all(embedder: Option<&dyn Embedder>, texts: &[&str]) -> Result<Embeddings> {
    let Some(embedder) = embedder else {
        return Ok(Embeddings::default());
    };
    let embeddings = Embeddings::of(embedder, texts)?;
    let mut made = texts.iter().zip(&embeddings.vectors);
    match made.find(|(_, vector)| vector.is_none()) {
        Some((text, _)) => Err(nothing_to_embed(embedder, text)),
        None => Ok(embeddings),
    }
}

/// The vectors of a batch and who made them; of nobody where the handle has no model.
#[derive(Debug, Default)]
pub(crate) struct Embeddings {
    model: Option<RecordedModel>,
    vectors: Vec<Option<Vec<f32>>>,
}

impl Embeddings {
    /// As far as the model finds something to embed in the texts.
    pub(crate) fn of(embedder: &dyn Embedder, texts: &[&str]) -> Result<Self> {
        Ok(Self::made(embedder, passages(embedder, texts)?))
    }

    /// Those that a model made.
    pub(crate) fn made(embedder: &dyn Embedder, vectors: Vec<Option<Vec<f32>>>) -> Self {
        Self {
            model: Some(recorded(embedder.model())),
            vectors,
        }
    }

    pub(crate) fn get(&self, i: usize) -> Option<Embedded<'_>> {
        let (model, vector) = (self.model.as_ref()?, self.vectors.get(i)?.as_deref()?);
        Some(Embedded { model, vector })
    }
}

/// The memory with an id, of a scope.
fn row_within(snapshot: &Snapshot<'_>, scope: &Scope, id: &str) -> Result<MemoryRow> {
    let row = snapshot.row(id)?;
    row.filter(|row| scope.admits(row.project.as_deref()))
        .ok_or_else(|| Error::not_found(id))
}

/// What is said of a new memory beside its row.
#[derive(Debug, Default)]
struct Sayings {
    /// What it inherits.
    lifecycle: Lifecycle,
    said: Said,
    supersedes: Vec<String>,
}

impl Sayings {
    /// Says it of the memory that was just stored.
    fn say(
        &self,
        transaction: &mut WriteTransaction<'_>,
        scope: &Scope,
        id: &str,
        now: Timestamp,
    ) -> Result<()> {
        if self.lifecycle != Lifecycle::default() {
            transaction.set_lifecycle(id, &self.lifecycle)?;
        }
        lifecycle::say(transaction, scope, id, self.lifecycle.clone(), &self.said)?;
        for old in &self.supersedes {
            lifecycle::within(transaction, scope, old)?;
            transaction.supersede(old, id, now)?;
        }
        Ok(())
    }
}

/// The row of a new memory, and what is said of it; what it does not say itself it has from an old one.
fn new_row(
    memory: NewMemory,
    inherit_from: Option<StoredMemory>,
    now: Timestamp,
) -> (NewRow, Sayings) {
    let (project, tags, lifecycle) = inherit_from.map_or_else(Default::default, |old| {
        (old.project, old.tags, old.lifecycle)
    });
    let row = NewRow {
        id: memory.id,
        content: memory.content,
        project: memory.project.unwrap_or(project),
        tags: memory.tags.unwrap_or(tags),
        created_at: memory.created_at.unwrap_or(now),
    };
    let sayings = Sayings {
        // It is a new memory: it stands for itself.
        lifecycle: Lifecycle::current(lifecycle),
        said: memory.said,
        supersedes: memory.supersedes,
    };
    (row, sayings)
}

fn check_content(content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid(
            "a memory needs a text, this one is empty or white space",
        ));
    }
    Ok(())
}

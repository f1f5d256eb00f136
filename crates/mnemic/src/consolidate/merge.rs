//! Merging: one new memory in the place of several. The several are kept, superseded, with all they had.

use mnemic_schema::{Kind, Layer, Scope, Snapshot, Timestamp};

use crate::entities::check_entities;
use crate::lifecycle::is_within;
use crate::memory::Memory;
use crate::types::{NewMemory, Stored, StoredMemory};
use crate::write::{check_content, embed_all, new_row, windows};
use crate::{Error, ErrorKind, Result};

/// What [`Memory::merge`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The new memory.
    pub stored: Stored,
    /// The ids of the memories in whose place it stands, in the order given.
    pub superseded: Vec<String>,
    /// Relations that it took over from them.
    pub relations: u64,
    /// Entities that it took over from them.
    pub entities: u64,
}

impl Memory {
    /// Stores one memory in the place of several, in one transaction: it supersedes them, and they are kept but not recalled
    /// unless asked for.
    ///
    /// It takes over what they have: relations from and to others (not among each other), entities in the order of the
    /// ids after its own, and uses, summed. (A handle with an extractor looks for entities where none of them has any.) Unless it has its own, it has all their tags, the highest importance, a pin and the long-term
    /// layer where one of them has it, and their kind, trust, rate of decay, source and cause where they agree. Their project
    /// must be one, and is its own. They keep all of it too, so that nothing is lost where the new memory is deleted and
    /// they are restored: with a history ([`Memory::keep_history`]) each step can be undone.
    ///
    /// # Errors
    /// `NotFound` where one is not there; `InvalidInput` where fewer than two different ids are given, one is a document,
    /// their projects differ, or the new memory names another; and as [`Memory::store`]. Nothing is changed then.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let a = memory.store(NewMemory::new("deploys freeze on Fridays").tags(["ops"]).importance(0.9))?.id;
    /// let b = memory.store(NewMemory::new("no deploys on Friday").tags(["rules"]))?.id;
    /// let merged = memory.merge([&a, &b], "Deploys freeze on Fridays")?;
    /// let kept = memory.get(&merged.stored.id)?.unwrap();
    /// assert_eq!((kept.tags, kept.lifecycle.importance), (vec!["ops".to_owned(), "rules".to_owned()], 0.9));
    /// assert_eq!(memory.recall("when do deploys freeze?")?.len(), 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn merge<I>(&self, ids: I, into: impl Into<NewMemory>) -> Result<Merged>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids = ids.into_iter().map(|id| id.as_ref().to_owned()).collect();
        self.merge_within(&Scope::All, ids, into.into(), None)
    }

    /// As [`Memory::merge`], of memories of a scope; others are not there. `Changed` where they are not as expected.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "merge", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn merge_within(
        &self,
        scope: &Scope,
        ids: Vec<String>,
        into: NewMemory,
        expected: Option<&[StoredMemory]>,
    ) -> Result<Merged> {
        check_content(&into.content)?;
        check_entities(into.entities.as_deref())?;
        let found = match into.entities {
            Some(_) => None,
            None => self.found_in(&into.content)?,
        };
        let mut superseded: Vec<String> = Vec::with_capacity(ids.len());
        for id in ids {
            if !superseded.contains(&id) {
                superseded.push(id);
            }
        }
        if superseded.len() < 2 {
            return Err(Error::invalid(format!(
                "merging takes two memories or more, {} given: to change one, update it",
                superseded.len()
            )));
        }
        let now = Timestamp::now();
        self.with_model(|embedder| {
            let embeddings = embed_all(embedder, &[&into.content])?;
            let windows = windows(embedder, &[&into.content])?;
            self.write(|transaction| {
                let sources = sources(transaction, scope, &superseded)?;
                if let Some(expected) = expected {
                    are_as(&sources, expected)?;
                }
                let mut into = heir(transaction, scope, into.clone(), &sources)?;
                if into.entities.is_none() && sources.iter().all(|old| old.entities.is_empty()) {
                    into.entities.clone_from(&found);
                }
                into.supersedes.extend(superseded.iter().cloned());
                let (row, said) = new_row(into, None, now);
                let id = transaction.insert(&row, embeddings.get(0))?;
                said.say(transaction, scope, &id, row.created_at)?;
                let taken = transaction.take_over(&id, &superseded, scope)?;
                Ok(Merged {
                    stored: Stored {
                        id,
                        created_at: row.created_at,
                        windows: windows.first().copied().unwrap_or_default(),
                    },
                    superseded: superseded.clone(),
                    relations: taken.relations,
                    entities: taken.entities,
                })
            })
        })
    }
}

fn sources(snapshot: &Snapshot<'_>, scope: &Scope, ids: &[String]) -> Result<Vec<StoredMemory>> {
    let mut sources: Vec<StoredMemory> = Vec::with_capacity(ids.len());
    for id in ids {
        let row = snapshot.row(id)?;
        let row = row.filter(|row| scope.admits(row.project.as_deref()));
        let row = row.ok_or_else(|| Error::not_found(id))?;
        if snapshot.title(row.seq)?.is_some() {
            return Err(Error::invalid(format!(
                "{id} is a document: its source and passages cannot become part of another memory"
            )));
        }
        let memory: StoredMemory = row.into();
        if let Some(first) = sources.first()
            && first.project != memory.project
        {
            return Err(Error::invalid(format!(
                "the memories {} and {id} are of different projects ({:?} and {:?}) and cannot become one",
                first.id, first.project, memory.project
            )));
        }
        sources.push(memory);
    }
    Ok(sources)
}

/// Makes sure that nobody changed memories meanwhile, in what merging them goes by.
fn are_as(sources: &[StoredMemory], expected: &[StoredMemory]) -> Result<()> {
    for (now, then) in sources.iter().zip(expected) {
        if now.content != then.content
            || now.project != then.project
            || now.lifecycle != then.lifecycle
        {
            return Err(Error::new(
                ErrorKind::Changed,
                format!("the memory {:?} was changed meanwhile", now.id),
            ));
        }
    }
    Ok(())
}

/// The new memory with what it inherits.
fn heir(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    mut memory: NewMemory,
    sources: &[StoredMemory],
) -> Result<NewMemory> {
    let project = sources.first().and_then(|source| source.project.clone());
    if let Some(own) = &memory.project
        && *own != project
    {
        return Err(Error::invalid(format!(
            "the memories to merge are of the project {project:?}, the new one names {own:?}"
        )));
    }
    memory.project = Some(project);
    if memory.tags.is_none() {
        let mut tags: Vec<String> = Vec::new();
        for tag in sources.iter().flat_map(|source| &source.tags) {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        memory.tags = Some(tags);
    }
    let lives = || sources.iter().map(|source| &source.lifecycle);
    let said = &mut memory.said;
    let importance = lives().map(|life| life.importance).fold(0.0, f64::max);
    said.importance.get_or_insert(importance);
    if lives().any(|life| life.pinned) {
        said.pinned.get_or_insert(true);
    }
    if lives().any(|life| life.layer == Layer::LongTerm) {
        said.layer.get_or_insert(Layer::LongTerm);
    }
    fn agreed<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
    let or = |own: &mut Option<f64>, theirs: Option<f64>| *own = own.or(theirs);
    or(&mut said.trust, agreed(lives().map(|life| life.trust)));
    or(
        &mut said.decay_rate,
        agreed(lives().map(|life| life.decay_rate)),
    );
    let kind: Option<Kind> = agreed(lives().map(|life| life.kind.clone()));
    said.kind = said.kind.take().or(kind);
    let source = agreed(lives().map(|life| life.source.clone()));
    said.source = said.source.take().or(source);
    // One of them is no cause of what they become; one outside of the scope is not told of.
    let mut cause = agreed(lives().map(|life| life.causal_parent.clone()));
    if let Some(Some(id)) = &cause
        && (sources.iter().any(|source| source.id == *id) || !is_within(snapshot, scope, id)?)
    {
        cause = None;
    }
    said.causal_parent = said.causal_parent.take().or(cause);
    Ok(memory)
}

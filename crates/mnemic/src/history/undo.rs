//! Undoing events: the memories become what they were before, unless they were changed since. What is undone is embedded
//! anew, outside the transaction.

use std::collections::HashMap;

use mnemic_schema::{Action, Event, EventFilter, Image, Order, Scope, Snapshot, WriteTransaction};

use crate::embedding::passages;
use crate::memory::Memory;
use crate::write::Embeddings;
use crate::{Error, ErrorKind, Result};

/// What [`Memory::undo`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Undone {
    /// The ids of the memories that are there again, or are as they were.
    pub restored: Vec<String>,
    /// The ids of the memories that are gone again.
    pub removed: Vec<String>,
}

/// An event to undo, and the memory as it was before it.
type Step = (Event, Option<Image>);

impl Memory {
    /// Undoes an event by its number: what was changed is as it was, what was deleted or pruned is there again under its id
    /// (with its relations to what is there still), what was superseded is current again, what was replaced stands in the
    /// place of the new memory, what was stored is gone. The undoing is an event of its own, and can be undone.
    ///
    /// # Errors
    /// `NotFound` where there is no such event (any more), `InvalidInput` where it cannot be undone (it left the memory as it
    /// was, it is undone already, its image was erased, or the memory would stand in the place of the one that stands in its
    /// own), `Changed` where the memory was changed since, or another one was stored under its id (undo that first); and as
    /// [`Memory::store`]. Nothing is changed then.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn undo(&self, event: i64) -> Result<Undone> {
        self.undo_one_within(&Scope::All, event)
    }

    /// As [`Memory::undo`], of memories of a scope; events of others are not there.
    pub(crate) fn undo_one_within(&self, scope: &Scope, event: i64) -> Result<Undone> {
        self.undo_within(scope, |snapshot| {
            let step = snapshot.event(event)?.ok_or_else(|| no_event(event))?;
            if step.0.action != Action::Replaced {
                return Ok(vec![step]);
            }
            // The new one goes first, then the old one may have its id.
            let stored = EventFilter {
                batch: Some(step.0.batch),
                actions: vec![Action::Stored],
                ..EventFilter::default()
            };
            let stored = snapshot.events(&stored, Order::NewestFirst, None)?;
            let stored = stored.into_iter().map(|event| (event, None));
            Ok(stored.chain([step]).collect())
        })
    }

    /// Undoes all events of one change, by its batch ([`Event::batch`]), newest first and in one transaction: a prune as a
    /// whole, say.
    ///
    /// # Errors
    /// As [`Memory::undo`]; one that cannot be undone keeps all others from it.
    ///
    /// ```
    /// use mnemic::{Events, History, Memory, NewMemory, Prune};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.keep_history(History::new())?;
    /// memory.store_all(["one", "two"].map(|text| NewMemory::new(text).project("old")))?;
    /// memory.prune(Prune::new().project("old").apply())?;
    /// let batch = memory.events(Events::new().limit(1))?[0].batch;
    /// assert_eq!(memory.undo_batch(batch)?.restored.len(), 2);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn undo_batch(&self, batch: i64) -> Result<Undone> {
        self.undo_batch_within(&Scope::All, batch)
    }

    /// As [`Memory::undo_batch`], of memories of a scope; events of others are not there.
    pub(crate) fn undo_batch_within(&self, scope: &Scope, batch: i64) -> Result<Undone> {
        self.undo_within(scope, |snapshot| {
            let of_batch = EventFilter {
                batch: Some(batch),
                ..EventFilter::default()
            };
            let events = snapshot.events(&of_batch, Order::NewestFirst, None)?;
            if events.is_empty() {
                return Err(no_event(batch));
            }
            let step = |event: Event| {
                let step = snapshot.event(event.number)?;
                step.ok_or_else(|| no_event(event.number))
            };
            events.into_iter().map(step).collect()
        })
    }

    /// Undoes the events that `steps` finds, in their order.
    pub(crate) fn undo_within(
        &self,
        scope: &Scope,
        steps: impl Fn(&Snapshot<'_>) -> Result<Vec<Step>>,
    ) -> Result<Undone> {
        let (undone, documents) = self.with_model(|embedder| {
            let (found, anew) = self.read(|snapshot| {
                let found = steps(snapshot)?;
                let anew = to_embed(snapshot, &found)?;
                Ok((found, anew))
            })?;
            for (event, _) in &found {
                if !scope.admits(event.project.as_deref()) {
                    return Err(no_event(event.number));
                }
            }
            let texts: Vec<&str> = found
                .iter()
                .zip(&anew)
                .filter(|(_, anew)| **anew)
                .filter_map(|((_, image), _)| Some(image.as_ref()?.content.as_str()))
                .collect();
            let embeddings = match embedder {
                Some(embedder) if !texts.is_empty() => {
                    Embeddings::made(embedder, passages(embedder, &texts)?)
                }
                _ => Embeddings::default(),
            };
            self.write(|transaction| {
                if steps(transaction)? != found || to_embed(transaction, &found)? != anew {
                    return Err(Error::new(
                        ErrorKind::Busy,
                        "the history was changed meanwhile: try again",
                    ));
                }
                let mut undone = Undone::default();
                let mut embedded = 0;
                for ((event, image), anew) in found.iter().zip(&anew) {
                    is_within(transaction, scope, event, image.as_ref())?;
                    may_be_undone(transaction, event, image.as_ref())?;
                    transaction.note_undoing(event)?;
                    let id = event.memory.clone();
                    match image {
                        Some(image) => {
                            let vector = anew.then(|| embeddings.get(embedded)).flatten();
                            embedded += usize::from(*anew);
                            transaction.put_back(image, vector)?;
                            transaction.put_back_superseding(image, event)?;
                            undone.restored.push(id);
                        }
                        None => {
                            transaction.remove_again(&id)?;
                            undone.removed.push(id);
                        }
                    }
                }
                let documents = found.iter().filter(|step| is_document(step));
                let documents = documents.map(|(event, _)| event.memory.clone());
                Ok((undone, documents.collect::<Vec<String>>()))
            })
        })?;
        if !documents.is_empty() {
            // Undone it is: what is left to do, should this fail, coverage tells and backfill does.
            let _ = self.cut_stale_documents();
            let _ = self.fill_documents(&documents);
        }
        Ok(undone)
    }
}

/// Whether an event is undone by putting back a document.
fn is_document((_, image): &Step) -> bool {
    image.as_ref().is_some_and(Image::is_document)
}

/// Which steps put back a text that is not there by then.
fn to_embed(snapshot: &Snapshot<'_>, steps: &[Step]) -> Result<Vec<bool>> {
    let mut contents: HashMap<&str, Option<String>> = HashMap::new();
    let mut anew = Vec::with_capacity(steps.len());
    for (event, image) in steps {
        let there = match contents.remove(event.memory.as_str()) {
            Some(there) => there,
            None => snapshot.row(&event.memory)?.map(|row| row.content),
        };
        let then = image.as_ref().map(|image| &image.content);
        anew.push(then.is_some() && then != there.as_ref());
        contents.insert(&event.memory, then.cloned());
    }
    Ok(anew)
}

/// Makes sure that the memory of an event is nowhere else than in the scope, neither now nor once it is put back.
fn is_within(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    event: &Event,
    image: Option<&Image>,
) -> Result<()> {
    let now = snapshot.project_of(&event.memory)?;
    let then = image.map(|image| image.project.clone());
    let mut projects = now.iter().chain(&then);
    if projects.all(|project| scope.admits(project.as_deref())) {
        Ok(())
    } else {
        Err(no_event(event.number))
    }
}

fn no_event(number: i64) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("there is no event {number} in the history (any more)"),
    )
}

/// Refuses what cannot be undone.
fn may_be_undone(
    transaction: &WriteTransaction<'_>,
    event: &Event,
    image: Option<&Image>,
) -> Result<()> {
    let Event { number, memory, .. } = event;
    let now = transaction
        .event(*number)?
        .and_then(|(event, _)| event.undone_by);
    if let Some(by) = now {
        return Err(Error::invalid(format!(
            "event {number} is undone by event {by} already: undo that one to have it done again"
        )));
    }
    // The detail of an undoing tells that the memory was not there; where that is erased too, nobody knows.
    let was_absent =
        event.action == Action::Stored || (event.undoes.is_some() && event.detail.is_some());
    let removes = image.is_none() && was_absent;
    if image.is_none() && !removes {
        return Err(Error::invalid(format!(
            "event {number} ({}) of the memory {memory:?} cannot be undone: it changed nothing of it, or what it was before \
             is not kept",
            event.action
        )));
    }
    if let Some(later) = transaction.changed_after(event, memory)? {
        return Err(Error::new(
            ErrorKind::Changed,
            format!(
                "the memory {memory:?} was changed after event {number}, by event {later}: undo that one first"
            ),
        ));
    }
    Ok(())
}

//! The handle: one writing connection, a few reading ones, the model. The verbs are in the modules named after them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use mnemic_embed::{Embedder, Reranker};
use mnemic_schema::{
    Indexed, QueryWord, Readers, Snapshot, Store, Token, Tokenizer, WriteTransaction,
};

use crate::builder::MemoryBuilder;
use crate::embedding::model_of;
use crate::resident::Resident;
use crate::types::LastCheck;
use crate::{Error, ErrorKind, Result};

/// A long-term memory in one SQLite file: store, recall, and keep in order.
///
/// A handle is cheap to clone, and may be used by many threads at once: every verb takes `&self`. Readers never wait
/// for the writer. The verbs block; from async code, clone the handle and call it in `spawn_blocking`.
///
/// ```
/// use mnemic::{Memory, NewMemory, Recall};
///
/// let memory = Memory::open_in_memory()?;
/// memory.store("The user prefers Ruff over Black")?;
/// memory.store(NewMemory::new("Deploys freeze on Fridays").project("web").tags(["ops"]))?;
///
/// let hits = memory.recall(Recall::new("when can I ship?").project("web").limit(5))?;
/// assert_eq!(hits[0].memory.content, "Deploys freeze on Fridays");
/// # Ok::<(), mnemic::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memory {
    inner: Arc<Inner>,
    /// Who acts by this handle, for the history.
    actor: Option<Arc<str>>,
}

#[derive(Debug)]
struct Inner {
    /// Reading connections that are not in use. Before the writer, so that they are closed first: the last connection to
    /// close merges the log into the file, which one that only reads cannot.
    idle: Mutex<Vec<Store>>,
    /// The connection that writes; where there is no file, the one that reads too. `None` read-only.
    writer: Option<Mutex<Store>>,
    /// Opens reading connections; `None` where there is no file.
    readers: Option<Readers>,
    reranker: Option<Arc<dyn Reranker>>,
    models: RwLock<Models>,
    /// Held by the thread that embeds the file again.
    reembedding: Mutex<()>,
    resident: Resident,
    resident_passages: Resident,
    last_check: Mutex<Option<LastCheck>>,
    /// Made at the first recall.
    tokenizer: Mutex<Option<Tokenizer>>,
}

/// The model of a handle and its clones.
#[derive(Debug)]
struct Models {
    current: Option<Arc<dyn Embedder>>,
    /// The one that the file goes over to while it is embedded again.
    next: Option<Arc<dyn Embedder>>,
    /// How often one of them was changed.
    changes: u64,
}

/// Reading connections kept for the next reader; more are opened at need and closed after use.
const IDLE_READERS: usize = 8;

impl Memory {
    /// Opens a file with the built-in model, and makes it where there is none. No network, no set-up.
    ///
    /// # Errors
    /// As [`MemoryBuilder::open`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("agent.db");
    /// let memory = mnemic::Memory::open(&path)?;
    /// memory.store("The user prefers Ruff over Black")?;
    /// drop(memory);
    /// assert_eq!(mnemic::Memory::open(&path)?.recall("which formatter?")?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }

    /// Opens a memory without a file, gone when its last handle is dropped.
    ///
    /// # Errors
    /// As [`MemoryBuilder::open_in_memory`].
    pub fn open_in_memory() -> Result<Self> {
        Self::builder().open_in_memory()
    }

    /// Opens a file for reading only: nothing is written to it or its log, and nothing is made beside it unless a log lies
    /// there already.
    ///
    /// # Errors
    /// As [`MemoryBuilder::open_read_only`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open_read_only(path)
    }

    /// The choices for opening: model, reranker, durability, timeout.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::new()
    }

    /// Takes over an open store; refuses one whose vectors live in another space than the embedder's.
    pub(crate) fn over(
        mut store: Store,
        embedder: Option<Arc<dyn Embedder>>,
        reranker: Option<Arc<dyn Reranker>>,
        index_budget: u64,
    ) -> Result<Self> {
        if let Some(embedder) = &embedder {
            store.read(|snapshot| space_of(snapshot, &**embedder).map(|_| ()))?;
        }
        let readers = store.readers();
        let (writer, idle) = if store.is_writable() {
            (Some(Mutex::new(store)), Vec::new())
        } else {
            (None, vec![store])
        };
        Ok(Self {
            inner: Arc::new(Inner {
                writer,
                readers,
                idle: Mutex::new(idle),
                reranker,
                models: RwLock::new(Models {
                    current: embedder,
                    next: None,
                    changes: 0,
                }),
                reembedding: Mutex::new(()),
                resident: Resident::new(Indexed::Memories, index_budget),
                resident_passages: Resident::new(Indexed::Passages, index_budget),
                last_check: Mutex::default(),
                tokenizer: Mutex::default(),
            }),
            actor: None,
        })
    }

    /// The same memory, by a handle whose changes the history notes as this actor's ([`Memory::keep_history`]): any text.
    pub fn acting_as(&self, actor: impl Into<String>) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            actor: Some(actor.into().into()),
        }
    }

    pub(crate) fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.models().current.clone()
    }

    /// Runs a job with this handle's model; again, with the one that the file has, where it went over to another meanwhile.
    pub(crate) fn with_model<T>(
        &self,
        mut job: impl FnMut(Option<&dyn Embedder>) -> Result<T>,
    ) -> Result<T> {
        let mut right = None;
        // It may go over again while the job runs; not for ever.
        for _ in 0..16 {
            let changes = self.models().changes;
            let model = right.take().or_else(|| self.embedder());
            match job(model.as_deref()) {
                Err(error) if error.kind() == ErrorKind::ModelMismatch => {
                    right = self.model_of_the_file()?;
                    if right.is_none() && self.models().changes == changes {
                        return Err(error);
                    }
                }
                answer => return answer,
            }
        }
        job(self.embedder().as_deref())
    }

    fn models(&self) -> RwLockReadGuard<'_, Models> {
        let models = self.inner.models.read();
        models.unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that the file records, where this handle has it or is going over to it.
    fn model_of_the_file(&self) -> Result<Option<Arc<dyn Embedder>>> {
        let known = {
            let models = self.models();
            [models.current.clone(), models.next.clone()]
        };
        let recorded = self.read(|snapshot| Ok(snapshot.recorded_model()?))?;
        let recorded = recorded.map(model_of);
        let mut known = known.into_iter().flatten();
        Ok(known.find(|model| recorded.as_ref() == Some(model.model())))
    }

    /// Lets this handle and its clones use a model as soon as the file does, until the guard is dropped. One thread at a
    /// time.
    pub(crate) fn go_over_to(&self, next: Arc<dyn Embedder>) -> Result<GoingOver<'_>> {
        let alone = match self.inner.reembedding.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(
                    ErrorKind::Busy,
                    "another thread is re-embedding by this handle",
                ));
            }
        };
        let models = &self.inner.models;
        change(models, |models| models.next = Some(next));
        Ok(GoingOver {
            models,
            _alone: alone,
        })
    }

    pub(crate) fn reranker(&self) -> Option<&dyn Reranker> {
        self.inner.reranker.as_deref()
    }

    pub(crate) fn resident(&self) -> &Resident {
        &self.inner.resident
    }

    /// That of passages, which has what the other leaves of the budget.
    pub(crate) fn resident_passages(&self) -> &Resident {
        &self.inner.resident_passages
    }

    pub(crate) fn note_check(&self, check: LastCheck) {
        *lock(&self.inner.last_check) = Some(check);
    }

    pub(crate) fn last_check(&self) -> Option<LastCheck> {
        *lock(&self.inner.last_check)
    }

    /// The words of a question as the word index writes them.
    pub(crate) fn tokens(&self, words: &[QueryWord]) -> Result<Vec<Token>> {
        let mut tokenizer = lock(&self.inner.tokenizer);
        // Put back only where it worked: after a failure the next question makes a new one.
        let mut ready = match tokenizer.take() {
            Some(ready) => ready,
            None => Tokenizer::new()?,
        };
        let tokens = ready.tokens(words)?;
        *tokenizer = Some(ready);
        Ok(tokens)
    }

    /// Reads one snapshot. `reading` may be run twice (see [`Store::read`]).
    pub(crate) fn read<T>(&self, reading: impl FnMut(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        self.with_reader(|store| store.read(reading))
    }

    /// Lends a connection that reads.
    pub(crate) fn with_reader<T>(&self, job: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        let Some(readers) = &self.inner.readers else {
            return self.with_writer("reading", job);
        };
        let idle = lock(&self.inner.idle).pop();
        let mut store = match idle {
            Some(store) => store,
            None => readers.open()?,
        };
        let answer = job(&mut store);
        let mut idle = lock(&self.inner.idle);
        if idle.len() < IDLE_READERS {
            idle.push(store);
        }
        answer
    }

    /// Writes in one transaction: all of it or nothing. Nothing may be embedded inside.
    pub(crate) fn write<T>(
        &self,
        writing: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_writer("writing", |store| store.write(writing))
    }

    /// Lends the connection that writes.
    pub(crate) fn with_writer<T>(
        &self,
        doing: &str,
        job: impl FnOnce(&mut Store) -> Result<T>,
    ) -> Result<T> {
        match &self.inner.writer {
            Some(writer) => {
                let mut writer = lock(writer);
                writer.set_actor(self.actor.as_deref());
                job(&mut writer)
            }
            None => Err(Error::new(
                ErrorKind::ReadOnly,
                format!("{doing}: the memory is open for reading only"),
            )),
        }
    }

    /// Lends the writing connection, or where there is none a reading one.
    pub(crate) fn with_any<T>(&self, job: impl FnOnce(&mut Store) -> Result<T>) -> Result<T> {
        if self.inner.writer.is_some() {
            self.with_writer("reading", job)
        } else {
            self.with_reader(job)
        }
    }
}

/// A handle whose file is embedded again. Dropped, it keeps the model it had.
#[derive(Debug)]
pub(crate) struct GoingOver<'a> {
    models: &'a RwLock<Models>,
    _alone: MutexGuard<'a, ()>,
}

impl GoingOver<'_> {
    /// The file has gone over: so does the handle.
    pub(crate) fn arrive(self) {
        change(self.models, |models| models.current = models.next.take());
    }
}

impl Drop for GoingOver<'_> {
    fn drop(&mut self) {
        change(self.models, |models| models.next = None);
    }
}

fn change(models: &RwLock<Models>, by: impl FnOnce(&mut Models)) {
    let mut models = models.write().unwrap_or_else(PoisonError::into_inner);
    models.changes += 1;
    by(&mut models);
}

/// Whether the file has vectors that the embedder's may be compared with; an error where it has others.
pub(crate) fn space_of(snapshot: &Snapshot<'_>, embedder: &dyn Embedder) -> Result<bool> {
    let Some(recorded) = snapshot.recorded_model()? else {
        return Ok(false);
    };
    if recorded.is_unknown() && snapshot.has_any_vector()? {
        return Err(Error::new(
            ErrorKind::ModelMismatch,
            format!(
                "the file does not name the model of its vectors ({} dimensions), so that none of {} can be compared with \
                 them: open it without a model (no_embedder) to search its words; if you know the model, say so with \
                 name_model, and if not, take the file over to another with reembed",
                recorded.dims,
                embedder.model()
            ),
        ));
    }
    let found = model_of(recorded);
    if embedder.model().same_space(&found) {
        return Ok(true);
    }
    if !snapshot.has_any_vector()? {
        return Ok(false);
    }
    Err(Error::new(
        ErrorKind::ModelMismatch,
        format!(
            "the file's vectors were made by {found}, which cannot be compared with those of {}: open it with a model of \
             that space, or without one (no_embedder) to search its words",
            embedder.model()
        ),
    ))
}

/// A connection stays sound when a thread panics: SQLite rolls the transaction back.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The handle: one writing connection, a few reading ones, the model. The verbs are in the modules named after them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mnemic_embed::Embedder;
use mnemic_schema::{Readers, Snapshot, Store, WriteTransaction};

use crate::builder::MemoryBuilder;
use crate::embedding::model_of;
use crate::resident::Resident;
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
    embedder: Option<Arc<dyn Embedder>>,
    resident: Resident,
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

    /// The choices for opening: model, durability, timeout.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::new()
    }

    /// Takes over an open store; refuses one whose vectors live in another space than the embedder's.
    pub(crate) fn over(
        mut store: Store,
        embedder: Option<Arc<dyn Embedder>>,
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
                embedder,
                resident: Resident::new(index_budget),
            }),
        })
    }

    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        self.inner.embedder.as_deref()
    }

    pub(crate) fn resident(&self) -> &Resident {
        &self.inner.resident
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
            Some(writer) => job(&mut lock(writer)),
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

/// Whether the file has vectors that the embedder's may be compared with; an error where it has others.
pub(crate) fn space_of(snapshot: &Snapshot<'_>, embedder: &dyn Embedder) -> Result<bool> {
    let Some(recorded) = snapshot.recorded_model()? else {
        return Ok(false);
    };
    if recorded.is_unknown() && snapshot.vector_count()? > 0 {
        return Err(Error::new(
            ErrorKind::ModelMismatch,
            format!(
                "the file does not name the model of its vectors ({} dimensions), so that none of {} can be compared with \
                 them: open it without a model (no_embedder) to search its words, and if you know the model, say so with \
                 name_model",
                recorded.dims,
                embedder.model()
            ),
        ));
    }
    let found = model_of(recorded);
    if embedder.model().same_space(&found) {
        return Ok(true);
    }
    if snapshot.vector_count()? == 0 {
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

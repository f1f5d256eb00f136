//! How a memory is opened: the choices, and the one place that opens a file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mnemic_embed::{Embedder, Reranker};
use mnemic_schema::{Durability, OpenOptions, Store};

use crate::Result;
use crate::entity::EntityExtractor;
use crate::memory::Memory;

/// The choices for opening a memory; [`Memory::open`] is the same with the defaults.
///
/// ```
/// use mnemic::{Durability, Memory};
///
/// let memory = Memory::builder().durability(Durability::Normal).open_in_memory()?;
/// # Ok::<(), mnemic::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it opens a memory"]
pub struct MemoryBuilder {
    embedder: Choice,
    reranker: Option<Arc<dyn Reranker>>,
    options: OpenOptions,
    index_budget: u64,
    extractor: Option<Arc<dyn EntityExtractor>>,
}

const DEFAULT_INDEX_BUDGET: u64 = 1 << 30;

#[derive(Debug, Clone)]
enum Choice {
    Default,
    None,
    Given(Arc<dyn Embedder>),
}

impl MemoryBuilder {
    pub(crate) fn new() -> Self {
        Self {
            embedder: Choice::Default,
            reranker: None,
            options: OpenOptions::default(),
            index_budget: DEFAULT_INDEX_BUDGET,
            extractor: None,
        }
    }

    /// The model that turns texts into vectors. Default: the one that is built in (feature `static`, on by default);
    /// without that feature, none.
    ///
    /// A file that holds vectors already must be opened with a model of the same space. To store, it must be the very
    /// model that made them.
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.embedder = Choice::Given(Arc::new(embedder));
        self
    }

    /// No model: recall works by words alone. Such a handle cannot store into a file that has vectors.
    pub fn no_embedder(mut self) -> Self {
        self.embedder = Choice::None;
        self
    }

    /// The model that reads the best hits of a recall together with the question and scores them once more, such as a
    /// cross-encoder: better order, for the time of reading. [`crate::Recall::rerank`] says how many, 20 unless told
    /// otherwise. Default: none. It is no part of the file: another handle may have another one, or none.
    ///
    /// ```no_run
    /// # #[cfg(feature = "candle")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use mnemic::candle::CandleReranker;
    /// use mnemic::{Memory, Recall};
    ///
    /// let reranker = CandleReranker::from_dir("models/ms-marco-MiniLM-L6-v2")?;
    /// let memory = Memory::builder().reranker(reranker).open("agent.db")?;
    /// for hit in memory.recall(Recall::new("when can I ship?").rerank(30).limit(5))? {
    ///     println!("{:.2}  {}  ({})", hit.score, hit.memory.content, hit.signals);
    /// }
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "candle"))]
    /// # fn main() {}
    /// ```
    pub fn reranker(mut self, reranker: impl Reranker + 'static) -> Self {
        self.reranker = Some(Arc::new(reranker));
        self
    }

    /// What finds the entities of a text ([`crate::RuleExtractor`], or one of your own): of memories that are stored, changed,
    /// replaced or imported without any being named, and of questions ([`crate::Recall::entity_weight`]). It is called outside
    /// of locks and transactions. Default: none, and nothing is looked for. It is no part of the file.
    ///
    /// ```
    /// use mnemic::{Memory, RuleExtractor};
    ///
    /// let memory = Memory::builder().entity_extractor(RuleExtractor::new()).open_in_memory()?;
    /// let id = memory.store("Ask Anna Schmidt about KX-204")?.id;
    /// assert_eq!(memory.entities_of(&id)?, ["Anna Schmidt", "KX-204"]);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn entity_extractor(mut self, extractor: impl EntityExtractor + 'static) -> Self {
        self.extractor = Some(Arc::new(extractor));
        self
    }

    /// What a commit survives. Default: [`Durability::Full`], a power cut.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// How long to wait for another process's write lock before [`crate::ErrorKind::Busy`]. Default: 5 seconds.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.options.busy_timeout = timeout;
        self
    }

    /// Most bytes of memory for the index that recall keeps in memory from the second recall on: about 425 bytes a memory
    /// with vectors of 384 numbers. Where it would need more, or with 0, recall searches the file itself: the answers are
    /// the same, many times slower for many memories. Default: 1 GiB.
    pub fn index_budget(mut self, bytes: u64) -> Self {
        self.index_budget = bytes;
        self
    }

    /// Opens a file, and makes it where there is none (readable by its owner alone).
    ///
    /// # Errors
    /// Nothing was changed where the kind is `InvalidInput` (the path names no file), `NewerFile`, `NotAMemoryFile`,
    /// `ModelMismatch` (its vectors live in another space), `ReadOnly`, `Busy`, `Corrupt` or `Io`.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Memory> {
        let store = Store::open(path.as_ref(), self.options)?;
        self.over(store)
    }

    /// Opens a memory without a file, gone when its last handle is dropped.
    ///
    /// # Errors
    /// `Storage` where the database cannot be made.
    pub fn open_in_memory(self) -> Result<Memory> {
        let store = Store::open_in_memory(self.options)?;
        self.over(store)
    }

    /// Opens a file for reading only: nothing is written to it or its log, and nothing is made beside it unless a log lies
    /// there already.
    ///
    /// # Errors
    /// `Io` where there is no such file; `ReadOnly` where it cannot be read without writing (an older schema, or an
    /// unmerged write-ahead log in a directory that may not be written); else as [`MemoryBuilder::open`].
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Memory> {
        let store = Store::open_read_only(path.as_ref(), self.options)?;
        self.over(store)
    }

    pub(crate) fn options(&self) -> OpenOptions {
        self.options
    }

    fn over(self, store: Store) -> Result<Memory> {
        let embedder = self.embedder.chosen();
        Memory::over(
            store,
            embedder,
            self.reranker,
            self.extractor,
            self.index_budget,
        )
    }
}

impl Choice {
    fn chosen(self) -> Option<Arc<dyn Embedder>> {
        match self {
            Self::Given(embedder) => Some(embedder),
            Self::None => None,
            #[cfg(feature = "static")]
            Self::Default => Some(Arc::new(mnemic_static::StaticEmbedder::new())),
            #[cfg(not(feature = "static"))]
            Self::Default => None,
        }
    }
}

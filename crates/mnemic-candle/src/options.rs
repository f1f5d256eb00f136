//! What a caller may choose about a model. It never reads a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::{CandleEmbedder, CandleReranker, Instructions, LoadError, Model, Pooling};

/// What runs the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Backend {
    /// This crate's forward pass on the CPU: the fastest there.
    #[default]
    Native,
    /// candle's own `BertModel` on the CPU: slower; what the native one is tested against.
    CandleCpu,
    /// candle on a CUDA device, by its number. Needs the feature `cuda`.
    Cuda(usize),
    /// candle on a Metal device, by its number. Needs the feature `metal`.
    Metal(usize),
}

/// How far a download has come.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The file that is being fetched.
    pub file: String,
    /// Bytes that are here.
    pub received: u64,
    /// Bytes of the whole file.
    pub total: u64,
}

pub(crate) type ProgressCallback = Arc<dyn Fn(&Progress) + Send + Sync>;

/// How to load a model, where [`CandleEmbedder::from_dir`] and `CandleEmbedder::from_hub` (feature `hub`) do not
/// suffice.
///
/// What is not set is read from the model's files, or known of the model.
///
/// ```no_run
/// use mnemic_candle::{CandleOptions, Model};
///
/// let embedder = CandleOptions::new().model(Model::BgeSmallEnV15).max_tokens(256).from_dir("models/bge")?;
/// # Ok::<(), mnemic_candle::LoadError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CandleOptions {
    pub(crate) model: Option<Model>,
    pub(crate) id: Option<String>,
    pub(crate) space: Option<String>,
    pub(crate) pooling: Option<Pooling>,
    pub(crate) query_prefix: Option<String>,
    pub(crate) passage_prefix: Option<String>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) backend: Backend,
    pub(crate) instructions: Option<Instructions>,
    pub(crate) refetch: bool,
    pub(crate) progress: Option<ProgressCallback>,
}

impl fmt::Debug for CandleOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CandleOptions")
            .field("model", &self.model)
            .field("id", &self.id)
            .field("space", &self.space)
            .field("pooling", &self.pooling)
            .field("query_prefix", &self.query_prefix)
            .field("passage_prefix", &self.passage_prefix)
            .field("max_tokens", &self.max_tokens)
            .field("backend", &self.backend)
            .field("instructions", &self.instructions)
            .field("refetch", &self.refetch)
            .finish_non_exhaustive()
    }
}

impl CandleOptions {
    /// Everything as the model's files say.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which model a folder holds, so that its prefixes and pooling are known. Without it a folder is recognised
    /// by its name (`bge-small-en-v1.5`), and all-MiniLM-L6-v2 by its weights.
    pub fn model(mut self, model: impl Into<Model>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The id that a file of memories records, instead of the model's or folder's name.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Declares the space of the vectors, instead of one that is this model's alone. Two models of one space must give
    /// vectors that may be compared.
    pub fn space(mut self, space: impl Into<String>) -> Self {
        self.space = Some(space.into());
        self
    }

    /// How hidden states become one vector, instead of what `1_Pooling/config.json` says.
    pub fn pooling(mut self, pooling: Pooling) -> Self {
        self.pooling = Some(pooling);
        self
    }

    /// What is put before a query.
    pub fn query_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.query_prefix = Some(prefix.into());
        self
    }

    /// What is put before a passage.
    pub fn passage_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.passage_prefix = Some(prefix.into());
        self
    }

    /// The window in tokens, special tokens and prefix included: at most the model's positions (512 for most).
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// What runs the model.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Holds the native backend to these vector instructions or lower ones, for comparing them.
    pub fn at_most(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// Fetches the model's files from the hub again, even if they are cached: the way out of a corrupt cache.
    pub fn refetch(mut self, refetch: bool) -> Self {
        self.refetch = refetch;
        self
    }

    /// Is called while files are fetched from the hub, from the thread that loads.
    pub fn progress(mut self, callback: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(callback));
        self
    }

    /// Loads the model in a folder. See [`CandleEmbedder::from_dir`].
    ///
    /// # Errors
    /// [`LoadError`] names the file and what is wrong with it.
    pub fn from_dir(self, path: impl AsRef<Path>) -> Result<CandleEmbedder, LoadError> {
        crate::embedder::load(path.as_ref(), &self)
    }
}

/// How to load a cross-encoder, where [`CandleReranker::from_dir`] and `CandleReranker::from_hub` (feature `hub`) do
/// not suffice.
///
/// ```no_run
/// use mnemic_candle::RerankOptions;
///
/// let reranker = RerankOptions::new().max_tokens(256).from_dir("models/ms-marco-MiniLM-L6-v2")?;
/// # Ok::<(), mnemic_candle::LoadError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct RerankOptions {
    pub(crate) id: Option<String>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) backend: Backend,
    pub(crate) instructions: Option<Instructions>,
    pub(crate) refetch: bool,
    pub(crate) progress: Option<ProgressCallback>,
}

impl fmt::Debug for RerankOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RerankOptions")
            .field("id", &self.id)
            .field("max_tokens", &self.max_tokens)
            .field("backend", &self.backend)
            .field("instructions", &self.instructions)
            .field("refetch", &self.refetch)
            .finish_non_exhaustive()
    }
}

impl RerankOptions {
    /// Everything as the model's files say.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id by which messages name the model, instead of the model's or folder's name.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The window in tokens for question, passage and special tokens together: at most the model's positions, which is
    /// the default (512 for most).
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// What runs the model.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Holds the native backend to these vector instructions or lower ones, for comparing them.
    pub fn at_most(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// Fetches the model's files from the hub again, even if they are cached: the way out of a corrupt cache.
    pub fn refetch(mut self, refetch: bool) -> Self {
        self.refetch = refetch;
        self
    }

    /// Is called while files are fetched from the hub, from the thread that loads.
    pub fn progress(mut self, callback: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(callback));
        self
    }

    /// Loads the model in a folder. See [`CandleReranker::from_dir`].
    ///
    /// # Errors
    /// [`LoadError`] names the file and what is wrong with it.
    pub fn from_dir(self, path: impl AsRef<Path>) -> Result<CandleReranker, LoadError> {
        crate::reranker::load(path.as_ref(), &self)
    }
}

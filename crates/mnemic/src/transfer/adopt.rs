//! The verbs that go on in another system's own file: adopt, and naming the model of vectors that came along.

use std::fmt;
use std::path::{Path, PathBuf};

use mnemic_schema::{Left, Store};

use crate::builder::MemoryBuilder;
use crate::embedding::{model_of, recorded};
use crate::memory::Memory;
use crate::{EmbeddingModel, Result};

/// Which file [`Memory::adopt`] turns into one of mnemic.
///
/// ```
/// use mnemic::{Adopt, EmbeddingModel};
///
/// let adopt = Adopt::rekal("memory.db").model(EmbeddingModel::new("bge", "bge-small-en-v1.5", "onnx", 384));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "nothing is adopted until it is given to Memory::adopt"]
pub struct Adopt {
    path: PathBuf,
    model: Option<EmbeddingModel>,
}

impl Adopt {
    /// A file of rekal, of any version.
    pub fn rekal(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            model: None,
        }
    }

    /// Says which model made the file's vectors, which rekal does not record. Nobody can check it: with the wrong one,
    /// recall by meaning finds nonsense. It may be said later too, with [`Memory::name_model`].
    pub fn model(mut self, model: EmbeddingModel) -> Self {
        self.model = Some(model);
        self
    }
}

/// What [`Memory::adopt`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AdoptReport {
    /// Whether the file was one of mnemic already, so that nothing was done.
    pub already: bool,
    /// Memories in the file now.
    pub memories: u64,
    /// Vectors in the file now: fewer than memories where some had none, which [`Memory::repair`] embeds once the model
    /// is known.
    pub vectors: u64,
    /// The model that the file records; in space `unknown` where nobody named it.
    pub model: Option<EmbeddingModel>,
    /// What did not come over, or not as it was, by table and field, and why. The copy holds all of it.
    pub left: Vec<Left>,
    /// Where the file lies as it was before; `None` where nothing was done.
    pub copy: Option<PathBuf>,
}

impl fmt::Display for AdoptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = if self.already {
            "already adopted"
        } else {
            "adopted"
        };
        write!(
            f,
            "{done}: {} memories, {} vectors",
            self.memories, self.vectors
        )?;
        if let Some(copy) = &self.copy {
            write!(f, "; the file as it was: {}", copy.display())?;
        }
        for left in &self.left {
            write!(f, "\nleft: {left}")?;
        }
        Ok(())
    }
}

impl Memory {
    /// Turns a file of rekal into one of mnemic, in its place; it is then opened as any other. First a copy is put
    /// beside it (`.rekal-copy`), then one transaction does all: where the process dies, the file is rekal's still or
    /// mnemic's already, and to adopt it again completes or does nothing. End rekal first.
    ///
    /// Memories keep id, text, project, tags, times and vector; nothing is embedded. By rekal's own rules, scratch
    /// and superseded memories stay behind in the copy. Until the model of the vectors is named, the file is opened with
    /// [`MemoryBuilder::no_embedder`] and searched by words; nothing can be stored. [`Memory::name_model`] names it;
    /// [`Memory::reembed`] makes all vectors anew instead.
    ///
    /// # Errors
    /// The file is unchanged where the kind is `NotAMemoryFile` (none of rekal), `ModelMismatch` (the model named is of
    /// another width than the vectors), `Io` (no such file, or the copy cannot be made), `ReadOnly`, `Busy`, `Corrupt` or
    /// `Storage`.
    ///
    /// ```no_run
    /// use mnemic::{Adopt, Memory};
    ///
    /// println!("{}", Memory::adopt(Adopt::rekal("memory.db"))?);
    /// let memory = Memory::builder().no_embedder().open("memory.db")?;
    /// println!("{} found by words", memory.recall("deploys")?.len());
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn adopt(adopt: Adopt) -> Result<AdoptReport> {
        Self::builder().adopt(adopt)
    }

    /// Says which model made the vectors of a file that does not record it, as an adopted one does not. Open the file
    /// with [`MemoryBuilder::no_embedder`] for it, then anew with that model. Nobody can check what is said: with the
    /// wrong model, recall by meaning finds nonsense. Naming the model that is recorded already changes nothing.
    ///
    /// # Errors
    /// `ModelMismatch` where the file records another model, vectors of another width, or none; `ReadOnly`, `Busy`,
    /// `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn name_model(&self, model: &EmbeddingModel) -> Result<()> {
        self.write(|transaction| Ok(transaction.name_model(&recorded(model))?))
    }
}

impl MemoryBuilder {
    /// [`Memory::adopt`], with this builder's durability and timeout.
    ///
    /// # Errors
    /// As [`Memory::adopt`].
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn adopt(self, adopt: Adopt) -> Result<AdoptReport> {
        let model = adopt.model.as_ref().map(recorded);
        let report = Store::adopt_rekal(&adopt.path, self.options(), model.as_ref())?;
        Ok(AdoptReport {
            already: report.already,
            memories: report.memories,
            vectors: report.vectors,
            model: report.model.map(model_of),
            left: report.left,
            copy: report.copy,
        })
    }
}

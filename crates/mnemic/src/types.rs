//! What is put into a memory and what comes out. Plain values: nothing here touches the file.

use std::fmt;
use std::path::PathBuf;

use mnemic_schema::{
    CheckReport, Lifecycle, MemoryRow, RepairReport as FileRepair, Timestamp, Usage,
};

use crate::EmbeddingModel;
use crate::lifecycle::said::{Said, said_verbs};

/// A memory to store. A `&str` or `String` becomes one without project and tags.
///
/// ```
/// use mnemic::NewMemory;
///
/// let memory = NewMemory::new("Deploys freeze on Fridays")
///     .project("web")
///     .tags(["ops", "release"])
///     .created_at("2026-05-01T09:00:00Z".parse()?);
/// # Ok::<(), mnemic::TimestampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a builder does nothing until it is stored"]
pub struct NewMemory {
    pub(crate) content: String,
    /// `None`: not said; `Some(None)`: global.
    pub(crate) project: Option<Option<String>>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) id: Option<String>,
    pub(crate) said: Said,
    pub(crate) supersedes: Vec<String>,
}

said_verbs!(NewMemory);

impl NewMemory {
    /// A memory with this text: any text but white space alone.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            project: None,
            tags: None,
            created_at: None,
            id: None,
            said: Said::default(),
            supersedes: Vec::new(),
        }
    }

    /// The project it belongs to: any text, compared literally. Without one it is global.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(Some(project.into()));
        self
    }

    /// Belongs to no project. That is the default; it matters in [`crate::Memory::replace`], which otherwise keeps the
    /// project of the old memory.
    pub fn global(mut self) -> Self {
        self.project = Some(None);
        self
    }

    /// Its tags: any texts, kept exactly as given.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// When it was created. Default: now.
    pub fn created_at(mut self, time: Timestamp) -> Self {
        self.created_at = Some(time);
        self
    }

    /// Its id: 1 to 64 visible ASCII characters, not in use. Default: 16 hexadecimal digits, made at random.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The ids of memories in whose place it stands: they are kept, but not recalled unless asked for
    /// ([`crate::Include::superseded`], [`crate::Recall::as_of`]).
    pub fn supersedes<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.supersedes = ids.into_iter().map(Into::into).collect();
        self
    }
}

impl<T: Into<String>> From<T> for NewMemory {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

/// What to change of a memory. A `&str` or `String` becomes a change of the text alone.
///
/// ```
/// use mnemic::MemoryUpdate;
///
/// let change = MemoryUpdate::new().tags(["ops"]).global();
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a change does nothing until it is made"]
pub struct MemoryUpdate {
    pub(crate) content: Option<String>,
    pub(crate) project: Option<Option<String>>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) said: Said,
}

said_verbs!(MemoryUpdate);

impl MemoryUpdate {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another text; it is embedded and indexed anew.
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Another project.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(Some(project.into()));
        self
    }

    /// No project any more.
    pub fn global(mut self) -> Self {
        self.project = Some(None);
        self
    }

    /// These tags instead of the old ones.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// No tags any more.
    pub fn no_tags(mut self) -> Self {
        self.tags = Some(Vec::new());
        self
    }

    /// It fades as others do.
    pub fn not_pinned(mut self) -> Self {
        self.said.pinned = Some(false);
        self
    }

    /// No source any more.
    pub fn no_source(mut self) -> Self {
        self.said.source = Some(None);
        self
    }

    /// What it says holds at all times.
    pub fn always_valid(mut self) -> Self {
        self.said.valid_from = Some(None);
        self.said.valid_until = Some(None);
        self
    }

    /// No memory led to it.
    pub fn no_cause(mut self) -> Self {
        self.said.causal_parent = Some(None);
        self
    }
}

impl<T: Into<String>> From<T> for MemoryUpdate {
    fn from(content: T) -> Self {
        Self::new().content(content)
    }
}

/// What storing answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// The id of the new memory.
    pub id: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// In how many windows the model embedded the text ([`crate::Embedder::windows`]): 1 for one that it reads in one
    /// go, more for a longer one, in whose one vector each window weighs only its share, so that several shorter
    /// memories would tell more. 0 without a model.
    pub windows: usize,
}

/// A memory as it is kept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoredMemory {
    /// The id.
    pub id: String,
    /// The text.
    pub content: String,
    /// The project; `None` is global.
    pub project: Option<String>,
    /// The tags, as they were given.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What was said of it beside its text; the default where nothing was.
    pub lifecycle: Lifecycle,
    /// How often it was used, as far as anybody said so ([`crate::Memory::touch`]).
    pub usage: Usage,
}

impl From<MemoryRow> for StoredMemory {
    fn from(row: MemoryRow) -> Self {
        Self {
            id: row.id,
            content: row.content,
            project: row.project,
            tags: row.tags,
            created_at: row.created_at,
            updated_at: row.updated_at,
            lifecycle: row.lifecycle,
            usage: row.usage,
        }
    }
}

/// What [`crate::Memory::delete_all`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Deleted {
    /// How many memories were deleted.
    pub deleted: usize,
    /// The ids that no memory had, in the order given.
    pub missing: Vec<String>,
}

/// What [`crate::Memory::prune`] deleted, or would delete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Whether it was only a rehearsal, so that nothing was deleted.
    pub dry_run: bool,
    /// The ids of the memories, oldest first.
    pub ids: Vec<String>,
}

/// What [`crate::Memory::repair`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// What was mended in the file itself.
    pub file: FileRepair,
    /// Memories and passages that had no vector and were embedded.
    pub vectors_added: u64,
    /// Documents that were cut anew.
    pub documents_cut: u64,
    /// What is wrong still: nothing, unless a model was missing or the database itself is damaged.
    pub remaining: CheckReport,
}

/// How far a re-embedding or backfill has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Memories and passages that have their vector, or have nothing to embed.
    pub done: u64,
    /// Memories and passages in the file.
    pub total: u64,
}

/// What [`crate::Memory::reembed`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Reembedded {
    /// Whether the new vectors are in place: `false` where the callback ended the work.
    pub finished: bool,
    /// Memories and passages embedded by this call.
    pub embedded: u64,
    /// The vectors of the file after it.
    pub coverage: Coverage,
}

/// What [`crate::Memory::backfill`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Backfilled {
    /// Whether it came to the end: `false` where the callback ended the work.
    pub finished: bool,
    /// Memories and passages embedded by this call.
    pub embedded: u64,
    /// Ids of the memories in whose text the model finds nothing to embed.
    pub nothing_to_embed: Vec<String>,
}

/// How many memories and passages have a vector, from [`crate::Memory::coverage`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// Memories.
    pub memories: u64,
    /// Memories with a vector.
    pub embedded: u64,
    /// Memories without one: where there are none, or some were stored without a model.
    pub missing: u64,
    /// Vectors without a memory: none, unless the file is damaged.
    pub orphaned: u64,
    /// The model that the file is being taken over to; `None` where no re-embedding is under way.
    pub coming_model: Option<EmbeddingModel>,
    /// Memories with a vector of the coming model.
    pub staged: u64,
    /// Documents.
    pub documents: u64,
    /// Documents whose chunks are not those of their source: another program changed it. [`crate::Memory::backfill`] and
    /// [`crate::Memory::repair`] cut them anew.
    pub stale: u64,
    /// Passages of documents.
    pub chunks: u64,
    /// Passages with a vector.
    pub chunks_embedded: u64,
    /// Passages in which the model found nothing to embed: they need none.
    pub chunks_empty: u64,
    /// Passages without a vector, but for those.
    pub chunks_missing: u64,
    /// Vectors of passages without a passage: none, unless the file is damaged.
    pub chunks_orphaned: u64,
    /// Passages that the coming model has embedded, or found nothing to embed in.
    pub chunks_staged: u64,
}

/// What [`crate::Memory::backup`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupReport {
    /// The size of the copy in bytes.
    pub bytes: u64,
}

/// What [`crate::Memory::restore`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoreReport {
    /// Where the file that was there lies now; `None` where there was none.
    pub kept: Option<PathBuf>,
    /// What the check of the restored file found: nothing, or memories that were stored without a model.
    pub check: CheckReport,
}

/// What [`crate::Memory::compact`] gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactReport {
    /// Bytes of the database before it.
    pub bytes_before: u64,
    /// Bytes of the database after it; the file has that size once no other handle reads an older state.
    pub bytes_after: u64,
}

/// When a file was checked, and how it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastCheck {
    /// When.
    pub at: Timestamp,
    /// Whether nothing was found.
    pub was_ok: bool,
}

/// Sizes and counts, from [`crate::Memory::health`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Memories.
    pub memories: u64,
    /// Vectors. Fewer than memories where some were stored without a model: [`crate::Memory::backfill`] embeds those.
    pub vectors: u64,
    /// Distinct projects, not counting global.
    pub projects: u64,
    /// The model that made the file's vectors; `None` where it has none yet.
    pub model: Option<EmbeddingModel>,
    /// The model of this handle; `None` where it works by words alone.
    pub embedder: Option<EmbeddingModel>,
    /// The schema version of the file.
    pub schema_version: i64,
    /// Bytes of the database file (0 in memory).
    pub file_bytes: u64,
    /// Bytes of its write-ahead log.
    pub log_bytes: u64,
    /// Bytes of memory of this handle's index (0 before its second recall).
    pub index_bytes: u64,
    /// The last check that this handle or a clone of it made; `None` where it made none.
    pub last_check: Option<LastCheck>,
    /// Whether memories were deleted by [`crate::Memory::erase`], and bytes of them may be left in the file, as it did not
    /// come to its end: call it or [`crate::Memory::compact`] again.
    pub erasure_pending: bool,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = match &self.model {
            Some(model) => model.to_string(),
            None => "no model".to_owned(),
        };
        write!(
            f,
            "{} memories, {} vectors by {model}, {} projects, {} bytes",
            self.memories, self.vectors, self.projects, self.file_bytes
        )
    }
}

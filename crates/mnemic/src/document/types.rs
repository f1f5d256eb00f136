//! What a document is made of, and what comes of storing one. Plain values: nothing here touches the file.

use std::ops::Range;

use mnemic_chunk::{Chunk, Chunking};
use mnemic_schema::{ChunkRow, DocumentRow, Timestamp};

use crate::types::StoredMemory;

/// How many characters of a source its document is found by as a whole where it does not say: RA-H's number.
pub(crate) const PREVIEW: u32 = 6_000;

/// How a source is cut that does not say: RA-H's sizes, at the borders of prose, and no source too short for it.
pub(crate) const CHUNKING: Chunking = Chunking::characters(1_000, 200);

/// A document to store.
///
/// It is a memory: its text is the **card**, made of title, description and the beginning of the source, a line each, and
/// everything that finds a memory finds the document by it. Beside that the source is cut into passages, each with its
/// place in the source, its words and its vector.
///
/// ```
/// use mnemic::{Chunking, NewDocument};
///
/// let document = NewDocument::new("Minutes, 4 May")
///     .description("The weekly meeting of the gateway team")
///     .source("Ada opened the meeting.\n\nThe deploy freeze was moved to Thursdays.")
///     .link("https://example.org/minutes/2026-05-04")
///     .metadata(r#"{"pages": 1}"#)
///     .event_date("2026-05-04".parse()?)
///     .project("gateway")
///     .tags(["minutes"])
///     .chunking(Chunking::characters(400, 50));
/// # Ok::<(), mnemic::TimestampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a builder does nothing until it is stored"]
pub struct NewDocument {
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) change: DocumentUpdate,
    pub(crate) chunks: Option<Vec<Chunk>>,
    pub(crate) id: Option<String>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) may_lack_vectors: bool,
}

impl NewDocument {
    /// A document with this title: any text but white space alone.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            source: String::new(),
            change: DocumentUpdate::new(),
            chunks: None,
            id: None,
            created_at: None,
            may_lack_vectors: false,
        }
    }

    /// What it is and why it is kept.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.change = self.change.description(description);
        self
    }

    /// The long text, kept byte for byte. Default: empty, which has no passages.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Where it can be found: any text.
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.change = self.change.link(link);
        self
    }

    /// Anything else about it, as JSON.
    pub fn metadata(mut self, json: impl Into<String>) -> Self {
        self.change = self.change.metadata(json);
        self
    }

    /// When what it tells of happened. It is kept and shown; filters by time look at when it was created.
    pub fn event_date(mut self, date: Timestamp) -> Self {
        self.change = self.change.event_date(date);
        self
    }

    /// The project it belongs to: any text, compared literally. Without one it is global.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.change = self.change.project(project);
        self
    }

    /// Its tags: any texts, kept exactly as given.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.change = self.change.tags(tags);
        self
    }

    /// Where the source came from: a path, an address. There is one document of an origin in a project: storing it again
    /// brings that one up to date, and does nothing where nothing has changed.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.change.origin = Some(origin.into());
        self
    }

    /// What tells the version of the source at its origin (a hash of the file, say), for whoever wants to know without
    /// reading it: [`Document::origin_hash`].
    pub fn origin_hash(mut self, hash: impl Into<String>) -> Self {
        self.change = self.change.origin_hash(hash);
        self
    }

    /// How the source is cut into passages. Default: `Chunking::characters(1_000, 200)`. Tokens are counted by
    /// [`crate::EstimatedTokens`].
    pub fn chunking(mut self, chunking: Chunking) -> Self {
        self.change = self.change.chunking(chunking);
        self
    }

    /// The passages, where they are cut already (by the times of a transcript, say; [`Chunk::new`] makes one from a span).
    /// Their spans must be of the source, in its order. They stay while the source and its chunking do; where the source is
    /// replaced later, or the deletion of the document is undone, it is cut by [`NewDocument::chunking`].
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = Chunk>) -> Self {
        self.chunks = Some(chunks.into_iter().collect());
        self
    }

    /// How many characters of the source are part of the card, by which the whole document is found. Default: 6,000.
    pub fn preview(mut self, characters: u32) -> Self {
        self.change = self.change.preview(characters);
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

    /// Stores it also where the embedder fails, or there is none: readable and found by its words, with what lacks its
    /// vector told by [`StoredDocument::missing`] and [`crate::Memory::coverage`] until [`crate::Memory::backfill`]
    /// completes it. Without this, a failing embedder is an error and nothing is stored.
    pub fn allow_missing_vectors(mut self) -> Self {
        self.may_lack_vectors = true;
        self
    }
}

/// What to change of a document; what is not said stays as it is.
///
/// ```
/// use mnemic::DocumentUpdate;
///
/// let change = DocumentUpdate::new().title("Minutes, 4 May 2026").link("https://example.org/minutes");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a change does nothing until it is made"]
pub struct DocumentUpdate {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<Option<String>>,
    pub(crate) source: Option<String>,
    pub(crate) link: Option<Option<String>>,
    pub(crate) metadata: Option<Option<String>>,
    pub(crate) event_date: Option<Option<Timestamp>>,
    pub(crate) origin: Option<String>,
    pub(crate) origin_hash: Option<String>,
    pub(crate) chunking: Option<Chunking>,
    pub(crate) preview: Option<u32>,
    pub(crate) project: Option<Option<String>>,
    pub(crate) tags: Option<Vec<String>>,
}

impl DocumentUpdate {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Another description; the empty text is none.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(some(description.into()));
        self
    }

    /// Another source; as [`crate::Memory::replace_source`].
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Another link; the empty text is none.
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.link = Some(some(link.into()));
        self
    }

    /// Other metadata, as JSON; the empty text is none.
    pub fn metadata(mut self, json: impl Into<String>) -> Self {
        self.metadata = Some(some(json.into()));
        self
    }

    /// Another date of what it tells of.
    pub fn event_date(mut self, date: Timestamp) -> Self {
        self.event_date = Some(Some(date));
        self
    }

    /// Another version of the source at its origin.
    pub fn origin_hash(mut self, hash: impl Into<String>) -> Self {
        self.origin_hash = Some(hash.into());
        self
    }

    /// Cuts the source in another way.
    pub fn chunking(mut self, chunking: Chunking) -> Self {
        self.chunking = Some(chunking);
        self
    }

    /// Another number of characters of the source on the card.
    pub fn preview(mut self, characters: u32) -> Self {
        self.preview = Some(characters);
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
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// What storing or changing a document did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// Its id.
    pub id: String,
    /// Whether it is new: `false` where one was changed.
    pub created: bool,
    /// Whether nothing was to be done.
    pub unchanged: bool,
    /// Passages it has now.
    pub chunks: u64,
    /// Of these, those that were there before, with their vectors.
    pub reused: u64,
    /// Of these, those that were embedded now.
    pub embedded: u64,
    /// Of these, those that have no vector though there may be something to embed in them:
    /// [`crate::Memory::backfill`] makes them.
    pub missing: u64,
    /// Passages of the version before that are gone.
    pub removed: u64,
}

/// A document as it is kept, without its source.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The memory that it is; its text is the card.
    pub memory: StoredMemory,
    /// What it is called.
    pub title: String,
    /// What it is and why it is kept.
    pub description: Option<String>,
    /// Where it can be found.
    pub link: Option<String>,
    /// Anything else about it, as JSON.
    pub metadata: Option<String>,
    /// When what it tells of happened.
    pub event_date: Option<Timestamp>,
    /// Where the source came from.
    pub origin: Option<String>,
    /// What told the version of the source there.
    pub origin_hash: Option<String>,
    /// How the source is cut.
    pub chunking: Chunking,
    /// How many passages it has.
    pub chunks: u64,
    /// Whether they are those of the source as it is. That each has a vector is another fact:
    /// [`crate::Memory::coverage`] tells.
    pub chunked: bool,
}

impl From<DocumentRow> for Document {
    fn from(row: DocumentRow) -> Self {
        let chunking = chunking_of(&row.parts.chunking);
        Self {
            memory: row.memory.into(),
            title: row.parts.title,
            description: row.parts.description,
            link: row.parts.link,
            metadata: row.parts.metadata,
            event_date: row.parts.event_date,
            origin: row.parts.origin,
            origin_hash: row.parts.origin_hash,
            chunking,
            chunks: row.chunks,
            chunked: row.chunked,
        }
    }
}

/// How a document says that it is cut; the default where this library does not know what it says.
pub(crate) fn chunking_of(json: &str) -> Chunking {
    serde_json::from_str(json).unwrap_or(CHUNKING)
}

/// A passage: a piece of a document's source, and where it is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The id of the document.
    pub document: String,
    /// The title of the document.
    pub title: String,
    /// Its place among the passages of the document, from 0.
    pub place: u64,
    /// The text: exactly what the source has at the span.
    pub text: String,
    /// Its span in the source, in bytes.
    pub bytes: Range<usize>,
    /// The same in characters (Unicode scalar values).
    pub chars: Range<usize>,
    /// What is known of its place beside that, as JSON: headings over it, times in a recording.
    pub metadata: Option<String>,
}

impl Passage {
    pub(crate) fn of(row: ChunkRow, document: &str, title: &str) -> Self {
        Self {
            document: document.to_owned(),
            title: title.to_owned(),
            place: row.place,
            text: row.text,
            bytes: row.bytes,
            chars: row.chars,
            metadata: row.metadata,
        }
    }
}

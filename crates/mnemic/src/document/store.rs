//! The verbs that write documents: store, update, replace the source, and cut anew what another hand has changed.

use mnemic_embed::Embedder;
use mnemic_schema::{
    ChunksWritten, DocumentParts, NewChunk, NewRow, RowChange, Scope, Snapshot, Timestamp,
    WriteTransaction,
};

use crate::document::cut;
use crate::document::types::{DocumentUpdate, NewDocument, StoredDocument};
use crate::document::write::{Vectors, Version};
use crate::memory::Memory;
use crate::trace::event;
use crate::{Error, ErrorKind, Result};

/// So often a version is planned again because others wrote the same document meanwhile.
const MOST_PLANS: usize = 32;

/// Which document is written.
enum Target<'a> {
    /// A new one, or the one of its origin.
    New(&'a NewDocument),
    /// One that is there, of a scope.
    Known { id: &'a str, scope: &'a Scope },
}

/// A document as a version is planned on it.
#[derive(PartialEq)]
struct Before {
    id: String,
    parts: DocumentParts,
    source: String,
    chunked: bool,
    chunks: Vec<NewChunk>,
    project: Option<String>,
    tags: Vec<String>,
}

impl Memory {
    /// Stores a document: the memory that it is, its source and its passages with their words and vectors, in one
    /// transaction. After a crash all of it is there, or none.
    ///
    /// With an origin ([`NewDocument::origin`]) that a document of the same project has, that one is brought up to date
    /// instead: what is said of it replaces what it was, passages that are in the new source too keep their vectors, and
    /// where nothing has changed nothing is written.
    ///
    /// # Errors
    /// `InvalidInput` (no title, metadata that is not JSON, a chunking that cannot be, nothing to embed in the whole
    /// document), `AlreadyExists`, `Embedding` (but see [`NewDocument::allow_missing_vectors`]), `ModelMismatch`,
    /// `ReadOnly`, `Busy`, `Storage`; nothing is stored then.
    ///
    /// ```
    /// use mnemic::{Memory, NewDocument, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let source = "The pump of the fountain failed.\n\n".repeat(40) + "Nobody may feed the geese.";
    /// let stored = memory.store_document(NewDocument::new("Rules of the park").source(source))?;
    /// assert_eq!((stored.chunks, stored.embedded), (2, 2));
    ///
    /// let hits = memory.recall("may I feed the geese?")?;
    /// assert_eq!(hits[0].memory.id, stored.id);
    /// assert!(hits[0].passages[0].passage.text.ends_with("Nobody may feed the geese."));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn store_document(&self, document: impl Into<NewDocument>) -> Result<StoredDocument> {
        let document: NewDocument = document.into();
        let mut change = document.change.clone();
        change.title = Some(document.title.clone());
        change.source = Some(document.source.clone());
        self.write_document(&Target::New(&document), &change)
    }

    /// Puts another source in the place of a document's: cut as before, and exactly its passages are there afterwards.
    /// Those that were there before keep their vectors, so that editing a paragraph of a book embeds a few: the report
    /// tells how many. As [`Memory::update_document`].
    ///
    /// # Errors
    /// As [`Memory::update_document`].
    ///
    /// ```
    /// use mnemic::{Chunking, Memory, NewDocument};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let book: Vec<String> = (1..=50).map(|i| format!("Chapter {i} tells of the voyage.")).collect();
    /// let document = NewDocument::new("A book").source(book.join("\n\n")).chunking(Chunking::characters(40, 0));
    /// let id = memory.store_document(document)?.id;
    ///
    /// let edited = book.join("\n\n").replace("Chapter 7 tells", "Chapter 7 is silent");
    /// let report = memory.replace_source(&id, edited)?;
    /// assert_eq!((report.chunks, report.reused, report.embedded), (50, 49, 1));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn replace_source(&self, id: &str, source: impl Into<String>) -> Result<StoredDocument> {
        self.update_document(id, DocumentUpdate::new().source(source))
    }

    /// Changes a document in place, in one transaction: its id and time of creation stay. Of several writers at once each
    /// change is made, one after the other.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` where the memory is not a document, and as [`Memory::store_document`]; nothing is
    /// changed then. `Busy` also where others write the same document without pause.
    pub fn update_document(&self, id: &str, change: DocumentUpdate) -> Result<StoredDocument> {
        self.update_document_within(&Scope::All, id, &change)
    }

    /// As [`Memory::update_document`], of a document of a scope; any other is not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(
            name = "update_document",
            level = "info",
            skip_all,
            err(level = "debug")
        )
    )]
    pub(crate) fn update_document_within(
        &self,
        scope: &Scope,
        id: &str,
        change: &DocumentUpdate,
    ) -> Result<StoredDocument> {
        self.write_document(&Target::Known { id, scope }, change)
    }

    /// Cuts anew what was not cut since its source was changed (by another program, say); answers how many documents.
    /// What lacks vectors then is for `backfill` to embed. One that cannot be cut as it is (a title of white space, say) keeps
    /// none of the others from it: it stays stale, which `check` reports.
    pub(crate) fn cut_stale_documents(&self) -> Result<u64> {
        let stale = self.read(|snapshot| Ok(snapshot.stale_documents()?))?;
        let mut done = 0;
        for id in stale {
            let (id, scope) = (&*id, &Scope::All);
            let none = DocumentUpdate::new();
            // Without a model: what stays keeps its vector, the rest is found missing.
            match self.write_by(None, true, &Target::Known { id, scope }, &none) {
                Ok(_) => done += 1,
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_document(
        &self,
        target: &Target<'_>,
        change: &DocumentUpdate,
    ) -> Result<StoredDocument> {
        let may_lack = matches!(target, Target::New(document) if document.may_lack_vectors);
        let stored =
            self.with_model(|embedder| self.write_by(embedder, may_lack, target, change))?;
        event!(
            chunks = stored.chunks,
            embedded = stored.embedded,
            reused = stored.reused,
            "document written"
        );
        Ok(stored)
    }

    fn write_by(
        &self,
        embedder: Option<&dyn Embedder>,
        may_lack: bool,
        target: &Target<'_>,
        change: &DocumentUpdate,
    ) -> Result<StoredDocument> {
        let mut vectors = Vectors::by(embedder, may_lack);
        for attempt in 0..MOST_PLANS {
            let before = self.read(|snapshot| target.before(snapshot))?;
            let given = target.given()?;
            if let Some(before) = before
                .as_ref()
                .filter(|before| before.is_as(change, given.as_deref()))
            {
                return self.read(|snapshot| unchanged(snapshot, &before.id));
            }
            // What was cut by another hand stays as it is while source and chunking do.
            let given = match &before {
                Some(before) if given.is_none() && before.stays_cut(change) => {
                    Some(before.chunks.clone())
                }
                _ => given,
            };
            let version = Version::of(
                before
                    .as_ref()
                    .map(|before| (&before.parts, &*before.source)),
                change,
                given,
            )?;
            let (id, card) = (
                before.as_ref().map_or("", |before| &before.id),
                version.card(),
            );
            let texts = version.texts();
            // After a few attempts everything is embedded, so that no other writer can take a vector away.
            let mut wanted = match attempt {
                0..4 => self.read(|snapshot| Ok(snapshot.texts_to_embed(id, &texts)?))?,
                _ => texts.iter().map(|text| (*text).to_owned()).collect(),
            };
            wanted.push(card);
            vectors.embed(wanted)?;
            let stored = self.write(|transaction| {
                // Planned on what is no longer so: again.
                if target.before(transaction)? != before {
                    return Ok(None);
                }
                if !vectors.has(&transaction.texts_to_embed(id, &texts)?) {
                    return Ok(None);
                }
                target
                    .write(transaction, before.as_ref(), change, &version, &vectors)
                    .map(Some)
            })?;
            if let Some(stored) = stored {
                return Ok(stored);
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "others write the same document without pause: try again",
        ))
    }
}

impl Target<'_> {
    /// The document that is there.
    fn before(&self, snapshot: &Snapshot<'_>) -> Result<Option<Before>> {
        match self {
            Self::New(document) => {
                let Some(origin) = &document.change.origin else {
                    return Ok(None);
                };
                let project = document.change.project.clone().flatten();
                for id in snapshot.documents_of(origin)? {
                    if let Some(before) = Before::read(snapshot, &id)?
                        && before.project == project
                    {
                        return Ok(Some(before));
                    }
                }
                Ok(None)
            }
            Self::Known { id, scope } => {
                let project = snapshot.project_of(id)?;
                if !project.is_some_and(|project| scope.admits(project.as_deref())) {
                    return Err(Error::not_found(id));
                }
                let before = Before::read(snapshot, id)?;
                let before = before.ok_or_else(|| {
                    Error::from(mnemic_schema::SchemaError::NotADocument {
                        id: (*id).to_owned(),
                    })
                })?;
                Ok(Some(before))
            }
        }
    }

    /// The chunks that were given with it.
    fn given(&self) -> Result<Option<Vec<mnemic_schema::NewChunk>>> {
        match self {
            Self::New(document) => document.chunks.clone().map(cut::given).transpose(),
            Self::Known { .. } => Ok(None),
        }
    }

    fn write(
        &self,
        transaction: &mut WriteTransaction<'_>,
        before: Option<&Before>,
        change: &DocumentUpdate,
        version: &Version,
        vectors: &Vectors<'_>,
    ) -> Result<StoredDocument> {
        let now = Timestamp::now();
        match (before, self) {
            (Some(before), _) => {
                let written = vectors.rewrite(transaction, &before.id, version, now)?;
                let other = RowChange {
                    content: None,
                    project: change.project.clone(),
                    tags: change.tags.clone(),
                    entities: None,
                };
                if other != RowChange::default() {
                    transaction.update(&before.id, &other, now, None)?;
                }
                Ok(stored(before.id.clone(), false, written))
            }
            (None, Self::New(document)) => {
                let row = NewRow {
                    id: document.id.clone(),
                    content: String::new(),
                    project: change.project.clone().flatten(),
                    tags: change.tags.clone().unwrap_or_default(),
                    created_at: document.created_at.unwrap_or(now),
                    entities: Vec::new(),
                };
                let (id, written) = vectors.insert(transaction, &row, version)?;
                Ok(stored(id, true, written))
            }
            (None, Self::Known { id, .. }) => Err(Error::not_found(id)),
        }
    }
}

impl Before {
    fn read(snapshot: &Snapshot<'_>, id: &str) -> Result<Option<Self>> {
        let Some(row) = snapshot.document(id)? else {
            return Ok(None);
        };
        let chunks = snapshot.chunks_of(row.memory.seq, 0..u64::MAX)?;
        let chunks = chunks.into_iter().map(|chunk| NewChunk {
            bytes: chunk.bytes,
            chars: chunk.chars,
            metadata: chunk.metadata,
        });
        Ok(Some(Self {
            id: row.memory.id,
            chunks: chunks.collect(),
            parts: row.parts,
            source: snapshot.source(id)?.unwrap_or_default(),
            chunked: row.chunked,
            project: row.memory.project,
            tags: row.memory.tags,
        }))
    }

    /// Whether a change leaves the passages as they are.
    fn stays_cut(&self, change: &DocumentUpdate) -> bool {
        let (chunking, source) = (change.chunking.as_ref(), change.source.as_ref());
        self.chunked
            && chunking.is_none_or(|chunking| {
                cut::json(chunking).is_ok_and(|json| json == self.parts.chunking)
            })
            && source.is_none_or(|source| *source == self.source)
    }

    /// Whether a change would change nothing.
    fn is_as(&self, change: &DocumentUpdate, given: Option<&[NewChunk]>) -> bool {
        let parts = &self.parts;
        let is = |part: &Option<String>, to: &Option<Option<String>>| {
            to.as_ref().is_none_or(|to| to == part)
        };
        self.stays_cut(change)
            && given.is_none_or(|given| given == self.chunks)
            && change
                .title
                .as_ref()
                .is_none_or(|title| *title == parts.title)
            && is(&parts.description, &change.description)
            && is(&parts.link, &change.link)
            && is(&parts.metadata, &change.metadata)
            && change
                .event_date
                .is_none_or(|date| date == parts.event_date)
            && (change.origin.is_none() || change.origin == parts.origin)
            && (change.origin_hash.is_none() || change.origin_hash == parts.origin_hash)
            && change
                .preview
                .is_none_or(|preview| preview == parts.preview)
            && change
                .project
                .as_ref()
                .is_none_or(|project| *project == self.project)
            && change.tags.as_ref().is_none_or(|tags| *tags == self.tags)
    }
}

fn stored(id: String, created: bool, written: ChunksWritten) -> StoredDocument {
    StoredDocument {
        id,
        created,
        unchanged: false,
        chunks: written.chunks,
        reused: written.kept,
        embedded: written.embedded,
        missing: written.missing,
        removed: written.removed,
    }
}

fn unchanged(snapshot: &Snapshot<'_>, id: &str) -> Result<StoredDocument> {
    let known = snapshot.document(id)?;
    let known = known.ok_or_else(|| Error::not_found(id))?;
    Ok(StoredDocument {
        id: id.to_owned(),
        created: false,
        unchanged: true,
        chunks: known.chunks,
        reused: known.chunks,
        embedded: 0,
        missing: snapshot.missing_of(known.memory.seq)?,
        removed: 0,
    })
}

//! The verbs that read documents and their passages as they are kept. What is searched in them is recall's.

use mnemic_schema::{Filter, Snapshot};

use crate::Result;
use crate::document::types::{Document, Passage};
use crate::filter::filter_verbs;
use crate::memory::Memory;

/// Which documents are listed; all of every project where nothing is said.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a list is made by giving it to Memory::documents"]
pub struct Documents {
    pub(crate) filter: Filter,
}

filter_verbs!(Documents);

impl Documents {
    /// No filter yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Memory {
    /// The document with an id, without its source; `None` where there is no such memory, or it is not a document.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, NewDocument};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let id = memory.store_document(NewDocument::new("A letter").source("Dear Ada, the pump is back."))?.id;
    /// let document = memory.document(&id)?.unwrap();
    /// assert_eq!((document.title.as_str(), document.chunks), ("A letter", 1));
    /// assert_eq!(document.memory.content, "A letter\nDear Ada, the pump is back.");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn document(&self, id: &str) -> Result<Option<Document>> {
        self.read(|snapshot| Ok(snapshot.document(id)?.map(Into::into)))
    }

    /// The documents that pass a filter, newest first, without their sources.
    ///
    /// # Errors
    /// As [`Memory::document`].
    ///
    /// ```
    /// use mnemic::{Documents, Memory, NewDocument};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_document(NewDocument::new("A letter").tags(["post"]))?;
    /// memory.store_document(NewDocument::new("A bill"))?;
    /// assert_eq!(memory.documents(Documents::new())?.len(), 2);
    /// assert_eq!(memory.documents(Documents::new().tags_any(["post"]))?[0].title, "A letter");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn documents(&self, documents: Documents) -> Result<Vec<Document>> {
        self.read(|snapshot| {
            let rows = snapshot.documents(&documents.filter)?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }

    /// The documents of an origin ([`crate::NewDocument::origin`]), of whatever project, oldest first.
    ///
    /// # Errors
    /// As [`Memory::document`].
    pub fn documents_from(&self, origin: &str) -> Result<Vec<Document>> {
        self.read(|snapshot| {
            let mut found = Vec::new();
            for id in snapshot.documents_of(origin)? {
                found.extend(snapshot.document(&id)?.map(Document::from));
            }
            Ok(found)
        })
    }

    /// The source of a document, byte for byte; `None` as [`Memory::document`].
    ///
    /// # Errors
    /// As [`Memory::document`].
    pub fn source(&self, id: &str) -> Result<Option<String>> {
        self.read(|snapshot| Ok(snapshot.source(id)?))
    }

    /// All passages of a document, in their order; none where it is no document.
    ///
    /// # Errors
    /// As [`Memory::document`].
    pub fn passages_of(&self, id: &str) -> Result<Vec<Passage>> {
        self.read(|snapshot| within(snapshot, id, 0, u64::MAX))
    }

    /// A passage with up to so many before and after it, in their order, as the document is now: where it was written anew
    /// since, what is at that place. Passages may overlap: their spans tell.
    ///
    /// # Errors
    /// As [`Memory::document`].
    ///
    /// ```
    /// use mnemic::{Chunking, Memory, NewDocument};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let document = NewDocument::new("Alphabet").source("aaa bbb ccc ddd").chunking(Chunking::characters(3, 0));
    /// let id = memory.store_document(document)?.id;
    /// let third = &memory.passages_of(&id)?[2];
    /// let around: Vec<String> = memory.passages_around(third, 1)?.into_iter().map(|passage| passage.text).collect();
    /// assert_eq!(around, ["bbb", "ccc", "ddd"]);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn passages_around(&self, passage: &Passage, count: u64) -> Result<Vec<Passage>> {
        let first = passage.place.saturating_sub(count);
        let end = passage.place.saturating_add(count).saturating_add(1);
        self.read(|snapshot| within(snapshot, &passage.document, first, end))
    }
}

/// The passages of a document at some places.
fn within(snapshot: &Snapshot<'_>, id: &str, first: u64, end: u64) -> Result<Vec<Passage>> {
    let Some(row) = snapshot.document(id)? else {
        return Ok(Vec::new());
    };
    let chunks = snapshot.chunks_of(row.memory.seq, first..end)?;
    let title = &row.parts.title;
    Ok(chunks
        .into_iter()
        .map(|chunk| Passage::of(chunk, id, title))
        .collect())
}

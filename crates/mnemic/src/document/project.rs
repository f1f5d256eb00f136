//! The verbs of documents on a handle that is bound to one project: none of them can reach outside.

use crate::document::read::Documents;
use crate::document::types::{Document, DocumentUpdate, NewDocument, Passage, StoredDocument};
use crate::project::ProjectMemory;
use crate::recall::hit::PassageHit;
use crate::recall::request::Recall;
use crate::{Error, Result};

impl ProjectMemory {
    /// As [`crate::Memory::store_document`], into this project.
    ///
    /// # Errors
    /// `InvalidInput` where the document names another project; and as [`crate::Memory::store_document`].
    pub fn store_document(&self, document: impl Into<NewDocument>) -> Result<StoredDocument> {
        let document: NewDocument = document.into();
        if let Some(project) = &document.change.project
            && project.as_deref() != Some(self.name())
        {
            return Err(self.outside(project.as_deref()));
        }
        self.memory().store_document(document.project(self.name()))
    }

    /// As [`crate::Memory::replace_source`]; a document of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`crate::Memory::replace_source`].
    pub fn replace_source(&self, id: &str, source: impl Into<String>) -> Result<StoredDocument> {
        self.update_document(id, DocumentUpdate::new().source(source))
    }

    /// As [`crate::Memory::update_document`]; a document of another project is `NotFound`.
    ///
    /// # Errors
    /// `InvalidInput` where the change moves it to another project; and as [`crate::Memory::update_document`].
    pub fn update_document(&self, id: &str, change: DocumentUpdate) -> Result<StoredDocument> {
        if let Some(project) = &change.project
            && project.as_deref() != Some(self.name())
        {
            return Err(self.outside(project.as_deref()));
        }
        self.memory()
            .update_document_within(&self.scope(), id, &change)
    }

    /// As [`crate::Memory::document`]; `None` for one of another project.
    ///
    /// # Errors
    /// As [`crate::Memory::document`].
    pub fn document(&self, id: &str) -> Result<Option<Document>> {
        let scope = self.scope();
        let found = self.memory().document(id)?;
        let mut found = found.filter(|document| scope.admits(document.memory.project.as_deref()));
        self.veil(found.iter_mut().map(|document| &mut document.memory))?;
        Ok(found)
    }

    /// As [`crate::Memory::documents`], of this project.
    ///
    /// # Errors
    /// `InvalidInput` where the list names another project; and as [`crate::Memory::documents`].
    pub fn documents(&self, mut documents: Documents) -> Result<Vec<Document>> {
        documents.filter.scope = self.narrowed(&documents.filter.scope)?;
        let mut documents = self.memory().documents(documents)?;
        self.veil(documents.iter_mut().map(|document| &mut document.memory))?;
        Ok(documents)
    }

    /// As [`crate::Memory::source`]; `None` for a document of another project.
    ///
    /// # Errors
    /// As [`crate::Memory::document`].
    pub fn source(&self, id: &str) -> Result<Option<String>> {
        match self.document(id)? {
            Some(_) => self.memory().source(id),
            None => Ok(None),
        }
    }

    /// As [`crate::Memory::passages_of`]; none for a document of another project.
    ///
    /// # Errors
    /// As [`crate::Memory::document`].
    pub fn passages_of(&self, id: &str) -> Result<Vec<Passage>> {
        match self.document(id)? {
            Some(_) => self.memory().passages_of(id),
            None => Ok(Vec::new()),
        }
    }

    /// As [`crate::Memory::passages_around`]; an error for a passage of another project.
    ///
    /// # Errors
    /// `NotFound`, and as [`crate::Memory::document`].
    pub fn passages_around(&self, passage: &Passage, count: u64) -> Result<Vec<Passage>> {
        match self.document(&passage.document)? {
            Some(_) => self.memory().passages_around(passage, count),
            None => Err(Error::not_found(&passage.document)),
        }
    }

    /// As [`crate::Memory::recall_passages`], of documents of this project, whatever general scope the question names.
    ///
    /// # Errors
    /// `InvalidInput` where the question names another project; and as [`crate::Memory::recall_passages`].
    pub fn recall_passages(&self, recall: impl Into<Recall>) -> Result<Vec<PassageHit>> {
        let mut recall: Recall = recall.into();
        recall.filter.scope = self.narrowed(&recall.filter.scope)?;
        self.memory().recall_passages(recall)
    }
}

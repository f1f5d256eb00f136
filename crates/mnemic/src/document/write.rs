//! One version of a document: planned on a snapshot, embedded outside locks and transactions, and written in one
//! transaction, which first makes sure that what it was planned on is still so. Otherwise it is planned again, so that of
//! two writers at once each change is made, one after the other.

use std::collections::HashMap;

use mnemic_embed::Embedder;
use mnemic_schema::{
    ChunkVector, ChunkVectors, ChunksWritten, DocumentParts, Embedded, NewChunk, NewRow,
    RecordedModel, SchemaError, Timestamp, WriteTransaction, card,
};

use crate::document::cut;
use crate::document::types::{CHUNKING, DocumentUpdate, PREVIEW, chunking_of};
use crate::embedding::{nothing_to_embed, passages, recorded};
use crate::{Error, ErrorKind, Result};

/// What a version is made of before it has vectors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Version {
    pub(crate) parts: DocumentParts,
    pub(crate) source: String,
    pub(crate) chunks: Vec<NewChunk>,
}

impl Version {
    /// The next version of a document, or the first one of a new one.
    pub(crate) fn of(
        before: Option<(&DocumentParts, &str)>,
        change: &DocumentUpdate,
        given: Option<Vec<NewChunk>>,
    ) -> Result<Self> {
        let mut parts = match before {
            Some((parts, _)) => parts.clone(),
            None => DocumentParts {
                chunking: cut::json(&CHUNKING)?,
                preview: PREVIEW,
                ..DocumentParts::default()
            },
        };
        let set = |part: &mut Option<String>, to: &Option<Option<String>>| {
            if let Some(to) = to {
                part.clone_from(to);
            }
        };
        set(&mut parts.description, &change.description);
        set(&mut parts.link, &change.link);
        set(&mut parts.metadata, &change.metadata);
        if let Some(title) = &change.title {
            parts.title.clone_from(title);
        }
        if let Some(date) = change.event_date {
            parts.event_date = date;
        }
        if change.origin.is_some() {
            parts.origin.clone_from(&change.origin);
        }
        if change.origin_hash.is_some() {
            parts.origin_hash.clone_from(&change.origin_hash);
        }
        if let Some(preview) = change.preview {
            parts.preview = preview;
        }
        if let Some(chunking) = &change.chunking {
            parts.chunking = cut::json(chunking)?;
        }
        check_parts(&parts)?;
        let source = match (&change.source, before) {
            (Some(source), _) => source.clone(),
            (None, Some((_, source))) => source.to_owned(),
            (None, None) => String::new(),
        };
        let chunks = match given {
            Some(given) => given,
            None => cut::cut(&source, &chunking_of(&parts.chunking))?,
        };
        Ok(Self {
            parts,
            source,
            chunks,
        })
    }

    pub(crate) fn card(&self) -> String {
        let description = self.parts.description.as_deref();
        card(
            &self.parts.title,
            description,
            &self.source,
            self.parts.preview,
        )
    }

    /// The texts of its chunks, in their order; a span that is none of the source is refused by the file.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let text = |chunk: &NewChunk| self.source.get(chunk.bytes.clone()).unwrap_or_default();
        self.chunks.iter().map(text).collect()
    }
}

fn check_parts(parts: &DocumentParts) -> Result<()> {
    if parts.title.trim().is_empty() {
        return Err(Error::invalid(
            "a document needs a title, this one is empty or white space",
        ));
    }
    if let Some(metadata) = &parts.metadata {
        serde_json::from_str::<serde::de::IgnoredAny>(metadata).map_err(|error| {
            Error::caused(
                ErrorKind::InvalidInput,
                "the metadata of a document must be JSON, this is not",
                error,
            )
        })?;
    }
    Ok(())
}

/// What a model made of the texts of a version. It grows where a version has to be planned again.
#[derive(Debug)]
pub(crate) struct Vectors<'a> {
    embedder: Option<&'a dyn Embedder>,
    model: Option<RecordedModel>,
    /// Whether a text may be left without where the embedder fails.
    may_lack: bool,
    /// Whether it failed, so that it is not asked again.
    failed: bool,
    by_text: HashMap<String, ChunkVector>,
}

/// So many texts in a row that could not be embedded one by one, and the embedder is not asked any more.
const MOST_FAILURES: usize = 3;

/// Most texts embedded at once where a failure is to cost only its own text.
const BATCH: usize = 64;

impl<'a> Vectors<'a> {
    pub(crate) fn by(embedder: Option<&'a dyn Embedder>, may_lack: bool) -> Self {
        Self {
            embedder,
            model: embedder.map(|embedder| recorded(embedder.model())),
            may_lack,
            failed: false,
            by_text: HashMap::new(),
        }
    }

    /// Whether it has all that can be had of some texts.
    pub(crate) fn has(&self, texts: &[String]) -> bool {
        let known = |text: &String| self.by_text.contains_key(text);
        self.embedder.is_none() || self.may_lack && self.failed || texts.iter().all(known)
    }

    /// Embeds what it does not have yet.
    pub(crate) fn embed(&mut self, texts: Vec<String>) -> Result<()> {
        let Some(embedder) = self.embedder.filter(|_| !self.failed) else {
            return Ok(());
        };
        let mut texts = texts;
        texts.retain(|text| !self.by_text.contains_key(text));
        if !self.may_lack {
            return self.embed_batch(embedder, texts);
        }
        for batch in texts.chunks(BATCH) {
            if self.embed_batch(embedder, batch.to_vec()).is_ok() {
                continue;
            }
            let mut failures = 0;
            for text in batch {
                match self.embed_batch(embedder, vec![text.clone()]) {
                    Ok(()) => failures = 0,
                    Err(_) => failures += 1,
                }
                self.failed = true;
                if failures == MOST_FAILURES {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn embed_batch(&mut self, embedder: &dyn Embedder, texts: Vec<String>) -> Result<()> {
        let read: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = passages(embedder, &read)?;
        let made = vectors
            .into_iter()
            .map(|vector| vector.map_or(ChunkVector::Nothing, ChunkVector::Vector));
        self.by_text.extend(texts.into_iter().zip(made));
        Ok(())
    }

    /// The vector of a card. One in which there is nothing to embed is an error: the memory would be found by no meaning.
    fn of_card(&self, card: &str) -> Result<Option<Embedded<'_>>> {
        let (Some(embedder), Some(model)) = (self.embedder, &self.model) else {
            return Ok(None);
        };
        match self.by_text.get(card) {
            Some(ChunkVector::Vector(vector)) => Ok(Some(Embedded { model, vector })),
            Some(ChunkVector::Nothing) => Err(nothing_to_embed(embedder, card)),
            None => Ok(None),
        }
    }

    fn of_chunks(&self) -> Option<ChunkVectors<'_>> {
        Some(ChunkVectors {
            model: self.model.as_ref()?,
            by_text: &self.by_text,
        })
    }

    /// Without a model nothing joins a file of vectors, unless it may lack them.
    fn must_join(&self, transaction: &WriteTransaction<'_>) -> Result<()> {
        if self.embedder.is_some() || self.may_lack || !transaction.has_any_vector()? {
            return Ok(());
        }
        let recorded = transaction.recorded_model()?;
        Err(SchemaError::ModelMismatch {
            recorded: recorded
                .map_or_else(|| "an unknown model".to_owned(), |model| model.to_string()),
            given: "no model".to_owned(),
        }
        .into())
    }

    /// Inserts a new document.
    pub(crate) fn insert(
        &self,
        transaction: &mut WriteTransaction<'_>,
        row: &NewRow,
        version: &Version,
    ) -> Result<(String, ChunksWritten)> {
        self.must_join(transaction)?;
        Ok(transaction.insert_document(
            row,
            &version.parts,
            &version.source,
            &version.chunks,
            self.of_card(&version.card())?,
            self.of_chunks(),
        )?)
    }

    /// Writes the next version of a document.
    pub(crate) fn rewrite(
        &self,
        transaction: &mut WriteTransaction<'_>,
        id: &str,
        version: &Version,
        now: Timestamp,
    ) -> Result<ChunksWritten> {
        self.must_join(transaction)?;
        Ok(transaction.write_document(
            id,
            &version.parts,
            &version.source,
            &version.chunks,
            self.of_card(&version.card())?,
            self.of_chunks(),
            now,
        )?)
    }
}

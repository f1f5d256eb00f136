//! Taking in what was read: what lacks a vector is embedded, then all is written in one transaction. Nothing is embedded
//! in the transaction.

use mnemic_schema::{Lifecycle, Snapshot};

use super::document::PassageEntry;
use super::entry::{Entry, Spool};
use super::events;
use super::import::{ImportReport, OnConflict};
use super::left::Leavings;
use super::reading::Aside;
use super::records::{Lost, Records, RelationRecord};
use super::said::relation_line;
use super::threads::{NOT_THERE, link_line};
use super::writing::Writing;
use crate::document::cut;
use crate::document::types::chunking_of;
use crate::embedding::{model_of, nothing_to_embed, passages, recorded};
use crate::entities::extract;
use crate::memory::Memory;
use crate::types::StoredMemory;
use crate::{EmbeddingModel, Error, ErrorKind, Result};

/// Most entries, and most bytes of text, that are embedded together.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

pub(super) struct TakeIn<'m> {
    pub(super) memory: &'m Memory,
    pub(super) on_conflict: OnConflict,
    pub(super) project: Option<String>,
    /// Who made the vectors that come along.
    pub(super) source_model: Option<EmbeddingModel>,
    /// What the source is made of, for messages: lines or rows.
    pub(super) place: &'static str,
}

/// What became of entries and relations before they are written, as the memory was then.
struct Ready {
    entries: Spool,
    relations: Records<RelationRecord>,
    lost: Records<Lost>,
    /// Vectors that came along and are not used.
    unused: u64,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    Added,
    Unchanged,
    Kept,
    Replaced { other_content: bool },
}

impl TakeIn<'_> {
    /// Takes all in. Answers also how many vectors that came along were not used, and why.
    pub(super) fn run(
        &self,
        aside: &mut Aside,
        leavings: &mut Leavings<'_>,
    ) -> Result<(ImportReport, Option<(u64, String)>)> {
        let model = model_of_vectors(self.memory, self.source_model.as_ref())?;
        let usable = self.source_model.is_some() && self.source_model == model;
        // What is there may change between looking and writing: then all that lack a vector get one.
        for embed_all in [false, true] {
            let mut ready = Ready {
                entries: Spool::new(),
                relations: Records::new(),
                lost: Records::new(),
                unused: 0,
            };
            self.embed(aside, &mut ready, model.as_ref(), usable, embed_all)?;
            self.find_ends(aside, &mut ready)?;
            if let Some(report) = self.write(aside, &mut ready, model.as_ref())? {
                tell_lost(&mut ready.lost, leavings)?;
                let unused = ready.unused;
                let unused = (unused > 0).then(|| (unused, self.why_unused(model.as_ref())));
                return Ok((report, unused));
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            "another process changed the memories while they were imported: try again",
        ))
    }

    fn why_unused(&self, model: Option<&EmbeddingModel>) -> String {
        let by = |model: Option<&EmbeddingModel>| {
            model.map_or_else(|| "no model".to_owned(), ToString::to_string)
        };
        format!(
            "made by {}, while this memory's are by {}",
            by(self.source_model.as_ref()),
            by(model)
        )
    }

    /// Copies the entries, with vectors where they need one, and without the links that lead nowhere.
    fn embed(
        &self,
        aside: &mut Aside,
        ready: &mut Ready,
        model: Option<&EmbeddingModel>,
        usable: bool,
        embed_all: bool,
    ) -> Result<()> {
        let looks_for_entities = self.memory.extractor().is_some();
        let mut batch: Vec<(Entry, bool)> = Vec::new();
        let mut bytes = 0;
        let Aside {
            entries,
            ids,
            superseded,
            without_cause,
            ..
        } = aside;
        for entry in entries.read()? {
            let mut entry = entry?;
            if entry.project.is_none() {
                entry.project.clone_from(&self.project);
            }
            if let Some((since, by)) = superseded.get(&entry.id) {
                entry.lifecycle.superseded_at = Some(*since);
                entry.lifecycle.superseded_by = Some(by.clone());
            }
            if without_cause.contains(&entry.id) {
                entry.lifecycle.causal_parent = None;
            }
            let Lifecycle {
                causal_parent,
                superseded_by,
                ..
            } = &mut entry.lifecycle;
            for (link, field) in [
                (causal_parent, "lifecycle.causal_parent"),
                (superseded_by, "lifecycle.superseded_by"),
            ] {
                let nowhere = match link {
                    Some(other) => !ids.has(other) && !self.is_here(other)?,
                    None => false,
                };
                if nowhere && let Some(other) = link.take() {
                    let lost = Lost::Link(entry.id.clone(), field.to_owned(), other);
                    ready.lost.push(&lost)?;
                }
            }
            if !usable && entry.vector.take().is_some() {
                ready.unused += 1;
            }
            let lacks_vector = model.is_some() && entry.vector.is_none();
            let lacks_entities = looks_for_entities && entry.entities.is_none();
            let written =
                (lacks_vector || lacks_entities) && (self.would_write(&entry)? || embed_all);
            if lacks_entities && written {
                // To be found with those of the batch.
                entry.entities = Some((Vec::new(), false));
            }
            let is_document = entry.document.is_some();
            if is_document && (embed_all || self.would_write(&entry)?) {
                self.embed_passages(&mut entry, model, usable)?;
            }
            // A document may wait for its vector.
            let needs = lacks_vector && written && (!is_document || self.can_embed(model));
            bytes += entry.content.len() + entry.tags.iter().map(String::len).sum::<usize>();
            batch.push((entry, needs));
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                self.embed_batch(std::mem::take(&mut batch), &mut ready.entries, model)?;
                bytes = 0;
            }
        }
        self.embed_batch(batch, &mut ready.entries, model)
    }

    /// Copies the relations whose ends are in the import or here.
    fn find_ends(&self, aside: &mut Aside, ready: &mut Ready) -> Result<()> {
        let Aside { relations, ids, .. } = aside;
        relations.each(|relation| {
            for end in [&relation.from, &relation.to] {
                if !ids.has(end) && !self.is_here(end)? {
                    return ready.lost.push(&Lost::Relation(relation.clone()));
                }
            }
            ready.relations.push(&relation)
        })
    }

    fn is_here(&self, id: &str) -> Result<bool> {
        self.memory
            .read(|snapshot| Ok(snapshot.project_of(id)?.is_some()))
    }

    /// Whether an entry's content is to be written, as far as the memory is now.
    fn would_write(&self, entry: &Entry) -> Result<bool> {
        let found = self.memory.read(|snapshot| found(snapshot, entry))?;
        Ok(self.fate(entry, found.as_ref())?.writes())
    }

    fn embed_batch(
        &self,
        mut batch: Vec<(Entry, bool)>,
        ready: &mut Spool,
        model: Option<&EmbeddingModel>,
    ) -> Result<()> {
        self.find_entities(&mut batch)?;
        let texts: Vec<&str> = batch
            .iter()
            .filter(|(_, needs)| *needs)
            .map(|(entry, _)| entry.content.as_str())
            .collect();
        let mut vectors = Vec::new().into_iter();
        if let Some((first, _)) = batch.iter().find(|(_, needs)| *needs) {
            let embedder = self.memory.embedder();
            let embedder = embedder
                .filter(|embedder| Some(embedder.model()) == model)
                .ok_or_else(|| self.cannot_embed(first, model))?;
            vectors = passages(&*embedder, &texts)?.into_iter();
        }
        for (mut entry, needs) in batch {
            if needs {
                let vector = vectors.next().flatten();
                let vector = vector.ok_or_else(|| match self.memory.embedder() {
                    Some(embedder) => nothing_to_embed(&*embedder, &entry.content),
                    None => Error::invalid("a text could not be embedded"),
                })?;
                entry.vector = Some((vector, false));
            }
            ready.push(entry)?;
        }
        Ok(())
    }

    fn can_embed(&self, model: Option<&EmbeddingModel>) -> bool {
        let own = self.memory.embedder();
        model.is_some() && own.as_ref().map(|embedder| embedder.model()) == model
    }

    /// Cuts a document that comes without its passages, and embeds them where their vectors did not come along. What lacked
    /// its vector there lacks it here, and so does all where there is nobody to embed it: `coverage` tells.
    fn embed_passages(
        &self,
        entry: &mut Entry,
        model: Option<&EmbeddingModel>,
        usable: bool,
    ) -> Result<()> {
        let Some(document) = &mut entry.document else {
            return Ok(());
        };
        if document.passages.is_some() && usable {
            return Ok(());
        }
        let passages = match document.passages.take() {
            Some(passages) => passages,
            None => {
                let chunks = cut::cut(&document.source, &chunking_of(&document.chunking))?;
                chunks.into_iter().map(PassageEntry::of).collect()
            }
        };
        let mut passages: Vec<PassageEntry> = passages;
        for passage in &mut passages {
            passage.vector = None;
            passage.nothing = false;
        }
        if self.can_embed(model)
            && let Some(embedder) = self.memory.embedder()
        {
            for batch in passages.chunks_mut(BATCH) {
                let texts: Vec<&str> = batch
                    .iter()
                    .map(|passage| document.source.get(passage.start..passage.end))
                    .map(Option::unwrap_or_default)
                    .collect();
                let vectors = self::passages(&*embedder, &texts)?;
                for (passage, vector) in batch.iter_mut().zip(vectors) {
                    passage.set_vector(vector);
                }
            }
        }
        document.passages = Some(passages);
        Ok(())
    }

    /// Finds the entities of those that wait for them.
    fn find_entities(&self, batch: &mut [(Entry, bool)]) -> Result<()> {
        let Some(extractor) = self.memory.extractor() else {
            return Ok(());
        };
        let waits = |entry: &Entry| matches!(entry.entities, Some((_, false)));
        let waiting = batch.iter().filter(|(entry, _)| waits(entry));
        let texts: Vec<&str> = waiting.map(|(entry, _)| entry.content.as_str()).collect();
        let mut found = extract(extractor, &texts)?.into_iter();
        for (entry, _) in batch.iter_mut().filter(|(entry, _)| waits(entry)) {
            entry.entities = found.next().map(|names| (names, false));
        }
        Ok(())
    }

    fn cannot_embed(&self, entry: &Entry, model: Option<&EmbeddingModel>) -> Error {
        let name = |model: Option<&EmbeddingModel>| {
            model.map_or_else(
                || "no model".to_owned(),
                |model| recorded(model).to_string(),
            )
        };
        let own = self.memory.embedder();
        Error::new(
            ErrorKind::ModelMismatch,
            format!(
                "{} {}: the memory {:?} comes without a vector by {}, which this memory's vectors are by, and this \
                 handle has {}: open the memory with the model that made its vectors",
                self.place,
                entry.place,
                entry.id,
                name(model),
                name(own.as_ref().map(|embedder| embedder.model())),
            ),
        )
    }

    /// Writes all in one transaction; `None`, with nothing written, where an entry lacks its vector, or an end its memory,
    /// as what is there changed meanwhile.
    fn write(
        &self,
        aside: &mut Aside,
        ready: &mut Ready,
        model: Option<&EmbeddingModel>,
    ) -> Result<Option<ImportReport>> {
        let usable = self.source_model.is_some() && self.source_model.as_ref() == model;
        let model = model.map(recorded);
        let mut changed = false;
        let written = self.memory.write(|transaction| {
            let mut report = ImportReport::default();
            let mut writing = Writing {
                taking: self,
                transaction,
                changed: &mut changed,
            };
            let fates = writing.texts(&mut ready.entries, model.as_ref(), usable, &mut report)?;
            writing.what_is_said(&mut ready.entries, &fates)?;
            report.relations = writing.relations(&mut ready.relations)?;
            report.events = events::take_in(
                writing.transaction,
                &mut aside.events,
                self.project.as_deref(),
            )?;
            Ok(report)
        });
        match written {
            Err(_) if changed => Ok(None),
            other => other.map(Some),
        }
    }

    pub(super) fn fate(&self, entry: &Entry, found: Option<&(StoredMemory, bool)>) -> Result<Fate> {
        let Some((stored, same_document)) = found else {
            return Ok(Fate::Added);
        };
        if *same_document && entry.is(stored) {
            return Ok(Fate::Unchanged);
        }
        match self.on_conflict {
            OnConflict::Keep => Ok(Fate::Kept),
            OnConflict::Replace => Ok(Fate::Replaced {
                other_content: entry.content != stored.content,
            }),
            OnConflict::Fail => Err(Error::new(
                ErrorKind::AlreadyExists,
                format!(
                    "{} {}: a memory with the id {:?} exists already, and differs (OnConflict::Keep or Replace says \
                     what to do with it)",
                    self.place, entry.place, entry.id
                ),
            )),
        }
    }
}

impl Fate {
    /// Whether a text is written.
    pub(super) fn writes(self) -> bool {
        matches!(
            self,
            Self::Added
                | Self::Replaced {
                    other_content: true
                }
        )
    }
}

/// The memory that has the id of an entry; and, where the entry is a document, whether that is the same one.
pub(super) fn found(
    snapshot: &Snapshot<'_>,
    entry: &Entry,
) -> Result<Option<(StoredMemory, bool)>> {
    let id = entry.id.as_str();
    let Some(row) = snapshot.row(id)? else {
        return Ok(None);
    };
    let same = match &entry.document {
        None => true,
        Some(document) => match snapshot.document(id)? {
            Some(there) => document.is(&there.parts, &snapshot.source(id)?.unwrap_or_default()),
            None => false,
        },
    };
    Ok(Some((row.into(), same)))
}

/// Counts what leads nowhere, and keeps it.
fn tell_lost(lost: &mut Records<Lost>, leavings: &mut Leavings<'_>) -> Result<()> {
    lost.each(|lost| match lost {
        Lost::Link(of, field, to) => {
            leavings.count("memory", Some(&field), 1, NOT_THERE);
            leavings.line(&link_line(&of, &field, &to))
        }
        Lost::Relation(relation) => {
            leavings.count("relation", None, 1, NOT_THERE);
            leavings.line(&relation_line(&relation.row()?))
        }
    })
}

/// By which model the vectors are that are to be stored; `None` where words alone are.
pub(super) fn model_of_vectors(
    memory: &Memory,
    source: Option<&EmbeddingModel>,
) -> Result<Option<EmbeddingModel>> {
    let (found, memories) = memory.read(|snapshot| {
        let found = if snapshot.vector_count()? > 0 {
            snapshot.recorded_model()?.map(model_of)
        } else {
            None
        };
        Ok((found, snapshot.memory_count()?))
    })?;
    let own = || memory.embedder().map(|embedder| embedder.model().clone());
    let new = || source.filter(|_| memories == 0).cloned();
    Ok(found.or_else(own).or_else(new))
}

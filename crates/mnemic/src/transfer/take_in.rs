//! Taking in what was read: what lacks a vector is embedded, then all is written in one transaction. Nothing is embedded
//! in the transaction.

use std::collections::HashMap;

use mnemic_schema::{
    CarriedRelation, ChunkVector, ChunkVectors, Embedded, Lifecycle, NamedLink, NewRow,
    RecordedModel, RowChange, Snapshot, WriteTransaction,
};

use super::document::PassageEntry;
use super::entry::{Entry, Spool};
use super::events;
use super::import::{ImportReport, OnConflict, Taken};
use super::left::Leavings;
use super::reading::Aside;
use super::records::{Lost, Records, RelationRecord};
use super::said::{one_line, relation_line};
use super::threads::{NOT_THERE, link_line};
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
enum Fate {
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

    fn fate(&self, entry: &Entry, found: Option<&(StoredMemory, bool)>) -> Result<Fate> {
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
    fn writes(self) -> bool {
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
fn found(snapshot: &Snapshot<'_>, entry: &Entry) -> Result<Option<(StoredMemory, bool)>> {
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

/// The transaction, and what it is part of.
struct Writing<'t, 'c> {
    taking: &'t TakeIn<'t>,
    transaction: &'t mut WriteTransaction<'c>,
    /// Whether what is there is not what was looked at before.
    changed: &'t mut bool,
}

impl Writing<'_, '_> {
    fn was_changed(&mut self) -> Error {
        *self.changed = true;
        Error::new(ErrorKind::Busy, "what is there changed meanwhile")
    }

    /// Writes texts, projects, tags, times and vectors; answers what became of each entry.
    fn texts(
        &mut self,
        entries: &mut Spool,
        model: Option<&RecordedModel>,
        usable: bool,
        report: &mut ImportReport,
    ) -> Result<Vec<Fate>> {
        let mut fates = Vec::new();
        for entry in entries.read()? {
            let entry = entry?;
            let found = found(self.transaction, &entry)?;
            let fate = self.taking.fate(&entry, found.as_ref())?;
            if fate.writes() {
                match entry.vector {
                    Some((_, true)) => report.vectors_carried += 1,
                    Some((_, false)) => report.vectors_made += 1,
                    None if model.is_some() && entry.document.is_none() => {
                        return Err(self.was_changed());
                    }
                    None => {}
                }
            }
            if let Some(document) = &entry.document
                && matches!(fate, Fate::Added | Fate::Replaced { .. })
            {
                report.documents += 1;
                let vectors = match usable {
                    true => &mut report.vectors_carried,
                    false => &mut report.vectors_made,
                };
                *vectors += document.vectors();
            }
            match fate {
                Fate::Added => report.added += 1,
                Fate::Unchanged => report.unchanged += 1,
                Fate::Kept => report.kept += 1,
                Fate::Replaced { .. } => report.replaced += 1,
            }
            apply(self.transaction, entry, fate, model)?;
            fates.push(fate);
        }
        Ok(fates)
    }

    /// Writes what is said of the memories beside their texts, now that all that they name are there.
    fn what_is_said(&mut self, entries: &mut Spool, fates: &[Fate]) -> Result<()> {
        let mut linked = false;
        for (entry, fate) in entries.read()?.zip(fates) {
            let entry = entry?;
            let (id, lifecycle) = (entry.id.as_str(), &entry.lifecycle);
            let is_new = matches!(fate, Fate::Added);
            if is_new || matches!(fate, Fate::Replaced { .. }) {
                let links = [&lifecycle.causal_parent, &lifecycle.superseded_by];
                for other in links.into_iter().flatten() {
                    linked = true;
                    if self.transaction.project_of(other)?.is_none() {
                        return Err(self.was_changed());
                    }
                }
                if !is_new || *lifecycle != Lifecycle::default() {
                    self.transaction.carry_lifecycle(id, lifecycle)?;
                }
            }
            // Uses only ever grow.
            if !matches!(fate, Fate::Kept)
                && entry.usage.last.is_some()
                && let Some(row) = self.transaction.row(id)?
            {
                let mut usage = row.usage;
                usage.accesses = usage.accesses.max(entry.usage.accesses);
                usage.last = usage.last.max(entry.usage.last);
                if usage != row.usage {
                    self.transaction.set_usage(id, usage)?;
                }
            }
        }
        if linked {
            self.refuse_circles(entries)?;
        }
        Ok(())
    }

    fn refuse_circles(&mut self, entries: &mut Spool) -> Result<()> {
        for (link, what) in [
            (NamedLink::CausalParent, "be among its own causes"),
            (NamedLink::SupersededBy, "stand in its own place"),
        ] {
            let circle = self.transaction.circle(link)?;
            if circle.is_empty() {
                continue;
            }
            let mut first = None;
            for entry in entries.read()? {
                let entry = entry?;
                if circle.contains(&entry.id) {
                    first = Some((entry.place, entry.id));
                    break;
                }
            }
            let place = self.taking.place;
            return Err(Error::invalid(match first {
                Some((number, id)) => format!(
                    "{place} {number}: field \"lifecycle\": the memory {id:?} would {what}, by way of {circle:?}"
                ),
                None => format!("a memory would {what}: {circle:?}"),
            }));
        }
        Ok(())
    }

    fn relations(&mut self, relations: &mut Records<RelationRecord>) -> Result<Taken> {
        let mut taken = Taken::default();
        relations.each(|record| {
            let place = record.place;
            let relation = record.row()?;
            let (from, to, kind) = (&relation.from, &relation.to, &relation.kind);
            for end in [from, to] {
                if self.transaction.project_of(end)?.is_none() {
                    return Err(self.was_changed());
                }
            }
            match self.transaction.carried_relation(from, to, kind)? {
                None => taken.added += 1,
                Some(there) if is_same(&there, &relation) => {
                    taken.unchanged += 1;
                    return Ok(());
                }
                Some(_) => match self.taking.on_conflict {
                    OnConflict::Keep => {
                        taken.kept += 1;
                        return Ok(());
                    }
                    OnConflict::Replace => taken.replaced += 1,
                    OnConflict::Fail => {
                        return Err(Error::new(
                            ErrorKind::AlreadyExists,
                            format!(
                                "{} {place}: a relation {kind:?} from {from:?} to {to:?} exists already, and differs \
                                 (OnConflict::Keep or Replace says what to do with it)",
                                self.taking.place
                            ),
                        ));
                    }
                },
            }
            Ok(self.transaction.carry_relation(&relation)?)
        })?;
        Ok(taken)
    }
}

/// Whether two relations say the same, breaks between the parts of their JSON aside.
fn is_same(there: &CarriedRelation, relation: &CarriedRelation) -> bool {
    let context = there.context.as_deref().and_then(one_line);
    CarriedRelation {
        context,
        ..there.clone()
    } == *relation
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

fn apply(
    transaction: &mut WriteTransaction<'_>,
    entry: Entry,
    fate: Fate,
    model: Option<&RecordedModel>,
) -> Result<()> {
    let embedded = match (model, &entry.vector) {
        (Some(model), Some((vector, _))) => Some(Embedded { model, vector }),
        _ => None,
    };
    match fate {
        Fate::Unchanged | Fate::Kept => return Ok(()),
        Fate::Added => {
            let row = NewRow {
                id: Some(entry.id.clone()),
                content: entry.content,
                project: entry.project,
                tags: entry.tags,
                created_at: entry.created_at,
                entities: entry.entities.map(|(names, _)| names).unwrap_or_default(),
            };
            match &entry.document {
                None => drop(transaction.insert(&row, embedded)?),
                Some(document) => {
                    let by_text = document.by_text();
                    transaction.insert_document(
                        &row,
                        &document.parts()?,
                        &document.source,
                        &document.chunks(),
                        embedded,
                        made(model, &by_text),
                    )?;
                }
            }
            if entry.updated_at == entry.created_at {
                return Ok(());
            }
        }
        Fate::Replaced { other_content } => {
            let entities = entry.entities.filter(|(_, came)| *came || other_content);
            if let Some(document) = &entry.document {
                let by_text = document.by_text();
                transaction.write_document(
                    &entry.id,
                    &document.parts()?,
                    &document.source,
                    &document.chunks(),
                    embedded,
                    made(model, &by_text),
                    entry.updated_at,
                )?;
            }
            let other_text = other_content && entry.document.is_none();
            let change = RowChange {
                content: other_text.then_some(entry.content),
                project: Some(entry.project),
                tags: Some(entry.tags),
                entities: entities.map(|(names, _)| names),
            };
            transaction.update(&entry.id, &change, entry.updated_at, embedded)?;
        }
    }
    transaction.set_times(&entry.id, entry.created_at, entry.updated_at)?;
    Ok(())
}

/// What a model made of passages, where there is a model.
fn made<'a>(
    model: Option<&'a RecordedModel>,
    by_text: &'a HashMap<String, ChunkVector>,
) -> Option<ChunkVectors<'a>> {
    model.map(|model| ChunkVectors { model, by_text })
}

//! Taking in what was read: what lacks a vector is embedded, then all is written in one transaction. Nothing is embedded
//! in the transaction.

use mnemic_schema::{Embedded, NewRow, RecordedModel, RowChange, WriteTransaction};

use super::entry::{Entry, Spool};
use super::import::{ImportReport, OnConflict};
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

/// What becomes of an entry.
enum Fate {
    Added,
    Unchanged,
    Kept,
    Replaced { other_content: bool },
}

impl TakeIn<'_> {
    /// Takes all entries in. Answers also how many vectors that came along were not used, and why.
    pub(super) fn run(&self, read: &mut Spool) -> Result<(ImportReport, Option<(u64, String)>)> {
        let model = model_of_vectors(self.memory, self.source_model.as_ref())?;
        let usable = self.source_model.is_some() && self.source_model == model;
        // What is there may change between looking and writing: then all that lack a vector get one.
        for embed_all in [false, true] {
            let mut ready = Spool::new();
            let unused = self.embed(read, &mut ready, model.as_ref(), usable, embed_all)?;
            if let Some(report) = self.write(&mut ready, model.as_ref())? {
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

    /// Copies the entries, with vectors where they need one; answers how many that came along were dropped.
    fn embed(
        &self,
        read: &mut Spool,
        ready: &mut Spool,
        model: Option<&EmbeddingModel>,
        usable: bool,
        embed_all: bool,
    ) -> Result<u64> {
        let mut unused = 0;
        let looks_for_entities = self.memory.extractor().is_some();
        let mut batch: Vec<(Entry, bool)> = Vec::new();
        let mut bytes = 0;
        for entry in read.read()? {
            let mut entry = entry?;
            if entry.project.is_none() {
                entry.project.clone_from(&self.project);
            }
            if !usable && entry.vector.take().is_some() {
                unused += 1;
            }
            let lacks_vector = model.is_some() && entry.vector.is_none();
            let lacks_entities = looks_for_entities && entry.entities.is_none();
            let written =
                (lacks_vector || lacks_entities) && (self.would_write(&entry)? || embed_all);
            if lacks_entities && written {
                // To be found with those of the batch.
                entry.entities = Some((Vec::new(), false));
            }
            let needs = lacks_vector && written;
            bytes += entry.content.len() + entry.tags.iter().map(String::len).sum::<usize>();
            batch.push((entry, needs));
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                self.embed_batch(std::mem::take(&mut batch), ready, model)?;
                bytes = 0;
            }
        }
        self.embed_batch(batch, ready, model)?;
        Ok(unused)
    }

    /// Whether an entry's content is to be written, as far as the memory is now.
    fn would_write(&self, entry: &Entry) -> Result<bool> {
        let stored = self
            .memory
            .read(|snapshot| Ok(snapshot.row(&entry.id)?.map(Into::into)))?;
        Ok(matches!(
            self.fate(entry, stored.as_ref())?,
            Fate::Added
                | Fate::Replaced {
                    other_content: true
                }
        ))
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

    /// Writes all entries in one transaction; `None`, with nothing written, where one lacks its vector as what is there
    /// changed meanwhile.
    fn write(
        &self,
        ready: &mut Spool,
        model: Option<&EmbeddingModel>,
    ) -> Result<Option<ImportReport>> {
        let model = model.map(recorded);
        let mut lacks_vector = false;
        let written = self.memory.write(|transaction| {
            let mut report = ImportReport::default();
            for entry in ready.read()? {
                let entry = entry?;
                let stored = transaction.row(&entry.id)?.map(Into::into);
                let fate = self.fate(&entry, stored.as_ref())?;
                let writes = matches!(
                    fate,
                    Fate::Added
                        | Fate::Replaced {
                            other_content: true
                        }
                );
                if writes && model.is_some() && entry.vector.is_none() {
                    lacks_vector = true;
                    return Err(Error::new(ErrorKind::Busy, "a memory lacks its vector"));
                }
                if writes {
                    match entry.vector {
                        Some((_, true)) => report.vectors_carried += 1,
                        Some((_, false)) => report.vectors_made += 1,
                        None => {}
                    }
                }
                match fate {
                    Fate::Added => report.added += 1,
                    Fate::Unchanged => report.unchanged += 1,
                    Fate::Kept => report.kept += 1,
                    Fate::Replaced { .. } => report.replaced += 1,
                }
                apply(transaction, entry, &fate, model.as_ref())?;
            }
            Ok(report)
        });
        match written {
            Err(_) if lacks_vector => Ok(None),
            other => other.map(Some),
        }
    }

    fn fate(&self, entry: &Entry, stored: Option<&StoredMemory>) -> Result<Fate> {
        let Some(stored) = stored else {
            return Ok(Fate::Added);
        };
        if entry.is(stored) {
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
    fate: &Fate,
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
            transaction.insert(&row, embedded)?;
            if entry.updated_at == entry.created_at {
                return Ok(());
            }
        }
        Fate::Replaced { other_content } => {
            let entities = entry.entities.filter(|(_, came)| *came || *other_content);
            let change = RowChange {
                content: other_content.then_some(entry.content),
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

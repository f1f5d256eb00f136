//! Writing what was read, in one transaction: texts first, then what is said of the memories, which may name others of
//! them, then relations. It neither embeds nor commits.

use std::collections::HashMap;

use mnemic_schema::{
    ChunkVector, ChunkVectors, Embedded, Lifecycle, NamedLink, NewRelationRow, NewRow,
    RecordedModel, RowChange, WriteTransaction,
};

use super::entry::{Entry, Spool};
use super::import::{ImportReport, OnConflict, Taken};
use super::records::{Records, RelationRecord};
use super::said::one_line;
use super::take_in::{Fate, TakeIn, found};
use crate::{Error, ErrorKind, Result};

/// The transaction, and what it is part of.
pub(super) struct Writing<'t, 'c> {
    pub(super) taking: &'t TakeIn<'t>,
    pub(super) transaction: &'t mut WriteTransaction<'c>,
    /// Whether what is there is not what was looked at before.
    pub(super) changed: &'t mut bool,
}

impl Writing<'_, '_> {
    fn was_changed(&mut self) -> Error {
        *self.changed = true;
        Error::new(ErrorKind::Busy, "what is there changed meanwhile")
    }

    /// Writes texts, projects, tags, times and vectors; answers what became of each entry.
    pub(super) fn texts(
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
    pub(super) fn what_is_said(&mut self, entries: &mut Spool, fates: &[Fate]) -> Result<()> {
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

    pub(super) fn relations(&mut self, relations: &mut Records<RelationRecord>) -> Result<Taken> {
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
fn is_same(there: &NewRelationRow, relation: &NewRelationRow) -> bool {
    let context = there.context.as_deref().and_then(one_line);
    NewRelationRow {
        context,
        ..there.clone()
    } == *relation
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

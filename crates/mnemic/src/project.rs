//! A handle that is bound to one project: the same verbs, none of which can reach outside.

use mnemic_schema::{EntityCount, Event, Scope, Timestamp};

use crate::consolidate::merge::Merged;
use crate::consolidate::{Consolidate, Consolidation};
use crate::gate::assessment::Assessment;
use crate::gate::policy::{Gate, Gated};
use crate::history::{Events, Undone};
use crate::memory::Memory;
use crate::planner::{Planned, QueryPlanner};
use crate::recall::explain::Explanation;
use crate::recall::hit::Hit;
use crate::recall::request::Recall;
use crate::timeline::Timeline;
use crate::types::{Deleted, MemoryUpdate, NewMemory, Pruned, Stored, StoredMemory};
use crate::write::Prune;
use crate::{Error, Result};

/// One project of a memory: what is not of it can be neither read nor changed nor deleted by it, and shows in none of its
/// scores. To be given to code that is to see one project alone; see [`Memory::in_project`].
///
/// Where a memory of it names one of another project, as its causal parent or the one in its place, the id is left out.
///
/// What concerns a whole file (health, check, repair, backup, erasing, export, the model) is [`Memory`]'s alone. Ids are unique in the file: storing
/// under an id that another project has is `AlreadyExists`, which tells that it is taken and nothing more.
#[derive(Debug, Clone)]
pub struct ProjectMemory {
    memory: Memory,
    project: String,
}

impl Memory {
    /// A handle to one project of this memory: any text, compared literally.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store("the wifi password is swordfish")?;
    /// let web = memory.in_project("web");
    /// web.store("deploys freeze on Fridays")?;
    ///
    /// assert_eq!(web.recall("what is the wifi password?")?[0].memory.content, "deploys freeze on Fridays");
    /// assert!(web.recall(Recall::new("wifi").project("home")).is_err());
    /// assert_eq!(memory.recall(Recall::new("deploys").project("web"))?.len(), 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn in_project(&self, project: impl Into<String>) -> ProjectMemory {
        ProjectMemory {
            memory: self.clone(),
            project: project.into(),
        }
    }
}

impl ProjectMemory {
    /// The project's name.
    pub fn name(&self) -> &str {
        &self.project
    }

    /// As [`Memory::store`], into this project.
    ///
    /// # Errors
    /// `InvalidInput` where the memory names another project, or none by [`NewMemory::global`]; and as [`Memory::store`].
    pub fn store(&self, memory: impl Into<NewMemory>) -> Result<Stored> {
        let mut stored = self.store_all([memory])?;
        stored
            .pop()
            .ok_or_else(|| Error::invalid("nothing was stored"))
    }

    /// As [`Memory::store_all`], into this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::store`]; nothing is stored then.
    pub fn store_all<I>(&self, memories: I) -> Result<Vec<Stored>>
    where
        I: IntoIterator,
        I::Item: Into<NewMemory>,
    {
        let memories: Vec<NewMemory> = memories
            .into_iter()
            .map(|memory| self.of_project(memory.into()))
            .collect::<Result<_>>()?;
        self.memory.store_all_within(&self.scope(), memories)
    }

    /// As [`Memory::assess`], among the memories of this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::store`] and [`Memory::assess`].
    pub fn assess(&self, memory: impl Into<NewMemory>) -> Result<Assessment> {
        let mut assessment = self.memory.assess(self.of_project(memory.into())?)?;
        self.veil(&mut assessment.memory)?;
        Ok(assessment)
    }

    /// As [`Memory::store_with`], into this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::store`] and [`Memory::store_with`].
    pub fn store_with(&self, memory: impl Into<NewMemory>, gate: &Gate) -> Result<Gated> {
        let memory = self.of_project(memory.into())?;
        let mut gated = self.memory.store_with_within(&self.scope(), memory, gate)?;
        let (Gated::Stored { assessment, .. }
        | Gated::Skipped { assessment, .. }
        | Gated::Asked { assessment }) = &mut gated;
        self.veil(&mut assessment.memory)?;
        Ok(gated)
    }

    /// As [`Memory::consolidate`], of this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::recall`] and [`Memory::consolidate`].
    pub fn consolidate(&self, mut what: Consolidate) -> Result<Consolidation> {
        what.filter.scope = self.narrowed(&what.filter.scope)?;
        let scope = self.scope();
        let mut found = self.memory.consolidate_within(&scope, what)?;
        self.veil(
            found
                .groups
                .iter_mut()
                .flat_map(|group| &mut group.memories),
        )?;
        Ok(found)
    }

    /// As [`Memory::merge`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`ProjectMemory::store`] and [`Memory::merge`].
    pub fn merge<I>(&self, ids: I, into: impl Into<NewMemory>) -> Result<Merged>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids = ids.into_iter().map(|id| id.as_ref().to_owned()).collect();
        let into = self.of_project(into.into())?;
        self.memory.merge_within(&self.scope(), ids, into, None)
    }

    /// As [`Memory::get`]; `None` for a memory of another project.
    ///
    /// # Errors
    /// As [`Memory::get`].
    pub fn get(&self, id: &str) -> Result<Option<StoredMemory>> {
        let scope = self.scope();
        let found = self.memory.get(id)?;
        let mut found = found.filter(|memory| scope.admits(memory.project.as_deref()));
        self.veil(&mut found)?;
        Ok(found)
    }

    /// As [`Memory::recall`], among the memories of this project, whatever general scope the question names.
    ///
    /// # Errors
    /// `InvalidInput` where the question names another project; and as [`Memory::recall`].
    pub fn recall(&self, recall: impl Into<Recall>) -> Result<Vec<Hit>> {
        let mut recall: Recall = recall.into();
        recall.filter.scope = self.narrowed(&recall.filter.scope)?;
        let mut hits = self.memory.recall(recall)?;
        self.veil(hits.iter_mut().map(|hit| &mut hit.memory))?;
        Ok(hits)
    }

    /// As [`Memory::recall_planned`], among the memories of this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::recall`].
    pub fn recall_planned(
        &self,
        recall: impl Into<Recall>,
        planner: &dyn QueryPlanner,
    ) -> Result<Planned> {
        let mut recall: Recall = recall.into();
        recall.filter.scope = self.narrowed(&recall.filter.scope)?;
        let mut planned = self.memory.recall_planned(recall, planner)?;
        self.veil(planned.hits.iter_mut().map(|hit| &mut hit.memory))?;
        Ok(planned)
    }

    /// As [`Memory::explain`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`ProjectMemory::recall`] and [`Memory::explain`].
    pub fn explain(&self, recall: impl Into<Recall>, id: &str) -> Result<Explanation> {
        let mut recall: Recall = recall.into();
        recall.filter.scope = self.narrowed(&recall.filter.scope)?;
        let mut explanation = self.memory.explain(recall, id)?;
        if self.scope().admits(explanation.memory.project.as_deref()) {
            self.veil([&mut explanation.memory])?;
            Ok(explanation)
        } else {
            Err(Error::not_found(id))
        }
    }

    /// As [`Memory::entities_of`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`Memory::entities_of`].
    pub fn entities_of(&self, id: &str) -> Result<Vec<String>> {
        let found = self.get(id)?.ok_or_else(|| Error::not_found(id))?;
        Ok(found.entities)
    }

    /// As [`Memory::entities`], of this project.
    ///
    /// # Errors
    /// As [`Memory::entities`].
    pub fn entities(&self, limit: usize) -> Result<Vec<EntityCount>> {
        self.memory.entities_within(&self.scope(), limit)
    }

    /// As [`Memory::with_entity`], of this project.
    ///
    /// # Errors
    /// As [`Memory::with_entity`].
    pub fn with_entity(&self, name: impl Into<String>) -> Result<Vec<StoredMemory>> {
        self.timeline(Timeline::new().entities_any([name.into()]))
    }

    /// As [`Memory::timeline`], of this project.
    ///
    /// # Errors
    /// As [`ProjectMemory::recall`].
    pub fn timeline(&self, mut timeline: Timeline) -> Result<Vec<StoredMemory>> {
        timeline.filter.scope = self.narrowed(&timeline.filter.scope)?;
        let mut found = self.memory.timeline(timeline)?;
        self.veil(&mut found)?;
        Ok(found)
    }

    /// As [`Memory::update`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// `InvalidInput` where the change moves it to another project; and as [`Memory::update`].
    pub fn update(&self, id: &str, change: impl Into<MemoryUpdate>) -> Result<StoredMemory> {
        let change: MemoryUpdate = change.into();
        if let Some(project) = &change.project
            && project.as_deref() != Some(&*self.project)
        {
            return Err(self.outside(project.as_deref()));
        }
        let mut changed = self.memory.update_within(&self.scope(), id, change)?;
        self.veil([&mut changed])?;
        Ok(changed)
    }

    /// As [`Memory::replace`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`ProjectMemory::store`] and [`Memory::replace`].
    pub fn replace(&self, id: &str, with: impl Into<NewMemory>) -> Result<Stored> {
        let with = self.of_project(with.into())?;
        self.memory.replace_within(&self.scope(), id, with)
    }

    /// As [`Memory::delete`]; a memory of another project is not there.
    ///
    /// # Errors
    /// As [`Memory::delete`].
    pub fn delete(&self, id: &str) -> Result<bool> {
        Ok(self.delete_all([id])?.deleted > 0)
    }

    /// As [`Memory::delete_all`]; memories of other projects are missing.
    ///
    /// # Errors
    /// As [`Memory::delete`].
    pub fn delete_all<I>(&self, ids: I) -> Result<Deleted>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.memory.delete_within(&self.scope(), ids)
    }

    /// As [`Memory::prune`], of this project.
    ///
    /// # Errors
    /// `InvalidInput` where the prune has no filter, or names another project or [`Scope::Global`]; and as
    /// [`Memory::prune`].
    pub fn prune(&self, mut prune: Prune) -> Result<Pruned> {
        if prune.filter.is_empty() {
            return Err(Error::invalid(
                "prune needs a filter: tags, a time, ids, or the project by its name",
            ));
        }
        // A question may be narrowed to the project; a deletion is of what was named, and nothing else.
        if prune.filter.scope == Scope::Global {
            return Err(self.outside(None));
        }
        prune.filter.scope = self.narrowed(&prune.filter.scope)?;
        self.memory.prune(prune)
    }

    /// As [`Memory::supersede`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`Memory::supersede`].
    pub fn supersede(&self, old: &str, by: &str) -> Result<()> {
        self.memory.supersede_within(&self.scope(), old, by)
    }

    /// As [`Memory::forget`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn forget<I>(&self, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.memory.forget_within(&self.scope(), ids)
    }

    /// As [`Memory::revive`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`Memory::revive`].
    pub fn revive<I>(&self, ids: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.memory.revive_within(&self.scope(), ids)
    }

    /// As [`Memory::touch`]; memories of other projects are not there.
    ///
    /// # Errors
    /// As [`Memory::touch`].
    pub fn touch<I>(&self, ids: I) -> Result<Vec<String>>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.memory
            .touch_within(&self.scope(), ids, Timestamp::now())
    }

    /// As [`Memory::acting_as`], of this project.
    pub fn acting_as(&self, actor: impl Into<String>) -> Self {
        Self {
            memory: self.memory.acting_as(actor),
            project: self.project.clone(),
        }
    }

    /// As [`Memory::events`], of memories that were of this project. A detail that names a memory of another one, or one that
    /// is gone, is left out.
    ///
    /// # Errors
    /// As [`ProjectMemory::recall`].
    pub fn events(&self, mut events: Events) -> Result<Vec<Event>> {
        events.filter.scope = self.narrowed(&events.filter.scope)?;
        let mut events = self.memory.events(events)?;
        self.veil_events(&mut events)?;
        Ok(events)
    }

    /// As [`Memory::undo_batch`]; events of other projects are not there.
    ///
    /// # Errors
    /// As [`Memory::undo_batch`].
    pub fn undo_batch(&self, batch: i64) -> Result<Undone> {
        self.memory.undo_batch_within(&self.scope(), batch)
    }

    /// As [`Memory::undo`]; an event of another project is not there.
    ///
    /// # Errors
    /// As [`Memory::undo`].
    pub fn undo(&self, event: i64) -> Result<Undone> {
        self.memory.undo_one_within(&self.scope(), event)
    }

    /// The whole, for verbs that narrow what they are given themselves.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope::Project(self.project.clone())
    }

    /// The part of a scope that is in this project; naming another one is an error, as it would find nothing.
    pub(crate) fn narrowed(&self, scope: &Scope) -> Result<Scope> {
        match scope {
            Scope::Project(other) | Scope::ProjectAndGlobal(other) if *other != self.project => {
                Err(self.outside(Some(other)))
            }
            _ => Ok(self.scope()),
        }
    }

    fn of_project(&self, memory: NewMemory) -> Result<NewMemory> {
        match &memory.project {
            Some(project) if project.as_deref() != Some(&*self.project) => {
                Err(self.outside(project.as_deref()))
            }
            _ => Ok(memory.project(self.project.clone())),
        }
    }

    pub(crate) fn outside(&self, project: Option<&str>) -> Error {
        let named = match project {
            Some(project) => format!("the project {project:?}"),
            None => "no project".to_owned(),
        };
        Error::invalid(format!(
            "this handle is bound to the project {:?}, and was given {named}",
            self.project
        ))
    }
}

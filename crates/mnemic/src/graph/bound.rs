//! The graph of one project, for a bound handle: links with an end outside of it are not there.

use crate::Result;
use crate::graph::causes::Trace;
use crate::graph::list::{Hub, Relations};
use crate::graph::relation::{NewRelation, Related, Relation, RelationKind};
use crate::graph::walk::{Neighbour, Neighbours, Path, ShortestPath};
use crate::project::ProjectMemory;
use crate::types::StoredMemory;

impl ProjectMemory {
    /// As [`crate::Memory::relate`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`crate::Memory::relate`].
    pub fn relate(&self, relation: impl Into<NewRelation>) -> Result<Related> {
        let related = self.relate_all([relation])?;
        Ok(related.into_iter().next().unwrap_or(Related::Unchanged))
    }

    /// As [`crate::Memory::relate_all`]; a memory of another project is `NotFound`.
    ///
    /// # Errors
    /// As [`crate::Memory::relate`].
    pub fn relate_all<I>(&self, relations: I) -> Result<Vec<Related>>
    where
        I: IntoIterator,
        I::Item: Into<NewRelation>,
    {
        self.memory().relate_within(&self.scope(), relations)
    }

    /// As [`crate::Memory::unrelate`]; a memory of another project has no relation.
    ///
    /// # Errors
    /// As [`crate::Memory::unrelate`].
    pub fn unrelate(&self, from: &str, to: &str, kind: impl Into<RelationKind>) -> Result<bool> {
        self.memory()
            .unrelate_within(&self.scope(), from, to, &kind.into())
    }

    /// As [`crate::Memory::relations`], of those with both ends in this project.
    ///
    /// # Errors
    /// `InvalidInput` where another project is named; and as [`crate::Memory::relations`].
    pub fn relations(&self, relations: impl Into<Relations>) -> Result<Vec<Relation>> {
        let mut relations = relations.into();
        relations.filter.scope = self.narrowed(&relations.filter.scope)?;
        self.memory().relations(relations)
    }

    /// As [`crate::Memory::neighbours`], within this project.
    ///
    /// # Errors
    /// `InvalidInput` where another project is named; and as [`crate::Memory::neighbours`].
    pub fn neighbours(&self, neighbours: impl Into<Neighbours>) -> Result<Vec<Neighbour>> {
        let mut neighbours = neighbours.into();
        neighbours.scope = self.narrowed(&neighbours.scope)?;
        let mut found = self.memory().neighbours(neighbours)?;
        self.veil(found.iter_mut().map(|neighbour| &mut neighbour.memory))?;
        Ok(found)
    }

    /// As [`crate::Memory::shortest_path`], within this project.
    ///
    /// # Errors
    /// `InvalidInput` where another project is named; and as [`crate::Memory::shortest_path`].
    pub fn shortest_path(&self, path: impl Into<ShortestPath>) -> Result<Option<Path>> {
        let mut path = path.into();
        path.scope = self.narrowed(&path.scope)?;
        let mut path = self.memory().shortest_path(path)?;
        self.veil(path.iter_mut().flat_map(|path| &mut path.memories))?;
        Ok(path)
    }

    /// As [`crate::Memory::hubs`], of this project, by the relations within it.
    ///
    /// # Errors
    /// As [`crate::Memory::hubs`].
    pub fn hubs(&self, limit: usize) -> Result<Vec<Hub>> {
        let mut hubs = self.memory().hubs_within(&self.scope(), limit)?;
        self.veil(hubs.iter_mut().map(|hub| &mut hub.memory))?;
        Ok(hubs)
    }

    /// As [`crate::Memory::recently_updated`], of this project.
    ///
    /// # Errors
    /// As [`crate::Memory::recently_updated`].
    pub fn recently_updated(&self, limit: usize) -> Result<Vec<StoredMemory>> {
        let mut found = self
            .memory()
            .recently_updated_within(&self.scope(), limit)?;
        self.veil(&mut found)?;
        Ok(found)
    }

    /// As [`crate::Memory::trace`], within this project.
    ///
    /// # Errors
    /// As [`crate::Memory::trace`].
    pub fn trace(&self, id: &str, depth: usize) -> Result<Trace> {
        let mut trace = self.memory().trace_within(&self.scope(), id, depth)?;
        let around = trace.ancestors.iter_mut().chain(&mut trace.descendants);
        let around = around.map(|traced| &mut traced.memory);
        self.veil(around.chain([&mut trace.memory]))?;
        self.veil_events(&mut trace.events)?;
        Ok(trace)
    }
}

//! Where a memory comes from and what came of it: its causes, what it caused, its relations, its history. It judges none of them.

use mnemic_schema::{Direction, Event, EventFilter, Order, RelationFilter, Scope, Snapshot};

use crate::graph::list::key;
use crate::graph::relation::Relation;
use crate::memory::Memory;
use crate::types::StoredMemory;
use crate::{Error, Result};

/// The surroundings of a memory in the order of cause and effect, from [`Memory::trace`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// The memory.
    pub memory: StoredMemory,
    /// Its causal parent, the parent of that, and so on: nearest first.
    pub ancestors: Vec<Traced>,
    /// The memories whose causal parent it is, those whose parent one of these is, and so on: nearest first, at one depth in
    /// the order in which they were stored.
    pub descendants: Vec<Traced>,
    /// Its relations, latest made first.
    pub relations: Vec<Relation>,
    /// What happened to it, first to last, as far as the file keeps its history.
    pub events: Vec<Event>,
}

/// A memory on a chain of causes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Traced {
    /// The memory.
    pub memory: StoredMemory,
    /// How many causes lie between it and the one that is traced, itself counted: 1 is a direct one.
    pub depth: usize,
}

impl Memory {
    /// Follows the causes of a memory, and what it caused, to a depth, and lists its relations and what happened to it: all
    /// of one state of the file.
    ///
    /// Each memory is there once among the ancestors and once among the descendants, with its least depth, also where causes
    /// go in a circle. What is superseded or forgotten is there too.
    ///
    /// # Errors
    /// `NotFound` where no memory has the id; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let full = memory.store("the disk was full")?.id;
    /// let outage = memory.store(NewMemory::new("the shop was down for an hour").caused_by(&full))?.id;
    /// let rule = memory.store(NewMemory::new("logs are rotated daily").caused_by(&outage))?.id;
    ///
    /// let trace = memory.trace(&rule, 10)?;
    /// let causes: Vec<&str> = trace.ancestors.iter().map(|cause| cause.memory.content.as_str()).collect();
    /// assert_eq!(causes, ["the shop was down for an hour", "the disk was full"]);
    /// assert_eq!(memory.trace(&full, 10)?.descendants[1].depth, 2);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn trace(&self, id: &str, depth: usize) -> Result<Trace> {
        self.trace_within(&Scope::All, id, depth)
    }

    /// As [`Memory::trace`], of a scope; any other memory is not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "trace", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn trace_within(&self, scope: &Scope, id: &str, depth: usize) -> Result<Trace> {
        self.read(|snapshot| {
            let seq = key(snapshot, id, scope)?;
            let row = snapshot.row(id)?.ok_or_else(|| Error::not_found(id))?;
            let relations = snapshot.relations(
                &RelationFilter {
                    scope: scope.clone(),
                    of: Some(seq),
                    ..RelationFilter::default()
                },
                None,
            )?;
            Ok(Trace {
                memory: row.into(),
                ancestors: traced(snapshot, seq, scope, Direction::Inward, depth)?,
                descendants: traced(snapshot, seq, scope, Direction::Outward, depth)?,
                relations: relations.into_iter().map(Into::into).collect(),
                events: snapshot.events(
                    &EventFilter {
                        scope: scope.clone(),
                        memory: Some(id.to_owned()),
                        ..EventFilter::default()
                    },
                    Order::OldestFirst,
                    None,
                )?,
            })
        })
    }
}

fn traced(
    snapshot: &Snapshot<'_>,
    seq: i64,
    scope: &Scope,
    direction: Direction,
    depth: usize,
) -> Result<Vec<Traced>> {
    let reached = snapshot.causes(seq, scope, direction, depth)?;
    let seqs: Vec<i64> = reached.iter().map(|reached| reached.step.there).collect();
    let rows = snapshot.rows(&seqs)?.into_iter();
    Ok(rows
        .zip(reached)
        .map(|(row, reached)| Traced {
            memory: row.into(),
            depth: reached.distance,
        })
        .collect())
}

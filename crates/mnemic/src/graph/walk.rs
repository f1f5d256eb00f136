//! From memory to memory: neighbours and shortest paths, along relations and causal parents. It reads one snapshot, and a
//! circle of links ends by itself.

use std::collections::HashMap;

use mnemic_schema::{Direction, Links, Scope, Snapshot, StepRow};

use crate::Result;
use crate::graph::list::key;
use crate::graph::relation::Link;
use crate::memory::Memory;
use crate::types::StoredMemory;

/// Adds the choice of links to a builder with a field `follow: Follow`.
macro_rules! follow_verbs {
    ($builder:ty) => {
        impl $builder {
            /// Along relations of these kinds alone, and no causal parents unless [`Self::causes`] says so. No kinds is no
            /// condition: all relations and causal parents, the default.
            pub fn kinds<K: Into<$crate::RelationKind>>(
                mut self,
                kinds: impl IntoIterator<Item = K>,
            ) -> Self {
                self.follow.kinds = $crate::graph::relation::kinds(kinds);
                self
            }

            /// Whether causal parents are followed too. Default: yes, unless kinds are given.
            pub fn causes(mut self, causes: bool) -> Self {
                self.follow.causes = Some(causes);
                self
            }
        }
    };
}
pub(crate) use follow_verbs;

/// Which links are followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Follow {
    pub(crate) kinds: Vec<String>,
    pub(crate) causes: Option<bool>,
    pub(crate) direction: Direction,
    /// No relations.
    pub(crate) causes_alone: bool,
}

impl Follow {
    pub(crate) fn links(&self, scope: &Scope) -> Links {
        Links {
            scope: scope.clone(),
            relations: !self.causes_alone,
            kinds: self.kinds.clone(),
            known: None,
            causes: self.causes_alone || self.causes.unwrap_or(self.kinds.is_empty()),
            direction: self.direction,
        }
    }
}

/// Which neighbours [`Memory::neighbours`] lists. An id becomes those that one link leads to, whichever way.
///
/// ```
/// use mnemic::{Neighbours, RelationKind};
///
/// let near = Neighbours::of("0123456789abcdef").depth(2).kinds([RelationKind::SUPPORTS]).inward().limit(20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "this lists nothing until it is given to Memory::neighbours"]
pub struct Neighbours {
    of: String,
    follow: Follow,
    pub(crate) scope: Scope,
    depth: usize,
    limit: Option<usize>,
}

follow_verbs!(Neighbours);

impl Neighbours {
    /// Those of the memory with an id.
    pub fn of(id: impl Into<String>) -> Self {
        Self {
            of: id.into(),
            follow: Follow::default(),
            scope: Scope::All,
            depth: 1,
            limit: None,
        }
    }

    /// Within so many steps. Default: 1.
    pub fn depth(mut self, steps: usize) -> Self {
        self.depth = steps;
        self
    }

    /// Only the way that links lead: from a cause to what it caused.
    pub fn outward(mut self) -> Self {
        self.follow.direction = Direction::Outward;
        self
    }

    /// Only against the way that links lead: from what was caused to its cause.
    pub fn inward(mut self) -> Self {
        self.follow.direction = Direction::Inward;
        self
    }

    /// Only through memories of a scope. Default: all.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// At most so many, the nearest. Default: all.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

impl<T: Into<String>> From<T> for Neighbours {
    fn from(id: T) -> Self {
        Self::of(id)
    }
}

/// A memory that links lead to, from [`Memory::neighbours`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// The memory.
    pub memory: StoredMemory,
    /// In how many steps: the fewest that lead there.
    pub distance: usize,
    /// The last of them.
    pub step: Step,
}

/// A step along a link.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The id of the memory that it comes from.
    pub from: String,
    /// The id of the memory that it goes to.
    pub to: String,
    /// What joins the two.
    pub link: Link,
    /// Whether it goes the way that the link leads; a causal link leads from the cause to what it caused.
    pub outward: bool,
}

/// Between which memories [`Memory::shortest_path`] looks for a path, and along which links.
///
/// ```
/// use mnemic::ShortestPath;
///
/// let causal = ShortestPath::between("a", "b").directed().kinds(["causes"]).depth(4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "this finds nothing until it is given to Memory::shortest_path"]
pub struct ShortestPath {
    from: String,
    to: String,
    follow: Follow,
    pub(crate) scope: Scope,
    depth: usize,
}

follow_verbs!(ShortestPath);

/// How many steps a path has at most where it is not said.
const DEFAULT_DEPTH: usize = 10;

impl ShortestPath {
    /// From the memory with one id to that with another, whichever way the links lead.
    pub fn between(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            follow: Follow::default(),
            scope: Scope::All,
            depth: DEFAULT_DEPTH,
        }
    }

    /// Only the way that links lead.
    pub fn directed(mut self) -> Self {
        self.follow.direction = Direction::Outward;
        self
    }

    /// At most so many steps. Default: 10.
    pub fn depth(mut self, steps: usize) -> Self {
        self.depth = steps;
        self
    }

    /// Only through memories of a scope. Default: all.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}

impl<F: Into<String>, T: Into<String>> From<(F, T)> for ShortestPath {
    fn from((from, to): (F, T)) -> Self {
        Self::between(from, to)
    }
}

/// A way from one memory to another, from [`Memory::shortest_path`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Path {
    /// The memories on it, both ends included.
    pub memories: Vec<StoredMemory>,
    /// The steps: one fewer than memories.
    pub steps: Vec<Step>,
}

impl Memory {
    /// The memories around one: nearest first, at one distance in the order in which they were stored. Each is there once,
    /// with its least distance, however many ways lead to it. What is superseded or forgotten is there too: these are links,
    /// not a recall.
    ///
    /// # Errors
    /// `NotFound` where no memory (of the scope) has the id; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, Neighbours};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let ids: Vec<String> = memory.store_all(["a", "b", "c"])?.into_iter().map(|stored| stored.id).collect();
    /// memory.relate_all([(&ids[0], &ids[1], "cites", "by name"), (&ids[1], &ids[2], "cites", "by name")])?;
    ///
    /// assert_eq!(memory.neighbours(&ids[0])?.len(), 1);
    /// let both = memory.neighbours(Neighbours::of(&ids[0]).depth(2))?;
    /// assert_eq!((both[1].memory.content.as_str(), both[1].distance), ("c", 2));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn neighbours(&self, neighbours: impl Into<Neighbours>) -> Result<Vec<Neighbour>> {
        let neighbours = neighbours.into();
        let links = neighbours.follow.links(&neighbours.scope);
        self.read(|snapshot| {
            let start = key(snapshot, &neighbours.of, &neighbours.scope)?;
            let mut reached = snapshot.walk(start, &links, neighbours.depth)?;
            reached.truncate(neighbours.limit.unwrap_or(usize::MAX));
            let seqs: Vec<i64> = reached.iter().map(|reached| reached.step.there).collect();
            let (distances, last): (Vec<usize>, Vec<StepRow>) = reached
                .into_iter()
                .map(|reached| (reached.distance, reached.step))
                .unzip();
            let steps = steps(snapshot, last)?;
            let rows = snapshot.rows(&seqs)?.into_iter();
            Ok(rows
                .zip(distances)
                .zip(steps)
                .map(|((row, distance), step)| Neighbour {
                    memory: row.into(),
                    distance,
                    step,
                })
                .collect())
        })
    }

    /// A shortest way from one memory to another along links; `None` where there is none within the depth. Of equally short
    /// ways it is the one that goes, step by step, to the memory that was stored first, by the relation that was drawn first,
    /// a causal parent last: the same one every time.
    ///
    /// # Errors
    /// `NotFound` where no memory (of the scope) has one of the ids; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::Memory;
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let ids: Vec<String> = memory.store_all(["a", "b", "c"])?.into_iter().map(|stored| stored.id).collect();
    /// memory.relate_all([(&ids[0], &ids[1], "cites", "by name"), (&ids[2], &ids[1], "cites", "by name")])?;
    ///
    /// let path = memory.shortest_path((&ids[0], &ids[2]))?.unwrap();
    /// let texts: Vec<&str> = path.memories.iter().map(|memory| memory.content.as_str()).collect();
    /// assert_eq!(texts, ["a", "b", "c"]);
    /// assert!(path.steps[0].outward && !path.steps[1].outward);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn shortest_path(&self, path: impl Into<ShortestPath>) -> Result<Option<Path>> {
        let path = path.into();
        let links = path.follow.links(&path.scope);
        self.read(|snapshot| {
            let from = key(snapshot, &path.from, &path.scope)?;
            let to = key(snapshot, &path.to, &path.scope)?;
            let Some(found) = snapshot.shortest_path(from, to, &links, path.depth)? else {
                return Ok(None);
            };
            let on_it = found.iter().map(|step| step.there);
            let seqs: Vec<i64> = std::iter::once(from).chain(on_it).collect();
            let memories = snapshot.rows(&seqs)?.into_iter().map(Into::into);
            Ok(Some(Path {
                memories: memories.collect(),
                steps: steps(snapshot, found)?,
            }))
        })
    }
}

/// Steps with the ids of their memories.
pub(crate) fn steps(snapshot: &Snapshot<'_>, rows: Vec<StepRow>) -> Result<Vec<Step>> {
    let mut seqs: Vec<i64> = rows
        .iter()
        .flat_map(|step| [step.here, step.there])
        .collect();
    seqs.sort_unstable();
    seqs.dedup();
    let keys = snapshot.keys(&seqs)?.into_iter();
    let ids: HashMap<i64, String> = keys.map(|key| (key.seq, key.id)).collect();
    let id = |seq: &i64| ids.get(seq).cloned().unwrap_or_default();
    Ok(rows
        .into_iter()
        .map(|row| Step {
            from: id(&row.here),
            to: id(&row.there),
            link: Link::of(row.kind),
            outward: row.outward,
        })
        .collect())
}

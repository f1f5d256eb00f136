//! Consolidation: finding groups of memories that say nearly the same, and merging each into one. It looks at so many memories
//! a call, each beside its nearest few: never at all pairs.

pub(crate) mod merge;

use std::collections::HashSet;

use mnemic_embed::Embedder;
use mnemic_rank::vector::cosine_from_distance;
use mnemic_schema::{
    Filter, FirstEntity, MemoryRow, Scope, Snapshot, Timestamp, Token, query_words,
};

use crate::consolidate::merge::Merged;
use crate::filter::{Clocks, filter_verbs};
use crate::gate::all_words;
use crate::gate::assessment::GateVerdict;
use crate::gate::compare::Text;
use crate::memory::{Memory, space_of};
use crate::recall::leg::{Leg, WordLeg};
use crate::recall::preset::Formula;
use crate::recall::source::Source;
use crate::types::{NewMemory, StoredMemory};
use crate::{Error, ErrorKind, Result};

/// By what memories are taken to say the same.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ConsolidateRule {
    /// A group is a memory and those of its ten nearest, and of the same text, that the write gate calls a duplicate of it or near it
    /// ([`GateVerdict`]), so that other numbers, dates, names or negations keep memories apart. Each is like the first one,
    /// not like one that is like it: groups do not creep. Those stored later come first.
    Gate,
    /// agent-memory's: of the memories with the same first entity, in the order of their creation, each joins the group of
    /// the one before it where the cosine of the two is at least .9 and they were created at most 45 days apart. It finds
    /// nothing among memories without entities or vectors.
    AgentMemory,
}

/// agent-memory's least cosine (inclusive).
const AGENT_MEMORY_COSINE: f64 = 0.9;

/// agent-memory's longest time between neighbours (inclusive), in days.
const AGENT_MEMORY_DAYS: f64 = 45.0;

/// So many of the nearest memories are looked at for each.
const NEAREST: usize = 10;

/// What to consolidate. Nothing is merged before [`Consolidate::apply`] is said.
///
/// ```
/// use mnemic::{Consolidate, ConsolidateRule, Memory};
///
/// let memory = Memory::open_in_memory()?;
/// memory.store_all(["Deploys freeze on Fridays", "On Fridays deploys freeze", "Deploys freeze on Mondays"])?;
/// let found = memory.consolidate(Consolidate::new())?;
/// assert_eq!((found.groups.len(), found.groups[0].memories.len()), (1, 2));
/// assert_eq!(memory.recall("when do deploys freeze?")?.len(), 3);
/// memory.consolidate(Consolidate::new().apply())?;
/// assert_eq!(memory.recall("when do deploys freeze?")?.len(), 2);
/// # Ok::<(), mnemic::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing is consolidated until it is given to Memory::consolidate"]
pub struct Consolidate {
    pub(crate) filter: Filter,
    rule: ConsolidateRule,
    limit: usize,
    after: Option<String>,
    apply: bool,
}

filter_verbs!(Consolidate);

impl Default for Consolidate {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            rule: ConsolidateRule::Gate,
            limit: 1_000,
            after: None,
            apply: false,
        }
    }
}

impl Consolidate {
    /// All memories, by the gate's rule; a rehearsal.
    pub fn new() -> Self {
        Self::default()
    }

    /// By what memories are taken to say the same. Default: [`ConsolidateRule::Gate`].
    pub fn rule(mut self, rule: ConsolidateRule) -> Self {
        self.rule = rule;
        self
    }

    /// At most so many memories are looked at, the last stored first; with [`ConsolidateRule::Gate`] each costs a search of
    /// its nearest. Default: 1,000.
    pub fn limit(mut self, memories: usize) -> Self {
        self.limit = memories;
        self
    }

    /// Goes on after the memory with this id, where an earlier call ended by its limit ([`Consolidation::last`]).
    pub fn after(mut self, id: impl Into<String>) -> Self {
        self.after = Some(id.into());
        self
    }

    /// Merges each group ([`Memory::merge`]) into one memory with the text of its first: the one stored last by the gate's
    /// rule, the one created last by agent-memory's.
    pub fn apply(mut self) -> Self {
        self.apply = true;
        self
    }
}

/// Memories that say nearly the same.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The memories, the one whose text is kept first.
    pub memories: Vec<StoredMemory>,
    /// The lowest cosine by which one of them joined; `None` without vectors.
    pub least_cosine: Option<f64>,
    /// What became of it; `None` where nothing was merged.
    pub merged: Option<Merged>,
}

/// What [`Memory::consolidate`] found.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Consolidation {
    /// The groups, each of two memories or more; none is in two.
    pub groups: Vec<Group>,
    /// How many memories were looked at.
    pub looked_at: usize,
    /// The id of the last memory that was looked at, where the limit ended it: give this to [`Consolidate::after`] to go on.
    pub last: Option<String>,
}

/// Keys of a group and the lowest cosine in it.
type Found = (Vec<i64>, Option<f64>);

impl Memory {
    /// Finds groups of current memories of one project that say nearly the same, and merges them where told to: see
    /// [`Consolidate`]. Documents are left alone.
    ///
    /// Finding reads one snapshot and holds no lock; every group is merged in a transaction of its own. A group of which
    /// a memory changed or went meanwhile is left alone (`merged` is `None`).
    ///
    /// # Errors
    /// `NotFound` where the memory to go on after is not there; `ModelMismatch`, `Busy`, `Corrupt`, `Storage`; with [`Consolidate::apply`] also as [`Memory::merge`]: groups merged
    /// before the error stay merged.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn consolidate(&self, what: Consolidate) -> Result<Consolidation> {
        self.consolidate_within(&Scope::All, what)
    }

    /// As [`Memory::consolidate`], merging within a scope.
    pub(crate) fn consolidate_within(
        &self,
        scope: &Scope,
        what: Consolidate,
    ) -> Result<Consolidation> {
        let mut found = self.with_model(|embedder| self.groups(embedder, &what))?;
        if what.apply {
            for group in &mut found.groups {
                group.merged = self.merge_group(scope, &group.memories)?;
            }
        }
        Ok(found)
    }

    /// Merges a group, unless one of it is not as it was found.
    fn merge_group(&self, scope: &Scope, memories: &[StoredMemory]) -> Result<Option<Merged>> {
        let Some(first) = memories.first() else {
            return Ok(None);
        };
        let ids = memories.iter().map(|memory| memory.id.clone()).collect();
        let into = NewMemory::new(&first.content);
        match self.merge_within(scope, ids, into, Some(memories)) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Changed) => {
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    fn groups(&self, embedder: Option<&dyn Embedder>, what: &Consolidate) -> Result<Consolidation> {
        let now = Timestamp::now();
        let mut attempts = 0;
        self.read(|snapshot| {
            attempts += 1;
            if attempts > 1 {
                self.resident().clear();
            }
            let mut filter = what.filter.clone();
            filter.standing = Clocks::default().standing(now);
            let has_vectors = match embedder {
                Some(embedder) => space_of(snapshot, embedder)?,
                None => false,
            };
            let before = match &what.after {
                Some(id) => Some(snapshot.key_of(id)?.ok_or_else(|| Error::not_found(id))?),
                None => None,
            };
            let (groups, looked_at) = match what.rule {
                ConsolidateRule::Gate => {
                    let seqs = snapshot.last_keys(&filter, before, what.limit)?;
                    (self.by_gate(snapshot, &filter, &seqs, has_vectors)?, seqs)
                }
                ConsolidateRule::AgentMemory => {
                    let rows = snapshot.first_entities(&filter, before, what.limit)?;
                    let seqs = rows.iter().map(|row| row.seq).collect();
                    (by_entity(snapshot, &rows)?, seqs)
                }
            };
            let last = looked_at
                .iter()
                .min()
                .filter(|_| looked_at.len() == what.limit);
            let last = snapshot.keys(last.map(std::slice::from_ref).unwrap_or_default())?;
            Ok(Consolidation {
                groups,
                looked_at: looked_at.len(),
                last: last.into_iter().next().map(|row| row.id),
            })
        })
    }

    fn by_gate(
        &self,
        snapshot: &Snapshot<'_>,
        filter: &Filter,
        seqs: &[i64],
        has_vectors: bool,
    ) -> Result<Vec<Group>> {
        // Every memory asks it.
        self.resident().wake();
        let resident = self.resident().follow(snapshot, 0)?;
        let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
        let mut grouped: HashSet<i64> = HashSet::new();
        let mut groups = Vec::new();
        for seq in seqs {
            if grouped.contains(seq) {
                continue;
            }
            let Some(row) = snapshot.rows(&[*seq])?.pop() else {
                continue;
            };
            let of_project = Filter {
                scope: scope_of(&row),
                ..filter.clone()
            };
            let source = Source::new(snapshot, &of_project, resident)?;
            let vector = if has_vectors {
                snapshot.vector(row.seq)?
            } else {
                None
            };
            let text = Text::new(&row.content);
            let words = all_words(self, &row.content)?;
            let mut others = snapshot.same_text(text.normal(), &words, &of_project)?;
            others.extend(match &vector {
                Some(vector) => nearest(&source, vector)?,
                None => nearest_by_words(&source, &self.tokens(&query_words(&row.content))?)?,
            });
            others.sort_unstable();
            others.dedup();
            // Those stored later have looked at this one already.
            others.retain(|other| *other < row.seq && !grouped.contains(other));
            let others = without_documents(snapshot, others)?;
            let cosines = match &vector {
                Some(vector) => source.cosines(vector, &others)?,
                None => vec![None; others.len()],
            };
            let mut group: Found = (vec![row.seq], None);
            for (other, cosine) in snapshot.rows(&others)?.iter().zip(cosines) {
                let verdict = text.beside(&Text::new(&other.content), cosine).verdict;
                if matches!(verdict, GateVerdict::Duplicate | GateVerdict::Near) {
                    group.0.push(other.seq);
                    group.1 = least(group.1, cosine);
                }
            }
            if group.0.len() > 1 {
                grouped.extend(&group.0);
                groups.push(group);
            }
        }
        as_groups(snapshot, groups)
    }
}

/// The nearest memories to one, and itself.
fn nearest(source: &Source<'_>, vector: &[f32]) -> Result<Vec<i64>> {
    let mut near = source.nearest(vector, NEAREST + 1)?;
    near.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    near.truncate(NEAREST + 1);
    Ok(near.into_iter().map(|(seq, _)| seq).collect())
}

fn nearest_by_words(source: &Source<'_>, words: &[Token]) -> Result<Vec<i64>> {
    let leg = WordLeg::search(source, words, Formula::Convex, 1.0, NEAREST + 1)?;
    Ok(leg.ranked().iter().map(|(seq, _)| *seq).collect())
}

fn without_documents(snapshot: &Snapshot<'_>, seqs: Vec<i64>) -> Result<Vec<i64>> {
    let mut notes = Vec::with_capacity(seqs.len());
    for seq in seqs {
        if snapshot.title(seq)?.is_none() {
            notes.push(seq);
        }
    }
    Ok(notes)
}

fn scope_of(row: &MemoryRow) -> Scope {
    match &row.project {
        Some(project) => Scope::Project(project.clone()),
        None => Scope::Global,
    }
}

fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// By agent-memory's rule: one pass over the memories of each entity.
fn by_entity(snapshot: &Snapshot<'_>, rows: &[FirstEntity]) -> Result<Vec<Group>> {
    let mut groups: Vec<Found> = Vec::new();
    let mut group: Found = (Vec::new(), None);
    for pair in rows.windows(2) {
        let [before, row] = pair else { continue };
        let same = before.project == row.project && before.entity == row.entity;
        let near_in_time = row.created_at.days_since(before.created_at) <= AGENT_MEMORY_DAYS;
        let vector = if same && near_in_time {
            snapshot.vector(before.seq)?
        } else {
            None
        };
        let distance = match &vector {
            Some(vector) => snapshot.distances(vector, &[row.seq])?.pop().flatten(),
            None => None,
        };
        let cosine = distance.map(cosine_from_distance);
        match cosine.filter(|cosine| *cosine >= AGENT_MEMORY_COSINE) {
            Some(cosine) => {
                if group.0.is_empty() {
                    group.0.push(before.seq);
                }
                group.0.push(row.seq);
                group.1 = least(group.1, Some(cosine));
            }
            None => groups.push(std::mem::take(&mut group)),
        }
    }
    groups.push(group);
    groups.retain(|(seqs, _)| seqs.len() > 1);
    // The last one's text is kept.
    for (seqs, _) in &mut groups {
        seqs.reverse();
    }
    as_groups(snapshot, groups)
}

fn as_groups(snapshot: &Snapshot<'_>, groups: Vec<Found>) -> Result<Vec<Group>> {
    let group = |(seqs, least_cosine): Found| {
        let rows = snapshot.rows(&seqs)?;
        Ok(Group {
            memories: rows.into_iter().map(StoredMemory::from).collect(),
            least_cosine,
            merged: None,
        })
    };
    groups.into_iter().map(group).collect()
}

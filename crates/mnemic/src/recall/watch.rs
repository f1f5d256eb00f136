//! The stages of one recall, open to a watcher: recall itself has none, and `explain` is one. So what is explained is what
//! recall did, and not a copy of it.

use mnemic_rank::Floors;
use mnemic_schema::{Filter, Snapshot, Timestamp, Token};

use crate::Result;
use crate::recall::Scored;
use crate::recall::hit::Hit;
use crate::recall::request::Recall;
use crate::recall::source::Source;

/// What a recall works on, once its question is embedded and its snapshot open.
pub(crate) struct Scene<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) source: &'a Source<'a>,
    /// Where the file has documents.
    pub(crate) passages: Option<&'a Source<'a>>,
    pub(crate) recall: &'a Recall,
    /// The recall's, with how memories must stand now.
    pub(crate) filter: &'a Filter,
    pub(crate) words: &'a [Token],
    /// The question's, where vectors can be compared.
    pub(crate) vector: Option<&'a [f32]>,
    /// Whether the handle has a model, and the file vectors of its space.
    pub(crate) has_vectors: bool,
    /// What the question may name, as it is compared; nothing where entities have no weight.
    pub(crate) entities: &'a [String],
    /// How many of the best are reranked.
    pub(crate) depth: usize,
    pub(crate) now: Timestamp,
}

/// Sees what each stage of a recall left. All but the last may be called again, from the first one on, where the file
/// changed under a reading without locks.
pub(crate) trait Watch {
    /// The candidates of all legs, scored, in no order.
    fn scored(&mut self, _: &Scene<'_>, _: &[Scored]) -> Result<()> {
        Ok(())
    }

    /// Those that reached the floor of a percentile.
    fn above_percentile(&mut self, _floor: f64, _percent: f64, _: &[Scored]) {}

    /// Those that reached the floors, or are to be reranked first.
    fn above_floors(&mut self, _: &Floors, _: &[Scored]) {}

    /// The same in their order, before the limit.
    fn ordered(&mut self, _: &[Scored]) {}

    /// Those that were reranked, before the floors.
    fn reranked(&mut self, _: &Floors, _: &[Hit]) {}

    /// The hits in their order, before the limit.
    fn reordered(&mut self, _: &[Hit]) {}

    /// How many of the hits, at their end, a plan did not find.
    fn filled(&mut self, _count: usize) {}

    /// A hit within the limit, with what it costs, what was left of the budget, and the budget: all in tokens.
    fn counted(&mut self, _hit: &Hit, _tokens: usize, _left: usize, _budget: usize) {}
}

/// Nobody watches.
pub(crate) struct Unwatched;

impl Watch for Unwatched {}

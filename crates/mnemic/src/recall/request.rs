//! What is asked: the question, whose memories, how many, how scored.

use mnemic_rank::Floors;
use mnemic_rank::document::PASSAGE_WEIGHT;
use mnemic_schema::{Filter, Scope, Snapshot, Timestamp};

use crate::Result;

use crate::filter::{Clocks, clock_verbs, filter_verbs};
use crate::recall::budget::{Budget, TokenCounter};
use crate::recall::preset::Preset;

/// A question to a memory. A `&str` or `String` becomes one with the defaults: global memories, the best ten.
///
/// ```
/// use mnemic::{Recall, Scope};
///
/// let recall = Recall::new("how do we deploy?")
///     .scope(Scope::ProjectAndGlobal("web".into()))
///     .tags_any(["ops", "release"])
///     .tags_none(["obsolete"])
///     .since("2026-01-01".parse()?)
///     .limit(5);
/// # Ok::<(), mnemic::TimestampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a question recalls nothing until it is given to Memory::recall"]
pub struct Recall {
    pub(crate) query: String,
    pub(crate) filter: Filter,
    pub(crate) limit: usize,
    pub(crate) floors: Floors,
    /// The least relevance as a percentile of what random questions reach.
    pub(crate) percentile: Option<f64>,
    pub(crate) budget: Option<Budget>,
    pub(crate) preset: Preset,
    pub(crate) now: Option<Timestamp>,
    /// `None`: not said.
    pub(crate) rerank: Option<usize>,
    pub(crate) clocks: Clocks,
    pub(crate) passages_a_hit: usize,
    pub(crate) passage_weight: f64,
}

/// How many hits a question gets that does not say.
const DEFAULT_LIMIT: usize = 10;

/// How many passages a document brings along that does not say.
const PASSAGES_A_HIT: usize = 3;

filter_verbs!(Recall);
clock_verbs!(Recall);

impl Recall {
    /// A question in natural language, or any words. All of it is taken literally: no character is an operator.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            filter: Filter {
                scope: Scope::Global,
                ..Filter::default()
            },
            limit: DEFAULT_LIMIT,
            floors: Floors::NONE,
            percentile: None,
            budget: None,
            preset: Preset::default(),
            now: None,
            rerank: None,
            clocks: Clocks::default(),
            passages_a_hit: PASSAGES_A_HIT,
            passage_weight: PASSAGE_WEIGHT,
        }
    }

    /// How many of its best passages a document brings along ([`crate::Hit::passages`]). Default: 3.
    pub fn passages(mut self, count: usize) -> Self {
        self.passages_a_hit = count;
        self
    }

    /// How far the best passage of a document raises its relevance, in \[0, 1\]: relevance = whole + weight · max(0, best
    /// passage − whole), `whole` being that of its card. 0 leaves documents to their cards. Default: 1
    /// (`docs/documents.md` says why).
    pub fn passage_weight(mut self, weight: f64) -> Self {
        self.passage_weight = weight;
        self
    }

    /// At most so many hits; 0 gives none. Default: 10.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Every memory in scope that either leg finds: with vectors, all of them, best first.
    pub fn no_limit(mut self) -> Self {
        self.limit = usize::MAX;
        self
    }

    /// Drops hits whose score is under this (a score equal to it stays). What a score means depends on the preset; with
    /// the default one it is in [0, 1]. With a reranker, the score of a hit that it read is on the reranker's scale
    /// (see [`Recall::rerank`]): choose another floor than without. Default: no floor.
    pub fn min_score(mut self, score: f64) -> Self {
        self.floors.min_score = score;
        self
    }

    /// Drops hits whose relevance, which is the score without newness, is under this; with a reranker, as
    /// [`Recall::min_score`]. Default: no floor.
    pub fn min_relevance(mut self, relevance: f64) -> Self {
        self.floors.min_relevance = relevance;
        self
    }

    /// Drops hits whose relevance is under what so many per cent of random questions reach with their best hit in this
    /// very file: at 95, one random question in twenty recalls something. It is a floor that need not be guessed, and it
    /// holds beside [`Recall::min_relevance`].
    ///
    /// `percent` is in \[0, 100\]; anything else is `InvalidInput` when the question is asked. The file must have been
    /// calibrated for the model and the preset, once, by [`crate::Memory::calibrate`]: otherwise recall fails with
    /// `NotCalibrated`.
    ///
    /// ```
    /// use mnemic::{Memory, Preset, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["deploys freeze on Fridays", "the desk plant is a cactus", "the office dog is called Biscuit"])?;
    /// memory.calibrate(Preset::default())?;
    /// let sure = |question: &str| memory.recall(Recall::new(question).min_percentile(95.0));
    /// assert_eq!(sure("when do deploys freeze?")?.len(), 1);
    /// assert_eq!(sure("how deep can the submarine dive?")?.len(), 0);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn min_percentile(mut self, percent: f64) -> Self {
        self.percentile = Some(percent);
        self
    }

    /// Keeps the best hits that fit in a budget of tokens, none of them cut.
    ///
    /// The hits are taken in their order, best first. One that does not fit in what is left is passed over and the next
    /// one looked at, so that a long memory does not starve the others. What counts is each hit as [`crate::context`]
    /// writes it, day and line break included, by the counter given. The limit holds first: a budget only leaves out hits
    /// that the same question has without it. So raise the limit for many short memories. Where nothing fits there are no
    /// hits.
    ///
    /// ```
    /// use mnemic::{EstimatedTokens, Memory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(format!("deploys freeze on Fridays, {}", "as everybody has been told ".repeat(40)))?;
    /// memory.store("deploys are done by the bot")?;
    /// let hits = memory.recall(Recall::new("deploys freeze?").limit(50).budget(100, EstimatedTokens))?;
    /// assert_eq!(hits.len(), 1);
    /// assert!(EstimatedTokens.count(&mnemic::context(&hits)) <= 100);
    /// # use mnemic::TokenCounter;
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn budget(mut self, tokens: usize, counter: impl TokenCounter + 'static) -> Self {
        self.budget = Some(Budget::new(tokens, counter));
        self
    }

    /// The formula by which hits are scored.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Has the handle's reranker ([`crate::MemoryBuilder::reranker`]) read the best `n` candidates and score them once
    /// more; 0 switches it off. It is one call of at most `n` passages. Default: 20. Without a reranker it does
    /// nothing.
    ///
    /// The `n` come first, in the order of their new scores: relevance = .9 · the reranker's score + .1 · the relevance
    /// it had, and newness has the preset's share as ever. Where the limit is more than `n`, the others follow in their
    /// old order and with their old scores, which may be higher numbers: [`crate::Signals::rerank`] tells which is
    /// which. Floors are held against the score and relevance that a hit is returned with. `docs/scoring.md` says why.
    ///
    /// ```
    /// use mnemic::Recall;
    ///
    /// let thorough = Recall::new("when can I ship?").rerank(50).limit(5);
    /// let quick = Recall::new("when can I ship?").rerank(0);
    /// ```
    pub fn rerank(mut self, n: usize) -> Self {
        self.rerank = Some(n);
        self
    }

    /// The instant from which ages are counted, and at which memories must be valid unless [`Recall::valid_at`] says
    /// otherwise. Default: the present. Give one for answers that can be repeated.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }
}

impl Recall {
    /// What is searched for.
    pub(crate) fn question(&self) -> &str {
        &self.query
    }

    /// The filter with how memories must stand, asked at an instant. Where nothing was ever said of any memory, all of them
    /// stand alike, and nothing is asked of each.
    pub(crate) fn filter_now(&self, snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Filter> {
        let standing = self.clocks.standing(now);
        let standing = if snapshot.has_lifecycle()? {
            standing
        } else {
            standing.of_nothing_said()
        };
        Ok(Filter {
            standing,
            ..self.filter.clone()
        })
    }
}

impl<T: Into<String>> From<T> for Recall {
    fn from(query: T) -> Self {
        Self::new(query)
    }
}

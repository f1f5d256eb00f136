//! What is asked: the question, whose memories, how many, how scored.

use mnemic_rank::Floors;
use mnemic_rank::document::PASSAGE_WEIGHT;
use mnemic_schema::{Filter, Scope, Snapshot, Timestamp, query_words};

use crate::Result;

use crate::filter::{Clocks, clock_verbs, filter_verbs};
use crate::planner::Plan;
use crate::recall::budget::{Budget, TokenCounter};
use crate::recall::expand::Expand;
use crate::recall::preset::{Preset, sound};

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
    pub(crate) expand: Option<Expand>,
    pub(crate) clocks: Clocks,
    pub(crate) touch: bool,
    /// From 0 up.
    pub(crate) entity_weight: f64,
    pub(crate) plan: Option<Plan>,
    /// What the plan took the place of.
    pub(crate) plain: Option<Manner>,
    pub(crate) passages_a_hit: usize,
    pub(crate) passage_weight: f64,
}

/// How candidates are found and weighed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manner {
    pub(crate) preset: Preset,
    pub(crate) entity_weight: f64,
    pub(crate) expand: Option<Expand>,
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
            expand: None,
            clocks: Clocks::default(),
            passages_a_hit: PASSAGES_A_HIT,
            passage_weight: PASSAGE_WEIGHT,
            touch: false,
            entity_weight: 0.0,
            plan: None,
            plain: None,
        }
    }

    /// Only what holds this phrase, word by word as it is spelled: a quote, a name, the message of an error. Of a document
    /// somewhere in its source, of a passage in its own text. Case, Unicode composition and the length of white space make
    /// no difference; a word is whole (`cat` is not in `concatenate`). Several phrases must all be there.
    ///
    /// It is a filter: what passes it is scored by the question. A question without words (`Recall::new("")`) asks for the
    /// phrases. Quotation marks in a question are no phrase.
    ///
    /// ```
    /// use mnemic::{Memory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["error[E0502]: cannot borrow `x` as mutable", "you cannot always borrow a book"])?;
    /// let hits = memory.recall(Recall::new("").phrase("cannot borrow"))?;
    /// assert_eq!(hits.len(), 1);
    /// assert_eq!(memory.recall(Recall::new("\"cannot borrow\""))?.len(), 2);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn phrase(mut self, phrase: impl Into<String>) -> Self {
        self.filter.phrases.push(phrase.into());
        self
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

    /// Follows links from the best candidates, so that what is joined to an answer may be one too: relations, and causal
    /// parents, whichever way they lead. Default: off.
    ///
    /// A memory that links lead to has the score and the relevance of the candidate that it was reached from, times
    /// decay^steps, where that is more than its own score: a score rises by a link or stays, and never passes the one that it
    /// came from. Of several candidates the one counts that gives the most. Whatever joins passes the filter, and counts in
    /// floors, limit and budget as any other; links are followed within the scope, and where a step between does not pass the
    /// rest of the filter, what lies behind it still may. What was known at an instant
    /// ([`Recall::known_at`]) is told by the relations drawn by then. With a reranker, what joined is read like the others.
    /// [`crate::Signals::expanded`] tells what was reached, and how.
    ///
    /// ```
    /// use mnemic::{Expand, Memory, Recall};
    ///
    /// let memory = Memory::builder().no_embedder().open_in_memory()?;
    /// let rule = memory.store("deploys freeze on Fridays")?.id;
    /// let reason = memory.store("the shop was down for a whole weekend in March")?.id;
    /// memory.relate((&reason, &rule, "supports", "the rule was made the week after"))?;
    ///
    /// let plain = memory.recall("when do deploys freeze?")?;
    /// let hits = memory.recall(Recall::new("when do deploys freeze?").expand(Expand::new()))?;
    /// assert_eq!((plain.len(), hits.len()), (1, 2));
    /// assert_eq!(hits[1].memory.id, reason);
    /// assert_eq!(hits[1].signals.expanded.as_ref().unwrap().from, rule);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn expand(mut self, expand: Expand) -> Self {
        self.expand = Some(expand);
        self
    }

    /// The weight of the entities that question and memories name, beside those of words and vectors (the default preset gives
    /// each of these .5). Default: 0, entities are not looked for. A negative weight or NaN counts 0.
    ///
    /// Which entities a question names the handle's extractor tells ([`crate::MemoryBuilder::entity_extractor`]), or
    /// [`crate::RuleExtractor`] where it has none; and every run of up to four words (eight characters of a script without
    /// spaces) that is an entity of the file is one as well, in whatever case. The signal of a memory is the share of them that
    /// it has, in \[0, 1\], weighed by how rare they are in the scope. Memories that neither words nor vectors find are found
    /// so. Where no memory of the scope has any of them the recall is what it is without this. A
    /// [percentile](Recall::min_percentile) was measured without entities, and is held against the relevance with them.
    ///
    /// ```
    /// use mnemic::{Memory, NewMemory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("she prefers tea").entities(["Anna"]))?;
    /// memory.store(NewMemory::new("what to drink in the office: coffee"))?;
    /// let hits = memory.recall(Recall::new("what does anna drink?").entity_weight(0.5))?;
    /// assert_eq!(hits[0].memory.content, "she prefers tea");
    /// assert_eq!(hits[0].signals.entity, Some(1.0));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn entity_weight(mut self, weight: f64) -> Self {
        self.entity_weight = sound(weight);
        self
    }

    /// Recalls as a plan says, which a [`crate::QueryPlanner`] makes of the question: with its weights in the place of those of
    /// this question, and memories of the kinds that it prefers a little before the others. See
    /// [`crate::Memory::recall_planned`], which does both.
    ///
    /// A plan filters nothing. Where it finds fewer than the limit, what the question finds without it follows, so that it
    /// never has fewer hits. Under a [percentile](Recall::min_percentile) all but the kinds stays what it is, as the floor was
    /// measured with it.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = Some(plan);
        self
    }

    /// The question with the weights of its plan, and those it had put aside.
    pub(crate) fn resolved(mut self) -> Self {
        // The phrases are the question where it has no words of its own.
        if !self.filter.phrases.is_empty() && query_words(&self.query).is_empty() {
            self.query = self.filter.phrases.join(" ");
        }
        let manner = self.manner();
        let Some(plan) = &mut self.plan else {
            return self;
        };
        self.plain = Some(manner);
        if self.percentile.is_none() {
            self.preset = plan.preset.unwrap_or(self.preset);
            self.entity_weight = plan.entity_weight.unwrap_or(self.entity_weight);
            self.expand = plan.expand.clone().or(self.expand);
        } else {
            plan.candidates = None;
        }
        self
    }

    pub(crate) fn manner(&self) -> Manner {
        Manner {
            preset: self.preset,
            entity_weight: self.entity_weight,
            expand: self.expand.clone(),
        }
    }

    /// Whether one of the manners in which candidates may be found passes.
    pub(crate) fn any_manner(&self, passes: impl Fn(&Manner) -> bool) -> bool {
        passes(&self.manner()) || self.plain.as_ref().is_some_and(passes)
    }

    /// The instant from which ages are counted. Default: the present. Give one for answers that can be repeated.
    /// The instant from which ages are counted, and at which memories must be valid unless [`Recall::valid_at`] says
    /// otherwise. Default: the present. Give one for answers that can be repeated.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }
}

impl Recall {
    /// Counts a use of each hit once it is recalled, all in one transaction: [`crate::Memory::touch`] with the ids of the
    /// hits, at the instant that [`Recall::now`] gives. Without it a recall writes nothing. Where it cannot be counted
    /// (`ReadOnly`, `Busy`, `Storage`), the recall fails with that. [`crate::Memory::explain`] counts nothing.
    ///
    /// ```
    /// use mnemic::{Memory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let id = memory.store("deploys freeze on Fridays")?.id;
    /// memory.recall(Recall::new("when do deploys freeze?").touch())?;
    /// assert_eq!(memory.get(&id)?.unwrap().usage.accesses, 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn touch(mut self) -> Self {
        self.touch = true;
        self
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

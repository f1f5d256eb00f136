//! Why a memory is among the hits of a question, or is not: the stage of recall that dropped it, with its numbers. It
//! watches the recall itself; no stage is computed a second time in another way.

mod text;

use mnemic_rank::Floors;
use mnemic_schema::{Filter, Indexed, Kind, Layer, MemoryRow, Scope, Standing, Timestamp};

use crate::memory::Memory;
use crate::planner::Plan;
use crate::recall::Scored;
use crate::recall::hit::{Hit, Signals};
use crate::recall::request::{Manner, Recall};
use crate::recall::watch::{Scene, Watch};
use crate::types::StoredMemory;
use crate::{Error, Result};

/// What a recall made of one memory, from [`Memory::explain`]. It prints as a few lines that a person understands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The memory.
    pub memory: StoredMemory,
    /// Whether it is a hit, or what dropped it.
    pub outcome: Outcome,
    /// Its score, or the one it would have as a candidate. `None` where it was dropped before, or no leg finds it.
    pub score: Option<f64>,
    /// The score without newness, as far as it has one.
    pub relevance: Option<f64>,
    /// What the score was made of, as far as it has one.
    pub signals: Option<Signals>,
    /// The words of the question that it holds, in the form in which they are searched.
    pub held: Vec<String>,
    /// The words of the question that it does not hold.
    pub lacking: Vec<String>,
    /// Why vectors were not searched, where they were not.
    pub without_vectors: Option<Silence>,
    /// The plan of the question, where it has one.
    pub plan: Option<Plan>,
    manner: Manner,
    passage_weight: f64,
}

/// What became of a memory in a recall.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is a hit.
    Hit {
        /// Its place among the hits, from 1.
        rank: usize,
        /// How many hits there are.
        of: usize,
    },
    /// It is none.
    Dropped(Dropped),
}

/// The stage that dropped a memory: the first that did, in the order of these.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Dropped {
    /// It is of another project than was asked for.
    Scope {
        /// Whose memories were asked for.
        scope: Scope,
        /// Whose it is; `None` is global.
        project: Option<String>,
    },
    /// A condition does not hold for it.
    Filter {
        /// All that do not hold.
        failed: Vec<Condition>,
    },
    /// The question has no letter or digit: nothing was searched.
    NoWords,
    /// It is not among the best of any leg. All ranks are `None` where no leg finds it, whatever the limit.
    NotACandidate {
        /// Its place in the order by words alone, from 1, equal ones sharing the first of theirs; `None` where it holds no
        /// word of the question, or words were not searched.
        word_rank: Option<usize>,
        /// Its place in the order by vectors alone; `None` where it has no vector, or vectors were not searched.
        vector_rank: Option<usize>,
        /// Its place in the order by entities alone; `None` where it has none of the question, or they were not searched.
        entity_rank: Option<usize>,
        /// How many candidates each leg gives for this limit.
        candidates: usize,
    },
    /// Its score is under [`Recall::min_score`].
    MinScore {
        /// Its score.
        score: f64,
        /// The least one.
        floor: f64,
    },
    /// Its relevance is under [`Recall::min_relevance`].
    MinRelevance {
        /// Its relevance.
        relevance: f64,
        /// The least one.
        floor: f64,
    },
    /// Its relevance is under what [`Recall::min_percentile`] says in this file.
    MinPercentile {
        /// Its relevance.
        relevance: f64,
        /// The least one.
        floor: f64,
        /// The share of random questions whose best hit is below that, in per cent.
        percent: f64,
    },
    /// Better ones fill the limit.
    Limit {
        /// Its place among all that reached the floors, from 1.
        rank: usize,
        /// The limit.
        limit: usize,
    },
    /// It did not fit in what better ones left of the budget.
    Budget {
        /// Its place among the hits before they were packed, from 1.
        rank: usize,
        /// What it costs, in tokens.
        tokens: usize,
        /// What was left for it, in tokens.
        left: usize,
        /// The budget, in tokens.
        budget: usize,
    },
}

/// A condition of a filter: the verb of [`Recall`] that set it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// None of these tags is on it.
    TagsAny(Vec<String>),
    /// Not all of these tags are on it.
    TagsAll(Vec<String>),
    /// One of these tags is on it.
    TagsNone(Vec<String>),
    /// It was created before.
    Since(Timestamp),
    /// It was created at this instant or later.
    Until(Timestamp),
    /// None of these entities is on it.
    EntitiesAny(Vec<String>),
    /// Its id is not among those asked for.
    Ids,
    /// It does not hold this phrase.
    Phrase(String),
    /// It is of none of these kinds.
    Kinds(Vec<Kind>),
    /// It is less important.
    MinImportance(f64),
    /// Its source is trusted less.
    MinTrust(f64),
    /// It is of another layer.
    Layer(Layer),
    /// It is from none of these sources.
    Sources(Vec<String>),
    /// It is pinned where it should not be, or not where it should.
    Pinned(bool),
    /// Another memory stood in its place by then ([`Timestamp::MAX`]: at any time).
    NotSuperseded(Timestamp),
    /// It was forgotten by then ([`Timestamp::MAX`]: at any time).
    NotForgotten(Timestamp),
    /// What it says did not hold yet at this instant.
    Begun(Timestamp),
    /// What it says held no more at this instant.
    NotExpired(Timestamp),
    /// It was created after this instant.
    KnownAt(Timestamp),
}

/// Why vectors were not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Silence {
    /// The preset gives them no weight.
    NoWeight,
    /// The handle has no model.
    NoModel,
    /// The file has no vectors of the model's space.
    NoVectors,
    /// The model finds nothing to embed in the question.
    NothingToEmbed,
}

impl Memory {
    /// Asks a question as [`Memory::recall`] does and tells what became of one memory: its rank and what its score was
    /// made of, or the stage that dropped it and the number by which it did.
    ///
    /// The stages are, in their order: scope, filter, the words of the question, the candidates of the legs (with what
    /// links lead to from them, by [`Recall::expand`]), the floors, the limit, the budget. Where a memory is no candidate, each leg is searched to its end for the rank that it has
    /// there: as slow as a recall without a limit. Nothing is written.
    ///
    /// # Errors
    /// `NotFound` where no memory has the id, and as [`Memory::recall`].
    ///
    /// ```
    /// use mnemic::{Dropped, Memory, NewMemory, Outcome, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("deploys freeze on Fridays").id("freeze").project("web"))?;
    ///
    /// let hit = memory.explain(Recall::new("when do deploys freeze?").project("web"), "freeze")?;
    /// assert_eq!(hit.outcome, Outcome::Hit { rank: 1, of: 1 });
    /// let missing = memory.explain("when do deploys freeze?", "freeze")?;
    /// assert!(matches!(missing.outcome, Outcome::Dropped(Dropped::Scope { .. })));
    /// println!("{missing}");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn explain(&self, recall: impl Into<Recall>, id: &str) -> Result<Explanation> {
        let recall: Recall = recall.into().resolved();
        let mut watcher = Watcher::of(self, id);
        let hits = self.watched(&recall, &mut watcher)?;
        watcher.explanation(&recall, &hits)
    }
}

/// Follows one memory through a recall.
struct Watcher<'a> {
    memory: &'a Memory,
    id: &'a str,
    found: Option<Found>,
    /// The stage that dropped it.
    dropped: Option<Dropped>,
    /// Its place before the limit, from 1.
    rank: usize,
    /// How many of the hits, at their end, a plan did not find.
    filled: usize,
}

/// What is known of the memory once its row is read.
struct Found {
    row: MemoryRow,
    scored: Option<(f64, f64, Signals)>,
    held: Vec<String>,
    lacking: Vec<String>,
    without_vectors: Option<Silence>,
    /// The same where it was found without the plan.
    plainly_without_vectors: Option<Silence>,
}

impl<'a> Watcher<'a> {
    fn of(memory: &'a Memory, id: &'a str) -> Self {
        Self {
            memory,
            id,
            found: None,
            dropped: None,
            rank: 0,
            filled: 0,
        }
    }

    /// Whether it was not dropped yet.
    fn follows(&self) -> bool {
        self.dropped.is_none() && self.found.is_some()
    }

    fn place(&self, left: &[Scored]) -> Option<usize> {
        left.iter().position(|hit| hit.row.id == self.id)
    }

    /// Its score and relevance, where it is not among what is left.
    fn fell(&self, left: &[Scored]) -> Option<(f64, f64)> {
        if !self.follows() || self.place(left).is_some() {
            return None;
        }
        let (score, relevance, _) = self.found.as_ref()?.scored.as_ref()?;
        Some((*score, *relevance))
    }

    /// The stage that kept it from being scored; at last, that it is no candidate.
    fn not_scored(&self, scene: &Scene<'_>, found: &mut Found) -> Result<Dropped> {
        let filter = scene.filter;
        if !filter.scope.admits(found.row.project.as_deref()) {
            return Ok(Dropped::Scope {
                scope: filter.scope.clone(),
                project: found.row.project.clone(),
            });
        }
        let failed = failed(scene, filter, self.id)?;
        if !failed.is_empty() {
            return Ok(Dropped::Filter { failed });
        }
        if scene.words.is_empty() {
            return Ok(Dropped::NoWords);
        }
        let all = scene.scored(usize::MAX)?;
        let scored = self.place(&all).and_then(|place| all.get(place));
        found.scored = scored.map(|hit| (hit.score, hit.relevance, hit.signals.clone()));
        Ok(Dropped::NotACandidate {
            word_rank: scored.and_then(|hit| hit.signals.word_rank),
            vector_rank: scored.and_then(|hit| hit.signals.vector_rank),
            entity_rank: scored.and_then(|hit| hit.signals.entity_rank),
            candidates: scene.candidates(scene.recall.limit),
        })
    }

    /// Nothing at all is searched without a word to search by: that is another stage's to tell.
    fn without_vectors(&self, scene: &Scene<'_>, manner: &Manner) -> Option<Silence> {
        if scene.words.is_empty() {
            None
        } else if manner.preset.vector_weight <= 0.0 {
            Some(Silence::NoWeight)
        } else if self.memory.embedder().is_none() {
            Some(Silence::NoModel)
        } else if !scene.has_vectors {
            Some(Silence::NoVectors)
        } else if scene.vector.is_none() {
            Some(Silence::NothingToEmbed)
        } else {
            None
        }
    }

    fn explanation(self, recall: &Recall, hits: &[Hit]) -> Result<Explanation> {
        let found = self.found.ok_or_else(|| Error::not_found(self.id))?;
        let place = hits.iter().position(|hit| hit.memory.id == self.id);
        let outcome = match (place, self.dropped) {
            (Some(place), _) => Outcome::Hit {
                rank: place + 1,
                of: hits.len(),
            },
            (None, Some(dropped)) => Outcome::Dropped(dropped),
            // It passed every stage that can be seen; only the limit cuts without a look at each.
            (None, None) => Outcome::Dropped(Dropped::Limit {
                rank: self.rank,
                limit: recall.limit,
            }),
        };
        // One that a plan did not find has the numbers, and the weights, by which it was found without.
        let first_filled = hits.len().saturating_sub(self.filled);
        let (manner, without_vectors) = match &recall.plain {
            Some(plain) if place.is_some_and(|place| place >= first_filled) => {
                (plain.clone(), found.plainly_without_vectors)
            }
            _ => (recall.manner(), found.without_vectors),
        };
        let of_hit = place.and_then(|place| hits.get(place));
        let of_hit = of_hit.map(|hit| (hit.score, hit.relevance, hit.signals.clone()));
        let (score, relevance, signals) = match of_hit.or(found.scored) {
            Some((score, relevance, signals)) => (Some(score), Some(relevance), Some(signals)),
            None => (None, None, None),
        };
        Ok(Explanation {
            memory: found.row.into(),
            outcome,
            score,
            relevance,
            signals,
            held: found.held,
            lacking: found.lacking,
            without_vectors,
            plan: recall.plan.clone(),
            manner,
            passage_weight: recall.passage_weight,
        })
    }
}

impl Watch for Watcher<'_> {
    fn scored(&mut self, scene: &Scene<'_>, scored: &[Scored]) -> Result<()> {
        *self = Self::of(self.memory, self.id);
        let Some(row) = scene.snapshot.row(self.id)? else {
            return Ok(());
        };
        let (held, lacking) = words(scene, self.id)?;
        let mut found = Found {
            row,
            scored: None,
            held,
            lacking,
            without_vectors: self.without_vectors(scene, &scene.recall.manner()),
            plainly_without_vectors: match &scene.recall.plain {
                Some(plain) => self.without_vectors(scene, plain),
                None => None,
            },
        };
        match self.place(scored).and_then(|place| scored.get(place)) {
            Some(hit) => found.scored = Some((hit.score, hit.relevance, hit.signals.clone())),
            None => self.dropped = Some(self.not_scored(scene, &mut found)?),
        }
        self.found = Some(found);
        Ok(())
    }

    fn above_percentile(&mut self, floor: f64, percent: f64, left: &[Scored]) {
        if let Some((_, relevance)) = self.fell(left) {
            self.dropped = Some(Dropped::MinPercentile {
                relevance,
                floor,
                percent,
            });
        }
    }

    fn above_floors(&mut self, floors: &Floors, left: &[Scored]) {
        if let Some((score, relevance)) = self.fell(left) {
            self.dropped = Some(below(floors, score, relevance));
        }
    }

    fn reranked(&mut self, floors: &Floors, hits: &[Hit]) {
        let hit = hits.iter().find(|hit| hit.memory.id == self.id);
        if let (Some(found), Some(hit)) = (&mut self.found, hit) {
            found.scored = Some((hit.score, hit.relevance, hit.signals.clone()));
            if !floors.admits(hit.score, hit.relevance) {
                self.dropped = Some(below(floors, hit.score, hit.relevance));
            }
        }
    }

    fn reordered(&mut self, hits: &[Hit]) {
        if let Some(place) = hits.iter().position(|hit| hit.memory.id == self.id) {
            self.rank = place + 1;
        }
    }

    fn ordered(&mut self, left: &[Scored]) {
        if self.follows() {
            self.rank = self.place(left).map_or(0, |place| place + 1);
        }
    }

    fn filled(&mut self, count: usize) {
        self.filled = count;
    }

    fn counted(&mut self, hit: &Hit, tokens: usize, left: usize, budget: usize) {
        if hit.memory.id == self.id && tokens > left {
            self.dropped = Some(Dropped::Budget {
                rank: self.rank,
                tokens,
                left,
                budget,
            });
        }
    }
}

/// Which of two floors it is under.
fn below(floors: &Floors, score: f64, relevance: f64) -> Dropped {
    if score < floors.min_score {
        let floor = floors.min_score;
        return Dropped::MinScore { score, floor };
    }
    let floor = floors.min_relevance;
    Dropped::MinRelevance { relevance, floor }
}

/// The words of the question that a memory holds, and those that it does not.
fn words(scene: &Scene<'_>, id: &str) -> Result<(Vec<String>, Vec<String>)> {
    let alone = only(id);
    let (mut held, mut lacking) = (Vec::new(), Vec::new());
    for word in scene.words {
        let mut holds = false;
        scene
            .snapshot
            .occurrences(word, &alone, |_, _| holds = true)?;
        // A document holds what its passages hold.
        if !holds && scene.passages.is_some() {
            scene
                .snapshot
                .occurrences_in(Indexed::Passages, word, &alone, |_, _| holds = true)?;
        }
        let list = if holds { &mut held } else { &mut lacking };
        list.push(word.word().to_owned());
    }
    Ok((held, lacking))
}

/// A filter that one memory passes.
fn only(id: &str) -> Filter {
    Filter {
        ids: Some(vec![id.to_owned()]),
        ..Filter::default()
    }
}

/// Sets one condition of a filter.
type Set<'a> = &'a dyn Fn(&mut Filter);

/// The conditions on what is said of a memory.
fn said_conditions(filter: &Filter, one: &mut dyn FnMut(Condition, Set<'_>)) {
    let kinds = &filter.kinds;
    if !kinds.is_empty() {
        one(Condition::Kinds(kinds.clone()), &|alone| {
            alone.kinds.clone_from(kinds)
        });
    }
    if let Some(least) = filter.min_importance {
        one(Condition::MinImportance(least), &|alone| {
            alone.min_importance = Some(least)
        });
    }
    if let Some(least) = filter.min_trust {
        one(Condition::MinTrust(least), &|alone| {
            alone.min_trust = Some(least)
        });
    }
    if let Some(layer) = filter.layer {
        one(Condition::Layer(layer), &|alone| alone.layer = Some(layer));
    }
    let sources = &filter.sources;
    if !sources.is_empty() {
        one(Condition::Sources(sources.clone()), &|alone| {
            alone.sources.clone_from(sources)
        });
    }
    if let Some(pinned) = filter.pinned {
        one(Condition::Pinned(pinned), &|alone| {
            alone.pinned = Some(pinned)
        });
    }
}

/// The conditions on how a memory stands.
fn standing_conditions(standing: Standing, one: &mut dyn FnMut(Condition, Set<'_>)) {
    let mut each = |time: Option<Timestamp>,
                    condition: fn(Timestamp) -> Condition,
                    set: fn(&mut Standing, Option<Timestamp>)| {
        if let Some(at) = time {
            one(condition(at), &|alone| set(&mut alone.standing, time));
        }
    };
    each(
        standing.not_superseded,
        Condition::NotSuperseded,
        |alone, time| alone.not_superseded = time,
    );
    each(
        standing.not_forgotten,
        Condition::NotForgotten,
        |alone, time| alone.not_forgotten = time,
    );
    each(standing.begun, Condition::Begun, |alone, time| {
        alone.begun = time
    });
    each(
        standing.not_expired,
        Condition::NotExpired,
        |alone, time| alone.not_expired = time,
    );
    each(standing.known, Condition::KnownAt, |alone, time| {
        alone.known = time
    });
}

/// The conditions that do not hold for a memory, each asked of the file by itself.
fn failed(scene: &Scene<'_>, filter: &Filter, id: &str) -> Result<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut one = |condition: Condition, set: Set<'_>| {
        let mut alone = only(id);
        set(&mut alone);
        conditions.push((condition, alone));
    };
    if !filter.tags_any.is_empty() {
        let tags = &filter.tags_any;
        one(Condition::TagsAny(tags.clone()), &|alone| {
            alone.tags_any.clone_from(tags)
        });
    }
    if !filter.tags_all.is_empty() {
        let tags = &filter.tags_all;
        one(Condition::TagsAll(tags.clone()), &|alone| {
            alone.tags_all.clone_from(tags)
        });
    }
    if !filter.tags_none.is_empty() {
        let tags = &filter.tags_none;
        one(Condition::TagsNone(tags.clone()), &|alone| {
            alone.tags_none.clone_from(tags)
        });
    }
    if !filter.entities_any.is_empty() {
        let names = &filter.entities_any;
        one(Condition::EntitiesAny(names.clone()), &|alone| {
            alone.entities_any.clone_from(names)
        });
    }
    if let Some(since) = filter.since {
        one(Condition::Since(since), &|alone| alone.since = Some(since));
    }
    if let Some(until) = filter.until {
        one(Condition::Until(until), &|alone| alone.until = Some(until));
    }
    if let Some(ids) = &filter.ids {
        let ids: Vec<String> = ids.iter().filter(|own| *own == id).cloned().collect();
        one(Condition::Ids, &|alone| alone.ids = Some(ids.clone()));
    }
    for phrase in &filter.phrases {
        one(Condition::Phrase(phrase.clone()), &|alone| {
            alone.phrases.push(phrase.clone())
        });
    }
    said_conditions(filter, &mut one);
    standing_conditions(filter.standing, &mut one);
    let mut failed = Vec::new();
    for (condition, alone) in conditions {
        if scene.snapshot.ids(&alone)?.is_empty() {
            failed.push(condition);
        }
    }
    Ok(failed)
}

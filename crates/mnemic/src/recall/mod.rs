//! Recall: embed the question, search each leg on one snapshot, unite and complete, fuse, cut. With a reranker, the cut
//! comes after the snapshot is closed, and the best have been scored once more.

pub(crate) mod budget;
mod entity_leg;
pub(crate) mod expand;
pub(crate) mod explain;
pub(crate) mod hit;
pub(crate) mod leg;
mod passages;
pub(crate) mod preset;
pub(crate) mod request;
mod rerank;
pub(crate) mod source;
pub(crate) mod watch;

use std::collections::HashMap;

use mnemic_embed::Embedder;
use mnemic_rank::{Floors, HitKey, best_first, fusion, recency, rekal};
use mnemic_schema::{Filter, Indexed, RowKey, Snapshot, Timestamp, Token, query_words};

use crate::Result;
use crate::calibrate::calibrated_floor;
use crate::embedding;
use crate::memory::{Memory, space_of};
use crate::planner::Plan;
use crate::recall::entity_leg::EntityLeg;
use crate::recall::hit::{Hit, Signals};
use crate::recall::leg::{Leg, VectorLeg, WordLeg};
use crate::recall::passages::{ByDocument, passage_hits};
use crate::recall::preset::{Formula, Preset};
use crate::recall::request::{Manner, Recall};
use crate::recall::source::Source;
use crate::recall::watch::{Scene, Unwatched, Watch};
use crate::resident::Loaded;
use crate::trace::event;

/// Candidates of each leg for a limit of so many: enough that the union holds the best after fusion (docs/scoring.md).
const CANDIDATES_PER_HIT: usize = 3;
const MIN_CANDIDATES: usize = 30;

/// Most bytes of a question that are embedded.
const MAX_QUERY_BYTES: usize = 16 << 10;

impl Memory {
    /// The memories that fit a question best, best first.
    ///
    /// It searches by words and by vectors, filters first, scores every candidate by both, and reads one state of the
    /// file throughout. Nothing is written (unless [`Recall::touch`] asks for it). Equal scores are ordered by time of creation (newest first), then by id, so
    /// that the same question to the same file has the same answer.
    ///
    /// A question without a letter or digit has no hits. Of a very long one the first 64 distinct words and the first
    /// 16 KiB count. Where the file has no vectors, or this handle no model, words alone decide.
    ///
    /// # Errors
    /// `Embedding` where the question could not be embedded, or the reranker failed; `Extraction` where its entities were to be
    /// found and could not; `ModelMismatch` where the file's
    /// vectors live in another space than this handle's model; `NotCalibrated` and `InvalidInput` as
    /// [`Recall::min_percentile`] and [`Recall::touch`] say; `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Memory, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["deploys freeze on Fridays", "the desk plant is a cactus"])?;
    /// let hits = memory.recall(Recall::new("why do deploys freeze again?").limit(1))?;
    /// assert_eq!(hits[0].memory.content, "deploys freeze on Fridays");
    /// println!("{:.2}  {}", hits[0].score, hits[0].signals);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn recall(&self, recall: impl Into<Recall>) -> Result<Vec<Hit>> {
        self.recall_watched(&recall.into().resolved(), &mut Unwatched)
    }

    /// Recalls, but nothing without a word to search by, or of no hits.
    pub(crate) fn recall_watched(
        &self,
        recall: &Recall,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Hit>> {
        if query_words(&recall.query).is_empty() || recall.limit == 0 {
            return Ok(Vec::new());
        }
        let hits = self.watched(recall, watch)?;
        if recall.touch {
            let used = hits.iter().map(|hit| hit.memory.id.as_str());
            let at = recall.now.unwrap_or_else(Timestamp::now);
            self.touch_within(&recall.filter.scope, used, at)?;
        }
        Ok(hits)
    }

    /// Recalls, stage by stage; `watch` sees what each stage left.
    pub(crate) fn watched(&self, recall: &Recall, watch: &mut dyn Watch) -> Result<Vec<Hit>> {
        let entities = self.asked_for(recall)?;
        self.with_model(|embedder| self.watched_by(embedder, recall, &entities, watch))
    }

    /// Recalls by a model, or by words alone.
    fn watched_by(
        &self,
        embedder: Option<&dyn Embedder>,
        recall: &Recall,
        entities: &[String],
        watch: &mut dyn Watch,
    ) -> Result<Vec<Hit>> {
        let words = query_words(&recall.query);
        // Before the snapshot, so that a slow model keeps nothing open.
        let by_vectors = recall.any_manner(|manner| manner.preset.vector_weight > 0.0);
        let vector = match embedder {
            Some(embedder) if by_vectors && !words.is_empty() => {
                embedding::query(embedder, beginning(&recall.query))?
            }
            _ => None,
        };
        let words = self.tokens(&words)?;
        let now = recall.now.unwrap_or_else(Timestamp::now);
        let depth = self.rerank_depth(recall);
        let mut attempts = 0;
        let (best, plain) = self.read(|snapshot| {
            attempts += 1;
            if attempts > 1 {
                // The file changed under a lock-free read: what the index learned from it may be wrong.
                self.resident().clear();
                self.resident_passages().clear();
            }
            let has_vectors = match embedder {
                Some(embedder) if by_vectors && !words.is_empty() => space_of(snapshot, embedder)?,
                _ => false,
            };
            let resident = self.resident().follow(snapshot, 0)?;
            let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
            let filter = recall.filter_now(snapshot, now)?;
            let source = Source::new(snapshot, &filter, resident)?;
            let has_passages = recall.passage_weight > 0.0 && snapshot.has_chunks()?;
            // Asked of what is held already: the same lock a second time would wait for a writer that waits for this one.
            let taken = resident.map_or(0, Loaded::bytes);
            let resident = match has_passages {
                true => self.resident_passages().follow(snapshot, taken)?,
                false => None,
            };
            let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
            let passages = match has_passages {
                true => Some(Source::of(Indexed::Passages, snapshot, &filter, resident)?),
                false => None,
            };
            let scene = Scene {
                snapshot,
                source: &source,
                passages: passages.as_ref(),
                recall,
                filter: &filter,
                words: &words,
                vector: vector.as_deref().filter(|_| has_vectors),
                has_vectors,
                entities,
                depth,
                now,
            };
            let scored = scene.found(recall.limit)?;
            event!(
                candidates = scored.len(),
                by_index = source.has_index(),
                by_vectors = has_vectors,
                "searched"
            );
            watch.scored(&scene, &scored)?;
            // A question without a word is held against no floor.
            let calibrated = match words.as_slice() {
                [] => None,
                _ => calibrated_floor(embedder, snapshot, recall)?,
            };
            let best = scene.cut(scored, calibrated, watch);
            let plain = match &recall.plain {
                Some(plain) if scene.may_fall_short(&best, plain) => {
                    let k = candidates_for(recall.limit.max(depth));
                    let scored = scene.found_by(plain, k, None)?;
                    scene.cut(scored, calibrated, &mut Unwatched)
                }
                _ => Vec::new(),
            };
            Ok((
                hits(snapshot, &filter, best)?,
                hits(snapshot, &filter, plain)?,
            ))
        })?;
        // After the snapshot: a slow reranker or counter keeps nothing open.
        let mut hits = self.rerank(recall, best, depth, watch)?;
        let mut filling: Vec<String> = Vec::new();
        if !plain.is_empty() && (hits.len() < recall.limit || recall.budget.is_some()) {
            let mut plain = self.rerank(recall, plain, depth, &mut Unwatched)?;
            plain.retain(|hit| hits.iter().all(|other| other.memory.id != hit.memory.id));
            filling.extend(plain.iter().map(|hit| hit.memory.id.clone()));
            hits.extend(plain);
        }
        let mut hits = match &recall.budget {
            Some(budget) => budget.pack(hits, watch),
            None => hits,
        };
        hits.truncate(recall.limit);
        let filled = hits.iter().filter(|hit| filling.contains(&hit.memory.id));
        watch.filled(filled.count());
        event!(hits = hits.len(), "recalled");
        Ok(hits)
    }
}

/// Whether the vector leg can answer: it has a weight, the handle a model, and the file vectors of its space.
pub(crate) fn can_compare(
    embedder: Option<&dyn Embedder>,
    snapshot: &Snapshot<'_>,
    preset: &Preset,
) -> Result<bool> {
    match embedder {
        Some(embedder) if preset.vector_weight > 0.0 => space_of(snapshot, embedder),
        _ => Ok(false),
    }
}

/// The part of a question that is embedded: all of it, unless somebody asks by a whole book.
pub(crate) fn beginning(query: &str) -> &str {
    query
        .get(..query.floor_char_boundary(MAX_QUERY_BYTES))
        .unwrap_or(query)
}

/// A candidate with its score, before its text is read.
#[derive(Debug)]
pub(crate) struct Scored {
    row: RowKey,
    score: f64,
    relevance: f64,
    signals: Signals,
    /// Of a document: its best ones, best first.
    passages: Vec<Self>,
}

impl Scored {
    fn key(&self) -> HitKey<'_> {
        HitKey {
            score: self.score,
            created_micros: self.row.created_at.as_micros(),
            id: self.row.id.as_bytes(),
        }
    }
}

/// The legs of one search.
type Legs = Vec<Box<dyn Leg>>;

impl Scene<'_> {
    /// All candidates for a limit of so many, scored, in no order.
    fn scored(&self, limit: usize) -> Result<Vec<Scored>> {
        let k = self.candidates(limit);
        let plan = self.recall.plan.as_ref();
        Ok(self.searched(&self.recall.manner(), k, plan)?.0)
    }

    /// The same for the limit that was asked for, and what links lead to from the best of them.
    fn found(&self, limit: usize) -> Result<Vec<Scored>> {
        let k = self.candidates(limit);
        self.found_by(&self.recall.manner(), k, self.recall.plan.as_ref())
    }

    /// The candidates found in a manner, and what links lead to from the best of them.
    fn found_by(&self, manner: &Manner, k: usize, plan: Option<&Plan>) -> Result<Vec<Scored>> {
        match &manner.expand {
            Some(expand) => expand::scored(self, expand, manner, k, plan),
            None => Ok(self.searched(manner, k, plan)?.0),
        }
    }

    /// The `k` best of each leg that has a weight, scored, in no order, with the legs that found them.
    fn searched(
        &self,
        manner: &Manner,
        k: usize,
        plan: Option<&Plan>,
    ) -> Result<(Vec<Scored>, Legs)> {
        let preset = &manner.preset;
        let vector = self.vector.filter(|_| preset.vector_weight > 0.0);
        let vector = vector.map(<[f32]>::to_vec);
        let mut legs = search(self.source, preset, self.words, vector, k)?;
        let weight = manner.entity_weight;
        if weight > 0.0
            && !self.words.is_empty()
            && let Some(leg) = EntityLeg::search(self.source, self.entities, weight, k)?
        {
            legs.push(Box::new(leg));
        }
        let mut found = united(&legs);
        found.extend(self.by_phrase(k)?);
        let passages = match self.passages {
            Some(source) => self.passages_of(source, preset, k, &found)?,
            None => ByDocument::new(),
        };
        // A document of which a passage was found is a candidate.
        found.extend(passages.keys());
        found.sort_unstable();
        found.dedup();
        let mut scored = score(
            self.snapshot,
            self.source,
            preset,
            &mut legs,
            self.now,
            found,
        )?;
        self.unite(&mut scored, passages, manner);
        if let Some(plan) = plan {
            self.raise(plan, &mut scored)?;
        }
        Ok((scored, legs))
    }

    /// The newest `k` that pass by their phrases, whatever a leg finds: one may lie over two passages of a document, none of
    /// which passes.
    fn by_phrase(&self, k: usize) -> Result<Vec<i64>> {
        let Some(phrase) = self
            .filter
            .phrases
            .first()
            .filter(|_| self.passages.is_some())
        else {
            return Ok(Vec::new());
        };
        let mut held = Vec::new();
        self.snapshot
            .with_phrase_in(Indexed::Memories, phrase, |seq| held.push(seq))?;
        let passing = self.snapshot.passing(&held, self.filter)?;
        let mut rows = self.snapshot.keys(&passing)?;
        rows.sort_by(|a, b| {
            b.created_at
                .cmp(&a.created_at)
                .then_with(|| a.id.cmp(&b.id))
        });
        Ok(rows.into_iter().take(k).map(|row| row.seq).collect())
    }

    /// Raises the scores of the kinds that a plan prefers. The relevance, which floors are held against, stays.
    fn raise(&self, plan: &Plan, scored: &mut [Scored]) -> Result<()> {
        if plan.kinds.is_empty() || plan.raise <= 0.0 {
            return Ok(());
        }
        let seqs: Vec<i64> = scored.iter().map(|hit| hit.row.seq).collect();
        let kinds = self.snapshot.kinds(&seqs)?;
        for (hit, kind) in scored.iter_mut().zip(kinds) {
            if plan.kinds.contains(&kind) {
                hit.signals.raised = plan.raise;
                hit.score = raised(hit.score, plan.raise);
            }
        }
        Ok(())
    }

    /// How many candidates each leg gives for a limit.
    fn candidates(&self, limit: usize) -> usize {
        let limit = limit.max(self.depth);
        let planned = self.recall.plan.as_ref().and_then(|plan| plan.candidates);
        planned.map_or_else(|| candidates_for(limit), |candidates| candidates.max(limit))
    }

    /// What the floors and the limit leave of candidates, best first. Of those that are to be reranked all, as many as that.
    fn cut(
        &self,
        mut scored: Vec<Scored>,
        calibrated: Option<(f64, f64)>,
        watch: &mut dyn Watch,
    ) -> Vec<Scored> {
        let recall = self.recall;
        scored.sort_by(|a, b| best_first(&a.key(), &b.key()));
        if let Some((floor, percent)) = calibrated {
            scored.retain(|hit| hit.relevance >= floor);
            watch.above_percentile(floor, percent, &scored);
        }
        // The floors that were asked for are held against what a hit is returned with: of those that are to be
        // reranked that is not known yet.
        let rest = scored.split_off(self.depth.min(scored.len()));
        let admitted = rest
            .into_iter()
            .filter(|hit| recall.floors.admits(hit.score, hit.relevance));
        scored.extend(admitted);
        watch.above_floors(&recall.floors, &scored);
        watch.ordered(&scored);
        scored.truncate(recall.limit.saturating_add(self.depth));
        scored
    }

    /// Whether what a plan found may come to fewer hits than the question has without it: a later stage may drop some, or it
    /// is less than the limit, and not found in the same manner.
    fn may_fall_short(&self, best: &[Scored], plain: &Manner) -> bool {
        let recall = self.recall;
        let candidates = recall.plan.as_ref().and_then(|plan| plan.candidates);
        let searches_alike = *plain == recall.manner() && candidates.is_none();
        (best.len() < recall.limit && !searches_alike)
            || recall.budget.is_some()
            || (self.depth > 0 && recall.floors != Floors::NONE)
    }
}

/// A score that is raised by a part of itself, not above 1 (one that is above 1 stays).
pub(crate) fn raised(score: f64, by: f64) -> f64 {
    if by > 0.0 {
        (score * (1.0 + by)).min(score.max(1.0))
    } else {
        score
    }
}

/// How many candidates each leg gives for a limit.
fn candidates_for(limit: usize) -> usize {
    limit.saturating_mul(CANDIDATES_PER_HIT).max(MIN_CANDIDATES)
}

/// The legs that have a weight and something to search by; the `k` best of each are candidates.
fn search(
    source: &Source<'_>,
    preset: &Preset,
    words: &[Token],
    vector: Option<Vec<f32>>,
    k: usize,
) -> Result<Legs> {
    let mut legs = Legs::new();
    if preset.word_weight > 0.0 {
        legs.push(Box::new(WordLeg::search(
            source,
            words,
            preset.formula,
            preset.word_weight,
            k,
        )?));
    }
    if let Some(vector) = vector {
        legs.push(Box::new(VectorLeg::search(
            source,
            vector,
            preset.vector_weight,
            k,
        )?));
    }
    Ok(legs)
}

/// The candidates of the legs, each once.
fn united(legs: &[Box<dyn Leg>]) -> Vec<i64> {
    let mut candidates: Vec<i64> = legs
        .iter()
        .flat_map(|leg| leg.ranked().iter().map(|(seq, _)| *seq))
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates
}

/// Has each leg complete its signals for the candidates, and fuses them.
fn score(
    snapshot: &Snapshot<'_>,
    source: &Source<'_>,
    preset: &Preset,
    legs: &mut [Box<dyn Leg>],
    now: Timestamp,
    candidates: Vec<i64>,
) -> Result<Vec<Scored>> {
    for leg in legs.iter_mut() {
        leg.complete(source, &candidates)?;
    }
    let ranks: Vec<HashMap<i64, usize>> = legs
        .iter()
        .map(|leg| leg.ranked().iter().copied().collect())
        .collect();
    let weights: Vec<f64> = legs.iter().map(|leg| leg.weight()).collect();
    let rows = snapshot.row_keys_in(source.indexed(), &candidates)?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let mut signals = Signals {
                age_days: now.days_since(row.created_at),
                ..Signals::default()
            };
            let ranks: Vec<Option<usize>> = ranks
                .iter()
                .map(|ranks| ranks.get(&row.seq).copied())
                .collect();
            let legs: Vec<f64> = legs
                .iter()
                .zip(&ranks)
                .map(|(leg, rank)| leg.signal(row.seq, *rank, &mut signals))
                .collect();
            let (score, relevance) = fuse(preset, &legs, &ranks, &weights, &mut signals);
            Scored {
                row,
                score,
                relevance,
                signals,
                passages: Vec::new(),
            }
        })
        .collect())
}

/// Score and relevance of one candidate from its signals; fills in the newness.
fn fuse(
    preset: &Preset,
    legs: &[f64],
    ranks: &[Option<usize>],
    weights: &[f64],
    signals: &mut Signals,
) -> (f64, f64) {
    signals.recency = match preset.formula {
        Formula::Rekal => {
            rekal::recency(signals.age_days * rekal::HALF_LIFE_DAYS / preset.half_life_days)
        }
        Formula::Convex | Formula::ReciprocalRank => {
            recency(signals.age_days, preset.half_life_days)
        }
    };
    let share = preset.recency_weight;
    match preset.formula {
        Formula::Convex => {
            let relevance = fusion::weighted_mean(legs, weights);
            let score = fusion::weighted_mean(&[relevance, signals.recency], &[1.0 - share, share]);
            (score, relevance)
        }
        Formula::Rekal => {
            let (word, vector) = (preset.word_weight, preset.vector_weight);
            // Entities, where they were searched, are the last leg.
            let (entity, weight) = match signals.entity {
                Some(entity) => (entity, weights.last().copied().unwrap_or(0.0)),
                None => (0.0, 0.0),
            };
            (
                fusion::weighted_sum(
                    &[signals.word, signals.vector, signals.recency, entity],
                    &[word, vector, share, weight],
                ),
                fusion::weighted_mean(
                    &[signals.word, signals.vector, entity],
                    &[word, vector, weight],
                ),
            )
        }
        Formula::ReciprocalRank => {
            let relevance = fusion::reciprocal_rank(ranks, weights, fusion::RECIPROCAL_RANK_K);
            (relevance + share * signals.recency, relevance)
        }
    }
}

/// Reads the texts of the hits.
fn hits(snapshot: &Snapshot<'_>, filter: &Filter, scored: Vec<Scored>) -> Result<Vec<Hit>> {
    let seqs: Vec<i64> = scored.iter().map(|hit| hit.row.seq).collect();
    let rows = snapshot.rows(&seqs)?;
    let mut hits = Vec::with_capacity(rows.len());
    // One snapshot: every key that was scored still has its row, in the same order.
    for (row, hit) in rows.into_iter().zip(scored) {
        // They were chosen so; looked at once more, as nothing may ever leak from one project into another.
        if !filter.scope.admits(row.project.as_deref()) {
            continue;
        }
        let passages = match hit.passages.is_empty() {
            true => Vec::new(),
            false => passage_hits(snapshot, hit.passages)?,
        };
        hits.push(Hit {
            memory: row.into(),
            score: hit.score,
            relevance: hit.relevance,
            signals: hit.signals,
            passages,
        });
    }
    Ok(hits)
}

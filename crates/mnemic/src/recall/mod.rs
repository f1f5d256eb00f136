//! Recall: embed the question, search each leg on one snapshot, unite and complete, fuse, cut. With a reranker, the cut
//! comes after the snapshot is closed, and the best have been scored once more.

pub(crate) mod budget;
pub(crate) mod explain;
pub(crate) mod hit;
mod leg;
mod passages;
pub(crate) mod preset;
pub(crate) mod request;
mod rerank;
mod source;
mod watch;

use std::collections::HashMap;

use mnemic_embed::Embedder;
use mnemic_rank::{HitKey, best_first, fusion, recency, rekal};
use mnemic_schema::{Filter, Indexed, RowKey, Snapshot, Timestamp, Token, query_words};

use crate::Result;
use crate::calibrate::calibrated_floor;
use crate::embedding;
use crate::memory::{Memory, space_of};
use crate::recall::hit::{Hit, Signals};
use crate::recall::leg::{Leg, VectorLeg, WordLeg};
use crate::recall::passages::{passage_hits, unite};
use crate::recall::preset::{Formula, Preset};
use crate::recall::request::Recall;
use crate::recall::source::Source;
use crate::recall::watch::{Scene, Unwatched, Watch};
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
    /// file throughout. Nothing is written. Equal scores are ordered by time of creation (newest first), then by id, so
    /// that the same question to the same file has the same answer.
    ///
    /// A question without a letter or digit has no hits. Of a very long one the first 64 distinct words and the first
    /// 16 KiB count. Where the file has no vectors, or this handle no model, words alone decide.
    ///
    /// # Errors
    /// `Embedding` where the question could not be embedded, or the reranker failed; `ModelMismatch` where the file's
    /// vectors live in another space than this handle's model; `NotCalibrated` and `InvalidInput` as
    /// [`Recall::min_percentile`] says; `Busy`, `Corrupt`, `Storage`.
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
        let recall: Recall = recall.into();
        if query_words(&recall.query).is_empty() || recall.limit == 0 {
            return Ok(Vec::new());
        }
        self.watched(&recall, &mut Unwatched)
    }

    /// Recalls, stage by stage; `watch` sees what each stage left.
    fn watched(&self, recall: &Recall, watch: &mut dyn Watch) -> Result<Vec<Hit>> {
        self.with_model(|embedder| self.watched_by(embedder, recall, watch))
    }

    /// Recalls by a model, or by words alone.
    fn watched_by(
        &self,
        embedder: Option<&dyn Embedder>,
        recall: &Recall,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Hit>> {
        let words = query_words(&recall.query);
        // Before the snapshot, so that a slow model keeps nothing open.
        let vector = match embedder {
            Some(embedder) if recall.preset.vector_weight > 0.0 && !words.is_empty() => {
                embedding::query(embedder, beginning(&recall.query))?
            }
            _ => None,
        };
        let words = self.tokens(&words)?;
        let now = recall.now.unwrap_or_else(Timestamp::now);
        let depth = self.rerank_depth(recall);
        let mut attempts = 0;
        let best = self.read(|snapshot| {
            attempts += 1;
            if attempts > 1 {
                // The file changed under a lock-free read: what the index learned from it may be wrong.
                self.resident().clear();
                self.resident_passages().clear();
            }
            let has_vectors = !words.is_empty() && can_compare(embedder, snapshot, &recall.preset)?;
            let resident = self.resident().follow(snapshot, 0)?;
            let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
            let filter = recall.filter_now(snapshot, now)?;
            let source = Source::new(snapshot, &filter, resident)?;
            let has_passages = recall.passage_weight > 0.0 && snapshot.has_chunks()?;
            let resident = match has_passages {
                true => self
                    .resident_passages()
                    .follow(snapshot, self.resident().bytes())?,
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
                depth,
                now,
            };
            let mut scored = scene.scored(recall.limit)?;
            event!(
                candidates = scored.len(),
                by_index = source.has_index(),
                by_vectors = has_vectors,
                "searched"
            );
            watch.scored(&scene, &scored)?;
            scored.sort_by(|a, b| best_first(&a.key(), &b.key()));
            // A question without a word is held against no floor.
            let calibrated = match words.as_slice() {
                [] => None,
                _ => calibrated_floor(embedder, snapshot, recall)?,
            };
            if let Some((floor, percent)) = calibrated {
                scored.retain(|hit| hit.relevance >= floor);
                watch.above_percentile(floor, percent, &scored);
            }
            // The floors that were asked for are held against what a hit is returned with: of those that are to be
            // reranked that is not known yet.
            let rest = scored.split_off(depth.min(scored.len()));
            let admitted = rest
                .into_iter()
                .filter(|hit| recall.floors.admits(hit.score, hit.relevance));
            scored.extend(admitted);
            watch.above_floors(&recall.floors, &scored);
            watch.ordered(&scored);
            scored.truncate(recall.limit.saturating_add(depth));
            hits(snapshot, &filter, scored)
        })?;
        // After the snapshot: a slow reranker or counter keeps nothing open.
        let hits = self.rerank(recall, best, depth, watch)?;
        let hits = match &recall.budget {
            Some(budget) => budget.pack(hits, watch),
            None => hits,
        };
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
fn beginning(query: &str) -> &str {
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

impl Scene<'_> {
    /// All candidates for a limit of so many, scored, in no order.
    fn scored(&self, limit: usize) -> Result<Vec<Scored>> {
        let k = candidates_for(limit.max(self.depth));
        let vector = self.vector.map(<[f32]>::to_vec);
        let preset = &self.recall.preset;
        let mut legs = search(self.source, preset, self.words, vector, k)?;
        let Some(source) = self.passages else {
            return score(self.snapshot, self.source, preset, &mut legs, &[], self.now);
        };
        let found = legs
            .iter()
            .flat_map(|leg| leg.ranked().iter().map(|(seq, _)| *seq));
        let found: Vec<i64> = found.collect();
        let passages = self.passages(source, k, &found)?;
        // A document of which a passage was found is a candidate.
        let also: Vec<i64> = passages.keys().copied().collect();
        let mut scored = score(
            self.snapshot,
            self.source,
            preset,
            &mut legs,
            &also,
            self.now,
        )?;
        unite(&mut scored, passages, self.recall);
        Ok(scored)
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
) -> Result<Vec<Box<dyn Leg>>> {
    let mut legs: Vec<Box<dyn Leg>> = Vec::new();
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

/// Unites the candidates of the legs and some more, has each leg complete its signals, and fuses them.
fn score(
    snapshot: &Snapshot<'_>,
    source: &Source<'_>,
    preset: &Preset,
    legs: &mut [Box<dyn Leg>],
    also: &[i64],
    now: Timestamp,
) -> Result<Vec<Scored>> {
    let mut candidates: Vec<i64> = legs
        .iter()
        .flat_map(|leg| leg.ranked().iter().map(|(seq, _)| *seq))
        .chain(also.iter().copied())
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
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
            let signals = [signals.word, signals.vector, signals.recency];
            let weights = [preset.word_weight, preset.vector_weight, share];
            let [word, vector, _] = signals;
            (
                fusion::weighted_sum(&signals, &weights),
                fusion::weighted_mean(&[word, vector], &[preset.word_weight, preset.vector_weight]),
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

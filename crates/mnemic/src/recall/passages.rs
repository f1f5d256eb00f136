//! Passages in recall: searched by the same legs as memories, then counted for their documents. A document is one
//! candidate, however many of its passages match, and carries the best of them.

use std::collections::{BTreeMap, HashSet};

use mnemic_embed::Embedder;
use mnemic_rank::{best_first, document, fusion};
use mnemic_schema::{Filter, Indexed, Snapshot, Timestamp, query_words};

use crate::document::types::Passage;
use crate::memory::Memory;
use crate::recall::hit::PassageHit;
use crate::recall::leg::Leg;
use crate::recall::preset::{Formula, Preset};
use crate::recall::request::{Manner, Recall};
use crate::recall::source::{Ranked, Source};
use crate::recall::watch::Scene;
use crate::recall::{Scored, beginning, can_compare, candidates_for, score, search, united};
use crate::trace::event;
use crate::{Error, Result, embedding};

/// So many passages a document are searched for at once; further ones where that gives too few documents.
const PASSAGES_A_DOCUMENT: usize = 3;

/// Most passages that are scored because their document was found by its card alone; of documents beyond that the card
/// counts alone.
const MOST_COMPLETED: usize = 2_000;

/// The passages of each document that is a candidate, best first.
pub(crate) type ByDocument = BTreeMap<i64, Vec<Scored>>;

impl Memory {
    /// The passages of documents that fit a question best, best first: for an answer that is to be grounded in a place of
    /// a source. Filters are of the document. As [`Memory::recall`] otherwise, but no reranker reads them, entities have
    /// no part in their scores, of a plan only its preset counts, and a limit counts passages: one document may have several.
    ///
    /// # Errors
    /// As [`Memory::recall`]; `InvalidInput` also where the question asks for what only memories have: a percentile as its
    /// floor (files are calibrated for memories), a budget, links to follow ([`Recall::expand`]), or the use to be noted
    /// ([`Recall::touch`]).
    ///
    /// ```
    /// use mnemic::{Chunking, Memory, NewDocument, Recall};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let source = "The pump of the fountain failed.\n\nNobody may feed the geese.\n\nBicycles must be pushed.";
    /// let document = NewDocument::new("Rules of the park").source(source).chunking(Chunking::characters(40, 0));
    /// memory.store_document(document)?;
    ///
    /// let passages = memory.recall_passages(Recall::new("who feeds geese?").limit(1))?;
    /// let passage = &passages[0].passage;
    /// assert_eq!(passage.text, "Nobody may feed the geese.");
    /// assert_eq!(&source[passage.bytes.clone()], passage.text);
    /// assert_eq!(memory.passages_around(passage, 1)?.len(), 3);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn recall_passages(&self, recall: impl Into<Recall>) -> Result<Vec<PassageHit>> {
        let recall: Recall = recall.into();
        let asked = [
            (
                recall.percentile.is_some(),
                "min_percentile is calibrated for memories, not for passages: use min_relevance",
            ),
            (
                recall.budget.is_some(),
                "a budget counts hits of recall, not passages: use a limit",
            ),
            (
                recall.expand.is_some(),
                "links lead to memories, not to passages: expand is for recall",
            ),
            (
                recall.touch,
                "a use is noted of memories, not of passages: call touch with the ids of their documents",
            ),
        ];
        if let Some((_, why)) = asked.iter().find(|(asks, _)| *asks) {
            return Err(Error::invalid(*why));
        }
        let recall = recall.resolved();
        if query_words(&recall.query).is_empty() || recall.limit == 0 {
            return Ok(Vec::new());
        }
        self.with_model(|embedder| self.passages_by(embedder, &recall))
    }

    fn passages_by(
        &self,
        embedder: Option<&dyn Embedder>,
        recall: &Recall,
    ) -> Result<Vec<PassageHit>> {
        let words = query_words(&recall.query);
        let vector = match embedder {
            Some(embedder) if recall.preset.vector_weight > 0.0 => {
                embedding::query(embedder, beginning(&recall.query))?
            }
            _ => None,
        };
        let words = self.tokens(&words)?;
        let now = recall.now.unwrap_or_else(Timestamp::now);
        let mut attempts = 0;
        self.read(|snapshot| {
            attempts += 1;
            if attempts > 1 {
                self.resident_passages().clear();
            }
            if !snapshot.has_chunks()? {
                return Ok(Vec::new());
            }
            let has_vectors = can_compare(embedder, snapshot, &recall.preset)?;
            let filter = recall.filter_now(snapshot, now)?;
            let taken = self.resident().bytes();
            let resident = self.resident_passages().follow(snapshot, taken)?;
            let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
            let source = Source::of(Indexed::Passages, snapshot, &filter, resident)?;
            let vector = vector.clone().filter(|_| has_vectors);
            let k = candidates_for(recall.limit);
            let mut legs = search(&source, &recall.preset, &words, vector, k)?;
            let found = united(&legs);
            let mut scored = score(snapshot, &source, &recall.preset, &mut legs, now, found)?;
            event!(candidates = scored.len(), "passages searched");
            sort(&mut scored);
            scored.retain(|passage| recall.floors.admits(passage.score, passage.relevance));
            scored.truncate(recall.limit);
            passage_hits(snapshot, scored)
        })
    }
}

/// Best first; equal ones of one document in the order in which they were written.
fn sort(scored: &mut [Scored]) {
    scored.sort_by(|a, b| best_first(&a.key(), &b.key()).then(a.row.seq.cmp(&b.row.seq)));
}

impl Scene<'_> {
    /// The passages of the documents that are candidates: those of which a passage is among the best of a leg, so that
    /// each leg gives as many documents as it has candidates among memories, and `found` by their cards.
    pub(crate) fn passages_of(
        &self,
        source: &Source<'_>,
        preset: &Preset,
        k: usize,
        found: &[i64],
    ) -> Result<ByDocument> {
        let wanted = k.saturating_mul(PASSAGES_A_DOCUMENT);
        let vector = self.vector.filter(|_| preset.vector_weight > 0.0);
        let vector = vector.map(<[f32]>::to_vec);
        let mut legs = search(source, preset, self.words, vector, wanted)?;
        self.reach(source, &mut legs, wanted, k)?;
        let keys: Vec<i64> = legs.iter().flat_map(|leg| keys(&**leg)).collect();
        let with_passages: HashSet<i64> = self
            .snapshot
            .documents_of_chunks(&keys)?
            .into_iter()
            .map(|(_, seq)| seq)
            .collect();
        let mut also = Vec::new();
        // A passage without the phrases that were asked for is none, even of a document that has them elsewhere.
        let found = match self.filter.phrases.is_empty() {
            true => found,
            false => &[],
        };
        for seq in found.iter().filter(|seq| !with_passages.contains(seq)) {
            let chunks = self.snapshot.chunk_keys(*seq)?;
            if also.len() + chunks.len() <= MOST_COMPLETED {
                also.extend(chunks);
            }
        }
        also.extend(united(&legs));
        also.sort_unstable();
        also.dedup();
        let scored = score(self.snapshot, source, preset, &mut legs, self.now, also)?;
        let chunks: Vec<i64> = scored.iter().map(|passage| passage.row.seq).collect();
        let documents = self.snapshot.documents_of_chunks(&chunks)?;
        let mut by_document = ByDocument::new();
        // In one snapshot each chunk has its document, in the same order.
        for (passage, (_, seq)) in scored.into_iter().zip(documents) {
            by_document.entry(seq).or_default().push(passage);
        }
        for passages in by_document.values_mut() {
            sort(passages);
        }
        Ok(by_document)
    }

    /// One long document cannot fill a leg: each searches on, in the documents that it has not found yet, until it has
    /// passages of `k` documents, or of all that it can find.
    fn reach(
        &self,
        source: &Source<'_>,
        legs: &mut [Box<dyn Leg>],
        wanted: usize,
        k: usize,
    ) -> Result<()> {
        let mut passing: Option<Vec<(i64, String)>> = None;
        for leg in legs {
            let (mut found, mut found_chunks) = (HashSet::new(), HashSet::new());
            let mut seen = 0;
            loop {
                let new = leg.ranked().get(seen..).unwrap_or_default();
                // Fewer than it was asked for: there are no more.
                if new.len() < wanted {
                    break;
                }
                let new: Vec<i64> = new.iter().map(|(key, _)| *key).collect();
                seen += new.len();
                for (_, seq) in self.snapshot.documents_of_chunks(&new)? {
                    if found.insert(seq) {
                        found_chunks.extend(self.snapshot.chunk_keys(seq)?);
                    }
                }
                if found.len() >= k {
                    break;
                }
                let passing = match &mut passing {
                    Some(passing) => passing,
                    None => passing.insert(self.snapshot.documents_passing(self.filter)?),
                };
                let others = passing.iter().filter(|(seq, _)| !found.contains(seq));
                let others: Vec<String> = others.map(|(_, id)| id.clone()).collect();
                if others.is_empty() {
                    break;
                }
                let filter = Filter {
                    ids: Some(others),
                    ..self.filter.clone()
                };
                leg.search_on(&source.within(&filter)?, &found_chunks, wanted)?;
            }
        }
        Ok(())
    }

    /// Counts the passages of documents for them: the best one raises it, the best few go with it. The entities of a
    /// document are those of its passages, so that what has one of the question is compared with its like.
    pub(crate) fn unite(&self, scored: &mut [Scored], mut passages: ByDocument, manner: &Manner) {
        let preset = &manner.preset;
        for document in scored {
            let Some(mut passages) = passages.remove(&document.row.seq) else {
                continue;
            };
            let best = passages.first().map(|passage| {
                let entities = (document.signals.entity, document.signals.entity_rank);
                self.with_entities(passage.relevance, entities, manner)
            });
            let whole = document.relevance;
            let relevance = document::relevance(whole, best, self.recall.passage_weight);
            if relevance > whole {
                let has_entities = document.signals.entity.is_some();
                let entity_weight = if has_entities {
                    manner.entity_weight
                } else {
                    0.0
                };
                let more = share_of_relevance(preset, entity_weight) * (relevance - whole);
                document.score = (document.score + more).min(f64::MAX);
                document.relevance = relevance;
                document.signals.card = Some(whole);
            }
            document.signals.passage = best;
            passages.truncate(self.recall.passages_a_hit);
            document.passages = passages;
        }
    }

    /// The relevance of a passage with its document's entities, as the document's own is made.
    fn with_entities(
        &self,
        relevance: f64,
        (entity, rank): (Option<f64>, Option<usize>),
        manner: &Manner,
    ) -> f64 {
        let (preset, entity_weight) = (&manner.preset, manner.entity_weight);
        let Some(entity) = entity else {
            return relevance;
        };
        let by_vectors = preset.formula == Formula::Rekal || self.vector.is_some();
        let vector_weight = if by_vectors {
            preset.vector_weight
        } else {
            0.0
        };
        match preset.formula {
            // A mean of means, by weights whose sum may overflow.
            Formula::Convex | Formula::Rekal => fusion::weighted_mean(
                &[relevance, relevance, entity],
                &[preset.word_weight, vector_weight, entity_weight],
            ),
            Formula::ReciprocalRank => {
                let k = fusion::RECIPROCAL_RANK_K;
                relevance + fusion::reciprocal_rank(&[rank], &[entity_weight], k)
            }
        }
    }
}

fn keys(leg: &dyn Leg) -> Vec<i64> {
    leg.ranked().iter().map(|(key, _): &Ranked| *key).collect()
}

/// How much of a score relevance is: what the formula makes of it beside newness.
fn share_of_relevance(preset: &Preset, entity_weight: f64) -> f64 {
    match preset.formula {
        Formula::Convex => 1.0 - preset.recency_weight,
        Formula::Rekal => preset.word_weight + preset.vector_weight + entity_weight,
        Formula::ReciprocalRank => 1.0,
    }
}

/// Reads the texts of passages.
pub(crate) fn passage_hits(
    snapshot: &Snapshot<'_>,
    scored: Vec<Scored>,
) -> Result<Vec<PassageHit>> {
    let keys: Vec<i64> = scored.iter().map(|passage| passage.row.seq).collect();
    let rows = snapshot.chunks(&keys)?;
    let mut titles: BTreeMap<i64, String> = BTreeMap::new();
    let mut hits = Vec::with_capacity(rows.len());
    for (row, passage) in rows.into_iter().zip(scored) {
        let title = match titles.get(&row.seq) {
            Some(title) => title.clone(),
            None => {
                let title = snapshot.title(row.seq)?.unwrap_or_default();
                titles.insert(row.seq, title.clone());
                title
            }
        };
        hits.push(PassageHit {
            passage: Passage::of(row, &passage.row.id, &title),
            score: passage.score,
            relevance: passage.relevance,
            signals: passage.signals,
        });
    }
    Ok(hits)
}

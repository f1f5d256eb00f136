//! The legs of search: each ranks candidates of its own, and gives its signal for the candidates of the others.

use std::collections::HashMap;

use mnemic_rank::{TopK, bm25, rekal, vector};
use mnemic_schema::QueryWord;

use crate::Result;
use crate::recall::hit::Signals;
use crate::recall::preset::Formula;
use crate::recall::source::Source;

/// One way of finding memories. Recall asks each for its candidates, then for its signal on all candidates.
pub(crate) trait Leg {
    /// Its share in the score.
    fn weight(&self) -> f64;

    /// Its own candidates, best first.
    fn ranked(&self) -> &[i64];

    /// Learns its signal for the candidates that other legs found, so that none is taken for 0 unseen.
    fn complete(&mut self, source: &Source<'_>, candidates: &[i64]) -> Result<()>;

    /// Its signal for a candidate, in [0, 1]; what it knows is written into `signals`.
    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64;
}

/// Memories that hold words of the question.
#[derive(Debug)]
pub(crate) struct WordLeg {
    weight: f64,
    ranked: Vec<i64>,
    evidence: HashMap<i64, Evidence>,
}

/// What the words of the question say of one memory.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    /// Summed over the words, higher is better.
    bm25: f64,
    signal: f64,
}

impl WordLeg {
    /// Searches word by word, so that each word's part is known; every match is seen, the best `k` are candidates.
    pub(crate) fn search(
        source: &Source<'_>,
        words: &[QueryWord],
        formula: Formula,
        weight: f64,
        k: usize,
    ) -> Result<Self> {
        let documents = source.documents()?;
        let mut evidence: HashMap<i64, Evidence> = HashMap::new();
        let mut total_idf = 0.0;
        let mut matches: Vec<(i64, f64)> = Vec::new();
        for word in words {
            matches.clear();
            let hits = source.word(word, |seq, fts5_bm25| matches.push((seq, fts5_bm25)))?;
            // How rare the word is, is known once its matches are counted.
            let idf = bm25::smoothed_idf(documents, hits);
            let fts5_idf = bm25::fts5_idf(documents, hits);
            total_idf += idf;
            for (seq, fts5_bm25) in &matches {
                let part = bm25::from_fts5(*fts5_bm25);
                let entry = evidence.entry(*seq).or_default();
                entry.bm25 += part;
                entry.signal += bm25::word_evidence(idf, part / fts5_idf);
            }
        }
        let mut best = TopK::new(k);
        for (&seq, entry) in &mut evidence {
            entry.signal = match formula {
                Formula::Rekal => rekal::word(-entry.bm25),
                Formula::Convex | Formula::ReciprocalRank => {
                    bm25::evidence_share(entry.signal, total_idf)
                }
            };
            best.push(entry.signal, newest_first(seq));
        }
        Ok(Self {
            weight,
            ranked: keys(best),
            evidence,
        })
    }
}

impl Leg for WordLeg {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn ranked(&self) -> &[i64] {
        &self.ranked
    }

    /// Every match was seen: a memory without evidence holds none of the words.
    fn complete(&mut self, _: &Source<'_>, _: &[i64]) -> Result<()> {
        Ok(())
    }

    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64 {
        let evidence = self.evidence.get(&candidate).copied();
        signals.bm25 = evidence.map(|evidence| evidence.bm25);
        signals.word = evidence.map_or(0.0, |evidence| evidence.signal);
        signals.word_rank = rank;
        signals.word
    }
}

/// Memories whose meaning is near the question's.
#[derive(Debug)]
pub(crate) struct VectorLeg {
    weight: f64,
    query: Vec<f32>,
    ranked: Vec<i64>,
    cosines: HashMap<i64, f64>,
}

impl VectorLeg {
    /// Searches for the `k` nearest.
    pub(crate) fn search(
        source: &Source<'_>,
        query: Vec<f32>,
        weight: f64,
        k: usize,
    ) -> Result<Self> {
        let nearest = source.nearest(&query, k)?;
        let mut best = TopK::new(k);
        best.extend(
            nearest
                .iter()
                .map(|(seq, cosine)| (*cosine, newest_first(*seq))),
        );
        let cosines = nearest.into_iter().collect();
        Ok(Self {
            weight,
            query,
            ranked: keys(best),
            cosines,
        })
    }
}

impl Leg for VectorLeg {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn ranked(&self) -> &[i64] {
        &self.ranked
    }

    fn complete(&mut self, source: &Source<'_>, candidates: &[i64]) -> Result<()> {
        let unknown: Vec<i64> = candidates
            .iter()
            .copied()
            .filter(|seq| !self.cosines.contains_key(seq))
            .collect();
        let cosines = source.cosines(&self.query, &unknown)?;
        let known = unknown.into_iter().zip(cosines);
        self.cosines
            .extend(known.filter_map(|(seq, cosine)| Some((seq, cosine?))));
        Ok(())
    }

    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64 {
        signals.cosine = self.cosines.get(&candidate).copied();
        signals.vector = signals.cosine.map_or(0.0, vector::cosine_signal);
        signals.vector_rank = rank;
        signals.vector
    }
}

/// Where equal scores meet the cut, what was stored last stays, as it does among the hits.
fn newest_first(seq: i64) -> i64 {
    -seq
}

fn keys(best: TopK) -> Vec<i64> {
    let best = best.into_sorted_vec();
    best.into_iter().map(|(_, key)| newest_first(key)).collect()
}

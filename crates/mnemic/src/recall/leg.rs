//! The legs of search: each ranks candidates of its own, and gives its signal for the candidates of the others.

use std::collections::{HashMap, HashSet};

use mnemic_rank::{bm25, rekal, vector};
use mnemic_schema::Token;

use crate::Result;
use crate::recall::hit::Signals;
use crate::recall::preset::Formula;
use crate::recall::source::{Ranked, Source};

/// One way of finding memories. Recall asks each for its candidates, then for its signal on all candidates.
pub(crate) trait Leg {
    /// Its share in the score.
    fn weight(&self) -> f64;

    /// Its own candidates with their ranks from 1, best first; equal ones share a rank.
    fn ranked(&self) -> &[Ranked];

    /// Searches for `k` further candidates in a part of what it searched, which has none of those that are `left_out`; they
    /// rank behind those that it has.
    fn search_on(&mut self, part: &Source<'_>, left_out: &HashSet<i64>, k: usize) -> Result<()>;

    /// Learns its signal for the candidates that other legs found, so that none is taken for 0 unseen.
    fn complete(&mut self, source: &Source<'_>, candidates: &[i64]) -> Result<()>;

    /// Its signal for a candidate, in [0, 1]; what it knows is written into `signals`.
    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64;
}

/// Memories that hold words of the question.
#[derive(Debug)]
pub(crate) struct WordLeg {
    weight: f64,
    ranked: Vec<Ranked>,
    /// By key.
    evidence: Vec<(i64, Evidence)>,
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
        words: &[Token],
        formula: Formula,
        weight: f64,
        k: usize,
    ) -> Result<Self> {
        let collection = source.collection()?;
        let mut evidence: Vec<(i64, Evidence)> = Vec::new();
        let mut total_idf = 0.0;
        for word in words {
            let (found, hits) = source.word(word)?;
            let idf = bm25::smoothed_idf(collection.documents, hits);
            let fts5_idf = bm25::fts5_idf(collection.documents, hits);
            total_idf += idf;
            let found = found.iter().map(|found| {
                let part = bm25::term_part(found.count, found.length, collection.average_length);
                let bm25 = fts5_idf * part;
                let signal = bm25::word_evidence(idf, part);
                (found.seq, Evidence { bm25, signal })
            });
            evidence = merged(evidence, found);
        }
        for (_, entry) in &mut evidence {
            entry.signal = match formula {
                Formula::Rekal => rekal::word(-entry.bm25),
                Formula::Convex | Formula::ReciprocalRank => {
                    bm25::evidence_share(entry.signal, total_idf)
                }
            };
        }
        let scored = evidence.iter().map(|(seq, entry)| (*seq, entry.signal));
        Ok(Self {
            weight,
            ranked: source.best(scored, k)?,
            evidence,
        })
    }
}

/// Adds candidates that come after those that are there.
fn rank_behind(ranked: &mut Vec<Ranked>, further: Vec<Ranked>) {
    let before = ranked.len();
    ranked.extend(further.into_iter().map(|(seq, rank)| (seq, before + rank)));
}

/// Adds the evidence of one more word; both sides, and what comes of them, are ordered by key.
fn merged(
    known: Vec<(i64, Evidence)>,
    found: impl Iterator<Item = (i64, Evidence)>,
) -> Vec<(i64, Evidence)> {
    let mut all = Vec::with_capacity(known.len());
    let mut known = known.into_iter().peekable();
    for (seq, new) in found {
        while let Some(before) = known.next_if(|(other, _)| *other < seq) {
            all.push(before);
        }
        let old = known.next_if(|(other, _)| *other == seq);
        let old = old.map_or_else(Evidence::default, |(_, evidence)| evidence);
        let bm25 = old.bm25 + new.bm25;
        let signal = old.signal + new.signal;
        all.push((seq, Evidence { bm25, signal }));
    }
    all.extend(known);
    all
}

impl Leg for WordLeg {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn ranked(&self) -> &[Ranked] {
        &self.ranked
    }

    fn search_on(&mut self, part: &Source<'_>, left_out: &HashSet<i64>, k: usize) -> Result<()> {
        let scored = self
            .evidence
            .iter()
            .map(|(seq, entry)| (*seq, entry.signal));
        let further = part.best(scored.filter(|(seq, _)| !left_out.contains(seq)), k)?;
        rank_behind(&mut self.ranked, further);
        Ok(())
    }

    /// Every match was seen: a memory without evidence holds none of the words.
    fn complete(&mut self, _: &Source<'_>, _: &[i64]) -> Result<()> {
        Ok(())
    }

    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64 {
        let place = self
            .evidence
            .binary_search_by_key(&candidate, |(seq, _)| *seq);
        let evidence = place.ok().and_then(|place| self.evidence.get(place));
        let evidence = evidence.map(|(_, evidence)| *evidence);
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
    ranked: Vec<Ranked>,
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
        let ranked = source.best(nearest.iter().copied(), k)?;
        let cosines = nearest.into_iter().collect();
        Ok(Self {
            weight,
            query,
            ranked,
            cosines,
        })
    }
}

impl Leg for VectorLeg {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn ranked(&self) -> &[Ranked] {
        &self.ranked
    }

    fn search_on(&mut self, part: &Source<'_>, _: &HashSet<i64>, k: usize) -> Result<()> {
        let nearest = part.nearest(&self.query, k)?;
        let further = part.best(nearest.iter().copied(), k)?;
        rank_behind(&mut self.ranked, further);
        self.cosines.extend(nearest);
        Ok(())
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

//! The leg of entities: memories that have what the question names. It finds no names in a text, and searches nothing where
//! no memory of the scope has any of those asked for.

use std::collections::{BTreeMap, HashSet};

use mnemic_rank::bm25;

use crate::Result;
use crate::recall::hit::Signals;
use crate::recall::leg::Leg;
use crate::recall::source::{Ranked, Source};

/// Memories that have entities of the question.
#[derive(Debug)]
pub(crate) struct EntityLeg {
    weight: f64,
    ranked: Vec<Ranked>,
    /// By key; who is not here has none.
    signals: BTreeMap<i64, f64>,
}

impl EntityLeg {
    /// Looks each entity up; every memory is seen, the best `k` are candidates. `None` where no memory of the scope has any.
    ///
    /// The signal is the share of the question's entities that a memory has, each weighed by how rare it is in the scope (the
    /// idf of words). What no memory of the scope has is no part of the whole: whether a question names somebody unknown,
    /// too, says nothing of a memory.
    pub(crate) fn search(
        source: &Source<'_>,
        entities: &[String],
        weight: f64,
        k: usize,
    ) -> Result<Option<Self>> {
        let documents = source.documents()?;
        let mut signals: BTreeMap<i64, f64> = BTreeMap::new();
        let mut total = 0.0;
        for entity in entities {
            let (found, in_scope) = source.entity(entity)?;
            if in_scope == 0 {
                continue;
            }
            let idf = bm25::smoothed_idf(documents, in_scope);
            total += idf;
            for seq in found {
                *signals.entry(seq).or_default() += idf;
            }
        }
        if total == 0.0 {
            return Ok(None);
        }
        for signal in signals.values_mut() {
            *signal = bm25::evidence_share(*signal, total);
        }
        let scored = signals.iter().map(|(seq, signal)| (*seq, *signal));
        Ok(Some(Self {
            weight,
            ranked: source.best(scored, k)?,
            signals,
        }))
    }
}

impl Leg for EntityLeg {
    fn weight(&self) -> f64 {
        self.weight
    }

    fn ranked(&self) -> &[Ranked] {
        &self.ranked
    }

    /// Passages have no entities of their own; of memories every one with any was seen.
    fn search_on(&mut self, _: &Source<'_>, _: &HashSet<i64>, _: usize) -> Result<()> {
        Ok(())
    }

    /// Every memory with any of the entities was seen.
    fn complete(&mut self, _: &Source<'_>, _: &[i64]) -> Result<()> {
        Ok(())
    }

    fn signal(&self, candidate: i64, rank: Option<usize>, signals: &mut Signals) -> f64 {
        let signal = self.signals.get(&candidate).copied().unwrap_or(0.0);
        signals.entity = Some(signal);
        signals.entity_rank = rank;
        signal
    }
}

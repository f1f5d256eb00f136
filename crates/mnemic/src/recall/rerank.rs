//! Reranking: a model that reads question and text together scores the best hits once more. It is called when the
//! snapshot is closed and no lock is held; it searches nothing, and reads nothing from the file.

use std::borrow::Cow;

use mnemic_embed::Reranker;
use mnemic_rank::fusion;

use crate::memory::Memory;
use crate::recall::hit::Hit;
use crate::recall::request::Recall;
use crate::recall::watch::Watch;
use crate::recall::{beginning, raised};
use crate::{Error, ErrorKind, Result};

/// How many of the best are scored once more where the question does not say.
const DEFAULT_DEPTH: usize = 20;

impl Memory {
    /// How many of the best are scored once more: none without a reranker.
    pub(crate) fn rerank_depth(&self, recall: &Recall) -> usize {
        match self.reranker() {
            Some(_) => recall.rerank.unwrap_or(DEFAULT_DEPTH),
            None => 0,
        }
    }

    /// Scores the first `depth` hits once more, orders them by that, and cuts by floors and limit. The others follow as
    /// they are: what was not read never passes what was.
    pub(crate) fn rerank(
        &self,
        recall: &Recall,
        mut hits: Vec<Hit>,
        depth: usize,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Hit>> {
        let rest = hits.split_off(depth.min(hits.len()));
        if let Some(reranker) = self.reranker().filter(|_| !hits.is_empty()) {
            let texts: Vec<Cow<'_, str>> = hits.iter().map(Hit::text).collect();
            let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
            let scores = scores(reranker, beginning(&recall.query), &texts)?;
            for (hit, score) in hits.iter_mut().zip(scores) {
                rescore(hit, f64::from(score), recall.preset.recency_weight);
            }
            watch.reranked(&recall.floors, &hits);
            hits.retain(|hit| recall.floors.admits(hit.score, hit.relevance));
            // Stable: equal ones stay in the order that they had.
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        hits.extend(rest);
        watch.reordered(&hits);
        hits.truncate(recall.limit);
        Ok(hits)
    }
}

/// Puts the reranker's score into a hit. By one formula for every preset, as its scale is one (docs/scoring.md).
fn rescore(hit: &mut Hit, score: f64, recency_weight: f64) {
    hit.relevance = fusion::reranked(score, hit.relevance);
    hit.score = fusion::weighted_mean(
        &[hit.relevance, hit.signals.recency],
        &[1.0 - recency_weight, recency_weight],
    );
    hit.score = raised(hit.score, hit.signals.raised);
    hit.signals.rerank = Some(score);
}

/// The reranker's scores, with the contract enforced: count and range.
fn scores(reranker: &dyn Reranker, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
    let broken = |what: String| {
        let id = &reranker.model().id;
        let message = format!("the reranker {id} broke its contract: {what}");
        Error::new(ErrorKind::Embedding, message)
    };
    let scores = reranker.rerank(query, texts)?;
    if scores.len() != texts.len() {
        let counts = format!("{} scores for {} passages", scores.len(), texts.len());
        return Err(broken(counts));
    }
    match scores.iter().find(|score| !(0.0..=1.0).contains(*score)) {
        Some(score) => Err(broken(format!(
            "a score of {score}, which is not in [0, 1]"
        ))),
        None => Ok(scores),
    }
}

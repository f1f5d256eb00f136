//! Expansion: what links lead to from the best candidates joins them, with a part of their scores. It comes before order,
//! floors and limit, and only where a question asks for it; it lets nothing pass that the filter does not.

use std::collections::HashMap;

use mnemic_rank::{HitKey, best_first};
use mnemic_schema::{Direction, Filter, RowKey, StepRow};

use crate::graph::relation::Link;
use crate::graph::walk::{Follow, follow_verbs};
use crate::planner::Plan;
use crate::recall::hit::Expanded;
use crate::recall::passages::ByDocument;
use crate::recall::request::Manner;
use crate::recall::source::Source;
use crate::recall::watch::Scene;
use crate::recall::{Scored, score};
use crate::{Error, Result};

/// How a recall follows links from what it found: see [`crate::Recall::expand`].
///
/// ```
/// use mnemic::{Expand, RelationKind};
///
/// let near = Expand::new();
/// let reasons = Expand::new().kinds([RelationKind::SUPPORTS, RelationKind::DERIVED_FROM]).causes(true).depth(2).decay(0.7);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "this follows nothing until it is given to Recall::expand"]
pub struct Expand {
    follow: Follow,
    depth: usize,
    decay: f64,
    from_best: usize,
    limit: usize,
}

follow_verbs!(Expand);

impl Default for Expand {
    fn default() -> Self {
        Self {
            follow: Follow::default(),
            depth: 1,
            decay: 0.5,
            from_best: 10,
            limit: 10,
        }
    }
}

impl Expand {
    /// One step from the ten best, along any link either way, for half the score.
    pub fn new() -> Self {
        Self::default()
    }

    /// Within so many steps. Default: 1.
    pub fn depth(mut self, steps: usize) -> Self {
        self.depth = steps;
        self
    }

    /// What is left of the score with each step: in \[0, 1\], anything else is `InvalidInput` when the question is asked.
    /// Default: 0.5.
    pub fn decay(mut self, decay: f64) -> Self {
        self.decay = decay;
        self
    }

    /// From so many of the best. Default: 10.
    pub fn from_best(mut self, hits: usize) -> Self {
        self.from_best = hits;
        self
    }

    /// At most so many memories join that the search had not found, those with the best scores; what it had found may rise
    /// beside them. Default: 10.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Along causal parents alone, and no relations.
    pub fn causes_alone(mut self) -> Self {
        self.follow.causes_alone = true;
        self
    }

    /// Only the way that links lead: from a cause to what it caused.
    pub fn outward(mut self) -> Self {
        self.follow.direction = Direction::Outward;
        self
    }

    /// Only against the way that links lead: from what was caused to its cause.
    pub fn inward(mut self) -> Self {
        self.follow.direction = Direction::Inward;
        self
    }

    fn factor(&self, distance: usize) -> f64 {
        self.decay.powi(i32::try_from(distance).unwrap_or(i32::MAX))
    }
}

/// What a memory has from a link.
struct Gain {
    score: f64,
    relevance: f64,
    from: String,
    distance: usize,
    factor: f64,
    step: StepRow,
}

/// The candidates of the legs, and what links lead to from the best of them; in no order.
pub(super) fn scored(
    scene: &Scene<'_>,
    expand: &Expand,
    manner: &Manner,
    k: usize,
    plan: Option<&Plan>,
) -> Result<Vec<Scored>> {
    if !(0.0..=1.0).contains(&expand.decay) {
        return Err(Error::invalid(format!(
            "a decay of {} was given to Expand: it is the part of a score that is left after a step, in [0, 1]",
            expand.decay
        )));
    }
    let (mut scored, mut legs) = scene.searched(manner, k, plan)?;
    scored.sort_by(|a, b| best_first(&a.key(), &b.key()));
    let mut gains = gains(scene, expand, &scored)?;
    for candidate in &mut scored {
        if let Some(gain) = gains.remove(&candidate.row.seq) {
            raise(candidate, gain);
        }
    }
    let joining: Vec<i64> = joining(scene, expand, &gains)?;
    let passages = match scene.passages {
        Some(source) => passages(scene, source, manner, &joining)?,
        None => ByDocument::new(),
    };
    let mut joined = score(
        scene.snapshot,
        scene.source,
        &manner.preset,
        &mut legs,
        scene.now,
        joining,
    )?;
    scene.unite(&mut joined, passages, manner);
    if let Some(plan) = plan {
        scene.raise(plan, &mut joined)?;
    }
    for mut candidate in joined {
        if let Some(gain) = gains.remove(&candidate.row.seq) {
            raise(&mut candidate, gain);
        }
        scored.push(candidate);
    }
    Ok(scored)
}

/// What the best candidates give to those around them: to each the most that one of them gives, of equal gifts that of the
/// better one.
fn gains(scene: &Scene<'_>, expand: &Expand, ordered: &[Scored]) -> Result<HashMap<i64, Gain>> {
    let mut links = expand.follow.links(&scene.filter.scope);
    links.known = scene.filter.standing.known;
    let mut gains: HashMap<i64, Gain> = HashMap::new();
    for best in ordered.iter().take(expand.from_best) {
        for reached in scene.snapshot.walk(best.row.seq, &links, expand.depth)? {
            let factor = expand.factor(reached.distance);
            let gain = Gain {
                score: factor * best.score,
                relevance: factor * best.relevance,
                from: best.row.id.clone(),
                distance: reached.distance,
                factor,
                step: reached.step,
            };
            // A gift of nothing is none: so nothing joins by a decay of 0, or from what scores 0.
            let known = gains.get(&gain.step.there).map_or(0.0, |known| known.score);
            if gain.score > known {
                gains.insert(gain.step.there, gain);
            }
        }
    }
    Ok(gains)
}

/// The best of those that the legs had not found, as far as they pass the filter.
fn joining(scene: &Scene<'_>, expand: &Expand, gains: &HashMap<i64, Gain>) -> Result<Vec<i64>> {
    let seqs: Vec<i64> = gains.keys().copied().collect();
    let passing = scene.snapshot.passing(&seqs, scene.filter)?;
    let keys: Vec<RowKey> = scene.snapshot.keys(&passing)?;
    let mut joining: Vec<(f64, &RowKey)> = keys
        .iter()
        .filter_map(|row| Some((gains.get(&row.seq)?.score, row)))
        .collect();
    joining.sort_by(|a, b| best_first(&key(a), &key(b)));
    joining.truncate(expand.limit);
    Ok(joining.into_iter().map(|(_, row)| row.seq).collect())
}

fn key<'a>((score, row): &(f64, &'a RowKey)) -> HitKey<'a> {
    HitKey {
        score: *score,
        created_micros: row.created_at.as_micros(),
        id: row.id.as_bytes(),
    }
}

/// The passages of the documents among what joins.
fn passages(
    scene: &Scene<'_>,
    source: &Source<'_>,
    manner: &Manner,
    joining: &[i64],
) -> Result<ByDocument> {
    if joining.is_empty() {
        return Ok(ByDocument::new());
    }
    let filter = Filter {
        ids: Some(scene.snapshot.ids_of(joining)?),
        ..scene.filter.clone()
    };
    let part = source.within(&filter)?;
    scene.passages_of(&part, &manner.preset, joining.len(), joining)
}

/// A score never falls by a link, and rises at most to what the link gives.
fn raise(candidate: &mut Scored, gain: Gain) {
    if gain.score <= candidate.score {
        return;
    }
    candidate.score = gain.score;
    candidate.relevance = candidate.relevance.max(gain.relevance);
    candidate.signals.expanded = Some(Expanded {
        from: gain.from,
        link: Link::of(gain.step.kind),
        outward: gain.step.outward,
        distance: gain.distance,
        factor: gain.factor,
    });
}

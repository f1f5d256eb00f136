//! Fusion: several signals, or several ranks, of one hit made into one score. Legs are entries of a list: two, three or
//! ten are fused by the same functions. It never normalises a signal (see [`crate::bm25`], [`crate::vector`],
//! [`crate::column`]) and never guesses a missing one: it counts as 0 unless the caller completes it.

use crate::number::{finite, finite_sum, non_negative};

/// The usual k of [`reciprocal_rank`], in ranks. Source: Cormack, Clarke and Büttcher 2009.
pub const RECIPROCAL_RANK_K: f64 = 60.0;

/// Σ wᵢ · sᵢ. The weights are not renormalised.
///
/// Any numbers will do, negative weights too. With weights from 0 up that sum to 1 and signals in \[0, 1\] the score is
/// in \[0, 1\], to within rounding. A signal without a weight, or a weight without a signal, counts for nothing; NaN
/// counts as 0. Rises with every signal whose weight is above 0; a factor on all the signals, or all the weights, is
/// one on the sum. Source: rekal's score.
///
/// ```
/// use mnemic_rank::fusion::weighted_sum;
///
/// assert!((weighted_sum(&[0.5, 1.0, 0.25], &[0.4, 0.4, 0.2]) - 0.65).abs() < 1e-12);
/// ```
#[must_use]
pub fn weighted_sum(signals: &[f64], weights: &[f64]) -> f64 {
    finite_sum(pairs(signals, weights).map(|(signal, weight)| signal * weight))
}

/// Σ wᵢ · sᵢ / Σ wᵢ, over the entries that both lists have; 0 where the weights sum to 0 or less.
///
/// With weights from 0 up, the mean is never outside the signals that have a weight above 0, not even by rounding. NaN
/// counts as 0: a missing signal lowers the mean. Rises with every signal whose weight is above 0; a factor on all
/// weights changes nothing. A negative weight is taken as it is. Source: rekal's relevance, which is this over its word
/// and vector signals.
///
/// ```
/// use mnemic_rank::fusion::weighted_mean;
///
/// assert!((weighted_mean(&[0.5, 1.0], &[3.0, 1.0]) - 0.625).abs() < 1e-12);
/// assert_eq!(weighted_mean(&[0.5, 1.0], &[0.0, 0.0]), 0.0);
/// ```
#[must_use]
pub fn weighted_mean(signals: &[f64], weights: &[f64]) -> f64 {
    // Weights are brought near 1 first, so that neither the largest nor the smallest of them overflow.
    let largest = pairs(signals, weights).fold(0.0, |largest: f64, (_, w)| largest.max(w.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let total: f64 = pairs(signals, weights).map(|(_, w)| w / largest).sum();
    if total <= 0.0 {
        return 0.0;
    }
    let mean = finite_sum(pairs(signals, weights).map(|(s, w)| s * (w / largest / total)));
    if pairs(signals, weights).any(|(_, weight)| weight < 0.0) {
        return mean;
    }
    let weighed = || pairs(signals, weights).filter(|(_, weight)| *weight > 0.0);
    let low = weighed().fold(f64::MAX, |low, (signal, _)| low.min(signal));
    let high = weighed().fold(f64::MIN, |high, (signal, _)| high.max(signal));
    mean.max(low).min(high)
}

/// One [`weighted_mean`] a candidate, of columns that are normalised already ([`crate::column`]): entry `i` of the
/// answer fuses entry `i` of every leg.
///
/// `legs` are columns, one a leg, and `weights` one number a leg, from 0 up; a weight that is negative or NaN counts as
/// 0. The answer is as long as the longest leg; where another is shorter, or NaN, its signal counts as 0. Source:
/// Bruch, Gai and Ingber 2023.
///
/// ```
/// use mnemic_rank::{column, fusion};
///
/// let (mut bm25, mut cosine) = ([8.0, 0.0, 4.0], [0.3, 0.9, 0.9]);
/// column::min_max(&mut bm25);
/// column::min_max(&mut cosine);
/// let scores = fusion::convex_combination(&[&bm25, &cosine], &[0.25, 0.75]);
/// assert_eq!(scores, [0.25, 0.75, 0.875]);
/// ```
#[must_use]
pub fn convex_combination(legs: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let weights: Vec<f64> = weights.iter().map(|w| non_negative(*w)).collect();
    let candidates = legs.iter().map(|leg| leg.len()).max().unwrap_or(0);
    let mut signals = Vec::with_capacity(legs.len());
    (0..candidates)
        .map(|candidate| {
            signals.clear();
            signals.extend(legs.iter().map(|leg| leg.get(candidate).unwrap_or(&0.0)));
            weighted_mean(&signals, &weights)
        })
        .collect()
}

/// Reciprocal rank fusion of one hit: Σ wᵢ / (k + rankᵢ), over the legs that found it.
///
/// `ranks` are the hit's places in the legs' lists, from 1 (a 0 is read as 1), `None` where a leg did not find it. `k`
/// is in ranks, usually [`RECIPROCAL_RANK_K`]; the larger, the less the first places stand out. Negative or NaN counts
/// as 0. A weight that is NaN counts as 0. With weights from 0 up the score is at most Σ wᵢ / (k + 1), and rises where
/// a rank gets nearer to 1. Source: Cormack, Clarke and Büttcher 2009 (with all weights 1).
///
/// ```
/// use mnemic_rank::fusion::{RECIPROCAL_RANK_K, reciprocal_rank};
///
/// let score = reciprocal_rank(&[Some(1), None, Some(4)], &[1.0, 1.0, 1.0], RECIPROCAL_RANK_K);
/// assert!((score - (1.0 / 61.0 + 1.0 / 64.0)).abs() < 1e-12);
/// ```
#[must_use]
pub fn reciprocal_rank(ranks: &[Option<usize>], weights: &[f64], k: f64) -> f64 {
    let k = non_negative(k);
    finite_sum(ranks.iter().zip(weights).map(|(rank, weight)| match rank {
        Some(rank) => finite(*weight) / (k + (*rank).max(1) as f64),
        None => 0.0,
    }))
}

/// The reranker's part of [`reranked`], of 1.
pub const RERANK_WEIGHT: f64 = 0.9;

/// The relevance of a hit that was read by a reranker: .9 · its score + .1 · the relevance before.
///
/// With both in \[0, 1\] so is the mean. A lead of more than a ninth in the reranker's score is never overturned; what
/// it holds for about equal is told apart by the relevance before. Source: mnemic's own, not measured
/// (docs/scoring.md).
///
/// ```
/// use mnemic_rank::fusion::reranked;
///
/// assert!((reranked(0.8, 0.3) - 0.75).abs() < 1e-12);
/// assert!(reranked(0.62, 0.0) > reranked(0.5, 1.0));
/// assert!(reranked(0.5, 0.4) > reranked(0.5, 0.3));
/// ```
#[must_use]
pub fn reranked(score: f64, relevance: f64) -> f64 {
    weighted_mean(&[score, relevance], &[RERANK_WEIGHT, 1.0 - RERANK_WEIGHT])
}

/// The signals with their weights, as far as both lists go, all finite.
fn pairs(signals: &[f64], weights: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    signals
        .iter()
        .zip(weights)
        .map(|(signal, weight)| (finite(*signal), finite(*weight)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{any_number, any_numbers, close};
    use proptest::prelude::*;

    /// Any weight from 0 up, infinity too.
    fn any_weight() -> impl Strategy<Value = f64> {
        any_number().prop_map(f64::abs)
    }

    type Legs = Vec<(f64, f64)>;

    /// Signals and weights of everyday size, and the same legs in another order.
    fn legs_in_two_orders() -> impl Strategy<Value = (Legs, Legs)> {
        prop::collection::vec((-3.0..3.0f64, 0.01..5.0f64), 1..8)
            .prop_flat_map(|legs| (Just(legs.clone()), Just(legs).prop_shuffle()))
    }

    #[test]
    fn lists_are_read_as_far_as_both_go() {
        assert_eq!(weighted_sum(&[1.0, 2.0, 4.0], &[1.0, 1.0]), 3.0);
        assert_eq!(weighted_mean(&[1.0], &[1.0, 9.0]), 1.0);
        assert_eq!(reciprocal_rank(&[Some(1), Some(1)], &[1.0], 1.0), 0.5);
        assert_eq!(weighted_sum(&[], &[]), 0.0);
        assert_eq!(weighted_mean(&[], &[]), 0.0);
        assert_eq!(convex_combination(&[], &[1.0]), [0.0; 0]);
        assert_eq!(
            convex_combination(&[&[1.0], &[1.0, 1.0]], &[1.0, 1.0]),
            [1.0, 0.5]
        );
    }

    #[test]
    fn what_is_not_finite_has_a_value() {
        assert_eq!(weighted_sum(&[f64::NAN, 1.0], &[1.0, 0.5]), 0.5);
        assert_eq!(weighted_sum(&[f64::INFINITY], &[0.0]), 0.0);
        assert_eq!(
            weighted_sum(&[f64::INFINITY, f64::NEG_INFINITY], &[2.0, 2.0]),
            0.0
        );
        assert_eq!(weighted_mean(&[f64::NAN, 1.0], &[1.0, 1.0]), 0.5);
        assert_eq!(weighted_mean(&[0.2, 0.6], &[f64::NAN, 1.0]), 0.6);
        assert!(close(
            weighted_mean(&[0.2, 0.6], &[f64::MAX, f64::INFINITY]),
            0.4
        ));
        assert!(close(weighted_mean(&[0.2, 0.6], &[5e-324, 5e-324]), 0.4));
        assert_eq!(reciprocal_rank(&[Some(1)], &[f64::NAN], 60.0), 0.0);
        assert_eq!(
            reciprocal_rank(&[Some(0), Some(2)], &[1.0, 1.0], f64::NAN),
            1.5
        );
        assert_eq!(reciprocal_rank(&[Some(3)], &[1.0], -7.0), 1.0 / 3.0);
        assert_eq!(convex_combination(&[&[0.3], &[0.9]], &[1.0, -1.0]), [0.3]);
    }

    #[test]
    fn negative_weights_are_taken_as_they_are() {
        // (0.5 · 0.8 − 0.1 · 0.5) / 0.4
        assert!(close(weighted_mean(&[0.8, 0.5], &[0.5, -0.1]), 0.875));
        assert_eq!(weighted_mean(&[0.8, 0.5], &[0.5, -0.5]), 0.0);
    }

    proptest! {
        #[test]
        fn nothing_but_finite_numbers_leaves(
            signals in any_numbers(), weights in any_numbers(), k in any_number(),
            ranks in prop::collection::vec(any::<Option<usize>>(), 0..8),
        ) {
            prop_assert!(weighted_sum(&signals, &weights).is_finite());
            prop_assert!(weighted_mean(&signals, &weights).is_finite());
            prop_assert!(reciprocal_rank(&ranks, &weights, k).is_finite());
            for score in convex_combination(&[&signals, &weights, &signals], &weights) {
                prop_assert!(score.is_finite());
            }
        }

        #[test]
        fn a_better_signal_is_a_better_score(
            mut legs in prop::collection::vec((any_number(), any_weight()), 1..8),
            place: prop::sample::Index, other in any_number(),
        ) {
            let unzip = |legs: &[(f64, f64)]| legs.iter().copied().unzip::<_, _, Vec<_>, Vec<_>>();
            let (signals, weights) = unzip(&legs);
            let place = place.index(legs.len());
            let (lower, higher) = if other < legs[place].0 { (other, legs[place].0) } else { (legs[place].0, other) };
            // A NaN on either side is no comparison, but must still be no trouble.
            let comparable = lower <= higher;
            legs[place].0 = higher;
            let (better, _) = unzip(&legs);
            legs[place].0 = lower;
            let (worse, _) = unzip(&legs);
            for fuse in [weighted_sum, weighted_mean] {
                prop_assert!(fuse(&signals, &weights).is_finite());
                prop_assert!(!comparable || fuse(&better, &weights) >= fuse(&worse, &weights));
            }
        }

        #[test]
        fn a_mean_is_among_what_it_is_the_mean_of(
            legs in prop::collection::vec((any_number(), any_weight()), 1..8),
        ) {
            let (signals, weights): (Vec<f64>, Vec<f64>) = legs.into_iter().unzip();
            let mean = weighted_mean(&signals, &weights);
            if weights.iter().any(|weight| *weight > 0.0) {
                let weighed: Vec<f64> = pairs(&signals, &weights).filter(|(_, w)| *w > 0.0).map(|(s, _)| s).collect();
                prop_assert!(weighed.iter().any(|signal| *signal <= mean));
                prop_assert!(weighed.iter().any(|signal| *signal >= mean));
            } else {
                prop_assert_eq!(mean, 0.0);
            }
        }

        #[test]
        fn the_order_of_legs_does_not_matter((legs, shuffled) in legs_in_two_orders()) {
            let (signals, weights): (Vec<f64>, Vec<f64>) = legs.into_iter().unzip();
            let (signals2, weights2): (Vec<f64>, Vec<f64>) = shuffled.into_iter().unzip();
            prop_assert!(close(weighted_sum(&signals, &weights), weighted_sum(&signals2, &weights2)));
            prop_assert!(close(weighted_mean(&signals, &weights), weighted_mean(&signals2, &weights2)));
            let ranks = |signals: &[f64]| -> Vec<Option<usize>> {
                signals.iter().map(|s| (*s > -1.0).then_some((s + 3.0) as usize)).collect()
            };
            prop_assert!(close(
                reciprocal_rank(&ranks(&signals), &weights, 60.0),
                reciprocal_rank(&ranks(&signals2), &weights2, 60.0),
            ));
        }

        #[test]
        fn a_factor_passes_through_a_sum_and_vanishes_in_a_mean(
            (legs, _) in legs_in_two_orders(), power in -30i32..30,
        ) {
            // Powers of two are exact, so that the laws hold to the last bit.
            let factor = 2.0f64.powi(power);
            let (signals, weights): (Vec<f64>, Vec<f64>) = legs.into_iter().unzip();
            let scaled: Vec<f64> = weights.iter().map(|w| w * factor).collect();
            prop_assert_eq!(weighted_sum(&signals, &scaled), weighted_sum(&signals, &weights) * factor);
            prop_assert_eq!(weighted_mean(&signals, &scaled), weighted_mean(&signals, &weights));
            let larger: Vec<f64> = signals.iter().map(|s| s * factor).collect();
            prop_assert_eq!(weighted_mean(&larger, &weights), weighted_mean(&signals, &weights) * factor);
        }

        #[test]
        fn a_nearer_rank_is_a_better_score(
            mut ranks in prop::collection::vec(any::<Option<usize>>(), 1..8),
            place: prop::sample::Index, nearer: usize, k in any_number(),
        ) {
            let weights = vec![1.0; ranks.len()];
            let before = reciprocal_rank(&ranks, &weights, k);
            prop_assert!((0.0..=ranks.len() as f64).contains(&before));
            let place = place.index(ranks.len());
            ranks[place] = Some(ranks[place].map_or(nearer, |rank| rank.min(nearer)));
            prop_assert!(reciprocal_rank(&ranks, &weights, k) >= before);
        }

        #[test]
        fn candidates_are_fused_one_by_one(
            rows in prop::collection::vec((any_number(), any_number(), any_number()), 0..8),
            weights in prop::collection::vec(0.0..10.0f64, 3),
        ) {
            let a: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let b: Vec<f64> = rows.iter().map(|row| row.1).collect();
            let c: Vec<f64> = rows.iter().map(|row| row.2).collect();
            let scores = convex_combination(&[&a, &b, &c], &weights);
            prop_assert_eq!(scores.len(), rows.len());
            for (score, row) in scores.iter().zip(&rows) {
                prop_assert_eq!(*score, weighted_mean(&[row.0, row.1, row.2], &weights));
            }
        }
    }
}

//! rekal's own ranking, to the digit: its word signal, recency, score, relevance and floors. Nothing in it is tuned,
//! and nothing else in this crate depends on it. (Its vector signal is [`crate::vector::cosine_signal`], of a true
//! cosine distance.)

use crate::floor::Floors;
use crate::fusion::{weighted_mean, weighted_sum};
use crate::number::finite;

/// The weights of words, vector and recency in rekal's score. They sum to 1.
pub const WEIGHTS: [f64; 3] = [0.4, 0.4, 0.2];

/// rekal's half-life, in days. Its constant is 0.693 where ln 2 is meant, so that 30 days leave 0.500074.
pub const HALF_LIFE_DAYS: f64 = 30.0;

/// The floors of rekal's tools: a score of at least 0.25, any relevance. (Its library has [`Floors::default`].)
pub const TOOL_FLOORS: Floors = Floors {
    min_score: 0.25,
    min_relevance: 0.0,
};

/// rekal's word signal F of the number that FTS5's `bm25()` gives (lower is better): 0 where it is 0 or above, else 1 /
/// (1 + e^bm25).
///
/// The signal is 0 or in \[½, 1\]: any hit at all gets at least one half. NaN gives 0. Falls as the number rises.
///
/// ```
/// use mnemic_rank::rekal;
///
/// assert!((rekal::word(-2.0) - 0.880_797_077_977_882_3).abs() < 1e-12);
/// assert_eq!(rekal::word(0.0), 0.0);
/// ```
#[must_use]
pub fn word(fts5_bm25: f64) -> f64 {
    if fts5_bm25 < 0.0 {
        1.0 / (1.0 + fts5_bm25.exp())
    } else {
        0.0
    }
}

/// rekal's recency R in \[0, 1\] of an age in days: e^(−0.693 · days / 30).
///
/// Fractions of days count (rekal itself knows whole days only). An age in the future gives 1, NaN gives 0.
///
/// ```
/// use mnemic_rank::rekal;
///
/// assert!((rekal::recency(30.0) - 0.500_073_595_695_767_7).abs() < 1e-12);
/// assert_eq!(rekal::recency(-1.0), 1.0);
/// ```
#[must_use]
pub fn recency(age_days: f64) -> f64 {
    if age_days > 0.0 {
        (-0.693 * age_days / HALF_LIFE_DAYS).exp().clamp(0.0, 1.0)
    } else if age_days <= 0.0 {
        1.0
    } else {
        0.0
    }
}

/// rekal's score in \[0, 1\]: 0.4 · words + 0.4 · vector + 0.2 · recency.
///
/// The signals are in \[0, 1\]; a missing one, or NaN, is 0, and the weights are not renormalised.
///
/// ```
/// use mnemic_rank::rekal;
///
/// let score = rekal::score(rekal::word(-2.0), 0.7, rekal::recency(30.0));
/// assert!((score - 0.732_333_550_330_306_6).abs() < 1e-12);
/// ```
#[must_use]
pub fn score(words: f64, vector: f64, recency: f64) -> f64 {
    weighted_sum(&[words, vector, recency].map(unit), &WEIGHTS).min(1.0)
}

/// rekal's relevance in \[0, 1\], which is its score without the recency: (0.4 · words + 0.4 · vector) / 0.8.
///
/// The signals are in \[0, 1\]; a missing one, or NaN, is 0. For other weights, call [`weighted_mean`].
///
/// ```
/// use mnemic_rank::rekal;
///
/// let relevance = rekal::relevance(rekal::word(-2.0), 0.7);
/// assert!((relevance - 0.790_398_538_988_941_2).abs() < 1e-12);
/// ```
#[must_use]
pub fn relevance(words: f64, vector: f64) -> f64 {
    let [words_weight, vector_weight, _] = WEIGHTS;
    weighted_mean(&[words, vector].map(unit), &[words_weight, vector_weight])
}

fn unit(signal: f64) -> f64 {
    finite(signal).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use crate::vector::{cosine_from_distance, cosine_signal};
    use proptest::prelude::*;

    #[test]
    fn a_hit_computed_by_hand() {
        // bm25 −0.35, cosine distance 0.875, 12.5 days old.
        let words = word(-0.35);
        let vector = cosine_signal(cosine_from_distance(0.875));
        let fresh = recency(12.5);
        assert!((words - 0.586_617_578_917_330_1).abs() < 1e-12);
        assert!((vector - 0.125).abs() < 1e-12);
        assert!((fresh - 0.749_199_481_862_602_1).abs() < 1e-12);
        assert!((score(words, vector, fresh) - 0.434_486_927_939_452_5).abs() < 1e-12);
        assert!((relevance(words, vector) - 0.355_808_789_458_665_06).abs() < 1e-12);
    }

    #[test]
    fn missing_signals_are_not_made_up_for() {
        // Words alone: 0.4 · 0.8807970779778823; the relevance halves it.
        assert!((score(word(-2.0), 0.0, 0.0) - 0.352_318_831_191_152_9).abs() < 1e-12);
        assert!((relevance(word(-2.0), 0.0) - 0.440_398_538_988_941_15).abs() < 1e-12);
        // A fresh memory that matches nothing.
        assert!((score(0.0, 0.0, recency(0.0)) - 0.2).abs() < 1e-12);
        assert_eq!(relevance(0.0, 0.0), 0.0);
    }

    #[test]
    fn what_is_not_finite_has_a_value() {
        assert_eq!(word(f64::NAN), 0.0);
        assert_eq!(word(f64::INFINITY), 0.0);
        assert_eq!(word(f64::NEG_INFINITY), 1.0);
        assert_eq!(recency(f64::NAN), 0.0);
        assert_eq!(recency(f64::INFINITY), 0.0);
        assert_eq!(score(f64::NAN, f64::INFINITY, f64::NEG_INFINITY), 0.4);
        assert_eq!(relevance(f64::NAN, 1.0), 0.5);
    }

    proptest! {
        #[test]
        fn everything_stays_in_range_and_in_order(
            x in any_number(), y in any_number(), v in any_number(), r in any_number(),
        ) {
            for signal in [word(x), recency(x), score(x, v, r), relevance(x, v)] {
                prop_assert!((0.0..=1.0).contains(&signal));
            }
            prop_assert!(word(x) == 0.0 || word(x) >= 0.5);
            if x <= y {
                // The exponential of the platform may be off by the last bit.
                prop_assert!(word(x) + f64::EPSILON >= word(y));
                prop_assert!(recency(x) + f64::EPSILON >= recency(y));
                prop_assert!(score(x, v, r) <= score(y, v, r));
                prop_assert!(relevance(v, x) <= relevance(v, y));
            }
        }
    }
}

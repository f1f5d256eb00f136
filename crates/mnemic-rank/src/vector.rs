//! Meaning: the cosine of two embeddings as a signal in \[0, 1\]. It never sees a vector.

use crate::number::finite;

/// A cosine in \[−1, 1\] as a signal in \[0, 1\]: max(0, cosine).
///
/// What points away from the query is as good as unrelated. NaN gives 0; a cosine that rounding took past 1 gives 1.
/// Source: rekal.
///
/// ```
/// use mnemic_rank::vector::cosine_signal;
///
/// assert_eq!(cosine_signal(0.7), 0.7);
/// assert_eq!(cosine_signal(-0.7), 0.0);
/// assert_eq!(cosine_signal(1.000_000_1), 1.0);
/// ```
#[must_use]
pub fn cosine_signal(cosine: f64) -> f64 {
    finite(cosine).clamp(0.0, 1.0)
}

/// The cosine in \[−1, 1\] of a cosine distance in \[0, 2\] (1 − cosine, as sqlite-vec's `distance_metric=cosine` gives it).
///
/// 1 − distance, clamped. NaN gives 0. It is wrong for a Euclidean distance: convert that first.
///
/// ```
/// use mnemic_rank::vector::cosine_from_distance;
///
/// assert_eq!(cosine_from_distance(0.25), 0.75);
/// assert_eq!(cosine_from_distance(1.5), -0.5);
/// assert_eq!(cosine_from_distance(f64::NAN), 0.0);
/// ```
#[must_use]
pub fn cosine_from_distance(distance: f64) -> f64 {
    let cosine = 1.0 - distance;
    if cosine.is_nan() {
        0.0
    } else {
        cosine.clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_finite_has_a_value() {
        assert_eq!(cosine_signal(f64::NAN), 0.0);
        assert_eq!(cosine_signal(f64::INFINITY), 1.0);
        assert_eq!(cosine_from_distance(f64::NAN), 0.0);
        assert_eq!(cosine_from_distance(f64::INFINITY), -1.0);
        assert_eq!(cosine_from_distance(f64::NEG_INFINITY), 1.0);
    }

    proptest! {
        #[test]
        fn signals_stay_in_range_and_in_order(x in any_number(), y in any_number()) {
            prop_assert!((0.0..=1.0).contains(&cosine_signal(x)));
            prop_assert!((-1.0..=1.0).contains(&cosine_from_distance(x)));
            if x <= y {
                prop_assert!(cosine_signal(x) <= cosine_signal(y));
                prop_assert!(cosine_from_distance(x) >= cosine_from_distance(y));
            }
        }

        #[test]
        fn a_signal_is_its_own_signal(x in any_number()) {
            prop_assert_eq!(cosine_signal(cosine_signal(x)), cosine_signal(x));
        }
    }
}

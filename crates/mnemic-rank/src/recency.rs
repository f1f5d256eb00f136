//! Freshness: an age as a signal in \[0, 1\] that halves again and again. It never reads a clock: the caller tells the
//! age.

/// How fresh a memory of some age is, in \[0, 1\]: e^(−ln 2 · age / half-life).
///
/// Both are in days, and fractions count. 1 for an age of 0 or one in the future, ½ after one half-life, ¼ after two. A
/// half-life that is not above 0, or NaN, is the limit of ever shorter ones: everything that has aged at all gives 0.
/// An infinite half-life is the other limit: nothing ages. An age that is NaN is an unknown one and gives 0. Falls with
/// age, rises with the half-life; the same factor on both changes nothing. Source: exponential decay.
///
/// ```
/// use mnemic_rank::recency;
///
/// assert_eq!(recency(0.0, 30.0), 1.0);
/// assert_eq!(recency(30.0, 30.0), 0.5);
/// assert_eq!(recency(-2.0, 30.0), 1.0);
/// assert_eq!(recency(1.0, 0.0), 0.0);
/// ```
#[must_use]
pub fn recency(age_days: f64, half_life_days: f64) -> f64 {
    if age_days.is_nan() {
        0.0
    } else if age_days <= 0.0 || half_life_days == f64::INFINITY {
        1.0
    } else if half_life_days > 0.0 {
        (-age_days / half_life_days).exp2().clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_exponential_of_the_documentation() {
        for (age, half_life) in [(12.5f64, 30.0f64), (1e-3, 7.0), (400.0, 90.0)] {
            let expected = (-std::f64::consts::LN_2 * age / half_life).exp();
            assert!((recency(age, half_life) - expected).abs() < 1e-12);
        }
        // 2^(−12.5/30)
        assert!((recency(12.5, 30.0) - 0.749_153_538_438_340_8).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_sensible_has_a_value() {
        for half_life in [0.0, -0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(recency(5e-324, half_life), 0.0);
            assert_eq!(recency(0.0, half_life), 1.0);
        }
        assert_eq!(recency(f64::NAN, f64::INFINITY), 0.0);
        assert_eq!(recency(f64::INFINITY, f64::MAX), 0.0);
        assert_eq!(recency(f64::INFINITY, f64::INFINITY), 1.0);
        assert_eq!(recency(f64::NEG_INFINITY, 30.0), 1.0);
    }

    proptest! {
        #[test]
        fn it_stays_in_range_and_in_order(
            age in any_number(), older in any_number(), half_life in any_number(), longer in any_number(),
        ) {
            let fresh = recency(age, half_life);
            prop_assert!((0.0..=1.0).contains(&fresh));
            // The exponential of the platform may be off by the last bit.
            if age <= older {
                prop_assert!(recency(older, half_life) <= fresh + f64::EPSILON);
            }
            if half_life <= longer {
                prop_assert!(fresh <= recency(age, longer) + f64::EPSILON);
            }
        }

        #[test]
        fn one_half_life_more_halves_it(age in 0.0..1e4f64, half_life in 1.0..1e3f64) {
            let later = recency(age + half_life, half_life);
            prop_assert!((later - recency(age, half_life) / 2.0).abs() < 1e-12);
        }

        #[test]
        fn the_unit_of_time_does_not_matter(
            age in 1e-9..1e9f64, half_life in 1e-9..1e9f64, power in -30i32..30,
        ) {
            let unit = 2.0f64.powi(power);
            prop_assert_eq!(recency(age * unit, half_life * unit), recency(age, half_life));
        }
    }
}

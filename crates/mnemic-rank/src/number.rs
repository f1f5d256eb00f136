//! What NaN and the infinities count as. Nothing here is public, and no other file decides it anew.

/// NaN becomes 0, an infinity the largest finite number of its sign.
pub(crate) fn finite(x: f64) -> f64 {
    if x.is_nan() {
        0.0
    } else {
        x.clamp(f64::MIN, f64::MAX)
    }
}

/// As [`finite`], with everything below 0 raised to 0.
pub(crate) fn non_negative(x: f64) -> f64 {
    if x > 0.0 { finite(x) } else { 0.0 }
}

/// A score as orders and floors compare it: NaN is the lowest score of all, −0 is 0.
pub(crate) fn comparable(score: f64) -> f64 {
    if score.is_nan() {
        f64::MIN
    } else {
        // Adding 0 turns −0 into 0 and changes nothing else.
        finite(score) + 0.0
    }
}

/// The sum of the terms, each and every partial sum kept finite. Adding in order keeps it monotone in every term.
pub(crate) fn finite_sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| finite(sum + finite(term)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_counts_as_documented() {
        for (x, as_finite, as_non_negative, as_comparable) in [
            (f64::NAN, 0.0, 0.0, f64::MIN),
            (f64::INFINITY, f64::MAX, f64::MAX, f64::MAX),
            (f64::NEG_INFINITY, f64::MIN, 0.0, f64::MIN),
            (-1.5, -1.5, 0.0, -1.5),
            (1.5, 1.5, 1.5, 1.5),
        ] {
            assert_eq!(finite(x), as_finite);
            assert_eq!(non_negative(x), as_non_negative);
            assert_eq!(comparable(x), as_comparable);
        }
        assert!(comparable(-0.0).is_sign_positive());
        assert!(non_negative(-0.0).is_sign_positive());
    }

    #[test]
    fn sums_saturate_instead_of_overflowing() {
        assert_eq!(finite_sum([f64::MAX, f64::MAX].into_iter()), f64::MAX);
        assert_eq!(
            finite_sum([f64::INFINITY, f64::NEG_INFINITY].into_iter()),
            0.0
        );
    }
}

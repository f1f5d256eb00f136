//! A document is found as a whole and by its passages: how the two relevances make one. It never searches, and knows of a
//! passage only how relevant it is.

use crate::number::finite;

/// How far the best passage raises its document where nothing is said: see `docs/documents.md` for how it was chosen.
pub const PASSAGE_WEIGHT: f64 = 1.0;

/// whole + w · max(0, best − whole): a passage raises its document by a share of what it is better, and never lowers it.
///
/// With a weight of 0 a document is as relevant as it is as a whole, with 1 as its best passage where that is better. The
/// relevances may be any numbers (NaN counts as 0); the weight is taken into \[0, 1\], NaN as 0. The answer is never below
/// `whole` nor above the larger of the two, and rises with each of them and with the weight. `None` is a document without
/// passages, or a memory that is none: `whole`, to the bit.
///
/// ```
/// use mnemic_rank::document::relevance;
///
/// assert_eq!(relevance(0.25, Some(0.75), 0.5), 0.5);
/// assert_eq!(relevance(0.25, Some(0.125), 0.5), 0.25);
/// assert_eq!(relevance(0.25, None, 0.5), 0.25);
/// ```
#[must_use]
pub fn relevance(whole: f64, best: Option<f64>, weight: f64) -> f64 {
    let Some(best) = best else { return whole };
    let (whole, best) = (finite(whole), finite(best));
    if best <= whole {
        return whole;
    }
    let weight = finite(weight).clamp(0.0, 1.0);
    // By shares, as a difference of large numbers may overflow; held between the two, which rounding could leave.
    ((1.0 - weight) * whole + weight * best).clamp(whole, best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![4 => 0.0..=1.0f64, 1 => -1e3..1e3f64, 1 => Just(f64::NAN), 1 => Just(1e308)]
    }

    proptest! {
        #[test]
        fn it_lies_between_the_whole_and_the_better(whole in number(), best in number(), weight in number()) {
            let answer = relevance(whole, Some(best), weight);
            let (low, high) = (finite(whole), finite(whole).max(finite(best)));
            prop_assert!(low <= answer && answer <= high, "{answer}");
            prop_assert_eq!(relevance(whole, Some(best), 0.0), low);
            prop_assert_eq!(relevance(whole, Some(best), 1.0), high);
        }

        #[test]
        fn it_rises_with_each(whole in 0.0..=1.0f64, best in 0.0..=1.0f64, weight in 0.0..=1.0f64, more in 0.0..=1.0f64) {
            let answer = relevance(whole, Some(best), weight);
            let nearly = answer - 1e-12;
            prop_assert!(relevance(whole + more, Some(best), weight) >= nearly);
            prop_assert!(relevance(whole, Some(best + more), weight) >= nearly);
            prop_assert!(relevance(whole, Some(best), (weight + more).min(1.0)) >= nearly);
        }
    }

    #[test]
    fn without_passages_nothing_changes() {
        assert_eq!(relevance(0.3, None, 1.0).to_bits(), 0.3f64.to_bits());
        assert!(relevance(f64::NAN, None, 1.0).is_nan());
    }
}

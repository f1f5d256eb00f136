//! Floors: the least score and relevance with which a hit is still returned. They never change a score or an order.

use crate::number::comparable;

/// The least score and the least relevance of a hit, both inclusive. A hit must reach both.
///
/// In the scale of the scores they are held against. The default is 0 and 0, as in rekal's library: it lets every score
/// from 0 up pass, but drops negative ones, such as sums of z-scores have; [`Floors::NONE`] drops nothing.
///
/// ```
/// use mnemic_rank::Floors;
///
/// let floors = Floors { min_score: 0.25, min_relevance: 0.0 };
/// assert!(floors.admits(0.25, 0.0));
/// assert!(!floors.admits(0.2499, 1.0));
/// assert!(Floors::NONE.admits(-3.0, -3.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Floors {
    /// The least score. NaN counts as the lowest number there is, which is no floor.
    pub min_score: f64,
    /// The least relevance, which is the score without what does not depend on the query. NaN is no floor.
    pub min_relevance: f64,
}

impl Floors {
    /// No floor at all: everything is admitted.
    pub const NONE: Self = Self {
        min_score: f64::MIN,
        min_relevance: f64::MIN,
    };

    /// Whether a hit reaches both floors. A score or relevance that is NaN counts as the lowest number there is.
    ///
    /// A hit that is admitted stays so with a higher score or relevance, and with lower floors.
    #[must_use]
    pub fn admits(&self, score: f64, relevance: f64) -> bool {
        comparable(score) >= comparable(self.min_score)
            && comparable(relevance) >= comparable(self.min_relevance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    #[test]
    fn floors_are_inclusive_and_both_count() {
        let floors = Floors {
            min_score: 0.25,
            min_relevance: 0.5,
        };
        assert!(floors.admits(0.25, 0.5));
        assert!(!floors.admits(0.25f64.next_down(), 0.5));
        assert!(!floors.admits(0.25, 0.5f64.next_down()));
        assert!(Floors::default().admits(-0.0, 0.0));
        assert!(!Floors::default().admits(-1e-9, 0.0));
        assert!(!Floors::default().admits(f64::NAN, 1.0));
    }

    proptest! {
        #[test]
        fn no_floor_admits_everything(score in any_number(), relevance in any_number()) {
            prop_assert!(Floors::NONE.admits(score, relevance));
            let unset = Floors { min_score: f64::NAN, min_relevance: f64::NAN };
            prop_assert!(unset.admits(score, relevance));
        }

        #[test]
        fn what_is_better_is_admitted_too(
            min_score in any_number(), min_relevance in any_number(),
            score in any_number(), relevance in any_number(), better in any_number(),
        ) {
            let floors = Floors { min_score, min_relevance };
            if floors.admits(score, relevance) {
                let lower = Floors { min_score: better, min_relevance };
                if better >= score {
                    prop_assert!(floors.admits(better, relevance));
                }
                if better >= relevance {
                    prop_assert!(floors.admits(score, better));
                }
                if better <= min_score {
                    prop_assert!(lower.admits(score, relevance));
                }
            }
        }
    }
}

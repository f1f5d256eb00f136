//! Conflict: how likely two texts speak against each other, by agent-memory's formula. It never sees the texts.

use crate::number::finite;

/// What two texts have in common, and what sets them apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    /// The cosine of their vectors; below 0 counts as 0.
    pub similarity: f64,
    /// How much of their texts is the same, in \[0, 1\]: [`crate::matching_ratio`] of their characters.
    pub text_ratio: f64,
    /// Whether one is negated and the other is not.
    pub polarity_differs: bool,
    /// Whether they speak of a preference.
    pub preference: bool,
}

/// From this score on (inclusive), agent-memory takes two memories for a conflict.
pub const CONFLICT_THRESHOLD: f64 = 0.55;

/// agent-memory's score of a conflict, in \[0, 1\]: min(1, 0.45 · similarity + 0.25 · text ratio + 0.25 if the polarity
/// differs + 0.15 if there is a word of preference).
///
/// Two equal texts score .7, so that the formula alone takes every duplicate for a conflict: look for duplicates first. NaN
/// counts as 0. Source: agent-memory.
///
/// ```
/// use mnemic_rank::{CONFLICT_THRESHOLD, Likeness, conflict};
///
/// let pair = Likeness { similarity: 0.5, text_ratio: 0.4, polarity_differs: true, preference: false };
/// assert!((conflict(pair) - 0.575).abs() < 1e-12);
/// assert!(conflict(Likeness { polarity_differs: false, ..pair }) < CONFLICT_THRESHOLD);
/// ```
#[must_use]
pub fn conflict(pair: Likeness) -> f64 {
    let unit = |x: f64| finite(x).clamp(0.0, 1.0);
    let sum = 0.45 * unit(pair.similarity)
        + 0.25 * unit(pair.text_ratio)
        + if pair.polarity_differs { 0.25 } else { 0.0 }
        + if pair.preference { 0.15 } else { 0.0 };
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    #[test]
    fn the_seeds_formula_by_hand() {
        for (similarity, text_ratio, polarity_differs, preference, expected) in [
            (1.0, 1.0, false, false, 0.7),
            (1.0, 1.0, true, true, 1.0),
            (0.8, 0.9, true, false, 0.835),
            (-0.3, 0.2, false, true, 0.2),
            (f64::NAN, f64::INFINITY, false, false, 0.25),
        ] {
            let found = conflict(Likeness {
                similarity,
                text_ratio,
                polarity_differs,
                preference,
            });
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        // Inclusive.
        let at = Likeness {
            similarity: 2.0 / 3.0,
            text_ratio: 1.0,
            polarity_differs: false,
            preference: false,
        };
        assert!(conflict(at) >= CONFLICT_THRESHOLD);
    }

    proptest! {
        #[test]
        fn it_stays_in_range_and_in_order(
            similarity in any_number(), text_ratio in any_number(), polarity_differs: bool, preference: bool, more in any_number(),
        ) {
            let pair = Likeness { similarity, text_ratio, polarity_differs, preference };
            let score = conflict(pair);
            prop_assert!((0.0..=1.0).contains(&score));
            let (nearer, alike) = (
                conflict(Likeness { similarity: more, ..pair }),
                conflict(Likeness { text_ratio: more, ..pair }),
            );
            prop_assert!(similarity > more || similarity.is_nan() || more.is_nan() || score <= nearer);
            prop_assert!(text_ratio > more || text_ratio.is_nan() || more.is_nan() || score <= alike);
            let (opposed, liked) = (
                conflict(Likeness { polarity_differs: true, ..pair }),
                conflict(Likeness { preference: true, ..pair }),
            );
            prop_assert!(score <= opposed && score <= liked);
        }
    }
}

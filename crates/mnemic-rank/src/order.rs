//! The order of hits: total, documented and the same every time. It never computes a score.

use std::cmp::Ordering;

use crate::number::comparable;

/// What the order of a hit depends on; see [`best_first`].
#[derive(Debug, Clone, Copy)]
pub struct HitKey<'a> {
    /// The score, higher is better. NaN counts as the lowest score there is, an infinity as the largest finite number
    /// of its sign, and −0 as 0.
    pub score: f64,
    /// When the memory was created, in microseconds since 1970-01-01 UTC.
    pub created_micros: i64,
    /// The memory's id, compared byte by byte.
    pub id: &'a [u8],
}

/// Compares two hits, the one to show first being less: higher score first, then the newer one, then the smaller id.
///
/// A total order: whatever the floats, any two hits compare the same way every time, and only hits that agree in all
/// three are equal. So sorting by it does not depend on the order in which candidates were found.
///
/// ```
/// use mnemic_rank::{HitKey, best_first};
///
/// let hit = |score, created_micros, id| HitKey { score, created_micros, id };
/// let mut hits = [hit(0.5, 1, b"b"), hit(0.5, 1, b"a"), hit(0.5, 2, b"c"), hit(0.9, 0, b"d")];
/// hits.sort_by(best_first);
/// assert_eq!(hits.map(|hit| hit.id), [b"d", b"c", b"a", b"b"]);
/// ```
#[must_use]
pub fn best_first(a: &HitKey<'_>, b: &HitKey<'_>) -> Ordering {
    higher_first(a.score, b.score)
        .then_with(|| b.created_micros.cmp(&a.created_micros))
        .then_with(|| a.id.cmp(b.id))
}

/// Compares two scores, the higher being less.
pub(crate) fn higher_first(a: f64, b: f64) -> Ordering {
    comparable(b).total_cmp(&comparable(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    type Hit = (f64, i64, Vec<u8>);

    fn key((score, created_micros, id): &Hit) -> HitKey<'_> {
        HitKey {
            score: *score,
            created_micros: *created_micros,
            id,
        }
    }

    /// Hits with few distinct parts, so that ties are common.
    fn any_hit() -> impl Strategy<Value = Hit> {
        (
            prop_oneof![any_number(), Just(0.5)],
            prop_oneof![any::<i64>(), 0..2i64],
            prop::collection::vec(0..3u8, 0..3),
        )
    }

    #[test]
    fn odd_scores_have_a_place() {
        let scores = [f64::INFINITY, 1.0, 0.0, -1.0, f64::NAN];
        for pair in scores.windows(2) {
            assert_eq!(higher_first(pair[0], pair[1]), Ordering::Less);
        }
        assert_eq!(higher_first(0.0, -0.0), Ordering::Equal);
        assert_eq!(higher_first(f64::NAN, -f64::NAN), Ordering::Equal);
        assert_eq!(higher_first(f64::NAN, f64::NEG_INFINITY), Ordering::Equal);
        assert_eq!(higher_first(f64::MAX, f64::INFINITY), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn it_is_a_total_order(a in any_hit(), b in any_hit(), c in any_hit()) {
            let (a_key, b_key, c_key) = (key(&a), key(&b), key(&c));
            prop_assert_eq!(best_first(&a_key, &a_key), Ordering::Equal);
            prop_assert_eq!(best_first(&a_key, &b_key), best_first(&b_key, &a_key).reverse());
            if best_first(&a_key, &b_key).is_le() && best_first(&b_key, &c_key).is_le() {
                prop_assert!(best_first(&a_key, &c_key).is_le());
            }
            // Equal hits are interchangeable: they agree with each other about every third.
            if best_first(&a_key, &b_key).is_eq() {
                prop_assert_eq!(best_first(&a_key, &c_key), best_first(&b_key, &c_key));
                prop_assert_eq!((a.1, &a.2), (b.1, &b.2));
            }
        }

        #[test]
        fn sorting_does_not_depend_on_where_one_starts(
            (hits, shuffled) in prop::collection::vec(any_hit(), 0..12)
                .prop_flat_map(|hits| (Just(hits.clone()), Just(hits).prop_shuffle())),
        ) {
            let sorted = |hits: &[Hit]| {
                let mut keys: Vec<HitKey<'_>> = hits.iter().map(key).collect();
                keys.sort_unstable_by(best_first);
                keys.iter()
                    .map(|hit| (comparable(hit.score), hit.created_micros, hit.id.to_vec()))
                    .collect::<Vec<_>>()
            };
            prop_assert_eq!(sorted(&hits), sorted(&shuffled));
        }

        #[test]
        fn a_higher_score_comes_first(a in any_hit(), b in any_hit()) {
            if a.0.is_finite() && b.0.is_finite() && a.0 > b.0 {
                prop_assert_eq!(best_first(&key(&a), &key(&b)), Ordering::Less);
            }
        }
    }
}

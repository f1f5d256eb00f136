//! The best k of a stream of scored keys, in memory of k. It never sorts the stream and knows nothing of what the keys
//! stand for.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::number::comparable;
use crate::order::higher_first;

/// Keeps the best `k` of the (score, key) pairs it is given: higher scores first, equal ones by the smaller key.
///
/// What is kept does not depend on the order in which the pairs come. A score that is NaN counts as the lowest finite
/// number, an infinity as the largest of its sign, −0 as 0, and they leave as that. A pair given twice counts twice.
/// O(log k) a pair, O(1) where it is not among the best; memory grows with what is kept, so that `usize::MAX` for "all"
/// is no trouble.
///
/// ```
/// use mnemic_rank::TopK;
///
/// let mut best = TopK::new(2);
/// best.extend([(0.1, 7), (0.9, 8), (0.5, 6), (0.5, 5)]);
/// assert_eq!(best.into_sorted_vec(), [(0.9, 8), (0.5, 5)]);
/// ```
#[derive(Debug, Clone)]
pub struct TopK {
    k: usize,
    /// The worst of what is kept is on top.
    kept: BinaryHeap<Scored>,
}

impl TopK {
    /// An empty selection that will keep `k` pairs at most. Nothing is allocated yet; 0 keeps nothing.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self {
            k,
            kept: BinaryHeap::new(),
        }
    }

    /// Offers a pair: it is kept while it is among the best `k`.
    pub fn push(&mut self, score: f64, key: i64) {
        let offered = Scored {
            score: comparable(score),
            key,
        };
        if self.kept.len() < self.k {
            self.kept.push(offered);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && offered < *worst
        {
            *worst = offered;
        }
    }

    /// The score of the worst pair that is kept, once `k` are: what is below it need not be offered. `None` before.
    ///
    /// ```
    /// use mnemic_rank::TopK;
    ///
    /// let mut best = TopK::new(2);
    /// best.push(0.9, 1);
    /// assert_eq!(best.floor(), None);
    /// best.push(0.5, 2);
    /// assert_eq!(best.floor(), Some(0.5));
    /// assert_eq!(TopK::new(0).floor(), Some(f64::MAX));
    /// ```
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        if self.kept.len() < self.k {
            return None;
        }
        Some(self.kept.peek().map_or(f64::MAX, |worst| worst.score))
    }

    /// How many pairs are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// What is kept, the best first.
    #[must_use]
    pub fn into_sorted_vec(self) -> Vec<(f64, i64)> {
        let sorted = self.kept.into_sorted_vec();
        sorted.into_iter().map(|it| (it.score, it.key)).collect()
    }
}

impl Extend<(f64, i64)> for TopK {
    fn extend<I: IntoIterator<Item = (f64, i64)>>(&mut self, pairs: I) {
        for (score, key) in pairs {
            self.push(score, key);
        }
    }
}

/// A pair that is less where it is better.
#[derive(Debug, Clone, Copy)]
struct Scored {
    score: f64,
    key: i64,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        higher_first(self.score, other.score).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    fn selected(k: usize, pairs: &[(f64, i64)]) -> Vec<(f64, i64)> {
        let mut best = TopK::new(k);
        best.extend(pairs.iter().copied());
        best.into_sorted_vec()
    }

    #[test]
    fn none_and_all_are_sizes_too() {
        let pairs = [(0.5, 2), (f64::NAN, 1), (f64::INFINITY, 3), (0.5, 1)];
        assert_eq!(selected(0, &pairs), []);
        let all = [(f64::MAX, 3), (0.5, 1), (0.5, 2), (f64::MIN, 1)];
        assert_eq!(selected(usize::MAX, &pairs), all);
        let mut one = TopK::new(1);
        assert!(one.is_empty());
        one.extend(pairs);
        assert_eq!(one.len(), 1);
    }

    proptest! {
        #[test]
        fn it_is_sorting_and_cutting(
            pairs in prop::collection::vec((prop_oneof![any_number(), Just(0.5)], -3..3i64), 0..60), k in 0..70usize,
        ) {
            let mut expected: Vec<(f64, i64)> =
                pairs.iter().map(|(score, key)| (comparable(*score), *key)).collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            expected.truncate(k);
            let best = selected(k, &pairs);
            prop_assert!(best.iter().all(|(score, _)| score.is_finite()));
            prop_assert_eq!(best, expected);
        }

        #[test]
        fn the_order_of_the_stream_does_not_matter(
            (pairs, shuffled) in prop::collection::vec((any_number(), 0..5i64), 0..40)
                .prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle())),
            k in 0..10usize,
        ) {
            prop_assert_eq!(selected(k, &pairs), selected(k, &shuffled));
        }
    }
}

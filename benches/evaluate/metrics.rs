//! The measures, over plain lists of hits and scores. Relevance is yes or no; a list has at most ten hits.

/// How good the answer to one query is, or the mean of many.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quality {
    /// Discounted gain of the ten hits, Σ 1 / log₂(rank + 1) over the relevant ones, as a share of the best possible.
    pub ndcg_10: f64,
    /// Share of the relevant memories among the first five hits.
    pub recall_5: f64,
    /// Share of the relevant memories among the ten hits.
    pub recall_10: f64,
    /// 1 / rank of the first relevant hit; 0 where none of the ten is.
    pub mrr_10: f64,
}

impl Quality {
    pub const NAMES: [&str; 4] = ["nDCG@10", "R@5", "R@10", "MRR@10"];

    /// The measures of one answer: which of its hits, best first, are relevant, and how many relevant memories there
    /// are (at least 1).
    pub fn of(hits: &[bool], relevant: usize) -> Self {
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let found: Vec<usize> = (0..hits.len().min(10))
            .filter(|&place| hits[place])
            .collect();
        let best: f64 = (0..relevant.min(10)).map(gain).sum();
        let share = |depth: usize| {
            found.iter().filter(|&&place| place < depth).count() as f64 / relevant as f64
        };
        Self {
            ndcg_10: found.iter().map(|&place| gain(place)).sum::<f64>() / best,
            recall_5: share(5),
            recall_10: share(10),
            mrr_10: found
                .first()
                .map_or(0.0, |&place| 1.0 / (place as f64 + 1.0)),
        }
    }

    /// In the order of [`Quality::NAMES`].
    pub fn values(self) -> [f64; 4] {
        [self.ndcg_10, self.recall_5, self.recall_10, self.mrr_10]
    }

    /// The mean, measure by measure; 0 of none.
    pub fn mean(qualities: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = [0.0; 4];
        let mut count = 0;
        for quality in qualities {
            for (sum, value) in sum.iter_mut().zip(quality.values()) {
                *sum += value;
            }
            count += 1;
        }
        let [ndcg_10, recall_5, recall_10, mrr_10] = sum.map(|sum| sum / f64::from(count.max(1)));
        Self {
            ndcg_10,
            recall_5,
            recall_10,
            mrr_10,
        }
    }
}

/// The area under the ROC curve: how likely a real query scores above a null query, ties counting half.
pub fn auc(real: &[f64], null: &[f64]) -> f64 {
    let wins: f64 = real
        .iter()
        .flat_map(|real| null.iter().map(move |null| (real, null)))
        .map(|(real, null)| match real.total_cmp(null) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        })
        .sum();
    wins / (real.len() * null.len()) as f64
}

/// The share of scores that reach a threshold (equal to it counts).
pub fn reach(scores: &[f64], threshold: f64) -> f64 {
    scores.iter().filter(|score| **score >= threshold).count() as f64 / scores.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn a_perfect_answer_is_all_ones() {
        assert_eq!(Quality::of(&[true, true, false], 2).values(), [1.0; 4]);
        // More relevant memories than places: the gain is still perfect, the recall cannot be.
        let full = Quality::of(&[true; 10], 20);
        assert_eq!(full.values(), [1.0, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn no_relevant_hit_is_all_zeros() {
        assert_eq!(Quality::of(&[false; 10], 3).values(), [0.0; 4]);
        assert_eq!(Quality::of(&[], 1).values(), [0.0; 4]);
    }

    #[test]
    fn places_two_and_seven_of_three_relevant() {
        let mut hits = [false; 10];
        hits[1] = true;
        hits[6] = true;
        let quality = Quality::of(&hits, 3);
        // (1/log2(3) + 1/log2(8)) / (1 + 1/log2(3) + 1/2) = 0.964263 / 2.130930
        assert!((quality.ndcg_10 - 0.452_508).abs() < 1e-6, "{quality:?}");
        assert!(close(quality.recall_5, 1.0 / 3.0));
        assert!(close(quality.recall_10, 2.0 / 3.0));
        assert_eq!(quality.mrr_10, 0.5);
    }

    #[test]
    fn the_tenth_hit_counts_and_the_eleventh_does_not() {
        let mut hits = [false; 11];
        hits[9] = true;
        hits[10] = true;
        let quality = Quality::of(&hits, 1);
        // 1 / log2(11)
        assert!((quality.ndcg_10 - 0.289_064_826).abs() < 1e-9);
        assert_eq!((quality.recall_10, quality.mrr_10), (1.0, 0.1));
    }

    #[test]
    fn a_mean_is_taken_measure_by_measure() {
        let mean = Quality::mean([Quality::of(&[true], 2), Quality::of(&[false, true], 1)]);
        assert_eq!(mean.recall_5, 0.75);
        assert_eq!(mean.mrr_10, 0.75);
        assert_eq!(Quality::mean([]), Quality::default());
    }

    #[test]
    fn auc_counts_pairs() {
        assert_eq!(auc(&[3.0, 4.0], &[1.0, 2.0]), 1.0);
        assert_eq!(auc(&[1.0], &[2.0]), 0.0);
        // Of the six pairs four are won and one is even.
        assert_eq!(auc(&[0.5, 0.9, 0.2], &[0.2, 0.4]), 4.5 / 6.0);
    }

    #[test]
    fn a_score_reaches_its_equal() {
        assert_eq!(reach(&[0.1, 0.3, 0.5, 0.7], 0.3), 0.75);
    }
}

//! How much of two sequences is the same, in the same order. It never knows what the elements are: characters, words,
//! anything that can be compared.

use std::collections::HashMap;
use std::hash::Hash;

/// The share of two sequences that matches, in \[0, 1\]: 2 · M / T, where T is the number of elements of both, and M that
/// of the elements in matching blocks. 1 for two empty sequences.
///
/// The blocks are found by the rule of Ratcliff and Obershelp: the longest run that both have (the first one, of several),
/// then the same to the left and to the right of it. It is the number that Python's `difflib.SequenceMatcher(None, a,
/// b, autojunk=False).ratio()` gives; without `autojunk=False`, Python differs where `b` has 200 elements or more. It is not
/// symmetric. Its time is that of comparing each pair of elements a few times: cut long sequences before.
///
/// ```
/// use mnemic_rank::matching_ratio;
///
/// let chars = |text: &str| text.chars().collect::<Vec<_>>();
/// assert_eq!(matching_ratio(&chars("abcd"), &chars("bcde")), 0.75);
/// assert_eq!(matching_ratio(&["deploys", "freeze"], &["deploys", "never", "freeze"]), 0.8);
/// ```
#[must_use]
pub fn matching_ratio<T: Eq + Hash>(a: &[T], b: &[T]) -> f64 {
    let total = a.len().saturating_add(b.len());
    if total == 0 {
        return 1.0;
    }
    let matched: usize = matching_blocks(a, b).iter().map(|block| block.len).sum();
    2.0 * matched as f64 / total as f64
}

/// A run that two sequences share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// Where it begins in the first.
    pub in_a: usize,
    /// Where it begins in the second.
    pub in_b: usize,
    /// How many elements it has, 1 or more.
    pub len: usize,
}

/// The blocks that [`matching_ratio`] counts, in their order; none overlaps or crosses another.
///
/// ```
/// use mnemic_rank::matching_blocks;
///
/// let blocks = matching_blocks(&["a", "b", "x", "c"], &["a", "b", "c"]);
/// assert_eq!((blocks[0].len, blocks[1].in_a, blocks[1].in_b), (2, 3, 2));
/// ```
#[must_use]
pub fn matching_blocks<T: Eq + Hash>(a: &[T], b: &[T]) -> Vec<Block> {
    let mut places: HashMap<&T, Vec<usize>> = HashMap::new();
    for (j, element) in b.iter().enumerate() {
        places.entry(element).or_default().push(j);
    }
    let places: Vec<&[usize]> = a
        .iter()
        .map(|element| places.get(element).map_or(&[][..], Vec::as_slice))
        .collect();
    let mut blocks = Vec::new();
    let mut open = vec![(0, a.len(), 0, b.len())];
    let mut runs = Runs::new(b.len());
    while let Some((a_from, a_to, b_from, b_to)) = open.pop() {
        let Some(block) = runs.longest(&places, (a_from, a_to), (b_from, b_to)) else {
            continue;
        };
        open.push((a_from, block.in_a, b_from, block.in_b));
        open.push((block.in_a + block.len, a_to, block.in_b + block.len, b_to));
        blocks.push(block);
    }
    blocks.sort_unstable();
    blocks
}

/// For each place of the second sequence, how long the run is that ends there at one place of the first.
struct Runs {
    before: Vec<usize>,
    now: Vec<usize>,
}

impl Runs {
    fn new(len: usize) -> Self {
        Self {
            before: vec![0; len + 1],
            now: vec![0; len + 1],
        }
    }

    /// The longest run within a part of both; the first in the first sequence, then in the second, of equal ones.
    fn longest(
        &mut self,
        places: &[&[usize]],
        (a_from, a_to): (usize, usize),
        (b_from, b_to): (usize, usize),
    ) -> Option<Block> {
        let mut best: Option<Block> = None;
        let mut set: &[usize] = &[];
        for (i, all) in places.iter().enumerate().take(a_to).skip(a_from) {
            let from = all.partition_point(|j| *j < b_from);
            let to = all.partition_point(|j| *j < b_to);
            let within = all.get(from..to).unwrap_or_default();
            for &j in within {
                // Entry j + 1 is of place j, so that the one before the first is there, and 0.
                let len = 1 + self.before.get(j).copied().unwrap_or_default();
                if let Some(entry) = self.now.get_mut(j + 1) {
                    *entry = len;
                }
                if best.is_none_or(|best| len > best.len) {
                    best = Some(Block {
                        in_a: i + 1 - len,
                        in_b: j + 1 - len,
                        len,
                    });
                }
            }
            clear(&mut self.before, set);
            std::mem::swap(&mut self.before, &mut self.now);
            set = within;
        }
        clear(&mut self.before, set);
        best
    }
}

fn clear(row: &mut [usize], places: &[usize]) {
    for j in places {
        if let Some(entry) = row.get_mut(j + 1) {
            *entry = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(a: &str, b: &str) -> f64 {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        matching_ratio(&chars(a), &chars(b))
    }

    /// From Python: difflib.SequenceMatcher(None, a, b, autojunk=False).ratio().
    #[test]
    fn it_is_pythons_number() {
        for (a, b, expected) in [
            ("abcd", "bcde", 0.75),
            ("qabxcd", "abycdf", 0.666_666_666_666_666_6),
            (
                "private Thread currentThread;",
                "private volatile Thread currentThread;",
                0.865_671_641_791_044_7,
            ),
            (
                "the cache TTL is 5 minutes",
                "the cache TTL is 30 minutes",
                0.943_396_226_415_094_4,
            ),
            // Not symmetric.
            ("tide", "diet", 0.25),
            ("diet", "tide", 0.5),
            (
                "缓存时间是五分钟",
                "缓存时间是三十分钟",
                0.823_529_411_764_705_8,
            ),
            ("abcabba", "cbabac", 0.461_538_461_538_461_56),
            ("", "", 1.0),
            ("", "a", 0.0),
        ] {
            assert_eq!(ratio(a, b), expected, "{a:?} {b:?}");
        }
    }

    /// The rule as it is told, without any of the shortcuts.
    fn by_the_rule(a: &[u8], b: &[u8]) -> usize {
        let mut best = (0, 0, 0);
        for i in 0..a.len() {
            for j in 0..b.len() {
                let len = a[i..]
                    .iter()
                    .zip(&b[j..])
                    .take_while(|(x, y)| x == y)
                    .count();
                if len > best.2 {
                    best = (i, j, len);
                }
            }
        }
        let (i, j, len) = best;
        if len == 0 {
            return 0;
        }
        len + by_the_rule(&a[..i], &b[..j]) + by_the_rule(&a[i + len..], &b[j + len..])
    }

    proptest! {
        #[test]
        fn the_blocks_are_those_of_the_rule(
            a in prop::collection::vec(0u8..3, 0..30), b in prop::collection::vec(0u8..3, 0..30),
        ) {
            let blocks = matching_blocks(&a, &b);
            prop_assert_eq!(blocks.iter().map(|block| block.len).sum::<usize>(), by_the_rule(&a, &b));
            let mut ends = (0, 0);
            for block in &blocks {
                prop_assert!(block.len > 0 && block.in_a >= ends.0 && block.in_b >= ends.1);
                ends = (block.in_a + block.len, block.in_b + block.len);
                prop_assert_eq!(&a[block.in_a..ends.0], &b[block.in_b..ends.1]);
            }
            let ratio = matching_ratio(&a, &b);
            prop_assert!((0.0..=1.0).contains(&ratio));
            prop_assert_eq!(ratio == 1.0, a == b);
        }
    }
}

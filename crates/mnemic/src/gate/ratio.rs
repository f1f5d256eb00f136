//! How much of two texts is the same, in a time that does not grow with the square of their lengths.

use std::collections::HashMap;
use std::hash::Hash;

use mnemic_rank::matching_ratio;

/// Up to so many characters each, texts are compared character by character; above, word by word.
const MOST_CHARACTERS: usize = 1_000;

/// Up to so many words each, their order counts; above, only which words there are.
const MOST_WORDS: usize = 1_000;

/// The share of two normal forms that is the same, in \[0, 1\].
///
/// For texts of up to 1,000 characters that is [`matching_ratio`] of their characters; for longer ones that of their words;
/// for those of more than 1,000 words the share of the words that both have, in whatever order. So the time does not grow
/// with the square of the length.
pub(super) fn text_ratio(a: &str, b: &str) -> f64 {
    let short = |text: &str| text.chars().nth(MOST_CHARACTERS).is_none();
    if short(a) && short(b) {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        return matching_ratio(&a, &b);
    }
    let words = |text: &'_ str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let (a, b) = (words(a), words(b));
    if a.len().max(b.len()) <= MOST_WORDS {
        return matching_ratio(&a, &b);
    }
    let total = (a.len() + b.len()) as f64;
    let (left_a, left_b) = left(a, b);
    (total - (left_a.len() + left_b.len()) as f64) / total
}

/// What each of two lists has that the other has not, as often as it has it more often; in order.
pub(super) fn left<T: Eq + Hash + Clone>(a: Vec<T>, b: Vec<T>) -> (Vec<T>, Vec<T>) {
    fn minus<T: Eq + Hash + Clone>(from: &[T], other: &[T]) -> Vec<T> {
        let mut counts: HashMap<&T, usize> = HashMap::new();
        for element in other {
            *counts.entry(element).or_default() += 1;
        }
        let unmatched = from.iter().filter(|element| match counts.get_mut(element) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        unmatched.cloned().collect()
    }
    (minus(&a, &b), minus(&b, &a))
}

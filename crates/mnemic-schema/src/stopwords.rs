//! The very common English words that a question is not searched by. It never drops a word from the index.

/// Whether a lower-case word is so common that its matches tell nothing.
///
/// Pieces of contractions are among them, as the tokenizer cuts `don't` into `don` and `t`.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// English function words, sorted: articles, pronouns, auxiliaries, prepositions, conjunctions and question words, after
/// the list of the Snowball stemmer, with the pieces of contractions. Words that carry meaning in a question (before,
/// after, not, over, own, most) and pieces that are words (won, don) are left in.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "ain", "am", "an", "and", "are", "aren", "as", "at", "be", "because", "been", "being", "but",
    "by", "can", "cannot", "could", "couldn", "d", "did", "didn", "do", "does", "doesn", "doing", "for", "from",
    "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself", "him",
    "himself", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "m", "me",
    "mightn", "mustn", "my", "myself", "needn", "of", "on", "only", "or", "ought", "our", "ours", "ourselves", "re",
    "s", "shan", "she", "should", "shouldn", "so", "some", "such", "t", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too", "until", "ve",
    "very", "was", "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "why",
    "will", "with", "would", "wouldn", "you", "your", "yours", "yourself", "yourselves",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_lower_case() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(
            STOP_WORDS
                .iter()
                .all(|w| w.chars().all(|c| c.is_ascii_lowercase()))
        );
        assert!(is_stop_word("the") && !is_stop_word("deploy"));
    }
}

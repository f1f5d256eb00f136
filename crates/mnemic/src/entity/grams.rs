//! All that might be a name in a text, for looking up which of it is known: runs of a few words, runs of a few characters
//! where a script has no spaces. It judges nothing, and is bounded.

use std::collections::HashSet;

use crate::entity::words::is_unspaced;

/// Words and characters that are looked at, from the beginning.
const MOST_WORDS: usize = 64;
const MOST_CHARACTERS: usize = 64;

/// Longest runs.
const WORDS: usize = 4;
const CHARACTERS: usize = 8;

/// Every run of one to four words and of two to eight characters of a script without spaces, each once, in lower case, in
/// the order of their ends. At most some 700, whatever the text.
pub(crate) fn grams(text: &str) -> Vec<String> {
    let mut grams = Grams::default();
    for chunk in text.split_whitespace() {
        let mut run = String::new();
        for c in chunk.chars() {
            if is_unspaced(c) {
                grams.word(&std::mem::take(&mut run));
                grams.character(c);
            } else {
                grams.characters.clear();
                run.push(c);
            }
        }
        grams.word(&run);
        if grams.words_seen >= MOST_WORDS && grams.characters_seen >= MOST_CHARACTERS {
            break;
        }
    }
    grams.found
}

#[derive(Default)]
struct Grams {
    found: Vec<String>,
    seen: HashSet<String>,
    /// The last few.
    words: Vec<String>,
    characters: Vec<char>,
    words_seen: usize,
    characters_seen: usize,
}

impl Grams {
    /// A stretch between spaces, as it stands and without what is around it.
    fn word(&mut self, chunk: &str) {
        if chunk.is_empty() || self.words_seen >= MOST_WORDS {
            return;
        }
        self.words_seen += 1;
        let lower = chunk.to_lowercase();
        let around = |c: char| !c.is_alphanumeric();
        let lower = lower.trim_end_matches(|c| around(c) && !is_sign(c));
        let genitive = lower
            .strip_suffix("'s")
            .or_else(|| lower.strip_suffix("’s"));
        let lower = genitive.unwrap_or(lower);
        let core = lower.trim_matches(around);
        if core.is_empty() {
            return;
        }
        // `#release`, `@anna`, `C++`: with their signs too.
        let signed = lower.trim_matches(|c| around(c) && !is_sign(c));
        if signed != core {
            self.add(signed.to_owned());
        }
        self.characters.clear();
        self.words.push(core.to_owned());
        if self.words.len() > WORDS {
            self.words.remove(0);
        }
        for from in (0..self.words.len()).rev() {
            let run = self.words.get(from..).map(|words| words.join(" "));
            self.add(run.unwrap_or_default());
        }
    }

    fn character(&mut self, c: char) {
        if self.characters_seen >= MOST_CHARACTERS {
            return;
        }
        self.characters_seen += 1;
        self.words.clear();
        self.characters.push(c);
        if self.characters.len() > CHARACTERS {
            self.characters.remove(0);
        }
        for from in (0..self.characters.len().saturating_sub(1)).rev() {
            let run: String = self.characters.iter().skip(from).collect();
            self.add(run);
        }
    }

    fn add(&mut self, gram: String) {
        if self.seen.insert(gram.clone()) {
            self.found.push(gram);
        }
    }
}

/// What may be part of a name at its ends.
fn is_sign(c: char) -> bool {
    matches!(c, '#' | '@' | '+' | '_' | '/' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_words_and_of_characters() {
        assert_eq!(
            grams("Ask Anna's boss!"),
            [
                "ask",
                "anna",
                "ask anna",
                "boss",
                "anna boss",
                "ask anna boss"
            ]
        );
        assert_eq!(
            grams("東京塔は"),
            ["東京", "京塔", "東京塔", "塔は", "京塔は", "東京塔は"]
        );
        assert_eq!(grams("在KX-204吗"), ["kx-204"]);
        assert_eq!(
            grams("#release C++"),
            ["#release", "release", "c++", "c", "release c"]
        );
        assert_eq!(grams(" … !"), [""; 0]);
    }

    #[test]
    fn a_long_text_is_bounded() {
        let words: String = (0..10_000).map(|i| format!("w{i} ")).collect();
        let characters: String = ('\u{4e00}'..'\u{7e00}').collect();
        assert!(grams(&words).len() <= 4 * MOST_WORDS);
        assert!(grams(&characters).len() <= 7 * MOST_CHARACTERS);
    }
}

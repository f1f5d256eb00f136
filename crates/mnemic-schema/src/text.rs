//! What the word index sees of a text, and which words a question is searched by. It never touches the file.
//!
//! SQLite's `unicode61` tokenizer cuts text at everything that is not a letter, digit or mark. It makes one token of a
//! whole run of Chinese, Japanese or Thai, so that no word inside it can be found. [`index_text`] therefore rewrites
//! such runs as overlapping pairs of characters, and [`query_words`] asks for the same pairs. Text of other scripts is
//! indexed as it stands, so that English pays nothing.

use std::borrow::Cow;
use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::stopwords::is_stop_word;

/// The version of the rules of [`index_text`]. See [`index_text_version`].
const INDEX_TEXT_RULES: u32 = 1;

/// What [`index_text`] depends on: its rules, and the versions of Unicode that it composes and folds by. A file whose word
/// index was made by another version is indexed anew when opened for writing.
#[must_use]
pub fn index_text_version() -> String {
    let (a, b, c) = unicode_normalization::UNICODE_VERSION;
    let (x, y, z) = char::UNICODE_VERSION;
    format!("{INDEX_TEXT_RULES} unicode {a}.{b}.{c} {x}.{y}.{z}")
}

/// Most words of a question that are searched: the first so many, common words not counted.
pub const MAX_QUERY_WORDS: usize = 64;

/// One word of a question, as the word index knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueryWord {
    text: String,
    prefix: bool,
}

impl QueryWord {
    /// A text that is to be cut into words by the word index itself.
    pub(crate) fn whole(text: String) -> Self {
        let prefix = false;
        Self { text, prefix }
    }

    /// The word, lower case: a run of letters, digits and marks, or a pair of characters of a script without spaces.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether every word that begins so is meant: a single character of a script without spaces.
    #[must_use]
    pub fn is_prefix(&self) -> bool {
        self.prefix
    }

    /// The word as an FTS5 expression: always one quoted string, so that no text can be read as an operator.
    pub(crate) fn match_expression(&self) -> String {
        // A word holds no quotes (it is made of letters, digits and marks): doubling is for the reader's peace.
        let quoted = self.text.replace('"', "\"\"");
        if self.prefix {
            format!("\"{quoted}\" *")
        } else {
            format!("\"{quoted}\"")
        }
    }
}

/// The form of a text that is indexed by words: NFKC, without characters that only steer the display, runs of scripts
/// without spaces as pairs of characters followed by the last one alone. ASCII text is itself.
///
/// ```
/// use mnemic_schema::index_text;
///
/// assert_eq!(index_text("ticket KX-204"), "ticket KX-204");
/// assert_eq!(index_text("再試行gen-kx後"), "再試 試行 行 gen-kx 後");
/// assert_eq!(index_text("Ｃafe\u{301}"), "café");
/// ```
#[must_use]
pub fn index_text(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut form = IndexForm::default();
    form.out.reserve(text.len().saturating_mul(5) / 4);
    let mut rest = text;
    while !rest.is_empty() {
        let (plain, other, after) = next_runs(rest);
        form.push_ascii(plain);
        visible(other).for_each(|c| form.push(c));
        rest = after;
    }
    Cow::Owned(form.end())
}

/// Cuts a text into ASCII that stays as it is, what follows until the next ASCII, and the rest. The last ASCII character
/// before another one goes with it, as a mark may join it; a cut before ASCII changes no normal form.
fn next_runs(text: &str) -> (&str, &str, &str) {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().position(|byte| !byte.is_ascii());
    let Some(ascii) = ascii else {
        return (text, "", "");
    };
    let (plain, rest) = text.split_at(ascii.saturating_sub(1));
    let marked = rest.bytes().skip(1).position(|byte| byte.is_ascii());
    let end = marked.map_or(rest.len(), |place| place + 1);
    let (other, after) = rest.split_at(end);
    (plain, other, after)
}

/// An index text as it is written.
#[derive(Default)]
struct IndexForm {
    out: String,
    /// The last character of a run of a script without spaces.
    previous: Option<char>,
}

impl IndexForm {
    fn push_ascii(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_run();
        let start = self.out.len();
        self.out.push_str(text);
        if let Some(added) = self.out.get_mut(start..) {
            added.make_ascii_lowercase();
        }
    }

    fn push(&mut self, c: char) {
        if !is_unspaced(c) {
            self.end_run();
            // Here and for a question alike: SQLite's own folding knows fewer letters.
            self.out.extend(c.to_lowercase());
            return;
        }
        match self.previous {
            Some(before) => self.out.extend([before, c, ' ']),
            None if self.out.ends_with(|last: char| !last.is_whitespace()) => self.out.push(' '),
            None => {}
        }
        self.previous = Some(c);
    }

    fn end_run(&mut self) {
        if let Some(last) = self.previous.take() {
            self.out.extend([last, ' ']);
        }
    }

    fn end(mut self) -> String {
        self.out.extend(self.previous);
        self.out
    }
}

/// The form under which tags are compared: NFC, lower case (Unicode), NFC again.
///
/// ```
/// assert_eq!(mnemic_schema::fold("CAFE\u{301}"), mnemic_schema::fold("café"));
/// ```
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let composed: String = text.nfc().collect();
    composed.to_lowercase().nfc().collect()
}

/// The distinct words a question is searched by, in its order: very common English words are dropped unless nothing
/// else is left, and at most [`MAX_QUERY_WORDS`] are kept. Empty for a text without a letter or digit.
///
/// ```
/// let words = |text| -> Vec<String> {
///     mnemic_schema::query_words(text).iter().map(|word| word.text().to_owned()).collect()
/// };
/// assert_eq!(words("Why do deploys freeze on Fridays?"), ["deploys", "freeze", "fridays"]);
/// assert_eq!(words("to be or to be"), ["to", "be", "or"]);
/// assert_eq!(words("東京塔?"), ["東京", "京塔"]);
/// assert!(words("-!?").is_empty());
/// ```
#[must_use]
pub fn query_words(text: &str) -> Vec<QueryWord> {
    let mut content = Distinct::default();
    let mut common = Distinct::default();
    let mut splitter = Splitter::default();
    for c in visible(text).chain(std::iter::once(' ')) {
        splitter.push(c, &mut |word: QueryWord| {
            let kind = if is_stop_word(&word.text) {
                &mut common
            } else {
                &mut content
            };
            kind.add(word);
        });
        if content.words.len() >= MAX_QUERY_WORDS {
            break;
        }
    }
    if content.words.is_empty() {
        common.words
    } else {
        content.words
    }
}

/// Distinct words in order of first sight, at most [`MAX_QUERY_WORDS`].
#[derive(Default)]
struct Distinct {
    words: Vec<QueryWord>,
    seen: HashSet<QueryWord>,
}

impl Distinct {
    fn add(&mut self, word: QueryWord) {
        if self.words.len() < MAX_QUERY_WORDS && self.seen.insert(word.clone()) {
            self.words.push(word);
        }
    }
}

/// Cuts a stream of characters into words as `unicode61` cuts what [`index_text`] wrote.
#[derive(Default)]
struct Splitter {
    word: String,
    run: usize,
    last: Option<char>,
}

impl Splitter {
    fn push(&mut self, c: char, found: &mut impl FnMut(QueryWord)) {
        if is_unspaced(c) {
            self.end_word(found);
            if let Some(before) = self.last {
                found(QueryWord {
                    text: [before, c].iter().collect(),
                    prefix: false,
                });
            }
            self.run += 1;
            self.last = Some(c);
            return;
        }
        if let Some(only) = self.last.take() {
            // A single character matches the pairs it begins and itself at the end of a run.
            if self.run == 1 {
                found(QueryWord {
                    text: only.to_string(),
                    prefix: true,
                });
            }
            self.run = 0;
        }
        if is_word_character(c) {
            self.word.extend(c.to_lowercase());
        } else {
            self.end_word(found);
        }
    }

    fn end_word(&mut self, found: &mut impl FnMut(QueryWord)) {
        let word = std::mem::take(&mut self.word);
        // Marks alone are no word to ask for.
        if word.chars().any(char::is_alphanumeric) {
            found(QueryWord {
                text: word,
                prefix: false,
            });
        }
    }
}

/// Whether `unicode61`, set to letters, digits and marks, makes words of a character. (The circled and squared letters are
/// letters to Rust, and symbols by their category.)
fn is_word_character(c: char) -> bool {
    (c.is_alphanumeric() || is_combining_mark(c))
        && !matches!(c, '\u{8e2}' | '\u{1f130}'..='\u{1f189}')
}

/// NFKC without the characters that only steer the display (variation selectors, keycap, soft hyphen, joiners of words
/// that `unicode61` would cut).
pub(crate) fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfkc().filter(|c| {
        !matches!(
            c,
            '\u{ad}' | '\u{20e3}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        )
    })
}

/// Whether a character belongs to a script that is written without spaces between words (Korean is one here: its words
/// carry particles, so that pairs find the word inside).
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}'      // Thai
        | '\u{0e81}'..='\u{0ecd}'                              // Lao
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109d}'    // Myanmar
        | '\u{1780}'..='\u{17d3}'                              // Khmer
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}'    // Hangul
        | '\u{3005}'..='\u{3007}'                              // ideographic iteration mark, closing mark, zero
        | '\u{3041}'..='\u{309f}'                              // Hiragana
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Katakana
        | '\u{3105}'..='\u{312f}'                              // Bopomofo
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'                            // Han
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        query_words(text).into_iter().map(|w| w.text).collect()
    }

    proptest! {
        /// ASCII taken in runs comes to what every character alone comes to.
        #[test]
        fn runs_of_ascii_change_nothing(text in "([a-zA-Z0-9 .’“]|é|e\u{301}|\u{301}|東|京|ﬁ|Å|ᄀ|ᅡ|가|\u{ad}|ส|\u{1f600}){0,40}") {
            let mut form = IndexForm::default();
            visible(&text).for_each(|c| form.push(c));
            if !text.is_ascii() {
                prop_assert_eq!(index_text(&text).into_owned(), form.end());
            }
        }
    }

    #[test]
    fn a_question_keeps_its_rare_words() {
        assert_eq!(
            words("What did the user say, that she didn't?"),
            ["user", "say"]
        );
        assert_eq!(words("don't"), ["don"]);
        assert_eq!(words("isn't"), ["isn", "t"]);
        assert_eq!(words("KX-204 KX-204 kx"), ["kx", "204"]);
        assert_eq!(
            words("foo::bar src/a.rs 50% C++"),
            ["foo", "bar", "src", "rs", "50", "c"]
        );
        assert_eq!(words("the the THE"), ["the"]);
        for blank in ["", "   ", "-!?", "…", "\u{0}", "🎉", "\"*()"] {
            assert_eq!(words(blank), Vec::<String>::new(), "{blank:?}");
        }
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        assert_eq!(index_text("夜景"), "夜景 景");
        assert_eq!(index_text("a夜b"), "a 夜 b");
        assert_eq!(index_text("ﾃｽﾄ"), "テス スト ト");
        assert_eq!(words("夜景"), ["夜景"]);
        let single = query_words("夜");
        assert_eq!(single[0].match_expression(), "\"夜\" *");
        assert_eq!(words("再試行gen-kx後"), ["再試", "試行", "gen", "kx", "後"]);
    }

    #[test]
    fn a_long_question_is_bounded() {
        let text: String = (0..10_000).map(|i| format!("word{i} ")).collect();
        assert_eq!(query_words(&text).len(), MAX_QUERY_WORDS);
    }

    proptest! {
        #[test]
        fn a_word_of_a_text_is_a_word_of_its_index_text(text in ".{0,60}") {
            // The words of the rewritten text are those of the text, but for single ends of runs.
            let rewritten: HashSet<String> = words(&index_text(&text)).into_iter().collect();
            for word in query_words(&text) {
                if word.prefix || !word.text.chars().any(is_unspaced) {
                    prop_assert!(rewritten.contains(&word.text) || is_stop_word(&word.text), "{:?} of {:?}", word, text);
                }
            }
        }

        #[test]
        fn expressions_are_one_quoted_string(text in ".{0,60}") {
            for word in query_words(&text) {
                let expression = word.match_expression();
                let quoted = expression.trim_end_matches(" *");
                let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                prop_assert!(inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['"', '\0'])));
            }
        }

        #[test]
        fn folding_twice_is_folding_once(text in ".{0,30}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }
    }
}

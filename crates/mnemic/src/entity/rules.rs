//! The extractor that is built in: rules on capitals, marks and the forms of code. It knows no language but by the short
//! lists of words.rs, and no name that it was not told.

use std::collections::{HashMap, HashSet};

use crate::entity::grams::grams;
use crate::entity::marked::{Marked, marked};
use crate::entity::tokens::{Token, tokens};
use crate::entity::words::{
    is_german, is_never_a_name, is_particle, is_starter, is_title, is_unspaced,
};
use crate::entity::{EntityExtractor, ExtractError};

/// Most entities of one text: the first so many.
const MOST_ENTITIES: usize = 32;

/// More capitals than these in a row are a heading.
const MOST_CAPITALS: usize = 4;

/// Finds entities by rules: small, fast, of no model, and right about what a writer marks or what only code looks like.
///
/// | found | such as |
/// |---|---|
/// | names: runs of capitalised words | `Anna Schmidt`, `Bank of America`, `Борис`, `SQL` |
/// | code: paths, identifiers, codes, versions | `src/a.rs`, `foo::bar`, `snake_case`, `HashMap`, `KX-204`, `v1.2` |
/// | what is quoted, up to four words | `"Blue Harvest"`, `「夜景」`, `《三体》` |
/// | hashtags and mentions, with their sign | `#release`, `@anna` |
/// | Latin words in a text of a script without spaces | `我们用GitHub部署`: `GitHub` |
/// | names it was told, however they are written | `.known(["Anna"])`: `anna` |
///
/// What it cannot do: a single capitalised word at the start of a sentence is no name unless it is repeated or known
/// (`Deploys freeze` begins so too). In a German text, where every noun has a capital, single ones are none at all but
/// after a title. Names of scripts without capitals (Chinese, Arabic, …) are found where they are marked or known. How
/// often it is right is measured in `docs/entities-and-intent.md`.
///
/// It takes time proportional to the length of the text, whatever the text, and finds the first 32.
///
/// ```
/// use mnemic::{EntityExtractor, RuleExtractor};
///
/// let found = RuleExtractor::new().extract(&["Yesterday Anna Schmidt moved KX-204 to src/pay.rs #release"])?;
/// assert_eq!(found[0], ["Anna Schmidt", "KX-204", "src/pay.rs", "#release"]);
/// # Ok::<(), mnemic::ExtractError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RuleExtractor {
    /// By what they are in lower case.
    known: HashMap<String, String>,
}

impl RuleExtractor {
    /// One that knows no names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names that are entities wherever they stand, in whatever case; each is given back in the spelling given here. Of up to
    /// four words, or eight characters of a script without spaces.
    ///
    /// ```
    /// use mnemic::{EntityExtractor, RuleExtractor};
    ///
    /// let extractor = RuleExtractor::new().known(["Anna", "東京塔"]);
    /// assert_eq!(extractor.extract(&["ask anna", "今日は東京塔の夜景を見た"])?, [["Anna"], ["東京塔"]]);
    /// # Ok::<(), mnemic::ExtractError>(())
    /// ```
    #[must_use]
    pub fn known<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(Into::into);
        self.known
            .extend(names.map(|name: String| (name.trim().to_lowercase(), name.trim().to_owned())));
        self.known.remove("");
        self
    }

    /// The entities of one text, in the order in which they first stand in it.
    fn entities(&self, text: &str) -> Vec<String> {
        let marked = marked(text);
        let tokens = tokens(text, &marked);
        let mut found: Vec<(usize, String)> = Vec::new();
        let code = tokens.iter().filter(|token| token.is_code);
        found.extend(code.map(|token| (token.at, token.text.to_owned())));
        if !is_shouted(&tokens) {
            let view = View::of(self, &tokens);
            if is_mostly_unspaced(text) {
                latin(&tokens, &mut found);
            } else {
                view.names(&mut found);
            }
        }
        if !self.known.is_empty() {
            self.find_known(text, &mut found);
        }
        found.extend(
            marked
                .into_iter()
                .map(|Marked { start, name, .. }| (start, name)),
        );
        found.sort_by_key(|(at, _)| *at);
        let mut seen = HashSet::new();
        found
            .into_iter()
            .map(|(_, name)| name)
            .filter(|name| seen.insert(name.to_lowercase()))
            .take(MOST_ENTITIES)
            .collect()
    }

    /// The names that it was told. (They are looked for in the first stretch of a long text only, at the place where they
    /// first stand as a string: near enough for the order.)
    fn find_known(&self, text: &str, found: &mut Vec<(usize, String)>) {
        let lower = text.to_lowercase();
        for gram in grams(text) {
            if let Some(name) = self.known.get(&gram) {
                found.push((lower.find(&gram).unwrap_or(0), name.clone()));
            }
        }
    }
}

impl EntityExtractor for RuleExtractor {
    fn extract(&self, texts: &[&str]) -> Result<Vec<Vec<String>>, ExtractError> {
        Ok(texts.iter().map(|text| self.entities(text)).collect())
    }
}

/// How a word is capitalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Capital {
    None,
    /// The first letter.
    First,
    /// More than that, as in no ordinary word: `SQL`, `GitHub`, `McDonald`.
    Inside,
}

fn capital(word: &str) -> Capital {
    let mut chars = word.chars();
    if !chars.next().is_some_and(char::is_uppercase) {
        return Capital::None;
    }
    let upper = chars.clone().filter(|c| c.is_uppercase()).count();
    // `Jean-Luc` and `O'Brien` are ordinary.
    let joined = chars
        .filter(|c| matches!(c, '-' | '\'' | '’' | '.'))
        .count();
    if upper > joined {
        Capital::Inside
    } else {
        Capital::First
    }
}

/// A word as it is compared: lower case, without an 's at its end.
fn plain(word: &str) -> String {
    without_genitive(word).to_lowercase()
}

fn without_genitive(word: &str) -> &str {
    word.strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word)
}

/// What is known of all words of a text before names are looked for.
struct View<'a, 't> {
    extractor: &'a RuleExtractor,
    tokens: &'a [Token<'t>],
    is_german: bool,
    /// Of words with a capital: how often they stand inside a sentence, and at the start of one.
    inside: HashMap<String, usize>,
    starting: HashMap<String, usize>,
    /// Words with a capital that stand somewhere without one before them.
    heads: HashSet<String>,
    /// Words that stand there in small letters as well.
    small: HashSet<String>,
}

impl<'a, 't> View<'a, 't> {
    fn of(extractor: &'a RuleExtractor, tokens: &'a [Token<'t>]) -> Self {
        let mut view = Self {
            extractor,
            tokens,
            is_german: false,
            inside: HashMap::new(),
            starting: HashMap::new(),
            heads: HashSet::new(),
            small: HashSet::new(),
        };
        let mut before = Capital::None;
        let mut german = HashSet::new();
        for token in tokens.iter().filter(|token| !token.is_code) {
            let word = plain(token.text);
            if is_german(&word) && (token.starts || capital(token.text) == Capital::None) {
                german.insert(word.clone());
            }
            let capital = capital(token.text);
            if capital != Capital::None && (before == Capital::None || !token.follows) {
                view.heads.insert(word.clone());
            }
            before = capital;
            if capital == Capital::None {
                view.small.insert(word);
            } else if token.starts {
                *view.starting.entry(word).or_default() += 1;
            } else {
                *view.inside.entry(word).or_default() += 1;
            }
        }
        view.is_german = german.len() >= 2 || (german.len() == 1 && tokens.len() <= 5);
        view
    }

    /// Adds the names: runs of words with capitals, with small words between them.
    fn names(&self, found: &mut Vec<(usize, String)>) {
        let mut run: Vec<&Token<'t>> = Vec::new();
        // Small words that belong to the run only where a capital follows.
        let mut between: Vec<&Token<'t>> = Vec::new();
        for token in self.tokens {
            let is_name = !token.is_code && capital(token.text) != Capital::None;
            let goes_on = token.follows && !run.is_empty();
            let may_be_between = |token: &Token<'_>| {
                !token.is_code
                    && is_particle(token.text)
                    && !(self.is_german && token.text != "von")
            };
            if is_name && goes_on && !token.starts {
                run.append(&mut between);
                run.push(token);
            } else if goes_on && between.len() < 2 && may_be_between(token) {
                between.push(token);
                continue;
            } else {
                self.end(&run, found);
                run.clear();
                between.clear();
                if is_name {
                    run.push(token);
                }
                continue;
            }
            // `Anna's boss Bob`: the genitive ends a name.
            if without_genitive(token.text) != token.text {
                self.end(&run, found);
                run.clear();
            }
        }
        self.end(&run, found);
    }

    /// Adds the name that a run is, if it is one.
    fn end(&self, run: &[&Token<'t>], found: &mut Vec<(usize, String)>) {
        let mut run = run;
        let mut titled = false;
        let mut starts = false;
        // What only begins a sentence, days and titles are no part of a name.
        while let Some((first, rest)) = run.split_first() {
            let word = plain(first.text);
            let title = is_title(&word);
            let starter = first.starts && is_starter(&word);
            if !(title
                || starter
                || is_never_a_name(&word)
                || word.starts_with("i'")
                || word.starts_with("i’")
                || is_particle(&word))
            {
                starts = first.starts;
                break;
            }
            titled |= title;
            run = rest;
        }
        let capitals = run
            .iter()
            .filter(|token| capital(token.text) != Capital::None)
            .count();
        let Some((first, rest)) = run.split_first() else {
            return;
        };
        if capitals > MOST_CAPITALS {
            return;
        }
        let name = |tokens: &[&Token<'_>]| {
            let words: Vec<&str> = tokens
                .iter()
                .map(|token| without_genitive(token.text))
                .collect();
            words.join(" ")
        };
        let alone = rest.is_empty();
        if starts && !alone && self.is_verb_before_a_name(first, rest) {
            if let Some(second) = rest.first() {
                found.push((second.at, name(rest)));
            }
            return;
        }
        if !alone || titled || self.stands_alone(first, starts) {
            found.push((first.at, name(run)));
        }
    }

    /// Whether a single word with a capital is a name.
    fn stands_alone(&self, token: &Token<'_>, starts: bool) -> bool {
        let word = plain(token.text);
        if word.chars().count() < 2 || is_never_a_name(&word) {
            return false;
        }
        let count = |counts: &HashMap<String, usize>| counts.get(&word).copied().unwrap_or(0);
        let known = self.extractor.known.contains_key(&word);
        if known || capital(token.text) == Capital::Inside {
            return true;
        }
        if self.is_german {
            return false;
        }
        // One that is written small elsewhere is an ordinary word.
        let ordinary = self.small.contains(&word);
        !starts || (!ordinary && (count(&self.inside) > 0 || count(&self.starting) > 1))
    }

    /// Whether the first word of a sentence only looks like the beginning of the name behind it: the rest stands elsewhere
    /// without it, or it stands elsewhere in small letters.
    fn is_verb_before_a_name(&self, first: &Token<'_>, rest: &[&Token<'_>]) -> bool {
        if self.small.contains(&plain(first.text)) {
            return true;
        }
        let second = rest.first().map(|token| plain(token.text));
        second.is_some_and(|second| self.heads.contains(&second))
    }
}

/// Adds the words of Latin letters in a text of a script without spaces: each is a foreign word or a name. Those with
/// capitals go together.
fn latin(tokens: &[Token<'_>], found: &mut Vec<(usize, String)>) {
    let mut run: Vec<&Token<'_>> = Vec::new();
    let mut end = |run: &mut Vec<&Token<'_>>| {
        if let Some(first) = run.first() {
            let words: Vec<&str> = run.iter().map(|token| token.text).collect();
            found.push((first.at, words.join(" ")));
        }
        run.clear();
    };
    for token in tokens {
        let letters = token.text.chars().filter(|c| c.is_alphabetic()).count();
        let counts = !token.is_code && letters >= 2 && !is_never_a_name(&plain(token.text));
        let joins = token.follows
            && capital(token.text) != Capital::None
            && run
                .last()
                .is_some_and(|before| capital(before.text) != Capital::None);
        if !(counts && joins) {
            end(&mut run);
        }
        if counts {
            run.push(token);
        }
    }
    end(&mut run);
}

/// Whether a text is written in capitals: then they tell nothing.
fn is_shouted(tokens: &[Token<'_>]) -> bool {
    let words = tokens
        .iter()
        .filter(|token| !token.is_code && token.text.chars().count() > 1);
    let (mut all, mut upper) = (0, 0);
    for token in words {
        all += 1;
        upper += usize::from(!token.text.chars().any(char::is_lowercase));
    }
    all >= 4 && upper * 2 > all
}

/// Whether most letters of a text are of scripts without spaces.
fn is_mostly_unspaced(text: &str) -> bool {
    let (mut unspaced, mut other) = (0usize, 0usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        if is_unspaced(c) {
            unspaced += 1;
        } else {
            other += 1;
        }
    }
    // A character of those is worth about four letters.
    unspaced * 4 > other
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        RuleExtractor::new().entities(text)
    }

    #[test]
    fn names_are_runs_of_capitals_but_not_what_begins_a_sentence() {
        assert_eq!(found("Deploys freeze on Fridays"), [""; 0]);
        assert_eq!(found("Yesterday Anna called Bob."), ["Anna", "Bob"]);
        assert_eq!(found("Anna called. Then Anna left."), ["Anna"]);
        assert_eq!(
            found("I met Dr. Müller at the Bank of America on Monday"),
            ["Müller", "Bank of America"]
        );
        assert_eq!(found("Ask Anna. Tell Anna's boss Bob"), ["Anna", "Bob"]);
        assert_eq!(found("SQL is fine, GitHub too"), ["SQL", "GitHub"]);
        assert_eq!(
            found("Ludwig van Beethoven and Борис"),
            ["Ludwig van Beethoven", "Борис"]
        );
    }

    #[test]
    fn a_german_noun_is_no_name() {
        assert_eq!(
            found("Der Schlüssel liegt in der Schublade bei Anna Schmidt"),
            ["Anna Schmidt"]
        );
        assert_eq!(found("Frau Meier hat den Schlüssel"), ["Meier"]);
    }

    #[test]
    fn shouting_tells_nothing() {
        assert_eq!(found("DO NOT DEPLOY ON FRIDAY, SEE KX-204"), ["KX-204"]);
    }

    #[test]
    fn latin_words_in_chinese_are_names() {
        assert_eq!(
            found("我们用GitHub Actions部署 KX-204,别用jenkins"),
            ["GitHub Actions", "KX-204", "jenkins"]
        );
    }

    #[test]
    fn no_more_than_so_many() {
        let text: String = (0..1_000).map(|i| format!("KX-{i:04} ")).collect();
        assert_eq!(found(&text).len(), MOST_ENTITIES);
    }

    /// Of each of these, 200,000 characters: what looks twice at every pair would not come back.
    #[test]
    fn a_text_of_nothing_but_marks_takes_no_longer() {
        for piece in [
            "\"",
            "“",
            "「",
            "#",
            "@a",
            "`",
            "'s",
            "((((",
            "a/",
            "a.",
            "::",
            "___",
            "KX-",
            "A",
            "a=",
            "Anna ",
            "anna Bob. ",
            "Anna of ",
            "Anna\u{200d}",
            "夜",
            "夜a",
        ] {
            let text = piece.repeat(200_000 / piece.chars().count());
            let found = RuleExtractor::new().known(["bob"]).entities(&text);
            assert!(found.len() <= MOST_ENTITIES, "{piece}");
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => prop::sample::select(vec![
                "Anna", "anna", " ", "\n", ". ", "\"", "“", "”", "「", "」", "《", "#", "@", "`", "👩‍👩‍👧", "\u{200c}", "\u{200d}",
                "İ", "ß", "KX-204", "::", "foo_bar", "/", "东京", "の", "'s", "-", "…", "e\u{301}", "https://", "()", "v1.2",
                "von", "of", "DER", "\u{0}", "ǅ",
            ]).prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// Whatever the text: no panic, nothing blank, nothing twice, not too many, and always the same.
        #[test]
        fn any_text_has_entities_that_are_sound(text in any_text()) {
            let extractor = RuleExtractor::new().known(["Anna", "东京", " "]);
            let entities = extractor.entities(&text);
            prop_assert!(entities.len() <= MOST_ENTITIES);
            let mut seen = HashSet::new();
            for entity in &entities {
                prop_assert!(entity.chars().any(char::is_alphanumeric), "{entity:?}");
                prop_assert!(seen.insert(entity.to_lowercase()));
            }
            prop_assert_eq!(&extractor.entities(&text), &entities);
        }

        /// Without known names, whatever is found stands in the text, word by word.
        #[test]
        fn what_is_found_stands_in_the_text(text in any_text()) {
            for entity in found(&text) {
                for word in entity.trim_start_matches(['#', '@']).split(' ') {
                    prop_assert!(text.contains(word), "{word:?} of {entity:?}");
                }
            }
        }
    }
}

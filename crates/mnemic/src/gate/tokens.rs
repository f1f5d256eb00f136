//! A text cut into words, numbers and characters of scripts without spaces. It knows nothing of what they mean.

use crate::gate::lexicon::ZEROS;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// As written.
    Word(String),
    /// Digits with what may stand between them, made ASCII.
    Number(String),
    /// One character of a script without spaces.
    Unspaced(char),
    Symbol(char),
}

/// Whether a character is of a script without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' | '\u{0e01}'..='\u{0e4e}')
}

/// The value of a decimal digit of any script that is known.
fn digit(c: char) -> Option<char> {
    let zero = ZEROS
        .iter()
        .find(|zero| (**zero..).take(10).any(|digit| digit == c))?;
    char::from_digit(u32::from(c) - u32::from(*zero), 10)
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().map(|c| digit(c).unwrap_or(c)).collect();
    let mut tokens = Vec::new();
    let mut place = 0;
    while let Some(&c) = chars.get(place) {
        let rest = chars.get(place..).unwrap_or_default();
        let len = if c.is_ascii_digit() {
            let len = run(rest, |c| c.is_ascii_digit(), &['.', ',', ':', '-', '/']);
            // "2026-05-01" is one, "3-5" is a range: two.
            let one: String = rest.iter().take(len).collect();
            let len = if is_date(&one) || !one.contains(['-', '/']) {
                len
            } else {
                run(rest, |c| c.is_ascii_digit(), &['.', ',', ':'])
            };
            tokens.push(Token::Number(rest.iter().take(len).collect()));
            len
        } else if is_unspaced(c) {
            tokens.push(Token::Unspaced(c));
            1
        } else if c.is_alphabetic() || c == '_' {
            let letter =
                |c: char| (c.is_alphanumeric() || c == '_' || is_mark(c)) && !is_unspaced(c);
            let whole = run(rest, letter, &['\'', '’', '-', '.']);
            let joined: String = rest.iter().take(whole).collect();
            let is_name = joined.contains(|c: char| c.is_ascii_digit())
                && joined.contains(|c: char| c.is_alphabetic());
            let len = if is_name {
                whole
            } else {
                run(rest, letter, &['\'', '’'])
            };
            let word: String = rest.iter().take(len).collect();
            push_word(&mut tokens, &word.replace('’', "'"));
            len
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Symbol(c));
            }
            1
        };
        place += len.max(1);
    }
    tokens
}

/// A word, without the article or pronoun that French joins to it by an apostrophe.
fn push_word(tokens: &mut Vec<Token>, word: &str) {
    let whole = word.to_lowercase();
    let elided = whole.split_once('\'').filter(|(before, after)| {
        (before.chars().count() == 1 || *before == "qu") && !after.is_empty() && *after != "t"
    });
    if let Some((before, _)) = elided
        && let Some((_, rest)) = word.split_once('\'')
        && whole != "aujourd'hui"
    {
        tokens.push(Token::Word(before.to_owned()));
        tokens.push(Token::Word(rest.to_owned()));
    } else {
        let bare = word.strip_suffix("'s").unwrap_or(word);
        tokens.push(Token::Word(bare.to_owned()));
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}')
}

/// How many characters belong to a run; one of `inside` belongs where such a character follows it.
fn run(rest: &[char], belongs: impl Fn(char) -> bool, inside: &[char]) -> usize {
    let mut len = 0;
    while let Some(&c) = rest.get(len) {
        let joins = inside.contains(&c) && rest.get(len + 1).is_some_and(|next| belongs(*next));
        if !belongs(c) && !joins {
            break;
        }
        len += 1;
    }
    len
}

/// Whether digits are a date: three groups between two marks, one of which is a year.
fn is_date(number: &str) -> bool {
    let mut lengths = number.split(['-', '/', '.']).map(str::len);
    matches!(
        (
            lengths.next(),
            lengths.next(),
            lengths.next(),
            lengths.next()
        ),
        (Some(4), Some(1..=2), Some(1..=2), None) | (Some(1..=2), Some(1..=2), Some(4), None)
    )
}

//! A text cut into words and code, each with what its surroundings say: whether it begins a sentence, whether anything but a
//! space is before it. One pass; it decides nothing.

use crate::entity::code::code;
use crate::entity::marked::Marked;
use crate::entity::words::{is_abbreviation, is_unspaced};

/// A word or a piece of code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    /// In bytes.
    pub(super) at: usize,
    pub(super) text: &'t str,
    /// Whether a sentence or a line begins with it.
    pub(super) starts: bool,
    /// Whether only white space is between it and the token before.
    pub(super) follows: bool,
    pub(super) is_code: bool,
}

/// The tokens of a text, what is marked left out; characters of scripts without spaces are none.
pub(super) fn tokens<'t>(text: &'t str, marked: &[Marked]) -> Vec<Token<'t>> {
    let mut cutter = Cutter {
        text,
        tokens: Vec::new(),
        starts: true,
        follows: false,
    };
    let mut from = 0;
    for mark in marked {
        cutter.cut(from, mark.start);
        cutter.pass();
        from = mark.end;
    }
    cutter.cut(from, text.len());
    cutter.tokens
}

struct Cutter<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    starts: bool,
    follows: bool,
}

impl<'t> Cutter<'t> {
    /// Cuts what is between two places.
    fn cut(&mut self, from: usize, to: usize) {
        let Some(part) = self.text.get(from..to) else {
            return;
        };
        let mut at = from;
        for chunk in part.split_inclusive(char::is_whitespace) {
            let word = chunk.trim_end();
            if !word.is_empty() {
                self.chunk(at, word);
            }
            if chunk.ends_with(['\n', '\r', '\u{2028}', '\u{2029}']) {
                self.starts = true;
                self.follows = false;
            }
            at += chunk.len();
        }
    }

    /// Something that is no token stands here: no sentence begins after it, and no name goes on.
    fn pass(&mut self) {
        self.starts = false;
        self.follows = false;
    }

    /// A stretch without spaces.
    fn chunk(&mut self, at: usize, chunk: &'t str) {
        if chunk.chars().any(is_unspaced) {
            let mut at = at;
            for part in chunk.split_inclusive(is_unspaced) {
                let ends_unspaced = part.chars().next_back().is_some_and(is_unspaced);
                let latin = part.trim_end_matches(is_unspaced);
                if !latin.is_empty() {
                    self.spaced(at, latin);
                }
                if ends_unspaced {
                    self.pass();
                }
                at += part.len();
            }
        } else {
            self.spaced(at, chunk);
        }
    }

    fn spaced(&mut self, at: usize, chunk: &'t str) {
        if let Some(code) = code(chunk) {
            let place = chunk.find(code).unwrap_or(0);
            self.push(at + place, code, true);
            self.after(code, chunk.get(place + code.len()..).unwrap_or_default());
            return;
        }
        // `MAX_SIZE=5`, `charge(user_id)`: code in parts.
        if chunk.trim_matches(is_joint).contains(is_joint) {
            let mut at = at;
            for part in chunk.split_inclusive(is_joint) {
                self.spaced(at, part);
                at += part.len();
            }
            return;
        }
        // `Anna/Bob`, `Anna—who`: parted by what no word holds.
        let mut any = false;
        let mut part_at = at;
        for part in chunk.split_inclusive(|c: char| !is_inner(c)) {
            let word = part.trim_matches(|c: char| !c.is_alphanumeric());
            if word.is_empty() {
                self.follows = false;
                if any {
                    self.ends(part);
                } else if part.contains(['¿', '¡']) {
                    self.starts = true;
                }
            } else {
                any = true;
                let place = part.find(word).unwrap_or(0);
                if place > 0 {
                    self.follows = false;
                }
                self.push(part_at + place, word, false);
                self.after(word, part.get(place + word.len()..).unwrap_or_default());
            }
            part_at += part.len();
        }
        if !any {
            self.follows = false;
        }
    }

    fn push(&mut self, at: usize, text: &'t str, is_code: bool) {
        self.tokens.push(Token {
            at,
            text,
            starts: self.starts,
            follows: self.follows,
            is_code,
        });
        self.starts = false;
        self.follows = true;
    }

    /// Takes note of what follows a word.
    fn after(&mut self, word: &str, rest: &str) {
        let numbered = word.chars().all(char::is_numeric);
        if numbered && self.tokens.last().is_some_and(|token| token.starts) {
            // The number of a list: what begins is behind it.
            self.starts = true;
        }
        let initial = word.chars().count() == 1;
        if rest == "." && (initial || is_abbreviation(&word.to_lowercase())) {
            return;
        }
        if !rest.is_empty() {
            self.follows = false;
            self.ends(rest);
        }
    }

    fn ends(&mut self, rest: &str) {
        if rest.contains(['.', '!', '?', '…', '。', '！', '？']) {
            self.starts = true;
        }
    }
}

/// What stands between pieces of code.
fn is_joint(c: char) -> bool {
    matches!(c, '=' | '(' | ',' | ';' | '|')
}

/// Whether a character may be inside a word.
fn is_inner(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(
            c,
            '\'' | '’' | '-' | '.' | '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '&'
        )
}

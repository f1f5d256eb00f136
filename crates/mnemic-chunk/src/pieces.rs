//! A text as pieces that each fit into a passage: split only as finely as that needs. Places and sizes, no passages.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::bounds::{clusters, may_begin, span, trim};
use crate::pack::Piece;
use crate::size::{Size, fits};

/// Measures pieces, and cuts what is too large.
#[derive(Clone, Copy)]
pub(crate) struct Cutter<'a> {
    pub(crate) text: &'a str,
    pub(crate) size: &'a dyn Size,
    /// Sizes add up, as those of characters do.
    pub(crate) additive: bool,
    pub(crate) max: usize,
    /// The size of the parts of a word that does not fit.
    pub(crate) grain: usize,
}

impl Cutter<'_> {
    /// Whether the span fits into a passage, white space at its end not counted.
    pub(crate) fn fits(&self, range: Range<usize>) -> bool {
        fits(span(self.text, range).trim_end(), self.max, self.size)
    }

    /// The span as one piece.
    pub(crate) fn piece(&self, range: Range<usize>, strength: u8) -> Piece {
        let whole = span(self.text, range.clone());
        let core = whole.trim_end();
        Piece {
            start: range.start,
            // A counter that rounds down may find nothing in many small pieces: each counts, so that a passage ends.
            size: self.size.size(core).max(usize::from(!self.additive)),
            tail: if self.additive {
                self.size.size(whole.get(core.len()..).unwrap_or_default())
            } else {
                0
            },
            strength,
        }
    }

    /// The span as one piece, or as its words, or as parts of them, whatever fits.
    pub(crate) fn pieces(&self, range: Range<usize>, strength: u8, out: &mut Vec<Piece>) {
        if self.fits(range.clone()) {
            out.push(self.piece(range, strength));
            return;
        }
        let mut start = range.start;
        let borders = span(self.text, range.clone())
            .split_word_bound_indices()
            .map(|(at, _)| range.start + at);
        let mut strength = strength;
        for at in borders.filter(|at| *at > range.start) {
            if self.word_begins(start, at) {
                self.word(start..at, strength, out);
                (start, strength) = (at, WORD);
            }
        }
        self.word(start..range.end, strength, out);
    }

    /// Not before a full stop or a closing bracket.
    fn word_begins(&self, base: usize, at: usize) -> bool {
        let after = span(self.text, at..self.text.len()).chars().next();
        let before = span(self.text, base..at).chars().next_back();
        (after.is_some_and(char::is_alphanumeric) || before.is_some_and(char::is_whitespace))
            && may_begin(self.text, base, at)
    }

    fn word(&self, range: Range<usize>, strength: u8, out: &mut Vec<Piece>) {
        if self.fits(range.clone()) {
            out.push(self.piece(range, strength));
        } else {
            self.parts(range, strength, out);
        }
    }

    /// The span in parts of [`Self::grain`] at most, between grapheme clusters. A cluster that alone does not fit is cut
    /// between characters, and a character that does not fit is a piece all the same.
    pub(crate) fn parts(&self, range: Range<usize>, strength: u8, out: &mut Vec<Piece>) {
        let Range { mut start, .. } = range;
        let end = trim(self.text, range.clone()).end;
        let mut strength = strength;
        while start < end {
            let mut at = self.longest(start, clusters(self.text, start..end), self.grain);
            if !self.fits(start..at) {
                let cluster = clusters(self.text, start..end).next().unwrap_or(end);
                at = cluster;
                let marked = span(self.text, start..cluster);
                start += marked.len() - marked.trim_start().len();
                while start < cluster {
                    let chars = span(self.text, start..cluster)
                        .char_indices()
                        .map(|(i, c)| start + i + c.len_utf8());
                    at = self.longest(start, chars, self.max);
                    if at < cluster {
                        out.push(self.piece(start..at, strength));
                        strength = PART;
                        start = at;
                    } else {
                        break;
                    }
                }
            }
            // White space belongs to the piece before it; not a space that carries a mark.
            at = clusters(self.text, at..range.end)
                .take_while(|end| span(self.text, at..*end).trim().is_empty())
                .last()
                .unwrap_or(at);
            out.push(self.piece(start..at, strength));
            strength = PART;
            start = at;
        }
    }

    /// The last of `ends` with a size of `limit` at most up to it, or the first.
    fn longest(&self, start: usize, ends: impl Iterator<Item = usize>, limit: usize) -> usize {
        if self.additive {
            let (mut best, mut sum) = (start, 0);
            for end in ends {
                sum += self.size.size(span(self.text, best..end));
                if sum > limit && best > start {
                    break;
                }
                best = end;
                if sum >= limit {
                    break;
                }
            }
            return best;
        }
        // Few are larger than four characters a token; a long one is met again in the next part.
        let (many, far) = (limit.saturating_mul(4), limit.saturating_mul(64));
        let mut candidates = Vec::new();
        for end in ends.take(many.saturating_add(16)) {
            candidates.push(end);
            if end - start > far.saturating_add(1024) {
                break;
            }
        }
        let fitting =
            candidates.partition_point(|end| self.size.size(span(self.text, start..*end)) <= limit);
        candidates
            .get(fitting.saturating_sub(1))
            .copied()
            .unwrap_or(start)
    }
}

/// Within a word.
pub(crate) const PART: u8 = 0;
/// Between words.
pub(crate) const WORD: u8 = 2;

//! Pieces packed into passages, as full as the size allows, with overlap. It knows sizes and strengths of borders, not
//! what they mean; it always gets further, and no passage is larger than asked but one of a single piece that is.

use std::ops::Range;

use crate::bounds::span;
use crate::prose::PARAGRAPH;
use crate::size::Size;

/// A piece of the text that is not cut any more: from `start` to the next one's start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    /// Without the white space at its end.
    pub(crate) size: usize,
    /// Of the white space at its end.
    pub(crate) tail: usize,
    /// How good a place its start is to begin a passage: more is better.
    pub(crate) strength: u8,
}

/// How to pack.
#[derive(Clone, Copy)]
pub(crate) struct Packing<'a> {
    pub(crate) max: usize,
    pub(crate) overlap: usize,
    /// Ends passages at the strongest border of [`Line::strongest_end`], not as late as possible.
    pub(crate) strongest: bool,
    /// Sizes do not add up: measure each passage whole.
    pub(crate) measure: Option<&'a dyn Size>,
}

/// Packs `pieces`, which lie side by side up to `end`, and appends the passages' spans, white space at their ends
/// included.
pub(crate) fn pack(
    text: &str,
    pieces: &[Piece],
    end: usize,
    packing: Packing<'_>,
    out: &mut Vec<Range<usize>>,
) {
    let line = Line::new(pieces, end);
    let (mut first, mut done) = (0, 0);
    while done < pieces.len() {
        // Sizes only guess where they do not add up, so at least one new piece goes in whatever they say.
        let mut last = done + 1;
        while last < pieces.len() && line.size(first, last + 1) <= packing.max {
            last += 1;
        }
        if packing.strongest && last < pieces.len() {
            last = line.strongest_end(done, last);
        }
        if let Some(size) = packing.measure {
            while size.size(line.trimmed(text, first, last)) > packing.max {
                if last > done + 1 {
                    last -= 1;
                } else if first < done {
                    first += 1;
                } else {
                    break; // one piece, as small as it can be made
                }
            }
        }
        out.push(line.start(first)..line.start(last));
        first = line.next_first(text, first, last, packing);
        done = last;
    }
}

/// The pieces with sums of their sizes.
struct Line<'p> {
    pieces: &'p [Piece],
    /// Entry `i` is the size of the pieces before `i`, white space included.
    sums: Vec<usize>,
    end: usize,
}

impl<'p> Line<'p> {
    fn new(pieces: &'p [Piece], end: usize) -> Self {
        let mut sums = Vec::with_capacity(pieces.len() + 1);
        let mut sum = 0_usize;
        sums.push(0);
        for piece in pieces {
            sum = sum.saturating_add(piece.size).saturating_add(piece.tail);
            sums.push(sum);
        }
        Self { pieces, sums, end }
    }

    fn start(&self, piece: usize) -> usize {
        self.pieces.get(piece).map_or(self.end, |p| p.start)
    }

    fn sum(&self, piece: usize) -> usize {
        self.sums.get(piece).copied().unwrap_or(usize::MAX)
    }

    fn strength(&self, piece: usize) -> u8 {
        self.pieces.get(piece).map_or(u8::MAX, |p| p.strength)
    }

    /// The size of pieces `first..last`, without white space at the end.
    fn size(&self, first: usize, last: usize) -> usize {
        let tail = last
            .checked_sub(1)
            .and_then(|i| self.pieces.get(i))
            .map_or(0, |p| p.tail);
        self.sum(last)
            .saturating_sub(self.sum(first))
            .saturating_sub(tail)
    }

    fn trimmed<'t>(&self, text: &'t str, first: usize, last: usize) -> &'t str {
        span(text, self.start(first)..self.start(last)).trim_end()
    }

    /// The strongest border in the second half of the new pieces `done..last`, the latest of equals. A heading ends a
    /// passage from a quarter on.
    fn strongest_end(&self, done: usize, last: usize) -> usize {
        let whole = self.size(done, last);
        let mut best = last;
        for end in (done + 1..last).rev() {
            let size = self.size(done, end);
            if size < whole / 4 {
                break;
            }
            let strength = self.strength(end);
            if strength > self.strength(best) && (size >= whole / 2 || strength > PARAGRAPH) {
                best = end;
            }
        }
        best
    }

    /// Where the passage after `first..last` begins: with as much of it as the overlap allows and leaves room for one
    /// new piece.
    fn next_first(&self, text: &str, first: usize, last: usize, packing: Packing<'_>) -> usize {
        let mut next = first + 1;
        while next < last
            && (self.size(next, last) > packing.overlap || self.size(next, last + 1) > packing.max)
        {
            next += 1;
        }
        if packing.strongest && packing.overlap <= packing.max / 2 {
            let earliest = next;
            for border in earliest..last {
                if self.strength(border) > self.strength(next) {
                    next = border;
                }
            }
        }
        if let Some(size) = packing.measure {
            while next < last && size.size(self.trimmed(text, next, last)) > packing.overlap {
                next += 1;
            }
        }
        next
    }
}

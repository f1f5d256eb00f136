//! The rule of RA-H: split at the first separator that makes the parts small enough, then merge neighbours with overlap.

use std::ops::Range;

use crate::bounds::{may_begin, span};
use crate::pack::{Packing, Piece, pack};
use crate::pieces::Cutter;

/// The place behind the first such separator in the span from a place on.
type Separator = fn(&str, Range<usize>, usize) -> Option<usize>;

/// From the best place to split at to the last resort; after it come grapheme clusters.
const LEVELS: [Separator; 4] = [blank_line, line, sentence, space];

/// The spans of the passages of `range`, white space at their ends included.
pub(crate) fn passages(
    cutter: Cutter<'_>,
    range: Range<usize>,
    packing: Packing<'_>,
) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    split(cutter, range, &LEVELS, packing, &mut out);
    out
}

/// Splits at the first level, merges the parts that fit, and splits the others at the next level.
fn split(
    cutter: Cutter<'_>,
    range: Range<usize>,
    levels: &[Separator],
    packing: Packing<'_>,
    out: &mut Vec<Range<usize>>,
) {
    let mut fitting: Vec<Piece> = Vec::new();
    let Some((separator, finer)) = levels.split_first() else {
        cutter.parts(range.clone(), 0, &mut fitting);
        pack(cutter.text, &fitting, range.end, packing, out);
        return;
    };
    let mut start = range.start;
    while start < range.end {
        let end = next(cutter.text, start..range.end, *separator);
        if cutter.fits(start..end) {
            fitting.push(cutter.piece(start..end, 0));
        } else {
            pack(cutter.text, &fitting, start, packing, out);
            fitting.clear();
            split(cutter, start..end, finer, packing, out);
        }
        start = end;
    }
    pack(cutter.text, &fitting, range.end, packing, out);
}

/// Where the part that begins the span ends: after the separator and all white space behind it.
fn next(text: &str, range: Range<usize>, separator: Separator) -> usize {
    let mut from = range.start;
    while let Some(after) = separator(text, range.clone(), from) {
        let rest = span(text, after..range.end);
        let begin = after + (rest.len() - rest.trim_start().len());
        if begin < range.end && may_begin(text, range.start, begin) {
            return begin;
        }
        from = begin.max(after);
    }
    range.end
}

/// The place behind the first two line ends in a row from `from` on.
fn blank_line(text: &str, range: Range<usize>, from: usize) -> Option<usize> {
    let mut from = from;
    while let Some(after) = find(text, from..range.end, "\n") {
        let rest = span(text, after..range.end);
        if rest.starts_with('\n') || rest.starts_with("\r\n") {
            return Some(after);
        }
        from = after;
    }
    None
}

fn line(text: &str, range: Range<usize>, from: usize) -> Option<usize> {
    find(text, from..range.end, "\n")
}

fn sentence(text: &str, range: Range<usize>, from: usize) -> Option<usize> {
    find(text, from..range.end, ". ")
}

fn space(text: &str, range: Range<usize>, from: usize) -> Option<usize> {
    find(text, from..range.end, " ")
}

/// The place behind the first `what` in the span.
fn find(text: &str, range: Range<usize>, what: &str) -> Option<usize> {
    let at = span(text, range.clone()).find(what)?;
    Some(range.start + at + what.len())
}

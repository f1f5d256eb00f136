//! The borders of prose and of Markdown: where paragraphs, lines and sentences begin, and how good a border each is.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::bounds::{may_begin, span, trim};
use crate::pack::Piece;
use crate::pieces::Cutter;

/// What a heading or a comment is about begins: not a place to cut.
#[cfg(any(feature = "markdown", feature = "code"))]
pub(crate) const AFTER_HEADING: u8 = 1;
/// A line begins, and the one before it does not end a sentence: wrapped prose, or code.
pub(crate) const LINE: u8 = 3;
/// A sentence begins.
const SENTENCE: u8 = 4;
/// A line begins after a sentence that ended.
const LINE_OF_ITS_OWN: u8 = 5;
/// A paragraph begins: a blank line before it.
pub(crate) const PARAGRAPH: u8 = 6;

/// What a markup says of a place or a span, above what its lines say.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    /// Strengths of places, ascending by place.
    pub(crate) strengths: Vec<(usize, u8)>,
    /// Spans without sentences (code, tables), ascending.
    pub(crate) verbatim: Vec<Range<usize>>,
}

/// The pieces of the span: its sentences, and what is finer where a sentence does not fit.
pub(crate) fn pieces(cutter: Cutter<'_>, range: Range<usize>, structure: &Structure) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut strengths = structure.strengths.iter().copied().peekable();
    let mut begin = |start: usize, strength: u8| {
        while strengths.next_if(|(at, _)| *at < start).is_some() {}
        strengths
            .next_if(|(at, _)| *at == start)
            .map_or(strength, |(_, marked)| marked)
    };
    let mut pending: Option<(usize, u8)> = None;
    borders(cutter.text, range.clone(), structure, |at, strength| {
        let strength = begin(at, strength);
        if let Some((start, strength)) = pending.replace((at, strength)) {
            cutter.pieces(start..at, strength, &mut pieces);
        }
    });
    if let Some((start, strength)) = pending {
        cutter.pieces(start..range.end, strength, &mut pieces);
    }
    pieces
}

/// Calls `found` for the start of each sentence, line and paragraph of the span, in order, with its strength. The first
/// is the span's first.
fn borders(
    text: &str,
    range: Range<usize>,
    structure: &Structure,
    mut found: impl FnMut(usize, u8),
) {
    let first = trim(text, range.clone()).start;
    let mut verbatim = structure.verbatim.iter().peekable();
    let mut last: Option<usize> = None; // the border before
    let (mut blank, mut ended) = (false, false);
    let mut offset = range.start;
    for line in span(text, range).split_inclusive('\n') {
        let at = offset;
        offset += line.len();
        if line.trim().is_empty() {
            blank = true;
            continue;
        }
        while verbatim.next_if(|span| span.end <= at).is_some() {}
        let plain = verbatim.peek().is_none_or(|span| span.start >= offset);
        let start = at + (line.len() - line.trim_start().len());
        match last {
            None => {
                found(first, PARAGRAPH);
                last = Some(first);
            }
            Some(base) if may_begin(text, base, start) => {
                let strength = match (blank, ended) {
                    (true, _) => PARAGRAPH,
                    (false, true) => LINE_OF_ITS_OWN,
                    (false, false) => LINE,
                };
                found(start, strength);
                last = Some(start);
            }
            Some(_) => {}
        }
        if plain {
            for (inside, _) in line.split_sentence_bound_indices() {
                let sentence = at + inside;
                if let Some(base) = last
                    && sentence > start.max(base)
                    && may_begin(text, base, sentence)
                {
                    found(sentence, SENTENCE);
                    last = Some(sentence);
                }
            }
        }
        blank = false;
        ended = ends_sentence(line);
    }
}

/// Whether a line ends as a sentence does, quotes and brackets behind the full stop not counted.
fn ends_sentence(line: &str) -> bool {
    line.trim_end()
        .trim_end_matches(['"', '\'', '”', '’', '»', ')', ']', '」', '』', '*', '_'])
        .ends_with([
            '.', '!', '?', ':', ';', '…', '。', '！', '？', '：', '；', '।', '؟', '۔',
        ])
}

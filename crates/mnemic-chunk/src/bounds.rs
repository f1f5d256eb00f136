//! Places in a text: whether it may be cut there, and the spans between. Never slices where a character would break.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// The first `bytes` bytes, or a little less where a character would be cut.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let end = text.floor_char_boundary(bytes);
    text.get(..end).unwrap_or(text)
}

/// The span of the text; empty where there is no such span.
pub(crate) fn span(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// The span without white space at its ends. A space that carries a mark stays.
pub(crate) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = span(text, range.clone());
    let trimmed = whole.trim();
    let mut start = range.start + (whole.len() - whole.trim_start().len());
    if let Some(space) = span(text, range.start..start).chars().next_back() {
        let before = start - space.len_utf8();
        if !is_border(text, before, start) && !trimmed.is_empty() {
            start = before;
        }
    }
    let end = range.start + whole.trim_end().len();
    start..end.max(start)
}

/// Whether a grapheme cluster ends at `at`. `base` is a place before it where one begins.
fn is_border(text: &str, base: usize, at: usize) -> bool {
    let local = span(text, base..text.len());
    GraphemeCursor::new(at - base, local.len(), true)
        .is_boundary(local, 0)
        .unwrap_or(false)
}

/// Whether a passage may begin at `at`: no white space stands there, and no grapheme cluster goes on. `base` is a place
/// before it where one begins.
pub(crate) fn may_begin(text: &str, base: usize, at: usize) -> bool {
    let Some(next) = text.get(at..).and_then(|rest| rest.chars().next()) else {
        return false;
    };
    if next.is_whitespace() {
        return false;
    }
    let before = at.checked_sub(1).and_then(|i| text.as_bytes().get(i));
    if next.is_ascii() && before.is_some_and(u8::is_ascii) {
        return true; // the only cluster of two ASCII characters is a line end of Windows
    }
    is_border(text, base, at)
}

/// The ends of the grapheme clusters of a span, as places in the text.
pub(crate) fn clusters(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> {
    span(text, range.clone())
        .grapheme_indices(true)
        .map(move |(at, cluster)| range.start + at + cluster.len())
}

//! How large a text is: in characters, or in whatever the caller counts.

/// Counts what a passage may have a number of: the tokens of an embedder, say.
///
/// Any `Fn(&str) -> usize` is one. It should count the text alone (no special tokens at the ends, which the caller
/// takes off the maximum), and a longer text should not count less than its beginning does. Nothing worse than odd cuts
/// comes of a counter that breaks this: no passage is larger than the maximum by the counter's own word.
///
/// ```
/// use mnemic_chunk::Size;
///
/// let words = |text: &str| text.split_whitespace().count();
/// assert_eq!(words.size("three short words"), 3);
/// ```
pub trait Size {
    /// How large the text is.
    fn size(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize + ?Sized> Size for F {
    fn size(&self, text: &str) -> usize {
        self(text)
    }
}

/// Counts characters (Unicode scalar values).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Characters;

impl Size for Characters {
    fn size(&self, text: &str) -> usize {
        text.chars().count()
    }
}

/// Whether the text is of size `max` at most, without measuring much more than that of it.
pub(crate) fn fits(text: &str, max: usize, size: &dyn Size) -> bool {
    let mut prefix = max.saturating_mul(4).max(16);
    while prefix < text.len() {
        if size.size(crate::bounds::head(text, prefix)) > max {
            return false;
        }
        prefix = prefix.saturating_mul(2);
    }
    size.size(text) <= max
}

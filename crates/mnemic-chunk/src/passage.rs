//! What comes out: a span of the text, and what is known of its place.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ChunkError;

/// A passage of a text: where it is. The text itself is the caller's.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Chunk {
    /// The passage is `&text[bytes]`: never empty, no white space at either end.
    pub bytes: Range<usize>,
    /// The same span in characters (Unicode scalar values).
    pub chars: Range<usize>,
    /// What is known of the passage's place beside its span.
    pub metadata: ChunkMetadata,
}

impl Chunk {
    /// The passage at a span of a text that the caller cut itself; what is known of it is the caller's to fill in.
    ///
    /// It counts the characters before the span: for very many of a long text [`crate::chunk`] is quicker.
    ///
    /// # Errors
    /// [`ChunkError::Span`] where the span is empty, not of the text, or within a character.
    ///
    /// ```
    /// use mnemic_chunk::Chunk;
    ///
    /// let text = "Zoë spoke.\nNobody answered.";
    /// let mut passage = Chunk::new(text, 12..28)?;
    /// passage.metadata.start = Some(4.5);
    /// assert_eq!((passage.text(text), passage.chars), (Some("Nobody answered."), 11..27));
    /// assert!(Chunk::new(text, 3..5).is_err());
    /// # Ok::<(), mnemic_chunk::ChunkError>(())
    /// ```
    pub fn new(text: &str, bytes: Range<usize>) -> Result<Self, ChunkError> {
        let (Some(before), Some(passage)) = (
            text.get(..bytes.start),
            text.get(bytes.clone())
                .filter(|passage| !passage.is_empty()),
        ) else {
            let of = text.len();
            return Err(ChunkError::Span { bytes, of });
        };
        let start = before.chars().count();
        Ok(Self {
            chars: start..start + passage.chars().count(),
            bytes,
            metadata: ChunkMetadata::default(),
        })
    }

    /// The passage, out of the text it was cut from. `None` where that is another text, which has no such span.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.get(self.bytes.clone())
    }
}

/// What is known of a passage's place beside its span. Its JSON has what is known and nothing else.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChunkMetadata {
    /// The headings over the passage, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// When the passage begins in the recording, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// When it ends, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// Who speaks in it, each once, in order of appearance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub speakers: Vec<String>,
}

impl ChunkMetadata {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

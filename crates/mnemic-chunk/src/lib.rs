#![doc = include_str!("../README.md")]

mod bounds;
mod chunking;
#[cfg(feature = "code")]
mod code;
mod error;
#[cfg(feature = "html")]
mod html;
#[cfg(feature = "markdown")]
mod markdown;
mod pack;
mod passage;
#[cfg(feature = "pdf")]
mod pdf;
mod pieces;
mod prose;
mod read;
mod separators;
mod size;
mod transcript;

use std::ops::Range;

pub use chunking::{Chunking, Language, Rule, Unit};
pub use error::ChunkError;
pub use passage::{Chunk, ChunkMetadata};
pub use read::{Format, ReadError, Source, read};
pub use size::{Characters, Size};
pub use transcript::{Cue, Fault, Transcript, TranscriptError};

use pack::{Packing, pack};
use pieces::Cutter;
use prose::Structure;

/// Cuts a text into passages by a setting that counts characters.
///
/// The passages come in order, each beginning and each ending behind the one before; together they have every character
/// of the text that is not white space. None is larger than the setting says, unless a single character is. The same
/// text and setting give the same passages. A text of white space has none, and so has one shorter than
/// [`Chunking::from`] asks.
///
/// ```
/// use mnemic_chunk::{Chunking, chunk};
///
/// let text = "The pump failed on Monday. It was replaced.\n\nNobody was hurt.";
/// let passages = chunk(text, &Chunking::characters(45, 0))?;
///
/// let read: Vec<_> = passages.iter().filter_map(|passage| passage.text(text)).collect();
/// assert_eq!(read, ["The pump failed on Monday. It was replaced.", "Nobody was hurt."]);
/// assert_eq!(passages[1].bytes, 45..61);
/// # Ok::<(), mnemic_chunk::ChunkError>(())
/// ```
///
/// # Errors
/// Those of [`Chunking::validate`], and [`ChunkError::CounterNeeded`] where the setting counts tokens.
pub fn chunk(text: &str, chunking: &Chunking) -> Result<Vec<Chunk>, ChunkError> {
    if chunking.unit() == Unit::Tokens {
        chunking.validate()?;
        return Err(ChunkError::CounterNeeded);
    }
    chunk_with(text, chunking, &Characters)
}

/// Cuts a text into passages by any setting. `tokens` counts for one in tokens and is not asked for one in characters.
///
/// ```
/// use mnemic_chunk::{Chunking, chunk_with};
///
/// let text = "one two three four five";
/// let words = |text: &str| text.split_whitespace().count();
/// let passages = chunk_with(text, &Chunking::tokens(2, 1), &words)?;
///
/// let read: Vec<_> = passages.iter().filter_map(|passage| passage.text(text)).collect();
/// assert_eq!(read, ["one two", "two three", "three four", "four five"]);
/// # Ok::<(), mnemic_chunk::ChunkError>(())
/// ```
///
/// # Errors
/// Those of [`Chunking::validate`].
pub fn chunk_with(
    text: &str,
    chunking: &Chunking,
    tokens: &dyn Size,
) -> Result<Vec<Chunk>, ChunkError> {
    chunking.validate()?;
    let additive = chunking.unit() == Unit::Characters;
    let size: &dyn Size = if additive { &Characters } else { tokens };
    let range = bounds::trim(text, 0..text.len());
    if range.is_empty() || !has_characters(text, chunking.from_characters()) {
        return Ok(Vec::new());
    }
    let (max, overlap) = (chunking.max_size(), chunking.max_overlap());
    let packing = Packing {
        max,
        overlap,
        strongest: chunking.rule() != Rule::Separators,
        measure: (!additive).then_some(size),
    };
    let cutter = Cutter {
        text,
        size,
        additive,
        max,
        grain: match chunking.rule() {
            Rule::Separators => gcd(max, overlap),
            _ => (max / 8).max(1),
        },
    };
    let mut out = Vec::new();
    match chunking.rule() {
        Rule::Separators => out = separators::passages(cutter, range, packing),
        Rule::Prose => {
            let pieces = prose::pieces(cutter, range.clone(), &Structure::default());
            pack(text, &pieces, range.end, packing, &mut out);
        }
        #[cfg(feature = "markdown")]
        Rule::Markdown => {
            let outline = markdown::outline(text);
            let pieces = prose::pieces(cutter, range.clone(), &outline.structure);
            pack(text, &pieces, range.end, packing, &mut out);
            let mut chunks = located(text, out);
            outline.head(text, &mut chunks);
            return Ok(chunks);
        }
        #[cfg(feature = "code")]
        Rule::Code(language) => {
            let pieces = prose::pieces(cutter, range.clone(), &code::structure(text, language));
            pack(text, &pieces, range.end, packing, &mut out);
        }
        #[cfg(not(all(feature = "markdown", feature = "code")))]
        _ => {} // what `validate` refused
    }
    Ok(located(text, out))
}

fn has_characters(text: &str, count: usize) -> bool {
    count == 0 || text.chars().nth(count - 1).is_some()
}

/// The spans in characters too, without white space at their ends. Starts and ends both ascend.
fn located(text: &str, spans: Vec<Range<usize>>) -> Vec<Chunk> {
    let (mut start, mut end) = (Place::default(), Place::default());
    spans
        .into_iter()
        .map(|range| {
            let length = bounds::span(text, range.clone()).trim_end().len();
            start.go(text, range.start);
            end.go(text, range.start + length);
            Chunk {
                bytes: start.byte..end.byte,
                chars: start.char..end.char,
                metadata: ChunkMetadata::default(),
            }
        })
        .collect()
}

/// A place in the text, in bytes and in characters.
#[derive(Default)]
struct Place {
    byte: usize,
    char: usize,
}

impl Place {
    /// Forward to `byte`.
    fn go(&mut self, text: &str, byte: usize) {
        self.char += bounds::span(text, self.byte..byte).chars().count();
        self.byte = byte;
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

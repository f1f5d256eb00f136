//! Files' bytes as text, by format: what a passage's span points into. It opens no file, and one bad input never stops
//! another.

use std::fmt::Display;

use crate::transcript::{Transcript, TranscriptError};
use crate::{Chunk, ChunkError, Chunking, Language, Size, chunk_with};

/// How the bytes of a source are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML, with the feature `html`.
    Html,
    /// PDF, with the feature `pdf`.
    Pdf,
    /// A transcript in WebVTT.
    Vtt,
    /// A transcript in SubRip.
    Srt,
    /// Program text.
    Code(Language),
}

/// A source that was read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Source {
    /// Its text. Passages' spans point into this.
    pub text: String,
    /// What the text is now: HTML becomes [`Format::Markdown`], since headings and lists are kept as such.
    pub format: Format,
    /// Of a transcript, what was said when.
    pub transcript: Option<Transcript>,
}

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Neither UTF-8 nor UTF-16 with its mark.
    #[error("byte {at} is not UTF-8: convert the file to UTF-8 first")]
    Encoding {
        /// The first byte that is not, counted from 0.
        at: usize,
    },
    /// UTF-16 by its mark, but broken.
    #[error("not valid UTF-16, though its first bytes say it is")]
    Utf16,
    /// A transcript with a faulty line.
    #[error("not a transcript")]
    Transcript(#[source] TranscriptError),
    /// HTML that cannot be made text.
    #[error("HTML that cannot be read: {0}")]
    Html(String),
    /// A PDF that cannot be made text.
    #[error("PDF that cannot be read: {0}")]
    Pdf(String),
    /// A source without text: a scanned PDF, say.
    #[error("no text in it")]
    Empty,
    /// The format is behind a feature that this build was made without.
    #[error("to read {format} the feature {feature:?} of mnemic-chunk is needed")]
    FeatureNeeded {
        /// The format.
        format: Format,
        /// The feature to build with.
        feature: &'static str,
    },
}

impl Format {
    /// By the ending of a file's name, in any case; `None` for one that is not known.
    ///
    /// ```
    /// use mnemic_chunk::Format;
    ///
    /// assert_eq!(Format::of("talks/2024.VTT"), Some(Format::Vtt));
    /// assert_eq!(Format::of("photo.jpeg"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "txt" | "text" => Self::Text,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" | "xhtml" => Self::Html,
            "pdf" => Self::Pdf,
            "vtt" => Self::Vtt,
            "srt" => Self::Srt,
            "rs" => Self::Code(Language::Rust),
            "py" => Self::Code(Language::Python),
            "js" | "mjs" => Self::Code(Language::JavaScript),
            _ => return None,
        })
    }

    /// The rule that suits such a text, in passages of at most `max` characters: [`Chunking::markdown`] for Markdown and
    /// HTML, [`Chunking::code`] for program text where the build has it, else [`Chunking::characters`].
    #[must_use]
    pub fn chunking(self, max: usize) -> Chunking {
        let suited = match self {
            Self::Markdown | Self::Html => Chunking::markdown(max),
            Self::Code(language) => Chunking::code(language, max),
            _ => Chunking::characters(max, 0),
        };
        match suited.validate() {
            Err(ChunkError::FeatureNeeded { .. }) => Chunking::characters(max, 0),
            _ => suited,
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text => "plain text",
            Self::Markdown => "Markdown",
            Self::Html => "HTML",
            Self::Pdf => "PDF",
            Self::Vtt => "WebVTT",
            Self::Srt => "SubRip",
            Self::Code(Language::Rust) => "Rust",
            Self::Code(Language::Python) => "Python",
            Self::Code(Language::JavaScript) => "JavaScript",
        })
    }
}

/// Reads a source: its bytes as text.
///
/// Text is UTF-8, with or without a byte order mark, or UTF-16 with one; no other encoding is guessed at. The mark is
/// not part of the text; all else of a plain text, of Markdown and of code is as it was.
///
/// ```
/// use mnemic_chunk::{Format, ReadError, read};
///
/// let source = read(b"\xEF\xBB\xBF# Pumps\r\n", Format::Markdown)?;
/// assert_eq!(source.text, "# Pumps\r\n");
///
/// let latin = read(b"na\xEFve", Format::Text);
/// assert!(matches!(latin, Err(ReadError::Encoding { at: 2 })));
/// # Ok::<(), ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError`], by what is wrong. Never a panic: one within the reader of PDF is caught and reported.
pub fn read(bytes: &[u8], format: Format) -> Result<Source, ReadError> {
    let (text, format, transcript) = match format {
        Format::Text | Format::Markdown | Format::Code(_) => (decoded(bytes)?, format, None),
        Format::Html => (html(&decoded(bytes)?)?, Format::Markdown, None),
        Format::Pdf => (pdf(bytes)?, Format::Text, None),
        Format::Vtt | Format::Srt => {
            let text = decoded(bytes)?;
            let transcript = match format {
                Format::Vtt => Transcript::from_vtt(&text),
                _ => Transcript::from_srt(&text),
            }
            .map_err(ReadError::Transcript)?;
            (transcript.text.clone(), format, Some(transcript))
        }
    };
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    Ok(Source {
        text,
        format,
        transcript,
    })
}

impl Source {
    /// Cuts the text into passages, and tells those of a transcript when they are said: [`chunk_with`] and
    /// [`Transcript::annotate`].
    ///
    /// # Errors
    /// Those of [`chunk_with`].
    pub fn chunk(&self, chunking: &Chunking, tokens: &dyn Size) -> Result<Vec<Chunk>, ChunkError> {
        let mut chunks = chunk_with(&self.text, chunking, tokens)?;
        if let Some(transcript) = &self.transcript {
            transcript.annotate(&mut chunks);
        }
        Ok(chunks)
    }
}

fn decoded(bytes: &[u8]) -> Result<String, ReadError> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(ReadError::Utf16);
        }
        char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
            .collect::<Result<String, _>>()
            .map_err(|_| ReadError::Utf16)
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest, 3),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => utf8(bytes, 0),
    }
}

fn utf8(bytes: &[u8], before: usize) -> Result<String, ReadError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(ReadError::Encoding {
            at: before + error.valid_up_to(),
        }),
    }
}

#[cfg(feature = "html")]
fn html(text: &str) -> Result<String, ReadError> {
    crate::html::text(text).map_err(|error| ReadError::Html(error.to_string()))
}

#[cfg(not(feature = "html"))]
fn html(_: &str) -> Result<String, ReadError> {
    Err(ReadError::FeatureNeeded {
        format: Format::Html,
        feature: "html",
    })
}

#[cfg(feature = "pdf")]
fn pdf(bytes: &[u8]) -> Result<String, ReadError> {
    crate::pdf::text(bytes).map_err(ReadError::Pdf)
}

#[cfg(not(feature = "pdf"))]
fn pdf(_: &[u8]) -> Result<String, ReadError> {
    Err(ReadError::FeatureNeeded {
        format: Format::Pdf,
        feature: "pdf",
    })
}

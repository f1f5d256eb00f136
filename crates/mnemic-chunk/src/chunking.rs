//! The setting: by which rule, in which unit, how large. Data that a file keeps as JSON; it cuts nothing.

use serde::{Deserialize, Serialize};

use crate::ChunkError;

/// How a text is cut into passages. Plain data: what a file records of it is its JSON.
///
/// ```
/// use mnemic_chunk::Chunking;
///
/// let setting = Chunking::tokens(256, 32);
/// let json = serde_json::to_string(&setting)?;
/// assert_eq!(json, r#"{"rule":"prose","unit":"tokens","max":256,"overlap":32,"from":0}"#);
/// assert_eq!(serde_json::from_str::<Chunking>(&json)?, setting);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chunking {
    rule: Rule,
    unit: Unit,
    max: usize,
    #[serde(default)]
    overlap: usize,
    #[serde(default)]
    from: usize,
}

/// Where a text may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// At the first of blank line, line, `". "`, space, character that makes the parts small enough: the rule of RA-H.
    Separators,
    /// At the strongest of paragraph, line, sentence, word, character in the second half of what fits.
    Prose,
    /// As prose, with sections and blocks of Markdown above paragraphs.
    Markdown,
    /// At the borders of a programming language's syntax.
    Code(Language),
}

/// What the size of a passage is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// Unicode scalar values.
    Characters,
    /// Whatever the counter given to [`crate::chunk_with`] counts.
    Tokens,
}

/// A programming language whose syntax is known, with the feature `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript.
    #[serde(rename = "javascript")]
    JavaScript,
}

impl Chunking {
    const fn new(rule: Rule, unit: Unit, max: usize, overlap: usize) -> Self {
        Self {
            rule,
            unit,
            max,
            overlap,
            from: 0,
        }
    }

    /// The rule of RA-H: 1,000 characters with 200 overlap, split at blank line, line, sentence (`". "`) and space in
    /// that order. A text below 200 characters has no passages: it is found as a whole.
    ///
    /// Three things differ from RA-H, all of them its faults: spans include the overlap; a full stop stays with its
    /// sentence instead of beginning the next passage; and where nothing but characters is left to split at, a
    /// character is what a reader sees as one (a grapheme cluster). A Windows line end counts as a line end.
    #[must_use]
    pub const fn ra_h() -> Self {
        Self {
            from: 200,
            ..Self::new(Rule::Separators, Unit::Characters, 1_000, 200)
        }
    }

    /// Prose in passages of at most `max` characters, of which at most `overlap` were in the passage before.
    #[must_use]
    pub const fn characters(max: usize, overlap: usize) -> Self {
        Self::new(Rule::Prose, Unit::Characters, max, overlap)
    }

    /// Prose in passages of at most `max` tokens, of which at most `overlap` were in the passage before, by the counter
    /// given to [`crate::chunk_with`]: the window of an embedder, less its special tokens.
    #[must_use]
    pub const fn tokens(max: usize, overlap: usize) -> Self {
        Self::new(Rule::Prose, Unit::Tokens, max, overlap)
    }

    /// Markdown in passages of at most `max` characters, cut at headings before paragraphs. A heading stays with what
    /// follows it where both fit, and a passage knows its headings ([`crate::ChunkMetadata::headings`]).
    #[must_use]
    pub const fn markdown(max: usize) -> Self {
        Self::new(Rule::Markdown, Unit::Characters, max, 0)
    }

    /// Program text in passages of at most `max` characters, cut at the borders of its syntax. Needs the feature `code`.
    #[must_use]
    pub const fn code(language: Language, max: usize) -> Self {
        Self::new(Rule::Code(language), Unit::Characters, max, 0)
    }

    /// The same, with at most so much of the passage before at the beginning of each, in the setting's unit. Less than
    /// the size of a passage.
    #[must_use]
    pub const fn overlap(mut self, overlap: usize) -> Self {
        self.overlap = overlap;
        self
    }

    /// The same, with size and overlap counted in tokens by the counter given to [`crate::chunk_with`].
    #[must_use]
    pub const fn in_tokens(mut self) -> Self {
        self.unit = Unit::Tokens;
        self
    }

    /// The same, cutting only texts of at least so many characters: a shorter one has no passages.
    #[must_use]
    pub const fn from(mut self, characters: usize) -> Self {
        self.from = characters;
        self
    }

    /// Where a text may be cut.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// What size and overlap are counted in.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The size of a passage at most, in [`Self::unit`].
    #[must_use]
    pub const fn max_size(&self) -> usize {
        self.max
    }

    /// How much of a passage may have been in the one before, in [`Self::unit`].
    #[must_use]
    pub const fn max_overlap(&self) -> usize {
        self.overlap
    }

    /// How many characters a text must have to be cut into passages at all.
    #[must_use]
    pub const fn from_characters(&self) -> usize {
        self.from
    }

    /// Whether the setting can be followed. [`crate::chunk_with`] asks this first: a setting read from JSON may be
    /// anything.
    ///
    /// ```
    /// use mnemic_chunk::{ChunkError, Chunking};
    ///
    /// assert_eq!(Chunking::characters(0, 0).validate(), Err(ChunkError::ZeroSize));
    /// assert_eq!(Chunking::characters(50, 49).validate(), Ok(()));
    /// assert_eq!(
    ///     Chunking::characters(50, 50).validate(),
    ///     Err(ChunkError::Overlap { overlap: 50, max: 50 })
    /// );
    /// ```
    ///
    /// # Errors
    /// [`ChunkError::ZeroSize`]; [`ChunkError::Overlap`] where the overlap is not below the size; [`ChunkError::Rule`]
    /// where the rule of RA-H is to count tokens; [`ChunkError::FeatureNeeded`] where this build does not have the rule.
    pub const fn validate(&self) -> Result<(), ChunkError> {
        if self.max == 0 {
            return Err(ChunkError::ZeroSize);
        }
        if self.overlap >= self.max {
            return Err(ChunkError::Overlap {
                overlap: self.overlap,
                max: self.max,
            });
        }
        match (self.rule, self.unit) {
            (Rule::Separators, Unit::Tokens) => Err(ChunkError::Rule {
                rule: "separators",
                why: "counts characters: for tokens use the rule \"prose\"",
            }),
            (Rule::Markdown, _) if cfg!(not(feature = "markdown")) => {
                Err(ChunkError::FeatureNeeded {
                    rule: "markdown",
                    feature: "markdown",
                })
            }
            (Rule::Code(_), _) if cfg!(not(feature = "code")) => Err(ChunkError::FeatureNeeded {
                rule: "code",
                feature: "code",
            }),
            _ => Ok(()),
        }
    }
}

//! Why a text was not cut.

use std::ops::Range;

/// A setting that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// A passage of size 0 holds nothing.
    #[error("a passage of size 0 holds nothing: give a size of 1 or more")]
    ZeroSize,
    /// With as much overlap as size, the next passage would never get further.
    #[error(
        "an overlap of {overlap} leaves nothing new in a passage of {max}: give less than {max}"
    )]
    Overlap {
        /// The overlap that was asked for.
        overlap: usize,
        /// The size of a passage.
        max: usize,
    },
    /// The rule cannot be measured in this unit, or has no overlap.
    #[error("the rule {rule:?} {why}")]
    Rule {
        /// The rule's name, as in the stored setting.
        rule: &'static str,
        /// What it cannot do, and what to do instead.
        why: &'static str,
    },
    /// A passage is a part of the text, and not an empty one.
    #[error(
        "the bytes {bytes:?} are no passage of a text of {of} bytes: give a span of at least one character, between characters"
    )]
    Span {
        /// The span that was given.
        bytes: Range<usize>,
        /// How long the text is, in bytes.
        of: usize,
    },
    /// The setting counts tokens, and [`crate::chunk`] has no counter.
    #[error("the setting counts tokens: give a counter of them to chunk_with")]
    CounterNeeded,
    /// The rule is behind a feature that this build was made without.
    #[error("the rule {rule:?} needs the feature {feature:?} of mnemic-chunk")]
    FeatureNeeded {
        /// The rule's name, as in the stored setting.
        rule: &'static str,
        /// The feature to build with.
        feature: &'static str,
    },
}

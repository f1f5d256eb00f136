//! What the write gate says of a new text, as values.

use std::fmt;

use crate::types::StoredMemory;

/// What the write gate says of a new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GateVerdict {
    /// No memory says this.
    New,
    /// A memory has the same text, but for case, Unicode form, white space and final punctuation.
    Duplicate,
    /// A memory says nearly the same, and nothing that differs speaks against it.
    Near,
    /// A memory says nearly the same, but for a negation, a number, a unit, a date or an order.
    Conflict,
}

impl fmt::Display for GateVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Duplicate => "duplicate",
            Self::Near => "near",
            Self::Conflict => "conflict",
        })
    }
}

/// Something in which a new text differs from a memory. Prints as a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// One is negated, the other is not.
    Polarity,
    /// The one has a word where the other has its opposite.
    Opposites {
        /// The new text's.
        new: String,
        /// The memory's.
        known: String,
    },
    /// The numbers differ.
    Number {
        /// The new text's.
        new: String,
        /// The memory's.
        known: String,
    },
    /// The same number is of another unit.
    Unit {
        /// What the new text measures; empty for a number alone.
        new: String,
        /// What the memory measures.
        known: String,
    },
    /// The dates, days or times of day differ.
    Date {
        /// The new text's.
        new: String,
        /// The memory's.
        known: String,
    },
    /// The two sides of a comparison have changed places ("tabs over spaces"), or names, numbers or dates in otherwise the
    /// same words.
    Order {
        /// What comes first in the new text.
        new: String,
        /// What comes first in the memory.
        known: String,
    },
    /// They are about different things: other names, or other numbers of things. No conflict, and not nearly the same.
    Subject {
        /// The new text's.
        new: String,
        /// The memory's.
        known: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, new, known) = match self {
            Self::Polarity => return f.write_str("one is negated"),
            Self::Opposites { new, known } => ("opposites", new, known),
            Self::Number { new, known } => ("number", new, known),
            Self::Unit { new, known } => ("unit", new, known),
            Self::Date { new, known } => ("date", new, known),
            Self::Order { new, known } => ("order", new, known),
            Self::Subject { new, known } => ("subject", new, known),
        };
        write!(f, "{what}: {new:?} instead of {known:?}")
    }
}

/// A new text beside the memories of its project, from [`crate::Memory::assess`]. Prints as a line for a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assessment {
    /// What the gate says of the text.
    pub verdict: GateVerdict,
    /// The memory that it meets: the one that the verdict is about; for a new text the nearest one, if there is any.
    pub memory: Option<StoredMemory>,
    /// The cosine of the vectors of both; `None` without vectors, or without a memory.
    pub cosine: Option<f64>,
    /// How much of both texts is the same, in \[0, 1\] ([`mnemic_rank::matching_ratio`] of their normal forms: for up to 1,000
    /// characters by character, then by word, beyond 1,000 words without their order); 0 without a memory.
    pub text_ratio: f64,
    /// agent-memory's score of a conflict, in \[0, 1\] ([`mnemic_rank::conflict()`]); that system takes .55 and more for one.
    /// The verdict does not rest on it.
    pub conflict: f64,
    /// What differs, as far as it says something against one of the texts.
    pub differs: Vec<Difference>,
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        if let Some(memory) = &self.memory {
            write!(f, ", text {:.2}", self.text_ratio)?;
            if let Some(cosine) = self.cosine {
                write!(f, ", cosine {cosine:.2}")?;
            }
            write!(f, " to {}", memory.id)?;
        }
        for difference in &self.differs {
            write!(f, "; {difference}")?;
        }
        Ok(())
    }
}

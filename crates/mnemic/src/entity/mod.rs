//! Which names a text is about: the trait that finds them, and one that finds them by rules. It never touches the file, and
//! learns nothing from one text for another.

mod code;
mod grams;
mod marked;
mod rules;
mod tokens;
mod words;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub(crate) use grams::grams;
pub use rules::RuleExtractor;
pub(crate) use words::is_unspaced;

/// Finds the entities of texts: the people, places, products, files and codes that they name, by which they can be
/// looked up later.
///
/// Implement it for a model of your own and hand it to [`crate::MemoryBuilder::entity_extractor`]. The contract:
///
/// - **One list a text, in order.** `extract` answers with exactly as many lists as it was given texts.
/// - **Names as they stand in the text**, the first what the text is about first of all. They are compared without regard
///   to case and composition, so that none need be folded; blank ones and repetitions are left out by the caller.
/// - **Deterministic.** The same text gives the same names, alone or in any batch: otherwise a question may miss what it
///   names.
///
/// It is called outside of locks and transactions, so that a slow one keeps nobody waiting. The trait is dyn-safe. `&E`,
/// `Box<E>` and `Arc<E>` are extractors where `E` is.
///
/// ```
/// use mnemic::{EntityExtractor, ExtractError};
///
/// /// Ticket numbers and nothing else.
/// #[derive(Debug)]
/// struct Tickets;
///
/// impl EntityExtractor for Tickets {
///     fn extract(&self, texts: &[&str]) -> Result<Vec<Vec<String>>, ExtractError> {
///         let tickets = |text: &&str| {
///             let words = text.split_whitespace();
///             words.filter(|word| word.starts_with("KX-")).map(str::to_owned).collect()
///         };
///         Ok(texts.iter().map(tickets).collect())
///     }
/// }
///
/// assert_eq!(Tickets.extract(&["look at KX-204 now", "nothing"])?, [vec!["KX-204".to_owned()], vec![]]);
/// # Ok::<(), ExtractError>(())
/// ```
pub trait EntityExtractor: fmt::Debug + Send + Sync {
    /// Finds the entities of a batch of texts: entry `i` of the answer belongs to `texts[i]`, and is empty where the text
    /// names nothing.
    ///
    /// # Errors
    /// [`ExtractError`] where they could not be looked for. A batch fails as a whole.
    fn extract(&self, texts: &[&str]) -> Result<Vec<Vec<String>>, ExtractError>;
}

macro_rules! extractor_by_reference {
    ($($pointer:ty),*) => {$(
        impl<E: EntityExtractor + ?Sized> EntityExtractor for $pointer {
            fn extract(&self, texts: &[&str]) -> Result<Vec<Vec<String>>, ExtractError> {
                (**self).extract(texts)
            }
        }
    )*};
}
extractor_by_reference!(&E, Box<E>, Arc<E>);

/// Why entities could not be looked for.
#[derive(Debug)]
pub struct ExtractError {
    reason: String,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl ExtractError {
    /// A failure, told in a few words, without a cause below.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            cause: None,
        }
    }

    /// The same error with `cause` as its source.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "extracting entities failed: {}", self.reason)
    }
}

impl StdError for ExtractError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let cause = self.cause.as_deref();
        cause.map(|cause| cause as &(dyn StdError + 'static))
    }
}

//! What scores passages against a question by reading both together. It never orders them: that is the caller's.

use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::EmbedError;

/// The identity of a reranker. Nothing it computes is stored, so no file records it; messages name it.
///
/// ```
/// use mnemic_embed::RerankingModel;
///
/// let model = RerankingModel::new("ms-marco-MiniLM-L6-v2", "1");
/// assert_eq!(model.to_string(), "ms-marco-MiniLM-L6-v2 (revision 1)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RerankingModel {
    /// The model's id, such as `ms-marco-MiniLM-L6-v2`.
    pub id: String,
    /// What tells two versions of the model apart: a version, a commit, or a fingerprint of the weights.
    pub revision: String,
}

impl RerankingModel {
    /// Names a model by its id and revision.
    pub fn new(id: impl Into<String>, revision: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            revision: revision.into(),
        }
    }
}

impl fmt::Display for RerankingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (revision {})", self.id, self.revision)
    }
}

/// Scores how well passages answer a question, reading question and passage together: slower than comparing vectors,
/// and usually better, so it is given only the best hits of a search. A cross-encoder is one; so is anything that can
/// grade.
///
/// Implement it for a model of your own and hand it to `Memory::builder().reranker(..)`. The contract, which
/// [`testing::check_reranker`](crate::testing::check_reranker) verifies:
///
/// - **One score a passage, in order.** `rerank` answers with exactly as many scores as it was given passages.
/// - **A relevance in \[0, 1\].** 0 is beside the question, 1 answers it; never NaN. A model with one label gives the
///   sigmoid of its logit ([`sigmoid`]). That holds for models that are usually read without an activation
///   ("identity", as the ms-marco ones), whose raw scores run from about −11 to 11: the order is that of the raw
///   scores, and ½ is a raw score of 0.
/// - **Deterministic.** The same question and passage give the same score, alone or in any batch, on any thread (to
///   within 1e-5).
/// - **Nothing is cut silently.** A text beyond the model's window is still read whole (by windows, say) or refused by
///   an error.
///
/// The trait is dyn-safe. `&R`, `Box<R>` and `Arc<R>` are rerankers where `R` is.
///
/// ```
/// use mnemic_embed::{EmbedError, Reranker, RerankingModel};
///
/// /// The share of the question's words that the passage holds as they stand.
/// #[derive(Debug)]
/// struct Literal(RerankingModel);
///
/// impl Reranker for Literal {
///     fn model(&self) -> &RerankingModel {
///         &self.0
///     }
///     fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
///         let words: Vec<&str> = query.split_whitespace().collect();
///         let share = |passage: &&str| {
///             let held = words.iter().filter(|word| passage.contains(**word)).count();
///             held as f32 / words.len().max(1) as f32
///         };
///         Ok(passages.iter().map(share).collect())
///     }
/// }
///
/// let literal = Literal(RerankingModel::new("literal", "1"));
/// assert_eq!(literal.rerank("deploy freeze", &["the freeze", "tea"])?, [0.5, 0.0]);
/// mnemic_embed::testing::check_reranker(&literal)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Reranker: Debug + Send + Sync {
    /// Which model this is.
    fn model(&self) -> &RerankingModel;

    /// Scores passages against a question: entry `i` of the answer, in \[0, 1\], belongs to `passages[i]`.
    ///
    /// Where the model finds nothing to read in the question or in a passage, the score is 0 or what the model makes of
    /// nothing. No passages give no scores.
    ///
    /// # Errors
    /// [`EmbedError::Rerank`] where the model could not be run. A batch fails as a whole.
    fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError>;
}

macro_rules! reranker_by_reference {
    ($($pointer:ty),*) => {$(
        impl<R: Reranker + ?Sized> Reranker for $pointer {
            fn model(&self) -> &RerankingModel {
                (**self).model()
            }
            fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
                (**self).rerank(query, passages)
            }
        }
    )*};
}
reranker_by_reference!(&R, Box<R>, Arc<R>);

/// The relevance in \[0, 1\] that a one-label model's logit stands for: 1/(1 + e^−logit), computed in f64. NaN stays
/// NaN.
///
/// ```
/// use mnemic_embed::sigmoid;
///
/// assert_eq!(sigmoid(0.0), 0.5);
/// assert!(sigmoid(8.6) > 0.999 && sigmoid(-4.3) < 0.014);
/// assert_eq!((sigmoid(f32::INFINITY), sigmoid(f32::NEG_INFINITY)), (1.0, 0.0));
/// ```
#[must_use]
pub fn sigmoid(logit: f32) -> f32 {
    (1.0 / (1.0 + (-f64::from(logit)).exp())) as f32
}

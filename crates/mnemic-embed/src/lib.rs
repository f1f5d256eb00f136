#![doc = include_str!("../README.md")]

mod error;
mod model;
mod rerank;
pub mod testing;
mod vector;

use std::fmt::Debug;
use std::sync::Arc;

pub use error::EmbedError;
pub use model::EmbeddingModel;
pub use rerank::{Reranker, RerankingModel, sigmoid};
pub use vector::{Defect, cosine, normalize};

/// What a text is for. Models that were trained on question–answer pairs embed the two sides differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// A question or search text, compared with passages.
    Query,
    /// A text that is stored and searched.
    Passage,
}

/// One text's embedding, or `None` for a text in which the model finds nothing to embed (see [`Embedder::embed`]).
pub type Embedding = Option<Vec<f32>>;

/// Turns texts into vectors whose cosine tells how near their meanings are.
///
/// Implement it for a model of your own and hand it to `Memory::builder().embedder(..)`. The contract, which
/// [`testing::check_embedder`] verifies:
///
/// - **One vector a text, in order.** `embed` answers with exactly as many entries as it was given texts.
/// - **Unit length and finite.** Each vector has [`EmbeddingModel::dims`] numbers, none NaN or infinite, and Euclidean
///   length 1 to within 1e-3. Never a zero vector: a text without content has no vector, which is `None`.
/// - **Deterministic.** The same text and kind give the same vector, alone or in any batch, on any thread
///   (to within 1e-5 a number).
/// - **One name, one space.** Two embedders with an equal [`EmbeddingModel`] give the same vectors; two with an equal
///   [`EmbeddingModel::space`] give vectors that may be compared with each other.
///
/// The trait is dyn-safe. `&E`, `Box<E>` and `Arc<E>` are embedders where `E` is.
///
/// ```
/// use mnemic_embed::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, normalize};
///
/// /// Counts letters: 26 dimensions of very little meaning.
/// #[derive(Debug)]
/// struct Letters(EmbeddingModel);
///
/// impl Embedder for Letters {
///     fn model(&self) -> &EmbeddingModel {
///         &self.0
///     }
///     fn embed(&self, _kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
///         let count = |text: &str| {
///             let mut vector = vec![0.0; 26];
///             for byte in text.bytes().filter(u8::is_ascii_alphabetic) {
///                 vector[usize::from(byte.to_ascii_lowercase() - b'a')] += 1.0;
///             }
///             normalize(&mut vector).ok().map(|()| vector)
///         };
///         Ok(texts.iter().map(|text| count(text)).collect())
///     }
/// }
///
/// let letters = Letters(EmbeddingModel::new("letters", "letters", "1", 26));
/// mnemic_embed::testing::check_embedder(&letters)?;
/// # Ok::<(), mnemic_embed::testing::ContractViolation>(())
/// ```
pub trait Embedder: Debug + Send + Sync {
    /// Which model this is, and in which space its vectors live. A file of memories records it.
    fn model(&self) -> &EmbeddingModel;

    /// Embeds a batch of texts: entry `i` of the answer belongs to `texts[i]`.
    ///
    /// An entry is `None` where the model finds nothing to embed in the text (for most models an empty text, or one of
    /// control characters only). An empty batch gives an empty answer.
    ///
    /// # Errors
    /// [`EmbedError`] where the model could not be loaded or run. A batch fails as a whole.
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError>;

    /// The longest input in the model's own tokens, or `None` where there is no limit. A longer text must still be
    /// embedded whole (by windows, say) or refused by an error: nothing is cut silently.
    fn max_tokens(&self) -> Option<usize> {
        None
    }

    /// In how many parts the model embeds a text: 1 where it reads it in one go, more where the text is longer than the
    /// window ([`Embedder::max_tokens`]), 0 where it finds nothing to embed and knows so. A vector made of many windows
    /// tells less of each of them: a caller may warn, or cut its texts. Default: 1.
    ///
    /// # Errors
    /// [`EmbedError`] where the model could not read the text.
    fn windows(&self, kind: InputKind, text: &str) -> Result<usize, EmbedError> {
        let _ = (kind, text);
        Ok(1)
    }
}

macro_rules! embedder_by_reference {
    ($($pointer:ty),*) => {$(
        impl<E: Embedder + ?Sized> Embedder for $pointer {
            fn model(&self) -> &EmbeddingModel {
                (**self).model()
            }
            fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
                (**self).embed(kind, texts)
            }
            fn max_tokens(&self) -> Option<usize> {
                (**self).max_tokens()
            }
            fn windows(&self, kind: InputKind, text: &str) -> Result<usize, EmbedError> {
                (**self).windows(kind, text)
            }
        }
    )*};
}
embedder_by_reference!(&E, Box<E>, Arc<E>);

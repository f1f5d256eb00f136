//! What can go wrong while embedding and reranking.

use std::error::Error;

/// Why texts could not be embedded, or scored against a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model's files could not be read or are not what they should be.
    #[error("the model {model} could not be loaded: {reason}")]
    Load {
        /// The model's id or file.
        model: String,
        /// What was wrong, and with which file.
        reason: String,
        /// The cause below, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The model failed on a text.
    #[error("embedding failed: {reason}")]
    Run {
        /// What went wrong.
        reason: String,
        /// The cause below, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The reranker failed on a question or a passage.
    #[error("reranking failed: {reason}")]
    Rerank {
        /// What went wrong.
        reason: String,
        /// The cause below, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl EmbedError {
    /// A failure to load `model`, without a cause below.
    pub fn load(model: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Load {
            model: model.into(),
            reason: reason.into(),
            source: None,
        }
    }

    /// A failure to run, without a cause below.
    pub fn run(reason: impl Into<String>) -> Self {
        Self::Run {
            reason: reason.into(),
            source: None,
        }
    }

    /// A failure to rerank, without a cause below.
    pub fn rerank(reason: impl Into<String>) -> Self {
        Self::Rerank {
            reason: reason.into(),
            source: None,
        }
    }

    /// The same error with `source` as its cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match &mut self {
            Self::Load { source, .. } | Self::Run { source, .. } | Self::Rerank { source, .. } => {
                *source = Some(cause.into());
            }
        }
        self
    }
}

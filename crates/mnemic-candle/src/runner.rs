//! What runs an encoder, whichever back-end it is. It knows nothing of what is made of the hidden states.

use std::error::Error;

use crate::LoadError;
use crate::assemble::{CandleEncoder, native};
use crate::cpu::{Encoder, Instructions, Kernels, Sequence};
use crate::folder::Config;
use crate::options::Backend;
use crate::weights::Weights;

/// A runnable encoder.
#[derive(Debug)]
pub(crate) enum Runner {
    Native(Encoder),
    Candle(CandleEncoder),
}

/// What failed, and its cause.
pub(crate) type Failure = (&'static str, Box<dyn Error + Send + Sync>);

impl Runner {
    pub(crate) fn new(
        weights: Weights,
        config: &Config,
        backend: Backend,
        at_most: Option<Instructions>,
    ) -> Result<Self, LoadError> {
        Ok(match backend {
            Backend::Native => {
                let kernels = at_most.map_or_else(Kernels::detect, Kernels::at_most);
                Self::Native(native(weights, config, kernels)?)
            }
            other => Self::Candle(CandleEncoder::new(weights, config, other)?),
        })
    }

    /// The vector instructions of the native back-end; `None` where candle runs the model.
    pub(crate) fn instructions(&self) -> Option<Instructions> {
        match self {
            Self::Native(encoder) => Some(encoder.kernels().instructions()),
            Self::Candle(_) => None,
        }
    }

    /// Runs sequences; `read` makes of each one's final hidden states (`[token][hidden]`) what the caller wants.
    /// Answers in the order of the sequences.
    pub(crate) fn run<R: Send>(
        &self,
        sequences: &[Sequence<'_>],
        read: impl Fn(&[f32]) -> R + Sync,
    ) -> Result<Vec<R>, Failure> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Self::Native(encoder) => encoder
                .run(sequences, read)
                .map_err(|error| ("the encoder refused a text", error.into())),
            Self::Candle(encoder) => encoder
                .run(sequences, read)
                .map_err(|error| ("candle failed on a batch", error.into())),
        }
    }
}

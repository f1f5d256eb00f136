#![doc = include_str!("../README.md")]

mod assemble;
mod cpu;
mod embedder;
mod error;
mod folder;
#[cfg(feature = "hub")]
mod hub;
mod model;
mod options;
mod tokens;
mod weights;

pub use cpu::Instructions;
pub use embedder::CandleEmbedder;
pub use error::LoadError;
pub use model::{Model, Pooling};
pub use options::{Backend, CandleOptions, Progress};

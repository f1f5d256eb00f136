#![doc = include_str!("../README.md")]

mod assemble;
mod cpu;
mod embedder;
mod error;
mod folder;
mod head;
#[cfg(feature = "hub")]
mod hub;
mod model;
mod options;
mod pairs;
mod reranker;
mod runner;
mod tokens;
mod weights;

pub use cpu::Instructions;
pub use embedder::CandleEmbedder;
pub use error::LoadError;
pub use model::{Model, Pooling, RerankModel};
pub use options::{Backend, CandleOptions, Progress, RerankOptions};
pub use reranker::CandleReranker;

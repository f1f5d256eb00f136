//! Embedder and reranker against reference vectors, damaged folders, and a hub on loopback.

// Helpers of tests may do what tests may.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod folders;
#[cfg(all(feature = "hub", unix))]
mod hub;
mod minilm;
mod reranker;
mod support;
mod tiny;

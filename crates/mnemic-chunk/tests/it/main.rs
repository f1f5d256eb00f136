//! The crate from outside: laws on any text, and what the rules make of known ones.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout
)]

mod laws;
mod reading;
mod rules;
mod transcripts;

//! The facade from outside: one binary, a module a subject.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod concurrency;
mod errors;
mod field_reports;
mod foreign;
mod index;
mod model_store;
mod ranking;
mod support;
mod transfer;
mod verbs;

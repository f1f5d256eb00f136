//! The facade from outside: one binary, a module a subject.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod budget;
mod calibrate;
mod concurrency;
mod documents;
mod erase;
mod errors;
mod explain;
mod explain_property;
mod field_reports;
mod foreign;
mod index;
mod model_store;
mod project;
mod ranking;
mod reembed;
mod rerank;
mod sizes;
mod support;
mod transfer;
mod verbs;

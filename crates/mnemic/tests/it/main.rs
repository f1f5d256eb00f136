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
mod consolidate;
pub(crate) mod documents;
mod documents_property;
mod documents_vectors;
mod entities;
mod erase;
mod errors;
mod expand;
mod explain;
mod explain_property;
mod field_reports;
mod foreign;
mod gate;
mod graph;
mod history;
mod index;
mod lifecycle;
mod lifecycle_property;
mod maintain;
mod model_store;
mod passage_rules;
mod passages;
mod planner;
mod project;
mod ranking;
mod reembed;
mod rerank;
mod sizes;
mod support;
mod transfer;
mod undo;
mod verbs;

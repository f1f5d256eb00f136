//! The file of mnemic, from outside: one binary, a module a subject.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

mod documents;
mod entities;
mod graph;
mod migration;
mod open;
mod search;
mod staging;
mod write;

use mnemic_schema::{Embedded, NewRow, OpenOptions, RecordedModel, SchemaError, Store, Timestamp};

pub(crate) fn model(dims: usize) -> RecordedModel {
    RecordedModel {
        space: "test".into(),
        id: "test-model".into(),
        revision: "1".into(),
        dims,
    }
}

pub(crate) fn row(content: &str) -> NewRow {
    NewRow {
        id: None,
        content: content.into(),
        project: None,
        tags: Vec::new(),
        created_at: time("2026-01-01"),
        entities: Vec::new(),
    }
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A vector that points near axis `axis`, a little off by `tilt`.
pub(crate) fn axis(axis: usize, tilt: f32) -> Vec<f32> {
    let mut vector = vec![0.0; 4];
    vector[axis] = 1.0;
    vector[(axis + 1) % 4] += tilt;
    vector
}

pub(crate) fn store() -> Store {
    Store::open_in_memory(OpenOptions::default()).unwrap()
}

pub(crate) fn put(
    store: &mut Store,
    row: &NewRow,
    vector: Option<&[f32]>,
) -> Result<String, SchemaError> {
    let model = model(vector.map_or(4, <[f32]>::len));
    store.write(|w| {
        w.insert(
            row,
            vector.map(|vector| Embedded {
                model: &model,
                vector,
            }),
        )
    })
}

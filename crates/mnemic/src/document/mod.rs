//! Documents: memories with a long source, cut into passages that are searched by word and by meaning. The verbs that
//! write them embed first and then write one version in one transaction; those that read are in read.rs.

pub(crate) mod cut;
pub(crate) mod project;
pub(crate) mod read;
mod store;
pub(crate) mod types;
mod write;

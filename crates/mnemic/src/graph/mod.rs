//! The graph of the memories: relations that were drawn between them, and their causal parents. It draws, lists and follows
//! links; what a link means for trust or recall is said elsewhere, and no memory is changed here.

mod bound;
pub(crate) mod causes;
pub(crate) mod list;
pub(crate) mod relation;
pub(crate) mod walk;
mod write;

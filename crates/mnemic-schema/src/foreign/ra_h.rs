//! The statements that read a file of RA-H.

/// By which tables and columns it is known.
pub(super) const SHAPE: &[(&str, &[&str])] = &[
    ("nodes", &["id", "title", "description", "source"]),
    ("edges", &["from_node_id", "to_node_id"]),
    ("chunks", &["id", "node_id", "text"]),
];

/// All nodes. Their vectors are a column of theirs.
pub(super) const MEMORIES: &str = "SELECT n.*, NULL, NULL FROM nodes n ORDER BY n.id";

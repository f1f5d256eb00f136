//! The statements that read a file of RA-H.

use rusqlite::Connection;

use super::columns;
use crate::error::SchemaError;

/// By which tables and columns it is known.
pub(super) const SHAPE: &[(&str, &[&str])] = &[
    ("nodes", &["id", "title", "description", "source"]),
    ("edges", &["from_node_id", "to_node_id"]),
    ("chunks", &["id", "node_id", "text"]),
];

/// All nodes. Their vectors are a column of theirs.
pub(super) const MEMORIES: &str = "SELECT n.*, NULL, NULL FROM nodes n ORDER BY n.id";

/// The chunks of a node in their order, each with its vector where there is one.
pub(super) fn chunks_sql(connection: &Connection, node: i64) -> Result<String, SchemaError> {
    let has = |table: &str, column: &str| -> Result<bool, SchemaError> {
        Ok(columns(connection, table)?.iter().any(|own| own == column))
    };
    let (vector, join) = if has("vec_chunks", "embedding")? && has("vec_chunks", "chunk_id")? {
        ("v.embedding", "LEFT JOIN vec_chunks v ON v.chunk_id = c.id")
    } else {
        ("NULL", "")
    };
    let order = if has("chunks", "chunk_idx")? {
        "c.chunk_idx, c.id"
    } else {
        "c.id"
    };
    Ok(format!(
        "SELECT c.*, {vector} AS embedding FROM chunks c {join} WHERE c.node_id = {node} ORDER BY {order}"
    ))
}

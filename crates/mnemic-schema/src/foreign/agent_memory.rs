//! The statements that read a file of agent-memory-engine.

use rusqlite::Connection;

use crate::error::{Doing, SchemaError};

/// By which tables and columns it is known.
pub(super) const SHAPE: &[(&str, &[&str])] = &[
    (
        "memories",
        &[
            "id",
            "content",
            "memory_type",
            "created_at",
            "trust_score",
            "source_id",
            "tags_json",
            "entity_refs_json",
            "deleted_at",
        ],
    ),
    ("memory_vectors", &["memory_id", "embedding_json"]),
];

/// All memories, the deleted ones too, each with its vector (a JSON array).
pub(super) const MEMORIES: &str = "SELECT m.*, v.embedding_json, NULL FROM memories m
     LEFT JOIN memory_vectors v ON v.memory_id = m.id ORDER BY m.rowid";

/// How many vectors have no memory: its foreign keys hold only where a program switches them on.
pub(super) fn orphan_vectors(connection: &Connection) -> Result<u64, SchemaError> {
    connection
        .query_row(
            "SELECT count(*) FROM memory_vectors WHERE memory_id NOT IN (SELECT id FROM memories WHERE id IS NOT NULL)",
            [],
            |row| row.get::<_, i64>(0),
        )
        .map(i64::unsigned_abs)
        .doing("counting vectors without a memory")
}

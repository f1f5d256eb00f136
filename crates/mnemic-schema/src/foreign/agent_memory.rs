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

/// Its two logs, each with the columns that it must have, and the statement that reads it: in the names that they share.
const LOGS: [(&str, &[&str], &str); 2] = [
    (
        "evolution_log",
        &["id", "memory_id", "event_type", "payload_json", "created_at"],
        "SELECT 'evolution' AS log, id, 'memory' AS target_type, memory_id AS memory, event_type AS word, NULL AS actor,
                payload_json AS payload, created_at, 0 AS place FROM evolution_log",
    ),
    (
        "audit_log",
        &["id", "target_type", "target_id", "operation", "actor", "payload_json", "created_at"],
        "SELECT 'audit' AS log, id, target_type, target_id AS memory, operation AS word, actor, payload_json AS payload,
                created_at, 1 AS place FROM audit_log",
    ),
];

/// The statement that reads those of its logs that are there, earliest first, and their names.
pub(super) fn logs(
    connection: &Connection,
) -> Result<Option<(String, Vec<&'static str>)>, SchemaError> {
    let (mut parts, mut names) = (Vec::new(), Vec::new());
    for (table, wanted, sql) in LOGS {
        let found = super::columns(connection, table)?;
        if wanted
            .iter()
            .all(|wanted| found.iter().any(|found| found == wanted))
        {
            parts.push(sql);
            names.push(table);
        }
    }
    Ok((!parts.is_empty()).then(|| {
        let sql = format!(
            "{} ORDER BY created_at, place, id",
            parts.join(" UNION ALL ")
        );
        (sql, names)
    }))
}

//! The statements that read a file of rekal, and its own rules of what is carried over from its older shape.

use rusqlite::Connection;

use super::columns;
use crate::error::{Doing, SchemaError};

/// By which tables and columns it is known: those of version 3, which every version has.
pub(super) const SHAPE: &[(&str, &[&str])] = &[(
    "memories",
    &[
        "id",
        "content",
        "project",
        "tags",
        "created_at",
        "updated_at",
    ],
)];

/// Why a memory `m` is not carried over, as an SQL expression; NULL where it is. By rekal's own rules: only the older
/// shape (with a column `memory_type`) has such memories, the scratch ones and those that another one superseded.
pub(crate) fn dropped_sql(connection: &Connection) -> Result<String, SchemaError> {
    let memory = columns(connection, "memories")?;
    let has = |columns: &[String], name: &str| columns.iter().any(|column| column == name);
    let mut cases = String::new();
    if has(&memory, "memory_type") {
        if has(&memory, "tier") {
            cases.push_str(&format!(" WHEN m.tier = 'scratch' THEN '{SCRATCH}'"));
        }
        if has(&columns(connection, "memory_links")?, "relation") {
            cases.push_str(&format!(
                " WHEN m.id IN (SELECT to_id FROM memory_links WHERE relation = 'supersedes') THEN '{SUPERSEDED}'"
            ));
        }
    }
    Ok(if cases.is_empty() {
        "NULL".to_owned()
    } else {
        format!("CASE{cases} END")
    })
}

pub(crate) const SCRATCH: &str = "a scratch note, kept for a while only";
pub(crate) const SUPERSEDED: &str = "superseded by another memory";

/// The expression and the join that give a memory `m` its vector.
pub(crate) fn vector_sql(
    connection: &Connection,
) -> Result<(&'static str, &'static str), SchemaError> {
    Ok(if has_vectors(connection)? {
        ("v.embedding", "LEFT JOIN memory_vec v ON v.id = m.id")
    } else {
        ("NULL", "")
    })
}

fn has_vectors(connection: &Connection) -> Result<bool, SchemaError> {
    Ok(!columns(connection, "memory_vec")?.is_empty())
}

/// All memories, each with its vector and why it is not carried over.
pub(super) fn memories_sql(connection: &Connection) -> Result<String, SchemaError> {
    let dropped = dropped_sql(connection)?;
    let (vector, join) = vector_sql(connection)?;
    Ok(format!(
        "SELECT m.*, {vector}, {dropped} FROM memories m {join} ORDER BY m.rowid"
    ))
}

/// How many vectors have no memory: rekal keeps the two in step by hand.
pub(crate) fn orphan_vectors(connection: &Connection) -> Result<u64, SchemaError> {
    if !has_vectors(connection)? {
        return Ok(0);
    }
    connection
        .query_row(
            "SELECT count(*) FROM memory_vec WHERE id NOT IN (SELECT id FROM memories WHERE id IS NOT NULL)",
            [],
            |row| row.get::<_, i64>(0),
        )
        .map(i64::unsigned_abs)
        .doing("counting vectors without a memory")
}

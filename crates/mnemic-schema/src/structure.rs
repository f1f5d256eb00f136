//! Whether a file has the tables, indexes, triggers and views that it should, and making those that it lacks. It never
//! changes a row of `memories`.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::Connection;

use crate::error::{Doing, SchemaError};
use crate::extension;
use crate::indexed::Indexed;
use crate::migrate::MIGRATIONS;
use crate::read::Snapshot;
use crate::write::WriteTransaction;

/// Something of the schema that is missing, or is other than it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    kind: String,
    name: String,
    missing: bool,
    /// The statement that makes it.
    sql: String,
}

impl Fault {
    /// Whether it is a table, without which the others cannot be looked at.
    pub(crate) fn is_table(&self) -> bool {
        self.kind == "table"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.missing {
            "is missing"
        } else {
            "is not what it should be"
        };
        write!(f, "{} {} {how}", self.kind, self.name)
    }
}

/// Names and statements by kind and name; what SQLite and the virtual tables make themselves is left out.
type Schema = BTreeMap<(String, String), String>;

fn schema_of(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut statement = connection.prepare(
        "SELECT type, name, sql FROM sqlite_schema
         WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
           AND name NOT GLOB 'memories_fts_*' AND name NOT GLOB 'memory_vec_*'
           AND name NOT GLOB 'chunks_fts_*' AND name NOT GLOB 'chunk_vec_*'
            OR name IN ('memories_fts_insert', 'memories_fts_delete', 'memories_fts_update',
                        'chunks_fts_insert', 'chunks_fts_delete', 'chunks_fts_update')",
    )?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    rows.collect()
}

/// What a file should have: each kind of vectors of so many dimensions or not at all, and tables for the coming ones or
/// not.
fn expected(vectors: &[(Indexed, usize)], staging: &[Indexed]) -> rusqlite::Result<Schema> {
    let connection = Connection::open_in_memory()?;
    extension::register(&connection)?;
    for step in MIGRATIONS {
        connection.execute_batch(step)?;
    }
    for (indexed, dims) in vectors {
        connection.execute_batch(&indexed.vector_index_sql(*dims))?;
    }
    for indexed in staging {
        connection.execute_batch(&indexed.staging_sql())?;
    }
    schema_of(&connection)
}

/// What is missing or wrong, in the order in which it can be made.
pub(crate) fn faults(snapshot: &Snapshot<'_>) -> Result<Vec<Fault>, SchemaError> {
    let doing = "comparing the schema with what it should be";
    let found = schema_of(snapshot.connection()).doing(doing)?;
    let has_meta = found.contains_key(&("table".to_owned(), "meta".to_owned()));
    let (model, staged) = if has_meta {
        (snapshot.recorded_model()?, snapshot.staged_model()?)
    } else {
        (None, None)
    };
    let mut vectors = Vec::new();
    if let Some(model) = model {
        vectors.push((Indexed::Memories, model.dims));
        if snapshot.has_passage_vectors()? {
            vectors.push((Indexed::Passages, model.dims));
        }
    }
    let mut staging = Vec::new();
    if staged.is_some() {
        staging.push(Indexed::Memories);
        // Made again when the re-embedding goes on: a file of before there were documents has none.
        if snapshot.has_table(Indexed::Passages.names().staging)? {
            staging.push(Indexed::Passages);
        }
    }
    let expected = expected(&vectors, &staging).doing(doing)?;
    let mut faults: Vec<Fault> = expected
        .into_iter()
        .filter_map(|((kind, name), sql)| {
            let there = found.get(&(kind.clone(), name.clone()));
            (there != Some(&sql)).then(|| Fault {
                missing: there.is_none(),
                kind,
                name,
                sql,
            })
        })
        .collect();
    // Tables first, then the view that the word index reads, then what rests on them.
    let place = |fault: &Fault| match (fault.kind.as_str(), fault.name.as_str()) {
        ("table", "memories_fts" | "memory_vec" | "chunks_fts" | "chunk_vec") => 2,
        ("table", _) => 0,
        ("view", _) => 1,
        ("index", _) => 3,
        _ => 4,
    };
    faults.sort_by_key(place);
    Ok(faults)
}

/// Makes what is missing and replaces what is wrong; a table that is wrong is left to a person. Answers what it did.
pub(crate) fn restore(transaction: &WriteTransaction<'_>) -> Result<Vec<String>, SchemaError> {
    let doing = "restoring the schema";
    let mut restored = Vec::new();
    for fault in faults(transaction)? {
        if !fault.missing {
            if fault.is_table() {
                continue;
            }
            let drop = format!("DROP {} {}", fault.kind, fault.name);
            transaction.connection().execute_batch(&drop).doing(doing)?;
        }
        transaction
            .connection()
            .execute_batch(&fault.sql)
            .doing(doing)?;
        restored.push(fault.to_string());
    }
    Ok(restored)
}

/// The vector table anew, empty, whatever is left of it. vec0 drops itself only where all its own tables are there, and
/// makes itself only where none is.
pub(crate) fn renew_vector_table(
    transaction: &WriteTransaction<'_>,
    indexed: Indexed,
    dims: usize,
) -> Result<(), SchemaError> {
    let doing = "making the vector table anew";
    let table = indexed.names().vectors;
    let own = ["chunks", "rowids", "info", "vector_chunks00"].map(|part| format!("{table}_{part}"));
    let connection = transaction.connection();
    if transaction.has_vectors_of(indexed)? {
        for table in &own {
            let sql = format!("CREATE TABLE IF NOT EXISTS {table} (x)");
            connection.execute_batch(&sql).doing(doing)?;
        }
    } else {
        for table in &own {
            let sql = format!("DROP TABLE IF EXISTS {table}");
            connection.execute_batch(&sql).doing(doing)?;
        }
    }
    connection
        .execute_batch(&indexed.vector_index_sql(dims))
        .doing(doing)
}

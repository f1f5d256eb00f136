//! What is searched: memories or the passages of documents. The two have the same indexes under other names, and here are
//! the names; every statement about an index is written once, over them.

use rusqlite::Connection;

use crate::error::{Doing, SchemaError};

/// Which texts are indexed: the indexes of the two are alike, and never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Indexed {
    /// Memories, by their key `seq`.
    #[default]
    Memories,
    /// The chunks of documents, by their key `chunk`.
    Passages,
}

/// The names of one kind's tables and columns.
#[derive(Debug)]
pub(crate) struct Names {
    /// The table of the texts.
    pub(crate) base: &'static str,
    /// Its key, and that of each of its indexes.
    pub(crate) key: &'static str,
    /// Its column with the text.
    pub(crate) text: &'static str,
    /// For a `FROM`: the table, with its memory as `m`, to which filters apply.
    pub(crate) with_memory: &'static str,
    /// The key in `with_memory`.
    pub(crate) qualified: &'static str,
    /// The vectors.
    pub(crate) vectors: &'static str,
    /// The words.
    pub(crate) words: &'static str,
    /// FTS5's view of the words, term by term, in the temporary schema.
    pub(crate) terms: &'static str,
    /// The log of changes.
    pub(crate) log: &'static str,
    /// The vectors of the coming model.
    pub(crate) staging: &'static str,
}

const MEMORIES: Names = Names {
    base: "memories",
    key: "seq",
    text: "content",
    with_memory: "memories m",
    qualified: "m.seq",
    vectors: "memory_vec",
    words: "memories_fts",
    terms: "memories_words",
    log: "index_log",
    staging: "vector_staging",
};

const PASSAGES: Names = Names {
    base: "chunks",
    key: "chunk",
    text: "text",
    with_memory: "chunks c JOIN memories m ON m.seq = c.seq",
    qualified: "c.chunk",
    vectors: "chunk_vec",
    words: "chunks_fts",
    terms: "chunks_words",
    log: "chunk_log",
    staging: "chunk_staging",
};

impl Indexed {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Memories, Self::Passages];

    pub(crate) fn names(self) -> &'static Names {
        match self {
            Self::Memories => &MEMORIES,
            Self::Passages => &PASSAGES,
        }
    }

    /// The vector table of one width, made anew.
    pub(crate) fn vector_index_sql(self, dims: usize) -> String {
        self.filled(include_str!("../migrations/vector_index.sql"))
            .replace("{dims}", &dims.to_string())
    }

    /// The table of the coming model's vectors, empty.
    pub(crate) fn staging_sql(self) -> String {
        let not_null = match self {
            Self::Memories => " NOT NULL",
            Self::Passages => "",
        };
        self.filled(include_str!("../migrations/vector_staging.sql"))
            .replace("{not_null}", not_null)
    }

    /// A statement with the names in place of `{base}`, `{key}`, `{text}`, `{from}`, `{id}`, `{vectors}`, `{words}`,
    /// `{terms}`, `{log}` and `{staging}`.
    pub(crate) fn filled(self, sql: &str) -> String {
        let names = self.names();
        let names = [
            ("{base}", names.base),
            ("{key}", names.key),
            ("{text}", names.text),
            ("{from}", names.with_memory),
            ("{id}", names.qualified),
            ("{vectors}", names.vectors),
            ("{words}", names.words),
            ("{terms}", names.terms),
            ("{log}", names.log),
            ("{staging}", names.staging),
        ];
        names
            .into_iter()
            .fold(sql.to_owned(), |sql, (place, name)| {
                sql.replace(place, name)
            })
    }
}

/// Makes the word indexes readable term by term on a connection: FTS5's own view of them, in the connection's temporary
/// schema. The file stays as it is.
pub(crate) fn prepare_terms(connection: &Connection) -> Result<(), SchemaError> {
    for indexed in Indexed::ALL {
        connection
            .execute_batch(&indexed.filled(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.{terms} USING fts5vocab('main', '{words}', 'instance')",
            ))
            .doing("setting up the connection")?;
    }
    Ok(())
}

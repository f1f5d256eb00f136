//! Files of the systems that mnemic learned from, read as they are: which system it is, the memories, and every row of every
//! table. It never writes to such a file, and never decides what a row becomes.

mod agent_memory;
mod ra_h;
pub(crate) mod rekal;

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::error::{Doing, SchemaError};
use crate::frozen::Frozen;
use crate::migrate::APPLICATION_ID;
use crate::open::{OpenOptions, connect_read_only, existing};

/// A system whose files can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum System {
    /// rekal, any version: its table `memories` has the columns of version 3, and older ones more.
    Rekal,
    /// agent-memory-engine.
    AgentMemory,
    /// RA-H.
    RaH,
}

impl System {
    const ALL: [Self; 3] = [Self::Rekal, Self::AgentMemory, Self::RaH];

    /// The table whose rows are memories.
    #[must_use]
    pub fn memory_table(self) -> &'static str {
        match self {
            Self::Rekal | Self::AgentMemory => "memories",
            Self::RaH => "nodes",
        }
    }

    /// Tables and columns by which it is known.
    fn shape(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Rekal => rekal::SHAPE,
            Self::AgentMemory => agent_memory::SHAPE,
            Self::RaH => ra_h::SHAPE,
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rekal => "rekal",
            Self::AgentMemory => "agent-memory",
            Self::RaH => "RA-H",
        })
    }
}

/// A value of another system's file. A text that is not UTF-8 comes as the bytes it is.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignValue {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl ForeignValue {
    fn read(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::Blob(bytes.to_owned()),
            },
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_owned()),
        }
    }
}

/// A row: the columns of its table, in their order.
pub type ForeignRow = Vec<(String, ForeignValue)>;

/// A row that may become a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignMemory {
    /// All columns of its table.
    pub row: ForeignRow,
    /// Its vector as another table holds it: a JSON array, or little-endian f32.
    pub vector: ForeignValue,
    /// Why its own system would not carry it over, where it says so.
    pub dropped: Option<String>,
}

/// A table that holds rows of its own (not an index of others).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignTable {
    /// Its name.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// Whether it is an index of vectors.
    pub is_vectors: bool,
}

/// Something of another system's file that did not become part of a memory, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// The table, or in a file of JSON lines the type of the line.
    pub table: String,
    /// The field; `None` where whole rows were left.
    pub field: Option<String>,
    /// How many rows, or values that were there.
    pub count: u64,
    /// Why.
    pub why: String,
}

impl Left {
    /// So many rows of a table, or values of one of its fields.
    pub fn new(
        table: impl Into<String>,
        field: Option<&str>,
        count: u64,
        why: impl Into<String>,
    ) -> Self {
        Self {
            table: table.into(),
            field: field.map(ToOwned::to_owned),
            count,
            why: why.into(),
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{}.{field}: {} ({})", self.table, self.count, self.why),
            None if self.count == 1 => write!(f, "{}: 1 row ({})", self.table, self.why),
            None => write!(f, "{}: {} rows ({})", self.table, self.count, self.why),
        }
    }
}

/// Another system's file, open for reading.
#[derive(Debug)]
pub struct ForeignFile {
    connection: Connection,
    frozen: Option<Frozen>,
    path: PathBuf,
    system: System,
}

impl ForeignFile {
    /// Opens a file for reading, and makes sure that it is one of that system. Nothing is written to it or its log;
    /// where a log lies beside it, SQLite may make the log's index (`-shm`).
    ///
    /// All is read from one state of the file.
    ///
    /// # Errors
    /// [`SchemaError::NotAMemoryFile`] where it is a file of something else, and as
    /// [`crate::Store::open_read_only`].
    pub fn open(path: &Path, system: System, options: OpenOptions) -> Result<Self, SchemaError> {
        let path = existing(path)?;
        let (connection, frozen) = connect_read_only(&path, options)?;
        // Its views and triggers are none of ours to trust; the transaction is the one state that is read.
        connection
            .execute_batch("PRAGMA trusted_schema = OFF; BEGIN")
            .doing("opening the file of another system")?;
        require(&connection, &path, system)?;
        Ok(Self {
            connection,
            frozen,
            path,
            system,
        })
    }

    /// Visits the rows that may become memories, in the order in which they were stored.
    ///
    /// # Errors
    /// What `visit` returns, which ends the visit, and what SQLite reports.
    pub fn memories<E: From<SchemaError>>(
        &self,
        mut visit: impl FnMut(ForeignMemory) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = match self.system {
            System::Rekal => rekal::memories_sql(&self.connection)?,
            System::AgentMemory => agent_memory::MEMORIES.to_owned(),
            System::RaH => ra_h::MEMORIES.to_owned(),
        };
        self.each(&sql, |mut row| {
            let dropped = match row.pop() {
                Some((_, ForeignValue::Text(why))) => Some(why),
                _ => None,
            };
            let vector = row.pop().map_or(ForeignValue::Null, |(_, value)| value);
            visit(ForeignMemory {
                row,
                vector,
                dropped,
            })
        })
    }

    /// The tables that hold rows of their own, by name.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn tables(&self) -> Result<Vec<ForeignTable>, SchemaError> {
        tables(&self.connection)
    }

    /// Visits every row of a table.
    ///
    /// # Errors
    /// As [`ForeignFile::memories`].
    pub fn rows<E: From<SchemaError>>(
        &self,
        table: &str,
        visit: impl FnMut(ForeignRow) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each(&format!("SELECT * FROM {}", quoted(table)), visit)
    }

    /// Visits the entries of agent-memory's logs, earliest first, in names that both share: `log` (`evolution` or `audit`),
    /// `id`, `target_type`, `memory`, `word`, `actor`, `payload`, `created_at`. Answers the names of the tables that were
    /// read; none in a file of another system, or where they lack a column.
    ///
    /// # Errors
    /// As [`ForeignFile::memories`].
    pub fn logs<E: From<SchemaError>>(
        &self,
        mut visit: impl FnMut(ForeignRow) -> Result<(), E>,
    ) -> Result<Vec<&'static str>, E> {
        if self.system != System::AgentMemory {
            return Ok(Vec::new());
        }
        let Some((sql, names)) = agent_memory::logs(&self.connection)? else {
            return Ok(Vec::new());
        };
        self.each(&sql, |mut row| {
            row.pop();
            visit(row)
        })?;
        Ok(names)
    }

    /// Visits the chunks of a node of RA-H in their order, each with its vector as the column `embedding`.
    ///
    /// # Errors
    /// As [`ForeignFile::memories`].
    pub fn chunks_of<E: From<SchemaError>>(
        &self,
        node: i64,
        visit: impl FnMut(ForeignRow) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.has_columns("chunks", &["id", "node_id", "text"])? {
            return Ok(());
        }
        self.each(&ra_h::chunks_sql(&self.connection, node)?, visit)
    }

    /// Whether a table has all of some columns.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_columns(&self, table: &str, wanted: &[&str]) -> Result<bool, SchemaError> {
        let found = columns(&self.connection, table)?;
        let has = |wanted: &&str| found.iter().any(|found| found == wanted);
        Ok(wanted.iter().all(has))
    }

    /// How many vectors belong to no memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn orphan_vectors(&self) -> Result<u64, SchemaError> {
        match self.system {
            System::Rekal => rekal::orphan_vectors(&self.connection),
            System::AgentMemory => agent_memory::orphan_vectors(&self.connection),
            System::RaH => Ok(0),
        }
    }

    /// Makes sure, after the last row was read, that nobody wrote to the file meanwhile.
    ///
    /// # Errors
    /// [`SchemaError::Changed`].
    pub fn finish(self) -> Result<(), SchemaError> {
        match &self.frozen {
            Some(frozen) if !frozen.is_current() => Err(SchemaError::Changed { path: self.path }),
            _ => Ok(()),
        }
    }

    fn each<E: From<SchemaError>>(
        &self,
        sql: &str,
        mut visit: impl FnMut(ForeignRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let doing = "reading the file of another system";
        let mut statement = self.connection.prepare(sql).doing(doing)?;
        let names: Vec<String> = statement.column_names().map(ToOwned::to_owned).collect();
        let mut rows = statement.query([]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(read_row(&names, row).doing(doing)?)?;
        }
        Ok(())
    }
}

fn read_row(names: &[String], row: &Row<'_>) -> rusqlite::Result<ForeignRow> {
    names
        .iter()
        .enumerate()
        .map(|(i, name)| Ok((name.clone(), ForeignValue::read(row.get_ref(i)?))))
        .collect()
}

/// Makes sure that a database is one of that system; the error says what it is instead, as far as that is known.
pub(crate) fn require(
    connection: &Connection,
    path: &Path,
    system: System,
) -> Result<(), SchemaError> {
    let refuse = |reason: String| {
        Err(SchemaError::NotAMemoryFile {
            path: path.to_owned(),
            reason,
        })
    };
    let application: i64 = connection
        .query_row(
            "SELECT application_id FROM pragma_application_id",
            [],
            |row| row.get(0),
        )
        .doing("reading the header of the file")?;
    if application == i64::from(APPLICATION_ID) {
        return refuse(format!(
            "it is one of mnemic, not of {system}: open it, or import what it exports"
        ));
    }
    let Some(lacks) = missing(connection, system)? else {
        return Ok(());
    };
    if let Some(other) = system_of(connection)? {
        return refuse(format!("it is one of {other}, not of {system}"));
    }
    refuse(format!("it is none of {system}: it has no {lacks}"))
}

/// Of which system a database is, if of any of those.
pub(crate) fn system_of(connection: &Connection) -> Result<Option<System>, SchemaError> {
    for system in System::ALL {
        if missing(connection, system)?.is_none() {
            return Ok(Some(system));
        }
    }
    Ok(None)
}

/// What a database lacks to be one of that system; `None` where it is one.
fn missing(connection: &Connection, system: System) -> Result<Option<String>, SchemaError> {
    for (table, wanted) in system.shape() {
        let found = columns(connection, table)?;
        if found.is_empty() {
            return Ok(Some(format!("table {table}")));
        }
        if let Some(column) = wanted
            .iter()
            .find(|wanted| !found.iter().any(|found| found == **wanted))
        {
            return Ok(Some(format!("column {column} in its table {table}")));
        }
    }
    // What agent-memory has, rekal must not: their tables have one name.
    if system == System::Rekal && missing(connection, System::AgentMemory)?.is_none() {
        return Ok(Some("shape of its own".to_owned()));
    }
    Ok(None)
}

/// The columns of a table; none where there is no such table.
pub(crate) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, SchemaError> {
    connection
        .prepare("SELECT name FROM pragma_table_info(?1)")
        .and_then(|mut statement| statement.query_map([table], |row| row.get(0))?.collect())
        .doing("reading the columns of a table")
}

/// The tables that hold rows of their own: not SQLite's, not those in which a virtual table keeps itself, and of the
/// virtual ones only those that hold vectors.
pub(crate) fn tables(connection: &Connection) -> Result<Vec<ForeignTable>, SchemaError> {
    let doing = "listing the tables of the file";
    let found: Vec<(String, bool)> = connection
        .prepare(
            "WITH virtual (name) AS (
                 SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'
             )
             SELECT s.name, s.sql LIKE 'CREATE VIRTUAL TABLE%' FROM sqlite_schema s
             WHERE s.type = 'table' AND s.name NOT GLOB 'sqlite_*'
               AND (s.sql NOT LIKE 'CREATE VIRTUAL TABLE%' OR s.sql LIKE '%USING%vec0%(%')
               AND NOT EXISTS (SELECT 1 FROM virtual v WHERE substr(s.name, 1, length(v.name) + 1) = v.name || '_')
             ORDER BY s.name",
        )
        .and_then(|mut statement| {
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .doing(doing)?;
    found
        .into_iter()
        .map(|(name, is_vectors)| {
            let sql = format!("SELECT count(*) FROM {}", quoted(&name));
            let rows: i64 = connection
                .query_row(&sql, [], |row| row.get(0))
                .doing(doing)?;
            Ok(ForeignTable {
                name,
                rows: rows.unsigned_abs(),
                is_vectors,
            })
        })
        .collect()
}

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

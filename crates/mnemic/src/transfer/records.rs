//! Relations and events on their way in, and the place where they wait: in memory while they are few, else in a temporary
//! file. It never looks into them.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;

use mnemic_schema::{CarriedEvent, NewRelationRow, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use crate::{Error, ErrorKind, Result};

/// Bytes that wait in memory; more wait in a file.
pub(super) const IN_MEMORY: usize = 8 << 20;

/// A relation, and which line or row it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RelationRecord {
    pub(super) place: u64,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: String,
    pub(super) explanation: Option<String>,
    pub(super) context: Option<String>,
    pub(super) source: Option<String>,
    /// Microseconds.
    pub(super) created_at: i64,
}

impl RelationRecord {
    pub(super) fn row(self) -> Result<NewRelationRow> {
        Ok(NewRelationRow {
            from: self.from,
            to: self.to,
            kind: self.kind,
            explanation: self.explanation,
            context: self.context,
            source: self.source,
            created_at: Timestamp::from_micros(self.created_at)?,
        })
    }
}

/// An event, and which line or row it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EventRecord {
    pub(super) place: u64,
    /// Its number there; `None` where it has none that counts.
    pub(super) number: Option<i64>,
    /// Microseconds.
    pub(super) at: i64,
    pub(super) action: String,
    pub(super) memory: String,
    pub(super) project: Option<String>,
    pub(super) actor: Option<String>,
    pub(super) batch: Option<i64>,
    pub(super) detail: Option<String>,
    pub(super) before: Option<String>,
    pub(super) undoes: Option<i64>,
}

impl EventRecord {
    /// The event under another number.
    pub(super) fn row(self, number: i64, batch: i64, undoes: Option<i64>) -> Result<CarriedEvent> {
        Ok(CarriedEvent {
            number,
            at: Timestamp::from_micros(self.at)?,
            action: self.action.as_str().into(),
            memory: self.memory,
            project: self.project,
            actor: self.actor,
            batch,
            detail: self.detail,
            before: self.before,
            undoes,
        })
    }
}

/// Something that names a memory which is neither in the import nor here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Lost {
    /// A memory, a field of its lifecycle, and the id in it.
    Link(String, String, String),
    Relation(RelationRecord),
}

/// Records written once and read as often as need be.
#[derive(Debug)]
pub(super) struct Records<T> {
    file: BufWriter<SpooledTempFile>,
    pub(super) len: u64,
    of: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Records<T> {
    pub(super) fn new() -> Self {
        Self {
            file: BufWriter::new(tempfile::spooled_tempfile(IN_MEMORY)),
            len: 0,
            of: PhantomData,
        }
    }

    pub(super) fn push(&mut self, record: &T) -> Result<()> {
        let bytes = serde_json::to_vec(record)
            .map_err(|error| Error::caused(ErrorKind::Io, SPOOLING, error))?;
        self.file
            .write_all(&(bytes.len() as u64).to_le_bytes())
            .and_then(|()| self.file.write_all(&bytes))
            .map_err(cannot_spool)?;
        self.len += 1;
        Ok(())
    }

    /// Visits all records, in the order in which they were pushed.
    pub(super) fn each(&mut self, mut visit: impl FnMut(T) -> Result<()>) -> Result<()> {
        self.file.flush().map_err(cannot_spool)?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0)).map_err(cannot_spool)?;
        let mut file = BufReader::new(file);
        for _ in 0..self.len {
            let bytes = block(&mut file).map_err(cannot_spool)?;
            let record = serde_json::from_slice(&bytes)
                .map_err(|error| Error::caused(ErrorKind::Io, SPOOLING, error))?;
            visit(record)?;
        }
        Ok(())
    }
}

/// Bytes that follow their length.
pub(super) fn block(file: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(std::io::ErrorKind::UnexpectedEof.into())
    }
}

pub(super) const SPOOLING: &str =
    "what is to be imported cannot be kept aside (in the directory for temporary files)";

pub(super) fn cannot_spool(error: std::io::Error) -> Error {
    Error::caused(ErrorKind::Io, SPOOLING, error)
}

//! The verb that writes memories as JSON lines.

use std::io::Write;

use mnemic_schema::{Filter, MemoryRow, RecordedModel, Timestamp};
use serde_json::{Value, json};

use super::{FORMAT, VERSION};
use crate::filter::filter_verbs;
use crate::memory::Memory;
use crate::{Error, ErrorKind, Result};

/// Which memories [`Memory::export`] writes, and whether with their vectors. The default is all of them, with vectors.
///
/// ```
/// use mnemic::Export;
///
/// let last_year = Export::new().project("web").since("2025-01-01".parse()?).until("2026-01-01".parse()?);
/// # Ok::<(), mnemic::TimestampError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an export writes nothing until it is given to Memory::export"]
pub struct Export {
    pub(crate) filter: Filter,
    vectors: bool,
}

filter_verbs!(Export);

impl Default for Export {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            vectors: true,
        }
    }
}

impl Export {
    /// All memories of all projects, with their vectors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Without vectors: a file many times smaller, whose memories are embedded when they are imported.
    pub fn no_vectors(mut self) -> Self {
        self.vectors = false;
        self
    }
}

/// What [`Memory::export`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportReport {
    /// Memories.
    pub memories: u64,
    /// Vectors.
    pub vectors: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Memory {
    /// Writes memories as JSON lines, all of one instant, oldest first: a first line that says what the file is, then one
    /// line a memory (the format is in `docs/file-format.md`). [`Memory::import`] reads it back. No more than one memory
    /// is held at a time.
    ///
    /// Where writing fails half way, what was written says of itself that it is not whole: its first line counts more
    /// memories than follow.
    ///
    /// # Errors
    /// `Io` where `to` cannot be written, `Busy` where a file that was opened read-only is written to by another process
    /// meanwhile, `Corrupt` where a memory is damaged ([`Memory::repair`] mends it), `Storage`.
    ///
    /// ```
    /// use mnemic::{Export, Import, Memory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store("tea is in the left drawer")?;
    /// let mut file = Vec::new(); // or a File
    /// assert_eq!(memory.export(Export::new(), &mut file)?.memories, 1);
    ///
    /// let other = Memory::open_in_memory()?;
    /// assert_eq!(other.import(Import::jsonl(file.as_slice()))?.added, 1);
    /// assert_eq!(other.recall("tea")?[0].memory, memory.recall("tea")?[0].memory);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn export(&self, export: Export, to: impl Write) -> Result<ExportReport> {
        let mut lines = Lines {
            to: std::io::BufWriter::new(to),
            bytes: 0,
        };
        let mut report = None;
        self.read(|snapshot| {
            if lines.bytes > 0 {
                return Err(Error::new(
                    ErrorKind::Busy,
                    "another process wrote to the file while it was exported: export it again",
                ));
            }
            let (memories, mut vectors) = snapshot.count_memories(&export.filter)?;
            if !export.vectors {
                vectors = 0;
            }
            let model = if vectors > 0 {
                snapshot.recorded_model()?
            } else {
                None
            };
            lines.write(&header(memories, vectors, model.as_ref()))?;
            snapshot.each_memory(&export.filter, vectors > 0, |row, vector| {
                lines.write(&memory_line(&row, vector.as_deref()))
            })?;
            report = Some((memories, vectors));
            Ok(())
        })?;
        lines.to.flush().map_err(not_written)?;
        let (memories, vectors) = report.unwrap_or_default();
        Ok(ExportReport {
            memories,
            vectors,
            bytes: lines.bytes,
        })
    }
}

struct Lines<W: Write> {
    to: std::io::BufWriter<W>,
    bytes: u64,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &str) -> Result<()> {
        self.bytes += line.len() as u64 + 1;
        self.to
            .write_all(line.as_bytes())
            .and_then(|()| self.to.write_all(b"\n"))
            .map_err(not_written)
    }
}

fn not_written(error: std::io::Error) -> Error {
    Error::caused(ErrorKind::Io, "the export cannot be written", error)
}

fn header(memories: u64, vectors: u64, model: Option<&RecordedModel>) -> String {
    let model = model.map_or(Value::Null, |model| {
        json!({ "space": model.space, "id": model.id, "revision": model.revision, "dims": model.dims })
    });
    // By hand, so that what the file is stands first.
    format!(
        r#"{{"type":"header","format":"{FORMAT}","version":{VERSION},"memories":{memories},"vectors":{vectors},"model":{model}}}"#
    )
}

fn memory_line(row: &MemoryRow, vector: Option<&[f32]>) -> String {
    let project = row.project.as_deref().map_or(Value::Null, Value::from);
    let mut line = format!(
        r#"{{"type":"memory","id":{},"content":{},"project":{project},"tags":{},"created_at":"{}","updated_at":"{}""#,
        Value::from(row.id.as_str()),
        Value::from(row.content.as_str()),
        Value::from(row.tags.as_slice()),
        rfc3339(row.created_at),
        rfc3339(row.updated_at),
    );
    if !row.entities.is_empty() {
        line.push_str(&format!(
            r#","entities":{}"#,
            Value::from(row.entities.as_slice())
        ));
    }
    if let Some(vector) = vector {
        // The shortest decimals that are these very numbers.
        let numbers: Vec<String> = vector.iter().map(|x| format!("{x:?}")).collect();
        line.push_str(&format!(r#","vector":[{}]"#, numbers.join(",")));
    }
    line.push('}');
    line
}

/// A time as other programs read it, its zone said.
fn rfc3339(time: Timestamp) -> String {
    time.to_string().replace(' ', "T") + "Z"
}

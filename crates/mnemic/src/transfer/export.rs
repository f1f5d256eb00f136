//! The verb that writes memories as JSON lines.

use std::io::Write;

use mnemic_schema::{Filter, Left, MemoryRow, RecordedModel, Snapshot};
use serde_json::{Value, json};

use super::said::{event_line, memory_fields, relation_line, rfc3339};
use super::{FORMAT, VERSION};
use super::{agent_lines, document};
use crate::filter::filter_verbs;
use crate::memory::Memory;
use crate::{Error, ErrorKind, Result};

/// Which memories [`Memory::export`] writes, and whether with their vectors. The default is all of them however they stand,
/// superseded and forgotten ones too, with their vectors, relations and history.
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
    pub(super) vectors: bool,
    history: bool,
    images: bool,
    /// As agent-memory's own lines.
    agent_memory: bool,
}

filter_verbs!(Export);

impl Default for Export {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            vectors: true,
            history: true,
            images: true,
            agent_memory: false,
        }
    }
}

impl Export {
    /// All memories of all projects, with their vectors.
    pub fn new() -> Self {
        Self::default()
    }

    /// All memories of all projects as agent-memory's own JSON lines, which its import takes: memories, those that others name
    /// before them, then relations. What it has no place for (project, pin, history, relations of other kinds than its five
    /// and what explains them, …) is not written, and counted in [`ExportReport::left`]. A kind that it does not know is written as
    /// semantic. One without a vector is written with an empty one.
    ///
    /// ```
    /// use mnemic::{Export, Import, Memory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store("tea is in the left drawer")?;
    /// let mut file = Vec::new();
    /// memory.export(Export::agent_memory_jsonl(), &mut file)?;
    /// let other = Memory::open_in_memory()?;
    /// assert_eq!(other.import(Import::agent_memory_jsonl(file.as_slice()))?.added, 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn agent_memory_jsonl() -> Self {
        Self {
            agent_memory: true,
            ..Self::default()
        }
    }

    /// Without vectors: a file many times smaller, whose memories are embedded when they are imported.
    pub fn no_vectors(mut self) -> Self {
        self.vectors = false;
        self
    }

    /// Without the memories as they were before each event: a smaller file that tells what happened, of which nothing but a
    /// storing can be undone where it is imported.
    pub fn no_images(mut self) -> Self {
        self.images = false;
        self
    }

    /// Without the history.
    pub fn no_history(mut self) -> Self {
        self.history = false;
        self
    }
}

/// What [`Memory::export`] wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExportReport {
    /// Memories.
    pub memories: u64,
    /// Vectors.
    pub vectors: u64,
    /// Relations.
    pub relations: u64,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// What agent-memory's lines have no place for ([`Export::agent_memory_jsonl`]); nothing of mnemic's own.
    pub left: Vec<Left>,
}

impl Memory {
    /// Writes memories as JSON lines, all of one instant, oldest first: a first line that says what the file is, then one
    /// line a memory, a relation (of those whose both ends are written), an event (of the memories that are written; where
    /// nothing is filtered, of those that are gone too). The format is in `docs/file-format.md`. [`Memory::import`] reads it
    /// back. No more than one of them is held at a time.
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
            if export.agent_memory {
                report = Some(agent_lines::write(snapshot, &export, |line| {
                    lines.write(line)
                })?);
                return Ok(());
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
            let (relations, mut events) = snapshot.count_links(&export.filter)?;
            if !export.history {
                events = 0;
            }
            let counts = [memories, vectors, relations, events];
            lines.write(&header(counts, model.as_ref()))?;
            let documents = snapshot.has_documents()?;
            snapshot.each_memory(&export.filter, vectors > 0, |row, vector| {
                let document = if documents {
                    document_field(snapshot, &row, vectors > 0)?
                } else {
                    String::new()
                };
                lines.write(&memory_line(&row, &document, vector.as_deref()))
            })?;
            snapshot.each_relation(&export.filter, |relation| {
                lines.write(&relation_line(&relation))
            })?;
            if events > 0 {
                snapshot.each_event(&export.filter, |event| {
                    lines.write(&event_line(&event, export.images))
                })?;
            }
            report = Some(ExportReport {
                memories,
                vectors,
                relations,
                events,
                ..ExportReport::default()
            });
            Ok(())
        })?;
        lines.to.flush().map_err(not_written)?;
        Ok(ExportReport {
            bytes: lines.bytes,
            ..report.unwrap_or_default()
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

fn header(counts: [u64; 4], model: Option<&RecordedModel>) -> String {
    let [memories, vectors, relations, events] = counts;
    let model = model.map_or(Value::Null, |model| {
        json!({ "space": model.space, "id": model.id, "revision": model.revision, "dims": model.dims })
    });
    // An older reader knows the first two alone.
    let counted = |name: &str, count: u64| match count {
        0 => String::new(),
        _ => format!("\"{name}\":{count},"),
    };
    let (relations, events) = (counted("relations", relations), counted("events", events));
    // By hand, so that what the file is stands first.
    format!(
        r#"{{"type":"header","format":"{FORMAT}","version":{VERSION},"memories":{memories},"vectors":{vectors},{relations}{events}"model":{model}}}"#
    )
}

/// What a memory that is a document is beside that; nothing of any other.
fn document_field(snapshot: &Snapshot<'_>, row: &MemoryRow, vectors: bool) -> Result<String> {
    let Some(document) = snapshot.document(&row.id)? else {
        return Ok(String::new());
    };
    let source = snapshot.source(&row.id)?.unwrap_or_default();
    let passages = snapshot.carried_passages(row.seq, vectors)?;
    Ok(document::field(&document, &source, &passages))
}

fn memory_line(row: &MemoryRow, document: &str, vector: Option<&[f32]>) -> String {
    let project = row.project.as_deref().map_or(Value::Null, Value::from);
    let mut line = format!(
        r#"{{"type":"memory","id":{},"content":{},"project":{project},"tags":{},"created_at":"{}","updated_at":"{}""#,
        Value::from(row.id.as_str()),
        Value::from(row.content.as_str()),
        Value::from(row.tags.as_slice()),
        rfc3339(row.created_at),
        rfc3339(row.updated_at),
    );
    line.push_str(&memory_fields(&row.lifecycle, row.usage, &row.entities));
    line.push_str(document);
    if let Some(vector) = vector {
        // The shortest decimals that are these very numbers.
        let numbers: Vec<String> = vector.iter().map(|x| format!("{x:?}")).collect();
        line.push_str(&format!(r#","vector":[{}]"#, numbers.join(",")));
    }
    line.push('}');
    line
}

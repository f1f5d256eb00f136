//! The verb that takes memories in, from an export or from another system's file.

use std::fmt;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use mnemic_schema::{Left, System};

use super::left::Leavings;
use super::lines::MAX_LINE;
use super::reading::Reading;
use super::take_in;
use crate::memory::Memory;
use crate::{EmbeddingModel, Result};

/// What [`Memory::import`] does where a memory of the same id is there with another text, project, tags, times, lifecycle or
/// entities, or a relation of the same ends and kind with another explanation, context, source or time. What is there just
/// so is left as it is, whatever this says. How often a memory was used is no difference: the higher count and the later
/// time stay (but where the memory is kept as it is).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnConflict {
    /// The import fails, and nothing of it is kept.
    #[default]
    Fail,
    /// The memory stays as it is.
    Keep,
    /// The memory becomes what is imported.
    Replace,
}

/// What [`Memory::import`] reads, and how.
///
/// ```
/// use mnemic::{Import, OnConflict};
///
/// let backup = Import::jsonl(std::io::stdin().lock()).on_conflict(OnConflict::Keep);
/// let notes = Import::ra_h("ra-h.sqlite").project("notes");
/// ```
#[must_use = "an import reads nothing until it is given to Memory::import"]
pub struct Import<'a> {
    source: Source<'a>,
    pub(super) on_conflict: OnConflict,
    project: Option<String>,
    model: Option<EmbeddingModel>,
    max_line: usize,
    left_to: Option<Box<dyn Write + 'a>>,
}

enum Source<'a> {
    Jsonl(Box<dyn BufRead + 'a>),
    AgentMemoryJsonl(Box<dyn BufRead + 'a>),
    File(System, PathBuf),
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source: &dyn fmt::Debug = match &self.source {
            Source::Jsonl(_) => &"JSON lines",
            Source::AgentMemoryJsonl(_) => &"JSON lines of agent-memory",
            Source::File(_, path) => path,
        };
        f.debug_struct("Import")
            .field("source", source)
            .field("on_conflict", &self.on_conflict)
            .field("project", &self.project)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<'a> Import<'a> {
    /// What [`Memory::export`] wrote.
    pub fn jsonl(from: impl BufRead + 'a) -> Self {
        Self::of(Source::Jsonl(Box::new(from)))
    }

    /// What agent-memory's own export wrote. Its logs are not in it; they are in its database
    /// ([`Import::agent_memory`], which says what becomes of its fields).
    pub fn agent_memory_jsonl(from: impl BufRead + 'a) -> Self {
        Self::of(Source::AgentMemoryJsonl(Box::new(from)))
    }

    /// A database of agent-memory. It is only read. Memories come with kind, importance, layer, decay rate, source, validity,
    /// cause, entities, uses and tags; deleted ones are forgotten, those that another one supersedes superseded since the
    /// relation was drawn; relations come too. The trust that it stores is one that it computed, and is taken as given. Both
    /// logs become events, told apart by `log` (`evolution` or `audit`) in their detail, with its own word as the action;
    /// they have no image of what was before, so that they cannot be undone. A causal parent that leads in a circle is left.
    pub fn agent_memory(path: impl AsRef<Path>) -> Self {
        Self::file(System::AgentMemory, path.as_ref())
    }

    /// A database of RA-H. It is only read. A node becomes a memory with the id `ra-h-` and its number, and the text
    /// title, description, source, each on lines of its own.
    pub fn ra_h(path: impl AsRef<Path>) -> Self {
        Self::file(System::RaH, path.as_ref())
    }

    /// A database of rekal, of any version. It is only read; to go on in the very file, see [`Memory::adopt`].
    pub fn rekal(path: impl AsRef<Path>) -> Self {
        Self::file(System::Rekal, path.as_ref())
    }

    fn file(system: System, path: &Path) -> Self {
        Self::of(Source::File(system, path.to_owned()))
    }

    fn of(source: Source<'a>) -> Self {
        Self {
            source,
            on_conflict: OnConflict::default(),
            project: None,
            model: None,
            max_line: MAX_LINE,
            left_to: None,
        }
    }

    /// What to do where a memory of the same id is there and differs. Default: [`OnConflict::Fail`].
    pub fn on_conflict(mut self, policy: OnConflict) -> Self {
        self.on_conflict = policy;
        self
    }

    /// The project of memories that come without one: agent-memory and RA-H have none. Default: they are global.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Says which model made the vectors of another system's file, which records none. They are used where the memory's
    /// are of the same model; without this, all texts are embedded anew. An export names its model itself.
    pub fn model(mut self, model: EmbeddingModel) -> Self {
        self.model = Some(model);
        self
    }

    /// Longest line that is read, in bytes, so that a file that is none of lines does not fill the memory. Default:
    /// 64 MiB.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Where to write, as JSON lines, every row of which something is left, in full: of another system's database
    /// `{"type":"row","table":…,"row":{…}}` with bytes as `{"hex":…}`, of JSON lines the line as it came. What is written
    /// there is of use only where the import succeeds.
    pub fn left_to(mut self, to: impl Write + 'a) -> Self {
        self.left_to = Some(Box::new(to));
        self
    }
}

/// What became of the relations, or of the events, of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Taken {
    /// Those that are new.
    pub added: u64,
    /// Those that were there already, just so.
    pub unchanged: u64,
    /// Those that were there, differed, and were kept ([`OnConflict::Keep`]).
    pub kept: u64,
    /// Those that were there, differed, and were replaced ([`OnConflict::Replace`]).
    pub replaced: u64,
}

/// What [`Memory::import`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ImportReport {
    /// Memories that are new.
    pub added: u64,
    /// Memories that were there already, just so.
    pub unchanged: u64,
    /// Memories that were there, differed, and were kept ([`OnConflict::Keep`]).
    pub kept: u64,
    /// Memories that were there, differed, and were replaced ([`OnConflict::Replace`]).
    pub replaced: u64,
    /// Of the new and the replaced memories, those that are documents.
    pub documents: u64,
    /// Vectors that came along and were stored, those of passages too.
    pub vectors_carried: u64,
    /// Vectors that were made here and stored, those of passages too.
    pub vectors_made: u64,
    /// Relations.
    pub relations: Taken,
    /// Events. One is never kept or replaced: it is there just so, or it is new.
    pub events: Taken,
    /// What did not become part of a memory, by table and field, and why: nothing is dropped that is not
    /// told here, but for values that say nothing (null, 0, false, empty).
    pub left: Vec<Left>,
    /// Lines written to where [`Import::left_to`] said.
    pub left_written: u64,
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} added, {} unchanged, {} kept, {} replaced; {} vectors carried, {} made",
            self.added,
            self.unchanged,
            self.kept,
            self.replaced,
            self.vectors_carried,
            self.vectors_made
        )?;
        for (what, taken) in [("relations", self.relations), ("events", self.events)] {
            if taken != Taken::default() {
                let Taken {
                    added,
                    unchanged,
                    kept,
                    replaced,
                } = taken;
                write!(
                    f,
                    "; {what}: {added} added, {unchanged} unchanged, {kept} kept, {replaced} replaced"
                )?;
            }
        }
        for left in &self.left {
            write!(f, "\nleft: {left}")?;
        }
        Ok(())
    }
}

impl Memory {
    /// Takes memories in: all of them, or none where anything is wrong with any. Every line is looked at before the
    /// first is embedded, all are embedded before the first is written, and one transaction writes them.
    ///
    /// To import the same again changes nothing: a memory that is there just so stays as it is. What names another memory (a
    /// relation, a causal parent, what supersedes one) is taken where that one is in the import or here; else it is left,
    /// and counted, as an export of some memories may name others. Events keep their numbers where those are free, else all
    /// new ones move up by one number; they come also into a file that keeps no history of its own. Undoing one works where
    /// it came with its image and the memory was not changed since. Vectors that come along
    /// are stored where they are by the model of this memory (an empty memory on a handle without a model takes that of
    /// the import); all other texts are embedded.
    ///
    /// In memory it holds the ids (about 100 bytes each), the numbers of events and at most a few times 8 MiB of the rest, which else waits in temporary
    /// files (`TMPDIR`) of together twice its size; the write-ahead log grows to about the size of what is added.
    ///
    /// # Errors
    /// Nothing was stored where the kind is `InvalidInput` (the message names line and field), `NewerFile` (a later
    /// version of the format), `NotAMemoryFile` (no database of that system), `AlreadyExists` (see [`OnConflict`]),
    /// `ModelMismatch` (a text is to be embedded, but this handle's model is not that of the file), `Embedding`, `Io`,
    /// `ReadOnly`, `Busy`, `Corrupt` or `Storage`.
    ///
    /// ```
    /// use mnemic::{Import, Memory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let lines = r#"{"type":"header","format":"mnemic","version":1}
    /// {"type":"memory","id":"a1","content":"tea is in the left drawer","created_at":"2026-05-01T10:00:00Z","mood":"glad"}"#;
    /// let report = memory.import(Import::jsonl(lines.as_bytes()))?;
    /// assert_eq!((report.added, report.vectors_made), (1, 1));
    /// assert_eq!(report.left[0].field.as_deref(), Some("mood"));
    /// assert_eq!(memory.import(Import::jsonl(lines.as_bytes()))?.unchanged, 1);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn import(&self, import: Import<'_>) -> Result<ImportReport> {
        // Before the work, not after it.
        self.with_writer("importing", |_| Ok(()))?;
        let Import {
            source,
            on_conflict,
            project,
            model,
            max_line,
            left_to,
        } = import;
        let place = match &source {
            Source::File(..) => "row",
            _ => "line",
        };
        let carries = model.is_some() && take_in::model_of_vectors(self, model.as_ref())? == model;
        let mut reading = Reading::new(Leavings::new(left_to), model, carries);
        let source_model = match source {
            Source::Jsonl(mut from) => reading.jsonl(&mut *from, max_line)?,
            Source::AgentMemoryJsonl(mut from) => reading.agent_memory(&mut *from, max_line)?,
            Source::File(system, path) => reading.file(system, &path)?,
        };
        let (mut aside, mut leavings, vectors) = reading.finish()?;
        let taken = take_in::TakeIn {
            memory: self,
            on_conflict,
            project,
            source_model,
            place,
        };
        let (mut report, unused) = taken.run(&mut aside, &mut leavings)?;
        if let Some((count, why)) = unused {
            leavings.count(vectors.0, vectors.1, count, &why);
        }
        leavings.flush()?;
        report.left_written = leavings.written;
        report.left = leavings.counted();
        Ok(report)
    }
}

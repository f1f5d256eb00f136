//! Reading what is to be taken in: each row or line becomes an entry, and what of it does not is counted. It never looks
//! at the memory that the entries are for.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::Path;

use mnemic_schema::{ForeignFile, ForeignMemory, OpenOptions, System};
use serde_json::{Map, Value};

use super::document::{DocumentEntry, slices};
use super::entry::{Entry, Spool};
use super::left::{Leavings, says_something, to_json};
use super::lines::{Fields, each_line, wrong};
use super::records::{EventRecord, Records, RelationRecord};
use super::threads::Threads;
use super::{agent_memory, jsonl, ra_h, rekal};
use crate::{EmbeddingModel, Error, Result, Timestamp};

/// What a row becomes.
pub(super) enum Mapped {
    /// A memory, made of some of its fields.
    Memory {
        entry: Box<Entry>,
        held: &'static [&'static str],
        /// Of those, what could not be taken, and why.
        odd: Vec<(&'static str, &'static str)>,
    },
    /// None, and why.
    Dropped(String),
}

/// What was read, put aside until all of it was.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) entries: Spool,
    pub(super) relations: Records<RelationRecord>,
    pub(super) events: Records<EventRecord>,
    /// The ids of the entries.
    pub(super) ids: jsonl::Ids,
    /// Since when and by which memory one is superseded, where its own row does not say so.
    pub(super) superseded: HashMap<String, (Timestamp, String)>,
    /// The ids of the entries that come without the causal parent that they name.
    pub(super) without_cause: HashSet<String>,
}

impl Aside {
    fn new() -> Self {
        Self {
            entries: Spool::new(),
            relations: Records::new(),
            events: Records::new(),
            ids: jsonl::Ids::default(),
            superseded: HashMap::new(),
            without_cause: HashSet::new(),
        }
    }
}

/// A row's fields by name.
pub(super) type Object = Map<String, Value>;

/// The vector of a row, if it has one; of no numbers where it cannot be read.
pub(super) type Vector = Option<Vec<f32>>;

/// What the row of a number becomes; or what is wrong with it.
type Mapper = fn(u64, &Object, Vector) -> Result<Mapped, String>;

/// A table, and the field if it is one of its: where vectors are.
type Place = (&'static str, Option<&'static str>);

/// How the files of a system are read.
struct Manner {
    /// The row with its names, and its vector, if there is one.
    from_row: fn(ForeignMemory) -> (Object, Vector),
    /// What it becomes.
    map: Mapper,
    /// Why a table is left.
    why: fn(&str) -> &'static str,
    vectors: Place,
}

fn manner(system: System) -> Manner {
    match system {
        System::AgentMemory => Manner {
            from_row: agent_memory::from_row,
            map: agent_memory::map,
            why: agent_memory::why,
            vectors: ("memory_vectors", None),
        },
        System::RaH => Manner {
            from_row: ra_h::from_row,
            map: ra_h::map,
            why: ra_h::why,
            vectors: ("nodes", Some("embedding")),
        },
        _ => Manner {
            from_row: rekal::from_row,
            map: rekal::map,
            why: |_| "mnemic has no such table",
            vectors: ("memory_vec", None),
        },
    }
}

/// An import whose rows are being read.
pub(super) struct Reading<'a> {
    aside: Aside,
    threads: Threads,
    leavings: Leavings<'a>,
    /// The model of the vectors, as the caller says.
    model: Option<EmbeddingModel>,
    /// Whether vectors by that model will be stored.
    carries: bool,
    vectors: Place,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        leavings: Leavings<'a>,
        model: Option<EmbeddingModel>,
        carries: bool,
    ) -> Self {
        Self {
            aside: Aside::new(),
            threads: Threads::default(),
            leavings,
            model,
            carries,
            vectors: ("memory", Some("vector")),
        }
    }

    /// The entries, what is left, and where the vectors were.
    pub(super) fn finish(mut self) -> Result<(Aside, Leavings<'a>, Place)> {
        self.leavings.flush()?;
        Ok((self.aside, self.leavings, self.vectors))
    }

    /// Reads what [`crate::Memory::export`] wrote; answers with the model of the vectors, as the others do.
    pub(super) fn jsonl(
        &mut self,
        from: &mut dyn BufRead,
        max_line: usize,
    ) -> Result<Option<EmbeddingModel>> {
        jsonl::read(from, max_line, &mut self.aside, &mut self.leavings)
    }

    /// Reads a database of another system.
    pub(super) fn file(&mut self, system: System, path: &Path) -> Result<Option<EmbeddingModel>> {
        let file = ForeignFile::open(path, system, OpenOptions::default())?;
        let manner = manner(system);
        let table = system.memory_table();
        self.vectors = manner.vectors;
        let mut place = 0;
        file.memories(|mut memory| {
            place += 1;
            let dropped = memory.dropped.take();
            let (row, vector) = (manner.from_row)(memory);
            let has_vector = vector.is_some();
            let mut mapped = match dropped {
                Some(why) => Mapped::Dropped(why),
                None => (manner.map)(place, &row, vector).unwrap_or_else(Mapped::Dropped),
            };
            if let Mapped::Memory { entry, .. } = &mut mapped
                && let Some(document) = &mut entry.document
            {
                self.passages_of(&file, &row, document)?;
            }
            if self.mapped(table, &row, mapped, has_vector)? {
                self.leavings.row(table, &row)?;
            }
            Ok::<(), Error>(())
        })?;
        let mut read = vec![table];
        if system == System::AgentMemory {
            self.links_of(&file, &mut read)?;
        }
        if system == System::RaH {
            self.edges_of(&file, &mut read)?;
            if self.carries {
                read.push("vec_chunks");
            }
            if file.has_columns("chunks", &["id", "node_id", "text"])? {
                read.push("chunks");
            }
        }
        self.other_tables(&file, &read, manner.why)?;
        let (table, field) = self.vectors;
        let orphans = file.orphan_vectors()?;
        self.leavings
            .count(table, field, orphans, "no memory has their id");
        file.finish()?;
        Ok(self.model.clone())
    }

    /// Reads what agent-memory's file holds of relations between memories and of what happened to them.
    fn links_of(&mut self, file: &ForeignFile, read: &mut Vec<&'static str>) -> Result<()> {
        let columns = ["source_id", "target_id", "relation_type", "created_at"];
        let mut place = 0;
        if file.has_columns("relations", &columns)? {
            read.push("relations");
            file.rows("relations", |row| {
                place += 1;
                let row = to_json(row);
                match agent_memory::relation(place, &row) {
                    Ok(relation) => {
                        self.threads.relation(&relation);
                        self.aside.relations.push(&relation)
                    }
                    Err(why) => self.leave("relations", &row, why),
                }
            })?;
        }
        place = 0;
        let logs = file.logs(|row| {
            place += 1;
            let row = to_json(row);
            match agent_memory::event(place, &row) {
                Ok(event) => self.aside.events.push(&event),
                Err(why) => {
                    let of_audit = row.get("log").and_then(Value::as_str) == Some("audit");
                    let table = if of_audit {
                        "audit_log"
                    } else {
                        "evolution_log"
                    };
                    self.leave(table, &row, why)
                }
            }
        })?;
        read.extend(logs);
        let threads = std::mem::take(&mut self.threads);
        threads.tie("memories", &mut self.aside, &mut self.leavings)
    }

    /// Reads the edges of a file of RA-H.
    fn edges_of(&mut self, file: &ForeignFile, read: &mut Vec<&'static str>) -> Result<()> {
        if !file.has_columns("edges", &ra_h::EDGE)? {
            return Ok(());
        }
        read.push("edges");
        let mut place = 0;
        file.rows("edges", |row| {
            place += 1;
            let row = to_json(row);
            match ra_h::edge(place, &row) {
                Ok(relation) => self.aside.relations.push(&relation)?,
                Err(why) => return self.leave("edges", &row, why),
            }
            self.leave_fields("edges", &row, &ra_h::EDGE)
        })
    }

    /// Counts the fields of a row that have no place, and keeps the row where there are any.
    fn leave_fields(&mut self, table: &str, row: &Object, held: &[&str]) -> Result<()> {
        let mut something = false;
        for (name, value) in row {
            if !held.contains(&name.as_str()) && says_something(value) {
                let why = "mnemic has no such field yet";
                self.leavings.count(table, Some(name), 1, why);
                something = true;
            }
        }
        if something {
            self.leavings.row(table, row)?;
        }
        Ok(())
    }

    /// Gives a document the passages that RA-H cut, where they are slices of its source; else it is cut anew.
    fn passages_of(
        &mut self,
        file: &ForeignFile,
        node: &Object,
        document: &mut DocumentEntry,
    ) -> Result<()> {
        let Some(number) = node.get("id").and_then(Value::as_i64) else {
            return Ok(());
        };
        let mut chunks = Vec::new();
        file.chunks_of(number, |row| {
            let (text, metadata, vector) = ra_h::chunk(&row);
            let dims = self.model.as_ref().map(|model| model.dims);
            let vector = vector.filter(|vector| self.carries && Some(vector.len()) == dims);
            chunks.push((text, metadata, vector));
            self.leave_fields("chunks", &to_json(row), &ra_h::CHUNK)
        })?;
        if chunks.is_empty() {
            return Ok(());
        }
        let count = chunks.len() as u64;
        document.passages = slices(&document.source, chunks);
        if document.passages.is_none() {
            let why = "no slices of their source, one behind the other: it was cut anew";
            self.leavings.count("chunks", None, count, why);
        }
        Ok(())
    }

    /// Counts a row that is left, and keeps it.
    fn leave(&mut self, table: &str, row: &Object, why: &str) -> Result<()> {
        self.leavings.count(table, None, 1, why);
        self.leavings.row(table, row)
    }

    /// Counts the rows of all tables but those that were read. Their vectors are counted one by one already.
    fn other_tables(
        &mut self,
        file: &ForeignFile,
        read: &[&str],
        why: fn(&str) -> &'static str,
    ) -> Result<()> {
        for table in file.tables()? {
            let is_vectors = self.vectors == (table.name.as_str(), None);
            // Vectors that came over are not left; where some did not, all are written.
            let all_came = is_vectors && self.carries && !self.leavings.has(&table.name);
            if read.contains(&table.name.as_str()) || all_came {
                continue;
            }
            if !is_vectors {
                let why = why(&table.name);
                self.leavings.count(&table.name, None, table.rows, why);
            }
            if self.leavings.keeps_rows() {
                file.rows(&table.name, |row| {
                    self.leavings.row(&table.name, &to_json(row))
                })?;
            }
        }
        Ok(())
    }

    /// Reads agent-memory's own JSON lines.
    pub(super) fn agent_memory(
        &mut self,
        from: &mut dyn BufRead,
        max_line: usize,
    ) -> Result<Option<EmbeddingModel>> {
        self.vectors = ("memory", Some("embedding"));
        let mut lines = 0;
        each_line(from, max_line, |line, text| {
            lines = line;
            if self.agent_memory_line(line, text)? {
                self.leavings.line(text)?;
            }
            Ok(())
        })?;
        if lines == 0 {
            return Err(Error::invalid("the import is empty"));
        }
        let threads = std::mem::take(&mut self.threads);
        threads.tie("memory", &mut self.aside, &mut self.leavings)?;
        Ok(self.model.clone())
    }

    /// Takes one line; tells whether something of it is left.
    fn agent_memory_line(&mut self, line: u64, text: &str) -> Result<bool> {
        let mut fields = Fields::parse(line, text)?;
        let kind: String = fields.required("type")?;
        if kind == "header" {
            let what = "an export of mnemic begins so: import it with Import::jsonl";
            return Err(wrong(line, what));
        }
        let payload = fields.optional_object("payload")?;
        let mut payload = payload.ok_or_else(|| fields.wrong("payload", "it is missing"))?;
        match kind.as_str() {
            "memory" => {}
            "relation" => {
                let row = payload.into_object()?;
                let relation =
                    agent_memory::relation(line, &row).map_err(|what| wrong(line, what))?;
                self.threads.relation(&relation);
                self.aside.relations.push(&relation)?;
                let held = ["source_id", "target_id", "relation_type", "created_at"];
                let mut something = false;
                for name in row.keys().filter(|name| !held.contains(&name.as_str())) {
                    self.leavings.count(&kind, Some(name), 1, NO_SUCH_FIELD);
                    something = true;
                }
                return Ok(something);
            }
            _ => {
                let why = agent_memory::why(&kind);
                self.leavings.count(&kind, None, 1, why);
                return Ok(true);
            }
        }
        let vector = payload.vector("embedding")?;
        let has_vector = vector.is_some();
        // By the very digits, as its database has them.
        let mut numbers = Vec::new();
        for name in ["trust_score", "importance", "decay_rate"] {
            numbers.extend(payload.number(name)?.map(|number| (name, number)));
        }
        let mut row = payload.into_object()?;
        for (name, number) in numbers {
            row.insert(name.to_owned(), number.into());
        }
        let mapped = agent_memory::map(line, &row, vector).map_err(|what| wrong(line, what))?;
        if let Some(Value::String(id)) = row.get("id") {
            self.aside.ids.add(id, line)?;
        }
        let mut something = self.mapped("memory", &row, mapped, has_vector)?;
        for (name, _) in fields.rest() {
            self.leavings.count(&kind, Some(name), 1, NO_SUCH_FIELD);
            something = true;
        }
        Ok(something)
    }

    /// Takes what a row became; tells whether something of it is left.
    fn mapped(
        &mut self,
        table: &str,
        row: &Object,
        mapped: Mapped,
        has_vector: bool,
    ) -> Result<bool> {
        let (vectors, field) = self.vectors;
        let (mut entry, held, odd) = match mapped {
            Mapped::Memory { entry, held, odd } => (entry, held, odd),
            Mapped::Dropped(why) => {
                self.leavings.count(table, None, 1, &why);
                let count = u64::from(has_vector);
                let why = "their memory was left";
                self.leavings.count(vectors, field, count, why);
                return Ok(true);
            }
        };
        let mut something = has_vector && !self.carries && field.is_some();
        if has_vector && let Some(why) = self.why_not_carried(&entry) {
            self.leavings.count(vectors, field, 1, why);
            entry.vector = None;
            something |= field.is_some();
        }
        for (name, value) in row {
            let odd = odd.iter().find(|(odd, _)| odd == name).map(|(_, why)| *why);
            if Some(name.as_str()) != field
                && (odd.is_some() || says_something(value))
                && let Some(why) = odd.or_else(|| why_left(name, value, held))
            {
                self.leavings.count(table, Some(name), 1, why);
                something = true;
            }
        }
        if held.contains(&"supersedes_id") {
            self.threads.memory(row, &entry);
        }
        self.aside.ids.note(&entry.id, entry.place);
        self.aside.entries.push(*entry)?;
        Ok(something)
    }

    /// Why the vector of a row cannot be that of its memory, as far as that is known before the memory is looked at.
    fn why_not_carried(&self, entry: &Entry) -> Option<&'static str> {
        match (&self.model, &entry.vector) {
            (None, _) => Some("which model made them is not known"),
            (Some(_), None) => Some("of another text than the memory's, or no vectors"),
            (Some(model), Some((vector, _))) if vector.len() != model.dims => {
                Some("of another width than those of the model")
            }
            _ => None,
        }
    }
}

const NO_SUCH_FIELD: &str = "agent-memory has no such field";

/// Why a value that says something is left; `None` where it was taken.
fn why_left(name: &str, value: &Value, held: &[&str]) -> Option<&'static str> {
    if !held.contains(&name) {
        return Some("mnemic has no such field yet");
    }
    let is_time = || {
        let text = value.as_str();
        text.is_some_and(|time| time.parse::<Timestamp>().is_ok())
    };
    // A time that could not be read was not taken, though its field has a place.
    (["created_at", "updated_at"].contains(&name) && !is_time())
        .then_some("no time: the other one was taken")
}

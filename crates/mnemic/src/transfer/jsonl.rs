//! Reads what [`crate::Memory::export`] wrote. Every line is looked at; what this version does not know is counted.

use std::collections::HashMap;
use std::io::BufRead;

use super::entry::{Entry, id_defect, unit};
use super::left::Leavings;
use super::lines::{Fields, each_line, wrong};
use super::reading::Aside;
use super::{FORMAT, VERSION};
use super::{document, said};
use crate::{EmbeddingModel, Error, ErrorKind, Result};

/// Reads all lines into a spool; answers with the model of the vectors.
pub(super) fn read(
    from: &mut dyn BufRead,
    max_line: usize,
    aside: &mut Aside,
    leavings: &mut Leavings<'_>,
) -> Result<Option<EmbeddingModel>> {
    let mut reader = Reader {
        header: None,
        numbers: HashMap::new(),
        vectors: 0,
        lines: 0,
    };
    each_line(from, max_line, |number, text| {
        reader.lines = number;
        reader.line(number, text, aside, leavings)
    })?;
    let Some(header) = reader.header else {
        return Err(Error::invalid(
            "the import is empty: not even the first line of an export is there",
        ));
    };
    for (what, told, found) in [
        ("memories", header.memories, aside.entries.len),
        ("vectors", header.vectors, reader.vectors),
        ("relations", header.relations, aside.relations.len),
        ("events", header.events, aside.events.len),
    ] {
        if let Some(told) = told
            && told != found
        {
            return Err(Error::invalid(format!(
                "the first line tells of {told} {what}, but {found} follow in {} lines: the file was cut short, or \
                 changed (without field {what:?} in its first line nothing is compared)",
                reader.lines
            )));
        }
    }
    Ok(header.model)
}

/// Which ids were read, and on which line: one that comes twice is an error.
#[derive(Debug, Default)]
pub(super) struct Ids(HashMap<Box<str>, u64>);

impl Ids {
    pub(super) fn add(&mut self, id: &str, line: u64) -> Result<()> {
        match self.0.insert(id.into(), line) {
            None => Ok(()),
            Some(first) => Err(wrong(
                line,
                format!("field \"id\": {id:?} is the id of line {first} already"),
            )),
        }
    }

    /// As [`Ids::add`], where one that comes twice is seen elsewhere.
    pub(super) fn note(&mut self, id: &str, place: u64) {
        self.0.entry(id.into()).or_insert(place);
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }
}

struct Header {
    model: Option<EmbeddingModel>,
    memories: Option<u64>,
    vectors: Option<u64>,
    relations: Option<u64>,
    events: Option<u64>,
}

struct Reader {
    header: Option<Header>,
    /// The numbers of the events, and on which line each is.
    numbers: HashMap<i64, u64>,
    vectors: u64,
    lines: u64,
}

impl Reader {
    fn line(
        &mut self,
        number: u64,
        text: &str,
        aside: &mut Aside,
        leavings: &mut Leavings<'_>,
    ) -> Result<()> {
        let mut fields = Fields::parse(number, text)?;
        let kind: String = fields.required("type")?;
        let Some(header) = &self.header else {
            if kind != "header" {
                return Err(wrong(
                    number,
                    format!(
                        "it should be the first line of an export, its type \"header\", and is of type {kind:?}"
                    ),
                ));
            }
            self.header = Some(header(number, &mut fields)?);
            for (name, _) in fields.rest() {
                leavings.count("header", Some(name), 1, UNKNOWN_FIELD);
            }
            return if fields.rest().next().is_some() {
                leavings.line(text)
            } else {
                Ok(())
            };
        };
        // The line is kept where a field of it is left, also one within a field.
        let mut unknown = 0;
        match kind.as_str() {
            "memory" => {
                let entry = memory(number, &mut fields, header.model.as_ref(), |name| {
                    unknown += 1;
                    leavings.count("memory", Some(name), 1, UNKNOWN_FIELD);
                })?;
                aside.ids.add(&entry.id, number)?;
                self.vectors += u64::from(entry.vector.is_some());
                aside.entries.push(entry)?;
            }
            "relation" => {
                let relation = said::relation(number, &mut fields)?;
                aside.relations.push(&relation)?;
            }
            "event" => {
                let event = said::event(number, &mut fields)?;
                if let Some(own) = event.number
                    && let Some(first) = self.numbers.insert(own, number)
                {
                    let what = format_args!("{own} is the number of line {first} already");
                    return Err(fields.wrong("number", what));
                }
                aside.events.push(&event)?;
            }
            "header" => return Err(wrong(number, "a second header: these are two exports")),
            other => {
                let why = "this version of mnemic knows no such type of line";
                leavings.count(other, None, 1, why);
                return leavings.line(text);
            }
        }
        for (name, _) in fields.rest() {
            unknown += 1;
            leavings.count(&kind, Some(name), 1, UNKNOWN_FIELD);
        }
        if unknown > 0 {
            leavings.line(text)?;
        }
        Ok(())
    }
}

const UNKNOWN_FIELD: &str = "this version of mnemic knows no such field";

fn header(line: u64, fields: &mut Fields) -> Result<Header> {
    let format: String = fields.required("format")?;
    if format != FORMAT {
        return Err(fields.wrong("format", format_args!("{format:?} is not {FORMAT:?}")));
    }
    let version: u64 = fields.required("version")?;
    if version > VERSION {
        return Err(Error::new(
            ErrorKind::NewerFile,
            format!(
                "line {line}: the export has format version {version}, but this library knows versions up to {VERSION}: \
                 update the library"
            ),
        ));
    }
    if version == 0 {
        return Err(fields.wrong("version", "the first version is 1"));
    }
    let memories = fields.optional("memories")?;
    let vectors = fields.optional("vectors")?;
    let relations = fields.optional("relations")?;
    let events = fields.optional("events")?;
    let model = match fields.optional_object("model")? {
        None => None,
        Some(mut model) => {
            let dims: usize = model.required("dims")?;
            if dims == 0 {
                return Err(model.wrong("dims", "a vector has at least 1 number"));
            }
            Some(EmbeddingModel::new(
                model.required::<String>("space")?,
                model.required::<String>("id")?,
                model.required::<String>("revision")?,
                dims,
            ))
        }
    };
    Ok(Header {
        model,
        memories,
        vectors,
        relations,
        events,
    })
}

fn memory(
    line: u64,
    fields: &mut Fields,
    model: Option<&EmbeddingModel>,
    mut unknown: impl FnMut(&str),
) -> Result<Entry> {
    let id: String = fields.required("id")?;
    if let Some(defect) = id_defect(&id) {
        return Err(fields.wrong("id", defect));
    }
    let content: String = fields.required("content")?;
    if content.trim().is_empty() {
        return Err(fields.wrong("content", "a memory needs a text"));
    }
    let created_at = fields
        .time("created_at")?
        .ok_or_else(|| fields.wrong("created_at", "it is missing"))?;
    let updated_at = fields.time("updated_at")?.unwrap_or(created_at);
    let entities: Option<Vec<String>> = fields.optional("entities")?;
    if let Some(names) = &entities
        && names.iter().any(|name| name.trim().is_empty())
    {
        return Err(fields.wrong("entities", "an entity needs a name"));
    }
    let lifecycle = said::lifecycle(fields, &id, |name| unknown(&format!("lifecycle.{name}")))?;
    let usage = said::usage(fields, |name| unknown(&format!("usage.{name}")))?;
    let document = document::read(line, fields, model, &mut unknown)?;
    let mut vector = vector(fields, model)?;
    // A document is embedded by its card, whatever the line calls its text.
    let card = document.as_ref().map(document::DocumentEntry::card);
    let content = match card {
        Some(card) => {
            vector = vector.filter(|_| card == content);
            card
        }
        None => content,
    };
    Ok(Entry {
        place: line,
        id,
        content,
        project: fields.optional("project")?,
        tags: fields.optional("tags")?.unwrap_or_default(),
        created_at,
        updated_at,
        lifecycle,
        usage,
        entities: entities.map(|names| (said::distinct(names), true)),
        document: document.map(Box::new),
        vector: vector.map(|vector| (vector, true)),
    })
}

pub(super) fn vector(
    fields: &mut Fields,
    model: Option<&EmbeddingModel>,
) -> Result<Option<Vec<f32>>> {
    let Some(vector) = fields.vector("vector")? else {
        return Ok(None);
    };
    let Some(model) = model else {
        return Err(fields.wrong("vector", "the first line names no model that made it"));
    };
    if vector.len() != model.dims {
        return Err(fields.wrong(
            "vector",
            format_args!(
                "it has {} numbers, those of {model} have {}",
                vector.len(),
                model.dims
            ),
        ));
    }
    unit(vector)
        .map(Some)
        .map_err(|defect| fields.wrong("vector", defect))
}

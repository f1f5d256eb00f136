//! Lines of JSON, read one at a time, each field with its name for the error. It never holds more than one line.

use std::collections::HashSet;
use std::io::BufRead;

use mnemic_schema::Timestamp;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, ErrorKind, Result};

/// Longest line read unless the caller says otherwise: 64 MiB.
pub(super) const MAX_LINE: usize = 64 << 20;

/// An error about a line.
pub(super) fn wrong(line: u64, what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("line {line}: {what}"))
}

/// Visits the lines that are not blank, with their numbers from 1.
pub(super) fn each_line(
    from: &mut dyn BufRead,
    max_line: usize,
    mut visit: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let ended = read_line(from, &mut line, max_line).map_err(|error| {
            Error::caused(
                ErrorKind::Io,
                format!("line {number} cannot be read"),
                error,
            )
        })?;
        let mut bytes = line.as_slice();
        if number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        if ended == Ended::TooLong {
            return Err(wrong(
                number,
                format!(
                    "it is longer than {max_line} bytes: if it should be, say so with max_line"
                ),
            ));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            wrong(
                number,
                format!("it is not UTF-8 at byte {}", error.valid_up_to() + 1),
            )
        })?;
        let text = text.trim();
        if !text.is_empty() {
            visit(number, text).map_err(|error| match ended {
                // Without its end, what is wrong with it is that it was cut off.
                Ended::AtEndOfFile if !text.ends_with('}') => wrong(
                    number,
                    "the file ends in the middle of it: it was cut short",
                ),
                _ => error,
            })?;
        }
        if ended == Ended::AtEndOfFile {
            break;
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    AtNewline,
    AtEndOfFile,
    TooLong,
}

fn read_line(from: &mut dyn BufRead, line: &mut Vec<u8>, max: usize) -> std::io::Result<Ended> {
    loop {
        let available = match from.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(Ended::AtEndOfFile);
        }
        let newline = available.iter().position(|&byte| byte == b'\n');
        let part = available.get(..newline.unwrap_or(available.len()));
        let part = part.unwrap_or_default();
        if line.len() + part.len() > max {
            return Ok(Ended::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(newline.is_some());
        from.consume(used);
        if newline.is_some() {
            return Ok(Ended::AtNewline);
        }
    }
}

/// The fields of one line's object, each still as its text.
#[derive(Debug)]
pub(super) struct Fields {
    line: u64,
    fields: Vec<(String, Box<RawValue>)>,
}

impl Fields {
    pub(super) fn parse(line: u64, text: &str) -> Result<Self> {
        let fields: Pairs = serde_json::from_str(text).map_err(|error| {
            let (column, what) = (error.column(), plain(&error));
            Error::invalid(format!("line {line}, column {column}: {what}"))
        })?;
        Self::once_each(line, fields.0)
    }

    /// The fields of an object that is a field of this one; absent and null are the same.
    pub(super) fn optional_object(&mut self, name: &str) -> Result<Option<Self>> {
        let inner: Option<Pairs> = self.optional(name)?;
        inner
            .map(|inner| Self::once_each(self.line, inner.0))
            .transpose()
    }

    fn once_each(line: u64, fields: Vec<(String, Box<RawValue>)>) -> Result<Self> {
        let mut names = HashSet::with_capacity(fields.len());
        for (name, _) in &fields {
            if !names.insert(name) {
                return Err(wrong(line, format!("field {name:?}: it is there twice")));
            }
        }
        Ok(Self { line, fields })
    }

    pub(super) fn wrong(&self, field: &str, what: impl std::fmt::Display) -> Error {
        wrong(self.line, format!("field {field:?}: {what}"))
    }

    /// Takes a field out, as its text.
    fn take(&mut self, name: &str) -> Option<Box<RawValue>> {
        let at = self.fields.iter().position(|(own, _)| own == name)?;
        Some(self.fields.remove(at).1)
    }

    /// Takes a field out; absent and null are the same.
    pub(super) fn optional<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(raw) = self.take(name) else {
            return Ok(None);
        };
        serde_json::from_str(raw.get()).map_err(|error| self.wrong(name, plain(&error)))
    }

    pub(super) fn required<T: DeserializeOwned>(&mut self, name: &str) -> Result<T> {
        self.optional(name)?
            .ok_or_else(|| self.wrong(name, "it is missing"))
    }

    pub(super) fn time(&mut self, name: &str) -> Result<Option<Timestamp>> {
        let text: Option<String> = self.optional(name)?;
        text.map(|text| text.parse().map_err(|error| self.wrong(name, error)))
            .transpose()
    }

    /// A number, read from the very digits.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<f64>> {
        let Some(raw) = self.raw(name) else {
            return Ok(None);
        };
        let number = raw.parse::<f64>();
        let number = number.map_err(|_| self.wrong(name, "it is not a number"))?;
        Ok(Some(number))
    }

    /// Takes a field out, as its text; absent and null are the same.
    pub(super) fn raw(&mut self, name: &str) -> Option<String> {
        let raw = self.take(name)?;
        (raw.get() != "null").then(|| raw.get().to_owned())
    }

    /// A list of f32, read from the very digits: by way of f64 a number might be rounded twice.
    pub(super) fn vector(&mut self, name: &str) -> Result<Option<Vec<f32>>> {
        let Some(raw) = self.take(name) else {
            return Ok(None);
        };
        if raw.get() == "null" {
            return Ok(None);
        }
        numbers(raw.get())
            .map(Some)
            .map_err(|what| self.wrong(name, what))
    }

    /// The fields that were not taken, as values.
    pub(super) fn into_object(self) -> Result<serde_json::Map<String, serde_json::Value>> {
        let mut object = serde_json::Map::new();
        for (name, raw) in &self.fields {
            let value = serde_json::from_str(raw.get());
            let value = value.map_err(|error| self.wrong(name, plain(&error)))?;
            object.insert(name.clone(), value);
        }
        Ok(object)
    }

    /// The names and texts of the fields that were not taken.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(name, raw)| (name.as_str(), raw.get()))
    }
}

/// The numbers of a JSON array, as the nearest f32.
pub(super) fn numbers(text: &str) -> Result<Vec<f32>, String> {
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .ok_or("it is not a list of numbers")?;
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    inner
        .split(',')
        .zip(1..)
        .map(|(number, place)| match number.trim().parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("number {place} of it is not one that f32 can hold")),
        })
        .collect()
}

/// What serde_json says is wrong, without a place that would be the field's own and not the line's.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// An object as a list, so that a name that is there twice is seen.
struct Pairs(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

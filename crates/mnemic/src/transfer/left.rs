//! What did not become part of a memory: counted by table and field, and written in full for whoever keeps it.

use std::collections::BTreeMap;
use std::io::Write;

use mnemic_schema::{ForeignRow, ForeignValue, Left};
use serde_json::{Map, Value, json};

use crate::{Error, ErrorKind, Result};

/// Counts what is left, and writes the rows it is left of.
pub(super) struct Leavings<'a> {
    counts: BTreeMap<(String, Option<String>, String), u64>,
    to: Option<Box<dyn Write + 'a>>,
    pub(super) written: u64,
}

/// Names and reasons that are told apart.
const MOST_COUNTS: usize = 10_000;

impl<'a> Leavings<'a> {
    pub(super) fn new(to: Option<Box<dyn Write + 'a>>) -> Self {
        Self {
            counts: BTreeMap::new(),
            to,
            written: 0,
        }
    }

    /// Counts rows of a table, or values of a field.
    pub(super) fn count(&mut self, table: &str, field: Option<&str>, count: u64, why: &str) {
        if count > 0 {
            let key = (
                table.to_owned(),
                field.map(ToOwned::to_owned),
                why.to_owned(),
            );
            // A file may be made of field names that are never the same: their number is bounded, the sum is right.
            let key = if self.counts.len() < MOST_COUNTS || self.counts.contains_key(&key) {
                key
            } else {
                (String::new(), None, "of many more names".to_owned())
            };
            *self.counts.entry(key).or_default() += count;
        }
    }

    /// Whether anything of a table was counted.
    pub(super) fn has(&self, table: &str) -> bool {
        self.counts.keys().any(|(counted, ..)| counted == table)
    }

    /// Writes a row of which something is left.
    pub(super) fn row(&mut self, table: &str, row: &Map<String, Value>) -> Result<()> {
        if self.to.is_some() {
            self.line(&json!({ "type": "row", "table": table, "row": row }).to_string())?;
        }
        Ok(())
    }

    /// Writes a line as it came.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        if let Some(to) = &mut self.to {
            writeln!(to, "{line}").map_err(not_kept)?;
            self.written += 1;
        }
        Ok(())
    }

    pub(super) fn keeps_rows(&self) -> bool {
        self.to.is_some()
    }

    /// Ends the writing.
    pub(super) fn flush(&mut self) -> Result<()> {
        match &mut self.to {
            Some(to) => to.flush().map_err(not_kept),
            None => Ok(()),
        }
    }

    /// What was counted, by table and field.
    pub(super) fn counted(self) -> Vec<Left> {
        self.counts
            .into_iter()
            .map(|((table, field, why), count)| Left::new(table, field.as_deref(), count, why))
            .collect()
    }
}

fn not_kept(error: std::io::Error) -> Error {
    Error::caused(
        ErrorKind::Io,
        "what the import leaves cannot be written",
        error,
    )
}

/// A row of another system's file as JSON. Bytes become `{"hex": "…"}`, as JSON has none; a number that JSON has no form
/// for (infinity) its name.
pub(super) fn to_json(row: ForeignRow) -> Map<String, Value> {
    row.into_iter()
        .map(|(name, value)| {
            let value = match value {
                ForeignValue::Null => Value::Null,
                ForeignValue::Integer(number) => number.into(),
                ForeignValue::Real(number) => serde_json::Number::from_f64(number)
                    .map_or_else(|| number.to_string().into(), Value::Number),
                ForeignValue::Text(text) => text.into(),
                ForeignValue::Blob(bytes) => {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    json!({ "hex": hex })
                }
            };
            (name, value)
        })
        .collect()
}

/// Whether a value says something: not null, 0, empty, or a list or object of nothing.
pub(super) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.trim(), "" | "[]" | "{}" | "null"),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

//! What is given out: Markdown tables for a person, and one CSV of every number.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::Result;

/// Every number that was printed, in the order it was.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
}

/// One number.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The table it is from.
    pub table: &'static str,
    pub data_set: String,
    /// The part of the set: a category, a fold, a kind of null query.
    pub part: String,
    pub ranker: String,
    /// The vector weight or the threshold it was measured at.
    pub parameter: Option<f64>,
    pub metric: &'static str,
    pub value: f64,
    /// How many queries it is the mean of; none where it is a mean of means, or no mean.
    pub queries: Option<usize>,
}

impl Report {
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(path)?;
        for row in &self.rows {
            writer.serialize(row)?;
        }
        writer.flush()?;
        Ok(())
    }
}

/// A Markdown table that is also aligned for a terminal: columns of numbers to the right, others to the left.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            rows: vec![header.into_iter().map(Into::into).collect()],
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn column(&self, place: usize) -> impl Iterator<Item = &str> {
        self.rows
            .iter()
            .map(move |row| row.get(place).map_or("", String::as_str))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<(usize, bool)> = (0..self.rows[0].len())
            .map(|place| {
                let width = self.column(place).map(|cell| cell.chars().count()).max();
                let numeric = self
                    .column(place)
                    .skip(1)
                    .all(|cell| cell.is_empty() || cell.replace(',', "").parse::<f64>().is_ok());
                (width.unwrap_or(0).max(2), numeric)
            })
            .collect();
        for (line, row) in self.rows.iter().enumerate() {
            for (cell, &(width, numeric)) in row.iter().zip(&columns) {
                if numeric {
                    write!(f, "| {cell:>width$} ")?;
                } else {
                    write!(f, "| {cell:<width$} ")?;
                }
            }
            writeln!(f, "|")?;
            if line == 0 {
                for &(width, numeric) in &columns {
                    let dashes = "-".repeat(width);
                    write!(f, "| {}{} ", &dashes[1..], if numeric { ":" } else { "-" })?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// A measure as it is printed.
pub fn number(value: f64) -> String {
    format!("{value:.3}")
}

/// A count with its thousands apart.
pub fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_markdown() {
        let mut table = Table::new(["ranker", "n"]);
        table.row(["word only", "0.500"]);
        table.row(["é", "12"]);
        let text = "\
| ranker    |     n |
| --------- | ----: |
| word only | 0.500 |
| é         |    12 |
";
        assert_eq!(table.to_string(), text);
    }

    #[test]
    fn thousands_are_kept_apart() {
        assert_eq!(
            [7, 999, 1000, 1234567].map(thousands),
            ["7", "999", "1,000", "1,234,567"]
        );
    }
}

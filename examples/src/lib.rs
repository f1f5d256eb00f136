//! What the examples share: a year of notes, and a place for a database. The examples are the files beside
//! `Cargo.toml`.

use std::error::Error;
use std::path::{Path, PathBuf};

use mnemic::{NewMemory, Timestamp};
use serde::Deserialize;
use tempfile::TempDir;

/// The shipped notes: what a coding agent wrote down in a year, over four projects and a life beside them.
pub const NOTES: &str = include_str!("../data/notes.jsonl");

/// One line of `data/notes.jsonl`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The text.
    pub content: String,
    /// The project it belongs to; without one it is global.
    pub project: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// When it was written; now, where it does not say.
    pub created_at: Option<String>,
}

impl Note {
    /// Reads one line.
    ///
    /// # Errors
    /// Where the line is not JSON, has other fields than these, or its date cannot be read.
    pub fn parse(line: &str) -> Result<NewMemory, Box<dyn Error>> {
        let note: Note = serde_json::from_str(line)?;
        let mut memory = NewMemory::new(note.content).tags(note.tags);
        if let Some(project) = note.project {
            memory = memory.project(project);
        }
        if let Some(date) = note.created_at {
            memory = memory.created_at(date.parse::<Timestamp>()?);
        }
        Ok(memory)
    }
}

/// The shipped notes, ready to store.
///
/// # Errors
/// Where a line of them cannot be read.
pub fn notes() -> Result<Vec<NewMemory>, Box<dyn Error>> {
    NOTES.lines().map(Note::parse).collect()
}

/// A path for a new database: in a temporary directory, gone when this is dropped, unless the caller names one.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    _directory: Option<TempDir>,
}

impl Place {
    /// The path given as argument number `index` of the program (the first is 1), else a temporary one.
    ///
    /// # Errors
    /// Where a file is there already: an example writes into new files only.
    pub fn from_argument(index: usize) -> Result<Self, Box<dyn Error>> {
        let Some(argument) = std::env::args_os().nth(index) else {
            let directory = tempfile::tempdir()?;
            return Ok(Self {
                path: directory.path().join("notes.db"),
                _directory: Some(directory),
            });
        };
        let path = PathBuf::from(argument);
        if path.exists() {
            return Err(format!("{} is there already; name a new file", path.display()).into());
        }
        Ok(Self {
            path,
            _directory: None,
        })
    }

    /// Where the database is to be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The first `width` characters of a text, with an ellipsis where there are more.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The recipes compile. (The README is the front page of the facade, which runs it.)
#[cfg(doctest)]
#[doc = include_str!("../../docs/recipes.md")]
mod recipes {}

/// And those of the graph.
#[cfg(doctest)]
#[doc = include_str!("../../docs/graph.md")]
mod graph {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_notes_are_a_year_over_four_projects() {
        let lines: Vec<Note> = NOTES
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect();
        assert_eq!(lines.len(), 99);
        let mut projects: Vec<_> = lines.iter().filter_map(|n| n.project.clone()).collect();
        projects.sort();
        projects.dedup();
        assert_eq!(projects, ["fieldnotes", "house", "kestrel", "storefront"]);
        assert!(lines.iter().any(|n| n.project.is_none()));
        let dates: Vec<Timestamp> = lines
            .iter()
            .map(|n| {
                n.created_at
                    .as_deref()
                    .expect("dated")
                    .parse()
                    .expect("a date")
            })
            .collect();
        assert!(dates.is_sorted());
        assert_eq!(dates[0].to_string(), "2025-11-03 08:00:00");
        assert_eq!(dates[98].to_string(), "2026-10-21 09:30:00");
        let mut contents: Vec<_> = lines.iter().map(|n| n.content.as_str()).collect();
        contents.sort_unstable();
        contents.dedup();
        assert_eq!(contents.len(), 99, "no note twice");
    }

    #[test]
    fn shortening_counts_characters() {
        assert_eq!(shorten("東京との打ち合わせ", 2), "東京…");
        assert_eq!(shorten("deploys freeze", 8), "deploys…");
        assert_eq!(shorten("deploys", 7), "deploys");
    }
}

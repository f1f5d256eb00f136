//! A data set as its file has it, and the text that a memory is stored as. Nothing here knows the library's handles.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use jiff::civil::Date;
use mnemic::Timestamp;
use serde::Deserialize;

use crate::Result;

/// One file: scopes of memories with the queries that are put to them.
#[derive(Debug, Deserialize)]
pub struct DataSet {
    pub name: String,
    pub licence: String,
    pub scopes: Vec<Scope>,
}

/// Memories that are recalled among themselves, such as one conversation.
#[derive(Debug, Deserialize)]
pub struct Scope {
    pub id: String,
    pub memories: Vec<Item>,
    pub queries: Vec<Query>,
}

#[derive(Debug, Deserialize)]
pub struct Item {
    pub id: String,
    pub speaker: Option<String>,
    pub time: Option<String>,
    pub text: String,
    pub caption: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Query {
    pub text: String,
    /// Ids of memories of the same scope.
    pub relevant: Vec<String>,
    pub category: Option<String>,
}

impl DataSet {
    pub fn read(path: &Path) -> Result<Self> {
        let told = |what: String| format!("{}: {what}", path.display());
        let file = File::open(path).map_err(|error| told(error.to_string()))?;
        let set = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| told(format!("not a data set: {error}")))?;
        Ok(set)
    }
}

impl Item {
    /// When it was said, where the data set knows.
    pub fn created_at(&self) -> Result<Option<Timestamp>> {
        Ok(self.time.as_deref().map(str::parse).transpose()?)
    }

    /// What is stored of it: `Speaker (8 May 2023): text [shares caption]`, as far as it has these parts. `None` where
    /// it has no text: such a memory cannot be stored.
    pub fn content(&self) -> Result<Option<String>> {
        let date = self.created_at()?.map(day).transpose()?;
        let said = match (&self.speaker, date) {
            (Some(speaker), Some(date)) => format!("{speaker} ({date}): "),
            (Some(speaker), None) => format!("{speaker}: "),
            (None, Some(date)) => format!("({date}): "),
            (None, None) => String::new(),
        };
        Ok(self.bare()?.map(|text| format!("{said}{text}")))
    }

    /// [`Item::content`] without speaker and date.
    pub fn bare(&self) -> Result<Option<String>> {
        if self.text.trim().is_empty() {
            return Ok(None);
        }
        let shares = match &self.caption {
            Some(caption) => format!(" [shares {caption}]"),
            None => String::new(),
        };
        Ok(Some(format!("{}{shares}", self.text)))
    }
}

/// The day of an instant (UTC).
pub fn date(time: Timestamp) -> Result<Date> {
    Ok(time.to_string().parse()?)
}

/// The day of an instant (UTC) as people write it: `8 May 2023`.
fn day(time: Timestamp) -> Result<String> {
    Ok(date(time)?.strftime("%-d %B %Y").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str) -> Item {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn content_has_the_parts_that_are_there() {
        let all = r#"{"id": "1", "speaker": "Ann", "time": "2023-05-08T13:56:00", "text": "Look!", "caption": "a cat"}"#;
        let content = |json| item(json).content().unwrap();
        assert_eq!(
            content(all).as_deref(),
            Some("Ann (8 May 2023): Look! [shares a cat]")
        );
        let speaker = r#"{"id": "1", "speaker": "Ann", "time": null, "text": "Look!"}"#;
        assert_eq!(content(speaker).as_deref(), Some("Ann: Look!"));
        let dated = r#"{"id": "1", "time": "2023-12-31T23:30:00-01:00", "text": "Look!"}"#;
        assert_eq!(content(dated).as_deref(), Some("(1 January 2024): Look!"));
        assert_eq!(
            content(r#"{"id": "1", "text": "Look!"}"#).as_deref(),
            Some("Look!")
        );
        assert_eq!(
            content(r#"{"id": "1", "speaker": "Ann", "text": " "}"#),
            None
        );
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        let item = item(r#"{"id": "1", "time": "yesterday", "text": "Look!"}"#);
        assert!(
            item.content()
                .unwrap_err()
                .to_string()
                .contains("yesterday")
        );
    }
}

//! What is said of a memory beside its text: kind, importance, trust, layer, decay, validity, cause, supersession, pin, and
//! how often it was used. A memory of which nothing is said has no row here. It judges nothing.

use std::fmt;

use rusqlite::{OptionalExtension, Row};

use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::row::text;
use crate::timestamp::Timestamp;

/// What sort of memory it is. A `&str` or `String` becomes the one with that name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Kind {
    /// A fact: what is so.
    #[default]
    Semantic,
    /// An event: what happened.
    Episodic,
    /// A skill: how something is done.
    Procedural,
    /// A kind of the user's own, by its name.
    Other(String),
}

impl Kind {
    /// Its name, as the file has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
            Self::Procedural => "procedural",
            Self::Other(name) => name,
        }
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for Kind {
    fn from(name: &T) -> Self {
        match name.as_ref() {
            "semantic" => Self::Semantic,
            "episodic" => Self::Episodic,
            "procedural" => Self::Procedural,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl From<String> for Kind {
    fn from(name: String) -> Self {
        Self::from(&name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How firmly a memory is kept: it decides how fast it fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Layer {
    /// For a while.
    #[default]
    ShortTerm,
    /// For good.
    LongTerm,
}

impl Layer {
    /// Its name, as the file has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ShortTerm => "short_term",
            Self::LongTerm => "long_term",
        }
    }

    /// The layer of a name; `None` for any other text.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::ShortTerm, Self::LongTerm]
            .into_iter()
            .find(|layer| layer.as_str() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is said of a memory beside its text. The default is that of a memory of which nothing was said.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Lifecycle {
    /// What sort of memory it is.
    pub kind: Kind,
    /// How much it matters, in [0, 1].
    pub importance: f64,
    /// How far its source is trusted, in [0, 1], as it was given.
    pub trust: f64,
    /// How firmly it is kept.
    pub layer: Layer,
    /// How fast it fades, a day; at least 0.
    pub decay_rate: f64,
    /// Whether it never fades.
    pub pinned: bool,
    /// Where it comes from: any text.
    pub source: Option<String>,
    /// The first instant at which what it says holds; `None` is ever since.
    pub valid_from: Option<Timestamp>,
    /// The first instant at which it holds no more; `None` is for good.
    pub valid_until: Option<Timestamp>,
    /// The id of the memory that led to it.
    pub causal_parent: Option<String>,
    /// Since when another memory stands in its place.
    pub superseded_at: Option<Timestamp>,
    /// The id of that one; `None` also where it is gone since.
    pub superseded_by: Option<String>,
    /// Since when it is forgotten: kept, but not recalled.
    pub forgotten_at: Option<Timestamp>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            kind: Kind::Semantic,
            importance: 0.5,
            trust: 0.75,
            layer: Layer::ShortTerm,
            decay_rate: 0.1,
            pinned: false,
            source: None,
            valid_from: None,
            valid_until: None,
            causal_parent: None,
            superseded_at: None,
            superseded_by: None,
            forgotten_at: None,
        }
    }
}

impl Lifecycle {
    /// The same of a memory that is neither superseded nor forgotten.
    #[must_use]
    pub fn current(self) -> Self {
        Self {
            superseded_at: None,
            superseded_by: None,
            forgotten_at: None,
            ..self
        }
    }

    /// What cannot be stored of it, if anything.
    #[must_use]
    pub fn defect(&self) -> Option<String> {
        let share = |what: &str, value: f64| {
            (!(0.0..=1.0).contains(&value)).then(|| format!("{what} {value} is not in [0, 1]"))
        };
        let window = match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if from >= until => Some(format!(
                "it is valid from {from}, which is not before {until}, until which it is valid"
            )),
            _ => None,
        };
        share("importance", self.importance)
            .or_else(|| share("trust", self.trust))
            .or_else(|| {
                let rate = self.decay_rate;
                (!rate.is_finite() || rate < 0.0)
                    .then(|| format!("decay rate {rate} is not a number of at least 0"))
            })
            .or_else(|| {
                let none = self.kind.as_str().is_empty();
                none.then(|| "its kind is the empty text".to_owned())
            })
            .or(window)
    }

    /// Reads [`LIFECYCLE_COLUMNS`] from column `at` on. What is no time is read as none ([`crate::CheckReport`] tells).
    pub(crate) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Self> {
        let Some(kind) = text(row, at)? else {
            return Ok(Self::default());
        };
        let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
            Ok(text(row, at + column)?.and_then(|time| time.parse().ok()))
        };
        Ok(Self {
            kind: kind.into(),
            importance: row.get(at + 1)?,
            trust: row.get(at + 2)?,
            layer: text(row, at + 3)?
                .and_then(|name| Layer::named(&name))
                .unwrap_or_default(),
            decay_rate: row.get(at + 4)?,
            pinned: row.get(at + 5)?,
            source: text(row, at + 6)?,
            valid_from: time(7)?,
            valid_until: time(8)?,
            causal_parent: text(row, at + 9)?,
            superseded_at: time(10)?,
            superseded_by: text(row, at + 11)?,
            forgotten_at: time(12)?,
        })
    }
}

/// How often a memory was used, as far as anybody said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Usage {
    /// How often.
    pub accesses: u64,
    /// When last; `None` where never.
    pub last: Option<Timestamp>,
}

impl Usage {
    /// Reads count and time from column `at` on.
    pub(crate) fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Self> {
        let last = text(row, at + 1)?.and_then(|time| time.parse().ok());
        let accesses: Option<i64> = row.get(at)?;
        Ok(Self {
            accesses: accesses.map_or(0, i64::unsigned_abs),
            last,
        })
    }
}

/// Columns of a memory `m` that [`MEMORY_JOINS`] joined to `l` and `a`: 13 of [`Lifecycle`], 2 of [`Usage`].
pub(crate) const LIFECYCLE_COLUMNS: &str = "l.kind, l.importance, l.trust, l.layer, l.decay_rate, l.pinned, l.source, l.valid_from, l.valid_until,
     (SELECT p.id FROM memories p WHERE p.seq = l.causal_parent), l.superseded_at,
     (SELECT p.id FROM memories p WHERE p.seq = l.superseded_by), l.forgotten_at, a.accesses, a.accessed_at";

/// The memories as [`LIFECYCLE_COLUMNS`] are read of them.
pub(crate) const MEMORY_JOINS: &str =
    "memories m LEFT JOIN lifecycle l ON l.seq = m.seq LEFT JOIN memory_access a ON a.seq = m.seq";

/// What an index in memory holds of the lifecycle of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexLife {
    /// The key.
    pub seq: i64,
    /// As in [`Lifecycle`].
    pub kind: String,
    /// As in [`Lifecycle`].
    pub importance: f64,
    /// As in [`Lifecycle`].
    pub trust: f64,
    /// As in [`Lifecycle`].
    pub layer: Layer,
    /// As in [`Lifecycle`].
    pub pinned: bool,
    /// As in [`Lifecycle`].
    pub source: Option<String>,
    /// As in [`Lifecycle`].
    pub valid_from: Option<Timestamp>,
    /// As in [`Lifecycle`].
    pub valid_until: Option<Timestamp>,
    /// As in [`Lifecycle`].
    pub superseded_at: Option<Timestamp>,
    /// As in [`Lifecycle`].
    pub forgotten_at: Option<Timestamp>,
}

/// What is said of memories, by the keys of what is indexed of them; a condition on the key is to follow.
fn index_life_sql(indexed: Indexed, condition: &str) -> String {
    let (key, from) = match indexed {
        Indexed::Memories => ("l.seq", "lifecycle l"),
        Indexed::Passages => ("c.chunk", "chunks c JOIN lifecycle l ON l.seq = c.seq"),
    };
    format!(
        "SELECT {key}, l.kind, l.importance, l.trust, l.layer, l.pinned, l.source, l.valid_from, l.valid_until,
                l.superseded_at, l.forgotten_at
         FROM {from} WHERE {key} {condition} ORDER BY {key}"
    )
}

fn index_life(row: &Row<'_>) -> rusqlite::Result<IndexLife> {
    let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(text(row, column)?.and_then(|time| time.parse().ok()))
    };
    Ok(IndexLife {
        seq: row.get(0)?,
        kind: text(row, 1)?.unwrap_or_default(),
        importance: row.get(2)?,
        trust: row.get(3)?,
        layer: text(row, 4)?
            .and_then(|name| Layer::named(&name))
            .unwrap_or_default(),
        pinned: row.get(5)?,
        source: text(row, 6)?,
        valid_from: time(7)?,
        valid_until: time(8)?,
        superseded_at: time(9)?,
        forgotten_at: time(10)?,
    })
}

impl Snapshot<'_> {
    /// Whether anything was said of any memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn has_lifecycle(&self) -> Result<bool, SchemaError> {
        Ok(self.count("SELECT EXISTS (SELECT 1 FROM lifecycle)")? > 0)
    }

    /// Visits what is said of memories after a key, in the order of their keys.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_lives_after(
        &self,
        seq: i64,
        visit: impl FnMut(IndexLife),
    ) -> Result<(), SchemaError> {
        self.index_lives_after_in(Indexed::Memories, seq, visit)
    }

    /// As [`Snapshot::index_lives_after`], of memories or of passages: what is said of their memories, by their keys.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_lives_after_in(
        &self,
        indexed: Indexed,
        key: i64,
        mut visit: impl FnMut(IndexLife),
    ) -> Result<(), SchemaError> {
        let doing = "reading the lifecycle of memories";
        let mut statement = self
            .connection()
            .prepare_cached(&index_life_sql(indexed, "> ?1"))
            .doing(doing)?;
        let mut rows = statement.query([key]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(index_life(row).doing(doing)?);
        }
        Ok(())
    }

    /// What is said of the memory with a key, if anything.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_life(&self, seq: i64) -> Result<Option<IndexLife>, SchemaError> {
        self.index_life_in(Indexed::Memories, seq)
    }

    /// As [`Snapshot::index_life`], of the memory or the passage with a key.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn index_life_in(
        &self,
        indexed: Indexed,
        key: i64,
    ) -> Result<Option<IndexLife>, SchemaError> {
        self.connection()
            .prepare_cached(&index_life_sql(indexed, "= ?1"))
            .and_then(|mut statement| statement.query_row([key], index_life).optional())
            .doing("reading the lifecycle of a memory")
    }

    /// The ids of the memories that one stands in the place of, in the order of their keys.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn superseded_by(&self, id: &str) -> Result<Vec<String>, SchemaError> {
        self.connection()
            .prepare_cached(
                "SELECT m.id FROM lifecycle l JOIN memories m ON m.seq = l.seq
                 WHERE l.superseded_by = (SELECT seq FROM memories WHERE id = ?1) ORDER BY l.seq",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([id], |row| Ok(text(row, 0)?.unwrap_or_default()))?
                    .collect()
            })
            .doing("reading what a memory supersedes")
    }

    /// Whether a memory stands in the place of another one, directly or not, or is that one.
    ///
    /// # Errors
    /// What SQLite reports.
    pub(crate) fn stands_for(&self, seq: i64, of: i64) -> Result<bool, SchemaError> {
        self.connection()
            .prepare_cached(
                "WITH RECURSIVE places (seq) AS (
                     VALUES (?2)
                     UNION SELECT l.superseded_by FROM places JOIN lifecycle l ON l.seq = places.seq
                         WHERE l.superseded_by IS NOT NULL
                 ) SELECT ?1 IN (SELECT seq FROM places)",
            )
            .and_then(|mut statement| statement.query_row([seq, of], |row| row.get(0)))
            .doing("following what stands in the place of a memory")
    }

    /// Whether a memory would be among its own causes if another one were its causal parent.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_among_causes(&self, seq: i64, of: i64) -> Result<bool, SchemaError> {
        self.connection()
            .prepare_cached(
                "WITH RECURSIVE causes (seq) AS (
                     VALUES (?2)
                     UNION SELECT l.causal_parent FROM causes JOIN lifecycle l ON l.seq = causes.seq
                         WHERE l.causal_parent IS NOT NULL
                 ) SELECT ?1 IN (SELECT seq FROM causes)",
            )
            .and_then(|mut statement| statement.query_row([seq, of], |row| row.get(0)))
            .doing("following the causes of a memory")
    }
}

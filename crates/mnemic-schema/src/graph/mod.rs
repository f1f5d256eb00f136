//! The graph of the memories: relations, which are rows of their own, and causal parents, which are columns of `lifecycle`.
//! It reads both and writes the first; what a relation means is not its business, and it never changes a memory.

mod relations;
mod walk;

use rusqlite::types::Value;

use crate::filter::Scope;
use crate::timestamp::Timestamp;

/// A relation to write: `from` derives from, supports, … `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRelationRow {
    /// The id of the memory that it starts from.
    pub from: String,
    /// The id of the memory that it leads to; another one.
    pub to: String,
    /// What it says, compared literally; not empty.
    pub kind: String,
    /// Why it is there, for a person.
    pub explanation: Option<String>,
    /// A JSON text.
    pub context: Option<String>,
    /// Who or what made it.
    pub source: Option<String>,
    /// When it was made; of no account where it is there already.
    pub created_at: Timestamp,
}

/// What became of a relation that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelationChange {
    /// It is new.
    Added,
    /// It was there, and what was given of explanation, context and source is what it had.
    Unchanged,
    /// It was there; explanation, context or source is another now.
    Updated,
}

/// A relation as the file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRow {
    /// Its key: larger ones were made later.
    pub relation: i64,
    /// As in [`NewRelationRow`].
    pub from: String,
    /// As in [`NewRelationRow`].
    pub to: String,
    /// As in [`NewRelationRow`].
    pub kind: String,
    /// As in [`NewRelationRow`].
    pub explanation: Option<String>,
    /// As in [`NewRelationRow`].
    pub context: Option<String>,
    /// As in [`NewRelationRow`].
    pub source: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Which way a link is followed. A causal link leads from the cause to what it caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// From where it starts to where it leads.
    Outward,
    /// From where it leads to where it starts.
    Inward,
    /// Either way.
    #[default]
    Both,
}

impl Direction {
    /// The other way round.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Outward => Self::Inward,
            Self::Inward => Self::Outward,
            Self::Both => Self::Both,
        }
    }

    fn has(self, direction: Self) -> bool {
        self == direction || self == Self::Both
    }
}

/// Conditions on relations; all must hold. The default admits every one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelationFilter {
    /// Both ends are of it.
    pub scope: Scope,
    /// The key of a memory that is one of its ends.
    pub of: Option<i64>,
    /// Which end that is: outward, the one it starts from.
    pub direction: Direction,
    /// One of these kinds (no condition where empty).
    pub kinds: Vec<String>,
    /// Both ends are among the memories with these ids (where `Some`, also if empty: then no relation).
    pub among: Option<Vec<String>>,
}

/// Which links a walk follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// Both ends are of it.
    pub scope: Scope,
    /// Whether relations are followed.
    pub relations: bool,
    /// Relations of these kinds alone (no condition where empty).
    pub kinds: Vec<String>,
    /// Relations made by this instant alone. (Of a causal parent it is not known since when it is one.)
    pub known: Option<Timestamp>,
    /// Whether causal parents are followed.
    pub causes: bool,
    /// Which way.
    pub direction: Direction,
}

/// One step from a memory to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// The key of the memory that it comes from.
    pub here: i64,
    /// The key of the memory that it goes to.
    pub there: i64,
    /// The relation's key; `None` is a causal parent.
    pub relation: Option<i64>,
    /// The relation's kind; `None` is a causal parent.
    pub kind: Option<String>,
    /// Whether it goes the way that the link leads.
    pub outward: bool,
}

/// A memory that a walk came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// In how many steps: the fewest that lead there.
    pub distance: usize,
    /// The last of them; its `there` is the memory.
    pub step: StepRow,
}

/// How many relations a memory has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubRow {
    /// The key of the memory.
    pub seq: i64,
    /// Relations that start from it.
    pub outward: u64,
    /// Relations that lead to it.
    pub inward: u64,
}

/// The condition that a memory is of a scope, on the table of this name: an expression that begins with ` AND `, or nothing;
/// its values are added to the others.
fn of_scope(table: &str, scope: &Scope, values: &mut Vec<Value>) -> String {
    match scope {
        Scope::All => String::new(),
        Scope::Global => format!(" AND {table}.project IS NULL"),
        Scope::Project(project) => {
            values.push(Value::Text(project.clone()));
            format!(" AND {table}.project = ?")
        }
        Scope::ProjectAndGlobal(project) => {
            values.push(Value::Text(project.clone()));
            format!(" AND ({table}.project = ? OR {table}.project IS NULL)")
        }
    }
}

/// Texts as a value for `json_each`.
fn texts(texts: &[String]) -> Value {
    Value::Text(serde_json::Value::from(texts).to_string())
}

/// Keys as a value for `json_each`.
fn keys(keys: &[i64]) -> Value {
    Value::Text(serde_json::Value::from(keys).to_string())
}

/// A limit as SQLite takes it: a negative one is none.
fn at_most(limit: Option<usize>) -> Value {
    Value::Integer(limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)))
}

//! Relations as values: what is drawn, what is read. Nothing here touches the file.

use std::borrow::Cow;
use std::fmt;

use mnemic_schema::{NewRelationRow, RelationChange, RelationRow, Timestamp};

use crate::{Error, Result};

/// What a relation says of its two memories: one of the five constants, or any other text. Compared literally.
///
/// ```
/// use mnemic::RelationKind;
///
/// assert_eq!(RelationKind::from("supports"), RelationKind::SUPPORTS);
/// assert_eq!(RelationKind::from("reviewed by").as_str(), "reviewed by");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationKind(Cow<'static, str>);

impl RelationKind {
    /// The first was made from the second.
    pub const DERIVED_FROM: Self = Self(Cow::Borrowed("derived_from"));
    /// The first takes the place of the second. The relation alone takes nothing out of recall: [`crate::Memory::supersede`]
    /// does, and draws it.
    pub const SUPERSEDES: Self = Self(Cow::Borrowed("supersedes"));
    /// The first speaks for the second.
    pub const SUPPORTS: Self = Self(Cow::Borrowed("supports"));
    /// The first speaks against the second.
    pub const CONTRADICTS: Self = Self(Cow::Borrowed("contradicts"));
    /// The two have to do with each other.
    pub const RELATED_TO: Self = Self(Cow::Borrowed("related_to"));

    /// As it is stored: `derived_from`, `supersedes`, `supports`, `contradicts`, `related_to`, or a text of one's own.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<String>> From<T> for RelationKind {
    fn from(kind: T) -> Self {
        Self(Cow::Owned(kind.into()))
    }
}

impl From<&RelationKind> for RelationKind {
    fn from(kind: &RelationKind) -> Self {
        kind.clone()
    }
}

/// Kinds as the schema takes them.
pub(crate) fn kinds<K: Into<RelationKind>>(kinds: impl IntoIterator<Item = K>) -> Vec<String> {
    kinds
        .into_iter()
        .map(|kind| kind.into().0.into_owned())
        .collect()
}

/// What joins two memories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Link {
    /// A relation of this kind.
    Relation(RelationKind),
    /// One is the causal parent of the other.
    Cause,
}

impl Link {
    pub(crate) fn of(kind: Option<String>) -> Self {
        kind.map_or(Self::Cause, |kind| Self::Relation(kind.into()))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relation(kind) => kind.fmt(f),
            Self::Cause => f.write_str("cause"),
        }
    }
}

/// A relation to draw: `from` derives from, supports, contradicts, … `to`.
///
/// A relation says why it is there, or who made it. One that a person or an agent draws by hand is made by
/// [`NewRelation::because`], which takes the reason; one that a program found or brought over may lack it, and then names
/// its [`NewRelation::source`].
///
/// ```
/// use mnemic::{NewRelation, RelationKind};
///
/// let by_hand = NewRelation::because("a", "b", RelationKind::SUPPORTS, "the log shows the time-out that b speaks of");
/// let found = NewRelation::new("a", "b", "cites").source("link-finder").context(r#"{"line": 12}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a relation does nothing until it is drawn"]
pub struct NewRelation {
    from: String,
    to: String,
    kind: RelationKind,
    explanation: Option<String>,
    context: Option<String>,
    source: Option<String>,
    created_at: Option<Timestamp>,
}

impl NewRelation {
    /// A relation drawn by hand: from one memory to another (their ids), of a kind (not white space alone), and why it is
    /// there, in words for a person (likewise).
    pub fn because(
        from: impl Into<String>,
        to: impl Into<String>,
        kind: impl Into<RelationKind>,
        why: impl Into<String>,
    ) -> Self {
        Self::new(from, to, kind).explanation(why)
    }

    /// A relation that a program derived or brought over. It needs a [`NewRelation::source`] where it has no
    /// [`NewRelation::explanation`].
    pub fn new(
        from: impl Into<String>,
        to: impl Into<String>,
        kind: impl Into<RelationKind>,
    ) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            kind: kind.into(),
            explanation: None,
            context: None,
            source: None,
            created_at: None,
        }
    }

    /// Why it is there, in words for a person.
    pub fn explanation(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = Some(explanation.into());
        self
    }

    /// What a program wants to know of it: any JSON text, kept as it is given.
    pub fn context(mut self, json: impl Into<String>) -> Self {
        self.context = Some(json.into());
        self
    }

    /// Who or what made it.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// When it was made. Default: now. One that is there already keeps its time.
    pub fn created_at(mut self, time: Timestamp) -> Self {
        self.created_at = Some(time);
        self
    }

    /// The row to write; an error where something is missing or is not what it should be.
    pub(crate) fn into_row(self, now: Timestamp) -> Result<NewRelationRow> {
        let Self { from, to, .. } = &self;
        let refused = |what: String| {
            Err(Error::invalid(format!(
                "the relation from {from:?} to {to:?} {what}"
            )))
        };
        let blank = |text: &Option<String>| text.as_ref().is_some_and(|t| t.trim().is_empty());
        if self.kind.as_str().trim().is_empty() {
            return refused(format!(
                "has the kind {:?}: give it one that is not white space alone",
                self.kind.as_str()
            ));
        }
        if from == to {
            return refused("leads to the memory that it starts from: name two".to_owned());
        }
        if blank(&self.explanation) {
            return refused("has an empty explanation: say why it is there".to_owned());
        }
        if blank(&self.source) {
            return refused("has an empty source: say who or what made it".to_owned());
        }
        if self.explanation.is_none() && self.source.is_none() {
            return refused(
                "says neither why it is there nor who made it: give the reason (NewRelation::because), or a source where \
                 a program made it"
                    .to_owned(),
            );
        }
        if let Some(context) = &self.context
            && let Err(error) = serde_json::from_str::<serde_json::Value>(context)
        {
            return refused(format!("has a context that is no JSON: {error}"));
        }
        Ok(NewRelationRow {
            from: self.from,
            to: self.to,
            kind: self.kind.0.into_owned(),
            explanation: self.explanation,
            context: self.context,
            source: self.source,
            created_at: self.created_at.unwrap_or(now),
        })
    }
}

/// From, to, kind, and why: as [`NewRelation::because`].
impl<F, T, K, W> From<(F, T, K, W)> for NewRelation
where
    F: Into<String>,
    T: Into<String>,
    K: Into<RelationKind>,
    W: Into<String>,
{
    fn from((from, to, kind, why): (F, T, K, W)) -> Self {
        Self::because(from, to, kind, why)
    }
}

/// What [`crate::Memory::relate`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Related {
    /// The relation is new.
    Added,
    /// It was there, and nothing of it changed.
    Unchanged,
    /// It was there, and has another explanation, context or source now.
    Updated,
}

impl From<RelationChange> for Related {
    fn from(change: RelationChange) -> Self {
        match change {
            RelationChange::Added => Self::Added,
            RelationChange::Unchanged => Self::Unchanged,
            RelationChange::Updated => Self::Updated,
        }
    }
}

/// A relation as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relation {
    /// The id of the memory that it starts from.
    pub from: String,
    /// The id of the memory that it leads to.
    pub to: String,
    /// What it says.
    pub kind: RelationKind,
    /// Why it is there.
    pub explanation: Option<String>,
    /// A JSON text, as it was given.
    pub context: Option<String>,
    /// Who or what made it.
    pub source: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<RelationRow> for Relation {
    fn from(row: RelationRow) -> Self {
        Self {
            from: row.from,
            to: row.to,
            kind: row.kind.into(),
            explanation: row.explanation,
            context: row.context,
            source: row.source,
            created_at: row.created_at,
        }
    }
}

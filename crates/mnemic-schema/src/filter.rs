//! Which memories a question is about, as SQL with bound values. No text of a user is ever part of the SQL.

use rusqlite::types::Value;

use crate::indexed::Indexed;
use crate::lifecycle::{Kind, Layer, Lifecycle};
use crate::phrase;
use crate::text::fold;
use crate::timestamp::Timestamp;

/// Whose memories are looked at.
///
/// A project name is any text and is compared literally: `a_b` is not `acb`, `100%` is a name, `Web` is not `web`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// Memories without a project.
    Global,
    /// Memories of one project.
    Project(String),
    /// Memories of one project and those without one.
    ProjectAndGlobal(String),
    /// All memories.
    #[default]
    All,
}

impl Scope {
    /// Whether a memory of a project (`None`: of none) is looked at.
    #[must_use]
    pub fn admits(&self, project: Option<&str>) -> bool {
        match self {
            Self::Global => project.is_none(),
            Self::Project(own) => project == Some(own),
            Self::ProjectAndGlobal(own) => project.is_none_or(|project| project == own),
            Self::All => true,
        }
    }
}

/// Conditions on memories; all must hold. The default admits every memory.
///
/// Tags are compared whole, after NFC and Unicode lower-casing ([`crate::fold`]).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// Whose memories.
    pub scope: Scope,
    /// At least one of these tags (no condition where empty).
    pub tags_any: Vec<String>,
    /// Each of these tags.
    pub tags_all: Vec<String>,
    /// None of these tags.
    pub tags_none: Vec<String>,
    /// At least one of these entities (no condition where empty). They are compared as tags are.
    pub entities_any: Vec<String>,
    /// Created at this instant or later.
    pub since: Option<Timestamp>,
    /// Created before this instant.
    pub until: Option<Timestamp>,
    /// One of these ids (where `Some`, also if empty: then no memory).
    pub ids: Option<Vec<String>>,
    /// Each of these phrases in the text, or in the source of a document, word by word as it is spelled; of a passage, in
    /// its own text.
    pub phrases: Vec<String>,
    /// One of these kinds (no condition where empty).
    pub kinds: Vec<Kind>,
    /// At least so important.
    pub min_importance: Option<f64>,
    /// From a source trusted at least so far.
    pub min_trust: Option<f64>,
    /// Of this layer.
    pub layer: Option<Layer>,
    /// From one of these sources (no condition where empty).
    pub sources: Vec<String>,
    /// Pinned, or not.
    pub pinned: Option<bool>,
    /// How they must stand.
    pub standing: Standing,
}

/// How memories must stand at an instant; `None` is no condition. The default admits every memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Not superseded by then.
    pub not_superseded: Option<Timestamp>,
    /// Not forgotten by then.
    pub not_forgotten: Option<Timestamp>,
    /// Valid since then or before: what it says had begun to hold.
    pub begun: Option<Timestamp>,
    /// What it says held still.
    pub not_expired: Option<Timestamp>,
    /// Created by then.
    pub known: Option<Timestamp>,
}

impl Standing {
    /// The conditions that hold of every memory of which nothing is said.
    #[must_use]
    pub fn of_nothing_said(self) -> Self {
        Self {
            known: self.known,
            ..Self::default()
        }
    }
}

impl From<Scope> for Filter {
    /// Every memory of the scope.
    fn from(scope: Scope) -> Self {
        Self {
            scope,
            ..Self::default()
        }
    }
}

impl Filter {
    /// Whether every memory of the scope passes.
    #[must_use]
    pub fn is_scope_alone(&self) -> bool {
        *self == Self::from(self.scope.clone())
    }

    /// Whether every memory passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The conditions on `m`, the table `memories`: an expression that begins with ` AND `, or nothing; and its values,
    /// in order.
    pub(crate) fn clause(&self) -> (String, Vec<Value>) {
        self.clause_in(Indexed::Memories)
    }

    /// As [`Filter::clause`], for passages with the table `chunks` as `c`.
    pub(crate) fn clause_in(&self, indexed: Indexed) -> (String, Vec<Value>) {
        let mut sql = String::new();
        let mut values = Vec::new();
        let mut condition = |text: &str, bound: Vec<Value>| {
            sql.push_str(" AND ");
            sql.push_str(text);
            values.extend(bound);
        };
        let text = |text: &str| vec![Value::Text(text.to_owned())];
        match &self.scope {
            Scope::Global => condition("m.project IS NULL", vec![]),
            Scope::Project(project) => condition("m.project = ?", text(project)),
            Scope::ProjectAndGlobal(project) => {
                condition("(m.project = ? OR m.project IS NULL)", text(project));
            }
            Scope::All => {}
        }
        let (any, all, none) = (
            folded(&self.tags_any),
            folded(&self.tags_all),
            folded(&self.tags_none),
        );
        if !any.is_empty() {
            condition(
                "m.seq IN (SELECT seq FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?)))",
                text(&json(&any)),
            );
        }
        if !all.is_empty() {
            let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
            condition(
                "m.seq IN (SELECT seq FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?)) GROUP BY seq HAVING count(*) = ?)",
                vec![Value::Text(json(&all)), Value::Integer(count)],
            );
        }
        if !none.is_empty() {
            condition(
                "m.seq NOT IN (SELECT seq FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?)))",
                text(&json(&none)),
            );
        }
        if !self.entities_any.is_empty() {
            condition(
                "m.seq IN (SELECT seq FROM memory_entities WHERE entity IN (SELECT value FROM json_each(?)))",
                text(&json(&folded(&self.entities_any))),
            );
        }
        if let Some(since) = self.since {
            condition("m.created_at >= ?", text(&since.to_string()));
        }
        if let Some(until) = self.until {
            condition("m.created_at < ?", text(&until.to_string()));
        }
        if let Some(ids) = &self.ids {
            condition("m.id IN (SELECT value FROM json_each(?))", text(&json(ids)));
        }
        for phrase in &self.phrases {
            let (sql, values) = phrase::condition(indexed, phrase);
            condition(&sql, values);
        }
        self.standing_clause(&mut condition);
        self.lifecycle_clause(&mut condition);
        (sql, values)
    }
}

impl Filter {
    /// The conditions on how memories stand. Those that fail one are few, and found by an index of their own.
    fn standing_clause(&self, condition: &mut dyn FnMut(&str, Vec<Value>)) {
        let Standing {
            not_superseded,
            not_forgotten,
            begun,
            not_expired,
            known,
        } = self.standing;
        let failing = [
            (not_superseded, "superseded_at <= ?"),
            (not_forgotten, "forgotten_at <= ?"),
            (begun, "valid_from > ?"),
            (not_expired, "valid_until <= ?"),
        ];
        for (time, failing) in failing {
            if let Some(time) = time {
                condition(
                    &format!("m.seq NOT IN (SELECT seq FROM lifecycle WHERE {failing})"),
                    vec![Value::Text(time.to_string())],
                );
            }
        }
        if let Some(known) = known {
            condition("m.created_at <= ?", vec![Value::Text(known.to_string())]);
        }
    }

    /// The conditions on what is said of memories. One of which nothing is said has no row: where it passes, those that fail
    /// are left out; where it fails, those that pass are taken.
    fn lifecycle_clause(&self, condition: &mut dyn FnMut(&str, Vec<Value>)) {
        let unsaid = Lifecycle::default();
        let mut passing = |expression: &str, value: Value, unsaid_passes: bool| {
            let sql = if unsaid_passes {
                format!(
                    "m.seq NOT IN (SELECT seq FROM lifecycle WHERE NOT coalesce({expression}, FALSE))"
                )
            } else {
                format!("m.seq IN (SELECT seq FROM lifecycle WHERE {expression})")
            };
            condition(&sql, vec![value]);
        };
        if !self.kinds.is_empty() {
            let names: Vec<String> = self
                .kinds
                .iter()
                .map(|kind| kind.as_str().to_owned())
                .collect();
            let unsaid = self.kinds.contains(&unsaid.kind);
            let expression = "kind IN (SELECT value FROM json_each(?))";
            passing(expression, Value::Text(json(&names)), unsaid);
        }
        if let Some(least) = self.min_importance {
            passing(
                "importance >= ?",
                Value::Real(least),
                unsaid.importance >= least,
            );
        }
        if let Some(least) = self.min_trust {
            passing("trust >= ?", Value::Real(least), unsaid.trust >= least);
        }
        if let Some(layer) = self.layer {
            let name = Value::Text(layer.as_str().to_owned());
            passing("layer = ?", name, unsaid.layer == layer);
        }
        if !self.sources.is_empty() {
            let expression = "source IN (SELECT value FROM json_each(?))";
            passing(expression, Value::Text(json(&self.sources)), false);
        }
        if let Some(pinned) = self.pinned {
            passing("pinned = ?", Value::Integer(i64::from(pinned)), !pinned);
        }
    }
}

fn folded(tags: &[String]) -> Vec<String> {
    let mut folded: Vec<String> = tags.iter().map(|tag| fold(tag)).collect();
    folded.sort_unstable();
    folded.dedup();
    folded
}

fn json(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

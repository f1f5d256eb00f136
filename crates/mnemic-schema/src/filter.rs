//! Which memories a question is about, as SQL with bound values. No text of a user is ever part of the SQL.

use rusqlite::types::Value;

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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
        (sql, values)
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

//! What a question wants to know, and how to recall for that: the trait that plans, the plan, and the verb that follows it. A
//! plan weighs and prefers; it filters nothing.

mod languages;
mod rules;

use std::fmt;
use std::sync::Arc;

pub use rules::RulePlanner;

use crate::Result;
use crate::memory::Memory;
use crate::recall::expand::Expand;
use crate::recall::hit::Hit;
use crate::recall::preset::{Preset, sound};
use crate::recall::request::Recall;
use crate::recall::watch::Watch;

/// What a question wants to know. (Source: agent-memory's router, in its order.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Intent {
    /// Why something is so.
    Causal,
    /// When something was, or what was at a time.
    Temporal,
    /// How something is done.
    Procedural,
    /// What there is about a subject.
    Exploratory,
    /// One fact.
    Factual,
    /// None of these, or nothing that tells.
    #[default]
    General,
}

impl Intent {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 6] = [
        Self::Causal,
        Self::Temporal,
        Self::Procedural,
        Self::Exploratory,
        Self::Factual,
        Self::General,
    ];
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Causal => "causal",
            Self::Temporal => "temporal",
            Self::Procedural => "procedural",
            Self::Exploratory => "exploratory",
            Self::Factual => "factual",
            Self::General => "general",
        })
    }
}

/// Makes a plan of a question: [`RulePlanner`], or a model of your own.
///
/// It is called before anything is read, outside of locks. It cannot fail: one that does not know answers with
/// `Plan::default()`, by which a question is recalled as without a plan. The same question should have the same plan every
/// time. The trait is dyn-safe. `&P`, `Box<P>` and `Arc<P>` are planners where `P` is.
///
/// ```
/// use mnemic::{Intent, Memory, Plan, Preset, QueryPlanner};
///
/// /// Questions in quotes are searched by words.
/// #[derive(Debug)]
/// struct Quotes;
///
/// impl QueryPlanner for Quotes {
///     fn plan(&self, question: &str) -> Plan {
///         if question.starts_with('"') {
///             Plan::new(Intent::Factual).because("in quotes").preset(Preset::word_only())
///         } else {
///             Plan::default()
///         }
///     }
/// }
///
/// let memory = Memory::open_in_memory()?;
/// memory.store("deploys freeze on Fridays")?;
/// let planned = memory.recall_planned("\"freeze\"", &Quotes)?;
/// assert_eq!(planned.plan.intent(), Intent::Factual);
/// assert_eq!(planned.hits.len(), 1);
/// # Ok::<(), mnemic::Error>(())
/// ```
pub trait QueryPlanner: fmt::Debug + Send + Sync {
    /// How to recall for this question.
    fn plan(&self, question: &str) -> Plan;
}

macro_rules! planner_by_reference {
    ($($pointer:ty),*) => {$(
        impl<P: QueryPlanner + ?Sized> QueryPlanner for $pointer {
            fn plan(&self, question: &str) -> Plan {
                (**self).plan(question)
            }
        }
    )*};
}
planner_by_reference!(&P, Box<P>, Arc<P>);

/// How to recall for a question. What it does not say is as the question says it; the default says nothing.
///
/// It prints as its intent and the reason.
///
/// ```
/// use mnemic::{Intent, Plan, Preset};
///
/// let plan = Plan::new(Intent::Temporal)
///     .because("it asks when")
///     .preset(Preset::default().recency(0.1, 30.0))
///     .prefer_kinds(["episodic"], 0.1);
/// assert_eq!(plan.to_string(), "intent temporal (it asks when)");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "a plan does nothing until it is given to a Recall"]
pub struct Plan {
    intent: Intent,
    reason: Option<String>,
    pub(crate) preset: Option<Preset>,
    pub(crate) entity_weight: Option<f64>,
    pub(crate) candidates: Option<usize>,
    pub(crate) kinds: Vec<String>,
    /// From 0 up.
    pub(crate) raise: f64,
    pub(crate) expand: Option<Expand>,
}

impl Plan {
    /// A plan for an intent that changes nothing yet.
    pub fn new(intent: Intent) -> Self {
        Self {
            intent,
            ..Self::default()
        }
    }

    /// Why it was chosen, in a few words, for whoever reads it.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The formula and weights by which hits are scored, in the place of the question's own.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// The weight of entities, as [`Recall::entity_weight`].
    pub fn entity_weight(mut self, weight: f64) -> Self {
        self.entity_weight = Some(sound(weight));
        self
    }

    /// How many candidates each leg gives, at least the limit. Default: three times the limit, at least 30.
    pub fn candidates(mut self, candidates: usize) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Raises the score of memories of these kinds by a part of itself, not above 1: 0.1 is a tenth, so that one of these kinds
    /// is before another that is less than a tenth better. The relevance, which most floors are held against, stays.
    /// Memories of other kinds stay as well: where there are none of these, the answer is what it is without. A negative
    /// part or NaN counts 0.
    pub fn prefer_kinds<T: Into<String>>(
        mut self,
        kinds: impl IntoIterator<Item = T>,
        by: f64,
    ) -> Self {
        self.kinds = kinds.into_iter().map(Into::into).collect();
        self.raise = sound(by);
        self
    }

    /// Follows links from the best candidates, as [`Recall::expand`], in the place of what the question says of that.
    pub fn expand(mut self, expand: Expand) -> Self {
        self.expand = Some(expand);
        self
    }

    /// What the question wants to know.
    pub fn intent(&self) -> Intent {
        self.intent
    }

    /// Why it was chosen, where the planner tells.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "intent {}", self.intent)?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

/// What [`Memory::recall_planned`] answers with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Planned {
    /// The plan that was followed.
    pub plan: Plan,
    /// The memories, best first.
    pub hits: Vec<Hit>,
    /// How many of the hits, at their end, the plan did not find: they are what the question finds without it, in that
    /// order and with those scores, which may be higher numbers.
    pub filled: usize,
}

impl Memory {
    /// Recalls as a planner says for the question, and tells the plan: see [`Recall::plan`].
    ///
    /// It answers with as many hits as [`Memory::recall`] for the same question and limit, at least; with some, where a budget
    /// of tokens leaves that one some.
    ///
    /// # Errors
    /// As [`Memory::recall`].
    ///
    /// ```
    /// use mnemic::{Intent, Memory, Recall, RulePlanner};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["rotate the key: open the vault, press renew", "the key ring is blue"])?;
    /// let planned = memory.recall_planned(Recall::new("how to rotate the key?").limit(1), &RulePlanner::new())?;
    /// assert_eq!(planned.plan.intent(), Intent::Procedural);
    /// assert!(planned.hits[0].memory.content.starts_with("rotate"));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn recall_planned(
        &self,
        recall: impl Into<Recall>,
        planner: &dyn QueryPlanner,
    ) -> Result<Planned> {
        let recall: Recall = recall.into();
        let plan = planner.plan(&recall.query);
        let recall = recall.plan(plan.clone()).resolved();
        let mut filled = Filled(0);
        let hits = self.recall_watched(&recall, &mut filled)?;
        Ok(Planned {
            plan,
            hits,
            filled: filled.0,
        })
    }
}

struct Filled(usize);

impl Watch for Filled {
    fn filled(&mut self, count: usize) {
        self.0 = count;
    }
}

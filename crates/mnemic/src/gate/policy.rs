//! What to do about each verdict, who may overrule it, and what storing through the gate answers.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::gate::assessment::{Assessment, GateVerdict};
use crate::types::Stored;

/// What to do with a text that meets a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GatePolicy {
    /// Store it beside the memory.
    #[default]
    Keep,
    /// Do not store it; answer with the memory that is there.
    Skip,
    /// Store it in the place of the memory, which is kept as superseded: it is not recalled any more unless asked for.
    Supersede,
    /// Store nothing; answer with the assessment, so that the caller decides.
    Ask,
}

/// What to do about each verdict when a memory is stored by [`crate::Memory::store_with`].
///
/// The default skips duplicates and keeps all else, so that nothing is lost. A text that is new is always stored.
///
/// ```
/// use mnemic::{Gate, GatePolicy};
///
/// let gate = Gate::new().near(GatePolicy::Skip).conflict(GatePolicy::Supersede);
/// assert_eq!(gate.policy(mnemic::GateVerdict::Duplicate), GatePolicy::Skip);
/// ```
#[derive(Debug, Clone)]
#[must_use = "a gate does nothing until a memory is stored by it"]
pub struct Gate {
    duplicate: GatePolicy,
    near: GatePolicy,
    conflict: GatePolicy,
    judge: Option<Arc<dyn ConflictJudge>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            duplicate: GatePolicy::Skip,
            near: GatePolicy::Keep,
            conflict: GatePolicy::Keep,
            judge: None,
        }
    }
}

impl Gate {
    /// Skips duplicates and keeps all else.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to do with the same text. Default: [`GatePolicy::Skip`].
    pub fn duplicate(mut self, policy: GatePolicy) -> Self {
        self.duplicate = policy;
        self
    }

    /// What to do with nearly the same. Default: [`GatePolicy::Keep`].
    pub fn near(mut self, policy: GatePolicy) -> Self {
        self.near = policy;
        self
    }

    /// What to do with what speaks against a memory. Default: [`GatePolicy::Keep`].
    pub fn conflict(mut self, policy: GatePolicy) -> Self {
        self.conflict = policy;
        self
    }

    /// Who may overrule the verdict. Default: nobody.
    pub fn judge(mut self, judge: impl ConflictJudge + 'static) -> Self {
        self.judge = Some(Arc::new(judge));
        self
    }

    /// What this gate does about a verdict.
    #[must_use]
    pub fn policy(&self, verdict: GateVerdict) -> GatePolicy {
        match verdict {
            GateVerdict::New => GatePolicy::Keep,
            GateVerdict::Duplicate => self.duplicate,
            GateVerdict::Near => self.near,
            GateVerdict::Conflict => self.conflict,
        }
    }

    /// Has the judge, if there is one, look at an assessment; a memory must have been met.
    pub(crate) fn judged(
        &self,
        new: &str,
        mut assessment: Assessment,
    ) -> crate::Result<Assessment> {
        if let Some(judge) = &self.judge
            && let Some(memory) = &assessment.memory
            && judge.wants(&assessment)
        {
            assessment.verdict =
                judge
                    .judge(new, &memory.content, &assessment)
                    .map_err(|error| {
                        let message =
                            format!("the conflict judge failed on the memory {}", memory.id);
                        crate::Error::caused(crate::ErrorKind::Judging, message, error)
                    })?;
        }
        Ok(assessment)
    }
}

/// Decides by other means than the gate's own what a new text is to a memory: a language model, say, or a person.
///
/// It is called outside locks and transactions, once for each text that is stored, and again where the file changed
/// meanwhile in a way that matters. The trait is dyn-safe. `&J`, `Box<J>` and `Arc<J>` are judges where `J` is.
///
/// ```
/// use mnemic::{Assessment, ConflictJudge, Gate, GatePolicy, GateVerdict, JudgeError, Memory};
///
/// /// Knows that there is one database only.
/// #[derive(Debug)]
/// struct OneDatabase;
///
/// impl ConflictJudge for OneDatabase {
///     fn wants(&self, _: &Assessment) -> bool {
///         true
///     }
///     fn judge(&self, new: &str, known: &str, assessment: &Assessment) -> Result<GateVerdict, JudgeError> {
///         let about = |text: &str| text.starts_with("The database is");
///         Ok(if about(new) && about(known) { GateVerdict::Conflict } else { assessment.verdict })
///     }
/// }
///
/// let memory = Memory::open_in_memory()?;
/// memory.store("The database is Postgres")?;
/// let gate = Gate::new().conflict(GatePolicy::Ask).judge(OneDatabase);
/// let answer = memory.store_with("The database is MySQL", &gate)?;
/// assert_eq!(answer.assessment().verdict, GateVerdict::Conflict);
/// assert_eq!(answer.id(), None);
/// # Ok::<(), mnemic::Error>(())
/// ```
pub trait ConflictJudge: fmt::Debug + Send + Sync {
    /// Whether it is to be asked about an assessment (in which there is a memory). As it stands: where the gate found more
    /// than a new text, other than the same text again.
    fn wants(&self, assessment: &Assessment) -> bool {
        matches!(
            assessment.verdict,
            GateVerdict::Near | GateVerdict::Conflict
        )
    }

    /// What the new text is to the known one; the gate's own verdict is in the assessment.
    ///
    /// # Errors
    /// [`JudgeError`] where it cannot tell. The store fails then, with the kind `Judging`, and nothing is stored.
    fn judge(
        &self,
        new: &str,
        known: &str,
        assessment: &Assessment,
    ) -> Result<GateVerdict, JudgeError>;
}

macro_rules! judge_by_reference {
    ($($pointer:ty),*) => {$(
        impl<J: ConflictJudge + ?Sized> ConflictJudge for $pointer {
            fn wants(&self, assessment: &Assessment) -> bool {
                (**self).wants(assessment)
            }
            fn judge(&self, new: &str, known: &str, assessment: &Assessment) -> Result<GateVerdict, JudgeError> {
                (**self).judge(new, known, assessment)
            }
        }
    )*};
}
judge_by_reference!(&J, Box<J>, Arc<J>);

/// Why a [`ConflictJudge`] could not tell.
#[derive(Debug)]
pub struct JudgeError {
    reason: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl JudgeError {
    /// A failure without a cause below.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            source: None,
        }
    }

    /// A failure with its cause.
    pub fn caused(
        reason: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self {
            reason: reason.into(),
            source: Some(source.into()),
        }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl StdError for JudgeError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}

/// What [`crate::Memory::store_with`] did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use = "where the gate asks, nothing was stored"]
pub enum Gated {
    /// The memory was stored.
    Stored {
        /// The new memory.
        stored: Stored,
        /// The id of the memory in whose place it is.
        superseded: Option<String>,
        /// What the gate found.
        assessment: Assessment,
    },
    /// Nothing was stored, as a memory that is there says it.
    Skipped {
        /// The id of that memory.
        id: String,
        /// What the gate found.
        assessment: Assessment,
    },
    /// Nothing was stored: the caller is to decide.
    Asked {
        /// What the gate found.
        assessment: Assessment,
    },
}

impl Gated {
    /// The id of the memory that says the text now: the new one, or the one that was there; `None` where the gate asks.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Stored { stored, .. } => Some(&stored.id),
            Self::Skipped { id, .. } => Some(id),
            Self::Asked { .. } => None,
        }
    }

    /// What the gate found.
    #[must_use]
    pub fn assessment(&self) -> &Assessment {
        match self {
            Self::Stored { assessment, .. }
            | Self::Skipped { assessment, .. }
            | Self::Asked { assessment } => assessment,
        }
    }
}

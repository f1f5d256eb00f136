//! How healthy a store is as a memory: how much of it is stale, unconnected, disputed or forgotten, and what to do about it.
//! (Whether the file is sound is `check`'s to tell.)

use std::fmt;

use mnemic_rank::TrustRule;
use mnemic_schema::{Scope, Timestamp};

use crate::Result;
use crate::lifecycle::maintain::{each_life, of_scope, trust};
use crate::memory::Memory;
use crate::types::Coverage;

/// Which memories [`Memory::checkup`] looks at, and when. The default is all of them, now.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "nothing is looked at until it is given to Memory::checkup"]
pub struct Checkup {
    scope: Scope,
    now: Option<Timestamp>,
    trust: TrustRule,
}

impl Default for Checkup {
    fn default() -> Self {
        Self {
            scope: Scope::All,
            now: None,
            trust: TrustRule::default(),
        }
    }
}

impl Checkup {
    /// All memories, now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whose memories.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// The instant from which ages are counted. Default: the present.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// The formula of trust.
    pub fn trust(mut self, rule: TrustRule) -> Self {
        self.trust = rule;
        self
    }
}

/// How healthy a store is as a memory, from [`Memory::checkup`]. It prints as a few lines.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckupReport {
    /// Memories that are neither superseded nor forgotten.
    pub current: u64,
    /// Memories that another one stands in the place of.
    pub superseded: u64,
    /// Memories that are forgotten.
    pub forgotten: u64,
    /// The share of the current ones that were neither used nor created in the last 30 days, in [0, 1].
    pub stale_share: f64,
    /// The share of the current ones that have no relation or causal link and were used at most once, in [0, 1].
    pub orphan_share: f64,
    /// Pairs of current memories that contradict each other, by their ids: the first thousand.
    pub contradictions: Vec<(String, String)>,
    /// The mean trust of the current ones, with all that speaks for and against each, in [0, 1]; 0 where there are none.
    pub mean_trust: f64,
    /// How many memories have a vector, of the whole file.
    pub coverage: Coverage,
    /// Bytes of the database file (0 in memory).
    pub file_bytes: u64,
    /// What to do.
    pub hints: Vec<Hint>,
}

/// What a checkup advises. It prints as a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Hint {
    /// More than .3 of the memories are stale.
    Stale(f64),
    /// More than .2 of the memories are unconnected and unused.
    Orphans(f64),
    /// So many pairs contradict each other.
    Contradictions(usize),
    /// So many memories have no vector, in a file that has vectors.
    NoVectors(u64),
}

/// From agent-memory: shares above which it advises.
const MOST_STALE: f64 = 0.3;
const MOST_ORPHANS: f64 = 0.2;
const STALE_DAYS: f64 = 30.0;

/// Contradictions that are listed.
const MOST_LISTED: usize = 1_000;

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(share) => write!(
                f,
                "{:.0} % of the memories were not used for {STALE_DAYS} days: maintain() forgets what has faded",
                share * 100.0
            ),
            Self::Orphans(share) => write!(
                f,
                "{:.0} % of the memories stand alone and were hardly used: relate them, or let maintain() forget them",
                share * 100.0
            ),
            Self::Contradictions(pairs) => write!(
                f,
                "{pairs} pairs of memories contradict each other: supersede the one that no longer holds"
            ),
            Self::NoVectors(memories) => write!(
                f,
                "{memories} memories have no vector, so that they are found by words alone: backfill() embeds them"
            ),
        }
    }
}

impl fmt::Display for CheckupReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} current memories, {} superseded, {} forgotten, {} bytes",
            self.current, self.superseded, self.forgotten, self.file_bytes
        )?;
        write!(
            f,
            "stale {:.0} %, unconnected {:.0} %, contradictions {}, mean trust {:.2}",
            self.stale_share * 100.0,
            self.orphan_share * 100.0,
            self.contradictions.len(),
            self.mean_trust
        )?;
        for hint in &self.hints {
            write!(f, "\n- {hint}")?;
        }
        Ok(())
    }
}

impl Memory {
    /// How healthy this store is as a memory, and what to do about it. One pass over all memories of the scope.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// use mnemic::{Checkup, Memory, NewMemory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("an old note").created_at("2020-01-01".parse()?))?;
    /// let report = memory.checkup(Checkup::new())?;
    /// assert_eq!(report.stale_share, 1.0);
    /// println!("{report}");
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn checkup(&self, checkup: Checkup) -> Result<CheckupReport> {
        let now = checkup.now.unwrap_or_else(Timestamp::now);
        let filter = of_scope(&checkup.scope);
        let coverage = self.coverage()?;
        let file_bytes = self.health()?.file_bytes;
        self.read(|snapshot| {
            let (mut current, mut stale, mut orphans, mut trusts) = (0u64, 0u64, 0u64, 0.0);
            each_life(snapshot, &filter, |row| {
                current += 1;
                stale += u64::from(now.days_since(row.last_used) > STALE_DAYS);
                orphans += u64::from(row.links == 0 && row.accesses <= 1);
                trusts += trust(row, &checkup.trust, now);
            })?;
            let share = |part: f64| part / current.max(1) as f64;
            let (superseded, forgotten) = snapshot.gone_counts(&filter)?;
            let mut report = CheckupReport {
                current,
                superseded,
                forgotten,
                stale_share: share(stale as f64),
                orphan_share: share(orphans as f64),
                contradictions: snapshot.contradictions(&filter, MOST_LISTED)?,
                mean_trust: share(trusts),
                coverage: coverage.clone(),
                file_bytes,
                hints: Vec::new(),
            };
            report.hints = hints(&report);
            Ok(report)
        })
    }
}

fn hints(report: &CheckupReport) -> Vec<Hint> {
    let pairs = report.contradictions.len();
    let Coverage {
        embedded, missing, ..
    } = report.coverage;
    [
        (report.stale_share > MOST_STALE).then_some(Hint::Stale(report.stale_share)),
        (report.orphan_share > MOST_ORPHANS).then_some(Hint::Orphans(report.orphan_share)),
        (pairs > 0).then_some(Hint::Contradictions(pairs)),
        (embedded > 0 && missing > 0).then_some(Hint::NoVectors(missing)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

//! Maintenance: every memory is judged by its strength, and promoted, demoted or forgotten. It is judged on snapshots, in
//! pages; what is to change is judged once more in the short transaction that changes it.

use std::fmt;

use mnemic_rank::{Judgement, LifePolicy, LifeState, TrustRule, Verdict, Witness, judge};
use mnemic_schema::{Filter, Layer, LifeRow, Scope, Snapshot, Timestamp};

use crate::Result;
use crate::filter::filter_verbs;
use crate::memory::Memory;

/// Which memories [`Memory::maintain`] judges, and by what. Nothing is changed before [`Maintain::apply`] is said.
///
/// ```
/// use mnemic::{LifePolicy, Maintain};
///
/// let strict = Maintain::new().project("web").policy(LifePolicy { forget_idle_days: 30.0, ..LifePolicy::default() });
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use = "nothing is judged until it is given to Memory::maintain"]
pub struct Maintain {
    pub(crate) filter: Filter,
    policy: LifePolicy,
    trust: TrustRule,
    now: Option<Timestamp>,
    at_most: Option<usize>,
    apply: bool,
}

filter_verbs!(Maintain);

impl Maintain {
    /// All memories, by the default policy; a rehearsal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The formula of strength and its thresholds. [`LifePolicy::AGENT_MEMORY`] is agent-memory's own; the default has its
    /// numbers, but what was used often fades slowly.
    pub fn policy(mut self, policy: LifePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The formula of trust. [`TrustRule::AGENT_MEMORY`] is agent-memory's own. What it computes is never written: a
    /// memory keeps the trust it was given.
    pub fn trust(mut self, rule: TrustRule) -> Self {
        self.trust = rule;
        self
    }

    /// The instant at which memories are judged. Default: the present.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Ends after so many changes; the next call goes on.
    pub fn at_most(mut self, changes: usize) -> Self {
        self.at_most = Some(changes);
        self
    }

    /// Changes them for real.
    pub fn apply(mut self) -> Self {
        self.apply = true;
        self
    }

    /// What is to become of a memory.
    fn judge(&self, row: &LifeRow, now: Timestamp) -> Judgement {
        judge(&state(row, &self.trust, now), &self.policy)
    }
}

/// A memory that is promoted, demoted or forgotten, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Maintained {
    /// Its id.
    pub id: String,
    /// What is to become of it, and why.
    pub judgement: Judgement,
}

impl fmt::Display for Maintained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.judgement)
    }
}

/// What [`Memory::maintain`] did, or would do.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct MaintainReport {
    /// Whether it was only a rehearsal, so that nothing was changed.
    pub dry_run: bool,
    /// How many memories were judged: those that are neither superseded nor forgotten.
    pub judged: u64,
    /// Those that do not stay as they are, in the order in which they were stored.
    pub changes: Vec<Maintained>,
    /// Whether all were judged: `false` where [`Maintain::at_most`] ended it.
    pub finished: bool,
}

impl MaintainReport {
    /// How many have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let with = self
            .changes
            .iter()
            .filter(|change| change.judgement.verdict == verdict);
        with.count()
    }
}

/// Memories read at once.
const PAGE: usize = 5_000;

/// Memories changed in one transaction, for which the others wait.
const BATCH: usize = 2_000;

impl Memory {
    /// Judges every memory by its strength (`docs/lifecycle.md` has the formula) and promotes, demotes or forgets it; each
    /// change is reported with its reason. Forgotten memories are kept: [`Memory::revive`] has them back. Pinned ones are
    /// never forgotten.
    ///
    /// At one instant it is done once: a second call changes nothing. It may be ended anywhere, and goes on when called
    /// again. The write lock is held for at most two thousand changes at a time.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`; what was changed before stays.
    ///
    /// ```
    /// use mnemic::{Maintain, Memory, NewMemory, Verdict};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store(NewMemory::new("the meeting is in room 4").created_at("2020-01-01".parse()?))?;
    /// let rehearsal = memory.maintain(Maintain::new())?;
    /// assert_eq!(rehearsal.count(Verdict::Forget), 1);
    /// println!("{}", rehearsal.changes[0]);
    /// memory.maintain(Maintain::new().apply())?;
    /// assert!(memory.recall("which room is the meeting in?")?.is_empty());
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn maintain(&self, maintain: Maintain) -> Result<MaintainReport> {
        let now = maintain.now.unwrap_or_else(Timestamp::now);
        let most = maintain.at_most.unwrap_or(usize::MAX);
        let mut report = MaintainReport {
            dry_run: !maintain.apply,
            ..MaintainReport::default()
        };
        let mut after = i64::MIN;
        loop {
            let page = self
                .read(|snapshot| Ok(snapshot.life_rows_after(after, &maintain.filter, PAGE)?))?;
            let Some(last) = page.last() else {
                report.finished = true;
                return Ok(report);
            };
            after = last.seq;
            report.judged += page.len() as u64;
            let changing: Vec<(LifeRow, Judgement)> = page
                .into_iter()
                .map(|row| {
                    let judgement = maintain.judge(&row, now);
                    (row, judgement)
                })
                .filter(|(_, judgement)| judgement.verdict != Verdict::Keep)
                .take(most.saturating_sub(report.changes.len()))
                .collect();
            for batch in changing.chunks(BATCH) {
                let made = if maintain.apply {
                    self.carry_out(batch, &maintain, now)?
                } else {
                    batch.to_vec()
                };
                let made = made.into_iter().map(|(row, judgement)| Maintained {
                    id: row.id,
                    judgement,
                });
                report.changes.extend(made);
            }
            if report.changes.len() >= most {
                return Ok(report);
            }
        }
    }

    /// Carries verdicts out in one transaction; those that no longer hold are left. Answers those that were carried out.
    fn carry_out(
        &self,
        batch: &[(LifeRow, Judgement)],
        maintain: &Maintain,
        now: Timestamp,
    ) -> Result<Vec<(LifeRow, Judgement)>> {
        self.write(|transaction| {
            let mut made = Vec::with_capacity(batch.len());
            for (judged, judgement) in batch {
                // It may have been used, changed or deleted since it was judged.
                let Some(row) = transaction.life_row(judged.seq)? else {
                    continue;
                };
                if row != *judged && maintain.judge(&row, now).verdict != judgement.verdict {
                    continue;
                }
                let reason = serde_json::json!({
                    "strength": judgement.strength,
                    "reason": judgement.reason.to_string(),
                });
                let reason = Some(reason.to_string());
                match judgement.verdict {
                    Verdict::Promote => transaction.move_to(&row, Layer::LongTerm, reason)?,
                    Verdict::Demote => transaction.move_to(&row, Layer::ShortTerm, reason)?,
                    Verdict::Forget => transaction.forget(&row, now, reason)?,
                    Verdict::Keep => continue,
                }
                made.push((row, *judgement));
            }
            Ok(made)
        })
    }

    /// How strong a memory is at an instant, in [0, ∞), and what would become of it; `None` where it is gone, superseded or
    /// forgotten.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    pub fn strength(&self, id: &str, maintain: &Maintain) -> Result<Option<Judgement>> {
        let now = maintain.now.unwrap_or_else(Timestamp::now);
        self.read(|snapshot| {
            let row = match snapshot.key_of(id)? {
                Some(seq) => snapshot.life_row(seq)?,
                None => None,
            };
            Ok(row.map(|row| maintain.judge(&row, now)))
        })
    }
}

/// The trust that a memory has with all that speaks for and against it.
pub(super) fn trust(row: &LifeRow, rule: &TrustRule, now: Timestamp) -> f64 {
    rule.trust(Witness {
        source: row.trust,
        age_days: now.days_since(row.created_at),
        corroborations: row.corroborations,
        contradictions: row.contradictions,
    })
}

fn state(row: &LifeRow, rule: &TrustRule, now: Timestamp) -> LifeState {
    LifeState {
        importance: row.importance,
        trust: trust(row, rule, now),
        accesses: row.accesses,
        idle_days: now.days_since(row.last_used),
        decay_rate: row.decay_rate,
        layer: match row.layer {
            Layer::ShortTerm => mnemic_rank::Layer::ShortTerm,
            Layer::LongTerm => mnemic_rank::Layer::LongTerm,
        },
        pinned: row.pinned,
    }
}

/// Visits what all memories of a filter are judged by, page by page, each page of one state of the file.
pub(super) fn each_life(
    snapshot: &Snapshot<'_>,
    filter: &Filter,
    mut visit: impl FnMut(&LifeRow),
) -> Result<()> {
    let mut after = i64::MIN;
    loop {
        let page = snapshot.life_rows_after(after, filter, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.seq;
        page.iter().for_each(&mut visit);
    }
}

/// All of a scope.
pub(super) fn of_scope(scope: &Scope) -> Filter {
    Filter::from(scope.clone())
}

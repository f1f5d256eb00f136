//! Strength: how much of a memory is left after days without use, and what is to become of it. It reads no clock and
//! changes nothing: the caller tells the state, and does what is judged.

use std::fmt;

use crate::number::{finite, non_negative};

/// Where a memory is kept, which decides how it fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layer {
    /// As every memory begins.
    #[default]
    ShortTerm,
    /// What has proved strong.
    LongTerm,
}

/// What the strength of a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LifeState {
    /// In \[0, 1\].
    pub importance: f64,
    /// In \[0, 1\], as [`crate::TrustRule::trust`] computes it.
    pub trust: f64,
    /// How often it was used.
    pub accesses: u64,
    /// Days since it was last used, or created where it never was; fractions count. A time in the future is 0.
    pub idle_days: f64,
    /// How fast it fades, 0 or above: the part of the exponent that one day is.
    pub decay_rate: f64,
    /// Where it is kept.
    pub layer: Layer,
    /// Whether it never fades.
    pub pinned: bool,
}

/// The formula of strength, and the thresholds by which memories move and go.
///
/// With use = 1 + ln(1 + accesses) and slow = 1 + `resistance` · ln(1 + accesses):
///
/// strength = importance · trust · use · e^(−decay / slow · days^β)
///
/// A short-term memory is promoted at `promote` or above, a long-term one demoted at `demote` or below. A memory is
/// forgotten where its strength is below `forget_below` and it was idle for more than `forget_idle_days` · slow.
///
/// [`LifePolicy::AGENT_MEMORY`] has a resistance of 0: there, 61 idle days forget a memory of importance 1 that was used a
/// hundred times. The default has 1: as in forgetting curves whose stability grows with every repetition, what was used
/// often fades slowly and is waited for longer. In both, a pinned memory has the strength of one that was used just now,
/// and is neither demoted nor forgotten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LifePolicy {
    /// β of short-term memories, 0 or above.
    pub short_term_exponent: f64,
    /// β of long-term memories, 0 or above.
    pub long_term_exponent: f64,
    /// How much uses slow fading and forgetting: 0 not at all.
    pub resistance: f64,
    /// The least strength (inclusive) that promotes.
    pub promote: f64,
    /// The largest strength (inclusive) that demotes.
    pub demote: f64,
    /// The strength (exclusive) below which a memory may be forgotten.
    pub forget_below: f64,
    /// The idle days (exclusive) beyond which it may be.
    pub forget_idle_days: f64,
}

impl LifePolicy {
    /// agent-memory's: β 1.2 and 0.8, promotion from .7, demotion from .3, forgetting under .1 after more than 60 idle days.
    pub const AGENT_MEMORY: Self = Self {
        short_term_exponent: 1.2,
        long_term_exponent: 0.8,
        resistance: 0.0,
        promote: 0.7,
        demote: 0.3,
        forget_below: 0.1,
        forget_idle_days: 60.0,
    };
}

impl Default for LifePolicy {
    fn default() -> Self {
        Self {
            resistance: 1.0,
            ..Self::AGENT_MEMORY
        }
    }
}

/// The strength of a memory, 0 or above: 1 is a memory of full importance and trust that was never used and is new; uses
/// take it beyond.
///
/// Rises with importance, trust and uses, falls with idle days and the rate of decay. A number that is NaN counts as 0, but
/// idle days that are NaN are without end. Source: agent-memory; see [`LifePolicy`] for the formula and what the default
/// changes.
///
/// ```
/// use mnemic_rank::{Layer, LifePolicy, LifeState, strength};
///
/// let used = LifeState {
///     importance: 1.0, trust: 0.75, accesses: 100, idle_days: 61.0, decay_rate: 0.1, layer: Layer::ShortTerm, pinned: false,
/// };
/// assert!(strength(&used, &LifePolicy::AGENT_MEMORY) < 1e-5);
/// assert!(strength(&used, &LifePolicy::default()) > 0.3);
/// assert_eq!(strength(&LifeState { accesses: 0, pinned: true, ..used }, &LifePolicy::default()), 0.75);
/// ```
#[must_use]
pub fn strength(state: &LifeState, policy: &LifePolicy) -> f64 {
    let unit = |x: f64| finite(x).clamp(0.0, 1.0);
    let used = 1.0 + (state.accesses as f64).ln_1p();
    let left = if state.pinned {
        1.0
    } else {
        let exponent = match state.layer {
            Layer::ShortTerm => policy.short_term_exponent,
            Layer::LongTerm => policy.long_term_exponent,
        };
        let days = finite(idle(state).powf(non_negative(exponent)));
        let rate = non_negative(state.decay_rate) / slowed(state, policy);
        (-finite(rate * days)).exp()
    };
    finite(unit(state.importance) * unit(state.trust) * used * left)
}

fn idle(state: &LifeState) -> f64 {
    if state.idle_days.is_nan() {
        f64::MAX
    } else {
        non_negative(state.idle_days)
    }
}

/// By how much uses slow what time does, 1 or above.
fn slowed(state: &LifeState, policy: &LifePolicy) -> f64 {
    finite(1.0 + finite(non_negative(policy.resistance) * (state.accesses as f64).ln_1p()))
}

/// What is to become of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It stays as it is.
    Keep,
    /// It becomes long-term.
    Promote,
    /// It becomes short-term.
    Demote,
    /// It is forgotten.
    Forget,
}

/// Why a memory was judged so. Prints as half a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// It is pinned, and would have gone or been demoted.
    Pinned,
    /// Its strength is between the thresholds, or on the side where it is already.
    Between,
    /// Its strength reaches the threshold of promotion.
    Strong {
        /// The threshold.
        at_least: f64,
    },
    /// Its strength is at the threshold of demotion, or below.
    Weak {
        /// The threshold.
        at_most: f64,
    },
    /// It faded and was idle for longer than it may be.
    Faded {
        /// The threshold of strength.
        below: f64,
        /// How long it was idle, in days.
        idle_days: f64,
        /// How long it may be, by its uses.
        most_idle_days: f64,
    },
    /// It is weak enough to be forgotten, but was used too lately or too often.
    Waiting {
        /// How long it may be idle, in days.
        most_idle_days: f64,
    },
    /// It would move, and move straight back or be forgotten in the other layer, where it fades otherwise.
    Unsettled,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pinned => f.write_str("pinned"),
            Self::Between => f.write_str("its strength asks for nothing"),
            Self::Strong { at_least } => write!(f, "its strength is at least {at_least}"),
            Self::Weak { at_most } => write!(f, "its strength is at most {at_most}"),
            Self::Faded {
                below,
                idle_days,
                most_idle_days,
            } => write!(
                f,
                "its strength is below {below} and it was idle for {idle_days:.1} days, more than {most_idle_days:.1}"
            ),
            Self::Waiting { most_idle_days } => write!(
                f,
                "it has faded, but has not been idle for more than {most_idle_days:.1} days"
            ),
            Self::Unsettled => {
                f.write_str("in the other layer it would be moved back or forgotten")
            }
        }
    }
}

/// A verdict with what it rests on. Prints as a line for a person.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// What is to be done.
    pub verdict: Verdict,
    /// The strength of the memory as it is.
    pub strength: f64,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.verdict {
            Verdict::Keep => "keep",
            Verdict::Promote => "promote",
            Verdict::Demote => "demote",
            Verdict::Forget => "forget",
        };
        write!(f, "{verb} (strength {:.3}): {}", self.strength, self.reason)
    }
}

/// What is to become of a memory at one instant.
///
/// It settles at once: judged again after the verdict was carried out, at the same instant, the answer is `Keep` (or
/// `Forget`, of what is forgotten). So a memory that would be demoted only to be forgotten is forgotten, and one that would
/// be moved only to be moved back, as it fades otherwise in the other layer, stays where it is. With the thresholds of
/// agent-memory the latter takes rates of decay far above its own.
///
/// ```
/// use mnemic_rank::{Layer, LifePolicy, LifeState, Verdict, judge};
///
/// let state = LifeState {
///     importance: 0.9, trust: 0.8, accesses: 3, idle_days: 0.5, decay_rate: 0.1, layer: Layer::ShortTerm, pinned: false,
/// };
/// let judgement = judge(&state, &LifePolicy::default());
/// assert_eq!(judgement.verdict, Verdict::Promote);
/// assert_eq!(judgement.to_string(), "promote (strength 1.687): its strength is at least 0.7");
/// let promoted = LifeState { layer: Layer::LongTerm, ..state };
/// assert_eq!(judge(&promoted, &LifePolicy::default()).verdict, Verdict::Keep);
/// ```
#[must_use]
pub fn judge(state: &LifeState, policy: &LifePolicy) -> Judgement {
    let first = at_first_sight(state, policy);
    let keep = |reason| Judgement {
        verdict: Verdict::Keep,
        reason,
        ..first
    };
    let layer = match first.verdict {
        Verdict::Keep | Verdict::Forget => return first,
        Verdict::Promote => Layer::LongTerm,
        Verdict::Demote => Layer::ShortTerm,
    };
    let moved = at_first_sight(&LifeState { layer, ..*state }, policy);
    match (first.verdict, moved.verdict) {
        (_, Verdict::Keep) => first,
        (Verdict::Demote, Verdict::Forget) => Judgement {
            strength: first.strength,
            ..moved
        },
        _ => keep(Reason::Unsettled),
    }
}

/// By the thresholds alone, whatever comes after.
fn at_first_sight(state: &LifeState, policy: &LifePolicy) -> Judgement {
    let strength = strength(state, policy);
    let idle_days = idle(state);
    let most_idle_days = finite(non_negative(policy.forget_idle_days) * slowed(state, policy));
    let (verdict, reason) = if strength < policy.forget_below && idle_days > most_idle_days {
        let faded = Reason::Faded {
            below: policy.forget_below,
            idle_days,
            most_idle_days,
        };
        (Verdict::Forget, faded)
    } else {
        match state.layer {
            Layer::ShortTerm if strength >= policy.promote => {
                let at_least = policy.promote;
                (Verdict::Promote, Reason::Strong { at_least })
            }
            Layer::LongTerm if strength <= policy.demote => {
                let at_most = policy.demote;
                (Verdict::Demote, Reason::Weak { at_most })
            }
            _ if strength < policy.forget_below => {
                (Verdict::Keep, Reason::Waiting { most_idle_days })
            }
            _ => (Verdict::Keep, Reason::Between),
        }
    };
    let held = state.pinned && matches!(verdict, Verdict::Demote | Verdict::Forget);
    Judgement {
        verdict: if held { Verdict::Keep } else { verdict },
        strength,
        reason: if held { Reason::Pinned } else { reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    const USED: LifeState = LifeState {
        importance: 1.0,
        trust: 0.75,
        accesses: 100,
        idle_days: 61.0,
        decay_rate: 0.1,
        layer: Layer::ShortTerm,
        pinned: false,
    };

    #[test]
    fn the_seeds_strength_to_the_digit() {
        // Python: i*t*(1+math.log(1+n))*math.exp(-d*days**b)
        for (importance, trust, accesses, idle_days, decay_rate, layer, expected) in [
            (0.5, 0.75, 0, 0.0, 0.1, Layer::ShortTerm, 0.375),
            (0.5, 0.75, 3, 10.0, 0.1, Layer::ShortTerm, STRENGTHS[0]),
            (0.5, 0.75, 3, 10.0, 0.1, Layer::LongTerm, STRENGTHS[1]),
            (1.0, 0.75, 100, 61.0, 0.1, Layer::ShortTerm, STRENGTHS[2]),
            (0.9, 1.0, 7, 2.5, 0.02, Layer::LongTerm, STRENGTHS[3]),
        ] {
            let state = LifeState {
                importance,
                trust,
                accesses,
                idle_days,
                decay_rate,
                layer,
                pinned: false,
            };
            let found = strength(&state, &LifePolicy::AGENT_MEMORY);
            assert!(
                (found - expected).abs() <= 1e-12 * expected,
                "{found} {expected}"
            );
        }
    }

    const STRENGTHS: [f64; 4] = [
        0.1834192506520414,
        0.4761392567687989,
        3.947525950159231e-06,
        2.658494770519933,
    ];

    #[test]
    fn the_seeds_thresholds() {
        let judged = |state: LifeState| judge(&state, &LifePolicy::AGENT_MEMORY).verdict;
        let state = LifeState {
            importance: 1.0,
            trust: 0.7,
            accesses: 0,
            idle_days: 0.0,
            ..USED
        };
        assert_eq!(judged(state), Verdict::Promote);
        let just_under = 0.7f64.next_down();
        assert_eq!(
            judged(LifeState {
                trust: just_under,
                ..state
            }),
            Verdict::Keep
        );
        let long = LifeState {
            layer: Layer::LongTerm,
            ..state
        };
        assert_eq!(judged(LifeState { trust: 0.3, ..long }), Verdict::Demote);
        let just_over = 0.3f64.next_up();
        assert_eq!(
            judged(LifeState {
                trust: just_over,
                ..long
            }),
            Verdict::Keep
        );
        assert_eq!(judged(USED), Verdict::Forget);
        assert_eq!(
            judged(LifeState {
                idle_days: 60.0,
                ..USED
            }),
            Verdict::Keep
        );
        // In short term it is far below .1: demoted, it would be forgotten, so it is at once.
        let weak = LifeState {
            importance: 0.5,
            layer: Layer::LongTerm,
            ..USED
        };
        assert!(strength(&weak, &LifePolicy::AGENT_MEMORY) > 0.1);
        assert_eq!(judged(weak), Verdict::Forget);
    }

    #[test]
    fn what_was_used_a_hundred_times_is_not_forgotten_in_two_months() {
        let judged = |state: LifeState| judge(&state, &LifePolicy::default());
        for layer in [Layer::ShortTerm, Layer::LongTerm] {
            let state = LifeState { layer, ..USED };
            assert!(judged(state).strength > 0.3);
            for days in 61..330 {
                let idle_days = f64::from(days);
                assert_ne!(
                    judged(LifeState { idle_days, ..state }).verdict,
                    Verdict::Forget
                );
            }
        }
        // Never used, it goes as ever; used but for years not, too.
        assert_eq!(
            judged(LifeState {
                accesses: 0,
                ..USED
            })
            .verdict,
            Verdict::Forget
        );
        let long_ago = LifeState {
            idle_days: 2_000.0,
            ..USED
        };
        let judgement = judged(long_ago);
        assert_eq!(judgement.verdict, Verdict::Forget);
        assert!(
            judgement
                .to_string()
                .ends_with("idle for 2000.0 days, more than 336.9"),
            "{judgement}"
        );
    }

    fn any_state() -> impl Strategy<Value = LifeState> {
        let accesses = prop_oneof![0u64..200, any::<u64>()];
        let number = || prop_oneof![2 => 0.0..1.0f64, 1 => any_number()];
        let days = prop_oneof![2 => 0.0..400.0f64, 1 => any_number()];
        let rate = prop_oneof![2 => 0.0..0.3f64, 1 => 0.0..20.0f64, 1 => any_number()];
        (
            number(),
            number(),
            accesses,
            days,
            rate,
            any::<bool>(),
            prop::bool::weighted(0.1),
        )
            .prop_map(
                |(importance, trust, accesses, idle_days, decay_rate, long, pinned)| LifeState {
                    importance,
                    trust,
                    accesses,
                    idle_days,
                    decay_rate,
                    layer: if long {
                        Layer::LongTerm
                    } else {
                        Layer::ShortTerm
                    },
                    pinned,
                },
            )
    }

    fn any_policy() -> impl Strategy<Value = LifePolicy> {
        let arbitrary =
            prop::array::uniform7(any_number()).prop_map(|[a, b, c, d, e, f, g]| LifePolicy {
                short_term_exponent: a,
                long_term_exponent: b,
                resistance: c,
                promote: d,
                demote: e,
                forget_below: f,
                forget_idle_days: g,
            });
        prop_oneof![
            Just(LifePolicy::AGENT_MEMORY),
            Just(LifePolicy::default()),
            arbitrary
        ]
    }

    proptest! {
        #[test]
        fn a_verdict_settles_at_once(state in any_state(), policy in any_policy()) {
            let first = judge(&state, &policy);
            prop_assert!(first.strength.is_finite() && first.strength >= 0.0);
            let layer = match first.verdict {
                Verdict::Promote => Layer::LongTerm,
                Verdict::Demote => Layer::ShortTerm,
                Verdict::Keep | Verdict::Forget => state.layer,
            };
            let second = judge(&LifeState { layer, ..state }, &policy);
            match first.verdict {
                Verdict::Forget => prop_assert_eq!(second, first),
                _ => prop_assert_eq!(second.verdict, Verdict::Keep),
            }
        }

        #[test]
        fn strength_is_in_order(
            state in any_state(), policy in any_policy(), importance in any_number(), more in 0u64..1_000, days in any_number(),
        ) {
            let is = strength(&state, &policy);
            let tiny = 1e-12 * is.max(1e-300);
            if state.importance <= importance {
                let weightier = strength(&LifeState { importance, ..state }, &policy);
                prop_assert!(is <= weightier + tiny);
            }
            let accesses = state.accesses.saturating_add(more);
            let used = strength(&LifeState { accesses, ..state }, &policy);
            prop_assert!(is <= used + tiny);
            if state.idle_days <= days {
                let later = strength(&LifeState { idle_days: days, ..state }, &policy);
                prop_assert!(later <= is + tiny);
            }
        }

        #[test]
        fn a_pinned_memory_never_fades(state in any_state(), policy in any_policy()) {
            let pinned = LifeState { pinned: true, ..state };
            let new = LifeState { idle_days: 0.0, decay_rate: 0.0, ..pinned };
            prop_assert_eq!(strength(&pinned, &policy), strength(&new, &policy));
            let verdict = judge(&pinned, &policy).verdict;
            prop_assert!(matches!(verdict, Verdict::Keep | Verdict::Promote), "{verdict:?}");
        }

        /// Uses never turn a memory that is kept into one that is forgotten.
        #[test]
        fn uses_resist_forgetting(state in any_state(), more in 0u64..1_000) {
            let policy = LifePolicy::default();
            let accesses = state.accesses.saturating_add(more);
            if judge(&state, &policy).verdict != Verdict::Forget {
                let used = judge(&LifeState { accesses, ..state }, &policy);
                prop_assert!(used.verdict != Verdict::Forget, "{used}");
            }
        }
    }
}

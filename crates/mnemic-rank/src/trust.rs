//! Trust: what age and other memories make of the trust that a source was given. It is computed anew each time, from the
//! source as it was given, and never to be stored in the source's place.

use crate::number::{finite, non_negative};

/// What bears on the trust in a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Witness {
    /// The trust that the memory was given when it was stored, in \[0, 1\]; never a trust that was computed.
    pub source: f64,
    /// How long it has been known, in days, with fractions. An age in the future is none.
    pub age_days: f64,
    /// How many other memories support it.
    pub corroborations: u64,
    /// How many others contradict it.
    pub contradictions: u64,
}

/// How the parts of trust are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustFormula {
    /// A sum of four terms: source · s + freshness · f + corroboration · c − contradiction · x.
    Sum,
    /// Shares of what there is: (s + (1 − s) · corroboration · c) · (1 − freshness · (1 − f) · (1 − c)) · (1 −
    /// contradiction · x).
    Shares,
}

/// The formula of trust with its weights and limits. Here f = max(0, 1 − age / `fresh_days`), and c and x are the numbers
/// of corroborations and contradictions over `most`, at most 1.
///
/// [`TrustRule::AGENT_MEMORY`] is agent-memory's own. It gives a new memory of trust .75 the trust .525, which that system
/// then stores as the source, so that every look lowers it further. The default mends both: a new memory that nobody
/// speaks for or against has the trust of its source. Corroboration closes a part of the way to 1 and keeps age away, age
/// and contradiction take a part away. The shares are agent-memory's weights in relation to its weight of the source (.15
/// / .5 = .3, .2 / .5 = .4). The weights in the sum are to be 0 or above, the shares in \[0, 1\].
///
/// ```
/// use mnemic_rank::{TrustRule, Witness};
///
/// let new = Witness { source: 0.75, age_days: 0.0, corroborations: 0, contradictions: 0 };
/// assert_eq!(TrustRule::AGENT_MEMORY.trust(new), 0.525);
/// assert_eq!(TrustRule::default().trust(new), 0.75);
/// let disputed = Witness { contradictions: 5, ..new };
/// assert_eq!(TrustRule::default().trust(disputed), 0.75 * 0.6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustRule {
    /// How the parts are put together.
    pub formula: TrustFormula,
    /// The weight of the source; not used by [`TrustFormula::Shares`], where it is 1.
    pub source: f64,
    /// The weight of being new, or the share that age takes away at last.
    pub freshness: f64,
    /// The weight of full corroboration, or the share of the way to 1 that it closes.
    pub corroboration: f64,
    /// The weight of full contradiction, or the share that it takes away.
    pub contradiction: f64,
    /// After how many days a memory is not new at all. 0 or less is at once.
    pub fresh_days: f64,
    /// Corroborations and contradictions beyond so many count no more; 0 is as 1.
    pub most: u64,
}

impl TrustRule {
    /// agent-memory's: clamp₀₁(0.5 · source + 0.15 · max(0, 1 − age/90) + 0.15 · min(corroborations, 5)/5 − 0.2 ·
    /// min(contradictions, 5)/5).
    pub const AGENT_MEMORY: Self = Self {
        formula: TrustFormula::Sum,
        source: 0.5,
        freshness: 0.15,
        corroboration: 0.15,
        contradiction: 0.2,
        fresh_days: 90.0,
        most: 5,
    };

    /// The trust in a memory, in \[0, 1\]. Rises with the source and with corroborations, falls with age and with
    /// contradictions. A source that is NaN is 0, an age that is NaN is without end. Source: agent-memory; see
    /// [`TrustRule`] for what the default changes.
    #[must_use]
    pub fn trust(&self, witness: Witness) -> f64 {
        let source = finite(witness.source).clamp(0.0, 1.0);
        let fresh = self.fresh(witness.age_days);
        let corroborated = self.share(witness.corroborations);
        let contradicted = self.share(witness.contradictions);
        match self.formula {
            TrustFormula::Sum => {
                let sum = finite(non_negative(self.source) * source)
                    + finite(non_negative(self.freshness) * fresh)
                    + finite(non_negative(self.corroboration) * corroborated);
                let less = finite(non_negative(self.contradiction) * contradicted);
                finite(finite(sum) - less).clamp(0.0, 1.0)
            }
            TrustFormula::Shares => {
                let part = |share: f64| finite(share).clamp(0.0, 1.0);
                let raised = source + (1.0 - source) * part(self.corroboration) * corroborated;
                let aged = 1.0 - part(self.freshness) * (1.0 - fresh) * (1.0 - corroborated);
                let left = 1.0 - part(self.contradiction) * contradicted;
                (raised * aged * left).clamp(0.0, 1.0)
            }
        }
    }

    /// How new an age is, in \[0, 1\].
    fn fresh(&self, age_days: f64) -> f64 {
        if age_days <= 0.0 {
            1.0
        } else if age_days.is_nan() || self.fresh_days.is_nan() || self.fresh_days <= 0.0 {
            0.0
        } else if self.fresh_days == f64::INFINITY {
            1.0
        } else {
            (1.0 - age_days / self.fresh_days).max(0.0)
        }
    }

    fn share(&self, count: u64) -> f64 {
        let most = self.most.max(1);
        count.min(most) as f64 / most as f64
    }
}

impl Default for TrustRule {
    fn default() -> Self {
        Self {
            formula: TrustFormula::Shares,
            source: 1.0,
            freshness: 0.3,
            corroboration: 0.3,
            contradiction: 0.4,
            fresh_days: 90.0,
            most: 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::any_number;
    use proptest::prelude::*;

    fn witness(source: f64, age_days: f64, corroborations: u64, contradictions: u64) -> Witness {
        Witness {
            source,
            age_days,
            corroborations,
            contradictions,
        }
    }

    #[test]
    fn the_seeds_formula_to_the_digit() {
        // By hand: .5s + .15·fresh + .15·min(c,5)/5 − .2·min(x,5)/5.
        for (source, age, c, x, expected) in [
            (0.75, 0.0, 0, 0, 0.525),
            (0.75, 45.0, 2, 1, 0.47),
            (1.0, 0.0, 5, 0, 0.8),
            (1.0, 0.0, 500, 0, 0.8),
            (0.2, 91.0, 0, 5, 0.0),
            (0.9, 900.0, 1, 3, 0.36),
        ] {
            let trust = TrustRule::AGENT_MEMORY.trust(witness(source, age, c, x));
            assert!((trust - expected).abs() < 1e-12, "{trust} {expected}");
        }
    }

    #[test]
    fn the_default_by_hand() {
        for (source, age, c, x, expected) in [
            // Half aged: 15 % are gone.
            (0.8, 45.0, 0, 0, 0.68),
            // Corroborated in full: (.5 + .5 · .3), and age has no part in it.
            (0.5, 900.0, 5, 0, 0.65),
            (0.5, 90.0, 0, 0, 0.35),
            // (.5 + .5 · .3 · .4) · (1 − .3 · .6) · (1 − .4 · .2)
            (0.5, 90.0, 2, 1, 0.56 * 0.82 * 0.92),
        ] {
            let trust = TrustRule::default().trust(witness(source, age, c, x));
            assert!((trust - expected).abs() < 1e-12, "{trust} {expected}");
        }
    }

    fn any_rule() -> impl Strategy<Value = TrustRule> {
        (
            prop::bool::ANY,
            any_number(),
            any_number(),
            any_number(),
            any_number(),
            any_number(),
            0u64..8,
        )
            .prop_map(
                |(sum, source, freshness, corroboration, contradiction, fresh_days, most)| {
                    TrustRule {
                        formula: if sum {
                            TrustFormula::Sum
                        } else {
                            TrustFormula::Shares
                        },
                        source,
                        freshness,
                        corroboration,
                        contradiction,
                        fresh_days,
                        most,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn it_stays_in_range_and_in_order_by_any_rule(
            rule in prop_oneof![Just(TrustRule::AGENT_MEMORY), Just(TrustRule::default()), any_rule()],
            source in any_number(), more in any_number(), age in any_number(), older in any_number(),
            c in 0u64..9, x in 0u64..9, further in 0u64..9,
        ) {
            let trust = rule.trust(witness(source, age, c, x));
            prop_assert!((0.0..=1.0).contains(&trust), "{trust}");
            let tiny = 1e-12;
            if source <= more {
                prop_assert!(trust <= rule.trust(witness(more, age, c, x)) + tiny);
            }
            if age <= older {
                prop_assert!(rule.trust(witness(source, older, c, x)) <= trust + tiny);
            }
            prop_assert!(trust <= rule.trust(witness(source, age, c + further, x)) + tiny);
            prop_assert!(rule.trust(witness(source, age, c, x + further)) <= trust + tiny);
        }

        #[test]
        fn a_new_memory_that_nobody_speaks_of_has_the_trust_of_its_source(source in 0.0..=1.0f64, age in -9.0..=0.0f64) {
            prop_assert_eq!(TrustRule::default().trust(witness(source, age, 0, 0)), source);
        }
    }
}

//! What a user says of a memory beside its text: the verbs of the builders, and what of it is to change.

use mnemic_schema::{Kind, Layer, Lifecycle, Timestamp};

/// What is said; `None` is nothing, `Some(None)` takes away what was said before.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Said {
    pub(crate) kind: Option<Kind>,
    pub(crate) importance: Option<f64>,
    pub(crate) trust: Option<f64>,
    pub(crate) layer: Option<Layer>,
    pub(crate) decay_rate: Option<f64>,
    pub(crate) pinned: Option<bool>,
    pub(crate) source: Option<Option<String>>,
    pub(crate) valid_from: Option<Option<Timestamp>>,
    pub(crate) valid_until: Option<Option<Timestamp>>,
    pub(crate) causal_parent: Option<Option<String>>,
}

impl Said {
    /// Says it of a memory.
    pub(crate) fn apply(&self, to: &mut Lifecycle) {
        fn set<T: Clone>(said: &Option<T>, to: &mut T) {
            if let Some(said) = said {
                to.clone_from(said);
            }
        }
        set(&self.kind, &mut to.kind);
        set(&self.importance, &mut to.importance);
        set(&self.trust, &mut to.trust);
        set(&self.layer, &mut to.layer);
        set(&self.decay_rate, &mut to.decay_rate);
        set(&self.pinned, &mut to.pinned);
        set(&self.source, &mut to.source);
        set(&self.valid_from, &mut to.valid_from);
        set(&self.valid_until, &mut to.valid_until);
        set(&self.causal_parent, &mut to.causal_parent);
    }
}

/// Adds the verbs that say something of a memory to a builder with a field `said: Said`.
macro_rules! said_verbs {
    ($builder:ty) => {
        impl $builder {
            /// What sort of memory it is: semantic (the default), episodic, procedural, or a kind of your own.
            pub fn kind(mut self, kind: impl Into<$crate::Kind>) -> Self {
                self.said.kind = Some(kind.into());
                self
            }

            /// How much it matters, in [0, 1]. Default: .5.
            pub fn importance(mut self, importance: f64) -> Self {
                self.said.importance = Some(importance);
                self
            }

            /// How far its source is trusted, in [0, 1]. Default: .75.
            pub fn trust(mut self, trust: f64) -> Self {
                self.said.trust = Some(trust);
                self
            }

            /// How firmly it is kept. Default: short term.
            pub fn layer(mut self, layer: $crate::Layer) -> Self {
                self.said.layer = Some(layer);
                self
            }

            /// How fast it fades, a day; at least 0. Default: .1.
            pub fn decay_rate(mut self, rate: f64) -> Self {
                self.said.decay_rate = Some(rate);
                self
            }

            /// It never fades, and is never forgotten by [`crate::Memory::maintain`].
            pub fn pinned(mut self) -> Self {
                self.said.pinned = Some(true);
                self
            }

            /// Where it comes from: any text.
            pub fn source(mut self, source: impl Into<String>) -> Self {
                self.said.source = Some(Some(source.into()));
                self
            }

            /// The first instant at which what it says holds; before, it is not recalled unless asked for.
            pub fn valid_from(mut self, time: $crate::Timestamp) -> Self {
                self.said.valid_from = Some(Some(time));
                self
            }

            /// The first instant at which what it says holds no more; from then on it is not recalled unless asked for.
            pub fn valid_until(mut self, time: $crate::Timestamp) -> Self {
                self.said.valid_until = Some(Some(time));
                self
            }

            /// The id of the memory that led to it.
            pub fn caused_by(mut self, id: impl Into<String>) -> Self {
                self.said.causal_parent = Some(Some(id.into()));
                self
            }
        }
    };
}
pub(crate) use said_verbs;

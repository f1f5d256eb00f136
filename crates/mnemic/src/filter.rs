//! The filter verbs that recall, timeline, prune and export share, written once.

use mnemic_schema::{Standing, Timestamp};

/// Adds the filter verbs to a builder with a field `filter: mnemic_schema::Filter`.
macro_rules! filter_verbs {
    ($builder:ty) => {
        impl $builder {
            /// Only memories of this project: any text, compared literally.
            pub fn project(self, project: impl Into<String>) -> Self {
                self.scope($crate::Scope::Project(project.into()))
            }

            /// Whose memories are looked at.
            pub fn scope(mut self, scope: $crate::Scope) -> Self {
                self.filter.scope = scope;
                self
            }

            /// Only memories with at least one of these tags. Tags are compared whole, without regard to case (Unicode)
            /// or composition; no tags is no condition.
            pub fn tags_any<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
                self.filter.tags_any = tags.into_iter().map(Into::into).collect();
                self
            }

            /// Only memories with each of these tags; no tags is no condition.
            pub fn tags_all<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
                self.filter.tags_all = tags.into_iter().map(Into::into).collect();
                self
            }

            /// Only memories with none of these tags; no tags is no condition.
            pub fn tags_none<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
                self.filter.tags_none = tags.into_iter().map(Into::into).collect();
                self
            }

            /// Only memories with at least one of these entities, compared as tags are; no names is no condition.
            pub fn entities_any<T: Into<String>>(
                mut self,
                names: impl IntoIterator<Item = T>,
            ) -> Self {
                self.filter.entities_any = names.into_iter().map(Into::into).collect();
                self
            }

            /// Only memories created at this instant or later.
            pub fn since(mut self, time: $crate::Timestamp) -> Self {
                self.filter.since = Some(time);
                self
            }

            /// Only memories created before this instant.
            pub fn until(mut self, time: $crate::Timestamp) -> Self {
                self.filter.until = Some(time);
                self
            }

            /// Only memories with one of these ids; no ids is no memory.
            pub fn ids<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
                self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
                self
            }

            /// Only memories of one of these kinds (a memory of which nothing was said is semantic); no kinds is no
            /// condition.
            pub fn kinds<K: Into<$crate::Kind>>(
                mut self,
                kinds: impl IntoIterator<Item = K>,
            ) -> Self {
                // By its name, as the file has it: one of your own with the name of another one is that one.
                let kinds = kinds.into_iter().map(Into::<$crate::Kind>::into);
                self.filter.kinds = kinds
                    .map(|kind| $crate::Kind::from(kind.as_str()))
                    .collect();
                self
            }

            /// Only memories at least so important, in [0, 1] (a memory of which nothing was said has .5).
            pub fn min_importance(mut self, importance: f64) -> Self {
                self.filter.min_importance = Some(importance);
                self
            }

            /// Only memories whose source is trusted at least so far, in [0, 1] (where nothing was said, .75).
            pub fn min_trust(mut self, trust: f64) -> Self {
                self.filter.min_trust = Some(trust);
                self
            }

            /// Only memories of this layer (where nothing was said, short term).
            pub fn layer(mut self, layer: $crate::Layer) -> Self {
                self.filter.layer = Some(layer);
                self
            }

            /// Only memories from one of these sources, compared literally; no sources is no condition.
            pub fn sources<T: Into<String>>(
                mut self,
                sources: impl IntoIterator<Item = T>,
            ) -> Self {
                self.filter.sources = sources.into_iter().map(Into::into).collect();
                self
            }

            /// Only memories that are pinned, or only those that are not.
            pub fn pinned(mut self, pinned: bool) -> Self {
                self.filter.pinned = Some(pinned);
                self
            }
        }
    };
}
pub(crate) use filter_verbs;

/// Adds the verbs on how memories stand to a builder with a field `clocks: Clocks`.
macro_rules! clock_verbs {
    ($builder:ty) => {
        impl $builder {
            /// Which memories are looked at beside the current ones.
            pub fn include(mut self, include: $crate::Include) -> Self {
                self.clocks.include = include;
                self
            }

            /// What the memory knew at an instant, and held for true then: created by then, not yet superseded or
            /// forgotten then (the clock of the file), and valid then (the clock of the world). Texts are those of today,
            /// and what was deleted for good is gone; `docs/lifecycle.md` has a picture.
            pub fn as_of(mut self, time: $crate::Timestamp) -> Self {
                self.clocks.known_at = Some(time);
                self.clocks.valid_at = Some(time);
                self
            }

            /// What the memory knew at an instant, whenever that was to hold: created by then, not yet superseded or
            /// forgotten then.
            pub fn known_at(mut self, time: $crate::Timestamp) -> Self {
                self.clocks.known_at = Some(time);
                self
            }

            /// What holds at an instant, by what is known today: the one clock of the two that [`Self::as_of`] sets.
            pub fn valid_at(mut self, time: $crate::Timestamp) -> Self {
                self.clocks.valid_at = Some(time);
                self
            }
        }
    };
}
pub(crate) use clock_verbs;

/// Which memories are looked at beside the current ones. The default is none of them.
///
/// ```
/// use mnemic::{Include, Recall};
///
/// let with_history = Recall::new("cache TTL").include(Include::new().superseded().expired());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[must_use = "it includes nothing until it is given to a question"]
pub struct Include {
    superseded: bool,
    forgotten: bool,
    upcoming: bool,
    expired: bool,
}

impl Include {
    /// Current memories alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// All memories, however they stand.
    pub fn all() -> Self {
        Self::new().superseded().forgotten().upcoming().expired()
    }

    /// Also those in whose place another one stands.
    pub fn superseded(mut self) -> Self {
        self.superseded = true;
        self
    }

    /// Also those that were forgotten.
    pub fn forgotten(mut self) -> Self {
        self.forgotten = true;
        self
    }

    /// Also those that are not valid yet.
    pub fn upcoming(mut self) -> Self {
        self.upcoming = true;
        self
    }

    /// Also those that are valid no more.
    pub fn expired(mut self) -> Self {
        self.expired = true;
        self
    }
}

/// At which instants memories must stand how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Clocks {
    pub(crate) include: Include,
    pub(crate) known_at: Option<Timestamp>,
    pub(crate) valid_at: Option<Timestamp>,
}

impl Clocks {
    /// The conditions for a question that is asked at an instant.
    pub(crate) fn standing(self, now: Timestamp) -> Standing {
        let Include {
            superseded,
            forgotten,
            upcoming,
            expired,
        } = self.include;
        let unless = |included: bool, time: Timestamp| (!included).then_some(time);
        // Where nobody asks what was known, what was ever superseded is.
        let known = self.known_at.unwrap_or(Timestamp::MAX);
        let valid = self.valid_at.unwrap_or(now);
        Standing {
            not_superseded: unless(superseded, known),
            not_forgotten: unless(forgotten, known),
            begun: unless(upcoming, valid),
            not_expired: unless(expired, valid),
            known: self.known_at,
        }
    }
}

//! The filter verbs that recall, timeline and prune share, written once.

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
        }
    };
}
pub(crate) use filter_verbs;

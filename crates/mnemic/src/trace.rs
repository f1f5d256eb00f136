//! What the verbs tell `tracing`, where the feature of that name is on: a span a verb at the level of information, events
//! with numbers at that of debugging. Texts, tags, projects and questions are part of neither. An error is told at the level of
//! debugging by its message, which may hold an id, a path, or the beginning of a text that has nothing to embed.

/// An event at the level of debugging: `event!(hits = 3, "recalled")`. Nothing without the feature.
macro_rules! event {
    ($($field:ident = $value:expr,)* $message:literal) => {{
        #[cfg(feature = "tracing")]
        tracing::debug!($($field = $value,)* $message);
        #[cfg(not(feature = "tracing"))]
        {
            $(let _ = &$value;)*
        }
    }};
}

pub(crate) use event;

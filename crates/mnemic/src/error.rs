//! The one error of the facade: opaque, with a kind to match on.

use std::error::Error as StdError;
use std::fmt;

use mnemic_embed::EmbedError;
use mnemic_schema::{SchemaError, TimestampError};

/// The result of every verb.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Match on [`Error::kind`]; print it for a person; walk [`std::error::Error::source`] for the causes.
///
/// ```
/// use mnemic::{ErrorKind, Memory};
///
/// let memory = Memory::open_in_memory()?;
/// let error = memory.store("   ").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// # Ok::<(), mnemic::Error>(())
/// ```
#[derive(Debug)]
pub struct Error(Box<Repr>);

#[derive(Debug)]
enum Repr {
    Own(ErrorKind, String),
    Caused(ErrorKind, String, Box<dyn StdError + Send + Sync>),
    Embed(EmbedError),
    Schema(SchemaError),
}

/// The kinds of [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was given cannot be: an empty text, a bad id, a path that names no file, a prune without a filter.
    InvalidInput,
    /// No memory has the id.
    NotFound,
    /// A memory with the id exists already.
    AlreadyExists,
    /// What was to be undone was changed since; nothing was changed.
    Changed,
    /// The embedder failed, or made a vector that is none (wrong width, zero, NaN, infinite); or the reranker failed,
    /// or gave a score that is none (not in [0, 1]).
    Embedding,
    /// The file's vectors were made by another model; the message names both.
    ModelMismatch,
    /// A percentile was given as a floor, and the file is not calibrated for this model and preset: see
    /// [`crate::Memory::calibrate`].
    NotCalibrated,
    /// Another handle abandoned the re-embedding that this one was at, or began one with another model.
    Abandoned,
    /// The file was written by a later version of the library; nothing was changed.
    NewerFile,
    /// The file is a database of something else; nothing was changed.
    NotAMemoryFile,
    /// The handle, the file or its directory may not be written.
    ReadOnly,
    /// Another process held the write lock for longer than the busy timeout, or wrote to a file while it was read without
    /// locks, and nothing was changed: try again. By `erase` also where a reader kept it from ending: what it says.
    Busy,
    /// The file is damaged, or is no database.
    Corrupt,
    /// The file system reports an error: no such file, no permission, the target exists, the file was replaced while open.
    Io,
    /// Anything else that the database reports, such as a full disk; nothing was changed.
    Storage,
}

impl Error {
    /// Which kind of error this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::Own(kind, _) | Repr::Caused(kind, ..) => *kind,
            Repr::Embed(_) => ErrorKind::Embedding,
            Repr::Schema(error) => kind_of(error),
        }
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Repr::Own(kind, message.into())))
    }

    /// With what lies below it.
    pub(crate) fn caused(
        kind: ErrorKind,
        message: impl Into<String>,
        cause: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(Repr::Caused(
            kind,
            message.into(),
            Box::new(cause),
        )))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    pub(crate) fn not_found(id: &str) -> Self {
        SchemaError::NotFound { id: id.to_owned() }.into()
    }
}

fn kind_of(error: &SchemaError) -> ErrorKind {
    match error {
        SchemaError::BadPath { .. }
        | SchemaError::BadId { .. }
        | SchemaError::IsDocument { .. }
        | SchemaError::NotADocument { .. }
        | SchemaError::BadChunks { .. }
        | SchemaError::BadLifecycle { .. } => ErrorKind::InvalidInput,
        SchemaError::NewerFile { .. } => ErrorKind::NewerFile,
        SchemaError::NotAMemoryFile { .. } => ErrorKind::NotAMemoryFile,
        SchemaError::ReadOnly { .. } | SchemaError::UnmergedLog { .. } => ErrorKind::ReadOnly,
        SchemaError::Busy { .. } | SchemaError::Changed { .. } | SchemaError::NotErased => {
            ErrorKind::Busy
        }
        SchemaError::Corrupt { .. } | SchemaError::BadRow { .. } | SchemaError::Damaged { .. } => {
            ErrorKind::Corrupt
        }
        SchemaError::AlreadyExists { .. } => ErrorKind::AlreadyExists,
        SchemaError::NotFound { .. } => ErrorKind::NotFound,
        SchemaError::BadVector { .. } => ErrorKind::Embedding,
        SchemaError::NotStaging { .. } => ErrorKind::Abandoned,
        SchemaError::ModelMismatch { .. } => ErrorKind::ModelMismatch,
        SchemaError::Io { .. } | SchemaError::Replaced { .. } => ErrorKind::Io,
        _ => ErrorKind::Storage,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Repr::Own(_, message) | Repr::Caused(_, message, _) => f.write_str(message),
            Repr::Embed(error) => error.fmt(f),
            Repr::Schema(error) => error.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Repr::Own(..) => None,
            Repr::Caused(_, _, cause) => Some(&**cause),
            Repr::Embed(error) => error.source(),
            Repr::Schema(error) => error.source(),
        }
    }
}

#[doc(hidden)]
impl From<SchemaError> for Error {
    fn from(error: SchemaError) -> Self {
        Self(Box::new(Repr::Schema(error)))
    }
}

/// A text that is no time is invalid input.
impl From<TimestampError> for Error {
    fn from(error: TimestampError) -> Self {
        Self::invalid(error.to_string())
    }
}

#[doc(hidden)]
impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        Self(Box::new(Repr::Embed(error)))
    }
}

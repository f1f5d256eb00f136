//! What can go wrong with the file.

use std::path::PathBuf;

use rusqlite::ffi;

/// Why the file could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The path cannot name a database file.
    #[error("{path:?} cannot be opened as a memory file: {reason}")]
    BadPath {
        /// The path given.
        path: PathBuf,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// The file was written by a later version of the library. Nothing was changed.
    #[error(
        "{path:?} has schema version {found}, but this library knows versions up to {supported}: update the library"
    )]
    NewerFile {
        /// The file.
        path: PathBuf,
        /// The version that the file states.
        found: i64,
        /// The newest version known here.
        supported: i64,
    },
    /// The file is a database of something else. Nothing was changed.
    #[error("{path:?} is not a memory file: {reason}")]
    NotAMemoryFile {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// A write-ahead log lies beside a file in a directory that may not be written.
    #[error(
        "{path:?} cannot be read without writing: a write-ahead log lies beside it and must be merged first. Open it \
         once for writing, or copy the file and its -wal to a directory that may be written"
    )]
    UnmergedLog {
        /// The file.
        path: PathBuf,
    },
    /// The file that was opened is no longer at its path: removed, or another one put in its place.
    #[error("{path:?} was removed or replaced while it was open: open it again")]
    Replaced {
        /// The path.
        path: PathBuf,
    },
    /// Another process wrote to a file (of another system, or a backup) while it was read without locks.
    #[error(
        "{path:?} was written to while it was read: end the program that has it open, and try again"
    )]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// The handle or the file is read-only.
    #[error("{doing}: the memory is open for reading only")]
    ReadOnly {
        /// What was tried.
        doing: &'static str,
    },
    /// Another process held the lock for longer than the busy timeout.
    #[error("{doing}: another connection kept the file locked for longer than the busy timeout")]
    Busy {
        /// What was tried.
        doing: &'static str,
        /// SQLite's own word.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is damaged, or is no SQLite database.
    #[error("{doing}: the file is damaged or is not a SQLite database")]
    Corrupt {
        /// What was tried.
        doing: &'static str,
        /// SQLite's own word.
        #[source]
        source: rusqlite::Error,
    },
    /// A row holds something that it should not.
    #[error("the memory {id} holds {found}: run repair()")]
    BadRow {
        /// The id of the memory.
        id: String,
        /// What was found.
        found: String,
    },
    /// A memory of this id is there already.
    #[error("a memory with the id {id:?} exists already")]
    AlreadyExists {
        /// The id given.
        id: String,
    },
    /// No memory has this id.
    #[error("no memory has the id {id:?}")]
    NotFound {
        /// The id given.
        id: String,
    },
    /// The text of a document's memory is made of the document, and cannot be changed by itself.
    #[error(
        "the memory {id} is a document, whose text is made of its title, description and source: change those \
         (update_document, replace_source)"
    )]
    IsDocument {
        /// The id given.
        id: String,
    },
    /// The memory with this id is not a document.
    #[error("the memory {id} is not a document")]
    NotADocument {
        /// The id given.
        id: String,
    },
    /// The chunks given are not those of a source.
    #[error("the chunks of {id} do not fit its source: {reason}")]
    BadChunks {
        /// The document.
        id: String,
        /// What does not fit.
        reason: String,
    },
    /// An id is not 1 to 64 visible ASCII characters.
    #[error(
        "{id:?} cannot be an id: give 1 to 64 visible ASCII characters, or none to have one made"
    )]
    BadId {
        /// The id given.
        id: String,
    },
    /// What was said of a memory cannot be.
    #[error("the memory {id:?} cannot be so: {reason}")]
    BadLifecycle {
        /// The id of the memory.
        id: String,
        /// What is wrong, with the value.
        reason: String,
    },
    /// A vector may not be stored: it is of the wrong width, zero, or not finite.
    #[error("the vector of {of} cannot be stored: {reason}")]
    BadVector {
        /// Whose vector.
        of: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The vectors of the file were made by another model than the one that wants to write.
    #[error(
        "the file's vectors were made by {recorded}, which cannot be joined by vectors of {given}"
    )]
    ModelMismatch {
        /// The model that the file records.
        recorded: String,
        /// The model at hand.
        given: String,
    },
    /// The vectors that a re-embedding gathered are not there (any more): it was abandoned, or begun with another model.
    #[error(
        "the re-embedding was abandoned{}",
        found.as_ref().map_or_else(String::new, |model| format!(", and one with {model} begun"))
    )]
    NotStaging {
        /// The model that vectors are staged of instead.
        found: Option<String>,
    },
    /// Memories were deleted to be erased, but their bytes are still in the write-ahead log.
    #[error(
        "the memories are deleted, but another connection still reads a state of the file that holds them: end that \
         reading (or close that handle) and call erase or compact again"
    )]
    NotErased,
    /// A backup, or the copy of one, is not sound.
    #[error(
        "{path:?} is not a sound memory file: {found}. Open it and run repair(), or use another copy"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// The disk or the file's size limit is reached.
    #[error("{doing}: there is no space left for the file")]
    Full {
        /// What was tried.
        doing: &'static str,
        /// SQLite's own word.
        #[source]
        source: rusqlite::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{doing}: the database reports an error")]
    Sqlite {
        /// What was tried.
        doing: &'static str,
        /// SQLite's own word.
        #[source]
        source: rusqlite::Error,
    },
    /// The file system reports an error.
    #[error("{doing} {path:?}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// Adds what was being done to an error of SQLite.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, SchemaError>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, SchemaError> {
        self.map_err(|source| match source.sqlite_error_code() {
            Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked) => {
                SchemaError::Busy { doing, source }
            }
            Some(ffi::ErrorCode::DatabaseCorrupt | ffi::ErrorCode::NotADatabase) => {
                SchemaError::Corrupt { doing, source }
            }
            Some(ffi::ErrorCode::ReadOnly) => SchemaError::ReadOnly { doing },
            Some(ffi::ErrorCode::DiskFull) => SchemaError::Full { doing, source },
            _ => SchemaError::Sqlite { doing, source },
        })
    }
}

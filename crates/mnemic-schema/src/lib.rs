#![doc = include_str!("../README.md")]

mod adopt;
mod backup;
mod carry;
mod check;
mod compact;
#[cfg(test)]
mod damage_tests;
mod document;
mod document_check;
#[cfg(test)]
mod document_damage_tests;
mod document_write;
mod entities;
mod error;
mod events;
mod export;
mod extension;
mod fading;
mod filter;
mod follow;
mod foreign;
mod frozen;
mod graph;
mod image;
mod import;
mod indexed;
mod journal;
mod keep_copy;
mod lifecycle;
mod lifecycle_write;
mod merge;
mod meta;
mod migrate;
mod normal;
mod open;
mod phrase;
mod read;
mod repair;
mod restore;
mod row;
mod search;
mod staging;
mod stopwords;
mod structure;
mod tags;
mod text;
mod timestamp;
mod words;
mod write;

pub use adopt::AdoptReport;
pub use carry::{CarriedEvent, CarriedPassage, NamedLink, image_defect};
pub use check::CheckReport;
pub use compact::{Compacted, Erased};
pub use document::{ChunkRow, DocumentParts, DocumentRow, card};
pub use document_check::DocumentFaults;
pub use document_write::{ChunkVector, ChunkVectors, ChunksWritten, NewChunk};
pub use entities::EntityCount;
pub use error::SchemaError;
pub use events::{Action, Event, EventFilter, Retention};
pub use fading::LifeRow;
pub use filter::{Filter, Scope, Standing};
pub use follow::{IndexRow, IndexState};
pub use foreign::{
    ForeignFile, ForeignMemory, ForeignRow, ForeignTable, ForeignValue, Left, System,
};
pub use graph::{
    Direction, HubRow, Links, NewRelationRow, Reached, RelationChange, RelationFilter, RelationRow,
    StepRow,
};
pub use image::Image;
pub use indexed::Indexed;
pub use lifecycle::{IndexLife, Kind, Layer, Lifecycle, Usage};
pub use merge::{FirstEntity, TakenOver};
pub use migrate::{APPLICATION_ID, SCHEMA_VERSION};
pub use normal::{normal_text, text_words, visible_text};
pub use open::{Durability, OpenOptions, Readers, Store};
pub use read::{Order, Snapshot};
pub use repair::RepairReport;
pub use restore::{Restored, restore};
pub use row::{Embedded, MemoryRow, NewRow, RecordedModel, RowChange, RowKey, UNKNOWN_SPACE};
pub use staging::{Begun, Coverage, Space, Switch};
pub use text::{MAX_QUERY_WORDS, QueryWord, fold, index_text, index_text_version, query_words};
pub use timestamp::{Timestamp, TimestampError};
pub use words::{Token, Tokenizer};
pub use write::WriteTransaction;

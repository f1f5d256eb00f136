#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod embedding;
mod error;
mod filter;
mod memory;
mod recall;
mod resident;
mod timeline;
mod transfer;
mod types;
mod upkeep;
mod write;

pub use builder::MemoryBuilder;
pub use error::{Error, ErrorKind, Result};
pub use memory::Memory;
#[cfg(feature = "candle")]
#[cfg_attr(docsrs, doc(cfg(feature = "candle")))]
pub use mnemic_candle as candle;
pub use mnemic_embed::{
    EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, normalize, testing::check_embedder,
};
pub use mnemic_schema::{
    CheckReport, Durability, Left, RepairReport as FileRepairReport, Scope, Timestamp,
    TimestampError,
};
#[cfg(feature = "static")]
#[cfg_attr(docsrs, doc(cfg(feature = "static")))]
pub use mnemic_static::StaticEmbedder;
pub use recall::hit::{Hit, Signals};
pub use recall::preset::Preset;
pub use recall::request::Recall;
pub use timeline::Timeline;
pub use transfer::adopt::{Adopt, AdoptReport};
pub use transfer::export::{Export, ExportReport};
pub use transfer::import::{Import, ImportReport, OnConflict};
pub use types::{
    BackupReport, Deleted, Health, MemoryUpdate, NewMemory, Pruned, RepairReport, Stored,
    StoredMemory,
};
pub use write::Prune;

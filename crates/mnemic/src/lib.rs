#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod calibrate;
mod consolidate;
mod document;
mod embedding;
mod entities;
mod entity;
mod error;
mod filter;
mod gate;
mod graph;
mod history;
mod lifecycle;
mod memory;
mod planner;
mod project;
mod recall;
mod reembed;
mod resident;
mod timeline;
mod trace;
mod transfer;
mod types;
mod upkeep;
mod veil;
mod write;

pub use builder::MemoryBuilder;
pub use calibrate::{Calibrate, Calibration, Stale};
pub use consolidate::merge::Merged;
pub use consolidate::{Consolidate, ConsolidateRule, Consolidation, Group};
pub use document::read::Documents;
pub use document::types::{Document, DocumentUpdate, NewDocument, Passage, StoredDocument};
pub use entity::{EntityExtractor, ExtractError, RuleExtractor};
pub use error::{Error, ErrorKind, Result};
pub use filter::Include;
pub use gate::assessment::{Assessment, Difference, GateVerdict};
pub use gate::policy::{ConflictJudge, Gate, GatePolicy, Gated, JudgeError};
pub use graph::causes::{Trace, Traced};
pub use graph::list::{Hub, Relations};
pub use graph::relation::{Link, NewRelation, Related, Relation, RelationKind};
pub use graph::walk::{Neighbour, Neighbours, Path, ShortestPath, Step};
pub use history::{Events, History, Undone};
pub use lifecycle::checkup::{Checkup, CheckupReport, Hint};
pub use lifecycle::maintain::{Maintain, MaintainReport, Maintained};
pub use memory::Memory;
#[cfg(feature = "candle")]
#[cfg_attr(docsrs, doc(cfg(feature = "candle")))]
pub use mnemic_candle as candle;
pub use mnemic_chunk::{
    Chunk, ChunkError, ChunkMetadata, Chunking, Cue, Language, Rule, Size, Transcript,
    TranscriptError, Unit, chunk, chunk_with,
};
pub use mnemic_embed::{
    EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, Reranker, RerankingModel,
    normalize, sigmoid,
    testing::{check_embedder, check_reranker},
};
pub use mnemic_rank::{Judgement, LifePolicy, Reason, TrustFormula, TrustRule, Verdict};
pub use mnemic_schema::{
    Action, CheckReport, Direction, DocumentFaults, Durability, EntityCount, Event, Kind, Layer,
    Left, Lifecycle, RepairReport as FileRepairReport, Scope, Timestamp, TimestampError, Usage,
};
#[cfg(feature = "static")]
#[cfg_attr(docsrs, doc(cfg(feature = "static")))]
pub use mnemic_static::StaticEmbedder;
pub use planner::{Intent, Plan, Planned, QueryPlanner, RulePlanner};
pub use project::ProjectMemory;
pub use recall::budget::{EstimatedTokens, TokenCounter, context};
pub use recall::expand::Expand;
pub use recall::explain::{Condition, Dropped, Explanation, Outcome, Silence};
pub use recall::hit::{Expanded, Hit, PassageHit, Signals};
pub use recall::preset::Preset;
pub use recall::request::Recall;
pub use timeline::Timeline;
pub use transfer::adopt::{Adopt, AdoptReport};
pub use transfer::export::{Export, ExportReport};
pub use transfer::import::{Import, ImportReport, OnConflict, Taken};
pub use types::{
    Backfilled, BackupReport, CompactReport, Coverage, Deleted, Health, LastCheck, MemoryUpdate,
    NewMemory, Progress, Pruned, Reembedded, RepairReport, RestoreReport, Stored, StoredMemory,
};
pub use write::Prune;

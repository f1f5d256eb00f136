#![doc = include_str!("../README.md")]

pub mod bm25;
pub mod column;
mod conflict;
pub mod document;
mod floor;
pub mod fusion;
mod number;
mod order;
mod percentile;
mod recency;
pub mod rekal;
mod sequence;
mod strength;
#[cfg(test)]
mod testing;
mod top_k;
mod trust;
pub mod vector;

pub use conflict::{CONFLICT_THRESHOLD, Likeness, conflict};
pub use floor::Floors;
pub use order::{HitKey, best_first};
pub use percentile::percentile;
pub use recency::recency;
pub use sequence::{Block, matching_blocks, matching_ratio};
pub use strength::{Judgement, Layer, LifePolicy, LifeState, Reason, Verdict, judge, strength};
pub use top_k::TopK;
pub use trust::{TrustFormula, TrustRule, Witness};

#![doc = include_str!("../README.md")]

pub mod bm25;
pub mod column;
mod floor;
pub mod fusion;
mod number;
mod order;
mod percentile;
mod recency;
pub mod rekal;
#[cfg(test)]
mod testing;
mod top_k;
pub mod vector;

pub use floor::Floors;
pub use order::{HitKey, best_first};
pub use percentile::percentile;
pub use recency::recency;
pub use top_k::TopK;

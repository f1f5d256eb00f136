//! The CPU forward pass of a BERT encoder: the one place of this project with tensor code of its own.
//!
//! It is here because it was measured: candle's own `BertModel` is several times slower on a CPU. What makes this one
//! fast: the tokens of a batch stand packed, without padding; query, key and value are one product, the attention scale
//! folded into its weights; weights are packed once for the kernel, which keeps all sums in registers; exponential and
//! error function are vectorised; tiles of whole sequences are shared out to threads. Every number is computed by the
//! same additions in the same order however texts are batched and threads are used, so a text's vector is the same
//! alone, in any batch and on any thread, to the bit (on one kind of processor).
//!
//! It never allocates by the size of the batch, only by the size of a tile, and has no `unsafe` code.

// The kernels index buffers whose sizes they set themselves; `Encoder::run` checks what comes from outside.
#![allow(clippy::indexing_slicing)]

mod attention;
mod encoder;
mod math;
mod pack;
mod product;
mod simd;

pub(crate) use encoder::{Encoder, Layer, LayerNorm, Parts, Sequence};
pub(crate) use math::Activation;
pub(crate) use pack::PackedMatrix;
pub use simd::Instructions;
pub(crate) use simd::Kernels;

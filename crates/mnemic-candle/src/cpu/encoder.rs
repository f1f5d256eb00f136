//! The encoder: embeddings, layers, and how sequences are cut in tiles and shared out to threads.

use std::fmt;

use rayon::prelude::*;

use super::attention::{Attend, Buffers};
use super::math::{Activate, Activation, Normalize};
use super::pack::{PackedMatrix, PackedRows};
use super::product::{Write, product};
use super::simd::Kernels;

/// Tokens of a tile: enough to use the packed weights well, few enough to stay in the cache.
const TILE: usize = 256;
/// A batch is not cut in tiles smaller than this for the sake of more threads.
const SMALL_TILE: usize = 24;
/// Rows that go through the two halves of a feed-forward layer together, so that what is between them stays in the cache.
const FEED_FORWARD_ROWS: usize = 96;
/// Below this many tokens the threads are not worth waking.
const SERIAL_TOKENS: usize = 2;

/// Gain and bias of a layer normalisation.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) gain: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// One layer, packed.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Query (scaled by 1/√head size), key and value in one.
    pub(crate) projections: PackedMatrix,
    pub(crate) attention_output: PackedMatrix,
    pub(crate) attention_norm: LayerNorm,
    pub(crate) up: PackedMatrix,
    pub(crate) down: PackedMatrix,
    pub(crate) output_norm: LayerNorm,
}

/// What an encoder is made of. Sizes must agree with each other; the loader checks them.
pub(crate) struct Parts {
    /// `[vocabulary][hidden]`.
    pub(crate) words: Vec<f32>,
    /// `[position][hidden]`, with the embedding of token type 0 added.
    pub(crate) positions: Vec<f32>,
    /// `[hidden]`, the embedding of token type 1 less that of type 0; empty where the model has one type.
    pub(crate) second_type: Vec<f32>,
    pub(crate) embedding_norm: LayerNorm,
    pub(crate) layers: Vec<Layer>,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) epsilon: f32,
    pub(crate) activation: Activation,
    pub(crate) kernels: Kernels,
}

/// A BERT encoder on the CPU.
pub(crate) struct Encoder(Parts);

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("layers", &self.0.layers.len())
            .field("hidden", &self.0.hidden)
            .field("kernels", &self.0.kernels)
            .finish_non_exhaustive()
    }
}

/// The token ids of one sequence, special tokens included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence<'a> {
    pub(crate) tokens: &'a [u32],
    /// How many of them, from the beginning, are of type 0; the rest is of type 1.
    pub(crate) first: usize,
}

impl<'a> Sequence<'a> {
    /// One text: every token is of type 0.
    pub(crate) fn single(tokens: &'a [u32]) -> Self {
        Self {
            tokens,
            first: tokens.len(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }
}

/// A sequence the encoder cannot take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSequence {
    #[error("a sequence has no tokens")]
    Empty,
    #[error("a sequence has {tokens} tokens; the model has {limit} positions")]
    TooLong { tokens: usize, limit: usize },
    #[error("token {token} is not in the model's vocabulary of {size}")]
    UnknownToken { token: u32, size: usize },
}

/// Buffers of one tile.
#[derive(Default)]
struct Tile {
    hidden: Vec<f32>,
    projected: Vec<f32>,
    context: Vec<f32>,
    between: Vec<f32>,
    scratch: Vec<f32>,
    rows: PackedRows,
    attention: Buffers,
}

impl Encoder {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(parts)
    }

    /// The instructions in use.
    pub(crate) fn kernels(&self) -> Kernels {
        self.0.kernels
    }

    /// Runs sequences of token ids through the encoder; `read` makes of each one's final hidden states
    /// (`[token][hidden]`) what the caller wants. Answers in the order of the sequences.
    pub(crate) fn run<R: Send>(
        &self,
        sequences: &[Sequence<'_>],
        read: impl Fn(&[f32]) -> R + Sync,
    ) -> Result<Vec<R>, BadSequence> {
        for sequence in sequences {
            self.check(sequence.tokens)?;
        }
        let threads = rayon::current_num_threads();
        let tiles = tiles(sequences, threads);
        if tiles.len() < threads {
            let one = |tile: &[Sequence<'_>]| self.tile(tile, threads, &read);
            return Ok(tiles.into_iter().flat_map(one).collect());
        }
        let results: Vec<Vec<R>> = tiles
            .into_par_iter()
            .with_max_len(1)
            .map(|tile| self.tile(tile, 1, &read))
            .collect();
        Ok(results.into_iter().flatten().collect())
    }

    fn check(&self, sequence: &[u32]) -> Result<(), BadSequence> {
        let limit = self.0.positions.len() / self.0.hidden;
        let size = self.0.words.len() / self.0.hidden;
        if sequence.is_empty() {
            return Err(BadSequence::Empty);
        }
        if sequence.len() > limit {
            return Err(BadSequence::TooLong {
                tokens: sequence.len(),
                limit,
            });
        }
        match sequence.iter().find(|token| **token as usize >= size) {
            Some(token) => Err(BadSequence::UnknownToken {
                token: *token,
                size,
            }),
            None => Ok(()),
        }
    }

    fn tile<R>(
        &self,
        sequences: &[Sequence<'_>],
        threads: usize,
        read: impl Fn(&[f32]) -> R,
    ) -> Vec<R> {
        let hidden = self.0.hidden;
        let tokens: usize = sequences.iter().map(|s| s.len()).sum();
        let workers = if tokens < SERIAL_TOKENS { 1 } else { threads };
        let mut tile = Tile::default();
        self.embed(sequences, &mut tile.hidden);
        tile.projected.resize(tokens * 3 * hidden, 0.0);
        tile.context.resize(tokens * hidden, 0.0);
        for layer in &self.0.layers {
            self.attention(layer, sequences, &mut tile, workers);
            self.feed_forward(layer, &mut tile, workers);
        }
        let mut states = tile.hidden.as_slice();
        let mut results = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let (own, rest) = states.split_at(sequence.len() * hidden);
            results.push(read(own));
            states = rest;
        }
        results
    }

    fn embed(&self, sequences: &[Sequence<'_>], out: &mut Vec<f32>) {
        let hidden = self.0.hidden;
        for sequence in sequences {
            let second = out.len() + sequence.first * hidden;
            let positions = self.0.positions.chunks_exact(hidden);
            for (token, position) in sequence.tokens.iter().zip(positions) {
                let word = &self.0.words[*token as usize * hidden..][..hidden];
                out.extend(word.iter().zip(position).map(|(w, p)| w + p));
            }
            for row in out[second..].chunks_exact_mut(hidden) {
                let types = row.iter_mut().zip(&self.0.second_type);
                types.for_each(|(x, t)| *x += t);
            }
        }
        self.normalize(out, &self.0.embedding_norm);
    }

    fn normalize(&self, rows: &mut [f32], norm: &LayerNorm) {
        self.0.kernels.run(Normalize {
            rows,
            gain: &norm.gain,
            bias: &norm.bias,
            epsilon: self.0.epsilon,
        });
    }

    fn attention(
        &self,
        layer: &Layer,
        sequences: &[Sequence<'_>],
        tile: &mut Tile,
        workers: usize,
    ) {
        let Parts {
            hidden,
            heads,
            kernels,
            ..
        } = self.0;
        let block_height = kernels.block_height();
        let tokens = tile.hidden.len() / hidden;
        let whole = (tokens, hidden);
        tile.rows
            .pack(&tile.hidden, (0, hidden), whole, block_height);
        product(
            kernels,
            &tile.rows,
            &layer.projections,
            &mut tile.projected,
            Write::Replace,
            workers,
            &mut tile.scratch,
        );
        let mut first = 0;
        for sequence in sequences {
            let end = first + sequence.len();
            kernels.run(Attend {
                projected: &tile.projected[first * 3 * hidden..end * 3 * hidden],
                out: &mut tile.context[first * hidden..end * hidden],
                hidden,
                heads,
                block_height,
                buffers: &mut tile.attention,
            });
            first = end;
        }
        tile.rows
            .pack(&tile.context, (0, hidden), whole, block_height);
        product(
            kernels,
            &tile.rows,
            &layer.attention_output,
            &mut tile.hidden,
            Write::Add,
            workers,
            &mut tile.scratch,
        );
        self.normalize(&mut tile.hidden, &layer.attention_norm);
    }

    fn feed_forward(&self, layer: &Layer, tile: &mut Tile, workers: usize) {
        let Parts {
            hidden,
            intermediate,
            kernels,
            ..
        } = self.0;
        let block_height = kernels.block_height();
        for chunk in tile.hidden.chunks_mut(FEED_FORWARD_ROWS * hidden) {
            let rows = chunk.len() / hidden;
            tile.rows
                .pack(chunk, (0, hidden), (rows, hidden), block_height);
            tile.between.resize(rows * intermediate, 0.0);
            product(
                kernels,
                &tile.rows,
                &layer.up,
                &mut tile.between,
                Write::Replace,
                workers,
                &mut tile.scratch,
            );
            kernels.run(Activate {
                values: &mut tile.between,
                activation: self.0.activation,
            });
            tile.rows.pack(
                &tile.between,
                (0, intermediate),
                (rows, intermediate),
                block_height,
            );
            product(
                kernels,
                &tile.rows,
                &layer.down,
                chunk,
                Write::Add,
                workers,
                &mut tile.scratch,
            );
        }
        self.normalize(&mut tile.hidden, &layer.output_norm);
    }
}

/// Cuts sequences, in order, in tiles of whole sequences and about equal token counts.
fn tiles<'a, 'b>(sequences: &'a [Sequence<'b>], threads: usize) -> Vec<&'a [Sequence<'b>]> {
    let total: usize = sequences.iter().map(|s| s.len()).sum();
    let count = total
        .div_ceil(TILE)
        .max(threads.min(total / SMALL_TILE))
        .max(1);
    let target = total.div_ceil(count);
    let mut tiles = Vec::with_capacity(count);
    let mut rest = sequences;
    while !rest.is_empty() {
        let mut tokens = 0;
        let mut taken = 0;
        for sequence in rest {
            // A sequence that overshoots the target by less than half of itself still belongs here.
            if taken > 0 && tokens + sequence.len().div_ceil(2) > target {
                break;
            }
            tokens += sequence.len();
            taken += 1;
        }
        let (tile, after) = rest.split_at(taken);
        tiles.push(tile);
        rest = after;
    }
    tiles
}

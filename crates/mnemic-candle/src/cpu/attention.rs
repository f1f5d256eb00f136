//! Self-attention of one sequence, one head at a time, by the same kernel as the linear layers.
//!
//! The scores are computed transposed, keys down and queries across, a panel of queries at a time. So the softmax of a
//! query runs down a column, many queries in one vector, without a sum across a vector; and the panel of scores is
//! already laid out as the right-hand operand of the second product (values, transposed, times scores).

use pulp::{Simd, WithSimd};

use super::math::exp;
use super::pack::PackedRows;
use super::product::{Finish, multiply};

/// Buffers of [`Attend`], kept from one sequence to the next.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    keys: PackedRows,
    values: PackedRows,
    queries: Vec<f32>,
    scores: Vec<f32>,
    context: Vec<f32>,
}

/// Softmax(queries · keysᵀ) · values for the heads of one sequence. The scale is part of the queries' weights.
pub(super) struct Attend<'a> {
    /// `[token][queries | keys | values]`.
    pub(super) projected: &'a [f32],
    /// `[token][hidden]`, overwritten.
    pub(super) out: &'a mut [f32],
    pub(super) hidden: usize,
    pub(super) heads: usize,
    pub(super) block_height: usize,
    pub(super) buffers: &'a mut Buffers,
}

impl WithSimd for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            projected,
            out,
            hidden,
            heads,
            block_height,
            buffers,
        } = self;
        let width = 2 * S::F32_LANES;
        let stride = 3 * hidden;
        let size = hidden / heads;
        let tokens = out.len() / hidden;
        let none = [simd.splat_f32s(0.0); 2];
        buffers.queries.resize(size * width, 0.0);
        buffers.scores.resize(tokens * width, 0.0);
        buffers.context.resize(size * width, 0.0);
        for head in 0..heads {
            let column = head * size;
            let keys = (hidden + column, stride);
            let values = (2 * hidden + column, stride);
            buffers
                .keys
                .pack(projected, keys, (tokens, size), block_height);
            buffers
                .values
                .pack_transposed(projected, values, (size, tokens), block_height);
            for first in (0..tokens).step_by(width) {
                let used = width.min(tokens - first);
                if used < width {
                    buffers.queries.fill(0.0);
                }
                for query in 0..used {
                    let row = &projected[(first + query) * stride + column..][..size];
                    for (to, value) in buffers.queries.chunks_exact_mut(width).zip(row) {
                        to[query] = *value;
                    }
                }
                let queries = S::as_simd_f32s(&buffers.queries).0;
                for block in 0..buffers.keys.blocks() {
                    let block = buffers.keys.block(block);
                    let (scores, _) =
                        S::as_mut_simd_f32s(&mut buffers.scores[block.first * width..]);
                    let (scores, _) = scores.as_chunks_mut::<2>();
                    multiply(simd, block, queries, none, Scores(scores));
                }
                let (scores, _) = S::as_mut_simd_f32s(&mut buffers.scores[..tokens * width]);
                let totals = exponentials(simd, scores.as_chunks_mut::<2>().0);
                let one = simd.splat_f32s(1.0);
                let scales = [simd.div_f32s(one, totals[0]), simd.div_f32s(one, totals[1])];
                for block in 0..buffers.values.blocks() {
                    let block = buffers.values.block(block);
                    let (context, _) =
                        S::as_mut_simd_f32s(&mut buffers.context[block.first * width..]);
                    let (context, _) = context.as_chunks_mut::<2>();
                    multiply(simd, block, scores, none, Scaled { context, scales });
                }
                for query in 0..used {
                    let row = &mut out[(first + query) * hidden + column..][..size];
                    for (to, from) in row.iter_mut().zip(buffers.context.chunks_exact(width)) {
                        *to = from[query];
                    }
                }
            }
        }
    }
}

/// Scores, one row a key.
struct Scores<'a, S: Simd>(&'a mut [[S::f32s; 2]]);

impl<S: Simd> Finish<S> for Scores<'_, S> {
    #[inline(always)]
    fn finish(&mut self, _: S, row: usize, sums: [S::f32s; 2]) {
        self.0[row] = sums;
    }
}

/// Weighted values, one row a dimension, divided by the sum of the weights.
struct Scaled<'a, S: Simd> {
    context: &'a mut [[S::f32s; 2]],
    scales: [S::f32s; 2],
}

impl<S: Simd> Finish<S> for Scaled<'_, S> {
    #[inline(always)]
    fn finish(&mut self, simd: S, row: usize, [a, b]: [S::f32s; 2]) {
        let [x, y] = self.scales;
        self.context[row] = [simd.mul_f32s(a, x), simd.mul_f32s(b, y)];
    }
}

/// Replaces each column's scores by exp(score − the column's greatest); returns the columns' sums.
#[inline(always)]
fn exponentials<S: Simd>(simd: S, scores: &mut [[S::f32s; 2]]) -> [S::f32s; 2] {
    let mut greatest = [simd.splat_f32s(f32::MIN); 2];
    for [a, b] in scores.iter() {
        greatest = [
            simd.max_f32s(greatest[0], *a),
            simd.max_f32s(greatest[1], *b),
        ];
    }
    let mut totals = [simd.splat_f32s(0.0); 2];
    for [a, b] in scores {
        *a = exp(simd, simd.sub_f32s(*a, greatest[0]));
        *b = exp(simd, simd.sub_f32s(*b, greatest[1]));
        totals = [simd.add_f32s(totals[0], *a), simd.add_f32s(totals[1], *b)];
    }
    totals
}

//! The matrix product: packed rows times a packed matrix. Each number is one sum from the first depth to the last, so
//! it does not depend on how rows and panels are cut or which thread does which.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::pack::{Block, PackedMatrix, PackedRows};
use super::simd::{Kernels, multiply_add};

/// Depths of a panel that are multiplied with all rows before the next ones: as much of it as stays in the first cache.
const DEPTH: usize = 256;

/// What becomes of what stood in the output before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// It is overwritten.
    Replace,
    /// The product is added to it.
    Add,
}

/// `out (=|+=) rows · matrix + bias`, `out` having `matrix.columns` numbers a row. With more than one worker the
/// columns are shared out, by way of `scratch`.
pub(super) fn product(
    kernels: Kernels,
    rows: &PackedRows,
    matrix: &PackedMatrix,
    out: &mut [f32],
    write: Write,
    workers: usize,
    scratch: &mut Vec<f32>,
) {
    let count = matrix.count();
    let workers = workers.min(count);
    if workers <= 1 {
        kernels.run(Panels {
            rows,
            matrix,
            panels: 0..count,
            out,
            stride: matrix.columns,
            write,
        });
        return;
    }
    let height = out.len() / matrix.columns;
    scratch.resize(out.len(), 0.0);
    let mut shares = Vec::with_capacity(workers);
    let mut rest = scratch.as_mut_slice();
    for worker in 0..workers {
        let panels = count * worker / workers..count * (worker + 1) / workers;
        let begin = panels.start * matrix.width;
        let columns = begin..(panels.end * matrix.width).min(matrix.columns);
        let (share, after) = rest.split_at_mut(columns.len() * height);
        rest = after;
        shares.push((panels, columns, share));
    }
    shares
        .par_iter_mut()
        .with_max_len(1)
        .for_each(|(panels, columns, share)| {
            kernels.run(Panels {
                rows,
                matrix,
                panels: panels.clone(),
                out: share,
                stride: columns.len(),
                write: Write::Replace,
            });
        });
    for (_, columns, share) in &shares {
        let rows = out.chunks_exact_mut(matrix.columns);
        for (to, from) in rows.zip(share.chunks_exact(columns.len())) {
            let to = &mut to[columns.clone()];
            match write {
                Write::Replace => to.copy_from_slice(from),
                Write::Add => to.iter_mut().zip(from).for_each(|(to, from)| *to += from),
            }
        }
    }
}

/// Some panels of a product; `out` holds the columns of these panels only.
struct Panels<'a> {
    rows: &'a PackedRows,
    matrix: &'a PackedMatrix,
    panels: Range<usize>,
    out: &'a mut [f32],
    stride: usize,
    write: Write,
}

impl WithSimd for Panels<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.matrix.width;
        let depth = self.matrix.depth;
        let parts = depth.div_ceil(DEPTH);
        for (i, panel) in self.panels.enumerate() {
            let (columns, bias) = self.matrix.panel(panel);
            let begin = i * width;
            let used = width.min(self.stride - begin);
            let columns = S::as_simd_f32s(columns).0;
            let bias = pair::<S>(S::as_simd_f32s(bias).0);
            let none = [simd.splat_f32s(0.0); 2];
            for part in 0..parts {
                let depths = depth * part / parts..depth * (part + 1) / parts;
                let columns = &columns[2 * depths.start..2 * depths.end];
                let (start, write) = match part {
                    0 => (bias, self.write),
                    _ => (none, Write::Add),
                };
                for block in 0..self.rows.blocks() {
                    let block = self.rows.block(block).part(&depths);
                    let rows = Rows {
                        out: &mut self.out[block.first * self.stride + begin..],
                        stride: self.stride,
                        used,
                        write,
                    };
                    multiply(simd, block, columns, start, rows);
                }
            }
        }
    }
}

/// What is done with the sums of each row of a block. (A trait and no closure: only a function that is always inlined
/// is compiled with the vector instructions of its caller.)
pub(super) trait Finish<S: Simd> {
    /// Takes the two vectors of sums of row `row` of the block.
    fn finish(&mut self, simd: S, row: usize, sums: [S::f32s; 2]);
}

/// Rows of the output, from the panel's first column on.
struct Rows<'a> {
    out: &'a mut [f32],
    stride: usize,
    used: usize,
    write: Write,
}

impl<S: Simd> Finish<S> for Rows<'_> {
    #[inline(always)]
    fn finish(&mut self, simd: S, row: usize, sums: [S::f32s; 2]) {
        let row = &mut self.out[row * self.stride..][..self.used];
        let (to, rest) = S::as_mut_simd_f32s(row);
        match (to, rest.is_empty()) {
            ([left, right], true) => {
                let [a, b] = sums;
                match self.write {
                    Write::Replace => (*left, *right) = (a, b),
                    Write::Add => {
                        *left = simd.add_f32s(*left, a);
                        *right = simd.add_f32s(*right, b);
                    }
                }
            }
            _ => partial(simd, row, sums, self.write),
        }
    }
}

/// Writes the first `row.len()` of a panel's numbers.
#[inline(always)]
fn partial<S: Simd>(simd: S, row: &mut [f32], sums: [S::f32s; 2], write: Write) {
    for (row, sum) in row.chunks_mut(S::F32_LANES).zip(sums) {
        let sum = match write {
            Write::Replace => sum,
            Write::Add => simd.add_f32s(simd.partial_load_f32s(row), sum),
        };
        simd.partial_store_f32s(row, sum);
    }
}

/// The first two vectors of a slice that has them.
#[inline(always)]
pub(super) fn pair<S: Simd>(vectors: &[S::f32s]) -> [S::f32s; 2] {
    [vectors[0], vectors[1]]
}

/// A block of rows times a panel, `start` added.
#[inline(always)]
pub(super) fn multiply<S: Simd>(
    simd: S,
    block: Block<'_>,
    panel: &[S::f32s],
    start: [S::f32s; 2],
    to: impl Finish<S>,
) {
    let data = block.data;
    if S::REGISTER_COUNT < 32 {
        match block.height {
            1 => kernel::<S, 1>(simd, data, panel, start, to),
            2 => kernel::<S, 2>(simd, data, panel, start, to),
            3 => kernel::<S, 3>(simd, data, panel, start, to),
            4 => kernel::<S, 4>(simd, data, panel, start, to),
            5 => kernel::<S, 5>(simd, data, panel, start, to),
            _ => kernel::<S, 6>(simd, data, panel, start, to),
        }
        return;
    }
    match block.height {
        1 => kernel::<S, 1>(simd, data, panel, start, to),
        2 => kernel::<S, 2>(simd, data, panel, start, to),
        3 => kernel::<S, 3>(simd, data, panel, start, to),
        4 => kernel::<S, 4>(simd, data, panel, start, to),
        5 => kernel::<S, 5>(simd, data, panel, start, to),
        6 => kernel::<S, 6>(simd, data, panel, start, to),
        7 => kernel::<S, 7>(simd, data, panel, start, to),
        8 => kernel::<S, 8>(simd, data, panel, start, to),
        9 => kernel::<S, 9>(simd, data, panel, start, to),
        10 => kernel::<S, 10>(simd, data, panel, start, to),
        11 => kernel::<S, 11>(simd, data, panel, start, to),
        _ => kernel::<S, 12>(simd, data, panel, start, to),
    }
}

/// `R` rows times two vectors of columns, all sums in registers.
#[inline(always)]
fn kernel<S: Simd, const R: usize>(
    simd: S,
    rows: &[f32],
    panel: &[S::f32s],
    start: [S::f32s; 2],
    mut to: impl Finish<S>,
) {
    let mut sums = [start; R];
    let (rows, _) = rows.as_chunks::<R>();
    let (panel, _) = panel.as_chunks::<2>();
    for (row, [left, right]) in rows.iter().zip(panel) {
        let (left, right) = (*left, *right);
        for (sum, value) in sums.iter_mut().zip(row) {
            let value = simd.splat_f32s(*value);
            sum[0] = multiply_add(simd, value, left, sum[0]);
            sum[1] = multiply_add(simd, value, right, sum[1]);
        }
    }
    for (row, sums) in sums.into_iter().enumerate() {
        to.finish(simd, row, sums);
    }
}

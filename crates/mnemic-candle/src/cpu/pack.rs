//! How the two operands of a product are laid out, so that the kernel reads both from front to back.
//!
//! A weight matrix is cut in *panels* of two vectors of output columns: `[panel][depth][column]`. It is packed once,
//! when the model is loaded. The rows it is multiplied with are cut in *blocks* of a few rows: `[block][depth][row]`.

use std::ops::Range;

/// A linear layer's weight and bias, packed for the product kernel.
#[derive(Debug)]
pub(crate) struct PackedMatrix {
    panels: Vec<f32>,
    bias: Vec<f32>,
    /// Output columns.
    pub(super) columns: usize,
    /// Input columns.
    pub(super) depth: usize,
    /// Columns of a panel.
    pub(super) width: usize,
}

impl PackedMatrix {
    /// Packs a weight of `bias.len()` rows of `depth` numbers, one row for each output (the layout of checkpoints).
    /// Columns beyond the last are zero.
    pub(crate) fn new(weight: &[f32], bias: &[f32], depth: usize, width: usize) -> Self {
        let columns = bias.len();
        let count = columns.div_ceil(width);
        let mut panels = vec![0.0; count * width * depth];
        for (column, row) in weight.chunks_exact(depth).enumerate() {
            let panel = &mut panels[column / width * width * depth..][..width * depth];
            for (to, value) in panel.chunks_exact_mut(width).zip(row) {
                to[column % width] = *value;
            }
        }
        let mut padded = bias.to_vec();
        padded.resize(count * width, 0.0);
        Self {
            panels,
            bias: padded,
            columns,
            depth,
            width,
        }
    }

    /// How many panels there are.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Panel `index` and its bias.
    pub(super) fn panel(&self, index: usize) -> (&[f32], &[f32]) {
        let size = self.width * self.depth;
        (
            &self.panels[index * size..][..size],
            &self.bias[index * self.width..][..self.width],
        )
    }
}

/// Rows packed for the product kernel. The buffer is kept from one use to the next.
#[derive(Debug, Default)]
pub(super) struct PackedRows {
    data: Vec<f32>,
    rows: usize,
    depth: usize,
    height: usize,
}

/// A block of rows: `[depth][height]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) first: usize,
    pub(super) height: usize,
    pub(super) data: &'a [f32],
}

impl Block<'_> {
    /// The same rows, some of their depths.
    pub(super) fn part(self, depths: &Range<usize>) -> Self {
        Self {
            data: &self.data[depths.start * self.height..depths.end * self.height],
            ..self
        }
    }
}

impl PackedRows {
    /// Packs `rows` rows of `depth` numbers; row `i` begins at `source[offset + i * stride]`.
    pub(super) fn pack(
        &mut self,
        source: &[f32],
        (offset, stride): (usize, usize),
        (rows, depth): (usize, usize),
        height: usize,
    ) {
        self.reshape(rows, depth, height);
        for block in 0..self.blocks() {
            let (first, end) = self.span(block);
            let from = &source[offset + first * stride..];
            let to = &mut self.data[first * depth..end * depth];
            match end - first {
                1 => to.copy_from_slice(&from[..depth]),
                2 => interleave::<2>(from, stride, depth, to),
                3 => interleave::<3>(from, stride, depth, to),
                4 => interleave::<4>(from, stride, depth, to),
                5 => interleave::<5>(from, stride, depth, to),
                6 => interleave::<6>(from, stride, depth, to),
                7 => interleave::<7>(from, stride, depth, to),
                8 => interleave::<8>(from, stride, depth, to),
                9 => interleave::<9>(from, stride, depth, to),
                10 => interleave::<10>(from, stride, depth, to),
                11 => interleave::<11>(from, stride, depth, to),
                _ => interleave::<12>(from, stride, depth, to),
            }
        }
    }

    /// Packs the transpose: row `i`, depth `j` is `source[offset + j * stride + i]`.
    pub(super) fn pack_transposed(
        &mut self,
        source: &[f32],
        (offset, stride): (usize, usize),
        (rows, depth): (usize, usize),
        height: usize,
    ) {
        self.reshape(rows, depth, height);
        for block in 0..self.blocks() {
            let (first, end) = self.span(block);
            let to = &mut self.data[first * depth..end * depth];
            for (j, to) in to.chunks_exact_mut(end - first).enumerate() {
                to.copy_from_slice(&source[offset + j * stride + first..][..end - first]);
            }
        }
    }

    fn reshape(&mut self, rows: usize, depth: usize, height: usize) {
        self.rows = rows;
        self.depth = depth;
        self.height = height;
        if self.data.len() < rows * depth {
            self.data.resize(rows * depth, 0.0);
        }
    }

    /// How many blocks there are. Their heights differ by one at most.
    pub(super) fn blocks(&self) -> usize {
        self.rows.div_ceil(self.height)
    }

    fn span(&self, block: usize) -> (usize, usize) {
        let count = self.blocks();
        (self.rows * block / count, self.rows * (block + 1) / count)
    }

    /// Block `index`.
    pub(super) fn block(&self, index: usize) -> Block<'_> {
        let (first, end) = self.span(index);
        Block {
            first,
            height: end - first,
            data: &self.data[first * self.depth..end * self.depth],
        }
    }
}

/// `to[j][i] = from[i * stride + j]` for `R` rows `i` of `depth` numbers.
fn interleave<const R: usize>(from: &[f32], stride: usize, depth: usize, to: &mut [f32]) {
    let rows: [&[f32]; R] = std::array::from_fn(|i| &from[i * stride..][..depth]);
    let (to, _) = to.as_chunks_mut::<R>();
    for (j, to) in to.iter_mut().take(depth).enumerate() {
        for (to, row) in to.iter_mut().zip(&rows) {
            *to = row[j];
        }
    }
}

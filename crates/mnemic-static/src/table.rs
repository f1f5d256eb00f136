//! The table: one quantised row for each word piece, read in place from the bytes compiled in. It never tokenises.

use half::f16;
use mnemic_embed::EmbedError;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

/// Numbers in a row.
pub(crate) const DIMS: usize = 384;
/// Bytes in a packed row: two numbers a byte.
const ROW_BYTES: usize = DIMS / 2;

/// Rows of 384 numbers, 4 bits each, times a scale for each row.
pub(crate) struct Table {
    /// Row after row; the low nibble is the even dimension, the high one the odd dimension, value = nibble − 8.
    packed: &'static [[u8; ROW_BYTES]],
    scales: Vec<f32>,
}

impl Table {
    /// Reads a table from the bytes of a safetensors file with `q` u8 [rows, 192] and `scale` f16 [rows].
    pub(crate) fn from_safetensors(bytes: &'static [u8]) -> Result<Self, EmbedError> {
        let file = SafeTensors::deserialize(bytes)
            .map_err(|error| bad("it is not a safetensors file").caused_by(error))?;
        let scale = tensor(&file, "scale", Dtype::F16)?;
        let packed = tensor(&file, "q", Dtype::U8)?;
        let &[rows] = scale.shape() else {
            return Err(bad(format!(
                "`scale` has the shape {:?}, not [rows]",
                scale.shape()
            )));
        };
        if packed.shape() != [rows, ROW_BYTES] {
            return Err(bad(format!(
                "`q` has the shape {:?}, not [{rows}, {ROW_BYTES}]",
                packed.shape()
            )));
        }
        let scales: Vec<f32> = scale
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|&bytes| f16::from_le_bytes(bytes).to_f32())
            .collect();
        if let Some(row) = scales.iter().position(|s| !s.is_finite()) {
            return Err(bad(format!("the scale of row {row} is not finite")));
        }
        Ok(Self {
            packed: packed.data().as_chunks().0,
            scales,
        })
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.scales.len()
    }

    /// The sum of the rows `ids`; an id beyond the table is an error.
    pub(crate) fn sum(&self, ids: &[u32]) -> Result<[f32; DIMS], EmbedError> {
        // Even and odd dimensions apart: so the loop over bytes is one of plain lanes, which the compiler vectorises.
        let mut even = [0.0f32; ROW_BYTES];
        let mut odd = [0.0f32; ROW_BYTES];
        for &id in ids {
            let row = id as usize;
            let (Some(bytes), Some(&scale)) = (self.packed.get(row), self.scales.get(row)) else {
                return Err(EmbedError::run(format!(
                    "piece {id} is not in the table of {} rows",
                    self.rows()
                )));
            };
            for ((byte, low), high) in bytes.iter().zip(&mut even).zip(&mut odd) {
                *low += (f32::from(byte & 15) - 8.0) * scale;
                *high += (f32::from(byte >> 4) - 8.0) * scale;
            }
        }
        let mut sum = [0.0; DIMS];
        for ((pair, low), high) in sum.as_chunks_mut().0.iter_mut().zip(even).zip(odd) {
            *pair = [low, high];
        }
        Ok(sum)
    }
}

fn tensor<'a>(
    file: &SafeTensors<'a>,
    name: &str,
    dtype: Dtype,
) -> Result<TensorView<'a>, EmbedError> {
    let view = file
        .tensor(name)
        .map_err(|error| bad(format!("it has no tensor `{name}`")).caused_by(error))?;
    if view.dtype() == dtype {
        Ok(view)
    } else {
        Err(bad(format!(
            "`{name}` is {:?}, not {dtype:?}",
            view.dtype()
        )))
    }
}

fn bad(reason: impl Into<String>) -> EmbedError {
    EmbedError::load(
        crate::ID,
        format!("the table is damaged: {}", reason.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A safetensors file of one row with the tensors as given, kept for the rest of the process.
    fn file(tensors: &[(&str, Dtype, &[usize], Vec<u8>)]) -> &'static [u8] {
        let views = tensors.iter().map(|(name, dtype, shape, data)| {
            let view = TensorView::new(*dtype, shape.to_vec(), data).unwrap();
            (*name, view)
        });
        safetensors::serialize(views, None).unwrap().leak()
    }

    fn scale(number: f32) -> Vec<u8> {
        f16::from_f32(number).to_le_bytes().to_vec()
    }

    #[test]
    fn a_row_is_nibble_less_eight_times_scale() {
        let mut row = vec![0x88; ROW_BYTES];
        row[0] = 0xF0;
        let table = Table::from_safetensors(file(&[
            ("q", Dtype::U8, &[1, ROW_BYTES], row),
            ("scale", Dtype::F16, &[1], scale(0.5)),
        ]))
        .unwrap();
        assert_eq!(table.rows(), 1);
        let sum = table.sum(&[0, 0]).unwrap();
        assert_eq!(sum[..4], [-8.0, 7.0, 0.0, 0.0]);
        assert_eq!(table.sum(&[]).unwrap(), [0.0; DIMS]);
        assert_eq!(
            table.sum(&[0, 1]).unwrap_err().to_string(),
            "embedding failed: piece 1 is not in the table of 1 rows"
        );
    }

    #[test]
    fn each_damage_is_named() {
        let q = || vec![0x88; ROW_BYTES];
        for (bytes, reason) in [
            (&b"not a table"[..], "it is not a safetensors file"),
            (
                file(&[("scale", Dtype::F16, &[1], scale(1.0))]),
                "it has no tensor `q`",
            ),
            (
                file(&[("q", Dtype::U8, &[1, ROW_BYTES], q())]),
                "it has no tensor `scale`",
            ),
            (
                file(&[
                    ("q", Dtype::I8, &[1, ROW_BYTES], q()),
                    ("scale", Dtype::F16, &[1], scale(1.0)),
                ]),
                "`q` is I8, not U8",
            ),
            (
                file(&[
                    ("q", Dtype::U8, &[ROW_BYTES, 1], q()),
                    ("scale", Dtype::F16, &[1], scale(1.0)),
                ]),
                "`q` has the shape [192, 1], not [1, 192]",
            ),
            (
                file(&[
                    ("q", Dtype::U8, &[1, ROW_BYTES], q()),
                    ("scale", Dtype::F16, &[1, 1], scale(1.0)),
                ]),
                "`scale` has the shape [1, 1], not [rows]",
            ),
            (
                file(&[
                    ("q", Dtype::U8, &[1, ROW_BYTES], q()),
                    ("scale", Dtype::F16, &[1], scale(f32::NAN)),
                ]),
                "the scale of row 0 is not finite",
            ),
        ] {
            let error = Table::from_safetensors(bytes).err().unwrap();
            assert_eq!(
                error.to_string(),
                format!(
                    "the model mnemic-static-384-int4 could not be loaded: the table is damaged: {reason}"
                )
            );
        }
    }
}

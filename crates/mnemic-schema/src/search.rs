//! Search by vector over one snapshot, filtered before anything is cut. (Search by words is in words.rs.)

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Filter;
use crate::indexed::Indexed;
use crate::read::Snapshot;

/// vec0 answers at most this many nearest rows; more are found by scanning all.
const MAX_VEC0_K: usize = 4096;

impl Snapshot<'_> {
    /// The `k` memories nearest to a vector among those that pass the filter, nearest first, with their cosine
    /// distances (0 to 2). Exact for any `k`. Empty where the file has no vectors.
    ///
    /// # Errors
    /// [`SchemaError::BadVector`] where the width is not the file's, and what SQLite reports.
    pub fn nearest(
        &self,
        vector: &[f32],
        k: usize,
        filter: &Filter,
    ) -> Result<Vec<(i64, f64)>, SchemaError> {
        self.nearest_in(Indexed::Memories, vector, k, filter)
    }

    /// As [`Snapshot::nearest`], of memories or of passages whose memory passes the filter.
    ///
    /// # Errors
    /// As [`Snapshot::nearest`].
    pub fn nearest_in(
        &self,
        indexed: Indexed,
        vector: &[f32],
        k: usize,
        filter: &Filter,
    ) -> Result<Vec<(i64, f64)>, SchemaError> {
        if k == 0 || !self.check_width(indexed, vector)? {
            return Ok(Vec::new());
        }
        let doing = "searching by vector";
        let (conditions, filter_values) = filter.clause_in(indexed);
        // A sub-select on the key is an exact filter before the cut; vec0 would treat any other condition on the key as
        // one after it.
        let among = |prefix: &str| {
            if conditions.is_empty() {
                String::new()
            } else {
                format!(" {prefix} {{key}} IN (SELECT {{id}} FROM {{from}} WHERE TRUE{conditions})")
            }
        };
        let mut values = vec![Value::Blob(bytes(vector))];
        let sql = if k <= MAX_VEC0_K {
            values.push(Value::Integer(i64::try_from(k).unwrap_or(i64::MAX)));
            format!(
                "SELECT {{key}}, distance FROM {{vectors}} WHERE embedding MATCH ? AND k = ?{}",
                among("AND")
            )
        } else {
            format!(
                "SELECT {{key}}, vec_distance_cosine(embedding, ?) AS distance FROM {{vectors}}{}",
                among("WHERE")
            )
        };
        values.extend(filter_values);
        let sql = indexed.filled(&sql);
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), |row| {
                Ok((row.get(0)?, row.get::<_, Option<f64>>(1)?))
            })
            .doing(doing)?;
        let mut found = Vec::new();
        for row in rows {
            // A damaged vector has no distance: it is no neighbour (`check` reports it).
            if let (seq, Some(distance)) = row.doing(doing)?
                && distance.is_finite()
            {
                found.push((seq, distance));
            }
        }
        found.sort_by(|(a, x): &(i64, f64), (b, y)| x.total_cmp(y).then(a.cmp(b)));
        found.truncate(k);
        Ok(found)
    }

    /// The cosine distances (0 to 2) of memories to a vector, in their order; `None` for a memory without one.
    ///
    /// # Errors
    /// As [`Snapshot::nearest`].
    pub fn distances(&self, vector: &[f32], seqs: &[i64]) -> Result<Vec<Option<f64>>, SchemaError> {
        self.distances_in(Indexed::Memories, vector, seqs)
    }

    /// As [`Snapshot::distances`], of memories or of passages.
    ///
    /// # Errors
    /// As [`Snapshot::nearest`].
    pub fn distances_in(
        &self,
        indexed: Indexed,
        vector: &[f32],
        seqs: &[i64],
    ) -> Result<Vec<Option<f64>>, SchemaError> {
        if !self.check_width(indexed, vector)? {
            return Ok(vec![None; seqs.len()]);
        }
        let doing = "computing distances";
        let blob = bytes(vector);
        let mut statement = self
            .connection()
            .prepare_cached(&indexed.filled(
                "SELECT vec_distance_cosine(embedding, ?1) FROM {vectors} WHERE {key} = ?2",
            ))
            .doing(doing)?;
        seqs.iter()
            .map(|seq| {
                let distance: Option<Option<f64>> = statement
                    .query_row((&blob, seq), |row| row.get(0))
                    .optional()
                    .doing(doing)?;
                Ok(distance.flatten().filter(|distance| distance.is_finite()))
            })
            .collect()
    }

    /// Whether there are vectors to compare with; an error where they are of another width.
    pub(crate) fn check_width(
        &self,
        indexed: Indexed,
        vector: &[f32],
    ) -> Result<bool, SchemaError> {
        let Some(model) = self.recorded_model()? else {
            return Ok(false);
        };
        if indexed == Indexed::Passages && !self.has_vectors_of(indexed)? {
            return Ok(false);
        }
        if vector.len() == model.dims {
            Ok(true)
        } else {
            Err(SchemaError::BadVector {
                of: "the query".to_owned(),
                reason: format!(
                    "it has {} numbers, the file's vectors have {}",
                    vector.len(),
                    model.dims
                ),
            })
        }
    }
}

/// A vector as sqlite-vec stores it: little-endian f32.
pub(crate) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The numbers of a stored vector (a remainder that makes no number is left out: the width then tells).
pub(crate) fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes
        .chunks_exact(4)
        .filter_map(|chunk| chunk.try_into().ok().map(f32::from_le_bytes))
}

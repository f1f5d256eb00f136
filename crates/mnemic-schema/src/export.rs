//! Reading memories with their vectors, one at a time, for whoever takes them elsewhere. It never holds more than one row.

use rusqlite::{OptionalExtension, params_from_iter};

use crate::error::{Doing, SchemaError};
use crate::filter::Filter;
use crate::read::Snapshot;
use crate::row::{MemoryRow, select_memories};
use crate::search::floats;
use crate::write::defect;

impl Snapshot<'_> {
    /// Visits the memories that pass a filter, oldest first (those of one instant in the order in which they were
    /// stored), with their vectors where `with_vectors` says so and they have one.
    ///
    /// # Errors
    /// What `visit` returns, which ends the visit; [`SchemaError::BadRow`] where a row or a vector is damaged, and what
    /// SQLite reports.
    pub fn each_memory<E: From<SchemaError>>(
        &self,
        filter: &Filter,
        with_vectors: bool,
        mut visit: impl FnMut(MemoryRow, Option<Vec<f32>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let doing = "reading memories one by one";
        let (conditions, values) = filter.clause();
        let sql = format!(
            "{} WHERE TRUE{conditions} ORDER BY m.created_at, m.seq",
            select_memories()
        );
        let with_vectors = with_vectors && self.has_vector_table()?;
        let mut statement = self.connection().prepare(&sql).doing(doing)?;
        let rows = statement
            .query_map(params_from_iter(values), MemoryRow::read)
            .doing(doing)?;
        for row in rows {
            let row = row.doing(doing)??;
            let vector = if with_vectors {
                self.sound_vector(&row)?
            } else {
                None
            };
            visit(row, vector)?;
        }
        Ok(())
    }

    /// How many memories pass a filter, and how many of them have a vector.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn count_memories(&self, filter: &Filter) -> Result<(u64, u64), SchemaError> {
        let doing = "counting memories";
        let (conditions, values) = filter.clause();
        let count = |also: &str| {
            let sql = format!("SELECT count(*) FROM memories m WHERE TRUE{conditions}{also}");
            self.connection()
                .prepare(&sql)
                .and_then(|mut statement| {
                    statement.query_row(params_from_iter(&values), |row| row.get::<_, i64>(0))
                })
                .map(i64::unsigned_abs)
                .doing(doing)
        };
        let memories = count("")?;
        let vectors = if self.has_vector_table()? {
            count(" AND m.seq IN (SELECT seq FROM memory_vec)")?
        } else {
            0
        };
        Ok((memories, vectors))
    }

    /// The vector of a memory; an error where there is one that is none.
    fn sound_vector(&self, row: &MemoryRow) -> Result<Option<Vec<f32>>, SchemaError> {
        let blob: Option<Vec<u8>> = self
            .connection()
            .prepare_cached("SELECT embedding FROM memory_vec WHERE seq = ?1")
            .and_then(|mut statement| statement.query_row([row.seq], |row| row.get(0)).optional())
            .doing("reading a vector")?;
        let Some(blob) = blob else { return Ok(None) };
        let vector: Vec<f32> = floats(&blob).collect();
        match defect(&vector) {
            None => Ok(Some(vector)),
            Some(reason) => Err(SchemaError::BadRow {
                id: row.id.clone(),
                found: format!("a vector that is none ({reason})"),
            }),
        }
    }
}

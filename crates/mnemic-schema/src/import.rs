//! What importing needs beside the ordinary writes: the times of a memory as they were elsewhere, and the name of a model
//! that a file lacks.

use rusqlite::params;

use crate::error::SchemaError;
use crate::read::MODEL_KEYS;
use crate::row::RecordedModel;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

impl WriteTransaction<'_> {
    /// Gives a memory the times it had elsewhere; tells whether there is such a memory.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn set_times(
        &mut self,
        id: &str,
        created_at: Timestamp,
        updated_at: Timestamp,
    ) -> Result<bool, SchemaError> {
        let changed = self.execute(
            "setting the times of a memory",
            "UPDATE memories SET created_at = ?2, updated_at = ?3 WHERE id = ?1",
            params![id, created_at.to_string(), updated_at.to_string()],
        )?;
        Ok(changed > 0)
    }

    /// Records which model made the vectors of a file that does not tell ([`RecordedModel::unknown`]). Naming the model
    /// that is recorded already changes nothing.
    ///
    /// # Errors
    /// [`SchemaError::ModelMismatch`] where another model is recorded, or vectors of another width, or none at all.
    pub fn name_model(&mut self, model: &RecordedModel) -> Result<(), SchemaError> {
        let recorded = self.recorded_model()?;
        if recorded.as_ref() == Some(model) {
            return Ok(());
        }
        let may = recorded
            .as_ref()
            .is_some_and(|recorded| recorded.is_unknown() && recorded.dims == model.dims);
        if !may {
            return Err(SchemaError::ModelMismatch {
                recorded: recorded.map_or_else(|| "no model".to_owned(), |model| model.to_string()),
                given: model.to_string(),
            });
        }
        self.record_at(MODEL_KEYS, model)
    }
}

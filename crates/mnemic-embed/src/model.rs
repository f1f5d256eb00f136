//! How a model names itself. It never says how vectors are made.

use std::fmt;

/// The identity of an embedding model, as a file of memories records it.
///
/// All passages of a file are made by one model; queries may be made by any model of the same *space*. Two models share
/// a space where their vectors of the same text point the same way, so that one's queries may be compared with the
/// other's passages (a distilled table and its teacher, say).
///
/// ```
/// use mnemic_embed::EmbeddingModel;
///
/// let teacher = EmbeddingModel::new("all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "53aa5117", 384);
/// let table = EmbeddingModel::new("all-MiniLM-L6-v2", "mnemic-static", "1", 384);
/// assert!(teacher.same_space(&table));
/// assert_ne!(teacher, table);
/// assert_eq!(table.to_string(), "mnemic-static (revision 1) in space all-MiniLM-L6-v2, 384 dimensions");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EmbeddingModel {
    /// The space the vectors live in: usually the id of the model that defines it.
    pub space: String,
    /// The model's id, such as `all-MiniLM-L6-v2`.
    pub id: String,
    /// What tells two versions of the model apart: a version, a commit, or a fingerprint of the weights.
    pub revision: String,
    /// Numbers in a vector, at least 1.
    pub dims: usize,
}

impl EmbeddingModel {
    /// Names a model by its space, id, revision and dimensions.
    pub fn new(
        space: impl Into<String>,
        id: impl Into<String>,
        revision: impl Into<String>,
        dims: usize,
    ) -> Self {
        Self {
            space: space.into(),
            id: id.into(),
            revision: revision.into(),
            dims,
        }
    }

    /// Whether vectors of the two models may be compared: same space and same width.
    #[must_use]
    pub fn same_space(&self, other: &Self) -> bool {
        self.space == other.space && self.dims == other.dims
    }
}

impl fmt::Display for EmbeddingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (revision {}) in space {}, {} dimensions",
            self.id, self.revision, self.space, self.dims
        )
    }
}

//! Calling the embedder: outside locks and transactions, its answers looked at before they are believed.

use mnemic_embed::{Embedder, EmbeddingModel, InputKind, normalize};
use mnemic_schema::RecordedModel;

use crate::{Error, ErrorKind, Result};

/// Most texts handed to an embedder at once.
const BATCH: usize = 256;

/// The vectors of texts that are stored, in order, each of unit length; `None` for a text in which the model finds
/// nothing to embed.
pub(crate) fn passages(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        vectors.extend(embed(embedder, InputKind::Passage, batch)?);
    }
    Ok(vectors)
}

/// The error for a text that cannot be stored as it has no vector: a memory without one would break the pairing.
pub(crate) fn nothing_to_embed(embedder: &dyn Embedder, text: &str) -> Error {
    Error::invalid(format!(
        "the model {} finds nothing to embed in the text {:?}",
        embedder.model().id,
        beginning(text)
    ))
}

/// The vector of a question; `None` where the model finds nothing to embed in it.
pub(crate) fn query(embedder: &dyn Embedder, text: &str) -> Result<Option<Vec<f32>>> {
    Ok(embed(embedder, InputKind::Query, &[text])?.pop().flatten())
}

/// One batch, with the contract enforced: count, width, a direction.
fn embed(
    embedder: &dyn Embedder,
    kind: InputKind,
    texts: &[&str],
) -> Result<Vec<Option<Vec<f32>>>> {
    let model = embedder.model();
    let broken = |what: String| {
        Error::new(
            ErrorKind::Embedding,
            format!("the model {} broke its contract: {what}", model.id),
        )
    };
    let mut vectors = embedder.embed(kind, texts)?;
    if vectors.len() != texts.len() {
        return Err(broken(format!(
            "{} vectors for {} texts",
            vectors.len(),
            texts.len()
        )));
    }
    for (vector, text) in vectors.iter_mut().zip(texts) {
        let Some(vector) = vector else { continue };
        if vector.len() != model.dims {
            return Err(broken(format!(
                "a vector of {} numbers instead of {}",
                vector.len(),
                model.dims
            )));
        }
        normalize(vector).map_err(|defect| {
            broken(format!(
                "the vector of {:?} is none: {defect}",
                beginning(text)
            ))
        })?;
    }
    Ok(vectors)
}

/// The model as the file records it.
pub(crate) fn recorded(model: &EmbeddingModel) -> RecordedModel {
    RecordedModel {
        space: model.space.clone(),
        id: model.id.clone(),
        revision: model.revision.clone(),
        dims: model.dims,
    }
}

/// The model that a file records.
pub(crate) fn model_of(recorded: RecordedModel) -> EmbeddingModel {
    EmbeddingModel::new(
        recorded.space,
        recorded.id,
        recorded.revision,
        recorded.dims,
    )
}

/// Enough of a text to know it by in a message.
fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

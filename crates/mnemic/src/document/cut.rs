//! Cuts a source into the chunks that the file keeps. Where to cut is mnemic-chunk's to know.

use mnemic_chunk::{Chunk, Chunking, chunk_with};
use mnemic_schema::NewChunk;

use crate::recall::budget::{EstimatedTokens, TokenCounter};
use crate::{Error, ErrorKind, Result};

/// The chunks of a source.
pub(crate) fn cut(source: &str, chunking: &Chunking) -> Result<Vec<NewChunk>> {
    let tokens = |text: &str| EstimatedTokens.count(text);
    let chunks = chunk_with(source, chunking, &tokens)
        .map_err(|error| Error::caused(ErrorKind::InvalidInput, error.to_string(), error))?;
    given(chunks)
}

/// Chunks that were cut already, as the file keeps them.
pub(crate) fn given(chunks: Vec<Chunk>) -> Result<Vec<NewChunk>> {
    let one = |chunk: Chunk| {
        let metadata = if chunk.metadata.is_empty() {
            None
        } else {
            Some(json(&chunk.metadata)?)
        };
        Ok(NewChunk {
            bytes: chunk.bytes,
            chars: chunk.chars,
            metadata,
        })
    };
    chunks.into_iter().map(one).collect()
}

pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        Error::caused(
            ErrorKind::InvalidInput,
            "it cannot be written as JSON",
            error,
        )
    })
}

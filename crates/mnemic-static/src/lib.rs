#![doc = include_str!("../README.md")]

mod pieces;
mod table;

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use mnemic_embed::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, normalize};
use pieces::{Pieces, segments};
use rayon::prelude::*;
use table::{DIMS, Table};

/// The table's id, as a file of memories records it.
const ID: &str = "mnemic-static-384-int4";
/// The first 16 digits of the SHA-256 of the table's file followed by `vocab.txt` (a test holds it to the bytes).
const REVISION: &str = "982b5ddd92aeb828";
/// The model whose space the vectors live in.
const SPACE: &str = "all-MiniLM-L6-v2";
/// From this many bytes of text on, the work is spread over the threads of rayon's pool; below, that would cost more than
/// it saves.
const PARALLEL_BYTES: usize = 32 * 1024;

static TABLE: &[u8] = include_bytes!("../models/static-minilm-384-int4.safetensors");
static VOCABULARY: &[u8] = include_bytes!("../models/vocab.txt");

static MODEL: LazyLock<EmbeddingModel> =
    LazyLock::new(|| EmbeddingModel::new(SPACE, ID, REVISION, DIMS));

/// What is loaded once for the whole process.
struct Loaded {
    pieces: Pieces,
    table: Table,
}

impl Loaded {
    fn new(table: &'static [u8], vocabulary: &[u8]) -> Result<Self, EmbedError> {
        let table = Table::from_safetensors(table)?;
        let pieces = Pieces::from_vocabulary(vocabulary)?;
        if table.rows() == pieces.len() {
            Ok(Self { pieces, table })
        } else {
            let (rows, known) = (table.rows(), pieces.len());
            let reason = format!("the table has {rows} rows for {known} word pieces");
            Err(EmbedError::load(ID, reason))
        }
    }

    /// The process's one copy, loaded on first use.
    fn shared() -> Result<&'static Self, EmbedError> {
        static SHARED: OnceLock<Result<Loaded, EmbedError>> = OnceLock::new();
        SHARED
            .get_or_init(|| Self::new(TABLE, VOCABULARY))
            .as_ref()
            .map_err(|cause| {
                EmbedError::load(ID, "the model compiled in is damaged").caused_by(cause)
            })
    }

    /// The sum of the rows of a segment's pieces, or `None` where it has no piece.
    fn sum(&self, segment: &str) -> Result<Option<[f32; DIMS]>, EmbedError> {
        let ids = self.pieces.of(segment)?;
        let sum = self.table.sum(&ids)?;
        Ok((!ids.is_empty()).then_some(sum))
    }

    /// The unit vector along the mean of the text's rows, which is the direction of their sum.
    fn embed(&self, text: &str) -> Result<Embedding, EmbedError> {
        let sums: Vec<_> = if text.len() < PARALLEL_BYTES {
            segments(text)
                .map(|segment| self.sum(segment))
                .collect::<Result<_, _>>()?
        } else {
            let segments: Vec<&str> = segments(text).collect();
            segments
                .par_iter()
                .map(|segment| self.sum(segment))
                .collect::<Result<_, _>>()?
        };
        // Rounding must not grow with the length of the text, so the sums of segments add up in f64.
        let mut total = [0.0f64; DIMS];
        for sum in sums.iter().flatten() {
            for (total, number) in total.iter_mut().zip(sum) {
                *total += f64::from(*number);
            }
        }
        let mut vector = total.map(|number| number as f32).to_vec();
        // Without a piece the sum is zero, and has no direction.
        Ok(normalize(&mut vector).ok().map(|()| vector))
    }
}

/// The embedded default model of mnemic.
///
/// A value is only a handle: creating and cloning it costs nothing, and all of a process's share one table of 6 MB and
/// one vocabulary, loaded at the first call that needs them. It has no limit of length and needs no network or file.
///
/// ```
/// use mnemic_embed::{Embedder, InputKind, cosine};
/// use mnemic_static::StaticEmbedder;
///
/// let embedder = StaticEmbedder::new();
/// let texts = ["when can I ship?", "Deploys freeze on Fridays", "Rosa likes green tea"];
/// let vectors = embedder.embed(InputKind::Passage, &texts)?;
/// let [Some(question), Some(deploys), Some(tea)] = vectors.as_slice() else {
///     unreachable!("each of the texts has word pieces")
/// };
/// assert!(cosine(question, deploys) > cosine(question, tea));
/// # Ok::<(), mnemic_embed::EmbedError>(())
/// ```
#[derive(Clone, Default)]
pub struct StaticEmbedder(());

impl StaticEmbedder {
    /// A handle to the model. Nothing is loaded yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }

    /// Loads the model now, so that the first [`Embedder::embed`] need not. Later calls do nothing.
    ///
    /// ```
    /// mnemic_static::StaticEmbedder::new().preload()?;
    /// # Ok::<(), mnemic_embed::EmbedError>(())
    /// ```
    ///
    /// # Errors
    /// [`EmbedError::Load`] where the files compiled in are damaged.
    pub fn preload(&self) -> Result<(), EmbedError> {
        Loaded::shared().map(|_| ())
    }

    /// How many word pieces a text has, without special ones at its ends: what the model itself reads of it.
    ///
    /// ```
    /// assert_eq!(mnemic_static::StaticEmbedder::new().count_tokens("the cache, flushed")?, 4);
    /// # Ok::<(), mnemic_embed::EmbedError>(())
    /// ```
    ///
    /// # Errors
    /// [`EmbedError::Load`] where the files compiled in are damaged.
    pub fn count_tokens(&self, text: &str) -> Result<usize, EmbedError> {
        let loaded = Loaded::shared()?;
        segments(text).try_fold(0usize, |sum, segment| {
            Ok(sum.saturating_add(loaded.pieces.of(segment)?.len()))
        })
    }
}

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticEmbedder({ID}, revision {REVISION})")
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &MODEL
    }

    /// Queries and passages are embedded alike. An entry is `None` where the text has no word piece: it is empty, or
    /// nothing but white space, control characters and accents.
    fn embed(&self, _kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let loaded = Loaded::shared()?;
        if texts.iter().map(|text| text.len()).sum::<usize>() < PARALLEL_BYTES {
            texts.iter().map(|text| loaded.embed(text)).collect()
        } else {
            texts.par_iter().map(|text| loaded.embed(text)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_those_of_the_reference() {
        let json = include_str!("../tests/fixtures/static-reference.json");
        let reference: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
        assert_eq!(reference.len(), 30);
        for entry in &reference {
            let text = entry["text"].as_str().unwrap();
            let expected: Vec<u32> = serde_json::from_value(entry["ids"].clone()).unwrap();
            let ids = Loaded::shared().unwrap().pieces.of(text).unwrap();
            assert_eq!(ids.len() as u64, entry["tokens"], "{text:?}");
            assert_eq!(StaticEmbedder::new().count_tokens(text).unwrap(), ids.len());
            assert_eq!(ids[..ids.len().min(64)], expected, "{text:?}");
        }
    }

    #[test]
    fn a_table_of_another_vocabulary_is_refused() {
        let shorter = VOCABULARY.trim_ascii_end();
        let shorter = &shorter[..shorter.iter().rposition(|byte| *byte == b'\n').unwrap()];
        let error = Loaded::new(TABLE, shorter).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the model mnemic-static-384-int4 could not be loaded: \
             the table has 30522 rows for 30521 word pieces"
        );
    }
}

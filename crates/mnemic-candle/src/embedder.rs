//! The embedder: options and files make a model, texts make windows, windows make vectors.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mnemic_embed::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, normalize};

use crate::LoadError;
use crate::cpu::{Instructions, Sequence};
use crate::folder::{Config, SentenceSettings, name_of};
use crate::model::{MINILM_WEIGHTS, Model, Pooling};
use crate::options::CandleOptions;
use crate::runner::Runner;
use crate::tokens::{Tokens, batches};
use crate::weights::Weights;

/// A BERT-family model that embeds sentences.
///
/// Cloning is cheap, and the clones share the weights. Any number of threads may embed at once; each call also spreads
/// its own work over rayon's threads. A text's vector is the same alone, in any batch and on any thread.
///
/// A text longer than the window ([`Embedder::max_tokens`], special tokens included) is embedded whole: see
/// [`CandleEmbedder::windows`].
///
/// ```no_run
/// use mnemic_candle::CandleEmbedder;
/// use mnemic_embed::{Embedder, InputKind};
///
/// let embedder = CandleEmbedder::from_dir("models/all-MiniLM-L6-v2")?;
/// let vectors = embedder.embed(InputKind::Passage, &["Deploys freeze on Fridays"])?;
/// assert_eq!(embedder.model().space, "all-MiniLM-L6-v2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CandleEmbedder {
    shared: Arc<Shared>,
}

struct Shared {
    model: EmbeddingModel,
    pooling: Pooling,
    query_prefix: String,
    passage_prefix: String,
    max_tokens: usize,
    tokens: Tokens,
    runner: Runner,
}

impl fmt::Debug for CandleEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CandleEmbedder")
            .field("model", &self.shared.model)
            .field("max_tokens", &self.shared.max_tokens)
            .field("runner", &self.shared.runner)
            .finish_non_exhaustive()
    }
}

/// Loads the model in `folder`.
pub(crate) fn load(folder: &Path, options: &CandleOptions) -> Result<CandleEmbedder, LoadError> {
    let config = Config::read(folder)?;
    let settings = SentenceSettings::read(folder)?;
    let folder_name = name_of(folder);
    let named = options.model.clone().or_else(|| Model::named(&folder_name));
    let preset = named.as_ref().and_then(Model::preset);
    let pooling = options
        .pooling
        .or(settings.pooling)
        .or(preset.map(|preset| preset.pooling))
        .unwrap_or(Pooling::Mean);
    let prefix = |option: &Option<String>, setting: Option<String>, preset: Option<&str>| {
        let known = || preset.unwrap_or_default().to_owned();
        option.clone().or(setting).unwrap_or_else(known)
    };
    let query_prefix = prefix(
        &options.query_prefix,
        settings.query_prefix,
        preset.map(|preset| preset.query_prefix),
    );
    let passage_prefix = prefix(
        &options.passage_prefix,
        settings.passage_prefix,
        preset.map(|preset| preset.passage_prefix),
    );
    let max_tokens = match options.max_tokens {
        Some(tokens) if tokens > config.positions => {
            let reason = format!(
                "max_tokens is {tokens}; the model has {} positions",
                config.positions
            );
            return Err(LoadError::Options { reason });
        }
        Some(tokens) => tokens,
        None => settings
            .max_tokens
            .or(preset.map(|preset| preset.max_tokens))
            .unwrap_or(config.positions)
            .min(config.positions),
    };
    let tokens = Tokens::read(folder, config.vocabulary, max_tokens)?;
    for prefix in [&query_prefix, &passage_prefix] {
        let length = tokens
            .prefix_length(prefix)
            .map_err(|source| LoadError::corrupt(folder, "the tokenizer failed", source))?;
        if tokens.capacity(length) == 0 {
            let reason = format!(
                "max_tokens is {max_tokens}: no token of a text fits beside the special tokens and {prefix:?}"
            );
            return Err(LoadError::Options { reason });
        }
    }
    let weights = Weights::read(folder, &config)?;
    weights.check_digest()?;
    let minilm = weights.sha256 == MINILM_WEIGHTS
        && pooling == Pooling::Mean
        && query_prefix.is_empty()
        && passage_prefix.is_empty();
    let id = match (&options.id, &named) {
        (Some(id), _) => id.clone(),
        (None, Some(model)) => model.id().to_owned(),
        (None, None) if minilm => Model::AllMiniLmL6V2.id().to_owned(),
        (None, None) => folder_name,
    };
    let fingerprint = weights.sha256.get(..16).unwrap_or_default().to_owned();
    let mut revision = format!("{fingerprint} {pooling} {max_tokens}");
    for (name, prefix) in [("query", &query_prefix), ("passage", &passage_prefix)] {
        if !prefix.is_empty() {
            revision.push_str(&format!(" {name}={prefix:?}"));
        }
    }
    // Weights that nobody vouches for are a space of their own: another folder of the same name is not comparable.
    let space = match &options.space {
        Some(space) => space.clone(),
        None if minilm => Model::AllMiniLmL6V2.id().to_owned(),
        None => format!("{id}@{fingerprint} {pooling}"),
    };
    let model = EmbeddingModel::new(space, id, revision, config.hidden);
    let runner = Runner::new(weights, &config, options.backend, options.instructions)?;
    Ok(CandleEmbedder {
        shared: Arc::new(Shared {
            model,
            pooling,
            query_prefix,
            passage_prefix,
            max_tokens,
            tokens,
            runner,
        }),
    })
}

impl CandleEmbedder {
    /// Loads a model from a folder with `config.json`, `tokenizer.json` and `model.safetensors`, as a clone of its
    /// repository has them. Pooling is read from `1_Pooling/config.json`, the window from
    /// `sentence_bert_config.json`, prefixes from `config_sentence_transformers.json`, where they are there; what they
    /// leave open is known for the models of [`Model`], recognised by the folder's name.
    ///
    /// # Errors
    /// [`LoadError`] names the file that is missing, corrupt or not supported.
    pub fn from_dir(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        CandleOptions::new().from_dir(path)
    }

    /// The vector instructions of the native backend; `None` where candle runs the model.
    #[must_use]
    pub fn instructions(&self) -> Option<Instructions> {
        self.shared.runner.instructions()
    }

    /// How hidden states become one vector.
    #[must_use]
    pub fn pooling(&self) -> Pooling {
        self.shared.pooling
    }

    /// What is put before a text of this kind.
    #[must_use]
    pub fn prefix(&self, kind: InputKind) -> &str {
        match kind {
            InputKind::Query => &self.shared.query_prefix,
            InputKind::Passage => &self.shared.passage_prefix,
        }
    }

    /// In how many windows a text is embedded: 0 for a text without tokens, 1 for one that fits, more for a longer one.
    ///
    /// With *c* the tokens of a text that fit in the window beside prefix and special tokens, and *o* = ⌊*c*/8⌋ the
    /// least overlap, a text of *n* > *c* tokens has *k* = ⌈(*n* − *o*)/(*c* − *o*)⌉ windows of *c* tokens; window *i*
    /// of 0 … *k* − 1 begins at token ⌊*i*(*n* − *c*)/(*k* − 1)⌋. The text's vector is the mean of the windows' unit
    /// vectors, scaled to length 1. All windows are full, so none deserves more weight than another; and the mean of
    /// unit vectors is what has the greatest mean cosine to them, so no part of the text is lost to the others.
    ///
    /// # Errors
    /// [`EmbedError`] where the tokenizer fails.
    pub fn windows(&self, kind: InputKind, text: &str) -> Result<usize, EmbedError> {
        let encoded = self.encode(kind, &[text])?;
        let windows = encoded
            .iter()
            .map(|encoded| self.shared.tokens.sequences(encoded).len());
        Ok(windows.sum())
    }

    /// The tokens of a text, without prefix and special tokens. No window cuts them.
    ///
    /// # Errors
    /// [`EmbedError`] where the tokenizer fails.
    pub fn count_tokens(&self, text: &str) -> Result<usize, EmbedError> {
        let encoded = self.shared.tokens.encode("", &[text]);
        let encoded = encoded.map_err(tokenizer_failed)?;
        Ok(encoded.iter().map(crate::tokens::Encoded::own).sum())
    }

    fn encode(
        &self,
        kind: InputKind,
        texts: &[&str],
    ) -> Result<Vec<crate::tokens::Encoded>, EmbedError> {
        let encoded = self.shared.tokens.encode(self.prefix(kind), texts);
        encoded.map_err(tokenizer_failed)
    }

    /// Embeds texts that are few enough to be held as tokens together.
    fn embed_batch(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let encoded = self.encode(kind, texts)?;
        let windows: Vec<Vec<Vec<u32>>> = encoded
            .iter()
            .map(|encoded| self.shared.tokens.sequences(encoded))
            .collect();
        let sequences: Vec<Sequence<'_>> = windows
            .iter()
            .flatten()
            .map(|tokens| Sequence::single(tokens))
            .collect();
        let mut vectors = self.run(&sequences)?.into_iter();
        windows
            .iter()
            .map(|windows| pool_windows(vectors.by_ref().take(windows.len())))
            .collect()
    }

    /// One unit vector a sequence.
    fn run(&self, sequences: &[Sequence<'_>]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let dims = self.shared.model.dims;
        let pooling = self.shared.pooling;
        let read = |states: &[f32]| pool(states, dims, pooling);
        let vectors = self.shared.runner.run(sequences, read);
        let vectors =
            vectors.map_err(|(reason, cause)| EmbedError::run(reason).caused_by(cause))?;
        vectors.into_iter().collect()
    }
}

impl Embedder for CandleEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.shared.model
    }

    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in batches(texts) {
            embeddings.extend(self.embed_batch(kind, batch)?);
        }
        Ok(embeddings)
    }

    fn max_tokens(&self) -> Option<usize> {
        Some(self.shared.max_tokens)
    }

    fn windows(&self, kind: InputKind, text: &str) -> Result<usize, EmbedError> {
        // The method of the type itself.
        CandleEmbedder::windows(self, kind, text)
    }
}

fn tokenizer_failed(cause: tokenizers::Error) -> EmbedError {
    EmbedError::run("the tokenizer failed").caused_by(cause)
}

/// Hidden states to a unit vector.
fn pool(states: &[f32], dims: usize, pooling: Pooling) -> Result<Vec<f32>, EmbedError> {
    let mut vector = vec![0.0; dims];
    match pooling {
        Pooling::Mean => {
            for state in states.chunks_exact(dims) {
                vector.iter_mut().zip(state).for_each(|(v, x)| *v += x);
            }
        }
        Pooling::Cls => vector.iter_mut().zip(states).for_each(|(v, x)| *v = *x),
    }
    unit(vector)
}

/// The mean direction of a text's windows; `None` without windows.
fn pool_windows(windows: impl Iterator<Item = Vec<f32>>) -> Result<Embedding, EmbedError> {
    let mut windows = windows.peekable();
    let Some(mut sum) = windows.next() else {
        return Ok(None);
    };
    if windows.peek().is_none() {
        return Ok(Some(sum));
    }
    for window in windows {
        sum.iter_mut().zip(window).for_each(|(s, x)| *s += x);
    }
    unit(sum).map(Some)
}

fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
    normalize(&mut vector)
        .map_err(|defect| EmbedError::run("the model gave no usable vector").caused_by(defect))?;
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_sequence_is_what_sentence_transformers_makes_of_it() {
        let Ok(folder) = std::env::var("MNEMIC_MINILM_DIR") else {
            eprintln!("skipped: MNEMIC_MINILM_DIR is not set");
            return;
        };
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/minilm-reference.safetensors"
        );
        let reference = candle_core::safetensors::load(path, &candle_core::Device::Cpu).unwrap();
        let reference: Vec<Vec<f32>> = reference["vectors"].to_vec2().unwrap();
        let embedder = CandleEmbedder::from_dir(folder).unwrap();
        let found = embedder.run(&[Sequence::single(&[101, 102])]).unwrap();
        // The first three reference texts have no tokens of their own.
        for expected in &reference[..3] {
            for (x, y) in found[0].iter().zip(expected) {
                assert!((x - y).abs() <= 1e-5);
            }
        }
    }

    #[test]
    fn a_text_cut_where_the_reference_cuts_it_gives_the_reference() {
        let Ok(folder) = std::env::var("MNEMIC_MINILM_DIR") else {
            eprintln!("skipped: MNEMIC_MINILM_DIR is not set");
            return;
        };
        let fixtures = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/minilm-reference"
        );
        let json = std::fs::read_to_string(format!("{fixtures}.json")).unwrap();
        let entries: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        let reference = candle_core::safetensors::load(
            format!("{fixtures}.safetensors"),
            &candle_core::Device::Cpu,
        )
        .unwrap();
        let reference: Vec<Vec<f32>> = reference["vectors"].to_vec2().unwrap();
        let embedder = CandleEmbedder::from_dir(folder).unwrap();
        // Texts of 409 and 1,035 tokens: sentence-transformers embeds the first window only.
        for i in [48, 49] {
            let text = entries[i]["text"].as_str().unwrap();
            let encoded = embedder.encode(InputKind::Passage, &[text]).unwrap();
            let windows = embedder.shared.tokens.sequences(&encoded[0]);
            let found = embedder.run(&[Sequence::single(&windows[0])]).unwrap();
            for (x, y) in found[0].iter().zip(&reference[i]) {
                assert!((x - y).abs() <= 1e-5);
            }
        }
    }
}

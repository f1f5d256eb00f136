//! The reranker: files make a cross-encoder, a question and passages make pairs, pairs make scores.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mnemic_embed::{EmbedError, Reranker, RerankingModel, sigmoid};

use crate::LoadError;
use crate::cpu::{Instructions, Sequence};
use crate::folder::{Config, name_of};
use crate::head::Head;
use crate::options::RerankOptions;
use crate::pairs::{Pair, Pairs};
use crate::runner::Runner;
use crate::tokens::batches;
use crate::weights::Weights;

/// Tokens that are run together, at most (a single longer pair aside): the work is bounded whatever the caller hands
/// over.
const BATCH_TOKENS: usize = 16 * 1024;

/// A BERT cross-encoder that scores passages against a question, such as ms-marco-MiniLM-L6-v2.
///
/// It is a `BertForSequenceClassification` of one label: question and passage stand in one sequence, the first token's
/// final state goes through BERT's pooler (a dense layer and tanh) and a classifier. The score is the sigmoid of its
/// logit, also for models that sentence-transformers reads without an activation; [`CandleReranker::logits`] has the
/// raw numbers. Cloning is cheap, and the clones share the weights. A passage's score is the same alone, in any batch
/// and on any thread.
///
/// A pair beyond the window is read whole: see [`CandleReranker::windows`]. A pair without tokens on one side scores 0.
///
/// ```no_run
/// use mnemic_candle::CandleReranker;
/// use mnemic_embed::Reranker;
///
/// let reranker = CandleReranker::from_dir("models/ms-marco-MiniLM-L6-v2")?;
/// let scores = reranker.rerank("when can I ship?", &["Deploys freeze on Fridays", "The fern wants water"])?;
/// assert!(scores[0] > scores[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CandleReranker {
    shared: Arc<Shared>,
}

struct Shared {
    model: RerankingModel,
    max_tokens: usize,
    pairs: Pairs,
    runner: Runner,
    head: Head,
}

impl fmt::Debug for CandleReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CandleReranker")
            .field("model", &self.shared.model)
            .field("max_tokens", &self.shared.max_tokens)
            .field("runner", &self.shared.runner)
            .finish_non_exhaustive()
    }
}

/// Loads the cross-encoder in `folder`.
pub(crate) fn load(folder: &Path, options: &RerankOptions) -> Result<CandleReranker, LoadError> {
    let config = Config::read(folder)?;
    if config.types < 2 {
        let reason =
            "type_vocab_size is 1; a cross-encoder tells question and passage apart by two types";
        return Err(LoadError::unsupported(folder.join("config.json"), reason));
    }
    let max_tokens = options.max_tokens.unwrap_or(config.positions);
    let unfit = |what: String| {
        let reason = format!("max_tokens is {max_tokens}; {what}");
        Err(LoadError::Options { reason })
    };
    if max_tokens > config.positions {
        return unfit(format!("the model has {} positions", config.positions));
    }
    let pairs = Pairs::read(folder, config.vocabulary, max_tokens)?;
    if pairs.capacity() < 2 {
        return unfit(
            "no token of a question and a passage fits beside the special tokens".to_owned(),
        );
    }
    let mut weights = Weights::read_with_head(folder, &config)?;
    weights.check_digest()?;
    let fingerprint = weights.sha256.get(..16).unwrap_or_default();
    let id = options.id.clone().unwrap_or_else(|| name_of(folder));
    let model = RerankingModel::new(id, format!("{fingerprint} {max_tokens}"));
    let head = Head::take(&mut weights, &config)?;
    let runner = Runner::new(weights, &config, options.backend, options.instructions)?;
    Ok(CandleReranker {
        shared: Arc::new(Shared {
            model,
            max_tokens,
            pairs,
            runner,
            head,
        }),
    })
}

impl CandleReranker {
    /// Loads a cross-encoder from a folder with `config.json`, `tokenizer.json` and `model.safetensors`, as a clone of
    /// its repository has them. The window is that of its positions.
    ///
    /// # Errors
    /// [`LoadError`] names the file that is missing, corrupt or not supported, and the tensor where the weights are not
    /// those of a cross-encoder with one label.
    pub fn from_dir(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        RerankOptions::new().from_dir(path)
    }

    /// The vector instructions of the native backend; `None` where candle runs the model.
    #[must_use]
    pub fn instructions(&self) -> Option<Instructions> {
        self.shared.runner.instructions()
    }

    /// The longest sequence in tokens: question, passage and special tokens together.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.shared.max_tokens
    }

    /// In how many pairs a question and a passage are read: 1 where both fit in the window, 0 where either has no
    /// token.
    ///
    /// With *c* the tokens that fit beside the special tokens, a longer pair is cut in overlapping windows, by the
    /// formula of [`CandleEmbedder::windows`](crate::CandleEmbedder::windows): the question in windows of ⌊*c*/2⌋
    /// tokens where it has more than that, and to each of them the passage in windows of what is left. The passage's
    /// logit is the greatest of all pairs: one part of it that answers one part of the question is enough.
    ///
    /// # Errors
    /// [`EmbedError`] where the tokenizer fails.
    pub fn windows(&self, query: &str, passage: &str) -> Result<usize, EmbedError> {
        let encoded = self.encode(&[query, passage])?;
        let [query, passage] = encoded.as_slice() else {
            return Ok(0);
        };
        Ok(self.shared.pairs.pairs(query, passage).len())
    }

    /// The model's logits, before the sigmoid: any finite numbers, for ms-marco models about −11 to 11. Entry `i`
    /// belongs to `passages[i]`; `None` where the question or the passage has no token.
    ///
    /// # Errors
    /// [`EmbedError::Rerank`] where the tokenizer or the model fails.
    pub fn logits(&self, query: &str, passages: &[&str]) -> Result<Vec<Option<f32>>, EmbedError> {
        let question = self.encode(&[query])?.pop().unwrap_or_default();
        let mut logits: Vec<Option<f32>> = Vec::with_capacity(passages.len());
        for batch in batches(passages) {
            let passages = self.encode(batch)?;
            let before = logits.len();
            logits.resize(before + batch.len(), None);
            let of_batch = logits.get_mut(before..).unwrap_or_default();
            self.score(&question, &passages, of_batch)?;
        }
        Ok(logits)
    }

    /// Raises each passage's entry in `logits` to the greatest logit of its pairs.
    fn score(
        &self,
        question: &[u32],
        passages: &[Vec<u32>],
        logits: &mut [Option<f32>],
    ) -> Result<(), EmbedError> {
        let (mut pairs, mut owners, mut tokens) = (Vec::new(), Vec::new(), 0);
        let mut flush = |pairs: &mut Vec<Pair>, owners: &mut Vec<usize>| {
            let found = self.run(pairs)?;
            for (owner, logit) in owners.drain(..).zip(found) {
                if let Some(entry) = logits.get_mut(owner) {
                    *entry = Some(entry.map_or(logit, |best: f32| best.max(logit)));
                }
            }
            pairs.clear();
            Ok::<(), EmbedError>(())
        };
        for (owner, passage) in passages.iter().enumerate() {
            for pair in self.shared.pairs.pairs(question, passage) {
                if tokens + pair.tokens.len() > BATCH_TOKENS {
                    flush(&mut pairs, &mut owners)?;
                    tokens = 0;
                }
                tokens += pair.tokens.len();
                pairs.push(pair);
                owners.push(owner);
            }
        }
        flush(&mut pairs, &mut owners)
    }

    /// One logit a pair.
    fn run(&self, pairs: &[Pair]) -> Result<Vec<f32>, EmbedError> {
        let sequences: Vec<Sequence<'_>> = pairs
            .iter()
            .map(|pair| Sequence {
                tokens: &pair.tokens,
                first: pair.first,
            })
            .collect();
        let head = &self.shared.head;
        let logits = self
            .shared
            .runner
            .run(&sequences, |states| head.logit(states));
        let logits =
            logits.map_err(|(reason, cause)| EmbedError::rerank(reason).caused_by(cause))?;
        if logits.iter().all(|logit| logit.is_finite()) {
            Ok(logits)
        } else {
            Err(EmbedError::rerank("the model gave a NaN or an infinity"))
        }
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, EmbedError> {
        let encoded = self.shared.pairs.encode(texts);
        encoded.map_err(|cause| EmbedError::rerank("the tokenizer failed").caused_by(cause))
    }
}

impl Reranker for CandleReranker {
    fn model(&self) -> &RerankingModel {
        &self.shared.model
    }

    fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let logits = self.logits(query, passages)?;
        let score = |logit: Option<f32>| logit.map_or(0.0, sigmoid);
        Ok(logits.into_iter().map(score).collect())
    }
}

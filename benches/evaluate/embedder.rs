//! The models that can be evaluated, and what their work costs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mnemic::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, StaticEmbedder};

use crate::Result;

/// The model of a name: `static`, or with the feature `candle` a folder with a transformer. `FOLDER+static` embeds the
/// passages by the transformer and the queries by the bundled table, which must share a space.
pub fn by_name(name: &str) -> Result<Arc<dyn Embedder>> {
    match name {
        "static" => Ok(Arc::new(StaticEmbedder::new())),
        #[cfg(feature = "candle")]
        folder => match folder.strip_suffix("+static") {
            Some(folder) => Ok(Arc::new(Mixed {
                passages: mnemic_candle::CandleEmbedder::from_dir(folder)?,
                queries: StaticEmbedder::new(),
            })),
            None => Ok(Arc::new(mnemic_candle::CandleEmbedder::from_dir(folder)?)),
        },
        #[cfg(not(feature = "candle"))]
        other => Err(format!(
            "no embedder {other:?}: there is static, and with --features candle a folder with a model"
        )
        .into()),
    }
}

/// One model for the passages, another of the same space for the queries.
#[cfg(feature = "candle")]
#[derive(Debug)]
struct Mixed {
    passages: mnemic_candle::CandleEmbedder,
    queries: StaticEmbedder,
}

#[cfg(feature = "candle")]
impl Embedder for Mixed {
    fn model(&self) -> &EmbeddingModel {
        self.passages.model()
    }

    fn embed(
        &self,
        kind: InputKind,
        texts: &[&str],
    ) -> std::result::Result<Vec<Embedding>, EmbedError> {
        match kind {
            InputKind::Passage => self.passages.embed(kind, texts),
            InputKind::Query => self.queries.embed(kind, texts),
        }
    }
}

/// A model whose time is counted. It embeds a query once, however many rankers ask it.
#[derive(Debug)]
pub struct Measured {
    model: Arc<dyn Embedder>,
    queries: Mutex<HashMap<String, Embedding>>,
    spent: Mutex<Spent>,
}

/// Texts embedded, and the time that took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    pub passages: usize,
    pub on_passages: Duration,
    pub queries: usize,
    pub on_queries: Duration,
}

impl Measured {
    pub fn new(model: Arc<dyn Embedder>) -> Self {
        Self {
            model,
            queries: Mutex::default(),
            spent: Mutex::default(),
        }
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().expect("no holder panics")
    }
}

impl Embedder for Measured {
    fn model(&self) -> &EmbeddingModel {
        self.model.model()
    }

    fn embed(
        &self,
        kind: InputKind,
        texts: &[&str],
    ) -> std::result::Result<Vec<Embedding>, EmbedError> {
        if let (InputKind::Query, [text]) = (kind, texts)
            && let Some(known) = self.queries.lock().expect("no holder panics").get(*text)
        {
            return Ok(vec![known.clone()]);
        }
        let start = Instant::now();
        let vectors = self.model.embed(kind, texts)?;
        let time = start.elapsed();
        let mut spent = self.spent.lock().expect("no holder panics");
        match kind {
            InputKind::Passage => {
                spent.passages += texts.len();
                spent.on_passages += time;
            }
            InputKind::Query => {
                spent.queries += texts.len();
                spent.on_queries += time;
                let known = texts.iter().map(|text| (*text).to_owned());
                self.queries
                    .lock()
                    .expect("no holder panics")
                    .extend(known.zip(vectors.iter().cloned()));
            }
        }
        Ok(vectors)
    }

    fn max_tokens(&self) -> Option<usize> {
        self.model.max_tokens()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_model_is_the_model() {
        let plain = StaticEmbedder::new();
        let measured = Measured::new(Arc::new(StaticEmbedder::new()));
        for _ in 0..2 {
            assert_eq!(
                measured.embed(InputKind::Query, &["which tea?"]).unwrap(),
                plain.embed(InputKind::Query, &["which tea?"]).unwrap()
            );
        }
        assert_eq!(measured.spent().queries, 1);
        assert_eq!(measured.model(), plain.model());
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(
            by_name("nonesuch")
                .unwrap_err()
                .to_string()
                .contains("nonesuch")
        );
    }
}

//! Embedders with known behaviour, and short cuts.

use std::sync::Mutex;

use mnemic::{
    EmbedError, Embedder, Embedding, EmbeddingModel, Hit, InputKind, Memory, MemoryBuilder,
    Timestamp, normalize,
};

/// Hashes words into a vector: texts that share words are near. Deterministic, fast, and easy to compute beside.
#[derive(Debug, Clone)]
pub(crate) struct WordHash(EmbeddingModel);

pub(crate) const DIMS: usize = 32;

impl Default for WordHash {
    fn default() -> Self {
        Self::named("word-hash", "1", DIMS)
    }
}

impl WordHash {
    /// The same algorithm under another name, revision or width: another space.
    pub(crate) fn named(id: &str, revision: &str, dims: usize) -> Self {
        Self(EmbeddingModel::new(
            format!("{id}/{revision}"),
            id,
            revision,
            dims,
        ))
    }

    pub(crate) fn vector(&self, text: &str) -> Embedding {
        let mut vector = vec![0.0f32; self.0.dims];
        for word in text.split_whitespace() {
            let mut hash = 0xcbf2_9ce4_8422_2325u64;
            for byte in word.to_lowercase().bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            let place = (hash >> 20) as usize % self.0.dims;
            vector[place] += if hash & (1 << 50) == 0 { 1.0 } else { -0.7 };
            vector[(place + 1) % self.0.dims] += 0.3;
        }
        normalize(&mut vector).ok().map(|()| vector)
    }
}

impl Embedder for WordHash {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Puts each text where a table says: `axis 2 tilt 0.1` style texts are not needed, as the vector is parsed from the
/// text itself, `[x y z] words`.
#[derive(Debug)]
pub(crate) struct Parsed(EmbeddingModel);

impl Default for Parsed {
    fn default() -> Self {
        Self(EmbeddingModel::new("parsed", "parsed", "1", 3))
    }
}

impl Embedder for Parsed {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &str| {
            let numbers = text.split(['[', ']']).nth(1).unwrap_or("1 1 1");
            let mut vector: Vec<f32> = numbers
                .split_whitespace()
                .map(|x| x.parse().unwrap())
                .collect();
            normalize(&mut vector).ok().map(|()| vector)
        };
        Ok(texts.iter().map(|text| one(text)).collect())
    }
}

/// What [`Faulty`] does with a text that holds the word.
pub(crate) type Fault = fn(&str) -> Result<Embedding, EmbedError>;

/// [`WordHash`], but for texts that hold the word `cursed`, and while switched on.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: WordHash,
    fault: Mutex<Option<Fault>>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        Self::over(WordHash::default())
    }
    pub(crate) fn over(inner: WordHash) -> Self {
        Self {
            inner,
            fault: Mutex::new(None),
        }
    }
    pub(crate) fn inner(&self) -> &WordHash {
        &self.inner
    }
    pub(crate) fn fault(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }
}

impl Embedder for Faulty {
    fn model(&self) -> &EmbeddingModel {
        self.inner.model()
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let fault = *self.fault.lock().unwrap();
        texts
            .iter()
            .map(|text| match fault {
                Some(fault) if text.contains("cursed") => fault(text),
                _ => Ok(self.inner.vector(text)),
            })
            .collect()
    }
}

pub(crate) fn builder() -> MemoryBuilder {
    Memory::builder().embedder(WordHash::default())
}

/// A memory without a file, with [`WordHash`].
pub(crate) fn memory() -> Memory {
    builder().open_in_memory().unwrap()
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn contents(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

/// Asserts that nothing is wrong, and that memories and vectors are as many.
pub(crate) fn sound(memory: &Memory) {
    let report = memory.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(report.memories, report.vectors);
}

//! Memories that are made up, the same in every run: fifteen words of a vocabulary whose frequencies follow Zipf's law,
//! and vectors that add up those of the words, so that texts about the same things are near each other.

use std::sync::Arc;

use mnemic::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, NewMemory};
use mnemic_rank::TopK;

use crate::random::Random;

pub const DIMS: usize = 384;
const VOCABULARY: usize = 20_000;
const LENGTH: usize = 15;

impl Random {
    /// A word by Zipf's law: the chance of rank r falls as 1/r.
    fn word(&mut self) -> usize {
        let rank = (VOCABULARY as f64).powf(self.uniform());
        (rank as usize).min(VOCABULARY - 1)
    }
}

/// The text of memory `i`.
pub fn text(i: usize) -> String {
    let mut random = Random(i as u64);
    let words: Vec<String> = (0..LENGTH).map(|_| format!("w{}", random.word())).collect();
    words.join(" ")
}

/// A natural question of six words and some common ones: most of its words are of the middle of the vocabulary.
pub fn question(i: usize) -> String {
    let mut random = Random(0xdead_beef ^ (i as u64) << 20);
    let mut words = vec!["what did we decide about".to_owned()];
    for _ in 0..6 {
        let rank = 50.0 * 200f64.powf(random.uniform());
        words.push(format!("w{}", rank as usize));
    }
    words.join(" ") + "?"
}

/// When memory `i` was created: one every ten minutes.
pub fn created(i: usize) -> String {
    let time = jiff::Timestamp::new(1_600_000_000 + 600 * i as i64, 0).unwrap_or_default();
    time.strftime("%F %T").to_string()
}

/// Memory `i`: every second one is global, the others are spread over 1,000 projects; one in ten has a tag.
pub fn memory(i: usize) -> NewMemory {
    let memory = NewMemory::new(text(i)).created_at(
        created(i)
            .parse()
            .unwrap_or_else(|_| mnemic::Timestamp::now()),
    );
    let memory = if i.is_multiple_of(10) {
        memory.tags(["tenth"])
    } else {
        memory
    };
    if i.is_multiple_of(2) {
        memory
    } else {
        memory.project(format!("p{}", i / 2 % 1_000))
    }
}

/// The model: a vector of noise for each word, added up and brought to unit length.
#[derive(Debug, Clone)]
pub struct Words {
    model: EmbeddingModel,
    table: Arc<Vec<f32>>,
}

impl Words {
    pub fn new() -> Self {
        let mut random = Random(42);
        // A sum of uniform numbers is near a normal one.
        let mut normal = || (0..4).map(|_| random.uniform()).sum::<f64>() as f32 - 2.0;
        Self {
            model: EmbeddingModel::new("words", "words", "1", DIMS),
            table: Arc::new((0..VOCABULARY * DIMS).map(|_| normal()).collect()),
        }
    }

    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0f32; DIMS];
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let number = word
                .strip_prefix('w')
                .and_then(|number| number.parse::<usize>().ok());
            if let Some(row) = number.and_then(|number| self.table.chunks_exact(DIMS).nth(number)) {
                // Common words say little, here as elsewhere.
                let weight = (1.0 + number.unwrap_or(0) as f32).ln();
                for (sum, x) in vector.iter_mut().zip(row) {
                    *sum += weight * x;
                }
            }
        }
        if mnemic::normalize(&mut vector).is_err() {
            vector[0] = 1.0;
        }
        vector
    }
}

impl Embedder for Words {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        Ok(texts.iter().map(|text| Some(self.vector(text))).collect())
    }
}

/// The best `k` of all dot products with a query, in plain vectorised code.
pub fn scan(vectors: &[f32], query: &[f32], k: usize) -> Vec<(f64, i64)> {
    let mut best = TopK::new(k);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut floor = f32::NEG_INFINITY;
            for (i, vector) in vectors.chunks_exact(DIMS).enumerate() {
                let mut lanes = [0.0f32; 32];
                for (a, b) in vector.chunks_exact(32).zip(query.chunks_exact(32)) {
                    for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                        *lane += a * b;
                    }
                }
                let dot: f32 = lanes.iter().sum();
                if dot >= floor {
                    best.push(f64::from(dot), i as i64);
                    floor = best.floor().map_or(f32::NEG_INFINITY, |floor| floor as f32);
                }
            }
        },
    );
    best.into_sorted_vec()
}

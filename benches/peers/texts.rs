//! Memories that are made up of English words, and questions whose answers are known. The same in every run.
//!
//! A memory is eight to twenty-four words: half of them of its topic, half by Zipf's law over the bundled model's
//! vocabulary, which is in the order of frequency. A question is made from one memory, the one to find: five of its rarer
//! words, three of them replaced by the word that is nearest in meaning, so that neither words nor vectors alone have it all.

use mnemic::{Embedder, InputKind, StaticEmbedder};

use crate::Result;
use crate::random::Random;

/// The words of the vocabulary, most frequent first.
const VOCABULARY: &str = include_str!("../../crates/mnemic-static/models/vocab.txt");

const TOPICS: usize = 400;
const WORDS_OF_A_TOPIC: usize = 40;

/// Words more frequent than this rank say little: a question is made of others, where there are enough.
const RARE: usize = 150;
const WORDS_OF_A_QUESTION: usize = 5;
const REPLACED: usize = 3;

impl Random {
    /// A whole number from 0 to `below` − 1.
    pub fn below(&mut self, below: usize) -> usize {
        ((self.uniform() * below as f64) as usize).min(below.saturating_sub(1))
    }

    /// A rank from `first` to `last` by Zipf's law: the chance of rank r falls as 1/r.
    fn zipf(&mut self, first: usize, last: usize) -> usize {
        let [low, high] = [first + 1, last + 1].map(|rank| rank as f64);
        ((low * (high / low).powf(self.uniform())) as usize - 1).clamp(first, last - 1)
    }
}

/// A memory as the ranks of its words.
pub type Ranks = Vec<usize>;

pub struct Language {
    words: Vec<&'static str>,
    vectors: Vec<Vec<f32>>,
    topics: Vec<Ranks>,
}

impl Language {
    pub fn new() -> Result<Self> {
        let is_word =
            |piece: &&str| piece.len() >= 3 && piece.bytes().all(|b| b.is_ascii_lowercase());
        let words: Vec<&str> = VOCABULARY.lines().filter(is_word).collect();
        let vectors = StaticEmbedder::new()
            .embed(InputKind::Passage, &words)?
            .into_iter()
            .map(|vector| vector.ok_or("a word of the vocabulary has no vector"))
            .collect::<std::result::Result<_, _>>()?;
        let mut random = Random(1);
        let topic = |_| {
            (0..WORDS_OF_A_TOPIC)
                .map(|_| random.zipf(RARE, words.len()))
                .collect()
        };
        Ok(Self {
            topics: (0..TOPICS).map(topic).collect(),
            words,
            vectors,
        })
    }

    /// Memory `i` of a set.
    pub fn memory(&self, set: u64, i: usize) -> Ranks {
        let mut random = Random((set << 40) + i as u64);
        let topic = &self.topics[random.below(TOPICS)];
        let length = 8 + random.below(17);
        let mut word = |place: usize| match place % 2 {
            0 => topic[random.below(topic.len())],
            _ => random.zipf(0, self.words.len()),
        };
        (0..length).map(&mut word).collect()
    }

    /// The question that a memory is the answer to.
    pub fn question(&self, memory: &Ranks, random: &mut Random) -> String {
        let mut ranks = memory.clone();
        ranks.sort_unstable();
        ranks.dedup();
        // The frequent ones come first, and are taken where there are too few others.
        let frequent = ranks.iter().filter(|&&rank| rank < RARE).count();
        let spare = ranks.len().saturating_sub(WORDS_OF_A_QUESTION);
        let mut ranks = ranks.split_off(frequent.min(spare));
        while ranks.len() > WORDS_OF_A_QUESTION {
            ranks.swap_remove(random.below(ranks.len()));
        }
        for rank in ranks.iter_mut().take(REPLACED) {
            *rank = self.nearest(*rank);
        }
        format!("what did we decide about {}?", self.text(&ranks))
    }

    pub fn text(&self, ranks: &Ranks) -> String {
        let words: Vec<&str> = ranks.iter().map(|&rank| self.words[rank]).collect();
        words.join(" ")
    }

    /// The other word whose vector is nearest.
    fn nearest(&self, rank: usize) -> usize {
        let of = &self.vectors[rank];
        let others = (0..self.words.len()).filter(|&other| other != rank);
        others
            .map(|other| (dot(of, &self.vectors[other]), other))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(rank, |(_, other)| other)
    }
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

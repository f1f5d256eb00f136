//! Where the time goes. It is printed to standard error, as it is never the same twice.

use std::time::{Duration, Instant};

use crate::corpus::Corpus;
use crate::embedder::Measured;

#[derive(Debug)]
pub struct Times {
    start: Instant,
    memories: usize,
    storing: Duration,
    /// Ranker, queries, and the time of all its recalls without embedding.
    recalls: Vec<(&'static str, usize, Duration)>,
}

impl Times {
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            memories: 0,
            storing: Duration::ZERO,
            recalls: Vec::new(),
        }
    }

    /// Everything is stored now.
    pub fn stored(&mut self, corpus: &Corpus, embedder: &Measured) {
        self.memories = corpus.sets.iter().map(|set| set.memories).sum();
        self.storing = self.start.elapsed() - embedder.spent().on_passages;
    }

    /// Notes what a ranker's recalls took, without the embedding of their queries.
    pub fn recalled(&mut self, ranker: &'static str, queries: usize, time: Duration) {
        self.recalls.push((ranker, queries, time));
    }

    pub fn print(&self, embedder: &Measured) {
        let spent = embedder.spent();
        eprintln!("time: {:.1?} in all", self.start.elapsed());
        let each = |what: &str, count: usize, of: &str, time: Duration| {
            let mean = time.as_secs_f64() * 1e6 / count.max(1) as f64;
            eprintln!("  {what:<24} {time:>9.1?}   {mean:>7.0} µs each of {count} {of}");
        };
        each(
            "reading and storing",
            self.memories,
            "memories",
            self.storing,
        );
        each(
            "embedding passages",
            spent.passages,
            "texts",
            spent.on_passages,
        );
        each(
            "embedding queries",
            spent.queries,
            "texts",
            spent.on_queries,
        );
        for (ranker, queries, time) in &self.recalls {
            each(&format!("recall, {ranker}"), *queries, "queries", *time);
        }
    }
}

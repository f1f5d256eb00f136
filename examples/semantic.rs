//! Semantic search with a real transformer: nothing but an embedder and cosine.
//!
//! ```text
//! cargo run --release --features candle --example semantic -- path/to/all-MiniLM-L6-v2
//! cargo run --release --features candle --example semantic
//! ```
//!
//! The first form loads a folder; the second fetches all-MiniLM-L6-v2 from the Hugging Face hub once, with a progress
//! bar, and finds it in the cache from then on.

use std::error::Error;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use mnemic_candle::{CandleEmbedder, CandleOptions, Model};
use mnemic_embed::{Embedder, InputKind, cosine};

fn main() -> Result<(), Box<dyn Error>> {
    let embedder = match std::env::args().nth(1) {
        Some(folder) => CandleEmbedder::from_dir(folder)?,
        None => from_hub()?,
    };
    println!("{}", embedder.model());

    let memories = [
        "Deploys freeze on Fridays, except for security fixes.",
        "The user prefers Ruff over Black for formatting.",
        "The desk plant is a fern and wants water every third day.",
        "Ana moved to Oslo in May and started at the new company.",
    ];
    let stored = embedder.embed(InputKind::Passage, &memories)?;
    for question in [
        "when can I ship?",
        "who changed jobs?",
        "is anything thirsty here?",
    ] {
        let begin = Instant::now();
        let asked = embedder.embed(InputKind::Query, &[question])?;
        let took = begin.elapsed();
        let mut hits: Vec<(f64, &str)> = memories
            .iter()
            .zip(&stored)
            .filter_map(|(memory, vector)| {
                Some((cosine(asked.first()?.as_ref()?, vector.as_ref()?), *memory))
            })
            .collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!("\n{question}  ({took:.1?})");
        for (score, memory) in hits {
            println!("  {score:.2}  {memory}");
        }
    }
    Ok(())
}

/// Loads from the hub, with a bar for each file that is fetched.
fn from_hub() -> Result<CandleEmbedder, Box<dyn Error>> {
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template(
        "{msg:20} {wide_bar} {bytes}/{total_bytes} {eta}",
    )?);
    let shown = bar.clone();
    let options = CandleOptions::new().progress(move |progress| {
        shown.set_message(progress.file.clone());
        shown.set_length(progress.total);
        shown.set_position(progress.received);
    });
    let embedder = options.from_hub(Model::AllMiniLmL6V2)?;
    bar.finish_and_clear();
    Ok(embedder)
}

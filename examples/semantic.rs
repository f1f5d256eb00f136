//! A transformer instead of the bundled table: store with all-MiniLM-L6-v2, ask with it, then ask the same file with the
//! bundled table, which lives in the same space. So the transformer is paid for once, when storing.
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
use mnemic::{Memory, Recall};
use mnemic_candle::{CandleEmbedder, CandleOptions, Model};

const NOTES: [&str; 5] = [
    "Deploys freeze on Fridays, except for security fixes.",
    "The user prefers Ruff over Black for formatting.",
    "The desk plant is a fern and wants water every third day.",
    "Ana moved to Oslo in May and started at the new company.",
    "The staging database is rebuilt from production each Monday night.",
];

/// Questions, and which note answers each.
const QUESTIONS: [(&str, usize); 3] = [
    ("when is it forbidden to ship?", 0),
    ("who changed jobs?", 3),
    ("is anything in the office thirsty?", 2),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("semantic.db");
    let transformer = match std::env::args().nth(1) {
        Some(folder) => CandleEmbedder::from_dir(folder)?,
        None => from_hub()?,
    };

    let memory = Memory::builder().embedder(transformer).open(&path)?;
    memory.store_all(NOTES)?;
    ask("stored and asked with the transformer", &memory)?;
    drop(memory);

    // The same file, opened with the default: no transformer is loaded.
    ask("asked with the bundled table", &Memory::open(&path)?)
}

fn ask(how: &str, memory: &Memory) -> Result<(), Box<dyn Error>> {
    if let Some(model) = memory.health()?.embedder {
        println!("\n{how}: {model}");
    }
    let mut right = 0;
    for (question, answer) in QUESTIONS {
        let begin = Instant::now();
        let hits = memory.recall(Recall::new(question).limit(2))?;
        println!("\n{question}  ({:.1?})", begin.elapsed());
        for hit in &hits {
            println!(
                "  {:.2}  {}  ({})",
                hit.score, hit.memory.content, hit.signals
            );
        }
        right += usize::from(
            hits.first()
                .is_some_and(|hit| hit.memory.content == NOTES[answer]),
        );
    }
    println!("\n{right} of {} answers are first", QUESTIONS.len());
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

//! What the write gate costs beside plain storing, and what consolidation does for each memory that it looks at.
//!
//! `cargo run --release -p mnemic-benches --bin gate -- [SIZE]` (default: 100000). Embedding is excluded as in `scale`: the
//! model adds up the vectors of the words. One memory in a hundred is stored once more with a word moved to its end.

mod random;
#[allow(dead_code)]
#[path = "scale/synthetic.rs"]
mod synthetic;

use std::error::Error;
use std::time::Instant;

use mnemic::{Consolidate, Durability, Gate, Memory, NewMemory, Scope};

use synthetic::Words;

/// How many texts are assessed and stored.
const TEXTS: usize = 300;

/// How many memories a consolidation looks at.
const LOOKED_AT: usize = 1_000;

fn median(mut took: Vec<f64>) -> f64 {
    took.sort_by(f64::total_cmp);
    took.get(took.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let size: usize = match std::env::args().nth(1) {
        Some(size) => size.parse()?,
        None => 100_000,
    };
    let folder = tempfile::tempdir()?;
    let memory = Memory::builder()
        .embedder(Words::new())
        .durability(Durability::Normal)
        .open(folder.path().join("gate.db"))?;
    for first in (0..size).step_by(10_000) {
        let rows = first..size.min(first + 10_000);
        memory.store_all(rows.map(|i| NewMemory::new(synthetic::text(i))))?;
    }
    let moved = |i: usize| {
        let text = synthetic::text(i);
        let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
        format!("{rest} {first}")
    };
    memory.store_all((0..size).step_by(100).map(moved))?;
    memory.warm_up()?;

    let timed = |job: &dyn Fn(usize) -> mnemic::Result<()>| -> mnemic::Result<f64> {
        let mut took = Vec::with_capacity(TEXTS);
        for i in 0..TEXTS {
            let begun = Instant::now();
            job(i)?;
            took.push(1e3 * begun.elapsed().as_secs_f64());
        }
        Ok(median(took))
    };
    let new = |of: usize, i: usize| synthetic::text(size + of * TEXTS + i);
    println!("{size} memories; medians of {TEXTS}:");
    let plain = timed(&|i| memory.store(new(0, i)).map(drop))?;
    let recall = timed(&|i| {
        let question = mnemic::Recall::new(new(1, i));
        memory.recall(question).map(drop)
    })?;
    let assess = timed(&|i| memory.assess(new(2, i)).map(drop))?;
    let gate = Gate::new();
    let stored = timed(&|i| memory.store_with(new(3, i), &gate).map(drop))?;
    let skipped = timed(&|i| memory.store_with(synthetic::text(i * 7), &gate).map(drop))?;
    for (name, took) in [
        ("store", plain),
        ("recall of the same text, for comparison", recall),
        ("assess", assess),
        ("store_with, of a new text", stored),
        ("store_with, of a duplicate", skipped),
    ] {
        println!(
            "  {name:<42} {took:>8.2} ms   {:>6.1} x recall",
            took / recall
        );
    }
    let begun = Instant::now();
    let what = Consolidate::new().scope(Scope::All).limit(LOOKED_AT);
    let found = memory.consolidate(what)?;
    let took = begun.elapsed().as_secs_f64();
    println!(
        "  consolidate, {} looked at, {} groups       {took:>8.2} s    {:>6.2} ms each",
        found.looked_at,
        found.groups.len(),
        1e3 * took / found.looked_at.max(1) as f64
    );
    Ok(())
}

//! What the verbs that go through a whole file cost, and for how long they keep a writer waiting.
//!
//! `cargo run --release -p mnemic-benches --bin upkeep -- [SIZE]` (default: 100000). Embedding is excluded as in `scale`:
//! the model adds up the vectors of the words. While each verb runs, another handle stores a memory every five
//! milliseconds; the longest of its calls is printed beside the verb's time.

mod random;
#[allow(dead_code)]
#[path = "scale/synthetic.rs"]
mod synthetic;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mnemic::{
    Durability, EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, Memory, Progress,
};

use synthetic::{DIMS, Words};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The same vectors under another name.
#[derive(Debug, Clone)]
struct Renamed(Words, EmbeddingModel);

impl Embedder for Renamed {
    fn model(&self) -> &EmbeddingModel {
        &self.1
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.0.embed(kind, texts)
    }
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn open(path: &Path, model: impl Embedder + 'static) -> Outcome<Memory> {
    let builder = Memory::builder()
        .embedder(model)
        .durability(Durability::Normal)
        .busy_timeout(Duration::from_secs(60));
    Ok(builder.open(path)?)
}

/// Runs a verb while another handle stores; prints how long both took.
fn during<T>(name: &str, path: &Path, verb: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let done = AtomicBool::new(false);
    let writer = Memory::builder().durability(Durability::Normal);
    let writer = writer.busy_timeout(Duration::from_secs(60));
    let words = Words::new();
    let renamed = renamed(&words);
    let writer = match writer.clone().embedder(words).open(path) {
        Ok(writer) => writer,
        Err(_) => writer.embedder(renamed).open(path)?,
    };
    std::thread::scope(|scope| {
        let longest = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            for i in 0.. {
                let begun = Instant::now();
                // From the switch of a re-embedding on it is refused.
                let refused = writer.store(format!("w{i} stored meanwhile")).is_err();
                longest = longest.max(begun.elapsed());
                if refused || done.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            longest
        });
        let begun = Instant::now();
        let answer = verb();
        let took = begun.elapsed();
        done.store(true, Ordering::Relaxed);
        let longest = longest.join().unwrap_or_default();
        println!(
            "  {name:<44} {:>8.2} s   longest wait of a writer {:>8.1} ms",
            took.as_secs_f64(),
            1e3 * longest.as_secs_f64()
        );
        answer
    })
}

fn renamed(words: &Words) -> Renamed {
    Renamed(
        words.clone(),
        EmbeddingModel::new("renamed", "renamed", "1", DIMS),
    )
}

fn main() -> Outcome<()> {
    let size = match std::env::args().nth(1) {
        Some(size) => size.parse()?,
        None => 100_000,
    };
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let words = Words::new();
    let path = at("upkeep.db");
    let store_into = |memory: &Memory| -> Outcome<Vec<String>> {
        let mut ids = Vec::new();
        for first in (0..size).step_by(10_000) {
            let rows = (first..usize::min(size, first + 10_000)).map(synthetic::memory);
            ids.extend(memory.store_all(rows)?.into_iter().map(|stored| stored.id));
        }
        Ok(ids)
    };

    let texts: Vec<String> = (0..size.min(10_000)).map(synthetic::text).collect();
    let begun = Instant::now();
    for text in &texts {
        std::hint::black_box(words.vector(text));
    }
    let embedding = begun.elapsed().mul_f64(size as f64 / texts.len() as f64);
    println!(
        "{size} memories; embedding them all takes {:.2} s of each filling",
        embedding.as_secs_f64()
    );

    let alone = Memory::builder()
        .no_embedder()
        .durability(Durability::Normal);
    let alone = alone.open(at("words.db"))?;
    store_into(&alone)?;
    drop(alone);
    let filled = open(&at("words.db"), words.clone())?;
    let begun = Instant::now();
    filled.backfill(go_on)?;
    println!(
        "  {:<44} {:>8.2} s",
        "backfill of all",
        begun.elapsed().as_secs_f64()
    );
    drop(filled);

    let memory = open(&path, words.clone())?;
    let ids = store_into(&memory)?;
    during("coverage", &path, || Ok(memory.coverage()?))?;
    during("check", &path, || Ok(memory.check()?))?;
    during("backup", &path, || Ok(memory.backup(at("backup.db"))?))?;
    let enough = |progress: Progress| match progress.done < progress.total {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    during("reembed, up to the switch", &path, || {
        Ok(memory.reembed(renamed(&words), enough)?)
    })?;
    during("reembed, the switch", &path, || {
        Ok(memory.reembed(renamed(&words), go_on)?)
    })?;
    during("compact", &path, || Ok(memory.compact()?))?;
    memory.delete_all(ids.iter().step_by(2))?;
    let report = during("compact, half of it deleted", &path, || {
        Ok(memory.compact()?)
    })?;
    println!(
        "    {} bytes became {}",
        report.bytes_before, report.bytes_after
    );
    during("erase one", &path, || Ok(memory.erase(&ids[1])?))?;
    drop(memory);
    let begun = Instant::now();
    Memory::restore(at("backup.db"), &path)?;
    println!(
        "  {:<44} {:>8.2} s",
        "restore",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

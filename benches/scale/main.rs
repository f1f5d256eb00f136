//! How recall, storing and memory grow with the number of memories.
//!
//! `cargo run --release -p mnemic-benches --bin scale -- [--csv FILE] [--plot FILE.svg] [SIZE ...]` (default: 1000 10000
//! 100000; 1000000 takes some minutes and 6 GB) stores so many synthetic memories and prints, beside each time, its ratio to a plain f32 scan over the same vectors in the same
//! run: the limit of any exact search that reads every vector. Embedding is excluded: the model here adds up the vectors of
//! the words, in microseconds.

mod plot;
#[path = "../random.rs"]
mod random;
mod synthetic;

use std::error::Error;
use std::time::{Duration, Instant};

use mnemic::{Durability, Memory, Preset, Recall, Scope, Timestamp};

use synthetic::{DIMS, Words, memory, question};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Makes the question of a number.
type Ask = Box<dyn Fn(usize) -> Recall>;

/// One figure of one size.
#[derive(Debug, serde::Serialize)]
pub struct Line {
    memories: usize,
    what: String,
    /// In milliseconds, or bytes where the name says so.
    p50: f64,
    p95: Option<f64>,
    /// The median in plain scans of the same size.
    scans: Option<f64>,
}

/// Questions of each kind.
const QUESTIONS: usize = 60;

fn main() -> Outcome<()> {
    let mut sizes = Vec::new();
    let (mut csv, mut svg) = (None, None);
    let mut arguments = lexopt::Parser::from_env();
    use lexopt::ValueExt;
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Long("csv") => csv = Some(arguments.value()?),
            lexopt::Arg::Long("plot") => svg = Some(arguments.value()?),
            lexopt::Arg::Value(size) => sizes.push(size.string()?.parse()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    let mut lines = Vec::new();
    for size in sizes {
        measure(size, &mut lines)?;
    }
    if let Some(path) = csv {
        let mut file = csv::Writer::from_path(path)?;
        for line in &lines {
            file.serialize(line)?;
        }
        file.flush()?;
    }
    if let Some(path) = svg {
        plot::draw(path.as_ref(), &lines)?;
    }
    Ok(())
}

/// Stores so many memories, and prints what everything costs.
fn measure(size: usize, lines: &mut Vec<Line>) -> Outcome<()> {
    let mut single = |what: &str, p50: f64| {
        lines.push(Line {
            memories: size,
            what: what.to_owned(),
            p50,
            p95: None,
            scans: None,
        });
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("scale.db");
    let words = Words::new();
    let open = |budget: u64| {
        Memory::builder()
            .embedder(words.clone())
            .durability(Durability::Normal)
            .index_budget(budget)
            .open(&path)
    };
    let store = open(0)?;
    let begun = Instant::now();
    for first in (0..size).step_by(10_000) {
        store.store_all((first..size.min(first + 10_000)).map(memory))?;
    }
    let stored = begun.elapsed();
    let texts: Vec<String> = (0..size.min(10_000)).map(synthetic::text).collect();
    let begun = Instant::now();
    for text in &texts {
        std::hint::black_box(words.vector(text));
    }
    let embedding = begun.elapsed().mul_f64(size as f64 / texts.len() as f64);
    let rate = size as f64 / stored.saturating_sub(embedding).as_secs_f64();
    // Closed, the log is merged into the file.
    drop(store);
    let store = open(0)?;
    let bytes = store.health()?.file_bytes as f64 / size as f64;
    println!(
        "\n{size} memories: {rate:.0} stored a second (without embedding), {bytes:.0} bytes each in the file"
    );

    single("bytes in the file", bytes);

    let scan = scan_time(size, &words);
    single("plain f32 scan of all vectors", millis(scan));
    println!(
        "  {:<46} {:>9.2} ms",
        "plain f32 scan of all vectors",
        millis(scan)
    );

    let indexed = open(u64::MAX)?;
    let begun = Instant::now();
    indexed.recall(all(question(0)))?;
    let first = begun.elapsed();
    let begun = Instant::now();
    indexed.recall(all(question(0)))?;
    let load = begun.elapsed();
    let index = indexed.health()?.index_bytes as f64 / size as f64;
    single("first recall after opening (from the file)", millis(first));
    single("second recall (loads the index)", millis(load));
    single("bytes in memory (the index)", index);
    println!(
        "  {:<46} {:>9.2} ms",
        "first recall after opening (from the file)",
        millis(first)
    );
    println!(
        "  {:<46} {:>9.2} ms   {index:.0} bytes each in memory",
        "second recall (loads the index)",
        millis(load)
    );

    let last_week: Timestamp = synthetic::created(size.saturating_sub(size / 50)).parse()?;
    let cases: [(&str, Ask); 7] = [
        (
            "vectors alone",
            Box::new(|i| all(question(i)).preset(Preset::vector_only())),
        ),
        (
            "words alone",
            Box::new(|i| all(question(i)).preset(Preset::word_only())),
        ),
        ("both (the default)", Box::new(|i| all(question(i)))),
        (
            "both, global memories (half of all)",
            Box::new(|i| Recall::new(question(i))),
        ),
        (
            "both, one project of 1,000",
            Box::new(|i| Recall::new(question(i)).project(format!("p{}", i * 7))),
        ),
        (
            "both, a tag on 10 %",
            Box::new(|i| all(question(i)).tags_any(["tenth"])),
        ),
        (
            "both, the last 2 % of the time",
            Box::new(move |i| all(question(i)).since(last_week)),
        ),
    ];
    for (name, recall) in &cases {
        report(size, name, &indexed, recall, scan, lines)?;
    }
    if size <= 100_000 {
        report(
            size,
            "both, without the index",
            &store,
            &cases[2].1,
            scan,
            lines,
        )?;
    }
    let agreement = agreement(&indexed, &store)?;
    println!(
        "  {:<46} {agreement:>9.4}",
        "recall@10 of the index against the file"
    );
    Ok(())
}

fn all(question: String) -> Recall {
    Recall::new(question).scope(Scope::All)
}

fn report(
    size: usize,
    name: &str,
    memory: &Memory,
    recall: &dyn Fn(usize) -> Recall,
    scan: Duration,
    lines: &mut Vec<Line>,
) -> Outcome<()> {
    let mut times = Vec::with_capacity(QUESTIONS);
    for i in 0..QUESTIONS {
        let recall = recall(i);
        let begun = Instant::now();
        std::hint::black_box(memory.recall(recall)?);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let (p50, p95) = (times[QUESTIONS / 2], times[QUESTIONS * 95 / 100]);
    let scans = p50.as_secs_f64() / scan.as_secs_f64();
    println!(
        "  {name:<46} {:>9.2} ms   p95 {:>8.2} ms   {scans:>6.2} scans",
        millis(p50),
        millis(p95)
    );
    lines.push(Line {
        memories: size,
        what: name.to_owned(),
        p50: millis(p50),
        p95: Some(millis(p95)),
        scans: Some(scans),
    });
    Ok(())
}

/// The share of the exact ten nearest that the index finds.
fn agreement(indexed: &Memory, exact: &Memory) -> Outcome<f64> {
    let mut found = 0;
    let questions = 20;
    for i in 0..questions {
        let recall = all(question(i + 1_000)).preset(Preset::vector_only());
        let [a, b] = [indexed.recall(recall.clone())?, exact.recall(recall)?];
        found += a
            .iter()
            .filter(|hit| b.iter().any(|other| other.memory.id == hit.memory.id))
            .count();
    }
    Ok(found as f64 / (questions * 10) as f64)
}

/// The median time of one pass of dot products over all vectors, kept in memory as f32, the best thirty kept.
fn scan_time(size: usize, words: &Words) -> Duration {
    let mut vectors = Vec::with_capacity(size * DIMS);
    for i in 0..size {
        vectors.extend(words.vector(&synthetic::text(i)));
    }
    let mut times: Vec<Duration> = (0..9)
        .map(|i| {
            let query = words.vector(&question(i));
            let begun = Instant::now();
            std::hint::black_box(synthetic::scan(&vectors, &query, 30));
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[4]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

//! What it costs to take in text, and to take it in again.
//!
//! `cargo run --release -p mnemic-benches --bin ingest -- [MEGABYTES]` (default: 10). Made-up books of 100,000 characters
//! each lie in files; each is read, hashed, cut into passages and stored in a transaction of its own, as the example
//! `ingest` does it. Printed are the parts alone, the whole without and with embedding, and the same again unchanged, with
//! the limit beside each.

mod books;
mod random;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mnemic::{Memory, NewDocument};
use mnemic_chunk::{Chunking, Format, chunk, read};
use sha2::{Digest, Sha256};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BOOK: usize = 100_000;
const CHUNKING: Chunking = Chunking::characters(1_000, 200);

/// How much faster the same again must be.
const AGAIN: f64 = 50.0;
/// Cutting 10 MB must take less than this, in seconds.
const CUT: f64 = 2.0;

fn main() -> Outcome<()> {
    let megabytes: usize = match std::env::args().nth(1) {
        Some(size) => size.parse()?,
        None => 10,
    };
    let folder = tempfile::tempdir()?;
    let books = books::Books::new();
    let mut files = Vec::new();
    let mut total = 0;
    while total < megabytes * 1_000_000 {
        let path = folder.path().join(format!("{:04}.txt", files.len()));
        let book = books.book(files.len(), BOOK);
        total += book.len();
        fs::write(&path, book)?;
        files.push(path);
    }
    let all: String = files
        .iter()
        .map(fs::read_to_string)
        .collect::<Result<_, _>>()?;
    println!("{} files, {:.1} MB", files.len(), total as f64 / 1e6);

    let scale = 10e6 / total as f64;
    for (name, chunking) in [
        ("cut by the rule of RA-H", Chunking::ra_h()),
        ("cut as prose", CHUNKING),
        ("cut as Markdown", Chunking::markdown(1_000)),
    ] {
        let begun = Instant::now();
        let count = chunk(&all, &chunking)?.len();
        let took = begun.elapsed();
        line(
            name,
            took,
            total,
            &format!(
                "{count} passages; of 10 MB {:.2} s, limit {CUT} s",
                took.as_secs_f64() * scale
            ),
        );
    }

    let words = Memory::builder()
        .no_embedder()
        .open(folder.path().join("words.db"))?;
    let (took, report) = timed(|| ingest(&words, &files))?;
    line(
        "ingest without embedding",
        took,
        total,
        &format!("{} passages", report.passages),
    );
    drop(words);

    let memory = Memory::open(folder.path().join("all.db"))?;
    memory.store("so that the model is loaded")?;
    let (first, report) = timed(|| ingest(&memory, &files))?;
    let bytes = fs::metadata(folder.path().join("all.db"))?.len();
    line(
        "ingest with embedding",
        first,
        total,
        &format!(
            "{} embedded; the file {:.1} × the text",
            report.embedded,
            bytes as f64 / total as f64
        ),
    );
    let (again, report) = timed(|| ingest(&memory, &files))?;
    let ratio = first.as_secs_f64() / again.as_secs_f64();
    if report.unchanged != files.len() {
        return Err(format!(
            "{} of {} files were unchanged",
            report.unchanged,
            files.len()
        )
        .into());
    }
    line(
        "the same again",
        again,
        total,
        &format!("{ratio:.0} × as fast, limit {AGAIN} ×"),
    );

    // A sentence in the middle of one book.
    let middle = &files[files.len() / 2];
    let mut book = fs::read_to_string(middle)?;
    let at = book[book.len() / 2..]
        .find(". ")
        .map_or(0, |i| i + book.len() / 2 + 2);
    book.insert_str(at, "This sentence is new. ");
    fs::write(middle, book)?;
    let (took, report) = timed(|| ingest(&memory, &files))?;
    line(
        "again, a sentence new in one file",
        took,
        total,
        &format!(
            "{} of its {} passages embedded",
            report.embedded, report.passages
        ),
    );
    if ratio < AGAIN {
        return Err(format!("the same again was {ratio:.0} × as fast, not {AGAIN}").into());
    }
    Ok(())
}

fn line(name: &str, took: Duration, bytes: usize, more: &str) {
    let seconds = took.as_secs_f64();
    println!(
        "  {name:<36} {seconds:>8.3} s  {:>8.1} MB/s   {more}",
        bytes as f64 / 1e6 / seconds
    );
}

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(Duration, T)> {
    let begun = Instant::now();
    let answer = work()?;
    Ok((begun.elapsed(), answer))
}

#[derive(Default)]
struct Report {
    unchanged: usize,
    passages: u64,
    embedded: u64,
}

/// As the example does it.
fn ingest(memory: &Memory, files: &[PathBuf]) -> Outcome<Report> {
    let mut report = Report::default();
    for path in files {
        one(memory, path, &mut report)?;
    }
    Ok(report)
}

fn one(memory: &Memory, path: &Path, report: &mut Report) -> Outcome<()> {
    let name = path.to_str().ok_or("the path is not UTF-8")?;
    let bytes = fs::read(path)?;
    let hash = hash(&bytes);
    let known = memory.documents_from(name)?;
    let same = known
        .first()
        .is_some_and(|document| document.origin_hash.as_deref() == Some(&*hash));
    if same {
        report.unchanged += 1;
        return Ok(());
    }
    let source = read(&bytes, Format::Text)?;
    let document = NewDocument::new(name)
        .source(source.text)
        .origin(name)
        .origin_hash(hash)
        .chunking(CHUNKING)
        .allow_missing_vectors();
    let stored = memory.store_document(document)?;
    report.passages += stored.chunks;
    report.embedded += stored.embedded;
    Ok(())
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

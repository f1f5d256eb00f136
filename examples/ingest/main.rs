//! Read files and folders into a memory, again and again: what has not changed costs a look at its bytes, what has changed
//! is cut and embedded where it differs. Then ask two questions, and see where in which file the answers stand.
//!
//! ```text
//! cargo run --release --example ingest [-- [--into memory.db] PATH...]
//! cargo run --release --example ingest --features mnemic-examples/pdf -- --into library.db ~/papers
//! ```
//!
//! Without paths it reads this project's own `docs/` and a novel, *Persuasion* by Jane Austen, and reads them twice to
//! show what the second time costs. Known are .txt, .md, .html, .vtt, .srt, program text (.rs, .py, .js) and, with the
//! feature `pdf`, .pdf.

mod ingestion;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use mnemic::{Hit, Memory, Recall};
use mnemic_examples::shorten;

use ingestion::{Ingestion, Outcome, Report};

/// One for each of the two that are read by default.
const QUESTIONS: [&str; 2] = [
    "what happens to a memory when the power fails while it is written?",
    "why had Anne broken off her engagement to Captain Wentworth?",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read()?;
    let directory = tempfile::tempdir()?;
    let file = arguments
        .into
        .clone()
        .unwrap_or_else(|| directory.path().join("library.db"));
    let memory = Memory::open(&file)?;

    let (paths, rounds) = match arguments.paths.as_slice() {
        [] => (own()?, 2),
        paths => (paths.to_vec(), 1),
    };
    let mut failed = 0;
    for round in 1..=rounds {
        let report = ingest(&memory, &paths)?;
        tell(&report, round == 1);
        failed = report.count(|outcome| matches!(outcome, Outcome::Failed(_)));
    }
    let coverage = memory.coverage()?;
    println!(
        "\n{} documents, {} passages, {} of them with a vector",
        coverage.documents, coverage.chunks, coverage.chunks_embedded
    );

    for question in QUESTIONS {
        println!("\n{question}");
        for hit in memory.recall(Recall::new(question).limit(2))? {
            show(&memory, &hit)?;
        }
    }
    match failed {
        0 => Ok(()),
        failed => Err(format!("{failed} files could not be read").into()),
    }
}

/// `[--into FILE] PATH...`
struct Arguments {
    into: Option<PathBuf>,
    paths: Vec<PathBuf>,
}

impl Arguments {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut all = std::env::args_os().skip(1);
        let (mut into, mut paths) = (None, Vec::new());
        while let Some(argument) = all.next() {
            if argument == "--into" {
                let file = all.next().ok_or("--into needs the name of a file")?;
                into = Some(PathBuf::from(file));
            } else {
                paths.push(PathBuf::from(argument));
            }
        }
        Ok(Self { into, paths })
    }
}

/// This project's documentation and the novel.
fn own() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.parent().ok_or("the examples are in a project")?;
    Ok(vec![root.join("docs"), here.join("data/persuasion.txt")])
}

/// Ingests with a bar of the bytes that were looked at.
fn ingest(memory: &Memory, paths: &[PathBuf]) -> Result<Report, Box<dyn Error>> {
    let ingestion = Ingestion::of(paths);
    let bar = ProgressBar::new(ingestion.bytes()).with_style(ProgressStyle::with_template(
        "{bar:40} {bytes}/{total_bytes} {msg}",
    )?);
    let report = ingestion.run(memory, |path, bytes| {
        bar.inc(bytes);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        bar.set_message(shorten(&name, 30));
    });
    bar.finish_and_clear();
    Ok(report)
}

fn tell(report: &Report, each: bool) {
    if each {
        for (path, outcome) in &report.files {
            let name = path.display();
            match outcome {
                Outcome::Added(stored) => println!("added      {name}: {} passages", stored.chunks),
                Outcome::Changed(stored) => println!(
                    "changed    {name}: {} passages, {} of them as before, {} embedded",
                    stored.chunks, stored.reused, stored.embedded
                ),
                Outcome::Unchanged => println!("unchanged  {name}"),
                Outcome::Failed(_) => {}
            }
        }
    }
    for (path, outcome) in &report.files {
        if let Outcome::Failed(reason) = outcome {
            eprintln!("failed     {}: {reason}", path.display());
        }
    }
    for origin in &report.gone {
        println!("gone       {origin}: its document is kept");
    }
    println!(
        "{} added, {} changed, {} unchanged, {} failed, {} of other kinds; {:.0?}",
        report.count(|outcome| matches!(outcome, Outcome::Added(_))),
        report.count(|outcome| matches!(outcome, Outcome::Changed(_))),
        report.count(|outcome| matches!(outcome, Outcome::Unchanged)),
        report.count(|outcome| matches!(outcome, Outcome::Failed(_))),
        report.others,
        report.took.max(Duration::from_micros(1)),
    );
}

/// The document of a hit, and its best passage with its place: file, line, headings.
fn show(memory: &Memory, hit: &Hit) -> Result<(), Box<dyn Error>> {
    let title = hit.memory.content.lines().next().unwrap_or_default();
    println!("  {:.3}  {}", hit.score, shorten(title, 60));
    let Some(best) = hit.passages.first() else {
        return Ok(());
    };
    let passage = &best.passage;
    let source = memory.source(&passage.document)?.unwrap_or_default();
    let before = source.get(..passage.bytes.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let origin = memory
        .document(&passage.document)?
        .and_then(|document| document.origin);
    println!("         {}:{line}", origin.unwrap_or_default());
    if let Some(metadata) = &passage.metadata {
        println!("         {metadata}");
    }
    let text = passage
        .text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    println!("         “{}”", shorten(&text, 400));
    Ok(())
}

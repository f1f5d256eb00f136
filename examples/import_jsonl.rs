//! Import notes of your own, as JSON lines, in batches, with a progress bar. A bad line is reported by its number; the
//! rest goes in. (What `Memory::export` wrote comes back by `Memory::import`, all of it or nothing.)
//!
//! ```text
//! cargo run --release --example import_jsonl [-- notes.jsonl [new.db]]
//! ```
//!
//! A line is `{"content": "…", "project": "…", "tags": ["…"], "created_at": "2026-05-01T10:00:00Z"}`; only `content` is
//! required.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use indicatif::{ProgressBar, ProgressStyle};
use mnemic::{Memory, NewMemory};
use mnemic_examples::{Note, Place};

/// Lines embedded and committed together. A commit waits for the disk, so one for each line would be slow.
const BATCH: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    let input = std::env::args()
        .nth(1)
        .unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/data/notes.jsonl").into());
    let place = Place::from_argument(2)?;
    let file = File::open(&input).map_err(|error| format!("{input}: {error}"))?;

    let bar = ProgressBar::new(file.metadata()?.len()).with_style(ProgressStyle::with_template(
        "{bar:40} {bytes}/{total_bytes} {msg} {elapsed}",
    )?);
    let mut import = Import {
        memory: Memory::open(place.path())?,
        batch: Vec::new(),
        stored: 0,
        failed: Vec::new(),
    };
    for (line, number) in BufReader::new(file).split(b'\n').zip(1..) {
        let line = line?;
        bar.inc(line.len() as u64 + 1);
        import.line(number, &line);
        bar.set_message(format!("{} stored", import.stored));
    }
    import.flush();
    bar.finish_and_clear();

    import.failed.sort();
    for (number, reason) in &import.failed {
        eprintln!("{input}:{number}: {reason}");
    }
    println!(
        "{} memories imported from {input} in {:.1?}",
        import.stored,
        bar.elapsed()
    );
    match import.failed.len() {
        0 => Ok(()),
        failed => Err(format!("{failed} lines could not be imported").into()),
    }
}

/// An import under way.
struct Import {
    memory: Memory,
    batch: Vec<(usize, NewMemory)>,
    stored: usize,
    failed: Vec<(usize, String)>,
}

impl Import {
    /// Takes one line; blank ones are skipped.
    fn line(&mut self, number: usize, line: &[u8]) {
        let parsed = std::str::from_utf8(line)
            .map_err(Into::into)
            .and_then(|text| {
                let text = text.trim();
                (!text.is_empty()).then(|| Note::parse(text)).transpose()
            });
        match parsed {
            Ok(Some(memory)) => self.batch.push((number, memory)),
            Ok(None) => {}
            Err(error) => self.failed.push((number, error.to_string())),
        }
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Stores the batch in one transaction. Where that is refused nothing of it is stored, so its lines are tried one by
    /// one: the good ones go in, and the bad one is known by its number.
    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if let Ok(stored) = self
            .memory
            .store_all(batch.iter().map(|(_, memory)| memory.clone()))
        {
            self.stored += stored.len();
            return;
        }
        for (number, memory) in batch {
            match self.memory.store(memory) {
                Ok(_) => self.stored += 1,
                Err(error) => self.failed.push((number, error.to_string())),
            }
        }
    }
}

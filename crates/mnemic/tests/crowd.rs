//! Eight processes of four threads each store, change, delete and recall in one file at once. No error but a timeout, nothing
//! acknowledged is lost, no recall shows what is not there, and the log is short again afterwards.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mnemic::{
    Durability, EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, InputKind, Memory,
    NewMemory, Recall, Timeline,
};

const PROCESSES: usize = 8;
const THREADS: usize = 4;

/// How long they write; a nightly run may ask for more.
fn seconds() -> u64 {
    std::env::var("MNEMIC_CROWD_SECONDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(5)
}

/// Eight numbers of the words of a text.
#[derive(Debug)]
struct Words(EmbeddingModel);

impl Embedder for Words {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &&str| {
            let mut vector = vec![0.1f32; 8];
            for word in text.split(' ') {
                let sum: usize = word.bytes().map(usize::from).sum();
                vector[sum % 8] += 1.0;
            }
            Some(vector)
        };
        Ok(texts.iter().map(one).collect())
    }
}

fn open(path: &Path) -> Memory {
    Memory::builder()
        .embedder(Words(EmbeddingModel::new("words", "words", "1", 8)))
        .durability(Durability::Normal)
        .busy_timeout(Duration::from_secs(60))
        .open(path)
        .unwrap()
}

/// One thread's work: on memories of its own, so that it knows what must be there; recalls see everybody's.
fn work(memory: &Memory, name: &str, until: Instant) -> (BTreeMap<String, String>, u64, u64) {
    let mut mine: BTreeMap<String, String> = BTreeMap::new();
    let (mut writes, mut recalls) = (0, 0);
    for i in 0u64.. {
        if Instant::now() > until {
            break;
        }
        let text = format!("{name} wrote item {i}");
        let last = mine.keys().next_back().cloned();
        let written = match (i % 5, last) {
            (0..=1, _) | (_, None) => {
                memory
                    .store(NewMemory::new(&text).project("crowd"))
                    .map(|stored| {
                        mine.insert(stored.id, text);
                    })
            }
            (2, Some(id)) => memory.update(&id, &*text).map(|_| {
                mine.insert(id, text);
            }),
            (3, Some(id)) => memory.delete(&id).map(|was_there| {
                assert!(was_there, "{name} lost {id}");
                mine.remove(&id);
            }),
            _ => {
                let batch: Vec<NewMemory> = (0..3)
                    .map(|k| NewMemory::new(format!("{text} {k}")).project("crowd"))
                    .collect();
                memory.store_all(batch).map(|stored| {
                    let texts = stored
                        .into_iter()
                        .enumerate()
                        .map(|(k, stored)| (stored.id, format!("{text} {k}")));
                    mine.extend(texts);
                })
            }
        };
        if let Err(error) = written {
            assert_eq!(error.kind(), ErrorKind::Busy, "{name}: {error}");
        }
        writes += 1;
        // What this thread stored last is found by its own words: a recall sees all that was committed before it.
        if let Some((id, text)) = mine.iter().next() {
            let hits = memory
                .recall(Recall::new(text).project("crowd").limit(50))
                .unwrap();
            assert!(
                hits.iter().any(|hit| hit.memory.id == *id),
                "{name} does not find {id} {text:?}"
            );
            assert!(
                hits.iter().all(|hit| hit.signals.cosine.is_some()),
                "a hit without its vector"
            );
            recalls += 1;
        }
    }
    (mine, writes, recalls)
}

/// A child: all its threads share one handle.
fn process(path: &Path, number: &str) {
    let until = Instant::now() + Duration::from_secs(seconds());
    let memory = open(path);
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (memory, name) = (memory.clone(), format!("p{number} t{thread}"));
            std::thread::spawn(move || work(&memory, &name, until))
        })
        .collect();
    let mut out = std::io::stdout().lock();
    for thread in threads {
        let (mine, writes, recalls) = thread.join().unwrap();
        for (id, text) in mine {
            writeln!(out, "+ {id} {text}").unwrap();
        }
        writeln!(out, "= {writes} {recalls}").unwrap();
    }
}

#[test]
fn a_crowd_loses_nothing() {
    if let Some(path) = std::env::var_os("MNEMIC_TEST_CROWD") {
        return process(
            Path::new(&path),
            &std::env::var("MNEMIC_TEST_NUMBER").unwrap(),
        );
    }
    let folder = tempfile::tempdir().unwrap();
    // There is no file yet: they all make it at once.
    let path = folder.path().join("crowd.db");
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "a_crowd_loses_nothing", "--nocapture"])
                .env("MNEMIC_TEST_CROWD", &path)
                .env("MNEMIC_TEST_NUMBER", number.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut expected = BTreeMap::new();
    let (mut writes, mut recalls) = (0u64, 0u64);
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let mut parts = line.splitn(3, ' ');
            match (parts.next(), parts.next(), parts.next()) {
                (Some("+"), Some(id), Some(text)) => {
                    expected.insert(id.to_owned(), text.to_owned());
                }
                (Some("="), Some(w), Some(r)) => {
                    writes += w.parse::<u64>().unwrap();
                    recalls += r.parse::<u64>().unwrap();
                }
                _ => {}
            }
        }
    }
    let memory = open(&path);
    let found: BTreeMap<String, String> = memory
        .timeline(Timeline::new())
        .unwrap()
        .into_iter()
        .map(|memory| (memory.id, memory.content))
        .collect();
    assert_eq!(found, expected);
    let report = memory.check().unwrap();
    assert!(
        report.is_ok() && report.memories == report.vectors,
        "{report:?}"
    );
    let log = std::fs::metadata(folder.path().join("crowd.db-wal")).map_or(0, |log| log.len());
    assert!(log < 17 << 20, "the log has {log} bytes");
    println!(
        "{PROCESSES} processes of {THREADS} threads: {writes} writes, {recalls} recalls, {} memories, nothing lost",
        found.len()
    );
    assert!(writes > 200 && recalls > 100, "{writes} {recalls}");
}

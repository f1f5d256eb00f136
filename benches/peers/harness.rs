//! What every Rust driver of the comparison does, in the same order: store, open again, ask, write down. A driver brings
//! the calls of its system ([`Peer`]); which texts and vectors there are is read from the folder that `prepare` wrote.
//! `tools/peers/harness.py` is the same for the Python systems. Nothing here computes a measure: `report.py` does, for all.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;

pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Numbers in a vector.
pub const DIMS: usize = 384;

/// Hits asked for.
pub const LIMIT: usize = 10;

/// Memories handed over at a time by a bulk store.
const BATCH: usize = 1_000;

/// At most so many memories are stored one at a time, and timed each.
const SINGLES: usize = 500;

/// Writes by which the disk is measured.
const PROBES: usize = 50;

/// The name of the set on which time and size are measured.
const SCALE: &str = "scale";

/// A memory to store.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    pub id: &'a str,
    pub text: &'a str,
    pub project: Option<&'a str>,
}

/// A question to ask; with a project, of that project's memories alone.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub text: &'a str,
    pub project: Option<&'a str>,
}

/// The calls of one system. Embedding is a look-up in [`Data`], so that no time of a model is measured.
pub trait Peer: Sized {
    const NAME: &'static str;
    /// The ways to rank that are measured, each over the same file; the first is the system's default.
    const MODES: &'static [&'static str];

    /// What a reader must know of the set-up, such as versions and durability.
    fn facts() -> Vec<(&'static str, &'static str)>;
    /// Opens the file for one way to rank, and makes it where there is none.
    fn open(path: &Path, data: &Arc<Data>, mode: &'static str) -> Outcome<Self>;
    fn store(&mut self, item: Item<'_>) -> Outcome<()>;
    fn store_all(&mut self, items: &[Item<'_>]) -> Outcome<()>;
    /// The ids of the best [`LIMIT`] memories, best first.
    fn recall(&mut self, question: Question<'_>) -> Outcome<Vec<String>>;
}

/// The texts, their vectors, and the sets that are made of them.
#[derive(Debug)]
pub struct Data {
    texts: Vec<String>,
    rows: HashMap<String, usize>,
    vectors: Vec<f32>,
    sets: Vec<Set>,
}

#[derive(Debug, Deserialize)]
struct Set {
    name: String,
    scopes: Vec<Scope>,
}

#[derive(Debug, Deserialize)]
struct Scope {
    memories: Vec<Stored>,
    questions: Vec<Asked>,
}

#[derive(Debug, Deserialize)]
struct Stored {
    id: String,
    text: usize,
    project: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Asked {
    text: usize,
    project: Option<String>,
}

impl Data {
    pub fn read(folder: &Path) -> Outcome<Self> {
        let texts: Vec<String> = serde_json::from_slice(&fs::read(folder.join("texts.json"))?)?;
        let rows = texts.iter().cloned().enumerate();
        let vectors = fs::read(folder.join("vectors.f32"))?
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        Ok(Self {
            rows: rows.map(|(row, text)| (text, row)).collect(),
            texts,
            vectors,
            sets: serde_json::from_slice(&fs::read(folder.join("sets.json"))?)?,
        })
    }

    /// The vector of a text, of unit length. A text that was not prepared is an error: no system may embed anything else.
    pub fn vector(&self, text: &str) -> Outcome<&[f32]> {
        let row = self
            .rows
            .get(text)
            .ok_or_else(|| format!("no vector was prepared for {text:?}"))?;
        Ok(&self.vectors[row * DIMS..][..DIMS])
    }

    fn items<'a>(&'a self, scope: &'a Scope) -> Vec<Item<'a>> {
        let item = |stored: &'a Stored| Item {
            id: &stored.id,
            text: &self.texts[stored.text],
            project: stored.project.as_deref(),
        };
        scope.memories.iter().map(item).collect()
    }

    fn questions<'a>(&'a self, scope: &'a Scope) -> Vec<Question<'a>> {
        let question = |asked: &'a Asked| Question {
            text: &self.texts[asked.text],
            project: asked.project.as_deref(),
        };
        scope.questions.iter().map(question).collect()
    }
}

/// Puts one system through everything: reads `data`, keeps its files in `place`, and writes what was found to `out`.
pub fn run<P: Peer>(data: &Path, place: &Path, out: &Path) -> Outcome<()> {
    let data = Arc::new(Data::read(data)?);
    let mut modes: Vec<serde_json::Value> = P::MODES
        .iter()
        .map(|mode| serde_json::json!({"mode": mode, "hits": {}}))
        .collect();
    let mut scale = serde_json::Value::Null;
    for (which, set) in data.sets.iter().enumerate() {
        for (number, scope) in set.scopes.iter().enumerate() {
            let path = place.join(format!("{which}-{number}.db"));
            remove(&path)?;
            let stored = store_scope::<P>(&data, scope, &path, set.name == SCALE)?;
            if set.name == SCALE {
                scale = stored;
            }
            for (mode, found) in P::MODES.iter().zip(&mut modes) {
                let asked = ask_scope::<P>(&data, scope, &path, mode)?;
                if set.name == SCALE {
                    found["open_ms"] = asked.open.into();
                    found["recall_ms"] = asked.times.into();
                }
                let hits = &mut found["hits"][&set.name];
                if hits.is_null() {
                    *hits = serde_json::json!([]);
                }
                if let Some(hits) = hits.as_array_mut() {
                    hits.push(asked.hits.into());
                }
            }
        }
        eprintln!("{}: {} done", P::NAME, set.name);
    }
    let facts: HashMap<_, _> = P::facts().into_iter().collect();
    let told =
        serde_json::json!({"system": P::NAME, "facts": facts, "scale": scale, "modes": modes});
    Ok(fs::write(out, told.to_string())?)
}

/// Stores a scope: all but the last few in bulk, those one at a time where that is measured.
fn store_scope<P: Peer>(
    data: &Arc<Data>,
    scope: &Scope,
    path: &Path,
    singly: bool,
) -> Outcome<serde_json::Value> {
    let items = data.items(scope);
    let singles = if singly {
        SINGLES.min(items.len() / 4)
    } else {
        0
    };
    let (bulk, single) = items.split_at(items.len() - singles);
    let mut peer = P::open(path, data, P::MODES[0])?;
    let begun = Instant::now();
    for batch in bulk.chunks(BATCH) {
        peer.store_all(batch)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let mut times = Vec::with_capacity(singles);
    for item in single {
        let begun = Instant::now();
        peer.store(*item)?;
        times.push(millis(begun.elapsed()));
    }
    drop(peer);
    let disk = if singly { probe(path)? } else { Vec::new() };
    Ok(serde_json::json!({
        "memories": items.len(),
        "bulk_memories": bulk.len(),
        "bulk_seconds": seconds,
        "store_ms": times,
        "disk_ms": disk,
        "file_bytes": size(path)?,
    }))
}

/// What the disk takes at this moment to append 4 KiB to a file beside `path` and have it safe, in milliseconds: what a
/// commit that survives a power cut costs at least.
fn probe(path: &Path) -> Outcome<Vec<f64>> {
    let path = path.with_extension("probe");
    let mut file = File::create(&path)?;
    let mut times = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let begun = Instant::now();
        file.write_all(&[1; 4_096])?;
        file.sync_data()?;
        times.push(millis(begun.elapsed()));
    }
    fs::remove_file(path)?;
    Ok(times)
}

struct Answers {
    open: f64,
    times: Vec<f64>,
    hits: Vec<Vec<String>>,
}

/// Opens the file anew and asks everything, in order: the first recall is the first of its handle.
fn ask_scope<P: Peer>(
    data: &Arc<Data>,
    scope: &Scope,
    path: &Path,
    mode: &'static str,
) -> Outcome<Answers> {
    let begun = Instant::now();
    let mut peer = P::open(path, data, mode)?;
    let open = millis(begun.elapsed());
    let mut answers = Answers {
        open,
        times: Vec::new(),
        hits: Vec::new(),
    };
    for question in data.questions(scope) {
        let begun = Instant::now();
        let hits = peer.recall(question)?;
        answers.times.push(millis(begun.elapsed()));
        answers.hits.push(hits);
    }
    Ok(answers)
}

/// The file with what SQLite keeps beside it.
fn files(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| PathBuf::from(format!("{}{end}", path.display())))
}

fn remove(path: &Path) -> Outcome<()> {
    for file in files(path) {
        if file.exists() {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// The bytes of the database and its log.
fn size(path: &Path) -> Outcome<u64> {
    let [file, log, ..] = files(path);
    let log = if log.exists() {
        fs::metadata(log)?.len()
    } else {
        0
    };
    Ok(fs::metadata(file)?.len() + log)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

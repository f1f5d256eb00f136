//! Files and folders into documents, idempotent: a file is known by its path, its version by a hash of its bytes. What is
//! as it was is not read further, what has changed replaces its document's source, and a file that cannot be read is
//! reported while the others go in. It deletes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mnemic::{Documents, Memory, NewDocument, StoredDocument};
use mnemic_chunk::{Characters, Chunking, Format, read};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

/// Characters in a passage.
const PASSAGE: usize = 1_000;

/// The files to read.
#[derive(Debug, Default)]
pub struct Ingestion {
    files: Vec<(PathBuf, u64)>,
    failed: Vec<(PathBuf, String)>,
    folders: Vec<PathBuf>,
    others: usize,
}

/// What was done.
#[derive(Debug)]
pub struct Report {
    /// Each file of a known kind, and what became of it, in the order of their paths.
    pub files: Vec<(PathBuf, Outcome)>,
    /// Files in the folders of no known kind.
    pub others: usize,
    /// Origins of documents below the folders whose files are not there any more.
    pub gone: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// What became of a file.
#[derive(Debug)]
pub enum Outcome {
    /// It is a document now.
    Added(StoredDocument),
    /// It was one, and is up to date now.
    Changed(StoredDocument),
    /// It is as it was.
    Unchanged,
    /// It is not in the memory, or its former version is; why.
    Failed(String),
}

impl Report {
    /// How many files became such.
    pub fn count(&self, which: impl Fn(&Outcome) -> bool) -> usize {
        self.files
            .iter()
            .filter(|(_, outcome)| which(outcome))
            .count()
    }
}

impl Ingestion {
    /// The files at these paths, and those of a known kind in the folders among them and below. Links to folders are not
    /// followed, hidden files and folders not entered.
    pub fn of(paths: &[PathBuf]) -> Self {
        let mut all = Self::default();
        for path in paths {
            // One file has one path, however it was named.
            let path = match fs::canonicalize(path) {
                Ok(path) => path,
                Err(error) => {
                    all.failed.push((path.clone(), error.to_string()));
                    continue;
                }
            };
            if path.is_dir() {
                all.folder(&path);
                all.folders.push(path);
            } else if Format::of(&path.to_string_lossy()).is_some() {
                let bytes = fs::metadata(&path).map_or(0, |data| data.len());
                all.files.push((path, bytes));
            } else {
                all.failed.push((path, "a file of no known kind".into()));
            }
        }
        all.files.sort();
        all.files.dedup();
        all
    }

    fn folder(&mut self, folder: &Path) {
        let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
        let entries = WalkDir::new(folder)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name()));
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if Format::of(&entry.path().to_string_lossy()).is_none() => {
                    self.others += 1;
                }
                Ok(entry) => {
                    let bytes = entry.metadata().map_or(0, |data| data.len());
                    self.files.push((entry.into_path(), bytes));
                }
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    self.failed.push((path, error.to_string()));
                }
            }
        }
    }

    /// How much there is to look at.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Brings the memory up to date, a transaction a file, and calls `looked` after each with its path and size.
    pub fn run(self, memory: &Memory, mut looked: impl FnMut(&Path, u64)) -> Report {
        let begun = Instant::now();
        let mut files: Vec<(PathBuf, Outcome)> = self
            .failed
            .into_iter()
            .map(|(path, reason)| (path, Outcome::Failed(reason)))
            .collect();
        let mut seen = BTreeSet::new();
        for (path, bytes) in self.files {
            let outcome =
                one(memory, &path).unwrap_or_else(|error| Outcome::Failed(chain(&*error)));
            looked(&path, bytes);
            seen.insert(path.to_string_lossy().into_owned());
            files.push((path, outcome));
        }
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        Report {
            files,
            others: self.others,
            gone: gone(memory, &self.folders, &seen),
            took: begun.elapsed(),
        }
    }
}

/// One file: hash, and only where that is new, text, passages, vectors.
fn one(memory: &Memory, path: &Path) -> Result<Outcome, Box<dyn std::error::Error>> {
    let name = path.to_str().ok_or("the path is not UTF-8")?;
    let format = Format::of(name).ok_or("a file of no known kind")?;
    let bytes = fs::read(path)?;
    let hash = hash(&bytes);
    let known = memory.documents_from(name)?;
    // A document keeps how its source is cut: with another rule it is cut anew.
    let chunking = format.chunking(PASSAGE);
    let same = known.first().is_some_and(|document| {
        document.origin_hash.as_deref() == Some(&*hash) && document.chunking == chunking
    });
    if same {
        return Ok(Outcome::Unchanged);
    }
    let source = read(&bytes, format)?;
    let mut document = NewDocument::new(title(path, &source.text, &chunking))
        .origin(name)
        .origin_hash(hash)
        .link(name)
        .chunking(chunking.clone());
    if source.transcript.is_some() {
        document = document.chunks(source.chunk(&chunking, &Characters)?);
    }
    let stored = memory.store_document(document.source(source.text))?;
    Ok(match (stored.created, stored.unchanged) {
        (true, _) => Outcome::Added(stored),
        (false, false) => Outcome::Changed(stored),
        (false, true) => Outcome::Unchanged,
    })
}

/// The first heading of Markdown, else the file's name.
fn title(path: &Path, text: &str, chunking: &Chunking) -> String {
    let heading = (chunking.rule() == mnemic_chunk::Rule::Markdown)
        .then(|| text.lines().find_map(|line| line.strip_prefix("# ")))
        .flatten()
        .map(str::trim)
        .filter(|heading| !heading.is_empty());
    match (heading, path.file_name()) {
        (Some(heading), _) => heading.to_owned(),
        (None, Some(name)) => name.to_string_lossy().into_owned(),
        (None, None) => path.to_string_lossy().into_owned(),
    }
}

/// Documents of files below the folders that were not seen.
fn gone(memory: &Memory, folders: &[PathBuf], seen: &BTreeSet<String>) -> Vec<String> {
    let documents = memory.documents(Documents::new()).unwrap_or_default();
    let mut gone: Vec<String> = documents
        .into_iter()
        .filter_map(|document| document.origin)
        .filter(|origin| {
            folders
                .iter()
                .any(|folder| Path::new(origin).starts_with(folder))
        })
        .filter(|origin| !seen.contains(origin))
        .collect();
    gone.sort();
    gone
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        told.push_str(": ");
        told.push_str(&next.to_string());
        cause = next.source();
    }
    told
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

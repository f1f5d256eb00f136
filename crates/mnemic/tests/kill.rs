//! A process that writes is killed at random points, again and again on one file. After each kill the file opens, every
//! check is clean, every acknowledged write is there, and none is there by half.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mnemic::{
    Durability, EmbedError, Embedder, Embedding, EmbeddingModel, Import, InputKind, Memory,
    NewMemory, Timeline,
};

/// Kills in this run; a nightly run may ask for more.
fn kills() -> u32 {
    std::env::var("MNEMIC_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300)
}

/// Four numbers from the bytes of a text: enough to tell whether a vector belongs to its text.
#[derive(Debug)]
struct Bytes(EmbeddingModel);

fn bytes() -> Bytes {
    Bytes(EmbeddingModel::new("bytes", "bytes", "1", 4))
}

impl Embedder for Bytes {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &&str| {
            let mut vector = vec![1.0f32; 4];
            for (i, byte) in text.bytes().enumerate() {
                vector[i % 4] += f32::from(byte);
            }
            Some(vector)
        };
        Ok(texts.iter().map(one).collect())
    }
}

fn open(path: &Path, durability: Durability) -> Memory {
    Memory::builder()
        .embedder(bytes())
        .durability(durability)
        .open(path)
        .unwrap()
}

/// The child: writes for ever, and says what was acknowledged, a line each: `+ id content` is there, `- id` is not.
fn write_for_ever(path: &Path, round: u32) -> ! {
    let memory = open(
        path,
        if round.is_multiple_of(2) {
            Durability::Normal
        } else {
            Durability::Full
        },
    );
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| {
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    };
    say("ready\n".into());
    let mut mine: Vec<String> = Vec::new();
    for i in 0u64.. {
        let text = format!("round {round} write {i}");
        match i % 7 {
            0..=2 => {
                let id = memory
                    .store(NewMemory::new(&text).project("p").tags(["t"]))
                    .unwrap()
                    .id;
                say(format!("+ {id} {text}\n"));
                mine.push(id);
            }
            3 => {
                let batch: Vec<String> = (0..20).map(|k| format!("{text} of batch {k}")).collect();
                let stored = memory.store_all(&batch).unwrap();
                let lines: String = stored
                    .iter()
                    .zip(&batch)
                    .map(|(stored, text)| format!("+ {} {text}\n", stored.id))
                    .collect();
                mine.extend(stored.into_iter().map(|stored| stored.id));
                say(lines);
            }
            4 => {
                let id = &mine[mine.len() / 2];
                let text = format!("{text} updated");
                say(format!("? {id} {text}\n"));
                memory.update(id, &*text).unwrap();
                say(format!("+ {id} {text}\n"));
            }
            5 => {
                let old = mine.swap_remove(mine.len() / 3);
                say(format!("? {old} -\n"));
                let id = memory.replace(&old, format!("{text} replaced")).unwrap().id;
                say(format!("- {old}\n+ {id} {text} replaced\n"));
                mine.push(id);
            }
            _ => {
                let gone: Vec<String> = mine.drain(..mine.len() / 4).collect();
                say(gone.iter().map(|id| format!("? {id} -\n")).collect());
                memory.delete_all(&gone).unwrap();
                say(gone.iter().map(|id| format!("- {id}\n")).collect());
            }
        }
    }
    unreachable!("the parent kills this process")
}

#[test]
fn no_kill_loses_or_halves_anything() {
    if let Some(path) = std::env::var_os("MNEMIC_TEST_KILLED") {
        let round = std::env::var("MNEMIC_TEST_ROUND").unwrap().parse().unwrap();
        write_for_ever(Path::new(&path), round);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.db");
    // What was acknowledged; and what was under way, whose outcome either way is right.
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut acknowledged = 0u64;
    for round in 0..kills() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "no_kill_loses_or_halves_anything", "--nocapture"])
            .env("MNEMIC_TEST_KILLED", &path)
            .env("MNEMIC_TEST_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Some die while they open the file, most while they write.
        let wait = Duration::from_micros(random % 45_000);
        let reader = std::thread::spawn(move || -> Vec<String> {
            output
                .split(b'\n')
                .map_while(Result::ok)
                .map(|line| String::from_utf8(line).unwrap())
                .collect()
        });
        std::thread::sleep(wait);
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = reader.join().unwrap();
        let mut open_ended: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in &lines {
            let mut parts = line.splitn(3, ' ');
            match (parts.next(), parts.next(), parts.next()) {
                (Some("+"), Some(id), Some(text)) => {
                    expected.insert(id.into(), text.into());
                    open_ended.remove(id);
                    acknowledged += 1;
                }
                (Some("-"), Some(id), None) => {
                    expected.remove(id);
                    open_ended.remove(id);
                    acknowledged += 1;
                }
                (Some("?"), Some(id), Some(text)) => {
                    open_ended.entry(id.into()).or_default().insert(text.into());
                }
                _ => {}
            }
        }
        let memory = open(&path, Durability::Normal);
        let report = memory.check().unwrap();
        assert!(
            report.is_ok() && report.memories == report.vectors,
            "round {round}: {report:?}"
        );
        let mut found: BTreeMap<String, String> = memory
            .timeline(Timeline::new())
            .unwrap()
            .into_iter()
            .map(|m| (m.id, m.content))
            .collect();
        for (id, text) in &expected {
            let there = found.get(id).map_or("-", String::as_str);
            let allowed = there == text
                || open_ended
                    .get(id)
                    .is_some_and(|texts| texts.contains(there));
            assert!(
                allowed,
                "round {round}: {id} is {there:?} instead of {text:?}"
            );
        }
        // What is there beyond that was being written when the process died: one store, batch or replacement, whole.
        let extra: Vec<&String> = found
            .keys()
            .filter(|id| !expected.contains_key(*id))
            .collect();
        assert!(
            [0, 1, 20].contains(&extra.len()),
            "round {round}: {} rows of one write",
            extra.len()
        );
        // The next round begins from what is there.
        expected = std::mem::take(&mut found);
        if expected.len() > 3_000 {
            memory.delete_all(expected.keys().skip(100)).unwrap();
            expected = expected.into_iter().take(100).collect();
        }
    }
    println!(
        "{} kills, {acknowledged} acknowledged writes, none lost",
        kills()
    );
    assert!(
        acknowledged > u64::from(kills()),
        "the processes died before they wrote"
    );
}

/// Memories in the import that is killed.
const IMPORTED: u64 = 4_000;

fn import(path: &Path, lines: &Path) {
    let lines = BufReader::new(std::fs::File::open(lines).unwrap());
    let report = open(path, Durability::Normal)
        .import(Import::jsonl(lines))
        .unwrap();
    assert_eq!(report.added + report.unchanged, IMPORTED);
}

/// An import is killed at random points: all of it is there, or nothing, and to import again completes.
#[test]
fn a_killed_import_is_whole_or_none() {
    if let Some(path) = std::env::var_os("MNEMIC_TEST_IMPORT") {
        let path = Path::new(&path);
        import(path, &path.with_file_name("lines.jsonl"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("lines.jsonl");
    let mut text = String::from("{\"type\":\"header\",\"format\":\"mnemic\",\"version\":1}\n");
    for i in 0..IMPORTED {
        text += &format!(
            "{{\"type\":\"memory\",\"id\":\"i{i}\",\"content\":\"note {i}\",\"created_at\":\"2026-01-01\"}}\n"
        );
    }
    std::fs::write(&lines, text).unwrap();
    let begun = std::time::Instant::now();
    import(&folder.path().join("whole.db"), &lines);
    let whole = begun.elapsed();
    let mut none = 0;
    let rounds = kills().min(400) / 10;
    for round in 0..rounds {
        let path = folder.path().join(format!("{round}.db"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_killed_import_is_whole_or_none"])
            .env("MNEMIC_TEST_IMPORT", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * (round + 1) / rounds);
        child.kill().unwrap();
        child.wait().unwrap();
        let memory = open(&path, Durability::Normal);
        let report = memory.check().unwrap();
        assert!(report.is_ok(), "round {round}: {report:?}");
        assert!(
            [0, IMPORTED].contains(&report.memories),
            "round {round}: {report:?}"
        );
        assert_eq!(report.memories, report.vectors);
        none += u32::from(report.memories == 0);
        drop(memory);
        import(&path, &lines);
    }
    println!("{rounds} kills, {none} of them before the commit");
    assert!(
        none > rounds / 4,
        "the imports were whole before they were killed"
    );
}

//! A process that does everything the library can do is killed at random points, again and again on the same files. After
//! each kill they open, every check is clean, every acknowledged write is there, and none is there by half.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mnemic::{
    Chunking, DocumentUpdate, Durability, EmbedError, Embedder, Embedding, EmbeddingModel,
    ErrorKind, Events, History, Import, InputKind, Memory, MemoryUpdate, NewDocument, NewMemory,
    Preset, Progress, Prune, Recall, Scope, Timeline,
};

/// Kills in this run; a nightly run may ask for more.
fn kills() -> u32 {
    std::env::var("MNEMIC_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(500)
}

/// A direction from the bytes of a text: enough to tell whether a vector belongs to its text and its model.
#[derive(Debug)]
struct Bytes(EmbeddingModel);

/// The models that the file goes over to in turn, of different widths.
fn models() -> [Bytes; 2] {
    [12, 16].map(|dims| {
        let name = format!("bytes-{dims}");
        Bytes(EmbeddingModel::new(&name, &name, "1", dims))
    })
}

impl Embedder for Bytes {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &&str| {
            let mut state = 0xcbf2_9ce4_8422_2325u64;
            for byte in text.bytes() {
                state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            let number = |_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
            };
            Some((0..self.0.dims).map(number).collect())
        };
        Ok(texts.iter().map(one).collect())
    }
}

/// Opens a file with the one of the two models that it is of.
fn open(path: &Path, durability: Durability) -> Memory {
    let mut refused = None;
    for model in models() {
        let builder = Memory::builder().embedder(model).durability(durability);
        match builder.open(path) {
            Ok(memory) => return memory,
            Err(error) if error.kind() == ErrorKind::ModelMismatch => refused = Some(error),
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("of neither model: {refused:?}")
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The files of a test: the one that all is done to, and those of verbs that need others.
struct Files(PathBuf);

impl Files {
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn main(&self) -> PathBuf {
        self.at("killed.db")
    }
}

/// The child: works for ever, and says what was acknowledged, a line each: `+ id content` is there, `- id` is not,
/// `e text` is erased, `b name` is a backup; and before it begins, what may become of a memory: `? id content`.
struct Child {
    files: Files,
    memory: Memory,
    /// Ids of memories of this process.
    mine: Vec<String>,
    /// How often each verb was done, for the parent to add up.
    out: std::io::StdoutLock<'static>,
}

impl Child {
    fn say(&mut self, line: &str) {
        self.out.write_all(line.as_bytes()).unwrap();
        self.out.flush().unwrap();
    }

    fn store(&mut self, memories: Vec<NewMemory>, texts: &[String]) -> Vec<String> {
        let ids: Vec<String> = self
            .memory
            .store_all(memories)
            .unwrap()
            .into_iter()
            .map(|stored| stored.id)
            .collect();
        let lines = ids.iter().zip(texts);
        let lines: String = lines.map(|(id, text)| format!("+ {id} {text}\n")).collect();
        self.say(&lines);
        ids
    }

    fn gone(&mut self, ids: &[String], delete: impl FnOnce(&Memory)) {
        let lines: String = ids.iter().map(|id| format!("? {id} -\n")).collect();
        self.say(&lines);
        delete(&self.memory);
        let lines: String = ids.iter().map(|id| format!("- {id}\n")).collect();
        self.say(&lines);
    }

    fn step(&mut self, step: u64, text: &str) {
        match step {
            1 | 8 | 15 => {
                let batch: Vec<String> = (0..20).map(|k| format!("{text} of batch {k}")).collect();
                let ids = self.store(batch.iter().map(NewMemory::new).collect(), &batch);
                self.mine.extend(ids);
            }
            2 | 9 if !self.mine.is_empty() => {
                let id = self.mine[self.mine.len() / 2].clone();
                let text = format!("{text} updated");
                self.say(&format!("? {id} {text}\n"));
                self.memory.update(&id, &*text).unwrap();
                self.say(&format!("+ {id} {text}\n"));
            }
            3 | 10 if !self.mine.is_empty() => {
                let old = self.mine.swap_remove(self.mine.len() / 3);
                self.say(&format!("? {old} -\n"));
                let text = format!("{text} replaced");
                let id = self.memory.replace(&old, &*text).unwrap().id;
                self.say(&format!("- {old}\n+ {id} {text}\n"));
                self.mine.push(id);
            }
            4 => {
                let gone: Vec<String> = self.mine.drain(..self.mine.len() / 4).collect();
                self.gone(&gone, |memory| drop(memory.delete_all(&gone).unwrap()));
            }
            5 | 19 => {
                let here = self.memory.health().unwrap().embedder.unwrap();
                let next = models().into_iter().find(|model| *model.model() != here);
                self.memory.reembed(next.unwrap(), go_on).unwrap();
                self.say("did reembed\n");
            }
            12 => {
                let here = self.memory.health().unwrap().embedder.unwrap();
                let next = models().into_iter().find(|model| *model.model() != here);
                let stop = |progress: Progress| match progress.done {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                };
                self.memory.reembed(next.unwrap(), stop).unwrap();
                self.say("did cancel\n");
            }
            16 => {
                self.memory.abandon_reembed().unwrap();
                self.say("did abandon\n");
            }
            6 => {
                let texts: Vec<String> = (0..3).map(|k| format!("{text} pruned {k}")).collect();
                let memories = texts.iter().map(|row| NewMemory::new(row).tags([text]));
                let ids = self.store(memories.collect(), &texts);
                let prune = Prune::new().tags_any([text]).apply();
                self.gone(&ids, |memory| {
                    assert_eq!(memory.prune(prune).unwrap().ids.len(), 3);
                });
                self.say("did prune\n");
            }
            7 | 17 => {
                let text = format!("erased{}x", text.replace(' ', ""));
                let ids = self.store(vec![NewMemory::new(&text)], std::slice::from_ref(&text));
                self.gone(&ids, |memory| assert!(memory.erase(&ids[0]).unwrap()));
                self.say(&format!("e {text}\ndid erase\n"));
            }
            11 => {
                self.memory.compact().unwrap();
                self.say("did compact\n");
            }
            13 => {
                let name = format!("backup-{}.db", text.replace(' ', "-"));
                self.memory.backup(self.files.at(&name)).unwrap();
                self.say(&format!("b {name}\ndid backup\n"));
            }
            14 => {
                self.memory.repair().unwrap();
                self.say("did repair\n");
            }
            18 | 21 => self.fill_words(text),
            20 | 22 => {
                let from = ["ten.db", "twenty.db"][text.len() % 2];
                Memory::restore(self.files.at(from), self.files.at("restored.db")).unwrap();
                self.say("did restore\n");
            }
            23 => {
                let ids = self.store(vec![NewMemory::new(text)], &[text.to_owned()]);
                self.mine.extend(ids);
                self.live(text);
            }
            _ => {
                let new = NewMemory::new(text).project("p").tags(["t"]);
                let ids = self.store(vec![new], &[text.to_owned()]);
                self.mine.extend(ids);
            }
        }
    }

    /// What is said of a memory, what it is related to, what happened to it, and the way back.
    fn live(&mut self, text: &str) {
        let memory = self.memory.clone();
        memory.keep_history(History::new().events(2_000)).unwrap();
        let id = self.mine[self.mine.len() / 2].clone();
        let before = memory.get(&id).unwrap().unwrap().content;
        let changed = format!("{text} to be undone");
        self.say(&format!("? {id} {changed}\n"));
        let change = MemoryUpdate::new().content(&changed).importance(0.9);
        memory.update(&id, change).unwrap();
        self.say(&format!("+ {id} {changed}\n? {id} {before}\n"));
        let event = memory.events(Events::of(&id).limit(1)).unwrap()[0].number;
        memory.undo(event).unwrap();
        self.say(&format!("+ {id} {before}\n"));
        memory.touch([&id]).unwrap();
        if self.mine.first() != Some(&id) {
            let why = "they were stored together";
            let first = &*self.mine[0];
            memory.relate((first, &*id, "related_to", why)).unwrap();
            memory.unrelate(first, &id, "related_to").unwrap();
        }
        self.say("did life\n");
    }

    /// A file of words alone gets its vectors.
    fn fill_words(&mut self, text: &str) {
        let path = self.files.at("words.db");
        let words = Memory::builder()
            .no_embedder()
            .durability(Durability::Normal)
            .open(&path)
            .unwrap();
        let old = words.timeline(Timeline::new()).unwrap();
        words
            .delete_all(old.iter().map(|memory| &memory.id))
            .unwrap();
        words
            .store_all((0..30).map(|k| format!("{text} word {k}")))
            .unwrap();
        drop(words);
        let report = open(&path, Durability::Normal).backfill(go_on).unwrap();
        assert_eq!(report.embedded, 30);
        self.say("did backfill\n");
    }
}

fn work_for_ever(folder: &Path, round: u64) -> ! {
    let files = Files(folder.to_owned());
    let durability = if round.is_multiple_of(2) {
        Durability::Normal
    } else {
        Durability::Full
    };
    let mut child = Child {
        memory: open(&files.main(), durability),
        files,
        mine: Vec::new(),
        out: std::io::stdout().lock(),
    };
    child.say("ready\n");
    for i in 0.. {
        // Each round begins at another verb, as most do not come far.
        child.step((i + 7 * round) % 24, &format!("round {round} write {i}"));
    }
    unreachable!("the parent kills this process")
}

/// What the parent knows of the main file.
#[derive(Default)]
struct Known {
    /// What was acknowledged.
    expected: BTreeMap<String, String>,
    /// What was under way, whose outcome either way is right.
    open_ended: BTreeMap<String, BTreeSet<String>>,
    erased: Vec<String>,
    backups: Vec<String>,
    acknowledged: u64,
    done: BTreeMap<String, u64>,
}

impl Known {
    fn hear(&mut self, lines: &[String]) {
        self.open_ended.clear();
        for line in lines {
            let mut parts = line.splitn(3, ' ');
            match (parts.next(), parts.next(), parts.next()) {
                (Some("+"), Some(id), Some(text)) => {
                    self.expected.insert(id.into(), text.into());
                    self.open_ended.remove(id);
                    self.acknowledged += 1;
                }
                (Some("-"), Some(id), None) => {
                    self.expected.remove(id);
                    self.open_ended.remove(id);
                    self.acknowledged += 1;
                }
                (Some("?"), Some(id), Some(text)) => {
                    let texts = self.open_ended.entry(id.into()).or_default();
                    texts.insert(text.into());
                }
                (Some("e"), Some(text), None) => self.erased.push(text.into()),
                (Some("b"), Some(name), None) => self.backups.push(name.into()),
                (Some("did"), Some(verb), None) => {
                    *self.done.entry(verb.into()).or_default() += 1;
                }
                _ => {}
            }
        }
    }

    /// The main file holds what it should, whole.
    fn compare(&mut self, files: &Files, round: u32) {
        let memory = open(&files.main(), Durability::Normal);
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
        for (id, text) in &self.expected {
            let there = found.get(id).map_or("-", String::as_str);
            let ended = self.open_ended.get(id);
            let allowed = there == text || ended.is_some_and(|texts| texts.contains(there));
            assert!(
                allowed,
                "round {round}: {id} is {there:?} instead of {text:?}"
            );
        }
        // What is there beyond that was being written when the process died: one store, batch or replacement, whole.
        let extra: Vec<&String> = found
            .iter()
            .filter(|(id, _)| !self.expected.contains_key(*id))
            .map(|(_, text)| text)
            .collect();
        assert!(
            [0, 1, 3, 20].contains(&extra.len()),
            "round {round}: rows of one write: {extra:?}"
        );
        for (id, text) in found.iter().step_by(found.len() / 7 + 1) {
            belongs(&memory, id, text);
        }
        // An erasure that died half way is completed; one that was acknowledged needs nothing more.
        if memory.health().unwrap().erasure_pending {
            memory.erase_all([""; 0]).unwrap();
        }
        for text in self.erased.drain(..) {
            no_trace(files, &text);
        }
        for (id, text) in self
            .open_ended
            .keys()
            .filter_map(|id| self.expected.get_key_value(id))
        {
            if text.starts_with("erased") && !found.contains_key(id) {
                no_trace(files, text);
            }
        }
        // The next round begins from what is there.
        if found.len() > 600 {
            memory.delete_all(found.keys().skip(100)).unwrap();
            found = found.into_iter().take(100).collect();
        }
        self.expected = found;
    }
}

/// The vector of a memory is the one that the file's model makes of its text.
fn belongs(memory: &Memory, id: &str, text: &str) {
    let recall = Recall::new(text)
        .scope(Scope::All)
        .ids([id])
        .preset(Preset::vector_only());
    let cosine = memory.recall(recall).unwrap()[0].signals.cosine.unwrap();
    assert!(cosine > 0.9999, "{cosine} for {text:?}");
}

/// No byte of a text is in the main file or its log.
fn no_trace(files: &Files, text: &str) {
    for name in ["killed.db", "killed.db-wal"] {
        let bytes = std::fs::read(files.at(name)).unwrap_or_default();
        let found = bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes());
        assert!(!found, "{text} is in {name}");
    }
}

/// The files of backup, restore and backfill: whole, whenever the process died.
fn compare_others(files: &Files, known: &mut Known) {
    for name in known.backups.drain(..) {
        assert!(files.at(&name).exists(), "{name} was acknowledged");
    }
    let names: Vec<String> = std::fs::read_dir(&files.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in &names {
        if name.starts_with("backup-") || name.starts_with("restored.before") {
            // It has its name, so it is whole.
            let copy = Memory::builder()
                .no_embedder()
                .open_read_only(files.at(name));
            let report = copy.unwrap().check().unwrap();
            assert!(report.is_ok(), "{name}: {report:?}");
        }
        if name.starts_with("backup-")
            || name.starts_with("restored.before")
            || name.starts_with('.')
        {
            std::fs::remove_file(files.at(name)).unwrap();
        }
    }
    if files.at("restored.db").exists() {
        let restored = open(&files.at("restored.db"), Durability::Normal);
        let report = restored.check().unwrap();
        assert!(
            report.is_ok() && [10, 20].contains(&report.memories),
            "{report:?}"
        );
    }
    if files.at("words.db").exists() {
        let words = open(&files.at("words.db"), Durability::Normal);
        let report = words.check().unwrap();
        assert!([0, 30].contains(&report.memories), "{report:?}");
        words.backfill(go_on).unwrap();
        let report = words.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }
}

#[test]
fn no_kill_loses_or_halves_anything() {
    if let Some(folder) = std::env::var_os("MNEMIC_TEST_KILLED") {
        let round = std::env::var("MNEMIC_TEST_ROUND").unwrap().parse().unwrap();
        work_for_ever(Path::new(&folder), round);
    }
    let folder = tempfile::tempdir().unwrap();
    let files = Files(folder.path().to_owned());
    for (name, count) in [("ten.db", 10), ("twenty.db", 20)] {
        let memory = open(&files.at(name), Durability::Normal);
        memory
            .store_all((0..count).map(|i| format!("kept {i}")))
            .unwrap();
    }
    let mut known = Known::default();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..kills() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "no_kill_loses_or_halves_anything", "--nocapture"])
            .env("MNEMIC_TEST_KILLED", folder.path())
            .env("MNEMIC_TEST_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Some die while they open the file, most while they write; some live long enough for the slow verbs.
        let longest = if round % 4 == 0 { 300_000 } else { 60_000 };
        let wait = Duration::from_micros(random % longest);
        let reader = std::thread::spawn(move || -> Vec<String> {
            output
                .split(b'\n')
                .map_while(Result::ok)
                .map(|line| String::from_utf8(line).unwrap())
                .collect()
        });
        std::thread::sleep(wait);
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "round {round}: it died by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        known.hear(&reader.join().unwrap());
        known.compare(&files, round);
        compare_others(&files, &mut known);
    }
    let Known {
        acknowledged, done, ..
    } = known;
    println!(
        "{} kills, {acknowledged} acknowledged writes, none lost; done: {done:?}",
        kills()
    );
    assert!(
        acknowledged > u64::from(kills()),
        "the processes died before they wrote"
    );
    if kills() >= 300 {
        for verb in [
            "reembed", "cancel", "abandon", "prune", "erase", "compact", "backup", "repair",
            "backfill", "restore", "life",
        ] {
            assert!(
                done.get(verb).is_some_and(|times| *times > 2),
                "{verb}: {done:?}"
            );
        }
    }
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

/// One version of a document: between 1 and 12 paragraphs, some of which other versions have too.
fn version(number: u64) -> String {
    let count = 1 + number * 7 % 12;
    let paragraph = |i: u64| match (number + i) % 3 {
        0 => format!("a paragraph that stays, place {i}"),
        _ => format!("version {number} says this in place {i}"),
    };
    let paragraphs: Vec<String> = (0..count).map(paragraph).collect();
    paragraphs.join("\n\n")
}

fn document(number: u64) -> NewDocument {
    NewDocument::new("A document")
        .source(version(number))
        .chunking(Chunking::characters(40, 0))
}

/// Works on documents for ever: `? id number` before a version is written, `+ id number` when it was acknowledged; of a
/// deletion the number is `-`.
fn write_documents(path: &Path, round: u64) -> ! {
    let memory = open(path, Durability::Normal);
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| {
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    };
    for i in 0.. {
        let number = round * 1000 + i;
        let id = format!("d{}", number % 5);
        let is_there = memory.document(&id).unwrap().is_some();
        match (number % 7, is_there) {
            (6, true) => {
                say(format!("? {id} -\n"));
                assert!(memory.delete(&id).unwrap());
                say(format!("+ {id} -\n"));
            }
            (5, _) => {
                let here = memory.health().unwrap().embedder.unwrap();
                let next = models().into_iter().find(|model| *model.model() != here);
                memory.reembed(next.unwrap(), go_on).unwrap();
            }
            (4, _) => drop(memory.repair().unwrap()),
            (3, true) => {
                let title = DocumentUpdate::new().title(format!("Title {number}"));
                memory.update_document(&id, title).unwrap();
            }
            (_, true) => {
                say(format!("? {id} {number}\n"));
                memory.replace_source(&id, version(number)).unwrap();
                say(format!("+ {id} {number}\n"));
            }
            (_, false) => {
                say(format!("? {id} {number}\n"));
                memory.store_document(document(number).id(&id)).unwrap();
                say(format!("+ {id} {number}\n"));
            }
        }
    }
    unreachable!("the parent kills this process")
}

/// A17: a process that stores, replaces, changes and deletes documents is killed at random points. Of each document exactly
/// one version's passages are there, with their words and vectors, and it is the acknowledged one or the one under way.
#[test]
fn no_kill_leaves_two_versions_of_a_document() {
    if let Some(path) = std::env::var_os("MNEMIC_TEST_DOCUMENTS") {
        let round = std::env::var("MNEMIC_TEST_ROUND").unwrap().parse().unwrap();
        write_documents(Path::new(&path), round);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("documents.db");
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let (mut acknowledged, mut under_way) = (0, 0);
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let rounds = kills().div_ceil(4);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "no_kill_leaves_two_versions_of_a_document",
                "--nocapture",
            ])
            .env("MNEMIC_TEST_DOCUMENTS", &path)
            .env("MNEMIC_TEST_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || -> Vec<String> {
            output.lines().map_while(Result::ok).collect()
        });
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(10_000 + random % 120_000));
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "round {round}: it died by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let mut open_ended: BTreeMap<String, String> = BTreeMap::new();
        for line in reader.join().unwrap() {
            let mut parts = line.splitn(3, ' ');
            match (parts.next(), parts.next(), parts.next()) {
                (Some("+"), Some(id), Some(number)) => {
                    known.insert(id.into(), number.into());
                    open_ended.remove(id);
                    acknowledged += 1;
                }
                (Some("?"), Some(id), Some(number)) => {
                    open_ended.insert(id.into(), number.into());
                }
                _ => {}
            }
        }
        under_way += open_ended.len();
        let memory = open(&path, Durability::Normal);
        let report = memory.check().unwrap();
        assert!(report.is_ok(), "round {round}: {report:?}");
        assert_eq!(report.memories, report.vectors);
        assert_eq!(report.documents.chunks, report.documents.vectors);
        let mut passages = 0;
        for place in 0..5 {
            let id = format!("d{place}");
            let allowed = [known.get(&id), open_ended.get(&id)];
            let found = memory.source(&id).unwrap();
            let is = |number: &&String| match (number.as_str(), &found) {
                ("-", found) => found.is_none(),
                (number, Some(found)) => *found == version(number.parse().unwrap()),
                (_, None) => false,
            };
            let number = allowed.into_iter().flatten().find(is);
            let never = allowed == [None, None] && found.is_none();
            // What was under way may have been the first version, and not have come to its end.
            let not_yet = !known.contains_key(&id) && found.is_none();
            assert!(
                number.is_some() || never || not_yet,
                "round {round}: {id} is {found:?}, not one of {allowed:?}"
            );
            if let (Some(number), Some(source)) = (number, &found) {
                known.insert(id.clone(), number.clone());
                let texts: Vec<String> = memory
                    .passages_of(&id)
                    .unwrap()
                    .into_iter()
                    .map(|p| p.text)
                    .collect();
                let wanted: Vec<&str> = source.split("\n\n").collect();
                assert_eq!(texts, wanted, "round {round}: {id}");
                passages += wanted.len() as u64;
            } else if number.is_some() {
                known.insert(id.clone(), "-".into());
            }
        }
        assert_eq!(
            report.documents.chunks, passages,
            "round {round}: chunks of no version"
        );
    }
    println!("{rounds} kills, {acknowledged} acknowledged versions, {under_way} under way");
    assert!(
        acknowledged > rounds,
        "the processes died before they wrote"
    );
}

//! Going over to another model: recall works all through, nothing is lost whenever it ends, and at the end every vector is
//! of the new model and of its own text.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use mnemic::{
    Durability, EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, Hit, InputKind, Memory,
    Preset, Progress, Recall, Scope, Timeline,
};

use crate::support::{WordHash, builder, contents, sound, time};

/// The coming model: another space, of another width.
fn coming() -> WordHash {
    WordHash::named("coming", "1", 24)
}

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn stop(_: Progress) -> ControlFlow<()> {
    ControlFlow::Break(())
}

/// Stops once so many are done.
fn until(enough: u64) -> impl FnMut(Progress) -> ControlFlow<()> {
    move |progress| {
        if progress.done >= enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn open(path: &Path, model: WordHash) -> Memory {
    Memory::builder()
        .embedder(model)
        .durability(Durability::Normal)
        .open(path)
        .unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count)
        .map(|i| format!("item w{i} of x{}", i % 17))
        .collect()
}

fn ask(memory: &Memory, question: &str) -> Vec<Hit> {
    memory
        .recall(
            Recall::new(question)
                .scope(Scope::All)
                .now(time("2027-01-01")),
        )
        .unwrap()
}

/// Nothing is wrong, and the vector of every memory is the one that the handle's model makes of its text.
fn whole(memory: &Memory) {
    sound(memory);
    for stored in memory.timeline(Timeline::new()).unwrap() {
        let recall = Recall::new(&stored.content)
            .scope(Scope::All)
            .ids([&stored.id])
            .preset(Preset::vector_only());
        let hits = memory.recall(recall).unwrap();
        let cosine = hits[0].signals.cosine.unwrap();
        assert!(cosine > 0.9999, "{cosine} for {:?}", stored.content);
    }
}

#[test]
fn the_file_goes_over_and_recall_works_all_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    let clone = memory.clone();
    let elsewhere = open(&path, WordHash::default());
    memory.store_all(texts(700)).unwrap();
    // Twice, so that both have their index.
    let before = [&memory, &elsewhere].map(|m| [ask(m, "item w321"), ask(m, "item w321")]);
    let mut seen = Vec::new();
    let report = memory
        .reembed(coming(), |progress| {
            seen.push((progress.done, progress.total));
            assert_eq!(ask(&clone, "item w321"), before[0][0]);
            assert_eq!(ask(&elsewhere, "item w321"), before[0][0]);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(report.finished);
    assert_eq!((report.embedded, report.coverage.embedded), (700, 700));
    assert_eq!(
        (report.coverage.staged, report.coverage.coming_model),
        (0, None)
    );
    assert_eq!(seen.first(), Some(&(0, 700)));
    assert_eq!(seen.last(), Some(&(700, 700)));
    assert!(seen.is_sorted() && seen.contains(&(256, 700)), "{seen:?}");
    let health = clone.health().unwrap();
    assert_eq!(health.model.as_ref(), Some(coming().model()));
    assert_eq!(health.embedder, health.model);
    // The handle and its clone answer as a handle that was opened with the new model, without an index, does.
    let plain = Memory::builder().embedder(coming()).index_budget(0);
    let expected = ask(&plain.open(&path).unwrap(), "item w321");
    assert_eq!(contents(&expected)[0], "item w321 of x15");
    for _ in 0..2 {
        assert_eq!(ask(&memory, "item w321"), expected);
        assert_eq!(ask(&clone, "item w321"), expected);
    }
    assert!(memory.health().unwrap().index_bytes > 0);
    clone.store("stored by the clone").unwrap();
    whole(&memory);
    // Who knows the old model alone is told so.
    let error = elsewhere.recall("item w321").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(error.to_string().contains("coming"), "{error}");
    let error = elsewhere.store("by the old model").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    let error = builder().open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
}

#[test]
fn cancelled_it_leaves_recall_as_it_was_and_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    memory.store_all(texts(700)).unwrap();
    let before = ask(&memory, "item w5 of x5");
    for (enough, staged) in [(0, 0), (1, 256), (512, 512)] {
        let report = memory.reembed(coming(), until(enough)).unwrap();
        assert!(!report.finished);
        assert_eq!(report.coverage.staged, staged);
        assert_eq!(
            report.coverage.coming_model.as_ref(),
            Some(coming().model())
        );
        assert_eq!(ask(&memory, "item w5 of x5"), before);
        assert_eq!(memory.health().unwrap().embedder.unwrap().id, "word-hash");
        sound(&memory);
    }
    memory.store("still of the old model").unwrap();
    drop(memory);
    // Another process goes on, by words alone even, up to the switch; and once more.
    let memory = Memory::builder().no_embedder().open(&path).unwrap();
    let report = memory.reembed(coming(), until(701)).unwrap();
    assert_eq!(
        (report.finished, report.embedded, report.coverage.staged),
        (false, 189, 701)
    );
    let report = memory.reembed(coming(), go_on).unwrap();
    assert_eq!((report.finished, report.embedded), (true, 0));
    whole(&memory);
}

#[test]
fn abandoned_it_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    assert_eq!(memory.abandon_reembed().unwrap(), 0);
    memory.store_all(texts(300)).unwrap();
    let before = ask(&memory, "item w5 of x5");
    memory.reembed(coming(), until(256)).unwrap();
    assert_eq!(memory.abandon_reembed().unwrap(), 256);
    let coverage = memory.coverage().unwrap();
    assert_eq!((coverage.staged, coverage.coming_model), (0, None));
    assert_eq!(
        (coverage.memories, coverage.embedded, coverage.missing),
        (300, 300, 0)
    );
    assert_eq!(ask(&memory, "item w5 of x5"), before);
    let raw = rusqlite::Connection::open(&path).unwrap();
    let left = "SELECT (SELECT count(*) FROM sqlite_schema WHERE name LIKE '%staging%')
                     + (SELECT count(*) FROM meta WHERE key LIKE '%staging%')";
    let left: i64 = raw.query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
    whole(&memory);
}

#[test]
fn another_model_begins_anew_and_the_file_s_own_drops_what_was_begun() {
    let memory = builder().open_in_memory().unwrap();
    memory.store_all(texts(300)).unwrap();
    memory.reembed(coming(), until(256)).unwrap();
    let other = || WordHash::named("other", "1", 24);
    let report = memory.reembed(other(), stop).unwrap();
    assert_eq!(report.coverage.coming_model.as_ref(), Some(other().model()));
    assert_eq!(report.coverage.staged, 0);
    memory.reembed(other(), until(256)).unwrap();
    let report = memory.reembed(WordHash::default(), go_on).unwrap();
    assert_eq!((report.finished, report.embedded), (true, 0));
    assert_eq!(
        (report.coverage.staged, report.coverage.coming_model),
        (0, None)
    );
    whole(&memory);
}

/// A9, A13: what is stored, changed, replaced and deleted meanwhile, by this handle and by one of another process that
/// knows the old model alone, is in the new space or gone.
#[test]
fn what_is_written_meanwhile_is_in_the_new_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    let elsewhere = open(&path, WordHash::default());
    let ids: Vec<String> = memory
        .store_all(texts(900))
        .unwrap()
        .into_iter()
        .map(|stored| stored.id)
        .collect();
    let mut round = 0;
    let report = memory
        .reembed(coming(), |_| {
            // Of what is staged already, and of what is not yet.
            for (memory, who) in [(&memory, 10), (&elsewhere, 500)] {
                let at = |i: usize| &ids[who + 20 * round + i];
                memory.store(format!("new {who} {round}")).unwrap();
                memory
                    .update(at(0), format!("changed {who} {round}"))
                    .unwrap();
                memory
                    .replace(at(1), format!("replaced {who} {round}"))
                    .unwrap();
                memory.delete(at(2)).unwrap();
            }
            round += 1;
            if round < 8 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .unwrap();
    assert!(!report.finished && round == 8);
    assert!(report.coverage.staged > 800, "{report:?}");
    sound(&memory);
    let report = memory.reembed(coming(), go_on).unwrap();
    assert!(report.finished && report.embedded < 100, "{report:?}");
    assert_eq!(report.coverage.embedded, report.coverage.memories);
    whole(&memory);
}

/// Threads of this handle store and recall as fast as they can, through several changes of the model: none of their calls
/// fails, and none waits for the model.
#[test]
fn no_call_of_the_handle_fails_while_it_goes_over() {
    let folder = tempfile::tempdir().unwrap();
    for memory in [
        open(&folder.path().join("a.db"), WordHash::default()),
        builder().open_in_memory().unwrap(),
    ] {
        memory.store_all(texts(300)).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (memory, done) = (&memory, &done);
                scope.spawn(move || {
                    let mut i = 0;
                    while !done.load(Ordering::Relaxed) {
                        i += 1;
                        match (thread, i % 3) {
                            (0, 0) => {
                                let id = memory.store(format!("thread item {i}")).unwrap().id;
                                memory.update(&id, format!("changed item {i}")).unwrap();
                            }
                            (0, _) => drop(memory.store(format!("thread item {i}")).unwrap()),
                            _ => assert_eq!(ask(memory, "item w77").len(), 10),
                        }
                        std::thread::sleep(Duration::from_micros(300));
                    }
                });
            }
            for round in 0..6 {
                let model = match round % 2 {
                    0 => coming(),
                    _ => WordHash::default(),
                };
                let report = memory.reembed(model, go_on).unwrap();
                assert!(report.finished);
            }
            done.store(true, Ordering::Relaxed);
        });
        whole(&memory);
    }
}

/// A writer that never pauses cannot put the switch off for ever.
#[test]
fn a_writer_without_pause_does_not_hold_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    memory.store_all(texts(100)).unwrap();
    let elsewhere = open(&path, WordHash::default());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for i in 0.. {
                // Refused from the switch on.
                if let Err(error) = elsewhere.store(format!("elsewhere {i}")) {
                    return error.kind();
                }
            }
            unreachable!()
        });
        let report = memory.reembed(coming(), go_on).unwrap();
        assert!(report.finished);
        assert_eq!(report.coverage.missing, 0);
        assert_eq!(writer.join().unwrap(), ErrorKind::ModelMismatch);
    });
    whole(&memory);
}

/// [`coming`], but it tells when it is asked to embed passages, and waits to be told to go on.
#[derive(Debug)]
struct Waiting(WordHash, Mutex<(Sender<()>, Receiver<()>)>);

impl Embedder for Waiting {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if kind == InputKind::Passage {
            let waiting = self.1.lock().unwrap();
            waiting.0.send(()).unwrap();
            waiting.1.recv().unwrap();
        }
        self.0.embed(kind, texts)
    }
}

fn waiting() -> (Waiting, Receiver<()>, Sender<()>) {
    let (asked, was_asked) = channel();
    let (go_on, told) = channel();
    (
        Waiting(coming(), Mutex::new((asked, told))),
        was_asked,
        go_on,
    )
}

#[test]
fn a_slow_model_holds_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = open(&path, WordHash::default());
    let elsewhere = open(&path, WordHash::default());
    memory.store_all(texts(600)).unwrap();
    let (model, was_asked, tell) = waiting();
    let handle = memory.clone();
    let worker = std::thread::spawn(move || handle.reembed(model, go_on).unwrap());
    let mut batches = 0;
    while !worker.is_finished() {
        if was_asked.recv_timeout(Duration::from_millis(10)).is_err() {
            continue;
        }
        batches += 1;
        if batches <= 3 {
            memory.store(format!("quick one {batches}")).unwrap();
            elsewhere.store(format!("quick two {batches}")).unwrap();
            assert_eq!(ask(&memory, "quick one").len(), 10);
            let second = memory.reembed(coming(), go_on).unwrap_err();
            assert_eq!(second.kind(), ErrorKind::Busy);
        }
        tell.send(()).unwrap();
    }
    assert!(worker.join().unwrap().finished);
    assert!(batches > 3);
    assert_eq!(memory.health().unwrap().memories, 606);
    sound(&memory);
}

#[test]
fn who_is_at_it_is_told_that_it_was_abandoned_or_begun_with_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    for with_another in [false, true] {
        let memory = open(&path, WordHash::default());
        memory.store_all(texts(300)).unwrap();
        let elsewhere = open(&path, WordHash::default());
        let error = memory.reembed(coming(), |progress| {
            if progress.done > 0 {
                if with_another {
                    elsewhere
                        .reembed(WordHash::named("other", "1", 8), stop)
                        .unwrap();
                } else {
                    elsewhere.abandon_reembed().unwrap();
                }
            }
            ControlFlow::Continue(())
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Abandoned, "{error}");
        assert_eq!(error.to_string().contains("other"), with_another, "{error}");
        assert_eq!(ask(&memory, "item w7")[0].memory.content, "item w7 of x7");
        whole(&memory);
    }
}

/// Runs a test of this binary in a process of its own.
fn child(test: &str, path: &Path, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env("MNEMIC_TEST_FILE", path)
        .env("MNEMIC_TEST_NAME", name)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command
}

#[test]
fn several_processes_may_be_at_it_at_once() {
    const TEST: &str = "reembed::several_processes_may_be_at_it_at_once";
    if let Some(path) = std::env::var_os("MNEMIC_TEST_FILE") {
        let memory = Memory::builder()
            .no_embedder()
            .durability(Durability::Normal)
            .open(Path::new(&path))
            .unwrap();
        assert!(memory.reembed(coming(), go_on).unwrap().finished);
        whole(&memory);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let path = folder.path().join(format!("{round}.db"));
        open(&path, WordHash::default())
            .store_all(texts(1_500))
            .unwrap();
        let mut children = [0, 1, 2].map(|_| child(TEST, &path, "").spawn().unwrap());
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        let memory = open(&path, coming());
        assert_eq!(memory.health().unwrap().vectors, 1_500);
        sound(&memory);
    }
}

/// Dies when it is asked to embed a text.
#[derive(Debug)]
struct Dying(WordHash, String);

impl Embedder for Dying {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if texts.contains(&self.1.as_str()) {
            std::process::abort();
        }
        self.0.embed(kind, texts)
    }
}

#[test]
fn killed_it_goes_on_where_it_was() {
    const TEST: &str = "reembed::killed_it_goes_on_where_it_was";
    if let Some(path) = std::env::var_os("MNEMIC_TEST_FILE") {
        let memory = open(Path::new(&path), WordHash::default());
        let last = std::env::var("MNEMIC_TEST_NAME").unwrap();
        drop(memory.reembed(Dying(coming(), last), go_on));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let texts = texts(1_000);
    let memory = open(&path, WordHash::default());
    memory.store_all(&texts).unwrap();
    let before = ask(&memory, "item w77 of x9");
    drop(memory);
    for (text, staged) in [(&texts[0], 0), (&texts[300], 256), (&texts[999], 768)] {
        assert!(!child(TEST, &path, text).status().unwrap().success());
        let memory = open(&path, WordHash::default());
        assert_eq!(ask(&memory, "item w77 of x9"), before);
        let coverage = memory.coverage().unwrap();
        assert_eq!(
            (coverage.staged, coverage.embedded, coverage.missing),
            (staged, 1_000, 0)
        );
        sound(&memory);
    }
    assert!(child(TEST, &path, "nothing").status().unwrap().success());
    whole(&open(&path, coming()));
}

#[test]
fn from_words_alone_to_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = || Memory::builder().no_embedder().open(&path).unwrap();
    let (memory, elsewhere) = (words(), words());
    memory.store_all(texts(300)).unwrap();
    let before = ask(&memory, "w7");
    let report = memory
        .reembed(coming(), |_| {
            assert_eq!(ask(&memory, "w7"), before);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(report.finished);
    assert!(ask(&memory, "w7")[0].signals.cosine.is_some());
    memory.store("with a vector").unwrap();
    let error = elsewhere.store("without one").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert_eq!(ask(&elsewhere, "w7")[0].memory.content, "item w7 of x7");
    whole(&memory);
    // An empty file too.
    let empty = Memory::builder().no_embedder().open_in_memory().unwrap();
    assert!(empty.reembed(coming(), go_on).unwrap().finished);
    empty.store("first").unwrap();
    whole(&empty);
}

/// [`coming`], but it finds nothing in a text with the word `void`, and fails at one with the word `broken`.
#[derive(Debug)]
struct Picky(WordHash);

impl Embedder for Picky {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if texts.iter().any(|text| text.contains("broken")) {
            return Err(EmbedError::run("broken"));
        }
        let mut vectors = self.0.embed(kind, texts)?;
        for (vector, text) in vectors.iter_mut().zip(texts) {
            *vector = vector.take().filter(|_| !text.contains("void"));
        }
        Ok(vectors)
    }
}

/// A15: the old vectors stay until every memory has a new one.
#[test]
fn a_text_that_the_model_cannot_embed_leaves_the_old_vectors() {
    let memory = builder().open_in_memory().unwrap();
    memory.store_all(texts(300)).unwrap();
    let void = memory.store("a void").unwrap().id;
    let broken = memory.store("a broken one").unwrap().id;
    let error = memory.reembed(Picky(coming()), go_on).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Embedding);
    memory.delete(&broken).unwrap();
    let before = ask(&memory, "item w7");
    let error = memory.reembed(Picky(coming()), go_on).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(&void), "{error}");
    assert_eq!(ask(&memory, "item w7"), before);
    assert_eq!(memory.health().unwrap().embedder.unwrap().id, "word-hash");
    memory.update(&void, "something").unwrap();
    let report = memory.reembed(Picky(coming()), go_on).unwrap();
    assert_eq!((report.finished, report.embedded), (true, 1));
    whole(&memory);
}

#[test]
fn backfill_embeds_what_has_no_vector_and_may_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = Memory::builder().no_embedder().open(&path).unwrap();
    words.store_all(texts(700)).unwrap();
    words.store("a void").unwrap();
    let error = words.backfill(go_on).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let memory = Memory::builder()
        .embedder(Picky(coming()))
        .open(&path)
        .unwrap();
    assert_eq!(memory.coverage().unwrap().missing, 701);
    let report = memory.backfill(until(256)).unwrap();
    assert_eq!((report.finished, report.embedded), (false, 256));
    let coverage = memory.coverage().unwrap();
    assert_eq!(
        (coverage.embedded, coverage.missing, coverage.orphaned),
        (256, 445, 0)
    );
    let report = memory.backfill(go_on).unwrap();
    assert_eq!((report.finished, report.embedded), (true, 444));
    assert_eq!(report.nothing_to_embed.len(), 1);
    memory.delete(&report.nothing_to_embed[0]).unwrap();
    let report = memory.backfill(go_on).unwrap();
    assert_eq!((report.embedded, report.nothing_to_embed.len()), (0, 0));
    whole(&memory);
    // No other model may fill in.
    let error = open(&path, coming())
        .reembed(WordHash::default(), stop)
        .map(|r| r.finished);
    assert!(!error.unwrap());
    assert_eq!(memory.abandon_reembed().unwrap(), 0);
}

#[test]
fn a_handle_that_only_reads_cannot_start_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open(&path, WordHash::default()).store("read").unwrap();
    let memory = builder().open_read_only(&path).unwrap();
    for error in [
        memory.reembed(coming(), go_on).map(|_| ()).unwrap_err(),
        memory.abandon_reembed().map(|_| ()).unwrap_err(),
        memory.compact().map(|_| ()).unwrap_err(),
        memory.erase("x").map(|_| ()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
    }
    assert_eq!(ask(&memory, "read").len(), 1);
}

/// A handle that slept while the file went over to another model and back: its index is of neither.
#[test]
fn an_index_of_a_model_that_came_back_is_loaded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = Memory::builder().no_embedder().open(&path).unwrap();
    words.store("late beta").unwrap();
    let memory = open(&path, WordHash::default());
    // A file with one memory that has no vector yet, as after a crash in the wrong version of a library.
    let far = memory.store_all(texts(50));
    assert!(far.is_ok());
    let nearest = || {
        let recall = Recall::new("late beta").preset(Preset::vector_only());
        let hits = memory.recall(recall).unwrap();
        hits[0].memory.content.clone()
    };
    assert_ne!(nearest(), "late beta");
    assert_ne!(nearest(), "late beta");
    let elsewhere = open(&path, WordHash::default());
    elsewhere.reembed(coming(), go_on).unwrap();
    elsewhere.reembed(WordHash::default(), go_on).unwrap();
    assert_eq!(nearest(), "late beta");
    assert_eq!(nearest(), "late beta");
    whole(&memory);
}

/// A text that is not UTF-8 is not what it is read as: its vector cannot be written, and nothing waits for it for ever.
#[test]
fn a_text_that_is_damaged_does_not_keep_backfill_busy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db");
    let words_only = Memory::builder().no_embedder().open(&path).unwrap();
    let ids: Vec<String> = words_only
        .store_all(texts(5))
        .unwrap()
        .into_iter()
        .map(|stored| stored.id)
        .collect();
    drop(words_only);
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(
        "DROP TRIGGER memories_fts_update;
         UPDATE memories SET content = CAST(x'61ff62' AS TEXT) WHERE seq = 3;",
    )
    .unwrap();
    drop(raw);
    let memory = builder().open(&path).unwrap();
    let report = memory.backfill(go_on).unwrap();
    assert!(report.finished);
    assert_eq!(
        (report.embedded, report.nothing_to_embed),
        (4, vec![ids[2].clone()])
    );
    let repaired = memory.repair().unwrap();
    assert_eq!((repaired.file.texts_mended, repaired.vectors_added), (1, 1));
    sound(&memory);
}

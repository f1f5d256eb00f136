//! Many threads and processes on one file.

use std::path::Path;
use std::process::{Command, Stdio};

use mnemic::{Durability, Memory, NewMemory, Recall, Scope};

use crate::support::{WordHash, builder, sound};

fn open(path: &Path) -> Memory {
    builder().durability(Durability::Normal).open(path).unwrap()
}

/// Runs a test of this binary in a process of its own, with `MNEMIC_TEST_FILE` set.
fn spawn(test: &str, path: &Path, name: &str) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("MNEMIC_TEST_FILE", path)
        .env("MNEMIC_TEST_NAME", name)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// A8: two processes × four threads store 100 each while one recalls; and replace, which reads before it writes, while
/// another commits.
#[test]
fn a8_concurrent_writers_lose_nothing_and_never_fail() {
    const TEST: &str = "concurrency::a8_concurrent_writers_lose_nothing_and_never_fail";
    if let Some(path) = std::env::var_os("MNEMIC_TEST_FILE") {
        let name = std::env::var("MNEMIC_TEST_NAME").unwrap();
        let memory = open(Path::new(&path));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (memory, name) = (&memory, &name);
                scope.spawn(move || {
                    let mut last: Option<String> = None;
                    for i in 0..100 {
                        let text = format!("process {name} thread {thread} item {i}");
                        let stored = memory.store(NewMemory::new(&text).tags([name])).unwrap();
                        if let Some(old) = last.take().filter(|_| i % 10 == 9) {
                            memory.replace(&old, format!("{text} replaced")).unwrap();
                        }
                        last = Some(stored.id);
                    }
                });
            }
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    // Both processes open a file that is not there yet.
    let mut writers = ["one", "two"].map(|name| spawn(TEST, &path, name));
    let memory = open(&path);
    // At least once, also where the writers are done before this process has the file open.
    loop {
        let done = writers
            .iter_mut()
            .all(|writer| writer.try_wait().unwrap().is_some());
        for hit in memory
            .recall(Recall::new("process thread item replaced").scope(Scope::All))
            .unwrap()
        {
            assert!(hit.memory.content.starts_with("process "));
        }
        if done {
            break;
        }
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    sound(&memory);
    assert_eq!(memory.health().unwrap().memories, 800);
    let replaced = memory
        .recall(
            Recall::new("replaced")
                .preset(mnemic::Preset::word_only())
                .no_limit(),
        )
        .unwrap();
    assert_eq!(replaced.len(), 80);
}

#[test]
fn one_handle_serves_many_threads() {
    fn shareable<T: Clone + Send + Sync + 'static>(_: &T) {}
    for memory in [
        builder().open_in_memory().unwrap(),
        open(&tempfile::tempdir().unwrap().keep().join("a.db")),
    ] {
        shareable(&memory);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let memory = memory.clone();
                scope.spawn(move || {
                    for i in 0..25 {
                        let id = memory
                            .store(format!("thread {thread} item {i}"))
                            .unwrap()
                            .id;
                        let hits = memory.recall(format!("thread {thread} item {i}")).unwrap();
                        assert!(hits.iter().any(|hit| hit.memory.id == id) || hits.len() == 10);
                        if i % 5 == 0 {
                            assert!(memory.delete(&id).unwrap());
                        }
                    }
                });
            }
        });
        sound(&memory);
        assert_eq!(memory.health().unwrap().memories, 160);
    }
}

/// A slow model holds no lock: others read and write while it works.
#[test]
fn a_slow_model_is_in_nobodys_way() {
    use mnemic::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind};
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Tells when it is asked to embed `slow`, and then waits to be told to go on.
    #[derive(Debug)]
    struct Waiting(WordHash, Mutex<(Sender<()>, Receiver<()>)>);
    impl Embedder for Waiting {
        fn model(&self) -> &EmbeddingModel {
            self.0.model()
        }
        fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            if texts.iter().any(|text| text.contains("slow")) {
                let guard = self.1.lock().unwrap();
                guard.0.send(()).unwrap();
                guard.1.recv().unwrap();
            }
            self.0.embed(kind, texts)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (asked, was_asked) = channel();
    let (go_on, told) = channel();
    let model = Waiting(WordHash::default(), Mutex::new((asked, told)));
    let memory = Memory::builder().embedder(model).open(&path).unwrap();
    let other_process = open(&path);
    for slow in ["store", "recall"] {
        let handle = memory.clone();
        let worker = std::thread::spawn(move || match slow {
            "store" => handle.store("slow text").map(|_| ()).unwrap(),
            _ => handle.recall("slow text").map(|_| ()).unwrap(),
        });
        was_asked.recv().unwrap();
        memory.store("quick one").unwrap();
        other_process.store("quick two").unwrap();
        assert!(memory.recall("quick").unwrap().len() >= 2);
        go_on.send(()).unwrap();
        worker.join().unwrap();
    }
    sound(&memory);
    assert_eq!(memory.health().unwrap().memories, 5);
}

/// Clones of a handle ask of passages while others store: none waits for a lock that waits for it.
#[test]
fn recalls_of_passages_and_stores_do_not_wait_for_each_other() {
    let memory = crate::support::memory();
    let source = "The pump of the fountain failed.\n\n".repeat(200);
    memory
        .store_document(mnemic::NewDocument::new("Rules of the park").source(source))
        .unwrap();
    memory.warm_up().unwrap();
    let (done, finished) = std::sync::mpsc::channel();
    for thread in 0..4 {
        let (memory, done) = (memory.clone(), done.clone());
        std::thread::spawn(move || {
            for i in 0..150 {
                if thread == 0 {
                    memory
                        .store(format!("the fountain of thread {thread}, note {i}"))
                        .unwrap();
                }
                let hits = memory
                    .recall(Recall::new("the pump of the fountain").limit(3))
                    .unwrap();
                assert!(!hits.is_empty());
                memory.recall_passages("the pump of the fountain").unwrap();
            }
            done.send(()).unwrap();
        });
    }
    for _ in 0..4 {
        let ended = finished.recv_timeout(std::time::Duration::from_secs(300));
        assert!(ended.is_ok(), "a thread waits for ever");
    }
}

//! A memory file with bytes bent anywhere: each verb gives an answer or a typed error, and none panics or hangs.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mnemic::{Memory, NewMemory, Recall, Scope, Timeline};

fn sound() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sound.db");
        let memory = Memory::open(&path).expect("a memory");
        let memories = (0..40).map(|i| {
            NewMemory::new(format!("item w{i} of many, with some words {}", i % 7))
                .project(format!("p{}", i % 3))
                .tags(["t"])
        });
        memory.store_all(memories).expect("stored");
        drop(memory);
        std::fs::read(&path).expect("read")
    })
}

fuzz_target!(|edits: Vec<(u32, u8)>| {
    let mut bytes = sound().to_vec();
    for (place, byte) in edits {
        let place = place as usize % bytes.len();
        bytes[place] = byte;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bent.db");
    std::fs::write(&path, bytes).expect("written");
    // Every answer is right here, an error too: what matters is that there is one.
    if let Ok(memory) = Memory::open_read_only(&path) {
        let _ = memory.recall(Recall::new("item w7").scope(Scope::All));
        let _ = memory.check();
    }
    if let Ok(memory) = Memory::open(&path) {
        let _ = memory.recall(Recall::new("item w7").scope(Scope::All));
        let _ = memory.recall(Recall::new("item w8").project("p1").tags_any(["t"]));
        let _ = memory.timeline(Timeline::new());
        let _ = memory.store("one more");
        let _ = memory.check();
        let _ = memory.repair();
        let _ = memory.health();
    }
});

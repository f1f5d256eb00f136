//! Any question to a small memory: an answer, never an error or a panic, and numbers that are numbers.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mnemic::{Memory, NewMemory, Recall, Scope};

fn memory() -> &'static (Memory, String) {
    static MEMORY: OnceLock<(Memory, String)> = OnceLock::new();
    MEMORY.get_or_init(|| {
        let memory = Memory::open_in_memory().expect("a memory");
        let texts = ["deploys freeze on Fridays", "東京塔の夜景", "say \"hi\" AND (OR) NEAR* ^C++", "naïve café № 7"];
        let stored = memory
            .store_all(texts.map(|text| NewMemory::new(text).tags(["t", "写真"])))
            .expect("stored");
        (memory, stored[0].id.clone())
    })
}

fuzz_target!(|text: &str| {
    let (memory, id) = memory();
    let recall = Recall::new(text).scope(Scope::All);
    let hits = memory.recall(recall.clone()).expect("an answer to any question");
    assert!(hits.len() <= 4);
    for hit in &hits {
        assert!((0.0..=1.0).contains(&hit.score), "{}", hit.score);
        assert!((0.0..=1.0).contains(&hit.signals.word), "{}", hit.signals.word);
    }
    let explained = memory.explain(recall, id).expect("an explanation of any question");
    assert!(!explained.to_string().is_empty());
});

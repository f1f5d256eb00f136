//! Any text, project and tags are kept as they are, found by each tag, and leave a sound file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mnemic::{Memory, NewMemory, Recall, Timeline};

fuzz_target!(|input: (String, String, Vec<String>)| {
    let (content, project, tags) = input;
    let memory = Memory::builder().no_embedder().open_in_memory().expect("a memory");
    let stored = match memory.store(NewMemory::new(&content).project(&project).tags(&tags)) {
        Ok(stored) => stored,
        Err(error) => {
            assert!(content.trim().is_empty(), "{error}");
            return;
        }
    };
    let found = memory.get(&stored.id).expect("read").expect("there");
    assert_eq!((&found.content, found.project.as_deref(), &found.tags), (&content, Some(&*project), &tags));
    for tag in &tags {
        assert_eq!(memory.timeline(Timeline::new().tags_all([tag])).expect("listed").len(), 1, "{tag:?}");
    }
    memory.recall(Recall::new(&content).project(&project)).expect("recalled");
    let report = memory.check().expect("checked");
    assert!(report.is_ok(), "{report:?}");
});

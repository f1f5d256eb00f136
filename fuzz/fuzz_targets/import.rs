//! Any bytes as lines to import, of our format and of agent-memory's: all or nothing, a typed error that names a line, and
//! what came is exported and comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mnemic::{Export, Import, Memory};

fuzz_target!(|input: (bool, &[u8])| {
    let (ours, lines) = input;
    let memory = Memory::builder().no_embedder().open_in_memory().expect("a memory");
    let import = if ours { Import::jsonl(lines) } else { Import::agent_memory_jsonl(lines) };
    let result = memory.import(import);
    let count = memory.health().expect("counted").memories;
    if let Err(error) = &result {
        assert!(!error.to_string().is_empty());
        assert_eq!(count, 0, "{error}");
    }
    let mut out = Vec::new();
    memory.export(Export::new(), &mut out).expect("exported");
    let other = Memory::builder().no_embedder().open_in_memory().expect("a memory");
    other.import(Import::jsonl(&*out)).expect("what was exported comes back");
    assert_eq!(other.health().expect("counted").memories, count);
    let mut again = Vec::new();
    other.export(Export::new(), &mut again).expect("exported");
    assert_eq!(out, again);
});

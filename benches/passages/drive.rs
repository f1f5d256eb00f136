//! Drives mnemic through its public facade: the same steps as `tools/passages/peers.py` takes with the others. Questions
//! are embedded within each recall; the others are given the vector.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use mnemic::{Memory, NewDocument, Preset, Recall};

use crate::{CHUNKING, LIMIT, Outcome};

pub fn run(data: &Path, place: &Path, out: &Path) -> Outcome<()> {
    let documents: Vec<String> = serde_json::from_slice(&fs::read(data.join("documents.json"))?)?;
    let questions: Vec<String> = serde_json::from_slice(&fs::read(data.join("questions.json"))?)?;
    let path = place.join("passages.db");

    let begun = Instant::now();
    let memory = Memory::open(&path)?;
    // Rows are numbered through all documents, as the passages are in the data.
    let mut first_rows = HashMap::new();
    let mut row = 0;
    for (number, source) in documents.into_iter().enumerate() {
        let document = NewDocument::new(format!("Book {number}"))
            .source(source)
            .chunking(CHUNKING);
        let stored = memory.store_document(document)?;
        first_rows.insert(stored.id, row);
        row += stored.chunks;
    }
    let stored = begun.elapsed().as_secs_f64();
    drop(memory);
    let bytes = fs::metadata(&path)?.len();

    let mut modes = Vec::new();
    for (mode, preset) in [
        ("words and vectors", Preset::default()),
        ("vectors alone", Preset::vector_only()),
    ] {
        let memory = Memory::open(&path)?;
        let (mut hits, mut times) = (Vec::new(), Vec::new());
        for question in &questions {
            let begun = Instant::now();
            let found =
                memory.recall_passages(Recall::new(question).limit(LIMIT).preset(preset))?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            let rows: Vec<u64> = found
                .iter()
                .filter_map(|hit| Some(first_rows.get(&hit.passage.document)? + hit.passage.place))
                .collect();
            hits.push(rows);
        }
        modes.push(serde_json::json!({
            "mode": mode, "store_seconds": stored, "file_bytes": bytes, "hits": hits, "recall_ms": times,
        }));
    }
    let told = serde_json::json!({
        "system": "mnemic", "version": env!("CARGO_PKG_VERSION"), "modes": modes,
    });
    fs::write(out, serde_json::to_vec(&told)?)?;
    Ok(())
}

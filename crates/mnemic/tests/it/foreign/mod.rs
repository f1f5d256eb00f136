//! Real files of rekal, agent-memory and RA-H: what comes of each, to the row.

mod agent_memory;
mod ra_h;
mod rekal;

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use mnemic::{
    Adopt, DocumentUpdate, EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, Events,
    Export, Import, ImportReport, Include, InputKind, Kind, Left, Memory, NewMemory, NewRelation,
    OnConflict, Preset, Recall, RelationKind, Scope, StoredMemory, Timeline,
};
use rusqlite::Connection;

use crate::support::{WordHash, builder, memory, sound, time};

/// A fixture, decompressed into a folder.
pub(super) fn fixture(folder: &Path, name: &str) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(format!("{name}.gz"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(packed).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

pub(super) fn all(memory: &Memory) -> Vec<StoredMemory> {
    let all = Timeline::new().include(Include::all());
    memory.timeline(all.oldest_first()).unwrap()
}

pub(super) fn left(left: &[Left]) -> Vec<String> {
    left.iter().map(ToString::to_string).collect()
}

/// The vectors that a file of rekal holds, read from the pages of its vector table: id, and the bytes.
pub(super) fn rekal_vectors(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let connection = Connection::open(path).unwrap();
    let chunk: Vec<u8> = connection
        .query_row(
            "SELECT vectors FROM memory_vec_vector_chunks00",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let mut statement = connection
        .prepare("SELECT id, chunk_offset FROM memory_vec_rowids")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)? as usize))
        })
        .unwrap();
    rows.map(|row| {
        let (id, offset) = row.unwrap();
        (id, chunk[offset * 1_536..(offset + 1) * 1_536].to_vec())
    })
    .collect()
}

/// The vectors of a memory, as bytes.
pub(super) fn vectors(memory: &Memory) -> BTreeMap<String, Vec<u8>> {
    let mut file = Vec::new();
    memory.export(Export::new(), &mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            let numbers = line.split_once("\"vector\":[")?.1.trim_end_matches("]}");
            let bytes = numbers
                .split(',')
                .flat_map(|number| number.parse::<f32>().unwrap().to_le_bytes())
                .collect();
            Some((object["id"].as_str().unwrap().to_owned(), bytes))
        })
        .collect()
}

#[test]
fn a_file_of_another_system_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let rekal = fixture(folder.path(), "rekal-3.4.0.db");
    let agent = fixture(folder.path(), "agent-memory-0.2.1.db");
    let ra_h = fixture(folder.path(), "ra-h.sqlite");
    let ours = folder.path().join("ours.db");
    builder().open(&ours).unwrap().store("x").unwrap();
    let memory = memory();
    for (import, told) in [
        (Import::rekal(&agent), "one of agent-memory, not of rekal"),
        (Import::rekal(&ra_h), "one of RA-H, not of rekal"),
        (
            Import::agent_memory(&rekal),
            "one of rekal, not of agent-memory",
        ),
        (Import::ra_h(&agent), "one of agent-memory, not of RA-H"),
        (Import::rekal(&ours), "one of mnemic"),
    ] {
        let error = memory.import(import).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotAMemoryFile);
        assert!(error.to_string().contains(told), "{error}");
    }
    let error = Memory::adopt(Adopt::rekal(&agent)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAMemoryFile);
    let error = memory
        .import(Import::ra_h(folder.path().join("absent")))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!folder.path().join("absent").exists());
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn a_file_that_is_not_ours_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (name, told) in [
        ("rekal-3.4.0.db", "one of rekal: adopt or import it"),
        ("agent-memory-0.2.1.db", "one of agent-memory: import it"),
        ("ra-h.sqlite", "one of RA-H: import it"),
    ] {
        let path = fixture(folder.path(), name);
        let before = std::fs::read(&path).unwrap();
        let error = Memory::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotAMemoryFile);
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn what_a_log_beside_the_file_holds_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.db");
    let other_program = Connection::open(&path).unwrap();
    other_program
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO relations (source_id, target_id, relation_type, created_at)
             SELECT id, id, 'related_to', '2026-12-01' FROM memories LIMIT 1;
             INSERT INTO memory_vectors VALUES ('nobody', 77, '[1]');
             UPDATE memory_vectors SET embedding_json = '[1,' WHERE memory_id LIKE 'd119%';",
        )
        .unwrap();
    assert!(folder.path().join("agent-memory-0.2.1.db-wal").exists());
    let model = WordHash::named("hash fallback", "0.2.1", 384);
    let import = Import::agent_memory(&path).model(model.model().clone());
    let memory = Memory::builder().embedder(model).open_in_memory().unwrap();
    let report = memory.import(import).unwrap();
    assert_eq!(
        (report.added, report.vectors_carried, report.vectors_made),
        (9, 8, 1)
    );
    let told = left(&report.left);
    for line in [
        "relations: 1 row (it is of a memory to itself)",
        "memory_vectors: 1 row (no memory has their id)",
        "memory_vectors: 1 row (of another text than the memory's, or no vectors)",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:?}");
    }
}

/// Rows that cannot become memories are counted and kept, and do not stop the others.
#[test]
fn odd_rows_are_left_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "INSERT INTO nodes (id, title, created_at) VALUES (5, ' ', '2026-01-01'), (6, x'ff', '2026-01-01'),
                 (7, CAST(x'66ff' AS TEXT), '2026-01-01'), (8, 'no time', NULL);
             INSERT INTO nodes (id, title, created_at, updated_at) VALUES (9, 'half a time', 'once', '2026-01-02');",
        )
        .unwrap();
    let (memory, mut kept) = (memory(), Vec::new());
    let report = memory
        .import(Import::ra_h(&path).left_to(&mut kept))
        .unwrap();
    assert_eq!(report.added, 5);
    let told = left(&report.left);
    for line in [
        "nodes: 1 row (it has no text)",
        "nodes: 2 rows (its title is no text)",
        "nodes: 1 row (it has no time)",
        "nodes.created_at: 1 (no time: the other one was taken)",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:?}");
    }
    let kept = String::from_utf8(kept).unwrap();
    assert!(
        kept.contains(r#""title":{"hex":"66ff"}"#),
        "as the bytes it is"
    );
    assert_eq!(
        memory
            .get("ra-h-9")
            .unwrap()
            .unwrap()
            .created_at
            .to_string(),
        "2026-01-02 00:00:00"
    );
}

/// A file cut anywhere, or with other bytes in it, is a typed error, or what is still whole of it comes in.
#[test]
fn damaged_files_are_typed_errors() {
    let folder = tempfile::tempdir().unwrap();
    type Make = fn(PathBuf) -> Import<'static>;
    let files: [(&str, Make); 3] = [
        ("rekal-1.16.0.db", |path| Import::rekal(path)),
        ("agent-memory-0.2.1.db", |path| Import::agent_memory(path)),
        ("ra-h.sqlite", |path| Import::ra_h(path)),
    ];
    for (name, import) in files {
        let path = fixture(folder.path(), name);
        let whole = std::fs::read(&path).unwrap();
        let mut refused = 0;
        for part in 0..16 {
            let mut bytes = whole.clone();
            if part % 2 == 0 {
                bytes.truncate(whole.len() / 17 * part);
            } else {
                let at = whole.len() / 17 * part;
                for byte in bytes.iter_mut().skip(at / 4_096 * 4_096).take(4_096) {
                    *byte ^= 0xa5;
                }
            }
            std::fs::write(&path, &bytes).unwrap();
            let memory = memory();
            match memory.import(import(path.clone())) {
                Ok(report) => assert_eq!(report.added, memory.health().unwrap().memories),
                Err(error) => {
                    refused += 1;
                    let kinds = [
                        ErrorKind::Corrupt,
                        ErrorKind::NotAMemoryFile,
                        ErrorKind::Storage,
                    ];
                    assert!(kinds.contains(&error.kind()), "{name} {part}: {error:?}");
                    assert_eq!(memory.health().unwrap().memories, 0);
                }
            }
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "only read");
        }
        assert!(refused >= 5, "{name}: {refused}");
    }
}

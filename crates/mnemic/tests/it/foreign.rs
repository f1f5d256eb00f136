//! Real files of rekal, agent-memory and RA-H: what comes of each, to the row.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use mnemic::{
    Adopt, EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, Export, Import,
    ImportReport, InputKind, Left, Memory, OnConflict, Preset, Recall, Scope, StoredMemory,
    Timeline,
};
use rusqlite::Connection;

use crate::support::{WordHash, builder, memory, sound};

/// A fixture, decompressed into a folder.
fn fixture(folder: &Path, name: &str) -> PathBuf {
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

fn all(memory: &Memory) -> Vec<StoredMemory> {
    memory.timeline(Timeline::new().oldest_first()).unwrap()
}

fn left(left: &[Left]) -> Vec<String> {
    left.iter().map(ToString::to_string).collect()
}

/// The vectors that a file of rekal holds, read from the pages of its vector table: id, and the bytes.
fn rekal_vectors(path: &Path) -> BTreeMap<String, Vec<u8>> {
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
fn vectors(memory: &Memory) -> BTreeMap<String, Vec<u8>> {
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

/// What all files of rekal hold, less what is superseded or scratch: content, project, tags.
const NOTES: [(&str, Option<&str>, &[&str]); 8] = [
    (
        "The API gateway authenticates with short-lived tokens issued by the login service",
        Some("gateway"),
        &["auth", "tokens"],
    ),
    (
        "Deploys freeze on Fridays after 15:00",
        Some("gateway"),
        &["ops"],
    ),
    (
        "Prefers Ruff over Black for formatting",
        None,
        &["style", "a,b", "say \"hi\""],
    ),
    ("今日は東京塔の夜景を見た", Some("旅行/travel"), &["写真"]),
    (
        "Ticket KX-204 covers the C++ build flags in src/flags.rs:88",
        Some("build"),
        &[],
    ),
    (
        "Café Zoë opens at 7:30 — don't be late 🚀",
        Some("100%_real"),
        &[],
    ),
    ("Global note without any tags", None, &[]),
    ("The cache TTL is 30 minutes", Some("gateway"), &["cache"]),
];

const REKALS: [&str; 5] = ["1.3.0", "1.16.0", "2.0.0", "3.0.0", "3.4.0"];

/// What rekal itself says of each memory that comes over: id, times.
fn rekal_rows(path: &Path) -> BTreeMap<String, (String, String, String)> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare("SELECT content, id, created_at, updated_at FROM memories")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
        })
        .unwrap();
    rows.map(Result::unwrap).collect()
}

fn assert_notes(memory: &Memory, rows: &BTreeMap<String, (String, String, String)>) {
    let found = all(memory);
    let told: Vec<(&str, Option<&str>, Vec<&str>)> = found
        .iter()
        .map(|memory| {
            let tags = memory.tags.iter().map(String::as_str).collect();
            (memory.content.as_str(), memory.project.as_deref(), tags)
        })
        .collect();
    let expected: Vec<_> = NOTES
        .iter()
        .map(|(content, project, tags)| (*content, *project, tags.to_vec()))
        .collect();
    assert_eq!(told, expected);
    for memory in &found {
        let (id, created, updated) = &rows[&memory.content];
        assert_eq!(
            (
                &memory.id,
                memory.created_at.to_string(),
                memory.updated_at.to_string()
            ),
            (id, created.clone(), updated.clone())
        );
    }
}

/// What each version leaves: rows, then fields, then tables.
fn rekal_left(version: &str) -> Vec<&'static str> {
    match version {
        "1.3.0" => vec![
            "memories: 1 row (superseded by another memory)",
            "memories.memory_type: 8 (mnemic has no such field)",
            "conversations: 1 row (mnemic has no such table)",
            "memory_links: 2 rows (mnemic has no such table)",
        ],
        "1.16.0" | "2.0.0" => vec![
            "memories: 1 row (a scratch note, kept for a while only)",
            "memories: 1 row (superseded by another memory)",
            "memories.memory_type: 8 (mnemic has no such field)",
            "memories.tier: 8 (mnemic has no such field)",
            "conversations: 1 row (mnemic has no such table)",
            "memory_links: 2 rows (mnemic has no such table)",
            "project_config: 1 row (mnemic has no such table)",
        ],
        _ => vec![],
    }
}

#[test]
fn every_rekal_is_adopted_in_its_place() {
    for version in REKALS {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &format!("rekal-{version}.db"));
        let (rows, mut expected) = (rekal_rows(&path), rekal_vectors(&path));
        let refused = Memory::open(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotAMemoryFile, "never unasked");

        let report = Memory::adopt(Adopt::rekal(&path)).unwrap();
        assert_eq!(
            (report.already, report.memories, report.vectors),
            (false, 8, 8),
            "{version}"
        );
        assert_eq!(left(&report.left), rekal_left(version), "{version}");
        let model = report.model.unwrap();
        assert_eq!((model.space.as_str(), model.dims), ("unknown", 384));
        let copy = report.copy.unwrap();
        assert_eq!(rekal_rows(&copy), rows, "{version}: the copy");
        assert_eq!(rekal_vectors(&copy), expected, "{version}: the copy");

        // Words work at once.
        let words = Memory::builder().no_embedder().open(&path).unwrap();
        assert!(
            words.check().unwrap().is_ok(),
            "{version}: {:?}",
            words.check().unwrap()
        );
        assert_notes(&words, &rows);
        let found = |memory: &Memory, recall: Recall| {
            memory.recall(recall).unwrap()[0].memory.content.clone()
        };
        assert_eq!(
            found(&words, Recall::new("夜景").project("旅行/travel")),
            NOTES[3].0
        );
        assert_eq!(
            found(&words, Recall::new("KX-204").scope(Scope::All)),
            NOTES[4].0
        );
        assert_eq!(
            found(
                &words,
                Recall::new("hi").scope(Scope::All).tags_any(["say \"HI\""])
            ),
            NOTES[2].0
        );
        // The vectors are those that were there, to the bit.
        expected.retain(|id, _| all(&words).iter().any(|memory| memory.id == *id));
        assert_eq!(vectors(&words), expected, "{version}");

        // Nothing is stored by a model that nobody named; the error says what to do.
        for error in [
            words.store("new").unwrap_err(),
            Memory::open(&path).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::ModelMismatch);
            assert!(error.to_string().contains("name_model"), "{error}");
        }
        let again = Memory::adopt(Adopt::rekal(&path)).unwrap();
        assert_eq!(
            (again.already, again.memories, again.vectors, again.copy),
            (true, 8, 8, None)
        );
        assert_eq!(again.left, []);

        // Once it is named, meaning works too.
        let embedder = Remembers::of(&words);
        words.name_model(embedder.model()).unwrap();
        drop(words);
        let memory = Memory::builder().embedder(embedder).open(&path).unwrap();
        for (content, _, _) in NOTES {
            let recall = Recall::new(content)
                .scope(Scope::All)
                .preset(Preset::vector_only());
            let hit = &memory.recall(recall.limit(1)).unwrap()[0];
            assert_eq!(hit.memory.content, content);
            assert!(hit.relevance > 0.999, "{hit:?}");
        }
        memory.store("stored after").unwrap();
        sound(&memory);
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.retain(|name| {
            !name.to_string_lossy().ends_with("-wal") && !name.to_string_lossy().ends_with("-shm")
        });
        assert_eq!(names.len(), 2, "{names:?}");
    }
}

/// Knows the vectors that a memory has, by text: the model that made them, as it were.
#[derive(Debug)]
struct Remembers {
    model: EmbeddingModel,
    vectors: BTreeMap<String, Vec<f32>>,
}

impl Remembers {
    fn of(memory: &Memory) -> Self {
        let vectors = vectors(memory);
        let floats = |bytes: &[u8]| {
            let chunks = bytes.chunks_exact(4);
            chunks
                .map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap()))
                .collect()
        };
        Self {
            model: EmbeddingModel::new("bag", "bag of words", "1", 384),
            vectors: all(memory)
                .into_iter()
                .map(|memory| (memory.content, floats(&vectors[&memory.id])))
                .collect(),
        }
    }
}

impl Embedder for Remembers {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let other = || (0..384).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let one = |text: &&str| Some(self.vectors.get(*text).cloned().unwrap_or_else(other));
        Ok(texts.iter().map(one).collect())
    }
}

#[test]
fn the_model_may_be_named_when_a_file_is_adopted() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "rekal-3.4.0.db");
    let narrow = WordHash::default().model().clone();
    let error = Memory::adopt(Adopt::rekal(&path).model(narrow)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(
        error.to_string().contains("384") && error.to_string().contains("32"),
        "{error}"
    );
    let model = WordHash::named("bag", "1", 384);
    Memory::adopt(Adopt::rekal(&path).model(model.model().clone())).unwrap();
    let memory = Memory::builder().embedder(model).open(&path).unwrap();
    memory.store("new").unwrap();
    sound(&memory);
    assert_eq!(memory.health().unwrap().vectors, 9);
}

#[test]
fn an_adopted_file_is_taken_over_to_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "rekal-2.0.0.db");
    Memory::adopt(Adopt::rekal(&path)).unwrap();
    let memory = Memory::builder().no_embedder().open(&path).unwrap();
    let report = memory
        .reembed(WordHash::default(), |_| ControlFlow::Continue(()))
        .unwrap();
    assert!(report.finished);
    memory.store("stored after").unwrap();
    sound(&memory);
    drop(memory);
    let memory = builder().open(&path).unwrap();
    assert_eq!(memory.health().unwrap().vectors, 9);
    let recall = Recall::new("cache TTL")
        .scope(Scope::All)
        .preset(Preset::vector_only());
    assert_eq!(memory.recall(recall).unwrap()[0].memory.content, NOTES[7].0);
}

#[test]
fn every_rekal_is_imported_into_a_memory_of_another_model() {
    for version in REKALS {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &format!("rekal-{version}.db"));
        let (rows, image) = (rekal_rows(&path), std::fs::read(&path).unwrap());
        let memory = memory();
        let report = memory.import(Import::rekal(&path)).unwrap();
        assert_eq!(
            (report.added, report.vectors_made, report.vectors_carried),
            (8, 8, 0),
            "{version}"
        );
        assert_notes(&memory, &rows);
        sound(&memory);
        let told = left(&report.left);
        assert!(
            told.contains(&"memory_vec: 8 rows (which model made them is not known)".to_owned()),
            "{told:?}"
        );
        for line in rekal_left(version) {
            let line = line.replace("no such field)", "no such field yet)");
            assert!(told.contains(&line), "{version}: {line}: {told:?}");
        }
        assert_eq!(memory.import(Import::rekal(&path)).unwrap().unchanged, 8);
        assert_eq!(std::fs::read(&path).unwrap(), image, "only read");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        // Of the same model, vectors come along.
        let model = WordHash::named("bag", "1", 384);
        let import = Import::rekal(&path).model(model.model().clone());
        let other = Memory::builder().embedder(model).open_in_memory().unwrap();
        assert_eq!(other.import(import).unwrap().vectors_carried, 8);
        let mut expected = rekal_vectors(&path);
        expected.retain(|id, _| all(&other).iter().any(|memory| memory.id == *id));
        assert_eq!(vectors(&other), expected);
    }
}

/// What agent-memory's file holds, less the deleted one: text, tags, when.
const AGENT_MEMORY: [(&str, &[&str], &str); 8] = [
    (
        "The user prefers SQLite for local-first agent projects.",
        &["database", "preference"],
        "2026-11-29 19:09:50.143873",
    ),
    (
        "Because the index was missing, trace queries were slow on Monday.",
        &["incident"],
        "2026-11-29 19:09:50.160789",
    ),
    (
        "An index on causal_parent_id fixed the slow trace queries.",
        &["incident", "fix"],
        "2026-11-29 19:09:50.16581",
    ),
    (
        "Trace queries now take 2 ms.",
        &[],
        "2026-11-29 19:09:50.179788",
    ),
    (
        "To release: run the tests, tag the commit, push the tag.",
        &["release"],
        "2026-11-29 19:09:50.192121",
    ),
    (
        "The user does not prefer SQLite for local-first agent projects.",
        &["database"],
        "2026-11-29 19:09:50.196258",
    ),
    (
        "用户喜欢在周五下午散步。",
        &["生活"],
        "2026-11-29 19:09:50.207077",
    ),
    (
        "The conference discount is valid in May only.",
        &[],
        "2026-11-29 19:09:50.219061",
    ),
];

fn assert_agent_memory(memory: &Memory, report: &ImportReport) {
    assert_eq!(
        (report.added, report.vectors_made, report.vectors_carried),
        (8, 8, 0),
        "{report}"
    );
    let found = all(memory);
    let told: Vec<_> = found
        .iter()
        .map(|m| {
            (
                m.content.as_str(),
                m.tags.iter().map(String::as_str).collect::<Vec<_>>(),
                m.created_at.to_string(),
            )
        })
        .collect();
    let expected: Vec<_> = AGENT_MEMORY
        .iter()
        .map(|(text, tags, at)| (*text, tags.to_vec(), (*at).to_owned()))
        .collect();
    assert_eq!(told, expected);
    assert_eq!(found[0].id, "d119df97-1222-4a66-9240-8d95f4ebaaa0");
    assert!(
        found
            .iter()
            .all(|memory| memory.project.as_deref() == Some("agent"))
    );
    let hit = &memory
        .recall(Recall::new("conference discount").project("agent"))
        .unwrap()[0];
    assert_eq!(hit.memory.content, AGENT_MEMORY[7].0);
    sound(memory);
}

/// The fields of the eight memories that have no place, with how many of them say something.
const AGENT_MEMORY_FIELDS: [&str; 12] = [
    "access_count: 7 (mnemic has no such field yet)",
    "causal_parent_id: 2 (mnemic has no such field yet)",
    "decay_rate: 8 (mnemic has no such field yet)",
    "entity_refs: 8 (mnemic has no such field yet)",
    "importance: 8 (mnemic has no such field yet)",
    "last_accessed: 8 (mnemic has no such field yet)",
    "layer: 8 (mnemic has no such field yet)",
    "memory_type: 8 (mnemic has no such field yet)",
    "source_id: 8 (mnemic has no such field yet)",
    "supersedes_id: 1 (mnemic has no such field yet)",
    "trust_score: 8 (mnemic has no such field yet)",
    "valid_from: 1 (mnemic has no such field yet)",
];

#[test]
fn agent_memorys_database_comes_in_and_what_is_left_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.db");
    let image = std::fs::read(&path).unwrap();
    let (memory, mut kept) = (memory(), Vec::new());
    let import = Import::agent_memory(&path)
        .project("agent")
        .left_to(&mut kept);
    let report = memory.import(import).unwrap();
    assert_agent_memory(&memory, &report);
    let mut expected: Vec<String> = AGENT_MEMORY_FIELDS
        .iter()
        .map(|field| format!("memories.{field}"))
        .chain(["memories.valid_until: 1 (mnemic has no such field yet)".to_owned()])
        .chain(
            [
                "audit_log: 12 rows (mnemic has no log of what happened to a memory yet)",
                "backend_meta: 1 row (its settings)",
                "entity_index: 13 rows (an index of the entities that its memories name)",
                "evolution_log: 12 rows (mnemic has no log of what happened to a memory yet)",
                "memories: 1 row (it was deleted there)",
                "memory_vec_index: 8 rows (an index of its vectors)",
                "memory_vectors: 1 row (their memory was left)",
                "memory_vectors: 8 rows (which model made them is not known)",
                "relations: 4 rows (mnemic has no relations yet)",
            ]
            .map(ToOwned::to_owned),
        )
        .collect();
    let mut told = left(&report.left);
    expected.sort();
    told.sort();
    assert_eq!(told, expected);

    // Every row of the file is among what was kept, in full.
    let mut tables: BTreeMap<String, u64> = BTreeMap::new();
    let kept = String::from_utf8(kept).unwrap();
    for line in kept.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        *tables
            .entry(line["table"].as_str().unwrap().to_owned())
            .or_default() += 1;
        if line["row"]["id"] == "48dda520-a166-46c7-893a-f6b7324e0acd" {
            assert_eq!(
                line["row"]["supersedes_id"],
                "b4d89b70-4771-4326-92af-57d1d957b65f"
            );
        }
    }
    let tables: Vec<(&str, u64)> = tables
        .iter()
        .map(|(table, rows)| (table.as_str(), *rows))
        .collect();
    assert_eq!(
        tables,
        [
            ("audit_log", 12),
            ("backend_meta", 1),
            ("entity_index", 13),
            ("evolution_log", 12),
            ("memories", 9),
            ("memory_vec_index", 8),
            ("memory_vectors", 9),
            ("relations", 4)
        ]
    );
    assert_eq!(report.left_written, 68);
    assert_eq!(
        memory
            .import(Import::agent_memory(&path).project("agent"))
            .unwrap()
            .unchanged,
        8
    );
    assert_eq!(std::fs::read(&path).unwrap(), image, "only read");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn agent_memorys_json_lines_come_in_as_its_database_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.jsonl");
    let file = std::fs::read_to_string(&path).unwrap();
    let (memory, mut kept) = (memory(), Vec::new());
    let import = Import::agent_memory_jsonl(file.as_bytes())
        .project("agent")
        .left_to(&mut kept);
    let report = memory.import(import).unwrap();
    assert_agent_memory(&memory, &report);
    let mut expected: Vec<String> = AGENT_MEMORY_FIELDS
        .iter()
        .map(|field| format!("memory.{field}"))
        .chain(
            [
                "memory.valid_until: 1 (mnemic has no such field yet)",
                "memory.embedding: 1 (their memory was left)",
                "memory.embedding: 8 (which model made them is not known)",
                "memory: 1 row (it was deleted there)",
                "relation: 4 rows (mnemic has no relations yet)",
            ]
            .map(ToOwned::to_owned),
        )
        .collect();
    let mut told = left(&report.left);
    expected.sort();
    told.sort();
    assert_eq!(told, expected);
    assert_eq!(
        String::from_utf8(kept).unwrap(),
        file,
        "every line, as it came"
    );

    let database = fixture(folder.path(), "agent-memory-0.2.1.db");
    assert_eq!(
        memory
            .import(Import::agent_memory(database).project("agent"))
            .unwrap()
            .unchanged,
        8
    );

    for (bad, told) in [
        (file.get(..file.len() / 3).unwrap(), "cut short"),
        ("", "empty"),
        (
            r#"{"type":"memory"}"#,
            r#"line 1: field "payload": it is missing"#,
        ),
        (
            r#"{"type":"memory","payload":{"id":"a","content":"x"}}"#,
            "line 1: its created_at",
        ),
        (
            r#"{"type":"memory","payload":{"id":"a","content":"x","created_at":"2026-01-01","tags":[1]}}"#,
            "line 1: its tags",
        ),
    ] {
        let empty = self::memory();
        let error = empty
            .import(Import::agent_memory_jsonl(bad.as_bytes()))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error:?}");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(empty.health().unwrap().memories, 0);
    }
}

#[test]
fn vectors_of_agent_memory_come_along_where_their_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.db");
    let hashes = WordHash::named("hash fallback", "0.2.1", 384);
    let import = Import::agent_memory(&path).model(hashes.model().clone());
    let memory = Memory::builder().embedder(hashes).open_in_memory().unwrap();
    let report = memory.import(import).unwrap();
    assert_eq!((report.vectors_carried, report.vectors_made), (8, 0));
    sound(&memory);
    // They were not of unit length, and are now, pointing the same way.
    let connection = Connection::open(&path).unwrap();
    let id = "d119df97-1222-4a66-9240-8d95f4ebaaa0";
    let json: String = connection
        .query_row(
            "SELECT embedding_json FROM memory_vectors WHERE memory_id = ?1",
            [id],
            |row| row.get(0),
        )
        .unwrap();
    let original: Vec<f64> = serde_json::from_str(&json).unwrap();
    let length = original.iter().map(|x| x * x).sum::<f64>().sqrt();
    let stored = &vectors(&memory)[id];
    for (x, bytes) in original.iter().zip(stored.chunks_exact(4)) {
        let y = f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
        assert!((x / length - y).abs() < 1e-6, "{x} {y}");
    }
}

#[test]
fn nodes_of_ra_h_come_in_whole_and_what_is_left_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let (memory, mut kept) = (memory(), Vec::new());
    let report = memory
        .import(Import::ra_h(&path).left_to(&mut kept))
        .unwrap();
    assert_eq!(
        (report.added, report.vectors_made, report.vectors_carried),
        (4, 4, 0)
    );
    let found = all(&memory);
    let ids: Vec<&str> = found.iter().map(|memory| memory.id.as_str()).collect();
    assert_eq!(ids, ["ra-h-1", "ra-h-2", "ra-h-3", "ra-h-4"]);
    assert!(found[0].content.starts_with(
        "From editors to agents\nTalk transcript about the levels of agent use\n[0.0s] Part 0."
    ));
    assert!(
        found[0].content.contains("[120.4s] Part 4."),
        "the whole source"
    );
    assert_eq!(
        found[1].content,
        "Review is the bottleneck\nIdea: reviewing limits how many agents one person can run\nReviewing limits how many \
         agents one person can run."
    );
    assert_eq!(found[3].content, "A person\nWorks on compilers");
    assert!(
        found
            .iter()
            .all(|memory| memory.created_at.to_string() == "2026-04-20 10:00:00")
    );
    let hit = &memory.recall("rivers and dams").unwrap()[0];
    assert_eq!(hit.memory.id, "ra-h-3");
    sound(&memory);
    let mut told = left(&report.left);
    told.sort();
    assert_eq!(
        told,
        [
            "chunks: 8 rows (slices of sources, which came over whole; mnemic has no passages yet)",
            "dimension_migration_snapshots: 1 row (its record of an old change)",
            "edges: 3 rows (mnemic has no relations yet)",
            "nodes.chunk_status: 4 (mnemic has no such field yet)",
            "nodes.embedding: 3 (which model made them is not known)",
            "nodes.embedding_text: 3 (mnemic has no such field yet)",
            "nodes.embedding_updated_at: 3 (mnemic has no such field yet)",
            "nodes.event_date: 1 (mnemic has no such field yet)",
            "nodes.link: 1 (mnemic has no such field yet)",
            "nodes.metadata: 3 (mnemic has no such field yet)",
            "vec_chunks: 6 rows (vectors of slices of sources)",
            "vec_nodes: 2 rows (an index of vectors that the nodes hold)",
        ]
    );
    let kept = String::from_utf8(kept).unwrap();
    assert_eq!(kept.lines().count() as u64, report.left_written);
    assert_eq!(report.left_written, 4 + 8 + 1 + 3 + 6 + 2);
    let edge = kept
        .lines()
        .find(|line| line.contains("This person gave the talk"))
        .unwrap();
    assert!(
        edge.contains(r#""table":"edges""#) && edge.contains(r#""to_node_id":4"#),
        "{edge}"
    );
    assert_eq!(memory.import(Import::ra_h(&path)).unwrap().unchanged, 4);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn vectors_of_ra_h_come_along_where_they_are_of_the_whole_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let model = WordHash::named("text-embedding-3-small", "1", 1_536);
    let import = Import::ra_h(&path).model(model.model().clone());
    let memory = Memory::builder().embedder(model).open_in_memory().unwrap();
    let report = memory.import(import).unwrap();
    assert_eq!(
        (report.added, report.vectors_carried, report.vectors_made),
        (4, 3, 1)
    );
    sound(&memory);
}

#[test]
fn a_node_that_was_imported_and_then_changed_is_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let memory = memory();
    memory.import(Import::ra_h(&path)).unwrap();
    memory.update("ra-h-4", "A person who left").unwrap();
    let error = memory.import(Import::ra_h(&path)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let kept = memory
        .import(Import::ra_h(&path).on_conflict(OnConflict::Keep))
        .unwrap();
    assert_eq!((kept.kept, kept.unchanged), (1, 3));
    assert_eq!(
        memory.get("ra-h-4").unwrap().unwrap().content,
        "A person who left"
    );
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
        (8, 7, 1)
    );
    let told = left(&report.left);
    for line in [
        "relations: 5 rows (mnemic has no relations yet)",
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

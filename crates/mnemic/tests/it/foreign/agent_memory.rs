//! Files of agent-memory, its database and its JSON lines.

use super::*;

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
    assert_eq!(found[2].entities, ["trace queries", "causal_parent_id"]);
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
const AGENT_MEMORY_FIELDS: [&str; 11] = [
    "access_count: 7 (mnemic has no such field yet)",
    "causal_parent_id: 2 (mnemic has no such field yet)",
    "decay_rate: 8 (mnemic has no such field yet)",
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

//! Files of agent-memory, its database and its JSON lines.

use super::*;

/// What agent-memory's file holds: text, tags, when.
const AGENT_MEMORY: [(&str, &[&str], &str); 9] = [
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
        "A note that was deleted again.",
        &[],
        "2026-11-29 19:09:50.212263",
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
        (9, 9, 0),
        "{report}"
    );
    assert_eq!(report.relations.added, 4);
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
        .recall(
            Recall::new("conference discount")
                .project("agent")
                .include(Include::all()),
        )
        .unwrap()[0];
    assert_eq!(hit.memory.content, AGENT_MEMORY[8].0);
    assert_said(memory);
    sound(memory);
}

/// What is said of the memories beside their texts, to the field.
fn assert_said(memory: &Memory) {
    let get = |id: &str| {
        let found = all(memory)
            .into_iter()
            .find(|found| found.id.starts_with(id));
        found.unwrap()
    };
    let (slow, index, fast) = (get("b4d89b70"), get("0e506990"), get("48dda520"));
    assert_eq!(slow.lifecycle.kind, Kind::Episodic);
    assert_eq!(slow.lifecycle.importance, 0.8);
    assert_eq!(slow.lifecycle.source.as_deref(), Some("session-1"));
    assert_eq!(slow.usage.accesses, 1);
    assert_eq!(slow.usage.last, Some(time("2026-11-29 19:09:50.26123")));
    assert_eq!(index.lifecycle.causal_parent.as_ref(), Some(&slow.id));
    assert_eq!(fast.lifecycle.causal_parent.as_ref(), Some(&index.id));
    assert_eq!(slow.lifecycle.superseded_by.as_ref(), Some(&fast.id));
    assert_eq!(
        slow.lifecycle.superseded_at,
        Some(time("2026-11-29 19:09:50.18686"))
    );
    let contradicted = get("56f7dc01");
    assert_eq!(contradicted.lifecycle.trust, 0.372_499_999_872_260_8);
    let never_used = get("6d155102");
    assert_eq!(
        (never_used.usage.accesses, never_used.usage.last),
        (0, None)
    );
    let discount = get("b012c626").lifecycle;
    assert_eq!(
        (discount.valid_from, discount.valid_until),
        (Some(time("2026-05-01")), Some(time("2026-06-01")))
    );
    let forgotten: Vec<StoredMemory> = all(memory)
        .into_iter()
        .filter(|memory| memory.lifecycle.forgotten_at.is_some())
        .collect();
    assert_eq!(forgotten.len(), 1);
    assert_eq!(forgotten[0].content, "A note that was deleted again.");
    assert_eq!(
        forgotten[0].lifecycle.forgotten_at,
        Some(time("2026-11-29 19:09:50.216356"))
    );
    let mut file = Vec::new();
    memory.export(Export::new(), &mut file).unwrap();
    let file = String::from_utf8(file).unwrap();
    for told in [
        r#""entities":["trace queries","causal_parent_id"]"#,
        r#""entities":["午散步","用户喜欢在周五下"]"#,
        r#"{"type":"relation","from":"56f7dc01-ac2c-4f9f-8caa-2dda51350f3a","to":"d119df97-1222-4a66-9240-8d95f4ebaaa0","kind":"contradicts","created_at":"2026-11-29T19:09:50.200344Z"}"#,
    ] {
        assert!(file.contains(told), "{told}: {file}");
    }
}

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
    assert_eq!(report.events.added, 24);
    let mut expected = [
        "backend_meta: 1 row (its settings)",
        "entity_index: 13 rows (an index of the entities that its memories name)",
        "memory_vec_index: 8 rows (an index of its vectors)",
        "memory_vectors: 9 rows (which model made them is not known)",
    ];
    let mut told = left(&report.left);
    expected.sort();
    told.sort();
    assert_eq!(told, expected);

    // Every row of which something is left is among what was kept.
    let mut tables: BTreeMap<String, u64> = BTreeMap::new();
    let kept = String::from_utf8(kept).unwrap();
    for line in kept.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        *tables
            .entry(line["table"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    let tables: Vec<(&str, u64)> = tables
        .iter()
        .map(|(table, rows)| (table.as_str(), *rows))
        .collect();
    assert_eq!(
        tables,
        [
            ("backend_meta", 1),
            ("entity_index", 13),
            ("memory_vec_index", 8),
            ("memory_vectors", 9),
        ]
    );
    assert_eq!(report.left_written, 31);
    assert_logs(&memory);
    let again = memory
        .import(Import::agent_memory(&path).project("agent"))
        .unwrap();
    assert_eq!(
        (
            again.unchanged,
            again.relations.unchanged,
            again.events.unchanged
        ),
        (9, 4, 24)
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
    let mut expected = ["memory.embedding: 9 (which model made them is not known)"];
    let mut told = left(&report.left);
    expected.sort();
    told.sort();
    assert_eq!(told, expected);
    let memories: Vec<&str> = file.lines().take(9).collect();
    assert_eq!(
        String::from_utf8(kept).unwrap().lines().collect::<Vec<_>>(),
        memories,
        "every line of which something is left, as it came"
    );

    let database = fixture(folder.path(), "agent-memory-0.2.1.db");
    let again = memory
        .import(Import::agent_memory(database).project("agent"))
        .unwrap();
    assert_eq!(
        (
            again.unchanged,
            again.relations.unchanged,
            again.events.added
        ),
        (9, 4, 24)
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
        (
            r#"{"type":"relation","payload":{"source_id":"a","target_id":"a","relation_type":"supports","created_at":"2026-01-01"}}"#,
            "line 1: it is of a memory to itself",
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

/// Both logs, interleaved as it happened, by their own words.
fn assert_logs(memory: &Memory) {
    let team = memory.in_project("agent");
    let events = team.events(Events::of("c7a576bf-dc06-49d2-b380-20b2659e14a0").oldest_first());
    let told: Vec<String> = events
        .unwrap()
        .iter()
        .map(|event| {
            let (actor, detail) = (event.actor.as_deref(), event.detail.as_deref());
            format!(
                "{} {} {:?} {}",
                event.at,
                event.action,
                actor,
                detail.unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            r#"2026-11-29 19:09:50.212684 created None {"log":"evolution","payload":{"source_id": "session-1"}}"#,
            r#"2026-11-29 19:09:50.212698 create Some("system") {"log":"audit","payload":{"source_id": "session-1"}}"#,
            r#"2026-11-29 19:09:50.216527 deleted None {"log":"evolution","payload":{"deleted_at": "2026-11-29T19:09:50.216356+00:00"}}"#,
            r#"2026-11-29 19:09:50.216542 delete Some("system") {"log":"audit","payload":{"deleted_at": "2026-11-29T19:09:50.216356+00:00"}}"#,
        ]
    );
    for event in memory.events(Events::new()).unwrap() {
        let error = memory.undo(event.number).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidInput,
            "it has no image: {error}"
        );
    }
}

/// What another program may have put there, that cannot be: circles, ends that are not there, values out of range.
#[test]
fn odd_links_of_agent_memory_are_left_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             UPDATE memories SET causal_parent_id = (SELECT id FROM memories WHERE id LIKE '48dd%') WHERE id LIKE 'b4d8%';
             UPDATE memories SET supersedes_id = (SELECT id FROM memories WHERE id LIKE '48dd%') WHERE id LIKE 'b4d8%';
             UPDATE memories SET supersedes_id = 'nobody', layer = 'middle', trust_score = 7, memory_type = 'dream' WHERE id LIKE '774f%';
             UPDATE memories SET causal_parent_id = id, access_count = -1, last_accessed = 'once' WHERE id LIKE '6d15%';
             UPDATE memories SET valid_from = '2026-07-01', deleted_at = 'yes' WHERE id LIKE 'b012%';
             UPDATE memories SET causal_parent_id = 'nobody' WHERE id LIKE 'd119%';
             INSERT INTO relations (source_id, target_id, relation_type, created_at)
                 SELECT id, id, 'related_to', '2026-12-01' FROM memories LIMIT 1;
             INSERT INTO relations (source_id, target_id, relation_type, created_at)
                 SELECT id, 'nobody', 'related_to', '2026-12-01' FROM memories LIMIT 1;
             INSERT INTO audit_log (actor, operation, target_type, target_id, payload_json, created_at)
                 VALUES ('x', 'compact', 'database', 'all', '{}', '2026-12-01'), ('x', 'note', 'memory', 'long-gone', 'no json', '2026-12-01');",
        )
        .unwrap();
    let (memory, mut kept) = (memory(), Vec::new());
    let report = memory
        .import(Import::agent_memory(&path).left_to(&mut kept))
        .unwrap();
    assert_eq!((report.added, report.events.added), (9, 25), "{report}");
    let mut told = left(&report.left);
    told.retain(|line| {
        !["backend", "entity", "memory_vec"]
            .iter()
            .any(|table| line.starts_with(table))
    });
    assert_eq!(
        told,
        [
            "audit_log: 1 row (it is of no memory)",
            "memories.access_count: 1 (no count)",
            "memories.causal_parent_id: 1 (it leads in a circle)",
            "memories.causal_parent_id: 1 (no id of another memory)",
            "memories.deleted_at: 1 (no time: it is forgotten since it was created)",
            "memories.last_accessed: 1 (no time)",
            "memories.layer: 1 (no layer that mnemic has)",
            "memories.supersedes_id: 1 (it leads in a circle)",
            "memories.supersedes_id: 1 (it names a memory that is neither in the import nor here)",
            "memories.trust_score: 1 (no number, or out of its range)",
            "memories.valid_from: 1 (it would begin to hold when it holds no more)",
            "memories.valid_until: 1 (it would begin to hold when it holds no more)",
            "memory.lifecycle.causal_parent: 1 (it names a memory that is neither in the import nor here)",
            "relation: 1 row (it names a memory that is neither in the import nor here)",
            "relations: 1 row (it is of a memory to itself)",
        ]
    );
    let lines = String::from_utf8(kept).unwrap();
    assert_eq!(lines.lines().count() as u64, report.left_written);
    let gone = &memory.events(Events::of("long-gone")).unwrap()[0];
    assert_eq!(
        gone.detail.as_deref(),
        Some(r#"{"log":"audit","payload":"no json"}"#)
    );
    sound(&memory);
    let again = memory.import(Import::agent_memory(&path)).unwrap();
    assert_eq!((again.unchanged, again.events.unchanged), (9, 25));
}

fn lines_by_id(file: &str) -> BTreeMap<String, serde_json::Value> {
    let lines = file.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let payload = line["payload"].as_object_mut().unwrap();
        payload.remove("embedding");
        let of = |name: &str| payload[name].as_str().unwrap().to_owned();
        let id = match payload.contains_key("id") {
            true => of("id"),
            false => of("source_id") + &of("relation_type") + &of("target_id"),
        };
        (id, line)
    });
    lines.collect()
}

/// What came from agent-memory goes back as it was, to the field, each memory after those that it names.
#[test]
fn agent_memorys_own_lines_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.jsonl");
    let original = std::fs::read_to_string(path).unwrap();
    let memory = memory();
    memory
        .import(Import::agent_memory_jsonl(original.as_bytes()))
        .unwrap();
    let mut file = Vec::new();
    let report = memory
        .export(Export::agent_memory_jsonl(), &mut file)
        .unwrap();
    assert_eq!(
        (report.memories, report.vectors, report.relations),
        (9, 9, 4)
    );
    assert_eq!((report.left, report.bytes), (vec![], file.len() as u64));
    let file = String::from_utf8(file).unwrap();
    assert_eq!(lines_by_id(&file), lines_by_id(&original));
    assert!(
        file.lines()
            .all(|line| !line.starts_with(r#"{"type":"memory""#)
                || line.contains(r#""embedding":[0"#)
                || line.contains(r#""embedding":[-"#))
    );
    let mut written: Vec<serde_json::Value> = Vec::new();
    for line in file.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let payload = line["payload"].clone();
        for name in [
            "causal_parent_id",
            "supersedes_id",
            "source_id",
            "target_id",
        ] {
            let is_link = line["type"] == "relation" || name != "source_id";
            let named = payload
                .get(name)
                .filter(|named| is_link && named.is_string());
            assert!(named.is_none_or(|named| written.contains(named)), "{line}");
        }
        written.extend(payload.get("id").cloned());
    }
    // And comes in again.
    let again = memory
        .import(Import::agent_memory_jsonl(file.as_bytes()))
        .unwrap();
    assert_eq!((again.unchanged, again.relations.unchanged), (9, 4));
    let other = self::memory();
    other
        .import(Import::agent_memory_jsonl(file.as_bytes()))
        .unwrap();
    let lines = |memory: &Memory| {
        let mut file = Vec::new();
        memory.export(Export::new(), &mut file).unwrap();
        String::from_utf8(file).unwrap()
    };
    let sorted = |file: String| {
        let mut lines: Vec<String> = file.lines().map(ToOwned::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(lines(&other)), sorted(lines(&memory)));
}

#[test]
fn what_agent_memory_has_no_place_for_is_told() {
    let memory = memory();
    memory.keep_history(mnemic::History::new()).unwrap();
    memory
        .store_all([
            NewMemory::new("old").id("old").project("p").pinned(),
            NewMemory::new("older").id("older").kind("dream"),
            NewMemory::new("cause").id("cause").source("talk"),
            NewMemory::new("effect")
                .id("effect")
                .caused_by("cause")
                .created_at(time("2026-01-01 00:00:00.25")),
            NewMemory::new("new")
                .id("new")
                .supersedes(["old", "older"])
                .caused_by("effect"),
        ])
        .unwrap();
    // What it led to stands in its place: agent-memory could store neither first.
    memory.supersede("effect", "cause").unwrap();
    memory
        .relate(NewRelation::new("old", "new", RelationKind::SUPPORTS).explanation("why"))
        .unwrap();
    memory
        .relate(NewRelation::new("old", "new", "own kind").source("a test"))
        .unwrap();
    let mut file = Vec::new();
    let report = memory
        .export(Export::agent_memory_jsonl().no_vectors(), &mut file)
        .unwrap();
    let told = left(&report.left);
    for line in [
        "memory.project: 1 (agent-memory has no such field)",
        "memory.pinned: 1 (agent-memory has no such field)",
        "memory.kind: 1 (one that agent-memory does not know: written as semantic)",
        "memory.superseded_by: 1 (a memory of agent-memory supersedes one, and none that it leads to)",
        "relation.explanation: 1 (agent-memory has no such field)",
        "relation: 1 row (of a kind that agent-memory does not know)",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:?}");
    }
    assert!(
        told.iter().any(|told| told.starts_with("event: ")),
        "{told:?}"
    );
    let circle = [
        "memory.causal_parent: 1 (it names",
        "memory.superseded_by: 2",
    ];
    assert!(
        circle
            .iter()
            .any(|one| told.iter().any(|told| told.starts_with(one))),
        "{told:?}"
    );
    let file = String::from_utf8(file).unwrap();
    assert!(
        file.contains(r#""embedding":[]"#)
            && file.contains(r#""created_at":"2026-01-01T00:00:00.250000+00:00""#),
        "{file}"
    );
    let other = self::memory();
    let came = other
        .import(Import::agent_memory_jsonl(file.as_bytes()))
        .unwrap();
    assert_eq!((came.added, came.relations.added), (5, report.relations));
    let ids: Vec<String> = file
        .lines()
        .filter_map(|line| {
            Some(
                serde_json::from_str::<serde_json::Value>(line).unwrap()["payload"]["id"]
                    .as_str()?
                    .to_owned(),
            )
        })
        .collect();
    let place = |id: &str| ids.iter().position(|own| own == id).unwrap();
    assert!(place("old") < place("new") && place("effect") < place("new"));
    let bare = memory
        .export(Export::agent_memory_jsonl().ids(["new"]), std::io::sink())
        .unwrap();
    assert_eq!((bare.memories, bare.relations), (1, 0));
    assert!(
        left(&bare.left)
            .iter()
            .any(|told| told.starts_with("memory.causal_parent: 1"))
    );
}

#[test]
fn vectors_of_agent_memory_come_along_where_their_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "agent-memory-0.2.1.db");
    let hashes = WordHash::named("hash fallback", "0.2.1", 384);
    let import = Import::agent_memory(&path).model(hashes.model().clone());
    let memory = Memory::builder().embedder(hashes).open_in_memory().unwrap();
    let report = memory.import(import).unwrap();
    assert_eq!((report.vectors_carried, report.vectors_made), (9, 0));
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

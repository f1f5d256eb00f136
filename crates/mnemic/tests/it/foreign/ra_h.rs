//! Files of RA-H.

use super::*;

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
        (4, 4 + 8, 0)
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
            "chunks.created_at: 8 (mnemic has no such field yet)",
            "chunks.embedding_type: 8 (mnemic has no such field yet)",
            "dimension_migration_snapshots: 1 row (its record of an old change)",
            "nodes.chunk_status: 4 (mnemic has no such field yet)",
            "nodes.embedding: 3 (which model made them is not known)",
            "nodes.embedding_text: 3 (mnemic has no such field yet)",
            "nodes.embedding_updated_at: 3 (mnemic has no such field yet)",
            "vec_chunks: 6 rows (vectors of passages, which are made anew)",
            "vec_nodes: 2 rows (an index of vectors that the nodes hold)",
        ]
    );
    assert_eq!((report.documents, report.relations.added), (4, 3));
    assert_documents(&memory);
    assert_edges(&memory);
    let kept = String::from_utf8(kept).unwrap();
    assert_eq!(kept.lines().count() as u64, report.left_written);
    assert_eq!(report.left_written, 4 + 8 + 1 + 6 + 2);
    let again = memory.import(Import::ra_h(&path)).unwrap();
    assert_eq!((again.unchanged, again.relations.unchanged), (4, 3));
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
        (4, 3 + 6, 1)
    );
    assert_documents(&memory);
    // The two chunks without vectors are told, and mended.
    let coverage = memory.coverage().unwrap();
    assert_eq!((coverage.memories, coverage.missing), (4, 0));
    assert_eq!(
        (coverage.documents, coverage.chunks, coverage.chunks_missing),
        (4, 8, 2)
    );
    assert_eq!(
        memory
            .backfill(|_| ControlFlow::Continue(()))
            .unwrap()
            .embedded,
        2
    );
    assert_eq!(memory.coverage().unwrap().chunks_missing, 0);
    sound(&memory);
}

/// Where nobody can embed, what came with its vector has it, and the rest is told.
#[test]
fn vectors_of_ra_h_come_also_where_its_model_cannot_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let model = EmbeddingModel::new("openai", "text-embedding-3-small", "1", 1_536);
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let report = memory
        .import(Import::ra_h(&path).model(model.clone()))
        .unwrap();
    assert_eq!((report.vectors_carried, report.vectors_made), (9, 0));
    assert_eq!(memory.health().unwrap().model, Some(model));
    let coverage = memory.coverage().unwrap();
    assert_eq!((coverage.missing, coverage.chunks_missing), (1, 2));
    assert_documents(&memory);
}

fn assert_documents(memory: &Memory) {
    let talk = memory.document("ra-h-1").unwrap().unwrap();
    assert_eq!(talk.title, "From editors to agents");
    assert_eq!(
        talk.description.as_deref(),
        Some("Talk transcript about the levels of agent use")
    );
    assert_eq!(talk.link.as_deref(), Some("https://example.org/talk"));
    assert_eq!(talk.metadata.as_deref(), Some(r#"{"type":"transcript"}"#));
    assert_eq!(talk.event_date, Some(time("2026-03-01")));
    assert_eq!(talk.memory.created_at, time("2026-04-20 10:00:00"));
    assert_eq!((talk.chunks, talk.chunked), (5, true));
    let source = memory.source("ra-h-1").unwrap().unwrap();
    let passages = memory.passages_of("ra-h-1").unwrap();
    assert!(
        passages[1].text.starts_with("[30.1s] Part 1.")
            && passages[1].text.ends_with("every line of it.")
    );
    for passage in &passages {
        assert_eq!(&source[passage.bytes.clone()], passage.text);
    }
    let person = memory.document("ra-h-4").unwrap().unwrap();
    assert_eq!(
        (person.chunks, person.metadata.as_deref()),
        (0, Some(r#"{"type":"person"}"#))
    );
}

fn assert_edges(memory: &Memory) {
    let mut file = Vec::new();
    memory.export(Export::new(), &mut file).unwrap();
    let file = String::from_utf8(file).unwrap();
    let edges: Vec<&str> = file
        .lines()
        .filter(|line| line.contains(r#""type":"relation""#))
        .collect();
    assert_eq!(
        edges,
        [
            r#"{"type":"relation","from":"ra-h-2","to":"ra-h-1","kind":"related_to","explanation":"The idea was drawn from this talk","context":{"confidence":0.9},"source":"user","created_at":"2026-04-20T10:00:00Z"}"#,
            r#"{"type":"relation","from":"ra-h-1","to":"ra-h-4","kind":"related_to","explanation":"This person gave the talk","source":"ai","created_at":"2026-04-20T10:00:00Z"}"#,
            r#"{"type":"relation","from":"ra-h-3","to":"ra-h-2","kind":"related_to","context":{},"source":"user","created_at":"2026-04-20T10:00:00Z"}"#,
        ]
    );
}

/// Chunks that are no slices are cut anew, and told; what cannot be is left.
#[test]
fn odd_chunks_and_edges_of_ra_h_are_left_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "UPDATE chunks SET text = 'not of the source' WHERE id = 107;
             UPDATE nodes SET metadata = '{', event_date = 'spring' WHERE id = 4;
             INSERT INTO edges (from_node_id, to_node_id, context, created_at) VALUES
                 (1, 1, NULL, '2026-01-01'), (1, 2, '{', '2026-01-01'), (1, 2, NULL, 'once'), (1, 99, NULL, '2026-01-01'),
                 (1, 2, '{\"type\":\"cites\"}', '2026-01-01');",
        )
        .unwrap();
    let memory = memory();
    let report = memory.import(Import::ra_h(&path)).unwrap();
    let told = left(&report.left);
    for line in [
        "chunks: 2 rows (no slices of their source, one behind the other: it was cut anew)",
        "edges: 1 row (it is of a node to itself)",
        "edges: 1 row (its context is no JSON)",
        "edges: 1 row (it has no time)",
        "nodes.metadata: 1 (no JSON)",
        "nodes.event_date: 1 (no time)",
        "relation: 1 row (it names a memory that is neither in the import nor here)",
    ] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:?}");
    }
    assert_eq!(report.relations.added, 4);
    let notes = memory.passages_of("ra-h-3").unwrap();
    assert_eq!(notes.len(), 1);
    sound(&memory);
}

#[test]
fn a_node_that_was_imported_and_then_changed_is_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "ra-h.sqlite");
    let memory = memory();
    memory.import(Import::ra_h(&path)).unwrap();
    memory
        .update_document("ra-h-4", DocumentUpdate::new().title("A person who left"))
        .unwrap();
    let error = memory.import(Import::ra_h(&path)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let kept = memory
        .import(Import::ra_h(&path).on_conflict(OnConflict::Keep))
        .unwrap();
    assert_eq!((kept.kept, kept.unchanged), (1, 3));
    assert_eq!(
        memory.get("ra-h-4").unwrap().unwrap().content,
        "A person who left\nWorks on compilers"
    );
}

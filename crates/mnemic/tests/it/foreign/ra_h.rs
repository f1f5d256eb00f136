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

//! Damage done to documents by hand, found by the check, mended by the repair. Here, as harming a file needs its raw
//! connection.

use std::collections::HashMap;

use crate::{
    CheckReport, ChunkVector, ChunkVectors, DocumentFaults, DocumentParts, Embedded, Indexed,
    NewChunk, NewRow, OpenOptions, RecordedModel, RepairReport, Store, Timestamp,
};

fn time() -> Timestamp {
    "2026-07-01".parse().unwrap()
}

const SOURCE: &str = "aaa bbb ccc";

/// Writes the document `d` with three chunks, with keys 1 to 3 the first time.
fn write(store: &mut Store) {
    let model = RecordedModel {
        space: "test".into(),
        id: "test-model".into(),
        revision: "1".into(),
        dims: 4,
    };
    let chunk = |at: usize| NewChunk {
        bytes: at..at + 3,
        chars: at..at + 3,
        metadata: None,
    };
    let chunks = [0, 4, 8].map(chunk);
    let vector =
        |i: usize| ChunkVector::Vector((0..4).map(|x| f32::from(u8::from(x == i)) + 0.1).collect());
    let by_text = ["aaa", "bbb", "ccc"].iter().enumerate();
    let by_text: HashMap<String, ChunkVector> = by_text
        .map(|(i, text)| ((*text).to_owned(), vector(i)))
        .collect();
    let parts = DocumentParts {
        title: "T".into(),
        chunking: "{}".into(),
        preview: 100,
        ..DocumentParts::default()
    };
    let embedded = Some(Embedded {
        model: &model,
        vector: &[1.0, 0.0, 0.0, 0.0],
    });
    let vectors = Some(ChunkVectors {
        model: &model,
        by_text: &by_text,
    });
    let row = NewRow {
        id: Some("d".into()),
        content: String::new(),
        project: None,
        tags: vec![],
        created_at: time(),
        entities: Vec::new(),
    };
    store
        .write(|w| match w.document("d")? {
            Some(_) => w
                .write_document("d", &parts, SOURCE, &chunks, embedded, vectors, time())
                .map(drop),
            None => w
                .insert_document(&row, &parts, SOURCE, &chunks, embedded, vectors)
                .map(drop),
        })
        .unwrap();
}

/// Harms a file with one document; answers with what the check found and what the repair did. Afterwards only what needs
/// a model or a cutter is left, and writing the document anew leaves nothing.
fn harmed(sql: &str) -> (CheckReport, RepairReport) {
    let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
    write(&mut store);
    assert!(store.check().unwrap().is_ok());
    store.connection().execute_batch(sql).unwrap();
    store
        .connection()
        .execute_batch("PRAGMA foreign_keys = ON")
        .unwrap();
    let found = store.check().unwrap();
    assert!(!found.is_ok(), "{sql}: found nothing");
    let report = store
        .repair(time())
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let after = store.check().unwrap();
    let left = DocumentFaults {
        stale: Vec::new(),
        stale_cards: Vec::new(),
        missing_vectors: Vec::new(),
        ..after.documents.clone()
    };
    assert!(left.is_ok(), "{sql}: {after:?}");
    let stale = store.read(|s| s.stale_documents()).unwrap();
    let to_cut = !after.documents.stale.is_empty() || !after.documents.stale_cards.is_empty();
    assert_eq!(to_cut, !stale.is_empty(), "{sql}: {after:?}");
    write(&mut store);
    let after = store.check().unwrap();
    assert!(after.is_ok(), "{sql}: {after:?}");
    (found, report)
}

#[test]
fn harm_is_found_and_mended() {
    type Found = fn(&DocumentFaults) -> bool;
    let harms: [(&str, Found); 10] = [
        ("UPDATE documents SET source = source || '!'", |f| {
            f.stale == ["d"]
        }),
        ("UPDATE chunks SET text = 'other' WHERE place = 1", |f| {
            f.stale == ["d"]
        }),
        (
            "UPDATE chunks SET start_char = start_char + 1, end_char = end_char + 1 WHERE place = 1",
            |f| f.stale == ["d"],
        ),
        ("UPDATE chunks SET place = 7 WHERE place = 1", |f| {
            f.stale == ["d"]
        }),
        ("DELETE FROM chunk_vec WHERE chunk = 2", |f| {
            f.missing_vectors == [2]
        }),
        (
            "INSERT INTO chunk_vec (chunk, embedding) VALUES (99, '[1, 0, 0, 0]')",
            |f| f.orphan_vectors == [99],
        ),
        (
            "UPDATE chunk_vec SET embedding = '[0, 0, 0, 0]' WHERE chunk = 1",
            |f| f.bad_vectors == [1],
        ),
        (
            "DROP TRIGGER chunks_fts_delete; DELETE FROM chunks WHERE place = 2",
            |f| f.orphan_words == [3],
        ),
        ("PRAGMA foreign_keys = OFF; DELETE FROM documents", |f| {
            f.orphans == [1, 2, 3]
        }),
        ("UPDATE documents SET title = 'Other'", |f| {
            f.stale_cards == ["d"]
        }),
    ];
    for (sql, is_found) in harms {
        if sql.contains("DELETE FROM documents") {
            // Its memory is no document any more: it cannot be written as one.
            let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
            write(&mut store);
            store.connection().execute_batch(sql).unwrap();
            store
                .connection()
                .execute_batch("PRAGMA foreign_keys = ON")
                .unwrap();
            assert!(is_found(&store.check().unwrap().documents));
            assert_eq!(store.repair(time()).unwrap().orphan_chunks_removed, 3);
            let after = store.check().unwrap();
            assert!(after.is_ok(), "{after:?}");
            continue;
        }
        let (found, _) = harmed(sql);
        assert!(is_found(&found.documents), "{sql}: {found:?}");
    }
}

/// What one document lacks is looked up by the keys of its chunks: no list of all vectors of the file is made for it.
#[test]
fn what_one_document_lacks_is_looked_up() {
    let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
    write(&mut store);
    store
        .connection()
        .execute_batch("DELETE FROM chunk_vec WHERE chunk = 2")
        .unwrap();
    let plan = store
        .read(|snapshot| {
            assert_eq!(snapshot.missing_of(1)?, 1);
            let lacks = snapshot.lacks(Indexed::Passages)?;
            let sql = Indexed::Passages.filled(&format!(
                "EXPLAIN QUERY PLAN SELECT count(*) FROM {{base}} WHERE seq = 1 AND {lacks}"
            ));
            let mut statement = snapshot.connection().prepare(&sql).unwrap();
            let lines = statement
                .query_map([], |row| row.get::<_, String>(3))
                .unwrap();
            Ok::<_, crate::SchemaError>(lines.map(Result::unwrap).collect::<Vec<_>>())
        })
        .unwrap()
        .join("; ");
    assert!(
        plan.contains("CORRELATED") && !plan.contains("LIST SUBQUERY"),
        "{plan}"
    );
    // 2 is the plan of vec0 for one key, 1 that for all.
    assert!(plan.contains("v VIRTUAL TABLE INDEX 1:2"), "{plan}");
}

/// A memory deleted without foreign keys leaves a document behind, which no one could find.
#[test]
fn a_document_without_its_memory_goes() {
    let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
    write(&mut store);
    store
        .connection()
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM memories; PRAGMA foreign_keys = ON")
        .unwrap();
    assert!(!store.check().unwrap().is_ok());
    let report = store.repair(time()).unwrap();
    assert_eq!(report.orphan_rows_removed, 1, "{report:?}");
    let after = store.check().unwrap();
    assert!(after.is_ok(), "{after:?}");
    assert_eq!((after.documents.documents, after.documents.chunks), (0, 0));
}

#[test]
fn what_is_missing_of_the_schema_is_made_again() {
    for (harm, name) in [
        (
            "DROP TRIGGER chunks_fts_insert",
            "trigger chunks_fts_insert is missing",
        ),
        (
            "DROP TRIGGER chunks_vec_delete",
            "trigger chunks_vec_delete is missing",
        ),
        (
            "DROP TRIGGER index_log_chunks",
            "trigger index_log_chunks is missing",
        ),
        ("DROP TABLE chunk_vec", "table chunk_vec is missing"),
        ("DROP TABLE chunks_fts", "table chunks_fts is missing"),
        ("DROP TABLE chunk_log", "table chunk_log is missing"),
        ("DROP VIEW chunks_text", "view chunks_text is missing"),
    ] {
        let (found, report) = harmed(harm);
        assert!(
            found.structure.contains(&name.to_owned()),
            "{harm}: {found:?}"
        );
        assert!(
            report.restored.contains(&name.to_owned()),
            "{harm}: {report:?}"
        );
    }
    let (found, report) = harmed("DROP TABLE chunk_vec_vector_chunks00");
    assert!(found.documents.vector_index.is_some() && report.vector_index_rebuilt);
}

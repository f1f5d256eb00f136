//! Damage done by hand, found by the check, mended by the repair. Here, as harming a file needs its raw connection.

use crate::{
    CheckReport, Embedded, NewRow, OpenOptions, RecordedModel, RepairReport, SchemaError, Store,
    Timestamp,
};

fn model() -> RecordedModel {
    RecordedModel {
        space: "test".into(),
        id: "test-model".into(),
        revision: "1".into(),
        dims: 4,
    }
}

/// Three memories with keys 1 to 3, ids `id1` to `id3`, a tag and a vector each.
fn store() -> Store {
    let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
    let model = model();
    store
        .write(|w| {
            for (i, content) in ["alpha", "beta", "gamma"].iter().enumerate() {
                let mut vector = [0.0; 4];
                vector[i] = 1.0;
                let row = NewRow {
                    id: Some(format!("id{}", i + 1)),
                    content: (*content).into(),
                    project: None,
                    tags: vec!["T".into()],
                    created_at: "2026-01-01".parse().unwrap(),
                    entities: Vec::new(),
                };
                w.insert(
                    &row,
                    Some(Embedded {
                        model: &model,
                        vector: &vector,
                    }),
                )?;
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    assert!(store.check().unwrap().is_ok());
    store
}

/// Harms a store by SQL; answers with what the check found and what the repair did. Afterwards nothing is wrong but for
/// `lost` vectors, which are put back as a caller would.
fn harmed(sql: &str, lost: &[&str]) -> (CheckReport, RepairReport) {
    let mut store = store();
    store.connection().execute_batch(sql).unwrap();
    let memories = store.read(|s| s.memory_count()).unwrap();
    let found = store.check().unwrap();
    assert!(!found.is_ok(), "{sql}: found nothing");
    let now: Timestamp = "2026-07-01".parse().unwrap();
    let report = store
        .repair(now)
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let after = store.check().unwrap();
    assert_eq!(after.missing_vectors, lost, "{sql}: {after:?}");
    let model = model();
    let embedded = Embedded {
        model: &model,
        vector: &[0.0, 0.0, 0.0, 1.0],
    };
    for id in lost {
        let row = store.read(|s| s.row(id)).unwrap().unwrap();
        let add = |store: &mut Store, content: &str| {
            store
                .write(|w| w.add_missing_vector(row.seq, content, embedded))
                .unwrap()
        };
        assert!(!add(&mut store, "other content"));
        assert!(add(&mut store, &row.content));
        assert!(!add(&mut store, &row.content));
    }
    let mended = store.check().unwrap();
    assert!(mended.is_ok(), "{sql}: {mended:?}");
    assert_eq!(mended.memories, memories);
    (found, report)
}

#[test]
fn vectors() {
    let (found, _) = harmed("DELETE FROM memory_vec WHERE seq = 2", &["id2"]);
    assert_eq!(found.missing_vectors, ["id2"]);

    let orphan = "INSERT INTO memory_vec (seq, embedding) VALUES (99, '[1, 0, 0, 0]')";
    let (found, report) = harmed(orphan, &[]);
    assert_eq!(found.orphan_vectors, [99]);
    assert_eq!(report.orphan_vectors_removed, 1);

    let zero = "UPDATE memory_vec SET embedding = '[0, 0, 0, 0]' WHERE seq = 3";
    let (found, report) = harmed(zero, &["id3"]);
    assert_eq!(found.bad_vectors, [3]);
    assert_eq!(report.bad_vectors_removed, 1);

    let nan = "UPDATE memory_vec SET embedding = x'0000c07f000000000000000000000000' WHERE seq = 1";
    let (found, _) = harmed(nan, &["id1"]);
    assert_eq!(found.bad_vectors, [1]);
}

#[test]
fn vectors_and_words_of_a_row_that_vanished_behind_the_triggers() {
    let sql = "PRAGMA foreign_keys = OFF; DROP TRIGGER memories_fts_delete; DROP TRIGGER memories_vec_delete;
               DELETE FROM memories WHERE seq = 2";
    let (found, report) = harmed(sql, &[]);
    assert_eq!(found.orphan_vectors, [2]);
    assert_eq!(found.orphan_words, [2]);
    assert_eq!(found.stale_tags, ["key 2"]);
    assert!(report.word_index_rebuilt && report.tag_index_rebuilt);
}

#[test]
fn words() {
    let other_text =
        "DROP TRIGGER memories_fts_update; UPDATE memories SET content = 'other' WHERE seq = 1";
    let (found, report) = harmed(other_text, &[]);
    assert!(found.word_index.is_some(), "{found:?}");
    assert!(report.word_index_rebuilt);

    let forgotten = "INSERT INTO memories_fts (memories_fts, rowid, content, tags) VALUES ('delete', 2, 'beta', 'T')";
    let (found, _) = harmed(forgotten, &[]);
    assert_eq!(found.missing_words, ["id2"]);
}

#[test]
fn entities() {
    let sql = "PRAGMA foreign_keys = OFF;
               INSERT INTO memory_entities (entity, seq, name, place) VALUES
                   ('Anna', 1, 'Anna', 0), ('anna', 1, 'anna', 1), ('bob', 2, 'Bob', 0), ('bob', 99, 'Bob', 0)";
    let (found, report) = harmed(sql, &[]);
    assert_eq!(found.stale_entities, ["id1", "key 99"]);
    assert_eq!(report.entities_mended, 2);
}

#[test]
fn tags_and_times() {
    let (found, report) = harmed("UPDATE memories SET tags = '[1]' WHERE seq = 1", &[]);
    assert_eq!(found.bad_tags, ["id1"]);
    assert_eq!(report.tags_mended, 1);

    let (found, _) = harmed("DELETE FROM memory_tags WHERE seq = 3", &[]);
    assert_eq!(found.stale_tags, ["id3"]);

    let time = "UPDATE memories SET created_at = '2026-99-99 00:00:00' WHERE seq = 2";
    let (found, report) = harmed(time, &[]);
    assert_eq!(found.bad_times, ["id2"]);
    assert_eq!(report.times_mended, 1);
}

/// REPLACE deletes rows; with recursive triggers on, the indexes hear of it.
#[test]
fn replace_leaves_no_orphans() {
    let sql = "REPLACE INTO memories (seq, id, content) VALUES (2, 'id9', 'delta')";
    let (found, _) = harmed(sql, &["id9"]);
    let expected = CheckReport {
        memories: 3,
        vectors: 2,
        has_model: true,
        missing_vectors: vec!["id9".into()],
        ..CheckReport::default()
    };
    assert_eq!(found, expected);
}

#[test]
fn a_bad_vector_in_the_file_takes_no_place_in_a_search() {
    let mut store = store();
    store
        .connection()
        .execute_batch("UPDATE memory_vec SET embedding = '[0, 0, 0, 0]' WHERE seq = 1")
        .unwrap();
    let near = store
        .read(|s| s.nearest(&[1.0, 1.0, 1.0, 0.0], 10, &crate::Filter::default()))
        .unwrap();
    assert_eq!(near.iter().map(|n| n.0).collect::<Vec<_>>(), [2, 3]);
    let distances = store
        .read(|s| s.distances(&[1.0, 1.0, 1.0, 0.0], &[1]))
        .unwrap();
    assert_eq!(distances, [None]);
}

/// Two connections write in turn, so that each finds the word index other than it left it: that is no damage.
#[test]
fn another_connections_writes_are_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut stores = [0, 1].map(|_| Store::open(&path, OpenOptions::default()).unwrap());
    for i in 0..60 {
        let row = NewRow {
            id: None,
            content: format!("item {i}"),
            project: None,
            tags: Vec::new(),
            created_at: "2026-01-01".parse().unwrap(),
            entities: Vec::new(),
        };
        stores[i % 2].write(|w| w.insert(&row, None)).unwrap();
        for store in &mut stores {
            let report = store.check().unwrap();
            assert!(report.is_ok(), "{i}: {report:?}");
        }
    }
}

#[test]
fn what_is_missing_of_the_schema_is_made_anew() {
    for (harm, name) in [
        (
            "DROP TRIGGER memories_fts_insert",
            "trigger memories_fts_insert is missing",
        ),
        (
            "DROP TRIGGER memories_vec_delete",
            "trigger memories_vec_delete is missing",
        ),
        (
            "DROP TRIGGER memories_log_delete",
            "trigger memories_log_delete is missing",
        ),
        (
            "DROP INDEX memories_by_project",
            "index memories_by_project is missing",
        ),
        ("DROP TABLE memory_tags", "table memory_tags is missing"),
        ("DROP TABLE index_log", "table index_log is missing"),
        ("DROP TABLE memories_fts", "table memories_fts is missing"),
        ("DROP VIEW memories_text", "view memories_text is missing"),
    ] {
        let (found, report) = harmed(harm, &[]);
        assert!(
            found.structure.contains(&name.to_owned()),
            "{harm}: {found:?}"
        );
        assert!(
            report.restored.contains(&name.to_owned()),
            "{harm}: {report:?}"
        );
    }
    let all = ["id1", "id2", "id3"];
    let (found, _) = harmed("DROP TABLE memory_vec", &all);
    assert_eq!(found.structure, ["table memory_vec is missing"]);
    let other = "DROP TRIGGER memories_fts_insert; CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN SELECT 1; END";
    let (found, _) = harmed(other, &[]);
    assert_eq!(
        found.structure,
        ["trigger memories_fts_insert is not what it should be"]
    );
    let (found, report) = harmed("DROP TABLE memory_vec_vector_chunks00", &all);
    assert!(
        found.vector_index.is_some() && report.vector_index_rebuilt,
        "{found:?}"
    );
}

#[test]
fn a_text_that_is_none_hides_no_other() {
    let mut store = store();
    store
        .connection()
        .execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE memories SET content = CAST(x'61ff62' AS TEXT) WHERE seq = 2")
        .unwrap();
    let rows = store
        .read(|s| s.list(&crate::Filter::default(), crate::Order::OldestFirst, None))
        .unwrap();
    assert_eq!(rows[1].content, "a\u{fffd}b");
    assert_eq!(store.check().unwrap().bad_texts, ["id2"]);
    assert_eq!(
        store
            .repair("2026-07-01".parse().unwrap())
            .unwrap()
            .texts_mended,
        1
    );
    assert!(store.check().unwrap().is_ok());
}

/// Vectors whose model is not on record are never replaced by the first that comes along.
#[test]
fn a_lost_record_of_the_model_costs_no_vectors() {
    let mut store = store();
    store
        .connection()
        .execute_batch("DELETE FROM meta WHERE key = 'model_revision'")
        .unwrap();
    let report = store.check().unwrap();
    assert!(
        report.model_missing && report.bad_vectors.is_empty(),
        "{report:?}"
    );
    let row = NewRow {
        id: None,
        content: "delta".into(),
        project: None,
        tags: Vec::new(),
        created_at: "2026-01-01".parse().unwrap(),
        entities: Vec::new(),
    };
    let model = model();
    let embedded = Embedded {
        model: &model,
        vector: &[0.0, 0.0, 0.0, 1.0],
    };
    let error = store.write(|w| w.insert(&row, Some(embedded))).unwrap_err();
    assert!(matches!(error, SchemaError::BadRow { .. }), "{error:?}");
    store.repair("2026-07-01".parse().unwrap()).unwrap();
    assert_eq!(store.check().unwrap().vectors, 3);
}

/// A store of which two memories of three are staged for a coming model.
fn staged() -> (Store, RecordedModel) {
    let mut store = store();
    let coming = RecordedModel {
        id: "coming".into(),
        dims: 2,
        ..model()
    };
    store
        .write(|w| {
            w.begin_staging(&coming)?;
            for (seq, content) in [(1, "alpha"), (2, "beta")] {
                let embedded = Embedded {
                    model: &coming,
                    vector: &[1.0, 1.0],
                };
                assert!(w.stage(seq, content, embedded)?);
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    (store, coming)
}

#[test]
fn staged_vectors() {
    for (sql, bad) in [
        (
            "INSERT INTO vector_staging VALUES (99, x'0000803f0000803f')",
            99,
        ),
        (
            "UPDATE vector_staging SET vector = x'0000000000000000' WHERE seq = 1",
            1,
        ),
        (
            "UPDATE vector_staging SET vector = x'0000803f' WHERE seq = 2",
            2,
        ),
    ] {
        let (mut store, _) = staged();
        assert!(store.check().unwrap().is_ok());
        store.connection().execute_batch(sql).unwrap();
        assert_eq!(store.check().unwrap().bad_staged, [bad], "{sql}");
        let report = store.repair("2026-07-01".parse().unwrap()).unwrap();
        assert_eq!(report.staged_vectors_removed, 1);
        assert!(store.check().unwrap().is_ok());
    }
}

/// Without its triggers the staging would keep vectors of texts that changed.
#[test]
fn the_structure_of_the_staging() {
    for (sql, fault) in [
        (
            "DROP TRIGGER vector_staging_update",
            "trigger vector_staging_update is missing",
        ),
        (
            "DROP TRIGGER vector_staging_delete",
            "trigger vector_staging_delete is missing",
        ),
        (
            "DROP INDEX vector_staging_keys",
            "index vector_staging_keys is missing",
        ),
    ] {
        let (mut store, coming) = staged();
        store.connection().execute_batch(sql).unwrap();
        assert_eq!(store.check().unwrap().structure, [fault]);
        store.repair("2026-07-01".parse().unwrap()).unwrap();
        assert!(store.check().unwrap().is_ok());
        let missing = store.write(|w| w.switch_to_staged(&coming, 0)).unwrap();
        assert_eq!(missing, crate::Switch::Missing(1));
    }
    // With its table all is gone, and is embedded again.
    let (mut store, coming) = staged();
    store
        .connection()
        .execute_batch("DROP TABLE vector_staging")
        .unwrap();
    assert_eq!(store.check().unwrap().structure.len(), 2);
    store.repair("2026-07-01".parse().unwrap()).unwrap();
    assert!(store.check().unwrap().is_ok());
    let missing = store.write(|w| w.switch_to_staged(&coming, 0)).unwrap();
    assert_eq!(missing, crate::Switch::Missing(3));
    // It may be abandoned, or begun anew, without its table too.
    let (mut store, _) = staged();
    store
        .connection()
        .execute_batch("DROP TABLE vector_staging")
        .unwrap();
    assert_eq!(store.write(|w| w.abandon_staging()).unwrap(), Some(0));
    assert!(store.check().unwrap().is_ok());
}

/// A copy that SQLite does not find whole gets no name.
#[test]
fn a_backup_of_a_damaged_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store();
    // As a failing disk would, and no statement may.
    crate::open::set_defensive(store.connection(), false).unwrap();
    store
        .connection()
        .execute_batch("DELETE FROM memories_fts_data WHERE id > 10")
        .unwrap();
    crate::open::set_defensive(store.connection(), true).unwrap();
    let to = folder.path().join("backup.db");
    let error = store.backup(&to).unwrap_err();
    assert!(
        matches!(&error, SchemaError::Damaged { found, .. } if found.contains("memories_fts")),
        "{error:?}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    store.repair("2026-07-01".parse().unwrap()).unwrap();
    store.backup(&to).unwrap();
}

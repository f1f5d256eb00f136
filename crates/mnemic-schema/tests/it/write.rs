use mnemic_schema::{Embedded, Filter, NewRow, OpenOptions, Order, RowChange, SchemaError, Store};

use crate::search::found;
use crate::{axis, model, put, row, store, time};

#[test]
fn a_row_round_trips() {
    let mut store = store();
    let given = NewRow {
        id: Some("my-id".into()),
        content: "text with \0 and \u{200d} and 'quotes' \"too\"".into(),
        project: Some("旅行/travel%_".into()),
        tags: vec![
            "a,b".into(),
            "say \"hi\"".into(),
            "写真".into(),
            "".into(),
            "*".into(),
            "nul\0".into(),
        ],
        created_at: time("2026-05-01T10:00:00.25+02:00"),
        entities: Vec::new(),
    };
    let id = put(&mut store, &given, None).unwrap();
    assert_eq!(id, "my-id");
    let got = store.read(|s| s.row("my-id")).unwrap().unwrap();
    assert_eq!(
        (&got.content, &got.project, &got.tags),
        (&given.content, &given.project, &given.tags)
    );
    assert_eq!(got.created_at, given.created_at);
    assert_eq!(got.created_at.to_string(), "2026-05-01 08:00:00.25");
    assert_eq!(got.updated_at, given.created_at);
    for tag in &given.tags {
        let filter = Filter {
            tags_all: vec![tag.clone()],
            ..Filter::default()
        };
        assert_eq!(
            store.read(|s| s.ids(&filter)).unwrap(),
            ["my-id"],
            "{tag:?}"
        );
    }
    for tag in ["a", "b", "hi", "say", "nul", "%"] {
        let filter = Filter {
            tags_any: vec![tag.into()],
            ..Filter::default()
        };
        assert_eq!(store.read(|s| s.ids(&filter)).unwrap().len(), 0, "{tag:?}");
    }
}

#[test]
fn ids_are_made_of_16_hexadecimal_digits_and_are_unique() {
    let mut store = store();
    let made: std::collections::HashSet<String> = (0..100)
        .map(|_| put(&mut store, &row("x"), None).unwrap())
        .collect();
    assert_eq!(made.len(), 100);
    assert!(
        made.iter()
            .all(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))
    );
    let again = NewRow {
        id: made.iter().next().cloned(),
        ..row("y")
    };
    let error = put(&mut store, &again, None).unwrap_err();
    assert!(
        matches!(error, SchemaError::AlreadyExists { .. }),
        "{error:?}"
    );
    for bad in ["", "a b", "é", "x\n", &"x".repeat(65)] {
        let error = put(
            &mut store,
            &NewRow {
                id: Some(bad.into()),
                ..row("y")
            },
            None,
        )
        .unwrap_err();
        assert!(
            matches!(error, SchemaError::BadId { .. }),
            "{bad:?}: {error:?}"
        );
    }
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn bad_vectors_are_refused_and_nothing_is_written() {
    let mut store = store();
    put(&mut store, &row("good"), Some(&axis(0, 0.0))).unwrap();
    let model = model(4);
    for bad in [
        vec![0.0; 4],
        vec![f32::NAN, 1.0, 0.0, 0.0],
        vec![f32::INFINITY, 0.0, 0.0, 0.0],
        vec![1e-30; 4],
        vec![3e38; 4],
        vec![1.0; 3],
        vec![],
    ] {
        let embedded = Embedded {
            model: &model,
            vector: &bad,
        };
        let error = store
            .write(|w| w.insert(&row("bad"), Some(embedded)))
            .unwrap_err();
        assert!(
            matches!(error, SchemaError::BadVector { .. }),
            "{bad:?}: {error:?}"
        );
    }
    let report = store.check().unwrap();
    assert!(
        report.is_ok() && report.memories == 1 && report.vectors == 1,
        "{report:?}"
    );
}

#[test]
fn vectors_of_two_models_never_meet() {
    let mut store = store();
    put(&mut store, &row("by the first"), Some(&axis(0, 0.0))).unwrap();
    let mut other = model(4);
    other.revision = "2".into();
    let vector = axis(1, 0.0);
    let write = |store: &mut Store, embedded: Option<Embedded<'_>>| {
        store.write(|w| w.insert(&row("by another"), embedded))
    };
    let error = write(
        &mut store,
        Some(Embedded {
            model: &other,
            vector: &vector,
        }),
    )
    .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, SchemaError::ModelMismatch { .. }),
        "{error:?}"
    );
    assert!(
        text.contains("revision 1") && text.contains("revision 2"),
        "{text}"
    );
    let error = write(&mut store, None).unwrap_err();
    assert!(
        matches!(error, SchemaError::ModelMismatch { .. }),
        "{error:?}"
    );
    // Without vectors any model is welcome, also of another width, and so is none.
    let all = store.read(|s| s.ids(&Filter::default())).unwrap();
    store.write(|w| w.delete(&all[0])).unwrap();
    put(&mut store, &row("wider"), Some(&[1.0; 8])).unwrap();
    assert_eq!(store.read(|s| s.recorded_model()).unwrap(), Some(model(8)));
    let all = store.read(|s| s.ids(&Filter::default())).unwrap();
    store.write(|w| w.delete(&all[0])).unwrap();
    write(&mut store, None).unwrap();
    assert_eq!(store.read(|s| s.recorded_model()).unwrap(), None);
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn an_update_changes_every_index_and_keeps_the_rest() {
    let mut store = store();
    let id = put(
        &mut store,
        &NewRow {
            tags: vec!["old".into()],
            ..row("desk plant is a fern")
        },
        Some(&axis(0, 0.0)),
    )
    .unwrap();
    let model = model(4);
    let vector = axis(2, 0.0);
    let change = RowChange {
        content: Some("desk plant is a cactus".into()),
        tags: Some(vec!["new".into()]),
        entities: None,
        project: Some(Some("home".into())),
    };
    let later = time("2026-06-01");
    store
        .write(|w| {
            w.update(
                &id,
                &change,
                later,
                Some(Embedded {
                    model: &model,
                    vector: &vector,
                }),
            )
        })
        .unwrap();
    assert_eq!(
        (found(&mut store, "fern"), found(&mut store, "cactus")),
        (0, 1)
    );
    assert_eq!((found(&mut store, "old"), found(&mut store, "new")), (0, 1));
    let got = store.read(|s| s.row(&id)).unwrap().unwrap();
    assert_eq!(
        (got.seq, got.created_at, got.updated_at),
        (1, time("2026-01-01"), later)
    );
    let near = store
        .read(|s| s.nearest(&vector, 1, &Filter::default()))
        .unwrap();
    assert_eq!(near.len(), 1);
    assert!(near[0].1 < 1e-6, "{near:?}");
    let error = store
        .write(|w| w.update("absent", &change, later, None))
        .unwrap_err();
    assert!(matches!(error, SchemaError::NotFound { .. }), "{error:?}");
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn a_failed_transaction_leaves_nothing() {
    let mut store = store();
    put(&mut store, &row("stays"), Some(&axis(0, 0.0))).unwrap();
    let ids = store.read(|s| s.ids(&Filter::default())).unwrap();
    let model = model(4);
    let vector = axis(1, 0.0);
    let error = store.write(|w| {
        w.insert(
            &row("goes"),
            Some(Embedded {
                model: &model,
                vector: &vector,
            }),
        )?;
        w.delete(&ids[0])?;
        Err::<(), _>(SchemaError::NotFound {
            id: "as a test".into(),
        })
    });
    assert!(error.is_err());
    assert_eq!(store.read(|s| s.ids(&Filter::default())).unwrap(), ids);
    assert_eq!(found(&mut store, "goes"), 0);
    assert!(store.check().unwrap().is_ok());
}

/// SQLite may renumber implicit rowids in VACUUM: no index may rest on them.
#[test]
fn vacuum_disturbs_no_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    let mut ids = Vec::new();
    for i in 0..3_000u16 {
        let vector = axis(usize::from(i % 4), f32::from(i) / 3_000.0);
        ids.push(put(&mut store, &row(&format!("item{i}")), Some(&vector)).unwrap());
    }
    // The first chunk of vectors is emptied whole, and holes are made elsewhere.
    store
        .write(|w| {
            for (i, id) in ids.iter().enumerate() {
                if i < 1_100 || i % 3 == 0 {
                    w.delete(id)?;
                }
            }
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    let before = everything(&mut store);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("VACUUM; VACUUM;")
        .unwrap();
    assert!(store.check().unwrap().is_ok(), "{:?}", store.check());
    assert_eq!(everything(&mut store), before);
    drop(store);
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    assert_eq!(everything(&mut store), before);
}

fn everything(store: &mut Store) -> (Vec<String>, Vec<(i64, f64)>, usize) {
    let near = store
        .read(|s| s.nearest(&axis(1, 0.3), 4_000, &Filter::default()))
        .unwrap();
    let rows = store
        .read(|s| s.list(&Filter::default(), Order::OldestFirst, None))
        .unwrap();
    let words = rows
        .iter()
        .step_by(97)
        .map(|row| found_exactly(store, &row.content, row.seq))
        .sum();
    (rows.into_iter().map(|row| row.id).collect(), near, words)
}

fn found_exactly(store: &mut Store, word: &str, seq: i64) -> usize {
    let mut hits = Vec::new();
    let words = mnemic_schema::query_words(word);
    let token = mnemic_schema::Tokenizer::new()
        .unwrap()
        .tokens(&words)
        .unwrap()
        .remove(0);
    store
        .read(|s| s.occurrences(&token, &Filter::default(), |seq, _| hits.push(seq)))
        .unwrap();
    assert_eq!(hits, [seq]);
    hits.len()
}

#[test]
fn keys_are_never_used_twice() {
    let mut store = store();
    put(&mut store, &row("a"), None).unwrap();
    let last = put(&mut store, &row("b"), None).unwrap();
    store.write(|w| w.delete(&last)).unwrap();
    let next = put(&mut store, &row("c"), None).unwrap();
    assert_eq!(store.read(|s| s.row(&next)).unwrap().unwrap().seq, 3);
}

#[test]
fn listings_are_ordered_by_instant_then_by_arrival() {
    let mut store = store();
    let times = [
        "2026-01-02",
        "2026-01-01T23:59:59.9Z",
        "2026-01-02",
        "2026-01-01",
    ];
    for (i, at) in times.iter().enumerate() {
        put(
            &mut store,
            &NewRow {
                id: Some(format!("{i}")),
                created_at: time(at),
                ..row("x")
            },
            None,
        )
        .unwrap();
    }
    let listed = |store: &mut Store, order, limit| -> Vec<String> {
        let rows = store
            .read(|s| s.list(&Filter::default(), order, limit))
            .unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(
        listed(&mut store, Order::NewestFirst, None),
        ["2", "0", "1", "3"]
    );
    assert_eq!(
        listed(&mut store, Order::OldestFirst, Some(3)),
        ["3", "1", "0"]
    );
    assert_eq!(
        listed(&mut store, Order::OldestFirst, Some(0)),
        Vec::<String>::new()
    );
}

#[test]
fn a_note_is_kept_beside_what_the_file_says_of_itself() {
    let mut store = store();
    let note = |store: &mut Store, name: &str| store.read(|s| s.note(name)).unwrap();
    assert_eq!(note(&mut store, "space"), None);
    store
        .write(|t| {
            t.set_note("space", "first")?;
            t.set_note("space", "second\n夜景 \0")?;
            t.set_note("", "empty name")
        })
        .unwrap();
    assert_eq!(note(&mut store, "space").unwrap(), "second\n夜景 \0");
    assert_eq!(note(&mut store, "").unwrap(), "empty name");
    // A name of the file's own is another key: no model was recorded by it.
    assert_eq!(store.read(|s| s.recorded_model()).unwrap(), None);
    assert_eq!(note(&mut store, "index_text_version"), None);
    // What is rolled back was never noted.
    let refused = store.write(|t| {
        t.set_note("space", "third")?;
        t.set_note("bad", "x")?;
        Err::<(), _>(SchemaError::NotFound { id: "x".into() })
    });
    assert!(refused.is_err());
    assert_eq!(note(&mut store, "space").unwrap(), "second\n夜景 \0");
    assert_eq!(note(&mut store, "bad"), None);
    assert!(store.check().unwrap().is_ok());
}

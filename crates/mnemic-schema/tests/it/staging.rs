use mnemic_schema::{Begun, Embedded, RecordedModel, RowChange, SchemaError, Space, Store, Switch};

use crate::{axis, model, put, row, store, time};

fn coming() -> RecordedModel {
    RecordedModel {
        id: "coming".into(),
        ..model(2)
    }
}

fn stage(store: &mut Store, seq: i64, content: &str, vector: &[f32]) -> Result<bool, SchemaError> {
    let model = coming();
    let embedded = Embedded {
        model: &model,
        vector,
    };
    store.write(|w| w.stage(seq, content, embedded))
}

/// Three memories, `a`, `b` and `c`, with keys 1 to 3.
fn three() -> Store {
    let mut store = store();
    for (i, content) in ["a", "b", "c"].iter().enumerate() {
        put(&mut store, &row(content), Some(&axis(i, 0.1))).unwrap();
    }
    store
}

fn unstaged(store: &mut Store) -> Vec<i64> {
    store.read(|s| s.unembedded(Space::Staging)).unwrap()
}

#[test]
fn staging_follows_the_memories() {
    let mut store = three();
    let begun = |store: &mut Store| store.write(|w| w.begin_staging(&coming())).unwrap();
    assert_eq!(begun(&mut store), Begun::Staging);
    assert_eq!(unstaged(&mut store), [1, 2, 3]);
    for (seq, content) in [(1, "a"), (2, "b"), (3, "c")] {
        assert!(stage(&mut store, seq, content, &[1.0, 0.5]).unwrap());
    }
    assert!(
        !stage(&mut store, 1, "a", &[0.5, 1.0]).unwrap(),
        "it has one"
    );
    // Begun again, what is there stays.
    assert_eq!(begun(&mut store), Begun::Staging);
    assert_eq!(unstaged(&mut store), [0i64; 0]);
    let (live, vector) = (model(4), axis(3, 0.1));
    let embedded = Some(Embedded {
        model: &live,
        vector: &vector,
    });
    let ids = store.read(|s| s.ids_of(&[1, 2, 3])).unwrap();
    let other = |content: &str| RowChange {
        content: Some(content.into()),
        ..RowChange::default()
    };
    let tags = RowChange {
        tags: Some(vec!["t".into()]),
        ..RowChange::default()
    };
    store
        .write(|w| {
            w.update(&ids[0], &other("A"), time("2026-01-02"), embedded)?;
            w.update(&ids[1], &tags, time("2026-01-02"), None)?;
            w.delete(&ids[2])
        })
        .unwrap();
    // Another text is another vector; another tag is not.
    assert_eq!(unstaged(&mut store), [1]);
    let coverage = store.read(|s| s.coverage()).unwrap();
    assert_eq!(
        (coverage.memories, coverage.embedded, coverage.staged),
        (2, 2, 1)
    );
    assert!(
        !stage(&mut store, 1, "a", &[1.0, 0.5]).unwrap(),
        "an older text"
    );
    assert!(
        !stage(&mut store, 3, "c", &[1.0, 0.5]).unwrap(),
        "it is gone"
    );
    assert!(stage(&mut store, 1, "A", &[1.0, 0.5]).unwrap());
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn the_switch_is_made_when_nothing_is_missing() {
    let mut store = three();
    let switch = |store: &mut Store, leave| store.write(|w| w.switch_to_staged(&coming(), leave));
    assert!(matches!(
        switch(&mut store, 9),
        Err(SchemaError::NotStaging { found: None })
    ));
    store.write(|w| w.begin_staging(&coming())).unwrap();
    stage(&mut store, 1, "a", &[1.0, 0.0]).unwrap();
    let before = store.read(|s| s.index_state()).unwrap();
    assert_eq!(switch(&mut store, 1).unwrap(), Switch::Missing(2));
    assert_eq!(store.read(|s| s.recorded_model()).unwrap(), Some(model(4)));
    assert_eq!(store.read(|s| s.index_state()).unwrap(), before);
    stage(&mut store, 3, "c", &[0.0, 1.0]).unwrap();
    assert_eq!(switch(&mut store, 1).unwrap(), Switch::Done(1));
    assert_eq!(store.read(|s| s.recorded_model()).unwrap(), Some(coming()));
    assert_eq!(store.read(|s| s.staged_model()).unwrap(), None);
    assert_eq!(store.read(|s| s.unembedded(Space::Live)).unwrap(), [2]);
    let nearest = |s: &mnemic_schema::Snapshot<'_>| s.nearest(&[0.1, 1.0], 1, &Default::default());
    assert_eq!(store.read(nearest).unwrap()[0].0, 3);
    // No index in memory can follow: it begins anew.
    assert_eq!(store.read(|s| s.changed_since(before.log)).unwrap(), None);
    let model = coming();
    let embedded = Embedded {
        model: &model,
        vector: &[1.0, 1.0],
    };
    assert!(
        store
            .write(|w| w.add_missing_vector(2, "b", embedded))
            .unwrap()
    );
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn bad_vectors_and_those_of_another_model_are_not_staged() {
    let mut store = three();
    assert!(matches!(
        stage(&mut store, 1, "a", &[1.0, 0.0]),
        Err(SchemaError::NotStaging { found: None })
    ));
    let other = RecordedModel {
        revision: "2".into(),
        ..coming()
    };
    store.write(|w| w.begin_staging(&other)).unwrap();
    match stage(&mut store, 1, "a", &[1.0, 0.0]) {
        Err(SchemaError::NotStaging { found: Some(found) }) => {
            assert!(found.contains("revision 2"))
        }
        answer => panic!("{answer:?}"),
    }
    store.write(|w| w.begin_staging(&coming())).unwrap();
    for bad in [vec![0.0; 2], vec![f32::NAN, 1.0], vec![1.0; 3], vec![]] {
        let error = stage(&mut store, 1, "a", &bad).unwrap_err();
        assert!(matches!(error, SchemaError::BadVector { .. }), "{error:?}");
    }
    assert_eq!(unstaged(&mut store), [1, 2, 3]);
    // The file's own model drops what was begun.
    let begun = store.write(|w| w.begin_staging(&model(4))).unwrap();
    assert_eq!(begun, Begun::IsLive);
    assert_eq!(store.write(|w| w.abandon_staging()).unwrap(), None);
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn texts_are_read_up_to_a_size() {
    let mut store = three();
    let texts = |store: &mut Store, most| store.read(|s| s.texts(&[1, 9, 2, 3], most)).unwrap();
    let [a, b, c] = [
        (1, "a".to_owned()),
        (2, "b".to_owned()),
        (3, "c".to_owned()),
    ];
    assert_eq!(texts(&mut store, 0), (1, vec![a.clone()]));
    assert_eq!(texts(&mut store, 2), (3, vec![a.clone(), b.clone()]));
    assert_eq!(texts(&mut store, 99), (4, vec![a, b, c]));
}

//! Entities as the file holds them: set, read, looked up, counted, filtered by.

use std::collections::BTreeMap;

use mnemic_schema::{Filter, NewRow, Order, RowChange, SchemaError, Scope, Snapshot, Store, fold};
use proptest::prelude::*;

use crate::{put, row, store, time};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn about(id: &str, project: Option<&str>, entities: &[&str]) -> NewRow {
    NewRow {
        id: Some(id.into()),
        project: project.map(Into::into),
        entities: names(entities),
        ..row("some text")
    }
}

fn ids(snapshot: &Snapshot<'_>, filter: &Filter) -> Vec<String> {
    snapshot.ids(filter).unwrap()
}

fn having(scope: Scope, entities: &[&str]) -> Filter {
    Filter {
        scope,
        entities_any: names(entities),
        ..Filter::default()
    }
}

fn team() -> Store {
    let mut store = store();
    for row in [
        about("a", None, &["Anna", "KX-204"]),
        about("b", Some("web"), &["ANNA", "Zürich"]),
        about("c", Some("web"), &["anna"]),
        about("d", Some("web"), &[]),
    ] {
        put(&mut store, &row, None).unwrap();
    }
    store
}

#[test]
fn they_are_kept_in_their_order_and_each_once() {
    let mut store = store();
    let row = about("a", None, &["Zoë", "anna", "", "ANNA", "Zoe\u{308}", "Bob"]);
    put(&mut store, &row, None).unwrap();
    store
        .read(|snapshot| {
            let kept = names(&["Zoë", "anna", "Bob"]);
            assert_eq!(snapshot.entities_of("a")?, Some(kept.clone()));
            assert_eq!(snapshot.row("a")?.unwrap().entities, kept);
            let listed = snapshot.list(&Filter::default(), Order::OldestFirst, None)?;
            assert_eq!(listed[0].entities, kept);
            assert_eq!(snapshot.entities_of("nobody")?, None);
            Ok::<_, SchemaError>(())
        })
        .unwrap();
}

#[test]
fn they_are_looked_up_without_regard_to_case_within_scope_and_filter() {
    let mut store = team();
    store
        .read(|snapshot| {
            let web = || Scope::Project("web".into());
            assert_eq!(
                ids(snapshot, &having(Scope::All, &["aNNa"])),
                ["a", "b", "c"]
            );
            assert_eq!(ids(snapshot, &having(web(), &["Anna"])), ["b", "c"]);
            assert_eq!(
                ids(snapshot, &having(Scope::Global, &["zu\u{308}rich"])),
                [""; 0]
            );
            assert_eq!(
                ids(snapshot, &having(web(), &["kx-204", "ZU\u{308}RICH"])),
                ["b"]
            );
            assert_eq!(ids(snapshot, &having(web(), &[])).len(), 3);
            let found = |entity: &str, filter: &Filter| {
                let mut found = Vec::new();
                snapshot
                    .with_entity(entity, filter, |seq| found.push(seq))
                    .unwrap();
                found
            };
            assert_eq!(found("Anna", &Filter::default()), [1, 2, 3]);
            assert_eq!(found("Anna", &Filter::from(web())), [2, 3]);
            assert!(snapshot.has_entity("ZÜRICH")? && !snapshot.has_entity("Bern")?);
            Ok::<_, SchemaError>(())
        })
        .unwrap();
}

#[test]
fn they_are_counted_in_the_commonest_spelling_of_the_scope() {
    let mut store = team();
    put(
        &mut store,
        &about("e", Some("web"), &["anna", "Bern"]),
        None,
    )
    .unwrap();
    store
        .read(|snapshot| {
            let counted = |scope: Scope, limit| -> Vec<(String, u64)> {
                let counts = snapshot.entities(&scope, limit).unwrap();
                counts
                    .into_iter()
                    .map(|count| (count.name, count.memories))
                    .collect()
            };
            let expected = [("anna", 4), ("Bern", 1), ("KX-204", 1), ("Zürich", 1)];
            assert_eq!(
                counted(Scope::All, None),
                expected.map(|(name, n)| (name.to_owned(), n))
            );
            assert_eq!(counted(Scope::All, Some(1)), [("anna".to_owned(), 4)]);
            assert_eq!(counted(Scope::Global, Some(1)), [("Anna".to_owned(), 1)]);
            assert_eq!(counted(Scope::All, Some(0)), []);
            Ok::<_, SchemaError>(())
        })
        .unwrap();
}

#[test]
fn a_change_sets_them_and_the_indexes_are_told() {
    let mut store = team();
    let log = |store: &mut Store| {
        let state = store.read(|snapshot| snapshot.index_state());
        state.unwrap().log
    };
    let mut change = RowChange {
        entities: Some(names(&["Bob", "Anna"])),
        ..RowChange::default()
    };
    let before = log(&mut store);
    store
        .write(|w| w.update("a", &change, time("2026-02-01"), None))
        .unwrap();
    let after = log(&mut store);
    assert!(after > before);
    store
        .read(|snapshot| {
            assert_eq!(snapshot.entities_of("a")?, Some(names(&["Bob", "Anna"])));
            assert_eq!(snapshot.changed_since(before)?, Some(vec![1]));
            Ok::<_, SchemaError>(())
        })
        .unwrap();
    store
        .write(|w| w.set_entities("a", &names(&["Bob", "Anna"])))
        .unwrap();
    assert_eq!(log(&mut store), after, "nothing changed");
    // Another spelling or order is a change.
    store
        .write(|w| w.set_entities("a", &names(&["bob", "Anna"])))
        .unwrap();
    assert!(log(&mut store) > after);
    change.entities = Some(Vec::new());
    store
        .write(|w| w.update("a", &change, time("2026-02-01"), None))
        .unwrap();
    let missing = store.write(|w| w.set_entities("nobody", &[]));
    assert!(matches!(missing, Err(SchemaError::NotFound { .. })));
    store.write(|w| w.delete("b")).unwrap();
    store
        .read(|snapshot| {
            let left = snapshot.entities(&Scope::All, None)?;
            assert_eq!((left.len(), left[0].name.as_str()), (1, "anna"));
            Ok::<_, SchemaError>(())
        })
        .unwrap();
}

fn some_names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        4 => prop::sample::select(vec!["Anna", "ANNA", "é", "e\u{301}", "É", "%", "_", "'", ""]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(name, 0..5)
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Whatever is set again and again, what is read is what a map holds.
    #[test]
    fn the_file_holds_what_a_map_holds(changes in prop::collection::vec((0usize..4, some_names()), 1..12)) {
        let mut store = store();
        let mut map: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (i, entities) in &changes {
            let id = i.to_string();
            if map.contains_key(i) {
                store.write(|w| w.set_entities(&id, entities)).unwrap();
            } else {
                let row = NewRow { id: Some(id), entities: entities.clone(), ..row("x") };
                put(&mut store, &row, None).unwrap();
            }
            let mut kept: Vec<String> = Vec::new();
            for name in entities {
                if !fold(name).is_empty() && kept.iter().all(|other| fold(other) != fold(name)) {
                    kept.push(name.clone());
                }
            }
            map.insert(*i, kept);
        }
        store.read(|snapshot| {
            for (i, kept) in &map {
                prop_assert_eq!(&snapshot.row(&i.to_string()).unwrap().unwrap().entities, kept);
                for name in kept {
                    let mut expected: Vec<String> = map.iter()
                        .filter(|(_, names)| names.iter().any(|other| fold(other) == fold(name)))
                        .map(|(i, _)| i.to_string()).collect();
                    let mut found = ids(snapshot, &having(Scope::All, &[name]));
                    expected.sort();
                    found.sort();
                    prop_assert_eq!(found, expected);
                }
            }
            let total: u64 = snapshot.entities(&Scope::All, None).unwrap().iter().map(|count| count.memories).sum();
            prop_assert_eq!(total, map.values().map(|names| names.len() as u64).sum::<u64>());
            Ok(())
        })?;
    }
}

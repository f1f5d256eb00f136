//! Relations and causal parents of a file: against a graph of sets, and by hand where a rule is to be seen.

use std::collections::{BTreeMap, BTreeSet};

use mnemic_schema::{
    Direction, Durability, Filter, HubRow, Links, NewRelationRow, NewRow, OpenOptions,
    RelationChange, RelationFilter, SchemaError, Scope, Snapshot, StepRow, Store,
};
use proptest::prelude::*;

use crate::{row, store, time};

const KINDS: [&str; 3] = ["supports", "causes\0it", "結果 '\""];

fn named(id: &str, project: Option<&str>) -> NewRow {
    NewRow {
        id: Some(id.into()),
        project: project.map(Into::into),
        ..row(id)
    }
}

fn relation(from: &str, to: &str, kind: &str) -> NewRelationRow {
    NewRelationRow {
        from: from.into(),
        to: to.into(),
        kind: kind.into(),
        explanation: None,
        context: None,
        source: None,
        created_at: time("2026-01-02"),
    }
}

/// A store with memories `a`, `b`, … of no project.
fn letters(count: u8) -> Store {
    let mut store = store();
    for letter in (b'a'..).take(count.into()) {
        let id = char::from(letter).to_string();
        store.write(|w| w.insert(&named(&id, None), None)).unwrap();
    }
    store
}

fn relate(store: &mut Store, new: &NewRelationRow) -> Result<RelationChange, SchemaError> {
    store.write(|w| w.relate(new, &Scope::All))
}

/// Runs a question of a snapshot.
fn ask<T>(store: &mut Store, mut question: impl FnMut(&Snapshot<'_>) -> T) -> T {
    store
        .read(|snapshot| Ok::<_, SchemaError>(question(snapshot)))
        .unwrap()
}

fn all_links() -> Links {
    Links {
        relations: true,
        causes: true,
        ..Links::default()
    }
}

#[test]
fn a_relation_is_written_once_and_told_what_became_of_it() {
    let mut store = letters(2);
    let bare = relation("a", "b", "supports");
    assert_eq!(relate(&mut store, &bare).unwrap(), RelationChange::Added);
    assert_eq!(
        relate(&mut store, &bare).unwrap(),
        RelationChange::Unchanged
    );
    let said = NewRelationRow {
        explanation: Some("b is true only where a is".into()),
        context: Some(r#"{"by": 2}"#.into()),
        created_at: time("2026-05-05"),
        ..bare.clone()
    };
    assert_eq!(relate(&mut store, &said).unwrap(), RelationChange::Updated);
    // What is not said stays.
    let source = NewRelationRow {
        source: Some("me".into()),
        ..bare.clone()
    };
    assert_eq!(
        relate(&mut store, &source).unwrap(),
        RelationChange::Updated
    );
    assert_eq!(
        relate(&mut store, &source).unwrap(),
        RelationChange::Unchanged
    );
    let rows = ask(&mut store, |s| {
        s.relations(&RelationFilter::default(), None).unwrap()
    });
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].explanation, said.explanation);
    assert_eq!(rows[0].context, said.context);
    assert_eq!(rows[0].source.as_deref(), Some("me"));
    assert_eq!(rows[0].created_at, time("2026-01-02"));
}

#[test]
fn ends_must_exist_and_differ() {
    let mut store = letters(2);
    for (from, to) in [("a", "nobody"), ("nobody", "a")] {
        match relate(&mut store, &relation(from, to, "supports")) {
            Err(SchemaError::NotFound { id }) => assert_eq!(id, "nobody"),
            other => panic!("{other:?}"),
        }
    }
    assert!(relate(&mut store, &relation("a", "a", "supports")).is_err());
    assert!(relate(&mut store, &relation("a", "b", "")).is_err());
    let no_json = NewRelationRow {
        context: Some("{".into()),
        ..relation("a", "b", "supports")
    };
    assert!(relate(&mut store, &no_json).is_err());
    assert!(ask(&mut store, |s| {
        s.relations(&RelationFilter::default(), None)
            .unwrap()
            .is_empty()
    }));
}

#[test]
fn a_relation_goes_with_either_end() {
    let mut store = letters(3);
    relate(&mut store, &relation("a", "b", "supports")).unwrap();
    relate(&mut store, &relation("b", "c", "supports")).unwrap();
    relate(&mut store, &relation("a", "c", "supports")).unwrap();
    store.write(|w| w.delete("b")).unwrap();
    let rows = ask(&mut store, |s| {
        s.relations(&RelationFilter::default(), None).unwrap()
    });
    assert_eq!(rows.len(), 1);
    assert_eq!((&*rows[0].from, &*rows[0].to), ("a", "c"));
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn a_circle_ends_and_tells_least_distances() {
    let mut store = letters(4);
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")] {
        relate(&mut store, &relation(from, to, "supports")).unwrap();
    }
    let outward = Links {
        direction: Direction::Outward,
        ..all_links()
    };
    let found = |links: &Links, depth: usize, store: &mut Store| {
        ask(store, |s| {
            let reached = s.walk(1, links, depth).unwrap();
            let places = reached.iter().map(|r| (r.step.there, r.distance));
            places.collect::<Vec<_>>()
        })
    };
    assert_eq!(
        found(&outward, usize::MAX, &mut store),
        [(2, 1), (3, 2), (4, 3)]
    );
    assert_eq!(
        found(&all_links(), usize::MAX, &mut store),
        [(2, 1), (4, 1), (3, 2)]
    );
    assert_eq!(found(&outward, 1, &mut store), [(2, 1)]);
    assert_eq!(found(&outward, 0, &mut store), []);
}

/// The graph as sets. Keys are numbers from 1, in the order of storing.
#[derive(Debug, Default, Clone)]
struct Model {
    projects: BTreeMap<i64, Option<&'static str>>,
    /// Ends and kind, with when it was made, as a running number.
    relations: BTreeMap<(i64, i64, &'static str), usize>,
    parents: BTreeMap<i64, i64>,
    made: usize,
}

impl Model {
    fn admits(&self, scope: &Scope, seq: i64) -> bool {
        self.projects
            .get(&seq)
            .is_some_and(|project| scope.admits(*project))
    }

    /// All steps from a memory, the one to be chosen first first.
    fn steps(&self, here: i64, links: &Links) -> Vec<(i64, usize, bool, Option<&'static str>)> {
        let mut steps = Vec::new();
        let ways = match links.direction {
            Direction::Outward => vec![true],
            Direction::Inward => vec![false],
            Direction::Both => vec![true, false],
        };
        for outward in ways {
            for (&(from, to, kind), &made) in &self.relations {
                let (start, end) = if outward { (from, to) } else { (to, from) };
                let wanted = links.kinds.is_empty() || links.kinds.iter().any(|k| k == kind);
                if start == here && links.relations && wanted && self.admits(&links.scope, end) {
                    steps.push((end, made, outward, Some(kind)));
                }
            }
            for (&child, &parent) in &self.parents {
                let (start, end) = if outward {
                    (parent, child)
                } else {
                    (child, parent)
                };
                if start == here && links.causes && self.admits(&links.scope, end) {
                    steps.push((end, usize::MAX, outward, None));
                }
            }
        }
        steps.sort_by_key(|step| (step.0, step.1, step.2));
        steps
    }

    /// Least distances, by going every step from all that is known, again and again.
    fn distances(&self, start: i64, links: &Links, depth: usize) -> BTreeMap<i64, usize> {
        let mut known = BTreeMap::from([(start, 0)]);
        for distance in 1..=depth {
            for here in known.clone().into_keys() {
                for step in self.steps(here, links) {
                    known.entry(step.0).or_insert(distance);
                }
            }
        }
        known
    }

    /// The first of the shortest ways: all ways of a length are tried, in their order, before longer ones.
    fn path(&self, from: i64, to: i64, links: &Links, depth: usize) -> Option<Vec<i64>> {
        (0..=depth).find_map(|length| self.way(from, to, links, length))
    }

    fn way(&self, from: i64, to: i64, links: &Links, length: usize) -> Option<Vec<i64>> {
        if length == 0 {
            return (from == to).then(Vec::new);
        }
        let steps: BTreeSet<i64> = self.steps(from, links).iter().map(|step| step.0).collect();
        steps.into_iter().find_map(|there| {
            let mut rest = self.way(there, to, links, length - 1)?;
            rest.insert(0, there);
            Some(rest)
        })
    }

    fn is_cycle(&self, child: i64, parent: i64) -> bool {
        let mut here = Some(parent);
        for _ in 0..=self.projects.len() {
            if here == Some(child) {
                return true;
            }
            here = here.and_then(|here| self.parents.get(&here).copied());
        }
        false
    }
}

#[derive(Debug, Clone)]
enum Op {
    Relate(i64, i64, usize),
    Unrelate(i64, i64, usize),
    Parent(i64, Option<i64>),
    Delete(i64),
}

const MEMORIES: i64 = 5;

fn op() -> impl Strategy<Value = Op> {
    let seq = || 1..=MEMORIES;
    let kind = || 0..KINDS.len();
    prop_oneof![
        6 => (seq(), seq(), kind()).prop_map(|(a, b, k)| Op::Relate(a, b, k)),
        1 => (seq(), seq(), kind()).prop_map(|(a, b, k)| Op::Unrelate(a, b, k)),
        3 => (seq(), prop::option::of(seq())).prop_map(|(a, b)| Op::Parent(a, b)),
        1 => seq().prop_map(Op::Delete),
    ]
}

fn id(seq: i64) -> String {
    format!("m{seq}")
}

/// Does it to the file and to the sets, and compares what each answers.
fn apply(store: &mut Store, raw: &rusqlite::Connection, model: &mut Model, op: &Op) {
    let there = |model: &Model, seq: i64| model.projects.contains_key(&seq);
    match *op {
        Op::Relate(from, to, kind) => {
            let new = relation(&id(from), &id(to), KINDS[kind]);
            let answer = relate(store, &new);
            if !there(model, from) || !there(model, to) {
                assert!(matches!(answer, Err(SchemaError::NotFound { .. })));
            } else if from == to {
                assert!(answer.is_err());
            } else {
                model.made += 1;
                let made = model.made;
                let mut expected = RelationChange::Unchanged;
                model
                    .relations
                    .entry((from, to, KINDS[kind]))
                    .or_insert_with(|| {
                        expected = RelationChange::Added;
                        made
                    });
                assert_eq!(answer.unwrap(), expected);
            }
        }
        Op::Unrelate(from, to, kind) => {
            let answer = store
                .write(|w| w.unrelate(&id(from), &id(to), KINDS[kind], &Scope::All))
                .unwrap();
            let was = model.relations.remove(&(from, to, KINDS[kind])).is_some();
            assert_eq!(answer, was);
        }
        Op::Parent(child, parent) => {
            let ends = std::iter::once(child).chain(parent);
            if parent != Some(child) && ends.into_iter().all(|seq| there(model, seq)) {
                raw.execute(
                    "INSERT INTO lifecycle (seq, causal_parent) VALUES (?1, ?2)
                     ON CONFLICT DO UPDATE SET causal_parent = excluded.causal_parent",
                    (child, parent),
                )
                .unwrap();
                model.parents.remove(&child);
                if let Some(parent) = parent {
                    model.parents.insert(child, parent);
                }
            }
        }
        Op::Delete(seq) => {
            let was = store.write(|w| w.delete(&id(seq))).unwrap();
            assert_eq!(was, model.projects.remove(&seq).is_some());
            model
                .relations
                .retain(|(from, to, _), _| *from != seq && *to != seq);
            model
                .parents
                .retain(|child, parent| *child != seq && *parent != seq);
        }
    }
}

fn check_lists(snapshot: &Snapshot<'_>, model: &Model, scope: &Scope) {
    let filter = RelationFilter {
        scope: scope.clone(),
        ..RelationFilter::default()
    };
    let expected: Vec<&(i64, i64, &str)> = model
        .relations
        .keys()
        .filter(|(from, to, _)| model.admits(scope, *from) && model.admits(scope, *to))
        .collect();
    let found = snapshot.relations(&filter, None).unwrap();
    let found: BTreeSet<(String, String, String)> = found
        .into_iter()
        .map(|row| (row.from, row.to, row.kind))
        .collect();
    let named = |(from, to, kind): &&(i64, i64, &str)| (id(*from), id(*to), (*kind).to_owned());
    assert_eq!(
        found,
        expected.iter().map(named).collect::<BTreeSet<_>>(),
        "{scope:?}"
    );

    let mut hubs: Vec<HubRow> = Vec::new();
    for &seq in model.projects.keys() {
        let count = |end: &dyn Fn(&(i64, i64, &str)) -> i64| {
            expected.iter().filter(|ends| end(ends) == seq).count() as u64
        };
        let (outward, inward) = (count(&|ends| ends.0), count(&|ends| ends.1));
        if outward + inward > 0 {
            hubs.push(HubRow {
                seq,
                outward,
                inward,
            });
        }
    }
    // All were changed at one instant.
    hubs.sort_by_key(|hub| std::cmp::Reverse((hub.outward + hub.inward, hub.seq)));
    assert_eq!(snapshot.hubs(scope, 100).unwrap(), hubs);
    hubs.truncate(2);
    assert_eq!(snapshot.hubs(scope, 2).unwrap(), hubs);
}

fn check_walks(snapshot: &Snapshot<'_>, model: &Model, links: &Links) {
    for &start in model.projects.keys() {
        for depth in [1, 2, 9] {
            let reached = snapshot.walk(start, links, depth).unwrap();
            let found: Vec<(usize, i64)> = reached
                .iter()
                .map(|reached| (reached.distance, reached.step.there))
                .collect();
            let mut expected: Vec<(usize, i64)> = model
                .distances(start, links, depth)
                .into_iter()
                .map(|(seq, distance)| (distance, seq))
                .filter(|(distance, _)| *distance > 0)
                .collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "from {start}, depth {depth}, {links:?}");
            for reached in &reached {
                check_step(model, &reached.step, links);
            }
        }
        for &end in model.projects.keys() {
            // The end is a memory of the scope, as the facade looks it up in it.
            if !model.admits(&links.scope, start) || !model.admits(&links.scope, end) {
                continue;
            }
            for depth in [0, 2, 9] {
                let path = snapshot.shortest_path(start, end, links, depth).unwrap();
                for step in path.iter().flatten() {
                    check_step(model, step, links);
                }
                let path =
                    path.map(|steps| steps.iter().map(|step| step.there).collect::<Vec<_>>());
                assert_eq!(
                    path,
                    model.path(start, end, links, depth.min(MEMORIES as usize)),
                    "{start} to {end}"
                );
            }
            assert_eq!(
                snapshot.is_among_causes(start, end).unwrap(),
                model.is_cycle(start, end)
            );
        }
    }
}

/// Of all steps between its memories, it is the first.
fn check_step(model: &Model, step: &StepRow, links: &Links) {
    let steps = model.steps(step.here, links);
    let first = steps.iter().find(|other| other.0 == step.there).unwrap();
    assert_eq!((step.outward, step.kind.as_deref()), (first.2, first.3));
    assert_eq!(step.relation.is_some(), first.3.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_file_answers_as_sets_do(ops in prop::collection::vec(op(), 0..24)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.db");
        let mut options = OpenOptions::default();
        options.durability = Durability::Normal;
        let mut store = Store::open(&path, options).unwrap();
        let raw = rusqlite::Connection::open(&path).unwrap();
        let mut model = Model::default();
        for seq in 1..=MEMORIES {
            let project = if seq % 3 == 0 { None } else { Some("web") };
            store.write(|w| w.insert(&named(&id(seq), project), None)).unwrap();
            model.projects.insert(seq, project);
        }
        for op in &ops {
            apply(&mut store, &raw, &mut model, op);
        }
        ask(&mut store, |snapshot| {
            for scope in [Scope::All, Scope::Project("web".into()), Scope::Global, Scope::ProjectAndGlobal("web".into())] {
                check_lists(snapshot, &model, &scope);
                for direction in [Direction::Outward, Direction::Inward, Direction::Both] {
                    let links = Links { scope: scope.clone(), direction, ..all_links() };
                    check_walks(snapshot, &model, &links);
                    let few = Links { kinds: vec![KINDS[1].into(), KINDS[2].into()], causes: false, ..links.clone() };
                    check_walks(snapshot, &model, &few);
                    let causes = Links { relations: false, ..links };
                    check_walks(snapshot, &model, &causes);
                }
            }
        });
        prop_assert!(store.check().unwrap().is_ok());
    }
}

#[test]
fn lists_are_of_an_end_a_kind_a_set_and_in_order() {
    let mut store = letters(4);
    for (day, (from, to, kind)) in [
        ("a", "b", "supports"),
        ("b", "a", "contradicts"),
        ("c", "a", "supports"),
        ("c", "d", "supports"),
    ]
    .into_iter()
    .enumerate()
    {
        let new = NewRelationRow {
            created_at: time(&format!("2026-01-0{}", 9 - day)),
            ..relation(from, to, kind)
        };
        relate(&mut store, &new).unwrap();
    }
    let mut list = |filter: RelationFilter, limit: Option<usize>| -> Vec<String> {
        ask(&mut store, |s| {
            let rows = s.relations(&filter, limit).unwrap();
            rows.into_iter()
                .map(|row| format!("{}{}", row.from, row.to))
                .collect()
        })
    };
    let of_a = |direction: Direction| RelationFilter {
        of: Some(1),
        direction,
        ..RelationFilter::default()
    };
    assert_eq!(
        list(RelationFilter::default(), None),
        ["ab", "ba", "ca", "cd"]
    );
    assert_eq!(list(RelationFilter::default(), Some(2)), ["ab", "ba"]);
    assert_eq!(list(of_a(Direction::Both), None), ["ab", "ba", "ca"]);
    assert_eq!(list(of_a(Direction::Outward), None), ["ab"]);
    assert_eq!(list(of_a(Direction::Inward), None), ["ba", "ca"]);
    let kinds = RelationFilter {
        kinds: vec!["supports".into()],
        ..of_a(Direction::Inward)
    };
    assert_eq!(list(kinds, None), ["ca"]);
    let among = |ids: &[&str]| RelationFilter {
        among: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
        ..RelationFilter::default()
    };
    assert_eq!(list(among(&["a", "b", "d", "nobody"]), None), ["ab", "ba"]);
    assert!(list(among(&[]), None).is_empty());
}

#[test]
fn the_last_changed_come_first() {
    let mut store = letters(3);
    let change = mnemic_schema::RowChange {
        tags: Some(vec!["x".into()]),
        ..Default::default()
    };
    store
        .write(|w| w.update("b", &change, time("2026-06-06"), None))
        .unwrap();
    let last = ask(&mut store, |s| s.last_updated(&Scope::All, 2).unwrap());
    assert_eq!(last, [2, 3]);
    let none = ask(&mut store, |s| {
        s.last_updated(&Scope::Project("x".into()), 2).unwrap()
    });
    assert!(none.is_empty());
}

#[test]
fn a_walk_may_be_held_to_what_was_drawn_by_an_instant() {
    let mut store = letters(3);
    relate(&mut store, &relation("a", "b", "supports")).unwrap();
    let later = NewRelationRow {
        created_at: time("2026-03-03"),
        ..relation("a", "c", "supports")
    };
    relate(&mut store, &later).unwrap();
    for (known, expected) in [
        (None, 2),
        (Some("2026-03-03"), 2),
        (Some("2026-03-02"), 1),
        (Some("2026-01-01"), 0),
    ] {
        let links = Links {
            known: known.map(time),
            ..all_links()
        };
        assert_eq!(
            ask(&mut store, |s| s.walk(1, &links, 9).unwrap().len()),
            expected
        );
    }
}

#[test]
fn what_passes_a_filter_is_told_by_key() {
    let mut store = store();
    for (id, project) in [("a", None), ("b", Some("web")), ("c", None)] {
        store
            .write(|w| w.insert(&named(id, project), None))
            .unwrap();
    }
    let filter = Filter::from(Scope::Global);
    let passing = ask(&mut store, |s| s.passing(&[3, 9, 2, 1], &filter).unwrap());
    assert_eq!(passing, [1, 3]);
}

//! A handle that is bound to a project: the same verbs, and no way out.

use mnemic::{
    Action, ErrorKind, Events, History, Include, Memory, MemoryUpdate, NewMemory, ProjectMemory,
    Prune, Recall, RulePlanner, Scope, StoredMemory, Timeline,
};
use proptest::prelude::*;

use crate::support::{builder, time};

/// Anything that can be asked of a bound handle, with arguments of any project.
#[derive(Debug, Clone)]
enum Call {
    Store(Option<Option<usize>>, u8),
    Get(usize),
    Recall(Option<ScopeOf>, u8),
    Explain(Option<ScopeOf>, u8, usize),
    Timeline(Option<ScopeOf>),
    Update(usize, Option<Option<usize>>, u8),
    Replace(usize, Option<Option<usize>>, u8),
    Delete(usize),
    DeleteAll(Vec<usize>),
    Prune(Option<ScopeOf>, bool, bool),
}

#[derive(Debug, Clone, Copy)]
enum ScopeOf {
    Global,
    All,
    Project(usize),
    ProjectAndGlobal(usize),
}

const PROJECTS: [&str; 3] = ["web", "home", ""];

impl From<ScopeOf> for Scope {
    fn from(scope: ScopeOf) -> Self {
        match scope {
            ScopeOf::Global => Self::Global,
            ScopeOf::All => Self::All,
            ScopeOf::Project(i) => Self::Project(PROJECTS[i].into()),
            ScopeOf::ProjectAndGlobal(i) => Self::ProjectAndGlobal(PROJECTS[i].into()),
        }
    }
}

fn call() -> impl Strategy<Value = Call> {
    let project = || prop::option::of(prop::option::of(0..PROJECTS.len()));
    let scope = || {
        prop::option::of(prop_oneof![
            Just(ScopeOf::Global),
            Just(ScopeOf::All),
            (0..PROJECTS.len()).prop_map(ScopeOf::Project),
            (0..PROJECTS.len()).prop_map(ScopeOf::ProjectAndGlobal),
        ])
    };
    prop_oneof![
        (project(), any::<u8>()).prop_map(|(p, n)| Call::Store(p, n)),
        (0..12usize).prop_map(Call::Get),
        (scope(), any::<u8>()).prop_map(|(s, n)| Call::Recall(s, n)),
        (scope(), any::<u8>(), 0..12usize).prop_map(|(s, n, i)| Call::Explain(s, n, i)),
        scope().prop_map(Call::Timeline),
        (0..12usize, project(), any::<u8>()).prop_map(|(i, p, n)| Call::Update(i, p, n)),
        (0..12usize, project(), any::<u8>()).prop_map(|(i, p, n)| Call::Replace(i, p, n)),
        (0..12usize).prop_map(Call::Delete),
        prop::collection::vec(0..12usize, 0..4).prop_map(Call::DeleteAll),
        (scope(), any::<bool>(), any::<bool>()).prop_map(|(s, t, a)| Call::Prune(s, t, a)),
    ]
}

fn new_memory(project: Option<Option<usize>>, number: u8) -> NewMemory {
    let memory = NewMemory::new(format!("item w{number}")).tags(["t"]);
    match project {
        None => memory,
        Some(None) => memory.global(),
        Some(Some(i)) => memory.project(PROJECTS[i]),
    }
}

/// Makes the call; answers with every memory that it showed.
fn make(bound: &ProjectMemory, ids: &[String], call: &Call) -> Vec<StoredMemory> {
    let id = |i: &usize| ids[i % ids.len()].as_str();
    let id_of = |i: &usize| id(i).to_owned();
    match call {
        Call::Store(project, n) => drop(bound.store(new_memory(*project, *n))),
        Call::Get(i) => return bound.get(id(i)).unwrap().into_iter().collect(),
        Call::Recall(scope, n) => {
            let recall = Recall::new(format!("item w{n}")).no_limit();
            let recall = match scope {
                Some(scope) => recall.scope((*scope).into()),
                None => recall,
            };
            let hits = bound.recall(recall).unwrap_or_default();
            return hits.into_iter().map(|hit| hit.memory).collect();
        }
        Call::Explain(scope, n, i) => {
            let recall = Recall::new(format!("item w{n}"));
            let recall = match scope {
                Some(scope) => recall.scope((*scope).into()),
                None => recall,
            };
            let explained = bound.explain(recall, id(i)).ok();
            return explained.map(|told| told.memory).into_iter().collect();
        }
        Call::Timeline(scope) => {
            let timeline = match scope {
                Some(scope) => Timeline::new().scope((*scope).into()),
                None => Timeline::new(),
            };
            return bound.timeline(timeline).unwrap_or_default();
        }
        Call::Update(i, project, n) => {
            let change = MemoryUpdate::new().content(format!("changed w{n}"));
            let change = match project {
                None => change,
                Some(None) => change.global(),
                Some(Some(i)) => change.project(PROJECTS[*i]),
            };
            return bound.update(id(i), change).ok().into_iter().collect();
        }
        Call::Replace(i, project, n) => drop(bound.replace(id(i), new_memory(*project, *n))),
        Call::Delete(i) => drop(bound.delete(id(i)).unwrap()),
        Call::DeleteAll(is) => drop(bound.delete_all(is.iter().map(id_of)).unwrap()),
        Call::Prune(scope, tags, apply) => {
            let prune = match scope {
                Some(scope) => Prune::new().scope((*scope).into()),
                None => Prune::new(),
            };
            let prune = if *tags { prune.tags_any(["t"]) } else { prune };
            let prune = if *apply { prune.apply() } else { prune };
            drop(bound.prune(prune));
        }
    }
    Vec::new()
}

fn outside(memory: &Memory, project: &str) -> Vec<StoredMemory> {
    let mut all = memory.timeline(Timeline::new()).unwrap();
    all.retain(|memory| memory.project.as_deref() != Some(project));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_outside_is_seen_or_changed(
        bound_to in 0..PROJECTS.len(), calls in prop::collection::vec(call(), 1..25),
    ) {
        let memory = builder().open_in_memory().unwrap();
        for i in 0..12u8 {
            let project = (i % 4 != 3).then_some(usize::from(i % 4));
            memory.store(new_memory(Some(project), i)).unwrap();
        }
        let project = PROJECTS[bound_to];
        let bound = memory.in_project(project);
        prop_assert_eq!(bound.name(), project);
        let before = outside(&memory, project);
        for call in calls {
            let all = memory.timeline(Timeline::new()).unwrap();
            let mut ids: Vec<String> = all.into_iter().map(|memory| memory.id).collect();
            ids.push("no such id".into());
            for shown in make(&bound, &ids, &call) {
                prop_assert_eq!(shown.project.as_deref(), Some(project), "{:?}", call);
            }
            prop_assert_eq!(&outside(&memory, project), &before, "{:?}", call);
        }
        prop_assert!(memory.check().unwrap().is_ok());
    }
}

#[test]
fn within_its_project_it_does_what_a_memory_does() {
    let memory = builder().open_in_memory().unwrap();
    let web = memory.in_project("web");
    let stored = web.store_all(["item w1", "item w2", "item w3"]).unwrap();
    assert_eq!(
        web.get(&stored[0].id).unwrap().unwrap().project.as_deref(),
        Some("web")
    );
    let changed = web.update(&stored[0].id, "item w9").unwrap();
    assert_eq!(changed.content, "item w9");
    let new = web.replace(&stored[1].id, "item w8").unwrap();
    let recall = Recall::new("item w8").now(time("2026-01-01"));
    assert_eq!(web.recall(recall.clone()).unwrap()[0].memory.id, new.id);
    assert_eq!(
        web.recall(recall.clone()).unwrap(),
        memory.recall(recall.project("web")).unwrap()
    );
    assert_eq!(web.timeline(Timeline::new().limit(2)).unwrap().len(), 2);
    assert!(web.delete(&stored[2].id).unwrap());
    assert!(!web.delete(&stored[2].id).unwrap());
    let pruned = web.prune(Prune::new().project("web").apply()).unwrap();
    assert_eq!(pruned.ids.len(), 2);
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn naming_another_project_is_an_error_that_names_both() {
    let memory = builder().open_in_memory().unwrap();
    let web = memory.in_project("web");
    let id = web.store("item w1").unwrap().id;
    for result in [
        web.store(NewMemory::new("x").project("home")).map(drop),
        web.store(NewMemory::new("x").global()).map(drop),
        web.store_all([NewMemory::new("fine"), NewMemory::new("x").project("home")])
            .map(drop),
        web.update(&id, MemoryUpdate::new().project("home"))
            .map(drop),
        web.replace(&id, NewMemory::new("x").project("home"))
            .map(drop),
        web.recall(Recall::new("x").project("home")).map(drop),
        web.timeline(Timeline::new().scope(Scope::ProjectAndGlobal("home".into())))
            .map(drop),
        web.prune(Prune::new().project("home").apply()).map(drop),
        web.prune(Prune::new().apply()).map(drop),
        web.prune(Prune::new().scope(Scope::Global).apply())
            .map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("project"), "{error}");
    }
    assert_eq!(memory.health().unwrap().memories, 1);
}

/// A memory may be caused by, or have in its place, one of another project: a bound handle does not tell which.
#[test]
fn ids_of_other_projects_are_not_shown() {
    let memory = builder().open_in_memory().unwrap();
    memory.keep_history(History::new()).unwrap();
    for (id, project) in [("g", "home"), ("own", "web"), ("h", "home")] {
        let new = NewMemory::new(format!("item {id}")).id(id);
        memory.store(new.project(project)).unwrap();
    }
    for (id, cause) in [("a", "g"), ("b", "own")] {
        let new = NewMemory::new(format!("item {id}")).id(id).project("web");
        memory.store(new.caused_by(cause)).unwrap();
    }
    memory.supersede("a", "h").unwrap();
    memory.supersede("b", "own").unwrap();
    let web = memory.in_project("web");
    let named = |found: &StoredMemory| {
        let life = &found.lifecycle;
        assert!(life.superseded_at.is_some());
        (life.causal_parent.clone(), life.superseded_by.clone())
    };
    let own = Some("own".to_owned());
    let all = || Recall::new("item").include(Include::all());
    let timeline = web
        .timeline(Timeline::new().include(Include::all()))
        .unwrap();
    let hits = web.recall(all()).unwrap();
    let planned = web.recall_planned(all(), &RulePlanner::default()).unwrap();
    for (id, expected) in [("a", (None, None)), ("b", (own.clone(), own))] {
        let told = |found: Option<&StoredMemory>| assert_eq!(named(found.unwrap()), expected);
        told(web.get(id).unwrap().as_ref());
        told(timeline.iter().find(|found| found.id == id));
        told(
            hits.iter()
                .map(|hit| &hit.memory)
                .find(|found| found.id == id),
        );
        told(
            planned
                .hits
                .iter()
                .map(|hit| &hit.memory)
                .find(|found| found.id == id),
        );
        told(Some(&web.explain(all(), id).unwrap().memory));
        told(Some(&web.trace(id, 2).unwrap().memory));
        told(Some(
            &web.update(id, MemoryUpdate::new().tags(["x"])).unwrap(),
        ));
        let recent = web.recently_updated(10).unwrap();
        told(recent.iter().find(|found| found.id == id));
    }
    let whole = memory.get("a").unwrap().unwrap();
    assert_eq!(named(&whole), (Some("g".to_owned()), Some("h".to_owned())));
    let detail = |id: &str| {
        let told = Events::of(id).actions([Action::Superseded]);
        let event = web.events(told).unwrap().remove(0);
        let traced = web.trace(id, 1).unwrap().events;
        assert!(traced.contains(&event));
        event.detail
    };
    assert_eq!(detail("a"), None);
    assert!(detail("b").unwrap().contains("own"));
}

//! Relations, neighbours, paths, hubs and traces, through the facade and through a handle bound to a project.

use std::path::{Path, PathBuf};

use mnemic::{
    Action, ErrorKind, Events, History, Link, Memory, Neighbours, NewMemory, NewRelation,
    ProjectMemory, Prune, Recall, Related, RelationKind, Relations, Scope, ShortestPath,
};
use tempfile::TempDir;

use crate::support::{builder, memory, sound, time};

/// Stores memories whose ids are their texts.
fn put(memory: &Memory, ids: &[&str], project: Option<&str>) {
    let named = ids.iter().map(|id| {
        let new = NewMemory::new(*id).id(*id).created_at(time("2026-01-01"));
        match project {
            Some(project) => new.project(project),
            None => new,
        }
    });
    memory.store_all(named).unwrap();
}

fn draw(memory: &Memory, from: &str, to: &str) {
    let drawn = memory.relate((from, to, "cites", "by name")).unwrap();
    assert_eq!(drawn, Related::Added);
}

/// A memory in a file, and the file, to be opened beside it.
fn on_disk() -> (TempDir, PathBuf, Memory) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.db");
    let memory = builder().open(&path).unwrap();
    (folder, path, memory)
}

/// Makes one memory the causal parent of another, in a circle too.
fn cause(path: &Path, child: &str, parent: &str) {
    let raw = rusqlite::Connection::open(path).unwrap();
    let sql = "INSERT INTO lifecycle (seq, causal_parent)
               SELECT c.seq, p.seq FROM memories c, memories p WHERE c.id = ?1 AND p.id = ?2
               ON CONFLICT DO UPDATE SET causal_parent = excluded.causal_parent";
    assert_eq!(raw.execute(sql, (child, parent)).unwrap(), 1);
}

#[test]
fn drawing_tells_what_it_did_and_reads_back() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    let drawn = NewRelation::because("a", "b", RelationKind::SUPPORTS, "b rests on it")
        .context(r#"{"line": 3}"#)
        .source("me")
        .created_at(time("2026-02-03"));
    assert_eq!(memory.relate(drawn.clone()).unwrap(), Related::Added);
    assert_eq!(memory.relate(drawn.clone()).unwrap(), Related::Unchanged);
    let later = NewRelation::because("a", "b", "supports", "b rests on it, still");
    assert_eq!(memory.relate(later).unwrap(), Related::Updated);
    let relation = memory.relations("a").unwrap().remove(0);
    assert_eq!((&*relation.from, &*relation.to), ("a", "b"));
    assert_eq!(relation.kind, RelationKind::SUPPORTS);
    assert_eq!(
        relation.explanation.as_deref(),
        Some("b rests on it, still")
    );
    assert_eq!(relation.context.as_deref(), Some(r#"{"line": 3}"#));
    assert_eq!(relation.source.as_deref(), Some("me"));
    assert_eq!(relation.created_at, time("2026-02-03"));
    // Another kind, and the other way, are other relations.
    draw(&memory, "a", "b");
    draw(&memory, "b", "a");
    assert_eq!(memory.relations("b").unwrap().len(), 3);
    assert!(memory.unrelate("a", "b", RelationKind::SUPPORTS).unwrap());
    assert!(!memory.unrelate("a", "b", RelationKind::SUPPORTS).unwrap());
    assert!(!memory.unrelate("a", "nobody", "cites").unwrap());
    assert_eq!(memory.relations("b").unwrap().len(), 2);
}

#[test]
fn what_cannot_be_drawn_is_refused_and_named() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    let new = || NewRelation::new("a", "b", "cites");
    let why = || NewRelation::because("a", "b", "cites", "by name");
    let cases: [(NewRelation, ErrorKind, &str); 10] = [
        (
            ("a", "nobody", "cites", "x").into(),
            ErrorKind::NotFound,
            "\"nobody\"",
        ),
        (
            ("nobody", "b", "cites", "x").into(),
            ErrorKind::NotFound,
            "\"nobody\"",
        ),
        (
            ("a", "a", "cites", "x").into(),
            ErrorKind::InvalidInput,
            "starts from",
        ),
        (
            ("a", "b", "", "x").into(),
            ErrorKind::InvalidInput,
            "the kind \"\"",
        ),
        (
            ("a", "b", " \t", "x").into(),
            ErrorKind::InvalidInput,
            "the kind",
        ),
        (
            ("a", "b", "cites", "\n ").into(),
            ErrorKind::InvalidInput,
            "empty explanation",
        ),
        (new(), ErrorKind::InvalidInput, "neither why"),
        (new().source(" "), ErrorKind::InvalidInput, "empty source"),
        (why().context("{"), ErrorKind::InvalidInput, "no JSON"),
        (why().context(""), ErrorKind::InvalidInput, "no JSON"),
    ];
    for (relation, kind, named) in cases {
        let error = memory.relate(relation).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(named), "{error}");
    }
    // One that cannot be drawn keeps the others from being drawn.
    let both = [why(), ("a", "nobody", "cites", "x").into()];
    assert_eq!(
        memory.relate_all(both).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert!(memory.relations(Relations::all()).unwrap().is_empty());
    assert_eq!(
        memory.relate_all([new().source("finder")]).unwrap(),
        [Related::Added]
    );
    let none: [NewRelation; 0] = [];
    assert!(memory.relate_all(none).unwrap().is_empty());
    for verb in [
        memory.relations("nobody").err(),
        memory.neighbours("nobody").err(),
        memory.shortest_path(("a", "nobody")).err(),
        memory.shortest_path(("nobody", "a")).err(),
        memory.trace("nobody", 3).err(),
    ] {
        assert_eq!(verb.unwrap().kind(), ErrorKind::NotFound);
    }
}

#[test]
fn odd_texts_are_kept_as_they_are() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    for kind in ["causes\0it", "' OR 1=1 --", "原因", "%", "a_b", "Supports"] {
        let drawn = NewRelation::because("a", "b", kind, "why\0\u{feff}?")
            .context(r#"["\u0000", 1e300, {"é": null}]"#);
        assert_eq!(memory.relate(drawn).unwrap(), Related::Added);
        let found = memory.relations(Relations::of("a").kinds([kind])).unwrap();
        assert_eq!(found.len(), 1, "{kind:?}");
        assert_eq!(found[0].kind.as_str(), kind);
        assert_eq!(found[0].explanation.as_deref(), Some("why\0\u{feff}?"));
        assert!(memory.unrelate("a", "b", kind).unwrap());
    }
}

type Deletion = (&'static str, fn(&Memory));

#[test]
fn no_way_to_delete_a_memory_leaves_a_link() {
    let ways: [Deletion; 10] = [
        ("delete", |m| assert!(m.delete("b").unwrap())),
        ("delete_all", |m| {
            assert_eq!(m.delete_all(["b"]).unwrap().deleted, 1);
        }),
        ("prune", |m| {
            m.prune(Prune::new().ids(["b"]).apply()).unwrap();
        }),
        ("replace", |m| {
            m.replace("b", NewMemory::new("b, anew")).unwrap();
        }),
        ("replace, same id", |m| {
            m.replace("b", NewMemory::new("b, anew").id("b")).unwrap();
        }),
        ("erase", |m| assert!(m.erase("b").unwrap())),
        ("bound delete", |m| {
            assert!(m.in_project("web").delete("b").unwrap());
        }),
        ("bound delete_all", |m| {
            assert_eq!(m.in_project("web").delete_all(["b"]).unwrap().deleted, 1);
        }),
        ("bound prune", |m| {
            let prune = Prune::new().ids(["b"]).apply();
            m.in_project("web").prune(prune).unwrap();
        }),
        ("bound replace", |m| {
            m.in_project("web").replace("b", "b, anew").unwrap();
        }),
    ];
    for (name, delete) in ways {
        let (_folder, path, memory) = on_disk();
        put(&memory, &["a", "b", "c"], Some("web"));
        draw(&memory, "a", "b");
        draw(&memory, "b", "c");
        draw(&memory, "a", "c");
        cause(&path, "b", "a");
        cause(&path, "c", "b");
        assert_eq!(memory.trace("c", 9).unwrap().ancestors.len(), 2, "{name}");
        delete(&memory);
        let left = memory.relations(Relations::all()).unwrap();
        assert_eq!(left.len(), 1, "{name}");
        assert_eq!((&*left[0].from, &*left[0].to), ("a", "c"), "{name}");
        let trace = memory.trace("c", 9).unwrap();
        assert!(trace.ancestors.is_empty(), "{name}");
        assert_eq!(memory.hubs(9).unwrap().len(), 2, "{name}");
        sound(&memory);
        let raw = rusqlite::Connection::open(&path).unwrap();
        let dangling: i64 = raw
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(dangling, 0, "{name}");
    }
}

#[test]
fn an_update_keeps_relations_and_a_relation_changes_no_memory() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    let before = memory.get("a").unwrap();
    memory
        .relate(NewRelation::because(
            "a",
            "b",
            RelationKind::SUPERSEDES,
            "it is newer",
        ))
        .unwrap();
    assert_eq!(memory.get("a").unwrap(), before);
    memory.update("b", "b, corrected").unwrap();
    assert_eq!(memory.relations("b").unwrap().len(), 1);
    // The line alone takes nothing out of recall.
    assert_eq!(memory.recall("corrected").unwrap()[0].memory.id, "b");
}

fn ids(neighbours: &[mnemic::Neighbour]) -> Vec<(&str, usize)> {
    let one = |n| {
        let n: &mnemic::Neighbour = n;
        (n.memory.id.as_str(), n.distance)
    };
    neighbours.iter().map(one).collect()
}

#[test]
fn neighbours_by_depth_direction_kind_and_cause() {
    let (_folder, path, memory) = on_disk();
    put(&memory, &["a", "b", "c", "d"], None);
    draw(&memory, "a", "b");
    draw(&memory, "b", "c");
    memory
        .relate(("c", "a", "contradicts", "it says the contrary"))
        .unwrap();
    cause(&path, "d", "a");
    let ask = |n: Neighbours| memory.neighbours(n).unwrap();
    assert_eq!(
        ids(&memory.neighbours("a").unwrap()),
        [("b", 1), ("c", 1), ("d", 1)]
    );
    let outward = ask(Neighbours::of("a").outward().depth(9));
    assert_eq!(ids(&outward), [("b", 1), ("d", 1), ("c", 2)]);
    assert_eq!(outward[1].step.link, Link::Cause);
    assert_eq!(outward[2].step.from, "b");
    assert_eq!(
        outward[2].step.link,
        Link::Relation(RelationKind::from("cites"))
    );
    let inward = ask(Neighbours::of("a").inward().depth(9));
    assert_eq!(ids(&inward), [("c", 1), ("b", 2)]);
    assert!(!inward[0].step.outward);
    let cites = || Neighbours::of("a").kinds(["cites"]).depth(9);
    assert_eq!(ids(&ask(cites())), [("b", 1), ("c", 2)]);
    assert_eq!(
        ids(&ask(cites().causes(true))),
        [("b", 1), ("d", 1), ("c", 2)]
    );
    let none: [&str; 0] = [];
    assert_eq!(ids(&ask(Neighbours::of("a").kinds(none))).len(), 3);
    assert_eq!(
        ids(&ask(Neighbours::of("a").causes(false))),
        [("b", 1), ("c", 1)]
    );
    assert_eq!(ids(&ask(Neighbours::of("a").limit(1))), [("b", 1)]);
    assert!(ask(Neighbours::of("a").depth(0)).is_empty());
}

#[test]
fn equally_short_paths_are_settled_the_same_way() {
    let memory = memory();
    put(&memory, &["start", "x", "y", "end"], None);
    // By y first: the path goes by x still, which was stored first.
    for (from, to) in [("start", "y"), ("y", "end"), ("start", "x"), ("x", "end")] {
        draw(&memory, from, to);
    }
    let path = memory.shortest_path(("start", "end")).unwrap().unwrap();
    let on_it: Vec<&str> = path.memories.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(on_it, ["start", "x", "end"]);
    assert_eq!(path.steps.len(), 2);
    let back = ShortestPath::between("end", "start");
    assert!(
        memory
            .shortest_path(back.clone().directed())
            .unwrap()
            .is_none()
    );
    assert!(
        memory
            .shortest_path(back.clone().depth(1))
            .unwrap()
            .is_none()
    );
    assert!(
        memory
            .shortest_path(back.clone().kinds(["supports"]))
            .unwrap()
            .is_none()
    );
    assert_eq!(memory.shortest_path(back).unwrap().unwrap().steps.len(), 2);
    let stays = memory.shortest_path(("x", "x")).unwrap().unwrap();
    assert_eq!((stays.memories.len(), stays.steps.len()), (1, 0));
}

#[test]
fn a_trace_goes_both_ways_and_a_circle_of_causes_ends() {
    let (_folder, path, memory) = on_disk();
    put(&memory, &["root", "mid", "leaf", "twig"], None);
    cause(&path, "mid", "root");
    cause(&path, "leaf", "mid");
    cause(&path, "twig", "mid");
    draw(&memory, "leaf", "root");
    let names = |traced: &[mnemic::Traced]| -> Vec<(String, usize)> {
        let one = |t: &mnemic::Traced| (t.memory.id.clone(), t.depth);
        traced.iter().map(one).collect()
    };
    let named = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
        list.iter().map(|(id, d)| ((*id).to_owned(), *d)).collect()
    };
    let trace = memory.trace("leaf", 10).unwrap();
    assert_eq!(trace.memory.id, "leaf");
    assert_eq!(names(&trace.ancestors), named(&[("mid", 1), ("root", 2)]));
    assert_eq!(trace.relations.len(), 1);
    let trace = memory.trace("root", 10).unwrap();
    assert_eq!(
        names(&trace.descendants),
        named(&[("mid", 1), ("leaf", 2), ("twig", 2)])
    );
    assert_eq!(memory.trace("root", 1).unwrap().descendants.len(), 1);
    cause(&path, "root", "leaf");
    let trace = memory.trace("leaf", usize::MAX).unwrap();
    assert_eq!(names(&trace.ancestors), named(&[("mid", 1), ("root", 2)]));
    assert_eq!(
        names(&trace.descendants),
        named(&[("root", 1), ("mid", 2), ("twig", 3)])
    );
}

#[test]
fn hubs_and_the_last_changed() {
    let memory = memory();
    put(&memory, &["a", "b", "c", "d"], None);
    for (from, to) in [("a", "b"), ("c", "b"), ("b", "a"), ("d", "c")] {
        draw(&memory, from, to);
    }
    memory.relate(("a", "b", "supports", "as well")).unwrap();
    let hubs = memory.hubs(10).unwrap();
    let counts: Vec<(&str, u64, u64)> = hubs
        .iter()
        .map(|hub| (hub.memory.id.as_str(), hub.outward, hub.inward))
        .collect();
    assert_eq!(counts, [("b", 1, 3), ("a", 2, 1), ("c", 1, 1), ("d", 1, 0)]);
    assert_eq!(hubs[0].relations(), 4);
    assert_eq!(memory.hubs(1).unwrap().len(), 1);
    assert!(memory.hubs(0).unwrap().is_empty());
    // Of two with as many, the one that was changed last.
    draw(&memory, "d", "a");
    memory.update("c", "c, later").unwrap();
    draw(&memory, "d", "b");
    memory.unrelate("d", "a", "cites").unwrap();
    let second: Vec<String> = memory
        .hubs(9)
        .unwrap()
        .into_iter()
        .map(|h| h.memory.id)
        .collect();
    assert_eq!(second, ["b", "a", "c", "d"]);
    assert_eq!(memory.recently_updated(1).unwrap()[0].id, "c");
}

/// Two projects and a link of each kind between them.
fn two_projects() -> (TempDir, Memory, ProjectMemory) {
    let (folder, path, memory) = on_disk();
    put(&memory, &["w1", "w2", "w3"], Some("web"));
    put(&memory, &["h1", "h2"], Some("home"));
    put(&memory, &["g"], None);
    for (from, to) in [
        ("w1", "w2"),
        ("w2", "h1"),
        ("h1", "w3"),
        ("h1", "h2"),
        ("w1", "g"),
        ("g", "w3"),
    ] {
        draw(&memory, from, to);
    }
    cause(&path, "w2", "w1");
    cause(&path, "h2", "w2");
    cause(&path, "w3", "h2");
    let web = memory.in_project("web");
    (folder, memory, web)
}

#[test]
fn a_bound_handle_sees_links_within_its_project_alone() {
    let (_folder, memory, web) = two_projects();
    let listed = web.relations(Relations::all()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&*listed[0].from, &*listed[0].to), ("w1", "w2"));
    assert!(web.relations("w3").unwrap().is_empty());
    assert_eq!(
        ids(&web.neighbours(Neighbours::of("w1").depth(9)).unwrap()),
        [("w2", 1)]
    );
    assert!(web.shortest_path(("w1", "w3")).unwrap().is_none());
    assert!(memory.shortest_path(("w1", "w3")).unwrap().is_some());
    let hubs = web.hubs(9).unwrap();
    let counts: Vec<(&str, u64)> = hubs
        .iter()
        .map(|hub| (hub.memory.id.as_str(), hub.relations()))
        .collect();
    assert_eq!(counts, [("w2", 1), ("w1", 1)]);
    let trace = web.trace("w2", 9).unwrap();
    assert_eq!(trace.ancestors.len(), 1);
    assert!(trace.descendants.is_empty());
    assert_eq!(trace.relations.len(), 1);
    assert_eq!(memory.trace("w2", 9).unwrap().descendants.len(), 2);
    assert_eq!(web.recently_updated(9).unwrap().len(), 3);

    for error in [
        web.relate(("w1", "h1", "cites", "x")).err(),
        web.relate(("h1", "w1", "cites", "x")).err(),
        web.relations("h1").err(),
        web.neighbours("g").err(),
        web.shortest_path(("w1", "h1")).err(),
        web.trace("h2", 1).err(),
    ] {
        assert_eq!(error.unwrap().kind(), ErrorKind::NotFound);
    }
    assert!(!web.unrelate("w2", "h1", "cites").unwrap());
    let home = || Scope::Project("home".into());
    for error in [
        web.relations(Relations::all().scope(home())).err(),
        web.neighbours(Neighbours::of("w1").scope(home())).err(),
        web.shortest_path(ShortestPath::between("w1", "w2").scope(home()))
            .err(),
    ] {
        assert_eq!(error.unwrap().kind(), ErrorKind::InvalidInput);
    }
    // All was left as it was.
    assert_eq!(memory.relations(Relations::all()).unwrap().len(), 6);
    assert_eq!(
        web.relate(("w2", "w3", "cites", "by name")).unwrap(),
        Related::Added
    );
    assert!(web.unrelate("w2", "w3", "cites").unwrap());
}

#[test]
fn scopes_narrow_the_whole_too() {
    let (_folder, memory, _) = two_projects();
    let both = Scope::ProjectAndGlobal("web".into());
    let path = ShortestPath::between("w1", "w3").scope(both.clone());
    let path = memory.shortest_path(path).unwrap().unwrap();
    assert_eq!(path.memories[1].id, "g");
    let listed = memory.relations(Relations::all().scope(both)).unwrap();
    assert_eq!(listed.len(), 3);
    let error = memory.neighbours(Neighbours::of("w1").scope(Scope::Global));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_read_only_handle_reads_links_and_draws_none() {
    let (_folder, path, memory) = on_disk();
    put(&memory, &["a", "b"], None);
    draw(&memory, "a", "b");
    drop(memory);
    let bytes = std::fs::read(&path).unwrap();
    let reader = builder().open_read_only(&path).unwrap();
    assert_eq!(reader.relations("a").unwrap().len(), 1);
    assert_eq!(reader.neighbours("a").unwrap().len(), 1);
    assert_eq!(reader.trace("a", 3).unwrap().relations.len(), 1);
    assert_eq!(reader.hubs(3).unwrap().len(), 2);
    let error = reader.relate(("b", "a", "cites", "x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    drop(reader);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn relations_rewrite_no_index() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    let hits = memory
        .recall(Recall::new("a b").now(time("2026-12-01")))
        .unwrap();
    draw(&memory, "a", "b");
    let after = memory
        .recall(Recall::new("a b").now(time("2026-12-01")))
        .unwrap();
    assert_eq!(hits, after);
}

#[test]
fn the_history_tells_of_relations_and_a_trace_of_the_history() {
    let memory = memory().acting_as("anna");
    put(&memory, &["a", "b"], Some("web"));
    put(&memory, &["h"], Some("home"));
    memory.keep_history(History::new()).unwrap();
    draw(&memory, "a", "b");
    memory.relate(("a", "b", "cites", "by name")).unwrap();
    memory.relate(("a", "b", "cites", "by number")).unwrap();
    draw(&memory, "a", "h");
    assert!(memory.unrelate("a", "b", "cites").unwrap());
    assert!(!memory.unrelate("a", "b", "cites").unwrap());
    let events = memory.trace("a", 1).unwrap().events;
    let told: Vec<(&Action, &str)> = events
        .iter()
        .map(|event| (&event.action, event.detail.as_deref().unwrap()))
        .collect();
    let to_b = r#"{"kind":"cites","to":"b"}"#;
    assert_eq!(
        told,
        [
            (&Action::Related, to_b),
            (&Action::Related, to_b),
            (&Action::Related, r#"{"kind":"cites"}"#),
            (&Action::Unrelated, to_b),
        ]
    );
    assert_eq!(events[0].actor.as_deref(), Some("anna"));
    assert_eq!(
        memory.in_project("web").trace("a", 1).unwrap().events,
        events
    );
    memory
        .update("h", mnemic::MemoryUpdate::new().project("web"))
        .unwrap();
    memory.update("h", "h, changed").unwrap();
    let web = memory.in_project("web").trace("h", 1).unwrap();
    let all = memory.trace("h", 1).unwrap();
    assert_eq!((web.events.len(), all.events.len()), (1, 2));
}

#[test]
fn undoing_a_deletion_brings_its_relations_back() {
    let memory = memory();
    put(&memory, &["a", "b"], None);
    memory.keep_history(History::new()).unwrap();
    draw(&memory, "a", "b");
    let before = memory.relations("a").unwrap();
    memory.delete("b").unwrap();
    assert!(memory.relations("a").unwrap().is_empty());
    let deleted = memory.events(Events::of("b")).unwrap().remove(0);
    memory.undo(deleted.number).unwrap();
    assert_eq!(memory.relations("a").unwrap(), before);
}

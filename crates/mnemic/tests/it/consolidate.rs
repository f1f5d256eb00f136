//! Consolidation: groups that say nearly the same, and one memory in the place of several.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mnemic::{
    Action, Consolidate, ConsolidateRule, EmbedError, Embedder, Embedding, EmbeddingModel,
    ErrorKind, Events, Gate, GatePolicy, GateVerdict, Gated, History, Include, InputKind, Kind,
    Layer, Memory, NewDocument, NewMemory, Recall, Relations, Scope, Timestamp,
};

use crate::support::{Parsed, WordHash, builder, contents, memory, sound, time};

/// Runs SQL on a file, as another program would.
fn sql(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    // The triggers of the file are not needed for these tables.
    connection.execute_batch(sql).unwrap();
}

fn ids(found: &mnemic::Consolidation) -> Vec<Vec<String>> {
    let of = |group: &mnemic::Group| {
        group
            .memories
            .iter()
            .map(|memory| memory.id.clone())
            .collect()
    };
    found.groups.iter().map(of).collect()
}

#[test]
fn groups_hold_what_says_the_same_and_nothing_else() {
    let memory = memory();
    let store = |id: &str, text: &str, project: &str| {
        memory
            .store(NewMemory::new(text).project(project).id(id))
            .unwrap();
    };
    store("a", "deploys freeze on Fridays", "web");
    store("b", "on Fridays deploys freeze", "web");
    store("c", "deploys freeze on Mondays", "web");
    store("d", "deploys do not freeze on Fridays", "web");
    store("e", "the desk plant is a cactus", "web");
    store("f", "Deploys freeze on Fridays.", "web");
    store("g", "deploys freeze on Fridays", "shop");
    let found = memory.consolidate(Consolidate::new()).unwrap();
    assert_eq!(ids(&found), [["f", "a", "b"]]);
    assert_eq!((found.looked_at, &found.last), (7, &None));
    assert!(found.groups[0].least_cosine.unwrap() > 0.5);
    assert_eq!(found.groups[0].merged, None);
    let shop = Consolidate::new().project("shop");
    assert!(memory.consolidate(shop).unwrap().groups.is_empty());
    // By words alone, where there is no model.
    let plain = Memory::builder().no_embedder().open_in_memory().unwrap();
    plain
        .store_all([
            "deploys freeze on Fridays",
            "on Fridays deploys freeze",
            "tea",
        ])
        .unwrap();
    let found = plain.consolidate(Consolidate::new()).unwrap();
    assert_eq!(found.groups.len(), 1);
    assert_eq!(found.groups[0].least_cosine, None);
}

/// Each member is like the first, so a chain of small steps makes no group of its ends.
#[test]
fn groups_do_not_creep() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let words: Vec<String> = (0..40).map(|i| format!("term{i}")).collect();
    // Each text has one word more than the one before.
    let texts: Vec<String> = (4..=40).map(|n| words[..n].join(" ")).collect();
    memory.store_all(&texts).unwrap();
    let found = memory.consolidate(Consolidate::new()).unwrap();
    for group in &found.groups {
        let lengths = group
            .memories
            .iter()
            .map(|memory| memory.content.split(' ').count());
        let (least, most) = (lengths.clone().min().unwrap(), lengths.max().unwrap());
        assert!(most < least * 3, "{least} {most}");
    }
    assert!(!found.groups.is_empty());
}

#[test]
fn a_limit_ends_it_and_it_goes_on() {
    let memory = memory();
    let text = |i: usize| format!("subject number{i} of many is described by word{i}");
    // All in one second.
    memory.store_all((0..50).map(text)).unwrap();
    memory
        .store_all((0..50).rev().map(|i| text(i) + "!"))
        .unwrap();
    let (mut after, mut groups, mut rounds) = (None::<String>, 0, 0);
    loop {
        let mut what = Consolidate::new().limit(30).apply();
        if let Some(id) = &after {
            what = what.after(id);
        }
        let found = memory.consolidate(what).unwrap();
        assert!(found.looked_at <= 30);
        groups += found.groups.len();
        rounds += 1;
        assert!(found.groups.iter().all(|group| group.merged.is_some()));
        after = found.last;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((groups, rounds), (50, 3));
    let again = memory.consolidate(Consolidate::new()).unwrap();
    assert_eq!((again.groups.len(), again.looked_at), (0, 50));
    let gone = memory
        .consolidate(Consolidate::new().after("absent"))
        .unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    sound(&memory);
}

/// agent-memory's rule: the first entity, the cosine of neighbours, their distance in time.
#[test]
fn the_seeds_rule_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open(&path)
        .unwrap();
    let store = |id: &str, at: &str, vector: &str| {
        let text = format!("[{vector}] {id}");
        let new = NewMemory::new(text).id(id).created_at(time(at));
        memory.store(new).unwrap();
    };
    // cos(1 0 0, 1 .48 0) = .9015; (1 0 0, 1 .49 0) = .898
    store("a", "2026-01-01", "1 0 0");
    store("b", "2026-02-15", "1 0.48 0"); // 45 days after a
    store("c", "2026-04-02", "1 0.48 0"); // 46 days after b
    store("d", "2026-04-03", "1 0 0.1");
    store("e", "2026-04-04", "0 1 0");
    store("f", "2026-04-05", "1 0 0"); // not like its neighbour e
    store("g", "2026-04-06", "1 0.49 0"); // .898 to f
    store("h", "2026-04-02", "1 0 0"); // another entity first
    for (i, (id, entity, second)) in [
        ("a", "cache", "x"),
        ("b", "cache", "y"),
        ("c", "cache", "x"),
        ("d", "cache", "x"),
        ("e", "cache", "x"),
        ("f", "cache", "x"),
        ("g", "cache", "x"),
        ("h", "deploys", "cache"),
    ]
    .into_iter()
    .enumerate()
    {
        let seq = i + 1;
        assert_eq!(memory.get(id).unwrap().unwrap().id, id);
        sql(
            &path,
            &format!(
                "CREATE TEMP TABLE x (y);
                 INSERT INTO memory_entities (entity, seq, name, place) VALUES ('{entity}', {seq}, '{entity}', 0), ('{second}2', {seq}, '{second}2', 1)"
            ),
        );
    }
    let seed = Consolidate::new().rule(ConsolidateRule::AgentMemory);
    let found = memory.consolidate(seed.clone()).unwrap();
    // c and d: (1 .48 0)·(1 0 .1) = .897, so no.
    assert_eq!(ids(&found), [["b", "a"]]);
    let applied = memory.consolidate(seed.apply()).unwrap();
    let merged = applied.groups[0].merged.as_ref().unwrap();
    assert_eq!(merged.superseded, ["b", "a"]);
    assert_eq!(merged.entities, 3, "cache, x2, y2");
    let text = memory.get(&merged.stored.id).unwrap().unwrap().content;
    assert_eq!(text, "[1 0.48 0] b");
}

#[test]
fn what_is_merged_takes_over_all_that_the_others_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory.keep_history(History::new()).unwrap();
    let store = |id: &str, new: NewMemory| memory.store(new.project("web").id(id)).unwrap();
    store("x", NewMemory::new("support is out at the weekend"));
    store("y", NewMemory::new("the deploy bot enforces it"));
    store("cause", NewMemory::new("a deploy on a Friday went wrong"));
    let a = NewMemory::new("deploys freeze on Fridays").tags(["ops", "rules"]);
    let a = a.entities(["Deploys", "Friday"]);
    store("a", a.importance(0.9).caused_by("cause").kind("procedural"));
    let b = NewMemory::new("no deploys on a Friday")
        .tags(["rules", "release"])
        .entities(["friday", "Release"]);
    store(
        "b",
        b.layer(Layer::LongTerm)
            .caused_by("cause")
            .kind("procedural")
            .trust(0.6),
    );
    memory.touch(["a", "b", "b"]).unwrap();
    let (x, y, a, b) = (1, 2, 4, 5);
    sql(
        &path,
        &format!(
            "INSERT INTO relations (from_seq, to_seq, kind, explanation, context, source, created_at) VALUES
                 ({a}, {x}, 'derived_from', 'said so', '{{\"by\":\"anna\"}}', 'wiki', '2026-01-02 03:04:05'),
                 ({b}, {x}, 'derived_from', 'later', NULL, NULL, '2026-02-02 03:04:05'),
                 ({y}, {b}, 'supports', NULL, NULL, NULL, '2026-03-02 03:04:05'),
                 ({a}, {b}, 'related_to', NULL, NULL, NULL, '2026-03-02 03:04:05');"
        ),
    );
    let merged = memory
        .merge(
            ["a", "b", "a"],
            NewMemory::new("Deploys freeze on Fridays").id("m"),
        )
        .unwrap();
    assert_eq!(merged.superseded, ["a", "b"]);
    assert_eq!(merged.relations, 2, "the two derived_from are one");
    let got = memory.get("m").unwrap().unwrap();
    assert_eq!(got.project.as_deref(), Some("web"));
    assert_eq!(got.tags, ["ops", "rules", "release"]);
    let life = got.lifecycle;
    assert_eq!((life.importance, life.layer), (0.9, Layer::LongTerm));
    assert_eq!(life.kind, Kind::Procedural);
    assert_eq!(life.causal_parent.as_deref(), Some("cause"));
    assert_eq!(life.trust, 0.75, "they did not agree");
    assert_eq!(got.usage.accesses, 3);
    assert_eq!(got.entities, ["Deploys", "Friday", "Release"]);
    assert_eq!(merged.entities, 3);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT f.id, t.id, r.kind, r.explanation, r.context, r.source, r.created_at FROM relations r
             JOIN memories f ON f.seq = r.from_seq JOIN memories t ON t.seq = r.to_seq
             WHERE 'm' IN (f.id, t.id) AND r.kind <> 'supersedes' ORDER BY r.relation",
        )
        .unwrap();
    let edges: Vec<[Option<String>; 7]> = statement
        .query_map([], |row| {
            let mut columns: [Option<String>; 7] = Default::default();
            for (i, column) in columns.iter_mut().enumerate() {
                *column = row.get(i)?;
            }
            Ok(columns)
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let edge = |edge: [&str; 7]| edge.map(|text| (!text.is_empty()).then(|| text.to_owned()));
    assert_eq!(
        edges,
        [
            edge([
                "m",
                "x",
                "derived_from",
                "said so",
                "{\"by\":\"anna\"}",
                "wiki",
                "2026-01-02 03:04:05"
            ]),
            edge(["y", "m", "supports", "", "", "", "2026-03-02 03:04:05"]),
        ]
    );
    let hits = memory.recall(Recall::new("freeze").project("web")).unwrap();
    assert_eq!(contents(&hits)[0], "Deploys freeze on Fridays");
    assert!(
        hits.iter()
            .all(|hit| !["a", "b"].contains(&&*hit.memory.id))
    );
    assert!(memory.check().unwrap().is_ok());

    // And back again.
    for id in ["a", "b"] {
        let events = memory.events(Events::of(id)).unwrap();
        assert_eq!(events[0].action, Action::Superseded);
        memory.undo(events[0].number).unwrap();
    }
    memory.delete("m").unwrap();
    let hits = memory
        .recall(Recall::new("Friday deploys").project("web").limit(2))
        .unwrap();
    assert_eq!(hits.len(), 2);
    for id in ["a", "b"] {
        let back = memory.get(id).unwrap().unwrap();
        assert_eq!(
            (back.lifecycle.superseded_at, back.usage.accesses > 0),
            (None, true)
        );
    }
    let kept: i64 = connection
        .query_row(
            "SELECT count(*) FROM relations WHERE kind <> 'supersedes'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 4);
}

#[test]
fn a_merge_that_cannot_be_changes_nothing() {
    let memory = memory();
    let store = |id: &str, new: NewMemory| memory.store(new.id(id)).unwrap();
    store("a", NewMemory::new("one").project("web"));
    store("b", NewMemory::new("two").project("shop"));
    store("c", NewMemory::new("three").project("web"));
    let fails = |ids: &[&str], into: NewMemory, kind: ErrorKind| {
        let error = memory.merge(ids, into).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        error.to_string()
    };
    let text = || NewMemory::new("all of it");
    assert!(fails(&["a", "b"], text(), ErrorKind::InvalidInput).contains("different projects"));
    fails(&["a", "absent"], text(), ErrorKind::NotFound);
    fails(&["a", "a"], text(), ErrorKind::InvalidInput);
    fails(&[], text(), ErrorKind::InvalidInput);
    fails(&["a", "c"], NewMemory::new(" "), ErrorKind::InvalidInput);
    fails(&["a", "c"], text().project("shop"), ErrorKind::InvalidInput);
    fails(&["a", "c"], text().global(), ErrorKind::InvalidInput);
    fails(&["a", "c"], text().id("b"), ErrorKind::AlreadyExists);
    let web = memory.in_project("web");
    assert_eq!(
        web.merge(["a", "b"], text()).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let all = Recall::new("one two three all")
        .scope(Scope::All)
        .include(Include::all());
    assert_eq!(memory.recall(all).unwrap().len(), 3);
    let merged = web
        .merge(["a", "c"], text().tags(["own"]).importance(0.1))
        .unwrap();
    let got = memory.get(&merged.stored.id).unwrap().unwrap();
    assert_eq!(
        (got.tags, got.lifecycle.importance),
        (vec!["own".to_owned()], 0.1)
    );
    assert!(got.created_at > Timestamp::MIN);
    sound(&memory);
}

/// Both rules on the labelled pairs, each pair with an entity of its own: what is grouped is to say the same (duplicate or
/// near). Prints the table of `docs/lifecycle.md`: `cargo test -p mnemic --test it consolidate::both -- --nocapture`.
#[test]
fn both_rules_group_as_well_as_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = Memory::open(&path).unwrap();
    let pairs: Vec<serde_json::Value> = include_str!("../data/gate_pairs.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let text = |pair: &serde_json::Value, name: &str| pair[name].as_str().unwrap().to_owned();
    for (i, pair) in pairs.iter().enumerate() {
        let both = ["known", "new"].map(|name| {
            NewMemory::new(text(pair, name))
                .project(format!("{i}"))
                .id(format!("{i}-{name}"))
        });
        memory.store_all(both).unwrap();
    }
    sql(
        &path,
        "INSERT INTO memory_entities (entity, seq, name, place) SELECT 'e', seq, 'e', 0 FROM memories",
    );
    let mut found_by = Vec::new();
    for rule in [ConsolidateRule::AgentMemory, ConsolidateRule::Gate] {
        let found = memory.consolidate(Consolidate::new().rule(rule)).unwrap();
        assert_eq!(found.looked_at, 2 * pairs.len());
        let grouped: Vec<usize> = found
            .groups
            .iter()
            .map(|group| group.memories[0].project.as_ref().unwrap().parse().unwrap())
            .collect();
        let same = |label: &str| label == "duplicate" || label == "near";
        let wanted = pairs
            .iter()
            .filter(|pair| same(&text(pair, "label")))
            .count();
        let right = grouped
            .iter()
            .filter(|i| same(&text(&pairs[**i], "label")))
            .count();
        let conflicts = grouped
            .iter()
            .filter(|i| text(&pairs[**i], "label") == "conflict");
        let (precision, recall) = (
            right as f64 / grouped.len() as f64,
            right as f64 / wanted as f64,
        );
        println!(
            "| {rule:?} | {precision:.2} | {recall:.2} | {} conflicts grouped |",
            conflicts.count()
        );
        found_by.push((precision, recall));
    }
    let [seed, gate] = found_by.as_slice() else {
        panic!("two rules");
    };
    assert!(gate.0 >= 0.98 && gate.1 >= 0.93, "{gate:?}");
    assert!(gate.0 > seed.0 && gate.1 > seed.1, "{seed:?} {gate:?}");
}

#[test]
fn documents_are_left_alone() {
    let memory = memory();
    let text = "deploys freeze on Fridays";
    let document = NewDocument::new(text).source(text);
    let document = memory.store_document(document).unwrap().id;
    let note = memory.store(text).unwrap().id;
    let found = memory.consolidate(Consolidate::new().apply()).unwrap();
    assert_eq!((found.groups.len(), found.looked_at), (0, 1));
    let error = memory.merge([&document, &note], text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("is a document"), "{error}");

    let card = memory.get(&document).unwrap().unwrap().content;
    memory.delete(&note).unwrap();
    let gate = Gate::new().duplicate(GatePolicy::Supersede);
    let answer = memory.store_with(&card, &gate).unwrap();
    assert_eq!(answer.assessment().verdict, GateVerdict::Duplicate);
    assert!(
        matches!(
            answer,
            Gated::Stored {
                superseded: None,
                ..
            }
        ),
        "{answer:?}"
    );
    assert_eq!(
        memory
            .get(&document)
            .unwrap()
            .unwrap()
            .lifecycle
            .superseded_at,
        None
    );
}

#[test]
fn a_bound_handle_consolidates_its_project_alone() {
    let memory = memory();
    for project in ["web", "shop"] {
        let texts = ["deploys freeze on Fridays", "Deploys freeze on Fridays!"];
        let bound = memory.in_project(project);
        bound.store_all(texts).unwrap();
    }
    let web = memory.in_project("web");
    let found = web.consolidate(Consolidate::new().apply()).unwrap();
    assert_eq!((found.groups.len(), found.looked_at), (1, 2));
    let merged = found.groups[0].merged.as_ref().unwrap();
    let kept = web.get(&merged.stored.id).unwrap().unwrap();
    assert_eq!(kept.content, "Deploys freeze on Fridays!");
    assert_eq!(web.recall("deploys").unwrap().len(), 1);
    assert_eq!(
        memory.in_project("shop").recall("deploys").unwrap().len(),
        2
    );
    let elsewhere = Consolidate::new().project("shop");
    assert_eq!(
        web.consolidate(elsewhere).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

/// [`WordHash`] that, once told a file, changes a memory of it while it embeds, as another process would.
#[derive(Debug, Clone, Default)]
struct Meddling(WordHash, Arc<Mutex<Option<PathBuf>>>);

impl Embedder for Meddling {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let path = self.1.lock().unwrap().take();
        if let Some(path) = path {
            let other = builder().open(path).unwrap();
            other.update("b", "on Fridays nothing is deployed").unwrap();
        }
        self.0.embed(kind, texts)
    }
}

#[test]
fn a_group_that_changes_while_it_is_merged_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let meddling = Meddling::default();
    let memory = Memory::builder()
        .embedder(meddling.clone())
        .open(&path)
        .unwrap();
    for (id, text) in [
        ("a", "deploys freeze on Fridays"),
        ("b", "on Fridays deploys freeze"),
    ] {
        memory.store(NewMemory::new(text).id(id)).unwrap();
    }
    *meddling.1.lock().unwrap() = Some(path);
    let found = memory.consolidate(Consolidate::new().apply()).unwrap();
    assert_eq!(ids(&found), [["b", "a"]]);
    assert_eq!(found.groups[0].merged, None);
    assert_eq!(*meddling.1.lock().unwrap(), None, "it was changed");
    let kept = memory.get("b").unwrap().unwrap();
    assert_eq!(kept.content, "on Fridays nothing is deployed");
    assert_eq!(kept.lifecycle.superseded_at, None);
    assert_eq!(memory.health().unwrap().memories, 2);
}

/// What is not of the project of a bound handle is neither in the way of a merge nor part of it.
#[test]
fn a_bound_merge_takes_over_nothing_from_outside() {
    let memory = memory();
    memory
        .store(NewMemory::new("the cause").id("g").project("home"))
        .unwrap();
    memory
        .store(NewMemory::new("of web").id("w").project("web"))
        .unwrap();
    let merge = |bound: bool| {
        for (id, text) in [
            ("a", "deploys freeze on Fridays"),
            ("b", "no deploys on Friday"),
        ] {
            let new = NewMemory::new(text).id(id).project("web").caused_by("g");
            memory.store(new).unwrap();
        }
        for (from, to) in [("g", "a"), ("b", "g"), ("w", "a")] {
            memory.relate((from, to, "supports", "why")).unwrap();
        }
        let merged = if bound {
            let web = memory.in_project("web");
            web.merge(["a", "b"], "Deploys freeze").unwrap()
        } else {
            memory.merge(["a", "b"], "Deploys freeze").unwrap()
        };
        let id = merged.stored.id;
        let cause = memory.get(&id).unwrap().unwrap().lifecycle.causal_parent;
        let among = memory
            .relations(Relations::among([id.as_str(), "g", "w"]))
            .unwrap();
        memory.delete_all(["a", "b", &id]).unwrap();
        (merged.relations, cause, among.len())
    };
    assert_eq!(merge(false), (3, Some("g".to_owned()), 3));
    assert_eq!(merge(true), (1, None, 1));
}

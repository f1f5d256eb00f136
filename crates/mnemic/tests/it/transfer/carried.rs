//! What is said of memories beside their texts, relations and events: out and back to the byte.

use super::*;
use mnemic::{Action, Chunking, Events, History, Kind, Layer, MemoryUpdate, NewDocument, Prune};

fn at(line: &str) -> String {
    let line = line.strip_suffix('}').unwrap();
    format!(r#"{line},"created_at":"2026-05-01T10:00:00Z"}}"#)
}

fn relation(from: &str, to: &str, kind: &str) -> String {
    at(&format!(
        r#"{{"type":"relation","from":"{from}","to":"{to}","kind":"{kind}"}}"#
    ))
}

/// Memories of which all is said that can be, with a history in which much was done and undone.
fn told() -> Memory {
    let memory = memory().acting_as("anna");
    memory.keep_history(History::new()).unwrap();
    let day = |day: u32| time(&format!("2026-01-{day:02} 08:00:00.5"));
    memory
        .store_all([
            NewMemory::new("the index was missing")
                .id("cause")
                .created_at(day(1)),
            NewMemory::new("trace queries were slow")
                .id("effect")
                .created_at(day(2))
                .kind("episodic")
                .importance(0.1 + 0.2)
                .trust(1.0)
                .layer(Layer::LongTerm)
                .decay_rate(1e-7)
                .pinned()
                .source("line\nbreak \"quoted\"")
                .valid_from(day(3))
                .valid_until(day(9))
                .caused_by("cause"),
            NewMemory::new("queries take 2 ms")
                .id("now")
                .created_at(day(5))
                .kind("own kind"),
            NewMemory::new("forgotten by now")
                .id("gone")
                .project("web")
                .created_at(day(6)),
            NewMemory::new("deleted by now")
                .id("deleted")
                .created_at(day(7)),
        ])
        .unwrap();
    memory.supersede("effect", "now").unwrap();
    memory.forget(["gone"]).unwrap();
    memory.touch(["now", "now", "cause"]).unwrap();
    memory
        .update(
            "now",
            MemoryUpdate::new()
                .content("queries take 3 ms")
                .tags(["perf"]),
        )
        .unwrap();
    memory.delete("deleted").unwrap();
    let newest = memory.events(Events::of("now").limit(1)).unwrap()[0].number;
    memory.undo(newest).unwrap();
    memory
        .store_all(["x", "y"].map(|text| NewMemory::new(text).project("old")))
        .unwrap();
    memory
        .acting_as("bot")
        .prune(Prune::new().project("old").apply())
        .unwrap();
    // Entities and relations of every shape.
    let entities = r#"{"type":"memory","id":"about","content":"Ada wrote to Ádám","created_at":"2026-02-01T00:00:00Z","entities":["Ádám","Ada","ADA"]}"#;
    let full = at(
        r#"{"type":"relation","from":"about","to":"now","kind":"supports","explanation":"why \"so\"","context":{"b": [1, 2.50, 1e400], "a":{"é":null}},"source":"anna"}"#,
    );
    import(
        &memory,
        &lines(&[entities, &relation("now", "gone", "own kind"), &full]),
    )
    .unwrap();
    memory
}

/// What a memory tells of itself, in full.
fn whole(memory: &Memory) -> (Vec<StoredMemory>, Vec<mnemic::Event>, String) {
    let mut memories = all(memory);
    memories.sort_by(|one, other| one.id.cmp(&other.id));
    let events = memory.events(Events::new().oldest_first()).unwrap();
    (memories, events, exported(memory, Export::new()))
}

#[test]
fn all_that_is_said_comes_back_to_the_byte() {
    let memory = told();
    let file = exported(&memory, Export::new());
    let header: serde_json::Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&header["memories"], &header["relations"]),
        (&5.into(), &3.into())
    );
    let events = memory.events(Events::new()).unwrap().len() as u64;
    assert_eq!(header["events"], events);
    assert!(
        file.contains(r#""lifecycle":{"kind":"episodic","importance":0.30000000000000004,"trust":1.0,"layer":"long_term","decay_rate":1e-7,"pinned":true,"source":"line\nbreak \"quoted\"","valid_from":"2026-01-03T08:00:00.5Z","valid_until":"2026-01-09T08:00:00.5Z","causal_parent":"cause","superseded_at":"#),
        "{file}"
    );
    assert!(
        file.contains(r#""context":{"b": [1, 2.50, 1e400], "a":{"é":null}}"#),
        "{file}"
    );
    assert!(file.contains(r#""entities":["Ádám","Ada"]"#), "{file}");
    assert!(file.contains(r#""usage":{"accesses":2,"last":""#), "{file}");
    let plain = file
        .lines()
        .find(|line| line.contains(r#""id":"cause""#))
        .unwrap();
    assert!(
        !plain.contains("lifecycle"),
        "nothing is said of it: {plain}"
    );

    let other = self::memory();
    let report = import(&other, &file).unwrap();
    assert_eq!((report.added, report.vectors_carried), (5, 5));
    assert_eq!((report.relations.added, report.events.added), (3, events));
    assert_eq!(report.left, [], "{report}");
    assert_eq!(whole(&other), whole(&memory));
    sound(&other);
    let now = other.get("effect").unwrap().unwrap();
    assert_eq!(now.lifecycle.kind, Kind::Episodic);
    assert_eq!(now.lifecycle.superseded_by.as_deref(), Some("now"));
    let hits = other
        .recall(Recall::new("forgotten by now").project("web"))
        .unwrap();
    assert!(hits.iter().all(|hit| hit.memory.id != "gone"));

    // Once more, and back into where it came from: nothing changes.
    for memory in [&other, &memory] {
        let before = whole(memory);
        let report = import(memory, &file).unwrap();
        assert_eq!(
            (report.unchanged, report.added, report.vectors_made),
            (5, 0, 0)
        );
        assert_eq!((report.relations.unchanged, report.relations.added), (3, 0));
        assert_eq!((report.events.unchanged, report.events.added), (events, 0));
        assert_eq!(whole(memory), before);
    }
}

#[test]
fn lines_may_come_in_any_order_children_before_parents() {
    let memory = told();
    let file = exported(&memory, Export::new());
    let mut turned: Vec<&str> = file.lines().collect();
    turned[1..].reverse();
    let other = self::memory();
    let report = import(&other, &turned.join("\n")).unwrap();
    assert_eq!(report.left, [], "{report}");
    let (memories, events, _) = whole(&other);
    assert_eq!((memories, events), (whole(&memory).0, whole(&memory).1));
}

#[test]
fn imported_events_are_undone_or_refused() {
    let file = exported(&told(), Export::new());
    let other = memory();
    import(&other, &file).unwrap();
    let last =
        |memory: &Memory, id: &str| memory.events(Events::of(id).limit(1)).unwrap()[0].clone();
    // A deletion, a prune as a whole, a forgetting.
    let deletion = last(&other, "deleted");
    assert_eq!(
        (&deletion.action, deletion.actor.as_deref()),
        (&Action::Deleted, Some("anna"))
    );
    assert_eq!(other.undo(deletion.number).unwrap().restored, ["deleted"]);
    assert_eq!(
        other.get("deleted").unwrap().unwrap().content,
        "deleted by now"
    );
    let pruned = other
        .events(Events::new().actions([Action::Pruned]))
        .unwrap();
    assert_eq!((pruned.len(), pruned[0].actor.as_deref()), (2, Some("bot")));
    assert_eq!(other.undo_batch(pruned[0].batch).unwrap().restored.len(), 2);
    other.undo(last(&other, "gone").number).unwrap();
    assert_eq!(
        other.get("gone").unwrap().unwrap().lifecycle.forgotten_at,
        None
    );
    sound(&other);

    // Without images nothing is, and nothing is lost by it.
    let bare = exported(&told(), Export::new().no_images());
    assert!(!bare.contains(r#""before""#), "{bare}");
    let other = memory();
    let report = import(&other, &bare).unwrap();
    assert_eq!(report.events.added, 15, "{report}");
    for event in other.events(Events::new()).unwrap() {
        if event.action != Action::Stored {
            let error = other.undo(event.number).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{event:?} {error}");
        }
    }
    assert_eq!(other.health().unwrap().memories, 5);
    let none = exported(&told(), Export::new().no_history());
    assert!(!none.contains("\"event"), "{none}");
}

/// Into a file with a history of its own, events move up together; a later export of the first file adds what is new.
#[test]
fn events_of_two_histories_keep_apart() {
    let memory = told();
    let file = exported(&memory, Export::new());
    let other = self::memory();
    other.keep_history(History::new()).unwrap();
    let own = other.store("of its own").unwrap().id;
    other.update(&own, "of its own, changed").unwrap();
    let report = import(&other, &file).unwrap();
    let events = report.events.added;
    assert_eq!(import(&other, &file).unwrap().events.unchanged, events);
    let moved = other.events(Events::new().oldest_first()).unwrap();
    // Two of its own, five for what came in, then those that came.
    let came = &moved[7..];
    let shift = came[0].number - 1;
    assert!(shift >= 7);
    for (came, event) in came.iter().zip(whole(&memory).1) {
        let mut expected = event.clone();
        expected.number += shift;
        expected.batch += shift;
        expected.undoes = expected.undoes.map(|undone| undone + shift);
        expected.undone_by = expected.undone_by.map(|undoing| undoing + shift);
        assert_eq!(*came, expected);
    }
    // Its own can be undone, and one that came.
    let mine = other.events(Events::of(&own).limit(1)).unwrap()[0].number;
    other.undo(mine).unwrap();
    let deletion = other.events(Events::of("deleted").limit(1)).unwrap()[0].number;
    other.undo(deletion).unwrap();
    sound(&other);

    memory.update("now", "queries take 4 ms").unwrap();
    let later = exported(&memory, Export::new());
    let report = other
        .import(Import::jsonl(later.as_bytes()).on_conflict(OnConflict::Replace))
        .unwrap();
    assert_eq!((report.events.added, report.events.unchanged), (1, events));
    let newest = &other.events(Events::of("now").limit(1)).unwrap()[0];
    other.undo(newest.number).unwrap();
    assert_eq!(
        other.get("now").unwrap().unwrap().content,
        "queries take 2 ms"
    );
}

#[test]
fn what_leads_out_of_the_import_is_left_and_told() {
    let memory = told();
    let file = exported(&memory, Export::new().ids(["effect", "gone"]));
    assert!(
        !file.contains(r#""type":"relation""#),
        "an end is not written: {file}"
    );
    let events: Vec<serde_json::Value> = file
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["type"] == "event")
        .collect();
    assert!(
        events
            .iter()
            .all(|event| ["effect", "gone"].iter().any(|id| event["memory"] == *id))
    );
    assert_eq!(events.len(), 4);
    let file = format!("{file}{}\n", relation("gone", "nobody", "supports")).replacen(
        r#""events":4"#,
        r#""events":4,"relations":1"#,
        1,
    );
    let (other, mut kept) = (self::memory(), Vec::new());
    let report = other
        .import(Import::jsonl(file.as_bytes()).left_to(&mut kept))
        .unwrap();
    let told: Vec<String> = report.left.iter().map(ToString::to_string).collect();
    let why = "it names a memory that is neither in the import nor here";
    assert_eq!(
        told,
        [
            format!("memory.lifecycle.causal_parent: 1 ({why})"),
            format!("memory.lifecycle.superseded_by: 1 ({why})"),
            format!("relation: 1 row ({why})"),
        ]
    );
    assert_eq!((report.added, report.left_written), (2, 3));
    let kept = String::from_utf8(kept).unwrap();
    assert!(
        kept.contains(
            r#"{"field":"lifecycle.causal_parent","memory":"effect","to":"cause","type":"link"}"#
        ),
        "{kept}"
    );
    assert!(
        kept.contains(&relation("gone", "nobody", "supports")),
        "{kept}"
    );
    let effect = other.get("effect").unwrap().unwrap().lifecycle;
    assert_eq!((effect.causal_parent, effect.superseded_by), (None, None));
    assert!(effect.superseded_at.is_some(), "it stays superseded");
    // Again: as it was. With the others here already, all of it is taken.
    let again = import(&other, &file).unwrap();
    assert_eq!(
        (again.unchanged, again.events.unchanged, again.left.len()),
        (2, 4, 3)
    );
    let other = self::memory();
    other
        .store_all(["cause", "now", "nobody"].map(|id| NewMemory::new(id).id(id)))
        .unwrap();
    let report = import(&other, &file).unwrap();
    assert_eq!((report.left.len(), report.relations.added), (0, 1));
    let effect = other.get("effect").unwrap().unwrap().lifecycle;
    assert_eq!(effect.causal_parent.as_deref(), Some("cause"));
}

#[test]
fn what_is_said_conflicts_as_a_text_does() {
    let memory = memory();
    let said = |said: &str| line("a", "a text").replace('}', &format!(",{said}}}"));
    let as_it_was = lines(&[
        &said(
            r#""lifecycle":{"importance":0.9},"entities":["Ada"],"usage":{"accesses":5,"last":"2026-06-01T00:00:00Z"}"#,
        ),
        &line("b", "another"),
        &relation("a", "b", "supports"),
    ]);
    import(&memory, &as_it_was).unwrap();
    for (other, kind) in [
        (
            said(r#""lifecycle":{"importance":0.8},"entities":["Ada"]"#),
            ErrorKind::AlreadyExists,
        ),
        (
            said(r#""lifecycle":{"importance":0.9},"entities":["Bea"]"#),
            ErrorKind::AlreadyExists,
        ),
    ] {
        let error = import(&memory, &lines(&[&other])).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains("line 2"), "{error}");
    }
    let drawn_later = relation("a", "b", "supports").replace("10:00", "11:00");
    let error = import(&memory, &lines(&[&drawn_later])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(
        error
            .to_string()
            .contains(r#"line 2: a relation "supports" from "a" to "b""#),
        "{error}"
    );

    let other = lines(&[
        &said(
            r#""lifecycle":{"importance":0.8,"causal_parent":"b"},"entities":["Bea","Ada"],"usage":{"accesses":3,"last":"2026-07-01T00:00:00Z"}"#,
        ),
        &drawn_later,
    ]);
    let with = |policy| {
        memory
            .import(Import::jsonl(other.as_bytes()).on_conflict(policy))
            .unwrap()
    };
    let before = whole(&memory);
    let kept = with(OnConflict::Keep);
    assert_eq!(
        (kept.kept, kept.relations.kept, kept.relations.added),
        (1, 1, 0)
    );
    assert_eq!(whole(&memory), before);
    let replaced = with(OnConflict::Replace);
    assert_eq!(
        (
            replaced.replaced,
            replaced.relations.replaced,
            replaced.vectors_made
        ),
        (1, 1, 0)
    );
    let now = memory.get("a").unwrap().unwrap();
    assert_eq!(now.lifecycle.importance, 0.8);
    assert_eq!(now.lifecycle.causal_parent.as_deref(), Some("b"));
    // The higher count, the later time.
    assert_eq!(
        (now.usage.accesses, now.usage.last),
        (5, Some(time("2026-07-01")))
    );
    let file = exported(&memory, Export::new());
    assert!(
        file.contains(r#""entities":["Bea","Ada"]"#) && file.contains("11:00:00Z"),
        "{file}"
    );
    assert_eq!(with(OnConflict::Fail).unchanged, 1);
    // Of one that is just so otherwise, too.
    let used = lines(&[&line("b", "another").replace(
        '}',
        r#","usage":{"accesses":2,"last":"2026-06-01T00:00:00Z"}}"#,
    )]);
    assert_eq!(import(&memory, &used).unwrap().unchanged, 1);
    assert_eq!(memory.get("b").unwrap().unwrap().usage.accesses, 2);
    sound(&memory);
}

#[test]
fn a_circle_is_refused_and_nothing_is_stored() {
    let linked = |id: &str, link: &str, to: &str| {
        let superseded = r#""superseded_at":"2026-06-01T00:00:00Z","#;
        let at = if link == "superseded_by" {
            superseded
        } else {
            ""
        };
        line(id, id).replace('}', &format!(r#","lifecycle":{{{at}"{link}":"{to}"}}}}"#))
    };
    for (link, told) in [
        ("causal_parent", "would be among its own causes"),
        ("superseded_by", "would stand in its own place"),
    ] {
        let memory = memory();
        let file = lines(&[
            &line("z", "z"),
            &linked("a", link, "b"),
            &linked("b", link, "c"),
            &linked("c", link, "a"),
        ]);
        let error = import(&memory, &file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let message = error.to_string();
        assert!(
            message.contains("line 3") && message.contains(told),
            "{message}"
        );
        assert_eq!(memory.health().unwrap().memories, 0);
        // One that only closes with what is here; and one that is only there half way.
        import(&memory, &lines(&[&linked("a", link, "b"), &line("b", "b")])).unwrap();
        let closing = lines(&[&linked("b", link, "a")]);
        let with = |lines: &str| {
            memory.import(Import::jsonl(lines.as_bytes()).on_conflict(OnConflict::Replace))
        };
        assert_eq!(with(&closing).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(
            with(&lines(&[&linked("b", link, "a"), &line("a", "a")]))
                .unwrap()
                .replaced,
            2
        );
    }
}

/// Each wrong line with what its error must say.
#[test]
fn bad_links_and_events_are_named_and_nothing_is_stored() {
    let said = |said: &str| line("a", "x").replace('}', &format!(",{said}}}"));
    let life = |fields: &str| said(&format!(r#""lifecycle":{{{fields}}}"#));
    let event = |fields: &str| {
        format!(r#"{{"type":"event","at":"2026-01-01","action":"updated","memory":"a",{fields}}}"#)
    };
    let image = |id: &str, more: &str| {
        event(&format!(
            r#""number":1,"before":{{"id":"{id}","content":"x","created_at":"2026-01-01","updated_at":"2026-01-01"{more}}}"#
        ))
    };
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    let good = relation("a", "b", "supports");
    for (bad, told) in [
        (
            life(r#""importance":2"#),
            r#"field "lifecycle": importance 2 is not in [0, 1]"#,
        ),
        (life(r#""trust":-0.1"#), r#"field "lifecycle": trust -0.1"#),
        (
            life(r#""decay_rate":1e999"#),
            r#"field "lifecycle": decay rate inf"#,
        ),
        (
            life(r#""importance":"much""#),
            r#"field "importance": it is not a number"#,
        ),
        (
            life(r#""kind":"""#),
            r#"field "lifecycle": its kind is the empty text"#,
        ),
        (
            life(r#""layer":"middle""#),
            r#"field "layer": "middle" is neither"#,
        ),
        (life(r#""pinned":1"#), r#"field "pinned": invalid type"#),
        (
            life(r#""valid_from":"2026-02-01","valid_until":"2026-01-01""#),
            "it is valid from",
        ),
        (
            life(r#""forgotten_at":"soon""#),
            r#"field "forgotten_at": "soon" is not a time"#,
        ),
        (
            life(r#""causal_parent":"a""#),
            r#"field "causal_parent": it is the memory itself"#,
        ),
        (
            life(r#""causal_parent":"a b""#),
            r#"field "causal_parent": it cannot be an id"#,
        ),
        (
            life(r#""superseded_by":"b""#),
            r#"field "superseded_at": it is missing"#,
        ),
        (
            life(r#""kind":"k","kind":"l""#),
            r#"field "kind": it is there twice"#,
        ),
        (
            said(r#""lifecycle":[]"#),
            r#"field "lifecycle": invalid type"#,
        ),
        (
            said(r#""usage":{"accesses":1}"#),
            r#"field "last": it is missing"#,
        ),
        (
            said(r#""usage":{"accesses":-1,"last":"2026-01-01"}"#),
            r#"field "accesses": invalid value"#,
        ),
        (
            said(r#""usage":{"accesses":9000000000000000000,"last":"2026-01-01"}"#),
            r#"field "accesses": it is more than"#,
        ),
        (
            said(r#""entities":["Ada"," "]"#),
            r#"field "entities": an entity needs a name"#,
        ),
        (
            said(r#""entities":"Ada""#),
            r#"field "entities": invalid type"#,
        ),
        (
            good.replace("\"b\"", "\"a\""),
            r#"field "to": it is where the relation starts from"#,
        ),
        (
            good.replace(r#""from":"a","#, ""),
            r#"field "from": it is missing"#,
        ),
        (good.replace("supports", ""), r#"field "kind": it is empty"#),
        (
            good.replace("\"b\"", "\"b c\""),
            r#"field "to": it cannot be an id"#,
        ),
        (good.replace("10:00:00Z", ""), r#"field "created_at""#),
        (
            good.replace('}', &format!(",\"context\":{deep}}}")),
            r#"field "context": it is nested deeper than 900"#,
        ),
        (
            event(r#""number":0"#),
            r#"field "number": it is not in 1 to"#,
        ),
        (
            event(r#""number":9007199254740993"#),
            r#"field "number": it is not in 1 to"#,
        ),
        (event(r#""batch":1"#), r#"field "number": it is missing"#),
        (
            event(r#""number":3,"batch":4"#),
            r#"field "batch": the first event"#,
        ),
        (
            event(r#""number":3,"undoes":3"#),
            r#"field "undoes": it is not the number of an earlier event"#,
        ),
        (
            event(r#""number":3,"detail":"why""#),
            r#"field "detail": it is not an object"#,
        ),
        (
            event(r#""number":3"#).replace("updated", ""),
            r#"field "action": it is empty"#,
        ),
        (
            event(r#""number":3"#).replace("\"a\"", "\"\""),
            r#"field "memory": it cannot be an id"#,
        ),
        (
            event(r#""number":3"#).replace("2026-01-01", "once"),
            r#"field "at": "once" is not a time"#,
        ),
        (
            event(r#""number":3,"before":{}"#),
            r#"field "before": it is an image that is none"#,
        ),
        (
            image("b", ""),
            r#"field "before": it is of the memory "b", not of "a""#,
        ),
        (
            image("a", "").replace("\"x\"", "\" \""),
            r#"field "before": it is of a memory without a text"#,
        ),
        (
            image(
                "a",
                r#","lifecycle":{"kind":"k","importance":3,"trust":1,"layer":"long_term","decay_rate":1,"pinned":0}"#,
            ),
            r#"field "before": importance 3"#,
        ),
    ] {
        let memory = memory();
        let file = lines(&[&line("ok", "good"), &bad]);
        let error = import(&memory, &file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}: {error:?}");
        let message = error.to_string();
        assert!(
            message.starts_with("line 3: ") && message.contains(told),
            "{bad}\n{message}\nshould say: {told}"
        );
        assert_eq!(memory.health().unwrap().memories, 0, "{bad}");
    }
    let twice = lines(&[&event(r#""number":3"#), &event(r#""number":3"#)]);
    let error = import(&memory(), &twice).unwrap_err().to_string();
    assert!(
        error.contains(r#"line 3: field "number": 3 is the number of line 2 already"#),
        "{error}"
    );
    for what in ["relations", "events"] {
        let file = format!("{}\n", HEADER.replace("1}", &format!("1,\"{what}\":1}}")));
        let error = import(&memory(), &file).unwrap_err().to_string();
        assert!(
            error.contains(&format!("tells of 1 {what}, but 0 follow")),
            "{error}"
        );
    }
}

#[test]
fn what_a_later_version_says_more_is_counted() {
    let memory = memory();
    let odd = line("a", "x").replace('}', r#","lifecycle":{"kind":"k","mood":"glad"},"usage":{"accesses":1,"last":"2026-01-01","by":"x"}}"#);
    let (file, mut kept) = (lines(&[&odd]), Vec::new());
    let report = memory
        .import(Import::jsonl(file.as_bytes()).left_to(&mut kept))
        .unwrap();
    let told: Vec<String> = report.left.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "memory.lifecycle.mood: 1 (this version of mnemic knows no such field)",
            "memory.usage.by: 1 (this version of mnemic knows no such field)",
        ]
    );
    assert_eq!(String::from_utf8(kept).unwrap().trim_end(), odd);
    assert_eq!(
        memory.get("a").unwrap().unwrap().lifecycle.kind,
        Kind::from("k")
    );
}

/// Into a project: memories, what happened to them, and what they were.
#[test]
fn events_go_into_the_project_that_the_memories_go_into() {
    let source = told();
    let file = exported(&source, Export::new().ids(["now"]));
    let other = memory();
    let into = || Import::jsonl(file.as_bytes()).project("team");
    let events = other.import(into()).unwrap().events.added;
    assert!(events > 0);
    let team = other.in_project("team");
    let seen = team.events(Events::new()).unwrap();
    assert_eq!(seen.len() as u64, events);
    assert_eq!(other.import(into()).unwrap().events.unchanged, events);
    let undoing = seen.iter().find(|event| event.undoes.is_some()).unwrap();
    team.undo(undoing.number).unwrap();
    let now = other.get("now").unwrap().unwrap();
    assert_eq!(
        (now.content.as_str(), now.project.as_deref()),
        ("queries take 3 ms", Some("team"))
    );
}

/// Documents with passages cut by rule and by hand, one that lacks a vector, one with nothing to embed in a passage.
fn documents() -> Memory {
    let memory = memory();
    let source = "Ämter öffnen um neun.\n\nThe pump failed. 🎉\n\nNobody may feed the geese.";
    let minutes = NewDocument::new("Minutes \"of\" May")
        .description("what was said")
        .source(source)
        .link("https://example.org")
        .metadata("{\n \"pages\": [1, 2]}")
        .event_date(time("2026-05-04"))
        .origin("a/path")
        .origin_hash("hash")
        .project("park")
        .tags(["minutes"])
        .preview(10)
        .chunking(Chunking::characters(30, 10))
        .id("minutes")
        .created_at(time("2026-05-05"));
    memory.store_document(minutes).unwrap();
    memory
        .store_document(NewDocument::new("A card alone").id("card"))
        .unwrap();
    memory
        .store(NewMemory::new("no document").id("plain"))
        .unwrap();
    memory
        .update("minutes", MemoryUpdate::new().importance(0.9))
        .unwrap();
    memory
}

#[test]
fn documents_come_back_to_the_byte() {
    let memory = documents();
    let file = exported(&memory, Export::new());
    assert!(file.contains(r#""metadata":{  "pages": [1, 2]}"#), "{file}");
    let other = self::memory();
    let report = import(&other, &file).unwrap();
    assert_eq!(
        (report.added, report.documents, report.vectors_made),
        (3, 2, 0)
    );
    assert_eq!(report.left, []);
    assert_eq!(exported(&other, Export::new()), file);
    assert_eq!(
        other.source("minutes").unwrap(),
        memory.source("minutes").unwrap()
    );
    assert_eq!(
        other.passages_of("minutes").unwrap(),
        memory.passages_of("minutes").unwrap()
    );
    assert_eq!(other.coverage().unwrap(), memory.coverage().unwrap());
    let geese = Recall::new("feed the geese").project("park");
    assert_eq!(
        other.recall(geese.clone()).unwrap(),
        memory.recall(geese).unwrap()
    );
    sound(&other);
    for memory in [&other, &memory] {
        assert_eq!(import(memory, &file).unwrap().unchanged, 3);
    }
    // Without vectors, and cut by hand: embedded where it arrives.
    let bare = exported(&memory, Export::new().no_vectors());
    let other = self::memory();
    let report = import(&other, &bare).unwrap();
    let chunks = memory.coverage().unwrap().chunks;
    assert_eq!(
        (report.vectors_carried, report.vectors_made),
        (0, 3 + chunks)
    );
    assert_eq!(exported(&other, Export::new()), file);
    let hand = line("doc", "anything").replace('}', r#","document":{"title":"T","source":"one two three","passages":[{"start":0,"end":3},{"start":2,"end":7}]}}"#);
    import(&other, &lines(&[&hand])).unwrap();
    let passages = other.passages_of("doc").unwrap();
    assert_eq!((passages.len(), passages[1].text.as_str()), (2, "e two"));
    assert_eq!(
        other.get("doc").unwrap().unwrap().content,
        "T\none two three"
    );
    let uncut =
        line("doc", "anything").replace('}', r#","document":{"title":"T","source":"other"}}"#);
    let error = import(&other, &lines(&[&uncut])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let file = lines(&[&uncut]);
    let replaced = other
        .import(Import::jsonl(file.as_bytes()).on_conflict(OnConflict::Replace))
        .unwrap();
    assert_eq!((replaced.replaced, replaced.documents), (1, 1));
    assert_eq!(other.passages_of("doc").unwrap()[0].text, "other");
    sound(&other);
    for (bad, told) in [
        (
            r#"{"title":" "}"#,
            r#"field "title": a document needs a title"#,
        ),
        (
            r#"{"title":"T","source":"é","passages":[{"start":0,"end":1}]}"#,
            r#"field "document": passage 1: bytes 0 to 1"#,
        ),
        (
            r#"{"title":"T","source":"abc","passages":[{"start":1,"end":2},{"start":0,"end":2}]}"#,
            r#"field "document": passage 2"#,
        ),
        (
            r#"{"title":"T","source":"abc","passages":[{"start":1,"end":9}]}"#,
            r#"field "document": passage 1"#,
        ),
        (
            r#"{"title":"T","source":"abc","passages":[{"start":1}]}"#,
            r#"field "end": it is missing"#,
        ),
    ] {
        let file = lines(&[&line("a", "x").replace('}', &format!(",\"document\":{bad}}}"))]);
        let error = import(&self::memory(), &file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad}");
        assert!(error.to_string().contains(told), "{bad}: {error}");
    }
}

#[derive(Debug, Clone)]
enum Deed {
    Store(String, Option<u8>, f64, f64, bool, Option<i64>),
    Supersede(u8, u8),
    Forget(u8),
    Touch(u8),
    Update(u8, String),
    Delete(u8),
    Relate(u8, u8, String, Option<String>),
    Undo(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (text(), prop::option::of(0u8..12), 0.0..=1.0f64, 0.0..9.0f64, any::<bool>(), prop::option::of(0i64..4_000_000))
            .prop_map(|(text, parent, share, rate, pinned, from)| Deed::Store(text, parent, share, rate, pinned, from)),
        1 => (0u8..12, 0u8..12).prop_map(|(old, new)| Deed::Supersede(old, new)),
        1 => (0u8..12).prop_map(Deed::Forget),
        1 => (0u8..12).prop_map(Deed::Touch),
        1 => (0u8..12, text()).prop_map(|(id, text)| Deed::Update(id, text)),
        1 => (0u8..12).prop_map(Deed::Delete),
        2 => (0u8..12, 0u8..12, ".{1,5}", prop::option::of(".{0,5}"))
            .prop_map(|(from, to, kind, why)| Deed::Relate(from, to, kind, why)),
        1 => any::<u8>().prop_map(Deed::Undo),
    ]
}

fn done(memory: &Memory, deed: Deed, stored: &mut u8) {
    let id = |number: u8| format!("m{number}");
    // What is refused is refused: only what was done comes along.
    match deed {
        Deed::Store(text, parent, share, rate, pinned, from) => {
            let mut new = NewMemory::new(text.clone())
                .id(id(*stored))
                .importance(share)
                .trust(1.0 - share)
                .decay_rate(rate)
                .source(text);
            if pinned {
                new = new.pinned().layer(Layer::LongTerm);
            }
            if let Some(parent) = parent {
                new = new.caused_by(id(parent));
            }
            if let Some(micros) = from {
                new = new.valid_from(mnemic::Timestamp::from_micros(micros).unwrap());
            }
            if memory.store(new).is_ok() {
                *stored += 1;
            }
        }
        Deed::Supersede(old, new) => drop(memory.supersede(&id(old), &id(new))),
        Deed::Forget(old) => drop(memory.forget([id(old)])),
        Deed::Touch(one) => drop(memory.touch([id(one)])),
        Deed::Update(one, text) => drop(memory.update(&id(one), text)),
        Deed::Delete(one) => drop(memory.delete(&id(one))),
        Deed::Relate(from, to, kind, why) => {
            let line = serde_json::json!({"type": "relation", "from": id(from), "to": id(to), "kind": kind,
                "explanation": why, "context": {"why": why}, "created_at": "2026-05-01T10:00:00Z"});
            drop(memory.import(
                Import::jsonl(lines(&[&line.to_string()]).as_bytes()).on_conflict(OnConflict::Keep),
            ));
        }
        Deed::Undo(which) => {
            let events = memory.events(Events::new()).unwrap();
            if let Some(event) = events.get(usize::from(which) % events.len().max(1)) {
                drop(memory.undo(event.number));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever was done to memories, with or without a history: the same bytes, and the same memory; twice is once.
    #[test]
    fn whatever_was_done_comes_back_to_the_byte(deeds in prop::collection::vec(deed(), 0..24), history in any::<bool>()) {
        let source = memory();
        if history {
            source.keep_history(History::new()).unwrap();
        }
        let mut stored = 0;
        for deed in deeds {
            done(&source, deed, &mut stored);
        }
        let file = exported(&source, Export::new());
        let target = memory();
        let report = import(&target, &file).unwrap();
        prop_assert_eq!(report.left, []);
        prop_assert_eq!(whole(&target), whole(&source));
        let again = import(&target, &file).unwrap();
        prop_assert_eq!((again.added, again.relations.added, again.events.added), (0, 0, 0));
        prop_assert_eq!(exported(&target, Export::new()), file);
    }
}

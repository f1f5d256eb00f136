//! What happened to memories, who did it, and undoing it.

use mnemic::{
    Action, ErrorKind, Events, History, Memory, MemoryUpdate, NewMemory, Prune, Recall, Scope,
    Timestamp,
};

/// A memory that keeps its history.
fn keeping() -> Memory {
    let memory = Memory::open_in_memory().unwrap().acting_as("anna");
    memory.keep_history(History::new()).unwrap();
    memory
}

/// Actions and memories, oldest first.
fn told(memory: &Memory) -> Vec<String> {
    let events = memory.events(Events::new().oldest_first()).unwrap();
    events
        .iter()
        .map(|event| format!("{} {}", event.action, event.memory))
        .collect()
}

#[test]
fn a_file_that_was_never_told_keeps_none() {
    let memory = Memory::open_in_memory().unwrap();
    let id = memory.store("a note").unwrap().id;
    memory.update(&id, "another note").unwrap();
    memory.delete(&id).unwrap();
    assert_eq!(memory.history().unwrap(), None);
    assert_eq!(memory.events(Events::new()).unwrap(), []);
    assert_eq!(memory.undo(1).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn every_verb_is_noted_once_with_its_actor() {
    let memory = keeping();
    memory
        .store(NewMemory::new("one").id("a").importance(0.9))
        .unwrap();
    memory
        .store_all([
            NewMemory::new("two").id("b"),
            NewMemory::new("three").id("c"),
        ])
        .unwrap();
    memory
        .update(
            "a",
            MemoryUpdate::new()
                .content("uno")
                .importance(0.1)
                .tags(["x"]),
        )
        .unwrap();
    memory.replace("b", NewMemory::new("due").id("b2")).unwrap();
    memory.supersede("a", "c").unwrap();
    memory.forget(["c"]).unwrap();
    memory.revive(["c"]).unwrap();
    memory.acting_as("bot").delete("b2").unwrap();
    memory.prune(Prune::new().ids(["a"]).apply()).unwrap();
    // Nothing happens: nothing is told.
    memory.update("c", MemoryUpdate::new()).unwrap();
    memory.revive(["c"]).unwrap();
    memory.delete("nobody").unwrap();
    memory.touch(["c"]).unwrap();
    assert_eq!(
        told(&memory),
        [
            "stored a",
            "stored b",
            "stored c",
            "updated a",
            "replaced b",
            "stored b2",
            "superseded a",
            "forgotten c",
            "revived c",
            "deleted b2",
            "pruned a"
        ]
    );
    let events = memory.events(Events::new().oldest_first()).unwrap();
    assert!(
        events
            .windows(2)
            .all(|pair| pair[0].number < pair[1].number && pair[0].at <= pair[1].at)
    );
    assert_eq!(
        events[1].batch, events[2].batch,
        "one transaction, one batch"
    );
    assert_ne!(events[0].batch, events[1].batch);
    let of = |events: Events| memory.events(events).unwrap().len();
    assert_eq!(of(Events::new().actor("bot")), 1);
    assert_eq!(of(Events::new().actor("anna")), 10);
    assert_eq!(of(Events::of("a")), 4);
    assert_eq!(of(Events::new().actions([Action::Stored])), 4);
    let last = events[10].at;
    assert!(of(Events::new().since(last)) >= 1);
    assert_eq!(of(Events::new().since(Timestamp::MAX)), 0);
    assert_eq!(of(Events::new().until(events[0].at)), 0);
    assert_eq!(of(Events::new().until(Timestamp::MAX).limit(3)), 3);
}

#[test]
fn a_change_that_fails_leaves_no_event() {
    let memory = keeping();
    memory.store(NewMemory::new("one").id("a")).unwrap();
    memory
        .store_all([NewMemory::new("two"), NewMemory::new("three").id("a")])
        .unwrap_err();
    memory.supersede("a", "nobody").unwrap_err();
    assert_eq!(told(&memory), ["stored a"]);
}

/// Whatever was done, undone it is as it was, by every verb that reads; and undone again it is done.
#[test]
fn what_is_undone_is_as_it_was() {
    let memory = keeping();
    let rich = NewMemory::new("the gateway runs on port 8080")
        .id("a")
        .project("web")
        .tags(["ops", "say \"hi\""])
        .kind("procedural")
        .importance(0.8)
        .pinned()
        .valid_from("2020-01-01".parse().unwrap())
        .created_at("2026-01-01T10:00:00Z".parse().unwrap());
    memory
        .store(NewMemory::new("why").id("cause").project("web"))
        .unwrap();
    memory.store(rich.caused_by("cause")).unwrap();
    memory
        .store(
            NewMemory::new("after")
                .id("effect")
                .project("web")
                .caused_by("a"),
        )
        .unwrap();
    memory
        .store(NewMemory::new("older").id("older").project("web"))
        .unwrap();
    memory.supersede("older", "a").unwrap();
    memory.touch(["a"]).unwrap();
    type Verb = fn(&Memory);
    let verbs: [(&str, Verb); 7] = [
        ("updated", |memory| {
            let change = MemoryUpdate::new()
                .content("it runs on port 9090")
                .tags(["new"])
                .not_pinned()
                .no_cause();
            memory.update("a", change).unwrap();
        }),
        ("deleted", |memory| assert!(memory.delete("a").unwrap())),
        ("pruned", |memory| {
            let prune = Prune::new().project("web").tags_any(["ops"]);
            assert_eq!(memory.prune(prune.apply()).unwrap().ids, ["a"]);
        }),
        ("replaced", |memory| {
            memory
                .replace("a", NewMemory::new("the gateway is gone").id("new"))
                .unwrap();
        }),
        ("superseded", |memory| {
            memory.supersede("a", "effect").unwrap()
        }),
        ("forgotten", |memory| memory.forget(["a"]).unwrap()),
        ("updated", |memory| {
            memory.update("a", MemoryUpdate::new().global()).unwrap();
        }),
    ];
    let everything = |memory: &Memory| {
        let all = mnemic::Timeline::new().include(mnemic::Include::all());
        let mut all = memory.timeline(all).unwrap();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        let asked = |scope| {
            Recall::new("which port does the gateway run on")
                .scope(scope)
                .now("2026-06-01".parse().unwrap())
        };
        (all, memory.recall(asked(Scope::All)).unwrap())
    };
    for (action, verb) in verbs {
        let before = everything(&memory);
        verb(&memory);
        let after = everything(&memory);
        assert_ne!(before, after, "{action}");
        let event = memory.events(Events::of("a").limit(1)).unwrap().remove(0);
        assert_eq!(event.action.to_string(), action);
        let undone = memory.undo(event.number).unwrap();
        assert_eq!(undone.restored, ["a"], "{action}");
        assert_eq!(everything(&memory), before, "{action}");
        assert!(memory.check().unwrap().is_ok(), "{action}");
        let again = memory.undo(event.number).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::InvalidInput);
        assert!(again.to_string().contains("undone by event"), "{again}");
        // Undoing the undoing does it again, and that is undone too.
        let undoing = memory.events(Events::of("a").limit(1)).unwrap().remove(0);
        assert_eq!(
            (undoing.action, undoing.undoes),
            (Action::Undone, Some(event.number))
        );
        memory.undo_batch(undoing.batch).unwrap();
        let redone = everything(&memory);
        let texts =
            |state: &(Vec<mnemic::StoredMemory>, Vec<mnemic::Hit>)| -> Vec<(String, String, bool)> {
                let each = state.0.iter().map(|memory| {
                    let stands = memory.lifecycle.superseded_at.is_none()
                        && memory.lifecycle.forgotten_at.is_none();
                    (memory.id.clone(), memory.content.clone(), stands)
                });
                each.collect()
            };
        assert_eq!(texts(&redone), texts(&after), "{action}");
        let redoing = memory.events(Events::new().limit(1)).unwrap().remove(0);
        memory.undo_batch(redoing.batch).unwrap();
        assert_eq!(texts(&everything(&memory)), texts(&before), "{action}");
    }
}

#[test]
fn storing_is_undone_by_deleting_and_a_prune_as_a_whole() {
    let memory = keeping();
    memory.store(NewMemory::new("a slip").id("slip")).unwrap();
    let event = memory.events(Events::of("slip")).unwrap().remove(0);
    assert_eq!(memory.undo(event.number).unwrap().removed, ["slip"]);
    assert_eq!(memory.get("slip").unwrap(), None);

    memory
        .store_all((0..5).map(|i| NewMemory::new(format!("note {i}")).project("old")))
        .unwrap();
    memory.prune(Prune::new().project("old").apply()).unwrap();
    let batch = memory.events(Events::new().limit(1)).unwrap()[0].batch;
    assert_eq!(memory.undo_batch(batch).unwrap().restored.len(), 5);
    assert_eq!(
        memory
            .recall(Recall::new("note").project("old"))
            .unwrap()
            .len(),
        5
    );
    assert!(memory.check().unwrap().is_ok());
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let memory = keeping();
    memory.store(NewMemory::new("first").id("a")).unwrap();
    memory.update("a", "second").unwrap();
    let second = memory.events(Events::of("a").limit(1)).unwrap()[0].number;
    memory.update("a", "third").unwrap();
    let third = memory.events(Events::of("a").limit(1)).unwrap()[0].number;
    let error = memory.undo(second).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(
        error.to_string().contains(&format!("event {third}")),
        "{error}"
    );
    assert_eq!(memory.get("a").unwrap().unwrap().content, "third");
    // The later one first, then the earlier.
    memory.undo(third).unwrap();
    memory.undo(second).unwrap();
    assert_eq!(memory.get("a").unwrap().unwrap().content, "first");
    // A deleted one whose id is taken.
    memory.delete("a").unwrap();
    let deleted = memory.events(Events::of("a").limit(1)).unwrap()[0].number;
    memory.store(NewMemory::new("another").id("a")).unwrap();
    assert_eq!(memory.undo(deleted).unwrap_err().kind(), ErrorKind::Changed);
    assert_eq!(memory.get("a").unwrap().unwrap().content, "another");
}

#[test]
fn the_history_is_bounded() {
    let memory = keeping();
    memory.keep_history(History::new().events(3)).unwrap();
    assert_eq!(memory.history().unwrap().unwrap().most_events(), 3);
    for i in 0..10 {
        memory
            .store(NewMemory::new(format!("note {i}")).id(format!("n{i}")))
            .unwrap();
    }
    assert_eq!(told(&memory), ["stored n7", "stored n8", "stored n9"]);
    memory.drop_history().unwrap();
    memory.store("untold").unwrap();
    assert_eq!(memory.events(Events::new()).unwrap(), []);
}

/// The words of an erased memory are in no event either, and what cannot be undone says so.
#[test]
fn erasing_takes_the_images_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let memory = Memory::open(&path).unwrap().acting_as("anna");
    memory.keep_history(History::new()).unwrap();
    memory
        .store(
            NewMemory::new("the canary sings zanzibarquux")
                .id("a")
                .project("zanzibarquux"),
        )
        .unwrap();
    memory.update("a", "the canary is silent").unwrap();
    memory
        .store(NewMemory::new("stays as it is").id("b"))
        .unwrap();
    memory.update("b", "changed").unwrap();
    memory.delete("a").unwrap();
    assert_eq!(
        memory.erase_all(["a"]).unwrap().missing,
        ["a"],
        "deleted before, but in the history"
    );
    for event in memory.events(Events::of("a")).unwrap() {
        assert!(!event.has_image && event.project.is_none(), "{event:?}");
    }
    let updated = memory
        .events(Events::of("a").actions([Action::Updated]))
        .unwrap()[0]
        .number;
    assert_eq!(
        memory.undo(updated).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        memory.events(Events::of("a").limit(1)).unwrap()[0].action,
        Action::Erased
    );
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"zanzibarquux"));
    // What others were related to it for is told of it too.
    memory.store(NewMemory::new("related").id("c")).unwrap();
    memory
        .store(NewMemory::new("to be erased").id("d"))
        .unwrap();
    memory
        .relate(("c", "d", "supports", "because of the quuxzanzibar"))
        .unwrap();
    memory.update("c", "related still").unwrap();
    memory.erase("d").unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(12).any(|window| window == b"quuxzanzibar"));
    // The others keep theirs.
    let other = memory
        .events(Events::of("b").actions([Action::Updated]))
        .unwrap()[0]
        .number;
    memory.undo(other).unwrap();
    assert_eq!(memory.get("b").unwrap().unwrap().content, "stays as it is");
}

#[test]
fn a_bound_handle_sees_and_undoes_its_own_alone() {
    let memory = keeping();
    let web = memory.in_project("web").acting_as("bot");
    web.store(NewMemory::new("of web").id("web")).unwrap();
    memory
        .store(NewMemory::new("of home").id("home").project("home"))
        .unwrap();
    memory.update("home", "of home, changed").unwrap();
    let seen: Vec<String> = web
        .events(Events::new())
        .unwrap()
        .into_iter()
        .map(|event| event.memory)
        .collect();
    assert_eq!(seen, ["web"]);
    assert_eq!(web.events(Events::of("home")).unwrap(), []);
    let other = memory.events(Events::of("home").limit(1)).unwrap()[0].clone();
    assert_eq!(
        web.undo(other.number).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        web.undo_batch(other.batch).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    web.update("web", "changed").unwrap();
    let own = web.events(Events::new().limit(1)).unwrap()[0].clone();
    assert_eq!(own.actor.as_deref(), Some("bot"));
    assert_eq!(web.undo(own.number).unwrap().restored, ["web"]);
}

#[test]
fn another_process_notes_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let one = Memory::open(&path).unwrap();
    one.keep_history(History::new()).unwrap();
    let other = Memory::open(&path).unwrap().acting_as("other");
    let id = other.store("told by the file").unwrap().id;
    assert_eq!(
        one.events(Events::of(&id)).unwrap()[0].actor.as_deref(),
        Some("other")
    );
}

#[test]
fn a_document_has_its_source_and_its_passages_back() {
    let memory = keeping();
    let book = |word: &str| {
        format!(
            "{}\n\nThe {word} sings at dawn.",
            "The pump of the fountain failed. ".repeat(60)
        )
    };
    let document = mnemic::NewDocument::new("Rules of the park").source(book("blackbird"));
    let id = memory
        .store_document(document.link("https://park.example").tags(["park"]))
        .unwrap()
        .id;
    let state = |memory: &Memory| {
        let document = memory.document(&id).unwrap();
        let passages = memory.passages_of(&id).unwrap();
        let passages: Vec<String> = passages.into_iter().map(|passage| passage.text).collect();
        (
            document.map(|document| (document.title, document.link)),
            passages,
        )
    };
    let before = state(&memory);
    assert!(before.1.last().unwrap().contains("blackbird"));
    memory.replace_source(&id, book("nightingale")).unwrap();
    assert_ne!(state(&memory), before);
    let event = memory.events(Events::of(&id).limit(1)).unwrap().remove(0);
    assert_eq!(event.action, Action::Updated);
    memory.undo(event.number).unwrap();
    assert_eq!(state(&memory), before);
    assert!(memory.delete(&id).unwrap());
    let event = memory.events(Events::of(&id).limit(1)).unwrap().remove(0);
    memory.undo(event.number).unwrap();
    assert_eq!(state(&memory), before);
    let hit = &memory
        .recall(Recall::new("when does the blackbird sing?"))
        .unwrap()[0];
    assert_eq!(hit.memory.id, id);
    assert!(hit.passages[0].passage.text.contains("blackbird"));
    assert_eq!(memory.coverage().unwrap().missing, 0);
    assert!(memory.check().unwrap().is_ok());
}

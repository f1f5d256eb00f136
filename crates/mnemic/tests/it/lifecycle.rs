//! What is said of memories beside their text, how they stand, and the two clocks.

use mnemic::{
    Condition, Dropped, ErrorKind, Include, Kind, Layer, Lifecycle, Memory, MemoryUpdate,
    NewMemory, Outcome, Prune, Recall, Scope, Timeline, Timestamp,
};

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn ids(hits: &[mnemic::Hit]) -> Vec<&str> {
    let mut ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

/// The same file with its index in memory, and without one.
fn both(memory: Memory) -> (tempfile::TempDir, [Memory; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.db");
    memory.backup(&path).unwrap();
    let with = Memory::open(&path).unwrap();
    with.warm_up().unwrap();
    let without = Memory::builder().index_budget(0).open(&path).unwrap();
    (folder, [with, without])
}

#[test]
fn all_that_is_said_is_kept_changed_and_inherited() {
    let memory = Memory::open_in_memory().unwrap();
    let cause = memory.store("the disk was full").unwrap().id;
    let id = memory
        .store(
            NewMemory::new("the build failed at noon")
                .kind("episodic")
                .importance(0.9)
                .trust(0.6)
                .layer(Layer::LongTerm)
                .decay_rate(0.02)
                .pinned()
                .source("ci")
                .valid_from(time("2026-05-01"))
                .valid_until(time("2026-06-01"))
                .caused_by(&cause),
        )
        .unwrap()
        .id;
    let said = memory.get(&id).unwrap().unwrap().lifecycle;
    assert_eq!(said.kind, Kind::Episodic);
    assert_eq!(
        (said.importance, said.trust, said.decay_rate),
        (0.9, 0.6, 0.02)
    );
    assert_eq!((said.layer, said.pinned), (Layer::LongTerm, true));
    assert_eq!(said.source.as_deref(), Some("ci"));
    assert_eq!(said.valid_from, Some(time("2026-05-01")));
    assert_eq!(said.valid_until, Some(time("2026-06-01")));
    assert_eq!(said.causal_parent, Some(cause.clone()));

    let changed = memory
        .update(
            &id,
            MemoryUpdate::new()
                .kind("my own")
                .not_pinned()
                .no_source()
                .always_valid(),
        )
        .unwrap();
    assert_eq!(changed.lifecycle.kind, Kind::Other("my own".into()));
    assert_eq!(
        (changed.lifecycle.pinned, changed.lifecycle.source),
        (false, None)
    );
    assert_eq!(
        (changed.lifecycle.valid_from, changed.lifecycle.valid_until),
        (None, None)
    );
    assert_eq!(changed.lifecycle.importance, 0.9, "what is not named stays");
    assert_eq!(changed.content, "the build failed at noon");

    let new = memory
        .replace(
            &id,
            NewMemory::new("the build failed at one").importance(0.4),
        )
        .unwrap();
    let new = memory.get(&new.id).unwrap().unwrap().lifecycle;
    assert_eq!((new.importance, new.trust), (0.4, 0.6));
    assert_eq!(new.causal_parent, Some(cause.clone()));

    memory.delete(&cause).unwrap();
    let orphan = memory.recall("build failed").unwrap().remove(0).memory;
    assert_eq!(
        orphan.lifecycle.causal_parent, None,
        "no id of what is gone"
    );
    assert!(memory.check().unwrap().is_ok());
}

#[test]
fn what_nobody_said_is_the_default() {
    let memory = Memory::open_in_memory().unwrap();
    let id = memory.store("plain").unwrap().id;
    let stored = memory.get(&id).unwrap().unwrap();
    assert_eq!(stored.lifecycle, Lifecycle::default());
    assert_eq!(stored.usage, mnemic::Usage::default());
    // Saying the default leaves nothing behind.
    memory
        .update(&id, MemoryUpdate::new().importance(0.9))
        .unwrap();
    let back = memory
        .update(&id, MemoryUpdate::new().importance(0.5))
        .unwrap();
    assert_eq!(back.lifecycle, Lifecycle::default());
}

#[test]
fn values_out_of_range_are_refused_and_nothing_is_stored() {
    let memory = Memory::open_in_memory().unwrap();
    let new = || NewMemory::new("x y z");
    let wrong = [
        (new().importance(1.1), "importance 1.1 is not in [0, 1]"),
        (new().trust(-0.1), "trust -0.1 is not in [0, 1]"),
        (new().trust(f64::NAN), "trust NaN"),
        (new().decay_rate(f64::INFINITY), "decay rate inf"),
        (new().kind(""), "its kind is the empty text"),
        (
            new()
                .valid_from(time("2026-02-01"))
                .valid_until(time("2026-02-01")),
            "not before",
        ),
    ];
    for (memory_to_store, message) in wrong {
        let error = memory.store(memory_to_store).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    for named in [new().caused_by("nobody"), new().supersedes(["nobody"])] {
        let error = memory.store(named).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("nobody"), "{error}");
    }
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn a_memory_is_never_among_its_own_causes_or_successors() {
    let memory = Memory::open_in_memory().unwrap();
    memory
        .store_all([
            NewMemory::new("a one").id("a").caused_by("c"),
            NewMemory::new("b two").id("b"),
            NewMemory::new("c three").id("c").caused_by("b"),
        ])
        .unwrap();
    let error = memory
        .update("b", MemoryUpdate::new().caused_by("a"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("its own causes"), "{error}");
    let error = memory
        .update("b", MemoryUpdate::new().caused_by("b"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);

    memory.supersede("a", "b").unwrap();
    memory.supersede("b", "c").unwrap();
    for (old, by) in [("c", "a"), ("b", "a"), ("a", "a")] {
        let error = memory.supersede(old, by).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{old} by {by}");
    }
    assert_eq!(ids(&memory.recall("one two three").unwrap()), ["c"]);
}

/// A1 for each condition: three hundred nearer ones that fail it do not starve the one that passes.
#[test]
fn conditions_hold_before_the_cut() {
    let memory = Memory::open_in_memory().unwrap();
    let noise = (0..300).map(|i| NewMemory::new(format!("deploys freeze on Fridays, note {i}")));
    memory.store_all(noise).unwrap();
    memory
        .store(
            NewMemory::new("a word about shipping: the Friday freeze of all deploys holds in winter too, says the handbook")
                .id("it")
                .kind("procedural")
                .importance(0.8)
                .trust(0.9)
                .layer(Layer::LongTerm)
                .pinned()
                .source("handbook"),
        )
        .unwrap();
    let (_folder, both) = both(memory);
    for memory in both {
        let ask = || Recall::new("deploys freeze on Fridays").limit(5);
        let asked = [
            ask().kinds(["procedural"]),
            ask().min_importance(0.8),
            ask().min_trust(0.9),
            ask().layer(Layer::LongTerm),
            ask().sources(["handbook", "elsewhere"]),
            ask().pinned(true),
        ];
        for recall in asked {
            assert_eq!(
                ids(&memory.recall(recall.clone()).unwrap()),
                ["it"],
                "{recall:?}"
            );
        }
        let others = [
            ask().kinds(["semantic"]),
            ask().min_importance(0.5).layer(Layer::ShortTerm),
            ask().pinned(false),
        ];
        for recall in others {
            let hits = memory.recall(recall.clone()).unwrap();
            assert_eq!(hits.len(), 5, "{recall:?}");
            assert!(!ids(&hits).contains(&"it"), "{recall:?}");
        }
        assert!(
            memory
                .recall(ask().sources(["nowhere"]))
                .unwrap()
                .is_empty()
        );
        let why = memory
            .explain(ask().kinds(["episodic"]).min_trust(0.95), "it")
            .unwrap();
        let failed = vec![
            Condition::Kinds(vec![Kind::Episodic]),
            Condition::MinTrust(0.95),
        ];
        assert_eq!(why.outcome, Outcome::Dropped(Dropped::Filter { failed }));
    }
}

/// One memory of each standing, all about one thing.
fn history() -> Memory {
    let memory = Memory::open_in_memory().unwrap();
    let new = |id: &str, created: &str| {
        NewMemory::new(format!("the cache lives {id} minutes"))
            .id(id)
            .created_at(time(created))
    };
    memory
        .store_all([
            new("old", "2026-01-01"),
            new("new", "2026-03-01"),
            new("may", "2026-01-01")
                .valid_from(time("2026-05-01"))
                .valid_until(time("2026-06-01")),
            new("later", "2026-01-01").valid_from(time("2126-01-01")),
            new("gone", "2026-01-01"),
        ])
        .unwrap();
    memory.supersede("old", "new").unwrap();
    memory.forget(["gone"]).unwrap();
    memory
}

#[test]
fn what_does_not_stand_is_not_recalled_unless_asked_for() {
    let (_folder, both) = both(history());
    for memory in both {
        let ask = || Recall::new("how long does the cache live").now(time("2026-09-01"));
        let hits = |recall: Recall| {
            let hits = memory.recall(recall).unwrap();
            ids(&hits).join(" ")
        };
        assert_eq!(hits(ask()), "new");
        assert_eq!(hits(ask().include(Include::new().superseded())), "new old");
        assert_eq!(hits(ask().include(Include::new().forgotten())), "gone new");
        assert_eq!(hits(ask().include(Include::new().expired())), "may new");
        assert_eq!(hits(ask().include(Include::new().upcoming())), "later new");
        assert_eq!(
            hits(ask().include(Include::all())),
            "gone later may new old"
        );
        assert_eq!(hits(ask().valid_at(time("2026-05-15"))), "may new");
        assert_eq!(
            hits(ask().valid_at(time("2026-06-01"))),
            "new",
            "until is exclusive"
        );
        assert_eq!(
            hits(ask().valid_at(time("2026-05-01"))),
            "may new",
            "from is inclusive"
        );
        assert_eq!(hits(ask().valid_at(time("2130-01-01"))), "later new");
        // The clock of the file: in February nobody knew of "new", and nothing was superseded or forgotten.
        assert_eq!(hits(ask().as_of(time("2026-02-01"))), "gone old");
        assert_eq!(hits(ask().as_of(time("2026-05-15"))), "gone may new old");
        assert_eq!(
            hits(
                ask()
                    .known_at(time("2026-02-01"))
                    .valid_at(time("2026-05-15"))
            ),
            "gone may old"
        );
        assert_eq!(hits(ask().as_of(time("2025-12-31"))), "");

        let why = |recall: Recall, id: &str| memory.explain(recall, id).unwrap().outcome;
        let dropped = |failed| {
            Outcome::Dropped(Dropped::Filter {
                failed: vec![failed],
            })
        };
        assert_eq!(
            why(ask(), "old"),
            dropped(Condition::NotSuperseded(Timestamp::MAX))
        );
        assert_eq!(
            why(ask(), "gone"),
            dropped(Condition::NotForgotten(Timestamp::MAX))
        );
        assert_eq!(
            why(ask(), "later"),
            dropped(Condition::Begun(time("2026-09-01")))
        );
        assert_eq!(
            why(ask(), "may"),
            dropped(Condition::NotExpired(time("2026-09-01")))
        );
        let early = time("2026-02-01");
        assert_eq!(
            why(ask().as_of(early), "new"),
            dropped(Condition::KnownAt(early))
        );
        assert!(
            memory
                .explain(ask(), "old")
                .unwrap()
                .to_string()
                .contains("another memory stands in its place")
        );
    }
}

#[test]
fn timeline_get_and_prune_see_more_than_recall() {
    let memory = history();
    let listed = |timeline: Timeline| -> String {
        let mut ids: Vec<String> = memory
            .timeline(timeline)
            .unwrap()
            .into_iter()
            .map(|memory| memory.id)
            .collect();
        ids.sort_unstable();
        ids.join(" ")
    };
    assert_eq!(listed(Timeline::new()), "later may new old");
    assert_eq!(
        listed(Timeline::new().include(Include::all())),
        "gone later may new old"
    );
    assert_eq!(
        listed(Timeline::new().as_of(time("2026-02-01"))),
        "gone later may old"
    );
    let gone = memory.get("gone").unwrap().unwrap();
    assert!(gone.lifecycle.forgotten_at.is_some());
    let old = memory.get("old").unwrap().unwrap();
    assert_eq!(old.lifecycle.superseded_by.as_deref(), Some("new"));
    // What is to be gone is gone, however it stood.
    assert_eq!(
        memory
            .prune(Prune::new().scope(Scope::Global).apply())
            .unwrap()
            .ids
            .len(),
        5
    );
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn a_superseded_memory_stays_so_when_the_other_one_goes() {
    let memory = history();
    memory.delete("new").unwrap();
    assert!(
        memory
            .recall("cache minutes")
            .unwrap()
            .iter()
            .all(|hit| hit.memory.id != "old")
    );
    let old = memory.get("old").unwrap().unwrap().lifecycle;
    assert!(old.superseded_at.is_some() && old.superseded_by.is_none());
    assert!(memory.check().unwrap().is_ok());
}

#[test]
fn storing_may_supersede_and_a_bound_handle_reaches_no_other_project() {
    let memory = Memory::open_in_memory().unwrap();
    memory
        .store(NewMemory::new("tea at four").id("web").project("web"))
        .unwrap();
    memory
        .store(NewMemory::new("tea at five").id("home").project("home"))
        .unwrap();
    let web = memory.in_project("web");
    let outside = [
        web.store(NewMemory::new("tea at six").supersedes(["home"]))
            .unwrap_err(),
        web.store(NewMemory::new("tea at six").caused_by("home"))
            .unwrap_err(),
        web.update("web", MemoryUpdate::new().caused_by("home"))
            .unwrap_err(),
        web.supersede("home", "web").unwrap_err(),
        web.supersede("web", "home").unwrap_err(),
        web.forget(["home"]).unwrap_err(),
        web.revive(["home"]).unwrap_err(),
    ];
    for error in outside {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    }
    assert_eq!(web.touch(["home", "web"]).unwrap(), ["home"]);
    assert_eq!(memory.get("home").unwrap().unwrap().usage.accesses, 0);
    assert_eq!(memory.get("web").unwrap().unwrap().usage.accesses, 1);
    web.store(NewMemory::new("tea at six").id("six").supersedes(["web"]))
        .unwrap();
    assert_eq!(ids(&web.recall("tea").unwrap()), ["six"]);
    assert_eq!(
        ids(&memory.recall(Recall::new("tea").scope(Scope::All)).unwrap()),
        ["home", "six"]
    );
}

#[test]
fn a_recall_counts_uses_only_where_it_is_told_to() {
    let memory = Memory::open_in_memory().unwrap();
    memory
        .store(
            NewMemory::new("deploys freeze on Fridays")
                .id("a")
                .project("web"),
        )
        .unwrap();
    memory
        .store(
            NewMemory::new("the desk plant is a cactus")
                .id("b")
                .project("web"),
        )
        .unwrap();
    let ask = || {
        Recall::new("when do deploys freeze?")
            .project("web")
            .limit(1)
    };
    let usage = |id: &str| memory.get(id).unwrap().unwrap().usage;
    memory.recall(ask()).unwrap();
    memory.explain(ask().touch(), "a").unwrap();
    assert_eq!(usage("a").accesses, 0);
    let at = time("2026-03-01");
    memory.recall(ask().touch().now(at)).unwrap();
    memory
        .in_project("web")
        .recall(ask().touch().now(at))
        .unwrap();
    assert_eq!((usage("a").accesses, usage("a").last), (2, Some(at)));
    assert_eq!(usage("b").accesses, 0, "no hit, no use");
    memory.touch_at(["a"], time("2026-01-01")).unwrap();
    assert_eq!(
        (usage("a").accesses, usage("a").last),
        (3, Some(at)),
        "the last use stays the last"
    );
}

#[test]
fn superseding_by_storing_holds_from_the_new_ones_creation() {
    let memory = Memory::open_in_memory().unwrap();
    let new = |id: &str, created: &str| {
        NewMemory::new(format!("TTL {id}"))
            .id(id)
            .created_at(time(created))
    };
    memory.store(new("five", "2026-01-01")).unwrap();
    memory
        .store(new("thirty", "2026-06-01").supersedes(["five"]))
        .unwrap();
    let known =
        |at: &str| ids(&memory.recall(Recall::new("TTL").as_of(time(at))).unwrap()).join(" ");
    assert_eq!(
        (known("2026-05-31"), known("2026-06-01")),
        ("five".into(), "thirty".into())
    );
}

/// A kind by its name, however it is written, is the same one, with the index in memory or without.
#[test]
fn a_kind_by_its_name_is_that_kind() {
    let memory = crate::support::memory();
    memory.store(NewMemory::new("tea unsaid").id("a")).unwrap();
    let said = NewMemory::new("tea said").id("b").importance(0.9);
    memory.store(said).unwrap();
    let other = NewMemory::new("tea skill").id("c").kind("procedural");
    memory.store(other).unwrap();
    let kind = || mnemic::Kind::Other("semantic".to_owned());
    for _ in 0..3 {
        let hits = memory.recall(Recall::new("tea").kinds([kind()])).unwrap();
        let mut ids: Vec<&str> = hits.iter().map(|hit| &*hit.memory.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a", "b"]);
        let listed = memory.timeline(mnemic::Timeline::new().kinds([kind()]));
        assert_eq!(listed.unwrap().len(), 2);
    }
}

//! Maintenance by strength, uses, and the checkup.

use mnemic::{
    Action, Checkup, Events, Hint, History, Layer, LifePolicy, Maintain, Memory, NewMemory, Reason,
    Scope, Timestamp, TrustRule, Verdict,
};
use proptest::prelude::*;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    time("2026-06-30")
}

fn days_ago(days: f64) -> Timestamp {
    Timestamp::from_micros(now().as_micros() - (days * 86_400e6) as i64).unwrap()
}

/// What is said of each verdict, by id.
fn verdicts(memory: &Memory, maintain: Maintain) -> Vec<String> {
    let report = memory.maintain(maintain.now(now())).unwrap();
    report
        .changes
        .iter()
        .map(|change| format!("{} {:?}", change.id, change.judgement.verdict))
        .collect()
}

/// One of each fate. Uses are of the present, so the times are: created long ago, used `days` ago by its creation.
fn store() -> Memory {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let new = |id: &str, days: f64| {
        NewMemory::new(format!("memory {id}"))
            .id(id)
            .created_at(days_ago(days))
    };
    memory
        .store_all([
            new("fresh", 0.5),
            new("strong", 0.5).importance(1.0).trust(1.0),
            new("faded", 61.0),
            new("pinned", 400.0).pinned(),
            new("weak", 5.0).layer(Layer::LongTerm).importance(0.3),
            new("superseded", 400.0),
            new("waiting", 59.0),
        ])
        .unwrap();
    memory.supersede("superseded", "fresh").unwrap();
    memory
}

#[test]
fn memories_are_promoted_demoted_and_forgotten_with_a_reason() {
    let memory = store();
    let expected = ["strong Promote", "faded Forget", "weak Demote"];
    assert_eq!(verdicts(&memory, Maintain::new()), expected);
    assert_eq!(
        verdicts(&memory, Maintain::new()),
        expected,
        "a rehearsal changes nothing"
    );

    let report = memory.maintain(Maintain::new().now(now()).apply()).unwrap();
    assert!(!report.dry_run && report.finished);
    assert_eq!((report.judged, report.count(Verdict::Forget)), (6, 1));
    let line = report.changes[1].to_string();
    assert!(line.starts_with("faded: forget (strength 0.000): its strength is below 0.1 and it was idle for 61.0 days"), "{line}");
    assert!(matches!(
        report.changes[0].judgement.reason,
        Reason::Strong { at_least: 0.7 }
    ));

    let life = |id: &str| memory.get(id).unwrap().unwrap().lifecycle;
    assert_eq!(
        (life("strong").layer, life("weak").layer),
        (Layer::LongTerm, Layer::ShortTerm)
    );
    assert_eq!(life("faded").forgotten_at, Some(now()));
    assert_eq!(life("pinned").forgotten_at, None);
    assert_eq!(
        life("superseded").forgotten_at,
        None,
        "not judged: it is not recalled anyway"
    );
    assert_eq!(
        life("strong").trust,
        1.0,
        "what was computed is not written back"
    );

    assert_eq!(
        verdicts(&memory, Maintain::new().apply()),
        [""; 0],
        "at one instant it is done once"
    );
    assert!(memory.check().unwrap().is_ok());
}

#[test]
fn it_goes_on_where_it_ended() {
    let memory = store();
    let one = || Maintain::new().apply().at_most(1).now(now());
    let mut done = Vec::new();
    for _ in 0..3 {
        let report = memory.maintain(one()).unwrap();
        assert!(!report.finished);
        done.extend(report.changes.into_iter().map(|change| change.id));
    }
    assert_eq!(done, ["strong", "faded", "weak"]);
    assert!(memory.maintain(one()).unwrap().finished);
}

/// The fault of agent-memory: 61 idle days forget a memory of importance 1 that was used a hundred times.
#[test]
fn uses_resist_forgetting_but_by_the_seeds_own_formula() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    memory
        .store(
            NewMemory::new("the way home")
                .id("a")
                .importance(1.0)
                .created_at(days_ago(400.0)),
        )
        .unwrap();
    for _ in 0..100 {
        memory.touch(["a"]).unwrap();
    }
    let usage = memory.get("a").unwrap().unwrap().usage;
    assert_eq!(usage.accesses, 100);
    let later =
        Timestamp::from_micros(usage.last.unwrap().as_micros() + 61 * 86_400_000_000).unwrap();
    let judge = |policy: LifePolicy, trust: TrustRule| {
        let maintain = Maintain::new().policy(policy).trust(trust).now(later);
        memory.strength("a", &maintain).unwrap().unwrap().verdict
    };
    assert_eq!(
        judge(LifePolicy::AGENT_MEMORY, TrustRule::AGENT_MEMORY),
        Verdict::Forget
    );
    assert_ne!(
        judge(LifePolicy::default(), TrustRule::default()),
        Verdict::Forget
    );
}

#[test]
fn maintenance_keeps_to_its_filter_and_is_told_in_the_history() {
    let memory = Memory::builder()
        .no_embedder()
        .open_in_memory()
        .unwrap()
        .acting_as("night shift");
    memory.keep_history(History::new()).unwrap();
    let old = |id: &str, project: &str| {
        NewMemory::new(id)
            .id(id)
            .project(project)
            .created_at(days_ago(100.0))
    };
    memory
        .store_all([old("a", "web"), old("b", "home")])
        .unwrap();
    assert_eq!(
        verdicts(&memory, Maintain::new().project("web").apply()),
        ["a Forget"]
    );
    assert_eq!(
        memory.get("b").unwrap().unwrap().lifecycle.forgotten_at,
        None
    );
    let event = memory.events(Events::of("a").limit(1)).unwrap().remove(0);
    assert_eq!(
        (event.action, event.actor.as_deref()),
        (Action::Forgotten, Some("night shift"))
    );
    assert!(event.detail.unwrap().contains("it was idle for 100.0 days"));
    memory.undo(event.number).unwrap();
    assert_eq!(
        memory.get("a").unwrap().unwrap().lifecycle.forgotten_at,
        None
    );
}

#[test]
fn uses_are_counted_when_told_and_rewrite_no_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let memory = Memory::open(&path).unwrap();
    let id = memory.store("tea is in the left drawer").unwrap().id;
    let index = || -> (i64, i64, Vec<u8>) {
        let file = rusqlite::Connection::open(&path).unwrap();
        let all =
            "SELECT (SELECT count(*) FROM memories_fts_data), (SELECT count(*) FROM index_log),
                          (SELECT group_concat(hex(block)) FROM memories_fts_data)";
        file.query_row(all, [], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?.into_bytes(),
            ))
        })
        .unwrap()
    };
    let before = index();
    memory.recall("where is the tea?").unwrap();
    assert_eq!(
        memory.get(&id).unwrap().unwrap().usage.accesses,
        0,
        "reading counts nothing"
    );
    assert_eq!(
        memory.touch([id.as_str(), "nobody", id.as_str()]).unwrap(),
        ["nobody"]
    );
    let stored = memory.get(&id).unwrap().unwrap();
    assert_eq!(stored.usage.accesses, 2);
    assert!(stored.usage.last.is_some());
    assert_eq!(stored.updated_at, stored.created_at);
    assert_eq!(index(), before);
}

#[test]
fn a_checkup_counts_and_advises() {
    let memory = Memory::open_in_memory().unwrap();
    let report = memory.checkup(Checkup::new()).unwrap();
    assert_eq!(
        (report.current, report.stale_share, report.mean_trust),
        (0, 0.0, 0.0)
    );
    assert_eq!(report.hints, []);

    let new = |id: &str, days: f64| {
        NewMemory::new(format!("memory {id}"))
            .id(id)
            .created_at(days_ago(days))
    };
    memory
        .store_all([
            new("a", 1.0),
            new("b", 1.0).caused_by("a"),
            new("c", 40.0).project("p"),
            new("d", 2.0),
            new("e", 1.0),
        ])
        .unwrap();
    memory.supersede("d", "a").unwrap();
    memory.forget(["e"]).unwrap();
    let report = memory.checkup(Checkup::new().now(now())).unwrap();
    assert_eq!(
        (report.current, report.superseded, report.forgotten),
        (3, 1, 1)
    );
    assert!((report.stale_share - 1.0 / 3.0).abs() < 1e-12);
    assert!((report.orphan_share - 1.0 / 3.0).abs() < 1e-12, "{report}");
    // .75 but for age: one day of ninety, and forty.
    let expected = (2.0 * 0.75 * (1.0 - 0.3 / 90.0) + 0.75 * (1.0 - 0.3 * 40.0 / 90.0)) / 3.0;
    assert!(
        (report.mean_trust - expected).abs() < 1e-9,
        "{} {expected}",
        report.mean_trust
    );
    assert!(
        matches!(report.hints[..], [Hint::Stale(_), Hint::Orphans(_)]),
        "{:?}",
        report.hints
    );
    let project = memory
        .checkup(Checkup::new().now(now()).scope(Scope::Project("p".into())))
        .unwrap();
    assert_eq!((project.current, project.stale_share), (1, 1.0));
}

prop_compose! {
    fn any_memory()(
        days in 0.0f64..200.0,
        importance in 0.0f64..=1.0,
        trust in 0.0f64..=1.0,
        decay in 0.0f64..2.0,
        long in any::<bool>(),
        pinned in any::<bool>(),
        uses in 0usize..3,
    ) -> (NewMemory, usize) {
        let new = NewMemory::new("something").created_at(days_ago(days)).importance(importance).trust(trust).decay_rate(decay);
        let new = new.layer(if long { Layer::LongTerm } else { Layer::ShortTerm });
        (if pinned { new.pinned() } else { new }, uses)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the memories and the policy, maintenance is done once, and a pinned memory is never forgotten.
    #[test]
    fn maintenance_settles_at_once(memories in prop::collection::vec(any_memory(), 1..12), seed in any::<bool>()) {
        let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
        for (new, uses) in memories {
            let id = memory.store(new).unwrap().id;
            for _ in 0..uses {
                memory.touch([&id]).unwrap();
            }
        }
        let maintain = || {
            let by = if seed { (LifePolicy::AGENT_MEMORY, TrustRule::AGENT_MEMORY) } else { Default::default() };
            Maintain::new().policy(by.0).trust(by.1).now(time("2027-03-01"))
        };
        let rehearsed = memory.maintain(maintain()).unwrap();
        let done = memory.maintain(maintain().apply()).unwrap();
        prop_assert_eq!(&rehearsed.changes, &done.changes);
        for change in &done.changes {
            let life = memory.get(&change.id).unwrap().unwrap().lifecycle;
            prop_assert!(!(life.pinned && life.forgotten_at.is_some()));
            prop_assert_eq!(life.forgotten_at.is_some(), change.judgement.verdict == Verdict::Forget);
        }
        prop_assert_eq!(memory.maintain(maintain().apply()).unwrap().changes, vec![]);
        prop_assert!(memory.check().unwrap().is_ok());
    }
}

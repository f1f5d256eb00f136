//! The memory of one project over a year: what was decided, what took its place, what faded, what was put right.
//!
//! ```text
//! cargo run --release --example lifecycle [-- new.db]
//! ```
//!
//! Two clocks run through it. One is the file's: since when something is known, superseded, forgotten. The other is the
//! world's: from when until when it holds.

use std::error::Error;

use mnemic::{
    Action, Checkup, Events, History, Include, Layer, Maintain, Memory, MemoryUpdate, NewMemory,
    Recall, Timestamp,
};
use mnemic_examples::{Place, shorten};

fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::from_argument(1)?;
    let memory = Memory::open(place.path())?.acting_as("the agent");
    memory.keep_history(History::new().days(400))?;
    let kestrel = |text: &str, id: &str, created: &str| -> Result<NewMemory, mnemic::Error> {
        Ok(NewMemory::new(text)
            .id(id)
            .project("kestrel")
            .created_at(created.parse()?))
    };

    heading("January to June: what was decided, what happened, and how things are done");
    memory.store_all([
        kestrel(
            "The session cache lives for 5 minutes",
            "ttl-5",
            "2026-01-12",
        )?
        .importance(0.7)
        .source("design meeting"),
        kestrel(
            "Users were logged out in the middle of checkout",
            "logout",
            "2026-03-02",
        )?
        .kind("episodic")
        .source("support"),
        kestrel(
            "The logouts came from the session cache, which forgot them after 5 minutes",
            "cause",
            "2026-03-03",
        )?
        .kind("episodic")
        .caused_by("logout"),
        kestrel(
            "To clear the session cache: run `kestrel cache flush` on each gateway",
            "runbook",
            "2026-03-05",
        )?
        .kind("procedural")
        .pinned(),
        kestrel(
            "The conference discount is 20 percent",
            "discount",
            "2026-04-20",
        )?
        .valid_from("2026-05-01".parse()?)
        .valid_until("2026-06-01".parse()?),
        kestrel("Room 4 has the good whiteboard", "whiteboard", "2026-02-01")?.importance(0.1),
    ])?;
    // The decision is revised: the old one is kept, and the new one stands in its place from that day on.
    memory.store(
        kestrel(
            "The session cache lives for 30 minutes",
            "ttl-30",
            "2026-03-10",
        )?
        .importance(0.9)
        .trust(0.95)
        .caused_by("cause")
        .supersedes(["ttl-5"]),
    )?;

    heading("Asked in September, the memory answers with what stands");
    let september: Timestamp = "2026-09-15".parse()?;
    let ttl = || {
        Recall::new("how long does the session cache live?")
            .project("kestrel")
            .kinds(["semantic"])
            .limit(3)
            .now(september)
    };
    list(&memory, ttl())?;
    println!("with what it superseded:");
    list(&memory, ttl().include(Include::new().superseded()))?;

    heading("The clock of the file: what did we know at the end of February?");
    list(&memory, ttl().as_of("2026-02-28".parse()?))?;

    heading("The clock of the world: the discount in May, and now");
    let discount = || {
        Recall::new("is there a discount?")
            .project("kestrel")
            .limit(1)
            .min_relevance(0.3)
            .now(september)
    };
    println!("in May:");
    list(&memory, discount().valid_at("2026-05-10".parse()?))?;
    println!("in September:");
    list(&memory, discount())?;

    heading("What is used stays: uses are counted where the asker says so");
    for day in 1..=9 {
        let day: Timestamp = format!("2026-09-0{day}").parse()?;
        memory.recall(ttl().limit(1).now(day).touch())?;
    }
    let used = memory.get("ttl-30")?.ok_or("it is there")?;
    println!("  {} uses of {:?}", used.usage.accesses, used.content);

    heading("Maintenance in September: a rehearsal first, each change with its reason");
    for change in memory.maintain(Maintain::new().now(september))?.changes {
        println!("  {change}");
    }
    let done = memory.maintain(Maintain::new().now(september).apply())?;
    let again = memory.maintain(Maintain::new().now(september).apply())?;
    println!(
        "  done: {} changes; done again: {}",
        done.changes.len(),
        again.changes.len()
    );
    let kept = memory.get("ttl-30")?.ok_or("it is there")?.lifecycle;
    assert_eq!(kept.layer, Layer::LongTerm);
    assert!(
        memory
            .get("runbook")?
            .ok_or("it is there")?
            .lifecycle
            .forgotten_at
            .is_none()
    );

    heading("Forgotten is not gone: somebody wants the whiteboard back");
    let forgotten = memory.events(
        Events::of("whiteboard")
            .actions([Action::Forgotten])
            .limit(1),
    )?;
    for event in &forgotten {
        println!(
            "  event {}: {} by {}",
            event.number,
            event.action,
            event.actor.as_deref().unwrap_or("nobody")
        );
        memory.undo(event.number)?;
    }
    list(
        &memory,
        Recall::new("where is the good whiteboard?")
            .project("kestrel")
            .limit(1)
            .now(september),
    )?;

    heading("A slip, and the way back");
    memory.update(
        "runbook",
        MemoryUpdate::new().content("To clear the cache: reboot everything"),
    )?;
    let slip = memory.events(Events::of("runbook").limit(1))?.remove(0);
    memory.undo(slip.number)?;
    println!(
        "  {:?}",
        memory.get("runbook")?.ok_or("it is there")?.content
    );
    println!("  the history of it, newest first:");
    for event in memory.events(Events::of("runbook"))? {
        let undone = event
            .undone_by
            .map_or(String::new(), |by| format!(", undone by {by}"));
        println!("    {:>3} {}{undone}", event.number, event.action);
    }

    heading("How healthy is it?");
    println!("{}", memory.checkup(Checkup::new().now(september))?);
    let check = memory.check()?;
    assert!(check.is_ok(), "{check:?}");
    Ok(())
}

fn list(memory: &Memory, recall: Recall) -> Result<(), mnemic::Error> {
    let hits = memory.recall(recall)?;
    if hits.is_empty() {
        println!("  nothing");
    }
    for hit in hits {
        println!("  {:.2}  {}", hit.score, shorten(&hit.memory.content, 80));
    }
    Ok(())
}

fn heading(text: &str) {
    println!("\n── {text}");
}

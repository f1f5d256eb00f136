//! Every way to narrow what is recalled, listed or pruned, on the shipped notes.
//!
//! ```text
//! cargo run --release --example filters [-- new.db]
//! ```
//!
//! A filter is applied before the best are chosen, so it never starves an answer: the one matching memory is found
//! however many better ones it shuts out.

use std::error::Error;

use mnemic::{ErrorKind, Memory, Prune, Recall, Scope, StoredMemory, Timeline, Timestamp};
use mnemic_examples::{Place, notes, shorten};

fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::from_argument(1)?;
    let memory = Memory::open(place.path())?;
    memory.store_all(notes()?)?;
    let now: Timestamp = "2026-11-01".parse()?;
    let ask = |recall: Recall| -> Result<Vec<StoredMemory>, mnemic::Error> {
        let hits = memory.recall(recall.now(now))?;
        Ok(hits.into_iter().map(|hit| hit.memory).collect())
    };

    heading("Scopes: no project named means global, and a project never leaks into another");
    let question = "how do we test?";
    let scopes = [
        ("global", Scope::Global),
        ("storefront", Scope::Project("storefront".into())),
        (
            "kestrel and global",
            Scope::ProjectAndGlobal("kestrel".into()),
        ),
        ("all", Scope::All),
    ];
    for (name, scope) in scopes {
        println!("{question} [{name}]");
        list(&ask(Recall::new(question).scope(scope).limit(2))?);
    }

    heading("Tags: any of these, all of these, none of these");
    let storefront = || {
        Recall::new("what broke for customers?")
            .project("storefront")
            .limit(3)
    };
    println!("any of incident, shipping");
    list(&ask(storefront().tags_any(["incident", "shipping"]))?);
    println!("all of incident, payments");
    list(&ask(storefront().tags_all(["incident", "payments"]))?);
    println!("incident, but not payments");
    list(&ask(storefront()
        .tags_all(["incident"])
        .tags_none(["payments"]))?);

    heading("Dates: since is inclusive, until is exclusive");
    let new_year: Timestamp = "2026-01-01".parse()?;
    let spring: Timestamp = "2026-04-01".parse()?;
    println!("incidents of the first quarter of 2026, in all projects");
    list(&ask(Recall::new("what went wrong?")
        .scope(Scope::All)
        .tags_any(["incident"])
        .since(new_year)
        .until(spring))?);

    heading("Ids: ask among memories you have at hand");
    let about_people = memory.timeline(Timeline::new().tags_any(["people"]).limit(8))?;
    println!("of the {} newest notes about people", about_people.len());
    list(&ask(Recall::new("who translates?")
        .scope(Scope::All)
        .ids(about_people.iter().map(|m| m.id.as_str()))
        .limit(1))?);

    heading("Limits: ten unless you say otherwise");
    let everything = || Recall::new("decision").scope(Scope::All);
    println!(
        "default {}, limit(25) {}, no_limit() {}",
        ask(everything())?.len(),
        ask(everything().limit(25))?.len(),
        ask(everything().no_limit())?.len(),
    );

    heading("Floors: better no answer than a wrong one");
    for question in [
        "what do we pay for map tiles?",
        "how deep can the submarine dive?",
    ] {
        let hits = memory.recall(Recall::new(question).scope(Scope::All).now(now).limit(1))?;
        let best = hits.first().map_or(0.0, |hit| hit.relevance);
        let kept = ask(Recall::new(question).scope(Scope::All).min_relevance(0.3))?;
        println!(
            "{question} best relevance {best:.2}; at 0.30 or above: {}",
            kept.len()
        );
        list(&kept);
    }

    heading("Timeline: no question, in order of time");
    println!("the two newest notes of all");
    list(&memory.timeline(Timeline::new().limit(2))?);
    println!("how fieldnotes began");
    list(
        &memory.timeline(
            Timeline::new()
                .project("fieldnotes")
                .oldest_first()
                .limit(2),
        )?,
    );

    heading("Prune: a dry run unless applied, and never without a filter");
    let old_incidents = || Prune::new().tags_all(["incident"]).until(new_year);
    let would = memory.prune(old_incidents())?;
    println!(
        "dry run: {} memories would go, {} are there",
        would.ids.len(),
        count(&memory)?
    );
    let gone = memory.prune(old_incidents().apply())?;
    println!(
        "applied: {} went, {} are left",
        gone.ids.len(),
        count(&memory)?
    );
    match memory.prune(Prune::new().apply()) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            println!("without a filter: {error}")
        }
        other => {
            return Err(format!("a prune without a filter must be refused, not {other:?}").into());
        }
    }
    Ok(())
}

fn heading(text: &str) {
    println!("\n── {text}");
}

fn list(memories: &[StoredMemory]) {
    for memory in memories {
        let date = memory.created_at.to_string();
        let project = memory.project.as_deref().unwrap_or("global");
        println!(
            "  {}  {project:<10}  {}",
            &date[..10],
            shorten(&memory.content, 80)
        );
    }
}

fn count(memory: &Memory) -> Result<usize, mnemic::Error> {
    Ok(memory.timeline(Timeline::new().no_limit())?.len())
}

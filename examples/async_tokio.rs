//! One memory, many tasks. The core is synchronous, for SQLite and the model are; a task clones the handle, which is
//! cheap, and lets `spawn_blocking` do the waiting.
//!
//! ```text
//! cargo run --release --example async_tokio [-- new.db]
//! ```

use std::error::Error;
use std::time::Instant;

use mnemic::{Memory, NewMemory, Recall, Scope, Timeline};
use mnemic_examples::{Place, notes, shorten};
use tokio::task::{JoinError, JoinSet};

/// Runs `work` on a thread where blocking is allowed.
async fn blocking<T, F>(memory: &Memory, work: F) -> Result<T, JoinError>
where
    T: Send + 'static,
    F: FnOnce(&Memory) -> T + Send + 'static,
{
    let memory = memory.clone();
    tokio::task::spawn_blocking(move || work(&memory)).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::from_argument(1)?;
    let path = place.path().to_owned();
    let memory = tokio::task::spawn_blocking(move || Memory::open(path)).await??;

    let year = notes()?;
    let stored = blocking(&memory, |memory| memory.store_all(year)).await??;
    println!("{} notes stored.", stored.len());

    // Four agents write while four others ask. Writers queue; a reader waits for nobody, and sees a note either whole or
    // not at all.
    let started = Instant::now();
    let mut agents: JoinSet<Result<String, Box<dyn Error + Send + Sync>>> = JoinSet::new();
    for agent in 1..=4 {
        let memory = memory.clone();
        agents.spawn(async move {
            for task in 1..=10 {
                let note = NewMemory::new(format!(
                    "Agent {agent} finished task {task} of the migration"
                ))
                .project("migration")
                .tags([format!("agent-{agent}")]);
                blocking(&memory, |memory| memory.store(note)).await??;
            }
            Ok(format!("agent {agent} wrote 10 notes"))
        });
    }
    for question in [
        "how are sound clips saved?",
        "who repairs the heating?",
        "which place do I want on an airplane?",
        "accommodation in Japan",
    ] {
        let memory = memory.clone();
        agents.spawn(async move {
            let recall = Recall::new(question).scope(Scope::All).limit(1);
            let hits = blocking(&memory, |memory| memory.recall(recall)).await??;
            let best = hits.first().map_or("nothing", |hit| &hit.memory.content);
            Ok(format!("{question} → {}", shorten(best, 60)))
        });
    }
    while let Some(done) = agents.join_next().await {
        let line = done?.map_err(|error| error.to_string())?;
        println!("{:>6.0?}  {line}", started.elapsed());
    }

    let written = blocking(&memory, |memory| {
        memory.timeline(Timeline::new().project("migration").no_limit())
    })
    .await??;
    println!(
        "{} notes of the migration, {:.0?} in all.",
        written.len(),
        started.elapsed()
    );
    if written.len() != 40 {
        return Err(format!("40 notes were written, {} are there", written.len()).into());
    }
    Ok(())
}

//! What lifecycles cost: recall with filters on them beside plain recall, and maintenance of a whole store.
//!
//! `cargo run --release -p mnemic-benches --bin lifecycle -- [SIZE]` (default: 100000). Two files of the same memories: of
//! those of the one nothing is said, of every memory of the other everything is (kind, importance, trust, layer, source;
//! one in ten has a validity window, one in twenty is superseded, one in fifty forgotten). The same questions are asked of
//! both in turn; a ratio is that of the medians. Embedding is excluded as in `scale`.

mod random;
#[allow(dead_code)]
#[path = "scale/synthetic.rs"]
mod synthetic;

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mnemic::{
    Durability, Include, Layer, Maintain, Memory, NewMemory, Recall, Scope, Timestamp, Verdict,
};

use random::Random;
use synthetic::Words;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Adds conditions to a question.
type Conditions<'a> = &'a dyn Fn(Recall) -> Recall;

const QUESTIONS: usize = 300;

fn open(path: &Path, words: &Words) -> Outcome<Memory> {
    Ok(Memory::builder()
        .embedder(words.clone())
        .durability(Durability::Normal)
        .busy_timeout(Duration::from_secs(60))
        .open(path)?)
}

/// Memory `i` with everything said of it.
fn said(i: usize, now: Timestamp) -> Outcome<NewMemory> {
    let mut random = Random(0x11fe ^ (i as u64) << 16);
    let mut uniform = || random.uniform();
    let day = |days: f64| Timestamp::from_micros(now.as_micros() + (days * 86_400e6) as i64);
    let kinds = ["semantic", "episodic", "procedural", "own"];
    let memory = synthetic::memory(i)
        .id(format!("m{i}"))
        .kind(kinds[i % kinds.len()])
        .importance(uniform())
        .trust(uniform())
        .source(format!("session-{}", i % 100));
    let memory = if i.is_multiple_of(4) {
        memory.layer(Layer::LongTerm)
    } else {
        memory
    };
    Ok(if i % 10 == 3 {
        let from = day(uniform() * 100.0 - 50.0)?;
        let until = Timestamp::from_micros(from.as_micros() + 30 * 86_400_000_000)?;
        memory.valid_from(from).valid_until(until)
    } else {
        memory
    })
}

fn fill(memory: &Memory, size: usize, of: impl Fn(usize) -> Outcome<NewMemory>) -> Outcome<f64> {
    let begun = Instant::now();
    for first in (0..size).step_by(10_000) {
        let rows: Vec<NewMemory> = (first..size.min(first + 10_000))
            .map(&of)
            .collect::<Outcome<_>>()?;
        memory.store_all(rows)?;
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// Medians, in milliseconds, of the same questions asked in turn by each of some recalls.
fn medians(asked: &[(&Memory, Conditions<'_>)]) -> Outcome<Vec<[f64; 2]>> {
    let mut took: Vec<Vec<f64>> = vec![Vec::with_capacity(QUESTIONS); asked.len()];
    for i in 0..QUESTIONS {
        for place in 0..asked.len() {
            // Each goes first in turn, as the first of a question finds less in the caches.
            let place = (place + i) % asked.len();
            let (memory, filter) = &asked[place];
            let recall = filter(Recall::new(synthetic::question(i)).scope(Scope::All));
            let begun = Instant::now();
            std::hint::black_box(memory.recall(recall)?);
            took[place].push(1e3 * begun.elapsed().as_secs_f64());
        }
    }
    Ok(took
        .into_iter()
        .map(|mut took| {
            took.sort_by(f64::total_cmp);
            [took[took.len() / 2], took[took.len() * 95 / 100]]
        })
        .collect())
}

fn main() -> Outcome<()> {
    let size = match std::env::args().nth(1) {
        Some(size) => size.parse()?,
        None => 100_000,
    };
    let folder = tempfile::tempdir()?;
    let words = Words::new();
    let now = Timestamp::now();
    let plain = open(&folder.path().join("plain.db"), &words)?;
    let path = folder.path().join("said.db");
    let full = open(&path, &words)?;
    let plainly = fill(&plain, size, |i| Ok(synthetic::memory(i)))?;
    let fully = fill(&full, size, |i| said(i, now))?;
    for i in (0..size.saturating_sub(1)).step_by(20) {
        full.supersede(&format!("m{i}"), &format!("m{}", i + 1))?;
    }
    full.forget((7..size).step_by(50).map(|i| format!("m{i}")))?;
    println!(
        "{size} memories, stored in {plainly:.1} s, with everything said of each in {fully:.1} s ({:.2} x)",
        fully / plainly
    );
    let index = [plain.warm_up()?, full.warm_up()?].map(|bytes| bytes as f64 / size as f64);
    println!(
        "index in memory: {:.0} and {:.0} bytes a memory",
        index[0], index[1]
    );

    let same = |recall: Recall| recall;
    let everything = |recall: Recall| recall.include(Include::all());
    let kind = |recall: Recall| recall.kinds(["episodic"]);
    let important = |recall: Recall| recall.min_importance(0.3).min_trust(0.2);
    let long = |recall: Recall| recall.layer(Layer::LongTerm);
    let source = |recall: Recall| recall.sources(["session-7", "session-8"]);
    let then = |recall: Recall| recall.as_of(now);
    let all = |recall: Recall| {
        recall
            .kinds(["episodic", "semantic"])
            .min_importance(0.1)
            .min_trust(0.1)
            .as_of(now)
    };
    let asked: Vec<(&str, &Memory, Conditions<'_>)> = vec![
        ("nothing said, plain recall", &plain, &same),
        ("all said, those that stand (the default)", &full, &same),
        ("all said, all included", &full, &everything),
        ("one kind of four", &full, &kind),
        ("importance and trust", &full, &important),
        ("one layer", &full, &long),
        ("two sources of a hundred", &full, &source),
        ("as of an instant", &full, &then),
        ("kinds, importance, trust, as of an instant", &full, &all),
    ];
    let measured = medians(
        &asked
            .iter()
            .map(|(_, memory, filter)| (*memory, *filter))
            .collect::<Vec<_>>(),
    )?;
    let base = measured[0];
    println!(
        "\n{:<44} {:>9} {:>9} {:>7}",
        "recall", "median ms", "p95 ms", "ratio"
    );
    for ((name, ..), [median, p95]) in asked.iter().zip(&measured) {
        println!(
            "{name:<44} {median:>9.2} {p95:>9.2} {:>7.2}",
            median / base[0]
        );
    }

    println!();
    let begun = Instant::now();
    let rehearsal = full.maintain(Maintain::new())?;
    println!(
        "maintain, a rehearsal: {:.2} s, {} judged, {} promotions, {} demotions, {} forgotten",
        begun.elapsed().as_secs_f64(),
        rehearsal.judged,
        rehearsal.count(Verdict::Promote),
        rehearsal.count(Verdict::Demote),
        rehearsal.count(Verdict::Forget)
    );
    let begun = Instant::now();
    let made = full.maintain(Maintain::new().apply())?;
    println!(
        "maintain, done: {:.2} s, {} changes",
        begun.elapsed().as_secs_f64(),
        made.changes.len()
    );
    let begun = Instant::now();
    let forgotten = made.changes.iter();
    let forgotten = forgotten.filter(|change| change.judgement.verdict == Verdict::Forget);
    full.revive(forgotten.map(|change| &change.id))?;
    println!(
        "all forgotten ones revived, in one transaction: {:.2} s",
        begun.elapsed().as_secs_f64()
    );
    let done = AtomicBool::new(false);
    let writer = open(&path, &words)?;
    let (took, longest) = std::thread::scope(|scope| -> Outcome<(f64, f64)> {
        let waiting = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !done.load(Ordering::Relaxed) {
                let begun = Instant::now();
                if writer.store("w1 stored meanwhile").is_err() {
                    break;
                }
                longest = longest.max(begun.elapsed());
                std::thread::sleep(Duration::from_millis(5));
            }
            longest
        });
        let begun = Instant::now();
        let report = full.maintain(Maintain::new().apply());
        let took = begun.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        report?;
        Ok((took, 1e3 * waiting.join().unwrap_or_default().as_secs_f64()))
    })?;
    println!(
        "maintain, done beside a handle that stores every 5 ms: {took:.2} s; its longest wait {longest:.0} ms"
    );
    let begun = Instant::now();
    println!(
        "maintain, again: {:.2} s, {} changes",
        begun.elapsed().as_secs_f64(),
        full.maintain(Maintain::new())?.changes.len()
    );
    let begun = Instant::now();
    let checkup = full.checkup(mnemic::Checkup::new())?;
    println!("checkup: {:.2} s\n{checkup}", begun.elapsed().as_secs_f64());
    Ok(())
}

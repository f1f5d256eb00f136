//! What links cost: traces, neighbours, paths, hubs, and a recall that follows them.
//!
//! `cargo run --release -p mnemic-benches --bin graph [-- SIZE]` (default: 100000) stores so many memories in chains of twenty
//! causes, each memory with a relation to another one far away, and prints the median and the 95th percentile of each
//! question. The trace of depth 10 stands beside the same answer put together one look-up at a time, and the recall that
//! follows links beside the one that does not. Limit: 1 ms for the trace.

mod random;

use std::error::Error;
use std::time::{Duration, Instant};

use mnemic::{
    Durability, Expand, Memory, Neighbours, NewMemory, NewRelation, Recall, Relations, ShortestPath,
};
use random::Random;

type Outcome<T> = Result<T, Box<dyn Error>>;

const CHAIN: usize = 20;
const DEPTH: usize = 10;
const QUESTIONS: usize = 1_000;

fn id(i: usize) -> String {
    format!("m{i}")
}

/// Memory `i`: some words, and the one before it in its chain as its cause.
fn new(i: usize) -> NewMemory {
    let mut random = Random(i as u64);
    let mut word = || format!("w{}", (20_000f64).powf(random.uniform()) as usize);
    let words: Vec<String> = (0..15).map(|_| word()).collect();
    let memory = NewMemory::new(words.join(" ")).id(id(i));
    match i % CHAIN {
        0 => memory,
        _ => memory.caused_by(id(i - 1)),
    }
}

fn fill(memory: &Memory, size: usize) -> Outcome<()> {
    let begun = Instant::now();
    for first in (0..size).step_by(10_000) {
        memory.store_all((first..size.min(first + 10_000)).map(new))?;
    }
    let stored = begun.elapsed();
    let mut random = Random(7);
    let mut other = |i: usize| match (random.uniform() * size as f64) as usize {
        same if same == i => (i + 1) % size,
        other => other,
    };
    let begun = Instant::now();
    for first in (0..size).step_by(10_000) {
        let drawn = (first..size.min(first + 10_000))
            .map(|i| NewRelation::new(id(i), id(other(i)), "related_to").source("bench"));
        memory.relate_all(drawn)?;
    }
    println!(
        "{size} memories stored in {:.1} s, as many relations drawn in {:.1} s",
        stored.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// What a trace answers, by one look-up after the other.
fn one_by_one(memory: &Memory, id: &str) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    let mut here = memory.get(id)?.and_then(|m| m.lifecycle.causal_parent);
    for _ in 0..DEPTH {
        let Some(parent) = here else { break };
        let parent = memory.get(&parent)?.ok_or("a cause is gone")?;
        here = parent.lifecycle.causal_parent;
        found.push(parent.id);
    }
    let mut level = vec![id.to_owned()];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for id in &level {
            let children = Neighbours::of(id).kinds(["none"]).causes(true).outward();
            let children = memory.neighbours(children)?;
            next.extend(children.into_iter().map(|child| child.memory.id));
        }
        found.extend(next.iter().cloned());
        level = next;
    }
    std::hint::black_box(memory.relations(Relations::of(id))?);
    Ok(found)
}

fn traced(memory: &Memory, id: &str) -> Outcome<Vec<String>> {
    let trace = memory.trace(id, DEPTH)?;
    let all = trace.ancestors.into_iter().chain(trace.descendants);
    Ok(all.map(|traced| traced.memory.id).collect())
}

/// The median, after a line with it and the 95th percentile.
fn report(name: &str, mut ask: impl FnMut(usize) -> Outcome<()>) -> Outcome<Duration> {
    let mut times = Vec::with_capacity(QUESTIONS);
    for i in 0..QUESTIONS {
        let begun = Instant::now();
        ask(i)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let (p50, p95) = (times[QUESTIONS / 2], times[QUESTIONS * 95 / 100]);
    let millis = |time: Duration| 1e3 * time.as_secs_f64();
    println!(
        "  {name:<50} {:>8.3} ms   p95 {:>8.3} ms",
        millis(p50),
        millis(p95)
    );
    Ok(p50)
}

fn main() -> Outcome<()> {
    let size: usize = match std::env::args().nth(1) {
        Some(size) => size.parse()?,
        None => 100_000,
    };
    if size < 2 * CHAIN {
        return Err(format!("{size} memories are too few: at least {}", 2 * CHAIN).into());
    }
    let folder = tempfile::tempdir()?;
    let memory = Memory::builder()
        .no_embedder()
        .durability(Durability::Normal)
        .open(folder.path().join("graph.db"))?;
    fill(&memory, size)?;
    // The middle of a chain: ten causes, nine effects.
    let middle = |i: usize| id((i * 7_919 % (size / CHAIN)) * CHAIN + DEPTH);
    for i in 0..20 {
        let (trace, naive) = (
            traced(&memory, &middle(i))?,
            one_by_one(&memory, &middle(i))?,
        );
        if trace != naive || trace.len() != CHAIN - 1 {
            return Err(format!("a trace differs: {trace:?} and {naive:?}").into());
        }
    }
    let trace = report("trace, depth 10 (10 causes, 9 effects)", |i| {
        std::hint::black_box(traced(&memory, &middle(i))?);
        Ok(())
    })?;
    let naive = report("the same, one look-up at a time", |i| {
        std::hint::black_box(one_by_one(&memory, &middle(i))?);
        Ok(())
    })?;
    println!(
        "  {:<50} {:>8.2}",
        "  … in traces",
        naive.as_secs_f64() / trace.as_secs_f64()
    );
    report("neighbours, depth 2, relations and causes", |i| {
        let near = memory.neighbours(Neighbours::of(middle(i)).depth(2))?;
        std::hint::black_box(near);
        Ok(())
    })?;
    report("shortest path, 4 steps of causes", |i| {
        let from = (i * 7_919 % (size / CHAIN)) * CHAIN;
        let path = ShortestPath::between(id(from), id(from + 4)).depth(4);
        let path = memory.shortest_path(path)?.ok_or("no path")?;
        std::hint::black_box(path);
        Ok(())
    })?;
    let begun = Instant::now();
    std::hint::black_box(memory.hubs(10)?);
    println!(
        "  {:<50} {:>8.1} ms",
        "the ten hubs, once",
        1e3 * begun.elapsed().as_secs_f64()
    );
    let question = |i: usize| {
        let mut random = Random(0xfeed ^ i as u64);
        let mut word = || format!("w{}", (50.0 * 200f64.powf(random.uniform())) as usize);
        Recall::new(format!("{} {} {}", word(), word(), word()))
    };
    memory.recall(question(0))?;
    memory.recall(question(0))?;
    let plain = report("recall by words", |i| {
        std::hint::black_box(memory.recall(question(i))?);
        Ok(())
    })?;
    let expanded = report("recall by words, and along links", |i| {
        let recall = question(i).expand(Expand::new());
        std::hint::black_box(memory.recall(recall)?);
        Ok(())
    })?;
    println!(
        "  {:<50} {:>8.2}",
        "  … in plain recalls",
        expanded.as_secs_f64() / plain.as_secs_f64()
    );
    Ok(())
}

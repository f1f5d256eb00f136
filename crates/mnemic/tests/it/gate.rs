//! The write gate: what it says of pairs that were labelled by hand, what it stores, and that it never writes when it only
//! looks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mnemic::{
    Assessment, ConflictJudge, Difference, ErrorKind, Gate, GatePolicy, GateVerdict, Gated,
    Include, JudgeError, Memory, MemoryUpdate, NewMemory, Recall, Scope,
};
use proptest::prelude::*;

use crate::support::{WordHash, builder, memory, sound};

const VERDICTS: [GateVerdict; 4] = [
    GateVerdict::New,
    GateVerdict::Duplicate,
    GateVerdict::Near,
    GateVerdict::Conflict,
];

struct Pair {
    known: String,
    new: String,
    label: String,
    lang: String,
    split: String,
}

fn pairs() -> Vec<Pair> {
    let text = include_str!("../data/gate_pairs.jsonl");
    let pair = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| line[name].as_str().unwrap().to_owned();
        Pair {
            known: field("known"),
            new: field("new"),
            label: field("label"),
            lang: field("lang"),
            split: field("split"),
        }
    };
    text.lines().map(pair).collect()
}

/// How often which label got which verdict.
type Counts = BTreeMap<(String, String), usize>;

fn ratio(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Precision and recall of a label.
fn measured(counts: &Counts, label: &str) -> (f64, f64) {
    let sum = |of: &dyn Fn(&(String, String)) -> bool| {
        let chosen = counts.iter().filter(|(key, _)| of(key));
        chosen.map(|(_, count)| count).sum::<usize>()
    };
    let right = sum(&|(is, said)| is == label && said == label);
    (
        ratio(right, sum(&|(_, said)| said == label)),
        ratio(right, sum(&|(is, _)| is == label)),
    )
}

/// Each pair in a project of its own, by the bundled model. Prints the table of `docs/lifecycle.md`:
/// `cargo test -p mnemic --test it gate::labelled -- --nocapture`; with `MNEMIC_GATE_ERRORS=dev`, also what was wrong.
#[test]
fn labelled_pairs_are_told_apart_as_well_as_was_measured() {
    let pairs = pairs();
    assert!(pairs.len() >= 200);
    let memory = Memory::open_in_memory().unwrap();
    let project = |i: usize| format!("pair {i}");
    let known = pairs.iter().enumerate();
    memory
        .store_all(known.map(|(i, pair)| NewMemory::new(&pair.known).project(project(i))))
        .unwrap();
    let errors = std::env::var("MNEMIC_GATE_ERRORS").unwrap_or_default();
    let (mut splits, mut languages) = (BTreeMap::<String, Counts>::new(), BTreeMap::new());
    for (i, pair) in pairs.iter().enumerate() {
        let assessment = memory
            .assess(NewMemory::new(&pair.new).project(project(i)))
            .unwrap();
        let said = assessment.verdict.to_string();
        let all = errors == format!("{}, all", pair.split);
        if all || (said != pair.label && errors == pair.split) {
            println!(
                "{}: {:?} | {:?}: {} {assessment}",
                pair.label, pair.known, pair.new, pair.lang
            );
        }
        let language: &mut (usize, usize) = languages.entry(pair.lang.clone()).or_default();
        language.0 += usize::from(said == pair.label);
        language.1 += 1;
        let counts = splits.entry(pair.split.clone()).or_default();
        *counts.entry((pair.label.clone(), said)).or_default() += 1;
    }
    let mut table = String::from("| pairs | label | precision | recall |\n|---|---|---|---|\n");
    for (split, counts) in &splits {
        for verdict in VERDICTS {
            let label = verdict.to_string();
            let (precision, recall) = measured(counts, &label);
            writeln!(
                table,
                "| {split} | {label} | {precision:.2} | {recall:.2} |"
            )
            .unwrap();
        }
    }
    for (language, (right, all)) in &languages {
        writeln!(table, "{language}: {right} of {all} right").unwrap();
    }
    println!("{table}");
}

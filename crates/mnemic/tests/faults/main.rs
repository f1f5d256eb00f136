//! Writes, syncs and truncations that fail: I/O errors, a full disk, short writes, once and for good, at the n-th call. Each
//! verb then gives a typed error or succeeds, nothing that was acknowledged is lost, and nothing is there by half.
//!
//! The calls are made to fail by a small library (`shim.c`) that is loaded before the C library, which Linux can do; it is
//! compiled here with the C compiler that the crate needs anyway.
#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use mnemic::{ErrorKind, Memory, NewMemory, Prune, Timeline};

/// Rounds in this run; a nightly run may ask for more.
fn rounds() -> u64 {
    std::env::var("MNEMIC_FAULTS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(50)
}

/// The child: opens the file and makes each change once, and says how it went, a line each: `doing OP`, then `done OP` or
/// `failed OP KIND`. What each OP does is fixed, so that the parent knows it too.
fn change_everything(path: &Path) {
    let opened = Memory::builder().no_embedder().open(path);
    let memory = match opened {
        Ok(memory) => memory,
        Err(error) => {
            println!("failed open {:?}", error.kind());
            return;
        }
    };
    for op in 0..60u32 {
        println!("doing {op}");
        match apply(&memory, op) {
            Ok(()) => println!("done {op}"),
            Err(error) => println!("failed {op} {:?}", error.kind()),
        }
    }
}

fn apply(memory: &Memory, op: u32) -> mnemic::Result<()> {
    let long = "a text that fills some pages ".repeat(if op.is_multiple_of(5) { 400 } else { 1 });
    let named = |i: u32| {
        NewMemory::new(format!("{long} {op} {i}"))
            .id(format!("m{op}-{i}"))
            .tags(["t"])
    };
    match op % 6 {
        0 | 1 => memory.store(named(0)).map(drop),
        2 => memory.store_all((0..8).map(named)).map(drop),
        3 => memory
            .update(&format!("m{}-0", op - 1), format!("changed {op}"))
            .map(drop),
        4 => memory
            .delete_all([format!("m{}-1", op - 2), format!("m{}-2", op - 2)])
            .map(drop),
        _ => memory
            .prune(
                Prune::new()
                    .ids([format!("m{}-3", op - 3), format!("m{}-4", op - 3)])
                    .apply(),
            )
            .map(drop),
    }
}

/// What a change makes of a file whose memories are these: content by id.
fn applied(before: &BTreeMap<String, String>, op: u32) -> BTreeMap<String, String> {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let rows = before
        .iter()
        .map(|(id, content)| NewMemory::new(content).id(id));
    memory.store_all(rows).unwrap();
    // What the change needs may be missing where an earlier one failed.
    let _ = apply(&memory, op);
    contents(&memory)
}

fn contents(memory: &Memory) -> BTreeMap<String, String> {
    let all = memory.timeline(Timeline::new()).unwrap();
    all.into_iter()
        .map(|memory| (memory.id, memory.content))
        .collect()
}

fn shim(folder: &Path) -> PathBuf {
    let to = folder.join("shim.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/shim.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&to)
        .arg(source)
        .arg("-ldl")
        .status()
        .expect("a C compiler, which this crate needs anyway");
    assert!(status.success());
    to
}

#[test]
fn no_failing_call_loses_or_halves_anything() {
    if let Some(path) = std::env::var_os("FAULT_PATH") {
        return change_everything(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let shim = shim(folder.path());
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let (mut failures, mut kinds) = (0, BTreeSet::new());
    for round in 0..rounds() {
        let path = folder.path().join(format!("{round}.db"));
        let call = ["write", "write", "sync", "truncate"][next(4) as usize];
        let kind = ["eio", "enospc", "short"][next(3) as usize];
        let at = 1 + next(if call == "write" { 700 } else { 70 });
        let run = [1, 3, 0][next(3) as usize];
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "no_failing_call_loses_or_halves_anything",
                "--nocapture",
            ])
            .env("LD_PRELOAD", &shim)
            .env("FAULT_PATH", &path)
            .env("FAULT_CALL", call)
            .env("FAULT_KIND", kind)
            .env("FAULT_AT", at.to_string())
            .env("FAULT_FOR", run.to_string())
            .output()
            .unwrap();
        let what = format!("round {round}: {call} fails by {kind} at {at} for {run}");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{what}\n{said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        // Without the faults: sound, and each change there or not there, as it was said.
        let memory = Memory::builder().no_embedder().open(&path).unwrap();
        let report = memory.check().unwrap();
        assert!(report.is_ok(), "{what}: {report:?}");
        let mut acknowledged = BTreeMap::new();
        let mut failed_since: Vec<u32> = Vec::new();
        for line in said.lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            match parts[..] {
                ["done", op] => {
                    let after = applied(&acknowledged, op.parse().unwrap());
                    // One that finds nothing to change writes nothing.
                    if after != acknowledged {
                        failed_since.clear();
                    }
                    acknowledged = after;
                }
                ["failed", op, kind] => {
                    failures += 1;
                    kinds.insert(kind.to_owned());
                    failed_since.extend(op.parse::<u32>());
                }
                _ => {}
            }
        }
        // A commit whose last step failed may be found done when the file is opened again: all of it then, and it alone,
        // as the next change writes over it.
        let mut possible = vec![acknowledged.clone()];
        possible.extend(failed_since.iter().map(|op| applied(&acknowledged, *op)));
        let found = contents(&memory);
        assert!(
            possible.contains(&found),
            "{what}\n{said}\n{:?}",
            found.keys()
        );
        drop(memory);
        std::fs::remove_file(&path).unwrap();
    }
    println!(
        "{} rounds, {failures} failed calls of the library ({kinds:?}), nothing lost",
        rounds()
    );
    assert!(
        failures > rounds() / 4,
        "the faults were not met: {failures}"
    );
    let expected: BTreeSet<String> = [
        ErrorKind::Io,
        ErrorKind::Storage,
        ErrorKind::NotFound,
        ErrorKind::AlreadyExists,
    ]
    .iter()
    .map(|kind| format!("{kind:?}"))
    .collect();
    assert!(kinds.is_subset(&expected), "{kinds:?}");
}

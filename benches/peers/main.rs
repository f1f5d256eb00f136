//! The part of `tools/peers` that is mnemic's: makes the data that every system reads, and drives mnemic on it.
//!
//! `peers prepare COUNT DATA [EVAL.json…]` writes texts, vectors and sets into the folder `DATA`; `peers drive DATA PLACE
//! OUT` stores and asks them through the public facade, with its files in `PLACE`, and writes what it found to `OUT`.
//! `tools/peers/run.sh` calls both, and the drivers of the others.

#[allow(dead_code, reason = "the parts that only `evaluate` reads")]
#[path = "../evaluate/data.rs"]
mod data;
mod drive;
mod harness;
mod prepare;
#[path = "../random.rs"]
mod random;
#[cfg(test)]
mod tests;
mod texts;

use std::path::{Path, PathBuf};

pub use harness::Outcome as Result;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["prepare", count, data, evaluations @ ..] => {
            let evaluations: Vec<PathBuf> = evaluations.iter().map(PathBuf::from).collect();
            let count = count
                .parse()
                .map_err(|error| format!("COUNT is {count:?}: {error}"))?;
            prepare::run(count, Path::new(data), &evaluations)
        }
        ["drive", data, place, out] => {
            harness::run::<drive::Mnemic>(Path::new(data), Path::new(place), Path::new(out))
        }
        _ => {
            Err("usage: peers prepare COUNT DATA [EVAL.json…] | peers drive DATA PLACE OUT".into())
        }
    }
}

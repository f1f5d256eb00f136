//! Bring what another system remembers into a new file of mnemic, and keep what has no place in it yet.
//!
//! ```text
//! cargo run --release --example bring_over -- rekal|agent-memory|agent-memory-jsonl|ra-h FROM TO.db
//! ```
//!
//! FROM is only read. `TO.db.left.jsonl` gets every row of which something is left, in full.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};

use mnemic::{Import, Memory};
use mnemic_examples::Place;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [system, from, to] = arguments.as_slice() else {
        return Err(
            "give the system (rekal, agent-memory, agent-memory-jsonl, ra-h), its file, and a new one".into(),
        );
    };
    let import = match system.as_str() {
        "rekal" => Import::rekal(from),
        "agent-memory" => Import::agent_memory(from),
        "agent-memory-jsonl" => Import::agent_memory_jsonl(BufReader::new(File::open(from)?)),
        "ra-h" => Import::ra_h(from),
        other => {
            return Err(format!(
                "{other} is none of rekal, agent-memory, agent-memory-jsonl, ra-h"
            )
            .into());
        }
    };
    let place = Place::from_argument(3)?;
    let left = File::create_new(format!("{to}.left.jsonl"))?;

    let memory = Memory::open(place.path())?;
    let report = memory.import(import.left_to(BufWriter::new(left)))?;
    println!("{report}");
    println!("{}", memory.health()?);
    Ok(())
}

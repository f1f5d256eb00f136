//! Passages beside other embedded stores: the part of `tools/passages` that is mnemic's.
//!
//! `passages prepare COUNT DATA` writes made-up documents, their passages, vectors, questions and the right answers into
//! the folder `DATA`; `passages drive DATA PLACE OUT` stores the documents in a memory below `PLACE`, asks, and writes what
//! it found to `OUT`. `tools/passages/run.sh` calls both, and the drivers of the others.

#[path = "../books.rs"]
mod books;
mod drive;
mod prepare;
#[path = "../random.rs"]
mod random;

use std::error::Error;
use std::path::Path;

use mnemic_chunk::Chunking;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Numbers in a vector.
const DIMS: usize = 384;
/// Passages asked for.
const LIMIT: usize = 10;
/// Questions asked.
const QUESTIONS: usize = 200;
/// How the documents are cut.
const CHUNKING: Chunking = Chunking::characters(500, 0);
/// Characters of a document.
const DOCUMENT: usize = 100_000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["prepare", count, data] => prepare::run(count.parse()?, Path::new(data)),
        ["drive", data, place, out] => {
            drive::run(Path::new(data), Path::new(place), Path::new(out))
        }
        _ => Err("usage: passages prepare COUNT DATA | passages drive DATA PLACE OUT".into()),
    }
}

//! Recall in a library of few, long books: what a question costs where one book has more passages than all candidates.
//!
//! `cargo run --release -p mnemic-benches --bin library -- [BOOKS] [PASSAGES]` (default: 20 and 100,000, in all). Made-up
//! books of real sentences with the bundled model; prints median and 95th percentile of 50 questions, each embedded within
//! its recall, with the index in memory and from the file alone.

mod books;
mod random;

use std::error::Error;
use std::time::Instant;

use mnemic::{Chunking, Memory, NewDocument, Recall};

const QUESTIONS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| match arguments.next() {
        Some(argument) => argument.parse(),
        None => Ok(default),
    };
    let (count, passages) = (number(20)?, number(100_000)?);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("library.db");

    let books = books::Books::new();
    let memory = Memory::open(&path)?;
    let begun = Instant::now();
    let mut chunks = 0;
    for book in 0..count {
        // Passages of up to 500 characters hold some 400.
        let source = books.book(book, passages / count * 400);
        let document = NewDocument::new(format!("Book {book}"))
            .source(source)
            .chunking(Chunking::characters(500, 0));
        chunks += memory.store_document(document)?.chunks;
    }
    let stored = begun.elapsed().as_secs_f64();
    println!("{count} books, {chunks} passages, stored in {stored:.1} s");
    drop(memory);

    let mut random = random::Random(7);
    let questions: Vec<String> = (0..QUESTIONS)
        .map(|_| books.sentence(&mut random).to_owned())
        .collect();
    for (what, budget) in [("with the index", None), ("from the file alone", Some(0))] {
        let mut builder = Memory::builder();
        if let Some(budget) = budget {
            builder = builder.index_budget(budget);
        }
        let memory = builder.open(&path)?;
        memory.warm_up()?;
        for limit in [5, 10, 50] {
            let mut times = Vec::with_capacity(QUESTIONS);
            for question in &questions {
                let begun = Instant::now();
                let hits = memory.recall(Recall::new(question).limit(limit))?;
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                assert_eq!(hits.len(), limit.min(count));
            }
            times.sort_by(f64::total_cmp);
            let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(0.0);
            println!(
                "{what}, limit {limit}: median {:.1} ms, 95 % {:.1} ms",
                at(50),
                at(95)
            );
        }
    }
    Ok(())
}

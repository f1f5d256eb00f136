//! Made-up books of real sentences: those of a novel, drawn anew in each paragraph, the same in every run.

use crate::random::Random;

/// The novel that the examples ship.
const NOVEL: &str = include_str!("../examples/data/persuasion.txt");

/// Where sentences come from.
#[derive(Debug)]
pub struct Books {
    sentences: Vec<String>,
}

impl Books {
    /// The sentences of the novel of 20 to 300 characters, on one line each.
    pub fn new() -> Self {
        let paragraphs = NOVEL.split("\n\n");
        let sentences = paragraphs
            .flat_map(|paragraph| {
                let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
                line.split_inclusive(". ")
                    .map(|sentence| sentence.trim().to_owned())
                    .collect::<Vec<_>>()
            })
            .filter(|sentence| (20..=300).contains(&sentence.len()))
            .collect();
        Self { sentences }
    }

    /// A sentence.
    pub fn sentence(&self, random: &mut Random) -> &str {
        let at = (random.uniform() * self.sentences.len() as f64) as usize;
        self.sentences.get(at).map_or("", String::as_str)
    }

    /// Book `number`, of about so many characters: paragraphs of three to nine sentences.
    pub fn book(&self, number: usize, characters: usize) -> String {
        let mut random = Random(number as u64 + 1);
        let mut book = format!("Book {number}\n\n");
        while book.len() < characters {
            for _ in 0..3 + (random.uniform() * 7.0) as usize {
                book.push_str(self.sentence(&mut random));
                book.push(' ');
            }
            book.truncate(book.trim_end().len());
            book.push_str("\n\n");
        }
        book
    }
}

//! Makes the data: passages of made-up books, their vectors by the bundled model, and for each question the ten nearest by
//! cosine, found by comparing it with all.

use std::fs;
use std::path::Path;

use mnemic::{Embedder, InputKind, StaticEmbedder};
use mnemic_chunk::chunk;
use mnemic_rank::TopK;

use crate::books::Books;
use crate::random::Random;
use crate::{CHUNKING, DIMS, DOCUMENT, LIMIT, Outcome, QUESTIONS};

pub fn run(count: usize, folder: &Path) -> Outcome<()> {
    let books = Books::new();
    let (mut documents, mut passages) = (Vec::new(), Vec::new());
    while passages.len() < count {
        let mut book = books.book(documents.len(), DOCUMENT);
        let mut chunks = chunk(&book, &CHUNKING)?;
        chunks.truncate(count - passages.len());
        let end = chunks.last().map_or(0, |chunk| chunk.bytes.end);
        passages.extend(
            chunks
                .iter()
                .filter_map(|chunk| chunk.text(&book))
                .map(str::to_owned),
        );
        book.truncate(end);
        documents.push(book);
    }
    let mut random = Random(7);
    let questions: Vec<String> = (0..QUESTIONS)
        .map(|_| question(books.sentence(&mut random), &mut random))
        .collect();

    let vectors = embed(InputKind::Passage, &passages)?;
    let asked = embed(InputKind::Query, &questions)?;
    let nearest: Vec<Vec<i64>> = asked
        .chunks_exact(DIMS)
        .map(|question| nearest(question, &vectors))
        .collect();

    fs::create_dir_all(folder)?;
    fs::write(
        folder.join("documents.json"),
        serde_json::to_vec(&documents)?,
    )?;
    fs::write(folder.join("passages.json"), serde_json::to_vec(&passages)?)?;
    fs::write(
        folder.join("questions.json"),
        serde_json::to_vec(&questions)?,
    )?;
    fs::write(folder.join("nearest.json"), serde_json::to_vec(&nearest)?)?;
    fs::write(folder.join("passages.f32"), bytes(&vectors))?;
    fs::write(folder.join("questions.f32"), bytes(&asked))?;
    println!(
        "{} passages of {} documents, {QUESTIONS} questions",
        passages.len(),
        documents.len()
    );
    Ok(())
}

/// A sentence of which every third word is left out.
fn question(sentence: &str, random: &mut Random) -> String {
    let first = (random.uniform() * 3.0) as usize;
    let words = sentence.split_whitespace().enumerate();
    let kept: Vec<&str> = words
        .filter(|(i, _)| i % 3 != first)
        .map(|(_, word)| word)
        .collect();
    kept.join(" ")
}

fn embed(kind: InputKind, texts: &[String]) -> Outcome<Vec<f32>> {
    let model = StaticEmbedder::new();
    let mut vectors = Vec::with_capacity(texts.len() * DIMS);
    for batch in texts.chunks(1_000) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        for (text, vector) in batch.iter().zip(model.embed(kind, &batch)?) {
            vectors.extend(vector.ok_or_else(|| format!("nothing to embed in {text:?}"))?);
        }
    }
    Ok(vectors)
}

fn nearest(question: &[f32], vectors: &[f32]) -> Vec<i64> {
    let mut best = TopK::new(LIMIT);
    for (row, vector) in vectors.chunks_exact(DIMS).enumerate() {
        let cosine: f32 = question.iter().zip(vector).map(|(a, b)| a * b).sum();
        best.push(f64::from(cosine), row as i64);
    }
    best.into_sorted_vec()
        .into_iter()
        .map(|(_, row)| row)
        .collect()
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

//! Bring your own model: here one that hashes runs of three to five letters. It knows nothing of meaning, and forgives
//! every typing error, in any script.
//!
//! ```text
//! cargo run --release --example custom_embedder [-- new.db]
//! ```

use std::error::Error;

use mnemic::{ErrorKind, Memory, Preset, Recall, Scope};
use mnemic_embed::testing::check_embedder;
use mnemic_embed::{EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, normalize};
use mnemic_examples::{Place, notes, shorten};

/// Letter runs, hashed into a vector: two texts are near where they share many.
#[derive(Debug)]
struct LetterRuns {
    model: EmbeddingModel,
}

impl LetterRuns {
    const DIMENSIONS: usize = 512;

    fn new() -> Self {
        // The file records this identity. Whoever changes how the vectors are made changes the revision, and a file made
        // with the old one is refused rather than searched with vectors that mean something else.
        Self {
            model: EmbeddingModel::new("letter-runs", "letter-runs", "1", Self::DIMENSIONS),
        }
    }

    fn vector(text: &str) -> Embedding {
        let mut vector = vec![0.0; Self::DIMENSIONS];
        let lower = text.to_lowercase();
        for word in lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
        {
            let letters: Vec<char> = format!("<{word}>").chars().collect();
            for length in 3..=5 {
                for run in letters.windows(length) {
                    // One bit of the hash gives the sign, so that collisions cancel as often as they add.
                    let hash = hash(run);
                    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
                    vector[(hash % Self::DIMENSIONS as u64) as usize] += sign;
                }
            }
        }
        // A text without a letter has no direction, and no vector: `None`, never zeros.
        normalize(&mut vector).ok().map(|()| vector)
    }
}

/// FNV-1a, written out: vectors are stored, so the hash must never change, as the standard library's may.
fn hash(run: &[char]) -> u64 {
    run.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &letter| {
        (hash ^ u64::from(letter)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Embedder for LetterRuns {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn embed(&self, _kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // In a project of your own this line is a test.
    check_embedder(&LetterRuns::new())?;
    println!("The contract holds: {}.", LetterRuns::new().model());

    let place = Place::from_argument(1)?;
    let memory = Memory::builder()
        .embedder(LetterRuns::new())
        .open(place.path())?;
    memory.store_all(notes()?)?;

    println!("\nMisspelt questions, of which no word stands in a note:");
    for (question, answer) in [
        ("recomendations widgett", "The A/B test"),
        ("ornithologcal sosciety", "The beta testers"),
        ("firmwear of the invertor", "The inverter"),
        ("Signaturschlüsel", "Der Signaturschlüssel"),
    ] {
        let recall = |preset| {
            Recall::new(question)
                .scope(Scope::All)
                .limit(1)
                .preset(preset)
        };
        let by_words = memory.recall(recall(Preset::word_only()))?;
        let hits = memory.recall(recall(Preset::default()))?;
        let best = hits.first().ok_or("nothing was found")?;
        println!("  {question}  (by words alone: {})", by_words.len());
        println!(
            "    {:.3}  {}",
            best.score,
            shorten(&best.memory.content, 90)
        );
        if !best.memory.content.starts_with(answer) {
            return Err(format!("the note that begins \"{answer}\" was expected").into());
        }
    }
    drop(memory);

    println!("\nThe same file, opened with the bundled model:");
    match Memory::open(place.path()) {
        Err(error) if error.kind() == ErrorKind::ModelMismatch => println!("  {error}"),
        other => return Err(format!("a model mismatch was expected, not {other:?}").into()),
    }

    let memory = Memory::builder().no_embedder().open(place.path())?;
    let hits = memory.recall(
        Recall::new("ornithological society")
            .scope(Scope::All)
            .limit(1),
    )?;
    println!(
        "Without a model its words can still be searched: {} found.",
        hits.len()
    );
    Ok(())
}

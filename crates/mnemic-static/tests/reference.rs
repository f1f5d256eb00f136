//! The vectors of `static-reference.json`, which another implementation (Python, numpy) made from the same files, and
//! the contract of an embedder.

// Helpers of tests, which clippy does not know as tests.
#![allow(clippy::unwrap_used)]

use std::thread;

use mnemic_embed::{Embedder, InputKind, cosine, testing};
use mnemic_static::StaticEmbedder;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

fn embed(text: &str) -> Option<Vec<f32>> {
    let vectors = StaticEmbedder::new().embed(InputKind::Query, &[text]);
    vectors.unwrap().remove(0)
}

#[test]
fn equals_every_reference_vector() {
    let json = include_str!("fixtures/static-reference.json");
    let reference: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    assert_eq!(reference.len(), 30);
    let texts: Vec<&str> = reference
        .iter()
        .map(|entry| entry["text"].as_str().unwrap())
        .collect();
    let batch = StaticEmbedder::new()
        .embed(InputKind::Passage, &texts)
        .unwrap();
    for ((entry, text), vector) in reference.iter().zip(&texts).zip(batch) {
        let expected: Option<Vec<f32>> = serde_json::from_value(entry["vector"].clone()).unwrap();
        assert_eq!(embed(text), vector, "{text:?} alone and in a batch");
        match (&expected, &vector) {
            (Some(expected), Some(vector)) => {
                assert_eq!(vector.len(), 384);
                for (x, y) in expected.iter().zip(vector) {
                    assert!((x - y).abs() <= 1e-5, "{text:?}: {x} and {y}");
                }
            }
            (None, None) => {}
            _ => panic!("{text:?} has a vector in one of the two"),
        }
    }
}

#[test]
fn keeps_the_contract_of_an_embedder() {
    assert_eq!(testing::check_embedder(&StaticEmbedder::new()), Ok(()));
}

#[test]
fn names_itself_and_the_revision_is_of_the_bytes_shipped() {
    let embedder = StaticEmbedder::new();
    let model = embedder.model();
    assert_eq!(model.space, "all-MiniLM-L6-v2");
    assert_eq!(model.id, "mnemic-static-384-int4");
    assert_eq!(model.dims, 384);
    let bytes = Sha256::new()
        .chain_update(include_bytes!(
            "../models/static-minilm-384-int4.safetensors"
        ))
        .chain_update(include_bytes!("../models/vocab.txt"))
        .finalize();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(Some(model.revision.as_str()), digits.get(..16));
    assert_eq!(
        format!("{embedder:?}"),
        format!(
            "StaticEmbedder(mnemic-static-384-int4, revision {})",
            model.revision
        )
    );
}

#[test]
fn related_texts_are_nearer_than_unrelated_ones() {
    for (query, related, unrelated) in [
        (
            "which formatter should I use?",
            "The user prefers Ruff over Black for formatting",
            "My dentist appointment moved to Tuesday at nine",
        ),
        (
            "when can I ship to production?",
            "Deploys freeze on Fridays after 15:00",
            "The user prefers Ruff over Black for formatting",
        ),
        (
            "How long do cached entries live?",
            "The cache TTL is 30 minutes",
            "Rosa's cat is called Miso",
        ),
        (
            "what pets does she have?",
            "Rosa's cat is called Miso",
            "The cache TTL is 30 minutes",
        ),
    ] {
        let [query, related, unrelated] =
            [query, related, unrelated].map(|text| embed(text).unwrap());
        let (near, far) = (cosine(&query, &related), cosine(&query, &unrelated));
        assert!(near > far + 0.05, "{near} and {far}");
    }
}

#[test]
fn threads_give_equal_vectors() {
    let texts: Vec<String> = (0..400)
        .map(|n| format!("memory number {n}: the build of branch {} is green", n % 7))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = StaticEmbedder::new();
    let alone: Vec<_> = texts.iter().map(|text| embed(text)).collect();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                let embedder = embedder.clone();
                let texts = &texts;
                scope.spawn(move || embedder.embed(InputKind::Passage, texts).unwrap())
            })
            .collect();
        for worker in workers {
            assert_eq!(worker.join().unwrap(), alone);
        }
    });
}

/// Repeating a text changes no direction, however long it gets: neither rounding nor the cutting into segments.
#[test]
fn a_long_text_points_where_its_repeated_part_does() {
    let part = "The quick brown fox [MASK] jumps, 今日 over the lazy dog. ";
    let short = embed(part).unwrap();
    for bytes in [10_000, 100_000, 1_000_000] {
        let long = embed(&part.repeat(bytes / part.len())).unwrap();
        for (x, y) in short.iter().zip(&long) {
            assert!((x - y).abs() <= 1e-5, "{bytes} bytes: {x} and {y}");
        }
    }
    let endless_word = embed(&"x".repeat(1_000_000)).unwrap();
    let unknown_piece = embed("[UNK]").unwrap();
    assert_eq!(endless_word, unknown_piece);
}

proptest! {
    #[test]
    fn any_text_has_a_unit_vector_or_none(text in "(?s).{0,200}|[ -~]{0,400}|\\PC{0,100}") {
        if let Some(vector) = embed(&text) {
            prop_assert_eq!(vector.len(), 384);
            let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-5, "length {}", length);
        } else {
            prop_assert!(!text.chars().any(|c| c.is_ascii_graphic()));
        }
    }
}

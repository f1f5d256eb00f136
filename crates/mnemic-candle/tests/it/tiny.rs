//! A random BERT of odd sizes, committed: runs everywhere, through the same code as a real model.

use std::thread;

use mnemic_candle::{Backend, CandleEmbedder, CandleOptions, Instructions, Pooling};
use mnemic_embed::testing::check_embedder;
use mnemic_embed::{Embedder, InputKind};

use crate::support::{assert_reference, difference, embed, references, rows, tiny, tiny_copy};

fn tiny_embedder() -> CandleEmbedder {
    CandleEmbedder::from_dir(tiny()).unwrap()
}

#[test]
fn keeps_the_contract_of_an_embedder() {
    check_embedder(&tiny_embedder()).unwrap();
    check_embedder(
        &CandleOptions::new()
            .backend(Backend::CandleCpu)
            .from_dir(tiny())
            .unwrap(),
    )
    .unwrap();
}

#[test]
fn agrees_with_the_reference_for_every_pooling_activation_and_instruction_set() {
    let reference = tiny().join("reference.safetensors");
    for (name, activation, pooling) in [
        ("gelu mean", "gelu", Pooling::Mean),
        ("gelu cls", "gelu", Pooling::Cls),
        ("gelu_new mean", "gelu_new", Pooling::Mean),
        ("relu mean", "relu", Pooling::Mean),
    ] {
        let folder = tiny_copy();
        let config = folder.path().join("config.json");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(
            &config,
            text.replace("\"gelu\"", &format!("{activation:?}")),
        )
        .unwrap();
        let expected = rows(&reference, name);
        for options in [
            CandleOptions::new(),
            CandleOptions::new().at_most(Instructions::Avx2),
            CandleOptions::new().at_most(Instructions::Portable),
            CandleOptions::new().backend(Backend::CandleCpu),
        ] {
            let embedder = options.pooling(pooling).from_dir(folder.path()).unwrap();
            let mut compared = 0;
            for (reference, expected) in references().iter().zip(&expected) {
                let found = embed(&embedder, &[&reference.text]).remove(0);
                // Where there is nothing to embed there is no vector, though a transformer would give one.
                assert_eq!(
                    found.is_some(),
                    embedder.count_tokens(&reference.text).unwrap() > 0
                );
                if let Some(found) = found {
                    assert_reference(&reference.text, &found, expected);
                    compared += 1;
                }
            }
            assert_eq!(compared, 47, "{name}");
        }
    }
}

#[test]
fn the_native_pass_is_candles_to_a_hundred_thousandth() {
    let native = tiny_embedder();
    let candle = CandleOptions::new()
        .backend(Backend::CandleCpu)
        .from_dir(tiny())
        .unwrap();
    assert!(native.instructions().is_some() && candle.instructions().is_none());
    assert_eq!(native.model(), candle.model());
    let references = references();
    let texts: Vec<&str> = references.iter().map(|r| r.text.as_str()).collect();
    for (a, b) in embed(&native, &texts).iter().zip(embed(&candle, &texts)) {
        if let (Some(a), Some(b)) = (a, &b) {
            assert!(difference(a, b) <= 1e-5);
        }
        assert_eq!(a.is_some(), b.is_some());
    }
}

#[test]
fn a_text_alone_in_a_batch_and_on_any_thread_is_the_same_to_the_bit() {
    let embedder = tiny_embedder();
    let references = references();
    let texts: Vec<&str> = references.iter().map(|r| r.text.as_str()).collect();
    let together = embed(&embedder, &texts);
    let alone: Vec<_> = texts
        .iter()
        .flat_map(|text| embed(&embedder, &[text]))
        .collect();
    assert_eq!(together, alone);
    let reversed: Vec<&str> = texts.iter().rev().copied().collect();
    let mut backwards = embed(&embedder, &reversed);
    backwards.reverse();
    assert_eq!(together, backwards);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let embedder = embedder.clone();
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            thread::spawn(move || {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                embed(&embedder, &texts)
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), together);
    }
}

#[test]
fn nothing_is_cut_silently() {
    let embedder = tiny_embedder();
    assert_eq!(embedder.max_tokens(), Some(24));
    // tokenizer.json presets truncation and padding to 16 tokens.
    let long = "memory ".repeat(20);
    assert_eq!(embedder.count_tokens(&long).unwrap(), 20);
    assert_eq!(embedder.windows(InputKind::Passage, &long).unwrap(), 1);
    let longer = "memory ".repeat(60);
    assert_eq!(embedder.windows(InputKind::Passage, &longer).unwrap(), 3);
    assert_eq!(embedder.windows(InputKind::Passage, " ").unwrap(), 0);
    let dynamic: std::sync::Arc<dyn Embedder> = std::sync::Arc::new(embedder.clone());
    assert_eq!(dynamic.windows(InputKind::Passage, &longer).unwrap(), 3);
    // The tail counts: another last word is another vector.
    let tails = ["agent", "deploy"].map(|tail| format!("{longer}{tail}"));
    let vectors = embed(&embedder, &[&tails[0], &tails[1]]);
    assert!(difference(vectors[0].as_ref().unwrap(), vectors[1].as_ref().unwrap()) > 1e-3);
}

#[test]
fn prefixes_are_part_of_every_window_and_of_the_identity() {
    let plain = tiny_embedder();
    let prefixed = CandleOptions::new()
        .query_prefix("query: ")
        .passage_prefix("passage: ")
        .from_dir(tiny())
        .unwrap();
    for (kind, prefix) in [
        (InputKind::Query, "query: "),
        (InputKind::Passage, "passage: "),
    ] {
        assert_eq!(prefixed.prefix(kind), prefix);
        let text = format!("{prefix}the agent and the memory");
        let expected = plain.embed(kind, &[&text]).unwrap();
        let found = prefixed.embed(kind, &["the agent and the memory"]).unwrap();
        assert_eq!(found, expected);
        assert_eq!(prefixed.embed(kind, &["", " \t"]).unwrap(), [None, None]);
    }
    // 22 tokens fit without a prefix; two of them are `query` and `:` now.
    let text = "memory ".repeat(21);
    assert_eq!(plain.windows(InputKind::Query, &text).unwrap(), 1);
    assert_eq!(prefixed.windows(InputKind::Query, &text).unwrap(), 2);
    assert_ne!(plain.model().revision, prefixed.model().revision);
    assert!(
        prefixed
            .model()
            .revision
            .ends_with("query=\"query: \" passage=\"passage: \"")
    );
    check_embedder(&prefixed).unwrap();
}

#[test]
fn the_identity_tells_models_of_one_width_apart() {
    let one = tiny_embedder();
    assert_eq!(one.model().id, "tiny");
    assert_eq!(one.model().dims, 36);
    let other = tiny_copy();
    // One number of the weights differs, as it would after some more training.
    let weights = other.path().join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    let other = CandleOptions::new()
        .id("tiny")
        .from_dir(other.path())
        .unwrap();
    assert_ne!(one.model().revision, other.model().revision);
    assert!(!one.model().same_space(other.model()));
    let cls = CandleOptions::new()
        .pooling(Pooling::Cls)
        .from_dir(tiny())
        .unwrap();
    assert!(!one.model().same_space(cls.model()));
    let declared = CandleOptions::new().space("ours").from_dir(tiny()).unwrap();
    assert_eq!(declared.model().space, "ours");
    assert_eq!(one.clone().model(), tiny_embedder().model());
}

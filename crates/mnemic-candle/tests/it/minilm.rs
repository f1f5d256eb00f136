//! all-MiniLM-L6-v2 itself, found by the variable MNEMIC_MINILM_DIR (see tools/fetch-minilm.sh); skipped without it.

use std::thread;

use mnemic_candle::{Backend, CandleEmbedder, CandleOptions, Instructions};
use mnemic_embed::testing::check_embedder;
use mnemic_embed::{Embedder, EmbeddingModel, InputKind, cosine};

use crate::support::{assert_reference, difference, embed, fixtures, references, rows};

/// The model's folder, or a word on standard error that the test is skipped.
fn folder() -> Option<String> {
    let folder = std::env::var("MNEMIC_MINILM_DIR").ok();
    if folder.is_none() {
        eprintln!(
            "skipped: MNEMIC_MINILM_DIR is not set (tools/fetch-minilm.sh DIR fetches the weights)"
        );
    }
    folder
}

#[test]
fn fifty_texts_agree_with_sentence_transformers() {
    let Some(folder) = folder() else { return };
    let path = fixtures().join("minilm-reference.safetensors");
    let expected = rows(&path, "vectors");
    let windowed = rows(&path, "windowed");
    let references = references();
    assert_eq!(
        (references.len(), expected.len(), windowed.len()),
        (50, 50, 2)
    );
    let mut windowed = windowed.iter();
    for options in [
        CandleOptions::new(),
        CandleOptions::new().at_most(Instructions::Avx2),
    ] {
        let embedder = options.from_dir(&folder).unwrap();
        let texts: Vec<&str> = references.iter().map(|r| r.text.as_str()).collect();
        let mut worst = 0.0f32;
        let mut windowed = windowed.clone();
        for ((reference, found), expected) in references
            .iter()
            .zip(embed(&embedder, &texts))
            .zip(&expected)
        {
            assert_eq!(
                embedder.count_tokens(&reference.text).unwrap(),
                reference.tokens
            );
            let windows = embedder
                .windows(InputKind::Passage, &reference.text)
                .unwrap();
            assert_eq!(windows, reference.windows);
            let expected = match windows {
                // sentence-transformers embeds `[CLS] [SEP]` there; the contract asks for no vector. The encoder
                // itself agrees on that sequence too: see `the_empty_sequence` in src/embedder.rs.
                0 => {
                    assert_eq!(found, None);
                    continue;
                }
                1 => expected,
                // sentence-transformers cuts there; the reference has the documented windows.
                _ => windowed.next().unwrap(),
            };
            worst = worst.max(assert_reference(&reference.text, &found.unwrap(), expected));
        }
        println!(
            "{:?}: largest difference {worst:e}",
            embedder.instructions()
        );
    }
    assert!(windowed.next().is_some());
}

#[test]
fn it_shares_the_space_of_the_bundled_table() {
    let Some(folder) = folder() else { return };
    let embedder = CandleEmbedder::from_dir(folder).unwrap();
    let table = EmbeddingModel::new("all-MiniLM-L6-v2", "mnemic-static", "1", 384);
    assert!(embedder.model().same_space(&table));
    assert_eq!(embedder.model().id, "all-MiniLM-L6-v2");
    assert_eq!(embedder.model().revision, "53aa51172d142c89 mean 256");
    assert_eq!(embedder.max_tokens(), Some(256));
    check_embedder(&embedder).unwrap();
}

#[test]
fn alone_beside_a_long_text_on_eight_threads_and_by_candle() {
    let Some(folder) = folder() else { return };
    let embedder = CandleEmbedder::from_dir(&folder).unwrap();
    let long = "a sentence that goes on about nothing much ".repeat(60);
    let short = "Deploys freeze on Fridays";
    let alone = embed(&embedder, &[short]);
    let beside = embed(&embedder, &[&long, short, &long]);
    assert!(difference(alone[0].as_ref().unwrap(), beside[1].as_ref().unwrap()) <= 1e-6);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (embedder, long) = (embedder.clone(), long.clone());
            thread::spawn(move || embed(&embedder, &[&long, short, &long]))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), beside);
    }
    let candle = CandleOptions::new()
        .backend(Backend::CandleCpu)
        .from_dir(&folder)
        .unwrap();
    for (a, b) in beside.iter().zip(embed(&candle, &[&long, short, &long])) {
        assert!(difference(a.as_ref().unwrap(), &b.unwrap()) <= 1e-5);
    }
}

#[test]
fn the_last_sentence_of_a_long_text_weighs_as_much_as_its_window() {
    let Some(folder) = folder() else { return };
    let embedder = CandleEmbedder::from_dir(folder).unwrap();
    let sentence = "The committee met again and discussed the budget of the next year at length. ";
    let fact = "The spare key of the boat house hangs behind the blue lantern.";
    let question = "where is the key to the boat house?";
    let query = embedder.embed(InputKind::Query, &[question]).unwrap();
    let query = query[0].as_ref().unwrap();
    let gain = |sentences: usize, windows: usize| {
        let filler = sentence.repeat(sentences);
        let whole = format!("{filler}{fact}");
        assert_eq!(
            embedder.windows(InputKind::Passage, &whole).unwrap(),
            windows
        );
        let found = embed(&embedder, &[&whole, filler.as_str()]);
        let [with, without] = [0, 1].map(|i| cosine(query, found[i].as_ref().unwrap()));
        println!("{windows} windows: cosine {with:.3} with the fact, {without:.3} without");
        with - without
    };
    // Cut at the window, the first would be no gain at all: its fact begins at token 271.
    let (short, long) = (gain(18, 2), gain(214, 15));
    // One vector for 3,000 words cannot be about every sentence: the fact weighs one window of fifteen, no less.
    assert!(short > 0.05 && long > 0.005, "{short}, {long}");
}

//! How much memory a large batch takes. A process of its own, as the peak is the process's.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]
#![cfg(target_os = "linux")]

use mnemic_candle::CandleOptions;
use mnemic_embed::{Embedder, InputKind};

/// The most memory that this process ever held, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}

#[test]
fn three_hundred_texts_of_512_tokens_take_less_than_a_gigabyte() {
    let Ok(folder) = std::env::var("MNEMIC_MINILM_DIR") else {
        eprintln!(
            "skipped: MNEMIC_MINILM_DIR is not set (tools/fetch-minilm.sh DIR fetches the weights)"
        );
        return;
    };
    let embedder = CandleOptions::new()
        .max_tokens(512)
        .from_dir(folder)
        .unwrap();
    // One token a word, and the two that frame a text.
    let texts: Vec<String> = (0..300)
        .map(|i| format!("{i} ") + &"word ".repeat(509))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let windows = embedder.windows(InputKind::Passage, texts[0]).unwrap();
    assert_eq!(windows, 1);
    let vectors = embedder.embed(InputKind::Passage, &texts).unwrap();
    assert!(vectors.iter().all(Option::is_some));
    let peak = peak();
    println!("peak: {} MB", peak >> 20);
    assert!(peak < 1 << 30, "{peak}");
}

//! The embedded default model: loading it, embedding a query, a batch, a long text.
//!
//! Limits: a ten-word query in under 50 µs, and never dearer than the `tokenizers` crate's own tokenisation of the same
//! text on one thread, without any embedding. Each line of the summary prints the ratio to its limit.
//!
//! `cargo bench -p mnemic-benches --bench embed [-- --quick]`

use std::fmt::Display;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group};
use mnemic_embed::{Embedder, InputKind};
use mnemic_static::StaticEmbedder;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{DecoderWrapper, PostProcessorWrapper, TokenizerImpl};

type Tokenizer = TokenizerImpl<
    WordPiece,
    BertNormalizer,
    BertPreTokenizer,
    PostProcessorWrapper,
    DecoderWrapper,
>;

const QUERY: &str = "which formatter does the user prefer for the Python code";
const QUERY_LIMIT: Duration = Duration::from_micros(50);
const PASSAGE: &str = "Maria (8 May 2023): I finally moved the billing service to the new cluster, \
     and deploys freeze on Fridays after 15:00 until the audit is over. ";

/// The tokenizer that the model uses.
fn tokenizer() -> Tokenizer {
    let vocabulary = include_bytes!("../crates/mnemic-static/models/vocab.txt");
    let vocabulary = WordPiece::read_bytes(vocabulary).unwrap();
    let words = WordPiece::builder().vocab(vocabulary).build().unwrap();
    let mut tokenizer = TokenizerImpl::new(words);
    tokenizer
        .with_normalizer(Some(BertNormalizer::default()))
        .unwrap()
        .with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer
}

fn passages() -> Vec<String> {
    (0..1000).map(|n| format!("{n}: {PASSAGE}")).collect()
}

fn embed(texts: &[&str]) {
    black_box(
        StaticEmbedder::new()
            .embed(InputKind::Passage, black_box(texts))
            .unwrap(),
    );
}

/// The median of `runs` timings.
fn median(runs: usize, mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[runs / 2]
}

fn line(what: &str, time: Duration, limit: Duration, of: impl Display) {
    let ratio = time.as_secs_f64() / limit.as_secs_f64();
    println!("{what:<28} {time:>10.1?}   {ratio:>5.2} × {of} ({limit:.1?})");
}

fn summary() {
    let load = median(1, || StaticEmbedder::new().preload().unwrap());
    let tokenizer = tokenizer();
    let tokenize = |text: &str| {
        black_box(tokenizer.encode_fast(black_box(text), false).unwrap());
    };
    let vocabulary = median(5, || {
        black_box(self::tokenizer());
    });
    line(
        "load, once a process",
        load,
        vocabulary,
        "reading the vocabulary",
    );

    let query = median(2001, || embed(&[QUERY]));
    line("query of 10 words", query, QUERY_LIMIT, "the limit");
    let floor = median(2001, || tokenize(QUERY));
    line("query of 10 words", query, floor, "tokenizers alone");

    let passages = passages();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let batch = median(21, || embed(&texts));
    let floor = median(21, || texts.iter().for_each(|text| tokenize(text)));
    line(
        "batch of 1,000 × 35 pieces",
        batch,
        floor,
        "tokenizers alone",
    );
    let per_second = texts.len() as f64 / batch.as_secs_f64();
    println!("{:<28} {per_second:>8.0} texts/s", "");

    for (what, bytes, runs) in [
        ("text of 1 MB", 1_000_000, 5),
        ("text of 10 MB", 10_000_000, 3),
    ] {
        let text = PASSAGE.repeat(bytes / PASSAGE.len());
        let whole = median(runs, || embed(&[&text]));
        let floor = median(1, || tokenize(&text));
        line(what, whole, floor, "tokenizers alone");
    }
    println!();
}

fn timings(criterion: &mut Criterion) {
    criterion.bench_function("query of 10 words", |b| b.iter(|| embed(&[QUERY])));
    let tokenizer = tokenizer();
    criterion.bench_function("query of 10 words, tokenizers alone", |b| {
        b.iter(|| tokenizer.encode_fast(black_box(QUERY), false).unwrap())
    });
    let passages = passages();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let mut group = criterion.benchmark_group("batch");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1,000 × 35 pieces", |b| b.iter(|| embed(&texts)));
    group.finish();
}

criterion_group!(benches, timings);

fn main() {
    summary();
    benches();
    Criterion::default().configure_from_args().final_summary();
}

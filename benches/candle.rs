//! mnemic-candle's forward pass beside ONNX Runtime and candle's own `BertModel`: same weights, same texts, same number
//! of threads, in turns within one run, so that a busy machine is unfair to none. `tools/candle-bench/run.sh` sets the
//! peer up; without it only the two in Rust are compared.
//!
//! Limits: batches of 64 × 30 and 64 × 200 tokens at least 1.1 × ONNX Runtime's texts a second, a query of 12 tokens
//! within 1.3 × its latency. Our figures include tokenising and pooling; ONNX Runtime's are given with and without.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use mnemic_candle::{Backend, CandleEmbedder, CandleOptions, Instructions};
use mnemic_embed::{Embedder, InputKind, cosine};

const ROUNDS: usize = 5;

/// The Python process that runs ONNX Runtime.
struct Peer {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    child: Child,
}

/// Seconds of one call.
struct Timing {
    all: f64,
    model: f64,
    first: Vec<f32>,
}

impl Peer {
    fn start() -> Option<Self> {
        let line = std::env::var("MNEMIC_BENCH_PEER").ok()?;
        let mut words = line.split(' ');
        let mut child = Command::new(words.next()?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        Some(Self {
            input: child.stdin.take().expect("its input is a pipe"),
            output: BufReader::new(child.stdout.take().expect("its output is a pipe")),
            child,
        })
    }

    fn time(&mut self, texts: &[&str], repeat: usize) -> Timing {
        let request = serde_json::json!({ "texts": texts, "repeat": repeat });
        writeln!(self.input, "{request}").expect("the peer listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        let answer: serde_json::Value = serde_json::from_str(&line).expect("the peer answers JSON");
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let first = answer["first"].as_array().expect("a vector");
        Timing {
            all: number(&answer["all"]),
            model: number(&answer["model"]),
            first: first.iter().map(|x| number(x) as f32).collect(),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn time(embedder: &CandleEmbedder, texts: &[&str], repeat: usize) -> f64 {
    let begin = Instant::now();
    for _ in 0..repeat {
        embedder
            .embed(InputKind::Passage, texts)
            .expect("it embeds");
    }
    begin.elapsed().as_secs_f64() / repeat as f64
}

/// A text of exactly so many tokens, special ones included.
fn text(tokens: usize, seed: usize) -> String {
    const WORDS: [&str; 8] = [
        "memory", "friday", "query", "window", "model", "table", "branch", "release",
    ];
    let words: Vec<&str> = (0..tokens - 2)
        .map(|i| WORDS[(i * 5 + seed + i / 8) % 8])
        .collect();
    words.join(" ")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let Ok(folder) = std::env::var("MNEMIC_MINILM_DIR") else {
        println!("skipped: MNEMIC_MINILM_DIR is not set (tools/candle-bench/run.sh sets all up)");
        return;
    };
    let load = |options: CandleOptions| options.from_dir(&folder).expect("the model loads");
    let native = load(CandleOptions::new());
    let best = native.instructions().expect("it is the native backend");
    let mut ours = vec![(format!("{best:?}"), native)];
    if best > Instructions::Avx2 {
        ours.push((
            "Avx2".to_owned(),
            load(CandleOptions::new().at_most(Instructions::Avx2)),
        ));
    }
    let candle = load(CandleOptions::new().backend(Backend::CandleCpu));
    let mut peer = Peer::start();
    let threads = std::env::var("RAYON_NUM_THREADS").unwrap_or_else(|_| "all".to_owned());
    println!("{threads} threads, medians of {ROUNDS} rounds in turns; ratios are of the rounds");
    for (name, count, tokens, repeat) in [
        ("one query of 12 tokens", 1, 12, 40),
        ("64 × 30 tokens", 64, 30, 2),
        ("64 × 200 tokens", 64, 200, 1),
    ] {
        let texts: Vec<String> = (0..count).map(|i| text(tokens, i)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(
            ours[0].1.count_tokens(texts[0]).expect("it counts"),
            tokens - 2
        );
        println!("\n{name}");
        let mut own = vec![Vec::new(); ours.len()];
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let seconds: Vec<f64> = ours.iter().map(|(_, e)| time(e, &texts, repeat)).collect();
            let other = peer.as_mut().map(|peer| peer.time(&texts, repeat));
            // The first round warms everything up.
            if round == 0 {
                if let Some(other) = &other {
                    let vector = ours[0]
                        .1
                        .embed(InputKind::Passage, &texts[..1])
                        .expect("it embeds");
                    let vector = vector[0].as_ref().expect("a vector");
                    assert!(
                        cosine(vector, &other.first) > 0.99999,
                        "the peer runs another model"
                    );
                }
                continue;
            }
            for (own, seconds) in own.iter_mut().zip(seconds) {
                own.push(seconds);
            }
            if let Some(other) = other {
                with.push(other.all);
                without.push(other.model);
            }
        }
        let line = |name: &str, seconds: &[f64]| {
            let seconds = median(seconds.to_vec());
            println!(
                "  {name:24} {:9.2} ms  {:8.1} texts/s",
                seconds * 1e3,
                count as f64 / seconds
            );
        };
        for ((name, _), own) in ours.iter().zip(&own) {
            line(&format!("native {name}"), own);
        }
        let slow = time(&candle, &texts, 1);
        line("candle BertModel", &[slow]);
        if with.is_empty() {
            continue;
        }
        line("ONNX Runtime, all", &with);
        line("ONNX Runtime, run alone", &without);
        for ((name, _), own) in ours.iter().zip(&own) {
            let ratio = |other: &[f64]| median(other.iter().zip(own).map(|(o, n)| o / n).collect());
            println!(
                "  native {name} is {:.2} × ONNX Runtime, {:.2} × its run alone",
                ratio(&with),
                ratio(&without)
            );
        }
    }
}

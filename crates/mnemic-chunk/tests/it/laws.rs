//! What holds of any text and any setting.

use mnemic_chunk::{Chunk, ChunkError, Chunking, chunk, chunk_with};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

/// A counter that does not add up: a word is a token for each begun three bytes, the text has one more.
fn tokens(text: &str) -> usize {
    text.split_whitespace()
        .map(|word| word.len().div_ceil(3))
        .sum::<usize>()
        + usize::from(!text.is_empty())
}

/// Every law at once.
fn lawful(text: &str, chunking: &Chunking, chunks: &[Chunk]) {
    let in_characters = chunking.unit() == mnemic_chunk::Unit::Characters;
    let size = |text: &str| {
        if in_characters {
            text.chars().count()
        } else {
            tokens(text)
        }
    };
    let borders: Vec<usize> = text
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let chars: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let mut covered = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let passage = chunk.text(text).expect("a span of the text");
        assert!(!passage.trim().is_empty(), "{i}: {passage:?}");
        assert_eq!(passage.trim_end(), passage, "{i}");
        assert_eq!(chars[chunk.chars.start], chunk.bytes.start, "{i}");
        assert_eq!(chars[chunk.chars.end], chunk.bytes.end, "{i}");
        let one = passage.chars().count() == 1;
        assert!(
            size(passage) <= chunking.max_size() || one,
            "{i}: {passage:?} has {}",
            size(passage)
        );
        // Between grapheme clusters, unless one alone is too large.
        for at in [chunk.bytes.start, chunk.bytes.end] {
            if let Err(next) = borders.binary_search(&at) {
                let cluster = &text[borders[next - 1]..borders[next]];
                let visible = cluster.trim_end();
                assert!(
                    size(cluster) > chunking.max_size() || at == borders[next - 1] + visible.len(),
                    "{i}: {cluster:?} is cut"
                );
            }
        }
        if i > 0 {
            let before = &chunks[i - 1];
            assert!(before.bytes.start < chunk.bytes.start, "{i} begins behind");
            assert!(before.bytes.end < chunk.bytes.end, "{i} ends behind");
            if chunk.bytes.start < before.bytes.end {
                let shared = &text[chunk.bytes.start..before.bytes.end];
                assert!(
                    size(shared.trim()) <= chunking.max_overlap(),
                    "{i}: shares {shared:?}"
                );
            }
        }
        assert!(
            text[covered..chunk.bytes.start.max(covered)]
                .trim()
                .is_empty(),
            "{i}: a gap"
        );
        covered = chunk.bytes.end;
    }
    if text.chars().count() >= chunking.from_characters() {
        assert!(text[covered..].trim().is_empty(), "an end left out");
    } else {
        assert!(chunks.is_empty());
    }
}

fn settings() -> impl Strategy<Value = Chunking> {
    let sizes = (1_usize..60).prop_flat_map(|max| (Just(max), 0..max));
    let mut kinds = vec![
        sizes
            .clone()
            .prop_map(|(max, overlap)| Chunking::characters(max, overlap))
            .boxed(),
        sizes
            .clone()
            .prop_map(|(max, overlap)| Chunking::tokens(max, overlap))
            .boxed(),
        sizes
            .clone()
            .prop_map(|(max, overlap)| Chunking::markdown(max).overlap(overlap))
            .boxed(),
        sizes
            .clone()
            .prop_map(|(max, overlap)| seed(max, overlap))
            .boxed(),
        Just(Chunking::ra_h()).boxed(),
    ];
    if cfg!(feature = "code") {
        let code = sizes.prop_map(|(max, overlap)| {
            Chunking::code(mnemic_chunk::Language::Rust, max)
                .overlap(overlap)
                .in_tokens()
        });
        kinds.push(code.boxed());
    }
    prop::strategy::Union::new(kinds)
}

/// The rule of RA-H with another size.
fn seed(max: usize, overlap: usize) -> Chunking {
    let json = serde_json::to_string(&Chunking::ra_h()).unwrap();
    let json = json.replace("1000", &max.to_string());
    let json = json.replace("\"overlap\":200", &format!("\"overlap\":{overlap}"));
    serde_json::from_str::<Chunking>(&json).unwrap().from(0)
}

/// Texts of what is hard: joiners, marks, flags, line ends, words of many kinds, Markdown.
fn texts() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "\r",
        "\t",
        "\u{a0}",
        "\u{2028}",
        "\u{3000}",
        ". ",
        "! ",
        "? ",
        "。",
        "a",
        "word",
        "Sentence",
        "don't",
        "3.14",
        "naïve",
        "e\u{301}",
        "\u{301}",
        "\u{200d}",
        "\u{200c}",
        "می\u{200c}خواهم",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "🏳\u{fe0f}\u{200d}🌈",
        "🇩🇪",
        "🇩",
        "👍🏽",
        "각",
        "ᄀ",
        "ᅡ",
        "ᆨ",
        "क्षि",
        "夜景",
        "です",
        "ไทย",
        "# ",
        "## ",
        "- ",
        "> ",
        "```\n",
        "| a | b |\n",
        "|---|---|\n",
        "---\n",
        "===\n",
        "    ",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "http://example.org/a/b?c=d",
        "\u{0}",
        "\u{feff}",
    ]);
    prop_oneof![
        prop::collection::vec(parts, 0..80).prop_map(|parts| parts.concat()),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn spans_are_exact_in_order_small_enough_and_leave_nothing_out(
        text in texts(), chunking in settings()
    ) {
        let chunks = chunk_with(&text, &chunking, &tokens).unwrap();
        lawful(&text, &chunking, &chunks);
        prop_assert_eq!(&chunks, &chunk_with(&text, &chunking, &tokens).unwrap());
    }

    #[test]
    fn a_counter_of_nonsense_only_makes_odd_cuts(
        text in texts(), answers in prop::collection::vec(0_usize..50, 1..9), max in 1_usize..40
    ) {
        let nonsense = |text: &str| answers[text.len() % answers.len()];
        let chunks = chunk_with(&text, &Chunking::tokens(max, max / 2), &nonsense).unwrap();
        let mut covered = 0;
        for chunk in &chunks {
            prop_assert!(text[covered..chunk.bytes.start.max(covered)].trim().is_empty());
            prop_assert!(chunk.bytes.end > covered);
            covered = chunk.bytes.end;
        }
        prop_assert!(text[covered..].trim().is_empty());
    }

    #[test]
    fn a_setting_survives_its_json(chunking in settings()) {
        let json = serde_json::to_string(&chunking).unwrap();
        prop_assert_eq!(serde_json::from_str::<Chunking>(&json).unwrap(), chunking);
    }
}

#[test]
fn joiner_sequences_at_every_size() {
    let text =
        "👩\u{200d}👩\u{200d}👧\u{200d}👦 می\u{200c}خواهم e\u{301}\u{301}\u{301} 🇩🇪🇫🇷 👍🏽".repeat(9);
    for max in 1..=40 {
        for overlap in [0, max / 2, max - 1] {
            for chunking in [
                Chunking::characters(max, overlap),
                Chunking::tokens(max, overlap),
                Chunking::markdown(max).overlap(overlap),
                seed(max, overlap),
            ] {
                lawful(
                    &text,
                    &chunking,
                    &chunk_with(&text, &chunking, &tokens).unwrap(),
                );
            }
        }
    }
}

#[test]
fn an_overlap_as_large_as_the_size_is_refused() {
    let lines = "a short line\n".repeat(100);
    for overlap in [50, 60, usize::MAX] {
        assert_eq!(
            chunk(&lines, &Chunking::characters(50, overlap)),
            Err(ChunkError::Overlap { overlap, max: 50 })
        );
        assert_eq!(
            chunk(&lines, &seed(50, overlap)),
            Err(ChunkError::Overlap { overlap, max: 50 })
        );
    }
    assert_eq!(
        chunk(&lines, &Chunking::characters(0, 0)),
        Err(ChunkError::ZeroSize)
    );
    let chunks = chunk(&lines, &Chunking::characters(50, 49)).unwrap();
    lawful(&lines, &Chunking::characters(50, 49), &chunks);
}

#[test]
fn tokens_without_a_counter_are_refused() {
    assert_eq!(
        chunk("text", &Chunking::tokens(8, 0)),
        Err(ChunkError::CounterNeeded)
    );
}

#[test]
fn ten_megabytes_of_anything_are_cut_in_seconds() {
    // Debug builds are slow: there a tenth of it, against what is not linear.
    let mb = if cfg!(debug_assertions) {
        1 << 20
    } else {
        10 << 20
    };
    let texts = [
        ("no space", "a".repeat(mb)),
        ("white space", " \n\t".repeat(mb / 3)),
        ("full stops", ".5".repeat(mb / 2)),
        ("flags", "🇩🇪".repeat(mb / 8)),
        ("marks", format!("a{}", "\u{301}".repeat(mb / 2))),
        ("line ends", "a\r\n\r\n".repeat(mb / 5)),
        ("fences", "```\n".repeat(mb / 4)),
        ("brackets", "[".repeat(mb)),
        (
            "prose",
            "The quick brown fox jumps over the lazy dog, twice. ".repeat(mb / 52),
        ),
        (
            "wrapped",
            "The quick brown fox jumps over\nthe lazy dog, twice.\n\n".repeat(mb / 53),
        ),
    ];
    // Alone it is well under a second in a release build; the rest is for a busy machine.
    let limit = std::time::Duration::from_secs(30);
    for (name, text) in texts {
        for chunking in [
            Chunking::ra_h(),
            Chunking::characters(1_000, 200),
            Chunking::markdown(1_000),
        ] {
            let start = std::time::Instant::now();
            let chunks = chunk(&text, &chunking).unwrap();
            let took = start.elapsed();
            println!(
                "{name:12} {:?}: {} passages in {took:?}",
                chunking.rule(),
                chunks.len()
            );
            assert!(took < limit, "{name}: {took:?}");
        }
    }
}

/// A counter that rounds down finds nothing in a short line, and the passages end all the same: in a time that grows as
/// the text does.
#[test]
fn a_counter_that_rounds_down_takes_no_longer() {
    let measured = std::cell::Cell::new(0_usize);
    let quarters = |text: &str| {
        measured.set(measured.get() + text.len());
        text.chars().count() / 4
    };
    let bytes = |lines: usize| {
        let text = "ab\n".repeat(lines);
        measured.set(0);
        let chunks = chunk_with(&text, &Chunking::tokens(200, 20), &quarters).unwrap();
        lawful_spans(&text, &chunks, &quarters, 200);
        measured.get()
    };
    let (small, large) = (bytes(2_000), bytes(20_000));
    assert!(
        large < 15 * small,
        "{small} bytes were measured, then {large}"
    );
}

fn lawful_spans(text: &str, chunks: &[Chunk], size: &dyn Fn(&str) -> usize, max: usize) {
    assert!(chunks.len() > 1);
    for chunk in chunks {
        assert!(size(chunk.text(text).unwrap()) <= max);
    }
}

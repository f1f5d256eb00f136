//! What the rules make of known texts.

use mnemic_chunk::{Chunking, chunk, chunk_with};

fn read<'t>(text: &'t str, chunking: &Chunking) -> Vec<&'t str> {
    chunk(text, chunking)
        .unwrap()
        .iter()
        .map(|chunk| chunk.text(text).unwrap())
        .collect()
}

#[test]
fn ra_h_leaves_a_short_text_whole_and_cuts_from_two_hundred_characters_on() {
    let text = "é".repeat(199);
    assert_eq!(read(&text, &Chunking::ra_h()), Vec::<&str>::new());
    let text = "é".repeat(200);
    assert_eq!(read(&text, &Chunking::ra_h()), [text.as_str()]);
}

#[test]
fn ra_h_shares_two_hundred_characters_and_says_so_in_its_spans() {
    // Words of nine characters and a space: 100 of them fill a passage but for the last space.
    let words: Vec<String> = (0..300).map(|i| format!("word{i:05}")).collect();
    let text = words.join(" ");
    let chunks = chunk(&text, &Chunking::ra_h()).unwrap();

    let spans: Vec<_> = chunks.iter().map(|chunk| chunk.bytes.clone()).collect();
    assert_eq!(spans, [0..999, 800..1_799, 1_600..2_599, 2_400..2_999]);
    assert_eq!(chunks[1].text(&text).unwrap().get(..9), Some("word00080"));
}

#[test]
fn ra_h_cuts_a_long_word_into_exact_thousands() {
    let text = "x".repeat(2_500);
    let spans: Vec<_> = chunk(&text, &Chunking::ra_h())
        .unwrap()
        .iter()
        .map(|chunk| chunk.bytes.clone())
        .collect();
    assert_eq!(spans, [0..1_000, 800..1_800, 1_600..2_500]);
}

#[test]
fn ra_h_prefers_blank_line_then_line_then_sentence() {
    let (a, b) = ("a".repeat(900), "b".repeat(90));
    let line = format!("{}\n", "l".repeat(599));
    let sentences = format!("{}. ", "s".repeat(298)).repeat(5);
    let text = format!("{a}\n\n{b}\n\n{line}{line}\n{sentences}");

    let read: Vec<_> = read(&text, &Chunking::ra_h())
        .iter()
        .map(|passage| (&passage[..1], passage.len()))
        .collect();
    // Paragraphs that fit together are one; a paragraph that does not fit falls into lines, a line into sentences.
    assert_eq!(
        read,
        [("a", 992), ("l", 599), ("l", 599), ("s", 899), ("s", 599)]
    );
}

#[test]
fn prose_ends_passages_at_the_strongest_border_of_the_second_half() {
    let text = "One is here. Two is here.\n\nThree is here. Four is here. Five is here.";
    // 45 characters reach into the second paragraph, whose border comes late enough.
    assert_eq!(
        read(text, &Chunking::characters(45, 0)),
        [
            "One is here. Two is here.",
            "Three is here. Four is here. Five is here."
        ]
    );
    assert_eq!(
        read(text, &Chunking::characters(30, 14)),
        [
            "One is here. Two is here.",
            "Two is here.\n\nThree is here.",
            "Three is here. Four is here.",
            "Four is here. Five is here."
        ]
    );
}

#[test]
fn wrapped_lines_are_cut_between_sentences_not_between_lines() {
    let text = "The first sentence runs\nover two lines. The second\nis as long as it is, too.";
    assert_eq!(
        read(text, &Chunking::characters(60, 0)),
        [
            "The first sentence runs\nover two lines.",
            "The second\nis as long as it is, too."
        ]
    );
}

#[test]
fn sentences_of_other_scripts_are_sentences() {
    let text = "夜景很美。我们明天再来。你去吗？不去。";
    assert_eq!(
        read(text, &Chunking::characters(12, 0)),
        ["夜景很美。我们明天再来。", "你去吗？不去。"]
    );
}

#[test]
fn windows_line_ends_cut_as_others_do() {
    let text = "One is here.\n\nTwo is here.\nThree is here.";
    let windows = text.replace('\n', "\r\n");
    for chunking in [Chunking::ra_h().from(0), Chunking::characters(14, 0)] {
        assert_eq!(
            read(text, &chunking).join("|").replace('\n', "\r\n"),
            read(&windows, &chunking).join("|"),
        );
    }
    let windows = "a line of thirty characters ..\r\n".repeat(40);
    for passage in read(&windows, &Chunking::ra_h()) {
        assert_eq!(passage.len() % 32, 30, "{passage:?}");
    }
}

#[test]
fn tokens_are_the_callers() {
    let text = "alpha beta. gamma delta. epsilon zeta.";
    let words = |text: &str| text.split_whitespace().count();
    let chunks = chunk_with(text, &Chunking::tokens(4, 2), &words).unwrap();
    let read: Vec<_> = chunks.iter().filter_map(|chunk| chunk.text(text)).collect();
    assert_eq!(
        read,
        ["alpha beta. gamma delta.", "gamma delta. epsilon zeta."]
    );
}

#[cfg(feature = "markdown")]
#[test]
fn markdown_keeps_headings_with_their_sections_and_knows_the_path() {
    let text = "\
Before any heading.

# Pumps `P1`

Two pumps.

## Care

- Oil them in May.
- Run them dry.

```rust
fn main() { run(); }
# not a heading
```

Parts
=====

| a | b |
|---|---|
| 1 | 2 |
";
    let chunks = chunk(text, &Chunking::markdown(60)).unwrap();
    let read: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            (
                chunk.metadata.headings.join(" > "),
                chunk.text(text).unwrap(),
            )
        })
        .collect();
    let of = |path: &str, text: &'static str| (path.to_owned(), text);
    assert_eq!(
        read,
        [
            of("", "Before any heading."),
            of("Pumps P1", "# Pumps `P1`\n\nTwo pumps."),
            of(
                "Pumps P1 > Care",
                "## Care\n\n- Oil them in May.\n- Run them dry."
            ),
            of(
                "Pumps P1 > Care",
                "```rust\nfn main() { run(); }\n# not a heading\n```"
            ),
            of("Parts", "Parts\n=====\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        ]
    );
}

#[cfg(feature = "markdown")]
#[test]
fn a_heading_is_not_left_behind_alone() {
    let text = format!("# One\n\nshort.\n\n## Two\n\n{}", "word ".repeat(40));
    let chunks = chunk(&text, &Chunking::markdown(50)).unwrap();
    for chunk in &chunks {
        let passage = chunk.text(&text).unwrap();
        assert!(!passage.ends_with("Two"), "{passage:?}");
    }
    let two = &chunks[1];
    assert!(two.text(&text).unwrap().starts_with("## Two\n\nword word"));
    assert_eq!(two.metadata.headings, ["One", "Two"]);
}

#[cfg(feature = "markdown")]
#[test]
fn metadata_is_json_of_what_is_known() {
    let text = "# A\n\ntext";
    let chunks = chunk(text, &Chunking::markdown(50)).unwrap();
    let json = serde_json::to_string(&chunks[0].metadata).unwrap();
    assert_eq!(json, r#"{"headings":["A"]}"#);
    let chunks = chunk(text, &Chunking::characters(50, 0)).unwrap();
    assert_eq!(serde_json::to_string(&chunks[0].metadata).unwrap(), "{}");
    assert!(chunks[0].metadata.is_empty());
}

#[cfg(feature = "code")]
#[test]
fn code_is_cut_between_items_and_keeps_a_comment_with_its_item() {
    use mnemic_chunk::Language;

    let rust = "\
use std::fmt;

/// Doubles.
#[inline]
fn double(x: u32) -> u32 {
    x * 2
}

/// Halves. Twice makes a quarter.
fn halve(x: u32) -> u32 {
    let half = x / 2;

    half
}
";
    assert_eq!(
        read(rust, &Chunking::code(Language::Rust, 105)),
        [
            "use std::fmt;\n\n/// Doubles.\n#[inline]\nfn double(x: u32) -> u32 {\n    x * 2\n}",
            "/// Halves. Twice makes a quarter.\nfn halve(x: u32) -> u32 {\n    let half = x / 2;\n\n    half\n}",
        ]
    );
    let python = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n\nclass B:\n    x = 3\n";
    assert_eq!(
        read(python, &Chunking::code(Language::Python, 80)),
        [
            "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2",
            "class B:\n    x = 3"
        ]
    );
    let script = "function f() {\n  return 1;\n}\n\nfunction g() {\n  return 2;\n}\n";
    assert_eq!(
        read(script, &Chunking::code(Language::JavaScript, 40)),
        [
            "function f() {\n  return 1;\n}",
            "function g() {\n  return 2;\n}"
        ]
    );
}

#[cfg(not(feature = "code"))]
#[test]
fn code_without_its_feature_is_an_error_that_names_it() {
    use mnemic_chunk::{ChunkError, Language};

    assert_eq!(
        chunk("fn f() {}", &Chunking::code(Language::Rust, 80)),
        Err(ChunkError::FeatureNeeded {
            rule: "code",
            feature: "code"
        })
    );
}

//! Whatever is done to documents, one version of each is there, whole.

use mnemic::*;
use proptest::prelude::*;

use crate::support::memory;

#[derive(Debug, Clone)]
enum Step {
    Store(String, usize, Option<u8>),
    Replace(usize, String),
    Cut(usize, usize),
    Title(usize),
    Delete(usize),
    Memory,
}

fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "word ",
        "two words. ",
        "\r\n",
        "\n\n",
        "東京",
        "👩‍👩‍👧‍👦",
        "e\u{301}",
        "\u{200c}",
        "  ",
        "tail.",
        "é",
        "-",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (source(), 1..30usize, prop::option::of(0..3u8)).prop_map(|(source, size, origin)| Step::Store(source, size, origin)),
        3 => (0..6usize, source()).prop_map(|(at, source)| Step::Replace(at, source)),
        1 => (0..6usize, 1..30usize).prop_map(|(at, size)| Step::Cut(at, size)),
        1 => (0..6usize).prop_map(Step::Title),
        1 => (0..6usize).prop_map(Step::Delete),
        1 => Just(Step::Memory),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Any sequence of document verbs leaves chunks, words and vectors 1:1, and spans that are what the source has there.
    #[test]
    fn any_sequence_of_verbs_leaves_one_version(steps in prop::collection::vec(step(), 1..14)) {
        let memory = memory();
        // Of each document: its source, and how it is cut.
        let mut known: Vec<(String, String, usize, Option<u8>)> = Vec::new();
        for step in steps {
            match step {
                Step::Store(source, size, origin) => {
                    let size = size.max(1);
                    let mut document = NewDocument::new("a title").source(&source).chunking(Chunking::characters(size, size / 3));
                    if let Some(origin) = origin {
                        document = document.origin(origin.to_string());
                    }
                    let stored = memory.store_document(document).unwrap();
                    let place = known.iter().position(|(id, ..)| *id == stored.id);
                    prop_assert_eq!(stored.created, place.is_none());
                    let now = (stored.id, source, size, origin);
                    match place {
                        Some(place) => known[place] = now,
                        None => known.push(now),
                    }
                }
                Step::Replace(at, source) if at < known.len() => {
                    let report = memory.replace_source(&known[at].0, &source).unwrap();
                    prop_assert_eq!(report.missing, 0);
                    known[at].1 = source;
                }
                Step::Cut(at, size) if at < known.len() => {
                    let change = DocumentUpdate::new().chunking(Chunking::characters(size, size / 3));
                    memory.update_document(&known[at].0, change).unwrap();
                    known[at].2 = size;
                }
                Step::Title(at) if at < known.len() => {
                    let report = memory.update_document(&known[at].0, DocumentUpdate::new().title("another")).unwrap();
                    prop_assert_eq!(report.reused, report.chunks);
                }
                Step::Delete(at) if at < known.len() => {
                    let (id, ..) = known.remove(at);
                    prop_assert!(memory.delete(&id).unwrap());
                }
                Step::Memory => drop(memory.store("a plain memory").unwrap()),
                _ => {}
            }
            let report = memory.check().unwrap();
            prop_assert!(report.is_ok(), "{:?}", report);
            prop_assert_eq!(report.documents.documents, known.len() as u64);
            for (id, source, size, _) in &known {
                let chunks = mnemic_chunk::chunk(source, &Chunking::characters(*size, size / 3)).unwrap();
                let wanted: Vec<&str> = chunks.iter().map(|chunk| chunk.text(source).unwrap()).collect();
                let found = memory.passages_of(id).unwrap();
                let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
                prop_assert_eq!(texts, wanted);
                for passage in &found {
                    prop_assert_eq!(source.get(passage.bytes.clone()), Some(passage.text.as_str()));
                }
            }
        }
    }
}

//! Documents in the file: chunks, their words and their vectors 1:1, of exactly one version, whatever is done.

use std::collections::HashMap;

use mnemic_schema::{
    Begun, ChunkVector, ChunkVectors, ChunksWritten, DocumentParts, Embedded, Filter, Indexed,
    NewChunk, NewRow, RecordedModel, RowChange, SchemaError, Scope, Space, Store, Switch,
    Tokenizer, card, query_words,
};
use proptest::prelude::*;

use crate::{axis, model, row, store, time};

/// A piece of so many characters each, `overlap` of them shared with the one before.
fn cut(source: &str, size: usize, overlap: usize) -> Vec<NewChunk> {
    let mut places: Vec<usize> = source.char_indices().map(|(byte, _)| byte).collect();
    places.push(source.len());
    let count = places.len() - 1;
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < count {
        let end = (start + size).min(count);
        chunks.push(NewChunk {
            bytes: places[start]..places[end],
            chars: start..end,
            metadata: None,
        });
        if end == count {
            break;
        }
        start = end - overlap;
    }
    chunks
}

/// A direction made of a text.
fn vector(text: &str) -> Vec<f32> {
    let sum: u32 = text.bytes().map(u32::from).sum();
    axis(sum as usize % 4, (sum % 97) as f32 / 97.0)
}

fn parts(title: &str) -> DocumentParts {
    DocumentParts {
        title: title.into(),
        chunking: "{}".into(),
        preview: 20,
        ..DocumentParts::default()
    }
}

fn embedded_texts(source: &str, chunks: &[NewChunk]) -> HashMap<String, ChunkVector> {
    let texts = chunks
        .iter()
        .map(|chunk| source.get(chunk.bytes.clone()).unwrap());
    let made = |text: &str| match text.trim() {
        "" => ChunkVector::Nothing,
        _ => ChunkVector::Vector(vector(text)),
    };
    texts.map(|text| (text.to_owned(), made(text))).collect()
}

fn insert(store: &mut Store, title: &str, source: &str, size: usize) -> (String, ChunksWritten) {
    let chunks = cut(source, size, 1);
    let (model, by_text) = (model(4), embedded_texts(source, &chunks));
    let of_card = vector(&card(title, None, source, 20));
    store
        .write(|w| {
            w.insert_document(
                &row(""),
                &parts(title),
                source,
                &chunks,
                Some(Embedded {
                    model: &model,
                    vector: &of_card,
                }),
                Some(ChunkVectors {
                    model: &model,
                    by_text: &by_text,
                }),
            )
        })
        .unwrap()
}

/// The next version; only what the file asks for is embedded.
fn rewrite(
    store: &mut Store,
    id: &str,
    title: &str,
    source: &str,
    size: usize,
) -> Result<ChunksWritten, SchemaError> {
    let chunks = cut(source, size, 1);
    let model = model(4);
    let texts: Vec<&str> = chunks
        .iter()
        .map(|chunk| source.get(chunk.bytes.clone()).unwrap())
        .collect();
    let wanted = store.read(|s| s.texts_to_embed(id, &texts))?;
    let mut by_text = embedded_texts(source, &chunks);
    by_text.retain(|text, _| wanted.contains(text));
    let of_card = vector(&card(title, None, source, 20));
    store.write(|w| {
        w.write_document(
            id,
            &parts(title),
            source,
            &chunks,
            Some(Embedded {
                model: &model,
                vector: &of_card,
            }),
            Some(ChunkVectors {
                model: &model,
                by_text: &by_text,
            }),
            time("2026-01-02"),
        )
    })
}

fn texts(store: &mut Store, id: &str) -> Vec<String> {
    let chunks = store.read(|s| {
        let seq = s.key_of(id)?.unwrap();
        s.chunks_of(seq, 0..u64::MAX)
    });
    chunks
        .unwrap()
        .into_iter()
        .map(|chunk| chunk.text)
        .collect()
}

/// Which chunks hold a word, by the word index.
fn holding(store: &mut Store, word: &str, filter: &Filter) -> Vec<i64> {
    let tokens = Tokenizer::new().unwrap().tokens(&query_words(word));
    let mut found = Vec::new();
    for token in tokens.unwrap() {
        let read = store.read(|s| {
            found.clear();
            s.occurrences_in(Indexed::Passages, &token, filter, |chunk, _| {
                found.push(chunk)
            })
        });
        read.unwrap();
    }
    found
}

#[test]
fn a_document_is_a_memory_with_chunks() {
    let mut store = store();
    let source = "alpha beta\r\ngamma 東京 delta";
    let (id, written) = insert(&mut store, "Letters", source, 8);
    assert_eq!(
        written,
        ChunksWritten {
            chunks: 4,
            embedded: 4,
            ..written
        }
    );
    let found = store.read(|s| s.document(&id)).unwrap().unwrap();
    assert_eq!(found.memory.content, "Letters\nalpha beta\r\ngamma 東京");
    assert_eq!((found.chunked, found.chunks), (true, 4));
    assert_eq!(
        store.read(|s| s.source(&id)).unwrap().as_deref(),
        Some(source)
    );
    let chunks = store.read(|s| s.chunks_of(found.memory.seq, 1..3)).unwrap();
    assert_eq!(chunks[0].text, "eta\r\ngam");
    for chunk in &chunks {
        assert_eq!(source.get(chunk.bytes.clone()), Some(chunk.text.as_str()));
        let chars: String = source
            .chars()
            .skip(chunk.chars.start)
            .take(chunk.chars.len())
            .collect();
        assert_eq!(chars, chunk.text);
    }
    let report = store.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    let documents = &report.documents;
    assert_eq!(
        (documents.documents, documents.chunks, documents.vectors),
        (1, 4, 4)
    );
    assert_eq!(
        holding(&mut store, "東京", &Filter::default()),
        [chunks[1].chunk]
    );
    // A memory that is none.
    let plain = crate::put(&mut store, &row("plain"), Some(&axis(0, 0.0))).unwrap();
    assert_eq!(store.read(|s| s.document(&plain)).unwrap(), None);
    assert!(matches!(
        rewrite(&mut store, &plain, "T", "x", 3),
        Err(SchemaError::NotADocument { .. })
    ));
    assert!(matches!(
        rewrite(&mut store, "absent", "T", "x", 3),
        Err(SchemaError::NotFound { .. })
    ));
}

#[test]
fn the_next_version_keeps_what_stays_with_its_vector() {
    let mut store = store();
    let (id, _) = insert(&mut store, "T", "aaaabbbbccccdddd", 4);
    let before = texts(&mut store, &id);
    assert_eq!(before, ["aaaa", "abbb", "bbcc", "cccd", "dddd"]);
    // One character more at the end is a chunk more.
    let written = rewrite(&mut store, &id, "T", "aaaabbbbccccddddX", 4).unwrap();
    assert_eq!(written.kept, written.chunks - 1);
    assert_eq!(
        (written.embedded, written.missing, written.removed),
        (1, 0, 0)
    );
    // The same again: nothing is embedded, nothing is removed.
    let same = rewrite(&mut store, &id, "T", "aaaabbbbccccddddX", 4).unwrap();
    assert_eq!(
        (same.kept, same.embedded, same.removed),
        (same.chunks, 0, 0)
    );
    // Parts that changed places keep their vectors too.
    let state = |store: &mut Store| {
        store
            .read(|s| {
                let seq = s.key_of(&id)?.unwrap();
                let mut pairs = Vec::new();
                for chunk in s.chunks_of(seq, 0..u64::MAX)? {
                    pairs.push((chunk.text, s.vector_in(Indexed::Passages, chunk.chunk)?));
                }
                Ok::<_, SchemaError>(pairs)
            })
            .unwrap()
    };
    rewrite(&mut store, &id, "T", "Yaaaabbbbcccc", 4).unwrap();
    for (text, found) in state(&mut store) {
        assert_eq!(found, Some(vector(&text)), "{text}");
    }
    assert!(store.check().unwrap().is_ok());
    // Eight chunks, then two (A17).
    rewrite(&mut store, &id, "T", &before.concat(), 3).unwrap();
    let few = rewrite(&mut store, &id, "T", "short", 3).unwrap();
    assert_eq!(few.chunks, 2);
    let report = store.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!((report.documents.chunks, report.documents.vectors), (2, 2));
    assert!(holding(&mut store, "aaaa", &Filter::default()).is_empty());
}

/// A7: whatever deletes the memory deletes chunks, words and vectors; the same text stored again is whole.
#[test]
fn deleting_leaves_nothing() {
    let mut store = store();
    let (id, _) = insert(&mut store, "T", "one two three four", 6);
    let keys = store.read(|s| s.keys_in(Indexed::Passages, &id)).unwrap();
    assert!(store.write(|w| w.delete(&id)).unwrap());
    let report = store.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(
        (
            report.documents.documents,
            report.documents.chunks,
            report.documents.vectors
        ),
        (0, 0, 0)
    );
    assert!(store.read(|s| s.chunks(&keys)).unwrap().is_empty());
    let again = NewRow {
        id: Some(id.clone()),
        ..row("")
    };
    let chunks = cut("one two three four", 6, 1);
    let written = store
        .write(|w| {
            w.insert_document(
                &again,
                &parts("T"),
                "one two three four",
                &chunks,
                None,
                None,
            )
        })
        .unwrap()
        .1;
    assert_eq!((written.kept, written.missing), (0, written.chunks));
    let new = store.read(|s| s.keys_in(Indexed::Passages, &id)).unwrap();
    assert!(new[0] > keys[keys.len() - 1], "no key is used twice");
    assert_eq!(
        store
            .read(|s| s.vector_in(Indexed::Passages, new[0]))
            .unwrap(),
        None
    );
}

#[test]
fn filters_are_of_the_memory_and_come_before_the_cut() {
    let mut store = store();
    for (i, project) in [None, Some("web"), Some("app")].into_iter().enumerate() {
        let chunks = cut("same words here", 20, 0);
        let (model, vector) = (model(4), axis(0, i as f32 / 10.0));
        let by_text = HashMap::from([(
            "same words here".to_owned(),
            ChunkVector::Vector(vector.clone()),
        )]);
        let new = NewRow {
            project: project.map(str::to_owned),
            tags: vec![format!("tag{i}")],
            ..row("")
        };
        store
            .write(|w| {
                w.insert_document(
                    &new,
                    &parts("T"),
                    "same words here",
                    &chunks,
                    Some(Embedded {
                        model: &model,
                        vector: &vector,
                    }),
                    Some(ChunkVectors {
                        model: &model,
                        by_text: &by_text,
                    }),
                )
            })
            .unwrap();
    }
    let app = Filter::from(Scope::Project("app".into()));
    let nearest = store
        .read(|s| s.nearest_in(Indexed::Passages, &axis(0, 0.0), 1, &app))
        .unwrap();
    assert_eq!(nearest.len(), 1);
    assert_eq!(holding(&mut store, "words", &app), [nearest[0].0]);
    let scope = store
        .read(|s| s.scope_lengths_in(Indexed::Passages, &app.scope))
        .unwrap();
    assert_eq!(scope, (1, 3));
    let all = store
        .read(|s| {
            s.nearest_in(
                Indexed::Passages,
                &axis(0, 0.0),
                usize::MAX,
                &Filter::default(),
            )
        })
        .unwrap();
    assert_eq!(all.len(), 3);
    assert_ne!(all[0].0, nearest[0].0, "it is not the nearest of all");
    let mut tagged = Vec::new();
    store
        .read(|s| {
            tagged.clear();
            s.tagged_in(Indexed::Passages, "TAG2", |chunk| tagged.push(chunk))
        })
        .unwrap();
    assert_eq!(tagged, [nearest[0].0]);
}

/// What an index in memory holds of a passage is told whenever it changes.
#[test]
fn an_index_of_passages_can_follow() {
    let mut store = store();
    let state = |store: &mut Store| store.read(|s| s.index_state_in(Indexed::Passages)).unwrap();
    assert_eq!(state(&mut store).last_seq, 0);
    let (id, _) = insert(&mut store, "T", "one two three four", 6);
    let before = state(&mut store);
    let keys = store.read(|s| s.keys_in(Indexed::Passages, &id)).unwrap();
    assert_eq!(before.last_seq, keys[keys.len() - 1]);
    let moved = RowChange {
        project: Some(Some("web".into())),
        ..RowChange::default()
    };
    store
        .write(|w| w.update(&id, &moved, time("2026-01-02"), None))
        .unwrap();
    let changed = |store: &mut Store, since| {
        store
            .read(|s| s.changed_since_in(Indexed::Passages, since))
            .unwrap()
            .unwrap()
    };
    assert_eq!(changed(&mut store, before.log), keys);
    let row = store
        .read(|s| s.index_row(Indexed::Passages, keys[0]))
        .unwrap()
        .unwrap();
    assert_eq!((row.project.as_deref(), row.length), (Some("web"), 2));
    let before = state(&mut store);
    store.write(|w| w.delete(&id)).unwrap();
    assert_eq!(changed(&mut store, before.log), keys);
}

#[test]
fn a_card_is_changed_with_its_document_alone() {
    let mut store = store();
    let (id, _) = insert(&mut store, "T", "the source", 6);
    let change = RowChange {
        content: Some("another text".into()),
        ..RowChange::default()
    };
    let error = store
        .write(|w| w.update(&id, &change, time("2026-01-02"), None))
        .unwrap_err();
    assert!(matches!(error, SchemaError::IsDocument { .. }), "{error:?}");
    assert!(store.check().unwrap().is_ok());
}

#[test]
fn chunks_that_are_not_of_the_source_are_refused() {
    let mut store = store();
    let chunk = |bytes, chars| NewChunk {
        bytes,
        chars,
        metadata: None,
    };
    let bad = [
        vec![chunk(0..99, 0..99)],
        vec![chunk(0..1, 0..1)],
        vec![chunk(0..2, 0..2)],
        vec![chunk(2..2, 1..1)],
        vec![chunk(2..3, 1..2), chunk(0..2, 0..1)],
    ];
    for chunks in bad {
        let error = store
            .write(|w| w.insert_document(&row(""), &parts("T"), "éab", &chunks, None, None))
            .unwrap_err();
        assert!(
            matches!(error, SchemaError::BadChunks { .. }),
            "{chunks:?}: {error:?}"
        );
    }
    assert_eq!(store.read(|s| s.memory_count()).unwrap(), 0);
}

/// What has no vector is told, by a join: not embedded, nothing to embed, a source that was changed by another hand.
#[test]
fn coverage_tells_what_is_missing() {
    let mut store = store();
    insert(&mut store, "whole", "abcd      xyz", 4);
    let chunks = cut("abcdef", 3, 0);
    let (id, _) = store
        .write(|w| w.insert_document(&row(""), &parts("lacking"), "abcdef", &chunks, None, None))
        .unwrap();
    let coverage = store.read(|s| s.coverage()).unwrap();
    assert_eq!((coverage.documents, coverage.stale), (2, 0));
    assert_eq!(coverage.chunks_missing, 2);
    assert_eq!(coverage.chunks_empty, 1);
    assert_eq!(
        coverage.chunks,
        coverage.chunks_embedded + coverage.chunks_empty + coverage.chunks_missing
    );
    assert_eq!((coverage.memories, coverage.missing), (2, 1));
    let missing = store
        .read(|s| s.unembedded_in(Indexed::Passages, Space::Live))
        .unwrap();
    assert_eq!(
        store
            .read(|s| s.ids_of_in(Indexed::Passages, &missing))
            .unwrap(),
        [id.clone(), id.clone()]
    );
    assert_eq!(store.check().unwrap().documents.missing_vectors, missing);
    // They are found by their words meanwhile.
    assert_eq!(holding(&mut store, "abc", &Filter::default()), [missing[0]]);
    // Another text is not given that vector.
    let model = model(4);
    let mut add = |key, text: &str, vector: Option<&[f32]>| {
        store
            .write(|w| w.add_missing_vector_in(Indexed::Passages, key, text, &model, vector))
            .unwrap()
    };
    assert!(!add(missing[0], "other", Some(&axis(0, 0.0))));
    assert!(add(missing[0], "abc", Some(&axis(0, 0.0))));
    assert!(!add(missing[0], "abc", Some(&axis(1, 0.0))));
    assert!(add(missing[1], "def", None));
    let coverage = store.read(|s| s.coverage()).unwrap();
    assert_eq!((coverage.chunks_missing, coverage.chunks_empty), (0, 2));
}

#[test]
fn a_switch_of_the_model_takes_the_passages_along() {
    let mut store = store();
    insert(&mut store, "T", "aaabbbccc", 3);
    let coming = RecordedModel {
        space: "coming".into(),
        ..model(2)
    };
    assert_eq!(
        store.write(|w| w.begin_staging(&coming)).unwrap(),
        Begun::Staging
    );
    let todo = |store: &mut Store, indexed| {
        let keys = store
            .read(|s| s.unembedded_in(indexed, Space::Staging))
            .unwrap();
        store
            .read(|s| s.texts_in(indexed, &keys, usize::MAX))
            .unwrap()
            .1
    };
    let memories = todo(&mut store, Indexed::Memories);
    let passages = todo(&mut store, Indexed::Passages);
    let switch = |store: &mut Store| store.write(|w| w.switch_to_staged(&coming, 0)).unwrap();
    assert_eq!(
        switch(&mut store),
        Switch::Missing((memories.len() + passages.len()) as u64)
    );
    for (indexed, rows) in [
        (Indexed::Memories, memories),
        (Indexed::Passages, passages.clone()),
    ] {
        for (key, text) in rows {
            // The first passage has nothing to embed for this model.
            let vector = (indexed == Indexed::Memories || key != passages[0].0)
                .then_some(&[0.5f32, 1.0][..]);
            assert!(
                store
                    .write(|w| w.stage_in(indexed, key, &text, &coming, vector))
                    .unwrap()
            );
        }
    }
    assert_eq!(switch(&mut store), Switch::Done(0));
    let coverage = store.read(|s| s.coverage()).unwrap();
    assert_eq!(
        (
            coverage.chunks_embedded,
            coverage.chunks_empty,
            coverage.chunks_missing
        ),
        (passages.len() as u64 - 1, 1, 0)
    );
    let report = store.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    let found = store
        .read(|s| s.nearest_in(Indexed::Passages, &[0.5, 1.0], 9, &Filter::default()))
        .unwrap();
    assert_eq!(found.len(), passages.len() - 1);
}

#[derive(Debug, Clone)]
enum Step {
    Insert(String, usize),
    Rewrite(usize, String, usize),
    Delete(usize),
    Move(usize, Option<String>),
    Repair,
}

fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "word ",
        "two words",
        "\r\n",
        "\n\n",
        "東京",
        "👩‍👩‍👧‍👦",
        "e\u{301}",
        "\u{200c}",
        "  ",
        "tail.",
        "é",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (source(), 2..9usize).prop_map(|(source, size)| Step::Insert(source, size)),
        4 => (0..8usize, source(), 2..9usize).prop_map(|(at, source, size)| Step::Rewrite(at, source, size)),
        1 => (0..8usize).prop_map(Step::Delete),
        1 => (0..8usize, prop::option::of("[ab]")).prop_map(|(at, project)| Step::Move(at, project)),
        1 => Just(Step::Repair),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Any sequence of operations leaves chunks, words and vectors 1:1, and each chunk exactly what its source has at
    /// its span; and of each document the chunks that one cutting of its present source makes.
    #[test]
    fn any_sequence_leaves_one_to_one(steps in prop::collection::vec(step(), 1..16)) {
        let mut store = store();
        let mut model: Vec<(String, String, usize)> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(source, size) => {
                    let (id, _) = insert(&mut store, "T", &source, size);
                    model.push((id, source, size));
                }
                Step::Rewrite(at, source, size) if at < model.len() => {
                    let id = model[at].0.clone();
                    let written = rewrite(&mut store, &id, "T2", &source, size).unwrap();
                    prop_assert_eq!(written.missing, 0);
                    model[at] = (id, source, size);
                }
                Step::Delete(at) if at < model.len() => {
                    let (id, ..) = model.remove(at);
                    prop_assert!(store.write(|w| w.delete(&id)).unwrap());
                }
                Step::Move(at, project) if at < model.len() => {
                    let change = RowChange { project: Some(project), ..RowChange::default() };
                    store.write(|w| w.update(&model[at].0, &change, time("2026-01-03"), None)).unwrap();
                }
                Step::Repair => prop_assert!(!store.repair(time("2026-01-03")).unwrap().word_index_rebuilt),
                _ => {}
            }
            let report = store.check().unwrap();
            prop_assert!(report.is_ok(), "{:?}", report);
            let mut expected = 0;
            for (id, source, size) in &model {
                let chunks = cut(source, *size, 1);
                let wanted: Vec<&str> = chunks.iter().map(|chunk| source.get(chunk.bytes.clone()).unwrap()).collect();
                prop_assert_eq!(texts(&mut store, id), wanted);
                expected += chunks.len() as u64;
            }
            let coverage = store.read(|s| s.coverage()).unwrap();
            prop_assert_eq!(coverage.chunks, expected);
            prop_assert_eq!(coverage.chunks_embedded + coverage.chunks_empty, expected);
            prop_assert_eq!((coverage.chunks_missing, coverage.chunks_orphaned, coverage.stale), (0, 0, 0));
        }
    }
}

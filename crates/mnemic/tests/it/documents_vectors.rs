//! Documents and the model: one that fails, is down, is not there yet, or is left for another one.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mnemic::*;

use crate::documents::{paragraphs, small, whole};
use crate::support::{Faulty, WordHash, builder};

/// A15: the embedder fails on passage 3 of 5: nothing is stored, or what is missing is told, found by its words, and
/// completed.
#[test]
fn a_failing_embedder_stores_nothing_or_says_what_is_missing() {
    let faulty = Arc::new(Faulty::new());
    let memory = Memory::builder()
        .embedder(faulty.clone())
        .open_in_memory()
        .unwrap();
    faulty.fault(Some(|_| Err(EmbedError::run("no"))));
    let source = paragraphs(&[
        "first paragraph here",
        "second paragraph it is",
        "the cursed paragraph",
        "fourth of them all",
        "fifth and the last",
    ]);
    let document = NewDocument::new("T")
        .source(source)
        .chunking(small())
        .preview(20);
    let error = memory.store_document(document.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Embedding);
    assert_eq!(memory.health().unwrap().memories, 0);
    let stored = memory
        .store_document(document.allow_missing_vectors())
        .unwrap();
    assert_eq!((stored.chunks, stored.embedded, stored.missing), (5, 4, 1));
    let coverage = memory.coverage().unwrap();
    assert_eq!(
        (
            coverage.chunks,
            coverage.chunks_embedded,
            coverage.chunks_missing
        ),
        (5, 4, 1)
    );
    assert_eq!(
        (coverage.memories, coverage.missing, coverage.stale),
        (1, 0, 0)
    );
    let report = memory.check().unwrap();
    assert_eq!(
        (report.is_ok(), report.documents.missing_vectors.len()),
        (false, 1)
    );
    let by_words = memory
        .recall(Recall::new("cursed").preset(mnemic::Preset::default().weights(1.0, 0.0)))
        .unwrap();
    assert_eq!(by_words.len(), 1);
    // It fails still, then it does not.
    assert_eq!(
        memory
            .backfill(|_| ControlFlow::Continue(()))
            .unwrap_err()
            .kind(),
        ErrorKind::Embedding
    );
    faulty.fault(None);
    let mut seen = Vec::new();
    let filled = memory
        .backfill(|progress| {
            seen.push((progress.done, progress.total));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((filled.finished, filled.embedded), (true, 1));
    assert!(seen.contains(&(5, 6)) && seen.contains(&(6, 6)), "{seen:?}");
    whole(&memory);
}

/// An embedder that is down altogether is not asked for every passage of a book.
#[test]
fn an_embedder_that_is_down_is_soon_left_alone() {
    #[derive(Debug, Default)]
    struct Down(WordHash, AtomicUsize);
    impl Embedder for Down {
        fn model(&self) -> &EmbeddingModel {
            self.0.model()
        }
        fn embed(&self, _: InputKind, _: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Err(EmbedError::run("down"))
        }
    }
    let down = Arc::new(Down::default());
    let memory = Memory::builder()
        .embedder(down.clone())
        .open_in_memory()
        .unwrap();
    let source: Vec<String> = (0..1000)
        .map(|i| format!("Paragraph number {i} tells."))
        .collect();
    let document = NewDocument::new("T")
        .source(source.join("\n\n"))
        .chunking(small());
    let stored = memory
        .store_document(document.allow_missing_vectors())
        .unwrap();
    assert_eq!((stored.missing, stored.embedded), (stored.chunks, 0));
    assert!(down.1.load(Ordering::Relaxed) < 10);
    let coverage = memory.coverage().unwrap();
    assert_eq!(
        (coverage.missing, coverage.chunks_missing),
        (1, stored.chunks)
    );
}

#[test]
fn without_a_model_words_are_searched_and_vectors_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let source = paragraphs(&["first paragraph here", "* * *", "the last of the three"]);
    let chunking = Chunking::characters(21, 0);
    {
        let memory = Memory::builder().no_embedder().open(&path).unwrap();
        let stored = memory
            .store_document(NewDocument::new("T").source(&source).chunking(chunking))
            .unwrap();
        assert_eq!((stored.chunks, stored.missing), (3, 3));
        assert!(memory.check().unwrap().is_ok());
    }
    let memory = builder().open(&path).unwrap();
    let report = memory.repair().unwrap();
    assert!(report.remaining.is_ok(), "{report:?}");
    assert_eq!(report.vectors_added, 4);
    whole(&memory);
    // Without a model nothing joins a file of vectors, unless it says so.
    drop(memory);
    let memory = Memory::builder().no_embedder().open(&path).unwrap();
    let error = memory.store_document(NewDocument::new("U")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    memory
        .store_document(NewDocument::new("U").allow_missing_vectors())
        .unwrap();
    assert_eq!(memory.coverage().unwrap().missing, 1);
}

#[test]
fn reembedding_takes_the_passages_along_and_goes_on_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let source: Vec<String> = (0..600)
        .map(|i| format!("Paragraph number {i} tells."))
        .collect();
    let id = memory
        .store_document(
            NewDocument::new("T")
                .source(source.join("\n\n"))
                .chunking(Chunking::characters(28, 0)),
        )
        .unwrap()
        .id;
    memory.store("a plain memory").unwrap();
    let other = || WordHash::named("other", "2", 16);
    let mut calls = 0;
    let stopped = memory
        .reembed(other(), |_| {
            calls += 1;
            if calls > 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert!(!stopped.finished);
    assert_eq!(
        (stopped.coverage.staged, stopped.coverage.chunks_staged),
        (2, 256)
    );
    // A version written meanwhile, with the old model, is embedded by the new one too.
    memory
        .replace_source(&id, source[1..].join("\n\n"))
        .unwrap();
    let done = memory
        .reembed(other(), |_| ControlFlow::Continue(()))
        .unwrap();
    assert!(done.finished);
    let coverage = memory.coverage().unwrap();
    assert_eq!(
        (
            coverage.chunks,
            coverage.chunks_embedded,
            coverage.chunks_missing
        ),
        (599, 599, 0)
    );
    whole(&memory);
    assert_eq!(memory.health().unwrap().model.unwrap().id, "other");
    // And from then on the file is that model's, also for what was deleted.
    memory.delete(&id).unwrap();
    whole(&memory);
    assert_eq!(memory.coverage().unwrap().chunks, 0);
}

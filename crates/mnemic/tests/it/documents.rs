//! Documents by their verbs: one version, its passages with their words and vectors, whatever fails or comes between.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use mnemic::{
    Chunking, DocumentUpdate, Documents, EmbedError, Embedder, Embedding, EmbeddingModel,
    ErrorKind, Events, History, InputKind, Memory, MemoryUpdate, NewDocument, Prune, Recall, Scope,
};

use crate::support::{WordHash, builder, memory, time};

/// Paragraphs of one passage each.
pub(crate) fn paragraphs(texts: &[&str]) -> String {
    texts.join("\n\n")
}

pub(crate) fn small() -> Chunking {
    Chunking::characters(24, 0)
}

/// Everything is whole: 1:1, each passage what the source has at its span.
pub(crate) fn whole(memory: &Memory) {
    let report = memory.check().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(report.memories, report.vectors);
    assert_eq!(report.documents.chunks, report.documents.vectors);
    for document in memory.documents(Documents::new()).unwrap() {
        let source = memory.source(&document.memory.id).unwrap().unwrap();
        for passage in memory.passages_of(&document.memory.id).unwrap() {
            assert_eq!(
                source.get(passage.bytes.clone()),
                Some(passage.text.as_str())
            );
            let chars: String = source
                .chars()
                .skip(passage.chars.start)
                .take(passage.chars.len())
                .collect();
            assert_eq!(chars, passage.text);
        }
    }
}

/// Counts the texts that it embeds.
#[derive(Debug, Clone, Default)]
struct Counting(WordHash, Arc<AtomicUsize>);

impl Embedder for Counting {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.1.fetch_add(texts.len(), Ordering::Relaxed);
        self.0.embed(kind, texts)
    }
}

#[test]
fn a_document_comes_back_as_it_was_given() {
    let memory = memory();
    let source = "Ada opened the meeting.\r\n\r\nThe 東京塔 was visited 👩‍👩‍👧‍👦.";
    let stored = memory
        .store_document(
            NewDocument::new("Minutes")
                .description("Weekly")
                .source(source)
                .link("https://example.org/m")
                .metadata(r#"{"pages":1}"#)
                .event_date(time("2026-05-04"))
                .origin("minutes/4.md")
                .origin_hash("abc")
                .project("gateway")
                .tags(["minutes"])
                .created_at(time("2026-05-05"))
                .id("m4")
                .chunking(small()),
        )
        .unwrap();
    assert_eq!(
        (stored.id.as_str(), stored.created, stored.unchanged),
        ("m4", true, false)
    );
    assert_eq!((stored.chunks, stored.embedded, stored.missing), (3, 3, 0));
    let found = memory.document("m4").unwrap().unwrap();
    assert_eq!(found.memory.content, format!("Minutes\nWeekly\n{source}"));
    assert_eq!(found.memory.project.as_deref(), Some("gateway"));
    assert_eq!(found.memory.tags, ["minutes"]);
    assert_eq!(found.memory.created_at, time("2026-05-05"));
    assert_eq!(found.title, "Minutes");
    assert_eq!(found.description.as_deref(), Some("Weekly"));
    assert_eq!(found.link.as_deref(), Some("https://example.org/m"));
    assert_eq!(found.metadata.as_deref(), Some(r#"{"pages":1}"#));
    assert_eq!(found.event_date, Some(time("2026-05-04")));
    assert_eq!(found.origin.as_deref(), Some("minutes/4.md"));
    assert_eq!(found.origin_hash.as_deref(), Some("abc"));
    assert_eq!(
        (found.chunking.clone(), found.chunks, found.chunked),
        (small(), 3, true)
    );
    assert_eq!(memory.source("m4").unwrap().as_deref(), Some(source));
    whole(&memory);
    assert_eq!(
        memory
            .documents(Documents::new().project("gateway"))
            .unwrap(),
        [found]
    );
    assert_eq!(
        memory.documents(Documents::new().project("other")).unwrap(),
        []
    );
    // A memory that is none has nothing of a document.
    let plain = memory.store("plain").unwrap().id;
    assert_eq!(memory.document(&plain).unwrap(), None);
    assert_eq!(memory.source(&plain).unwrap(), None);
    assert_eq!(memory.passages_of(&plain).unwrap(), []);
    let error = memory.replace_source(&plain, "x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        memory.replace_source("absent", "x").unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_stored() {
    let memory = memory();
    let bad = [
        NewDocument::new(" "),
        NewDocument::new("T").metadata("{not json"),
        NewDocument::new("T")
            .source("x")
            .chunking(Chunking::characters(0, 0)),
        NewDocument::new("T")
            .source("x")
            .chunking(Chunking::characters(50, 50)),
        NewDocument::new("T").id("no spaces"),
    ];
    for document in bad {
        let error = memory.store_document(document.clone()).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidInput,
            "{document:?}: {error}"
        );
    }
    // Chunks of another text.
    let chunks = mnemic_chunks("a longer text than that");
    let error = memory
        .store_document(NewDocument::new("T").source("short").chunks(chunks))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    memory
        .store_document(NewDocument::new("T").id("there"))
        .unwrap();
    let error = memory
        .store_document(NewDocument::new("U").id("there"))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(memory.health().unwrap().memories, 1);
    // The card follows the document alone.
    let error = memory.update("there", "another text").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("update_document"), "{error}");
    memory
        .update("there", MemoryUpdate::new().tags(["a"]))
        .unwrap();
    whole(&memory);
}

fn mnemic_chunks(text: &str) -> Vec<mnemic::Chunk> {
    mnemic_chunk::chunk(text, &Chunking::characters(8, 0)).unwrap()
}

/// Editing a paragraph of a book embeds that paragraph and the card where it shows, and nothing else.
#[test]
fn an_edit_embeds_what_is_new() {
    let counting = Counting::default();
    let memory = Memory::builder()
        .embedder(counting.clone())
        .open_in_memory()
        .unwrap();
    let mut book: Vec<String> = (0..400)
        .map(|i| format!("Paragraph number {i} tells."))
        .collect();
    let chunking = Chunking::characters(40, 0);
    let document = NewDocument::new("Book")
        .source(book.join("\n\n"))
        .chunking(chunking)
        .preview(100);
    let id = memory.store_document(document).unwrap().id;
    assert_eq!(counting.1.swap(0, Ordering::Relaxed), 401);
    book[200] = "Something else happens here.".into();
    book.insert(201, "And this is new altogether.".into());
    let report = memory.replace_source(&id, book.join("\n\n")).unwrap();
    assert_eq!(
        (
            report.chunks,
            report.reused,
            report.embedded,
            report.removed
        ),
        (401, 399, 2, 1)
    );
    // The card is embedded anew, as it might have changed: one text.
    assert_eq!(counting.1.swap(0, Ordering::Relaxed), 3);
    // The same once more: nothing is written.
    let before = memory.document(&id).unwrap();
    let report = memory.replace_source(&id, book.join("\n\n")).unwrap();
    assert!(report.unchanged && report.chunks == 401, "{report:?}");
    assert_eq!(counting.1.swap(0, Ordering::Relaxed), 0);
    assert_eq!(memory.document(&id).unwrap(), before);
    // Another title is another card, and no other passage.
    let report = memory
        .update_document(&id, DocumentUpdate::new().title("The Book"))
        .unwrap();
    assert_eq!((report.reused, report.embedded), (401, 0));
    assert_eq!(counting.1.load(Ordering::Relaxed), 1);
    assert!(
        memory
            .get(&id)
            .unwrap()
            .unwrap()
            .content
            .starts_with("The Book\n")
    );
    whole(&memory);
}

/// A17: eight passages, then two; and none of the eight is found any more.
#[test]
fn a_shortened_document_keeps_no_old_passage() {
    let memory = memory();
    let eight: Vec<String> = (0..8).map(|i| format!("ancient paragraph {i}")).collect();
    let id = memory
        .store_document(
            NewDocument::new("T")
                .source(eight.join("\n\n"))
                .chunking(small()),
        )
        .unwrap()
        .id;
    let report = memory
        .replace_source(
            &id,
            paragraphs(&["modern paragraph a", "modern paragraph b"]),
        )
        .unwrap();
    assert_eq!((report.chunks, report.removed), (2, 8));
    whole(&memory);
    assert_eq!(memory.passages_of(&id).unwrap().len(), 2);
    assert!(
        memory
            .recall(Recall::new("ancient").preset(mnemic::Preset::default().weights(1.0, 0.0)))
            .unwrap()
            .is_empty()
    );
}

/// A17: two replacers at once, over and over: each time exactly one version is there, and no change is lost.
#[test]
fn of_two_replacers_at_once_one_version_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let id = memory
        .store_document(NewDocument::new("T").source("x").chunking(small()))
        .unwrap()
        .id;
    let version = |who: usize, round: usize| {
        let count = 2 + (who * 5 + round) % 7;
        let texts: Vec<String> = (0..count)
            .map(|i| format!("writer {who} round {round} {i}"))
            .collect();
        texts.join("\n\n")
    };
    for round in 0..12 {
        let barrier = Barrier::new(3);
        std::thread::scope(|scope| {
            for who in 0..2 {
                let (id, barrier, other) = (&id, &barrier, builder().open(&path).unwrap());
                scope.spawn(move || {
                    barrier.wait();
                    other.replace_source(id, version(who, round)).unwrap();
                });
            }
            let (id, barrier, other) = (&id, &barrier, memory.clone());
            scope.spawn(move || {
                barrier.wait();
                other
                    .update_document(id, DocumentUpdate::new().title(format!("T{round}")))
                    .unwrap();
            });
        });
        let source = memory.source(&id).unwrap().unwrap();
        assert!((0..2).any(|who| source == version(who, round)), "{source}");
        assert_eq!(
            memory.document(&id).unwrap().unwrap().title,
            format!("T{round}")
        );
        assert_eq!(
            memory.passages_of(&id).unwrap().len(),
            source.split("\n\n").count()
        );
        whole(&memory);
    }
}

#[test]
fn a_document_of_an_origin_is_one() {
    let memory = memory();
    let at = |text: &str| {
        NewDocument::new("Readme")
            .source(text)
            .origin("README.md")
            .chunking(small())
    };
    let first = memory.store_document(at("one paragraph")).unwrap();
    let again = memory.store_document(at("one paragraph")).unwrap();
    assert_eq!(
        (again.id.clone(), again.unchanged, again.created),
        (first.id.clone(), true, false)
    );
    let edited = memory
        .store_document(at("one paragraph\n\nand another one more").tags(["a"]))
        .unwrap();
    assert_eq!(
        (edited.id.clone(), edited.reused, edited.embedded),
        (first.id.clone(), 1, 1)
    );
    assert_eq!(memory.get(&first.id).unwrap().unwrap().tags, ["a"]);
    // What is not said again stays.
    assert!(
        memory
            .store_document(at("one paragraph\n\nand another one more"))
            .unwrap()
            .unchanged
    );
    // Of another project it is another document.
    let other = memory
        .store_document(at("one paragraph").project("web"))
        .unwrap();
    assert!(other.created);
    assert_eq!(memory.documents_from("README.md").unwrap().len(), 2);
    assert_eq!(memory.health().unwrap().memories, 2);
    whole(&memory);
}

/// A7, for documents: by every path, and what is erased leaves no byte.
#[test]
fn every_way_of_deleting_takes_the_passages_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let put = |id: &str, project: &str| {
        let source = paragraphs(&["swordfish is the password", &format!("of the place {id}")]);
        memory
            .store_document(
                NewDocument::new("T")
                    .id(id)
                    .source(source)
                    .project(project)
                    .chunking(small()),
            )
            .unwrap()
    };
    for id in ["a", "b", "c", "d", "e"] {
        put(id, if id == "c" { "old" } else { "new" });
    }
    assert!(memory.delete("a").unwrap());
    memory.delete_all(["b"]).unwrap();
    memory.prune(Prune::new().project("old").apply()).unwrap();
    memory.replace("d", "only a memory").unwrap();
    whole(&memory);
    assert_eq!(memory.coverage().unwrap().chunks, 2);
    put("a", "new");
    whole(&memory);
    memory.compact().unwrap();
    whole(&memory);
    memory.erase_all(["a", "e"]).unwrap();
    whole(&memory);
    assert_eq!(memory.coverage().unwrap().documents, 0);
    drop(memory);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let found = bytes
            .windows(9)
            .any(|window| window.eq_ignore_ascii_case(b"swordfish"));
        assert!(!found, "a byte of it is left");
    }
}

#[test]
fn backups_and_restores_carry_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (path, backup) = (folder.path().join("a.db"), folder.path().join("b.db"));
    let memory = builder().open(&path).unwrap();
    let id = memory
        .store_document(NewDocument::new("T").source("kept safe"))
        .unwrap()
        .id;
    memory.backup(&backup).unwrap();
    memory.replace_source(&id, "a mistake").unwrap();
    drop(memory);
    let restored = Memory::restore(&backup, &path).unwrap();
    assert!(restored.check.is_ok());
    let memory = builder().open(&path).unwrap();
    assert_eq!(memory.source(&id).unwrap().as_deref(), Some("kept safe"));
    whole(&memory);
}

/// Another program wrote a source: that is told, and mended by cutting it anew.
#[test]
fn a_source_of_another_hand_is_cut_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let source = paragraphs(&["first paragraph here", "second paragraph it is"]);
    let id = memory
        .store_document(NewDocument::new("T").source(source).chunking(small()))
        .unwrap()
        .id;
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute(
            "UPDATE documents SET source = replace(source, 'second', 'changed')",
            [],
        )
        .unwrap();
    drop(other);
    assert_eq!(memory.coverage().unwrap().stale, 1);
    assert!(!memory.document(&id).unwrap().unwrap().chunked);
    assert_eq!(memory.check().unwrap().documents.stale, [&*id]);
    let report = memory.repair().unwrap();
    assert_eq!((report.documents_cut, report.vectors_added), (1, 2));
    assert!(report.remaining.is_ok(), "{report:?}");
    whole(&memory);
    assert_eq!(
        memory.passages_of(&id).unwrap()[1].text,
        "changed paragraph it is"
    );
}

#[test]
fn a_bound_handle_sees_documents_of_its_project_alone() {
    let memory = memory();
    let web = memory.in_project("web");
    let own = web
        .store_document(NewDocument::new("Own").source("some text"))
        .unwrap()
        .id;
    let other = memory
        .store_document(NewDocument::new("Other").source("some text"))
        .unwrap()
        .id;
    assert_eq!(web.document(&own).unwrap().unwrap().title, "Own");
    assert_eq!(web.document(&other).unwrap(), None);
    assert_eq!(web.source(&other).unwrap(), None);
    assert_eq!(web.passages_of(&other).unwrap(), []);
    assert_eq!(web.documents(Documents::new()).unwrap().len(), 1);
    assert_eq!(
        web.replace_source(&other, "x").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(web.replace_source(&own, "x").unwrap().chunks, 1);
    let passage = &memory.passages_of(&other).unwrap()[0];
    assert_eq!(
        web.passages_around(passage, 1).unwrap_err().kind(),
        ErrorKind::NotFound
    );
    for error in [
        web.store_document(NewDocument::new("T").project("app"))
            .unwrap_err(),
        web.update_document(&own, DocumentUpdate::new().global())
            .unwrap_err(),
        web.documents(Documents::new().scope(Scope::Project("app".into())))
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

/// What was done to a document is undone with its source, which is cut and embedded again.
#[test]
fn a_change_and_a_deletion_are_undone() {
    let memory = memory();
    memory.keep_history(History::new()).unwrap();
    let first = paragraphs(&["the first paragraph", "the second paragraph"]);
    let document = NewDocument::new("T")
        .source(&first)
        .link("somewhere")
        .chunking(small())
        .preview(5);
    let id = memory.store_document(document).unwrap().id;
    let before = memory.document(&id).unwrap();
    memory
        .replace_source(&id, "another text\n\naltogether and longer")
        .unwrap();
    let last = || memory.events(Events::new().limit(1)).unwrap()[0].number;
    memory.undo(last()).unwrap();
    assert_eq!(memory.source(&id).unwrap().as_deref(), Some(&*first));
    assert_eq!(memory.document(&id).unwrap(), before);
    assert_eq!(
        memory.passages_of(&id).unwrap()[0].text,
        "the first paragraph"
    );
    whole(&memory);
    // The undoing can be undone.
    memory.undo(last()).unwrap();
    assert!(memory.source(&id).unwrap().unwrap().starts_with("another"));
    whole(&memory);
    memory.delete(&id).unwrap();
    memory.undo(last()).unwrap();
    assert!(memory.source(&id).unwrap().unwrap().starts_with("another"));
    let found = memory.document(&id).unwrap().unwrap();
    assert_eq!(
        (found.link.as_deref(), found.chunks, found.chunked),
        (Some("somewhere"), 2, true)
    );
    whole(&memory);
    // The beginning of a card too.
    memory
        .update_document(&id, DocumentUpdate::new().title("Other"))
        .unwrap();
    memory.undo(last()).unwrap();
    assert_eq!(memory.document(&id).unwrap().unwrap().title, "T");
    whole(&memory);
}

/// Passages cut by another hand, with what is known of them, stay while the source does: whatever else is changed or undone.
#[test]
fn given_passages_stay_with_their_source() {
    let memory = memory();
    memory.keep_history(History::new()).unwrap();
    let source = "Ada: the pump failed\nBen: which one";
    let cut = |at: std::ops::Range<usize>, start: f64| {
        let mut chunk = mnemic::Chunk::new(source, at).unwrap();
        chunk.metadata.start = Some(start);
        chunk
    };
    let chunks = [cut(0..20, 1.0), cut(21..35, 3.5)];
    let document = || {
        NewDocument::new("T")
            .source(source)
            .origin("call.vtt")
            .chunks(chunks.clone())
    };
    let id = memory.store_document(document()).unwrap().id;
    let passages = memory.passages_of(&id).unwrap();
    assert_eq!(passages.len(), 2);
    assert_eq!(passages[1].metadata.as_deref(), Some(r#"{"start":3.5}"#));
    let stays = |what: &str| {
        assert_eq!(
            memory
                .passages_of(&id)
                .unwrap()
                .into_iter()
                .map(|passage| (passage.bytes, passage.metadata))
                .collect::<Vec<_>>(),
            passages
                .iter()
                .map(|passage| (passage.bytes.clone(), passage.metadata.clone()))
                .collect::<Vec<_>>(),
            "{what}"
        );
        assert!(memory.document(&id).unwrap().unwrap().chunked, "{what}");
        whole(&memory);
    };
    let number = memory.events(Events::new().limit(1)).unwrap()[0].number;
    assert!(memory.store_document(document()).unwrap().unchanged);
    assert_eq!(
        memory.events(Events::new().limit(1)).unwrap()[0].number,
        number,
        "nothing was written"
    );
    let undo = || {
        let last = memory.events(Events::new().limit(1)).unwrap()[0].number;
        memory.undo(last).unwrap();
    };
    memory
        .update_document(&id, DocumentUpdate::new().title("x").link("there"))
        .unwrap();
    stays("another title");
    undo();
    stays("the title undone");
    memory
        .update_document(&id, DocumentUpdate::new().source(source).preview(3))
        .unwrap();
    stays("the same source");
    memory.forget([&id]).unwrap();
    stays("forgotten");
    undo();
    stays("the forgetting undone");
    // Cut in another way, they are another document's; another source is cut by the chunking.
    let one = [cut(0..35, 0.0)];
    let report = memory.store_document(document().chunks(one)).unwrap();
    assert!(!report.unchanged);
    assert_eq!(memory.passages_of(&id).unwrap().len(), 1);
    memory.store_document(document()).unwrap();
    stays("given again");
    memory.replace_source(&id, "another source").unwrap();
    let other = memory.passages_of(&id).unwrap();
    assert_eq!((other.len(), &other[0].metadata), (1, &None));
    whole(&memory);
}

/// One document that cannot be cut keeps none of the others from it, and is told of.
#[test]
fn one_stale_document_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let store = |title: &str| {
        let document = NewDocument::new(title)
            .source("one paragraph")
            .chunking(small());
        memory.store_document(document).unwrap().id
    };
    let (bad, good) = (store("Bad"), store("Good"));
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch(
            "UPDATE documents SET source = 'another paragraph'; UPDATE documents SET title = ' ' WHERE title = 'Bad'",
        )
        .unwrap();
    drop(other);
    let report = memory.repair().unwrap();
    assert_eq!(report.documents_cut, 1);
    assert_eq!(report.remaining.documents.stale, [&*bad]);
    assert_eq!(
        memory.passages_of(&good).unwrap()[0].text,
        "another paragraph"
    );
    memory
        .update_document(&bad, DocumentUpdate::new().title("Mended"))
        .unwrap();
    whole(&memory);
}

/// A2: the fact that stands last in 3,000 words is found by its meaning, in its passage.
#[test]
fn a2_the_last_fact_of_a_long_document_is_found_by_meaning() {
    let memory = Memory::open_in_memory().unwrap();
    let weather = "The weather was mild and a light wind came from the west over the hills. ";
    let source = weather.repeat(210) + "The cat of the lighthouse keeper is called Pebble.";
    let id = memory
        .store_document(
            NewDocument::new("Journal")
                .source(&source)
                .chunking(Chunking::characters(300, 60)),
        )
        .unwrap()
        .id;
    memory.store("the harbour is deep").unwrap();
    let by_meaning = Recall::new("what is the name of the warden's kitten?")
        .preset(mnemic::Preset::vector_only());
    let hits = memory.recall(by_meaning.clone()).unwrap();
    assert_eq!(hits[0].memory.id, id);
    assert!(
        hits[0].passages[0].passage.text.ends_with("Pebble."),
        "{:?}",
        hits[0].passages[0]
    );
    let passages = memory.recall_passages(by_meaning.limit(1)).unwrap();
    assert!(passages[0].passage.text.ends_with("Pebble."));
    assert_eq!(
        source.get(passages[0].passage.bytes.clone()),
        Some(passages[0].passage.text.as_str())
    );
}

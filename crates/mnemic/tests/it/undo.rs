//! What undoing must not do: remove what is there, reach outside, make circles, embed what is embedded.

use std::sync::{Arc, Mutex};

use mnemic::{
    EmbedError, Embedder, Embedding, EmbeddingModel, ErrorKind, Events, History, InputKind, Memory,
    MemoryUpdate, NewDocument, NewMemory, Recall,
};

use crate::support::{WordHash, contents, memory, sound};

fn keeping() -> Memory {
    let memory = memory();
    memory.keep_history(History::new()).unwrap();
    memory
}

/// The number of the newest event of a memory.
fn newest(memory: &Memory, id: &str) -> i64 {
    memory.events(Events::of(id).limit(1)).unwrap()[0].number
}

fn content(memory: &Memory, id: &str) -> Option<String> {
    memory.get(id).unwrap().map(|memory| memory.content)
}

/// Whether the first memory has a relation to the second.
fn related(memory: &Memory, from: &str, to: &str) -> bool {
    let relations = memory.relations(from).unwrap();
    relations
        .iter()
        .any(|relation| relation.from == from && relation.to == to)
}

/// An image that was erased is not the absence of a memory.
#[test]
fn an_undoing_whose_image_is_erased_removes_nothing() {
    let memory = keeping();
    memory.store(NewMemory::new("first").id("m")).unwrap();
    memory.store(NewMemory::new("secret").id("x")).unwrap();
    memory.relate(("m", "x", "supports", "because")).unwrap();
    memory.update("m", "second").unwrap();
    memory.undo(newest(&memory, "m")).unwrap();
    let undoing = newest(&memory, "m");
    memory.erase("x").unwrap();
    let refused = memory.undo(undoing).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    assert_eq!(content(&memory, "m").as_deref(), Some("first"));
    // Where it truly was not there, the undoing of its return removes it.
    memory.delete("m").unwrap();
    memory.undo(newest(&memory, "m")).unwrap();
    assert_eq!(content(&memory, "m").as_deref(), Some("first"));
    let undone = memory.undo(newest(&memory, "m")).unwrap();
    assert_eq!(undone.removed, ["m"]);
    assert_eq!(content(&memory, "m"), None);
}

#[test]
fn a_bound_handle_undoes_nothing_that_is_elsewhere_or_was() {
    let memory = keeping();
    memory
        .store(NewMemory::new("of a").id("m").project("a"))
        .unwrap();
    let change = MemoryUpdate::new().content("of b").project("b");
    memory.update("m", change).unwrap();
    let moved = newest(&memory, "m");
    let a = memory.in_project("a");
    let refused = a.undo(moved).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert_eq!(content(&memory, "m").as_deref(), Some("of b"));
    memory.undo(moved).unwrap();
    // It is here again, but what undoing that would bring is of the other project.
    let undoing = newest(&memory, "m");
    for batch in [false, true] {
        let refused = if batch {
            a.undo_batch(undoing)
        } else {
            a.undo(undoing)
        };
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(content(&memory, "m").as_deref(), Some("of a"));
    }
}

#[test]
fn no_circle_of_superseding_is_made_by_undoing() {
    let memory = keeping();
    memory
        .store(NewMemory::new("tea is green").id("a"))
        .unwrap();
    memory
        .store(NewMemory::new("tea is black").id("b"))
        .unwrap();
    memory.supersede("a", "b").unwrap();
    memory.undo(newest(&memory, "a")).unwrap();
    let undoing = newest(&memory, "a");
    memory.supersede("b", "a").unwrap();
    let refused = memory.undo(undoing).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
    assert_eq!(contents(&memory.recall("tea").unwrap()), ["tea is green"]);
}

/// One that stood in the place of another comes back after that one stands, by a third, in its own place.
#[test]
fn no_circle_of_superseding_is_made_by_what_comes_back() {
    let memory = keeping();
    for id in ["a", "b", "c"] {
        memory
            .store(NewMemory::new(format!("tea {id}")).id(id))
            .unwrap();
    }
    memory.supersede("b", "c").unwrap();
    memory.supersede("a", "b").unwrap();
    memory.delete("b").unwrap();
    let deletion = newest(&memory, "b");
    // `c` is superseded by `a`, of which the one in its place is gone.
    memory.supersede("c", "a").unwrap();
    memory.undo(deletion).unwrap();
    let by = |id: &str| memory.get(id).unwrap().unwrap().lifecycle.superseded_by;
    assert_eq!(by("b").as_deref(), Some("c"));
    assert_eq!(by("c").as_deref(), Some("a"));
    assert_eq!(by("a"), None);
    sound(&memory);
}

#[test]
fn a_replacing_under_the_same_id_is_undone_as_a_whole() {
    let memory = keeping();
    let old = NewMemory::new("old words").id("m").tags(["old"]);
    memory.store(old.importance(0.9)).unwrap();
    let before = memory.get("m").unwrap();
    memory
        .replace("m", NewMemory::new("new words").id("m").tags(["new"]))
        .unwrap();
    let told: Vec<String> = memory
        .events(Events::of("m").oldest_first())
        .unwrap()
        .iter()
        .map(|event| event.action.to_string())
        .collect();
    assert_eq!(told, ["stored", "replaced", "stored"]);
    let replaced = memory.events(Events::of("m")).unwrap()[1].number;
    memory.undo(replaced).unwrap();
    assert_eq!(memory.get("m").unwrap(), before);
    let undoing = memory.events(Events::of("m").limit(1)).unwrap()[0].batch;
    memory.undo_batch(undoing).unwrap();
    assert_eq!(content(&memory, "m").as_deref(), Some("new words"));
    sound(&memory);
}

/// An id as JSON does not write it by itself.
#[test]
fn erasing_finds_ids_that_json_escapes() {
    for id in ["a\"b", "a\\b"] {
        let memory = keeping();
        memory.store(NewMemory::new("stays").id("m")).unwrap();
        memory.store(NewMemory::new("secret").id(id)).unwrap();
        memory
            .relate(("m", id, "supports", "because of the quux"))
            .unwrap();
        memory.update("m", "stays, changed").unwrap();
        let updated = newest(&memory, "m");
        assert!(memory.events(Events::of("m").limit(1)).unwrap()[0].has_image);
        memory.erase(id).unwrap();
        let event = &memory.events(Events::of("m").limit(1)).unwrap()[0];
        assert!(event.number == updated && !event.has_image, "{id:?}");
    }
}

/// The edge of a superseding goes and comes with it, and one that was drawn by hand before stays.
#[test]
fn the_edge_of_a_superseding_is_as_it_was() {
    let memory = keeping();
    for id in ["a", "b", "c"] {
        memory
            .store(NewMemory::new(format!("tea {id}")).id(id))
            .unwrap();
    }
    memory.supersede("a", "b").unwrap();
    for there in [false, true, false, true] {
        memory.undo(newest(&memory, "a")).unwrap();
        assert_eq!(related(&memory, "b", "a"), there);
    }
    memory
        .relate(("b", "c", "supersedes", "said by hand"))
        .unwrap();
    memory.supersede("c", "b").unwrap();
    memory.undo(newest(&memory, "c")).unwrap();
    assert!(related(&memory, "b", "c"));
    let edge = memory.relations("c").unwrap().remove(0);
    assert_eq!(edge.explanation.as_deref(), Some("said by hand"));
}

/// [`WordHash`] that notes what it is given.
#[derive(Debug, Clone, Default)]
struct Noting(WordHash, Arc<Mutex<Vec<String>>>);

impl Embedder for Noting {
    fn model(&self) -> &EmbeddingModel {
        self.0.model()
    }
    fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let mut noted = self.1.lock().unwrap();
        noted.extend(texts.iter().map(|text| (*text).to_owned()));
        self.0.embed(kind, texts)
    }
}

#[test]
fn only_texts_that_are_not_there_are_embedded() {
    let embedder = Noting::default();
    let noted = Arc::clone(&embedder.1);
    let memory = Memory::builder()
        .embedder(embedder)
        .open_in_memory()
        .unwrap();
    memory.keep_history(History::new()).unwrap();
    memory.store(NewMemory::new("the fern").id("a")).unwrap();
    memory.store(NewMemory::new("the cactus").id("b")).unwrap();
    memory.forget(["a", "b"]).unwrap();
    let forgotten = memory.events(Events::new().limit(1)).unwrap()[0].batch;
    noted.lock().unwrap().clear();
    memory.undo_batch(forgotten).unwrap();
    assert!(noted.lock().unwrap().is_empty());
    // The same text under the same id, but it is stored anew.
    memory
        .replace("a", NewMemory::new("the fern").id("a"))
        .unwrap();
    let replaced = memory.events(Events::of("a")).unwrap()[1].number;
    noted.lock().unwrap().clear();
    memory.undo(replaced).unwrap();
    assert_eq!(*noted.lock().unwrap(), ["the fern"]);
    memory.update("b", "the palm").unwrap();
    noted.lock().unwrap().clear();
    memory.undo(newest(&memory, "b")).unwrap();
    assert_eq!(*noted.lock().unwrap(), ["the cactus"]);
    sound(&memory);
    let hits = memory.recall(Recall::new("cactus").limit(1)).unwrap();
    assert_eq!(contents(&hits), ["the cactus"]);
}

/// Whatever else lacks a vector in the file is not embedded by the way.
#[test]
fn of_documents_only_the_undone_are_embedded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.db");
    let plain = Memory::builder().no_embedder().open(&path).unwrap();
    plain
        .store(NewMemory::new("left as it is").id("n"))
        .unwrap();
    drop(plain);
    let embedder = Noting::default();
    let noted = Arc::clone(&embedder.1);
    let memory = Memory::builder().embedder(embedder).open(&path).unwrap();
    memory.keep_history(History::new()).unwrap();
    let source = "Nobody may feed the geese. ".repeat(200);
    let rules = NewDocument::new("Rules").source(source);
    let id = memory.store_document(rules).unwrap().id;
    let embedded = |id: &str| {
        let passages = memory.passages_of(id).unwrap().len();
        let coverage = memory.coverage().unwrap();
        assert_eq!((coverage.missing, coverage.chunks_missing), (1, 0));
        assert_eq!(coverage.chunks_embedded as usize, passages);
        passages
    };
    let before = embedded(&id);
    assert!(before > 1);
    memory.delete(&id).unwrap();
    noted.lock().unwrap().clear();
    memory.undo(newest(&memory, &id)).unwrap();
    assert_eq!(embedded(&id), before);
    let noted = noted.lock().unwrap();
    assert_eq!(noted.len(), before + 1, "the card and the passages");
    assert!(!noted.iter().any(|text| text.contains("left as it is")));
}

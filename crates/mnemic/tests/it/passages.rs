//! Passages in recall: a document is one hit with its best passages, whatever their number, and nothing is starved by it.

use std::ops::ControlFlow;

use mnemic::{
    Chunking, Dropped, EmbedError, EstimatedTokens, Hit, Memory, NewDocument, NewMemory, Outcome,
    Preset, Recall, Reranker, RerankingModel, Scope, TokenCounter,
};
use proptest::prelude::*;

use crate::documents::whole;
use crate::support::{WordHash, builder, memory, time};

fn one_a_line(size: usize) -> Chunking {
    Chunking::characters(size, 0)
}

/// A document of so many passages about a word, a line each.
fn about(title: &str, word: &str, count: usize) -> NewDocument {
    let lines: Vec<String> = (0..count)
        .map(|i| format!("{word} stands in line {i:04}"))
        .collect();
    NewDocument::new(title)
        .source(lines.join("\n\n"))
        .chunking(one_a_line(word.len() + 24))
        .preview(0)
}

fn at(question: &str) -> Recall {
    Recall::new(question)
        .scope(Scope::All)
        .now(time("2026-06-01"))
}

fn titles(hits: &[Hit]) -> Vec<&str> {
    hits.iter()
        .map(|hit| hit.memory.content.lines().next().unwrap())
        .collect()
}

#[test]
fn a_passage_finds_its_document_and_comes_along() {
    let memory = memory();
    let source = "Chapter one tells of the sea.\n\nThe password of the lighthouse is swordfish.\n\nThe end of it.";
    let id = memory
        .store_document(
            NewDocument::new("A tale")
                .source(source)
                .chunking(one_a_line(50))
                .preview(10),
        )
        .unwrap()
        .id;
    memory.store("the weather was fine").unwrap();
    let hits = memory.recall(at("password of the lighthouse")).unwrap();
    let hit = &hits[0];
    assert_eq!(hit.memory.id, id);
    let best = &hit.passages[0];
    assert_eq!(
        best.passage.text,
        "The password of the lighthouse is swordfish."
    );
    assert_eq!(
        source.get(best.passage.bytes.clone()),
        Some(best.passage.text.as_str())
    );
    assert_eq!(
        (
            best.passage.document.as_str(),
            best.passage.title.as_str(),
            best.passage.place
        ),
        (id.as_str(), "A tale", 1)
    );
    assert_eq!(hit.signals.passage, Some(best.relevance));
    assert!(hit.relevance >= best.relevance && hit.relevance > hit.signals.word * 0.5);
    assert!(
        hit.signals.to_string().contains("best passage"),
        "{}",
        hit.signals
    );
    assert!(
        hit.passages
            .windows(2)
            .all(|pair| pair[0].relevance >= pair[1].relevance)
    );
    // A memory that is none has none.
    let plain = hits.iter().find(|hit| hit.memory.id != id).unwrap();
    assert!(plain.passages.is_empty() && plain.signals.passage.is_none());
    // As many as were asked for; with none, the score is the same.
    let none = memory
        .recall(at("password of the lighthouse").passages(0))
        .unwrap();
    assert!(none[0].passages.is_empty());
    assert_eq!((none[0].score, &none[0].signals), (hit.score, &hit.signals));
    // Left to its card, nobody finds it by those words.
    let card = memory
        .recall(
            at("swordfish")
                .preset(Preset::word_only())
                .passage_weight(0.0),
        )
        .unwrap();
    assert!(card.is_empty());
}

/// A limit of 5 gives 5 things, though one book has more matching passages than all candidates together.
#[test]
fn a_long_document_cannot_fill_the_answer() {
    let memory = memory();
    memory
        .store_document(about("The book", "harbour", 900))
        .unwrap();
    for i in 0..3 {
        memory
            .store_document(about(&format!("Leaflet {i}"), "harbour", 2))
            .unwrap();
    }
    memory.store("a harbour as a memory").unwrap();
    for recalls in 0..3 {
        for preset in [
            Preset::default(),
            Preset::word_only(),
            Preset::vector_only(),
        ] {
            let hits = memory
                .recall(at("harbour stands in line").limit(5).preset(preset))
                .unwrap();
            assert_eq!(hits.len(), 5, "{recalls} {preset:?}: {:?}", titles(&hits));
            let mut ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), 5);
            assert!(hits.iter().all(|hit| hit.passages.len() <= 3));
        }
        // From the second recall on, the index answers.
        memory.warm_up().unwrap();
    }
}

/// A24: 5,000 chunks and any limit.
#[test]
fn any_limit_works_on_many_chunks() {
    let memory = memory();
    memory
        .store_document(about("Large", "granite", 4_700))
        .unwrap();
    memory
        .store_document(about("Small", "granite", 300))
        .unwrap();
    assert_eq!(memory.coverage().unwrap().chunks_embedded, 5_000);
    for limit in [0, 10, 5_000, usize::MAX] {
        let hits = memory.recall(at("granite").limit(limit)).unwrap();
        assert_eq!(hits.len(), limit.min(2));
        let passages = memory.recall_passages(at("granite").limit(limit)).unwrap();
        assert_eq!(passages.len(), limit.min(5_000), "{limit}");
    }
}

#[test]
fn filters_hold_for_passages_before_the_cut() {
    let memory = memory();
    memory
        .store_document(
            about("Elsewhere", "orchard", 400)
                .project("other")
                .tags(["x"]),
        )
        .unwrap();
    memory
        .store_document(
            about("Here", "orchard", 2)
                .project("web")
                .tags(["y"])
                .created_at(time("2026-05-01")),
        )
        .unwrap();
    for _ in 0..3 {
        for recall in [
            at("orchard").project("web"),
            at("orchard").tags_any(["Y"]),
            at("orchard").tags_none(["x"]),
            at("orchard").until(time("2026-05-02")),
        ] {
            let hits = memory.recall(recall.clone()).unwrap();
            assert_eq!(titles(&hits), ["Here"]);
            assert_eq!(hits[0].passages.len(), 2);
            let passages = memory.recall_passages(recall).unwrap();
            assert_eq!(passages.len(), 2);
            assert!(passages.iter().all(|hit| hit.passage.title == "Here"));
        }
        memory.warm_up().unwrap();
    }
    // Without a project, global ones alone.
    assert!(memory.recall(Recall::new("orchard")).unwrap().is_empty());
    assert!(memory.recall_passages("orchard").unwrap().is_empty());
    let web = memory.in_project("web");
    assert_eq!(web.recall_passages("orchard").unwrap().len(), 2);
    assert!(
        web.recall_passages(Recall::new("orchard").project("other"))
            .is_err()
    );
}

/// The index of passages follows every change, by any handle, and answers as the file does.
#[test]
fn the_index_of_passages_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let indexed = builder().open(&path).unwrap();
    let plain = builder().index_budget(0).open(&path).unwrap();
    let writer = builder().open(&path).unwrap();
    let mut ids = Vec::new();
    let same = |what: &str| {
        let ask = |memory: &Memory| {
            let hits = memory
                .recall(at("alpha stands in line 0003").limit(9))
                .unwrap();
            let passages = memory
                .recall_passages(at("alpha stands in line 0003").limit(9))
                .unwrap();
            (hits, passages)
        };
        assert_eq!(ask(&indexed), ask(&plain), "{what}");
        assert!(indexed.health().unwrap().index_bytes > 0 || what == "first");
    };
    same("first");
    for i in 0..4 {
        ids.push(
            writer
                .store_document(about(&format!("Doc {i}"), ["alpha", "beta"][i % 2], 40))
                .unwrap()
                .id,
        );
        same("stored");
    }
    writer
        .replace_source(&ids[0], "alpha stands in line 0003 and\n\nnothing else")
        .unwrap();
    same("replaced");
    writer
        .update(&ids[1], mnemic::MemoryUpdate::new().project("web"))
        .unwrap();
    same("moved");
    writer.delete(&ids[2]).unwrap();
    same("deleted");
    writer.store_document(about("Late", "alpha", 3)).unwrap();
    same("stored again");
    writer.forget([&ids[3]]).unwrap();
    same("forgotten");
    writer
        .reembed(WordHash::named("other", "2", 16), |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(
        indexed.recall(at("alpha")).is_err(),
        "it is another model's file now"
    );
    whole(&writer);
    let hits = writer.recall(at("alpha stands").limit(9)).unwrap();
    assert_eq!(hits.len(), 3, "{:?}", titles(&hits));
}

/// What is forgotten, superseded or not yet valid has no passages either.
#[test]
fn what_is_not_recalled_has_no_passages() {
    let memory = memory();
    let id = memory.store_document(about("Old", "willow", 3)).unwrap().id;
    let new = memory.store_document(about("New", "willow", 3)).unwrap().id;
    memory.supersede(&id, &new).unwrap();
    for _ in 0..3 {
        let passages = memory.recall_passages(Recall::new("willow")).unwrap();
        assert_eq!(passages.len(), 3);
        assert!(passages.iter().all(|hit| hit.passage.document == new));
        assert_eq!(titles(&memory.recall("willow").unwrap()), ["New"]);
    }
}

/// Memories score beside a document as beside one more memory, its card; its passages change nothing of that.
#[test]
fn plain_memories_score_as_they_did() {
    let (with, without) = (memory(), memory());
    for memory in [&with, &without] {
        for i in 0..20 {
            memory
                .store(
                    NewMemory::new(format!("note {i} of the quarry"))
                        .id(format!("n{i}"))
                        .created_at(time("2026-05-01")),
                )
                .unwrap();
        }
    }
    let document = about("Quarry", "quarry note 7", 50)
        .id("d")
        .created_at(time("2026-05-01"));
    with.store_document(document).unwrap();
    let card = with.get("d").unwrap().unwrap().content;
    without
        .store(NewMemory::new(card).id("d").created_at(time("2026-05-01")))
        .unwrap();
    for preset in [
        Preset::default(),
        Preset::rekal(),
        Preset::reciprocal_rank(),
    ] {
        let of = |memory: &Memory| {
            let hits = memory
                .recall(at("quarry note 7").preset(preset).no_limit())
                .unwrap();
            let (card, rest): (Vec<Hit>, Vec<Hit>) =
                hits.into_iter().partition(|hit| hit.memory.id == "d");
            (card, rest)
        };
        let ((plain, before), (document, after)) = (of(&without), of(&with));
        assert_eq!(before.len(), 20);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(
                (before.score, before.relevance, &before.signals),
                (after.score, after.relevance, &after.signals)
            );
            assert_eq!(before.memory.id, after.memory.id);
        }
        // Ranks among passages and among memories may be the same.
        let raised = document[0].relevance > plain[0].relevance;
        assert!(raised || preset == Preset::reciprocal_rank());
        let card = raised.then_some(plain[0].relevance);
        assert_eq!(document[0].signals.card, card);
    }
}

#[test]
fn explain_tells_of_a_document_what_recall_did() {
    let memory = memory();
    let id = memory
        .store_document(about("A page", "meadow", 4))
        .unwrap()
        .id;
    memory.store("the meadow as a memory").unwrap();
    let hits = memory.recall(at("which meadow stands")).unwrap();
    let hit = hits.iter().find(|hit| hit.memory.id == id).unwrap();
    let explained = memory.explain(at("which meadow stands"), &id).unwrap();
    assert!(
        matches!(explained.outcome, Outcome::Hit { .. }),
        "{explained}"
    );
    assert_eq!(
        (explained.score, explained.signals),
        (Some(hit.score), Some(hit.signals.clone()))
    );
    assert!(
        explained.held.contains(&"meadow".to_owned()),
        "{:?}",
        explained.held
    );
    let dropped = memory
        .explain(at("which meadow stands").min_score(2.0), &id)
        .unwrap();
    assert!(
        matches!(dropped.outcome, Outcome::Dropped(Dropped::MinScore { score, .. }) if score == hit.score)
    );
}

#[test]
fn a_budget_and_a_reranker_read_passages_and_not_the_card() {
    #[derive(Debug)]
    struct Seen(RerankingModel, std::sync::Mutex<Vec<String>>);
    impl Reranker for Seen {
        fn model(&self) -> &RerankingModel {
            &self.0
        }
        fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, EmbedError> {
            self.1
                .lock()
                .unwrap()
                .extend(texts.iter().map(|text| (*text).to_owned()));
            Ok(vec![0.5; texts.len()])
        }
    }
    let seen = std::sync::Arc::new(Seen(
        RerankingModel::new("seen", "1"),
        std::sync::Mutex::default(),
    ));
    let memory = builder().reranker(seen.clone()).open_in_memory().unwrap();
    let mut document = about("The book", "lantern", 300);
    document = document.preview(6_000);
    memory.store_document(document).unwrap();
    let hits = memory
        .recall(at("lantern stands in line 0007").passages(1))
        .unwrap();
    assert_eq!(hits[0].text(), "The book\nlantern stands in line 0007");
    assert_eq!(
        *seen.1.lock().unwrap(),
        ["The book\nlantern stands in line 0007"]
    );
    let context = mnemic::context(&hits);
    assert!(
        context.ends_with(": The book\n  lantern stands in line 0007\n"),
        "{context}"
    );
    let small = memory
        .recall(
            at("lantern stands in line 0007")
                .passages(1)
                .budget(40, EstimatedTokens),
        )
        .unwrap();
    assert_eq!(small.len(), 1);
    assert!(EstimatedTokens.count(&mnemic::context(&small)) <= 40);
}

#[test]
fn the_text_of_a_hit_says_shared_text_once_and_marks_gaps() {
    let memory = memory();
    let source = "aaa bbb ccc ddd eee fff ggg hhh";
    memory
        .store_document(
            NewDocument::new("T")
                .source(source)
                .chunking(Chunking::characters(11, 4))
                .preview(0),
        )
        .unwrap();
    let hits = memory
        .recall(at("aaa bbb ccc ddd eee fff ggg hhh").passages(9))
        .unwrap();
    let text = hits[0].text().replace('…', "").replace(['\n', ' '], "");
    assert_eq!(text, format!("T{}", source.replace(' ', "")));
    let two = memory
        .recall(at("aaa hhh").preset(Preset::word_only()).passages(9))
        .unwrap();
    assert!(two[0].text().contains("\n…\n"), "{}", two[0].text());
}

#[derive(Debug, Clone)]
struct Shape {
    documents: Vec<(u8, usize)>,
    memories: Vec<u8>,
    limit: usize,
    asked: u8,
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        prop::collection::vec((0..4u8, 1..40usize), 0..8),
        prop::collection::vec(0..4u8, 0..12),
        1..8usize,
        0..4u8,
    )
        .prop_map(|(documents, memories, limit, asked)| Shape {
            documents,
            memories,
            limit,
            asked,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Hits are distinct, as many as there are or the limit, ordered, and those of a larger limit begin with them; each
    /// document's relevance follows the rule from its card's and its best passage's.
    #[test]
    fn a_limit_gives_so_many_things(shape in shape()) {
        let words = ["cedar", "maple", "birch", "aspen"];
        let memory = memory();
        for (i, (word, count)) in shape.documents.iter().enumerate() {
            memory.store_document(about(&format!("D{i}"), words[usize::from(*word)], *count)).unwrap();
        }
        for (i, word) in shape.memories.iter().enumerate() {
            memory.store(format!("{} in the memory {i}", words[usize::from(*word)])).unwrap();
        }
        let question = format!("{} stands in line", words[usize::from(shape.asked)]);
        let ask = |limit: usize| memory.recall(at(&question).limit(limit)).unwrap();
        let hits = ask(shape.limit);
        let all = ask(1_000);
        prop_assert_eq!(all.len(), shape.documents.len() + shape.memories.len());
        prop_assert_eq!(hits.len(), shape.limit.min(all.len()));
        let mut ids: Vec<&str> = all.iter().map(|hit| hit.memory.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), all.len());
        prop_assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let cards = memory.recall(at(&question).limit(1_000).passage_weight(0.0)).unwrap();
        for hit in &all {
            let card = cards.iter().find(|card| card.memory.id == hit.memory.id).unwrap();
            let best = hit.passages.first().map(|passage| passage.relevance);
            prop_assert_eq!(hit.relevance, card.relevance.max(best.unwrap_or(0.0)));
        }
        let same: Vec<&str> = all.iter().take(shape.limit).map(|hit| hit.memory.id.as_str()).collect();
        let found: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
        prop_assert_eq!(found, same);
    }
}

/// Quotes, names and messages: what is asked for as a phrase is in every hit as it is spelled; quotation marks in a
/// question are no phrase.
#[test]
fn a_phrase_is_in_every_hit() {
    let memory = memory();
    let book =
        "The lamp went out.\n\nIt cannot borrow\r\nthe light of others.\n\nThe end, said E0502.";
    let id = memory
        .store_document(
            NewDocument::new("A book")
                .source(book)
                .chunking(one_a_line(24))
                .preview(0)
                .project("p"),
        )
        .unwrap()
        .id;
    memory
        .store(
            NewMemory::new("error[E0502]: cannot borrow `x` as mutable")
                .id("e")
                .project("p"),
        )
        .unwrap();
    memory
        .store(
            NewMemory::new("borrow what you cannot buy")
                .id("other")
                .project("p"),
        )
        .unwrap();
    memory
        .store(
            NewMemory::new("he cannot borrow it")
                .id("elsewhere")
                .project("q"),
        )
        .unwrap();
    let p = |question: &str| Recall::new(question).project("p").now(time("2026-06-01"));
    for _ in 0..3 {
        let found = |recall: Recall| {
            let mut ids: Vec<String> = memory
                .recall(recall)
                .unwrap()
                .into_iter()
                .map(|hit| hit.memory.id)
                .collect();
            ids.sort();
            ids
        };
        let mut both = [id.clone(), "e".to_owned()];
        both.sort();
        assert_eq!(found(p("").phrase("CANNOT  borrow")), both);
        assert_eq!(found(p("what went wrong").phrase("cannot borrow")), both);
        assert_eq!(found(p("").phrase("cannot borrow").phrase("E0502")), both);
        assert_eq!(found(p("").phrase("cannot borrow `x`")), ["e"]);
        assert_eq!(
            found(p("").phrase("borrow the light of others. The end")),
            [id.as_str()],
            "over two passages"
        );
        assert_eq!(found(p("").phrase("annot borrow")), [""; 0]);
        assert_eq!(found(p("").phrase("borrow cannot")), [""; 0]);
        assert_eq!(
            found(p("\"cannot borrow\"")).len(),
            3,
            "a quotation mark asks for nothing"
        );
        let passages = memory
            .recall_passages(p("").phrase("cannot borrow"))
            .unwrap();
        assert_eq!(passages.len(), 1);
        assert!(passages[0].passage.text.contains("cannot borrow"));
        let hits = memory.recall(p("lamp").phrase("cannot borrow")).unwrap();
        let book = hits.iter().find(|hit| hit.memory.id == id).unwrap();
        assert!(
            book.passages
                .iter()
                .all(|hit| hit.passage.text.contains("cannot borrow"))
        );
        memory.warm_up().unwrap();
    }
    let explained = memory
        .explain(p("borrow").phrase("cannot borrow"), "other")
        .unwrap();
    assert!(explained.to_string().contains("(phrase)"), "{explained}");
    // Bound handles stay bound.
    assert_eq!(
        memory
            .in_project("q")
            .recall(Recall::new("").phrase("cannot borrow"))
            .unwrap()
            .len(),
        1
    );
    // A phrase may be anything.
    for phrase in ["", " ", "\"", "->", "*", "'; DROP TABLE memories; --", "👩‍👩‍👧"] {
        memory.recall(p("borrow").phrase(phrase)).unwrap();
        memory.recall_passages(p("borrow").phrase(phrase)).unwrap();
    }
    assert!(memory.recall(p("borrow").phrase("->")).unwrap().is_empty());
    whole(&memory);
}

//! Passages beside what else a recall weighs: entities, links, plans, phrases; and that few documents cost little.

use mnemic::{
    Chunking, ErrorKind, EstimatedTokens, Expand, Hit, Intent, Memory, NewDocument, NewMemory,
    Plan, Preset, Recall, Scope,
};

use crate::documents::whole;
use crate::support::{memory, time};

fn at(question: &str) -> Recall {
    Recall::new(question)
        .scope(Scope::All)
        .now(time("2026-06-01"))
}

fn words() -> Memory {
    Memory::builder().no_embedder().open_in_memory().unwrap()
}

/// A document of so many passages about a word, a line each, none of them on its card.
fn about(title: &str, word: &str, count: usize) -> NewDocument {
    let lines: Vec<String> = (0..count)
        .map(|i| format!("{word} stands in line {i:04}"))
        .collect();
    NewDocument::new(title)
        .source(lines.join("\n\n"))
        .chunking(Chunking::characters(word.len() + 24, 0))
        .preview(0)
        .created_at(time("2026-05-01"))
}

fn find<'a>(hits: &'a [Hit], id: &str) -> &'a Hit {
    hits.iter().find(|hit| hit.memory.id == id).unwrap()
}

/// Of a small library not every passage is read, and each book is found all the same.
#[test]
fn few_documents_are_not_read_to_their_ends() {
    for memory in [memory(), words()] {
        let mut ids: Vec<String> = (0..3)
            .map(|i| {
                let book = about(&format!("Book {i}"), "harbour", 900);
                memory.store_document(book).unwrap().id
            })
            .collect();
        let leaflet = about("Leaflet", "quarry", 2);
        ids.push(memory.store_document(leaflet).unwrap().id);
        ids.sort();
        for _ in 0..3 {
            for preset in [
                Preset::default(),
                Preset::word_only(),
                Preset::reciprocal_rank(),
            ] {
                let recall = at("harbour quarry stands in line")
                    .preset(preset)
                    .passages(5_000);
                let hits = memory.recall(recall.clone()).unwrap();
                let mut found: Vec<&str> = hits.iter().map(|hit| &*hit.memory.id).collect();
                found.sort_unstable();
                assert_eq!(found, ids);
                let scored: usize = hits.iter().map(|hit| hit.passages.len()).sum();
                assert!((4..=800).contains(&scored), "{scored} passages were scored");
                assert_eq!(memory.recall(recall).unwrap(), hits);
            }
            memory.warm_up().unwrap();
        }
        whole_if_embedded(&memory);
    }
}

fn whole_if_embedded(memory: &Memory) {
    if memory.coverage().unwrap().chunks_embedded > 0 {
        whole(memory);
    }
}

/// A document is compared with its like: the entity that it lacks counts for its passages too.
#[test]
fn a_passage_has_the_entities_of_its_document() {
    let memory = memory();
    let lacks = about("Plain", "granite", 3);
    let lacks = memory.store_document(lacks).unwrap().id;
    let has = NewMemory::new("granite stands in line 0001 of Anna")
        .id("has")
        .entities(["Anna"])
        .created_at(time("2026-05-01"));
    memory.store(has).unwrap();
    let question = "granite stands in line 0001 Anna";
    for (preset, weight, by_rank) in [
        (Preset::default().weights(0.5, 0.5), 1.0, false),
        (Preset::rekal().weights(0.4, 0.4), 0.8, false),
        (Preset::default().weights(1.0, 0.0), 1.0, false),
        (Preset::reciprocal_rank(), 2.0, true),
    ] {
        let without = memory.recall(at(question).preset(preset)).unwrap();
        let with = memory
            .recall(at(question).preset(preset).entity_weight(3.0))
            .unwrap();
        assert_eq!(with[0].memory.id, "has", "{preset:?}");
        let (plain, document) = (find(&without, &lacks), find(&with, &lacks));
        assert_eq!(document.signals.entity, Some(0.0));
        let best = plain.passages[0].relevance;
        let expected = match by_rank {
            true => best,
            false => best * weight / (weight + 3.0),
        };
        let passage = document.signals.passage.unwrap();
        assert!(
            (passage - expected).abs() < 1e-12,
            "{preset:?}: {passage} {expected}"
        );
        assert_eq!(
            document.relevance,
            passage.max(document.signals.card.unwrap_or(0.0))
        );
        // The passage itself is what it was.
        assert_eq!(document.passages[0].relevance, best);
    }
    // No weights are too large to count with.
    let huge = Preset::rekal().weights(f64::MAX, f64::MAX);
    for hit in memory
        .recall(at(question).preset(huge).entity_weight(f64::MAX))
        .unwrap()
    {
        assert!(!hit.score.is_nan() && !hit.relevance.is_nan(), "{hit:?}");
    }
}

/// A phrase that no passage holds whole is found by words alone, and where a cut parts two characters.
#[test]
fn a_phrase_over_two_passages_needs_no_vectors() {
    for memory in [memory(), words()] {
        let book = NewDocument::new("A book")
            .source("It cannot borrow\r\nthe light of others.\n\nThe end, said E0502.")
            .chunking(Chunking::characters(24, 0))
            .preview(0);
        let book = memory.store_document(book).unwrap().id;
        let tower = NewDocument::new("Tower")
            .source("昨天我们去了东京塔看夜景")
            .chunking(Chunking::characters(7, 0))
            .preview(0);
        let tower = memory.store_document(tower).unwrap().id;
        memory.store("the light of the others, the end").unwrap();
        assert!(memory.passages_of(&tower).unwrap()[0].text.ends_with('东'));
        for _ in 0..3 {
            for (phrase, id) in [
                ("the light of others. The end", &book),
                ("了东京塔", &tower),
            ] {
                for preset in [Preset::default(), Preset::word_only()] {
                    let recall = at("").phrase(phrase).preset(preset);
                    let hits = memory.recall(recall.clone()).unwrap();
                    assert_eq!(hits.len(), 1, "{phrase}");
                    assert_eq!(hits[0].memory.id, *id);
                    // Two phrases, and another filter, hold as well.
                    assert!(
                        memory
                            .recall(recall.clone().phrase("nowhere"))
                            .unwrap()
                            .is_empty()
                    );
                    assert!(memory.recall(recall.tags_any(["x"])).unwrap().is_empty());
                }
            }
            memory.warm_up().unwrap();
        }
    }
}

/// What joins by a link has its passages, as what was found has.
#[test]
fn a_document_that_a_link_leads_to_has_its_passages() {
    let memory = words();
    let start = NewMemory::new("deploys freeze").created_at(time("2026-05-01"));
    let start = memory.store(start).unwrap().id;
    let other = about("Minutes", "granite", 4)
        .source("granite stands here\n\nwho thaws the river, who thaws the lake");
    let other = memory.store_document(other).unwrap().id;
    memory
        .relate((&*start, &*other, "cites", "by name"))
        .unwrap();
    let hits = memory.recall(at("deploys").expand(Expand::new())).unwrap();
    let joined = find(&hits, &other);
    assert!(joined.signals.expanded.is_some());
    assert_eq!(joined.passages.len(), 3, "{:?}", joined.passages);
    assert_eq!(joined.signals.passage, Some(0.0));
    // A plan prefers its kind as that of any other.
    let plan = Plan::new(Intent::General)
        .prefer_kinds(["semantic"], 0.1)
        .expand(Expand::new());
    let planned = memory.recall(at("deploys").plan(plan)).unwrap();
    assert_eq!(find(&planned, &other).signals.raised, 0.1);
    assert_eq!(find(&planned, &start).signals.raised, 0.1);
}

/// What passages do not have is refused, and not passed over in silence.
#[test]
fn passages_refuse_what_is_of_memories_alone() {
    let memory = words();
    memory.store_document(about("A", "granite", 3)).unwrap();
    for (recall, what) in [
        (at("granite").budget(100, EstimatedTokens), "budget"),
        (at("granite").expand(Expand::new()), "expand"),
        (at("granite").touch(), "touch"),
        (at("granite").min_percentile(50.0), "min_percentile"),
    ] {
        let error = memory.recall_passages(recall).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(what), "{error}");
    }
    assert_eq!(memory.recall_passages(at("granite")).unwrap().len(), 3);
}

/// What an explanation prints of a document that a passage raised adds up, by each formula.
#[test]
fn an_explanation_says_what_a_passage_did() {
    let memory = memory();
    let id = memory
        .store_document(about("A page", "meadow", 4))
        .unwrap()
        .id;
    let rekal = Preset::rekal().weights(0.4, 0.4).recency(0.2, 30.0);
    for preset in [Preset::default(), rekal, Preset::reciprocal_rank()] {
        let recall = at("meadow stands in line 0002")
            .preset(preset)
            .passage_weight(0.5);
        let explained = memory.explain(recall, &id).unwrap();
        let signals = explained.signals.clone().unwrap();
        let (card, passage) = (signals.card, signals.passage.unwrap());
        let text = explained.to_string();
        let relevance = explained.relevance.unwrap();
        if preset == Preset::reciprocal_rank() && card.is_none() {
            assert!(!text.contains("passage "), "{text}");
            continue;
        }
        let card = card.unwrap();
        assert!((relevance - (card + 0.5 * (passage - card))).abs() < 1e-12);
        for line in [
            format!("  card       {card:.3}"),
            format!("  passage    {passage:.4}, its best one\n"),
            format!("  relevance  {relevance:.4} = card + 0.5 · (passage − card)\n"),
        ] {
            assert!(text.contains(&line), "{line:?} in {text}");
        }
        let score = explained.score.unwrap();
        if preset == rekal {
            let sum = 0.4 * signals.word
                + 0.4 * signals.vector
                + 0.2 * signals.recency
                + 0.8 * (relevance - card);
            assert!((score - sum).abs() < 1e-9, "{score} {sum}");
            assert!(text.contains("· (relevance − card)\n"), "{text}");
        }
    }
}

/// Neighbours without overlap have nothing between them.
#[test]
fn no_ellipsis_stands_between_neighbours() {
    let memory = words();
    let id = memory
        .store_document(about("Lines", "willow", 5))
        .unwrap()
        .id;
    let recall = at("0000 0001 0003").passages(3);
    let hits = memory.recall(recall).unwrap();
    assert_eq!(
        find(&hits, &id).text(),
        "Lines\nwillow stands in line 0000\nwillow stands in line 0001\n…\nwillow stands in line 0003"
    );
}

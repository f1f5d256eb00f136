//! Entities of memories: given, found, changed, looked up, filtered by, and as a leg of recall.

use std::sync::{Arc, Mutex};

use mnemic::{
    Condition, Dropped, EntityExtractor, ErrorKind, Export, ExtractError, Gate, Import, Memory,
    MemoryUpdate, NewMemory, OnConflict, Outcome, Preset, Recall, RuleExtractor, Scope, Timeline,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{builder, contents, memory, sound, time};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn finding() -> Memory {
    builder()
        .entity_extractor(RuleExtractor::new())
        .open_in_memory()
        .unwrap()
}

/// Texts, what was found right in them, what was found, what is marked.
type Counts = [usize; 4];

/// `cargo test -p mnemic --test it entities::rules -- --nocapture` prints the figures of docs/entities-and-intent.md.
#[test]
fn rules_find_what_is_marked_as_often_as_measured() {
    let text = include_str!("../fixtures/entities.tsv");
    let extractor = RuleExtractor::new();
    let mut sums: std::collections::BTreeMap<String, Counts> = Default::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [lot, language, text, marked] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let marked: Vec<&str> = marked
            .split(" | ")
            .filter(|name| !name.is_empty())
            .collect();
        let found = extractor.extract(&[text]).unwrap().remove(0);
        let right = found.iter().filter(|name| marked.contains(&name.as_str()));
        let counts = [1, right.count(), found.len(), marked.len()];
        if counts[1] < found.len() || counts[1] < marked.len() {
            println!("{lot} {language} {text:?}: found {found:?}, marked {marked:?}");
        }
        for key in [format!("lot {lot}"), language.to_owned()] {
            let sum = sums.entry(key).or_default();
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }
    for (key, [texts, right, found, marked]) in &sums {
        println!("{key}: {texts} texts, {right} right of {found} found, of {marked} marked");
    }
    for (lot, measured) in [("lot 1", [71, 89, 97, 102]), ("lot 2", [30, 39, 41, 46])] {
        let [texts, right, found, marked] = sums[lot];
        assert_eq!([texts, marked], [measured[0], measured[3]]);
        let as_precise = right * measured[2] >= measured[1] * found;
        assert!(as_precise && right >= measured[1], "{lot}: {:?}", sums[lot]);
    }
}

#[test]
fn they_are_kept_as_given_and_come_back_with_the_memory() {
    let memory = memory();
    let new = NewMemory::new("likes tea")
        .id("a")
        .entities(["Zoë", "tea", "ZOË"]);
    memory.store(new).unwrap();
    memory
        .store(NewMemory::new("Anna likes tea").id("b"))
        .unwrap();
    assert_eq!(memory.entities_of("a").unwrap(), ["Zoë", "tea"]);
    assert_eq!(memory.get("a").unwrap().unwrap().entities, ["Zoë", "tea"]);
    assert_eq!(
        memory.entities_of("b").unwrap(),
        [""; 0],
        "nothing looks for any"
    );
    assert_eq!(
        memory
            .recall("tea")
            .unwrap()
            .iter()
            .filter(|hit| hit.memory.entities.len() == 2)
            .count(),
        1
    );
    let missing = memory.entities_of("nobody").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let blank = memory
        .store(NewMemory::new("x").entities(["Anna", " "]))
        .unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::InvalidInput);
    let blank = memory
        .update("a", MemoryUpdate::new().entities([""]))
        .unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::InvalidInput);
    assert_eq!(memory.health().unwrap().memories, 2);
    sound(&memory);
}

#[test]
fn an_extractor_finds_them_where_none_were_given() {
    let memory = finding();
    let stored = memory
        .store_all([
            NewMemory::new("ask Anna about KX-204"),
            NewMemory::new("ask Anna about it").entities(["the audit"]),
            NewMemory::new("ask Anna about it").entities([""; 0]),
        ])
        .unwrap();
    let of = |i: usize| memory.entities_of(&stored[i].id).unwrap();
    assert_eq!(of(0), ["Anna", "KX-204"]);
    assert_eq!(of(1), ["the audit"]);
    assert_eq!(of(2), [""; 0], "none is said too");

    // Another text has other entities, whoever gave the old ones; another tag changes none.
    let id = &stored[1].id;
    memory.update(id, MemoryUpdate::new().tags(["x"])).unwrap();
    assert_eq!(of(1), ["the audit"]);
    let changed = memory.update(id, "ask Bob about it").unwrap();
    assert_eq!(changed.entities, ["Bob"]);
    let named = MemoryUpdate::new()
        .content("ask Carol")
        .entities(["the boss"]);
    assert_eq!(memory.update(id, named).unwrap().entities, ["the boss"]);
    let alone = memory
        .update(id, MemoryUpdate::new().entities([""; 0]))
        .unwrap();
    assert_eq!(alone.entities, [""; 0]);

    let gated = memory
        .store_with("ask Erin about the tea", &Gate::new())
        .unwrap();
    assert_eq!(memory.entities_of(gated.id().unwrap()).unwrap(), ["Erin"]);

    let replaced = memory.replace(id, "ask Dave").unwrap();
    assert_eq!(memory.entities_of(&replaced.id).unwrap(), ["Dave"]);
    sound(&memory);
}

#[test]
fn without_an_extractor_a_change_leaves_them_and_a_replacement_inherits_them() {
    let memory = memory();
    let id = memory
        .store(NewMemory::new("she likes tea").entities(["Anna"]))
        .unwrap()
        .id;
    assert_eq!(
        memory.update(&id, "she likes coffee").unwrap().entities,
        ["Anna"]
    );
    let new = memory.replace(&id, "she likes milk").unwrap().id;
    assert_eq!(memory.entities_of(&new).unwrap(), ["Anna"]);
    let other = memory
        .replace(&new, NewMemory::new("he does").entities(["Bob"]))
        .unwrap()
        .id;
    assert_eq!(memory.entities_of(&other).unwrap(), ["Bob"]);
    assert_eq!(memory.entities(10).unwrap().len(), 1);
}

#[test]
fn they_are_counted_and_looked_up_by_project() {
    let memory = memory();
    let web = memory.in_project("web");
    memory
        .store(NewMemory::new("global").entities(["Anna", "Bob"]))
        .unwrap();
    web.store(
        NewMemory::new("first")
            .entities(["anna"])
            .created_at(time("2026-05-01")),
    )
    .unwrap();
    web.store(
        NewMemory::new("second")
            .entities(["anna", "KX-204"])
            .created_at(time("2026-05-02")),
    )
    .unwrap();
    let told = |counts: Vec<mnemic::EntityCount>| -> Vec<(String, u64)> {
        counts
            .into_iter()
            .map(|count| (count.name, count.memories))
            .collect()
    };
    assert_eq!(
        told(memory.entities(2).unwrap()),
        [("anna".to_owned(), 3), ("Bob".to_owned(), 1)]
    );
    assert_eq!(
        told(web.entities(9).unwrap()),
        [("anna".to_owned(), 2), ("KX-204".to_owned(), 1)]
    );
    let texts = |found: Vec<mnemic::StoredMemory>| -> Vec<String> {
        found.into_iter().map(|memory| memory.content).collect()
    };
    assert_eq!(
        texts(memory.with_entity("ANNA").unwrap()),
        ["global", "second", "first"]
    );
    assert_eq!(texts(web.with_entity("ANNA").unwrap()), ["second", "first"]);
    assert_eq!(texts(web.with_entity("Bob").unwrap()), [""; 0]);
    let timeline = Timeline::new()
        .scope(Scope::Global)
        .entities_any(["x", "bob"]);
    assert_eq!(texts(memory.timeline(timeline).unwrap()), ["global"]);
    let id = memory.with_entity("Bob").unwrap()[0].id.clone();
    assert_eq!(
        web.entities_of(&id).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

/// Lists, or why there are none.
type Answer = Result<Vec<Vec<String>>, &'static str>;

/// Fails, lies, or counts the texts it was given.
#[derive(Debug, Default)]
struct Odd {
    answer: Mutex<Option<Answer>>,
    texts: Mutex<Vec<String>>,
}

impl EntityExtractor for Odd {
    fn extract(&self, texts: &[&str]) -> Result<Vec<Vec<String>>, ExtractError> {
        self.texts
            .lock()
            .unwrap()
            .extend(texts.iter().map(|text| (*text).to_owned()));
        match self.answer.lock().unwrap().clone() {
            Some(Ok(lists)) => Ok(lists),
            Some(Err(reason)) => Err(ExtractError::new(reason).caused_by("below")),
            None => Ok(texts.iter().map(|_| names(&["Found", " "])).collect()),
        }
    }
}

#[test]
fn an_extractor_that_fails_or_lies_stores_nothing() {
    let odd = Arc::new(Odd::default());
    let memory = builder()
        .entity_extractor(Arc::clone(&odd))
        .open_in_memory()
        .unwrap();
    let id = memory.store("a text").unwrap().id;
    assert_eq!(
        memory.entities_of(&id).unwrap(),
        ["Found"],
        "what is blank is left out"
    );
    for lists in [Ok(vec![]), Ok(vec![vec![], vec![]]), Err("no model")] {
        *odd.answer.lock().unwrap() = Some(lists.clone());
        for error in [
            memory.store("another").unwrap_err(),
            memory.update(&id, "another").unwrap_err(),
            memory.replace(&id, "another").unwrap_err(),
            memory
                .recall(Recall::new("text").entity_weight(1.0))
                .unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Extraction, "{error}");
            let expected = if lists.is_err() {
                "no model"
            } else {
                "broke its contract"
            };
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    assert_eq!(memory.get(&id).unwrap().unwrap().content, "a text");
    assert_eq!(memory.health().unwrap().memories, 1);
    let source = std::error::Error::source(&memory.store("another").unwrap_err())
        .unwrap()
        .to_string();
    assert_eq!(source, "below");
    // It is asked only where it has to be.
    odd.texts.lock().unwrap().clear();
    memory.recall("text").unwrap();
    memory.update(&id, MemoryUpdate::new().tags(["x"])).unwrap();
    memory
        .store(NewMemory::new("named").entities(["Anna"]))
        .unwrap();
    assert!(odd.texts.lock().unwrap().is_empty());
}

#[test]
fn they_go_out_and_come_in() {
    let from = memory();
    from.store_all([
        NewMemory::new("ask Anna")
            .id("a")
            .entities(["Zoë", "a \"quote\""]),
        NewMemory::new("ask Bob").id("b"),
    ])
    .unwrap();
    let mut lines = Vec::new();
    from.export(Export::new(), &mut lines).unwrap();
    let text = String::from_utf8(lines.clone()).unwrap();
    assert_eq!(
        text.matches("\"entities\"").count(),
        1,
        "nothing is said where there are none"
    );

    let plain = memory();
    assert_eq!(
        plain.import(Import::jsonl(lines.as_slice())).unwrap().added,
        2
    );
    assert_eq!(plain.get("a").unwrap(), from.get("a").unwrap());
    assert_eq!(plain.get("b").unwrap(), from.get("b").unwrap());

    let finds = finding();
    assert_eq!(
        finds.import(Import::jsonl(lines.as_slice())).unwrap().added,
        2
    );
    assert_eq!(finds.entities_of("a").unwrap(), ["Zoë", "a \"quote\""]);
    assert_eq!(
        finds.entities_of("b").unwrap(),
        ["Bob"],
        "found, as none came along"
    );
    assert_eq!(
        finds
            .import(Import::jsonl(lines.as_slice()))
            .unwrap()
            .unchanged,
        2
    );

    // What came along and differs is another memory; what was found here is not.
    finds
        .update("a", MemoryUpdate::new().entities(["Zoë"]))
        .unwrap();
    let again = || Import::jsonl(lines.as_slice());
    assert_eq!(
        finds.import(again()).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    let report = finds
        .import(again().on_conflict(OnConflict::Replace))
        .unwrap();
    assert_eq!((report.replaced, report.unchanged), (1, 1));
    assert_eq!(finds.entities_of("a").unwrap(), ["Zoë", "a \"quote\""]);

    let bad = r#"{"type":"header","format":"mnemic","version":1}
{"type":"memory","id":"c","content":"x","created_at":"2026-05-01","entities":["Anna",""]}"#;
    let error = plain.import(Import::jsonl(bad.as_bytes())).unwrap_err();
    assert!(
        error.to_string().contains("line 2: field \"entities\""),
        "{error}"
    );
}

/// Handles to one file: the one searches the file, the other its index.
fn both(path: &std::path::Path) -> [Memory; 2] {
    [0, 1 << 30].map(|budget| {
        let memory = builder().index_budget(budget).open(path).unwrap();
        memory.warm_up().unwrap();
        memory
    })
}

#[test]
fn a_filter_and_the_leg_answer_alike_by_file_and_by_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let [file, index] = both(&path);
    let new = |i: usize| {
        let new = NewMemory::new(format!("note {i} of many"))
            .id(format!("{i:03}"))
            .created_at(time("2026-05-01"));
        let new = if i.is_multiple_of(3) {
            new.project("web")
        } else {
            new
        };
        match i % 5 {
            0 => new.entities(["Anna"]),
            1 => new.entities(["Bob", "ANNA"]),
            _ => new,
        }
    };
    file.store_all((0..100).map(new)).unwrap();
    let ask = || {
        Recall::new("note of anna and KX-204 and bob")
            .scope(Scope::All)
            .no_limit()
            .now(time("2026-05-31"))
    };
    let agree = |recall: Recall| {
        let [a, b] = [&file, &index].map(|memory| memory.recall(recall.clone()).unwrap());
        assert_eq!(a, b);
        assert!(index.health().unwrap().index_bytes > 0);
        a
    };
    assert_eq!(agree(ask().entities_any(["bob"])).len(), 20);
    assert_eq!(agree(ask().entities_any(["anna"]).project("web")).len(), 14);
    assert_eq!(agree(ask().entities_any(["x"])).len(), 0);
    // A second question of the same index, after changes by the other handle.
    file.update("002", MemoryUpdate::new().entities(["bob"]))
        .unwrap();
    file.update("001", MemoryUpdate::new().entities([""; 0]))
        .unwrap();
    let ids: Vec<String> = agree(ask().entities_any(["bob"]))
        .into_iter()
        .map(|hit| hit.memory.id)
        .collect();
    assert!(ids.contains(&"002".to_owned()) && !ids.contains(&"001".to_owned()));
    for recall in [
        ask(),
        ask().project("web"),
        ask().tags_none(["x"]).limit(7),
        ask().entities_any(["anna"]),
    ] {
        for preset in [
            Preset::default(),
            Preset::rekal(),
            Preset::reciprocal_rank(),
            Preset::word_only(),
        ] {
            let hits = agree(recall.clone().preset(preset).entity_weight(0.7));
            assert!(hits[0].signals.entity.unwrap() > 0.9, "{}", hits[0].signals);
        }
    }
}

#[test]
fn a_recall_without_a_weight_or_a_known_entity_is_what_it_was() {
    let memory = finding();
    memory
        .store_all([
            "ask Anna about the key",
            "the key is in the drawer",
            "ask Bob about tea",
        ])
        .unwrap();
    let ask = |text: &str| Recall::new(text).now(time("2026-05-31"));
    for preset in [
        Preset::default(),
        Preset::rekal(),
        Preset::reciprocal_rank(),
    ] {
        let plain = memory
            .recall(ask("where is the key of Carol?").preset(preset))
            .unwrap();
        for weight in [0.0, -1.0, f64::NAN, 0.5] {
            let recall = ask("where is the key of Carol?")
                .preset(preset)
                .entity_weight(weight);
            assert_eq!(memory.recall(recall).unwrap(), plain);
        }
        assert!(
            plain
                .iter()
                .all(|hit| hit.signals.entity.is_none() && hit.signals.entity_rank.is_none())
        );
        assert!(!plain[0].signals.to_string().contains("entities"));
    }
}

#[test]
fn the_leg_finds_what_neither_words_nor_vectors_do() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    let store = |id: &str, text: &str, entities: &[&str]| {
        let new = NewMemory::new(text).id(id).entities(names(entities));
        memory.store(new.created_at(time("2026-05-01"))).unwrap();
    };
    store("tea", "she prefers tea", &["Anna"]);
    store("both", "they met in spring", &["anna", "Bob"]);
    store("tower", "夜景很美", &["東京塔"]);
    store("none", "what to drink in the office", &[]);
    let ask = |text: &str| Recall::new(text).entity_weight(0.5).now(time("2026-05-31"));
    let found = |text: &str| -> Vec<String> {
        let hits = memory.recall(ask(text)).unwrap();
        hits.into_iter().map(|hit| hit.memory.id).collect()
    };
    assert_eq!(found("and Anna?"), ["both", "tea"]);
    assert_eq!(found("東京塔在哪里"), ["tower"]);

    // Bob is rarer than Anna: of ln(1 + 53.5 / 1.5) and ln(1 + 52.5 / 2.5).
    let hits = memory.recall(ask("anna's and bob's, and Carol's")).unwrap();
    let (bob, anna) = ((1.0f64 + 53.5 / 1.5).ln(), (1.0f64 + 52.5 / 2.5).ln());
    assert_eq!(hits[0].signals.entity, Some(1.0));
    assert!((hits[1].signals.entity.unwrap() - anna / (anna + bob)).abs() < 1e-12);
    assert_eq!(
        [hits[0].signals.entity_rank, hits[1].signals.entity_rank],
        [Some(1), Some(2)]
    );
    // (0.5 · 0 + 0.5 · 1) / (0.5 + 0.5) of words and entities.
    assert!((hits[0].relevance - 0.5).abs() < 1e-12);
    let line = hits[0].signals.to_string();
    assert!(line.contains("entities 1.00, rank 1"), "{line}");

    let explained = memory.explain(ask("and Anna?"), "tea").unwrap();
    assert_eq!(explained.outcome, Outcome::Hit { rank: 2, of: 2 });
    let text = explained.to_string();
    assert!(text.contains("entities   1.000, rank 1"), "{text}");
    assert!(
        text.contains("(0.5 · words + 0.5 · entities) / 1"),
        "{text}"
    );
    let none = memory.explain(ask("and Anna?"), "none").unwrap();
    assert!(matches!(
        none.outcome,
        Outcome::Dropped(Dropped::NotACandidate {
            entity_rank: None,
            ..
        })
    ));
    let filtered = memory
        .explain(ask("tea").entities_any(["bob"]), "tea")
        .unwrap();
    let failed = vec![Condition::EntitiesAny(names(&["bob"]))];
    assert!(
        filtered
            .to_string()
            .contains("none of the entities [\"bob\"] (entities_any)")
    );
    assert_eq!(
        filtered.outcome,
        Outcome::Dropped(Dropped::Filter { failed })
    );
    assert_eq!(
        contents(&memory.recall(ask("anna").entities_any(["bob"])).unwrap()),
        ["they met in spring"]
    );
}

proptest! {
    #![proptest_config(Config::with_cases(32))]

    /// By whatever is asked: file and index agree, the signal is in its range, ranks follow it, and a filter by entities is
    /// what is left of all.
    #[test]
    fn any_question_is_answered_soundly(
        rows in prop::collection::vec((prop::collection::vec(prop::sample::select(vec!["Anna", "Bob", "夜景", "x y"]), 0..3), any::<bool>()), 1..30),
        asked in prop::collection::vec(prop::sample::select(vec!["anna", "Bob", "夜景", "x", "y", "note"]), 1..5),
        weight in 0.0..3.0f64, limit in 1usize..12, filter in prop::option::of(prop::sample::select(vec!["ANNA", "bob"])),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let [file, index] = both(&folder.path().join("a.db"));
        file.store_all(rows.iter().enumerate().map(|(i, (entities, web))| {
            let new = NewMemory::new(format!("note {i}")).entities(entities.clone()).created_at(time("2026-05-01"));
            if *web { new.project("web") } else { new }
        })).unwrap();
        let mut recall = Recall::new(asked.join(" ")).scope(Scope::All).limit(limit).entity_weight(weight).now(time("2026-05-31"));
        if let Some(entity) = filter {
            recall = recall.entities_any([entity]);
        }
        let [hits, same] = [&file, &index].map(|memory| memory.recall(recall.clone()).unwrap());
        prop_assert_eq!(&hits, &same);
        for hit in &hits {
            let signal = hit.signals.entity.unwrap_or(0.0);
            prop_assert!((0.0..=1.0).contains(&signal) && (0.0..=1.0).contains(&hit.score));
            prop_assert_eq!(signal == 0.0, hit.signals.entity_rank.is_none());
            for other in &hits {
                if let (Some(a), Some(b)) = (hit.signals.entity_rank, other.signals.entity_rank) {
                    prop_assert_eq!(a < b, signal > other.signals.entity.unwrap());
                }
            }
            if let Some(entity) = filter {
                prop_assert!(hit.memory.entities.iter().any(|name| name.to_lowercase() == entity.to_lowercase()));
            }
        }
    }
}

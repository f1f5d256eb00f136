//! What recall answers, against values worked out by hand.

use mnemic::{Memory, NewMemory, Preset, Recall, Scope};

use crate::support::{Parsed, contents, memory, time};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

/// rekal's formula on signals that are known: cosine .8 and .6 exactly, one word in one of two memories, ages of 0 and 30
/// days.
#[test]
fn the_rekal_preset_is_its_formula() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let now = time("2026-06-01");
    memory
        .store_all([
            NewMemory::new("[0.8 0.6 0] zebra").id("a").created_at(now),
            NewMemory::new("[0.6 0.8 0] horse")
                .id("b")
                .created_at(time("2026-05-02")),
            NewMemory::new("[0 0 1] cow").id("c").created_at(now),
            NewMemory::new("[0 -1 0] goat").id("d").created_at(now),
        ])
        .unwrap();
    let hits = memory
        .recall(
            Recall::new("[1 0 0] zebra")
                .preset(Preset::rekal())
                .now(now),
        )
        .unwrap();
    assert_eq!(
        contents(&hits),
        [
            "[0.8 0.6 0] zebra",
            "[0.6 0.8 0] horse",
            "[0 0 1] cow",
            "[0 -1 0] goat"
        ]
    );
    let bm25 = hits[0].signals.bm25.unwrap();
    let word = 1.0 / (1.0 + (-bm25).exp());
    close(hits[0].signals.word, word);
    close(hits[0].signals.cosine.unwrap(), 0.8);
    close(hits[0].score, 0.4 * word + 0.4 * 0.8 + 0.2);
    close(hits[0].relevance, (0.4 * word + 0.4 * 0.8) / 0.8);
    // The numbers of the query (1 and 0) are words of the memories too: each has some word signal.
    let second = &hits[1];
    let second_word = second
        .signals
        .bm25
        .map_or(0.0, |bm25| 1.0 / (1.0 + (-bm25).exp()));
    close(
        second.score,
        0.4 * second_word + 0.4 * 0.6 + 0.2 * (-0.693f64).exp(),
    );
    close(second.signals.age_days, 30.0);
}

#[test]
fn the_default_preset_is_its_formula() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let now = time("2026-06-01");
    memory
        .store_all([
            NewMemory::new("[0.8 0.6 0] zebra")
                .id("a")
                .created_at(time("2026-05-02")),
            NewMemory::new("[0 1 0] horse").created_at(now),
        ])
        .unwrap();
    let hits = memory
        .recall(Recall::new("zebra crossing").now(now))
        .unwrap();
    let top = hits
        .iter()
        .find(|hit| hit.memory.content.contains("zebra"))
        .unwrap();
    // Two memories and 50 pseudo-documents, of which one holds `zebra` and none `crossing`: idf = ln(1 + 51.5 / 1.5) and
    // ln(1 + 52.5 / 0.5). The texts have 6 and 4 words, 5 on average: a word held once in the longer one makes
    // 2.2 / (1 + 1.2 · (.25 + .75 · 6 / 5)) of the term part's limit of 2.2.
    let (zebra, crossing) = ((53.0f64 / 1.5).ln(), 106f64.ln());
    let term = 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 6.0 / 5.0));
    let word = zebra * (0.5 + 0.5 * term / 2.2) / (zebra + crossing);
    close(top.signals.word, word);
    // The question points along [1 1 1].
    let cosine = 1.4 / 3f64.sqrt();
    close(top.signals.cosine.unwrap(), cosine);
    close(top.relevance, 0.5 * word + 0.5 * cosine);
    close(top.signals.recency, 0.5);
    close(top.score, 0.99 * top.relevance + 0.01 * 0.5);
    let other = hits
        .iter()
        .find(|hit| hit.memory.content.contains("horse"))
        .unwrap();
    assert_eq!((other.signals.word, other.signals.bm25), (0.0, None));
    close(other.relevance, 0.5 / 3f64.sqrt());
}

#[test]
fn reciprocal_rank_is_its_formula() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    memory
        .store_all(["[1 0 0] apple", "[0.9 0.1 0] pear", "[0.5 0.5 0] zebra"])
        .unwrap();
    let hits = memory
        .recall(Recall::new("[1 0 0] zebra zebra").preset(Preset::reciprocal_rank()))
        .unwrap();
    for hit in &hits {
        let rank = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (60.0 + rank as f64));
        close(
            hit.score,
            rank(hit.signals.word_rank) + rank(hit.signals.vector_rank),
        );
    }
    let zebra = hits
        .iter()
        .find(|hit| hit.memory.content.contains("zebra"))
        .unwrap();
    assert_eq!(
        (zebra.signals.word_rank, zebra.signals.vector_rank),
        (Some(1), Some(3))
    );
}

/// A memory found by one leg alone has the other leg's signal computed, never taken for 0.
#[test]
fn signals_are_completed() {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let crowd = (0..400).map(|i| format!("[1 0.{i:03} 0] crowd"));
    memory.store_all(crowd).unwrap();
    memory.store("[0 0.6 0.8] heliotrope").unwrap();
    let hits = memory.recall(Recall::new("[0 1 0] heliotrope")).unwrap();
    assert_eq!(hits[0].memory.content, "[0 0.6 0.8] heliotrope");
    close(hits[0].signals.cosine.unwrap(), 0.6);
    // Here the vector leg does not find it, as each of the others has a cosine near 1: its own is computed all the same.
    let recall = Recall::new("[1 0 0.1] heliotrope").preset(Preset::default().weights(0.8, 0.2));
    let far = memory.recall(recall).unwrap();
    assert_eq!(far[0].memory.content, "[0 0.6 0.8] heliotrope");
    assert_eq!(far[0].signals.vector_rank, None);
    close(far[0].signals.cosine.unwrap(), 0.08 / 1.01f64.sqrt());
}

#[test]
fn equal_scores_are_ordered_by_newness_then_id_the_same_every_time() {
    let memory = memory();
    let rows: Vec<NewMemory> = (0..40)
        .map(|i| {
            NewMemory::new("same words")
                .id(format!("id{:02}", (i * 7) % 40))
                .created_at(time("2026-01-01"))
        })
        .collect();
    memory.store_all(rows).unwrap();
    memory
        .store(
            NewMemory::new("same words")
                .id("zz")
                .created_at(time("2026-02-01")),
        )
        .unwrap();
    let recall = Recall::new("same words")
        .preset(Preset::default().recency(0.0, 30.0))
        .limit(5)
        .now(time("2026-03-01"));
    let first: Vec<String> = memory
        .recall(recall.clone())
        .unwrap()
        .into_iter()
        .map(|hit| hit.memory.id)
        .collect();
    assert_eq!(first[0], "zz");
    for _ in 0..5 {
        let again: Vec<String> = memory
            .recall(recall.clone())
            .unwrap()
            .into_iter()
            .map(|hit| hit.memory.id)
            .collect();
        assert_eq!(again, first);
    }
    let all: Vec<String> = memory
        .recall(recall.no_limit())
        .unwrap()
        .into_iter()
        .map(|hit| hit.memory.id)
        .collect();
    let mut expected: Vec<String> = (0..40).map(|i| format!("id{i:02}")).collect();
    expected.insert(0, "zz".into());
    assert_eq!(all, expected);
}

#[test]
fn floors_are_inclusive() {
    let memory = memory();
    memory
        .store_all(["alpha beta gamma", "alpha delta", "epsilon"])
        .unwrap();
    let recall = || Recall::new("alpha beta").now(time("2026-03-01"));
    let hits = memory.recall(recall()).unwrap();
    assert_eq!(hits.len(), 3);
    let at = |recall: Recall| memory.recall(recall).unwrap().len();
    assert_eq!(at(recall().min_score(hits[1].score)), 2);
    assert_eq!(at(recall().min_score(hits[1].score + 1e-12)), 1);
    assert_eq!(at(recall().min_relevance(hits[0].relevance)), 1);
    assert_eq!(at(recall().min_relevance(1.01)), 0);
    assert_eq!(at(recall().min_score(f64::NAN)), 3);
}

#[test]
fn scopes_are_kept_apart() {
    let memory = memory();
    memory
        .store_all([
            NewMemory::new("plan of web").project("web"),
            NewMemory::new("plan of app").project("app"),
            NewMemory::new("plan of all"),
        ])
        .unwrap();
    let found = |scope: Scope| -> Vec<String> {
        let mut found: Vec<String> = memory
            .recall(Recall::new("plan").scope(scope))
            .unwrap()
            .into_iter()
            .map(|h| h.memory.content)
            .collect();
        found.sort();
        found
    };
    assert_eq!(found(Scope::Global), ["plan of all"]);
    assert_eq!(found(Scope::Project("web".into())), ["plan of web"]);
    assert_eq!(
        found(Scope::ProjectAndGlobal("web".into())),
        ["plan of all", "plan of web"]
    );
    assert_eq!(
        found(Scope::All),
        ["plan of all", "plan of app", "plan of web"]
    );
    assert_eq!(found(Scope::Project("none".into())), [""; 0]);
    assert_eq!(
        memory.recall("plan").unwrap().len(),
        1,
        "no scope named is global"
    );
}

#[test]
fn the_bundled_model_recalls_by_meaning() {
    let memory = Memory::open_in_memory().unwrap();
    memory
        .store_all([
            "The user prefers Ruff over Black for formatting Python",
            "Production deploys are frozen on Fridays",
            "The office dog is called Biscuit",
            "Grandma's apple pie needs two hundred grams of butter",
        ])
        .unwrap();
    for (question, answer) in [
        (
            "name of the puppy at work",
            "The office dog is called Biscuit",
        ),
        (
            "when is it forbidden to release?",
            "Production deploys are frozen on Fridays",
        ),
        (
            "baking recipe ingredients",
            "Grandma's apple pie needs two hundred grams of butter",
        ),
    ] {
        let hits = memory.recall(Recall::new(question).limit(1)).unwrap();
        assert_eq!(contents(&hits), [answer], "{question}");
    }
}

#[test]
fn without_a_model_words_decide() {
    let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
    memory.store_all(["alpha beta", "gamma"]).unwrap();
    let hits = memory.recall("which alpha?").unwrap();
    assert_eq!(contents(&hits), ["alpha beta"]);
    assert_eq!(
        (hits[0].signals.cosine, hits[0].signals.vector),
        (None, 0.0)
    );
    close(hits[0].relevance, hits[0].signals.word);
    assert_eq!(
        memory
            .recall(Recall::new("alpha").preset(Preset::vector_only()))
            .unwrap(),
        []
    );
    assert_eq!(memory.health().unwrap().model, None);
    assert!(memory.check().unwrap().is_ok());
}

/// Where equal scores meet the cut, the newest stay, however and in which order they were stored.
#[test]
fn the_cut_among_equals_is_by_time() {
    for memory in [
        memory(),
        Memory::builder().no_embedder().open_in_memory().unwrap(),
    ] {
        let rows = (0..200).map(|i| {
            let day = format!("2026-{:02}-{:02}", 12 - i / 28, 28 - i % 28);
            NewMemory::new("the same note")
                .id(format!("n{i:03}"))
                .created_at(time(&day))
        });
        memory.store_all(rows).unwrap();
        for preset in [
            Preset::default(),
            Preset::rekal(),
            Preset::reciprocal_rank(),
            Preset::word_only(),
        ] {
            for _ in 0..3 {
                let hits = memory
                    .recall(
                        Recall::new("note")
                            .preset(preset)
                            .limit(5)
                            .now(time("2027-01-01")),
                    )
                    .unwrap();
                let ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
                assert_eq!(ids, ["n000", "n001", "n002", "n003", "n004"], "{preset:?}");
            }
        }
    }
}

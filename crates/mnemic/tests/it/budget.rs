//! Hits packed into a budget, and the text that is made of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mnemic::{
    EstimatedTokens, Hit, Memory, NewMemory, Preset, Recall, StaticEmbedder, TokenCounter, context,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{Parsed, builder, contents, memory, time};

/// A token a word, of which the day and the dash are two.
fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// What packing means, said another way: add up from the best on, and leave out what would be too much.
fn packed(hits: &[Hit], budget: usize) -> Vec<&str> {
    let mut sum = 0;
    let mut taken = Vec::new();
    for hit in hits {
        let tokens = 2 + words(&hit.memory.content);
        if sum + tokens <= budget {
            sum += tokens;
            taken.push(hit.memory.content.as_str());
        }
    }
    taken
}

proptest! {
    #![proptest_config(Config::with_cases(48))]

    #[test]
    fn the_best_that_fit_are_taken_in_order_and_the_others_passed_over(
        texts in prop::collection::vec(prop::collection::vec("(alpha|beta|gamma|delta|eta)", 1..12), 0..40),
        budget in 0usize..120,
        limit in 0usize..40,
    ) {
        let memory = memory();
        memory.store_all(texts.iter().map(|words| words.join(" "))).unwrap();
        let recall = || Recall::new("alpha beta").limit(limit).now(time("2026-06-01"));
        let all = memory.recall(recall()).unwrap();
        let hits = memory.recall(recall().budget(budget, words)).unwrap();
        prop_assert_eq!(contents(&hits), packed(&all, budget));
        prop_assert!(hits.len() <= limit);
        prop_assert!(words(&context(&hits)) <= budget);
    }
}

#[test]
fn a_long_memory_does_not_starve_the_others() {
    let memory = memory();
    let long = format!("alpha beta {}", "alpha ".repeat(50));
    memory
        .store_all([long.as_str(), "alpha gamma", "alpha delta epsilon zeta eta"])
        .unwrap();
    let recall = || Recall::new("alpha beta").now(time("2026-06-01"));
    assert_eq!(memory.recall(recall()).unwrap()[0].memory.content, long);
    let hits = memory.recall(recall().budget(5, words)).unwrap();
    assert_eq!(contents(&hits), ["alpha gamma"]);
}

#[test]
fn limit_and_budget_both_hold() {
    let memory = memory();
    memory
        .store_all((0..20).map(|i| format!("alpha {i}")))
        .unwrap();
    let count = |limit, budget| {
        memory
            .recall(Recall::new("alpha").limit(limit).budget(budget, words))
            .unwrap()
            .len()
    };
    assert_eq!(count(3, 1_000), 3);
    assert_eq!(count(20, 4 * 5), 5);
    assert_eq!(count(20, 4 * 5 + 3), 5);
    assert_eq!(count(0, 1_000), 0);
}

#[test]
fn a_budget_smaller_than_any_memory_gives_nothing() {
    let memory = memory();
    memory.store_all(["alpha", "alpha beta"]).unwrap();
    for budget in 0..3 {
        assert_eq!(
            memory
                .recall(Recall::new("alpha").budget(budget, words))
                .unwrap(),
            []
        );
    }
    assert_eq!(
        memory
            .recall(Recall::new("alpha").budget(3, words))
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn odd_counters_do_no_harm() {
    let memory = memory();
    memory
        .store_all(["alpha", "alpha beta", "alpha gamma"])
        .unwrap();
    let count = |budget, counter: fn(&str) -> usize| {
        memory
            .recall(Recall::new("alpha").budget(budget, counter))
            .unwrap()
            .len()
    };
    assert_eq!(count(0, |_| 0), 3);
    assert_eq!(count(usize::MAX, |_| usize::MAX), 1);
    assert_eq!(count(usize::MAX - 1, |_| usize::MAX), 0);
    assert_eq!(count(usize::MAX, |_| usize::MAX / 2), 2);
    // One that does not even count the same twice.
    let calls = Arc::new(AtomicUsize::new(0));
    let fickle = {
        let calls = Arc::clone(&calls);
        move |_: &str| [usize::MAX, 0][calls.fetch_add(1, Ordering::Relaxed) % 2]
    };
    assert_eq!(
        memory
            .recall(Recall::new("alpha").budget(1, fickle))
            .unwrap()
            .len(),
        1
    );
    assert_eq!(calls.load(Ordering::Relaxed), 3, "each hit is counted once");
}

#[test]
fn the_bundled_models_tokenizer_counts() {
    assert_eq!(StaticEmbedder::new().count("the cache, flushed"), 4);
    let memory = memory();
    memory.store("the cache").unwrap();
    let text = context(&memory.recall("cache").unwrap());
    let tokens = StaticEmbedder::new().count(&text);
    let fits = |budget| {
        let recall = Recall::new("cache").budget(budget, StaticEmbedder::new());
        memory.recall(recall).unwrap().len()
    };
    assert_eq!((fits(tokens), fits(tokens - 1)), (1, 0));
}

#[test]
fn two_recalls_are_equal_where_they_share_a_counter() {
    let recall = Recall::new("alpha").budget(10, EstimatedTokens);
    assert_eq!(recall, recall.clone());
    assert_ne!(recall, Recall::new("alpha").budget(10, EstimatedTokens));
    assert_ne!(recall, Recall::new("alpha"));
    assert!(format!("{recall:?}").contains("10 tokens"));
}

#[test]
fn the_context_is_a_line_each_oldest_first() {
    let memory = memory();
    let store = |text: &str, id: &str, created: &str| {
        let new = NewMemory::new(text).id(id).created_at(time(created));
        memory.store(new).unwrap();
    };
    store("alpha beta", "c", "2026-05-02T23:59:59.5Z");
    store("alpha\n- 2020-01-01: beta\n\nalpha", "b", "2026-05-01");
    store("alpha", "a", "2026-05-01");
    store("alpha 夜景\n", "d", "1999-12-31");
    let hits = memory.recall("alpha beta").unwrap();
    assert_eq!(
        context(&hits),
        "- 1999-12-31: alpha 夜景\n\
         - 2026-05-01: alpha\n\
         - 2026-05-01: alpha\n  - 2020-01-01: beta\n  \n  alpha\n\
         - 2026-05-02: alpha beta\n"
    );
    assert_eq!(context(&[]), "");
}

/// Two handles, a file opened again, with and without the index in memory, read-only, now and later: the same bytes.
#[test]
fn the_same_state_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = builder().open(&path).unwrap();
    let vocabulary = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"];
    let texts = (0..300).map(|i: usize| {
        let words = (0..3 + i % 5).map(|j| vocabulary[(i * 31 + j * j * 17) % 7]);
        // Many of one instant, and not in the order of the ids.
        NewMemory::new(words.collect::<Vec<_>>().join(" "))
            .id(format!("{:03}", (i * 77) % 300))
            .created_at(time(&format!("2026-0{}-01", 1 + i % 6)))
    });
    writer.store_all(texts).unwrap();
    // `now` is the clock's, and newness has its default weight.
    let recall = || {
        Recall::new("alpha or zeta?")
            .limit(40)
            .budget(120, EstimatedTokens)
    };
    let bytes = |memory: &Memory| context(&memory.recall(recall()).unwrap());
    let expected = bytes(&writer);
    assert!(
        expected.len() > 200 && EstimatedTokens.count(&expected) <= 120,
        "{expected}"
    );
    for _ in 0..3 {
        assert_eq!(
            bytes(&writer),
            expected,
            "the second recall on has the index"
        );
    }
    assert!(writer.health().unwrap().index_bytes > 0);
    let other = builder().open(&path).unwrap();
    assert_eq!(bytes(&other), expected);
    assert_eq!(bytes(&other), expected);
    let plain = builder().index_budget(0).open(&path).unwrap();
    for _ in 0..3 {
        assert_eq!(bytes(&plain), expected);
    }
    assert_eq!(plain.health().unwrap().index_bytes, 0);
    drop((writer, other, plain));
    assert_eq!(bytes(&builder().open(&path).unwrap()), expected);
    assert_eq!(bytes(&builder().open_read_only(&path).unwrap()), expected);
    // What is stored elsewhere changes nothing.
    let again = builder().open(&path).unwrap();
    again
        .store(NewMemory::new("omega").project("other"))
        .unwrap();
    assert_eq!(bytes(&again), expected);
}

/// A memory that fits a little better and an older one: which is first depends on the day.
fn near_tie() -> Memory {
    let memory = Memory::builder()
        .embedder(Parsed::default())
        .open_in_memory()
        .unwrap();
    let store = |text: &str, created: &str| {
        memory
            .store(NewMemory::new(text).created_at(time(created)))
            .unwrap();
    };
    store("[0.805 0.5933 0] old", "2026-01-01");
    store("[0.8 0.6 0] new", "2026-06-01");
    memory
}

#[test]
fn time_alone_reorders_hits_but_not_their_context() {
    let memory = near_tie();
    let on = |day: &str| {
        let preset = Preset::default().weights(0.0, 1.0);
        memory
            .recall(Recall::new("[1 0 0] x").preset(preset).now(time(day)))
            .unwrap()
    };
    let (today, later) = (on("2026-06-01"), on("2027-06-01"));
    assert_eq!(
        contents(&today),
        ["[0.8 0.6 0] new", "[0.805 0.5933 0] old"]
    );
    assert_eq!(
        contents(&later),
        ["[0.805 0.5933 0] old", "[0.8 0.6 0] new"]
    );
    assert_eq!(context(&today), context(&later));
}

/// At the limit time decides which memories are hits, so that their text changes too, unless newness has no weight.
#[test]
fn without_weight_for_newness_time_changes_nothing() {
    let memory = near_tie();
    let on = |day: &str, preset: Preset| {
        let recall = Recall::new("[1 0 0] x")
            .preset(preset)
            .limit(1)
            .now(time(day));
        context(&memory.recall(recall).unwrap())
    };
    let weighed = Preset::default().weights(0.0, 1.0);
    assert_ne!(on("2026-06-01", weighed), on("2027-06-01", weighed));
    let unweighed = weighed.recency(0.0, 30.0);
    for day in ["2026-06-01", "2026-07-01", "2027-06-01", "2126-06-01"] {
        assert_eq!(
            on(day, unweighed),
            "- 2026-01-01: [0.805 0.5933 0] old\n",
            "{day}"
        );
    }
}

//! Floors that are percentiles of what random questions reach.

use mnemic::{
    Calibrate, EmbeddingModel, ErrorKind, Memory, NewMemory, Preset, Recall, Scope, Stale,
};

use crate::support::{WordHash, builder, contents, memory};

const WORDS: [&str; 24] = [
    "anchor", "basil", "copper", "dune", "ember", "fjord", "garnet", "harbour", "iris", "juniper",
    "kelp", "lantern", "meadow", "nickel", "orchid", "pebble", "quartz", "river", "saffron",
    "thistle", "umber", "violet", "willow", "yarrow",
];

/// Memories of four words, no two of them alike.
fn texts(count: usize) -> Vec<String> {
    let text = |i: usize| {
        let words = [i, i * 5 + 7, i * 7 + i / 24 + 3, i * 11 + 13].map(|i| WORDS[i % 24]);
        words.join(" ")
    };
    (0..count).map(text).collect()
}

fn filled(count: usize) -> Memory {
    let memory = memory();
    memory.store_all(texts(count)).unwrap();
    memory
}

fn quick() -> Calibrate {
    Calibrate::new(Preset::default()).queries(100)
}

#[test]
fn the_percentile_is_the_floor() {
    let memory = filled(60);
    let calibration = memory.calibrate(quick()).unwrap();
    assert_eq!((calibration.queries, calibration.memories), (100, 60));
    assert_eq!(calibration.stale, None);
    let floors = [0.0, 50.0, 90.0, 95.0, 99.0, 100.0].map(|percent| calibration.relevance(percent));
    assert!(
        floors.is_sorted() && floors[0] > 0.0 && floors[0] < floors[5],
        "{floors:?}"
    );
    let question = || Recall::new("copper iris").no_limit();
    let all = memory.recall(question()).unwrap();
    for percent in [0.0, 12.5, 50.0, 90.0, 99.9, 100.0] {
        let hits = memory.recall(question().min_percentile(percent)).unwrap();
        let floor = calibration.relevance(percent);
        let expected = all.iter().filter(|hit| hit.relevance >= floor);
        assert_eq!(
            contents(&hits),
            contents(&expected.cloned().collect::<Vec<_>>())
        );
    }
}

/// Other random questions than those it was made of: drawn here, from the words that the memories are known to have.
#[test]
fn as_many_random_questions_pass_as_the_percentile_says() {
    let memory = filled(60);
    memory.calibrate(Preset::default()).unwrap();
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let questions: Vec<String> = (0..600)
        .map(|_| {
            let length = 3 + below(6);
            let words: Vec<&str> = (0..length).map(|_| WORDS[below(WORDS.len())]).collect();
            words.join(" ")
        })
        .collect();
    for percent in [50.0, 75.0, 90.0, 95.0] {
        let passed = questions.iter().filter(|question| {
            let recall = Recall::new(question.as_str()).min_percentile(percent);
            !memory.recall(recall).unwrap().is_empty()
        });
        let share = 100.0 * passed.count() as f64 / questions.len() as f64;
        // Four standard deviations of the two samples together are 8.5 at 50 and 3.7 at 95.
        assert!(
            (share - (100.0 - percent)).abs() < 9.0,
            "{share} % pass at {percent}"
        );
        assert!(share > 0.0);
    }
}

#[test]
fn nonsense_recalls_nothing_and_what_is_known_is_found() {
    let memory = filled(200);
    memory
        .calibrate(Calibrate::new(Preset::default()).queries(400))
        .unwrap();
    let count = |question: &str| {
        let recall = Recall::new(question).min_percentile(95.0);
        memory.recall(recall).unwrap().len()
    };
    for nonsense in [
        "xylophone tariff",
        "umbra plinth",
        "when does the submarine dive?",
    ] {
        assert!(!memory.recall(nonsense).unwrap().is_empty(), "{nonsense}");
        assert_eq!(count(nonsense), 0, "{nonsense}");
    }
    for text in texts(200).iter().step_by(20) {
        assert!(count(text) > 0, "{text}");
    }
}

#[test]
fn it_holds_beside_the_other_floors() {
    let memory = filled(60);
    let calibration = memory.calibrate(quick()).unwrap();
    let hits = |recall: Recall| memory.recall(recall.no_limit()).unwrap();
    let question = || Recall::new("copper iris").min_percentile(50.0);
    let strict = hits(question().min_relevance(0.9));
    assert!(strict.iter().all(|hit| hit.relevance >= 0.9));
    let lax = hits(question().min_relevance(0.0).min_score(f64::NAN));
    assert!(
        lax.iter()
            .all(|hit| hit.relevance >= calibration.relevance(50.0))
    );
    assert_eq!(lax.len(), hits(question()).len());
}

#[test]
fn the_same_state_and_seed_give_the_same_calibration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory.store_all(texts(60)).unwrap();
    let first = memory.calibrate(quick()).unwrap();
    assert_eq!(memory.calibrate(quick()).unwrap(), first);
    let other = memory.calibrate(quick().seed(1)).unwrap();
    assert_ne!(other.relevance(50.0), first.relevance(50.0));
    assert_eq!(
        memory.calibration(Preset::default()).unwrap(),
        Some(other),
        "it replaces the first"
    );
    let plain = builder().index_budget(0).open(&path).unwrap();
    assert_eq!(plain.calibrate(quick()).unwrap(), first);
    drop((memory, plain));
    let again = builder().open_read_only(&path).unwrap();
    assert_eq!(again.calibration(Preset::default()).unwrap(), Some(first));
}

#[test]
fn without_a_calibration_the_floor_is_an_error_that_says_what_to_do() {
    let memory = filled(10);
    let ask =
        |preset: Preset| memory.recall(Recall::new("copper").preset(preset).min_percentile(95.0));
    let error = ask(Preset::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotCalibrated);
    assert!(error.to_string().contains("calibrate()"), "{error}");
    assert_eq!(memory.calibration(Preset::default()).unwrap(), None);
    // Each formula and weight has its own; how newness is weighed makes no difference.
    memory.calibrate(quick()).unwrap();
    assert!(ask(Preset::default()).is_ok());
    assert!(ask(Preset::default().recency(0.3, 7.0)).is_ok());
    assert!(ask(Preset::default().weights(2.0, 2.0)).is_ok());
    for other in [
        Preset::default().weights(0.3, 0.7),
        Preset::rekal(),
        Preset::word_only(),
        Preset::vector_only(),
    ] {
        assert_eq!(ask(other).unwrap_err().kind(), ErrorKind::NotCalibrated);
        memory.calibrate(Calibrate::new(other).queries(20)).unwrap();
        assert!(ask(other).is_ok());
    }
}

#[test]
fn what_is_no_percentile_is_refused() {
    let memory = filled(10);
    memory.calibrate(quick()).unwrap();
    for percent in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
        let error = memory
            .recall(Recall::new("copper").min_percentile(percent))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{percent}");
    }
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let memory = filled(10);
    let kind = |calibrate: Calibrate| memory.calibrate(calibrate).unwrap_err().kind();
    assert_eq!(kind(quick().queries(19)), ErrorKind::InvalidInput);
    assert_eq!(kind(quick().queries(usize::MAX)), ErrorKind::InvalidInput);
    assert_eq!(
        kind(Preset::reciprocal_rank().into()),
        ErrorKind::InvalidInput
    );
    let ranks = Recall::new("copper")
        .preset(Preset::reciprocal_rank())
        .min_percentile(95.0);
    assert_eq!(
        memory.recall(ranks).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let empty = crate::support::memory();
    assert_eq!(
        empty.calibrate(quick()).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    empty.store_all(["🎉", "-!?"]).unwrap();
    assert_eq!(
        empty.calibrate(quick()).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn reading_never_calibrates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder().open(&path).unwrap().store_all(texts(10)).unwrap();
    let before = std::fs::read(&path).unwrap();
    let reader = builder().open_read_only(&path).unwrap();
    assert_eq!(
        reader.calibrate(quick()).unwrap_err().kind(),
        ErrorKind::ReadOnly
    );
    let asked = reader.recall(Recall::new("copper").min_percentile(95.0));
    assert_eq!(asked.unwrap_err().kind(), ErrorKind::NotCalibrated);
    drop(reader);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_calibration_of_another_size_is_reported_and_used() {
    let memory = filled(40);
    memory.calibrate(quick()).unwrap();
    let stale = || {
        memory
            .calibration(Preset::default())
            .unwrap()
            .unwrap()
            .stale
    };
    memory.store_all(texts(79).split_off(40)).unwrap();
    assert_eq!(stale(), None);
    memory.store("one more").unwrap();
    assert_eq!(stale(), Some(Stale::Size { then: 40, now: 80 }));
    assert!(
        memory
            .recall(Recall::new("copper").min_percentile(95.0))
            .is_ok()
    );
    memory.calibrate(quick()).unwrap();
    assert_eq!(stale(), None);
    let all = memory.timeline(mnemic::Timeline::new()).unwrap();
    memory
        .delete_all(all.iter().take(40).map(|m| m.id.as_str()))
        .unwrap();
    assert_eq!(stale(), Some(Stale::Size { then: 80, now: 40 }));
}

/// One space, two models: the passages' and the questions'.
#[derive(Debug)]
struct Named(WordHash, EmbeddingModel);

impl Named {
    fn new(id: &str, revision: &str) -> Self {
        let hash = WordHash::default();
        let model = EmbeddingModel::new("shared", id, revision, crate::support::DIMS);
        Self(hash, model)
    }
}

impl mnemic::Embedder for Named {
    fn model(&self) -> &EmbeddingModel {
        &self.1
    }
    fn embed(
        &self,
        kind: mnemic::InputKind,
        texts: &[&str],
    ) -> Result<Vec<mnemic::Embedding>, mnemic::EmbedError> {
        self.0.embed(kind, texts)
    }
}

#[test]
fn a_calibration_of_another_model_is_reported_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let open = |id| {
        Memory::builder()
            .embedder(Named::new(id, "1"))
            .open(&path)
            .unwrap()
    };
    let memory = open("table");
    memory.store_all(texts(40)).unwrap();
    memory.calibrate(quick()).unwrap();
    drop(memory);
    let other = open("transformer");
    let stale = other
        .calibration(Preset::default())
        .unwrap()
        .unwrap()
        .stale
        .unwrap();
    assert!(
        matches!(&stale, Stale::Model { then, now } if then == "table (1)" && now.contains("transformer")),
        "{stale}"
    );
    let error = other
        .recall(Recall::new("copper").min_percentile(95.0))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotCalibrated);
    assert!(error.to_string().contains("transformer"), "{error}");
    other.calibrate(quick()).unwrap();
    assert!(
        other
            .recall(Recall::new("copper").min_percentile(95.0))
            .is_ok()
    );
}

#[test]
fn without_a_model_words_are_calibrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = Memory::builder().no_embedder().open(&path).unwrap();
    words.store_all(texts(40)).unwrap();
    words.calibrate(quick()).unwrap();
    let recall = || Recall::new("copper").min_percentile(50.0);
    assert!(words.recall(recall()).is_ok());
    drop(words);
    // The file has no vectors yet: with a model, words alone decide still.
    let memory = builder().open(&path).unwrap();
    assert!(memory.recall(recall()).is_ok());
    memory.repair().unwrap();
    assert_eq!(
        memory.recall(recall()).unwrap_err().kind(),
        ErrorKind::NotCalibrated
    );
}

#[test]
fn it_is_of_all_projects_and_goes_with_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory();
    memory
        .store_all(
            texts(30)
                .into_iter()
                .map(|text| NewMemory::new(text).project("web")),
        )
        .unwrap();
    let calibration = memory.calibrate(quick()).unwrap();
    assert!(
        calibration.relevance(50.0) > 0.0,
        "a project's memories were asked"
    );
    let copy = folder.path().join("copy.db");
    memory.backup(&copy).unwrap();
    let copy = builder().open(&copy).unwrap();
    assert_eq!(
        copy.calibration(Preset::default()).unwrap(),
        Some(calibration)
    );
    assert!(copy.check().unwrap().is_ok());
    let recall = Recall::new("copper").scope(Scope::All).min_percentile(95.0);
    assert!(copy.recall(recall).is_ok());
}

#[test]
fn a_damaged_calibration_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory.store_all(texts(30)).unwrap();
    memory.calibrate(quick()).unwrap();
    for damage in [
        "''",
        "'calibration 2'",
        "replace(value, '0.', 'x')",
        "replace(value, 'relevance', 'relevance 9')",
        "replace(value, 'relevance 0.', 'relevance NaN 0.')",
        "rtrim(value, char(10)) || ' NaN'",
        "value || 'more'",
    ] {
        let sql = format!("UPDATE meta SET value = {damage} WHERE key LIKE 'note:calibration%'");
        let changed = rusqlite::Connection::open(&path)
            .unwrap()
            .execute(&sql, [])
            .unwrap();
        assert_eq!(changed, 1);
        assert_eq!(
            memory.calibration(Preset::default()).unwrap(),
            None,
            "{damage}"
        );
        let asked = memory.recall(Recall::new("copper").min_percentile(95.0));
        assert_eq!(asked.unwrap_err().kind(), ErrorKind::NotCalibrated);
        memory.calibrate(quick()).unwrap();
    }
}

//! Reranking: what is read, how it is ordered, what is cut, and that nobody waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use mnemic::{
    EmbedError, ErrorKind, Hit, Memory, NewMemory, Preset, Recall, Reranker, RerankingModel,
    Timestamp, check_reranker,
};

use crate::support::{builder, contents, memory, sound, time};

/// Gives a passage the number that stands in it (`grade 0.8`, else 0), and remembers what it read.
#[derive(Debug)]
struct Grades {
    model: RerankingModel,
    calls: Mutex<Vec<(String, Vec<String>)>>,
}

impl Default for Grades {
    fn default() -> Self {
        Self {
            model: RerankingModel::new("grades", "1"),
            calls: Mutex::default(),
        }
    }
}

fn grade(passage: &str) -> f32 {
    let (_, after) = passage.split_once("grade ").unwrap_or_default();
    let number = after.split(' ').next().unwrap_or_default();
    number.parse().unwrap_or(0.0)
}

impl Reranker for Grades {
    fn model(&self) -> &RerankingModel {
        &self.model
    }
    fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        let read = passages.iter().map(|text| (*text).to_owned()).collect();
        self.calls.lock().unwrap().push((query.to_owned(), read));
        Ok(passages.iter().map(|text| grade(text)).collect())
    }
}

/// A memory with a reranker, and the reranker to look at.
fn graded() -> (Memory, Arc<Grades>) {
    let grades = Arc::new(Grades::default());
    let memory = builder().reranker(Arc::clone(&grades));
    (memory.open_in_memory().unwrap(), grades)
}

fn calls(grades: &Grades) -> Vec<(String, Vec<String>)> {
    std::mem::take(&mut *grades.calls.lock().unwrap())
}

/// Recall at one instant, so that two of them agree to the bit.
fn asked(query: &str) -> Recall {
    Recall::new(query).now(time("2026-06-01T00:00:00Z"))
}

/// `count` memories about the harbour, of one date, with ever less of the question in them and no grade.
fn harbour(memory: &Memory, count: usize) {
    let text = |i: usize| format!("harbour {} note {i}", "filler ".repeat(i));
    let notes = (0..count).map(|i| NewMemory::new(text(i)).created_at(time("2026-05-01")));
    memory.store_all(notes).unwrap();
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "{found} instead of {expected}"
    );
}

fn by_id<'a>(hits: &'a [Hit], hit: &Hit) -> &'a Hit {
    hits.iter()
        .find(|other| other.memory.id == hit.memory.id)
        .unwrap()
}

#[test]
fn the_stub_keeps_the_contract() {
    check_reranker(&Grades::default()).unwrap();
}

#[test]
fn what_the_reranker_prefers_comes_first_and_every_hit_says_why() {
    let (memory, _) = graded();
    memory
        .store_all([
            "the boat lies in the harbour, grade 0.2 of it",
            "the boat, grade 0.9 of it",
            "harbour harbour boat, grade 0.0 of it",
        ])
        .unwrap();
    let plain = memory
        .recall(asked("boat in the harbour").rerank(0))
        .unwrap();
    assert!(plain[0].memory.content.contains("harbour"));
    assert!(plain.iter().all(|hit| hit.signals.rerank.is_none()));
    let hits = memory.recall(asked("boat in the harbour")).unwrap();
    let grades: Vec<f64> = hits.iter().filter_map(|hit| hit.signals.rerank).collect();
    assert_eq!(grades, [0.9f32, 0.2, 0.0].map(f64::from));
    for hit in &hits {
        let before = by_id(&plain, hit);
        let relevance = 0.9 * hit.signals.rerank.unwrap() + 0.1 * before.relevance;
        close(hit.relevance, relevance);
        close(hit.score, 0.99 * relevance + 0.01 * hit.signals.recency);
        assert_eq!(
            (hit.signals.word, hit.signals.vector),
            (before.signals.word, before.signals.vector)
        );
    }
    assert!(
        hits[0]
            .signals
            .to_string()
            .ends_with(" days) · reranker 0.90")
    );
    assert!(plain[0].signals.to_string().ends_with(" days)"));
}

#[test]
fn a_hit_from_far_below_the_limit_can_come_first() {
    let (memory, _) = graded();
    harbour(&memory, 30);
    memory
        .store(format!("harbour {}grade 0.7 at last", "filler ".repeat(12)))
        .unwrap();
    let plain = memory.recall(asked("harbour").rerank(0).limit(20)).unwrap();
    let place = plain
        .iter()
        .position(|hit| hit.memory.content.contains("grade"))
        .unwrap();
    assert!(place >= 5, "{place}");
    let hits = memory.recall(asked("harbour").limit(1)).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].memory, plain[place].memory);
}

#[test]
fn one_call_reads_the_best_n_in_their_order_and_no_more() {
    let (memory, grades) = graded();
    harbour(&memory, 50);
    let best = memory.recall(asked("harbour").rerank(0).limit(50)).unwrap();
    assert_eq!(calls(&grades), []);
    for (recall, n) in [
        (asked("harbour"), 20),
        (asked("harbour").limit(3), 20),
        (asked("harbour").rerank(5), 5),
        (asked("harbour").rerank(1).no_limit(), 1),
        (asked("harbour").rerank(50), 50),
        (asked("harbour").rerank(usize::MAX), 50),
    ] {
        memory.recall(recall).unwrap();
        let calls = calls(&grades);
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].0, "harbour");
        let read: Vec<&str> = calls[0].1.iter().map(String::as_str).collect();
        assert_eq!(read, contents(&best)[..n], "{n}");
    }
}

#[test]
fn nothing_is_asked_where_there_is_nothing_to_read() {
    let (memory, grades) = graded();
    assert_eq!(memory.recall("harbour").unwrap(), []);
    harbour(&memory, 3);
    assert_eq!(memory.recall(asked("harbour").limit(0)).unwrap(), []);
    assert_eq!(memory.recall(asked("?")).unwrap(), []);
    assert_eq!(memory.recall(asked("harbour").project("none")).unwrap(), []);
    assert_eq!(calls(&grades), []);
}

#[test]
fn without_a_reranker_or_with_it_off_recall_is_what_it_was() {
    let (with, _) = graded();
    let without = memory();
    for memory in [&with, &without] {
        let notes = [
            "boat grade 0.9",
            "boat in the harbour grade 0.1",
            "tea grade 1.0",
        ];
        let dated = notes
            .iter()
            .zip(["a", "b", "c"])
            .map(|(text, id)| NewMemory::new(*text).id(id).created_at(time("2026-05-01")));
        memory.store_all(dated).unwrap();
    }
    let plain = without.recall(asked("boat harbour")).unwrap();
    let scores = |hits: &[Hit]| -> Vec<(String, f64, f64)> {
        hits.iter()
            .map(|hit| (hit.memory.id.clone(), hit.score, hit.relevance))
            .collect()
    };
    assert_eq!(
        scores(&without.recall(asked("boat harbour").rerank(20)).unwrap()),
        scores(&plain)
    );
    assert_eq!(
        scores(&with.recall(asked("boat harbour").rerank(0)).unwrap()),
        scores(&plain)
    );
    assert_ne!(
        scores(&with.recall(asked("boat harbour")).unwrap()),
        scores(&plain)
    );
}

#[test]
fn what_was_not_read_follows_in_its_old_order_with_its_old_score() {
    let (memory, _) = graded();
    harbour(&memory, 12);
    let plain = memory.recall(asked("harbour").rerank(0)).unwrap();
    let hits = memory.recall(asked("harbour").rerank(4)).unwrap();
    assert_eq!(hits.len(), 10);
    assert!(hits[..4].iter().all(|hit| hit.signals.rerank == Some(0.0)));
    assert_eq!(hits[4..], plain[4..]);
    // They were graded 0, and stand first all the same: what was not read never passes what was.
    assert!(hits[3].score < hits[4].score);
}

#[test]
fn equal_grades_keep_the_order_of_relevance_then_newest_then_id() {
    let (memory, _) = graded();
    let day = |text: &str, id: &str, day: &str| NewMemory::new(text).id(id).created_at(time(day));
    memory
        .store_all([
            day("boat grade 0.5 x", "c", "2026-05-02"),
            day("boat grade 0.5 x", "b", "2026-05-02"),
            day("boat grade 0.5 x", "a", "2026-05-01"),
            day("boat harbour grade 0.5 x", "d", "2026-04-01"),
        ])
        .unwrap();
    for preset in [
        Preset::default(),
        Preset::word_only(),
        Preset::reciprocal_rank(),
    ] {
        for _ in 0..3 {
            let hits = memory.recall(asked("boat harbour").preset(preset)).unwrap();
            let ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
            assert_eq!(ids, ["d", "b", "c", "a"], "{preset:?}");
        }
    }
}

#[test]
fn floors_are_held_against_what_a_hit_is_returned_with() {
    let (memory, _) = graded();
    memory
        .store_all([
            "boat in the harbour grade 0.1 x",
            "a boat far away at sea grade 0.8 x",
        ])
        .unwrap();
    let plain = memory.recall(asked("boat harbour").rerank(0)).unwrap();
    let floor = 0.9 * plain[0].relevance;
    assert!(plain[1].relevance < floor, "{plain:?}");
    // Before: the near one alone. After: the one that the reranker likes alone, though it was under the floor before.
    let cut = |recall: Recall| memory.recall(recall).unwrap();
    let before = cut(asked("boat harbour").rerank(0).min_relevance(floor));
    assert_eq!(contents(&before), ["boat in the harbour grade 0.1 x"]);
    for recall in [
        asked("boat harbour").min_relevance(0.5),
        asked("boat harbour").min_score(0.5),
    ] {
        assert_eq!(
            contents(&cut(recall)),
            ["a boat far away at sea grade 0.8 x"]
        );
    }
    // What was not read is held against its own.
    let first_only = cut(asked("boat harbour")
        .rerank(1)
        .min_relevance(plain[1].relevance));
    assert_eq!(
        contents(&first_only),
        ["a boat far away at sea grade 0.8 x"]
    );
    let neither = cut(asked("boat harbour").rerank(1).min_relevance(floor));
    assert_eq!(neither, []);
}

#[test]
fn every_preset_ends_on_the_rerankers_scale() {
    let (memory, _) = graded();
    memory
        .store_all([
            "boat grade 1.0",
            "boat harbour grade 0.6 x",
            "harbour grade 0.0",
        ])
        .unwrap();
    for preset in [
        Preset::default(),
        Preset::rekal(),
        Preset::reciprocal_rank(),
        Preset::word_only(),
        Preset::vector_only(),
    ] {
        let plain = memory
            .recall(asked("boat harbour").preset(preset).rerank(0))
            .unwrap();
        let hits = memory.recall(asked("boat harbour").preset(preset)).unwrap();
        assert_eq!(contents(&hits)[0], "boat grade 1.0", "{preset:?}");
        for hit in &hits {
            let before = by_id(&plain, hit).relevance;
            close(
                hit.relevance,
                0.9 * hit.signals.rerank.unwrap() + 0.1 * before,
            );
            assert!((0.0..=1.0).contains(&hit.score));
        }
    }
    let newest = Preset::default().recency(0.5, 30.0);
    for hit in memory.recall(asked("boat harbour").preset(newest)).unwrap() {
        close(hit.score, 0.5 * hit.relevance + 0.5 * hit.signals.recency);
    }
}

#[test]
fn a_reranker_reads_nothing_that_the_filter_hides() {
    let (memory, grades) = graded();
    for (text, project) in [
        ("boat one grade 0.2 x", "web"),
        ("boat two grade 0.9 x", "other"),
    ] {
        memory.store(NewMemory::new(text).project(project)).unwrap();
    }
    memory
        .store(NewMemory::new("boat three grade 0.5 x").tags(["old"]))
        .unwrap();
    let hits = memory.recall(asked("boat").project("web")).unwrap();
    assert_eq!(contents(&hits), ["boat one grade 0.2 x"]);
    assert_eq!(memory.recall(asked("boat").tags_none(["old"])).unwrap(), []);
    let read: Vec<String> = calls(&grades)
        .into_iter()
        .flat_map(|(_, read)| read)
        .collect();
    assert_eq!(read, ["boat one grade 0.2 x"]);
}

/// A reranker with a fault of its own.
#[derive(Debug)]
struct Broken(RerankingModel, fn(usize) -> Result<Vec<f32>, EmbedError>);

impl Reranker for Broken {
    fn model(&self) -> &RerankingModel {
        &self.0
    }
    fn rerank(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        (self.1)(passages.len())
    }
}

#[test]
fn a_reranker_that_fails_or_breaks_its_contract_is_an_embedding_error() {
    type Fault = fn(usize) -> Result<Vec<f32>, EmbedError>;
    let faults: [(Fault, &str); 6] = [
        (
            |_| Err(EmbedError::rerank("out of memory").caused_by("cause")),
            "reranking failed: out of memory",
        ),
        (
            |n| Ok(vec![0.5; n + 1]),
            "the reranker broken broke its contract: 3 scores for 2 passages",
        ),
        (|_| Ok(Vec::new()), "0 scores for 2 passages"),
        (
            |n| Ok(vec![f32::NAN; n]),
            "a score of NaN, which is not in [0, 1]",
        ),
        (
            |n| Ok(vec![-4.3; n]),
            "a score of -4.3, which is not in [0, 1]",
        ),
        (|n| Ok(vec![1.5; n]), "a score of 1.5"),
    ];
    for (fault, says) in faults {
        let broken = Broken(RerankingModel::new("broken", "1"), fault);
        let memory = builder().reranker(broken).open_in_memory().unwrap();
        memory.store_all(["boat one", "boat two"]).unwrap();
        let error = memory.recall("boat").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Embedding);
        assert!(error.to_string().contains(says), "{error}");
        let caused = std::error::Error::source(&error).is_some();
        assert_eq!(caused, says.contains("out of memory"));
        // The handle is as good as before.
        assert_eq!(
            memory.recall(Recall::new("boat").rerank(0)).unwrap().len(),
            2
        );
        sound(&memory);
    }
}

/// Tells when it is asked, and then waits to be told to go on.
#[derive(Debug)]
struct Waiting(RerankingModel, Mutex<(Sender<()>, Receiver<()>)>);

impl Reranker for Waiting {
    fn model(&self) -> &RerankingModel {
        &self.0
    }
    fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
        if query.contains("slow") {
            let guard = self.1.lock().unwrap();
            guard.0.send(()).unwrap();
            guard.1.recv().unwrap();
        }
        Ok(passages.iter().map(|text| grade(text)).collect())
    }
}

/// A slow reranker holds no lock and no snapshot: others write and recall meanwhile, with and without a file, and while
/// the index in memory is in use.
#[test]
fn a_slow_reranker_is_in_nobodys_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    for path in [Some(path), None] {
        let (asked, was_asked) = channel();
        let (go_on, told) = channel();
        let waiting = Waiting(
            RerankingModel::new("waiting", "1"),
            Mutex::new((asked, told)),
        );
        let builder = builder().reranker(waiting);
        let memory = match &path {
            Some(path) => builder.open(path).unwrap(),
            None => builder.open_in_memory().unwrap(),
        };
        memory
            .store_all(["slow boat grade 0.4 x", "slow train grade 0.6 x"])
            .unwrap();
        for round in 0..3 {
            let before = memory.health().unwrap().memories;
            let worker = std::thread::spawn({
                let memory = memory.clone();
                move || memory.recall("slow").unwrap()
            });
            was_asked.recv().unwrap();
            // The index in memory takes its write lock to learn of these.
            let stored = memory
                .store(format!("quick grade 0.9 number {round}"))
                .unwrap();
            assert_eq!(
                memory.recall("quick").unwrap()[0].signals.rerank,
                Some(f64::from(0.9f32))
            );
            memory
                .update(&stored.id, "quick again grade 0.8 x")
                .unwrap();
            assert!(
                memory.recall("again").unwrap()[0]
                    .memory
                    .content
                    .contains("again")
            );
            if let Some(path) = &path {
                // The whole log can be merged and emptied: no reader holds a snapshot.
                let other = rusqlite::Connection::open(path).unwrap();
                let busy: i64 = other
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                    .unwrap();
                assert_eq!(busy, 0);
            }
            go_on.send(()).unwrap();
            let hits = worker.join().unwrap();
            // One snapshot: what was stored meanwhile is not among the hits.
            assert_eq!(hits.len() as u64, before, "{hits:?}");
            assert_eq!(hits[0].memory.content.contains("slow train"), round == 0);
            assert!(hits.iter().all(|hit| hit.memory.id != stored.id));
        }
        sound(&memory);
    }
}

#[test]
fn a_handle_for_reading_only_reranks_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder()
        .open(&path)
        .unwrap()
        .store_all(["boat grade 0.1 x", "boat, a grade 0.9 x"])
        .unwrap();
    let grades = Arc::new(Grades::default());
    let reader = builder()
        .reranker(Arc::clone(&grades))
        .open_read_only(&path)
        .unwrap();
    let now = Timestamp::now();
    let hits = reader.recall(Recall::new("boat").now(now)).unwrap();
    assert_eq!(contents(&hits)[0], "boat, a grade 0.9 x");
    assert_eq!(calls(&grades).len(), 1);
}

/// The whole way down: recall scores by what the cross-encoder computes. Its weights are random, so the order means
/// nothing; that it is the cross-encoder's is what is tested.
#[cfg(feature = "candle")]
#[test]
fn a_cross_encoder_scores_the_hits_of_a_recall() {
    use mnemic::candle::CandleReranker;

    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../mnemic-candle/tests/fixtures/tiny-reranker"
    );
    let reranker = CandleReranker::from_dir(fixture).unwrap();
    let memory = builder()
        .reranker(reranker.clone())
        .open_in_memory()
        .unwrap();
    memory
        .store_all([
            "the agent may deploy on friday",
            "deploy the patch",
            "query the deploy branch",
        ])
        .unwrap();
    let hits = memory
        .recall(asked("when deploy").preset(Preset::word_only()))
        .unwrap();
    assert_eq!(hits.len(), 3);
    let expected = reranker.rerank("when deploy", &contents(&hits)).unwrap();
    for (hit, expected) in hits.iter().zip(expected) {
        assert_eq!(hit.signals.rerank, Some(f64::from(expected)));
    }
    assert!(hits[0].score > hits[1].score && hits[1].score > hits[2].score);
}

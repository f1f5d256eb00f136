//! The resident index: it finds what the file finds, follows every change, and keeps to its budget.

use mnemic::{
    EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, Memory, NewMemory, Preset, Recall,
    Scope, normalize,
};

use crate::support::{builder, time};

/// Isotropic noise: the hardest case for a compressed index. The vector is drawn from the text as seed.
#[derive(Debug)]
struct Noise(EmbeddingModel);

impl Noise {
    fn new() -> Self {
        Self(EmbeddingModel::new("noise", "noise", "1", 128))
    }
}

impl Embedder for Noise {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let one = |text: &str| {
            let mut state = text.bytes().fold(0x9e37_79b9_7f4a_7c15u64, |h, b| {
                (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
            });
            let mut uniform = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f32 / (1u64 << 53) as f32
            };
            // A sum of twelve uniform numbers is near a normal one.
            let mut vector: Vec<f32> = (0..128)
                .map(|_| (0..12).map(|_| uniform()).sum::<f32>() - 6.0)
                .collect();
            normalize(&mut vector).ok().map(|()| vector)
        };
        Ok(texts.iter().map(|text| one(text)).collect())
    }
}

#[test]
fn it_finds_the_nearest_in_noise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let open = |budget| {
        Memory::builder()
            .embedder(Noise::new())
            .index_budget(budget)
            .open(&path)
            .unwrap()
    };
    let (indexed, plain) = (open(1 << 30), open(0));
    plain
        .store_all((0..8_000).map(|i| format!("noise {i}")))
        .unwrap();
    indexed.recall("the first recall reads the file").unwrap();
    assert_eq!(indexed.health().unwrap().index_bytes, 0);
    let mut same = 0;
    for i in 0..50 {
        let recall = Recall::new(format!("question {i}")).preset(Preset::vector_only());
        let [found, exact] = [&indexed, &plain].map(|m| m.recall(recall.clone()).unwrap());
        same += found
            .iter()
            .filter(|hit| exact.iter().any(|other| other.memory.id == hit.memory.id))
            .count();
    }
    assert!(same >= 499, "recall@10 is {} of 500", same);
    let bytes = indexed.health().unwrap().index_bytes;
    assert!(
        bytes > 8_000 * 128 && bytes < 8_000 * (128 + 128),
        "{bytes}"
    );
}

#[test]
fn it_follows_another_process_through_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let reader = builder().open(&path).unwrap();
    let writer = builder().open(&path).unwrap();
    let find = |text: &str| -> Vec<String> {
        let recall = Recall::new(text).scope(Scope::All).limit(1);
        reader
            .recall(recall)
            .unwrap()
            .into_iter()
            .map(|hit| hit.memory.content)
            .collect()
    };
    writer.store("warm up").unwrap();
    assert_eq!(
        (find("warm"), find("warm")),
        (vec!["warm up".to_owned()], vec!["warm up".to_owned()])
    );
    assert!(reader.health().unwrap().index_bytes > 0);
    let ids: Vec<String> = writer
        .store_all((0..500).map(|i| format!("item w{i}")))
        .unwrap()
        .into_iter()
        .map(|s| s.id)
        .collect();
    assert_eq!(find("item w321"), ["item w321"]);
    writer.update(&ids[321], "changed altogether").unwrap();
    assert_eq!(find("changed altogether"), ["changed altogether"]);
    assert_ne!(find("item w321"), ["item w321"]);
    writer.delete(&ids[400]).unwrap();
    assert_ne!(find("item w400"), ["item w400"]);
    let new = writer.replace(&ids[100], "replaced altogether").unwrap().id;
    assert_eq!(find("replaced altogether"), ["replaced altogether"]);
    // A move to another project is followed too.
    let in_project = |project: &str| {
        let recall = Recall::new("replaced altogether")
            .project(project)
            .preset(Preset::vector_only());
        reader.recall(recall).unwrap().len()
    };
    assert_eq!(in_project("web"), 0);
    writer
        .update(&new, mnemic::MemoryUpdate::new().project("web"))
        .unwrap();
    assert_eq!(in_project("web"), 1);
    // More changes than the log keeps: it is loaded anew.
    for round in 0..30 {
        let ids: Vec<String> = writer
            .store_all((0..500).map(|i| format!("round {round} item {i}")))
            .unwrap()
            .into_iter()
            .map(|s| s.id)
            .collect();
        writer.delete_all(&ids[1..]).unwrap();
    }
    assert_eq!(find("round 29 item 0"), ["round 29 item 0"]);
    assert_ne!(find("round 29 item 7"), ["round 29 item 7"]);
    let health = reader.health().unwrap();
    assert_eq!(health.memories, 530);
    assert!(health.index_bytes < 2 * 530 * 64, "{health:?}");
}

#[test]
fn over_its_budget_it_is_not_there() {
    let small = builder().index_budget(20_000).open_in_memory().unwrap();
    small
        .store_all((0..100).map(|i| format!("item w{i}")))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(
            small.recall("item w42").unwrap()[0].memory.content,
            "item w42"
        );
    }
    assert!(small.health().unwrap().index_bytes > 0);
    small
        .store_all((100..1_000).map(|i| format!("item w{i}")))
        .unwrap();
    small
        .delete_all(
            small
                .recall("item w42")
                .unwrap()
                .iter()
                .map(|hit| hit.memory.id.clone()),
        )
        .unwrap();
    assert_eq!(
        small.recall("item w777").unwrap()[0].memory.content,
        "item w777"
    );
    assert!(small.health().unwrap().index_bytes <= 20_000);
}

/// A file of many projects, asked within one, answers as a file of that project alone would: nothing starves.
/// Whatever else is in the file: the same memories, in the same order, with the same scores, by words and by vectors, from
/// the index and from the file, with other filters and without.
#[test]
fn a_scope_is_a_store_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pooled.db");
    let plain = builder().index_budget(0).open(&path).unwrap();
    // What is rare in one project is common in another. All are of the same length, a project's name counted, as the
    // average length is the file's.
    let memories = |number: usize| {
        (0..200).map(move |i| {
            let one_more = if number == 0 { "more" } else { "" };
            let (w, x) = (i % (3 + 5 * number), i % (40 - 9 * number));
            let words = format!("w{w} x{x} y{i} {one_more}");
            let memory = NewMemory::new(words).created_at(time("2026-01-01"));
            let memory = if i % 3 == 0 {
                memory.tags(["third"])
            } else {
                memory.tags(["other"])
            };
            if number == 0 {
                memory
            } else {
                memory.project(format!("p{number}"))
            }
        })
    };
    for number in 0..4 {
        plain.store_all(memories(number)).unwrap();
    }
    let indexed = builder().open(&path).unwrap();
    indexed.recall("the first recall reads the file").unwrap();
    for number in 0..4 {
        let alone = builder().open_in_memory().unwrap();
        alone.store_all(memories(number)).unwrap();
        for i in 0..24 {
            let recall = Recall::new(format!("w{i} x{} y{}", i + 3, 7 * i)).now(time("2026-02-01"));
            let recall = if number == 0 {
                recall
            } else {
                recall.project(format!("p{number}"))
            };
            let recall = if i % 2 == 0 {
                recall
            } else {
                recall.tags_any(["third"])
            };
            let recall = match i % 3 {
                0 => recall,
                1 => recall.preset(Preset::word_only()),
                _ => recall.preset(Preset::vector_only()),
            };
            let hits = |memory: &Memory| -> Vec<(String, f64)> {
                let hits = memory.recall(recall.clone()).unwrap();
                hits.into_iter()
                    .map(|hit| (hit.memory.content, hit.score))
                    .collect()
            };
            let expected = hits(&alone);
            for pooled in [hits(&plain), hits(&indexed)] {
                let scores = expected.iter().zip(&pooled);
                assert_eq!(pooled.len(), expected.len(), "{recall:?}");
                for ((_, a), (_, b)) in scores {
                    assert!((a - b).abs() < 1e-9, "{recall:?} {expected:?} {pooled:?}");
                }
            }
        }
    }
    assert!(indexed.health().unwrap().index_bytes > 0);
}

/// Another file put in the place of the one that is read: the index knows nothing of it, and no project leaks.
#[test]
fn it_forgets_a_file_that_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let public = builder().open(at("a.db")).unwrap();
    public
        .store_all((0..100).map(|i| format!("public {i}")))
        .unwrap();
    let secret = builder().open(at("b.db")).unwrap();
    secret
        .store_all((0..100).map(|i| NewMemory::new(format!("secret {i}")).project("secret")))
        .unwrap();
    drop((public, secret));
    let reader = builder().open_read_only(at("a.db")).unwrap();
    for _ in 0..3 {
        assert_eq!(
            reader.recall("public 5").unwrap()[0].memory.content,
            "public 5"
        );
    }
    std::fs::rename(at("b.db"), at("a.db")).unwrap();
    assert_eq!(reader.recall("public 5").unwrap(), []);
    assert_eq!(
        reader
            .recall(Recall::new("secret 5").project("secret"))
            .unwrap()[0]
            .memory
            .content,
        "secret 5"
    );
    // A handle that writes refuses: what it stored would be lost with the file that is gone.
    let writer = builder().open(at("a.db")).unwrap();
    std::fs::remove_file(at("a.db")).unwrap();
    let error = writer.store("into nothing").unwrap_err();
    assert_eq!(error.kind(), mnemic::ErrorKind::Io);
    assert!(error.to_string().contains("removed or replaced"), "{error}");
}

/// Vectors that hardly differ: bytes cannot tell them apart, so that the file is asked, and the answers stay the same.
#[test]
fn vectors_that_hardly_differ_are_told_apart() {
    #[derive(Debug)]
    struct Near(EmbeddingModel);
    impl Embedder for Near {
        fn model(&self) -> &EmbeddingModel {
            &self.0
        }
        fn embed(&self, kind: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            let noise = Noise::new().embed(kind, texts)?;
            let near = |vector: Embedding| {
                let mut vector: Vec<f32> = vector?.iter().map(|x| 1.0 + 0.05 * x).collect();
                normalize(&mut vector).ok().map(|()| vector)
            };
            Ok(noise.into_iter().map(near).collect())
        }
    }
    let model = || Near(EmbeddingModel::new("near", "near", "1", 128));
    let memory = Memory::builder()
        .embedder(model())
        .open_in_memory()
        .unwrap();
    memory
        .store_all((0..3_000).map(|i| format!("line {i}")))
        .unwrap();
    let recall = Recall::new("another line")
        .preset(Preset::vector_only())
        .now(time("2027-01-01"));
    let first = memory.recall(recall.clone()).unwrap();
    assert_eq!(memory.recall(recall.clone()).unwrap(), first);
    assert_eq!(memory.recall(recall).unwrap(), first);
    assert!(memory.health().unwrap().index_bytes > 0);
}

#[test]
fn it_is_there_at_the_first_recall_where_it_was_loaded_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory
        .store_all((0..50).map(|i| format!("item w{i}")))
        .unwrap();
    drop(memory);
    let memory = builder().open(&path).unwrap();
    let bytes = memory.warm_up().unwrap();
    assert!(bytes > 0);
    assert_eq!(
        memory.recall("item w7").unwrap()[0].memory.content,
        "item w7"
    );
    assert_eq!(memory.health().unwrap().index_bytes, bytes);
    let without = builder().index_budget(0).open(&path).unwrap();
    assert_eq!(without.warm_up().unwrap(), 0);
}

/// What a repair mends in the tags and lengths, an index that is loaded already learns.
#[test]
fn it_learns_what_a_repair_mended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    let tagged = (0..20).map(|i| NewMemory::new(format!("item w{i}")).tags(["x"]));
    memory.store_all(tagged).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("DELETE FROM memory_tags WHERE seq = 8", [])
        .unwrap();
    let found = |memory: &Memory| {
        let hits = memory
            .recall(Recall::new("item w7").tags_any(["x"]))
            .unwrap();
        hits.iter().any(|hit| hit.memory.content == "item w7")
    };
    for _ in 0..3 {
        assert!(!found(&memory));
    }
    assert!(memory.health().unwrap().index_bytes > 0);
    assert!(memory.repair().unwrap().file.tag_index_rebuilt);
    assert!(found(&memory));
}

//! Files of rekal, adopted in their place and imported.

use super::*;

/// What all files of rekal hold, less what is superseded or scratch: content, project, tags.
const NOTES: [(&str, Option<&str>, &[&str]); 8] = [
    (
        "The API gateway authenticates with short-lived tokens issued by the login service",
        Some("gateway"),
        &["auth", "tokens"],
    ),
    (
        "Deploys freeze on Fridays after 15:00",
        Some("gateway"),
        &["ops"],
    ),
    (
        "Prefers Ruff over Black for formatting",
        None,
        &["style", "a,b", "say \"hi\""],
    ),
    ("今日は東京塔の夜景を見た", Some("旅行/travel"), &["写真"]),
    (
        "Ticket KX-204 covers the C++ build flags in src/flags.rs:88",
        Some("build"),
        &[],
    ),
    (
        "Café Zoë opens at 7:30 — don't be late 🚀",
        Some("100%_real"),
        &[],
    ),
    ("Global note without any tags", None, &[]),
    ("The cache TTL is 30 minutes", Some("gateway"), &["cache"]),
];

const REKALS: [&str; 5] = ["1.3.0", "1.16.0", "2.0.0", "3.0.0", "3.4.0"];

/// What rekal itself says of each memory that comes over: id, times.
fn rekal_rows(path: &Path) -> BTreeMap<String, (String, String, String)> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare("SELECT content, id, created_at, updated_at FROM memories")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
        })
        .unwrap();
    rows.map(Result::unwrap).collect()
}

fn assert_notes(memory: &Memory, rows: &BTreeMap<String, (String, String, String)>) {
    let found = all(memory);
    let told: Vec<(&str, Option<&str>, Vec<&str>)> = found
        .iter()
        .map(|memory| {
            let tags = memory.tags.iter().map(String::as_str).collect();
            (memory.content.as_str(), memory.project.as_deref(), tags)
        })
        .collect();
    let expected: Vec<_> = NOTES
        .iter()
        .map(|(content, project, tags)| (*content, *project, tags.to_vec()))
        .collect();
    assert_eq!(told, expected);
    for memory in &found {
        let (id, created, updated) = &rows[&memory.content];
        assert_eq!(
            (
                &memory.id,
                memory.created_at.to_string(),
                memory.updated_at.to_string()
            ),
            (id, created.clone(), updated.clone())
        );
    }
}

/// What each version leaves: rows, then fields, then tables.
fn rekal_left(version: &str) -> Vec<&'static str> {
    match version {
        "1.3.0" => vec![
            "memories: 1 row (superseded by another memory)",
            "memories.memory_type: 8 (mnemic has no such field)",
            "conversations: 1 row (mnemic has no such table)",
            "memory_links: 2 rows (mnemic has no such table)",
        ],
        "1.16.0" | "2.0.0" => vec![
            "memories: 1 row (a scratch note, kept for a while only)",
            "memories: 1 row (superseded by another memory)",
            "memories.memory_type: 8 (mnemic has no such field)",
            "memories.tier: 8 (mnemic has no such field)",
            "conversations: 1 row (mnemic has no such table)",
            "memory_links: 2 rows (mnemic has no such table)",
            "project_config: 1 row (mnemic has no such table)",
        ],
        _ => vec![],
    }
}

#[test]
fn every_rekal_is_adopted_in_its_place() {
    for version in REKALS {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &format!("rekal-{version}.db"));
        let (rows, mut expected) = (rekal_rows(&path), rekal_vectors(&path));
        let refused = Memory::open(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotAMemoryFile, "never unasked");

        let report = Memory::adopt(Adopt::rekal(&path)).unwrap();
        assert_eq!(
            (report.already, report.memories, report.vectors),
            (false, 8, 8),
            "{version}"
        );
        assert_eq!(left(&report.left), rekal_left(version), "{version}");
        let model = report.model.unwrap();
        assert_eq!((model.space.as_str(), model.dims), ("unknown", 384));
        let copy = report.copy.unwrap();
        assert_eq!(rekal_rows(&copy), rows, "{version}: the copy");
        assert_eq!(rekal_vectors(&copy), expected, "{version}: the copy");

        // Words work at once.
        let words = Memory::builder().no_embedder().open(&path).unwrap();
        assert!(
            words.check().unwrap().is_ok(),
            "{version}: {:?}",
            words.check().unwrap()
        );
        assert_notes(&words, &rows);
        let found = |memory: &Memory, recall: Recall| {
            memory.recall(recall).unwrap()[0].memory.content.clone()
        };
        assert_eq!(
            found(&words, Recall::new("夜景").project("旅行/travel")),
            NOTES[3].0
        );
        assert_eq!(
            found(&words, Recall::new("KX-204").scope(Scope::All)),
            NOTES[4].0
        );
        assert_eq!(
            found(
                &words,
                Recall::new("hi").scope(Scope::All).tags_any(["say \"HI\""])
            ),
            NOTES[2].0
        );
        // The vectors are those that were there, to the bit.
        expected.retain(|id, _| all(&words).iter().any(|memory| memory.id == *id));
        assert_eq!(vectors(&words), expected, "{version}");

        // Nothing is stored by a model that nobody named; the error says what to do.
        for error in [
            words.store("new").unwrap_err(),
            Memory::open(&path).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::ModelMismatch);
            assert!(error.to_string().contains("name_model"), "{error}");
        }
        let again = Memory::adopt(Adopt::rekal(&path)).unwrap();
        assert_eq!(
            (again.already, again.memories, again.vectors, again.copy),
            (true, 8, 8, None)
        );
        assert_eq!(again.left, []);

        // Once it is named, meaning works too.
        let embedder = Remembers::of(&words);
        words.name_model(embedder.model()).unwrap();
        drop(words);
        let memory = Memory::builder().embedder(embedder).open(&path).unwrap();
        for (content, _, _) in NOTES {
            let recall = Recall::new(content)
                .scope(Scope::All)
                .preset(Preset::vector_only());
            let hit = &memory.recall(recall.limit(1)).unwrap()[0];
            assert_eq!(hit.memory.content, content);
            assert!(hit.relevance > 0.999, "{hit:?}");
        }
        memory.store("stored after").unwrap();
        sound(&memory);
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.retain(|name| {
            !name.to_string_lossy().ends_with("-wal") && !name.to_string_lossy().ends_with("-shm")
        });
        assert_eq!(names.len(), 2, "{names:?}");
    }
}

/// Knows the vectors that a memory has, by text: the model that made them, as it were.
#[derive(Debug)]
struct Remembers {
    model: EmbeddingModel,
    vectors: BTreeMap<String, Vec<f32>>,
}

impl Remembers {
    fn of(memory: &Memory) -> Self {
        let vectors = vectors(memory);
        let floats = |bytes: &[u8]| {
            let chunks = bytes.chunks_exact(4);
            chunks
                .map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap()))
                .collect()
        };
        Self {
            model: EmbeddingModel::new("bag", "bag of words", "1", 384),
            vectors: all(memory)
                .into_iter()
                .map(|memory| (memory.content, floats(&vectors[&memory.id])))
                .collect(),
        }
    }
}

impl Embedder for Remembers {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let other = || (0..384).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let one = |text: &&str| Some(self.vectors.get(*text).cloned().unwrap_or_else(other));
        Ok(texts.iter().map(one).collect())
    }
}

#[test]
fn the_model_may_be_named_when_a_file_is_adopted() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "rekal-3.4.0.db");
    let narrow = WordHash::default().model().clone();
    let error = Memory::adopt(Adopt::rekal(&path).model(narrow)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(
        error.to_string().contains("384") && error.to_string().contains("32"),
        "{error}"
    );
    let model = WordHash::named("bag", "1", 384);
    Memory::adopt(Adopt::rekal(&path).model(model.model().clone())).unwrap();
    let memory = Memory::builder().embedder(model).open(&path).unwrap();
    memory.store("new").unwrap();
    sound(&memory);
    assert_eq!(memory.health().unwrap().vectors, 9);
}

#[test]
fn an_adopted_file_is_taken_over_to_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "rekal-2.0.0.db");
    Memory::adopt(Adopt::rekal(&path)).unwrap();
    let memory = Memory::builder().no_embedder().open(&path).unwrap();
    let report = memory
        .reembed(WordHash::default(), |_| ControlFlow::Continue(()))
        .unwrap();
    assert!(report.finished);
    memory.store("stored after").unwrap();
    sound(&memory);
    drop(memory);
    let memory = builder().open(&path).unwrap();
    assert_eq!(memory.health().unwrap().vectors, 9);
    let recall = Recall::new("cache TTL")
        .scope(Scope::All)
        .preset(Preset::vector_only());
    assert_eq!(memory.recall(recall).unwrap()[0].memory.content, NOTES[7].0);
}

#[test]
fn every_rekal_is_imported_into_a_memory_of_another_model() {
    for version in REKALS {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture(folder.path(), &format!("rekal-{version}.db"));
        let (rows, image) = (rekal_rows(&path), std::fs::read(&path).unwrap());
        let memory = memory();
        let report = memory.import(Import::rekal(&path)).unwrap();
        assert_eq!(
            (report.added, report.vectors_made, report.vectors_carried),
            (8, 8, 0),
            "{version}"
        );
        assert_notes(&memory, &rows);
        sound(&memory);
        let told = left(&report.left);
        assert!(
            told.contains(&"memory_vec: 8 rows (which model made them is not known)".to_owned()),
            "{told:?}"
        );
        for line in rekal_left(version) {
            let line = line.replace("no such field)", "no such field yet)");
            assert!(told.contains(&line), "{version}: {line}: {told:?}");
        }
        assert_eq!(memory.import(Import::rekal(&path)).unwrap().unchanged, 8);
        assert_eq!(std::fs::read(&path).unwrap(), image, "only read");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        // Of the same model, vectors come along.
        let model = WordHash::named("bag", "1", 384);
        let import = Import::rekal(&path).model(model.model().clone());
        let other = Memory::builder().embedder(model).open_in_memory().unwrap();
        assert_eq!(other.import(import).unwrap().vectors_carried, 8);
        let mut expected = rekal_vectors(&path);
        expected.retain(|id, _| all(&other).iter().any(|memory| memory.id == *id));
        assert_eq!(vectors(&other), expected);
    }
}

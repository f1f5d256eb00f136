//! A model of a memory, made of plain maps, against the real one over random sequences of everything a user can do.
//! After every step both hold the same, all indexes agree, and both legs find what brute force finds.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use mnemic::{
    Durability, EmbedError, Embedder, ErrorKind, Memory, MemoryUpdate, NewMemory, Preset, Prune,
    Recall, Scope, Timeline, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{Faulty, WordHash, sound};

type Fault = fn(&str) -> Result<mnemic::Embedding, EmbedError>;

const WORDS: [&str; 12] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "夜景", "KX-204", "naïve", "foo::bar",
    "🎉", "cursed",
];
const PROJECTS: [Option<&str>; 4] = [None, Some("a_b"), Some("acb"), Some("%")];
const TAGS: [&str; 5] = ["art", "smart", "Smart", "a,b", "写真"];

#[derive(Debug, Clone, PartialEq)]
struct Row {
    content: String,
    project: Option<String>,
    tags: Vec<String>,
    created: Timestamp,
}

/// What the real memory should be.
#[derive(Debug, Default)]
struct Model {
    rows: BTreeMap<String, Row>,
}

#[derive(Debug, Clone)]
struct Content {
    text: String,
    project: usize,
    tags: Vec<String>,
    day: u8,
}

#[derive(Debug, Clone)]
enum Step {
    Store(Content),
    StoreAll(Vec<Content>),
    StoreTaken(usize, Content),
    Update(usize, Option<String>, Option<usize>, Option<Vec<String>>),
    Replace(usize, String, bool),
    Delete(usize),
    DeleteAll(Vec<usize>),
    PruneProject(usize, bool),
    PruneBefore(u8),
    PruneTag(usize),
    Reopen,
    Vacuum,
    /// Every embedding of a text with the cursed word fails, in one of several ways.
    Curse(usize),
    /// A write by SQL that is rolled back.
    RolledBack,
    Repair,
    /// To another model, cancelled after so many reports of progress.
    Reembed(u32),
    AbandonReembed,
    Backfill,
    Compact,
    Erase(usize),
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..5).prop_map(|words| words.join(" "))
}

fn content() -> impl Strategy<Value = Content> {
    (text(), 0..PROJECTS.len(), tags(), 0u8..28).prop_map(|(text, project, tags, day)| Content {
        text,
        project,
        tags,
        day,
    })
}

fn tags() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        prop::sample::select(&TAGS[..]).prop_map(str::to_owned),
        0..3,
    )
}

fn step() -> impl Strategy<Value = Step> {
    let row = 0usize..64;
    prop_oneof![
        6 => content().prop_map(Step::Store),
        3 => prop::collection::vec(content(), 0..6).prop_map(Step::StoreAll),
        1 => (row.clone(), content()).prop_map(|(i, c)| Step::StoreTaken(i, c)),
        4 => (row.clone(), prop::option::of(text()), prop::option::of(0..PROJECTS.len()), prop::option::of(tags()))
            .prop_map(|(i, text, project, tags)| Step::Update(i, text, project, tags)),
        3 => (row.clone(), text(), any::<bool>()).prop_map(|(i, text, global)| Step::Replace(i, text, global)),
        3 => row.clone().prop_map(Step::Delete),
        1 => prop::collection::vec(row.clone(), 0..8).prop_map(Step::DeleteAll),
        1 => (0..PROJECTS.len(), any::<bool>()).prop_map(|(p, apply)| Step::PruneProject(p, apply)),
        1 => (0u8..10).prop_map(Step::PruneBefore),
        1 => (0..TAGS.len()).prop_map(Step::PruneTag),
        1 => Just(Step::Reopen),
        1 => Just(Step::Vacuum),
        2 => (0usize..6).prop_map(Step::Curse),
        1 => Just(Step::RolledBack),
        1 => Just(Step::Repair),
        4 => (0u32..6).prop_map(Step::Reembed),
        1 => Just(Step::AbandonReembed),
        1 => Just(Step::Backfill),
        1 => Just(Step::Compact),
        1 => row.prop_map(Step::Erase),
    ]
}

fn day(day: u8) -> Timestamp {
    format!("2026-01-{:02}", day + 1).parse().unwrap()
}

fn row(content: &Content) -> Row {
    Row {
        content: content.text.clone(),
        project: PROJECTS[content.project].map(str::to_owned),
        tags: content.tags.clone(),
        created: day(content.day),
    }
}

fn new_memory(content: &Content) -> NewMemory {
    let new = NewMemory::new(&content.text)
        .tags(&content.tags)
        .created_at(day(content.day));
    match PROJECTS[content.project] {
        Some(project) => new.project(project),
        None => new,
    }
}

/// The real memory, its model, and the switch of its embedder. Two handles write in turn, as two processes would: one
/// recalls by its resident index, the other from the file.
struct Pair {
    path: PathBuf,
    embedder: Arc<Faulty>,
    /// With an index.
    indexed: Memory,
    /// Without.
    plain: Memory,
    memory: Memory,
    model: Model,
    cursed: bool,
    /// Whether it is the turn of the one with an index.
    turn: bool,
}

impl Pair {
    fn new(path: PathBuf) -> Self {
        let embedder = Arc::new(Faulty::new());
        let [indexed, plain] = Self::open(&path, &embedder);
        Self {
            path,
            embedder,
            memory: indexed.clone(),
            indexed,
            plain,
            model: Model::default(),
            cursed: false,
            turn: true,
        }
    }

    fn open(path: &std::path::Path, embedder: &Arc<Faulty>) -> [Memory; 2] {
        [1 << 30, 0].map(|budget| {
            Memory::builder()
                .embedder(embedder.clone())
                .durability(Durability::Normal)
                .index_budget(budget)
                .open(path)
                .unwrap()
        })
    }

    /// The id of a row of the model, or one that is not there.
    fn id(&self, i: usize) -> String {
        let rows = self.model.rows.len();
        self.model
            .rows
            .keys()
            .nth(i % (rows + 1))
            .cloned()
            .unwrap_or_else(|| "absent".into())
    }

    fn fails(&self, text: &str) -> bool {
        self.cursed && text.contains("cursed")
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Store(content) => match self.memory.store(new_memory(content)) {
                Ok(stored) => {
                    assert!(!self.fails(&content.text));
                    self.model.rows.insert(stored.id, row(content));
                }
                Err(error) => self.expect_curse(&error, self.fails(&content.text)),
            },
            Step::StoreAll(contents) => {
                let fails = contents.iter().any(|content| self.fails(&content.text));
                match self.memory.store_all(contents.iter().map(new_memory)) {
                    Ok(stored) => {
                        assert!(!fails && stored.len() == contents.len());
                        for (stored, content) in stored.into_iter().zip(contents) {
                            self.model.rows.insert(stored.id, row(content));
                        }
                    }
                    Err(error) => self.expect_curse(&error, fails),
                }
            }
            Step::StoreTaken(i, content) => {
                let id = self.id(*i);
                let taken = self.model.rows.contains_key(&id);
                let batch = [new_memory(content), new_memory(content).id(&id)];
                match self.memory.store_all(batch) {
                    Ok(stored) => {
                        assert!(!taken && !self.fails(&content.text));
                        for stored in stored {
                            self.model.rows.insert(stored.id, row(content));
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => assert!(taken),
                    Err(error) => self.expect_curse(&error, self.fails(&content.text)),
                }
            }
            Step::Update(i, text, project, tags) => {
                self.update(*i, text.as_ref(), *project, tags.as_ref())
            }
            Step::Replace(i, text, global) => {
                let id = self.id(*i);
                let new = NewMemory::new(text).created_at(day(27));
                let new = if *global { new.global() } else { new };
                match self.memory.replace(&id, new) {
                    Ok(stored) => {
                        assert!(!self.fails(text));
                        let old = self.model.rows.remove(&id).unwrap();
                        let project = old.project.filter(|_| !global);
                        let row = Row {
                            content: text.clone(),
                            project,
                            tags: old.tags,
                            created: day(27),
                        };
                        self.model.rows.insert(stored.id, row);
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        assert!(!self.model.rows.contains_key(&id));
                    }
                    Err(error) => self.expect_curse(&error, self.fails(text)),
                }
            }
            Step::Delete(i) => {
                let id = self.id(*i);
                let was_there = self.memory.delete(&id).unwrap();
                assert_eq!(was_there, self.model.rows.remove(&id).is_some());
            }
            Step::DeleteAll(rows) => {
                let ids: Vec<String> = rows.iter().map(|i| self.id(*i)).collect();
                let report = self.memory.delete_all(&ids).unwrap();
                let mut missing = Vec::new();
                for id in ids {
                    if self.model.rows.remove(&id).is_none() {
                        missing.push(id);
                    }
                }
                assert_eq!(report.missing, missing);
            }
            Step::PruneProject(p, apply) => {
                let scope = PROJECTS[*p].map_or(Scope::Global, |p| Scope::Project(p.into()));
                let prune = Prune::new().scope(scope);
                let project = PROJECTS[*p].map(str::to_owned);
                self.prune(prune, *apply, |row| row.project == project);
            }
            Step::PruneBefore(before) => {
                let before = day(*before);
                self.prune(Prune::new().until(before), true, |row| row.created < before);
            }
            Step::PruneTag(tag) => {
                let tag = TAGS[*tag];
                let same = |other: &String| other.to_lowercase() == tag.to_lowercase();
                self.prune(Prune::new().tags_any([tag]), true, |row| {
                    row.tags.iter().any(same)
                });
            }
            Step::Reopen => [self.indexed, self.plain] = Self::open(&self.path, &self.embedder),
            Step::Vacuum => {
                rusqlite::Connection::open(&self.path)
                    .unwrap()
                    .execute_batch("VACUUM")
                    .unwrap();
            }
            Step::Curse(kind) => {
                let faults: [Option<Fault>; 6] = [
                    None,
                    Some(|_| Err(EmbedError::run("cursed"))),
                    Some(|_| Ok(Some(vec![0.0; 32]))),
                    Some(|_| Ok(Some(vec![f32::NAN; 32]))),
                    Some(|_| Ok(Some(vec![1.0; 33]))),
                    Some(|_| Ok(None)),
                ];
                self.embedder.fault(faults[*kind]);
                self.cursed = *kind != 0;
            }
            Step::RolledBack => {
                let raw = rusqlite::Connection::open(&self.path).unwrap();
                raw.execute_batch("BEGIN IMMEDIATE; DELETE FROM meta; UPDATE memories SET updated_at = created_at; ROLLBACK")
                    .unwrap();
            }
            Step::Repair => {
                self.embedder.fault(None);
                self.cursed = false;
                let report = self.memory.repair().unwrap();
                assert_eq!((report.file, report.vectors_added), (Default::default(), 0));
            }
            Step::Reembed(reports) => self.reembed(*reports),
            Step::AbandonReembed => drop(self.memory.abandon_reembed().unwrap()),
            Step::Backfill => {
                let report = self.memory.backfill(|_| ControlFlow::Continue(()));
                assert_eq!(report.unwrap().embedded, 0);
            }
            Step::Compact => drop(self.memory.compact().unwrap()),
            Step::Erase(i) => {
                let id = self.id(*i);
                let was_there = self.model.rows.remove(&id).is_some();
                assert_eq!(self.memory.erase(&id).unwrap(), was_there);
            }
        }
    }

    /// Goes over to the other model, or begins to; the other handle then knows the old one alone.
    fn reembed(&mut self, reports: u32) {
        let name = match self.embedder.model().dims {
            32 => WordHash::named("narrow", "1", 24),
            _ => WordHash::default(),
        };
        let next = Arc::new(Faulty::over(name));
        let mut seen = 0;
        let progress = |progress: mnemic::Progress| {
            assert!(progress.done <= progress.total);
            seen += 1;
            match seen > reports {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let report = self.memory.reembed(next.clone(), progress).unwrap();
        let rows = self.model.rows.len() as u64;
        assert_eq!(report.finished, seen <= reports);
        let coverage = report.coverage;
        assert_eq!((coverage.memories, coverage.embedded), (rows, rows));
        assert_eq!(coverage.coming_model.is_none(), report.finished);
        if !report.finished {
            return;
        }
        let [indexed, plain] = Self::open(&self.path, &next);
        let stale = if self.turn {
            &self.plain
        } else {
            &self.indexed
        };
        if rows > 0 {
            let error = stale.recall("alpha").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ModelMismatch);
        }
        if self.turn {
            self.plain = plain;
        } else {
            self.indexed = indexed;
        }
        self.embedder = next;
        self.cursed = false;
    }

    fn expect_curse(&self, error: &mnemic::Error, fails: bool) {
        assert!(fails, "{error}");
        assert!(
            matches!(error.kind(), ErrorKind::Embedding | ErrorKind::InvalidInput),
            "{error:?}"
        );
    }

    fn update(
        &mut self,
        i: usize,
        text: Option<&String>,
        project: Option<usize>,
        tags: Option<&Vec<String>>,
    ) {
        let id = self.id(i);
        let mut change = MemoryUpdate::new();
        if let Some(text) = text {
            change = change.content(text);
        }
        if let Some(project) = project {
            change = match PROJECTS[project] {
                Some(project) => change.project(project),
                None => change.global(),
            };
        }
        if let Some(tags) = tags {
            change = change.tags(tags);
        }
        match self.memory.update(&id, change) {
            Ok(now) => {
                let row = self.model.rows.get_mut(&id).unwrap();
                if let Some(text) = text {
                    assert!(!(self.cursed && text.contains("cursed")));
                    row.content.clone_from(text);
                }
                if let Some(project) = project {
                    row.project = PROJECTS[project].map(str::to_owned);
                }
                if let Some(tags) = tags {
                    row.tags.clone_from(tags);
                }
                assert_eq!(
                    (now.content, now.project, now.tags),
                    (row.content.clone(), row.project.clone(), row.tags.clone())
                );
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(!self.model.rows.contains_key(&id))
            }
            Err(error) => self.expect_curse(&error, text.is_some_and(|text| self.fails(text))),
        }
    }

    fn prune(&mut self, prune: Prune, apply: bool, goes: impl Fn(&Row) -> bool) {
        let mut expected: Vec<String> = self
            .model
            .rows
            .iter()
            .filter(|(_, row)| goes(row))
            .map(|(id, _)| id.clone())
            .collect();
        let mut pruned = self
            .memory
            .prune(if apply { prune.apply() } else { prune })
            .unwrap();
        pruned.ids.sort();
        expected.sort();
        assert_eq!((pruned.dry_run, &pruned.ids), (!apply, &expected));
        if apply {
            self.model.rows.retain(|_, row| !goes(row));
        }
    }

    /// Both hold the same; the indexes agree; both legs find what brute force finds.
    fn compare(&self) {
        sound(&self.memory);
        let listed: BTreeMap<String, Row> = self
            .memory
            .timeline(Timeline::new())
            .unwrap()
            .into_iter()
            .map(|m| {
                let row = Row {
                    content: m.content,
                    project: m.project,
                    tags: m.tags,
                    created: m.created_at,
                };
                (m.id, row)
            })
            .collect();
        assert_eq!(listed, self.model.rows);
        self.compare_handles();
        for word in ["alpha", "夜景", "KX-204", "naive", "BAR", "absent"] {
            self.compare_words(word);
        }
        for query in ["alpha beta", "gamma 夜景", "zeta"] {
            for project in PROJECTS {
                self.compare_vectors(query, project);
            }
        }
    }

    /// With and without the resident index, and with what either wrote, the answers are the same.
    fn compare_handles(&self) {
        let now = day(27);
        for recall in [
            Recall::new("alpha beta 夜景"),
            Recall::new("gamma zeta").scope(Scope::All),
            Recall::new("delta")
                .scope(Scope::ProjectAndGlobal("a_b".into()))
                .since(day(3))
                .until(day(20)),
            Recall::new("epsilon")
                .scope(Scope::All)
                .tags_any(["SMART", "art"])
                .tags_none(["写真"]),
            Recall::new("epsilon alpha")
                .scope(Scope::All)
                .tags_all(["smart", "a,b"])
                .no_limit(),
            Recall::new("beta")
                .scope(Scope::All)
                .ids([self.id(0), self.id(3)]),
            Recall::new("beta").project("absent"),
        ] {
            let recall = recall.now(now);
            let [indexed, plain] =
                [&self.indexed, &self.plain].map(|m| m.recall(recall.clone()).unwrap());
            assert_eq!(indexed, plain, "{recall:?}");
        }
    }

    fn compare_words(&self, word: &str) {
        let recall = Recall::new(word)
            .scope(Scope::All)
            .preset(Preset::word_only())
            .no_limit();
        let mut found: Vec<String> = self
            .memory
            .recall(recall)
            .unwrap()
            .into_iter()
            .map(|hit| hit.memory.id)
            .collect();
        // Tags and projects are searched too: none of these words is among them.
        let holds = |row: &Row| {
            let text = row.content.replace('ï', "i").to_lowercase();
            match word {
                "KX-204" => text.contains("kx-204"),
                _ => text.contains(&word.to_lowercase()),
            }
        };
        let mut expected: Vec<String> = self
            .model
            .rows
            .iter()
            .filter(|(_, row)| holds(row))
            .map(|(id, _)| id.clone())
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{word}");
    }

    fn compare_vectors(&self, query: &str, project: Option<&str>) {
        let scope = project.map_or(Scope::Global, |p| Scope::Project(p.into()));
        let recall = Recall::new(query)
            .scope(scope)
            .preset(Preset::vector_only())
            .limit(5);
        let hits = self.memory.recall(recall).unwrap();
        let embedder = self.embedder.inner();
        let vector = embedder.vector(query).unwrap();
        let cosine = |text: &str| {
            let other = embedder.vector(text).unwrap();
            vector
                .iter()
                .zip(&other)
                .map(|(a, b)| f64::from(a * b))
                .sum::<f64>()
        };
        let mut expected: Vec<f64> = self
            .model
            .rows
            .values()
            .filter(|row| row.project.as_deref() == project)
            .map(|row| cosine(&row.content))
            .collect();
        expected.sort_by(|a, b| b.total_cmp(a));
        expected.truncate(5);
        assert_eq!(hits.len(), expected.len());
        for (hit, expected) in hits.iter().zip(expected) {
            let found = hit.signals.cosine.unwrap();
            // What points away from the question is as good as unrelated: it ties at 0.
            let expected = expected.max(0.0);
            assert!(
                (found.max(0.0) - expected).abs() < 1e-5,
                "{found} {expected}"
            );
            assert!((found - cosine(&hit.memory.content)).abs() < 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 48, ..Config::default() })]

    #[test]
    fn the_memory_is_its_model(steps in prop::collection::vec(step(), 1..30)) {
        let folder = tempfile::tempdir().unwrap();
        let mut pair = Pair::new(folder.path().join("model.db"));
        for (i, step) in steps.iter().enumerate() {
            pair.turn = i % 2 == 0;
            pair.memory = if pair.turn { pair.indexed.clone() } else { pair.plain.clone() };
            pair.apply(step);
            pair.compare();
        }
    }
}

//! Makes the data of the comparison: the texts, their vectors by the bundled model, the sets, and what is right for each
//! question. Every system reads these files and embeds nothing itself.
//!
//! - `scale`: COUNT memories without a project, for time, size and quality at that size.
//! - `projects`: up to 5,000 memories in 50 projects, each question asked of one project: does a filter starve?
//! - the evaluation files given: each scope a store of its own, the text of a memory as `evaluate` has it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use mnemic::{Embedder, InputKind, StaticEmbedder};
use mnemic_rank::TopK;
use serde::Serialize;

use crate::Result;
use crate::data::{self, DataSet};
use crate::harness::{DIMS, LIMIT};
use crate::random::Random;
use crate::texts::{Language, dot};

/// Questions of each made-up set.
const QUESTIONS: usize = 200;
const FEWEST: usize = 1_000;
const PROJECTS: usize = 50;
const MOST_IN_PROJECTS: usize = 5_000;

#[derive(Serialize)]
struct Set {
    name: String,
    licence: String,
    scopes: Vec<Scope>,
}

#[derive(Serialize)]
struct Scope {
    memories: Vec<Memory>,
    questions: Vec<Question>,
}

#[derive(Serialize)]
struct Memory {
    id: String,
    text: usize,
    project: Option<String>,
}

#[derive(Serialize)]
struct Question {
    text: usize,
    project: Option<String>,
    /// Ids of the memories to find.
    relevant: Vec<String>,
    /// Ids of the ten nearest by cosine, exactly; only in `scale`.
    nearest: Vec<String>,
}

/// Each text once, by number.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: String) -> usize {
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.all.push(text.clone());
            self.all.len() - 1
        })
    }
}

pub fn run(count: usize, folder: &Path, evaluations: &[PathBuf]) -> Result<()> {
    if count < FEWEST {
        return Err(format!("COUNT is {count}: at least {FEWEST} are needed").into());
    }
    let language = Language::new()?;
    let mut texts = Texts::default();
    let mut sets = vec![
        made_up("scale", count, 1, &language, &mut texts),
        made_up(
            "projects",
            count.min(MOST_IN_PROJECTS),
            PROJECTS,
            &language,
            &mut texts,
        ),
    ];
    for path in evaluations {
        sets.push(evaluation(DataSet::read(path)?, &mut texts)?);
    }
    let vectors = embed(&texts.all)?;
    nearest(&mut sets[0].scopes[0], &vectors);
    fs::create_dir_all(folder)?;
    let bytes: Vec<u8> = vectors.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.join("vectors.f32"), bytes)?;
    fs::write(folder.join("texts.json"), serde_json::to_vec(&texts.all)?)?;
    fs::write(folder.join("sets.json"), serde_json::to_vec(&sets)?)?;
    Ok(())
}

/// A set of one scope; with more than one project, memories and questions go round them.
fn made_up(
    name: &str,
    count: usize,
    projects: usize,
    language: &Language,
    texts: &mut Texts,
) -> Set {
    let number = projects as u64;
    let project = |i: usize| (projects > 1).then(|| format!("project-{}", i % projects));
    let memories = (0..count)
        .map(|i| Memory {
            id: format!("m{i}"),
            text: texts.number(language.text(&language.memory(number, i))),
            project: project(i),
        })
        .collect();
    let mut random = Random(number << 50);
    let mut question = |_| {
        let i = random.below(count);
        let question = language.question(&language.memory(number, i), &mut random);
        Question {
            text: texts.number(question),
            project: project(i),
            relevant: vec![format!("m{i}")],
            nearest: Vec::new(),
        }
    };
    Set {
        name: name.to_owned(),
        licence: "made up".to_owned(),
        scopes: vec![Scope {
            questions: (0..QUESTIONS).map(&mut question).collect(),
            memories,
        }],
    }
}

/// The set of a file, without the memories that have no text and the questions that have no answer among the others.
fn evaluation(set: DataSet, texts: &mut Texts) -> Result<Set> {
    let scope = |scope| evaluation_scope(scope, texts);
    Ok(Set {
        name: set.name,
        licence: set.licence,
        scopes: set.scopes.into_iter().map(scope).collect::<Result<_>>()?,
    })
}

fn evaluation_scope(scope: data::Scope, texts: &mut Texts) -> Result<Scope> {
    let mut ids = HashMap::new();
    let mut memories = Vec::new();
    for item in scope.memories {
        if let Some(content) = item.content()? {
            let id = format!("m{}", memories.len());
            memories.push(Memory {
                id: id.clone(),
                text: texts.number(content),
                project: None,
            });
            ids.insert(item.id, id);
        }
    }
    let mut questions = Vec::new();
    for query in scope.queries {
        let mut relevant: Vec<String> = query
            .relevant
            .iter()
            .filter_map(|id| ids.get(id).cloned())
            .collect();
        relevant.sort_unstable();
        relevant.dedup();
        if !relevant.is_empty() {
            questions.push(Question {
                text: texts.number(query.text),
                project: None,
                relevant,
                nearest: Vec::new(),
            });
        }
    }
    Ok(Scope {
        memories,
        questions,
    })
}

fn embed(texts: &[String]) -> Result<Vec<f32>> {
    let model = StaticEmbedder::new();
    let mut vectors = Vec::with_capacity(texts.len() * DIMS);
    for batch in texts.chunks(1_000) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        for (text, vector) in batch.iter().zip(model.embed(InputKind::Passage, &batch)?) {
            vectors.extend(vector.ok_or_else(|| format!("nothing to embed in {text:?}"))?);
        }
    }
    Ok(vectors)
}

/// Fills in the nearest memories of each question of a scope, by comparing it with all.
fn nearest(scope: &mut Scope, vectors: &[f32]) {
    let vector = |text: usize| &vectors[text * DIMS..][..DIMS];
    for question in &mut scope.questions {
        let mut best = TopK::new(LIMIT);
        for (i, memory) in scope.memories.iter().enumerate() {
            let cosine = dot(vector(question.text), vector(memory.text));
            best.push(f64::from(cosine), i as i64);
        }
        let ids = best.into_sorted_vec().into_iter();
        question.nearest = ids
            .map(|(_, i)| scope.memories[i as usize].id.clone())
            .collect();
    }
}

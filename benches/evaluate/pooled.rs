//! All scopes in one file, each as a project: every question asked within its project must have the answer that a file of
//! that project alone gives, to the last hit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemic::{Hit, Memory, NewMemory, Preset, Recall, Timestamp};

use crate::Result;
use crate::data::{DataSet, Scope};
use crate::embedder::Measured;
use crate::report::{Table, thousands};

/// Scores that differ by more are not the same.
const TOLERANCE: f64 = 1e-9;

/// One scope with the file that holds nothing else.
struct Alone {
    /// By place in the list of data sets.
    set: usize,
    project: String,
    memory: Memory,
    questions: Vec<String>,
    now: Timestamp,
}

/// How the answers of one ranker to the questions of one set compare.
#[derive(Debug, Default)]
struct Comparison {
    questions: usize,
    /// Questions with the same ids in the same order.
    same: usize,
    /// The largest difference of scores, place by place.
    difference: f64,
}

impl Comparison {
    fn add(&mut self, pooled: &[Hit], alone: &[Hit]) {
        let pairs = || pooled.iter().zip(alone);
        self.questions += 1;
        let same = pooled.len() == alone.len() && pairs().all(|(a, b)| a.memory.id == b.memory.id);
        self.same += usize::from(same);
        self.difference = pairs()
            .map(|(a, b)| (a.score - b.score).abs())
            .fold(self.difference, f64::max);
    }

    fn is_exact(&self) -> bool {
        self.same == self.questions && self.difference <= TOLERANCE
    }
}

/// Prints the comparison; an error where it is not exact.
pub fn print(paths: &[PathBuf], embedder: &Arc<Measured>) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let open = |path: &Path| Memory::builder().embedder(Arc::clone(embedder)).open(path);
    let pool = open(&directory.path().join("pool.db"))?;
    let (mut names, mut scopes) = (Vec::new(), Vec::new());
    for path in paths {
        let set = DataSet::read(path)?;
        for scope in set.scopes {
            let project = format!("p{}", scopes.len());
            let (memories, now) = memories(&scope, &project)?;
            let memory = open(&directory.path().join(format!("{project}.db")))?;
            memory.store_all(memories.clone())?;
            pool.store_all(memories)?;
            let questions = scope.queries.into_iter().map(|query| query.text).collect();
            scopes.push(Alone {
                set: names.len(),
                project,
                memory,
                questions,
                now,
            });
        }
        names.push(set.name);
    }
    println!(
        "\n## All {} scopes as projects of one file, beside a file each ({} memories)\n",
        scopes.len(),
        thousands(usize::try_from(pool.health()?.memories)?)
    );
    let rankers = [
        ("word only", Preset::word_only()),
        ("vector only", Preset::vector_only()),
        ("default", Preset::default()),
    ];
    let mut table = Table::new([
        "data set",
        "ranker",
        "questions",
        "same ten in the same order",
        "largest difference of scores",
    ]);
    let mut exact = true;
    for (place, name) in names.iter().enumerate() {
        for (ranker, preset) in rankers {
            let mut comparison = Comparison::default();
            for scope in scopes.iter().filter(|scope| scope.set == place) {
                for question in &scope.questions {
                    let recall = Recall::new(question)
                        .project(&scope.project)
                        .limit(10)
                        .now(scope.now)
                        .preset(preset);
                    comparison.add(&pool.recall(recall.clone())?, &scope.memory.recall(recall)?);
                }
            }
            exact &= comparison.is_exact();
            table.row([
                name.clone(),
                ranker.to_owned(),
                comparison.questions.to_string(),
                comparison.same.to_string(),
                format!("{:.1e}", comparison.difference),
            ]);
        }
    }
    print!("{table}");
    if exact {
        Ok(())
    } else {
        Err("a project of one file is not recalled as a file of its own".into())
    }
}

/// The memories of a scope, with the ids and times that they have in both files, and the time of the last.
fn memories(scope: &Scope, project: &str) -> Result<(Vec<NewMemory>, Timestamp)> {
    let mut now = Timestamp::from_micros(0)?;
    let mut memories = Vec::new();
    for (place, item) in scope.memories.iter().enumerate() {
        let Some(content) = item.content()? else {
            continue;
        };
        let created_at = item
            .created_at()?
            .map_or_else(|| Timestamp::from_micros(0), Ok)?;
        now = now.max(created_at);
        let memory = NewMemory::new(content).id(format!("{project}-{place:07}"));
        memories.push(memory.project(project).created_at(created_at));
    }
    Ok((memories, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(memory: &Memory, question: &str) -> Vec<Hit> {
        memory
            .recall(Recall::new(question).now(Timestamp::from_micros(0).unwrap()))
            .unwrap()
    }

    fn memory(texts: &[(&str, &str)]) -> Memory {
        let memory = Memory::builder().no_embedder().open_in_memory().unwrap();
        let time = Timestamp::from_micros(0).unwrap();
        let texts = texts
            .iter()
            .map(|(id, text)| NewMemory::new(*text).id(*id).created_at(time));
        memory.store_all(texts).unwrap();
        memory
    }

    #[test]
    fn another_order_score_or_length_is_told() {
        let question = "where is the tea?";
        let one = hits(
            &memory(&[("a", "tea is in the drawer"), ("b", "tea, tea")]),
            question,
        );
        let mut comparison = Comparison::default();
        comparison.add(&one, &one);
        assert!(comparison.is_exact());

        let other_statistics = hits(
            &memory(&[
                ("a", "tea is in the drawer"),
                ("b", "tea, tea"),
                ("c", "rain"),
            ]),
            question,
        );
        assert_eq!(one.len(), other_statistics.len());
        comparison.add(&other_statistics, &one);
        assert!(comparison.difference > TOLERANCE && !comparison.is_exact());

        let mut comparison = Comparison::default();
        comparison.add(&one[..1], &one);
        assert_eq!((comparison.questions, comparison.same), (1, 0));
        let turned: Vec<Hit> = one.iter().rev().cloned().collect();
        comparison.add(&turned, &one);
        assert_eq!((comparison.questions, comparison.same), (2, 0));
    }
}

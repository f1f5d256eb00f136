//! The data sets, stored: each scope in a memory of its own, asked through the public facade.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use mnemic::{Calibration, Hit, Memory, NewMemory, Preset, Recall, Timestamp};

use crate::Result;
use crate::data::{DataSet, Item, Scope};
use crate::embedder::Measured;
use crate::metrics::Quality;
use crate::report::thousands;

/// All data sets, in the order given.
#[derive(Debug)]
pub struct Corpus {
    pub sets: Vec<StoredSet>,
}

#[derive(Debug)]
pub struct StoredSet {
    pub name: String,
    licence: String,
    pub memories: usize,
    /// Memories without a text, which cannot be stored.
    textless: usize,
    /// Queries without a relevant memory, which cannot be scored.
    unanswerable: usize,
    pub scopes: Vec<StoredScope>,
    /// The queries of all scopes, in order.
    pub queries: Vec<Query>,
}

#[derive(Debug)]
pub struct StoredScope {
    pub id: String,
    pub memory: Memory,
    /// The time of its last memory.
    pub now: Timestamp,
}

#[derive(Debug)]
pub struct Query {
    /// Its scope, by place in [`StoredSet::scopes`].
    pub scope: usize,
    pub text: String,
    pub category: String,
    /// Ids as stored.
    pub relevant: HashSet<String>,
}

/// What is stored of an item; `None` where there is nothing to store.
pub type Content = fn(&Item) -> Result<Option<String>>;

/// What a ranker gave for one query.
#[derive(Debug, Clone)]
pub struct Answer {
    pub quality: Quality,
    /// Score and relevance of its hits, best first.
    pub hits: Vec<(f64, bool)>,
}

impl Corpus {
    /// Reads and stores the data sets.
    pub fn store(paths: &[PathBuf], embedder: &Arc<Measured>, content: Content) -> Result<Self> {
        let sets = paths
            .iter()
            .map(|path| StoredSet::store(DataSet::read(path)?, embedder, content))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { sets })
    }

    /// What the sets hold, a line each.
    pub fn describe(&self) -> String {
        let mut lines = String::new();
        for set in &self.sets {
            let _ = write!(
                lines,
                "\n- {}: {}, {} memories, {} queries ({})",
                set.name,
                match set.scopes.len() {
                    1 => "1 scope".to_owned(),
                    scopes => format!("{scopes} scopes"),
                },
                thousands(set.memories),
                thousands(set.queries.len()),
                set.licence
            );
            if set.textless > 0 {
                let _ = write!(lines, "; {} memories without text left out", set.textless);
            }
            if set.unanswerable > 0 {
                let _ = write!(
                    lines,
                    "; {} queries without a relevant memory left out",
                    set.unanswerable
                );
            }
        }
        lines
    }

    /// Asks every query of every set: the answers by set.
    pub fn ask(&self, preset: Preset) -> Result<Vec<Vec<Answer>>> {
        self.sets.iter().map(|set| set.ask(preset)).collect()
    }
}

impl StoredSet {
    pub fn store(data: DataSet, embedder: &Arc<Measured>, content: Content) -> Result<Self> {
        let mut set = Self {
            name: data.name,
            licence: data.licence,
            memories: 0,
            textless: 0,
            unanswerable: 0,
            scopes: Vec::new(),
            queries: Vec::new(),
        };
        for scope in data.scopes {
            set.add(scope, embedder, content)?;
        }
        Ok(set)
    }

    fn add(&mut self, scope: Scope, embedder: &Arc<Measured>, content: Content) -> Result<()> {
        // A set without times gets one instant for all, so that newness tells nothing and every run is the same.
        let mut now = Timestamp::from_micros(0)?;
        let mut memories = Vec::new();
        let mut stored_ids = HashMap::new();
        for (place, item) in scope.memories.iter().enumerate() {
            // Ids in order of the file: what is equal in score and time keeps that order.
            let id = format!("{place:07}");
            stored_ids.insert(item.id.as_str(), id.clone());
            let Some(content) = content(item)? else {
                self.textless += 1;
                continue;
            };
            let created_at = match item.created_at()? {
                Some(time) => time,
                None => Timestamp::from_micros(0)?,
            };
            now = now.max(created_at);
            memories.push(NewMemory::new(content).id(id).created_at(created_at));
        }
        self.memories += memories.len();
        let memory = Memory::builder()
            .embedder(Arc::clone(embedder))
            .open_in_memory()?;
        memory.store_all(memories)?;
        for query in scope.queries {
            let relevant: HashSet<String> = query
                .relevant
                .iter()
                .filter_map(|id| stored_ids.get(id.as_str()).cloned())
                .collect();
            if relevant.is_empty() {
                self.unanswerable += 1;
                continue;
            }
            self.queries.push(Query {
                scope: self.scopes.len(),
                text: query.text,
                category: query.category.unwrap_or_else(|| "none".to_owned()),
                relevant,
            });
        }
        self.scopes.push(StoredScope {
            id: scope.id,
            memory,
            now,
        });
        Ok(())
    }

    pub fn ask(&self, preset: Preset) -> Result<Vec<Answer>> {
        self.queries
            .iter()
            .map(|query| {
                let hits: Vec<(f64, bool)> = self.scopes[query.scope]
                    .recall(&query.text, preset)?
                    .into_iter()
                    .map(|hit| (hit.score, query.relevant.contains(&hit.memory.id)))
                    .collect();
                let relevant: Vec<bool> = hits.iter().map(|(_, relevant)| *relevant).collect();
                Ok(Answer {
                    quality: Quality::of(&relevant, query.relevant.len()),
                    hits,
                })
            })
            .collect()
    }
}

impl StoredScope {
    /// The ten best hits.
    pub fn recall(&self, text: &str, preset: Preset) -> Result<Vec<Hit>> {
        let recall = Recall::new(text).limit(10).now(self.now).preset(preset);
        Ok(self.memory.recall(recall)?)
    }

    /// Calibrates its memory for a preset.
    pub fn calibrate(&self, preset: Preset) -> Result<Calibration> {
        Ok(self.memory.calibrate(preset)?)
    }

    /// The ten best hits that reach a percentile of what random questions reach.
    pub fn recall_above(&self, text: &str, preset: Preset, percent: f64) -> Result<Vec<Hit>> {
        let recall = Recall::new(text).limit(10).now(self.now).preset(preset);
        Ok(self.memory.recall(recall.min_percentile(percent))?)
    }

    /// The score of the best hit; 0 where there is none.
    pub fn top_score(&self, text: &str, preset: Preset) -> Result<f64> {
        Ok(self
            .recall(text, preset)?
            .first()
            .map_or(0.0, |hit| hit.score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedder::by_name;

    #[test]
    fn a_set_is_stored_and_asked() {
        let json = r#"{"name": "tiny", "licence": "none", "scopes": [{"id": "s",
            "memories": [{"id": "a", "text": "the spare key is with Anna"}, {"id": "b", "text": ""},
                         {"id": "c", "text": "tea is in the left drawer"}],
            "queries": [{"text": "who has the spare key?", "relevant": ["a", "a"], "category": "who"},
                        {"text": "what is the colour of the sky?", "relevant": []}]}]}"#;
        let data: DataSet = serde_json::from_str(json).unwrap();
        let embedder = Arc::new(Measured::new(by_name("static").unwrap()));
        let set = StoredSet::store(data, &embedder, Item::content).unwrap();
        assert_eq!((set.memories, set.textless, set.unanswerable), (2, 1, 1));
        let answers = set.ask(Preset::default()).unwrap();
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].quality.values(), [1.0; 4]);
        assert!(answers[0].hits[0].1);
    }
}

//! Drives mnemic through its public facade, with the defaults.

use std::path::Path;
use std::sync::Arc;

use mnemic::{
    EmbedError, Embedder, Embedding, EmbeddingModel, InputKind, Memory, NewMemory, Preset, Recall,
};

use crate::harness::{DIMS, Data, Item, LIMIT, Outcome, Peer, Question};

/// A model that looks up what was prepared.
#[derive(Debug)]
struct LookUp {
    model: EmbeddingModel,
    data: Arc<Data>,
}

impl Embedder for LookUp {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }
    fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let vector = |text: &&str| match self.data.vector(text) {
            Ok(vector) => Ok(Some(vector.to_vec())),
            Err(error) => Err(EmbedError::run(error.to_string())),
        };
        texts.iter().map(vector).collect()
    }
}

pub struct Mnemic {
    memory: Memory,
    preset: Preset,
}

const VECTORS: &str = "vectors alone";

impl Peer for Mnemic {
    const NAME: &'static str = "mnemic";
    const MODES: &'static [&'static str] = &["default", VECTORS];

    fn facts() -> Vec<(&'static str, &'static str)> {
        vec![
            ("version", env!("CARGO_PKG_VERSION")),
            ("durability", "WAL, synchronous FULL (its own)"),
            ("bulk", "store_all"),
        ]
    }

    fn open(path: &Path, data: &Arc<Data>, mode: &'static str) -> Outcome<Self> {
        let embedder = LookUp {
            model: EmbeddingModel::new("look-up", "look-up", "1", DIMS),
            data: Arc::clone(data),
        };
        Ok(Self {
            memory: Memory::builder().embedder(embedder).open(path)?,
            preset: match mode {
                VECTORS => Preset::vector_only(),
                _ => Preset::default(),
            },
        })
    }

    fn store(&mut self, item: Item<'_>) -> Outcome<()> {
        self.memory.store(memory(&item))?;
        Ok(())
    }

    fn store_all(&mut self, items: &[Item<'_>]) -> Outcome<()> {
        self.memory.store_all(items.iter().map(memory))?;
        Ok(())
    }

    fn recall(&mut self, question: Question<'_>) -> Outcome<Vec<String>> {
        let recall = Recall::new(question.text).limit(LIMIT).preset(self.preset);
        let recall = match question.project {
            Some(project) => recall.project(project),
            None => recall,
        };
        let hits = self.memory.recall(recall)?;
        Ok(hits.into_iter().map(|hit| hit.memory.id).collect())
    }
}

/// Text, id and project alone: most of the others cannot be told a date.
fn memory(item: &Item<'_>) -> NewMemory {
    let memory = NewMemory::new(item.text).id(item.id);
    match item.project {
        Some(project) => memory.project(project),
        None => memory,
    }
}

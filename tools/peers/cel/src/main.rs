//! Drives cel-memory-sqlite: `peer-cel-memory-sqlite DATA PLACE OUT`.

#[path = "../../../../benches/peers/harness.rs"]
mod harness;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cel_memory::{
    CallerScope, ChunkKind, ChunkSource, Embedder, EmbedderError, EmbedderResult, MemoryProvider,
    MemoryQuery, NewMemoryChunk, RetrievalProfile,
};
use cel_memory_sqlite::SqliteMemoryProvider;
use tokio::runtime::Runtime;

use harness::{DIMS, Data, Item, LIMIT, Outcome, Peer, Question};

/// The system as it is, and with every memory dated ten years back. Its recency is added to ranks that are a tenth as
/// large, so that what was just written fills every answer; it offers no way to store a date, so an old file is made by
/// its own test accessor.
const AGED: &str = "memories 10 years old";

struct LookUp(Arc<Data>);

#[async_trait]
impl Embedder for LookUp {
    fn dim(&self) -> usize {
        DIMS
    }
    fn model_name(&self) -> &str {
        "look-up"
    }
    async fn embed(&self, text: &str) -> EmbedderResult<Vec<f32>> {
        match self.0.vector(text) {
            Ok(vector) => Ok(vector.to_vec()),
            Err(error) => Err(EmbedderError::Provider(error.to_string())),
        }
    }
}

struct Cel {
    runtime: Runtime,
    provider: SqliteMemoryProvider,
}

impl Peer for Cel {
    const NAME: &'static str = "cel-memory-sqlite";
    const MODES: &'static [&'static str] = &["default", AGED];

    fn facts() -> Vec<(&'static str, &'static str)> {
        vec![
            ("version", "0.2.1"),
            ("durability", "WAL, synchronous NORMAL (its own)"),
            ("bulk", "write_batch"),
        ]
    }

    fn open(path: &Path, data: &Arc<Data>, mode: &'static str) -> Outcome<Self> {
        let runtime = Runtime::new()?;
        let embedder = Arc::new(LookUp(Arc::clone(data)));
        let provider = runtime.block_on(SqliteMemoryProvider::open(path, embedder))?;
        if mode == AGED {
            let connection = provider.conn_for_test();
            let back = 10 * 365 * 24 * 3_600_000i64;
            connection.blocking_lock().execute(
                "UPDATE memory_chunks SET created_at = created_at - ?1",
                [back],
            )?;
        }
        Ok(Self { runtime, provider })
    }

    fn store(&mut self, item: Item<'_>) -> Outcome<()> {
        self.runtime.block_on(self.provider.write(chunk(&item)))?;
        Ok(())
    }

    fn store_all(&mut self, items: &[Item<'_>]) -> Outcome<()> {
        let chunks = items.iter().map(chunk).collect();
        self.runtime.block_on(self.provider.write_batch(chunks))?;
        Ok(())
    }

    fn recall(&mut self, question: Question<'_>) -> Outcome<Vec<String>> {
        let query = MemoryQuery {
            text: question.text.to_owned(),
            kinds: None,
            since: None,
            until: None,
            session_id: None,
            caller_scope: CallerScope::default(),
            project_root_prefix: question.project.map(str::to_owned),
            k: LIMIT,
            include_rollups: true,
            min_importance: None,
            profile: RetrievalProfile::default(),
            caller_id: CALLER.to_owned(),
        };
        let hits = self.runtime.block_on(self.provider.retrieve(query))?;
        let id = |metadata: &serde_json::Value| metadata["id"].as_str().map(str::to_owned);
        let ids = hits
            .iter()
            .map(|hit| id(&hit.metadata).ok_or("a hit without its id"));
        Ok(ids.collect::<Result<_, _>>()?)
    }
}

const CALLER: &str = "peers";

fn chunk(item: &Item<'_>) -> NewMemoryChunk {
    NewMemoryChunk {
        kind: ChunkKind::Chat,
        source: ChunkSource::Embedded,
        session_id: None,
        project_root: item.project.map(str::to_owned),
        caller_id: CALLER.to_owned(),
        content: item.text.to_owned(),
        metadata: serde_json::json!({"id": item.id}),
        importance: None,
        shareable: false,
        pinned: false,
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, place, out] = arguments.as_slice() else {
        return Err("usage: peer-cel-memory-sqlite DATA PLACE OUT".into());
    };
    harness::run::<Cel>(Path::new(data), Path::new(place), Path::new(out))
}

//! Drives rig-sqlite: `peer-rig-sqlite DATA PLACE OUT`.

#[path = "../../../../benches/peers/harness.rs"]
mod harness;

use std::os::raw::{c_char, c_int};
use std::path::Path;
use std::sync::Arc;

use rig_core::driver::{Exchange, Local, Opened, Opening, Step, Transport};
use rig_core::embeddings::{Embedding, EmbeddingResponse};
use rig_core::operation;
use rig_core::vector_store::VectorStoreIndex;
use rig_core::vector_store::request::{SearchFilter, VectorSearchRequest};
use rig_sqlite::{
    Column, ColumnValue, SqliteSearchFilter, SqliteVectorIndex, SqliteVectorStore,
    SqliteVectorStoreTable,
};
use rusqlite::ffi::{sqlite3, sqlite3_api_routines, sqlite3_auto_extension};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tokio_rusqlite::Connection;

use harness::{DIMS, Data, Item, LIMIT, Outcome, Peer, Question};

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Document {
    id: String,
    content: String,
    /// Empty for none: a filterable column takes no NULL.
    project: String,
}

impl SqliteVectorStoreTable for Document {
    fn name() -> &'static str {
        "documents"
    }
    fn schema() -> Vec<Column> {
        vec![
            Column::new("id", "TEXT PRIMARY KEY"),
            Column::new("content", "TEXT"),
            Column::new("project", "TEXT").indexed(),
        ]
    }
    fn id(&self) -> String {
        self.id.clone()
    }
    fn column_values(&self) -> Vec<(&'static str, Box<dyn ColumnValue>)> {
        vec![
            ("id", Box::new(self.id.clone())),
            ("content", Box::new(self.content.clone())),
            ("project", Box::new(self.project.clone())),
        ]
    }
}

#[derive(Clone)]
struct LookUp(Arc<Data>);

impl Transport<Local<operation::Embedding>> for LookUp {
    fn send(&self, texts: Vec<String>, _: Exchange) -> Opening<Step<operation::Embedding>> {
        // The contract has no error of a model's own; a text without a vector gets none, and the search then fails.
        let embedding = |text: String| {
            embedding(&self.0, &text).unwrap_or(Embedding {
                document: text,
                vec: Vec::new(),
            })
        };
        let embeddings = texts.into_iter().map(embedding).collect();
        let response = EmbeddingResponse {
            provider: "look-up".into(),
            ..EmbeddingResponse::new(embeddings)
        };
        let steps = futures::stream::iter([Ok(Step::End(response))]);
        Opening::ready(Opened::new(steps))
    }
}

fn embedding(data: &Data, text: &str) -> Outcome<Embedding> {
    let vector = data.vector(text)?;
    Ok(Embedding {
        document: text.to_owned(),
        vec: vector.iter().map(|&x| f64::from(x)).collect(),
    })
}

struct Rig {
    runtime: Runtime,
    data: Arc<Data>,
    store: SqliteVectorStore<Document>,
    index: SqliteVectorIndex<Document>,
}

impl Rig {
    fn row(&self, item: &Item<'_>) -> Outcome<(Document, Vec<Embedding>)> {
        let document = Document {
            id: item.id.to_owned(),
            content: item.text.to_owned(),
            project: item.project.unwrap_or_default().to_owned(),
        };
        Ok((document, vec![embedding(&self.data, item.text)?]))
    }
}

impl Peer for Rig {
    const NAME: &'static str = "rig-sqlite";
    const MODES: &'static [&'static str] = &["default"];

    fn facts() -> Vec<(&'static str, &'static str)> {
        vec![
            ("version", "0.44.0"),
            (
                "durability",
                "rollback journal, synchronous FULL (SQLite's, as in its example)",
            ),
            ("bulk", "add_rows"),
        ]
    }

    fn open(path: &Path, data: &Arc<Data>, _: &'static str) -> Outcome<Self> {
        type Init = unsafe extern "C" fn(
            *mut sqlite3,
            *mut *mut c_char,
            *const sqlite3_api_routines,
        ) -> c_int;
        // SAFETY: what rig-sqlite's own example does to load sqlite-vec; the function has this signature.
        unsafe {
            sqlite3_auto_extension(Some(std::mem::transmute::<*const (), Init>(
                sqlite_vec::sqlite3_vec_init as *const (),
            )));
        }
        let runtime = Runtime::new()?;
        let model = rig_core::Model::new(
            Local::new("look-up")
                .with_capabilities(rig_core::wire::Capabilities::embedding(1_024, DIMS)),
            LookUp(Arc::clone(data)),
        );
        let made: Outcome<_> = runtime.block_on(async {
            let connection = Connection::open(path).await?;
            Ok(SqliteVectorStore::<Document>::new(connection, DIMS).await?)
        });
        let store = made?;
        Ok(Self {
            runtime,
            data: Arc::clone(data),
            index: store.clone().index(model.erase()),
            store,
        })
    }

    fn store(&mut self, item: Item<'_>) -> Outcome<()> {
        self.store_all(&[item])
    }

    fn store_all(&mut self, items: &[Item<'_>]) -> Outcome<()> {
        let rows = items
            .iter()
            .map(|item| self.row(item))
            .collect::<Outcome<_>>()?;
        self.runtime.block_on(self.store.add_rows(rows))?;
        Ok(())
    }

    fn recall(&mut self, question: Question<'_>) -> Outcome<Vec<String>> {
        let request = VectorSearchRequest::builder()
            .samples(LIMIT as u64)
            .query(question.text);
        let request = match question.project {
            Some(project) => request
                .filter(SqliteSearchFilter::eq("project", project.into()))
                .build(),
            None => request.build(),
        };
        let hits = self
            .runtime
            .block_on(self.index.top_n::<Document>(request))?;
        Ok(hits.into_iter().map(|hit| hit.id).collect())
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, place, out] = arguments.as_slice() else {
        return Err("usage: peer-rig-sqlite DATA PLACE OUT".into());
    };
    harness::run::<Rig>(Path::new(data), Path::new(place), Path::new(out))
}

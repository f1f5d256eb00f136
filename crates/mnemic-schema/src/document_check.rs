//! The integrity check of documents: each chunk is what its source has at its span, with its words and its vector. It
//! never mends anything; what mends it is in repair.rs.

use rusqlite::params;

use crate::check::{is_sound, list};
use crate::document::{ChunkRow, DocumentParts, card};
use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::write::WriteTransaction;

/// What is wrong with documents and their passages. Lists hold every finding; all empty is sound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DocumentFaults {
    /// Documents in the file.
    pub documents: u64,
    /// Chunks of documents in the file.
    pub chunks: u64,
    /// Vectors of chunks in the file.
    pub vectors: u64,
    /// Ids of documents whose chunks are not known to be those of their source, or that are not: another text, another
    /// span, another order.
    pub stale: Vec<String>,
    /// Ids of documents whose memory has another text than the card.
    pub stale_cards: Vec<String>,
    /// Keys of chunks without a document.
    pub orphans: Vec<i64>,
    /// Keys of chunks without a vector, in a file that has vectors, but for those with nothing to embed.
    pub missing_vectors: Vec<i64>,
    /// Keys of vectors of chunks without a chunk.
    pub orphan_vectors: Vec<i64>,
    /// Keys that have more than one vector.
    pub duplicate_vectors: Vec<i64>,
    /// Keys of vectors of chunks that are zero, not finite, or of the wrong width.
    pub bad_vectors: Vec<i64>,
    /// Keys of staged vectors of chunks without a chunk, or zero, not finite, or of the wrong width.
    pub bad_staged: Vec<i64>,
    /// Why the vectors of chunks cannot be read, where they cannot.
    pub vector_index: Option<String>,
    /// Keys of chunks that the word index does not know.
    pub missing_words: Vec<i64>,
    /// Keys that the word index knows and no chunk has.
    pub orphan_words: Vec<i64>,
    /// What the word index's own comparison with the chunks reports.
    pub word_index: Option<String>,
}

impl DocumentFaults {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.summary().is_empty()
    }

    /// Whether the word index is to be built anew.
    pub(crate) fn words_differ(&self) -> bool {
        self.word_index.is_some() || !self.missing_words.is_empty() || !self.orphan_words.is_empty()
    }

    /// The findings in a few words each.
    pub(crate) fn summary(&self) -> Vec<String> {
        let Self {
            documents: _,
            chunks: _,
            vectors: _,
            stale,
            stale_cards,
            orphans,
            missing_vectors,
            orphan_vectors,
            duplicate_vectors,
            bad_vectors,
            bad_staged,
            vector_index,
            missing_words,
            orphan_words,
            word_index,
        } = self;
        let lists = [
            ("documents to be cut anew", stale.len()),
            ("documents with another card", stale_cards.len()),
            ("chunks without a document", orphans.len()),
            ("chunks without a vector", missing_vectors.len()),
            ("vectors without a chunk", orphan_vectors.len()),
            ("duplicate vectors of chunks", duplicate_vectors.len()),
            ("bad vectors of chunks", bad_vectors.len()),
            ("bad staged vectors of chunks", bad_staged.len()),
            ("chunks missing in the word index", missing_words.len()),
            ("words without a chunk", orphan_words.len()),
        ];
        let counts = lists.iter().filter(|(_, count)| *count > 0);
        let mut parts: Vec<String> = counts
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        parts.extend(vector_index.iter().chain(word_index).cloned());
        parts
    }
}

/// Everything but the word index's own comparison.
pub(crate) fn check(snapshot: &Snapshot<'_>) -> Result<DocumentFaults, SchemaError> {
    let mut faults = DocumentFaults {
        documents: snapshot.count("SELECT count(*) FROM documents")?,
        chunks: snapshot.chunk_count()?,
        orphans: list(
            snapshot,
            "SELECT chunk FROM chunks WHERE seq NOT IN (SELECT seq FROM documents) ORDER BY chunk",
        )?,
        missing_words: list(
            snapshot,
            "SELECT chunk FROM chunks WHERE chunk NOT IN (SELECT id FROM chunks_fts_docsize) ORDER BY chunk",
        )?,
        orphan_words: list(
            snapshot,
            "SELECT id FROM chunks_fts_docsize WHERE id NOT IN (SELECT chunk FROM chunks) ORDER BY id",
        )?,
        ..DocumentFaults::default()
    };
    check_sources(snapshot, &mut faults)?;
    match check_vectors(snapshot, &mut faults) {
        Err(SchemaError::Sqlite { source, .. } | SchemaError::Corrupt { source, .. }) => {
            faults.vector_index = Some(source.to_string());
        }
        other => other?,
    }
    // As of the memories' words: see check.rs.
    let searched: Result<Vec<i64>, SchemaError> = list(
        snapshot,
        "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH 'a' LIMIT 1",
    );
    match searched {
        Err(SchemaError::Sqlite { source, .. } | SchemaError::Corrupt { source, .. }) => {
            faults.word_index = Some(source.to_string());
        }
        searched => drop(searched?),
    }
    Ok(faults)
}

/// Compares every chunk with its span, and every card with its document. One source is held at a time.
fn check_sources(snapshot: &Snapshot<'_>, faults: &mut DocumentFaults) -> Result<(), SchemaError> {
    let doing = "checking the documents";
    let mut statement = snapshot
        .connection()
        .prepare(
            "SELECT d.seq, m.id, m.content, d.title, d.description, d.preview, d.chunked, d.source
             FROM documents d LEFT JOIN memories m ON m.seq = d.seq ORDER BY d.seq",
        )
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let text = |column| crate::row::text(row, column).map(Option::unwrap_or_default);
        let seq: i64 = row.get(0).doing(doing)?;
        let id = crate::row::text(row, 1).doing(doing)?;
        let id = id.unwrap_or_else(|| format!("key {seq}"));
        let source = text(7).doing(doing)?;
        let parts = DocumentParts {
            title: text(3).doing(doing)?,
            description: crate::row::text(row, 4).doing(doing)?,
            preview: u32::try_from(row.get::<_, i64>(5).doing(doing)?).unwrap_or(u32::MAX),
            ..DocumentParts::default()
        };
        let card = card(
            &parts.title,
            parts.description.as_deref(),
            &source,
            parts.preview,
        );
        if text(2).doing(doing)? != card {
            faults.stale_cards.push(id.clone());
        }
        let chunked: bool = row.get(6).doing(doing)?;
        let chunks = snapshot.chunks_of(seq, 0..u64::MAX)?;
        if !chunked || !fit(&source, &chunks) || negative_places(snapshot, seq)? {
            faults.stale.push(id);
        }
    }
    Ok(())
}

/// Whether chunks are what a source has at their spans, in its order.
fn fit(source: &str, chunks: &[ChunkRow]) -> bool {
    let (mut byte, mut char) = (0, 0);
    (0..).zip(chunks).all(|(place, chunk)| {
        let Some(between) = source.get(byte..chunk.bytes.start) else {
            return false;
        };
        char += between.chars().count();
        byte = chunk.bytes.start;
        chunk.place == place
            && source.get(chunk.bytes.clone()) == Some(chunk.text.as_str())
            && chunk.chars == (char..char + chunk.text.chars().count())
    })
}

fn negative_places(snapshot: &Snapshot<'_>, seq: i64) -> Result<bool, SchemaError> {
    snapshot
        .connection()
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM chunks WHERE seq = ?1 AND place < 0)")
        .and_then(|mut statement| statement.query_row([seq], |row| row.get(0)))
        .doing("checking the documents")
}

fn check_vectors(snapshot: &Snapshot<'_>, faults: &mut DocumentFaults) -> Result<(), SchemaError> {
    let doing = "checking the vectors of chunks";
    let model = snapshot.recorded_model()?;
    if model.is_some() {
        faults.missing_vectors = snapshot.unembedded_in(Indexed::Passages, crate::Space::Live)?;
    }
    faults.bad_staged = bad_staged(snapshot)?;
    if !snapshot.has_vectors_of(Indexed::Passages)? {
        return Ok(());
    }
    faults.vectors = snapshot.vector_count_in(Indexed::Passages)?;
    faults.orphan_vectors = list(
        snapshot,
        "SELECT DISTINCT chunk FROM chunk_vec WHERE chunk NOT IN (SELECT chunk FROM chunks) ORDER BY chunk",
    )?;
    faults.duplicate_vectors = list(
        snapshot,
        "SELECT chunk FROM chunk_vec GROUP BY chunk HAVING count(*) > 1 ORDER BY chunk",
    )?;
    let mut statement = snapshot
        .connection()
        .prepare("SELECT chunk, embedding FROM chunk_vec ORDER BY chunk")
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let blob: Vec<u8> = row.get(1).doing(doing)?;
        if !is_sound(&blob, model.as_ref().map(|model| model.dims)) {
            faults.bad_vectors.push(row.get(0).doing(doing)?);
        }
    }
    Ok(())
}

fn bad_staged(snapshot: &Snapshot<'_>) -> Result<Vec<i64>, SchemaError> {
    let doing = "checking the staged vectors of chunks";
    let Some(model) = snapshot.staged_model()? else {
        return Ok(Vec::new());
    };
    if !snapshot.has_table(Indexed::Passages.names().staging)? {
        return Ok(Vec::new());
    }
    let mut statement = snapshot
        .connection()
        .prepare(
            "SELECT s.chunk, s.vector, c.chunk IS NOT NULL FROM chunk_staging s
             LEFT JOIN chunks c ON c.chunk = s.chunk ORDER BY s.chunk",
        )
        .doing(doing)?;
    let mut rows = statement.query([]).doing(doing)?;
    let mut bad = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        let blob: Option<Vec<u8>> = row.get(1).doing(doing)?;
        let has_chunk: bool = row.get(2).doing(doing)?;
        // No vector at all is nothing to embed.
        let sound = blob.is_none_or(|blob| is_sound(&blob, Some(model.dims)));
        if !has_chunk || !sound {
            bad.push(row.get(0).doing(doing)?);
        }
    }
    Ok(bad)
}

impl WriteTransaction<'_> {
    /// Mends what was found, but for missing vectors and documents that are to be cut anew: these are only marked so, for
    /// whoever can cut.
    pub(crate) fn repair_documents(
        &mut self,
        found: &DocumentFaults,
        report: &mut crate::RepairReport,
    ) -> Result<(), SchemaError> {
        let doing = "repairing the documents";
        if found.vector_index.is_some()
            && let Some(model) = self.recorded_model()?
        {
            crate::structure::renew_vector_table(self, Indexed::Passages, model.dims)?;
            report.vector_index_rebuilt = true;
        }
        for chunk in &found.orphan_vectors {
            self.execute(doing, "DELETE FROM chunk_vec WHERE chunk = ?1", [chunk])?;
            report.orphan_vectors_removed += 1;
        }
        for chunk in found.bad_vectors.iter().chain(&found.duplicate_vectors) {
            if found.orphan_vectors.binary_search(chunk).is_err() {
                self.execute(doing, "DELETE FROM chunk_vec WHERE chunk = ?1", [chunk])?;
                report.bad_vectors_removed += 1;
            }
        }
        for chunk in &found.bad_staged {
            self.execute(doing, "DELETE FROM chunk_staging WHERE chunk = ?1", [chunk])?;
            report.staged_vectors_removed += 1;
        }
        if found.words_differ() {
            // First, so that the triggers below find the index as they expect it.
            self.execute(
                doing,
                "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')",
                [],
            )?;
            report.word_index_rebuilt = true;
        }
        for chunk in &found.orphans {
            self.execute(doing, "DELETE FROM chunks WHERE chunk = ?1", [chunk])?;
            report.orphan_chunks_removed += 1;
        }
        for id in found.stale.iter().chain(&found.stale_cards) {
            self.execute(
                doing,
                "UPDATE documents SET chunked = 0 WHERE seq = (SELECT seq FROM memories WHERE id = ?1)",
                params![id],
            )?;
        }
        Ok(())
    }
}

//! The verbs that keep the file in order: check, repair, health, backup.

use std::ops::ControlFlow;
use std::path::Path;

use mnemic_schema::{CheckReport, MemoryRow, SCHEMA_VERSION, Timestamp};

use crate::embedding::model_of;
use crate::memory::Memory;
use crate::types::{BackupReport, Health, RepairReport};
use crate::{EmbeddingModel, Error, ErrorKind, Result};

/// Most memories, and most bytes of text, that are embedded before their vectors are written.
const BACKFILL_ROWS: usize = 256;
const BACKFILL_BYTES: usize = 1 << 20;

impl Memory {
    /// Checks every invariant of the file: each memory has its vector, its words and its tags in the indexes, none of
    /// them more; the database itself is whole.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage` where the file cannot be read at all.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// memory.store("checked")?;
    /// let report = memory.check()?;
    /// assert!(report.is_ok());
    /// assert_eq!((report.memories, report.vectors), (1, 1));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn check(&self) -> Result<CheckReport> {
        self.with_any(|store| Ok(store.check()?))
    }

    /// Mends what [`Memory::check`] finds, and embeds the memories that have no vector (batch by batch, each committed,
    /// so that it may be stopped and begun again). It is also the way from a file that was used by words alone to one
    /// with vectors.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Embedding`, `ModelMismatch` (this handle's model is not the one that made the vectors),
    /// `Storage`.
    pub fn repair(&self) -> Result<RepairReport> {
        let file = self.with_writer("repairing", |store| Ok(store.repair(Timestamp::now())?))?;
        let vectors_added = self.embed_missing()?;
        Ok(RepairReport {
            file,
            vectors_added,
            remaining: self.check()?,
        })
    }

    /// Embeds what has no vector; answers how many it was.
    fn embed_missing(&self) -> Result<u64> {
        if self.embedder().is_none() {
            return Ok(0);
        }
        let mut added = 0;
        let mut after = 0;
        loop {
            let mut batch: Vec<MemoryRow> = Vec::new();
            self.read(|snapshot| {
                batch.clear();
                let mut bytes = 0;
                snapshot.without_vector(after, |row| {
                    bytes += row.content.len();
                    batch.push(row);
                    if batch.len() < BACKFILL_ROWS && bytes < BACKFILL_BYTES {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                })?;
                Ok(())
            })?;
            let Some(last) = batch.last() else {
                return Ok(added);
            };
            after = last.seq;
            let texts: Vec<&str> = batch.iter().map(|row| row.content.as_str()).collect();
            let embeddings = self.embed_what_can_be(&texts)?;
            added += self.write(|transaction| {
                let mut added = 0;
                for (i, row) in batch.iter().enumerate() {
                    if let Some(embedded) = embeddings.get(i) {
                        // Another process may have given it one, or changed the text, meanwhile.
                        let new =
                            transaction.add_missing_vector(row.seq, &row.content, embedded)?;
                        added += u64::from(new);
                    }
                }
                Ok(added)
            })?;
        }
    }

    /// Sizes and counts of this memory: a few counts over the whole file.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    pub fn health(&self) -> Result<Health> {
        let embedder: Option<EmbeddingModel> = self.embedder().map(|e| e.model().clone());
        self.with_reader(|store| {
            let path = store.path().map(Path::to_owned);
            let size = |path: Option<std::path::PathBuf>| {
                path.and_then(|path| std::fs::metadata(path).ok())
                    .map_or(0, |metadata| metadata.len())
            };
            let log = path.as_ref().map(|path| {
                let mut name = path.clone().into_os_string();
                name.push("-wal");
                name.into()
            });
            let (file_bytes, log_bytes) = (size(path), size(log));
            store.read(|snapshot| {
                Ok(Health {
                    memories: snapshot.memory_count()?,
                    vectors: snapshot.vector_count()?,
                    projects: snapshot.project_count()?,
                    model: snapshot.recorded_model()?.map(model_of),
                    embedder: embedder.clone(),
                    schema_version: SCHEMA_VERSION,
                    file_bytes,
                    log_bytes,
                    index_bytes: self.resident().bytes(),
                })
            })
        })
    }

    /// Copies the whole memory, as it is at one instant, into a new file, while others go on reading and writing. The
    /// copy is checked before it gets its name. Never copy an open file by other means: what is in its write-ahead log
    /// would be missing.
    ///
    /// # Errors
    /// `Io` where the target exists already or cannot be made, `InvalidInput` where its path names no file, `Corrupt`,
    /// `Storage`; no file is left then.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<BackupReport> {
        let to = to.as_ref();
        if to.as_os_str().is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the path of the backup is empty",
            ));
        }
        self.with_reader(|store| {
            Ok(BackupReport {
                bytes: store.backup(to)?,
            })
        })
    }
}

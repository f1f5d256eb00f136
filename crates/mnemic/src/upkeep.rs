//! The verbs that keep the file in order: check, repair, health, backup, restore, compact, erase.

use std::ops::ControlFlow;
use std::path::Path;

use mnemic_schema::{CheckReport, OpenOptions, SCHEMA_VERSION, Timestamp};

use crate::embedding::model_of;
use crate::memory::Memory;
use crate::trace::event;
use crate::types::{
    BackupReport, CompactReport, Deleted, Health, LastCheck, RepairReport, RestoreReport,
};
use crate::{EmbeddingModel, Error, ErrorKind, Result};

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
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn check(&self) -> Result<CheckReport> {
        let report = self.with_any(|store| Ok(store.check()?))?;
        self.note_check(LastCheck {
            at: Timestamp::now(),
            was_ok: report.is_ok(),
        });
        event!(
            was_ok = report.is_ok(),
            memories = report.memories,
            "checked"
        );
        Ok(report)
    }

    /// Mends what [`Memory::check`] finds, and embeds the memories that have no vector (batch by batch, each committed,
    /// so that it may be stopped and begun again). It is also the way from a file that was used by words alone to one
    /// with vectors.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Embedding`, `ModelMismatch` (this handle's model is not the one that made the vectors),
    /// `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn repair(&self) -> Result<RepairReport> {
        let file = self.with_writer("repairing", |store| Ok(store.repair(Timestamp::now())?))?;
        let documents_cut = self.cut_stale_documents()?;
        let vectors_added = match self.embedder() {
            Some(_) => self.backfill(|_| ControlFlow::Continue(()))?.embedded,
            None => 0,
        };
        Ok(RepairReport {
            file,
            vectors_added,
            documents_cut,
            remaining: self.check()?,
        })
    }

    /// Loads the index that recall keeps in memory, which else the second recall does: for whoever would rather wait at the
    /// start (a third of a second for 100,000 memories, some seconds for a million). Answers how many bytes it takes; 0
    /// where it would be over its budget, or another thread is loading it.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// memory.store("ready at once")?;
    /// assert!(memory.warm_up()? > 0);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn warm_up(&self) -> Result<u64> {
        self.resident().wake();
        self.resident_passages().wake();
        self.read(|snapshot| {
            self.resident().follow(snapshot, 0)?;
            if snapshot.has_chunks()? {
                let taken = self.resident().bytes();
                self.resident_passages().follow(snapshot, taken)?;
            }
            Ok(())
        })?;
        Ok(self.resident().bytes() + self.resident_passages().bytes())
    }

    /// Sizes and counts of this memory: a few counts over the whole file.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
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
                    index_bytes: self.resident().bytes() + self.resident_passages().bytes(),
                    last_check: self.last_check(),
                    erasure_pending: snapshot.erasure_pending()?,
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
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
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

    /// Puts the memory of a backup in the place of a file. The backup is read, and checked before anything is touched; the
    /// file that is there is kept beside it under another name, which the report tells; the last step is one rename, so
    /// that there is the old file or the new one, whole, whenever the process dies.
    ///
    /// Close the file first, in every process. A handle that only reads, opened while nobody had the file open for
    /// writing, cannot be noticed; it notices the new file itself.
    ///
    /// # Errors
    /// Nothing is changed then. `Busy` where the file is open still; `Corrupt` where the backup is not sound; `NewerFile`,
    /// `NotAMemoryFile` (the backup, or what is at the target); `InvalidInput` where a path names no file; `Io`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (path, backup) = (folder.path().join("agent.db"), folder.path().join("backup.db"));
    /// use mnemic::Memory;
    ///
    /// let memory = Memory::open(&path)?;
    /// memory.store("worth keeping")?;
    /// memory.backup(&backup)?;
    /// memory.store("a mistake")?;
    /// drop(memory);
    ///
    /// let report = Memory::restore(&backup, &path)?;
    /// assert_eq!(Memory::open(&path)?.health()?.memories, 1);
    /// assert_eq!(Memory::open(report.kept.unwrap())?.health()?.memories, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<RestoreReport> {
        let restored = mnemic_schema::restore(from.as_ref(), to.as_ref(), OpenOptions::default())?;
        Ok(RestoreReport {
            kept: restored.kept,
            check: restored.check,
        })
    }

    /// Makes the file as small as it can be: the vector table anew without the places of deleted vectors, the words in one
    /// piece, no free pages. Other handles go on reading; writers wait while each step holds the write lock (about two
    /// seconds for 100,000 memories). It needs the size of the file once more on the disk while it works.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage` (no space); nothing is lost then.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let stored = memory.store_all((0..500).map(|i| format!("note {i}")))?;
    /// memory.delete_all(stored.iter().skip(1).map(|stored| &stored.id))?;
    /// let report = memory.compact()?;
    /// assert!(report.bytes_after < report.bytes_before / 2);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn compact(&self) -> Result<CompactReport> {
        let compacted = self.with_writer("compacting", |store| Ok(store.compact()?))?;
        Ok(CompactReport {
            bytes_before: compacted.bytes_before,
            bytes_after: compacted.bytes_after,
        })
    }

    /// Deletes a memory so that no byte of it is left in the file or its log: see [`Memory::erase_all`]. Answers whether it
    /// was there.
    ///
    /// # Errors
    /// As [`Memory::erase_all`].
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// let id = memory.store("the code of the safe is 4711")?.id;
    /// assert!(memory.erase(&id)?);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn erase(&self, id: &str) -> Result<bool> {
        Ok(self.erase_all([id])?.deleted > 0)
    }

    /// Deletes memories so that no byte of their texts, tags, projects, words and vectors is left in the file or its log:
    /// neither of what they hold nor of what they held before. Whatever was deleted or changed earlier by other verbs goes
    /// with it, so that without ids it cleans up after those.
    ///
    /// The whole file is rewritten, as by [`Memory::compact`]: erase many at once. Killed half way, a later call completes
    /// it ([`Health::erasure_pending`] tells). It reaches this file alone: not backups, exports, snapshots of the file
    /// system, or what a flash disk keeps of blocks that were overwritten.
    ///
    /// # Errors
    /// `Busy` where another handle reads an older state for longer than the busy timeout, so that the log must be kept for
    /// it: the memories are deleted then, and a later call of `erase` or `compact` completes it; or where the write lock
    /// could not be had, and nothing is changed. `ReadOnly`, `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn erase_all<I>(&self, ids: I) -> Result<Deleted>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let ids: Vec<I::Item> = ids.into_iter().collect();
        let erased = self.with_writer("erasing", |store| Ok(store.erase(&ids)?))?;
        Ok(Deleted {
            deleted: erased.erased,
            missing: erased.missing,
        })
    }
}

//! Rewrites the file without what is no longer in use, and erases memories so that no byte of them is left in it. It never
//! changes what a memory that stays holds.

use std::time::Instant;

use crate::error::{Doing, SchemaError};
use crate::indexed::{Indexed, prepare_terms};
use crate::open::{LONGEST_WAIT, Store};
use crate::write::WriteTransaction;

/// What a compaction gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Compacted {
    /// Bytes of the database before it.
    pub bytes_before: u64,
    /// Bytes of the database after it.
    pub bytes_after: u64,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Erased {
    /// How many of the memories were there.
    pub erased: usize,
    /// The ids that no memory had, in the order given.
    pub missing: Vec<String>,
}

/// In `meta` from the deletion of memories that are to be erased until nothing is left of them in the file.
const PENDING: &str = "erasure_pending";

impl Store {
    /// Makes the vector tables anew and merges the word indexes, without the holes that deletions left; then has SQLite
    /// rewrite the file without free pages, and empties the log where no reader needs it. Each of these steps holds the
    /// write lock; killed after any of them, the file is whole.
    ///
    /// # Errors
    /// [`SchemaError::ReadOnly`], [`SchemaError::Busy`], [`SchemaError::Full`] (it needs as much space again while it
    /// works); nothing is lost then.
    pub fn compact(&mut self) -> Result<Compacted, SchemaError> {
        let bytes_before = self.bytes()?;
        if self.read(|snapshot| snapshot.erasure_pending())? {
            self.erase(&[] as &[&str])?;
        } else {
            self.write(|transaction| {
                transaction.renew_vectors()?;
                transaction.merge_words()
            })?;
            self.vacuum()?;
            self.empty_log()?;
        }
        Ok(Compacted {
            bytes_before,
            bytes_after: self.bytes()?,
        })
    }

    /// Deletes memories so that no byte of their texts, tags, projects and vectors is left in the file or its log, older
    /// texts of them too: the indexes are made anew from the memories that stay, the file is rewritten, the log is merged
    /// and emptied. What was deleted before, by whatever verb, goes with them.
    ///
    /// # Errors
    /// [`SchemaError::NotErased`] where another connection goes on reading an older state, which the log must keep for
    /// it: the memories are deleted, but their bytes are not gone; any later call, with or without ids, completes it.
    /// [`SchemaError::ReadOnly`], [`SchemaError::Busy`], [`SchemaError::Full`].
    pub fn erase(&mut self, ids: &[impl AsRef<str>]) -> Result<Erased, SchemaError> {
        let (report, mark) = self.write(|transaction| {
            let mut report = Erased::default();
            for id in ids.iter().map(AsRef::as_ref) {
                transaction.erase_from_history(id)?;
                if transaction.erase_row(id)? {
                    report.erased += 1;
                } else {
                    report.missing.push(id.to_owned());
                }
            }
            // A mark of this call's own: another process that erases at the same time removes its own alone.
            let mark: String = transaction
                .connection()
                .query_row(
                    "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, lower(hex(randomblob(8)))) RETURNING value",
                    [PENDING],
                    |row| row.get(0),
                )
                .doing("noting that memories are being erased")?;
            transaction.renew_vectors()?;
            // Whatever the old index held, of memories that are long gone too: the new one is of what is there.
            for indexed in Indexed::ALL {
                transaction.execute(
                    "making the word index anew",
                    &indexed.filled("INSERT INTO {words} ({words}) VALUES ('rebuild')"),
                    [],
                )?;
            }
            Ok::<_, SchemaError>((report, mark))
        })?;
        self.vacuum()?;
        if !self.empty_log()? {
            return Err(SchemaError::NotErased);
        }
        self.write(|transaction| {
            transaction.execute(
                "noting that the memories are erased",
                "DELETE FROM meta WHERE key = ?1 AND value = ?2",
                [PENDING, &*mark],
            )
        })?;
        Ok(report)
    }

    /// Bytes of the database: what is in the log of it, and not of the log.
    fn bytes(&self) -> Result<u64, SchemaError> {
        self.connection()
            .query_row(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                [],
                |row| row.get::<_, i64>(0),
            )
            .map(i64::unsigned_abs)
            .doing("reading the size of the file")
    }

    /// Has SQLite write the file anew: pages in order, none free, no remains between the rows.
    fn vacuum(&self) -> Result<(), SchemaError> {
        // It builds the whole file once more, which may not fit into memory; the temporary file has no name.
        let places = |temporary: &str| {
            self.connection()
                .pragma_update(None, "temp_store", temporary)
                .doing("choosing the place of temporary files")
        };
        places("FILE")?;
        let answer = self
            .connection()
            .execute_batch("VACUUM")
            .doing("rewriting the file");
        places("MEMORY")?;
        // What was in the temporary schema went with the other place.
        prepare_terms(self.connection())?;
        answer
    }

    /// Merges the write-ahead log into the file and cuts it to nothing; `false` where a reader is in the way for longer
    /// than the busy timeout.
    fn empty_log(&self) -> Result<bool, SchemaError> {
        let begun = Instant::now();
        loop {
            let busy: i64 = self
                .connection()
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .doing("emptying the write-ahead log")?;
            if busy == 0 {
                return Ok(true);
            }
            // SQLite waits for readers itself, but gives up at once where another connection merges the log.
            if begun.elapsed() >= self.options().busy_timeout.min(LONGEST_WAIT) {
                return Ok(false);
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl crate::Snapshot<'_> {
    /// Whether memories were deleted to be erased, and bytes of them may be left in the file or its log.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn erasure_pending(&self) -> Result<bool, SchemaError> {
        let count = self.count("SELECT count(*) FROM meta WHERE key = 'erasure_pending'")?;
        Ok(count > 0)
    }
}

impl WriteTransaction<'_> {
    /// The vector tables anew from the vectors that have a memory or chunk: vec0 keeps the place of a deleted one.
    fn renew_vectors(&self) -> Result<(), SchemaError> {
        let doing = "making the vector tables anew";
        let Some(model) = self.recorded_model()? else {
            return Ok(());
        };
        for indexed in Indexed::ALL {
            if !self.has_vectors_of(indexed)? {
                continue;
            }
            let table = indexed.vector_index_sql(model.dims);
            let renew = indexed.filled(
                "CREATE TABLE vectors_kept ({key} INTEGER PRIMARY KEY, vector BLOB NOT NULL);
                 INSERT OR IGNORE INTO vectors_kept ({key}, vector)
                     SELECT v.{key}, v.embedding FROM {vectors} v JOIN {base} b ON b.{key} = v.{key};
                 {table}
                 INSERT INTO {vectors} ({key}, embedding) SELECT {key}, vector FROM vectors_kept ORDER BY {key};
                 DROP TABLE vectors_kept;",
            );
            self.connection()
                .execute_batch(&renew.replace("{table}", &table))
                .doing(doing)?;
        }
        Ok(())
    }

    /// The word index as one segment, without the words of what is gone.
    fn merge_words(&self) -> Result<(), SchemaError> {
        for indexed in Indexed::ALL {
            self.execute(
                "merging the word index",
                &indexed.filled("INSERT INTO {words} ({words}) VALUES ('optimize')"),
                [],
            )?;
        }
        Ok(())
    }
}

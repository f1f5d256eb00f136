//! Vectors for memories and passages that have none: of the file's own model (backfill), or of another model, gathered beside the live
//! ones until they are whole (re-embedding). Embedding never happens inside a lock of the file or a transaction.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use mnemic_embed::Embedder;
use mnemic_schema::{Begun, Indexed, RecordedModel, Space, Switch};

use crate::embedding::{model_of, recorded};
use crate::memory::Memory;
use crate::types::{Backfilled, Coverage, Progress, Reembedded};
use crate::write::Embeddings;
use crate::{Error, ErrorKind, Result};

/// Most texts, and about the most bytes of text, that are embedded before their vectors are written.
const BATCH_ROWS: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

/// So many passes in a row that write nothing end the work: one may find that another process was faster.
const IDLE_PASSES: usize = 3;

/// After so many rounds in which others stored before the switch could be made, it is made without the last few.
const PATIENT_ROUNDS: u32 = 8;

/// How far a re-embedding came.
#[derive(Debug, Default)]
struct Staged {
    embedded: u64,
    cancelled: bool,
    /// After the switch: how many texts it left without a vector.
    left: Option<u64>,
}

/// How an embedding of what is missing ended.
#[derive(Debug, Default)]
struct Pass {
    /// How many were missing at its beginning.
    missing: usize,
    embedded: u64,
    cancelled: bool,
    /// Keys of memories in whose text the model finds nothing to embed, and of what cannot be written.
    left: Vec<Key>,
}

/// A memory or a passage.
type Key = (Indexed, i64);

impl Memory {
    /// Takes the file over to another model: embeds every memory with it, beside the vectors there are, and then puts the
    /// new vectors in their place in one transaction. It is also the way from words alone to vectors.
    ///
    /// Until that transaction everything goes on with the old model: recall, and stores by any process. What is stored,
    /// changed or deleted meanwhile is embedded, embedded again or dropped in the new space too. From then on this handle
    /// and its clones use the new model, with no call of theirs failing in between; a handle that was opened with the old
    /// one elsewhere gets `ModelMismatch` where it would mix the two.
    ///
    /// `progress` is called before each batch (at most 256 memories or passages) and before the switch; with
    /// [`ControlFlow::Break`] the work ends there. What is embedded by then is kept in the file: the next call with the
    /// same model goes on from it, in whatever process, as it does after a crash. A call with another model begins anew, and
    /// [`Memory::abandon_reembed`] drops it. With the model that the file has already, only missing vectors are made.
    ///
    /// The switch holds the write lock while the vectors are copied: one or two seconds for 100,000 memories of 384 numbers, so
    /// that writers of many more need a longer busy timeout. Where other
    /// processes store without pause, the last few memories (at most 256) are embedded straight after the switch: for that
    /// moment only their words are searched.
    ///
    /// # Errors
    /// The old vectors are as they were then, and what is staged is kept. `Embedding` where the model fails;
    /// `InvalidInput` where it finds nothing to embed in some memories (the message names them: change or delete them, and
    /// call again); `Abandoned` where another handle abandoned the work or began it with another model; `Busy` also where
    /// a thread of this handle is at it already; `ReadOnly`, `Storage`. Only what fails while the last few are embedded after
    /// the switch finds the file gone over: [`Memory::coverage`] tells, and [`Memory::backfill`] completes it.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use mnemic::{Memory, StaticEmbedder};
    ///
    /// let memory = Memory::builder().no_embedder().open_in_memory()?;
    /// memory.store("Deploys freeze on Fridays")?;
    /// let report = memory.reembed(StaticEmbedder::new(), |progress| {
    ///     println!("{} of {}", progress.done, progress.total);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(report.finished);
    /// assert!(memory.recall("can I ship?")?[0].signals.cosine.is_some());
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn reembed(
        &self,
        embedder: impl Embedder + 'static,
        mut progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Reembedded> {
        let embedder: Arc<dyn Embedder> = Arc::new(embedder);
        let model = recorded(embedder.model());
        let going_over = self.go_over_to(embedder.clone())?;
        let begun = self.write(|transaction| Ok(transaction.begin_staging(&model)?))?;
        let staged = match begun {
            Begun::IsLive => Staged::default(),
            Begun::Staging => match self.stage_all(&*embedder, &model, &mut progress) {
                // Somebody else has just completed the same.
                Err(error) if error.kind() == ErrorKind::Abandoned && self.is_of(&model)? => {
                    Staged::default()
                }
                staged => staged?,
            },
        };
        if staged.cancelled {
            return self.reembedded(staged.embedded, false);
        }
        going_over.arrive();
        if staged.left == Some(0) {
            return self.reembedded(staged.embedded, true);
        }
        let filled = self.fill(&*embedder, &mut progress)?;
        // What the switch left is told by the coverage.
        let finished = staged.left.is_some() || !filled.cancelled;
        self.reembedded(staged.embedded + filled.embedded, finished)
    }

    /// Stages until nothing is missing, and switches.
    fn stage_all(
        &self,
        embedder: &dyn Embedder,
        model: &RecordedModel,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Staged> {
        let mut staged = Staged::default();
        // Rounds that found no more missing than what others had stored meanwhile.
        let mut rounds = 0u32;
        loop {
            let pass = self.fill_once(Space::Staging, embedder, &HashSet::new(), progress)?;
            staged.embedded += pass.embedded;
            staged.cancelled = pass.cancelled;
            if pass.cancelled {
                return Ok(staged);
            }
            if !pass.left.is_empty() {
                return Err(self.nothing_to_embed_in(&pass.left, embedder)?);
            }
            rounds += u32::from(pass.missing <= BATCH_ROWS);
            let leave = match rounds > PATIENT_ROUNDS {
                true => BATCH_ROWS as u64,
                false => 0,
            };
            let switch =
                self.write(|transaction| Ok(transaction.switch_to_staged(model, leave)?))?;
            if let Switch::Done(left) = switch {
                staged.left = Some(left);
                return Ok(staged);
            }
        }
    }

    /// Drops what a re-embedding has gathered so far; answers how many vectors that were. Recall is as before. A call of
    /// [`Memory::reembed`] that is at work in another thread or process ends with `Abandoned`.
    ///
    /// # Errors
    /// `ReadOnly`, `Busy`, `Storage`.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn abandon_reembed(&self) -> Result<u64> {
        self.write(|transaction| Ok(transaction.abandon_staging()?.unwrap_or(0)))
    }

    /// Embeds the memories and passages that have no vector (they were stored without a model, or the embedder failed) with
    /// this handle's model, which must be the one that made the file's vectors. Documents whose source another program has
    /// changed are cut anew first. Batch by batch, each committed: stopped by `progress` or by a crash, the next
    /// call goes on. A text in which the model finds nothing to embed stays without.
    ///
    /// # Errors
    /// `InvalidInput` where this handle has no model; `ModelMismatch`, `Embedding`, `ReadOnly`, `Busy`, `Storage`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("agent.db");
    /// use std::ops::ControlFlow;
    /// use mnemic::Memory;
    ///
    /// Memory::builder().no_embedder().open(&path)?.store("stored by words alone")?;
    /// let memory = Memory::open(&path)?;
    /// assert_eq!(memory.coverage()?.missing, 1);
    /// let report = memory.backfill(|_| ControlFlow::Continue(()))?;
    /// assert_eq!((report.embedded, memory.coverage()?.missing), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn backfill(
        &self,
        progress: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Backfilled> {
        let progress = std::cell::RefCell::new(progress);
        self.with_model(|embedder| {
            let Some(embedder) = embedder else {
                return Err(Error::invalid(
                    "this handle has no model: open the file with one, or call reembed with one",
                ));
            };
            self.cut_stale_documents()?;
            let mut report = |now| (progress.borrow_mut())(now);
            let filled = self.fill(embedder, &mut report)?;
            Ok(Backfilled {
                finished: !filled.cancelled,
                embedded: filled.embedded,
                nothing_to_embed: self.ids_of(&filled.left)?,
            })
        })
    }

    /// How many memories and passages have a vector, and how many have one of the coming model: counted by joins over the
    /// whole file.
    ///
    /// # Errors
    /// `Busy`, `Corrupt`, `Storage`.
    ///
    /// ```
    /// let memory = mnemic::Memory::open_in_memory()?;
    /// memory.store("covered")?;
    /// let coverage = memory.coverage()?;
    /// assert_eq!((coverage.memories, coverage.embedded, coverage.missing), (1, 1, 0));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn coverage(&self) -> Result<Coverage> {
        self.read(|snapshot| {
            let found = snapshot.coverage()?;
            Ok(Coverage {
                memories: found.memories,
                embedded: found.embedded,
                missing: found.missing,
                orphaned: found.orphaned,
                coming_model: found.staged_model.map(model_of),
                staged: found.staged,
                documents: found.documents,
                stale: found.stale,
                chunks: found.chunks,
                chunks_embedded: found.chunks_embedded,
                chunks_empty: found.chunks_empty,
                chunks_missing: found.chunks_missing,
                chunks_orphaned: found.chunks_orphaned,
                chunks_staged: found.chunks_staged,
            })
        })
    }

    /// Embeds what has no vector in the file until nothing is left, or nothing that can be embedded.
    fn fill(
        &self,
        embedder: &dyn Embedder,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Pass> {
        let mut filled = Pass::default();
        let mut hopeless = HashSet::new();
        let mut idle = 0;
        loop {
            let pass = self.fill_once(Space::Live, embedder, &hopeless, progress)?;
            filled.embedded += pass.embedded;
            filled.cancelled = pass.cancelled;
            idle = if pass.embedded == 0 && pass.left.is_empty() {
                idle + 1
            } else {
                0
            };
            hopeless.extend(pass.left);
            if idle == IDLE_PASSES {
                // What is missing cannot be written: a text that is not UTF-8 is not what it is read as (`repair` mends it).
                hopeless.extend(self.unembedded(Space::Live)?.0);
                filled.left = hopeless.into_iter().collect();
                filled.left.sort_unstable();
                return Ok(filled);
            }
            if pass.cancelled || pass.missing == 0 {
                filled.left = hopeless.into_iter().collect();
                filled.left.sort_unstable();
                return Ok(filled);
            }
        }
    }

    /// Embeds the passages of documents that have no vector, with the model of this handle, if it has one.
    pub(crate) fn fill_documents(&self, ids: &[String]) -> Result<()> {
        self.with_model(|embedder| {
            let Some(embedder) = embedder else {
                return Ok(());
            };
            let missing = self.read(|snapshot| {
                let mut missing: Vec<Key> = Vec::new();
                for id in ids {
                    let keys = snapshot.unembedded_of(id)?;
                    missing.extend(keys.into_iter().map(|key| (Indexed::Passages, key)));
                }
                Ok(missing)
            })?;
            let mut rest = missing.as_slice();
            while !rest.is_empty() {
                let batch = self.fill_batch(Space::Live, embedder, rest)?;
                rest = rest.get(batch.through..).unwrap_or_default();
            }
            Ok(())
        })
    }

    /// Embeds what has no vector in a space at this moment, but for some.
    fn fill_once(
        &self,
        space: Space,
        embedder: &dyn Embedder,
        but: &HashSet<Key>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Pass> {
        let (mut missing, total) = self.unembedded(space)?;
        let mut done = total.saturating_sub(missing.len() as u64);
        missing.retain(|key| !but.contains(key));
        let mut pass = Pass {
            missing: missing.len(),
            ..Pass::default()
        };
        let mut rest = missing.as_slice();
        loop {
            if progress(Progress { done, total }).is_break() {
                pass.cancelled = true;
                return Ok(pass);
            }
            if rest.is_empty() {
                return Ok(pass);
            }
            let batch = self.fill_batch(space, embedder, rest)?;
            pass.embedded += batch.embedded;
            pass.left.extend(batch.left);
            done = total.min(done + batch.embedded);
            rest = rest.get(batch.through..).unwrap_or_default();
        }
    }

    /// What has no vector in a space, the memories first, and how much there is in all.
    fn unembedded(&self, space: Space) -> Result<(Vec<Key>, u64)> {
        self.read(|snapshot| {
            let mut missing = Vec::new();
            for indexed in Indexed::ALL {
                let keys = snapshot.unembedded_in(indexed, space)?;
                missing.extend(keys.into_iter().map(|key| (indexed, key)));
            }
            Ok((missing, snapshot.memory_count()? + snapshot.chunk_count()?))
        })
    }

    /// The ids of memories, and of the documents of passages, each once.
    fn ids_of(&self, keys: &[Key]) -> Result<Vec<String>> {
        self.read(|snapshot| {
            let mut ids: Vec<String> = Vec::new();
            for (indexed, key) in keys {
                for id in snapshot.ids_of_in(*indexed, &[*key])? {
                    if !ids.contains(&id) {
                        ids.push(id);
                    }
                }
            }
            Ok(ids)
        })
    }

    /// Embeds what is at the head of a list, of one kind, and writes its vectors.
    fn fill_batch(&self, space: Space, embedder: &dyn Embedder, missing: &[Key]) -> Result<Batch> {
        let Some((indexed, _)) = missing.first().copied() else {
            return Ok(Batch::default());
        };
        let head: Vec<i64> = missing
            .iter()
            .take(BATCH_ROWS)
            .take_while(|(other, _)| *other == indexed)
            .map(|(_, key)| *key)
            .collect();
        let (through, rows) =
            self.read(|snapshot| Ok(snapshot.texts_in(indexed, &head, BATCH_BYTES)?))?;
        let model = recorded(embedder.model());
        let texts: Vec<&str> = rows.iter().map(|(_, text)| text.as_str()).collect();
        let embeddings = Embeddings::of(embedder, &texts)?;
        self.write(|transaction| {
            let mut batch = Batch {
                through,
                ..Batch::default()
            };
            for (i, (seq, text)) in rows.iter().enumerate() {
                let vector = embeddings.get(i).map(|embedded| embedded.vector);
                if vector.is_none() && indexed == Indexed::Memories {
                    batch.left.push((indexed, *seq));
                    continue;
                }
                // Another process may have given it one, changed the text or deleted it meanwhile. That there is nothing to
                // embed in a passage is noted, and is as good.
                let new = match space {
                    Space::Live => {
                        transaction.add_missing_vector_in(indexed, *seq, text, &model, vector)?
                    }
                    Space::Staging => transaction.stage_in(indexed, *seq, text, &model, vector)?,
                };
                batch.embedded += u64::from(new);
            }
            Ok(batch)
        })
    }

    fn is_of(&self, model: &RecordedModel) -> Result<bool> {
        self.read(|snapshot| Ok(snapshot.recorded_model()?.as_ref() == Some(model)))
    }

    fn reembedded(&self, embedded: u64, finished: bool) -> Result<Reembedded> {
        Ok(Reembedded {
            finished,
            embedded,
            coverage: self.coverage()?,
        })
    }

    fn nothing_to_embed_in(&self, seqs: &[Key], embedder: &dyn Embedder) -> Result<Error> {
        let some = seqs.get(..10).unwrap_or(seqs);
        let ids = self.ids_of(some)?;
        let more = if seqs.len() > some.len() { ", …" } else { "" };
        Ok(Error::invalid(format!(
            "the model {} finds nothing to embed in {} memories ({}{more}): change or delete them, then call reembed again",
            embedder.model().id,
            seqs.len(),
            ids.join(", ")
        )))
    }
}

/// What became of the head of a list of memories.
#[derive(Debug, Default)]
struct Batch {
    /// How many of the list it was.
    through: usize,
    embedded: u64,
    left: Vec<Key>,
}

//! The write gate: what a new text is to the memories of its project, and what is done about it. It calls no model but the
//! embedder and, where there is one, the judge; both outside locks and transactions.

mod amounts;
pub(crate) mod assessment;
pub(crate) mod compare;
#[cfg(test)]
mod compare_tests;
#[rustfmt::skip]
mod lexicon;
mod marks;
pub(crate) mod policy;
mod ratio;
mod tokens;

use mnemic_embed::Embedder;
use mnemic_schema::{
    Filter, IndexState, Scope, Snapshot, Timestamp, Token, query_words, text_words,
};

use crate::entities::check_entities;
use crate::filter::Clocks;
use crate::gate::assessment::{Assessment, GateVerdict};
use crate::gate::compare::{Comparison, Text};
use crate::gate::policy::{Gate, GatePolicy, Gated};
use crate::memory::{Memory, space_of};
use crate::recall::leg::{Leg, WordLeg};
use crate::recall::preset::Formula;
use crate::recall::source::Source;
use crate::types::{NewMemory, Stored};
use crate::write::{check_content, embed_all, new_row, windows};
use crate::{Error, ErrorKind, Result};

/// So many of the nearest memories are looked at, by meaning and by words each.
const NEAREST: usize = 10;

/// So often a text is assessed anew because the file changed meanwhile in a way that matters.
const ATTEMPTS: usize = 16;

impl Memory {
    /// What a text is to the memories of its project (of no project, where it has none): new, a duplicate, nearly the same,
    /// or in conflict. Nothing is written.
    ///
    /// It looks at the ten nearest current memories by meaning and the ten best by words, and at whatever has the same text
    /// but for case, Unicode form, white space and final punctuation. The rest rests on their wording: negations, opposites,
    /// numbers, units and dates in English, German, French, Spanish, Chinese and Japanese. No language model is asked, so
    /// that a contradiction in other words is not found; how often it is right is measured in `docs/lifecycle.md`.
    ///
    /// # Errors
    /// As [`Memory::store`], but for `AlreadyExists` and `ReadOnly`.
    ///
    /// ```
    /// use mnemic::{GateVerdict, Memory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store("The cache TTL is 5 minutes")?;
    /// let verdict = |text: &str| Ok::<_, mnemic::Error>(memory.assess(text)?.verdict);
    /// assert_eq!(verdict("the cache TTL is 5 minutes.")?, GateVerdict::Duplicate);
    /// assert_eq!(verdict("The cache TTL is 300 seconds")?, GateVerdict::Near);
    /// assert_eq!(verdict("The cache TTL is 30 minutes")?, GateVerdict::Conflict);
    /// assert_eq!(verdict("The desk plant is a cactus")?, GateVerdict::New);
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn assess(&self, memory: impl Into<NewMemory>) -> Result<Assessment> {
        let memory: NewMemory = memory.into();
        check_content(&memory.content)?;
        let candidate = Candidate::of(self, &memory)?;
        self.with_model(|embedder| {
            let embeddings = embed_all(embedder, &[&memory.content])?;
            let considered =
                self.consider(embedder, &candidate, embeddings.get(0).map(|e| e.vector))?;
            Ok(considered.assessment)
        })
    }

    /// Stores a memory, unless the gate's policy on what it meets is another.
    ///
    /// As [`Memory::store`], after [`Memory::assess`]. The check and the write are safe against other writers, of this
    /// process or another: before it writes, under the lock, it looks whether the same text has come meanwhile, or the
    /// memory that it met has changed, and if so assesses anew. So two writers who skip duplicates never store one text
    /// twice. (What is only nearly the same and came in that moment may be missed.) A batch of memories is best stored one
    /// by one, as each is to meet those before it. A document is never superseded by a note: that is kept beside it.
    ///
    /// # Errors
    /// As [`Memory::store`]; `Judging` where the judge failed; `Busy` where others kept changing what was met. Nothing is
    /// stored then.
    ///
    /// ```
    /// use mnemic::{Gate, Gated, GatePolicy, Memory};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// let gate = Gate::new().conflict(GatePolicy::Supersede);
    /// let old = memory.store("The cache TTL is 5 minutes")?.id;
    /// // The same again is not stored.
    /// assert_eq!(memory.store_with("the cache TTL is 5 minutes!", &gate)?.id(), Some(&*old));
    /// // What speaks against it takes its place.
    /// let answer = memory.store_with("The cache TTL is 30 minutes", &gate)?;
    /// assert!(matches!(answer, Gated::Stored { superseded: Some(id), .. } if id == old));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    pub fn store_with(&self, memory: impl Into<NewMemory>, gate: &Gate) -> Result<Gated> {
        self.store_with_within(&Scope::All, memory.into(), gate)
    }

    /// As [`Memory::store_with`]; memories that the new one names are of a scope, others are not there.
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(name = "store_with", level = "info", skip_all, err(level = "debug"))
    )]
    pub(crate) fn store_with_within(
        &self,
        scope: &Scope,
        mut memory: NewMemory,
        gate: &Gate,
    ) -> Result<Gated> {
        check_content(&memory.content)?;
        check_entities(memory.entities.as_deref())?;
        if memory.entities.is_none() {
            memory.entities = self.found_in(&memory.content)?;
        }
        let candidate = Candidate::of(self, &memory)?;
        self.with_model(|embedder| {
            let embeddings = embed_all(embedder, &[&memory.content])?;
            let windows = windows(embedder, &[&memory.content])?;
            let windows = windows.first().copied().unwrap_or_default();
            for _ in 0..ATTEMPTS {
                let vector = embeddings.get(0).map(|embedded| embedded.vector);
                let considered = self.consider(embedder, &candidate, vector)?;
                let assessment = gate.judged(&memory.content, considered.assessment)?;
                let met = assessment.memory.as_ref().map(|memory| memory.id.clone());
                let superseded = match (gate.policy(assessment.verdict), met) {
                    (GatePolicy::Ask, Some(_)) => return Ok(Gated::Asked { assessment }),
                    (GatePolicy::Skip, Some(id)) => return Ok(Gated::Skipped { id, assessment }),
                    (GatePolicy::Supersede, met) => met,
                    _ => None,
                };
                let superseded = superseded.filter(|_| !considered.is_document);
                // What is stored beside a memory does not depend on what becomes of it.
                let rests_on = considered.met.filter(|_| superseded.is_some());
                let stored = self.write(|transaction| {
                    let outdated = transaction.is_outdated(
                        considered.state,
                        candidate.text.normal(),
                        &candidate.filter.scope,
                        rests_on.as_slice(),
                    )?;
                    if outdated {
                        return Ok(None);
                    }
                    let now = Timestamp::now();
                    let mut memory = memory.clone();
                    memory.supersedes.extend(superseded.clone());
                    let (row, said) = new_row(memory, None, now);
                    let id = transaction.insert(&row, embeddings.get(0))?;
                    said.say(transaction, scope, &id, row.created_at)?;
                    let created_at = row.created_at;
                    Ok(Some(Stored {
                        id,
                        created_at,
                        windows,
                    }))
                })?;
                if let Some(stored) = stored {
                    return Ok(Gated::Stored {
                        stored,
                        superseded,
                        assessment,
                    });
                }
            }
            Err(Error::new(
                ErrorKind::Busy,
                "others kept changing the memories that the text meets: try again",
            ))
        })
    }

    /// Finds what a text meets.
    fn consider(
        &self,
        embedder: Option<&dyn Embedder>,
        candidate: &Candidate,
        vector: Option<&[f32]>,
    ) -> Result<Considered> {
        let mut attempts = 0;
        self.read(|snapshot| {
            attempts += 1;
            if attempts > 1 {
                // The file changed under a lock-free read: what the index learned from it may be wrong.
                self.resident().clear();
            }
            let has_vectors = match embedder {
                Some(embedder) => space_of(snapshot, embedder)?,
                None => false,
            };
            let resident = self.resident().follow(snapshot, 0)?;
            let resident = resident.as_ref().and_then(|loaded| loaded.as_ref());
            let mut filter = candidate.filter.clone();
            if snapshot.has_lifecycle()? {
                filter.standing = Clocks::default().standing(Timestamp::now());
            }
            let source = Source::new(snapshot, &filter, resident)?;
            candidate.considered(snapshot, &source, &filter, vector.filter(|_| has_vectors))
        })
    }
}

/// A text to store, made ready for being compared.
#[derive(Debug)]
struct Candidate {
    text: Text,
    words: Vec<Token>,
    /// All its words, the longest first.
    all_words: Vec<Token>,
    filter: Filter,
}

/// What a text meets in one state of the file.
#[derive(Debug)]
struct Considered {
    assessment: Assessment,
    state: IndexState,
    /// The key of the memory in the assessment.
    met: Option<i64>,
    /// Whether that is a document.
    is_document: bool,
}

impl Candidate {
    fn of(memory: &Memory, new: &NewMemory) -> Result<Self> {
        let scope = match new.project.clone().flatten() {
            Some(project) => Scope::Project(project),
            None => Scope::Global,
        };
        Ok(Self {
            text: Text::new(&new.content),
            words: memory.tokens(&query_words(&new.content))?,
            all_words: all_words(memory, &new.content)?,
            filter: Filter::from(scope),
        })
    }

    fn considered(
        &self,
        snapshot: &Snapshot<'_>,
        source: &Source<'_>,
        filter: &Filter,
        vector: Option<&[f32]>,
    ) -> Result<Considered> {
        let mut seqs = snapshot.same_text(self.text.normal(), &self.all_words, filter)?;
        // The oldest of those that are the same is enough.
        seqs.truncate(1);
        if let Some(vector) = vector {
            let mut nearest = source.nearest(vector, NEAREST)?;
            nearest.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
            seqs.extend(nearest.iter().take(NEAREST).map(|(seq, _)| *seq));
        }
        if !self.words.is_empty() {
            let leg = WordLeg::search(source, &self.words, Formula::Convex, 1.0, NEAREST)?;
            seqs.extend(leg.ranked().iter().map(|(seq, _)| *seq));
        }
        seqs.sort_unstable();
        seqs.dedup();
        let cosines = match vector {
            Some(vector) => source.cosines(vector, &seqs)?,
            None => vec![None; seqs.len()],
        };
        let rows = snapshot.rows(&seqs)?;
        let beside = rows.into_iter().zip(cosines).map(|(row, cosine)| {
            let comparison = self.text.beside(&Text::new(&row.content), cosine);
            (row, cosine, comparison)
        });
        // Of equal ones the oldest.
        let best = beside.reduce(|best, next| {
            if rank(&next.2, next.1)
                .total_cmp(&rank(&best.2, best.1))
                .is_gt()
            {
                next
            } else {
                best
            }
        });
        let state = snapshot.index_state()?;
        let Some((row, cosine, comparison)) = best else {
            let assessment = Assessment {
                verdict: GateVerdict::New,
                memory: None,
                cosine: None,
                text_ratio: 0.0,
                conflict: 0.0,
                differs: Vec::new(),
            };
            return Ok(Considered {
                assessment,
                state,
                met: None,
                is_document: false,
            });
        };
        let met = Some(row.seq);
        let is_document = snapshot.title(row.seq)?.is_some();
        let assessment = Assessment {
            verdict: comparison.verdict,
            memory: Some(row.into()),
            cosine,
            text_ratio: comparison.text_ratio,
            conflict: comparison.conflict,
            differs: comparison.differs,
        };
        Ok(Considered {
            assessment,
            state,
            met,
            is_document,
        })
    }
}

/// The words of a text as the word index has them, the longest first, as few memories hold those.
pub(crate) fn all_words(memory: &Memory, text: &str) -> Result<Vec<Token>> {
    let mut words = memory.tokens(&[text_words(text)])?;
    words.sort_by_key(|word| std::cmp::Reverse(word.text().len()));
    Ok(words)
}

/// How much a memory matters to the verdict: what it is first, then how near.
fn rank(comparison: &Comparison, cosine: Option<f64>) -> f64 {
    let first = match comparison.verdict {
        GateVerdict::New => 0.0,
        GateVerdict::Near => 10.0,
        GateVerdict::Conflict => 20.0,
        GateVerdict::Duplicate => 30.0,
    };
    first + cosine.unwrap_or(comparison.text_ratio) + comparison.text_ratio
}

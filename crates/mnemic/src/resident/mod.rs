//! The resident index: vectors as bytes, projects and times of all memories, or of all passages of documents, held in
//! memory so that recall need not read them from the file. It is derived from the file and never the truth: it may be dropped at any time, what it finds is
//! looked up in the file's own snapshot, and where it is not at hand recall searches the file itself.
//!
//! It follows the file by what every snapshot tells (see `IndexState`): rows after the last key it knows are new, and a log
//! names the rows that changed or went, whichever process did it. A snapshot that is older than the index does not use it.

mod codes;
mod lives;
mod nibbles;
mod rows;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use mnemic_rank::TopK;
use mnemic_schema::{Filter, IndexState, Indexed, RecordedModel, Scope, Snapshot};

use crate::Result;
use crate::resident::codes::{Codes, Estimate};
use crate::resident::lives::Lives;
use crate::resident::rows::Rows;
pub(crate) use crate::resident::rows::Selection;
use crate::trace::event;

/// The index of one handle and its clones.
#[derive(Debug)]
pub(crate) struct Resident {
    /// Of which texts.
    indexed: Indexed,
    /// Most bytes of memory; 0 for no index.
    budget: u64,
    /// Whether a recall was answered without it already: one recall alone is not worth loading it.
    asked: AtomicBool,
    loaded: RwLock<Option<Loaded>>,
    /// Held by the thread that loads everything, which takes long; the others search the file meanwhile.
    loading: Mutex<()>,
}

/// The index as it is at one state of the file.
#[derive(Debug)]
pub(crate) struct Loaded {
    indexed: Indexed,
    state: IndexState,
    model: Option<RecordedModel>,
    rows: Rows,
    codes: Codes,
}

/// A memory of a scope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Whether it passes the rest of the filter too.
    pub(crate) admitted: bool,
    /// In tokens.
    pub(crate) length: u32,
}

/// The index, for as long as it is read.
pub(crate) type Reading<'a> = RwLockReadGuard<'a, Option<Loaded>>;

/// Of so many new rows at once (for each row known), reading all vectors in one pass is faster than one by one.
const BULK_SHARE: usize = 4;

/// Above so many candidates the file is scanned, as each would be looked up in it.
const MOST_LOOKED_UP: usize = 1_000;

impl Resident {
    pub(crate) fn new(indexed: Indexed, budget: u64) -> Self {
        Self {
            indexed,
            budget,
            asked: AtomicBool::new(false),
            loaded: RwLock::new(None),
            loading: Mutex::new(()),
        }
    }

    /// Has the next recall load it, be it the first.
    pub(crate) fn wake(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Forgets everything; it is loaded again when next asked for.
    pub(crate) fn clear(&self) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> u64 {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        loaded.as_ref().map_or(0, Loaded::bytes)
    }

    /// The index at the state of a snapshot; `None` where it is of no use: at the first recall, over its budget, while
    /// another thread loads it, or for a snapshot older than it. `taken` is what is held of the budget otherwise, in bytes.
    pub(crate) fn follow(
        &self,
        snapshot: &Snapshot<'_>,
        taken: u64,
    ) -> Result<Option<Reading<'_>>> {
        if self.budget == 0 || !self.asked.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let state = snapshot.index_state_in(self.indexed)?;
        let model = snapshot.recorded_model()?;
        let current = |loaded: &Option<Loaded>| {
            loaded
                .as_ref()
                .is_some_and(|loaded| loaded.state == state && loaded.model == model)
        };
        {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            if current(&loaded) {
                return Ok(Some(loaded));
            }
        }
        if !self.advance(snapshot, state, model.as_ref(), taken)?
            && !self.load(snapshot, state, model, taken)?
        {
            return Ok(None);
        }
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have taken it further, or dropped it, between the two locks.
        let usable = loaded.as_ref().is_some_and(|loaded| loaded.state == state);
        Ok(usable.then_some(loaded))
    }

    /// Takes what is loaded on to a later state of its file; whether that ends the matter: it is there, or newer already.
    fn advance(
        &self,
        snapshot: &Snapshot<'_>,
        state: IndexState,
        model: Option<&RecordedModel>,
        taken: u64,
    ) -> Result<bool> {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Loaded| known.model.as_ref() == model && known.state.file == state.file;
        let later =
            |known: &Loaded| known.state.log >= state.log && known.state.last_seq >= state.last_seq;
        if loaded
            .as_ref()
            .is_some_and(|known| same(known) && later(known))
        {
            return Ok(true);
        }
        // Taken out first: whatever fails half way leaves no index rather than a wrong one.
        let Some(known) = loaded.take().filter(same) else {
            return Ok(false);
        };
        if !self.affords(snapshot, model, taken)? {
            return Ok(true);
        }
        *loaded = known.advanced(snapshot, state)?;
        Ok(loaded.is_some())
    }

    /// Loads everything, with no lock that a recall waits for; `false` where another thread is at it, or it is too much.
    fn load(
        &self,
        snapshot: &Snapshot<'_>,
        state: IndexState,
        model: Option<RecordedModel>,
        taken: u64,
    ) -> Result<bool> {
        let _alone = match self.loading.try_lock() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(alone)) => alone.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        if !self.affords(snapshot, model.as_ref(), taken)? {
            return Ok(false);
        }
        let whole = Loaded::whole(self.indexed, snapshot, state, model)?;
        event!(memories = whole.rows.len(), "index loaded");
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Some(whole);
        Ok(true)
    }

    /// Whether all rows of a snapshot fit into what is left of the budget.
    fn affords(
        &self,
        snapshot: &Snapshot<'_>,
        model: Option<&RecordedModel>,
        taken: u64,
    ) -> Result<bool> {
        let dims = model.map_or(0, |model| model.dims);
        let count = count(self.indexed, snapshot)?;
        let bytes = bytes(count, dims, snapshot.has_lifecycle()?);
        Ok(bytes <= self.budget.saturating_sub(taken))
    }
}

impl Loaded {
    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> u64 {
        bytes(self.rows.len(), self.codes.dims(), self.rows.has_lives())
    }

    /// The whole index, read in one pass over each table.
    fn whole(
        indexed: Indexed,
        snapshot: &Snapshot<'_>,
        state: IndexState,
        model: Option<RecordedModel>,
    ) -> Result<Self> {
        let dims = model.as_ref().map_or(0, |model| model.dims);
        let mut loaded = Self {
            indexed,
            state,
            model,
            rows: Rows::default(),
            codes: Codes::new(dims),
        };
        let count = count(indexed, snapshot)?;
        loaded.rows.reserve(count);
        loaded.codes.reserve(count);
        loaded.append(snapshot, 0)?;
        Ok(loaded)
    }

    /// Taken on to a later state; `None` where loading anew is needed.
    fn advanced(mut self, snapshot: &Snapshot<'_>, state: IndexState) -> Result<Option<Self>> {
        let Some(changed) = snapshot.changed_since_in(self.indexed, self.state.log)? else {
            return Ok(None);
        };
        let known = self.state.last_seq;
        if state.last_seq > known {
            self.append(snapshot, known)?;
        }
        for seq in changed.into_iter().filter(|seq| *seq <= known) {
            let Some(position) = self.rows.position(seq) else {
                continue;
            };
            let row = snapshot.index_row(self.indexed, seq)?;
            self.rows.set(position, row.as_ref());
            let life = snapshot.index_life_in(self.indexed, seq)?;
            self.rows.set_life(position, life.as_ref());
            let vector = snapshot.vector_in(self.indexed, seq)?;
            self.codes.set(position, vector.as_deref());
        }
        self.state = state;
        Ok((!self.rows.is_mostly_dead()).then_some(self))
    }

    /// Adds the rows after a key.
    fn append(&mut self, snapshot: &Snapshot<'_>, after: i64) -> Result<()> {
        let known = self.rows.len();
        let (indexed, rows, codes) = (self.indexed, &mut self.rows, &mut self.codes);
        snapshot.index_rows_after(indexed, after, |row| {
            rows.push(&row);
            codes.push_empty();
        })?;
        snapshot.index_lives_after_in(indexed, after, |life| {
            if let Some(position) = rows.position(life.seq) {
                rows.set_life(position, Some(&life));
            }
        })?;
        if codes.dims() == 0 {
            return Ok(());
        }
        if (rows.len() - known).saturating_mul(BULK_SHARE) > known {
            return Ok(snapshot.vectors_in(indexed, |seq, vector| {
                if seq > after
                    && let Some(position) = rows.position(seq)
                {
                    codes.set(position, Some(vector));
                }
            })?);
        }
        for position in known..rows.len() {
            if let Some(seq) = rows.seq(position) {
                codes.set(position, snapshot.vector_in(indexed, seq)?.as_deref());
            }
        }
        Ok(())
    }

    /// The memories that pass a filter.
    pub(crate) fn select(&self, snapshot: &Snapshot<'_>, filter: &Filter) -> Result<Selection<'_>> {
        self.rows.select(self.indexed, snapshot, filter)
    }

    /// How many memories a scope has, and how many tokens they have together.
    pub(crate) fn scope_lengths(&self, scope: &Scope) -> (u64, u64) {
        self.rows.scope_lengths(scope)
    }

    /// A memory as a selection sees it; `None` where it is not in the scope.
    pub(crate) fn place(&self, selection: &Selection<'_>, seq: i64) -> Option<Place> {
        let position = self.rows.position(seq)?;
        selection.in_scope(position).then(|| Place {
            admitted: selection.admits(position),
            length: self.rows.length(position),
        })
    }

    /// Keys among which the `k` nearest to a vector are, of those that pass: all whose score, within its error, may reach
    /// the k-th best. `None` where they are too many to look up (vectors that are nearly the same, or a large `k`).
    pub(crate) fn nearly_nearest(
        &self,
        selection: &Selection<'_>,
        vector: &[f32],
        k: usize,
    ) -> Option<Vec<i64>> {
        if k > MOST_LOOKED_UP {
            return None;
        }
        let Some(query) = self.codes.query(vector) else {
            return Some(Vec::new());
        };
        // Whatever may reach what the k-th best reaches at least: by the coarse codes, then, of what is left, by the whole.
        let mut reach = Reach::new(k);
        self.codes.scan(
            &query,
            |position| selection.admits(position),
            |position, estimate| reach.push(position, estimate),
        );
        let mut near = Reach::new(k);
        self.codes
            .refine(&query, reach.into_positions(), |position, estimate| {
                near.push(position, estimate);
            });
        let near: Vec<usize> = near.into_positions().collect();
        if near.len() > MOST_LOOKED_UP {
            return None;
        }
        let key = |position| self.rows.seq(position);
        Some(near.into_iter().filter_map(key).collect())
    }

    /// When a memory was created, in microseconds.
    pub(crate) fn created(&self, seq: i64) -> Option<i64> {
        self.rows.created(self.rows.position(seq)?)
    }
}

/// Positions that may be among the `k` best, as far as estimates tell.
#[derive(Debug)]
struct Reach {
    /// Of what the estimates are at least.
    best: TopK,
    near: Vec<(f32, usize)>,
}

impl Reach {
    fn new(k: usize) -> Self {
        Self {
            best: TopK::new(k),
            near: Vec::new(),
        }
    }

    /// Takes an estimate; answers what the `k`-th best so far reaches at least.
    fn push(&mut self, position: usize, estimate: Estimate) -> f32 {
        self.near.push((estimate.at_most(), position));
        self.best.push(f64::from(estimate.at_least()), 0);
        self.floor()
    }

    fn floor(&self) -> f32 {
        self.best
            .floor()
            .map_or(f32::NEG_INFINITY, |floor| floor as f32)
    }

    fn into_positions(self) -> impl Iterator<Item = usize> {
        let floor = self.floor();
        let reaches = self
            .near
            .into_iter()
            .filter(move |(most, _)| *most >= floor);
        reaches.map(|(_, position)| position)
    }
}

/// How many rows a snapshot has.
fn count(indexed: Indexed, snapshot: &Snapshot<'_>) -> Result<usize> {
    let count = match indexed {
        Indexed::Memories => snapshot.memory_count()?,
        Indexed::Passages => snapshot.chunk_count()?,
    };
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Bytes of memory for so many memories with vectors of a width, with or without what is said of them.
fn bytes(count: usize, dims: usize, has_lives: bool) -> u64 {
    let life = if has_lives { Lives::BYTES_EACH } else { 0 };
    let each = Rows::BYTES_EACH + Codes::bytes_each(dims) + life;
    u64::try_from(count.saturating_mul(each)).unwrap_or(u64::MAX)
}

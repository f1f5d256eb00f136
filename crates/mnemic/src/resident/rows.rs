//! What the resident index knows of each memory beside its vector: enough to apply a filter without asking the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mnemic_schema::{Filter, IndexLife, IndexRow, Indexed, Scope, Snapshot, Timestamp};

use crate::Result;
use crate::resident::lives::Lives;

/// Keys, projects and times, each at the position of its memory; keys ascend.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    seqs: Vec<i64>,
    /// Numbers of [`Rows::names`]; [`GLOBAL`], or [`DEAD`] where the memory is gone.
    projects: Vec<u32>,
    created: Vec<i64>,
    names: HashMap<String, u32>,
    /// In tokens.
    lengths: Vec<u32>,
    /// Of each project by its number, the global ones first.
    totals: Vec<Totals>,
    dead: usize,
    /// Which positions have a tag or entity, for those that were asked for in this state: reading them from the file takes as
    /// long as everything else where many memories have the tag.
    tagged: Mutex<HashMap<Mark, Arc<Bits>>>,
    lives: Lives,
}

/// What a memory may have more than one of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Mark {
    Tag(String),
    Entity(String),
}

/// Tags and entities remembered at most.
const MOST_TAGS: usize = 16;

/// What the memories of a project come to.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    memories: u64,
    tokens: u64,
}

const GLOBAL: u32 = 0;
const DEAD: u32 = u32::MAX;

impl Rows {
    /// Bytes of memory for one row, its place in the lists included, and its bits; a project's name is kept once.
    pub(crate) const BYTES_EACH: usize =
        2 * size_of::<i64>() + 2 * size_of::<u32>() + MOST_TAGS / 8;

    /// Positions, those of memories that are gone included.
    pub(crate) fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether anything is said of any memory.
    pub(crate) fn has_lives(&self) -> bool {
        !self.lives.is_empty()
    }

    /// Replaces what is said of the memory at a position.
    pub(crate) fn set_life(&mut self, position: usize, life: Option<&IndexLife>) {
        self.forget_tags();
        self.lives.set(position, life);
    }

    /// Memories.
    pub(crate) fn live(&self) -> usize {
        self.seqs.len() - self.dead
    }

    /// Whether most positions are of memories that are gone.
    pub(crate) fn is_mostly_dead(&self) -> bool {
        self.dead > 1_000 && self.dead > self.live()
    }

    /// Makes room for so many, and no more.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.seqs.reserve_exact(count);
        self.projects.reserve_exact(count);
        self.created.reserve_exact(count);
        self.lengths.reserve_exact(count);
    }

    pub(crate) fn seq(&self, position: usize) -> Option<i64> {
        self.seqs.get(position).copied()
    }

    pub(crate) fn created(&self, position: usize) -> Option<i64> {
        self.created.get(position).copied()
    }

    pub(crate) fn length(&self, position: usize) -> u32 {
        self.lengths.get(position).copied().unwrap_or(0)
    }

    pub(crate) fn position(&self, seq: i64) -> Option<usize> {
        // Keys are dense but for deletions: where none is missing there is nothing to look up.
        let (first, last) = (self.seqs.first()?, self.seqs.last()?);
        let guess = usize::try_from(seq.checked_sub(*first)?).ok()?;
        let span = usize::try_from(last.checked_sub(*first)?).ok()?;
        if span + 1 == self.seqs.len() {
            return (guess <= span).then_some(guess);
        }
        if self.seqs.get(guess) == Some(&seq) {
            return Some(guess);
        }
        self.seqs.binary_search(&seq).ok()
    }

    /// Adds a row after all others.
    pub(crate) fn push(&mut self, row: &IndexRow) {
        self.forget_tags();
        let project = self.number(row.project.as_deref());
        self.count(project, row.length, true);
        self.seqs.push(row.seq);
        self.lengths.push(row.length);
        self.projects.push(project);
        self.created.push(row.created_at.as_micros());
    }

    /// Replaces what is known of a row; `None` where it is gone.
    pub(crate) fn set(&mut self, position: usize, row: Option<&IndexRow>) {
        self.forget_tags();
        let number = row.map_or(DEAD, |row| self.number(row.project.as_deref()));
        let (Some(project), Some(created), Some(length)) = (
            self.projects.get_mut(position),
            self.created.get_mut(position),
            self.lengths.get_mut(position),
        ) else {
            return;
        };
        if *project != DEAD && number == DEAD {
            self.dead += 1;
        } else if *project == DEAD && number != DEAD {
            self.dead -= 1;
        }
        let before = (*project, *length);
        *project = number;
        if let Some(row) = row {
            *created = row.created_at.as_micros();
            *length = row.length;
        }
        let (now, length) = (number, *length);
        self.count(before.0, before.1, false);
        self.count(now, length, true);
    }

    /// Counts a memory of a project, by its number, in or out.
    fn count(&mut self, number: u32, length: u32, enters: bool) {
        if number == DEAD {
            return;
        }
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if place >= self.totals.len() {
            self.totals.resize(place + 1, Totals::default());
        }
        if let Some(totals) = self.totals.get_mut(place) {
            let length = u64::from(length);
            if enters {
                totals.memories += 1;
                totals.tokens += length;
            } else {
                totals.memories = totals.memories.saturating_sub(1);
                totals.tokens = totals.tokens.saturating_sub(length);
            }
        }
    }

    /// How many memories a scope has, and how many tokens they have together.
    pub(crate) fn scope_lengths(&self, scope: &Scope) -> (u64, u64) {
        let of = |number: u32| {
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            let totals = self.totals.get(place).copied().unwrap_or_default();
            (totals.memories, totals.tokens)
        };
        let project = |name: &String| self.names.get(name).map_or((0, 0), |number| of(*number));
        let sum = |(a, x): (u64, u64), (b, y): (u64, u64)| (a + b, x + y);
        match scope {
            Scope::Global => of(GLOBAL),
            Scope::Project(name) => project(name),
            Scope::ProjectAndGlobal(name) => sum(of(GLOBAL), project(name)),
            _ => {
                let each = self
                    .totals
                    .iter()
                    .map(|totals| (totals.memories, totals.tokens));
                each.fold((0, 0), sum)
            }
        }
    }

    fn number(&mut self, project: Option<&str>) -> u32 {
        let Some(project) = project else {
            return GLOBAL;
        };
        if let Some(number) = self.names.get(project) {
            return *number;
        }
        // Fewer names than rows, and rows are fewer than this by the budget of memory.
        let number = u32::try_from(self.names.len() + 1).unwrap_or(DEAD - 1);
        self.names.insert(project.to_owned(), number);
        number
    }

    /// The rows that pass a filter.
    pub(crate) fn select(
        &self,
        indexed: Indexed,
        snapshot: &Snapshot<'_>,
        filter: &Filter,
    ) -> Result<Selection<'_>> {
        let number = |project: &String| self.names.get(project).copied().unwrap_or(DEAD - 1);
        let (projects, any_project) = match &filter.scope {
            Scope::Global => ([GLOBAL, GLOBAL], false),
            Scope::Project(project) => ([number(project); 2], false),
            Scope::ProjectAndGlobal(project) => ([number(project), GLOBAL], false),
            _ => ([GLOBAL; 2], true),
        };
        let micros = |time: Option<Timestamp>| time.map(Timestamp::as_micros);
        let known = micros(filter.standing.known);
        Ok(Selection {
            rows: self,
            any_project,
            projects,
            since: micros(filter.since).unwrap_or(i64::MIN),
            before: micros(filter.until)
                .unwrap_or(i64::MAX)
                .min(known.map_or(i64::MAX, |micros| micros.saturating_add(1))),
            any_time: filter.since.is_none() && filter.until.is_none() && known.is_none(),
            marked: self.mark(indexed, snapshot, filter)?,
        })
    }

    /// The rows that pass by their tags, entities, ids and lifecycles; `None` where the filter asks for none of these.
    fn mark(
        &self,
        indexed: Indexed,
        snapshot: &Snapshot<'_>,
        filter: &Filter,
    ) -> Result<Option<Bits>> {
        let mut marked: Option<Bits> = None;
        let mut and = |bits: Bits| match &mut marked {
            Some(marked) => marked.and(&bits),
            None => marked = Some(bits),
        };
        if !filter.tags_any.is_empty() {
            and(self.tagged(indexed, snapshot, &filter.tags_any)?);
        }
        for tag in &filter.tags_all {
            and(self.tagged(indexed, snapshot, std::slice::from_ref(tag))?);
        }
        if !filter.tags_none.is_empty() {
            let mut bits = self.tagged(indexed, snapshot, &filter.tags_none)?;
            bits.invert();
            and(bits);
        }
        if !filter.entities_any.is_empty() {
            and(self.marked(indexed, snapshot, &filter.entities_any, Mark::Entity)?);
        }
        if let Some(ids) = &filter.ids {
            let mut bits = Bits::new(self.len());
            for id in ids {
                let keys = snapshot.keys_in(indexed, id)?;
                for position in keys.into_iter().filter_map(|seq| self.position(seq)) {
                    bits.set(position);
                }
            }
            and(bits);
        }
        for phrase in &filter.phrases {
            let mut bits = Bits::new(self.len());
            snapshot.with_phrase_in(indexed, phrase, |key| {
                if let Some(position) = self.position(key) {
                    bits.set(position);
                }
            })?;
            and(bits);
        }
        if let Some(bits) = self.lives.select(self.len(), filter) {
            and(bits);
        }
        Ok(marked)
    }

    /// The rows with at least one of some tags.
    fn tagged(&self, indexed: Indexed, snapshot: &Snapshot<'_>, tags: &[String]) -> Result<Bits> {
        self.marked(indexed, snapshot, tags, Mark::Tag)
    }

    /// The rows with at least one of some marks.
    fn marked(
        &self,
        indexed: Indexed,
        snapshot: &Snapshot<'_>,
        names: &[String],
        of: fn(String) -> Mark,
    ) -> Result<Bits> {
        let mut bits = Bits::new(self.len());
        for name in names {
            bits.or(&*self.with_mark(indexed, snapshot, of(name.clone()))?);
        }
        Ok(bits)
    }

    /// The rows with a mark.
    fn with_mark(
        &self,
        indexed: Indexed,
        snapshot: &Snapshot<'_>,
        mark: Mark,
    ) -> Result<Arc<Bits>> {
        let known = |marks: &Mutex<HashMap<Mark, Arc<Bits>>>| {
            let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
            marks.get(&mark).cloned()
        };
        if let Some(bits) = known(&self.tagged) {
            return Ok(bits);
        }
        let mut bits = Bits::new(self.len());
        let set = |seq| {
            if let Some(position) = self.position(seq) {
                bits.set(position);
            }
        };
        match &mark {
            Mark::Tag(tag) => snapshot.tagged_in(indexed, tag, set)?,
            Mark::Entity(entity) => snapshot.with_entity_in(indexed, entity, set)?,
        }
        let bits = Arc::new(bits);
        let mut marks = self.tagged.lock().unwrap_or_else(PoisonError::into_inner);
        if marks.len() >= MOST_TAGS {
            marks.clear();
        }
        marks.insert(mark, Arc::clone(&bits));
        Ok(bits)
    }

    fn forget_tags(&mut self) {
        let tags = self.tagged.get_mut();
        tags.unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A filter, ready to be asked of many positions.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    rows: &'a Rows,
    any_project: bool,
    projects: [u32; 2],
    since: i64,
    before: i64,
    any_time: bool,
    marked: Option<Bits>,
}

impl Selection<'_> {
    /// Whether the memory at a position is there and in the scope.
    #[inline(always)]
    pub(crate) fn in_scope(&self, position: usize) -> bool {
        let [one, other] = self.projects;
        if self.any_project && self.rows.dead == 0 {
            return position < self.rows.len();
        }
        self.rows.projects.get(position).is_some_and(|project| {
            (*project == one || *project == other || self.any_project) && *project != DEAD
        })
    }

    /// Whether the memory at a position is there and passes.
    #[inline(always)]
    pub(crate) fn admits(&self, position: usize) -> bool {
        self.in_scope(position)
            && (self.any_time
                || self
                    .rows
                    .created
                    .get(position)
                    .is_some_and(|created| (self.since..self.before).contains(created)))
            && self
                .marked
                .as_ref()
                .is_none_or(|marked| marked.get(position))
    }
}

/// One bit a position.
#[derive(Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    /// Those of so many positions that pass.
    pub(crate) fn of(len: usize, passes: impl Fn(usize) -> bool) -> Self {
        let word = |first: usize| {
            (first..len.min(first + 64)).fold(0, |word, position| {
                word | u64::from(passes(position)) << (position % 64)
            })
        };
        Self((0..len).step_by(64).map(word).collect())
    }

    /// Sets a position that may be beyond the end.
    pub(crate) fn set_growing(&mut self, position: usize) {
        if position / 64 >= self.0.len() {
            self.0.resize(position / 64 + 1, 0);
        }
        self.set(position);
    }

    pub(crate) fn clear(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 64) {
            *word &= !(1 << (position % 64));
        }
    }

    pub(crate) fn set(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 64) {
            *word |= 1 << (position % 64);
        }
    }

    fn get(&self, position: usize) -> bool {
        self.0
            .get(position / 64)
            .is_some_and(|word| word & (1 << (position % 64)) != 0)
    }

    pub(crate) fn or(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    pub(crate) fn and(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    pub(crate) fn invert(&mut self) {
        for word in &mut self.0 {
            *word = !*word;
        }
    }
}

//! What the resident index knows of the lifecycle of each memory: enough to apply a filter without asking the file. Takes no
//! room where nothing was ever said of any memory.

use std::collections::{BTreeMap, HashMap};

use mnemic_schema::{Filter, IndexLife, Kind, Layer, Lifecycle, Standing, Timestamp};

use crate::resident::rows::Bits;

/// One column a field; a position beyond the end of the columns is of a memory of which nothing was said.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    /// Numbers of `names`.
    kinds: Vec<u32>,
    importance: Vec<f64>,
    trust: Vec<f64>,
    /// Numbers of `names`.
    sources: Vec<u32>,
    flags: Vec<u8>,
    names: HashMap<String, u32>,
    /// Positions that are superseded or forgotten, whenever.
    hidden: Option<Bits>,
    /// The same with when, in microseconds.
    gone: BTreeMap<usize, Gone>,
    /// Where what a memory says does not hold at all times: from when, until when.
    windows: BTreeMap<usize, (i64, i64)>,
}

#[derive(Debug, Clone, Copy)]
struct Gone {
    superseded: i64,
    forgotten: i64,
}

const LONG_TERM: u8 = 1;
const PINNED: u8 = 2;

/// No source. Names have numbers from 1 on.
const NO_NAME: u32 = 0;

impl Lives {
    /// Bytes of memory for one position, where anything was said of any memory.
    pub(crate) const BYTES_EACH: usize =
        2 * size_of::<u32>() + 2 * size_of::<f64>() + size_of::<u8>() + 1;

    /// Whether nothing was said of any memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.flags.is_empty()
    }

    /// Replaces what is known of a position; `None` where nothing is said.
    pub(crate) fn set(&mut self, position: usize, life: Option<&IndexLife>) {
        if life.is_none() && position >= self.flags.len() {
            return;
        }
        self.reach(position);
        let unsaid;
        let life = match life {
            Some(life) => life,
            None => {
                unsaid = unsaid_life();
                &unsaid
            }
        };
        let kind = self.number(&life.kind);
        let source = match &life.source {
            Some(source) => self.number(source),
            None => NO_NAME,
        };
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = flag(life.layer == Layer::LongTerm, LONG_TERM) | flag(life.pinned, PINNED);
        fn put<T>(column: &mut [T], position: usize, value: T) {
            if let Some(place) = column.get_mut(position) {
                *place = value;
            }
        }
        put(&mut self.kinds, position, kind);
        put(&mut self.importance, position, life.importance);
        put(&mut self.trust, position, life.trust);
        put(&mut self.sources, position, source);
        put(&mut self.flags, position, flags);
        self.stand(position, life);
    }

    /// How the memory at a position stands.
    fn stand(&mut self, position: usize, life: &IndexLife) {
        let micros = |time: Option<Timestamp>, never: i64| time.map_or(never, Timestamp::as_micros);
        if life.superseded_at.is_some() || life.forgotten_at.is_some() {
            let gone = Gone {
                superseded: micros(life.superseded_at, i64::MAX),
                forgotten: micros(life.forgotten_at, i64::MAX),
            };
            self.gone.insert(position, gone);
            self.hidden.get_or_insert_default().set_growing(position);
        } else if self.gone.remove(&position).is_some()
            && let Some(hidden) = &mut self.hidden
        {
            hidden.clear(position);
        }
        let window = (
            micros(life.valid_from, i64::MIN),
            micros(life.valid_until, i64::MAX),
        );
        if window == (i64::MIN, i64::MAX) {
            self.windows.remove(&position);
        } else {
            self.windows.insert(position, window);
        }
    }

    /// Makes the columns reach a position.
    fn reach(&mut self, position: usize) {
        if position < self.flags.len() {
            return;
        }
        let unsaid = Lifecycle::default();
        let kind = self.number(unsaid.kind.as_str());
        let len = position + 1;
        self.kinds.resize(len, kind);
        self.importance.resize(len, unsaid.importance);
        self.trust.resize(len, unsaid.trust);
        self.sources.resize(len, NO_NAME);
        self.flags.resize(len, 0);
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len() + 1).unwrap_or(u32::MAX);
        self.names.insert(name.to_owned(), number);
        number
    }

    /// The positions, of so many, that pass the conditions on lifecycles; `None` where all do.
    pub(crate) fn select(&self, len: usize, filter: &Filter) -> Option<Bits> {
        let mut selected: Option<Bits> = None;
        let mut and = |bits: Bits| match &mut selected {
            Some(selected) => selected.and(&bits),
            None => selected = Some(bits),
        };
        let unsaid = Lifecycle::default();
        if !filter.kinds.is_empty() {
            let wanted = self.numbers(filter.kinds.iter().map(Kind::as_str));
            let unsaid = filter.kinds.contains(&unsaid.kind);
            and(passing(&self.kinds, len, unsaid, |kind| {
                wanted.contains(kind)
            }));
        }
        if let Some(least) = filter.min_importance {
            let unsaid = unsaid.importance >= least;
            and(passing(&self.importance, len, unsaid, |value| {
                *value >= least
            }));
        }
        if let Some(least) = filter.min_trust {
            let unsaid = unsaid.trust >= least;
            and(passing(&self.trust, len, unsaid, |value| *value >= least));
        }
        if let Some(layer) = filter.layer {
            let wanted = if layer == Layer::LongTerm {
                LONG_TERM
            } else {
                0
            };
            let unsaid = unsaid.layer == layer;
            and(passing(&self.flags, len, unsaid, |flags| {
                flags & LONG_TERM == wanted
            }));
        }
        if !filter.sources.is_empty() {
            let wanted = self.numbers(filter.sources.iter().map(String::as_str));
            and(passing(&self.sources, len, false, |source| {
                wanted.contains(source)
            }));
        }
        if let Some(pinned) = filter.pinned {
            let wanted = if pinned { PINNED } else { 0 };
            and(passing(&self.flags, len, !pinned, |flags| {
                flags & PINNED == wanted
            }));
        }
        if let Some(standing) = self.standing(len, filter.standing) {
            and(standing);
        }
        selected
    }

    /// The positions that stand so; `None` where all do.
    fn standing(&self, len: usize, standing: Standing) -> Option<Bits> {
        let Standing {
            not_superseded,
            not_forgotten,
            begun,
            not_expired,
            known: _,
        } = standing;
        let ever = Some(Timestamp::MAX);
        let mut left_out = Bits::new(len);
        let mut any = false;
        match &self.hidden {
            Some(hidden) if not_superseded == ever && not_forgotten == ever => {
                left_out.or(hidden);
                any = !self.gone.is_empty();
            }
            _ => {
                let by = |time: Option<Timestamp>| time.map_or(i64::MIN, Timestamp::as_micros);
                let (superseded, forgotten) = (by(not_superseded), by(not_forgotten));
                for (position, gone) in &self.gone {
                    if (not_superseded.is_some() && gone.superseded <= superseded)
                        || (not_forgotten.is_some() && gone.forgotten <= forgotten)
                    {
                        left_out.set(*position);
                        any = true;
                    }
                }
            }
        }
        let at = |time: Option<Timestamp>, never: i64| time.map_or(never, Timestamp::as_micros);
        let (begun, not_expired) = (at(begun, i64::MAX), at(not_expired, i64::MIN));
        for (position, (from, until)) in &self.windows {
            if *from > begun || *until <= not_expired {
                left_out.set(*position);
                any = true;
            }
        }
        any.then(|| {
            left_out.invert();
            left_out
        })
    }

    fn numbers<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<u32> {
        // What has no number is said of no memory.
        names
            .filter_map(|name| self.names.get(name).copied())
            .collect()
    }
}

fn unsaid_life() -> IndexLife {
    let unsaid = Lifecycle::default();
    IndexLife {
        seq: 0,
        kind: unsaid.kind.as_str().to_owned(),
        importance: unsaid.importance,
        trust: unsaid.trust,
        layer: unsaid.layer,
        pinned: unsaid.pinned,
        source: None,
        valid_from: None,
        valid_until: None,
        superseded_at: None,
        forgotten_at: None,
    }
}

/// The positions whose value passes; `unsaid` is whether those beyond the column do.
fn passing<T>(column: &[T], len: usize, unsaid: bool, passes: impl Fn(&T) -> bool) -> Bits {
    Bits::of(len, |position| column.get(position).map_or(unsaid, &passes))
}

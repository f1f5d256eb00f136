//! Where the legs get their candidates: from the file, or from the resident index with the file behind it. Both answer
//! alike; the one place where recall asks the store.

use std::collections::HashMap;

use mnemic_rank::TopK;
use mnemic_rank::vector::cosine_from_distance;
use mnemic_schema::{Filter, Indexed, Snapshot, Token};

use crate::Result;
use crate::resident::{Loaded, Selection};

/// Above so many cosines the file is scanned, as looking each up would take longer.
const MOST_LOOKED_UP: usize = 2_000;

/// Neighbours beyond the wanted ones that the file is asked for, so that equal ones are cut by our rule and not by its.
const SPARE: usize = 40;

/// What a memory is one of: all memories of the scope, whatever else the filter asks for. So a scope is searched as if it
/// were a file of its own, and nothing of other projects shows in its scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collection {
    pub(crate) documents: u64,
    /// In tokens.
    pub(crate) average_length: f64,
}

/// A word found in a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    pub(crate) seq: i64,
    /// How often.
    pub(crate) count: u32,
    /// Tokens of the memory.
    pub(crate) length: u32,
}

/// One state of the memory, seen through a filter.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// Memories or passages: what is said of memories here is said of either.
    indexed: Indexed,
    snapshot: &'a Snapshot<'a>,
    filter: &'a Filter,
    resident: Option<(&'a Loaded, Selection<'a>)>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot<'a>,
        filter: &'a Filter,
        resident: Option<&'a Loaded>,
    ) -> Result<Self> {
        Self::of(Indexed::Memories, snapshot, filter, resident)
    }

    /// Of memories, or of passages whose memory passes the filter.
    pub(crate) fn of(
        indexed: Indexed,
        snapshot: &'a Snapshot<'a>,
        filter: &'a Filter,
        resident: Option<&'a Loaded>,
    ) -> Result<Self> {
        let resident = match resident {
            Some(loaded) => Some((loaded, loaded.select(snapshot, filter)?)),
            None => None,
        };
        Ok(Self {
            indexed,
            snapshot,
            filter,
            resident,
        })
    }

    /// The same through a filter that lets less pass, of the same scope: what is counted of the scope stays.
    pub(crate) fn within<'b>(&'b self, filter: &'b Filter) -> Result<Source<'b>> {
        let loaded = self.resident.as_ref().map(|(loaded, _)| *loaded);
        Source::of(self.indexed, self.snapshot, filter, loaded)
    }

    pub(crate) fn indexed(&self) -> Indexed {
        self.indexed
    }

    /// Whether the resident index answers.
    pub(crate) fn has_index(&self) -> bool {
        self.resident.is_some()
    }

    /// The memories of the scope.
    pub(crate) fn collection(&self) -> Result<Collection> {
        let scope = &self.filter.scope;
        let (documents, tokens) = match &self.resident {
            Some((loaded, _)) => loaded.scope_lengths(scope),
            None => self.snapshot.scope_lengths_in(self.indexed, scope)?,
        };
        Ok(Collection {
            documents,
            average_length: tokens as f64 / documents.max(1) as f64,
        })
    }

    /// The memories that hold a word and pass the filter, by ascending key; and how many of the scope hold it, whatever
    /// else the filter asks for.
    pub(crate) fn word(&self, token: &Token) -> Result<(Vec<Occurrence>, u64)> {
        let mut found = Vec::new();
        let mut in_scope = 0;
        if let Some((loaded, selection)) = &self.resident {
            let everything = Filter::default();
            self.snapshot
                .occurrences_in(self.indexed, token, &everything, |seq, count| {
                    let Some(place) = loaded.place(selection, seq) else {
                        return;
                    };
                    in_scope += 1;
                    if place.admitted {
                        let length = place.length;
                        found.push(Occurrence { seq, count, length });
                    }
                })?;
            return Ok((found, in_scope));
        }
        self.snapshot
            .occurrences_in(self.indexed, token, self.filter, |seq, count| {
                let length = 0;
                found.push(Occurrence { seq, count, length });
            })?;
        let seqs: Vec<i64> = found.iter().map(|occurrence| occurrence.seq).collect();
        for (occurrence, length) in found
            .iter_mut()
            .zip(self.snapshot.lengths_in(self.indexed, &seqs)?)
        {
            occurrence.length = length;
        }
        if self.filter.is_scope_alone() {
            return Ok((found, seqs.len() as u64));
        }
        let scope = Filter::from(self.filter.scope.clone());
        self.snapshot
            .occurrences_in(self.indexed, token, &scope, |_, _| in_scope += 1)?;
        Ok((found, in_scope))
    }

    /// How many memories the scope has.
    pub(crate) fn documents(&self) -> Result<u64> {
        let scope = &self.filter.scope;
        Ok(match &self.resident {
            Some((loaded, _)) => loaded.scope_lengths(scope).0,
            None => self.snapshot.scope_count(scope)?,
        })
    }

    /// The memories that have an entity and pass the filter, by ascending key; and how many of the scope have it, whatever
    /// else the filter asks for.
    pub(crate) fn entity(&self, entity: &str) -> Result<(Vec<i64>, u64)> {
        let (mut found, mut in_scope) = (Vec::new(), 0);
        if !self.snapshot.has_entity(entity)? {
            return Ok((found, in_scope));
        }
        if let Some((loaded, selection)) = &self.resident {
            let everything = Filter::default();
            self.snapshot.with_entity(entity, &everything, |seq| {
                let Some(place) = loaded.place(selection, seq) else {
                    return;
                };
                in_scope += 1;
                if place.admitted {
                    found.push(seq);
                }
            })?;
            return Ok((found, in_scope));
        }
        self.snapshot
            .with_entity(entity, self.filter, |seq| found.push(seq))?;
        if self.filter.is_scope_alone() {
            in_scope = found.len() as u64;
        } else {
            let scope = Filter::from(self.filter.scope.clone());
            self.snapshot
                .with_entity(entity, &scope, |_| in_scope += 1)?;
        }
        Ok((found, in_scope))
    }

    /// The `k` memories nearest to a vector that pass the filter, and some more, with their exact cosines.
    pub(crate) fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(i64, f64)>> {
        let near = match &self.resident {
            Some((loaded, selection)) => loaded.nearly_nearest(selection, vector, k),
            None => None,
        };
        if let Some(seqs) = near {
            let cosines = self.cosines(vector, &seqs)?;
            let known = seqs.into_iter().zip(cosines);
            return Ok(known
                .filter_map(|(seq, cosine)| Some((seq, cosine?)))
                .collect());
        }
        let nearest =
            self.snapshot
                .nearest_in(self.indexed, vector, k.saturating_add(SPARE), self.filter)?;
        let cosine = |(seq, distance)| (seq, cosine_from_distance(distance));
        Ok(nearest.into_iter().map(cosine).collect())
    }

    /// The exact cosines of memories to a vector; `None` for one without a vector.
    pub(crate) fn cosines(&self, vector: &[f32], seqs: &[i64]) -> Result<Vec<Option<f64>>> {
        if seqs.len() > MOST_LOOKED_UP {
            let all = self
                .snapshot
                .nearest_in(self.indexed, vector, usize::MAX, self.filter)?;
            let all: HashMap<i64, f64> = all.into_iter().collect();
            let cosine = |seq| all.get(seq).copied().map(cosine_from_distance);
            return Ok(seqs.iter().map(cosine).collect());
        }
        let distances = self.snapshot.distances_in(self.indexed, vector, seqs)?;
        Ok(distances
            .into_iter()
            .map(|d| d.map(cosine_from_distance))
            .collect())
    }

    /// The best `k` of scored memories, best first, with their ranks from 1: equal scores have equal ranks, and where they
    /// meet the cut the newest stay, as they do among the hits.
    pub(crate) fn best(
        &self,
        scored: impl Iterator<Item = (i64, f64)> + Clone,
        k: usize,
    ) -> Result<Vec<Ranked>> {
        let mut top = TopK::new(k);
        top.extend(scored.clone().map(|(seq, score)| (score, seq)));
        let Some(floor) = top.floor().filter(|_| k > 0) else {
            return Ok(ranked(top.into_sorted_vec()));
        };
        let mut best = top.into_sorted_vec();
        best.retain(|(score, _)| *score > floor);
        let mut equal: Vec<i64> = scored
            .filter(|(_, score)| *score == floor)
            .map(|(seq, _)| seq)
            .collect();
        let wanted = k.saturating_sub(best.len());
        if equal.len() > wanted {
            let mut dated = self.dated(&equal)?;
            dated.sort_unstable_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
            equal = dated.into_iter().map(|(seq, _)| seq).take(wanted).collect();
        }
        best.extend(equal.into_iter().map(|seq| (floor, seq)));
        Ok(ranked(best))
    }

    /// Memories with their times of creation, in microseconds.
    fn dated(&self, seqs: &[i64]) -> Result<Vec<(i64, i64)>> {
        if let Some((loaded, _)) = &self.resident {
            let created = |seq: &i64| Some((*seq, loaded.created(*seq)?));
            return Ok(seqs.iter().filter_map(created).collect());
        }
        let keys = self.snapshot.row_keys_in(self.indexed, seqs)?;
        Ok(keys
            .into_iter()
            .map(|key| (key.seq, key.created_at.as_micros()))
            .collect())
    }
}

/// A candidate of a leg and its rank there.
pub(crate) type Ranked = (i64, usize);

/// Ranks from 1; equal scores share the first of their ranks.
fn ranked(best: Vec<(f64, i64)>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = Vec::with_capacity(best.len());
    let mut previous = None;
    let mut rank = 0;
    for (place, (score, seq)) in (1..).zip(best) {
        if previous != Some(score) {
            rank = place;
            previous = Some(score);
        }
        ranked.push((seq, rank));
    }
    ranked
}

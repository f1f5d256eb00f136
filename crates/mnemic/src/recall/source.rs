//! Where the legs get their candidates: from the file, or from the resident index with the file behind it. Both answer
//! alike; the one place where recall asks the store.

use mnemic_rank::vector::cosine_from_distance;
use mnemic_schema::{Filter, QueryWord, Snapshot};

use crate::Result;
use crate::resident::{Loaded, SPARE, Selection};

/// Above so many wanted neighbours the file is scanned, as each would be looked up in it anyway.
const MOST_LOOKED_UP: usize = 1_000;

/// One state of the memory, seen through a filter.
#[derive(Debug)]
pub(crate) struct Source<'a> {
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
        let resident = match resident {
            Some(loaded) => Some((loaded, loaded.select(snapshot, filter)?)),
            None => None,
        };
        Ok(Self {
            snapshot,
            filter,
            resident,
        })
    }

    /// How many memories there are, whatever the filter.
    pub(crate) fn documents(&self) -> Result<u64> {
        match &self.resident {
            Some((loaded, _)) => Ok(loaded.live() as u64),
            None => Ok(self.snapshot.memory_count()?),
        }
    }

    /// Visits the memories that hold a word and pass the filter, with FTS5's bm25 for the word; answers how many hold it,
    /// whatever the filter.
    pub(crate) fn word(&self, word: &QueryWord, mut visit: impl FnMut(i64, f64)) -> Result<u64> {
        let Some((loaded, selection)) = &self.resident else {
            self.snapshot.word_matches(word, self.filter, visit)?;
            return Ok(self.snapshot.word_frequency(word)?);
        };
        let mut hits = 0;
        let everything = Filter::default();
        self.snapshot.word_matches(word, &everything, |seq, bm25| {
            hits += 1;
            if loaded.admits(selection, seq) {
                visit(seq, bm25);
            }
        })?;
        Ok(hits)
    }

    /// The `k` memories nearest to a vector that pass the filter, and some more, with their exact cosines.
    pub(crate) fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(i64, f64)>> {
        match &self.resident {
            Some((loaded, selection)) if k <= MOST_LOOKED_UP => {
                let seqs = loaded.nearly_nearest(selection, vector, k);
                let cosines = self.cosines(vector, &seqs)?;
                let known = seqs.into_iter().zip(cosines);
                Ok(known
                    .filter_map(|(seq, cosine)| Some((seq, cosine?)))
                    .collect())
            }
            _ => {
                // Some more, so that the caller cuts among equals by its own rule.
                let some_more = k.saturating_add(SPARE);
                let nearest = self.snapshot.nearest(vector, some_more, self.filter)?;
                let cosine = |(seq, distance)| (seq, cosine_from_distance(distance));
                Ok(nearest.into_iter().map(cosine).collect())
            }
        }
    }

    /// The exact cosines of memories to a vector; `None` for one without a vector.
    pub(crate) fn cosines(&self, vector: &[f32], seqs: &[i64]) -> Result<Vec<Option<f64>>> {
        let distances = self.snapshot.distances(vector, seqs)?;
        Ok(distances
            .into_iter()
            .map(|d| d.map(cosine_from_distance))
            .collect())
    }
}

//! Word relevance: the parts of bm25 from what a full-text index counts, and bm25 brought into a range in which it can be
//! fused. It never counts words: that is the index's work. Everything here takes bm25 as higher is better, from 0 up.
//! (rekal's own normalisation is in [`crate::rekal`].)

use crate::number::{finite, finite_sum, non_negative};

/// The saturation of repeated words in bm25, as SQLite FTS5 fixes it. Without unit.
pub const K1: f64 = 1.2;

/// How far the length of a passage counts in bm25, as SQLite FTS5 fixes it. Without unit.
pub const B: f64 = 0.75;

/// The inverse document frequency of a word, Lucene's way: ln(1 + (N − n + ½) / (n + ½)), where n `hits` of N
/// `documents` have it.
///
/// Always above 0, at most about 45; the more documents have the word, the lower. More hits than documents (counts
/// taken at different times) count as N − n = 0. Source: Lucene, `BM25Similarity`.
///
/// ```
/// use mnemic_rank::bm25::idf;
///
/// assert!((idf(1000, 10) - 4.557_379_522_151_743).abs() < 1e-12);
/// assert!(idf(1000, 1000) > 0.0);
/// ```
#[must_use]
pub fn idf(documents: u64, hits: u64) -> f64 {
    odds(documents, hits).ln_1p()
}

/// [`idf`] as if there were [`PSEUDO_DOCUMENTS`] more documents, none of which has the word.
///
/// In a file of a few passages every word is in a large part of them, and a plain idf would tell nothing of it. With the
/// pseudo-documents a word that one of two passages has counts nearly as much as one that one of fifty has; in a file of
/// thousands they change nothing. Measured in `docs/scoring.md` of the project.
///
/// ```
/// use mnemic_rank::bm25::{idf, smoothed_idf};
///
/// assert_eq!(smoothed_idf(2, 1), idf(52, 1));
/// assert!(smoothed_idf(1, 1) > 3.0);
/// ```
#[must_use]
pub fn smoothed_idf(documents: u64, hits: u64) -> f64 {
    idf(documents.saturating_add(PSEUDO_DOCUMENTS), hits)
}

/// How many documents [`smoothed_idf`] adds.
pub const PSEUDO_DOCUMENTS: u64 = 50;

/// The inverse document frequency of a word as SQLite FTS5 computes it: ln((N − n + ½) / (n + ½)), where n `hits` of N
/// `documents` have it, and 10⁻⁶ where that is not above 0.
///
/// Always above 0, at most about 45. Only what is not above 0 is replaced, as in SQLite: a word in just under half of
/// millions of documents can have less than 10⁻⁶. More hits than documents count as N − n = 0.
/// Source: SQLite, `fts5_aux.c`.
///
/// ```
/// use mnemic_rank::bm25::fts5_idf;
///
/// assert!((fts5_idf(1000, 10) - 4.546_834_608_975_128).abs() < 1e-12);
/// assert_eq!(fts5_idf(1000, 600), 1e-6);
/// ```
#[must_use]
pub fn fts5_idf(documents: u64, hits: u64) -> f64 {
    let idf = odds(documents, hits).ln();
    if idf > 0.0 { idf } else { 1e-6 }
}

/// (N − n + ½) / (n + ½): how many documents lack the word for each that has it.
fn odds(documents: u64, hits: u64) -> f64 {
    (documents.saturating_sub(hits) as f64 + 0.5) / (hits as f64 + 0.5)
}

/// The part of bm25 that counts how often a word is in a passage: f · (k₁ + 1) / (f + k₁ · (1 − b + b · length / average)),
/// with k₁ = [`K1`] and b = [`B`].
///
/// `count` is f; `length` that of the passage, `average_length` that of all, in words. In \[0, k₁ + 1): rises with the
/// count, falls with the length. 0 for a count of 0; an average that is not above 0, or NaN, takes every passage for an
/// average one. bm25 itself is the sum over the words of idf times this. Source: Robertson and Zaragoza 2009; constants
/// and form as in SQLite, `fts5_aux.c`.
///
/// ```
/// use mnemic_rank::bm25::term_part;
///
/// assert_eq!(term_part(1, 15, 15.0), 1.0);
/// assert!(term_part(3, 15, 15.0) < 2.2);
/// assert!(term_part(1, 30, 15.0) < 1.0);
/// ```
#[must_use]
pub fn term_part(count: u32, length: u32, average_length: f64) -> f64 {
    let count = f64::from(count);
    let share = if average_length > 0.0 {
        f64::from(length) / average_length
    } else {
        1.0
    };
    if count == 0.0 {
        return 0.0;
    }
    finite(count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * share)))
}

/// A bm25 brought into \[0, 1): bm25 / (bm25 + pivot). At the pivot it is ½.
///
/// Absolute: the same bm25 gives the same signal in every search, so that thresholds keep a meaning. Both numbers are
/// bm25, without unit. A bm25 that is not above 0, or NaN, gives 0. A pivot that is not above 0, or NaN, gives the
/// limit: just below 1 for every bm25 above 0. Rises with bm25, falls with the pivot; the same factor on both changes
/// nothing. Source: the `saturation` function of Elasticsearch's rank features.
///
/// ```
/// use mnemic_rank::bm25::saturate;
///
/// assert_eq!(saturate(10.0, 10.0), 0.5);
/// assert_eq!(saturate(30.0, 10.0), 0.75);
/// assert_eq!(saturate(-1.0, 10.0), 0.0);
/// assert!(saturate(f64::INFINITY, 10.0) < 1.0);
/// ```
#[must_use]
pub fn saturate(bm25: f64, pivot: f64) -> f64 {
    let (bm25, pivot) = (non_negative(bm25), non_negative(pivot));
    if bm25 == 0.0 {
        return 0.0;
    }
    // Written so, each rounding keeps the order: x / (x + c) may fall where x rises by the last bit.
    (1.0 / (1.0 + pivot / bm25)).min(1.0f64.next_down())
}

/// The bm25 of a passage that would hold every word of a query without end: Σ idf · (k₁ + 1), with k₁ = [`K1`].
///
/// `idfs` are those of the query's words, by the formula the index itself uses ([`fts5_idf`] for SQLite). No passage
/// reaches it (unless columns are weighted negatively). An idf that is not above 0, or NaN, adds nothing. Source: the
/// limit of bm25 for ever more occurrences; Robertson and Zaragoza 2009.
///
/// ```
/// use mnemic_rank::bm25::ideal;
///
/// assert!((ideal(&[2.0, 3.0]) - 11.0).abs() < 1e-12);
/// assert_eq!(ideal(&[]), 0.0);
/// ```
#[must_use]
pub fn ideal(idfs: &[f64]) -> f64 {
    finite_sum(idfs.iter().map(|idf| non_negative(*idf) * (K1 + 1.0)))
}

/// A bm25 as a share of the query's [`ideal`], clamped into \[0, 1\]; 0 where the ideal is not above 0.
///
/// How much of what was asked for is there, weighed by rarity. NaN on either side gives 0. Rises with bm25, falls with
/// the ideal; the same factor on both changes nothing.
///
/// ```
/// use mnemic_rank::bm25::share_of_ideal;
///
/// assert_eq!(share_of_ideal(2.75, 11.0), 0.25);
/// assert_eq!(share_of_ideal(12.0, 11.0), 1.0);
/// assert_eq!(share_of_ideal(2.75, 0.0), 0.0);
/// ```
#[must_use]
pub fn share_of_ideal(bm25: f64, ideal: f64) -> f64 {
    let (bm25, ideal) = (non_negative(bm25), non_negative(ideal));
    if ideal == 0.0 {
        return 0.0;
    }
    finite(bm25 / ideal).min(1.0)
}

/// What one word of a query says for a passage that holds it: idf · (½ + ½ · saturation), where saturation =
/// `term` / (k₁ + 1) is how far bm25's term-frequency part, in \[0, k₁ + 1\], has come.
///
/// Plain bm25 gives a long passage very little for a word that it holds once; here holding the word at all is half of
/// what can be had. Measured against bm25 itself in `docs/scoring.md` of the project. `idf` is [`idf`]'s; the term part of
/// an FTS5 match of one word is its bm25 divided by [`fts5_idf`]. A negative number or NaN on either side counts as 0, a
/// term part above k₁ + 1 as k₁ + 1.
///
/// ```
/// use mnemic_rank::bm25::{K1, word_evidence};
///
/// assert_eq!(word_evidence(4.0, K1 + 1.0), 4.0);
/// assert_eq!(word_evidence(4.0, (K1 + 1.0) / 2.0), 3.0);
/// assert_eq!(word_evidence(4.0, 0.0), 2.0);
/// ```
#[must_use]
pub fn word_evidence(idf: f64, term: f64) -> f64 {
    let saturation = (non_negative(term) / (K1 + 1.0)).min(1.0);
    non_negative(idf) * (0.5 + 0.5 * saturation)
}

/// Evidence as a share of all that the words of the query could give: Σ evidence / Σ idf, clamped into \[0, 1\], where
/// both sums go over all words of the query, those that no passage holds included (they have no evidence but a high
/// idf). 0 where there is no idf.
///
/// Absolute: 1 is a passage full of every word asked for, in a file of one passage as in one of a million.
///
/// ```
/// use mnemic_rank::bm25::{evidence_share, word_evidence};
///
/// let found = word_evidence(4.0, 2.2);
/// assert_eq!(evidence_share(found, 4.0 + 4.0), 0.5);
/// assert_eq!(evidence_share(found, 0.0), 0.0);
/// ```
#[must_use]
pub fn evidence_share(evidence: f64, total_idf: f64) -> f64 {
    share_of_ideal(evidence, total_idf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{any_number, any_numbers};
    use proptest::prelude::*;

    #[test]
    fn idf_of_counts_at_the_edges() {
        assert_eq!(idf(0, 0), 2.0f64.ln());
        assert_eq!(fts5_idf(0, 0), 1e-6);
        // ln(1 + 0.5 / 1000.5)
        assert!((idf(1000, 1000) - 4.996_252_914_324_852e-4).abs() < 1e-12);
        assert_eq!(idf(5, 1000), idf(1000, 1000));
        assert!(idf(u64::MAX, 0) < 46.0);
        assert!(idf(u64::MAX, u64::MAX) > 0.0);
    }

    #[test]
    fn fts5_keeps_what_is_between_zero_and_its_floor() {
        // One document more than twice the hits: ln((n + 1.5) / (n + 0.5)), about 1/n.
        let idf = fts5_idf(20_000_001, 10_000_000);
        assert!(idf > 0.9e-7 && idf < 1.1e-7, "{idf}");
    }

    #[test]
    fn saturation_without_a_pivot_is_its_limit() {
        for pivot in [0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(saturate(5e-324, pivot), 1.0f64.next_down());
            assert_eq!(saturate(0.0, pivot), 0.0);
        }
        assert_eq!(saturate(1.0, f64::INFINITY), 1.0 / f64::MAX);
    }

    proptest! {
        #[test]
        fn idfs_are_positive_and_fall_with_hits(documents: u64, hits: u64, more: u64) {
            let more = hits.saturating_add(more);
            for idf in [idf, fts5_idf] {
                let value = idf(documents, hits);
                prop_assert!(value > 0.0 && value < 46.0);
            }
            prop_assert!(idf(documents, more) <= idf(documents, hits));
            prop_assert!(fts5_idf(documents, more) <= fts5_idf(documents, hits).max(1e-6));
            prop_assert!(idf(documents, hits) <= idf(documents.saturating_add(more), hits));
        }

        #[test]
        fn a_term_part_rises_with_the_count_and_falls_with_the_length(
            count: u32, more: u32, length: u32, longer: u32, average in any_number(),
        ) {
            let part = term_part(count, length, average);
            prop_assert!(part.is_finite() && (0.0..=K1 + 1.0).contains(&part));
            prop_assert!(term_part(count.saturating_add(more), length, average) >= part);
            prop_assert!(term_part(count, length.saturating_add(longer), average) <= part);
            prop_assert!((part == 0.0) == (count == 0) || average < 1.0);
        }

        #[test]
        fn evidence_is_between_half_and_all_of_the_idf(
            idf in any_number(), x in any_number(), y in any_number(),
        ) {
            let whole = word_evidence(idf, f64::INFINITY);
            let evidence = word_evidence(idf, x);
            prop_assert!(evidence.is_finite() && evidence >= 0.5 * whole && evidence <= whole);
            prop_assert!((0.0..=1.0).contains(&evidence_share(evidence, idf)));
            if x <= y {
                prop_assert!(evidence <= word_evidence(idf, y));
            }
        }

        #[test]
        fn saturation_stays_below_one_and_in_order(
            x in any_number(), y in any_number(), c in any_number(), d in any_number(),
        ) {
            prop_assert!((0.0..1.0).contains(&saturate(x, c)));
            if x <= y {
                prop_assert!(saturate(x, c) <= saturate(y, c));
            }
            if c <= d {
                prop_assert!(saturate(x, c) >= saturate(x, d));
            }
        }

        #[test]
        fn saturation_and_share_do_not_depend_on_scale(
            x in 1e-9..1e9f64, c in 1e-9..1e9f64, power in -30i32..30,
        ) {
            let scale = 2.0f64.powi(power);
            prop_assert_eq!(saturate(x * scale, c * scale), saturate(x, c));
            prop_assert_eq!(share_of_ideal(x * scale, c * scale), share_of_ideal(x, c));
            prop_assert!((saturate(x, c) - x / (x + c)).abs() < 1e-12);
        }

        #[test]
        fn a_share_is_a_share(
            x in any_number(), y in any_number(), i in any_number(), j in any_number(),
        ) {
            prop_assert!((0.0..=1.0).contains(&share_of_ideal(x, i)));
            if x <= y {
                prop_assert!(share_of_ideal(x, i) <= share_of_ideal(y, i));
            }
            if 0.0 < i && i <= j {
                prop_assert!(share_of_ideal(x, i) >= share_of_ideal(x, j));
            }
        }

        #[test]
        fn an_ideal_is_finite_and_grows_with_words(mut idfs in any_numbers(), one in any_number()) {
            let before = ideal(&idfs);
            prop_assert!(before >= 0.0 && before.is_finite());
            idfs.push(one);
            prop_assert!(ideal(&idfs) >= before);
        }

        #[test]
        fn no_passage_reaches_the_ideal(
            words in prop::collection::vec((1e-6..20.0f64, 0.0..1e3f64), 1..6), length in 0.01..100.0f64,
        ) {
            // FTS5's bm25, b = 0.75, of a passage `length` times as long as the average.
            let norm = K1 * (1.0 - 0.75 + 0.75 * length);
            let bm25: f64 = words.iter().map(|(idf, f)| idf * f * (K1 + 1.0) / (f + norm)).sum();
            let idfs: Vec<f64> = words.iter().map(|(idf, _)| *idf).collect();
            prop_assert!(bm25 < ideal(&idfs));
        }
    }
}

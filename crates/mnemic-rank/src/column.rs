//! Normalising a column: one leg's signals of all candidates of a search, rescaled in place so that legs of different
//! scales can be fused. It never looks across columns, and what it gives is relative: the same hit gets another number
//! among other candidates, so that a threshold on it means little.
//!
//! In a column, NaN and −∞ count as its smallest finite number, +∞ as its largest. A column without any finite number
//! becomes all 0, and an empty one stays empty.

/// Stretches a column over \[0, 1\]: (x − min) / (max − min).
///
/// A constant column tells no candidates apart. It becomes all 1 where its number is above 0 (a lone hit is a full hit)
/// and all 0 elsewhere (a leg that found nothing); what was NaN or −∞ in it becomes 0. Keeps the order of the column; a
/// positive factor or a constant added to all of it changes nothing, as long as it stays non-constant. Source: Bruch,
/// Gai and Ingber 2023.
///
/// ```
/// use mnemic_rank::column::min_max;
///
/// let mut bm25 = [2.0, 6.0, 3.0];
/// min_max(&mut bm25);
/// assert_eq!(bm25, [0.0, 1.0, 0.25]);
///
/// let mut lone = [7.5];
/// min_max(&mut lone);
/// assert_eq!(lone, [1.0]);
/// ```
pub fn min_max(column: &mut [f64]) {
    let (low, high) = finite_range(column);
    if low < high {
        stretch(column, low, high);
        return;
    }
    let constant = if low > 0.0 { 1.0 } else { 0.0 };
    for x in column {
        *x = if *x >= low { constant } else { 0.0 };
    }
}

/// Expresses a column in standard deviations from its mean: (x − mean) / σ, with σ of the population (divided by n).
///
/// A constant column becomes all 0. The numbers are between −√(n − 1) and √(n − 1), their mean is 0 and their variance
/// 1 (to within rounding). Keeps the order of the column; a positive factor or a constant added to all of it changes
/// nothing. Source: Bruch, Gai and Ingber 2023.
///
/// ```
/// use mnemic_rank::column::z_score;
///
/// let mut cosines = [0.5, 0.7, 0.6, 0.6];
/// z_score(&mut cosines);
/// assert!((cosines[1] - 2.0f64.sqrt()).abs() < 1e-9);
///
/// let mut constant = [0.3, 0.3];
/// z_score(&mut constant);
/// assert_eq!(constant, [0.0, 0.0]);
/// ```
pub fn z_score(column: &mut [f64]) {
    let (low, high) = finite_range(column);
    if low >= high {
        column.fill(0.0);
        return;
    }
    // A z-score does not depend on scale. Stretched first, the column holds a 0 and a 1: nothing below can overflow,
    // and the deviation is never 0.
    stretch(column, low, high);
    let count = column.len() as f64;
    let mean = column.iter().sum::<f64>() / count;
    let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    for x in column {
        *x = (*x - mean) / deviation;
    }
}

/// The smallest and the largest finite number of a column; 0 and 0 where there is none.
fn finite_range(column: &[f64]) -> (f64, f64) {
    column
        .iter()
        .filter(|x| x.is_finite())
        .fold(None, |range, x| {
            let (low, high): (f64, f64) = range.unwrap_or((*x, *x));
            Some((low.min(*x), high.max(*x)))
        })
        .unwrap_or((0.0, 0.0))
}

/// Maps a column onto \[0, 1\], `low` to 0 and `high` to 1. Needs `low < high`, both finite.
fn stretch(column: &mut [f64], low: f64, high: f64) {
    // Halved, the range of even the widest column is finite.
    let scale = if (high - low).is_finite() { 1.0 } else { 0.5 };
    let range = high * scale - low * scale;
    for x in column {
        // `max` before `min`: it takes NaN to `low`.
        let inside = x.max(low).min(high);
        *x = (inside * scale - low * scale) / range;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{any_numbers, close};
    use proptest::prelude::*;

    fn stretched(mut column: Vec<f64>) -> Vec<f64> {
        min_max(&mut column);
        column
    }

    fn standardised(mut column: Vec<f64>) -> Vec<f64> {
        z_score(&mut column);
        column
    }

    #[test]
    fn what_is_not_finite_goes_to_an_end() {
        let odd = vec![f64::NAN, -3.0, f64::NEG_INFINITY, 1.0, f64::INFINITY];
        assert_eq!(stretched(odd), [0.0, 0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn constant_columns_are_full_hits_or_none() {
        assert_eq!(stretched(vec![0.2, 0.2]), [1.0, 1.0]);
        assert_eq!(stretched(vec![0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(stretched(vec![-0.2, -0.2]), [0.0, 0.0]);
        assert_eq!(
            stretched(vec![0.2, f64::NAN, f64::INFINITY]),
            [1.0, 0.0, 1.0]
        );
        assert_eq!(stretched(vec![f64::NAN, f64::INFINITY]), [0.0, 0.0]);
        assert_eq!(standardised(vec![f64::NAN, f64::INFINITY]), [0.0, 0.0]);
        assert_eq!(standardised(vec![0.1; 7]), [0.0; 7]);
        assert_eq!(stretched(vec![]), [0.0; 0]);
        assert_eq!(standardised(vec![]), [0.0; 0]);
    }

    #[test]
    fn the_widest_and_the_narrowest_columns_have_a_range() {
        assert_eq!(stretched(vec![f64::MIN, 0.0, f64::MAX]), [0.0, 0.5, 1.0]);
        assert_eq!(stretched(vec![0.0, 5e-324]), [0.0, 1.0]);
        assert_eq!(standardised(vec![f64::MIN, f64::MAX]), [-1.0, 1.0]);
        assert_eq!(standardised(vec![0.0, 5e-324]), [-1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn columns_stay_in_range_and_in_order(column in any_numbers()) {
            let unit = stretched(column.clone());
            let standard = standardised(column.clone());
            let bound = (column.len().max(1) as f64 - 1.0).sqrt() + 1e-9;
            for (x, z) in unit.iter().zip(&standard) {
                prop_assert!((0.0..=1.0).contains(x));
                prop_assert!(z.abs() <= bound);
            }
            for (i, x) in column.iter().enumerate() {
                for (j, y) in column.iter().enumerate() {
                    if x <= y {
                        prop_assert!(unit[i] <= unit[j]);
                        prop_assert!(standard[i] <= standard[j]);
                    }
                }
            }
        }

        #[test]
        fn a_standardised_column_has_mean_zero_and_variance_one(
            column in prop::collection::vec(-10.0..10.0f64, 2..50),
        ) {
            let standard = standardised(column);
            let count = standard.len() as f64;
            let mean = standard.iter().sum::<f64>() / count;
            let variance = standard.iter().map(|z| z * z).sum::<f64>() / count;
            prop_assert!(close(mean, 0.0));
            prop_assert!(close(variance, 1.0));
        }

        #[test]
        fn scale_and_offset_do_not_matter(
            column in prop::collection::vec(-10.0..10.0f64, 2..50), factor in 0.01..100.0f64, offset in -10.0..10.0f64,
        ) {
            let moved: Vec<f64> = column.iter().map(|x| x * factor + offset).collect();
            let (low, high) = finite_range(&column);
            // Where the offset swallows the differences, rounding is all that is left.
            prop_assume!(high - low > 1e-3, "the column is all but constant");
            for (a, b) in stretched(column.clone()).iter().zip(stretched(moved.clone())) {
                prop_assert!((a - b).abs() < 1e-6);
            }
            for (a, b) in standardised(column).iter().zip(standardised(moved)) {
                prop_assert!((a - b).abs() < 1e-6);
            }
        }

        #[test]
        fn the_order_of_candidates_does_not_matter(
            (column, shuffled) in any_numbers().prop_flat_map(|column| {
                let places: Vec<usize> = (0..column.len()).collect();
                (Just(column), Just(places).prop_shuffle())
            }),
        ) {
            let reordered: Vec<f64> = shuffled.iter().map(|i| column[*i]).collect();
            let unit = stretched(column.clone());
            let standard = standardised(column);
            let reordered_unit = stretched(reordered.clone());
            let reordered_standard = standardised(reordered);
            for (place, i) in shuffled.iter().enumerate() {
                prop_assert_eq!(reordered_unit[place], unit[*i]);
                prop_assert!(close(reordered_standard[place], standard[*i]));
            }
        }
    }
}

//! Percentiles of a sample. It never sorts: the caller does, once for all of them.

use crate::number::finite;

/// The number below which `percent` per cent of a sample lie; the sample is sorted, the least first.
///
/// Between two numbers of the sample it is interpolated linearly: 0 gives the first of them, 50 the median, 100 the
/// last. A `percent` outside \[0, 100\] counts as the nearer end, NaN as 0; an infinity in the sample counts as the
/// largest finite number of its sign, NaN as 0. `None` for an empty sample. Source: Hyndman and Fan 1996, definition 7.
///
/// ```
/// use mnemic_rank::percentile;
///
/// let sample = [0.1, 0.2, 0.4];
/// assert_eq!(percentile(&sample, 50.0), Some(0.2));
/// assert!((percentile(&sample, 75.0).unwrap() - 0.3).abs() < 1e-12);
/// assert_eq!(percentile(&[], 50.0), None);
/// ```
#[must_use]
pub fn percentile(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = finite(percent).clamp(0.0, 100.0) / 100.0 * last as f64;
    let below = finite(*sorted.get(place.floor() as usize)?);
    let above = finite(*sorted.get(place.ceil() as usize)?);
    let share = place.fract();
    // In this form rounding keeps the order of two percentages. (A difference beyond all numbers counts as the largest.)
    let between = below + finite(above - below) * share;
    // Rounding must not leave the two numbers.
    Some(between.max(below).min(above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{any_number, any_numbers};
    use proptest::prelude::*;

    #[test]
    fn the_ends_and_what_is_no_percentage() {
        let sample = [1.0, 2.0, 5.0, 9.0];
        for (percent, expected) in [
            (0.0, 1.0),
            (100.0, 9.0),
            (-3.0, 1.0),
            (1e9, 9.0),
            (f64::NAN, 1.0),
            (f64::INFINITY, 9.0),
        ] {
            assert_eq!(percentile(&sample, percent), Some(expected), "{percent}");
        }
        assert_eq!(percentile(&[7.0], 33.0), Some(7.0));
    }

    proptest! {
        #[test]
        fn whatever_is_in_the_sample_a_finite_number_comes_out(
            sample in any_numbers(), percent in any_number(),
        ) {
            let value = percentile(&sample, percent);
            prop_assert_eq!(value.is_some(), !sample.is_empty());
            prop_assert!(value.is_none_or(f64::is_finite));
        }

        /// Between two numbers too, where rounding alone could turn the order round.
        #[test]
        fn small_steps_keep_their_order(
            a in any_number(), b in prop::option::of(any_number()), steps in 1..500u32,
        ) {
            // The next number, where there is no other.
            let mut sample = [finite(a), finite(b.unwrap_or(finite(a).next_up()))];
            sample.sort_by(f64::total_cmp);
            let of = |step| percentile(&sample, f64::from(step) * 100.0 / f64::from(steps)).unwrap();
            let values: Vec<f64> = (0..=steps).map(of).collect();
            prop_assert!(values.is_sorted(), "{:?}", values);
            prop_assert_eq!((values[0], values[steps as usize]), (sample[0], sample[1]));
        }

        #[test]
        fn it_rises_and_stays_inside(
            mut sample in prop::collection::vec(-1e6..1e6f64, 1..40),
            a in 0.0..100.0f64, b in 0.0..100.0f64,
        ) {
            sample.sort_by(f64::total_cmp);
            let (low, high) = (a.min(b), a.max(b));
            let (x, y) = (percentile(&sample, low).unwrap(), percentile(&sample, high).unwrap());
            prop_assert!(sample[0] <= x && x <= y && y <= sample[sample.len() - 1]);
        }

        /// As many of the sample as it says are at or below it, to within one.
        #[test]
        fn it_leaves_its_share_below(
            mut sample in prop::collection::vec(-1e6..1e6f64, 1..40),
            percent in 0.0..100.0f64,
        ) {
            sample.sort_by(f64::total_cmp);
            let value = percentile(&sample, percent).unwrap();
            let below = sample.iter().filter(|x| **x < value).count() as f64;
            let up_to = sample.iter().filter(|x| **x <= value).count() as f64;
            let expected = percent / 100.0 * sample.len() as f64;
            prop_assert!(below <= expected + 1.0 && up_to >= expected - 1.0);
        }
    }
}

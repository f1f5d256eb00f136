//! The numbers that the property tests of this crate are fed with. It holds no laws itself.

use proptest::prelude::*;

/// Any `f64` at all, with the troublemakers and everyday signals each given a fair share.
pub(crate) fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => proptest::num::f64::ANY,
        2 => prop::sample::select(vec![
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            f64::EPSILON,
            5e-324,
            -5e-324,
            0.0,
            -0.0,
            1.0,
            -1.0,
        ]),
        3 => -2.0..2.0f64,
    ]
}

/// Up to eight of [`any_number`].
pub(crate) fn any_numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any_number(), 0..=8)
}

/// Whether two numbers agree to within rounding: 1e-9 of the larger one, or of 1.
pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

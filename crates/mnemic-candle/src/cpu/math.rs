//! Vectorised functions of the forward pass: exponential, activations, layer normalisation.

use pulp::{Simd, WithSimd};

use super::simd::multiply_add;

/// The function between the two halves of a feed-forward layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// `x · Φ(x)`, by the error function.
    Gelu,
    /// GELU by its tanh approximation.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
}

/// Σ cᵢ xⁱ, coefficients from the highest power to the lowest.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, x: S::f32s, coefficients: [f32; N]) -> S::f32s {
    let mut sum = simd.splat_f32s(0.0);
    for c in coefficients {
        sum = multiply_add(simd, sum, x, simd.splat_f32s(c));
    }
    sum
}

/// eˣ for x in [−87, 88] (clamped to it), to about 1 unit in the last place.
///
/// x = z ln 2 + r with integer z and |r| ≤ ½ ln 2; the polynomial for eʳ and the split of ln 2 are those of Cephes' `expf`.
#[inline(always)]
pub(super) fn exp<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    // Adding 1.5 · 2²³ rounds to an integer and leaves that integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = simd.max_f32s(
        simd.min_f32s(x, simd.splat_f32s(88.0)),
        simd.splat_f32s(-87.0),
    );
    let shifted = multiply_add(
        simd,
        x,
        simd.splat_f32s(std::f32::consts::LOG2_E),
        simd.splat_f32s(ROUND),
    );
    let z = simd.sub_f32s(shifted, simd.splat_f32s(ROUND));
    let r = multiply_add(simd, z, simd.splat_f32s(-0.693_359_4), x);
    let r = multiply_add(simd, z, simd.splat_f32s(2.121_944_4e-4), r);
    let p = polynomial(
        simd,
        r,
        [
            1.987_569_1e-4,
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            1.666_666_5e-1,
            5.0e-1,
        ],
    );
    let p = multiply_add(simd, simd.mul_f32s(p, r), r, r);
    let p = simd.add_f32s(p, simd.splat_f32s(1.0));
    let bits = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    let power = simd.add_u32s(bits, simd.splat_u32s(127 << 23));
    simd.mul_f32s(p, simd.transmute_f32s_u32s(power))
}

/// The error function, to about 2e-7: the rational approximation on [−4, 4] that Eigen and XLA use.
#[inline(always)]
fn erf<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let x = simd.max_f32s(
        simd.min_f32s(x, simd.splat_f32s(4.0)),
        simd.splat_f32s(-4.0),
    );
    let square = simd.mul_f32s(x, x);
    let p = polynomial(
        simd,
        square,
        [
            -2.726_142_3e-10,
            2.770_681_4e-8,
            -2.101_024e-6,
            -5.692_506_4e-5,
            -7.349_906e-4,
            -2.954_6e-3,
            -1.609_603_3e-2,
        ],
    );
    let q = polynomial(
        simd,
        square,
        [
            -1.456_607_2e-5,
            -2.133_740_6e-4,
            -1.682_827e-3,
            -7.373_329e-3,
            -1.426_473_9e-2,
        ],
    );
    simd.div_f32s(simd.mul_f32s(p, x), q)
}

/// tanh x = 1 − 2 / (e²ˣ + 1).
#[inline(always)]
fn tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let e = exp(simd, simd.add_f32s(x, x));
    simd.sub_f32s(
        one,
        simd.div_f32s(simd.splat_f32s(2.0), simd.add_f32s(e, one)),
    )
}

/// A function of one number, for every number of a slice. (A trait and no closure: only a function that is always
/// inlined is compiled with the vector instructions of its caller.)
trait Function {
    fn apply<S: Simd>(simd: S, x: S::f32s) -> S::f32s;
}

struct Gelu;
impl Function for Gelu {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
        let scaled = simd.mul_f32s(x, simd.splat_f32s(std::f32::consts::FRAC_1_SQRT_2));
        gate(simd, x, erf(simd, scaled))
    }
}

struct GeluTanh;
impl Function for GeluTanh {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
        let (cubic, one) = (simd.splat_f32s(0.044_715), simd.splat_f32s(1.0));
        let inner = multiply_add(simd, simd.mul_f32s(x, x), cubic, one);
        let scaled = simd.mul_f32s(x, simd.splat_f32s(0.797_884_6));
        gate(simd, x, tanh(simd, simd.mul_f32s(scaled, inner)))
    }
}

struct Relu;
impl Function for Relu {
    #[inline(always)]
    fn apply<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
        simd.max_f32s(x, simd.splat_f32s(0.0))
    }
}

/// ½ x (1 + g).
#[inline(always)]
fn gate<S: Simd>(simd: S, x: S::f32s, g: S::f32s) -> S::f32s {
    let half = simd.mul_f32s(x, simd.splat_f32s(0.5));
    multiply_add(simd, half, g, half)
}

/// Applies an activation to every number.
pub(super) struct Activate<'a> {
    pub(super) values: &'a mut [f32],
    pub(super) activation: Activation,
}

impl WithSimd for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.activation {
            Activation::Gelu => each::<S, Gelu>(simd, self.values),
            Activation::GeluTanh => each::<S, GeluTanh>(simd, self.values),
            Activation::Relu => each::<S, Relu>(simd, self.values),
        }
    }
}

#[inline(always)]
fn each<S: Simd, F: Function>(simd: S, values: &mut [f32]) {
    let (vectors, rest) = S::as_mut_simd_f32s(values);
    for vector in vectors {
        *vector = F::apply(simd, *vector);
    }
    if !rest.is_empty() {
        let value = F::apply(simd, simd.partial_load_f32s(rest));
        simd.partial_store_f32s(rest, value);
    }
}

/// Layer normalisation of each row: `(x − mean) / √(variance + ε) · gain + bias`.
pub(super) struct Normalize<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) gain: &'a [f32],
    pub(super) bias: &'a [f32],
    pub(super) epsilon: f32,
}

impl WithSimd for Normalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.gain.len();
        let (gain, gain_rest) = S::as_simd_f32s(self.gain);
        let (bias, bias_rest) = S::as_simd_f32s(self.bias);
        for row in self.rows.chunks_exact_mut(width) {
            let mean = deviations::<S, false>(simd, row, 0.0) / width as f32;
            let means = simd.splat_f32s(mean);
            let variance = deviations::<S, true>(simd, row, mean) / width as f32;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            let scales = simd.splat_f32s(scale);
            let (vectors, rest) = S::as_mut_simd_f32s(row);
            for ((x, gain), bias) in vectors.iter_mut().zip(gain).zip(bias) {
                let unit = simd.mul_f32s(simd.sub_f32s(*x, means), scales);
                *x = multiply_add(simd, unit, *gain, *bias);
            }
            for ((x, gain), bias) in rest.iter_mut().zip(gain_rest).zip(bias_rest) {
                *x = (*x - mean) * scale * gain + bias;
            }
        }
    }
}

/// Σ (x − center), or Σ (x − center)² where `SQUARED`, over a row, in four running sums.
#[inline(always)]
fn deviations<S: Simd, const SQUARED: bool>(simd: S, row: &[f32], center: f32) -> f32 {
    let (vectors, rest) = S::as_simd_f32s(row);
    let (fours, ones) = vectors.as_chunks::<4>();
    let centers = simd.splat_f32s(center);
    let mut sums = [simd.splat_f32s(0.0); 4];
    for four in fours {
        for (sum, x) in sums.iter_mut().zip(four) {
            *sum = deviation::<S, SQUARED>(simd, *x, centers, *sum);
        }
    }
    let [mut a, b, c, d] = sums;
    for x in ones {
        a = deviation::<S, SQUARED>(simd, *x, centers, a);
    }
    let mut sum = simd.reduce_sum_f32s(simd.add_f32s(simd.add_f32s(a, b), simd.add_f32s(c, d)));
    for x in rest {
        let x = x - center;
        sum += if SQUARED { x * x } else { x };
    }
    sum
}

#[inline(always)]
fn deviation<S: Simd, const SQUARED: bool>(
    simd: S,
    x: S::f32s,
    center: S::f32s,
    sum: S::f32s,
) -> S::f32s {
    let x = simd.sub_f32s(x, center);
    if SQUARED {
        multiply_add(simd, x, x, sum)
    } else {
        simd.add_f32s(sum, x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::{Instructions, Kernels};
    use super::*;

    struct Exponential;
    impl Function for Exponential {
        #[inline(always)]
        fn apply<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
            exp(simd, x)
        }
    }

    struct Exp<'a>(&'a mut [f32]);
    impl WithSimd for Exp<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            each::<S, Exponential>(simd, self.0);
        }
    }

    fn all_kernels() -> Vec<Kernels> {
        [
            Instructions::Portable,
            Instructions::Avx2,
            Instructions::Avx512,
        ]
        .map(Kernels::at_most)
        .to_vec()
    }

    /// Φ by Simpson's rule in f64.
    fn gelu(x: f64) -> f64 {
        let n = 2000;
        let h = x / f64::from(n);
        let f = |t: f64| (-t * t / 2.0).exp();
        let inner: f64 = (1..n)
            .map(|i| f(h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 })
            .sum();
        let area = (f(0.0) + inner + f(x)) * h / 3.0;
        x * (0.5 + area / std::f64::consts::TAU.sqrt())
    }

    #[test]
    fn exp_is_exact_to_the_last_places() {
        for kernels in all_kernels() {
            let input: Vec<f32> = (-8700..=1000).map(|i| i as f32 / 100.0).collect();
            let mut output = input.clone();
            kernels.run(Exp(&mut output));
            for (x, y) in input.iter().zip(&output) {
                let exact = f64::from(*x).exp();
                let error = (f64::from(*y) - exact).abs() / exact;
                assert!(error < 3e-7, "{kernels:?}: exp({x}) = {y}, off by {error}");
            }
            let mut far = [-1e30, f32::MIN, -100.0];
            kernels.run(Exp(&mut far));
            assert!(far.iter().all(|y| (0.0..1e-37).contains(y)), "{far:?}");
        }
    }

    #[test]
    fn activations_follow_their_definitions() {
        let input: Vec<f32> = (-1000..=1003).map(|i| i as f32 / 125.0).collect();
        for kernels in all_kernels() {
            for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Relu] {
                let mut values = input.clone();
                kernels.run(Activate {
                    values: &mut values,
                    activation,
                });
                for (x, y) in input.iter().zip(&values) {
                    let x = f64::from(*x);
                    let exact = match activation {
                        Activation::Gelu => gelu(x),
                        Activation::GeluTanh => {
                            let inner =
                                (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
                            0.5 * x * (1.0 + inner.tanh())
                        }
                        Activation::Relu => x.max(0.0),
                    };
                    let error = (f64::from(*y) - exact).abs();
                    assert!(
                        error < 1e-6,
                        "{kernels:?} {activation:?}({x}) = {y}, not {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_are_normalised_at_any_width() {
        for kernels in all_kernels() {
            for width in [1usize, 3, 8, 37, 64] {
                let mut rows: Vec<f32> = (0..width * 3).map(|i| ((i * 37) % 11) as f32).collect();
                let before = rows.clone();
                let gain: Vec<f32> = (0..width).map(|i| 1.0 + i as f32).collect();
                let bias: Vec<f32> = (0..width).map(|i| i as f32 / 2.0).collect();
                kernels.run(Normalize {
                    rows: &mut rows,
                    gain: &gain,
                    bias: &bias,
                    epsilon: 1e-5,
                });
                for (row, before) in rows.chunks(width).zip(before.chunks(width)) {
                    let n = width as f64;
                    let mean = before.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
                    let variance = before
                        .iter()
                        .map(|x| (f64::from(*x) - mean).powi(2))
                        .sum::<f64>()
                        / n;
                    for (i, (y, x)) in row.iter().zip(before).enumerate() {
                        let exact = (f64::from(*x) - mean) / (variance + 1e-5).sqrt()
                            * (1.0 + i as f64)
                            + i as f64 / 2.0;
                        assert!((f64::from(*y) - exact).abs() < 1e-4 * (1.0 + exact.abs()));
                    }
                }
            }
        }
    }
}

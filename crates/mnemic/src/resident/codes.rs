//! Vectors as bytes, each byte as two halves: what is searched first are the upper halves alone, an eighth of the size of
//! the vectors, then the whole bytes of what that leaves. Both give the cosine to within an error that is known; whoever
//! needs the cosine itself looks the best up in the file.
//!
//! A vector x is scaled so that its largest number is 119 and rounded to whole numbers c = 16·h + l with h in −7..=7 and l
//! in −8..=7 (symmetric scalar quantisation). The coarse product takes a·h for x, a = ⟨x, h⟩ / ⟨h, h⟩. What that leaves out of
//! x has nothing to do with the question where the two share no more than h tells, which makes the product right but for
//! chance; where the question is x itself it makes the product too small by the share t = ⟨x, x⟩ / ⟨x, h⟩ / a − 1 (the
//! estimator of RaBitQ is right there; Gao and Long 2024). An estimate is the middle of the two, and its error reaches both.

use crate::resident::nibbles::{self, BLOCK, BLOCK_BYTES, Kernel, Products};

/// The largest whole number of a code.
const LARGEST: f32 = 119.0;

/// A product may be off by so many standard deviations of its error; by more, once in millions.
const DEVIATIONS: f32 = 5.0;

/// Standard deviation of the error of rounding to whole numbers: √(1/12).
const ROUNDING: f32 = 0.288_675_13;

/// Standard deviation of l, which is spread evenly over −8..=7: √((16² − 1) / 12).
const LOW: f32 = 4.609_772;

/// Vectors of one width, each at the position at which it was pushed.
#[derive(Debug)]
pub(crate) struct Codes {
    dims: usize,
    kernel: Kernel,
    /// h + 8 and l + 8, `blocks` blocks a vector.
    high: Vec<[u8; BLOCK_BYTES]>,
    low: Vec<[u8; BLOCK_BYTES]>,
    scales: Vec<Scales>,
}

/// What the products of one vector's codes are multiplied by.
#[derive(Debug, Clone, Copy, Default)]
struct Scales {
    /// Of c; 0 where there is no vector.
    whole: f32,
    /// Of h.
    coarse: f32,
    /// How far the coarse product may be off on this vector's side by chance, and for each 1 that it is large.
    chance: f32,
    share: f32,
}

/// A question in whole numbers, −127..=127.
#[derive(Debug)]
pub(crate) struct QueryCode {
    numbers: Vec<[i8; BLOCK]>,
    /// Of the numbers, eight times: what h + 8 and l + 8 have too much.
    offset: i32,
    scale: f32,
}

/// Nearly a cosine: it lies within `error` of `value`, but for chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f32,
    pub(crate) error: f32,
}

impl Estimate {
    pub(crate) fn at_most(self) -> f32 {
        self.value + self.error
    }

    pub(crate) fn at_least(self) -> f32 {
        self.value - self.error
    }
}

impl Codes {
    pub(crate) fn new(dims: usize) -> Self {
        Self {
            dims,
            kernel: Kernel::detect(),
            high: Vec::new(),
            low: Vec::new(),
            scales: Vec::new(),
        }
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// Bytes of memory for one vector.
    pub(crate) fn bytes_each(dims: usize) -> usize {
        2 * BLOCK_BYTES * nibbles::blocks(dims) + size_of::<Scales>()
    }

    /// Makes room for so many, and no more.
    pub(crate) fn reserve(&mut self, count: usize) {
        let blocks = count.saturating_mul(nibbles::blocks(self.dims));
        self.high.reserve_exact(blocks);
        self.low.reserve_exact(blocks);
        self.scales.reserve_exact(count);
    }

    /// Another position, without a vector yet.
    pub(crate) fn push_empty(&mut self) {
        let blocks = self.high.len() + nibbles::blocks(self.dims);
        self.high.resize(blocks, [0; BLOCK_BYTES]);
        self.low.resize(blocks, [0; BLOCK_BYTES]);
        self.scales.push(Scales::default());
    }

    /// The vector of a position; `None`, and whatever has another width or no direction, is none.
    pub(crate) fn set(&mut self, position: usize, vector: Option<&[f32]>) {
        let blocks = nibbles::blocks(self.dims);
        let range =
            position.saturating_mul(blocks)..position.saturating_add(1).saturating_mul(blocks);
        let codes = self
            .high
            .get_mut(range.clone())
            .zip(self.low.get_mut(range));
        let (Some((high, low)), Some(scales)) = (codes, self.scales.get_mut(position)) else {
            return;
        };
        *scales = Scales::default();
        let vector = vector.filter(|vector| vector.len() == self.dims);
        if let Some((vector, scale)) = vector.and_then(|v| Some((v, scale_of(v, LARGEST)?))) {
            *scales = pulp::Arch::new().dispatch(
                #[inline(always)]
                || encode(vector, scale, high, low),
            );
        }
    }

    /// The question as codes; `None` where it has another width or no direction.
    pub(crate) fn query(&self, vector: &[f32]) -> Option<QueryCode> {
        let scale = scale_of(vector, 127.0).filter(|_| vector.len() == self.dims)?;
        let mut numbers = vec![[0i8; BLOCK]; nibbles::blocks(self.dims)];
        for (number, x) in numbers.as_flattened_mut().iter_mut().zip(vector) {
            // In −127..=127 by the choice of the scale.
            *number = (x / scale).round_ties_even() as i8;
        }
        let sum: i32 = numbers.as_flattened().iter().map(|n| i32::from(*n)).sum();
        Some(QueryCode {
            numbers,
            offset: 8 * sum,
            scale,
        })
    }

    /// Calls `found` with the position and the coarse estimate of each vector that `admits` lets through and that may
    /// reach the floor that `found` returned last.
    pub(crate) fn scan(
        &self,
        query: &QueryCode,
        admits: impl Fn(usize) -> bool,
        found: impl FnMut(usize, Estimate) -> f32,
    ) {
        self.kernel.run(Scan {
            codes: self,
            query,
            admits,
            found,
        });
    }

    /// Calls `found` with the estimate by the whole code for each of some positions, as [`Codes::scan`] does.
    pub(crate) fn refine(
        &self,
        query: &QueryCode,
        positions: impl Iterator<Item = usize>,
        found: impl FnMut(usize, Estimate),
    ) {
        self.kernel.run(Refine {
            codes: self,
            query,
            positions,
            found,
        });
    }
}

struct Scan<'a, A, F> {
    codes: &'a Codes,
    query: &'a QueryCode,
    admits: A,
    found: F,
}

impl<A: Fn(usize) -> bool, F: FnMut(usize, Estimate) -> f32> Products for Scan<'_, A, F> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, product: impl Fn(&[[u8; BLOCK_BYTES]], &[[i8; BLOCK]]) -> i32) {
        let query = self.query;
        let query_error = DEVIATIONS * ROUNDING * query.scale;
        let mut floor = f32::NEG_INFINITY;
        let blocks = nibbles::blocks(self.codes.dims).max(1);
        let rows = self.codes.high.chunks_exact(blocks).zip(&self.codes.scales);
        for (position, (high, scales)) in rows.enumerate() {
            if (self.admits)(position) && scales.whole > 0.0 {
                let product = product(high, &query.numbers) - query.offset;
                let value = product as f32 * scales.coarse * query.scale;
                let estimate = Estimate {
                    value,
                    error: scales.chance + query_error + scales.share * value.abs(),
                };
                if estimate.at_most() >= floor {
                    floor = (self.found)(position, estimate);
                }
            }
        }
    }
}

struct Refine<'a, P, F> {
    codes: &'a Codes,
    query: &'a QueryCode,
    positions: P,
    found: F,
}

impl<P: Iterator<Item = usize>, F: FnMut(usize, Estimate)> Products for Refine<'_, P, F> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, product: impl Fn(&[[u8; BLOCK_BYTES]], &[[i8; BLOCK]]) -> i32) {
        let query = self.query;
        let blocks = nibbles::blocks(self.codes.dims);
        for position in self.positions {
            let range =
                position.saturating_mul(blocks)..position.saturating_add(1).saturating_mul(blocks);
            let codes = self
                .codes
                .high
                .get(range.clone())
                .zip(self.codes.low.get(range));
            let Some(((high, low), scales)) = codes.zip(self.codes.scales.get(position)) else {
                continue;
            };
            let high = product(high, &query.numbers) - query.offset;
            let low = product(low, &query.numbers) - query.offset;
            let estimate = Estimate {
                value: (16 * high + low) as f32 * scales.whole * query.scale,
                error: DEVIATIONS * ROUNDING * (scales.whole.powi(2) + query.scale.powi(2)).sqrt(),
            };
            (self.found)(position, estimate);
        }
    }
}

/// What the largest number is divided by to make it `largest`; `None` where there is no direction.
fn scale_of(vector: &[f32], largest: f32) -> Option<f32> {
    let found = vector
        .iter()
        .fold(0.0f32, |found, number| found.max(number.abs()));
    let finite = vector.iter().all(|number| number.is_finite());
    (finite && found > f32::MIN_POSITIVE * largest).then_some(found / largest)
}

/// Writes the codes of a vector, and answers its scales.
#[inline(always)]
fn encode(
    vector: &[f32],
    scale: f32,
    high: &mut [[u8; BLOCK_BYTES]],
    low: &mut [[u8; BLOCK_BYTES]],
) -> Scales {
    // In units of the scale: x·x, x·h, h·h; and how many numbers are not 0.
    let (mut xx, mut xh, mut hh, mut used) = (0.0f32, 0.0f32, 0.0f32, 0);
    for ((numbers, high), low) in vector.chunks(BLOCK).zip(high).zip(low) {
        let mut x = [0.0f32; BLOCK];
        for (x, number) in x.iter_mut().zip(numbers) {
            *x = number / scale;
        }
        let (mut h, mut l) = ([0u8; BLOCK], [0u8; BLOCK]);
        for ((x, h), l) in x.iter().zip(&mut h).zip(&mut l) {
            // c + 136 = 16·(h + 8) + (l + 8), all of them in range by the choice of the scale; cutting rounds what is
            // positive.
            let code = ((x + 136.5) as i32).clamp(17, 255) as u8;
            *h = code >> 4;
            *l = code & 15;
        }
        let (mut block_xx, mut block_xh, mut block_hh) = (0.0, 0.0, 0);

        for (x, h) in x.iter().zip(&h) {
            let h = i32::from(*h) - 8;
            block_xx += x * x;
            block_xh += x * h as f32;
            block_hh += h * h;
            used += i32::from(*x != 0.0);
        }
        xx += block_xx;
        xh += block_xh;
        hh += block_hh as f32;
        *high = nibbles::pack(&h);
        *low = nibbles::pack(&l);
    }
    // Each h has the sign of its x, and the largest x alone makes x·h at least 119 · 7.
    let a = xh / hh.max(1.0);
    let left_out = (xx - a * xh).max(0.0);
    let middle = left_out / (2.0 * xh.max(1.0) * a);
    // Of a vector of few numbers it is spread over these alone, and a question may ask for just one of them.
    let deviation = (left_out / used.max(1) as f32).sqrt().max(LOW);
    Scales {
        whole: scale,
        coarse: a * (1.0 + middle) * scale,
        chance: DEVIATIONS * deviation * scale,
        share: middle / (1.0 + middle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
        mnemic_embed::normalize(&mut vector).ok().map(|()| vector)
    }

    fn coarse(codes: &Codes, query: &[f32]) -> Vec<(usize, Estimate)> {
        let mut found = Vec::new();
        let query = codes.query(query).unwrap();
        codes.scan(
            &query,
            |_| true,
            |position, estimate| {
                found.push((position, estimate));
                f32::NEG_INFINITY
            },
        );
        found
    }

    fn whole(codes: &Codes, query: &[f32]) -> Vec<(usize, Estimate)> {
        let mut found = Vec::new();
        let positions = coarse(codes, query)
            .into_iter()
            .map(|(position, _)| position);
        let query = codes.query(query).unwrap();
        codes.refine(&query, positions, |position, estimate| {
            found.push((position, estimate))
        });
        found
    }

    /// Vectors of several kinds: dense, of two values only (bits), mostly zeros, with one number that is far larger.
    fn vectors(dims: usize) -> impl Strategy<Value = Vec<f32>> {
        let dense = prop::collection::vec(-1.0f32..1.0, dims);
        prop_oneof![
            dense.clone(),
            dense
                .clone()
                .prop_map(|v| v.iter().map(|x| x.signum()).collect()),
            dense
                .clone()
                .prop_map(|v| v.iter().map(|x| if *x > 0.9 { *x } else { 0.0 }).collect()),
            dense.prop_map(|mut v| {
                v[0] *= 20.0;
                v
            }),
        ]
    }

    proptest! {
        #[test]
        fn an_estimate_is_within_its_error(a in vectors(200), b in vectors(200)) {
            if let (Some(a), Some(b)) = (unit(a), unit(b)) {
                let mut codes = Codes::new(200);
                codes.push_empty();
                codes.set(0, Some(&a));
                let cosine = mnemic_embed::cosine(&a, &b) as f32;
                for (_, estimate) in coarse(&codes, &b).into_iter().chain(whole(&codes, &b)) {
                    prop_assert!(estimate.at_least() <= cosine && cosine <= estimate.at_most(), "{estimate:?} {cosine}");
                }
                for (_, itself) in coarse(&codes, &a).into_iter().chain(whole(&codes, &a)) {
                    prop_assert!((itself.value - 1.0).abs() <= itself.error, "{itself:?}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_vector_is_never_found() {
        let mut codes = Codes::new(2);
        for _ in 0..5 {
            codes.push_empty();
        }
        codes.set(0, Some(&[1.0, 0.0]));
        codes.set(1, Some(&[0.0, 0.0]));
        codes.set(2, Some(&[f32::NAN, 1.0]));
        codes.set(3, Some(&[1.0, 0.0, 0.0]));
        codes.set(4, Some(&[-1.0, 0.0]));
        codes.set(9, Some(&[1.0, 0.0]));
        let found: Vec<(usize, f32)> = whole(&codes, &[2.0, 0.0])
            .into_iter()
            .map(|(position, estimate)| (position, (estimate.value * 1e4).round() / 1e4))
            .collect();
        assert_eq!(found, [(0, 2.0), (4, -2.0)]);
        codes.set(0, None);
        assert_eq!(coarse(&codes, &[1.0, 0.0]).len(), 1);
        assert!(codes.query(&[1.0]).is_none() && codes.query(&[0.0, 0.0]).is_none());
    }

    #[test]
    fn the_floor_and_the_filter_are_kept() {
        let mut codes = Codes::new(2);
        for i in 0..10 {
            codes.push_empty();
            codes.set(i, Some(&[1.0, i as f32 / 10.0]));
        }
        let mut seen = Vec::new();
        let query = codes.query(&[1.0, 0.0]).unwrap();
        codes.scan(
            &query,
            |position| position % 2 == 1,
            |position, estimate| {
                seen.push(position);
                estimate.at_most() + 0.5
            },
        );
        assert_eq!(seen, [1], "nothing else reaches the floor");
    }
}

//! Vectors as bytes: a quarter of their size, and a scan that is bound by memory. Its scores are near the cosine, never
//! the cosine itself: whoever uses them looks the best up in the file.
//!
//! Each vector is scaled so that its largest number is 127 and rounded; the product of two such vectors of integers,
//! times both scales, is the product of the vectors to within a few thousandths (symmetric scalar quantisation).

/// Vectors of one width, each at the position at which it was pushed.
#[derive(Debug)]
pub(crate) struct Codes {
    dims: usize,
    bytes: Vec<i8>,
    /// 0 where there is no vector.
    scales: Vec<f32>,
    /// The largest scale there was.
    largest_scale: f32,
}

/// A question in the same form; widened, which spares the scan half of its conversions.
#[derive(Debug)]
pub(crate) struct QueryCode {
    numbers: Vec<i16>,
    scale: f32,
}

impl Codes {
    pub(crate) fn new(dims: usize) -> Self {
        Self {
            dims,
            bytes: Vec::new(),
            scales: Vec::new(),
            largest_scale: 0.0,
        }
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// Bytes of memory for one vector.
    pub(crate) fn bytes_each(dims: usize) -> usize {
        dims + size_of::<f32>()
    }

    /// Another position, without a vector yet.
    pub(crate) fn push_empty(&mut self) {
        self.bytes.resize(self.bytes.len() + self.dims, 0);
        self.scales.push(0.0);
    }

    /// The vector of a position; `None`, and whatever has another width or no direction, is none.
    pub(crate) fn set(&mut self, position: usize, vector: Option<&[f32]>) {
        let start = position.saturating_mul(self.dims);
        let code = self.bytes.get_mut(start..start.saturating_add(self.dims));
        let (Some(code), Some(scale)) = (code, self.scales.get_mut(position)) else {
            return;
        };
        *scale = 0.0;
        let Some(vector) = vector.filter(|vector| vector.len() == code.len()) else {
            return;
        };
        if let Some(found) = scale_of(vector) {
            *scale = found;
            self.largest_scale = self.largest_scale.max(found);
            for (byte, number) in code.iter_mut().zip(vector) {
                // In −127..=127 by the choice of the scale; `as` cuts NaN, which `scale_of` excludes.
                *byte = (number / found).round() as i8;
            }
        }
    }

    /// The question as codes; `None` where it has another width or no direction.
    pub(crate) fn query(&self, vector: &[f32]) -> Option<QueryCode> {
        let scale = scale_of(vector).filter(|_| vector.len() == self.dims)?;
        Some(QueryCode {
            numbers: vector
                .iter()
                .map(|number| (number / scale).round() as i16)
                .collect(),
            scale,
        })
    }

    /// How far a score may be from the product of the (unit) vectors, but for chance: each number is off by at most half a
    /// scale, evenly spread, so that the error of the sum has the standard deviation √((a² + b²) / 12) for scales a and b;
    /// eight of those.
    pub(crate) fn margin(&self, query: &QueryCode) -> f32 {
        8.0 * ((self.largest_scale.powi(2) + query.scale.powi(2)) / 12.0).sqrt()
    }

    /// Calls `found` with the position and nearly the product of each vector that `admits` lets through and that is not
    /// below the floor that `found` returned last.
    pub(crate) fn scan(
        &self,
        query: &QueryCode,
        admits: impl Fn(usize) -> bool,
        mut found: impl FnMut(usize, f32) -> f32,
    ) {
        let dims = self.dims.max(1);
        // The closure is compiled once for each instruction set that may be there, and the best one is called.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut floor = f32::NEG_INFINITY;
                let rows = self.bytes.chunks_exact(dims).zip(&self.scales).enumerate();
                for (position, (code, scale)) in rows {
                    if *scale > 0.0 && admits(position) {
                        let score = product(code, &query.numbers) as f32 * scale * query.scale;
                        if score >= floor {
                            floor = found(position, score);
                        }
                    }
                }
            },
        );
    }
}

/// What the largest number is divided by to make it 127; `None` where there is no direction.
fn scale_of(vector: &[f32]) -> Option<f32> {
    let largest = vector
        .iter()
        .fold(0.0f32, |largest, number| largest.max(number.abs()));
    let finite = vector.iter().all(|number| number.is_finite());
    (finite && largest > f32::MIN_POSITIVE * 127.0).then_some(largest / 127.0)
}

/// Σ a·b. In 32 bits: 127 · 127 · 100,000 dimensions fit.
#[inline(always)]
fn product(code: &[i8], query: &[i16]) -> i32 {
    code.iter()
        .zip(query)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
        mnemic_embed::normalize(&mut vector).ok().map(|()| vector)
    }

    fn scores(codes: &Codes, query: &[f32]) -> Vec<(usize, f32)> {
        let mut scores = Vec::new();
        let query = codes.query(query).unwrap();
        codes.scan(
            &query,
            |_| true,
            |position, score| {
                scores.push((position, score));
                f32::NEG_INFINITY
            },
        );
        scores
    }

    proptest! {
        #[test]
        fn a_score_is_near_the_cosine(
            a in prop::collection::vec(-1.0f32..1.0, 100), b in prop::collection::vec(-1.0f32..1.0, 100),
        ) {
            if let (Some(a), Some(b)) = (unit(a), unit(b)) {
                let mut codes = Codes::new(100);
                codes.push_empty();
                codes.set(0, Some(&a));
                let found = scores(&codes, &b);
                let cosine = mnemic_embed::cosine(&a, &b) as f32;
                prop_assert!((found[0].1 - cosine).abs() < 0.01, "{} {cosine}", found[0].1);
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
        assert_eq!(scores(&codes, &[2.0, 0.0]), [(0, 2.0), (4, -2.0)]);
        codes.set(0, None);
        assert_eq!(scores(&codes, &[1.0, 0.0]), [(4, -1.0)]);
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
            |position, score| {
                seen.push(position);
                score + 0.5
            },
        );
        assert_eq!(seen, [1], "nothing else reaches the floor");
    }
}

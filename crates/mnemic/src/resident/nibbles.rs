//! Vectors of four-bit numbers, two a byte, and their products with a question. On x86-64 with AVX2 a byte is unpacked and
//! multiplied in registers; elsewhere plain code does the same integer sum.

/// Numbers that one block holds.
pub(super) const BLOCK: usize = 64;

/// Bytes of one block.
pub(super) const BLOCK_BYTES: usize = BLOCK / 2;

/// So many blocks are summed in 16 bits: 4 blocks · 2 halves · 2 products · 15 · 127 < 2¹⁵.
const BLOCKS_IN_16_BITS: usize = 4;

/// Blocks for so many numbers.
pub(super) fn blocks(dims: usize) -> usize {
    dims.div_ceil(BLOCK)
}

/// One block: the first half of its numbers in the low four bits, the second in the high ones.
pub(super) fn pack(numbers: &[u8; BLOCK]) -> [u8; BLOCK_BYTES] {
    let (low, high) = numbers.split_at(BLOCK_BYTES);
    let mut bytes = [0; BLOCK_BYTES];
    for ((byte, low), high) in bytes.iter_mut().zip(low).zip(high) {
        *byte = (low & 15) | (high << 4);
    }
    bytes
}

/// How products are computed: chosen by what the processor has, the same sums either way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kernel {
    Portable(pulp::Arch),
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Kernel {
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return Self::Avx2(simd);
        }
        Self::Portable(pulp::Arch::new())
    }

    /// Runs what asks for many products, compiled for the instructions of the kernel.
    pub(super) fn run<T>(self, many: impl Products<Output = T>) -> T {
        match self {
            Self::Portable(arch) => arch.dispatch(
                #[inline(always)]
                || many.with(portable),
            ),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => pulp::Simd::vectorize(simd, Dispatched { simd, many }),
        }
    }
}

/// Something that asks for many products.
pub(super) trait Products {
    type Output;

    /// `product(code, question)` is Σ of the numbers of the blocks times those of the question; to be inlined.
    fn with(self, product: impl Fn(&[[u8; BLOCK_BYTES]], &[[i8; BLOCK]]) -> i32) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
struct Dispatched<M> {
    simd: pulp::x86::V3,
    many: M,
}

#[cfg(target_arch = "x86_64")]
impl<M: Products> pulp::WithSimd for Dispatched<M> {
    type Output = M::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> M::Output {
        let simd = self.simd;
        self.many.with(
            #[inline(always)]
            move |code, question| avx2(simd, code, question),
        )
    }
}

#[inline(always)]
fn portable(code: &[[u8; BLOCK_BYTES]], question: &[[i8; BLOCK]]) -> i32 {
    let mut sum = 0;
    for (code, question) in code.iter().zip(question) {
        let (low, high) = question.split_at(BLOCK_BYTES);
        for ((byte, low), high) in code.iter().zip(low).zip(high) {
            sum += i32::from(byte & 15) * i32::from(*low) + i32::from(byte >> 4) * i32::from(*high);
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn avx2(simd: pulp::x86::V3, code: &[[u8; BLOCK_BYTES]], question: &[[i8; BLOCK]]) -> i32 {
    use std::arch::x86_64::__m256i;
    let avx = simd.avx2;
    let fifteen: __m256i = pulp::cast([15u8; 32]);
    let ones: __m256i = pulp::cast([1i16; 16]);
    let mut total: __m256i = pulp::cast([0i32; 8]);
    let groups = code
        .chunks(BLOCKS_IN_16_BITS)
        .zip(question.chunks(BLOCKS_IN_16_BITS));
    for (code, question) in groups {
        let mut sum: __m256i = pulp::cast([0i16; 16]);
        for (code, question) in code.iter().zip(question) {
            let code: __m256i = pulp::cast(*code);
            let [first, second]: [__m256i; 2] = pulp::cast(*question);
            let low = avx._mm256_and_si256(code, fifteen);
            let high = avx._mm256_and_si256(avx._mm256_srli_epi16::<4>(code), fifteen);
            sum = avx._mm256_add_epi16(sum, avx._mm256_maddubs_epi16(low, first));
            sum = avx._mm256_add_epi16(sum, avx._mm256_maddubs_epi16(high, second));
        }
        total = avx._mm256_add_epi32(total, avx._mm256_madd_epi16(sum, ones));
    }
    let lanes: [i32; 8] = pulp::cast(total);
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Once<'a>(&'a [[u8; BLOCK_BYTES]], &'a [[i8; BLOCK]]);

    impl Products for Once<'_> {
        type Output = i32;
        fn with(self, product: impl Fn(&[[u8; BLOCK_BYTES]], &[[i8; BLOCK]]) -> i32) -> i32 {
            product(self.0, self.1)
        }
    }

    fn both(numbers: &[[u8; BLOCK]], question: &[[i8; BLOCK]]) -> [i32; 3] {
        let packed: Vec<_> = numbers.iter().map(pack).collect();
        let pairs = numbers.as_flattened().iter().zip(question.as_flattened());
        let plain = pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        let best = Kernel::detect().run(Once(&packed, question));
        let portable = Kernel::Portable(pulp::Arch::Scalar).run(Once(&packed, question));
        [plain, best, portable]
    }

    proptest! {
        #[test]
        fn every_kernel_is_the_plain_sum(
            blocks in prop::collection::vec((prop::array::uniform32(0u8..16), prop::array::uniform32(0u8..16),
                prop::array::uniform32(-127i8..=127), prop::array::uniform32(-127i8..=127)), 0..12),
        ) {
            let join = |a: [u8; 32], b: [u8; 32]| -> [u8; 64] { pulp::cast([a, b]) };
            let numbers: Vec<_> = blocks.iter().map(|(a, b, ..)| join(*a, *b)).collect();
            let question: Vec<[i8; 64]> = blocks.iter().map(|(.., a, b)| pulp::cast([*a, *b])).collect();
            let [plain, best, portable] = both(&numbers, &question);
            prop_assert_eq!(plain, best);
            prop_assert_eq!(plain, portable);
        }
    }

    #[test]
    fn the_largest_sums_fit() {
        for sign in [1, -1] {
            let [plain, best, portable] = both(&[[15; BLOCK]; 70], &[[127 * sign; BLOCK]; 70]);
            assert_eq!(plain, 15 * 127 * 70 * 64 * i32::from(sign));
            assert_eq!([best, portable], [plain, plain]);
        }
    }
}

//! Which vector instructions the kernels run on: chosen once, when a model is loaded, by what the processor has.
//! All of it is safe: `pulp` proves at run time that the instructions exist before it hands out a token for them.

use std::any::TypeId;

use pulp::{Arch, Scalar128b, Simd, WithSimd};

/// The vector instructions of the CPU forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Instructions {
    /// What every processor of the target has; no run-time detection.
    Portable,
    /// 128-bit vectors of AArch64.
    Neon,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

/// A choice of instructions, with the shape of the product kernel that suits their registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernels {
    arch: Arch,
}

impl Kernels {
    /// The best instructions of this processor.
    pub(crate) fn detect() -> Self {
        Self { arch: Arch::new() }
    }

    /// The best instructions of this processor that are not above `limit`.
    pub(crate) fn at_most(limit: Instructions) -> Self {
        let best = Self::detect();
        if best.instructions() <= limit {
            return best;
        }
        #[cfg(target_arch = "x86_64")]
        if limit >= Instructions::Avx2
            && let Some(simd) = pulp::x86::V3::try_new()
        {
            return Self {
                arch: Arch::V3(simd),
            };
        }
        Self { arch: Arch::Scalar }
    }

    /// What was chosen.
    pub(crate) fn instructions(self) -> Instructions {
        match self.arch {
            Arch::Scalar => Instructions::Portable,
            #[cfg(target_arch = "x86_64")]
            Arch::V3(_) => Instructions::Avx2,
            #[cfg(target_arch = "x86_64")]
            Arch::V4(_) => Instructions::Avx512,
            #[allow(unreachable_patterns)]
            _ => Instructions::Neon,
        }
    }

    /// Runs an operation with the chosen instructions.
    pub(crate) fn run<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self.arch {
            // `pulp`'s own scalar type has one lane; four lanes compile to the target's baseline vectors.
            Arch::Scalar => Scalar128b.vectorize(op),
            arch => arch.dispatch(op),
        }
    }

    /// Columns of a panel: two vectors.
    pub(crate) fn panel_width(self) -> usize {
        struct Width;
        impl WithSimd for Width {
            type Output = usize;
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> usize {
                2 * S::F32_LANES
            }
        }
        self.run(Width)
    }

    /// Rows of a block at most, so that two vectors of sums a row fit in the registers.
    pub(crate) fn block_height(self) -> usize {
        struct Height;
        impl WithSimd for Height {
            type Output = usize;
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> usize {
                if S::REGISTER_COUNT >= 32 { 12 } else { 6 }
            }
        }
        self.run(Height)
    }
}

/// `a · b + c`: fused where the processor can, never by a call into the mathematics library.
#[inline(always)]
pub(super) fn multiply_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    // Decided at compile time: without the instruction a fused product is a slow function call for each number.
    if TypeId::of::<S>() == TypeId::of::<Scalar128b>() {
        simd.add_f32s(simd.mul_f32s(a, b), c)
    } else {
        simd.mul_add_e_f32s(a, b, c)
    }
}

//! Vector arithmetic that every embedder needs. It never allocates.

/// Why a list of numbers cannot serve as an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// A number is NaN or infinite, or the numbers are too large to have a length.
    #[error("it holds a NaN or an infinity")]
    NotFinite,
    /// All numbers are zero, or too small to have a direction.
    #[error("it is the zero vector, which has no direction")]
    Zero,
}

/// Scales a vector to Euclidean length 1 (sums in f64).
///
/// ```
/// use mnemic_embed::{Defect, normalize};
///
/// let mut vector = [3.0, 4.0];
/// normalize(&mut vector)?;
/// assert_eq!(vector, [0.6, 0.8]);
/// assert_eq!(normalize(&mut [0.0, 0.0]), Err(Defect::Zero));
/// assert_eq!(normalize(&mut [f32::NAN, 1.0]), Err(Defect::NotFinite));
/// # Ok::<(), Defect>(())
/// ```
///
/// # Errors
/// [`Defect`] where the vector has no direction; it is then left as it was.
pub fn normalize(vector: &mut [f32]) -> Result<(), Defect> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if !square.is_finite() {
        return Err(Defect::NotFinite);
    }
    let length = square.sqrt();
    if length < f64::from(f32::MIN_POSITIVE) {
        return Err(Defect::Zero);
    }
    for x in vector {
        // f64 to f32: |x| / length is at most 1, so nothing overflows.
        *x = (f64::from(*x) / length) as f32;
    }
    Ok(())
}

/// The cosine of the angle between two vectors, in [−1, 1]; 0 where it is not defined (other widths, a zero vector, NaN).
///
/// ```
/// assert_eq!(mnemic_embed::cosine(&[1.0, 0.0], &[2.0, 0.0]), 1.0);
/// assert_eq!(mnemic_embed::cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
/// ```
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut aa, mut bb) = (0.0f64, 0.0f64, 0.0f64);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (f64::from(*x), f64::from(*y));
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    let cosine = dot / (aa.sqrt() * bb.sqrt());
    if cosine.is_finite() {
        cosine.clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

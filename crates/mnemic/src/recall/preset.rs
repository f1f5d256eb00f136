//! How signals become a score: named formulas with their constants.

/// A formula by which recall scores, with its weights. `docs/scoring.md` explains and measures each.
///
/// | preset | score |
/// |---|---|
/// | [`Preset::default`] | weighted mean of the word and vector signals, newness as the last 1 % |
/// | [`Preset::rekal`] | .4 · words + .4 · vector + .2 · newness, exactly as rekal documents it |
/// | [`Preset::reciprocal_rank`] | Σ weight / (60 + rank) over the two legs |
/// | [`Preset::word_only`] | words alone |
/// | [`Preset::vector_only`] | vectors alone |
///
/// ```
/// use mnemic::{Preset, Recall};
///
/// let recall = Recall::new("when can I ship?").preset(Preset::default().weights(0.3, 0.7).recency(0.1, 14.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "a preset does nothing until it is given to a Recall"]
pub struct Preset {
    pub(crate) formula: Formula,
    pub(crate) word_weight: f64,
    pub(crate) vector_weight: f64,
    pub(crate) recency_weight: f64,
    pub(crate) half_life_days: f64,
}

/// What is done with the signals of the legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Formula {
    /// Weighted mean of the legs that the file can answer; newness takes its share of the whole.
    Convex,
    /// rekal's sum: a leg that cannot answer counts 0.
    Rekal,
    /// Only the ranks count.
    ReciprocalRank,
}

impl Default for Preset {
    fn default() -> Self {
        Self {
            formula: Formula::Convex,
            word_weight: 0.5,
            vector_weight: 0.5,
            recency_weight: 0.01,
            half_life_days: 30.0,
        }
    }
}

impl Preset {
    /// rekal's formula: .4 · words + .4 · vector + .2 · newness with a half-life of 30 days, on the cosine distance that
    /// its documents declare (rekal itself scores a Euclidean one). Its tools drop scores under .25:
    /// [`crate::Recall::min_score`].
    pub fn rekal() -> Self {
        let [word_weight, vector_weight, recency_weight] = mnemic_rank::rekal::WEIGHTS;
        Self {
            formula: Formula::Rekal,
            word_weight,
            vector_weight,
            recency_weight,
            half_life_days: mnemic_rank::rekal::HALF_LIFE_DAYS,
        }
    }

    /// Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): Σ weight / (60 + rank). Its scores are small (two
    /// first ranks make .033) and comparable within one recall only.
    pub fn reciprocal_rank() -> Self {
        Self {
            formula: Formula::ReciprocalRank,
            word_weight: 1.0,
            vector_weight: 1.0,
            recency_weight: 0.0,
            ..Self::default()
        }
    }

    /// Words alone: only memories that hold a word of the question.
    pub fn word_only() -> Self {
        Self::default().weights(1.0, 0.0).recency(0.0, 30.0)
    }

    /// Vectors alone: nothing where the file or the handle has no model.
    pub fn vector_only() -> Self {
        Self::default().weights(0.0, 1.0).recency(0.0, 30.0)
    }

    /// Other weights of the two legs, each 0 or more; a leg of weight 0 is not searched. Only their ratio matters but
    /// in [`Preset::rekal`]. A negative weight or NaN counts 0.
    pub fn weights(mut self, word: f64, vector: f64) -> Self {
        self.word_weight = sound(word);
        self.vector_weight = sound(vector);
        self
    }

    /// What the relevance depends on: presets of one name give the same relevance, and another name another.
    pub(crate) fn relevance_name(&self) -> String {
        let formula = match self.formula {
            Formula::Convex => "mean",
            Formula::Rekal => "rekal",
            Formula::ReciprocalRank => "reciprocal rank",
        };
        // Only the ratio of the weights matters to a mean.
        let (word, vector) = (self.word_weight, self.vector_weight);
        let total = word + vector;
        let share = if total > 0.0 { vector / total } else { 0.0 };
        format!("{formula}, vectors {share:.4}")
    }

    /// Another share of newness (0 to 1; 0 leaves it to order what is equal otherwise) and another half-life in days. It
    /// orders candidates, which words and vectors choose: what has nothing to do with a question is listed by
    /// [`crate::Memory::timeline`].
    pub fn recency(mut self, weight: f64, half_life_days: f64) -> Self {
        self.recency_weight = sound(weight).min(1.0);
        self.half_life_days = half_life_days;
        self
    }
}

/// A weight that is one: 0 where it is negative or not finite.
pub(crate) fn sound(weight: f64) -> f64 {
    if weight.is_finite() {
        weight.max(0.0)
    } else {
        0.0
    }
}

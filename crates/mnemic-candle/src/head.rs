//! The head of a cross-encoder: from the hidden state of the first token to one logit. It knows nothing of tokens.

use crate::LoadError;
use crate::folder::Config;
use crate::weights::Weights;

/// BERT's pooler, a dense layer and tanh on the first token's state, and a classifier of one label.
#[derive(Debug)]
pub(crate) struct Head {
    /// `[input][output]`: transposed, so that the sums of all outputs grow side by side.
    pooler: Vec<f32>,
    pooler_bias: Vec<f32>,
    classifier: Vec<f32>,
    classifier_bias: f32,
}

impl Head {
    /// Takes the head's tensors out, whose shapes were checked when they were read.
    pub(crate) fn take(weights: &mut Weights, config: &Config) -> Result<Self, LoadError> {
        let rows = weights.take("pooler.dense.weight")?;
        let pooler = (0..config.hidden)
            .flat_map(|input| rows.iter().skip(input).step_by(config.hidden).copied())
            .collect();
        let bias = weights.take("classifier.bias")?;
        Ok(Self {
            pooler,
            pooler_bias: weights.take("pooler.dense.bias")?,
            classifier: weights.take("classifier.weight")?,
            classifier_bias: bias.first().copied().unwrap_or_default(),
        })
    }

    /// The logit of a sequence with these hidden states, `[token][hidden]`, of which the first token's is read.
    pub(crate) fn logit(&self, states: &[f32]) -> f32 {
        let mut pooled = self.pooler_bias.clone();
        let columns = self.pooler.chunks_exact(pooled.len());
        for (x, column) in states.iter().zip(columns) {
            pooled.iter_mut().zip(column).for_each(|(p, w)| *p += x * w);
        }
        let labels = pooled.iter().zip(&self.classifier);
        labels.fold(self.classifier_bias, |sum, (p, w)| sum + p.tanh() * w)
    }
}

//! Makes a runnable encoder of weights and configuration: the native one, or candle's.

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config as BertConfig, HiddenAct};

use crate::LoadError;
use crate::cpu::{Activation, Encoder, Kernels, Layer, LayerNorm, PackedMatrix, Parts, Sequence};
use crate::folder::Config;
use crate::options::Backend;
use crate::weights::Weights;

/// Packs the weights for the forward pass on the CPU.
pub(crate) fn native(
    mut weights: Weights,
    config: &Config,
    kernels: Kernels,
) -> Result<Encoder, LoadError> {
    let (hidden, intermediate) = (config.hidden, config.intermediate);
    let width = kernels.panel_width();
    let types = weights.take("embeddings.token_type_embeddings.weight")?;
    let mut positions = weights.take("embeddings.position_embeddings.weight")?;
    for position in positions.chunks_exact_mut(hidden) {
        // Most tokens are of type 0, in one-sentence input all: a second sentence's get the difference on top.
        position.iter_mut().zip(&types).for_each(|(p, t)| *p += t);
    }
    let (first_type, others) = types.split_at_checked(hidden).unwrap_or_default();
    let differences = others.iter().zip(first_type);
    let second_type = differences.map(|(second, first)| second - first).collect();
    let scale = 1.0 / ((hidden / config.heads) as f32).sqrt();
    let mut layers = Vec::with_capacity(config.layers);
    for layer in 0..config.layers {
        let mut take = |name: &str| weights.take(&format!("encoder.layer.{layer}.{name}"));
        let mut weight = take("attention.self.query.weight")?;
        let mut bias = take("attention.self.query.bias")?;
        weight.iter_mut().chain(&mut bias).for_each(|x| *x *= scale);
        for part in ["key", "value"] {
            weight.extend(take(&format!("attention.self.{part}.weight"))?);
            bias.extend(take(&format!("attention.self.{part}.bias"))?);
        }
        let projections = PackedMatrix::new(&weight, &bias, hidden, width);
        let mut matrix = |name: &str, depth: usize| {
            let weight = take(&format!("{name}.weight"))?;
            let bias = take(&format!("{name}.bias"))?;
            Ok(PackedMatrix::new(&weight, &bias, depth, width))
        };
        let attention_output = matrix("attention.output.dense", hidden)?;
        let up = matrix("intermediate.dense", hidden)?;
        let down = matrix("output.dense", intermediate)?;
        let layer = format!("encoder.layer.{layer}");
        layers.push(Layer {
            projections,
            attention_output,
            attention_norm: norm(&mut weights, &format!("{layer}.attention.output.LayerNorm"))?,
            up,
            down,
            output_norm: norm(&mut weights, &format!("{layer}.output.LayerNorm"))?,
        });
    }
    Ok(Encoder::new(Parts {
        words: weights.take("embeddings.word_embeddings.weight")?,
        positions,
        second_type,
        embedding_norm: norm(&mut weights, "embeddings.LayerNorm")?,
        layers,
        hidden,
        heads: config.heads,
        intermediate,
        epsilon: config.epsilon as f32,
        activation: config.activation,
        kernels,
    }))
}

fn norm(weights: &mut Weights, name: &str) -> Result<LayerNorm, LoadError> {
    Ok(LayerNorm {
        gain: weights.take(&format!("{name}.weight"))?,
        bias: weights.take(&format!("{name}.bias"))?,
    })
}

/// candle's `BertModel` on a device.
pub(crate) struct CandleEncoder {
    model: BertModel,
    device: Device,
}

impl std::fmt::Debug for CandleEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CandleEncoder")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// Tokens of a padded batch on a device, at most (a single longer sequence aside).
const DEVICE_BATCH: usize = 8192;

impl CandleEncoder {
    pub(crate) fn new(
        weights: Weights,
        config: &Config,
        backend: Backend,
    ) -> Result<Self, LoadError> {
        let refused = |source: candle_core::Error| LoadError::Device {
            device: format!("{backend:?}"),
            source: Box::new(source),
        };
        let device = match backend {
            Backend::Native | Backend::CandleCpu => Device::Cpu,
            Backend::Cuda(number) => Device::new_cuda(number).map_err(refused)?,
            Backend::Metal(number) => Device::new_metal(number).map_err(refused)?,
        };
        let tensors = VarBuilder::from_tensors(weights.into_tensors(), DType::F32, &device);
        let shape = BertConfig {
            vocab_size: config.vocabulary,
            hidden_size: config.hidden,
            num_hidden_layers: config.layers,
            num_attention_heads: config.heads,
            intermediate_size: config.intermediate,
            hidden_act: match config.activation {
                Activation::Gelu => HiddenAct::Gelu,
                Activation::GeluTanh => HiddenAct::GeluApproximate,
                Activation::Relu => HiddenAct::Relu,
            },
            max_position_embeddings: config.positions,
            type_vocab_size: config.types,
            layer_norm_eps: config.epsilon,
            ..BertConfig::default()
        };
        let model = BertModel::load(tensors, &shape).map_err(refused)?;
        Ok(Self { model, device })
    }

    /// As [`Encoder::run`], by candle: sequences of like length together, padding masked out.
    pub(crate) fn run<R>(
        &self,
        sequences: &[Sequence<'_>],
        read: impl Fn(&[f32]) -> R,
    ) -> candle_core::Result<Vec<R>> {
        let mut order: Vec<(usize, Sequence<'_>)> = sequences.iter().copied().enumerate().collect();
        order.sort_by_key(|(_, sequence)| std::cmp::Reverse(sequence.len()));
        let mut results: Vec<(usize, R)> = Vec::with_capacity(order.len());
        let mut rest = order.as_slice();
        while let Some((_, longest)) = rest.first() {
            let count = (DEVICE_BATCH / longest.len().max(1)).clamp(1, rest.len());
            let (batch, after) = rest.split_at(count);
            let states = self.batch(batch, longest.len())?;
            for ((index, sequence), states) in batch.iter().zip(states) {
                let width = states.len() / longest.len().max(1);
                let own = states.get(..sequence.len() * width).unwrap_or_default();
                results.push((*index, read(own)));
            }
            rest = after;
        }
        results.sort_by_key(|(index, _)| *index);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    fn batch(
        &self,
        batch: &[(usize, Sequence<'_>)],
        length: usize,
    ) -> candle_core::Result<Vec<Vec<f32>>> {
        let mut tokens = Vec::with_capacity(batch.len() * length);
        let mut types = Vec::with_capacity(batch.len() * length);
        let mut mask = Vec::with_capacity(batch.len() * length);
        for (_, sequence) in batch {
            let padding = length - sequence.len();
            tokens.extend_from_slice(sequence.tokens);
            tokens.extend(std::iter::repeat_n(0, padding));
            types.extend(std::iter::repeat_n(0u32, sequence.first));
            types.extend(std::iter::repeat_n(1u32, sequence.len() - sequence.first));
            types.extend(std::iter::repeat_n(0u32, padding));
            mask.extend(std::iter::repeat_n(1u32, sequence.len()));
            mask.extend(std::iter::repeat_n(0u32, padding));
        }
        let shape = (batch.len(), length);
        let tokens = Tensor::from_vec(tokens, shape, &self.device)?;
        let mask = Tensor::from_vec(mask, shape, &self.device)?;
        let types = Tensor::from_vec(types, shape, &self.device)?;
        let states = self.model.forward(&tokens, &types, Some(&mask))?;
        states.flatten_from(1)?.to_device(&Device::Cpu)?.to_vec2()
    }
}

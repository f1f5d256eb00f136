//! Reads `model.safetensors` through candle and gives every tensor its one name, its shape checked and its numbers
//! finite. It never guesses: a layout it does not know is an error that names tensor and file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::safetensors::SliceSafetensors;
use candle_core::{DType, Device, Tensor};
use sha2::{Digest, Sha256};

use crate::LoadError;
use crate::folder::{Config, read};

/// The tensors of a BERT encoder under their usual names (`encoder.layer.0.output.dense.weight`).
pub(crate) struct Weights {
    path: PathBuf,
    tensors: HashMap<String, Tensor>,
    /// SHA-256 of the file, in hexadecimal.
    pub(crate) sha256: String,
}

/// Names that checkpoints use for the same thing.
fn usual_name(name: &str) -> String {
    let name = name.strip_prefix("bert.").unwrap_or(name);
    if let Some(stem) = name.strip_suffix(".gamma") {
        return format!("{stem}.weight");
    }
    if let Some(stem) = name.strip_suffix(".beta") {
        return format!("{stem}.bias");
    }
    name.to_owned()
}

impl Weights {
    /// Reads the encoder's tensors from a folder as f32, and checks them against the configuration.
    pub(crate) fn read(folder: &Path, config: &Config) -> Result<Self, LoadError> {
        Self::read_tensors(folder, expected(config))
    }

    /// As [`Weights::read`], with the head that makes one number of a pair.
    pub(crate) fn read_with_head(folder: &Path, config: &Config) -> Result<Self, LoadError> {
        let mut all = expected(config);
        all.extend(head(config));
        Self::read_tensors(folder, all)
    }

    fn read_tensors(folder: &Path, expected: Vec<(String, Vec<usize>)>) -> Result<Self, LoadError> {
        let path = folder.join("model.safetensors");
        let bytes = read(&path)?;
        if bytes.starts_with(b"version https://git-lfs") {
            let reason = "it is a Git LFS pointer, not the weights";
            return Err(LoadError::damaged(path, reason));
        }
        let file = SliceSafetensors::new(&bytes).map_err(|source| {
            let reason = format!("its {} bytes are not a whole safetensors file", bytes.len());
            LoadError::corrupt(&path, reason, source)
        })?;
        let names: HashMap<String, String> = file
            .tensors()
            .into_iter()
            .map(|(name, _)| (usual_name(&name), name))
            .collect();
        let mut tensors = HashMap::new();
        for (name, shape) in expected {
            let fault = |reason: String| LoadError::Tensor {
                path: path.clone(),
                tensor: name.clone(),
                reason,
            };
            let Some(stored) = names.get(&name) else {
                let mut some: Vec<&str> = names.values().map(String::as_str).collect();
                some.sort_unstable();
                some.truncate(4);
                let hint = if is_head(&name) { NO_HEAD } else { "" };
                return Err(fault(format!(
                    "is missing (with and without `bert.`){hint}; the file holds {} tensors: {}, …",
                    names.len(),
                    some.join(", ")
                )));
            };
            let tensor = file
                .load(stored, &Device::Cpu)
                .and_then(|tensor| tensor.to_dtype(DType::F32))
                .map_err(|error| fault(format!("cannot be read: {error}")))?;
            if let [labels, ..] = tensor.dims()
                && name.starts_with("classifier.")
                && *labels != 1
            {
                return Err(fault(format!(
                    "has the shape {:?}: a model of {labels} labels, where a reranker has one",
                    tensor.dims()
                )));
            }
            if tensor.dims() != shape {
                return Err(fault(format!(
                    "has the shape {:?}; config.json asks for {shape:?}",
                    tensor.dims()
                )));
            }
            tensors.insert(name, tensor);
        }
        let sha256 = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let weights = Self {
            path,
            tensors,
            sha256,
        };
        weights.check_finite()?;
        Ok(weights)
    }

    /// In the hub's cache a file is a link to one named by its SHA-256: then the digest must be that.
    pub(crate) fn check_digest(&self) -> Result<(), LoadError> {
        let target = self.path.canonicalize().unwrap_or_default();
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let is_digest = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if is_digest && !name.eq_ignore_ascii_case(&self.sha256) {
            let reason = format!("its SHA-256 is {}, the hub's file has {name}", self.sha256);
            return Err(LoadError::damaged(&self.path, reason));
        }
        Ok(())
    }

    fn check_finite(&self) -> Result<(), LoadError> {
        for (name, tensor) in &self.tensors {
            // A sum over magnitudes is finite only where every number is (and they are far below overflow).
            let sum = tensor
                .abs()
                .and_then(|t| t.sum_all())
                .and_then(|t| t.to_scalar::<f32>());
            if !sum.is_ok_and(f32::is_finite) {
                return Err(self.fault(name, "holds a NaN or an infinity"));
            }
        }
        Ok(())
    }

    fn fault(&self, name: &str, reason: impl Into<String>) -> LoadError {
        LoadError::Tensor {
            path: self.path.clone(),
            tensor: name.to_owned(),
            reason: reason.into(),
        }
    }

    /// All tensors, for candle's own model.
    pub(crate) fn into_tensors(self) -> HashMap<String, Tensor> {
        self.tensors
    }

    /// Takes a tensor's numbers out.
    pub(crate) fn take(&mut self, name: &str) -> Result<Vec<f32>, LoadError> {
        let tensor = self.tensors.remove(name);
        tensor
            .ok_or_else(|| self.fault(name, "is missing"))?
            .flatten_all()
            .and_then(|flat| flat.to_vec1::<f32>())
            .map_err(|error| self.fault(name, format!("cannot be read: {error}")))
    }
}

/// Every tensor of an encoder of this configuration, with its shape.
fn expected(config: &Config) -> Vec<(String, Vec<usize>)> {
    let hidden = config.hidden;
    let mut all = Vec::new();
    let embedding = |name: &str, count: usize| (format!("embeddings.{name}"), vec![count, hidden]);
    all.push(embedding("word_embeddings.weight", config.vocabulary));
    all.push(embedding("position_embeddings.weight", config.positions));
    all.push(embedding("token_type_embeddings.weight", config.types));
    let norm = |all: &mut Vec<(String, Vec<usize>)>, name: &str| {
        all.push((format!("{name}.weight"), vec![hidden]));
        all.push((format!("{name}.bias"), vec![hidden]));
    };
    norm(&mut all, "embeddings.LayerNorm");
    for layer in 0..config.layers {
        let at = |name: &str| format!("encoder.layer.{layer}.{name}");
        for (name, out, input) in [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", config.intermediate, hidden),
            ("output.dense", hidden, config.intermediate),
        ] {
            all.push((at(&format!("{name}.weight")), vec![out, input]));
            all.push((at(&format!("{name}.bias")), vec![out]));
        }
        norm(&mut all, &at("attention.output.LayerNorm"));
        norm(&mut all, &at("output.LayerNorm"));
    }
    all
}

/// What a cross-encoder has beside its encoder: a dense layer on the first token's state, and one label.
fn head(config: &Config) -> [(String, Vec<usize>); 4] {
    let hidden = config.hidden;
    let tensor = |name: &str, shape: &[usize]| (name.to_owned(), shape.to_vec());
    [
        tensor("classifier.weight", &[1, hidden]),
        tensor("classifier.bias", &[1]),
        tensor("pooler.dense.weight", &[hidden, hidden]),
        tensor("pooler.dense.bias", &[hidden]),
    ]
}

fn is_head(name: &str) -> bool {
    name.starts_with("classifier.") || name.starts_with("pooler.")
}

const NO_HEAD: &str = ", so it is no cross-encoder (BertForSequenceClassification); an embedding model loads as \
                       CandleEmbedder";

#[cfg(test)]
mod tests {
    use super::usual_name;

    #[test]
    fn older_names_become_the_usual_ones() {
        for (old, usual) in [
            (
                "bert.embeddings.LayerNorm.gamma",
                "embeddings.LayerNorm.weight",
            ),
            (
                "encoder.layer.0.output.LayerNorm.beta",
                "encoder.layer.0.output.LayerNorm.bias",
            ),
            (
                "embeddings.word_embeddings.weight",
                "embeddings.word_embeddings.weight",
            ),
        ] {
            assert_eq!(usual_name(old), usual);
        }
    }
}

//! Reads a model's folder: the configuration files of transformers and sentence-transformers. It never reads weights.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::LoadError;
use crate::cpu::Activation;
use crate::model::Pooling;

/// Reads a file that must be there.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => LoadError::Missing {
            path: path.to_owned(),
        },
        _ => LoadError::Unreadable {
            path: path.to_owned(),
            source,
        },
    })
}

/// A folder's own name, where it has one.
pub(crate) fn name_of(folder: &Path) -> String {
    folder
        .canonicalize()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "model".to_owned())
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, LoadError> {
    serde_json::from_slice(bytes).map_err(|source| {
        let reason = if source.is_eof() || source.is_syntax() {
            "it is not JSON"
        } else {
            "it lacks what a BERT configuration must say"
        };
        LoadError::corrupt(path, reason, source)
    })
}

fn parse_if_there<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LoadError> {
    match read(path) {
        Ok(bytes) => parse(path, &bytes).map(Some),
        Err(LoadError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `config.json`: the shape of a BERT encoder, checked.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) vocabulary: usize,
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) intermediate: usize,
    pub(crate) positions: usize,
    pub(crate) types: usize,
    pub(crate) epsilon: f64,
    pub(crate) activation: Activation,
}

#[derive(Deserialize)]
struct RawConfig {
    #[serde(default)]
    model_type: Option<String>,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f64,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    is_decoder: bool,
}

fn default_epsilon() -> f64 {
    1e-12
}

impl Config {
    /// Reads and checks `config.json` in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, LoadError> {
        let path = folder.join("config.json");
        let raw: RawConfig = parse(&path, &read(&path)?)?;
        let unsupported = |what: &str, found: &str, supported: &str| {
            let reason = format!("{what} is {found:?}; supported: {supported}");
            Err(LoadError::unsupported(&path, reason))
        };
        if let Some(kind) = raw.model_type.as_deref().filter(|kind| *kind != "bert") {
            return unsupported("model_type", kind, "bert");
        }
        if let Some(kind) = raw
            .position_embedding_type
            .as_deref()
            .filter(|kind| *kind != "absolute")
        {
            return unsupported("position_embedding_type", kind, "absolute");
        }
        if raw.is_decoder {
            return unsupported("is_decoder", "true", "false");
        }
        let activation = match raw.hidden_act.as_deref().unwrap_or("gelu") {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => {
                let supported = "gelu, gelu_new, gelu_pytorch_tanh, relu";
                return unsupported("hidden_act", other, supported);
            }
        };
        let sizes = [
            ("vocab_size", raw.vocab_size),
            ("hidden_size", raw.hidden_size),
            ("num_hidden_layers", raw.num_hidden_layers),
            ("num_attention_heads", raw.num_attention_heads),
            ("intermediate_size", raw.intermediate_size),
            ("max_position_embeddings", raw.max_position_embeddings),
            ("type_vocab_size", raw.type_vocab_size),
        ];
        for (name, size) in sizes {
            if !(1..=1 << 24).contains(&size) {
                return Err(LoadError::damaged(&path, format!("{name} is {size}")));
            }
        }
        if !raw.hidden_size.is_multiple_of(raw.num_attention_heads) {
            let reason = format!(
                "hidden_size {} is no multiple of num_attention_heads {}",
                raw.hidden_size, raw.num_attention_heads
            );
            return Err(LoadError::damaged(&path, reason));
        }
        Ok(Self {
            vocabulary: raw.vocab_size,
            hidden: raw.hidden_size,
            layers: raw.num_hidden_layers,
            heads: raw.num_attention_heads,
            intermediate: raw.intermediate_size,
            positions: raw.max_position_embeddings,
            types: raw.type_vocab_size,
            epsilon: raw.layer_norm_eps,
            activation,
        })
    }
}

/// What sentence-transformers wrote beside the model. All of it may be absent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SentenceSettings {
    pub(crate) pooling: Option<Pooling>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) query_prefix: Option<String>,
    pub(crate) passage_prefix: Option<String>,
}

#[derive(Deserialize)]
struct RawModule {
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct RawPooling {
    #[serde(default)]
    pooling_mode: Option<String>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct RawWindow {
    #[serde(default)]
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct RawPrompts {
    #[serde(default)]
    prompts: serde_json::Map<String, serde_json::Value>,
}

impl SentenceSettings {
    /// Reads `modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json` and
    /// `config_sentence_transformers.json`, where they are there.
    pub(crate) fn read(folder: &Path) -> Result<Self, LoadError> {
        let path = folder.join("modules.json");
        let modules: Vec<RawModule> = parse_if_there(&path)?.unwrap_or_default();
        for module in &modules {
            let name = module.kind.rsplit('.').next().unwrap_or_default();
            if !["Transformer", "Pooling", "Normalize"].contains(&name) {
                let reason = format!(
                    "the module {:?} is not supported, only Transformer, Pooling and Normalize are",
                    module.kind
                );
                return Err(LoadError::unsupported(&path, reason));
            }
        }
        let window: Option<RawWindow> = parse_if_there(&folder.join("sentence_bert_config.json"))?;
        let prompts: Option<RawPrompts> =
            parse_if_there(&folder.join("config_sentence_transformers.json"))?;
        let prompt = |names: &[&str]| {
            let prompts = &prompts.as_ref()?.prompts;
            let found = names.iter().find_map(|name| prompts.get(*name))?;
            found
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        Ok(Self {
            pooling: pooling(&folder.join("1_Pooling").join("config.json"))?,
            max_tokens: window.and_then(|window| window.max_seq_length),
            query_prefix: prompt(&["query"]),
            passage_prefix: prompt(&["passage", "document", "corpus"]),
        })
    }
}

fn pooling(path: &Path) -> Result<Option<Pooling>, LoadError> {
    let Some(raw) = parse_if_there::<RawPooling>(path)? else {
        return Ok(None);
    };
    // Older files have one flag a mode, newer ones the mode's name.
    let mut modes: Vec<&str> = raw
        .rest
        .iter()
        .filter(|(_, value)| value.as_bool() == Some(true))
        .filter_map(|(name, _)| name.strip_prefix("pooling_mode_"))
        .collect();
    modes.extend(raw.pooling_mode.as_deref());
    match modes.as_slice() {
        ["mean_tokens" | "mean"] => Ok(Some(Pooling::Mean)),
        ["cls_token" | "cls"] => Ok(Some(Pooling::Cls)),
        other => {
            let reason = format!("pooling by {other:?} is not supported, mean or cls alone is");
            Err(LoadError::unsupported(path, reason))
        }
    }
}

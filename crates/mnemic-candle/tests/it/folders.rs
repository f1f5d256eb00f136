//! Folders that are damaged, incomplete, or laid out by other conventions.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use mnemic_candle::{CandleEmbedder, CandleOptions, LoadError, Pooling};
use mnemic_embed::{EmbedError, Embedder, InputKind};

use crate::support::{embed, tensors, tiny, tiny_copy};

fn fails(folder: &Path) -> LoadError {
    CandleEmbedder::from_dir(folder).unwrap_err()
}

#[test]
fn a_missing_file_is_named() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = tiny_copy();
        fs::remove_file(folder.path().join(name)).unwrap();
        let error = fails(folder.path());
        assert!(
            matches!(&error, LoadError::Missing { path } if path.ends_with(name)),
            "{error}"
        );
    }
    let nowhere = Path::new("/nonexistent/model");
    assert!(
        fails(nowhere)
            .to_string()
            .starts_with("/nonexistent/model/config.json is missing")
    );
}

#[test]
fn truncated_weights_and_html_are_named() {
    let weights = fs::read(tiny().join("model.safetensors")).unwrap();
    let html = b"<!doctype html><title>404</title>".to_vec();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:53aa\n".to_vec();
    for (name, bytes) in [
        ("model.safetensors", weights[..1024].to_vec()),
        ("model.safetensors", weights[..weights.len() - 1].to_vec()),
        ("model.safetensors", [weights.as_slice(), b"x"].concat()),
        ("model.safetensors", Vec::new()),
        ("model.safetensors", vec![0xff; 4096]),
        ("model.safetensors", pointer),
        ("model.safetensors", html.clone()),
        ("config.json", html.clone()),
        ("config.json", Vec::new()),
        ("config.json", b"[1, 2]".to_vec()),
        ("tokenizer.json", html.clone()),
        ("tokenizer.json", b"{}".to_vec()),
        ("1_Pooling/config.json", html.clone()),
        ("sentence_bert_config.json", html.clone()),
    ] {
        let folder = tiny_copy();
        fs::write(folder.path().join(name), &bytes).unwrap();
        let error = fails(folder.path());
        assert!(
            matches!(&error, LoadError::Corrupt { path, .. } if path.ends_with(name)),
            "{name}, {} bytes: {error}",
            bytes.len()
        );
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn unsupported_kinds_say_what_is_supported() {
    for (name, from, to, says) in [
        (
            "config.json",
            "\"bert\"",
            "\"xlm-roberta\"",
            "model_type is \"xlm-roberta\"; supported: bert",
        ),
        (
            "config.json",
            "\"gelu\"",
            "\"swish\"",
            "hidden_act is \"swish\"",
        ),
        (
            "config.json",
            "\"model_type\"",
            "\"position_embedding_type\": \"relative_key\", \"model_type\"",
            "position_embedding_type",
        ),
        (
            "1_Pooling/config.json",
            "pooling_mode_mean_tokens",
            "pooling_mode_max_tokens",
            "max_tokens",
        ),
    ] {
        let folder = tiny_copy();
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap().replace(from, to);
        fs::write(&path, text).unwrap();
        let error = fails(folder.path());
        assert!(matches!(error, LoadError::Unsupported { .. }), "{error:?}");
        assert!(
            error.to_string().contains(says) && error.to_string().contains(name),
            "{error}"
        );
    }
    let folder = tiny_copy();
    let modules = r#"[{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]"#;
    fs::write(folder.path().join("modules.json"), modules).unwrap();
    assert!(fails(folder.path()).to_string().contains("Dense"));
    let folder = tiny_copy();
    let config = folder.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("\"num_attention_heads\": 3", "\"num_attention_heads\": 5"),
    )
    .unwrap();
    assert!(fails(folder.path()).to_string().contains("no multiple"));
}

/// Writes the tiny model's weights with other names.
fn rename(folder: &Path, rename: impl Fn(&str) -> Option<String>) {
    let path = folder.join("model.safetensors");
    let renamed: HashMap<String, _> = tensors(&path)
        .into_iter()
        .filter_map(|(name, tensor)| Some((rename(&name)?, tensor)))
        .collect();
    candle_core::safetensors::save(&renamed, &path).unwrap();
}

#[test]
fn older_tensor_names_load_the_same_model() {
    let texts = ["the agent and the memory", "deploys freeze"];
    let expected = embed(&CandleEmbedder::from_dir(tiny()).unwrap(), &texts);
    let gamma = |name: &str| {
        name.replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta")
    };
    type Rename<'a> = &'a dyn Fn(&str) -> Option<String>;
    let renames: [Rename<'_>; 3] = [
        &|name| Some(format!("bert.{name}")),
        &|name| Some(gamma(name)),
        &|name| Some(format!("bert.{}", gamma(name))),
    ];
    for how in renames {
        let folder = tiny_copy();
        rename(folder.path(), how);
        let embedder = CandleEmbedder::from_dir(folder.path()).unwrap();
        assert_eq!(embed(&embedder, &texts), expected);
    }
}

#[test]
fn an_unknown_layout_names_tensor_and_file() {
    let missing = tiny_copy();
    rename(missing.path(), |name| {
        (!name.contains("layer.1.output.dense.bias")).then(|| name.to_owned())
    });
    let shape = tiny_copy();
    let config = shape.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        text.replace("\"intermediate_size\": 84", "\"intermediate_size\": 85"),
    )
    .unwrap();
    let other = tiny_copy();
    rename(other.path(), |name| Some(format!("roberta.{name}")));
    for (folder, named) in [
        (missing, "encoder.layer.1.output.dense.bias"),
        (shape, "encoder.layer.0.intermediate.dense.weight"),
        (other, "embeddings.word_embeddings.weight"),
    ] {
        match fails(folder.path()) {
            LoadError::Tensor { path, tensor, .. } => {
                assert!(path.ends_with("model.safetensors"));
                assert_eq!(tensor, named);
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn half_precision_weights_load_and_nan_is_refused() {
    let folder = tiny_copy();
    let path = folder.path().join("model.safetensors");
    let half: HashMap<String, _> = tensors(&path)
        .into_iter()
        .map(|(name, tensor)| (name, tensor.to_dtype(candle_core::DType::F16).unwrap()))
        .collect();
    candle_core::safetensors::save(&half, &path).unwrap();
    let texts = ["the agent and the memory"];
    let exact = embed(&CandleEmbedder::from_dir(tiny()).unwrap(), &texts);
    let rounded = embed(&CandleEmbedder::from_dir(folder.path()).unwrap(), &texts);
    let cosine = mnemic_embed::cosine(exact[0].as_ref().unwrap(), rounded[0].as_ref().unwrap());
    assert!((0.999..1.0).contains(&cosine), "{cosine}");
    // The last four bytes are the last number of the last tensor.
    let folder = tiny_copy();
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let error = fails(folder.path());
    assert!(error.to_string().contains("holds a NaN"), "{error}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for options in [
        CandleOptions::new().max_tokens(65),
        CandleOptions::new().max_tokens(2),
        CandleOptions::new()
            .max_tokens(6)
            .query_prefix("the query of the agent: "),
    ] {
        let error = options.from_dir(tiny()).unwrap_err();
        assert!(matches!(error, LoadError::Options { .. }), "{error:?}");
        assert!(error.to_string().contains("max_tokens"), "{error}");
    }
    let widest = CandleOptions::new()
        .max_tokens(64)
        .from_dir(tiny())
        .unwrap();
    assert_eq!(
        widest
            .windows(InputKind::Query, &"memory ".repeat(62))
            .unwrap(),
        1
    );
}

#[test]
fn folders_tell_pooling_window_and_prompts_or_are_known_by_name() {
    let root = tempfile::tempdir().unwrap();
    let named = root.path().join("bge-small-en-v1.5");
    crate::support::copy_folder(&tiny(), &named);
    fs::remove_dir_all(named.join("1_Pooling")).unwrap();
    fs::remove_file(named.join("sentence_bert_config.json")).unwrap();
    let bge = CandleEmbedder::from_dir(&named).unwrap();
    assert_eq!(bge.pooling(), Pooling::Cls);
    assert_eq!(
        bge.prefix(InputKind::Query),
        "Represent this sentence for searching relevant passages: "
    );
    assert_eq!(bge.prefix(InputKind::Passage), "");
    assert_eq!(bge.model().id, "bge-small-en-v1.5");
    assert_eq!(bge.max_tokens(), Some(64));
    let prompts = r#"{"prompts": {"query": "q: ", "document": "d: "}}"#;
    fs::write(named.join("config_sentence_transformers.json"), prompts).unwrap();
    let told = CandleEmbedder::from_dir(&named).unwrap();
    assert_eq!(told.prefix(InputKind::Query), "q: ");
    assert_eq!(told.prefix(InputKind::Passage), "d: ");
    fs::create_dir(named.join("1_Pooling")).unwrap();
    fs::write(
        named.join("1_Pooling/config.json"),
        r#"{"pooling_mode": "mean"}"#,
    )
    .unwrap();
    assert_eq!(
        CandleEmbedder::from_dir(&named).unwrap().pooling(),
        Pooling::Mean
    );
}

#[test]
fn a_load_error_becomes_an_embed_error_with_its_cause() {
    let error = EmbedError::from(fails(Path::new("/nonexistent")));
    assert!(
        error
            .to_string()
            .starts_with("the model /nonexistent/config.json could not be loaded")
    );
    let cause = std::error::Error::source(&error).unwrap();
    assert!(cause.downcast_ref::<LoadError>().is_some());
}

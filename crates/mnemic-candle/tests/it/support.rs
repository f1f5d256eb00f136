//! Fixtures, and how vectors are compared.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use mnemic_embed::{Embedder, Embedding, InputKind, cosine};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn tiny() -> PathBuf {
    fixtures().join("tiny")
}

/// A copy of the tiny model to damage.
pub(crate) fn tiny_copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&tiny(), copy.path());
    copy
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

pub(crate) fn tensors(path: &Path) -> HashMap<String, Tensor> {
    candle_core::safetensors::load(path, &Device::Cpu).unwrap()
}

pub(crate) fn rows(path: &Path, name: &str) -> Vec<Vec<f32>> {
    tensors(path)[name].to_vec2().unwrap()
}

/// A reference text: the text, its tokens, its windows in MiniLM.
pub(crate) struct Reference {
    pub(crate) text: String,
    pub(crate) tokens: usize,
    pub(crate) windows: usize,
}

pub(crate) fn references() -> Vec<Reference> {
    let json = fs::read_to_string(fixtures().join("minilm-reference.json")).unwrap();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    entries
        .iter()
        .map(|entry| Reference {
            text: entry["text"].as_str().unwrap().to_owned(),
            tokens: number(&entry["tokens"]),
            windows: number(&entry["windows"]),
        })
        .collect()
}

pub(crate) fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Vec<Embedding> {
    embedder.embed(InputKind::Passage, texts).unwrap()
}

/// The greatest difference of two vectors.
pub(crate) fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f32::max)
}

/// Asserts what the project promises of reference vectors.
pub(crate) fn assert_reference(text: &str, found: &[f32], expected: &[f32]) -> f32 {
    let difference = difference(found, expected);
    let cosine = cosine(found, expected);
    assert!(
        difference <= 1e-5 && cosine >= 0.999_99,
        "{text:?}: off by {difference}, cosine {cosine}"
    );
    difference
}

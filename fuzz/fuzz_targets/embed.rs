//! Any texts through the bundled model: a vector of unit length or none, the same alone and in company.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mnemic::{Embedder, InputKind, StaticEmbedder};

fuzz_target!(|texts: Vec<String>| {
    static MODEL: OnceLock<StaticEmbedder> = OnceLock::new();
    let model = MODEL.get_or_init(StaticEmbedder::new);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(InputKind::Passage, &texts).expect("embedded");
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&model.embed(InputKind::Passage, &[text]).expect("embedded")[0], vector);
        if let Some(vector) = vector {
            let length: f32 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-4, "{length}");
        }
    }
});

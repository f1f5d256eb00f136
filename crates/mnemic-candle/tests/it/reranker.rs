//! A random cross-encoder of odd sizes, committed: runs everywhere, through the same code as a real model. It tells
//! whether the arithmetic is that of transformers, and nothing about quality: no real weights are at hand here.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use candle_core::{DType, Device, Tensor};
use mnemic_candle::{
    Backend, CandleEmbedder, CandleReranker, Instructions, LoadError, RerankOptions,
};
use mnemic_embed::testing::check_reranker;
use mnemic_embed::{EmbedError, Embedder, Reranker, sigmoid};

use crate::support::{copy_folder, fixtures, references, tensors};

fn tiny_reranker() -> PathBuf {
    fixtures().join("tiny-reranker")
}

fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&tiny_reranker(), copy.path());
    copy
}

fn reranker() -> CandleReranker {
    CandleReranker::from_dir(tiny_reranker()).unwrap()
}

fn fails(folder: &Path) -> LoadError {
    CandleReranker::from_dir(folder).unwrap_err()
}

/// The questions of the reference, and for each its logits and its counts of pairs, a passage a text.
fn reference(activation: &str) -> Vec<(String, Vec<f32>, Vec<u32>)> {
    let tensors = tensors(&tiny_reranker().join("reference.safetensors"));
    let texts = references();
    let questions: Vec<u32> = tensors["questions"].to_vec1().unwrap();
    let logits: Vec<Vec<f32>> = tensors[activation].to_vec2().unwrap();
    let windows: Vec<Vec<u32>> = tensors["windows"].to_vec2().unwrap();
    let rows = questions.into_iter().zip(logits).zip(windows);
    rows.map(|((question, logits), windows)| {
        (texts[question as usize].text.clone(), logits, windows)
    })
    .collect()
}

#[test]
fn keeps_the_contract_of_a_reranker() {
    check_reranker(&reranker()).unwrap();
    let candle = RerankOptions::new().backend(Backend::CandleCpu);
    check_reranker(&candle.from_dir(tiny_reranker()).unwrap()).unwrap();
}

#[test]
fn agrees_with_transformers_for_every_activation_and_instruction_set() {
    let texts = references();
    let texts: Vec<&str> = texts.iter().map(|r| r.text.as_str()).collect();
    for activation in ["gelu", "gelu_new", "relu"] {
        let folder = copy();
        let config = folder.path().join("config.json");
        let text = fs::read_to_string(&config).unwrap();
        let text = text.replace("\"gelu\"", &format!("{activation:?}"));
        fs::write(&config, text).unwrap();
        let reference = reference(activation);
        // The slow ones leave the longest texts out.
        let (all, some) = ((9, 50), (6, 47));
        for (options, (questions, passages)) in [
            (RerankOptions::new(), all),
            (RerankOptions::new().at_most(Instructions::Avx2), all),
            (RerankOptions::new().at_most(Instructions::Portable), some),
            (RerankOptions::new().backend(Backend::CandleCpu), some),
        ] {
            let reranker = options.from_dir(folder.path()).unwrap();
            let (mut compared, mut worst) = (0, 0f32);
            for (question, expected, _) in &reference[..questions] {
                let logits = reranker.logits(question, &texts[..passages]).unwrap();
                for (logit, expected) in logits.iter().zip(expected) {
                    // transformers gives a pair without tokens on one side a logit, too.
                    assert_eq!(logit.is_none(), expected.is_nan());
                    worst = worst.max((logit.unwrap_or_default() - expected).abs());
                    compared += usize::from(logit.is_some());
                }
            }
            assert!(worst <= 1e-5, "{activation}: off by {worst}");
            assert_eq!(compared, (questions - 1) * (passages - 3), "{activation}");
        }
    }
}

#[test]
fn a_score_is_the_sigmoid_of_the_logit_and_0_where_nothing_is_said() {
    let reranker = reranker();
    let texts = references();
    let texts: Vec<&str> = texts.iter().map(|r| r.text.as_str()).collect();
    for (question, expected, windows) in reference("gelu") {
        let scores = reranker.rerank(&question, &texts).unwrap();
        for (i, score) in scores.into_iter().enumerate() {
            let pairs = reranker.windows(&question, texts[i]).unwrap();
            assert_eq!(
                pairs, windows[i] as usize,
                "{question:?} and {:?}",
                texts[i]
            );
            let expected = if pairs == 0 {
                0.0
            } else {
                sigmoid(expected[i])
            };
            assert!((score - expected).abs() <= 1e-5);
        }
    }
}

#[test]
fn the_two_sides_are_told_apart_by_their_types() {
    let folder = copy();
    let weights = folder.path().join("model.safetensors");
    let mut all = tensors(&weights);
    let name = "bert.embeddings.token_type_embeddings.weight";
    let first = all[name].narrow(0, 0, 1).unwrap();
    let same = Tensor::cat(&[&first, &first], 0).unwrap();
    all.insert(name.to_owned(), same);
    candle_core::safetensors::save(&all, &weights).unwrap();
    let blind = CandleReranker::from_dir(folder.path()).unwrap();
    let (question, passage) = ("when deploy", ["deploys freeze on friday"]);
    let seen = reranker().logits(question, &passage).unwrap()[0].unwrap();
    let unseen = blind.logits(question, &passage).unwrap()[0].unwrap();
    assert!((seen - unseen).abs() > 1e-2, "{seen} {unseen}");
}

#[test]
fn a_passage_alone_in_a_batch_and_on_any_thread_scores_the_same_to_the_bit() {
    let reranker = reranker();
    let references = references();
    let question = "When can I ship to production?";
    // More than one batch of tokens: the texts forty times over.
    let texts: Vec<&str> = references.iter().map(|r| r.text.as_str()).collect();
    let many: Vec<&str> = texts.iter().copied().cycle().take(2000).collect();
    let alone: Vec<f32> = texts
        .iter()
        .flat_map(|text| reranker.rerank(question, &[text]).unwrap())
        .collect();
    let together = reranker.rerank(question, &many).unwrap();
    assert_eq!(together.len(), many.len());
    for (score, expected) in together.iter().zip(alone.iter().cycle()) {
        assert_eq!(score, expected);
    }
    let reversed: Vec<&str> = texts.iter().rev().copied().collect();
    let mut backwards = reranker.rerank(question, &reversed).unwrap();
    backwards.reverse();
    assert_eq!(backwards, alone);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(reranker.rerank(question, &texts).unwrap(), alone));
        }
    });
    let candle = RerankOptions::new().backend(Backend::CandleCpu);
    let candle = candle.from_dir(tiny_reranker()).unwrap();
    for (score, expected) in candle.rerank(question, &texts).unwrap().iter().zip(&alone) {
        assert!((score - expected).abs() <= 1e-5);
    }
}

#[test]
fn a_long_passage_or_question_is_read_to_its_end() {
    let reranker = reranker();
    assert_eq!(reranker.max_tokens(), 64);
    // tokenizer.json presets truncation and padding to 16 tokens; 61 fit.
    let passage = "memory ".repeat(59);
    assert_eq!(reranker.windows("agent deploy", &passage).unwrap(), 1);
    let longer = "memory ".repeat(200);
    assert!(reranker.windows("agent deploy", &longer).unwrap() > 3);
    assert_eq!(reranker.windows("", &longer).unwrap(), 0);
    // The best of the passage's windows counts: whatever stands at its very end is one of them.
    let logit =
        |question: &str, passage: &str| reranker.logits(question, &[passage]).unwrap()[0].unwrap();
    let plain = logit("agent deploy", &longer);
    let tails = ["agent", "friday", "query", "kernel", "branch", "patch"];
    let raised = tails.map(|tail| logit("agent deploy", &format!("{longer}{tail}")));
    assert!(
        raised.iter().all(|found| *found >= plain - 1e-4),
        "{plain} {raised:?}"
    );
    assert!(
        raised.iter().any(|found| *found > plain + 1e-2),
        "{plain} {raised:?}"
    );
    // And of a question beyond half a window, each half is asked.
    let question = "memory ".repeat(100);
    assert!(reranker.windows(&question, "agent deploy").unwrap() > 3);
    let asked = tails.map(|tail| logit(&format!("{question}{tail}"), "agent deploy"));
    assert!(
        asked.iter().any(|x| (x - asked[0]).abs() > 1e-2),
        "{asked:?}"
    );
}

#[test]
fn the_identity_is_the_folders_name_and_a_fingerprint_of_weights_and_window() {
    let one = reranker();
    assert_eq!(one.model().id, "tiny-reranker");
    assert!(one.model().revision.ends_with(" 64"));
    let narrow = RerankOptions::new().max_tokens(32).id("mine");
    let narrow = narrow.from_dir(tiny_reranker()).unwrap();
    assert_eq!(narrow.model().id, "mine");
    assert_eq!(narrow.max_tokens(), 32);
    assert_ne!(narrow.model().revision, one.model().revision);
    assert!(one.instructions().is_some());
    assert!(format!("{one:?}").contains("tiny-reranker"));
}

/// Writes the model's weights with another set of tensors.
fn rewrite(folder: &Path, change: impl Fn(&mut HashMap<String, Tensor>)) {
    let path = folder.join("model.safetensors");
    let mut all = tensors(&path);
    change(&mut all);
    candle_core::safetensors::save(&all, &path).unwrap();
}

#[test]
fn weights_that_are_no_cross_encoder_name_tensor_and_file() {
    let embedding_model = copy();
    rewrite(embedding_model.path(), |all| {
        all.retain(|name, _| !name.starts_with("classifier"));
    });
    let pooler = copy();
    rewrite(pooler.path(), |all| {
        all.remove("bert.pooler.dense.bias");
    });
    let labels = copy();
    rewrite(labels.path(), |all| {
        let wide = Tensor::zeros((3, 36), DType::F32, &Device::Cpu).unwrap();
        all.insert("classifier.weight".to_owned(), wide);
    });
    let encoder = copy();
    rewrite(encoder.path(), |all| {
        all.remove("bert.encoder.layer.1.output.dense.bias");
    });
    let infinite = copy();
    rewrite(infinite.path(), |all| {
        let nan = Tensor::new(&[f32::NAN], &Device::Cpu).unwrap();
        all.insert("classifier.bias".to_owned(), nan);
    });
    for (folder, named, says) in [
        (&embedding_model, "classifier.weight", "CandleEmbedder"),
        (
            &pooler,
            "pooler.dense.bias",
            "BertForSequenceClassification",
        ),
        (
            &labels,
            "classifier.weight",
            "3 labels, where a reranker has one",
        ),
        (&encoder, "encoder.layer.1.output.dense.bias", "is missing"),
        (&infinite, "classifier.bias", "NaN"),
    ] {
        let error = fails(folder.path());
        assert!(error.to_string().contains(says), "{error}");
        match error {
            LoadError::Tensor { path, tensor, .. } => {
                assert!(path.ends_with("model.safetensors"));
                assert_eq!(tensor, named);
            }
            other => panic!("{other}"),
        }
    }
    // The embedding half of a cross-encoder still loads as what it is.
    assert_eq!(
        CandleEmbedder::from_dir(copy().path())
            .unwrap()
            .model()
            .dims,
        36
    );
}

#[test]
fn files_and_options_that_do_not_fit_are_named() {
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = copy();
        fs::remove_file(folder.path().join(name)).unwrap();
        let error = fails(folder.path());
        assert!(
            matches!(&error, LoadError::Missing { path } if path.ends_with(name)),
            "{error}"
        );
    }
    // A tokenizer whose template for pairs is none, or does not tell the sides apart.
    let folder = copy();
    let path = folder.path().join("tokenizer.json");
    let tokenizer = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        (
            r#"{"Sequence":{"id":"B","type_id":1}}"#,
            r#"{"Sequence":{"id":"B","type_id":0}}"#,
        ),
        (
            r#"{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},{"Sequence":{"id":"B""#,
            r#"{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B""#,
        ),
    ] {
        assert!(tokenizer.contains(from));
        fs::write(&path, tokenizer.replace(from, to)).unwrap();
        let error = fails(folder.path());
        assert!(matches!(error, LoadError::Unsupported { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .contains("tokenizer.json: it has no template for a pair"),
            "{error}"
        );
    }
    let folder = copy();
    let path = folder.path().join("config.json");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        config.replace("\"type_vocab_size\": 2", "\"type_vocab_size\": 1"),
    )
    .unwrap();
    assert!(
        fails(folder.path())
            .to_string()
            .contains("type_vocab_size is 1")
    );
    for tokens in [0, 4, 65] {
        let options = RerankOptions::new().max_tokens(tokens);
        let error = options.from_dir(tiny_reranker()).unwrap_err();
        assert!(matches!(error, LoadError::Options { .. }), "{error:?}");
        assert!(error.to_string().contains("max_tokens"), "{error}");
    }
    let narrowest = RerankOptions::new().max_tokens(5);
    let narrowest = narrowest.from_dir(tiny_reranker()).unwrap();
    assert_eq!(
        narrowest.windows("agent memory", "deploy friday").unwrap(),
        4
    );
    check_reranker(&narrowest).unwrap();
    let error = EmbedError::from(fails(Path::new("/nonexistent")));
    assert!(matches!(error, EmbedError::Load { .. }));
}

//! The harness on a set small enough to know every answer, and the made-up texts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::drive::Mnemic;
use crate::harness::{self, DIMS, Data};
use crate::random::Random;
use crate::texts::Language;
use crate::{Result, prepare};

const TEXTS: [&str; 6] = [
    "deploys freeze on fridays",
    "the spare key is with anna",
    "tea is in the left drawer",
    "the printer jams on thick paper",
    "when do deploys freeze?",
    "who has the key?",
];

/// Four memories, the vector of each along an axis of its own, and two questions along those of their answers.
fn write(folder: &Path) {
    let memory = |i: usize| json!({"id": format!("m{i}"), "text": i, "project": null});
    let question = |text: usize| json!({"text": text, "project": null});
    let scope = json!({
        "memories": (0..4).map(memory).collect::<Vec<_>>(),
        "questions": [question(4), question(5)],
    });
    let sets =
        json!([{"name": "scale", "scopes": [scope]}, {"name": "a / b", "scopes": [scope, scope]}]);
    let mut vectors = vec![0.0f32; TEXTS.len() * DIMS];
    for (text, axis) in [0, 1, 2, 3, 0, 1].into_iter().enumerate() {
        vectors[text * DIMS + axis] = 1.0;
    }
    let bytes: Vec<u8> = vectors.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.join("vectors.f32"), bytes).unwrap();
    fs::write(folder.join("texts.json"), json!(TEXTS).to_string()).unwrap();
    fs::write(folder.join("sets.json"), sets.to_string()).unwrap();
}

#[test]
fn a_system_is_stored_asked_and_written_down() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let out = folder.path().join("out.json");
    // Twice: files of an earlier run are no part of a later one.
    for _ in 0..2 {
        harness::run::<Mnemic>(folder.path(), folder.path(), &out).unwrap();
    }
    let told: Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    assert_eq!(told["system"], "mnemic");
    assert_eq!(
        (&told["scale"]["memories"], &told["scale"]["bulk_memories"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(told["scale"]["store_ms"].as_array().unwrap().len(), 1);
    assert_eq!(told["scale"]["disk_ms"].as_array().unwrap().len(), 50);
    assert!(told["scale"]["file_bytes"].as_u64().unwrap() > 4 * 4 * DIMS as u64);
    for mode in told["modes"].as_array().unwrap() {
        assert_eq!(mode["recall_ms"].as_array().unwrap().len(), 2);
        for set in ["scale", "a / b"] {
            for scope in mode["hits"][set].as_array().unwrap() {
                assert_eq!(
                    (&scope[0][0], &scope[1][0]),
                    (&json!("m0"), &json!("m1")),
                    "{mode}"
                );
            }
        }
        assert_eq!(mode["hits"]["a / b"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_text_that_was_not_prepared_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let data = Data::read(folder.path()).unwrap();
    assert_eq!(data.vector(TEXTS[5]).unwrap()[1], 1.0);
    let error = data.vector("who has the tea?").unwrap_err();
    assert!(error.to_string().contains("who has the tea?"));
}

#[test]
fn made_up_texts_are_the_same_each_time_and_differ_from_one_another() -> Result<()> {
    let [a, b] = [Language::new()?, Language::new()?];
    assert_eq!(a.memory(1, 7), b.memory(1, 7));
    assert_ne!(a.memory(1, 7), a.memory(1, 8));
    assert_ne!(a.memory(1, 7), a.memory(2, 7));
    Ok(())
}

#[test]
fn a_question_shares_some_words_with_its_answer_and_not_all() -> Result<()> {
    let language = Language::new()?;
    let memory = language.memory(1, 7);
    let text = language.text(&memory);
    let question = language.question(&memory, &mut Random(3));
    let asked = question.strip_prefix("what did we decide about ").unwrap();
    let shared = asked
        .trim_end_matches('?')
        .split(' ')
        .filter(|word| text.split(' ').any(|other| other == *word))
        .count();
    assert_eq!(
        (asked.split(' ').count(), shared),
        (5, 2),
        "{question} / {text}"
    );
    Ok(())
}

#[test]
fn too_few_memories_are_refused() {
    let error = prepare::run(10, Path::new("nowhere"), &[]).unwrap_err();
    assert!(error.to_string().contains("COUNT is 10"));
}

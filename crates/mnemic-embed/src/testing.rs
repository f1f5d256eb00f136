//! The contracts of [`Embedder`] and [`Reranker`] as functions to call from a test of your own model.

use crate::{Embedder, Embedding, InputKind, Reranker, cosine};

/// How a model broke its contract: which rule, on which text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {found}")]
#[non_exhaustive]
pub struct ContractViolation {
    /// The rule that was broken.
    pub rule: &'static str,
    /// What was found instead, and where.
    pub found: String,
}

/// The texts that [`check_embedder`] embeds and [`check_reranker`] scores: empty, blank, short, long, repeated, several
/// scripts.
pub const TEXTS: &[&str] = &[
    "The user prefers Ruff over Black for formatting",
    "deploys freeze on Fridays",
    "",
    "   \t\n",
    "a",
    "今日は東京塔の夜景を見た",
    "🎉🎉",
    "naïve café Straße ПРИВЕТ",
    "deploys freeze on Fridays",
    "one word after another and another and another and another and another and another and another and another and another and another and another and another and another and another",
    "\u{0}\u{200b}\u{feff}",
    "C++ / foo::bar(\"x\") % 50 -- !?",
];

/// Verifies the contract of [`Embedder`] on [`TEXTS`]: names, count and order, width, unit length, finiteness,
/// windows, determinism, and independence of the batch. The embedder must know at least one of the texts.
///
/// See the example at [`Embedder`].
///
/// # Errors
/// [`ContractViolation`] names the first rule broken.
pub fn check_embedder<E: Embedder + ?Sized>(embedder: &E) -> Result<(), ContractViolation> {
    let model = embedder.model();
    let named = !(model.space.is_empty() || model.id.is_empty() || model.revision.is_empty());
    require(
        "space, id and revision are not empty, dims is at least 1",
        named && model.dims >= 1,
        || format!("{model:?}"),
    )?;
    let empty = run(embedder, InputKind::Query, &[])?;
    require(
        "an empty batch gives an empty answer",
        empty.is_empty(),
        || format!("{} entries", empty.len()),
    )?;
    for kind in [InputKind::Query, InputKind::Passage] {
        let batch = run(embedder, kind, TEXTS)?;
        require("one entry a text", batch.len() == TEXTS.len(), || {
            format!("{} entries for {} texts", batch.len(), TEXTS.len())
        })?;
        require(
            "some text has a vector",
            batch.iter().any(Option::is_some),
            || format!("{kind:?}: none has"),
        )?;
        for (text, entry) in TEXTS.iter().zip(&batch) {
            well_formed(model.dims, text, entry)?;
            let windows = embedder.windows(kind, text);
            require(
                "a text with a vector has a window",
                matches!(windows, Ok(1..)) || (entry.is_none() && windows.is_ok()),
                || format!("{windows:?} for {text:?}"),
            )?;
        }
        let again = run(embedder, kind, TEXTS)?;
        let reversed: Vec<&str> = TEXTS.iter().rev().copied().collect();
        let mut backwards = run(embedder, kind, &reversed)?;
        backwards.reverse();
        for (i, (text, entry)) in TEXTS.iter().zip(&batch).enumerate() {
            let alone = run(embedder, kind, &[text])?;
            same(
                "the same batch twice gives the same",
                text,
                entry,
                again.get(i),
            )?;
            same("order follows the texts", text, entry, backwards.get(i))?;
            same(
                "a text alone and in a batch is the same",
                text,
                entry,
                alone.first(),
            )?;
        }
    }
    Ok(())
}

/// Questions that [`check_reranker`] asks: a usual one, and those in which little or nothing is to be found.
pub const QUESTIONS: &[&str] = &["when do deploys freeze?", "東京", "?", "", "   "];

/// Verifies the contract of [`Reranker`] on [`QUESTIONS`] and [`TEXTS`]: names, count and order, range, determinism,
/// and independence of the batch.
///
/// See the example at [`Reranker`].
///
/// # Errors
/// [`ContractViolation`] names the first rule broken.
pub fn check_reranker<R: Reranker + ?Sized>(reranker: &R) -> Result<(), ContractViolation> {
    let model = reranker.model();
    require(
        "id and revision are not empty",
        !(model.id.is_empty() || model.revision.is_empty()),
        || format!("{model:?}"),
    )?;
    for question in QUESTIONS {
        let empty = scores(reranker, question, &[])?;
        require("no passages give no scores", empty.is_empty(), || {
            format!("{} scores", empty.len())
        })?;
        let batch = scores(reranker, question, TEXTS)?;
        require("one score a passage", batch.len() == TEXTS.len(), || {
            format!("{} scores for {} passages", batch.len(), TEXTS.len())
        })?;
        let again = scores(reranker, question, TEXTS)?;
        let reversed: Vec<&str> = TEXTS.iter().rev().copied().collect();
        let mut backwards = scores(reranker, question, &reversed)?;
        backwards.reverse();
        for (i, (text, score)) in TEXTS.iter().zip(&batch).enumerate() {
            require("a score is in [0, 1]", (0.0..=1.0).contains(score), || {
                format!("{score} for {text:?} asked {question:?}")
            })?;
            let alone = scores(reranker, question, &[text])?;
            for (rule, other) in [
                ("the same batch twice gives the same", again.get(i)),
                ("order follows the passages", backwards.get(i)),
                ("a passage alone and in a batch is the same", alone.first()),
            ] {
                require(
                    rule,
                    other.is_some_and(|other| (score - other).abs() <= 1e-5),
                    || format!("{score} and {other:?} for {text:?} asked {question:?}"),
                )?;
            }
        }
    }
    Ok(())
}

fn scores<R: Reranker + ?Sized>(
    reranker: &R,
    question: &str,
    passages: &[&str],
) -> Result<Vec<f32>, ContractViolation> {
    reranker
        .rerank(question, passages)
        .map_err(|error| ContractViolation {
            rule: "reranking does not fail on any text",
            found: format!("{question:?} and {} passages: {error}", passages.len()),
        })
}

fn run<E: Embedder + ?Sized>(
    embedder: &E,
    kind: InputKind,
    texts: &[&str],
) -> Result<Vec<Embedding>, ContractViolation> {
    embedder
        .embed(kind, texts)
        .map_err(|error| ContractViolation {
            rule: "embedding does not fail on any text",
            found: format!("{kind:?} of {} texts: {error}", texts.len()),
        })
}

fn require(
    rule: &'static str,
    holds: bool,
    found: impl FnOnce() -> String,
) -> Result<(), ContractViolation> {
    if holds {
        Ok(())
    } else {
        Err(ContractViolation {
            rule,
            found: found(),
        })
    }
}

fn well_formed(dims: usize, text: &str, entry: &Embedding) -> Result<(), ContractViolation> {
    let Some(vector) = entry else { return Ok(()) };
    require("a vector has dims numbers", vector.len() == dims, || {
        format!("{} numbers for {text:?}", vector.len())
    })?;
    require(
        "every number is finite",
        vector.iter().all(|x| x.is_finite()),
        || format!("a NaN or infinity for {text:?}"),
    )?;
    let length = vector
        .iter()
        .map(|x| f64::from(*x) * f64::from(*x))
        .sum::<f64>()
        .sqrt();
    require(
        "a vector has length 1",
        (length - 1.0).abs() <= 1e-3,
        || format!("length {length} for {text:?}"),
    )
}

fn same(
    rule: &'static str,
    text: &str,
    a: &Embedding,
    b: Option<&Embedding>,
) -> Result<(), ContractViolation> {
    let equal = match (a, b) {
        (None, Some(None)) => true,
        (Some(a), Some(Some(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-5)
        }
        _ => false,
    };
    require(rule, equal, || match (a, b) {
        (Some(a), Some(Some(b))) => format!("cosine {} for {text:?}", cosine(a, b)),
        _ => format!("a vector in one case and none in the other for {text:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EmbedError, EmbeddingModel, RerankingModel, normalize, sigmoid};

    /// An embedder with one switchable fault.
    #[derive(Debug)]
    struct Faulty {
        model: EmbeddingModel,
        fault: &'static str,
    }

    fn faulty(fault: &'static str) -> Faulty {
        Faulty {
            model: EmbeddingModel::new("s", "m", "1", if fault == "dims" { 5 } else { 4 }),
            fault,
        }
    }

    impl Embedder for Faulty {
        fn model(&self) -> &EmbeddingModel {
            &self.model
        }
        fn embed(&self, _: InputKind, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            if self.fault == "fails" {
                return Err(EmbedError::run("no reason"));
            }
            let mut out: Vec<Embedding> = texts
                .iter()
                .map(|text| {
                    let mut v = vec![0.0f32; 4];
                    for (i, b) in text.bytes().enumerate() {
                        v[i % 4] += f32::from(b);
                    }
                    match self.fault {
                        "zero" => return Some(vec![0.0; 4]),
                        "nan" => return Some(vec![f32::NAN; 4]),
                        "length" => return Some(vec![2.0; 4]),
                        "batch" => v[0] += texts.len() as f32 * 100.0,
                        _ => {}
                    }
                    normalize(&mut v).ok().map(|()| v)
                })
                .collect();
            match self.fault {
                "short" => drop(out.pop()),
                "order" => out.reverse(),
                "none" => out.fill(None),
                _ => {}
            }
            Ok(out)
        }
        fn windows(&self, _: InputKind, _: &str) -> Result<usize, EmbedError> {
            Ok(usize::from(self.fault != "windows"))
        }
    }

    #[test]
    fn an_honest_embedder_passes_by_value_and_by_pointer() {
        assert_eq!(check_embedder(&faulty("")), Ok(()));
        assert_eq!(check_embedder(&Box::new(faulty(""))), Ok(()));
        let shared: std::sync::Arc<dyn Embedder> = std::sync::Arc::new(faulty(""));
        assert_eq!(check_embedder(&shared), Ok(()));
    }

    #[test]
    fn each_fault_is_named() {
        for (fault, rule) in [
            ("fails", "embedding does not fail"),
            ("dims", "a vector has dims numbers"),
            ("zero", "a vector has length 1"),
            ("nan", "every number is finite"),
            ("length", "a vector has length 1"),
            ("short", "one entry a text"),
            ("order", "a text alone and in a batch"),
            ("batch", "a text alone and in a batch"),
            ("none", "some text has a vector"),
            ("windows", "a text with a vector has a window"),
        ] {
            let found = check_embedder(&faulty(fault)).unwrap_err();
            assert!(found.rule.starts_with(rule), "{fault}: {found}");
        }
    }

    /// A reranker with one switchable fault.
    #[derive(Debug)]
    struct FaultyReranker(RerankingModel, &'static str);

    fn faulty_reranker(fault: &'static str) -> FaultyReranker {
        let id = if fault == "nameless" { "" } else { "m" };
        FaultyReranker(RerankingModel::new(id, "1"), fault)
    }

    impl Reranker for FaultyReranker {
        fn model(&self) -> &RerankingModel {
            &self.0
        }
        fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
            if self.1 == "fails" {
                return Err(EmbedError::rerank("no reason"));
            }
            let one = |passage: &&str| match self.1 {
                "nan" => f32::NAN,
                "logits" => passage.len() as f32 - 10.0,
                "batch" => 1.0 / (1 + passages.len()) as f32,
                _ => sigmoid((passage.len() as f32 - query.len() as f32) / 100.0),
            };
            let mut scores: Vec<f32> = passages.iter().map(one).collect();
            match self.1 {
                "short" => drop(scores.pop()),
                "sorted" => scores.sort_by(f32::total_cmp),
                _ => {}
            }
            Ok(scores)
        }
    }

    #[test]
    fn an_honest_reranker_passes_by_value_and_by_pointer() {
        assert_eq!(check_reranker(&faulty_reranker("")), Ok(()));
        assert_eq!(check_reranker(&Box::new(faulty_reranker(""))), Ok(()));
        let shared: std::sync::Arc<dyn Reranker> = std::sync::Arc::new(faulty_reranker(""));
        assert_eq!(check_reranker(&shared), Ok(()));
    }

    #[test]
    fn each_fault_of_a_reranker_is_named() {
        for (fault, rule) in [
            ("nameless", "id and revision"),
            ("fails", "reranking does not fail"),
            ("nan", "a score is in [0, 1]"),
            ("logits", "a score is in [0, 1]"),
            ("short", "one score a passage"),
            ("sorted", "order follows the passages"),
            ("batch", "a passage alone and in a batch"),
        ] {
            let found = check_reranker(&faulty_reranker(fault)).unwrap_err();
            assert!(found.rule.starts_with(rule), "{fault}: {found}");
        }
    }
}

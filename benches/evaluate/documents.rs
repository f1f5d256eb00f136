//! Documents: how a document's own relevance and its passages' are best made into one. Each text of a set is stored as a
//! document; where the memories have times, so are all memories of one day together, which makes longer ones.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mnemic::{Chunking, Hit, Memory, NewDocument, Recall};

use crate::Result;
use crate::arguments::Arguments;
use crate::data::{DataSet, Query, Scope, date};
use crate::embedder::Measured;
use crate::metrics::Quality;

/// Characters of a passage, and of overlap.
const SIZES: [(usize, usize); 4] = [(200, 40), (400, 80), (700, 140), (1_000, 200)];
const WEIGHTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A text to be found, with the ids of the memories that it holds.
struct Text {
    id: String,
    text: String,
}

/// The texts of a scope, and for each memory the text that holds it.
struct Texts {
    texts: Vec<Text>,
    holder: HashMap<String, String>,
}

/// What one query found: of each document its whole relevance and those of its best passages, and whether it is relevant.
struct Found {
    documents: Vec<(f64, Vec<f64>, bool)>,
    relevant: usize,
    /// Which of the hits of an ordinary recall are relevant.
    recalled: Vec<bool>,
}

type Rule = fn(f64, &[f64], f64) -> f64;

/// The rules that are tried: relevance from whole, passages (best first) and a weight.
const RULES: [(&str, Rule); 3] = [
    ("raised by the best passage", |whole, passages, weight| {
        let best = passages.first().copied();
        mnemic_rank::document::relevance(whole, best, weight)
    }),
    (
        "mean of whole and best passage",
        |whole, passages, weight| {
            passages
                .first()
                .map_or(whole, |best| (1.0 - weight) * whole + weight * best)
        },
    ),
    ("mean of whole and three best", |whole, passages, weight| {
        let mean = passages.iter().sum::<f64>() / passages.len().max(1) as f64;
        if passages.is_empty() {
            whole
        } else {
            (1.0 - weight) * whole + weight * mean
        }
    }),
];

pub fn print(arguments: &Arguments, embedder: &Arc<Measured>) -> Result<()> {
    println!("\ndocuments: nDCG@10 by the weight of the passages");
    for path in &arguments.data_sets {
        let set = DataSet::read(path)?;
        for (name, by_day) in [("all texts of a day", true), ("each text", false)] {
            let scopes: Vec<(&Scope, Texts)> = set
                .scopes
                .iter()
                .map(|scope| Ok((scope, texts(scope, by_day)?)))
                .collect::<Result<_>>()?;
            let count: usize = scopes.iter().map(|(_, texts)| texts.texts.len()).sum();
            if by_day && count < 2 * scopes.len() {
                continue;
            }
            let lengths = scopes.iter().flat_map(|(_, texts)| &texts.texts);
            let mean = lengths.map(|text| text.text.chars().count()).sum::<usize>() / count.max(1);
            for preview in if by_day {
                vec![6_000, 1_000]
            } else {
                vec![6_000]
            } {
                println!(
                    "\n{}, {name} a document: {count} of {mean} characters on average, {preview} on the card",
                    set.name
                );
                for (size, overlap) in SIZES {
                    let mut found = Vec::new();
                    for (scope, texts) in &scopes {
                        let chunking = Chunking::characters(size, overlap);
                        ask(scope, texts, chunking, preview, embedder, &mut found)?;
                    }
                    report(size, overlap, &found);
                }
            }
        }
    }
    Ok(())
}

/// The texts of a scope: each memory, or the memories of each day.
fn texts(scope: &Scope, by_day: bool) -> Result<Texts> {
    let mut texts: BTreeMap<String, Text> = BTreeMap::new();
    let mut holder = HashMap::new();
    for item in &scope.memories {
        let Some(content) = item.content()? else {
            continue;
        };
        let id = match (by_day, item.created_at()?) {
            (true, Some(time)) => date(time)?.to_string(),
            (true, None) => {
                return Ok(Texts {
                    texts: Vec::new(),
                    holder,
                });
            }
            (false, _) => item.id.clone(),
        };
        holder.insert(item.id.clone(), id.clone());
        let text = texts.entry(id.clone()).or_insert_with(|| Text {
            id,
            text: String::new(),
        });
        if !text.text.is_empty() {
            text.text.push_str("\n\n");
        }
        text.text.push_str(&content);
    }
    Ok(Texts {
        texts: texts.into_values().collect(),
        holder,
    })
}

/// Stores the texts of a scope as documents and asks its queries.
fn ask(
    scope: &Scope,
    texts: &Texts,
    chunking: Chunking,
    preview: u32,
    embedder: &Arc<Measured>,
    found: &mut Vec<Found>,
) -> Result<()> {
    let memory = Memory::builder()
        .embedder(Arc::clone(embedder))
        .open_in_memory()?;
    let mut ids: HashMap<String, String> = HashMap::new();
    for (place, text) in texts.texts.iter().enumerate() {
        // A title that says nothing, so that it is the text that is found.
        let document = NewDocument::new("·")
            .source(&text.text)
            .id(format!("d{place}"))
            .preview(preview)
            .chunking(chunking.clone());
        let stored = memory.store_document(document)?;
        ids.insert(stored.id, text.id.clone());
    }
    for query in &scope.queries {
        let relevant = relevant(query, texts);
        if relevant.is_empty() {
            continue;
        }
        let is_relevant = |hit: &Hit| {
            ids.get(&hit.memory.id)
                .is_some_and(|id| relevant.contains(id))
        };
        let recall = || Recall::new(&query.text);
        let with = memory.recall(recall().no_limit().passages(3).passage_weight(1.0))?;
        let without = memory.recall(recall().no_limit().passage_weight(0.0))?;
        let whole: HashMap<&str, f64> = without
            .iter()
            .map(|hit| (hit.memory.id.as_str(), hit.relevance))
            .collect();
        let documents = with.iter().map(|hit| {
            let passages = hit
                .passages
                .iter()
                .map(|passage| passage.relevance)
                .collect();
            let whole = whole.get(hit.memory.id.as_str()).copied().unwrap_or(0.0);
            (whole, passages, is_relevant(hit))
        });
        let documents = documents.collect();
        let recalled = memory.recall(recall().limit(10))?;
        found.push(Found {
            documents,
            relevant: relevant.len(),
            recalled: recalled.iter().map(is_relevant).collect(),
        });
    }
    Ok(())
}

/// The ids of the texts that hold a relevant memory, each once.
fn relevant(query: &Query, texts: &Texts) -> Vec<String> {
    let mut ids: Vec<String> = query
        .relevant
        .iter()
        .filter_map(|id| texts.holder.get(id).cloned())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn report(size: usize, overlap: usize, found: &[Found]) {
    for (name, rule) in RULES {
        let scores = WEIGHTS.map(|weight| {
            let quality = found.iter().map(|found| {
                let mut ranked: Vec<(f64, bool)> = found
                    .documents
                    .iter()
                    .map(|(whole, passages, is)| (rule(*whole, passages, weight), *is))
                    .collect();
                ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
                let hits: Vec<bool> = ranked.into_iter().take(10).map(|(_, is)| is).collect();
                Quality::of(&hits, found.relevant)
            });
            format!("{:.3}", Quality::mean(quality).ndcg_10)
        });
        println!("  {size}/{overlap}  {name:<31} {}", scores.join("  "));
    }
    let recalled = found
        .iter()
        .map(|found| Quality::of(&found.recalled, found.relevant));
    let quality = Quality::mean(recalled);
    println!(
        "  {size}/{overlap}  {:<31} {:.3}",
        "as recall does", quality.ndcg_10
    );
}

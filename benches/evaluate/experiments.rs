//! What else was tried: each variant scores the columns of signals of every question anew, and is printed beside the
//! default. It documents the choice and makes none. The variants themselves are in `variants.rs`.

use std::collections::HashMap;

use mnemic::{Embedder, InputKind, Recall, StoredMemory, Timeline};
use mnemic_rank::{HitKey, best_first};

use crate::Result;
use crate::corpus::{Corpus, StoredScope, StoredSet};
use crate::data;
use crate::dates;
use crate::embedder::Measured;
use crate::metrics::Quality;
use crate::quality::Run;
use crate::ranker::DEFAULT;
use crate::report::{Report, Row, Table, number};
use crate::variants::{Variant, variants};

/// The memories of a scope by time, then id: what does not depend on the question.
#[derive(Debug)]
pub struct Place {
    memories: Vec<StoredMemory>,
    /// By id.
    places: HashMap<String, usize>,
    /// Of unit length.
    pub vectors: Vec<Vec<f32>>,
    /// Lower case, as they stand in the text.
    pub words: Vec<Vec<String>>,
    pub days: Vec<jiff::civil::Date>,
    pub today: jiff::civil::Date,
}

/// A question with one column of each signal over all memories of its scope.
#[derive(Debug)]
pub struct Asked<'a> {
    pub place: &'a Place,
    pub text: &'a str,
    /// Of unit length; empty where there is nothing to embed.
    pub vector: Vec<f32>,
    pub full: Columns,
    /// The same without speaker and date in the texts.
    pub bare: Columns,
    pub age_days: Vec<f64>,
}

/// The signals of a question, an entry a memory.
#[derive(Debug)]
pub struct Columns {
    /// The word signal, in [0, 1].
    pub word: Vec<f64>,
    /// 0 where no word matched.
    pub bm25: Vec<f64>,
    pub cosine: Vec<f64>,
}

impl Place {
    fn of(scope: &StoredScope, embedder: &Measured) -> Result<Self> {
        let mut memories = scope.memory.timeline(Timeline::new().no_limit())?;
        memories.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        let texts: Vec<&str> = memories
            .iter()
            .map(|memory| memory.content.as_str())
            .collect();
        let words = texts
            .iter()
            .map(|text| dates::words(text).map(str::to_lowercase).collect());
        let days = memories.iter().map(|memory| data::date(memory.created_at));
        let places = memories
            .iter()
            .enumerate()
            .map(|(place, memory)| (memory.id.clone(), place));
        Ok(Self {
            vectors: embed(embedder, InputKind::Passage, &texts)?,
            words: words.collect(),
            days: days.collect::<Result<_>>()?,
            today: data::date(scope.now)?,
            places: places.collect(),
            memories,
        })
    }

    /// A column filled by id.
    fn column<T: Clone>(&self, empty: T, of: impl IntoIterator<Item = (String, T)>) -> Vec<T> {
        let mut column = vec![empty; self.memories.len()];
        for (id, value) in of {
            if let Some(&place) = self.places.get(&id) {
                column[place] = value;
            }
        }
        column
    }

    /// Places by score, best first, equal ones in the order of recall; those without a score (−∞) left out.
    pub fn order(&self, scores: &[f64]) -> Vec<usize> {
        let key = |place: usize| HitKey {
            score: scores[place],
            created_micros: self.memories[place].created_at.as_micros(),
            id: self.memories[place].id.as_bytes(),
        };
        let mut order: Vec<usize> = (0..scores.len())
            .filter(|&place| scores[place] > f64::NEG_INFINITY)
            .collect();
        order.sort_by(|&a, &b| best_first(&key(a), &key(b)));
        order
    }
}

/// Vectors of unit length; an empty one where there is nothing to embed.
fn embed(embedder: &Measured, kind: InputKind, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    let mut vectors = Vec::with_capacity(texts.len());
    for texts in texts.chunks(64) {
        for vector in embedder.embed(kind, texts)? {
            let mut vector = vector.unwrap_or_default();
            if !vector.is_empty() {
                mnemic::normalize(&mut vector)?;
            }
            vectors.push(vector);
        }
    }
    Ok(vectors)
}

impl Columns {
    /// The signals of every memory of a scope, and its ages.
    fn of(scope: &StoredScope, place: &Place, text: &str) -> Result<(Self, Vec<f64>)> {
        let hits = scope
            .memory
            .recall(Recall::new(text).no_limit().now(scope.now))?;
        let signals = || {
            hits.iter()
                .map(|hit| (hit.memory.id.clone(), hit.signals.clone()))
        };
        let columns = Self {
            word: place.column(0.0, signals().map(|(id, s)| (id, s.word))),
            bm25: place.column(0.0, signals().map(|(id, s)| (id, s.bm25.unwrap_or(0.0)))),
            cosine: place.column(0.0, signals().map(|(id, s)| (id, s.cosine.unwrap_or(0.0)))),
        };
        Ok((
            columns,
            place.column(0.0, signals().map(|(id, s)| (id, s.age_days))),
        ))
    }
}

/// All questions of a set with their columns.
fn ask<'a>(
    set: &'a StoredSet,
    bare: &StoredSet,
    places: &'a [Place],
    embedder: &Measured,
) -> Result<Vec<Asked<'a>>> {
    let asked = set.queries.iter().map(|query| {
        let place = &places[query.scope];
        let (full, age_days) = Columns::of(&set.scopes[query.scope], place, &query.text)?;
        let (bare, _) = Columns::of(&bare.scopes[query.scope], place, &query.text)?;
        let vector = embed(embedder, InputKind::Query, &[&query.text])?.concat();
        Ok(Asked {
            place,
            text: &query.text,
            vector,
            full,
            bare,
            age_days,
        })
    });
    asked.collect()
}

/// What a variant gave for the questions of a set.
fn judge(set: &StoredSet, asked: &[Asked<'_>], score: impl Fn(&Asked<'_>) -> Vec<f64>) -> Quality {
    Quality::mean(set.queries.iter().zip(asked).map(|(query, asked)| {
        let best = asked.place.order(&score(asked)).into_iter().take(10);
        let found: Vec<bool> = best
            .map(|place| query.relevant.contains(&asked.place.memories[place].id))
            .collect();
        Quality::of(&found, query.relevant.len())
    }))
}

/// A variant's quality by set. Of one with a parameter, that of the value with the best mean nDCG@10.
fn measure(variant: &Variant, sets: &[(&StoredSet, Vec<Asked<'_>>)]) -> (String, Vec<Quality>) {
    let ndcg = |qualities: &[Quality]| Quality::mean(qualities.iter().copied()).ndcg_10;
    let ways = variant.values.iter().map(|&value| {
        let judged = sets
            .iter()
            .map(|(set, asked)| judge(set, asked, |asked| (variant.score)(asked, value)));
        (value, judged.collect::<Vec<Quality>>())
    });
    let best = ways.reduce(|best, way| {
        if ndcg(&way.1) > ndcg(&best.1) {
            way
        } else {
            best
        }
    });
    let (value, qualities) = best.expect("a variant has a value");
    let name = match variant.values.len() {
        1 => variant.name.replace("{}", &value.to_string()),
        _ => format!("{} (best: {value})", variant.name),
    };
    (name, qualities)
}

/// Prints a row a variant, the default first.
pub fn print(
    corpus: &Corpus,
    bare: &Corpus,
    embedder: &Measured,
    runs: &[Run],
    report: &mut Report,
) -> Result<()> {
    let of_set = |set: &StoredSet| {
        set.scopes
            .iter()
            .map(|scope| Place::of(scope, embedder))
            .collect()
    };
    let places = corpus
        .sets
        .iter()
        .map(of_set)
        .collect::<Result<Vec<Vec<Place>>>>()?;
    let sets = corpus.sets.iter().zip(&bare.sets).zip(&places);
    let sets = sets
        .map(|((set, bare), places)| Ok((set, ask(set, bare, places, embedder)?)))
        .collect::<Result<Vec<_>>>()?;
    println!(
        "\n## What else was tried

Computed from the signals of all memories; but for what a row names, all is as in the default: 30 candidates a leg, both
signals of each. Where a row has a parameter its best value on these same questions is shown, so that it is seen at its
best and not held back by a careless choice. \"all\": every memory is a candidate.\n"
    );
    let names = corpus
        .sets
        .iter()
        .flat_map(|set| ["nDCG@10", "R@10"].map(|measure| format!("{}, {measure}", set.name)));
    let columns = ["mean nDCG@10", "mean R@10", "difference of nDCG@10"].map(str::to_owned);
    let mut table = Table::new(
        ["variant".to_owned()]
            .into_iter()
            .chain(names)
            .chain(columns),
    );
    let default: Vec<Quality> = (0..corpus.sets.len())
        .map(|set| runs[DEFAULT].of_set(set))
        .collect();
    let zero = Quality::mean(default.iter().copied()).ndcg_10;
    let tried = variants();
    let tried = tried.iter().map(|variant| measure(variant, &sets));
    for (name, qualities) in [("the default".to_owned(), default)]
        .into_iter()
        .chain(tried)
    {
        let mean = Quality::mean(qualities.iter().copied());
        let cells = qualities
            .iter()
            .chain([&mean])
            .flat_map(|q| [q.ndcg_10, q.recall_10].map(number));
        let difference = format!("{:+.3}", mean.ndcg_10 - zero);
        table.row([name.clone()].into_iter().chain(cells).chain([difference]));
        let of_sets = corpus.sets.iter().zip(&qualities);
        let of_sets =
            of_sets.map(|(set, quality)| (set.name.as_str(), quality, Some(set.queries.len())));
        for (data_set, quality, queries) in of_sets.chain([("mean", &mean, None)]) {
            for (metric, value) in Quality::NAMES.into_iter().zip(quality.values()) {
                report.add(Row {
                    table: "experiments",
                    data_set: data_set.to_owned(),
                    part: "all".to_owned(),
                    ranker: name.clone(),
                    parameter: None,
                    metric,
                    value,
                    queries,
                });
            }
        }
    }
    print!("{table}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{DataSet, Item};
    use crate::embedder::by_name;
    use crate::variants::default;
    use mnemic::Preset;

    /// A set of sixty memories, so that thirty a leg are not all.
    fn json() -> String {
        let things = [
            "the spare key",
            "tea",
            "a red bicycle",
            "the printer",
            "a map of Rome",
        ];
        let memories: Vec<String> = (0..60)
            .map(|i| {
                let (thing, day) = (things[i % 5], i / 4 + 1);
                format!(
                    r#"{{"id": "{i}", "speaker": "Ann", "time": "2023-03-{day:02}T10:00:00", "text": "{thing} is in drawer {i}"}}"#
                )
            })
            .collect();
        format!(
            r#"{{"name": "tiny", "licence": "none", "scopes": [{{"id": "s", "memories": [{}],
            "queries": [{{"text": "where did Ann put the key in March?", "relevant": ["0", "5"]}},
                        {{"text": "is drawer 17 full of maps?", "relevant": ["17"]}}]}}]}}"#,
            memories.join(",")
        )
    }

    #[test]
    fn the_default_computed_from_columns_is_the_default() {
        let embedder = Arc::new(Measured::new(by_name("static").unwrap()));
        let store = |content| {
            let data: DataSet = serde_json::from_str(&json()).unwrap();
            StoredSet::store(data, &embedder, content).unwrap()
        };
        let (set, bare) = (store(Item::content), store(Item::bare));
        let places = [Place::of(&set.scopes[0], &embedder).unwrap()];
        let asked = ask(&set, &bare, &places, &embedder).unwrap();
        for (query, asked) in set.queries.iter().zip(&asked) {
            let scores = default(asked);
            let computed: Vec<(f64, String)> = asked
                .place
                .order(&scores)
                .into_iter()
                .take(10)
                .map(|place| (scores[place], asked.place.memories[place].id.clone()))
                .collect();
            let hits = set.scopes[0]
                .recall(&query.text, Preset::default())
                .unwrap();
            let recalled: Vec<(f64, String)> = hits
                .into_iter()
                .map(|hit| (hit.score, hit.memory.id))
                .collect();
            assert_eq!(computed, recalled, "{}", query.text);
        }
    }

    #[test]
    fn a_variant_whose_parameter_says_nothing_is_the_default() {
        let embedder = Arc::new(Measured::new(by_name("static").unwrap()));
        let store = |content| {
            let data: DataSet = serde_json::from_str(&json()).unwrap();
            StoredSet::store(data, &embedder, content).unwrap()
        };
        let (set, bare) = (store(Item::content), store(Item::bare));
        let places = [Place::of(&set.scopes[0], &embedder).unwrap()];
        let asked = &ask(&set, &bare, &places, &embedder).unwrap()[0];
        let score = |name: &str, value| {
            let all = variants();
            let variant = all.iter().find(|variant| variant.name == name).unwrap();
            (variant.score)(asked, value)
        };
        let everything = score("all memories as candidates", 0.0);
        for variant in variants() {
            for &value in &variant.values {
                let scores = (variant.score)(asked, value);
                assert_eq!(scores.len(), 60, "{}", variant.name);
                assert!(!asked.place.order(&scores).is_empty(), "{}", variant.name);
            }
            if variant.name.ends_with(", all") {
                let nothing = (variant.score)(asked, 0.0);
                let far = nothing
                    .iter()
                    .zip(&everything)
                    .filter(|(a, b)| (*a - *b).abs() > 1e-6);
                assert_eq!(far.count(), 0, "{}", variant.name);
                // With a weight it says something, to this question.
                let something = (variant.score)(asked, 0.5);
                let tells = variant.name.contains("words") || something != nothing;
                assert!(tells, "{}", variant.name);
            }
        }
        let first = |scores: &[f64]| asked.place.order(scores)[..10].to_vec();
        assert_eq!(score("newness as {} of the score", 0.01), default(asked));
        assert_eq!(
            first(&score("maximal marginal relevance, λ {}", 1.0)),
            first(&default(asked))
        );
        assert_ne!(
            first(&score("maximal marginal relevance, λ {}", 0.3)),
            first(&default(asked))
        );
        // One memory in five is about the key; those before and after it are not, and get a share of its score.
        let lent = score("neighbours in time lend {} each, all", 0.2);
        assert!((lent[4] - everything[4] - 0.2 * (everything[3] + everything[5])).abs() < 1e-12);
        assert!((lent[0] - everything[0] - 0.2 * everything[1]).abs() < 1e-12);
    }
}

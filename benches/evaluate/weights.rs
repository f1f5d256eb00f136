//! How much the vector leg should weigh: the curve, and the choice by cross-validation.

use mnemic::Preset;

use crate::Result;
use crate::corpus::{Corpus, StoredSet};
use crate::metrics::Quality;
use crate::quality::Run;
use crate::ranker::DEFAULT;
use crate::report::{Report, Row, Table, number};

/// Weights 0, 1 / STEPS, …, 1 are tried.
const STEPS: u32 = 20;

/// A set of one scope is divided into so many folds, query by query.
const FOLDS: usize = 5;

/// The default preset at one weight of the vector leg; the word leg has the rest.
#[derive(Debug)]
pub struct Point {
    weight: f64,
    /// By set, then by query.
    qualities: Vec<Vec<Quality>>,
}

impl Point {
    fn of_set(&self, set: usize) -> Quality {
        Quality::mean(self.qualities[set].iter().copied())
    }

    /// nDCG@10, the mean of the sets, without the queries of one set that are held out.
    fn without(&self, set: usize, held_out: &[bool]) -> f64 {
        let means = self
            .qualities
            .iter()
            .enumerate()
            .filter_map(|(place, qualities)| {
                let all = qualities.iter().enumerate();
                let kept: Vec<Quality> = all
                    .filter(|&(query, _)| place != set || !held_out[query])
                    .map(|(_, quality)| *quality)
                    .collect();
                // A set of which nothing is left has no say.
                (!kept.is_empty()).then(|| Quality::mean(kept))
            });
        Quality::mean(means).ndcg_10
    }
}

/// Asks all queries at every weight.
pub fn run(corpus: &Corpus) -> Result<Vec<Point>> {
    (0..=STEPS)
        .map(|step| {
            let weight = f64::from(step) / f64::from(STEPS);
            let answers = corpus.ask(Preset::default().weights(1.0 - weight, weight))?;
            let qualities = answers
                .into_iter()
                .map(|answers| answers.into_iter().map(|answer| answer.quality).collect())
                .collect();
            Ok(Point { weight, qualities })
        })
        .collect()
}

pub fn print(corpus: &Corpus, curve: &[Point], report: &mut Report) {
    println!(
        "\n## nDCG@10 by weight of the vector leg (the word leg has the rest; all else as in the default)\n"
    );
    let names = corpus.sets.iter().map(|set| set.name.as_str());
    let mut table = Table::new(["vector weight"].into_iter().chain(names).chain(["mean"]));
    for point in curve {
        let of_sets: Vec<Quality> = (0..corpus.sets.len())
            .map(|set| point.of_set(set))
            .collect();
        let mean = Quality::mean(of_sets.iter().copied());
        let mut cells = vec![format!("{:.2}", point.weight)];
        cells.extend(
            of_sets
                .iter()
                .chain([&mean])
                .map(|quality| number(quality.ndcg_10)),
        );
        table.row(cells);
        let all = corpus.sets.iter().zip(&of_sets);
        let all = all.map(|(set, quality)| (set.name.as_str(), quality, Some(set.queries.len())));
        for (data_set, quality, queries) in all.chain([("mean", &mean, None)]) {
            for (metric, value) in Quality::NAMES.into_iter().zip(quality.values()) {
                report.add(Row {
                    table: "weights",
                    data_set: data_set.to_owned(),
                    part: "all".to_owned(),
                    ranker: "default".to_owned(),
                    parameter: Some(point.weight),
                    metric,
                    value,
                    queries,
                });
            }
        }
    }
    print!("{table}");
}

/// The queries that are judged together, and what they are called.
#[derive(Debug)]
struct Fold {
    name: String,
    held_out: Vec<bool>,
}

/// A fold a scope; where there is one scope, query i is in fold i mod 5.
fn folds(set: &StoredSet) -> Vec<Fold> {
    let fold = |name, of: &dyn Fn(usize) -> bool| Fold {
        name,
        held_out: (0..set.queries.len()).map(of).collect(),
    };
    if set.scopes.len() > 1 {
        let scopes = set.scopes.iter().enumerate();
        scopes
            .map(|(place, scope)| {
                fold(format!("scope {}", scope.id), &|query| {
                    set.queries[query].scope == place
                })
            })
            .collect()
    } else {
        (0..FOLDS)
            .map(|part| {
                fold(format!("fold {} of {FOLDS}", part + 1), &|query| {
                    query % FOLDS == part
                })
            })
            .collect()
    }
}

/// The point with the best training score; of equal ones the lowest weight.
fn choose<'a>(curve: &'a [Point], set: usize, held_out: &[bool]) -> &'a Point {
    curve
        .iter()
        .map(|point| (point.without(set, held_out), point))
        .rev()
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .expect("the curve has points")
        .1
}

pub fn cross_validate(corpus: &Corpus, curve: &[Point], runs: &[Run], report: &mut Report) {
    println!(
        "\n## Cross-validated weight of the vector leg

Method: the queries of one fold are held out; of the weights 0, 0.05, … 1 the one with the best nDCG@10 on all other
queries (mean of the sets, so the other sets are in training whole) is judged on the fold. A set with several scopes is
folded by scope, a set of one scope by query (query i is in fold i mod {FOLDS} + 1).\n"
    );
    let mut folds_table = Table::new([
        "data set",
        "held out",
        "queries",
        "weight chosen",
        "nDCG@10 held out",
        "default's",
    ]);
    let mut sets_table = Table::new(["data set", "ranker"].into_iter().chain(Quality::NAMES));
    let mut means = Vec::new();
    for (place, set) in corpus.sets.iter().enumerate() {
        let mut all = Vec::new();
        for fold in folds(set) {
            let chosen = choose(curve, place, &fold.held_out);
            let members = || (0..set.queries.len()).filter(|&query| fold.held_out[query]);
            if members().next().is_none() {
                continue;
            }
            let held_out: Vec<Quality> = members()
                .map(|query| chosen.qualities[place][query])
                .collect();
            let quality = Quality::mean(held_out.iter().copied());
            let answers = &runs[DEFAULT].answers[place];
            let default = Quality::mean(members().map(|query| answers[query].quality));
            folds_table.row([
                set.name.clone(),
                fold.name.clone(),
                held_out.len().to_string(),
                format!("{:.2}", chosen.weight),
                number(quality.ndcg_10),
                number(default.ndcg_10),
            ]);
            add(
                report,
                &set.name,
                &fold.name,
                Some(chosen.weight),
                quality,
                Some(held_out.len()),
            );
            all.extend(held_out);
        }
        let held_out = Quality::mean(all.iter().copied());
        add(report, &set.name, "all", None, held_out, Some(all.len()));
        compare(&mut sets_table, &set.name, held_out, runs, |run| {
            run.of_set(place)
        });
        means.push(held_out);
    }
    if corpus.sets.len() > 1 {
        let held_out = Quality::mean(means);
        add(report, "mean", "all", None, held_out, None);
        compare(&mut sets_table, "mean", held_out, runs, Run::mean);
    }
    print!("{folds_table}\n{sets_table}");
}

/// The held-out score beside the default's.
fn compare(
    table: &mut Table,
    data_set: &str,
    held_out: Quality,
    runs: &[Run],
    of: impl Fn(&Run) -> Quality,
) {
    let mut row = |ranker: &str, quality: Quality| {
        let names = [data_set, ranker].map(str::to_owned);
        table.row(names.into_iter().chain(quality.values().map(number)));
    };
    row("weight cross-validated", held_out);
    row("default", of(&runs[DEFAULT]));
}

fn add(
    report: &mut Report,
    data_set: &str,
    part: &str,
    weight: Option<f64>,
    quality: Quality,
    queries: Option<usize>,
) {
    for (metric, value) in Quality::NAMES.into_iter().zip(quality.values()) {
        report.add(Row {
            table: "cross-validation",
            data_set: data_set.to_owned(),
            part: part.to_owned(),
            ranker: "weight cross-validated".to_owned(),
            parameter: weight,
            metric,
            value,
            queries,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(weight: f64, sets: &[&[f64]]) -> Point {
        let quality = |&ndcg_10: &f64| Quality {
            ndcg_10,
            ..Quality::default()
        };
        Point {
            weight,
            qualities: sets
                .iter()
                .map(|set| set.iter().map(quality).collect())
                .collect(),
        }
    }

    #[test]
    fn what_is_held_out_has_no_say() {
        // The held-out query of set 0 speaks for weight 1, all others for weight 0.
        let curve = [
            point(0.0, &[&[0.0, 0.6], &[0.5]]),
            point(1.0, &[&[1.0, 0.4], &[0.5]]),
        ];
        assert_eq!(choose(&curve, 0, &[true, false]).weight, 0.0);
        assert_eq!(choose(&curve, 0, &[false, false]).weight, 1.0);
        // With all of set 0 held out, set 1 is left, and of equals the lower weight is taken.
        assert_eq!(choose(&curve, 0, &[true, true]).weight, 0.0);
        assert_eq!(curve[1].without(0, &[true, false]), 0.45);
    }
}

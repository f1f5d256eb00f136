//! The main table, and the one by category.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::Result;
use crate::corpus::{Answer, Corpus};
use crate::embedder::Measured;
use crate::metrics::Quality;
use crate::ranker::{Ranker, rankers};
use crate::report::{Report, Row, Table, number};
use crate::times::Times;

/// What one ranker gave.
#[derive(Debug)]
pub struct Run {
    pub ranker: Ranker,
    /// By set, then by query.
    pub answers: Vec<Vec<Answer>>,
}

impl Run {
    /// Over the queries of one set.
    pub fn of_set(&self, set: usize) -> Quality {
        Quality::mean(self.answers[set].iter().map(|answer| answer.quality))
    }

    /// The mean of the sets.
    pub fn mean(&self) -> Quality {
        Quality::mean((0..self.answers.len()).map(|set| self.of_set(set)))
    }
}

/// Asks all queries of all rankers.
pub fn run(corpus: &Corpus, embedder: &Measured, times: &mut Times) -> Result<Vec<Run>> {
    let queries = corpus.sets.iter().map(|set| set.queries.len()).sum();
    rankers()
        .into_iter()
        .map(|ranker| {
            let (start, embedding) = (Instant::now(), embedder.spent().on_queries);
            let answers = corpus.ask(ranker.preset)?;
            let embedding = embedder.spent().on_queries - embedding;
            times.recalled(ranker.name, queries, start.elapsed() - embedding);
            Ok(Run { ranker, answers })
        })
        .collect()
}

pub fn print(corpus: &Corpus, runs: &[Run], report: &mut Report) {
    println!("\n## Quality\n");
    let mut table = Table::new(["data set", "ranker"].into_iter().chain(Quality::NAMES));
    for (place, set) in corpus.sets.iter().enumerate() {
        for run in runs {
            let quality = run.of_set(place);
            add(
                &mut table,
                report,
                &set.name,
                run,
                quality,
                Some(set.queries.len()),
            );
        }
    }
    if corpus.sets.len() > 1 {
        for run in runs {
            add(&mut table, report, "mean", run, run.mean(), None);
        }
    }
    print!("{table}");
}

fn add(
    table: &mut Table,
    report: &mut Report,
    data_set: &str,
    run: &Run,
    quality: Quality,
    queries: Option<usize>,
) {
    let names = [data_set.to_owned(), run.ranker.name.to_owned()];
    table.row(names.into_iter().chain(quality.values().map(number)));
    for (metric, value) in Quality::NAMES.into_iter().zip(quality.values()) {
        report.add(Row {
            table: "quality",
            data_set: data_set.to_owned(),
            part: "all".to_owned(),
            ranker: run.ranker.name.to_owned(),
            parameter: None,
            metric,
            value,
            queries,
        });
    }
}

pub fn print_by_category(corpus: &Corpus, runs: &[Run], report: &mut Report) {
    println!("\n## nDCG@10 by category (the CSV has the other measures)\n");
    let names = runs.iter().map(|run| run.ranker.name);
    let mut table = Table::new(["data set", "category", "queries"].into_iter().chain(names));
    for (place, set) in corpus.sets.iter().enumerate() {
        let categories: BTreeSet<&str> = set
            .queries
            .iter()
            .map(|query| query.category.as_str())
            .collect();
        for category in categories {
            let members: Vec<usize> = (0..set.queries.len())
                .filter(|&query| set.queries[query].category == category)
                .collect();
            let mut cells = vec![
                set.name.clone(),
                category.to_owned(),
                members.len().to_string(),
            ];
            for run in runs {
                let answers = &run.answers[place];
                let quality = Quality::mean(members.iter().map(|&query| answers[query].quality));
                cells.push(number(quality.ndcg_10));
                for (metric, value) in Quality::NAMES.into_iter().zip(quality.values()) {
                    report.add(Row {
                        table: "category",
                        data_set: set.name.clone(),
                        part: category.to_owned(),
                        ranker: run.ranker.name.to_owned(),
                        parameter: None,
                        metric,
                        value,
                        queries: Some(members.len()),
                    });
                }
            }
            table.row(cells);
        }
    }
    print!("{table}");
}

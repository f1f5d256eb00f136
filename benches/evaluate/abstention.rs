//! Abstention: does the score of the best hit tell a query that has an answer from one that has none?

use mnemic::Preset;

use crate::Result;
use crate::corpus::{Answer, Corpus};
use crate::metrics::{auc, reach};
use crate::quality::Run;
use crate::ranker::DEFAULT;
use crate::report::{Report, Row, Table, number};

/// Queries put to memories that do not hold their answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Null {
    /// Those of the next scope of the same set: the same kind of question about other people.
    Near,
    /// Those of the next data set, each to every scope: another subject.
    Far,
}

impl Null {
    pub const ALL: [Self; 2] = [Self::Near, Self::Far];

    pub fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "far",
        }
    }

    /// Scope and query of all that there are; none where the corpus has no second scope or set.
    pub fn queries(self, corpus: &Corpus, place: usize) -> Vec<(usize, &str)> {
        let set = &corpus.sets[place];
        let scopes = set.scopes.len();
        match self {
            Self::Near if scopes > 1 => set
                .queries
                .iter()
                .map(|query| ((query.scope + scopes - 1) % scopes, query.text.as_str()))
                .collect(),
            Self::Far if corpus.sets.len() > 1 => {
                let other = &corpus.sets[(place + 1) % corpus.sets.len()];
                let texts = other.queries.iter().map(|query| query.text.as_str());
                (0..scopes)
                    .flat_map(|scope| texts.clone().map(move |text| (scope, text)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn top_scores(self, corpus: &Corpus, place: usize, preset: Preset) -> Result<Vec<f64>> {
        self.queries(corpus, place)
            .into_iter()
            .map(|(scope, text)| corpus.sets[place].scopes[scope].top_score(text, preset))
            .collect()
    }
}

/// Scores of best hits, real and null, of one set (or of all) and one kind of null query, by ranker.
#[derive(Debug)]
struct Trial {
    data_set: String,
    kind: Null,
    /// By ranker.
    real: Vec<Vec<f64>>,
    null: Vec<Vec<f64>>,
}

pub fn print(corpus: &Corpus, runs: &[Run], report: &mut Report) -> Result<()> {
    println!(
        "\n## Abstention

Null queries have no answer where they are asked. near: those of the next scope of the same set; far: those of the next
data set. (Nobody has read them: some near ones may be answered by chance.) Counted is the score of the best hit.\n"
    );
    let trials = trials(corpus, runs)?;
    if trials.is_empty() {
        println!("There are none: give a set of several scopes, or several sets.");
        return Ok(());
    }
    print_auc(runs, &trials, report);
    print_thresholds(corpus, &runs[DEFAULT], &trials, report);
    Ok(())
}

fn trials(corpus: &Corpus, runs: &[Run]) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for (place, set) in corpus.sets.iter().enumerate() {
        for kind in Null::ALL {
            let null = runs
                .iter()
                .map(|run| kind.top_scores(corpus, place, run.ranker.preset))
                .collect::<Result<Vec<_>>>()?;
            if null.iter().any(Vec::is_empty) {
                continue;
            }
            trials.push(Trial {
                data_set: set.name.clone(),
                kind,
                real: runs.iter().map(|run| top(&run.answers[place])).collect(),
                null,
            });
        }
    }
    // One threshold for all sets together.
    let far: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.kind == Null::Far)
        .collect();
    if far.len() > 1 {
        let pool = |of: fn(&Trial) -> &Vec<Vec<f64>>| {
            (0..runs.len())
                .map(|ranker| {
                    far.iter()
                        .flat_map(|trial| of(trial)[ranker].clone())
                        .collect()
                })
                .collect()
        };
        let pooled = Trial {
            data_set: "all together".to_owned(),
            kind: Null::Far,
            real: pool(|trial| &trial.real),
            null: pool(|trial| &trial.null),
        };
        trials.push(pooled);
    }
    Ok(trials)
}

/// The score of each query's best hit; 0 where it has none.
fn top(answers: &[Answer]) -> Vec<f64> {
    let first = |answer: &Answer| answer.hits.first().map_or(0.0, |(score, _)| *score);
    answers.iter().map(first).collect()
}

fn print_auc(runs: &[Run], trials: &[Trial], report: &mut Report) {
    println!("AUC: how likely a real query scores above a null one (0.5 is chance).\n");
    let names = runs.iter().map(|run| run.ranker.name);
    let header = ["data set", "null queries", "real", "null"].into_iter();
    let mut table = Table::new(header.chain(names));
    for trial in trials {
        let counts = [&trial.real, &trial.null].map(|scores| scores[0].len());
        let mut cells = vec![trial.data_set.clone(), trial.kind.name().to_owned()];
        cells.extend(counts.map(|count| count.to_string()));
        for (place, run) in runs.iter().enumerate() {
            let value = auc(&trial.real[place], &trial.null[place]);
            cells.push(number(value));
            report.add(Row {
                table: "abstention",
                data_set: trial.data_set.clone(),
                part: trial.kind.name().to_owned(),
                ranker: run.ranker.name.to_owned(),
                parameter: None,
                metric: "AUC",
                value,
                queries: Some(counts.iter().sum()),
            });
        }
        table.row(cells);
    }
    println!("{table}");
}

fn print_thresholds(corpus: &Corpus, run: &Run, trials: &[Trial], report: &mut Report) {
    println!(
        "The default with a least score. Missed: real queries whose best hit is under it, so that nothing is recalled.
Relevant lost: relevant ones of the ten hits that are under it. Injected: null queries that recall something.\n"
    );
    let mut table = Table::new([
        "data set",
        "min_score",
        "missed",
        "relevant lost",
        "near injected",
        "far injected",
    ]);
    for (place, set) in corpus.sets.iter().enumerate() {
        let real = top(&run.answers[place]);
        let relevant: Vec<f64> = run.answers[place]
            .iter()
            .flat_map(|answer| &answer.hits)
            .filter(|(_, relevant)| *relevant)
            .map(|(score, _)| *score)
            .collect();
        let null = |kind: Null| {
            let mut trials = trials.iter();
            let trial = trials.find(|trial| trial.data_set == set.name && trial.kind == kind)?;
            Some(&trial.null[DEFAULT])
        };
        for threshold in (3..=10).map(|step| f64::from(step) / 20.0) {
            let values = [
                ("missed", 1.0 - reach(&real, threshold), Some(real.len())),
                ("relevant lost", 1.0 - reach(&relevant, threshold), None),
            ];
            let injected = [("near injected", Null::Near), ("far injected", Null::Far)];
            let injected = injected.map(|(metric, kind)| {
                null(kind).map(|null| (metric, reach(null, threshold), Some(null.len())))
            });
            let mut cells = vec![set.name.clone(), format!("{threshold:.2}")];
            for value in values.map(Some).into_iter().chain(injected) {
                let Some((metric, value, queries)) = value else {
                    cells.push(String::new());
                    continue;
                };
                cells.push(number(value));
                report.add(Row {
                    table: "thresholds",
                    data_set: set.name.clone(),
                    part: "all".to_owned(),
                    ranker: run.ranker.name.to_owned(),
                    parameter: Some(threshold),
                    metric,
                    value,
                    queries,
                });
            }
            table.row(cells);
        }
    }
    print!("{table}");
}

//! Calibrated abstention: what a percentile of random questions comes to for real ones that have an answer or none.

use mnemic::{Calibration, Preset};

use crate::Result;
use crate::abstention::Null;
use crate::corpus::{Corpus, StoredSet};
use crate::quality::Run;
use crate::report::{Report, Row, Table, number};

const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5];

/// One number of the table: what it is, its value, and over how many queries.
type Cell = (&'static str, f64, Option<usize>);

pub fn print(corpus: &Corpus, run: &Run, report: &mut Report) -> Result<()> {
    println!(
        "\n## Calibrated abstention

The default with min_percentile, each scope calibrated by 1,000 random questions. Floor: the least relevance that it comes
to (the mean of the scopes). Missed, relevant lost, injected: as above. A perfect calibration of null queries would inject
100 % less the percentile.\n"
    );
    let mut table = Table::new([
        "data set",
        "percentile",
        "floor",
        "missed",
        "relevant lost",
        "near injected",
        "far injected",
    ]);
    for (place, set) in corpus.sets.iter().enumerate() {
        let preset = run.ranker.preset;
        let calibrations: Vec<Calibration> = set
            .scopes
            .iter()
            .map(|scope| scope.calibrate(preset))
            .collect::<Result<_>>()?;
        for percent in PERCENTILES {
            let floors = calibrations.iter().map(|known| known.relevance(percent));
            let floor = floors.sum::<f64>() / calibrations.len() as f64;
            let (missed, lost) = real(set, run, place, percent)?;
            let mut values = vec![Some(("floor", floor, None)), Some(missed), Some(lost)];
            for kind in Null::ALL {
                values.push(injected(corpus, place, kind, preset, percent)?);
            }
            let mut cells = vec![set.name.clone(), percent.to_string()];
            for value in values {
                let Some((metric, value, queries)) = value else {
                    cells.push(String::new());
                    continue;
                };
                cells.push(number(value));
                report.add(Row {
                    table: "percentiles",
                    data_set: set.name.clone(),
                    part: "all".to_owned(),
                    ranker: run.ranker.name.to_owned(),
                    parameter: Some(percent),
                    metric,
                    value,
                    queries,
                });
            }
            table.row(cells);
        }
    }
    print!("{table}");
    Ok(())
}

/// The share of queries that lose all their hits, and of relevant hits that are lost.
fn real(set: &StoredSet, run: &Run, place: usize, percent: f64) -> Result<(Cell, Cell)> {
    let (mut missed, mut kept) = (0, 0);
    for query in &set.queries {
        let scope = &set.scopes[query.scope];
        let hits = scope.recall_above(&query.text, run.ranker.preset, percent)?;
        missed += usize::from(hits.is_empty());
        let relevant = |hit: &&mnemic::Hit| query.relevant.contains(&hit.memory.id);
        kept += hits.iter().filter(relevant).count();
    }
    let without = run.answers[place].iter().flat_map(|answer| &answer.hits);
    let relevant = without.filter(|(_, relevant)| *relevant).count();
    let queries = set.queries.len();
    Ok((
        ("missed", share(missed, queries), Some(queries)),
        ("relevant lost", 1.0 - share(kept, relevant), None),
    ))
}

/// The share of null queries that recall something; nothing where there are none.
fn injected(
    corpus: &Corpus,
    place: usize,
    kind: Null,
    preset: Preset,
    percent: f64,
) -> Result<Option<Cell>> {
    let queries = kind.queries(corpus, place);
    let mut injected = 0;
    for (scope, text) in &queries {
        let hits = corpus.sets[place].scopes[*scope].recall_above(text, preset, percent)?;
        injected += usize::from(!hits.is_empty());
    }
    let metric = match kind {
        Null::Near => "near injected",
        Null::Far => "far injected",
    };
    let count = queries.len();
    Ok((count > 0).then(|| (metric, share(injected, count), Some(count))))
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

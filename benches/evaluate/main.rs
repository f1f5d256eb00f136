//! Retrieval quality: how well recall finds what is known to be relevant, by ranker.
//!
//! It compares word-only, vector-only, rekal's preset, reciprocal rank and the default, all through the public facade,
//! on data sets given by path. The limit that matters: the default beats every other ranker on the mean of the sets.
//! Standard output is the same for the same data and model; times go to standard error.
//!
//! `cargo run --release -p mnemic-benches --bin evaluate -- --csv out.csv --svg out.svg DATA.json [DATA.json…]`

mod abstention;
mod arguments;
mod calibration;
mod corpus;
mod data;
mod dates;
mod documents;
mod embedder;
mod experiments;
mod metrics;
mod plot;
mod pooled;
mod quality;
mod ranker;
mod report;
mod times;
mod variants;
mod weights;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use arguments::{Arguments, HELP};
use corpus::Corpus;
use data::Item;
use embedder::Measured;
use mnemic::Embedder;
use report::Report;
use times::Times;

/// The result of everything that may fail here: a person reads the message, nothing matches on it.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(lexopt::Parser::from_env()) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("evaluate: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match evaluate(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evaluate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn evaluate(arguments: &Arguments) -> Result<()> {
    let mut times = Times::start();
    let embedder = Arc::new(Measured::new(embedder::by_name(&arguments.embedder)?));
    if arguments.documents {
        println!("embedder: {}", embedder.model());
        return documents::print(arguments, &embedder);
    }
    let corpus = Corpus::store(&arguments.data_sets, &embedder, Item::content)?;
    times.stored(&corpus, &embedder);
    println!("embedder: {}", embedder.model());
    println!(
        "limit 10; scores are means over the queries of a set, and \"mean\" is that of the sets"
    );
    println!("{}", corpus.describe());

    let mut report = Report::default();
    let runs = quality::run(&corpus, &embedder, &mut times)?;
    quality::print(&corpus, &runs, &mut report);
    if arguments.by_category {
        quality::print_by_category(&corpus, &runs, &mut report);
    }
    if arguments.weights || arguments.cross_validate {
        let curve = weights::run(&corpus)?;
        if arguments.weights {
            weights::print(&corpus, &curve, &mut report);
        }
        if arguments.cross_validate {
            weights::cross_validate(&corpus, &curve, &runs, &mut report);
        }
    }
    if arguments.null {
        abstention::print(&corpus, &runs, &mut report)?;
        calibration::print(&corpus, &runs[ranker::DEFAULT], &mut report)?;
    }
    if arguments.experiments {
        let bare = Corpus::store(&arguments.data_sets, &embedder, Item::bare)?;
        experiments::print(&corpus, &bare, &embedder, &runs, &mut report)?;
    }
    if arguments.pooled {
        pooled::print(&arguments.data_sets, &embedder)?;
    }
    if let Some(path) = &arguments.csv {
        report.write_csv(path)?;
    }
    if let Some(path) = &arguments.svg {
        plot::draw(path, &corpus, &runs, &embedder.model().id)?;
    }
    times.print(&embedder);
    Ok(())
}

//! The command line. It reads no file.

use std::path::PathBuf;

use lexopt::prelude::*;

pub const HELP: &str = "\
Measures how well recall finds what is relevant, by ranker.

usage: evaluate [options] DATA.json [DATA.json…]

  --csv FILE          write every number as one CSV file
  --svg FILE          draw nDCG@10 and R@10 as a bar plot
  --embedder NAME     the model: static (default), or with --features candle a folder
                      with a transformer, or FOLDER+static: its passages, the table's queries
  --by-category       nDCG@10 by category of query
  --weights           nDCG@10 by weight of the vector leg, 0 to 1
  --cross-validate    choose that weight without the queries it is judged on
  --null              scores of queries that have no answer: AUC, thresholds, and percentiles
                      of what random questions score
  --all               the four tables above
  --experiments       what else was tried: other fusions, bonuses, contexts, each beside the default
  --pooled            also ask all scopes as projects of one file: fails unless each answers as a file of its own
  --documents         instead of all that: texts as documents, by rule and weight of their passages
  --help              this text

A data set is {name, licence, scopes: [{id, memories: [{id, speaker, time, text, caption}],
queries: [{text, relevant: [memory id], category}]}]}; speaker, time, caption and category may be absent or null.";

#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    pub data_sets: Vec<PathBuf>,
    pub csv: Option<PathBuf>,
    pub svg: Option<PathBuf>,
    pub embedder: String,
    pub by_category: bool,
    pub weights: bool,
    pub cross_validate: bool,
    pub null: bool,
    pub experiments: bool,
    pub pooled: bool,
    pub documents: bool,
}

impl Arguments {
    /// What was asked for; `None` where it was help.
    pub fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut arguments = Self {
            data_sets: Vec::new(),
            csv: None,
            svg: None,
            embedder: "static".to_owned(),
            by_category: false,
            weights: false,
            cross_validate: false,
            null: false,
            experiments: false,
            pooled: false,
            documents: false,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Value(path) => arguments.data_sets.push(path.into()),
                Long("csv") => arguments.csv = Some(parser.value()?.into()),
                Long("svg") => arguments.svg = Some(parser.value()?.into()),
                Long("embedder") => arguments.embedder = parser.value()?.string()?,
                Long("by-category") => arguments.by_category = true,
                Long("weights") => arguments.weights = true,
                Long("cross-validate") => arguments.cross_validate = true,
                Long("null") => arguments.null = true,
                Long("experiments") => arguments.experiments = true,
                Long("pooled") => arguments.pooled = true,
                Long("documents") => arguments.documents = true,
                Long("all") => {
                    arguments.by_category = true;
                    arguments.weights = true;
                    arguments.cross_validate = true;
                    arguments.null = true;
                }
                Short('h') | Long("help") => return Ok(None),
                _ => return Err(argument.unexpected()),
            }
        }
        if arguments.data_sets.is_empty() {
            return Err("at least one data set must be given".into());
        }
        Ok(Some(arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<Arguments>, lexopt::Error> {
        Arguments::parse(lexopt::Parser::from_args(words))
    }

    #[test]
    fn options_and_data_sets_in_any_order() {
        let arguments = parse(&["a.json", "--null", "--csv=out.csv", "b.json"])
            .unwrap()
            .unwrap();
        assert_eq!(arguments.data_sets, ["a.json", "b.json"].map(PathBuf::from));
        assert_eq!(arguments.csv, Some("out.csv".into()));
        assert_eq!(arguments.embedder, "static");
        assert!(arguments.null && !arguments.weights);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let message = |words: &[&str]| parse(words).unwrap_err().to_string();
        assert_eq!(message(&[]), "at least one data set must be given");
        assert_eq!(message(&["--nul"]), "invalid option '--nul'");
        assert!(parse(&["--help"]).unwrap().is_none());
    }
}

//! Calibration: how well random questions are answered in this very file, so that a floor can be given as a share of them.
//! It is the one part of recall that is written down, and only when asked for.

use std::collections::BTreeSet;
use std::fmt;

use mnemic_embed::Embedder;
use mnemic_rank::percentile;
use mnemic_schema::{Filter, Scope, Snapshot, query_words};

use crate::memory::Memory;
use crate::recall::can_compare;
use crate::recall::preset::{Formula, Preset};
use crate::recall::request::Recall;
use crate::{Error, ErrorKind, Result};

const DEFAULT_QUERIES: usize = 1_000;

/// Least and most questions: fewer tell no percentiles, more tell nothing new.
const FEWEST_QUERIES: usize = 20;
const MOST_QUERIES: usize = 1_000_000;

/// Percentiles that are kept: from 0 to 100, one each half.
const KEPT: u16 = 200;

/// How [`Memory::calibrate`] goes about it. A [`Preset`] becomes one with the defaults.
///
/// ```
/// use mnemic::{Calibrate, Preset};
///
/// let quick = Calibrate::new(Preset::default()).queries(200).seed(7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "it calibrates nothing until it is given to Memory::calibrate"]
pub struct Calibrate {
    preset: Preset,
    queries: usize,
    seed: u64,
}

impl Calibrate {
    /// For recalls with a preset: 1,000 questions.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            queries: DEFAULT_QUERIES,
            seed: 0,
        }
    }

    /// How many random questions are asked, 20 to 1,000,000. The more, the surer the high percentiles: of 1,000, ten lie
    /// above the 99th. Each costs a recall. Default: 1,000.
    pub fn queries(mut self, queries: usize) -> Self {
        self.queries = queries;
        self
    }

    /// Another seed draws other questions; the same one draws the same from the same memories. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

impl From<Preset> for Calibrate {
    fn from(preset: Preset) -> Self {
        Self::new(preset)
    }
}

/// The relevance that random questions reach with their best hit in a file, under one preset.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// How many random questions were asked.
    pub queries: usize,
    /// The seed by which they were drawn.
    pub seed: u64,
    /// How many memories the file had then.
    pub memories: u64,
    /// Why it should be made anew, if it should.
    pub stale: Option<Stale>,
    models: String,
    /// From percentile 0 to 100 in equal steps.
    relevance: Vec<f64>,
}

/// Why a calibration should be made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stale {
    /// The file has at least twice or at most half as many memories as then. The calibration is used still; with more
    /// memories more random questions pass than it says, with fewer less.
    Size {
        /// Memories then.
        then: u64,
        /// Memories now.
        now: u64,
    },
    /// Another model of the same space made the vectors, or embeds the questions. Recall refuses the calibration.
    Model {
        /// The models then.
        then: String,
        /// The models now.
        now: String,
    },
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { then, now } => write!(
                f,
                "the file had {then} memories when it was calibrated and has {now} now"
            ),
            Self::Model { then, now } => {
                write!(
                    f,
                    "the file was calibrated with {then}, and {now} is used now"
                )
            }
        }
    }
}

impl Calibration {
    /// The relevance below which the best hits of `percent` per cent of the random questions are; in \[0, 100\], anything
    /// beyond counts as the nearer end. It is what [`Recall::min_percentile`] has for a floor.
    #[must_use]
    pub fn relevance(&self, percent: f64) -> f64 {
        percentile(&self.relevance, percent).unwrap_or(0.0)
    }

    /// From the sorted relevances of the best hits.
    fn of(sorted: &[f64], of: &Calibrate, memories: u64, models: String) -> Self {
        let step = |i| percentile(sorted, f64::from(i) * 100.0 / f64::from(KEPT)).unwrap_or(0.0);
        Self {
            queries: of.queries,
            seed: of.seed,
            memories,
            stale: None,
            models,
            relevance: (0..=KEPT).map(step).collect(),
        }
    }

    /// As it is noted in the file: the version of this form, then a name and a value a line.
    fn to_note(&self) -> String {
        let relevance: Vec<String> = self.relevance.iter().map(f64::to_string).collect();
        format!(
            "{NOTE_VERSION}\nqueries {}\nseed {}\nmemories {}\nmodels {}\nrelevance {}\n",
            self.queries,
            self.seed,
            self.memories,
            self.models,
            relevance.join(" ")
        )
    }

    /// Reads a note; `None` where it has another form.
    fn from_note(note: &str) -> Option<Self> {
        let mut lines = note.strip_prefix(NOTE_VERSION)?.trim_start().lines();
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let calibration = Self {
            queries: value("queries")?.parse().ok()?,
            seed: value("seed")?.parse().ok()?,
            memories: value("memories")?.parse().ok()?,
            models: value("models")?.to_owned(),
            relevance: value("relevance")?
                .split(' ')
                .map(|number| number.parse().ok())
                .collect::<Option<_>>()?,
            stale: None,
        };
        let relevance: &[f64] = &calibration.relevance;
        let sound = relevance.len() == (0..=KEPT).len()
            && relevance.iter().all(|x| x.is_finite())
            && relevance.is_sorted();
        (sound && lines.next().is_none()).then_some(calibration)
    }

    fn aged(mut self, memories: u64, models: String) -> Self {
        self.stale = if self.models != models {
            Some(Stale::Model {
                then: self.models.clone(),
                now: models,
            })
        } else if memories >= self.memories.saturating_mul(2) || memories <= self.memories / 2 {
            Some(Stale::Size {
                then: self.memories,
                now: memories,
            })
        } else {
            None
        };
        self
    }
}

const NOTE_VERSION: &str = "calibration 1";

impl Memory {
    /// Asks random questions and notes in the file how relevant their best hits were, so that
    /// [`Recall::min_percentile`] can tell a question that has an answer from one that has none.
    ///
    /// A random question is 3 to 8 words drawn from the vocabulary of the file (its memories' distinct words, of each
    /// memory the first 64, common ones left out; of more than 10,000 memories, those of 10,000 drawn at random): of the language and the subjects of this
    /// file, about nothing in particular. They are asked of all memories, whatever their project, with the preset given:
    /// calibrate each preset that is used. (How newness is weighed makes no difference.) What the percentiles come to for
    /// real questions without an answer is measured in `docs/scoring.md`. In a recall that is narrowed to a few of the
    /// memories, the floor is stricter than it says; for a question of one or two words it is laxer.
    ///
    /// It takes as long as so many recalls. What is noted takes some kilobytes; calibrating again replaces it. The same
    /// memories, model, preset and seed give the same calibration. Once the file has doubled, or its model was changed, do
    /// it again: [`Memory::calibration`] tells.
    ///
    /// # Errors
    /// `InvalidInput` where the file holds no words to ask for, the number of questions is out of range, or the preset is
    /// [`Preset::reciprocal_rank`], whose relevance cannot be compared between questions; `ReadOnly`; and as
    /// [`Memory::recall`].
    ///
    /// ```
    /// use mnemic::{Calibrate, Memory, Preset};
    ///
    /// let memory = Memory::open_in_memory()?;
    /// memory.store_all(["deploys freeze on Fridays", "the desk plant is a cactus", "the office dog is called Biscuit"])?;
    /// let calibration = memory.calibrate(Calibrate::new(Preset::default()).queries(200))?;
    /// assert!(calibration.relevance(95.0) >= calibration.relevance(50.0));
    /// assert_eq!(memory.calibration(Preset::default())?, Some(calibration));
    /// # Ok::<(), mnemic::Error>(())
    /// ```
    #[cfg_attr(
        feature = "tracing",
        tracing::instrument(level = "info", skip_all, err(level = "debug"))
    )]
    pub fn calibrate(&self, calibrate: impl Into<Calibrate>) -> Result<Calibration> {
        let calibrate: Calibrate = calibrate.into();
        let preset = with_a_scale(calibrate.preset)?;
        if !(FEWEST_QUERIES..=MOST_QUERIES).contains(&calibrate.queries) {
            return Err(Error::invalid(format!(
                "{} random questions were asked for: give {FEWEST_QUERIES} to {MOST_QUERIES}",
                calibrate.queries
            )));
        }
        // Before the work, not after it.
        self.with_writer("calibrating", |_| Ok(()))?;
        let before = self.read(|snapshot| kept(self.embedder().as_deref(), snapshot, &preset))?;
        let mut best = Vec::with_capacity(calibrate.queries);
        for question in self.random_questions(&calibrate)? {
            let recall = Recall::new(question)
                .scope(Scope::All)
                .preset(preset.recency(0.0, 30.0))
                .limit(1)
                .rerank(0);
            let hits = self.recall(recall)?;
            best.push(hits.first().map_or(0.0, |hit| hit.relevance));
        }
        best.sort_by(f64::total_cmp);
        self.write(|transaction| {
            let kept = kept(self.embedder().as_deref(), transaction, &preset)?;
            if kept != before {
                return Err(Error::new(
                    ErrorKind::Busy,
                    "the model changed while the file was calibrated: calibrate again",
                ));
            }
            let memories = transaction.memory_count()?;
            let calibration = Calibration::of(&best, &calibrate, memories, kept.models);
            transaction.set_note(&kept.name, &calibration.to_note())?;
            Ok(calibration)
        })
    }

    /// The calibration of this file for the handle's model and a preset, if there is one, and whether it should be made
    /// anew.
    ///
    /// # Errors
    /// `ModelMismatch`, `Busy`, `Corrupt`, `Storage`.
    pub fn calibration(&self, preset: Preset) -> Result<Option<Calibration>> {
        self.with_model(|embedder| {
            self.read(|snapshot| {
                let kept = kept(embedder, snapshot, &preset)?;
                let note = snapshot.note(&kept.name)?;
                let Some(calibration) = note.as_deref().and_then(Calibration::from_note) else {
                    return Ok(None);
                };
                let memories = snapshot.memory_count()?;
                Ok(Some(calibration.aged(memories, kept.models)))
            })
        })
    }

    /// Questions drawn at random: each some words of the file's vocabulary, each word as likely as any other.
    fn random_questions(&self, calibrate: &Calibrate) -> Result<Vec<String>> {
        let mut random = Random(calibrate.seed);
        let words = self.read(|snapshot| {
            random = Random(calibrate.seed);
            vocabulary(snapshot, &mut random)
        })?;
        if words.is_empty() {
            return Err(Error::invalid(
                "calibrate() asks questions in words of the memories, and the file has none yet: store some first",
            ));
        }
        let mut question = || {
            let length = FEWEST_WORDS + random.below(MOST_WORDS - FEWEST_WORDS + 1);
            let words: Vec<&str> = (0..length)
                .filter_map(|_| words.get(random.below(words.len())).map(String::as_str))
                .collect();
            words.join(" ")
        };
        Ok((0..calibrate.queries).map(|_| question()).collect())
    }
}

/// Words of a random question: as many as ordinary questions have, common words not counted.
const FEWEST_WORDS: usize = 3;
const MOST_WORDS: usize = 8;

/// Of more memories than these, so many drawn at random lend their words.
const MOST_MEMORIES: usize = 10_000;

/// The distinct words of the memories, as questions are searched by them, in order.
fn vocabulary(snapshot: &Snapshot<'_>, random: &mut Random) -> Result<Vec<String>> {
    let mut ids = snapshot.ids(&Filter::default())?;
    if ids.len() > MOST_MEMORIES {
        // The beginning of a shuffle (Fisher and Yates 1938).
        for place in 0..MOST_MEMORIES {
            let other = place + random.below(ids.len() - place);
            ids.swap(place, other);
        }
        ids.truncate(MOST_MEMORIES);
    }
    let mut words = BTreeSet::new();
    for id in &ids {
        if let Some(row) = snapshot.row(id)? {
            let of_one = query_words(&row.content);
            words.extend(of_one.iter().map(|word| word.text().to_owned()));
        }
    }
    Ok(words.into_iter().collect())
}

/// Where a calibration is noted, and with which models it holds.
#[derive(PartialEq)]
struct Kept {
    name: String,
    models: String,
}

/// The preset, if its relevance means the same from one question to the next.
fn with_a_scale(preset: Preset) -> Result<Preset> {
    if preset.formula == Formula::ReciprocalRank {
        return Err(Error::invalid(
            "the relevance of Preset::reciprocal_rank() cannot be compared between questions, so there is no percentile \
             of it: use another preset",
        ));
    }
    Ok(preset)
}

/// Random numbers from a seed, the same on every machine. Source: SplitMix64, Steele, Lea and Flood 2014.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`; 0 for 0. (What the remainder favours is beyond notice here.)
    fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % n).unwrap_or(0)
    }
}
/// The relevance of the percentile that a question asks for, and that percentile.
pub(crate) fn calibrated_floor(
    embedder: Option<&dyn Embedder>,
    snapshot: &Snapshot<'_>,
    recall: &Recall,
) -> Result<Option<(f64, f64)>> {
    let Some(percent) = recall.percentile else {
        return Ok(None);
    };
    let floor = calibrated(embedder, snapshot, &recall.preset, percent)?;
    Ok(Some((floor, percent)))
}

/// The relevance of a percentile.
fn calibrated(
    embedder: Option<&dyn Embedder>,
    snapshot: &Snapshot<'_>,
    preset: &Preset,
    percent: f64,
) -> Result<f64> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(Error::invalid(format!(
            "{percent} is no percentile: min_percentile takes 0 to 100"
        )));
    }
    let preset = with_a_scale(*preset)?;
    let kept = kept(embedder, snapshot, &preset)?;
    let missing = |why: String| {
        Error::new(
            ErrorKind::NotCalibrated,
            format!(
                "min_percentile needs a calibration, and {why}: call calibrate() once, with this preset"
            ),
        )
    };
    let note = snapshot.note(&kept.name)?;
    let Some(calibration) = note.as_deref().and_then(Calibration::from_note) else {
        return Err(missing(format!("the file has none for {}", kept.name)));
    };
    if calibration.models != kept.models {
        let (then, now) = (calibration.models, kept.models);
        return Err(missing(Stale::Model { then, now }.to_string()));
    }
    Ok(calibration.relevance(percent))
}

/// Where and for which models the calibration of a preset is noted.
fn kept(embedder: Option<&dyn Embedder>, snapshot: &Snapshot<'_>, preset: &Preset) -> Result<Kept> {
    let relevance = preset.relevance_name();
    let comparable = can_compare(embedder, snapshot, preset)?;
    let (Some(embedder), Some(passages), true) = (embedder, snapshot.recorded_model()?, comparable)
    else {
        return Ok(Kept {
            name: format!("calibration: words alone, {relevance}"),
            models: "words alone".to_owned(),
        });
    };
    let asking = embedder.model();
    let mut models = format!("{} ({})", passages.id, passages.revision);
    if (&passages.id, &passages.revision) != (&asking.id, &asking.revision) {
        models = format!("{models} asked by {} ({})", asking.id, asking.revision);
    }
    Ok(Kept {
        name: format!("calibration: {}, {relevance}", asking.space),
        // A line of the note.
        models: models.replace(['\n', '\r'], " "),
    })
}

//! Two texts beside each other: how alike they are, what differs, and the verdict that follows. Pure: it sees texts and a
//! cosine, never the file.

use std::collections::HashMap;

use mnemic_rank::{Likeness, conflict};
use mnemic_schema::{normal_text, visible_text};

use crate::gate::assessment::{Difference, GateVerdict};
use crate::gate::lexicon::{OPPOSITES, UNSPACED_OPPOSITES};
use crate::gate::marks::{Marks, Quantity, Word};
use crate::gate::ratio::{left, text_ratio};

/// Longer texts are not searched for what differs.
const MOST_BYTES: usize = 16 << 10;

/// Beyond so many words that only one text has, they are not looked at one by one.
const MOST_LEFT: usize = 64;

/// How alike two texts are, by their wording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Alike {
    /// Of the words that carry something, the share that both have.
    pub(crate) overlap: f64,
    /// The same share of the shorter one's.
    pub(crate) coverage: f64,
}

/// Two texts beside each other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) verdict: GateVerdict,
    pub(crate) text_ratio: f64,
    /// agent-memory's score.
    pub(crate) conflict: f64,
    pub(crate) differs: Vec<Difference>,
    pub(crate) alike: Alike,
}

/// A text made ready for being compared with several.
#[derive(Debug)]
pub(crate) struct Text {
    normal: String,
    /// Of a text that is not too long.
    marks: Option<Marks>,
}

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let marks = (text.len() <= MOST_BYTES).then(|| Marks::of(&visible_text(text)));
        Self {
            normal: normal_text(text),
            marks,
        }
    }

    pub(crate) fn normal(&self) -> &str {
        &self.normal
    }

    /// Compares this new text with a known one; `cosine` is that of their vectors, where they have any.
    pub(crate) fn beside(&self, known: &Self, cosine: Option<f64>) -> Comparison {
        let text_ratio = text_ratio(&self.normal, &known.normal);
        let likeness = |polarity_differs, preference| Likeness {
            similarity: cosine.unwrap_or(0.0),
            text_ratio,
            polarity_differs,
            preference,
        };
        let (Some(new_marks), Some(known_marks)) = (&self.marks, &known.marks) else {
            let verdict = if self.normal == known.normal {
                GateVerdict::Duplicate
            } else if text_ratio >= LONG_NEAR {
                GateVerdict::Near
            } else {
                GateVerdict::New
            };
            return Comparison {
                verdict,
                text_ratio,
                conflict: conflict(likeness(false, false)),
                differs: Vec::new(),
                alike: Alike {
                    overlap: text_ratio,
                    coverage: text_ratio,
                },
            };
        };
        if self.normal == known.normal {
            return Comparison {
                verdict: GateVerdict::Duplicate,
                text_ratio,
                conflict: conflict(likeness(false, new_marks.preference)),
                differs: Vec::new(),
                alike: Alike {
                    overlap: 1.0,
                    coverage: 1.0,
                },
            };
        }
        let (differs, alike) = differences(new_marks, known_marks);
        // Where words are not told apart, another name is a character or two, and moves no cosine.
        let meaning = cosine.filter(|_| !new_marks.is_unspaced());
        let polarity = differs.contains(&Difference::Polarity);
        let preference = new_marks.preference || known_marks.preference;
        Comparison {
            verdict: verdict(
                &differs,
                alike,
                meaning,
                text_ratio,
                new_marks.is_unspaced(),
            ),
            text_ratio,
            conflict: conflict(likeness(polarity, preference)),
            differs,
            alike,
        }
    }
}

/// From this ratio on, texts too long to be looked into are nearly the same.
const LONG_NEAR: f64 = 0.9;

/// The verdict on two texts that are not the same. The thresholds were tuned on the development half of
/// `tests/data/gate_pairs.jsonl` (docs/lifecycle.md).
fn verdict(
    differs: &[Difference],
    alike: Alike,
    meaning: Option<f64>,
    text_ratio: f64,
    unspaced: bool,
) -> GateVerdict {
    if differs
        .iter()
        .any(|difference| matches!(difference, Difference::Subject { .. }))
    {
        return GateVerdict::New;
    }
    if !differs.is_empty() {
        let coverage = if unspaced {
            UNSPACED_CONFLICT_COVERAGE
        } else {
            CONFLICT_COVERAGE
        };
        let same_matter = (alike.coverage >= coverage && alike.overlap >= CONFLICT_OVERLAP)
            || (alike.overlap >= 0.5 && meaning.unwrap_or(text_ratio) >= CONFLICT_MEANING);
        return if same_matter {
            GateVerdict::Conflict
        } else {
            GateVerdict::New
        };
    }
    let same_words = alike.coverage >= NEAR_COVERAGE && alike.overlap >= NEAR_OVERLAP;
    let same_meaning = meaning.is_some_and(|cosine| cosine >= NEAR_MEANING);
    if same_words || (same_meaning && alike.overlap >= 0.5) {
        GateVerdict::Near
    } else {
        GateVerdict::New
    }
}

const CONFLICT_COVERAGE: f64 = 0.8;
const UNSPACED_CONFLICT_COVERAGE: f64 = 0.85;
const CONFLICT_OVERLAP: f64 = 0.7;
const CONFLICT_MEANING: f64 = 0.85;
const NEAR_COVERAGE: f64 = 0.99;
const NEAR_OVERLAP: f64 = 0.6;
const NEAR_MEANING: f64 = 0.82;

/// What differs, and how alike the rest is.
fn differences(new: &Marks, known: &Marks) -> (Vec<Difference>, Alike) {
    let mut differs = Vec::new();
    if new.negations.abs_diff(known.negations) % 2 == 1 {
        differs.push(Difference::Polarity);
    }
    numbers(&mut differs, &new.numbers, &known.numbers);
    dates(&mut differs, &new.dates, &known.dates);
    for (first, second) in &new.compared {
        if first != second && known.compared.contains(&(second.clone(), first.clone())) {
            differs.push(Difference::Order {
                new: first.clone(),
                known: second.clone(),
            });
        }
    }
    let texts = |marks: &Marks| -> Vec<String> {
        marks.words.iter().map(|word| word.text.clone()).collect()
    };
    if differs.is_empty() && texts(new) == texts(known) {
        differs.extend(places(new, known));
    }
    let (new_left, known_left) = left(texts(new), texts(known));
    let mut new_left = rest(&new.words, &new_left);
    let mut known_left = rest(&known.words, &known_left);
    opposites(&mut differs, &mut new_left, &mut known_left);
    pair_off_stems(&mut new_left, &mut known_left);
    let (new_names, known_names) = left(new.names.clone(), known.names.clone());
    if let (Some(a), Some(b)) = (new_names.first(), known_names.first()) {
        subject(&mut differs, a, b);
    }
    let name = |left: &[Word]| {
        left.iter()
            .find(|word| word.capital && !word.small)
            .cloned()
    };
    if let (Some(a), Some(b)) = (name(&new_left), name(&known_left)) {
        subject(&mut differs, &a.text, &b.text);
    }
    let alike = alike(new, known, &new_left, &known_left);
    (differs, alike)
}

fn subject(differs: &mut Vec<Difference>, new: &str, known: &str) {
    differs.push(Difference::Subject {
        new: new.to_owned(),
        known: known.to_owned(),
    });
}

/// The words with these texts, as often as they are named.
fn rest(words: &[Word], texts: &[String]) -> Vec<Word> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    // From the end, as `left` leaves the later ones of equal words.
    let mut kept: Vec<Word> = words
        .iter()
        .rev()
        .filter(|word| match counts.get_mut(&*word.text) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        })
        .cloned()
        .collect();
    kept.reverse();
    kept
}

fn numbers(differs: &mut Vec<Difference>, new: &[Quantity], known: &[Quantity]) {
    let minus = |from: &[Quantity], other: &[Quantity]| -> Vec<Quantity> {
        let mut other: Vec<&Quantity> = other.iter().collect();
        let unmatched = from.iter().filter(|number| {
            let found = other.iter().position(|other| other.same(number));
            found.map(|place| other.swap_remove(place)).is_none()
        });
        unmatched.cloned().collect()
    };
    for (a, b) in minus(new, known).iter().zip(&minus(known, new)) {
        differs.push(if a.number == b.number {
            Difference::Unit {
                new: a.measure.to_owned(),
                known: b.measure.to_owned(),
            }
        } else {
            Difference::Number {
                new: a.number.clone(),
                known: b.number.clone(),
            }
        });
    }
}

/// The first numbers, names or dates that have changed places in otherwise the same words.
fn places(new: &Marks, known: &Marks) -> Option<Difference> {
    let numbers = |marks: &Marks| -> Vec<String> {
        let number = |quantity: &Quantity| {
            let text = format!("{} {}", quantity.value, quantity.measure);
            text.trim_end().to_owned()
        };
        marks.numbers.iter().map(number).collect()
    };
    let lists = [
        (new.names.clone(), known.names.clone()),
        (numbers(new), numbers(known)),
        (by_kind(&new.dates), by_kind(&known.dates)),
    ];
    lists.into_iter().find_map(|(new, known)| {
        let (only_new, only_known) = left(new.clone(), known.clone());
        let moved = only_new.is_empty() && only_known.is_empty();
        let mut pairs = new.into_iter().zip(known).filter(|_| moved);
        let (new, known) = pairs.find(|(new, known)| new != known)?;
        Some(Difference::Order { new, known })
    })
}

/// As `weekday` of `weekday 1`.
fn kind_of(date: &str) -> &str {
    date.split(' ').next().unwrap_or_default()
}

/// Those of one kind in their order: "May 5" has the order of "5 May".
fn by_kind(dates: &[String]) -> Vec<String> {
    let mut dates = dates.to_vec();
    dates.sort_by(|a, b| kind_of(a).cmp(kind_of(b)));
    dates
}

/// Only what is of one kind differs: a weekday says nothing against a month.
fn dates(differs: &mut Vec<Difference>, new: &[String], known: &[String]) {
    let (new, known) = (new.to_vec(), known.to_vec());
    let (new, mut known) = left(new, known);
    for date in new {
        let same_kind = known
            .iter()
            .position(|other| kind_of(other) == kind_of(&date));
        if let Some(place) = same_kind {
            differs.push(Difference::Date {
                new: date,
                known: known.remove(place),
            });
        }
    }
}

/// Finds opposites among the words that are left, and takes them out.
fn opposites(differs: &mut Vec<Difference>, new: &mut Vec<Word>, known: &mut Vec<Word>) {
    if new.len().max(known.len()) > MOST_LEFT {
        return;
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for word in new.iter() {
        for other in known.iter() {
            let opposed = OPPOSITES.iter().any(|(x, y)| {
                (*x == word.text && *y == other.text) || (*y == word.text && *x == other.text)
            });
            if opposed {
                found.push((word.text.clone(), other.text.clone()));
            }
        }
    }
    for (a, b) in found {
        new.retain(|word| word.text != a);
        known.retain(|word| word.text != b);
        differs.push(Difference::Opposites { new: a, known: b });
    }
    let joined = |words: &[Word]| -> String { words.iter().map(|word| &*word.text).collect() };
    let (a, b) = (joined(new), joined(known));
    for (x, y) in UNSPACED_OPPOSITES {
        for (x, y) in [(x, y), (y, x)] {
            // What both share of the pair (`用` of 启用 and 禁用) is not among what is left.
            let (only_x, only_y) = left(x.chars().collect(), y.chars().collect());
            let (only_x, only_y): (String, String) =
                (only_x.iter().collect(), only_y.iter().collect());
            if a.contains(&only_x)
                && b.contains(&only_y)
                && !only_x.is_empty()
                && !only_y.is_empty()
            {
                new.retain(|word| !only_x.contains(&*word.text));
                known.retain(|word| !only_y.contains(&*word.text));
                differs.push(Difference::Opposites {
                    new: (*x).to_owned(),
                    known: (*y).to_owned(),
                });
                return;
            }
        }
    }
}

/// Takes out words of one stem, as `prefers` and `preferred`.
fn pair_off_stems(new: &mut Vec<Word>, known: &mut Vec<Word>) {
    if new.len().max(known.len()) > MOST_LEFT {
        return;
    }
    new.retain(|word| {
        let twin = known.iter().position(|other| same_stem(word, other));
        if let Some(place) = twin {
            known.remove(place);
        }
        twin.is_none()
    });
}

fn same_stem(a: &Word, b: &Word) -> bool {
    if a.small || b.small {
        return false;
    }
    let lengths = (a.text.chars().count(), b.text.chars().count());
    let common = a
        .text
        .chars()
        .zip(b.text.chars())
        .take_while(|(x, y)| x == y)
        .count();
    let (short, long) = (lengths.0.min(lengths.1), lengths.0.max(lengths.1));
    let whole = common == short && common >= 3 && long - common <= 3;
    whole || (common >= 4 && common * 10 >= long * 6)
}

/// How much of what carries something is in both.
fn alike(new: &Marks, known: &Marks, new_left: &[Word], known_left: &[Word]) -> Alike {
    let weight = |words: &[Word]| {
        let large = words.iter().filter(|word| !word.small);
        // A character of a script without spaces is about half a word.
        large
            .map(|word| if word.is_one_character() { 0.5 } else { 1.0 })
            .sum::<f64>()
    };
    // The opposites that were taken out are in neither sum of what is left, and so in both texts.
    let (new_all, known_all) = (weight(&new.words), weight(&known.words));
    let (new_left, known_left) = (weight(new_left), weight(known_left));
    let both = (new_all - new_left + known_all - known_left).max(0.0);
    let marked =
        (new.numbers.len() + new.dates.len()).min(known.numbers.len() + known.dates.len()) as f64;
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 1.0 };
    let overlap = share(both + marked, new_all + known_all + marked);
    let shorter = if new_all <= known_all {
        share(new_all - new_left + marked, new_all + marked)
    } else {
        share(known_all - known_left + marked, known_all + marked)
    };
    Alike {
        overlap: overlap.min(1.0),
        coverage: shorter.min(1.0),
    }
}

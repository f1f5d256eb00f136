//! The variants of the scoring that were tried, a few lines each: pure functions from the columns of a question's signals
//! to a column of scores, −∞ for what is no candidate.

use std::collections::HashSet;

use mnemic_rank::{bm25, column, fusion, recency, rekal, vector};
use mnemic_schema::query_words;

use crate::dates;
use crate::experiments::{Asked, Columns};

/// A way of scoring, with the values of its parameter that are tried.
pub struct Variant {
    /// `{}` stands for the value where there is only one.
    pub name: &'static str,
    pub values: Vec<f64>,
    pub score: Score,
}

type Score = Box<dyn Fn(&Asked<'_>, f64) -> Vec<f64>>;

/// Candidates of each leg.
const CANDIDATES: usize = 30;
/// In days.
const HALF_LIFE: f64 = 30.0;
const NEWNESS: f64 = 0.01;
/// What a bonus or a context may weigh, beside a score in [0, 1].
const SHARES: [f64; 6] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5];

/// All that are tried, in the order they are printed.
pub fn variants() -> Vec<Variant> {
    let variant = |name, values: &[f64], score: Score| Variant {
        name,
        values: values.to_vec(),
        score,
    };
    let plain = |name, score: fn(&Asked<'_>) -> Vec<f64>| {
        variant(name, &[0.0], Box::new(move |asked, _| score(asked)))
    };
    let with = |name, values, score: fn(&Asked<'_>, f64) -> Vec<f64>| {
        variant(name, values, Box::new(score))
    };
    // By weight of the vector leg, from what the candidates' bm25 and cosines are brought to.
    let weights: Vec<f64> = (1..20).map(|step| f64::from(step) / 20.0).collect();
    let fused = |name, prepare: fn(&mut [f64], &mut [f64])| {
        let score = move |asked: &Asked<'_>, weight: f64| by_candidates(asked, weight, prepare);
        variant(name, &weights, Box::new(score))
    };
    vec![
        plain("the default, computed from the columns", default),
        plain("10 candidates a leg", |asked| {
            within(asked, 10, &relevance(asked))
        }),
        plain("all memories as candidates", relevance),
        plain("a missing signal taken for 0", missing_is_zero),
        fused("bm25/(bm25 + 5), vector weight", |word, _| {
            saturate(word, 5.0)
        }),
        fused("bm25/(bm25 + 10), vector weight", |word, _| {
            saturate(word, 10.0)
        }),
        fused("bm25/(bm25 + 20), vector weight", |word, _| {
            saturate(word, 20.0)
        }),
        fused("bm25/best bm25, vector weight", |word, _| by_best(word)),
        fused(
            "min-max of bm25 and cosine, vector weight",
            |word, vector| {
                column::min_max(word);
                column::min_max(vector);
            },
        ),
        fused(
            "z-score of bm25 and cosine, vector weight",
            |word, vector| {
                column::z_score(word);
                column::z_score(vector);
            },
        ),
        fused("rekal's logistic of bm25, vector weight", |word, _| {
            for bm25 in word {
                *bm25 = if *bm25 > 0.0 {
                    rekal::word(-*bm25)
                } else {
                    0.0
                };
            }
        }),
        with("reciprocal rank, vector weight", &weights, reciprocal_rank),
        with("no newness", &[0.0], newness),
        with("newness as {} of the score", &[0.05], newness),
        with("newness as {} of the score", &[0.1], newness),
        with("newness as {} of the score", &[0.2], newness),
        with("neighbours in time lend {} each, all", &[0.1], neighbours),
        with("neighbours in time lend {} each, all", &[0.2], neighbours),
        with(
            "the mean of the same day lends, all",
            &SHARES,
            |asked, share| same_day(asked, share, mean),
        ),
        with(
            "the best of the same day lends, all",
            &SHARES,
            |asked, share| same_day(asked, share, best),
        ),
        with(
            "bonus for the time that the question names, all",
            &SHARES,
            dated,
        ),
        with("bonus for names and numbers, all", &SHARES, names),
        with(
            "bonus for words side by side, all",
            &SHARES,
            |asked, share| near(asked, share, 1),
        ),
        with(
            "bonus for words at most 4 apart, all",
            &SHARES,
            |asked, share| near(asked, share, 4),
        ),
        with(
            "feedback: the best 3 added to the question's vector, all",
            &[0.25, 0.5, 1.0, 2.0],
            feedback,
        ),
        with("maximal marginal relevance, λ {}", &[0.7], diverse),
        with("maximal marginal relevance, λ {}", &[0.9], diverse),
        plain("speaker and date neither indexed nor embedded", |asked| {
            candidates_of(asked, &asked.bare.word, &asked.bare.cosine)
        }),
        plain("speaker and date indexed, not embedded", |asked| {
            candidates_of(asked, &asked.full.word, &asked.bare.cosine)
        }),
        plain("speaker and date embedded, not indexed", |asked| {
            candidates_of(asked, &asked.bare.word, &asked.full.cosine)
        }),
    ]
}

/// The default, as recall computes it.
pub fn default(asked: &Asked<'_>) -> Vec<f64> {
    within(asked, CANDIDATES, &relevance(asked))
}

/// The default's score of every memory.
fn relevance(asked: &Asked<'_>) -> Vec<f64> {
    with_newness(asked, &fuse(&asked.full.word, &asked.full.cosine), NEWNESS)
}

/// The default's relevance from any two columns.
fn fuse(word: &[f64], cosine: &[f64]) -> Vec<f64> {
    let vector: Vec<f64> = cosine
        .iter()
        .map(|cosine| vector::cosine_signal(*cosine))
        .collect();
    fusion::convex_combination(&[word, &vector], &[0.5, 0.5])
}

fn with_newness(asked: &Asked<'_>, relevance: &[f64], share: f64) -> Vec<f64> {
    let newness: Vec<f64> = asked
        .age_days
        .iter()
        .map(|age| recency(*age, HALF_LIFE))
        .collect();
    fusion::convex_combination(&[relevance, &newness], &[1.0 - share, share])
}

/// The best `k` of a leg.
fn leg(asked: &Asked<'_>, column: &[f64], k: usize) -> Vec<usize> {
    let mut best = asked.place.order(column);
    best.truncate(k);
    best
}

/// The best `k` by words (those that hold none are no candidates) and the `k` nearest.
fn legs(asked: &Asked<'_>, word: &[f64], cosine: &[f64], k: usize) -> [Vec<usize>; 2] {
    let found: Vec<f64> = word
        .iter()
        .map(|word| {
            if *word > 0.0 {
                *word
            } else {
                f64::NEG_INFINITY
            }
        })
        .collect();
    [leg(asked, &found, k), leg(asked, cosine, k)]
}

/// The scores of the candidates alone.
fn within(asked: &Asked<'_>, k: usize, scores: &[f64]) -> Vec<f64> {
    keep(
        scores,
        &legs(asked, &asked.full.word, &asked.full.cosine, k).concat(),
    )
}

fn keep(scores: &[f64], places: &[usize]) -> Vec<f64> {
    let mut kept = vec![f64::NEG_INFINITY; scores.len()];
    for &place in places {
        kept[place] = scores[place];
    }
    kept
}

/// The default of other columns.
fn candidates_of(asked: &Asked<'_>, word: &[f64], cosine: &[f64]) -> Vec<f64> {
    let scores = with_newness(asked, &fuse(word, cosine), NEWNESS);
    keep(&scores, &legs(asked, word, cosine, CANDIDATES).concat())
}

fn missing_is_zero(asked: &Asked<'_>) -> Vec<f64> {
    let Columns { word, cosine, .. } = &asked.full;
    let found = legs(asked, word, cosine, CANDIDATES);
    let known = |column: &[f64], places: &[usize]| {
        let mut known = vec![0.0; column.len()];
        for &place in places {
            known[place] = column[place];
        }
        known
    };
    let relevance = fuse(&known(word, &found[0]), &known(cosine, &found[1]));
    keep(&with_newness(asked, &relevance, NEWNESS), &found.concat())
}

/// Brings bm25 and cosines of the candidates, those alone, to other numbers and fuses them.
fn by_candidates(asked: &Asked<'_>, weight: f64, prepare: fn(&mut [f64], &mut [f64])) -> Vec<f64> {
    let mut places = legs(asked, &asked.full.bm25, &asked.full.cosine, CANDIDATES).concat();
    places.sort_unstable();
    places.dedup();
    let pick = |column: &[f64]| -> Vec<f64> { places.iter().map(|&place| column[place]).collect() };
    let (mut word, mut vector) = (pick(&asked.full.bm25), pick(&asked.full.cosine));
    prepare(&mut word, &mut vector);
    let relevance = fusion::convex_combination(&[&word, &vector], &[1.0 - weight, weight]);
    let mut scores = vec![f64::NEG_INFINITY; asked.age_days.len()];
    for (place, relevance) in places.into_iter().zip(relevance) {
        let newness = recency(asked.age_days[place], HALF_LIFE);
        scores[place] = (1.0 - NEWNESS) * relevance + NEWNESS * newness;
    }
    scores
}

fn saturate(word: &mut [f64], pivot: f64) {
    for bm25 in word {
        *bm25 = bm25::saturate(*bm25, pivot);
    }
}

fn by_best(word: &mut [f64]) {
    let most = best(word);
    for bm25 in word {
        *bm25 = bm25::share_of_ideal(*bm25, most);
    }
}

fn reciprocal_rank(asked: &Asked<'_>, weight: f64) -> Vec<f64> {
    let found = legs(asked, &asked.full.word, &asked.full.cosine, CANDIDATES);
    let rank = |leg: &[usize], place| {
        leg.iter()
            .position(|other| *other == place)
            .map(|rank| rank + 1)
    };
    let mut scores = vec![f64::NEG_INFINITY; asked.age_days.len()];
    for &place in found.iter().flatten() {
        let ranks = [rank(&found[0], place), rank(&found[1], place)];
        scores[place] =
            fusion::reciprocal_rank(&ranks, &[1.0 - weight, weight], fusion::RECIPROCAL_RANK_K);
    }
    scores
}

fn newness(asked: &Asked<'_>, share: f64) -> Vec<f64> {
    let relevance = fuse(&asked.full.word, &asked.full.cosine);
    within(asked, CANDIDATES, &with_newness(asked, &relevance, share))
}

/// The memories before and after one add a share of their own scores.
fn neighbours(asked: &Asked<'_>, share: f64) -> Vec<f64> {
    let scores = relevance(asked);
    let at = |place: Option<usize>| place.and_then(|place| scores.get(place)).unwrap_or(&0.0);
    (0..scores.len())
        .map(|place| scores[place] + share * (at(place.checked_sub(1)) + at(Some(place + 1))))
        .collect()
}

/// The memories of the same day add a share of what they come to together.
fn same_day(asked: &Asked<'_>, share: f64, together: fn(&[f64]) -> f64) -> Vec<f64> {
    // Memories are in order of time, so that a day is a run of them.
    let (days, mut scores) = (&asked.place.days, relevance(asked));
    let mut rest = scores.as_mut_slice();
    for day in days.chunk_by(|a, b| a == b) {
        let (of_day, others) = rest.split_at_mut(day.len());
        let context = share * together(of_day);
        of_day.iter_mut().for_each(|score| *score += context);
        rest = others;
    }
    scores
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

fn best(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(0.0, f64::max)
}

/// A bonus for a part of a memory, in [0, 1].
fn with_bonus(asked: &Asked<'_>, share: f64, part: impl Fn(usize) -> f64) -> Vec<f64> {
    let scores = relevance(asked).into_iter().enumerate();
    scores
        .map(|(place, score)| score + share * part(place))
        .collect()
}

fn dated(asked: &Asked<'_>, share: f64) -> Vec<f64> {
    let spans = dates::days(asked.text, asked.place.today);
    with_bonus(asked, share, |place| {
        let day = asked.place.days[place];
        let named = spans.iter().any(|(first, end)| *first <= day && day < *end);
        f64::from(u8::from(named))
    })
}

/// For the share of the question's capitalised words (but its first) and numbers that a memory holds.
fn names(asked: &Asked<'_>, share: f64) -> Vec<f64> {
    let telling = |word: &str| {
        word.starts_with(char::is_uppercase) || word.contains(|c: char| c.is_ascii_digit())
    };
    let names: HashSet<String> = dates::words(asked.text)
        .skip(1)
        .filter(|word| telling(word))
        .map(str::to_lowercase)
        .collect();
    with_bonus(asked, share, |place| {
        let words: HashSet<&String> = asked.place.words[place].iter().collect();
        let held = names.iter().filter(|name| words.contains(name)).count();
        held as f64 / names.len().max(1) as f64
    })
}

/// For the share of pairs of words that follow each other in the question (common ones dropped) and stand in a memory in
/// that order, at most so many words apart. Plurals are not told from singulars.
fn near(asked: &Asked<'_>, share: f64, apart: usize) -> Vec<f64> {
    let content = query_words(asked.text);
    let content: Vec<&str> = content
        .iter()
        .map(|word| word.text().trim_end_matches('s'))
        .collect();
    with_bonus(asked, share, |place| {
        let words: Vec<&str> = asked.place.words[place]
            .iter()
            .map(|word| word.trim_end_matches('s'))
            .collect();
        let stands = |pair: &&[&str]| {
            let mut starts = (0..words.len()).filter(|&start| words[start] == pair[0]);
            starts.any(|start| {
                words
                    .iter()
                    .skip(start + 1)
                    .take(apart)
                    .any(|word| *word == pair[1])
            })
        };
        let held = content.windows(2).filter(stands).count();
        held as f64 / content.len().saturating_sub(1).max(1) as f64
    })
}

/// Rocchio's pseudo-relevance feedback: the question's vector plus a share of the mean of the best three memories'.
fn feedback(asked: &Asked<'_>, share: f64) -> Vec<f64> {
    let mut moved = asked.vector.clone();
    for &place in asked.place.order(&relevance(asked)).iter().take(3) {
        for (sum, x) in moved.iter_mut().zip(&asked.place.vectors[place]) {
            *sum += share as f32 / 3.0 * x;
        }
    }
    if moved.is_empty() || mnemic::normalize(&mut moved).is_err() {
        return relevance(asked);
    }
    let cosines: Vec<f64> = asked
        .place
        .vectors
        .iter()
        .map(|vector| dot(&moved, vector))
        .collect();
    with_newness(asked, &fuse(&asked.full.word, &cosines), NEWNESS)
}

/// Carbonell and Goldstein's order: next is what has most of λ · score − (1 − λ) · nearness to what was chosen before.
fn diverse(asked: &Asked<'_>, lambda: f64) -> Vec<f64> {
    let scores = default(asked);
    let mut left = asked.place.order(&scores);
    left.truncate(CANDIDATES);
    let mut chosen: Vec<usize> = Vec::new();
    let mut order = vec![f64::NEG_INFINITY; scores.len()];
    while chosen.len() < 10 && !left.is_empty() {
        let vector = |place: usize| &asked.place.vectors[place];
        let worth = |place: usize| {
            let nearest = chosen
                .iter()
                .map(|&other| dot(vector(place), vector(other)))
                .fold(0.0, f64::max);
            lambda * scores[place] - (1.0 - lambda) * nearest
        };
        // Of equals the better scored: the first.
        let next = (0..left.len())
            .rev()
            .max_by(|&a, &b| worth(left[a]).total_cmp(&worth(left[b])));
        let place = left.remove(next.unwrap_or(0));
        order[place] = -(chosen.len() as f64);
        chosen.push(place);
    }
    order
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

//! Question and passage to the token ids of pairs that the model can take. Nothing is cut silently: what is too long is
//! read in overlapping windows.

use std::ops::Range;
use std::path::Path;

use tokenizers::Tokenizer;

use crate::LoadError;
use crate::tokens::{open, windows};

/// The model's tokenizer, and the special tokens it puts around a pair: `[CLS] question [SEP] passage [SEP]`.
#[derive(Debug)]
pub(crate) struct Pairs {
    tokenizer: Tokenizer,
    before: Vec<u32>,
    between: Vec<u32>,
    after: Vec<u32>,
    /// The longest sequence, special tokens included.
    limit: usize,
}

/// A pair's token ids, and how many of them are the question's side.
pub(crate) struct Pair {
    pub(crate) tokens: Vec<u32>,
    pub(crate) first: usize,
}

impl Pairs {
    /// Reads `tokenizer.json`, which must have a template for pairs that tells the two sides apart.
    pub(crate) fn read(folder: &Path, vocabulary: usize, limit: usize) -> Result<Self, LoadError> {
        let (path, tokenizer) = open(folder, vocabulary)?;
        let probe = tokenizer
            .encode_fast(("a", "b"), true)
            .map_err(|source| LoadError::corrupt(&path, "it cannot encode a pair", source))?;
        // Where its own template has special tokens, and where the second side begins, whatever the post-processor is.
        let special = probe.get_special_tokens_mask();
        let places: Vec<usize> = (0..)
            .zip(special)
            .filter_map(|(i, s)| (*s == 0).then_some(i))
            .collect();
        let ids = probe.get_ids();
        let sides = match places.as_slice() {
            [question, passage] => (
                ids.get(..*question),
                ids.get(question + 1..*passage),
                ids.get(passage + 1..),
                probe.get_type_ids().iter().position(|kind| *kind == 1) == Some(*passage),
            ),
            _ => (None, None, None, false),
        };
        let (Some(before), Some(between @ [_, ..]), Some(after), true) = sides else {
            let reason = "it has no template for a pair as BERT wants it: [CLS] question [SEP] of type 0, passage \
                          [SEP] of type 1";
            return Err(LoadError::unsupported(path, reason));
        };
        Ok(Self {
            before: before.to_vec(),
            between: between.to_vec(),
            after: after.to_vec(),
            limit,
            tokenizer,
        })
    }

    /// The tokens of question and passage together that fit in one window.
    pub(crate) fn capacity(&self) -> usize {
        let special = self.before.len() + self.between.len() + self.after.len();
        self.limit.saturating_sub(special)
    }

    /// The token ids of texts, without special tokens.
    pub(crate) fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, tokenizers::Error> {
        let encodings = self.tokenizer.encode_batch_fast(texts.to_vec(), false)?;
        let ids = encodings.iter().map(|encoding| encoding.get_ids().to_vec());
        Ok(ids.collect())
    }

    /// The pairs to run for a question and a passage: one where both fit; see [`cuts`]. None where either has no
    /// tokens.
    pub(crate) fn pairs<'a>(
        &'a self,
        question: &'a [u32],
        passage: &'a [u32],
    ) -> impl ExactSizeIterator<Item = Pair> + 'a {
        let cuts = cuts(question.len(), passage.len(), self.capacity());
        cuts.into_iter().map(move |(of_question, of_passage)| {
            let question = question.get(of_question).unwrap_or_default();
            let passage = passage.get(of_passage).unwrap_or_default();
            Pair {
                tokens: [&self.before, question, &self.between, passage, &self.after].concat(),
                first: self.before.len() + question.len() + self.between.len(),
            }
        })
    }
}

/// Which tokens of a question and a passage stand together in a window of `capacity` tokens.
///
/// All of both, where they fit. Else the question has at most half of the window, and is cut in [`windows`] where it is
/// longer; to each of its windows, the passage is cut in windows of what is left.
fn cuts(question: usize, passage: usize, capacity: usize) -> Vec<(Range<usize>, Range<usize>)> {
    if question == 0 || passage == 0 {
        return Vec::new();
    }
    if question + passage <= capacity {
        return vec![(0..question, 0..passage)];
    }
    let mut all = Vec::new();
    for of_question in windows(question, capacity / 2) {
        let left = capacity - of_question.len();
        let of_passage = windows(passage, left).into_iter();
        all.extend(of_passage.map(|of_passage| (of_question.clone(), of_passage)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::cuts;

    #[test]
    fn a_pair_that_fits_is_whole_and_a_longer_one_is_cut_on_the_side_that_is_long() {
        assert_eq!(cuts(40, 21, 61), [(0..40, 0..21)]);
        assert_eq!(cuts(10, 52, 61), [(0..10, 0..51), (0..10, 1..52)]);
        assert_eq!(
            cuts(60, 2, 61),
            [(0..30, 0..2), (15..45, 0..2), (30..60, 0..2)]
        );
        assert!(cuts(0, 5, 61).is_empty() && cuts(5, 0, 61).is_empty());
    }

    #[test]
    fn every_token_of_both_is_in_some_pair_and_no_pair_is_too_long() {
        for capacity in [2usize, 3, 9, 61] {
            for question in 1..100 {
                for passage in (1..200).step_by(7) {
                    let cuts = cuts(question, passage, capacity);
                    for (a, b) in &cuts {
                        assert!(a.len() + b.len() <= capacity && !a.is_empty() && !b.is_empty());
                    }
                    let seen = |token: usize, of_question: bool| {
                        cuts.iter()
                            .any(|(a, b)| if of_question { a } else { b }.contains(&token))
                    };
                    assert!((0..question).all(|token| seen(token, true)));
                    assert!((0..passage).all(|token| seen(token, false)));
                }
            }
        }
    }
}

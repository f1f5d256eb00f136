//! Text to token ids, cut in windows that the model can take. The tokenizer's own truncation and padding are switched
//! off: what the model wants decides, and nothing is cut silently.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use crate::LoadError;
use crate::folder::read;

/// Bytes of text that are tokenised and run together: the batch is bounded whatever the caller hands over.
const BATCH_BYTES: usize = 256 * 1024;

/// Cuts texts, in order, in batches of at most [`BATCH_BYTES`] (a single longer text aside).
pub(crate) fn batches<'a, 'b>(mut rest: &'a [&'b str]) -> impl Iterator<Item = &'a [&'b str]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|text| {
            bytes += text.len();
            bytes <= BATCH_BYTES
        });
        let (batch, after) = rest.split_at_checked(fitting.count().max(1))?;
        rest = after;
        Some(batch)
    })
}

/// Reads `tokenizer.json`, its truncation and padding switched off; answers with its path, too.
pub(crate) fn open(folder: &Path, vocabulary: usize) -> Result<(PathBuf, Tokenizer), LoadError> {
    let path = folder.join("tokenizer.json");
    let bytes = read(&path)?;
    let mut tokenizer = Tokenizer::from_bytes(&bytes)
        .map_err(|source| LoadError::corrupt(&path, "it is not a tokenizer", source))?;
    tokenizer
        .with_truncation(None)
        .map_err(|source| LoadError::corrupt(&path, "its truncation stays", source))?
        .with_padding(None);
    let size = tokenizer.get_vocab_size(true);
    if size > vocabulary {
        let reason = format!(
            "it has {size} tokens, the model embeds {vocabulary}: it belongs to another model"
        );
        return Err(LoadError::unsupported(path, reason));
    }
    Ok((path, tokenizer))
}

/// The model's tokenizer, and the special tokens it puts around a text.
#[derive(Debug)]
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    before: Vec<u32>,
    after: Vec<u32>,
    /// The longest sequence, special tokens included.
    limit: usize,
}

/// A text's token ids without special tokens: those of the prefix, and its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    prefix: usize,
    ids: Vec<u32>,
}

impl Encoded {
    /// How many tokens the text itself has.
    pub(crate) fn own(&self) -> usize {
        self.ids.len() - self.prefix
    }
}

impl Tokens {
    /// Reads `tokenizer.json`.
    pub(crate) fn read(folder: &Path, vocabulary: usize, limit: usize) -> Result<Self, LoadError> {
        let (path, tokenizer) = open(folder, vocabulary)?;
        // Which special tokens stand before and after a text, whatever the post-processor is.
        let probe = tokenizer
            .encode_fast("a", true)
            .map_err(|source| LoadError::corrupt(&path, "it cannot encode \"a\"", source))?;
        let special = probe.get_special_tokens_mask();
        let text = special.iter().position(|mask| *mask == 0);
        let (before, after) = match text {
            Some(first) => {
                let end = special.iter().rposition(|mask| *mask == 0).unwrap_or(first) + 1;
                let ids = probe.get_ids();
                (
                    ids.get(..first).unwrap_or_default().to_vec(),
                    ids.get(end..).unwrap_or_default().to_vec(),
                )
            }
            None => (Vec::new(), Vec::new()),
        };
        Ok(Self {
            tokenizer,
            before,
            after,
            limit,
        })
    }

    /// Encodes texts, each behind the prefix.
    pub(crate) fn encode(
        &self,
        prefix: &str,
        texts: &[&str],
    ) -> Result<Vec<Encoded>, tokenizers::Error> {
        if prefix.is_empty() {
            let encodings = self.tokenizer.encode_batch_fast(texts.to_vec(), false)?;
            let encoded = encodings.into_iter().map(|encoding| Encoded {
                prefix: 0,
                ids: encoding.get_ids().to_vec(),
            });
            return Ok(encoded.collect());
        }
        let alone = self.tokenizer.encode_fast(prefix, false)?;
        let inputs: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let encodings = self.tokenizer.encode_batch_fast(inputs, false)?;
        let encoded = encodings.into_iter().map(|encoding| {
            let ids = encoding.get_ids();
            // A blank at the prefix's end may become part of the text's first token.
            let common = alone.get_ids().iter().zip(ids);
            Encoded {
                prefix: common.take_while(|(a, b)| a == b).count(),
                ids: ids.to_vec(),
            }
        });
        Ok(encoded.collect())
    }

    /// How many of a text's own tokens fit in one window beside `prefix` tokens.
    pub(crate) fn capacity(&self, prefix: usize) -> usize {
        self.limit
            .saturating_sub(self.before.len() + self.after.len() + prefix)
    }

    /// The tokens of a prefix alone.
    pub(crate) fn prefix_length(&self, prefix: &str) -> Result<usize, tokenizers::Error> {
        Ok(self.tokenizer.encode_fast(prefix, false)?.len())
    }

    /// The sequences to run for a text: one, or overlapping windows, each with prefix and special tokens. None for a
    /// text without tokens.
    pub(crate) fn sequences(&self, encoded: &Encoded) -> Vec<Vec<u32>> {
        let (prefix, own) = encoded
            .ids
            .split_at_checked(encoded.prefix)
            .unwrap_or_default();
        windows(own.len(), self.capacity(prefix.len()))
            .into_iter()
            .map(|window| {
                let window = own.get(window).unwrap_or_default();
                [&self.before, prefix, window, &self.after].concat()
            })
            .collect()
    }
}

/// Cuts `length` tokens in windows of at most `capacity`.
///
/// A longer text is cut in the fewest windows of `capacity` tokens that overlap their neighbours by at least an eighth;
/// they are spread evenly, from the first token to the last. So every window is full, all weigh the same when they are
/// averaged, and a sentence cut by one window's end stands whole in the next, unless it is longer than the overlap.
pub(crate) fn windows(length: usize, capacity: usize) -> Vec<Range<usize>> {
    if length == 0 || capacity == 0 {
        return Vec::new();
    }
    if length <= capacity {
        return std::iter::once(0..length).collect();
    }
    let overlap = capacity / 8;
    let count = (length - overlap).div_ceil(capacity - overlap);
    (0..count)
        .map(|i| i * (length - capacity) / (count - 1))
        .map(|start| start..start + capacity)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::windows;

    #[test]
    fn windows_cover_every_token_and_overlap() {
        assert!(windows(0, 10).is_empty());
        assert_eq!(windows(10, 10).len(), 1);
        assert_eq!(windows(11, 10), [0..10, 1..11]);
        for capacity in [1usize, 2, 7, 8, 64, 254] {
            for length in 1..1200 {
                let windows = windows(length, capacity);
                assert_eq!(windows[0].start, 0);
                assert_eq!(windows[windows.len() - 1].end, length);
                for pair in windows.windows(2) {
                    assert!(pair[0].start < pair[1].start);
                    assert!(
                        pair[0].end - capacity / 8 >= pair[1].start,
                        "{length} {capacity}"
                    );
                    assert_eq!(pair[0].len(), capacity);
                }
            }
        }
    }
}

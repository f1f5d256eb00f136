//! Hits packed into a budget of tokens, and written as a text for a model to read. It never cuts a memory, and nothing in
//! the text depends on the clock or on a score.

use std::fmt;
use std::sync::Arc;

use crate::recall::hit::Hit;
use crate::recall::watch::Watch;

/// Counts the tokens of a text, for [`crate::Recall::budget`].
///
/// Any `Fn(&str) -> usize` is one, so that the tokenizer of the model that will read the memories can be used. With the
/// feature `static` so is [`crate::StaticEmbedder`], which counts word pieces; with `candle` a `CandleEmbedder`, which
/// counts by its own tokenizer; and [`EstimatedTokens`], which needs no tokenizer.
///
/// The same text must have the same count every time, or the same question has other answers.
///
/// ```
/// use mnemic::{EstimatedTokens, Recall, TokenCounter};
///
/// assert_eq!(EstimatedTokens.count("Deploys freeze on Fridays."), 7);
/// let recall = Recall::new("when can I ship?").budget(2_000, EstimatedTokens);
/// // Whatever else is written around each memory is counted too.
/// let recall = Recall::new("when can I ship?").budget(2_000, |text: &str| 4 + EstimatedTokens.count(text));
/// ```
pub trait TokenCounter: Send + Sync {
    /// How many tokens the text has.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize + Send + Sync> TokenCounter for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// A guess at the number of tokens by characters alone: a token for each four of ASCII (rounded up) and one for each
/// other character.
///
/// Four characters a token is what tokenizers of language models make of English prose, by the rule of thumb of those
/// who make them. Code, numbers and names have fewer characters a token: leave some room. Chinese and Japanese have one
/// or less than one token a character; of accented letters it counts too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EstimatedTokens;

const ASCII_A_TOKEN: usize = 4;

impl TokenCounter for EstimatedTokens {
    fn count(&self, text: &str) -> usize {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        let other = text.chars().filter(|c| !c.is_ascii()).count();
        ascii.div_ceil(ASCII_A_TOKEN) + other
    }
}

/// Counts the word pieces of the bundled model: those of all-MiniLM-L6-v2 and of BERT. Other models' tokenizers make
/// somewhat fewer tokens of the same English.
#[cfg(feature = "static")]
#[cfg_attr(docsrs, doc(cfg(feature = "static")))]
impl TokenCounter for mnemic_static::StaticEmbedder {
    fn count(&self, text: &str) -> usize {
        // A token is at least a byte: a model that cannot be loaded never overfills a budget.
        self.count_tokens(text).unwrap_or(text.len())
    }
}

/// Counts by the model's own tokenizer, special tokens not counted.
#[cfg(feature = "candle")]
#[cfg_attr(docsrs, doc(cfg(feature = "candle")))]
impl TokenCounter for mnemic_candle::CandleEmbedder {
    fn count(&self, text: &str) -> usize {
        // As above.
        self.count_tokens(text).unwrap_or(text.len())
    }
}

/// So many tokens, counted so.
#[derive(Clone)]
pub(crate) struct Budget {
    pub(crate) tokens: usize,
    counter: Arc<dyn TokenCounter>,
}

impl Budget {
    pub(crate) fn new(tokens: usize, counter: impl TokenCounter + 'static) -> Self {
        Self {
            tokens,
            counter: Arc::new(counter),
        }
    }

    /// Keeps the hits that fit, in their order: one that does not fit in what is left is passed over, and the next is
    /// looked at.
    pub(crate) fn pack(&self, mut hits: Vec<Hit>, watch: &mut dyn Watch) -> Vec<Hit> {
        let mut left = self.tokens;
        hits.retain(|hit| {
            let tokens = self.counter.count(&entry(hit));
            watch.counted(hit, tokens, left, self.tokens);
            match left.checked_sub(tokens) {
                Some(rest) => {
                    left = rest;
                    true
                }
                None => false,
            }
        });
        hits
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} tokens)", self.tokens)
    }
}

/// Equal where they are of one size and share one counter: two counters cannot be compared.
impl PartialEq for Budget {
    fn eq(&self, other: &Self) -> bool {
        self.tokens == other.tokens && Arc::ptr_eq(&self.counter, &other.counter)
    }
}

/// Hits as a text for a model to read: a line each, oldest first, with the day (UTC) on which it was created.
///
/// The order is by time of creation, then by id; further lines of a memory are indented by two spaces, so that none can
/// be taken for another memory. No score, rank or age is in it. So the text depends on which memories were recalled and
/// on nothing else, and a model's prompt cache that holds it stays good for as long as they are the same: see the recipe
/// "Fill a prompt" for what else that takes. Empty for no hits.
///
/// Of a document it has the title and the passages that the hit brings along ([`Hit::text`]), not the card.
///
/// It is what [`crate::Recall::budget`] counts, line by line.
///
/// ```
/// use mnemic::{EstimatedTokens, Memory, NewMemory, Recall};
///
/// let memory = Memory::open_in_memory()?;
/// memory.store(NewMemory::new("The freeze is lifted\nin December").created_at("2026-05-04".parse()?))?;
/// memory.store(NewMemory::new("Deploys freeze on Fridays").created_at("2026-05-01".parse()?))?;
/// let hits = memory.recall(Recall::new("do deploys freeze?").budget(100, EstimatedTokens))?;
/// assert_eq!(
///     mnemic::context(&hits),
///     "- 2026-05-01: Deploys freeze on Fridays\n- 2026-05-04: The freeze is lifted\n  in December\n"
/// );
/// # Ok::<(), mnemic::Error>(())
/// ```
#[must_use]
pub fn context(hits: &[Hit]) -> String {
    let mut hits: Vec<&Hit> = hits.iter().collect();
    hits.sort_by(|a, b| {
        let (a, b) = (&a.memory, &b.memory);
        (a.created_at, &a.id).cmp(&(b.created_at, &b.id))
    });
    hits.into_iter().map(entry).collect()
}

/// One memory as it stands in [`context`].
fn entry(hit: &Hit) -> String {
    let created = hit.memory.created_at.to_string();
    let day = created.split(' ').next().unwrap_or_default();
    let mut entry = format!("- {day}: ");
    let text = hit.text();
    let mut characters = text.trim_end().chars().peekable();
    while let Some(c) = characters.next() {
        // Whatever some reader takes for the end of a line: the next begins indented, as no memory does.
        match c {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                entry.push_str("\n  ")
            }
            other => entry.push(other),
        }
    }
    entry.push('\n');
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_counts_four_letters_or_one_other_character() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("夜景", 2),
            ("né", 2),
        ] {
            assert_eq!(EstimatedTokens.count(text), tokens, "{text}");
        }
    }
}

//! Text to word pieces, by the `tokenizers` crate, in segments of bounded size. It never sees the table.

use mnemic_embed::EmbedError;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{
    AddedToken, DecoderWrapper, Model, PostProcessorWrapper, Result as Tokenized, TokenizerImpl,
};

/// A segment is cut at the first safe place at or after this many bytes. The tokenizer keeps some 100 bytes a byte of
/// text, so this bounds its memory; a longer segment is no faster.
const SEGMENT_BYTES: usize = 8 * 1024;

/// The characters of the longest word that has pieces of its own.
const LONGEST_WORD: usize = 100;

/// Pieces that stand for themselves in a text, brackets and capitals included.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

type Tokenizer = TokenizerImpl<
    WordPiece,
    BertNormalizer,
    BertPreTokenizer,
    PostProcessorWrapper,
    DecoderWrapper,
>;

/// The word-piece vocabulary and its rules.
pub(crate) struct Pieces {
    tokenizer: Tokenizer,
}

impl Pieces {
    /// Reads a `vocab.txt`: one piece a line, its id the line's number. The rules are those of all-MiniLM-L6-v2's
    /// `tokenizer.json` (which takes twice as long to read), less its padding and truncation.
    pub(crate) fn from_vocabulary(lines: &[u8]) -> Result<Self, EmbedError> {
        let tokenizer = Self::tokenizer(lines).map_err(|error| {
            EmbedError::load(crate::ID, "the vocabulary is damaged").caused_by(error)
        })?;
        Ok(Self { tokenizer })
    }

    fn tokenizer(lines: &[u8]) -> Tokenized<Tokenizer> {
        let vocabulary = WordPiece::read_bytes(lines)?;
        let words = WordPiece::builder()
            .vocab(vocabulary)
            .max_input_chars_per_word(LONGEST_WORD)
            .build()?;
        let mut tokenizer = TokenizerImpl::new(words);
        // Cleans white space, sets ideographs apart, strips accents, lowers case.
        tokenizer.with_normalizer(Some(BertNormalizer::new(true, true, None, true)))?;
        tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
        tokenizer.add_special_tokens(SPECIAL.map(|piece| AddedToken::from(piece, true)))?;
        Ok(tokenizer)
    }

    /// The number of pieces known.
    pub(crate) fn len(&self) -> usize {
        self.tokenizer.get_model().get_vocab_size()
    }

    /// The pieces of one segment (see [`segments`]), without the special pieces at the ends.
    pub(crate) fn of(&self, segment: &str) -> Result<Vec<u32>, EmbedError> {
        let pieces = if is_plain(segment) {
            self.of_plain(segment)
        } else {
            self.of_any(segment)
        };
        pieces.map_err(|error| {
            let reason = format!("a text of {} bytes could not be tokenised", segment.len());
            EmbedError::run(reason).caused_by(error)
        })
    }

    fn of_any(&self, segment: &str) -> Tokenized<Vec<u32>> {
        let encoding = self.tokenizer.encode_fast(segment, false)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The same for plain text, five times as fast: where the normalizer has only to lower the case, the words go
    /// to the word-piece model directly, without the tables that align them with the original.
    fn of_plain(&self, segment: &str) -> Tokenized<Vec<u32>> {
        let mut pieces = Vec::with_capacity(segment.len() / 4);
        for word in segment.to_ascii_lowercase().split_ascii_whitespace() {
            for part in split_off_punctuation(word) {
                let found = self.tokenizer.get_model().tokenize(part)?;
                pieces.extend(found.iter().map(|piece| piece.id));
            }
        }
        Ok(pieces)
    }
}

/// Whether a text is printable ASCII and white space, with no bracket that may open a special piece.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r') && byte != b'[')
}

/// The parts of a word of ASCII: each punctuation mark alone, and what is between them.
fn split_off_punctuation(word: &str) -> impl Iterator<Item = &str> {
    let is_mark = |char: char| char.is_ascii_punctuation();
    word.split_inclusive(is_mark).flat_map(move |part| {
        let before = part.trim_end_matches(is_mark);
        let mark = part.strip_prefix(before).unwrap_or_default();
        [before, mark].into_iter().filter(|part| !part.is_empty())
    })
}

/// Cuts a text into segments whose pieces, one after another, are those of the whole text.
///
/// A segment ends before white space, a punctuation mark or a CJK ideograph: all of these the tokenizer sets apart by
/// itself. Square brackets stay with what they enclose, since `[MASK]` is one piece; and white space that is a control
/// character (a form feed) is no place to cut, since the tokenizer drops it without a gap. A text without such a place
/// stays whole, but of an endless word of ASCII letters and digits (a hexadecimal dump, say) only the beginning is
/// kept: beyond 100 characters a word is one unknown piece.
pub(crate) fn segments(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (segment, after) = rest.split_at_checked(cut(rest)).unwrap_or((rest, ""));
        rest = after;
        (!segment.is_empty()).then(|| shorten(segment))
    })
}

/// Where the first segment of `text` ends.
fn cut(text: &str) -> usize {
    text.char_indices()
        .skip_while(|(at, _)| *at < SEGMENT_BYTES)
        .find_map(|(at, char)| match char {
            ' ' | '\t' | '\n' | '\r' | '\u{4e00}'..='\u{9fff}' => Some(at),
            ']' => Some(at + 1),
            _ => char.is_ascii_punctuation().then_some(at),
        })
        .unwrap_or(text.len())
}

/// The segment, less what changes nothing in an endless word at its end.
fn shorten(segment: &str) -> &str {
    let endless = segment
        .as_bytes()
        .get(SEGMENT_BYTES..)
        .is_some_and(|tail| tail.iter().all(u8::is_ascii_alphanumeric));
    let kept = if endless {
        segment.get(..SEGMENT_BYTES + 2 * LONGEST_WORD)
    } else {
        None
    };
    kept.unwrap_or(segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> Pieces {
        Pieces::from_vocabulary(crate::VOCABULARY).unwrap()
    }

    /// The pieces of a text cut into segments.
    fn cut_up(pieces: &Pieces, text: &str) -> Vec<u32> {
        segments(text)
            .flat_map(|segment| pieces.of(segment).unwrap())
            .collect()
    }

    #[test]
    fn neither_special_pieces_nor_padding_nor_truncation() {
        let pieces = pieces();
        assert_eq!(pieces.len(), 30_522);
        assert_eq!(pieces.of("the cache").unwrap(), [1996, 17053]);
        assert_eq!(pieces.of(" \t\0").unwrap(), [0u32; 0]);
        assert_eq!(pieces.of(&"word ".repeat(600)).unwrap(), [2773; 600]);
    }

    #[test]
    fn a_word_is_split_at_each_punctuation_mark() {
        let parts = |word| split_off_punctuation(word).collect::<Vec<_>>();
        assert_eq!(parts("(don't)"), ["(", "don", "'", "t", ")"]);
        assert_eq!(parts("c++"), ["c", "+", "+"]);
        assert_eq!(parts("word"), ["word"]);
        assert_eq!(parts(""), [""; 0]);
    }

    #[test]
    fn a_short_text_is_one_segment_and_an_empty_text_is_none() {
        assert_eq!(segments("").count(), 0);
        assert_eq!(segments("a b").collect::<Vec<_>>(), ["a b"]);
        let word = "か".repeat(SEGMENT_BYTES);
        assert_eq!(segments(&word).collect::<Vec<_>>(), [word.as_str()]);
    }

    #[test]
    fn an_endless_word_is_shortened_to_the_same_unknown_piece() {
        let pieces = pieces();
        for (before, after) in [
            ("", ""),
            ("so: ", " end"),
            ("é", "é"),
            ("[MASK]", "]"),
            ("", "\u{c}x"),
        ] {
            let text = format!("{before}{}{after}", "5f".repeat(3 * SEGMENT_BYTES));
            assert_eq!(
                cut_up(&pieces, &text),
                pieces.of_any(&text).unwrap(),
                "{before:?} {after:?}"
            );
        }
        let text = "5f".repeat(3 * SEGMENT_BYTES) + ", end";
        let lengths: Vec<usize> = segments(&text).map(str::len).collect();
        assert_eq!(lengths, [SEGMENT_BYTES + 2 * LONGEST_WORD, 5]);
    }

    #[test]
    fn segments_are_bounded_and_join_to_the_text() {
        for unit in [
            "word ",
            "comma,",
            "語",
            "x\n",
            "[MASK]",
            "[",
            "]",
            "ab\u{c}cd-",
        ] {
            let text = unit.repeat(9 * SEGMENT_BYTES / unit.len());
            let parts: Vec<&str> = segments(&text).collect();
            assert_eq!(parts.concat(), text);
            assert!(parts.len() >= 8, "{unit:?}: {} segments", parts.len());
            for part in parts {
                assert!(part.len() <= SEGMENT_BYTES + unit.len(), "{unit:?}");
            }
        }
    }

    #[test]
    fn a_damaged_vocabulary_is_an_error_that_says_so() {
        let error = Pieces::from_vocabulary(b"\xff\n").err().unwrap();
        assert_eq!(
            error.to_string(),
            "the model mnemic-static-384-int4 could not be loaded: the vocabulary is damaged"
        );
        let cause = std::error::Error::source(&error).unwrap();
        assert_eq!(cause.to_string(), "stream did not contain valid UTF-8");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The units are what could be glued or torn by a cut: control characters, marks, brackets, ideographs.
        #[test]
        fn cutting_changes_no_piece(
            unit in "([a-z]{1,9}|[ \t\n\r,.\\[\\]\u{b}\u{c}\u{85}\u{0}\u{301}\u{338}\u{feff}]|\\[MASK\\]|[今日は\u{3400}\u{fa0e}]|ß|İ|Σ|é|\\PC){1,40}",
            shift in "[a-z]{0,7}",
        ) {
            let pieces = pieces_once();
            let text = shift + &unit.repeat(2 * SEGMENT_BYTES / unit.len() + 2);
            prop_assert_eq!(cut_up(pieces, &text), pieces.of_any(&text).unwrap());
        }

        #[test]
        fn plain_text_has_the_same_pieces_by_the_short_way(
            text in "([ -~\\t\\n\\r]|[a-zA-Z]{1,12}|[a-z]{99,102}){0,60}",
        ) {
            let pieces = pieces_once();
            let whole = pieces.of_any(&text).unwrap();
            prop_assert_eq!(&pieces.of(&text).unwrap(), &whole);
            if is_plain(&text) {
                prop_assert_eq!(pieces.of_plain(&text).unwrap(), whole);
            }
        }
    }

    fn pieces_once() -> &'static Pieces {
        static PIECES: std::sync::LazyLock<Pieces> = std::sync::LazyLock::new(pieces);
        &PIECES
    }
}

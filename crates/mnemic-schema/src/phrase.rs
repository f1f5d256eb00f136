//! Exact search: whether a text holds a phrase word by word, as it is spelled. The word index narrows down where to look;
//! the text itself decides. It ranks nothing.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use crate::error::{Doing, SchemaError};
use crate::indexed::Indexed;
use crate::read::Snapshot;
use crate::text::{QueryWord, fold, is_unspaced, query_words};

/// The form in which phrases and texts are compared: NFC, lower case, white space of any length as one space.
fn phrase_form(text: &str) -> String {
    let folded = fold(text);
    let mut form = String::with_capacity(folded.len());
    let mut spaced = false;
    for c in folded.chars() {
        if c.is_whitespace() {
            spaced = true;
            continue;
        }
        if spaced && !form.is_empty() {
            form.push(' ');
        }
        spaced = false;
        form.push(c);
    }
    form
}

/// Whether a text holds a phrase at the borders of words: `cat` is not in `concatenate`. In scripts without spaces every character is a border.
pub(crate) fn contains(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (phrase_form(text), phrase_form(phrase));
    let (Some(first), Some(last)) = (phrase.chars().next(), phrase.chars().next_back()) else {
        return true;
    };
    let joins = |a: char, b: char| {
        let word = |c: char| c.is_alphanumeric() && !is_unspaced(c);
        word(a) && word(b)
    };
    text.match_indices(&phrase).any(|(start, found)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text
            .get(start + found.len()..)
            .and_then(|text| text.chars().next());
        before.is_none_or(|c| !joins(c, first)) && after.is_none_or(|c| !joins(last, c))
    })
}

/// The condition that a memory `m` (its text, or its source) or a chunk `c` holds a phrase, and its values.
pub(crate) fn condition(indexed: Indexed, phrase: &str) -> (String, Vec<Value>) {
    let words = query_words(phrase);
    let mut values = Vec::new();
    let bind = |values: &mut Vec<Value>, text: &str| values.push(Value::Text(text.to_owned()));
    let all: Vec<String> = words.iter().map(|word| word.match_expression()).collect();
    let all = all.join(" AND ");
    // A phrase without a letter or digit is in no index.
    let among = |key: &str, index: &str| match words.is_empty() {
        true => String::new(),
        false => format!("{key} IN (SELECT rowid FROM {index} WHERE {index} MATCH ?) AND "),
    };
    if indexed == Indexed::Passages {
        if !words.is_empty() {
            bind(&mut values, &all);
        }
        bind(&mut values, phrase);
        let among = among("c.chunk", "chunks_fts");
        return (format!("({among}mnemic_contains(c.text, ?))"), values);
    }
    if !words.is_empty() {
        bind(&mut values, &all);
    }
    bind(&mut values, phrase);
    let card = format!(
        "({}mnemic_contains(m.content, ?))",
        among("m.seq", "memories_fts")
    );
    // The words of a phrase may lie in two chunks: each must be in one of them. A script without spaces is searched by
    // pairs of characters, and a pair may lie in two chunks itself: it narrows nothing down.
    let mut source = String::new();
    let whole = |word: &&QueryWord| word.is_prefix() || !word.text().chars().any(is_unspaced);
    for word in words.iter().filter(whole) {
        source.push_str(
            "(d.seq IN (SELECT c.seq FROM chunks_fts f JOIN chunks c ON c.chunk = f.rowid WHERE chunks_fts MATCH ?)
              OR d.seq NOT IN (SELECT seq FROM chunks)) AND ",
        );
        bind(&mut values, &word.match_expression());
    }
    bind(&mut values, phrase);
    let sql = format!(
        "({card} OR m.seq IN (SELECT d.seq FROM documents d WHERE {source}mnemic_contains(d.source, ?)))"
    );
    (sql, values)
}

impl Snapshot<'_> {
    /// Visits the keys of the memories that hold a phrase (documents in their source too), or of the passages that do.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn with_phrase_in(
        &self,
        indexed: Indexed,
        phrase: &str,
        mut visit: impl FnMut(i64),
    ) -> Result<(), SchemaError> {
        let doing = "searching for a phrase";
        let (condition, values) = condition(indexed, phrase);
        let sql = indexed.filled(&format!("SELECT {{id}} FROM {{from}} WHERE {condition}"));
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = statement.query(params_from_iter(values)).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            visit(row.get(0).doing(doing)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_phrase_is_found_word_by_word() {
        for (text, phrase, is) in [
            ("error: cannot borrow `x`", "cannot  borrow", true),
            ("error: cannot borrow `x`", "annot borrow", false),
            ("cannot\r\n  borrow", "Cannot Borrow", true),
            ("borrow cannot", "cannot borrow", false),
            ("concatenate a cat", "cat", true),
            ("concatenate", "cat", false),
            ("borrowed", "borrow", false),
            ("written in C++17", "C++", true),
            ("E0502", "e0502", true),
            ("東京塔", "京塔", true),
            ("cafe\u{301}", "CAFÉ", true),
            ("x -> y", "->", true),
            ("anything", " ", true),
        ] {
            assert_eq!(contains(text, phrase), is, "{text:?} {phrase:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_holds_its_own_words(words in prop::collection::vec("[a-zé東京]{1,4}", 1..8), from in 0..8usize, count in 1..8usize) {
            let text = words.join(" ");
            let some: Vec<&str> = words.iter().skip(from % words.len()).take(count).map(String::as_str).collect();
            prop_assert!(contains(&text, &some.join("  ")));
        }
    }
}

//! When two texts are the same, and which memories have a text already. It changes no text.

use rusqlite::params;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::{Doing, SchemaError};
use crate::filter::{Filter, Scope};
use crate::follow::IndexState;
use crate::read::Snapshot;
use crate::text::{QueryWord, index_text, visible};
use crate::words::Token;

/// The form under which two texts are the same: NFKC without characters that only steer the display, lower case, straight
/// quotes, white space as single blanks, without final punctuation. A text of punctuation alone keeps it.
///
/// ```
/// use mnemic_schema::normal_text;
///
/// assert_eq!(normal_text("  Deploys\nfreeze on FRIDAYS!"), normal_text("deploys freeze on fridays."));
/// assert_eq!(normal_text("ＡＢＣ。"), "abc");
/// assert_eq!(normal_text("?!"), "?!");
/// ```
#[must_use]
pub fn normal_text(text: &str) -> String {
    // Character by character, as the word index does it: a final sigma is one letter everywhere.
    let lower: String = visible_text(text)
        .chars()
        .map(plain_quote)
        .flat_map(char::to_lowercase)
        .collect();
    let mut normal = String::with_capacity(lower.len());
    for word in lower.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.nfkc());
    }
    let end = |c: char| {
        matches!(
            c,
            '.' | '!' | '?' | ';' | ',' | ':' | '…' | '。' | '、' | '،' | '؟' | '।' | ' '
        )
    };
    let trimmed = normal.trim_end_matches(end).len();
    if trimmed > 0 {
        normal.truncate(trimmed);
    }
    normal
}

/// Quotation marks and apostrophes as a keyboard has them.
fn plain_quote(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        other => other,
    }
}

/// A text in NFKC, without characters that only steer the display.
#[must_use]
pub fn visible_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    visible(text).collect()
}

/// A text as one word, so that a [`crate::Tokenizer`] gives its tokens as the word index has them, common words too; of a long
/// one those of its beginning.
#[must_use]
pub fn text_words(text: &str) -> QueryWord {
    let beginning = text
        .get(..text.floor_char_boundary(BEGINNING))
        .unwrap_or(text);
    let mut form = String::with_capacity(beginning.len());
    for c in index_text(beginning).chars() {
        // A word of marks alone would be the empty word, which the word index cannot read back.
        if !is_combining_mark(c)
            || form.ends_with(|last: char| last.is_alphanumeric() || is_combining_mark(last))
        {
            form.push(c);
        }
    }
    if beginning.len() < text.len() {
        // What was cut through is not there in the whole text.
        for _ in 0..3 {
            form.truncate(form.trim_end().rfind(char::is_whitespace).unwrap_or(0));
        }
    }
    QueryWord::whole(form)
}

/// Enough of a text to tell it from nearly all others, in bytes.
const BEGINNING: usize = 2_000;

/// With so few memories left that hold all words so far, they are read instead of looking up the next word.
const FEW: usize = 16;

impl Snapshot<'_> {
    /// The keys of the memories of a scope whose text is the same as `normal`, which is a [`normal_text`], oldest first.
    /// `words` are the tokens of that text ([`text_words`]): only memories that hold all of them are read. Without any,
    /// all memories of the scope are.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn same_text(
        &self,
        normal: &str,
        words: &[Token],
        filter: &Filter,
    ) -> Result<Vec<i64>, SchemaError> {
        let mut holders: Option<Vec<i64>> = None;
        for word in words {
            let mut found = Vec::new();
            self.occurrences(word, filter, |seq, _| found.push(seq))?;
            let both = match holders {
                None => found,
                Some(mut known) => {
                    known.retain(|seq| found.binary_search(seq).is_ok());
                    known
                }
            };
            let few = both.len() <= FEW;
            holders = Some(both);
            if few {
                break;
            }
        }
        let doing = "looking for the same text";
        let same = |content: &str| normal_text(content) == normal;
        if let Some(holders) = holders {
            let mut content = self
                .connection()
                .prepare_cached("SELECT content FROM memories WHERE seq = ?1")
                .doing(doing)?;
            let mut found = Vec::new();
            for seq in holders {
                let text: String = content.query_row([seq], |row| row.get(0)).doing(doing)?;
                if same(&text) {
                    found.push(seq);
                }
            }
            return Ok(found);
        }
        let (conditions, values) = filter.clause();
        let sql = format!(
            "SELECT m.seq, m.content FROM memories m WHERE TRUE{conditions} ORDER BY m.seq"
        );
        let mut statement = self.connection().prepare_cached(&sql).doing(doing)?;
        let mut rows = statement
            .query(rusqlite::params_from_iter(values))
            .doing(doing)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            let text = row
                .get_ref(1)
                .and_then(|text| Ok(text.as_str()?))
                .doing(doing)?;
            if same(text) {
                found.push(row.get(0).doing(doing)?);
            }
        }
        Ok(found)
    }

    /// Whether a memory that has come or changed since a state of the file has the text `normal`, a [`normal_text`], and is
    /// of a scope; `true` as well where that cannot be told any more, or one of `looked_at` has changed or gone.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn is_outdated(
        &self,
        since: IndexState,
        normal: &str,
        scope: &Scope,
        looked_at: &[i64],
    ) -> Result<bool, SchemaError> {
        let now = self.index_state()?;
        if now == since {
            return Ok(false);
        }
        let Some(changed) = self.changed_since(since.log)? else {
            return Ok(true);
        };
        if now.file != since.file || looked_at.iter().any(|seq| changed.contains(seq)) {
            return Ok(true);
        }
        let doing = "looking for the same text among what came meanwhile";
        let same = |row: &rusqlite::Row<'_>| -> rusqlite::Result<bool> {
            let project: Option<String> = row.get(0)?;
            let content: String = row.get(1)?;
            Ok(scope.admits(project.as_deref()) && normal_text(&content) == normal)
        };
        let mut after = self
            .connection()
            .prepare_cached("SELECT project, content FROM memories WHERE seq > ?1")
            .doing(doing)?;
        let mut rows = after.query(params![since.last_seq]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            if same(row).doing(doing)? {
                return Ok(true);
            }
        }
        let mut one = self
            .connection()
            .prepare_cached("SELECT project, content FROM memories WHERE seq = ?1")
            .doing(doing)?;
        for seq in changed {
            let mut rows = one.query([seq]).doing(doing)?;
            if let Some(row) = rows.next().doing(doing)?
                && same(row).doing(doing)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_change_what_is_said_is_left_out() {
        for (a, b) in [
            ("Deploys freeze on Fridays", "deploys  freeze\ton fridays."),
            ("Cafe\u{301}", "CAFÉ"),
            ("今日は晴れ。", "今日は晴れ"),
            ("ﬁle", "file"),
            ("soft\u{ad}hyphen", "softhyphen"),
            ("“don’t”", "\"don't\""),
        ] {
            assert_eq!(normal_text(a), normal_text(b), "{a:?} {b:?}");
        }
        for (a, b) in [
            ("x = 1", "x = 2"),
            ("C", "C++"),
            ("50%", "50"),
            ("a b", "ab"),
        ] {
            assert_ne!(normal_text(a), normal_text(b), "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own(text in ".{0,40}", words in "([A-Z ßİé.!?。 \u{301}\u{ad}ﬁ]){0,20}") {
            for text in [text, words] {
                let normal = normal_text(&text);
                prop_assert_eq!(normal_text(&normal), normal);
            }
        }
    }
}

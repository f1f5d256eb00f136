//! What a writer marked: quoted terms, code between backticks, hashtags and mentions. It looks at a bounded stretch after
//! each mark, so that a text of nothing but marks takes no longer than another.

use crate::entity::words::is_unspaced;

/// A part of a text that is an entity by a mark of its writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    /// In bytes, the marks included.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: String,
}

/// Longest term between quotes, in characters and in words: more is speech.
const MOST_QUOTED: usize = 40;
const MOST_QUOTED_WORDS: usize = 4;

/// Longest hashtag or mention, in characters.
const MOST_TAG: usize = 50;

/// All marked parts, in order, none within another.
pub(super) fn marked(text: &str) -> Vec<Marked> {
    let mut found: Vec<Marked> = Vec::new();
    let mut before = None;
    let mut free_from = 0;
    for (at, c) in text.char_indices() {
        if at >= free_from
            && let Some(one) = at_mark(text, at, c, before)
        {
            free_from = one.end;
            found.push(one);
        }
        before = Some(c);
    }
    found
}

fn at_mark(text: &str, at: usize, c: char, before: Option<char>) -> Option<Marked> {
    let rest = text.get(at + c.len_utf8()..)?;
    match c {
        '#' | '＃' | '@' | '＠' => tag(at, c, rest, before),
        '`' => quoted(at, c, rest, '`'),
        '"' if before.is_none_or(|before| !before.is_alphanumeric() || is_unspaced(before)) => {
            quoted(at, c, rest, '"')
        }
        _ => closing(c).and_then(|end| quoted(at, c, rest, end)),
    }
}

/// The mark that ends what another begins; German and Danish quotes begin as English ones end.
fn closing(c: char) -> Option<char> {
    Some(match c {
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '»' => '«',
        '‹' => '›',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        '〈' => '〉',
        '【' => '】',
        _ => return None,
    })
}

fn quoted(at: usize, mark: char, rest: &str, end: char) -> Option<Marked> {
    let mut length = 0;
    for (place, c) in rest.char_indices() {
        // „so” is a mixture that people type.
        if c == end || (mark == '„' && matches!(c, '”' | '"')) {
            let term = rest.get(..place)?;
            return is_term(term, mark).then(|| Marked {
                start: at,
                end: at + mark.len_utf8() + place + c.len_utf8(),
                name: term.trim().to_owned(),
            });
        }
        length += 1;
        if length > MOST_QUOTED || c == '\n' {
            return None;
        }
    }
    None
}

/// Whether what stands between quotes is a term, and not what somebody said.
fn is_term(term: &str, mark: char) -> bool {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | ',' | '…' | '。' | '！' | '？' | '，');
    let trimmed = term.trim();
    let said = mark != '`' && trimmed.ends_with(ends);
    // Ordinary quotes stand close to what they quote.
    let loose = mark == '"' && trimmed.len() != term.len();
    trimmed.chars().any(char::is_alphanumeric)
        && trimmed.split_whitespace().count() <= MOST_QUOTED_WORDS
        && !said
        && !loose
}

/// A hashtag or mention; of its sign only the common form is kept.
fn tag(at: usize, sign: char, rest: &str, before: Option<char>) -> Option<Marked> {
    // Within a word (`C#`, an e-mail address) or an address (`page/#part`) it is none.
    let inside = |c: char| {
        (c.is_alphanumeric() && !is_unspaced(c)) || matches!(c, '_' | '/' | '&' | '?' | '=' | '.')
    };
    if before.is_some_and(inside) {
        return None;
    }
    let mut end = 0;
    let (mut length, mut letters, mut digits) = (0, 0, 0);
    for (place, c) in rest.char_indices() {
        if !(c.is_alphanumeric() || matches!(c, '_' | '-')) {
            break;
        }
        length += 1;
        if length > MOST_TAG {
            return None;
        }
        letters += usize::from(c.is_alphabetic());
        digits += usize::from(c.is_numeric());
        if !matches!(c, '-') {
            end = place + c.len_utf8();
        }
    }
    let hash = matches!(sign, '#' | '＃');
    if letters == 0 && !(hash && digits >= 2) {
        return None;
    }
    let name = rest.get(..end)?;
    let after = rest.get(end..).and_then(|rest| rest.chars().next());
    // As Weibo closes it.
    let closed = hash && after.is_some_and(|c| c == sign);
    Some(Marked {
        start: at,
        end: at + sign.len_utf8() + end + if closed { sign.len_utf8() } else { 0 },
        name: format!("{}{name}", if hash { '#' } else { '@' }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        marked(text).into_iter().map(|marked| marked.name).collect()
    }

    #[test]
    fn quotes_hold_terms_and_not_speech() {
        assert_eq!(
            names("the project \"Blue Harvest\" is on"),
            ["Blue Harvest"]
        );
        assert_eq!(
            names("„Blaue Ernte“ und «récolte bleue»"),
            ["Blaue Ernte", "récolte bleue"]
        );
        assert_eq!(names("他在读《三体》和「夜景」"), ["三体", "夜景"]);
        assert_eq!(names("she said \"I will be late.\""), [""; 0]);
        assert_eq!(
            names("she said \"we ship when the build is green\""),
            [""; 0]
        );
        assert_eq!(names("a 5\" disk and a 3\" disk"), [""; 0]);
        assert_eq!(names("run `cargo test` first"), ["cargo test"]);
        assert_eq!(names("\"\" “ ” ``"), [""; 0]);
    }

    #[test]
    fn tags_have_letters_and_stand_alone() {
        assert_eq!(
            names("#release-notes, @anna_k and #42"),
            ["#release-notes", "@anna_k", "#42"]
        );
        assert_eq!(names("今天@小明 说#发布计划#很好"), ["@小明", "#发布计划"]);
        assert_eq!(names("C# F# me@example.com page/#part # title #1"), [""; 0]);
    }
}

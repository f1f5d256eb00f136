//! What numbers mean by what stands beside them: units, dates, times of day, numbers in words. It looks at a few pieces of a
//! text at a time.

use crate::gate::lexicon as known;
use crate::gate::tokens::Token;

/// What a list has for a word.
pub(super) fn of<T: Copy>(list: &[(&str, T)], word: &str) -> Option<T> {
    let found = list.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value)
}

pub(super) fn unit_of(word: &str) -> Option<(&'static str, f64)> {
    let found = known::UNITS.iter().find(|(known, ..)| *known == word);
    found.map(|(_, measure, factor)| (*measure, *factor))
}

/// The unit that what follows a number begins with, and of how many tokens it is.
pub(super) fn unit(after: &[Token]) -> (Option<(&'static str, f64)>, usize) {
    match after {
        [Token::Symbol('-'), Token::Word(word), ..] => {
            let unit = unit_of(&word.to_lowercase());
            (unit, if unit.is_some() { 2 } else { 0 })
        }
        [Token::Word(word), ..] => {
            let unit = unit_of(&word.to_lowercase());
            (unit, usize::from(unit.is_some()))
        }
        [Token::Symbol('°'), Token::Word(word), ..] => {
            (unit_of(&format!("°{}", word.to_lowercase())), 2)
        }
        [Token::Symbol(c), ..] => {
            let unit = unit_of(&c.to_string());
            (unit, usize::from(unit.is_some()))
        }
        [Token::Unspaced(_), ..] => {
            let mut run = String::new();
            let mut best = (None, 0);
            for (i, token) in after.iter().take(3).enumerate() {
                let Token::Unspaced(c) = token else { break };
                run.push(*c);
                if let unit @ Some(_) = unit_of(&run) {
                    best = (unit, i + 1);
                }
            }
            best
        }
        _ => (None, 0),
    }
}

/// Whether a month is next, with what may stand between a day and it.
pub(super) fn day_before_month(after: &[Token]) -> bool {
    let mut words = after.iter().filter(|token| {
        !matches!(token, Token::Symbol('.'))
            && !matches!(token, Token::Word(word) if matches!(&*word.to_lowercase(), "de" | "of" | "th" | "st" | "nd" | "rd"))
    });
    matches!(words.next(), Some(Token::Word(word)) if of(known::MONTHS, &word.to_lowercase()).is_some())
}

/// `am` or `pm`: whether it is the second half.
pub(super) fn half_of_day(after: &[Token]) -> Option<bool> {
    let [Token::Word(word), ..] = after else {
        return None;
    };
    match &*word.to_lowercase() {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    }
}

pub(super) fn time_of_day(hour: &str, minute: &str, half: Option<bool>) -> String {
    let hour: u32 = hour.parse().unwrap_or(99);
    let hour = match half {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    format!("time {hour}:{minute}")
}

/// The parts of a date written in digits, if it is one.
pub(super) fn date(number: &str) -> Option<[String; 3]> {
    let parts: Vec<&str> = number.split(['-', '/', '.']).collect();
    let [a, b, c] = parts.as_slice() else {
        return None;
    };
    let parts = |year: &str, month: &str, day: &str| {
        Some([
            format!("year {year}"),
            format!("month {}", trimmed(month)),
            format!("day {}", trimmed(day)),
        ])
    };
    if a.len() == 4 && b.len() <= 2 && c.len() <= 2 {
        parts(a, b, c)
    } else if a.len() <= 2 && b.len() <= 2 && c.len() == 4 {
        // Day and month of 5/3/2026 may be meant the other way round; it is read alike in both texts.
        parts(c, b, a)
    } else {
        None
    }
}

pub(super) fn trimmed(number: &str) -> &str {
    let trimmed = number.trim_start_matches('0');
    if trimmed.is_empty() { "0" } else { trimmed }
}

pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The value of a number as written; NaN for what is none, such as a version.
pub(super) fn value(number: &str) -> f64 {
    let dots = number.matches('.').count();
    let grouped = |mark: char| {
        let mut parts = number.split(mark);
        let first = parts
            .next()
            .is_some_and(|part| (1..=3).contains(&part.len()));
        first && number.contains(mark) && parts.all(|part| part.len() == 3)
    };
    let plain = if number.contains(',') && dots == 0 {
        if grouped(',') {
            number.replace(',', "")
        } else {
            number.replace(',', ".")
        }
    } else if number.contains(',') {
        // Both: the one that comes first groups.
        if number.find(',') < number.find('.') {
            number.replace(',', "")
        } else {
            number.replace('.', "").replace(',', ".")
        }
    } else if dots > 1 && grouped('.') {
        number.replace('.', "")
    } else {
        number.to_owned()
    };
    plain.parse().unwrap_or(f64::NAN)
}

/// The number that a run begins with, written in Chinese characters, and of how many characters it is. A lone `一` is one
/// only before something that is counted.
pub(super) fn han_number(run: &str) -> (Option<u32>, usize) {
    let (mut total, mut current, mut len) = (0u32, None::<u32>, 0);
    for c in run.chars() {
        if let Some((_, digit)) = known::HAN_DIGITS.iter().find(|(known, _)| *known == c) {
            // Digits in a row: 二〇二六.
            current = Some(current.map_or(*digit, |before| {
                before.saturating_mul(10).saturating_add(*digit)
            }));
        } else if let Some((_, power)) = known::HAN_POWERS.iter().find(|(known, _)| *known == c) {
            total = total.saturating_add(current.take().unwrap_or(1).saturating_mul(*power));
        } else {
            break;
        }
        len += 1;
    }
    if len == 0 {
        return (None, 0);
    }
    if len == 1 && run.starts_with('一') {
        let after: Vec<Token> = run.chars().skip(1).take(3).map(Token::Unspaced).collect();
        let counted = unit(&after).0.is_some()
            || matches!(
                after.first(),
                Some(Token::Unspaced('月' | '日' | '号' | '点' | '年'))
            );
        if !counted {
            return (None, 0);
        }
    }
    (Some(total.saturating_add(current.unwrap_or(0))), len)
}

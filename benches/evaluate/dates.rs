//! The days that a question names, by a small reader of English: `8 May 2023`, `May 2023`, `last May`, `2022`,
//! `yesterday`, `last week`, `two months ago`. It is for an experiment and knows no more than that asks for.

use jiff::civil::Date;
use jiff::{Span, ToSpan};

/// Days from the first on, up to the second, which is not among them.
pub type Days = (Date, Date);

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const NUMBERS: [&str; 7] = ["a", "one", "two", "three", "four", "five", "six"];

/// What days a question names, seen from a day: a month without a year is the last one that had begun by then.
pub fn days(question: &str, today: Date) -> Vec<Days> {
    let words: Vec<&str> = words(question).collect();
    (0..words.len())
        .filter_map(|place| named(&words, place, today).or_else(|| relative(&words, place, today)))
        .collect()
}

/// Runs of letters and digits.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// A month, with the day and the year that stand around it, or a year alone.
fn named(words: &[&str], place: usize, today: Date) -> Option<Days> {
    let at = |place: usize| words.get(place).copied().unwrap_or("");
    let Some(month) = month(at(place)) else {
        // A year that follows a month or its day was read with the month.
        let taken = (1..=2).any(|back| place >= back && month(at(place - back)).is_some());
        let year = year(at(place)).filter(|_| !taken)?;
        return span(Date::new(year, 1, 1).ok()?, 1.year());
    };
    let before = place.checked_sub(1).map_or("", at);
    let following = day(at(place + 1));
    let year = year(at(place + 1 + usize::from(following.is_some())));
    let begun = |year| Date::new(year, month, 1).is_ok_and(|first| first <= today);
    let recent = if begun(today.year()) {
        today.year()
    } else {
        today.year() - 1
    };
    let first = Date::new(year.unwrap_or(recent), month, 1).ok()?;
    match following.or_else(|| day(before)) {
        Some(day) => span(Date::new(first.year(), month, day).ok()?, 1.day()),
        None => span(first, 1.month()),
    }
}

/// Days told by their distance from today.
fn relative(words: &[&str], place: usize, today: Date) -> Option<Days> {
    let at = |place: usize| {
        words
            .get(place)
            .map_or(String::new(), |word| word.to_lowercase())
    };
    match (
        at(place).as_str(),
        at(place + 1).as_str(),
        at(place + 2).as_str(),
    ) {
        ("yesterday", _, _) => span(today.checked_sub(1.day()).ok()?, 1.day()),
        ("last", unit, _) => {
            let length = length(unit, 1)?;
            span(today.checked_sub(length).ok()?, length)
        }
        (count, unit, "ago") => {
            let count = count.parse().ok().or_else(|| {
                let place = NUMBERS.iter().position(|word| *word == count)?;
                Some(place.max(1) as i64)
            })?;
            // As long again as the unit: "two weeks ago" is meant loosely.
            let end = today.checked_sub(length(unit, count)?).ok()?;
            let reach = length(unit, 1)?;
            Some((end.checked_sub(reach).ok()?, end.checked_add(reach).ok()?))
        }
        _ => None,
    }
}

fn span(first: Date, length: Span) -> Option<Days> {
    Some((first, first.checked_add(length).ok()?))
}

fn length(unit: &str, count: i64) -> Option<Span> {
    let span = Span::new();
    match unit.trim_end_matches('s') {
        "day" => span.try_days(count).ok(),
        "week" => span.try_weeks(count).ok(),
        "month" => span.try_months(count).ok(),
        "year" => span.try_years(count).ok(),
        _ => None,
    }
}

/// With a capital: `may` is a verb, and `march` too.
fn month(word: &str) -> Option<i8> {
    let capital = word.starts_with(|c: char| c.is_uppercase());
    let place = MONTHS
        .iter()
        .position(|month| word.eq_ignore_ascii_case(month))?;
    capital.then_some(place as i8 + 1)
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (1900..2100).contains(year))
}

/// `8` or `8th`.
fn day(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| word.strip_suffix(end));
    digits
        .unwrap_or(word)
        .parse()
        .ok()
        .filter(|day| (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn days_are_read_as_people_write_them() {
        let today = date(2023, 8, 14);
        let one =
            |question, from, to| assert_eq!(days(question, today), [(from, to)], "{question}");
        one(
            "What happened on 8 May 2022?",
            date(2022, 5, 8),
            date(2022, 5, 9),
        );
        one(
            "what happened on May 8th, 2022",
            date(2022, 5, 8),
            date(2022, 5, 9),
        );
        one(
            "Where was he in May 2022?",
            date(2022, 5, 1),
            date(2022, 6, 1),
        );
        one("Who came last May?", date(2023, 5, 1), date(2023, 6, 1));
        one(
            "Who came in September?",
            date(2022, 9, 1),
            date(2022, 10, 1),
        );
        one(
            "What did she paint in 2022?",
            date(2022, 1, 1),
            date(2023, 1, 1),
        );
        one(
            "what was said yesterday?",
            date(2023, 8, 13),
            date(2023, 8, 14),
        );
        one(
            "what was said last week?",
            date(2023, 8, 7),
            date(2023, 8, 14),
        );
        one(
            "what was said two weeks ago?",
            date(2023, 7, 24),
            date(2023, 8, 7),
        );
    }

    #[test]
    fn what_is_no_date_is_none() {
        for question in [
            "may I march?",
            "flight 204",
            "how long ago?",
            "30 February 2023",
            "",
        ] {
            assert!(days(question, date(2023, 8, 14)).is_empty(), "{question}");
        }
    }
}

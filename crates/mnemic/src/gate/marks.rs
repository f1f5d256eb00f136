//! What a text says apart from its wording: whether it is negated, its numbers with their units, its dates, the names of
//! numbered things; and the words that are left. It knows the words of `lexicon`, and compares nothing.

use crate::gate::amounts::{
    date, day_before_month, half_of_day, han_number, is_number, of, time_of_day, trimmed, unit,
    unit_of, value,
};
use crate::gate::lexicon as known;
use crate::gate::tokens::{Token, is_unspaced, tokens};

/// What was found in a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Marks {
    pub(super) negations: usize,
    pub(super) numbers: Vec<Quantity>,
    /// Parts of dates and times of day, each as a word of its own kind: `day 5`, `month 3`, `weekday 1`, `time 14:30`.
    pub(super) dates: Vec<String>,
    /// Names with digits, `kx-204`, and numbers of numbered things, `ticket 12`.
    pub(super) names: Vec<String>,
    /// All else, in order.
    pub(super) words: Vec<Word>,
    /// Whether there is a word of preference.
    pub(super) preference: bool,
    /// What stands before and after each comparison, as `tabs` and `spaces` in "tabs over spaces".
    pub(super) compared: Vec<(String, String)>,
}

/// A number, as a value in the base of its unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// As it was written, without its unit.
    pub(super) number: String,
    /// What is measured; empty for a number alone.
    pub(super) measure: &'static str,
    pub(super) value: f64,
}

/// A word that is no mark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Word {
    /// Lower case; one character in scripts without spaces.
    pub(super) text: String,
    /// Whether it began with a capital.
    pub(super) capital: bool,
    /// Whether it carries little.
    pub(super) small: bool,
}

impl Word {
    /// Whether it is a character of a script without spaces.
    pub(super) fn is_one_character(&self) -> bool {
        self.text.chars().nth(1).is_none() && self.text.chars().all(is_unspaced)
    }
}

impl Marks {
    /// Whether most of it is in scripts without spaces.
    pub(super) fn is_unspaced(&self) -> bool {
        let unspaced = self.words.iter().filter(|word| word.is_one_character());
        unspaced.count() * 2 > self.words.len()
    }

    /// Of a text in NFKC.
    pub(super) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let mut marks = Self::default();
        let mut place = 0;
        while place < tokens.len() {
            // Never 0, so that it ends.
            place += marks.take(&tokens, place).max(1);
        }
        for (i, word) in marks.words.iter().enumerate() {
            let beside = |i: Option<usize>| i.and_then(|i| marks.words.get(i));
            if known::COMPARISONS.contains(&&*word.text)
                && let (Some(before), Some(after)) = (beside(i.checked_sub(1)), beside(Some(i + 1)))
            {
                marks
                    .compared
                    .push((before.text.clone(), after.text.clone()));
            }
        }
        marks
    }

    /// Takes in what begins at a place; answers of how many tokens it was.
    fn take(&mut self, tokens: &[Token], place: usize) -> usize {
        let rest = tokens.get(place..).unwrap_or_default();
        let before = place.checked_sub(1).and_then(|i| tokens.get(i));
        match rest {
            [Token::Number(number), ..] => self.number(number, rest, before),
            [Token::Unspaced(_), ..] => self.unspaced(rest),
            [Token::Word(word), ..] => self.word(word, rest, before),
            [Token::Symbol('!'), Token::Symbol('='), ..] => {
                self.negations += 1;
                2
            }
            [Token::Symbol('!'), Token::Word(_), ..] | [Token::Symbol('≠'), ..] => {
                self.negations += 1;
                1
            }
            // What is an operator in code is a word; in prose nothing.
            [
                Token::Symbol(c @ ('<' | '>' | '&' | '|' | '+' | '*' | '/')),
                ..,
            ] => {
                self.push(&c.to_string(), false);
                1
            }
            _ => 1,
        }
    }

    fn word(&mut self, written: &str, rest: &[Token], before: Option<&Token>) -> usize {
        let word = written.to_lowercase();
        if known::PREFERENCES.contains(&&*word) {
            self.preference = true;
        }
        if known::NEGATIONS.contains(&&*word) || word.ends_with("n't") {
            // "No. 5" names a thing.
            if word == "no"
                && let [_, Token::Symbol('.'), Token::Number(number), ..] = rest
            {
                self.names.push(format!("no {number}"));
                return 3;
            }
            self.negations += 1;
            return 1;
        }
        let beside_number = matches!(rest.get(1), Some(Token::Number(_)))
            || matches!(before, Some(Token::Number(_) | Token::Symbol('.')))
            || matches!(before, Some(Token::Word(word)) if matches!(&*word.to_lowercase(), "in" | "by" | "until" | "en" | "de" | "of" | "since"));
        if let Some(month) = of(known::MONTHS, &word)
            && (beside_number || !known::UNSURE_MONTHS.contains(&&*word))
        {
            self.dates.push(format!("month {month}"));
            // "May 5", "May 5th, 2026"
            return 1 + self.day(rest.get(1..).unwrap_or_default());
        }
        if let Some(day) = of(known::WEEKDAYS, &word) {
            self.dates.push(format!("weekday {day}"));
            return 1;
        }
        if let Some(day) = of(known::RELATIVE_DAYS, &word) {
            self.dates.push(day.to_owned());
            return 1;
        }
        // "per minute", "every hour"
        if known::PER.contains(&&*word)
            && let Some(Token::Word(next)) = rest.get(1)
            && next.len() > 1
            && let Some((measure @ ("time" | "months"), factor)) = unit_of(&next.to_lowercase())
        {
            self.dates.push(format!("per {factor} {measure}"));
            return 2;
        }
        if word.chars().any(|c| c.is_ascii_digit()) {
            if let Some(version) = word.strip_prefix('v').filter(|rest| is_number(rest)) {
                self.numbers.push(Quantity::plain(version));
            } else {
                self.names.push(word);
            }
            return 1;
        }
        if let Some(value) = of(known::NUMBER_WORDS, &word) {
            let after = rest.get(1..).unwrap_or_default();
            let (unit, len) = unit(after);
            self.numbers
                .push(Quantity::of(&value.to_string(), f64::from(value), unit));
            return 1 + len;
        }
        // A number after it is a name.
        if known::NUMBERED_THINGS.contains(&&*word) {
            let after = rest
                .iter()
                .skip(1)
                .enumerate()
                .find(|(_, token)| !matches!(token, Token::Symbol('#' | '.' | ':')));
            if let Some((skipped, Token::Number(number))) = after {
                self.names.push(format!("{word} {number}"));
                self.push(written, true);
                return skipped + 2;
            }
        }
        self.push(&word, written.starts_with(char::is_uppercase));
        1
    }

    fn push(&mut self, text: &str, capital: bool) {
        let text = text.to_lowercase();
        self.words.push(Word {
            small: known::FUNCTION_WORDS.contains(&&*text),
            capital,
            text,
        });
    }

    /// The day after a month, and the year after that.
    fn day(&mut self, rest: &[Token]) -> usize {
        let [Token::Number(number), after @ ..] = rest else {
            return 0;
        };
        if number.len() == 4 {
            self.dates.push(format!("year {number}"));
            return 1;
        }
        self.dates.push(format!("day {}", trimmed(number)));
        for (len, token) in (2..).zip(after.iter().take(3)) {
            match token {
                Token::Word(suffix) if matches!(&**suffix, "st" | "nd" | "rd" | "th") => {}
                Token::Symbol(',') => {}
                Token::Number(year) if year.len() == 4 => {
                    self.dates.push(format!("year {year}"));
                    return len;
                }
                _ => break,
            }
        }
        1
    }

    fn number(&mut self, number: &str, rest: &[Token], before: Option<&Token>) -> usize {
        let after = rest.get(1..).unwrap_or_default();
        if let Some(date) = date(number) {
            self.dates.extend(date);
            return 1;
        }
        if let Some((hour, minute)) = number.split_once(':') {
            let half = half_of_day(after);
            self.dates.push(time_of_day(hour, minute, half));
            return 1 + usize::from(half.is_some());
        }
        if let half @ Some(_) = half_of_day(after) {
            self.dates.push(time_of_day(number, "00", half));
            return 2;
        }
        match after {
            // "5. Mai", "5 mai", "5 de mayo", "5th of May"
            _ if day_before_month(after) => {
                self.dates.push(format!("day {}", trimmed(number)));
                return 1;
            }
            [Token::Word(suffix), ..]
                if matches!(&*suffix.to_lowercase(), "st" | "nd" | "rd" | "th") =>
            {
                self.numbers.push(Quantity::plain(number));
                return 2;
            }
            // "14 Uhr", "14 h" in French is a unit of time to us.
            [Token::Word(word), ..] if word.eq_ignore_ascii_case("uhr") => {
                self.dates.push(time_of_day(number, "00", None));
                return 2;
            }
            [Token::Unspaced('月'), ..] => {
                self.dates.push(format!("month {}", trimmed(number)));
                return 2;
            }
            [Token::Unspaced('日'), next, ..] if !matches!(next, Token::Unspaced('間')) => {
                self.dates.push(format!("day {}", trimmed(number)));
                return 2;
            }
            [Token::Unspaced('日' | '号')] | [Token::Unspaced('号'), ..] => {
                self.dates.push(format!("day {}", trimmed(number)));
                return 2;
            }
            [Token::Unspaced('年'), ..] if number.len() == 4 => {
                self.dates.push(format!("year {number}"));
                return 2;
            }
            [Token::Unspaced('点' | '點'), ..] => {
                self.dates.push(time_of_day(number, "00", None));
                return 2;
            }
            [Token::Unspaced('時' | '时'), next, ..]
                if !matches!(next, Token::Unspaced('間' | '间')) =>
            {
                self.dates.push(time_of_day(number, "00", None));
                return 2;
            }
            _ => {}
        }
        if matches!(before, Some(Token::Symbol('#'))) {
            self.names.push(format!("# {number}"));
            return 1;
        }
        let (mut unit, len) = unit(after);
        if unit.is_none()
            && let Some(Token::Symbol(sign @ ('$' | '€' | '£' | '¥'))) = before
        {
            unit = unit_of(&sign.to_string());
        }
        let mut quantity = Quantity::of(number, value(number), unit);
        if matches!(before, Some(Token::Symbol('-' | '−'))) {
            quantity.number.insert(0, '-');
            quantity.value = -quantity.value;
        }
        self.numbers.push(quantity);
        1 + len
    }

    fn unspaced(&mut self, rest: &[Token]) -> usize {
        let run: String = rest
            .iter()
            .map_while(|token| match token {
                Token::Unspaced(c) => Some(*c),
                _ => None,
            })
            .take(12)
            .collect();
        let begins = |piece: &&&str| run.starts_with(**piece);
        let chars = |piece: &str| piece.chars().count();
        if known::UNSPACED_PREFERENCES
            .iter()
            .any(|piece| run.starts_with(piece))
        {
            self.preference = true;
        }
        let pairs = known::WEEKDAYS
            .iter()
            .find(|(piece, _)| run.starts_with(piece));
        if let Some((piece, day)) = pairs {
            self.dates.push(format!("weekday {day}"));
            return chars(piece);
        }
        // "每周日" is every Sunday, not every week.
        let every = run.strip_prefix('每').filter(|rest| {
            known::WEEKDAYS
                .iter()
                .any(|(piece, _)| rest.starts_with(piece))
        });
        if every.is_some() {
            return 1;
        }
        if let Some((piece, day)) = known::RELATIVE_DAYS
            .iter()
            .find(|(piece, _)| run.starts_with(piece))
        {
            self.dates.push((*day).to_owned());
            return chars(piece);
        }
        if let Some(piece) = known::UNSPACED_EXCEPTIONS.iter().find(begins) {
            for c in piece.chars() {
                self.push_unspaced(c);
            }
            return chars(piece);
        }
        if let Some(piece) = known::UNSPACED_NEGATIONS.iter().find(begins) {
            self.negations += 1;
            return chars(piece);
        }
        if let Some(piece) = known::NUMBERED_THINGS.iter().find(begins)
            && let Some(Token::Number(number)) = rest.get(chars(piece))
        {
            self.names.push(format!("{piece} {number}"));
            for c in piece.chars() {
                self.push_unspaced(c);
            }
            return chars(piece) + 1;
        }
        let (number, len) = han_number(&run);
        if let Some(number) = number {
            let number = number.to_string();
            let mut tokens = vec![Token::Number(number.clone())];
            tokens.extend(rest.iter().skip(len).take(4).cloned());
            return len + self.number(&number, &tokens, None) - 1;
        }
        if let Some(c) = run.chars().next() {
            self.push_unspaced(c);
        }
        1
    }

    fn push_unspaced(&mut self, c: char) {
        self.words.push(Word {
            text: c.to_string(),
            capital: false,
            // Kana that ends or joins words, and the particles of Chinese.
            small: matches!(c, '\u{3041}'..='\u{309f}')
                || matches!(
                    c,
                    '的' | '了'
                        | '是'
                        | '在'
                        | '地'
                        | '得'
                        | '着'
                        | '和'
                        | '与'
                        | '会'
                        | '要'
                        | '把'
                        | '被'
                        | '就'
                        | '都'
                        | '也'
                ),
        });
    }
}

impl Quantity {
    fn of(number: &str, value: f64, unit: Option<(&'static str, f64)>) -> Self {
        let (measure, factor) = unit.unwrap_or(("", 1.0));
        Self {
            number: number.to_owned(),
            measure,
            value: value * factor,
        }
    }

    /// Without a unit.
    fn plain(number: &str) -> Self {
        Self::of(number, value(number), None)
    }

    /// Whether both are the same amount of the same. A version (with two dots or more) is the same by its text.
    pub(super) fn same(&self, other: &Self) -> bool {
        if self.value.is_nan() || other.value.is_nan() {
            return self.number == other.number;
        }
        self.measure == other.measure
            && (self.value - other.value).abs() <= 1e-9 * self.value.abs().max(other.value.abs())
    }
}

//! The file's time format: UTC text that sorts as its instants do. It never reads a clock but in [`Timestamp::now`].

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// An instant with microsecond resolution, between the years 0 and 9999 (UTC).
///
/// It prints as the file stores it: `YYYY-MM-DD HH:MM:SS` in UTC, followed by a fraction of a second (trailing zeros
/// cut) only where there is one. Texts of this form sort as their instants do.
///
/// ```
/// use mnemic_schema::Timestamp;
///
/// let zulu: Timestamp = "2030-01-01T00:30:00Z".parse()?;
/// let tokyo: Timestamp = "2030-01-01T09:00:00+09:00".parse()?;
/// assert!(tokyo < zulu);
/// assert_eq!(tokyo.to_string(), "2030-01-01 00:00:00");
/// assert_eq!("2030-01-01".parse::<Timestamp>()?, tokyo);
/// # Ok::<(), mnemic_schema::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text or number that is not a [`Timestamp`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{input:?} is not a time: give `YYYY-MM-DD`, `YYYY-MM-DD HH:MM:SS` (both UTC) or RFC 3339 with an offset, from the year 0000 to 9999-12-30 22:00:00 UTC"
)]
#[non_exhaustive]
pub struct TimestampError {
    /// What was given.
    pub input: String,
}

/// 0000-01-01 00:00:00 UTC, in microseconds since the Unix epoch.
const MIN_MICROS: i64 = -62_167_219_200_000_000;
/// 9999-12-30 22:00:00 UTC: the last instant that every part of the time library can handle.
const MAX_MICROS: i64 = 253_402_207_200_000_000;

impl Timestamp {
    /// The earliest instant.
    pub const MIN: Self = Self(MIN_MICROS);
    /// The latest instant.
    pub const MAX: Self = Self(MAX_MICROS);

    /// The present, cut to whole seconds as the file format wants it.
    #[must_use]
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_second().saturating_mul(1_000_000)).clamped()
    }

    /// Microseconds since the Unix epoch (negative before 1970).
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// The instant so many microseconds after the Unix epoch.
    ///
    /// # Errors
    /// [`TimestampError`] outside the years 0 to 9999.
    pub fn from_micros(micros: i64) -> Result<Self, TimestampError> {
        if (MIN_MICROS..=MAX_MICROS).contains(&micros) {
            Ok(Self(micros))
        } else {
            Err(TimestampError {
                input: format!("{micros} microseconds"),
            })
        }
    }

    /// Days from `earlier` to this instant, with a fraction; negative where `earlier` is later.
    ///
    /// ```
    /// use mnemic_schema::Timestamp;
    ///
    /// let noon: Timestamp = "2026-05-02 12:00:00".parse()?;
    /// assert_eq!(noon.days_since("2026-05-01".parse()?), 1.5);
    /// # Ok::<(), mnemic_schema::TimestampError>(())
    /// ```
    #[must_use]
    pub fn days_since(self, earlier: Self) -> f64 {
        // Both are within ±3e17, so the difference fits, and f64 is exact enough for an age.
        (self.0 - earlier.0) as f64 / 86_400_000_000.0
    }

    fn clamped(self) -> Self {
        Self(self.0.clamp(MIN_MICROS, MAX_MICROS))
    }

    fn to_jiff(self) -> jiff::Timestamp {
        // The range of this type is inside that of jiff.
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    /// Reads a date (midnight UTC), a date and time without an offset (UTC), or RFC 3339 with an offset.
    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let error = || TimestampError {
            input: text.to_owned(),
        };
        let trimmed = text.trim();
        if !trimmed.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(error());
        }
        let utc = |local: DateTime| TimeZone::UTC.to_timestamp(local).ok();
        let instant = if trimmed.len() == "YYYY-MM-DD".len() {
            trimmed
                .parse::<Date>()
                .ok()
                .and_then(|date| utc(date.to_datetime(jiff::civil::Time::midnight())))
        } else if let Ok(instant) = trimmed.parse::<jiff::Timestamp>() {
            Some(instant)
        } else {
            // An offset that could not be taken, a zone name or other trailing text is refused here, never ignored.
            let local = !trimmed
                .chars()
                .skip("YYYY-MM-DD".len())
                .any(|c| matches!(c, '[' | 'Z' | 'z' | '+' | '-'));
            trimmed
                .parse::<DateTime>()
                .ok()
                .filter(|_| local)
                .and_then(utc)
        };
        instant
            .and_then(|instant| Self::from_micros(instant.as_microsecond()).ok())
            .ok_or_else(error)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = TimeZone::UTC.to_datetime(self.to_jiff());
        write!(
            f,
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second()
        )?;
        let micros = self.0.rem_euclid(1_000_000);
        if micros != 0 {
            write!(f, ".{}", format!("{micros:06}").trim_end_matches('0'))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

/// Instants outside the years 0 to 9999 become the nearest one inside.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
            }
        };
        Self(micros).clamped()
    }
}

/// Instants outside the years 0 to 9999 become the nearest one inside.
impl From<jiff::Timestamp> for Timestamp {
    fn from(time: jiff::Timestamp) -> Self {
        Self(time.as_microsecond()).clamped()
    }
}

impl From<Timestamp> for jiff::Timestamp {
    fn from(time: Timestamp) -> Self {
        time.to_jiff()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn every_shape_is_ordered_by_instant() {
        let ordered = [
            "2030-01-01T09:00:00+09:00",
            "2030-01-01T00:00:00.1Z",
            "2030-01-01 00:10:00",
            "2030-01-01T00:30:00Z",
        ];
        let times: Vec<Timestamp> = ordered.iter().map(|t| time(t)).collect();
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
        let texts: Vec<String> = times.iter().map(ToString::to_string).collect();
        assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
        assert_eq!(texts[1], "2030-01-01 00:00:00.1");
        assert_eq!(time("2030-01-01"), times[0]);
        assert_eq!(time(" 2030-01-01T00:10:00 "), times[2]);
    }

    #[test]
    fn other_shapes_are_refused_with_the_text() {
        for text in [
            "",
            "now",
            "2030",
            "2030-13-01",
            "2030-02-30",
            "01/02/2030",
            "2030-01-01T25:00:00Z",
            "-000001-01-01T00:00:00Z",
            "99999-01-01",
            "2030-01-01 00:00:00[Europe/Paris]",
            "2030-01-01 00:00:00 later",
            "🎉",
            "9999-12-30T21:00:00-05:00",
            "9999-12-31",
        ] {
            let error = text.parse::<Timestamp>().unwrap_err();
            assert_eq!(error.input, text);
        }
    }

    proptest! {
        #[test]
        fn text_round_trips_and_sorts_as_instants(a in MIN_MICROS..=MAX_MICROS, b in MIN_MICROS..=MAX_MICROS, near in 0i64..2_000_000) {
            for b in [b, (a + near).min(MAX_MICROS)] {
                let (x, y) = (Timestamp::from_micros(a).unwrap(), Timestamp::from_micros(b).unwrap());
                prop_assert_eq!(time(&x.to_string()), x);
                prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}

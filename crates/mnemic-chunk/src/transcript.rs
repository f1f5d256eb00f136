//! Transcripts (`.vtt`, `.srt`) as plain text with the times of its parts. It reads text strictly, line by line, and
//! knows no recording.

use std::ops::Range;

use crate::passage::Chunk;

/// A transcript as plain text, with what was said when.
///
/// A cue is a line of the text. Where the speaker changes, a blank line comes before and the name stands at its
/// beginning, so that a passage reads well and can be found by who speaks.
///
/// ```
/// use mnemic_chunk::{Chunking, Transcript, chunk};
///
/// let transcript = Transcript::from_vtt("\
/// WEBVTT
///
/// 00:01.000 --> 00:03.500
/// <v Ada>The pump failed on Monday.
///
/// 00:03.500 --> 00:05.000
/// <v Ben>Which one?
/// ")?;
/// assert_eq!(transcript.text, "Ada: The pump failed on Monday.\n\nBen: Which one?");
///
/// let mut passages = chunk(&transcript.text, &Chunking::characters(40, 0))?;
/// transcript.annotate(&mut passages);
/// assert_eq!(passages[1].metadata.start, Some(3.5));
/// assert_eq!(passages[1].metadata.speakers, ["Ben"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Transcript {
    /// What was said, without times and tags.
    pub text: String,
    /// Its parts, in the order of the file.
    pub cues: Vec<Cue>,
}

/// A part of a transcript's text, and when it is said.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cue {
    /// Where it stands in [`Transcript::text`], the speaker's name included where it is written there.
    pub bytes: Range<usize>,
    /// When it begins, in seconds.
    pub start: f64,
    /// When it ends, in seconds. Not before `start`; after the next cue's start where two speak at once.
    pub end: f64,
    /// Who speaks, where the file says so.
    pub speaker: Option<String>,
}

/// What is wrong with a transcript, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
#[non_exhaustive]
pub struct TranscriptError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A WebVTT file begins with this word.
    #[error("the first line of a .vtt is \"WEBVTT\", not {0:?}")]
    Header(String),
    /// A cue begins with its times, or with one line of name or number and then its times.
    #[error("expected \"START --> END\", not {0:?}")]
    Times(String),
    /// A time is written `01:02:03.004`, in `.srt` with a comma.
    #[error("{0:?} is no time: write it as 01:02:03.004")]
    Time(String),
    /// A cue ends before it begins.
    #[error("the cue ends before it begins: {0:?}")]
    Backwards(String),
}

impl Transcript {
    /// Reads WebVTT. Notes, styles and regions are left out, as are settings of a cue and tags but for the speaker's.
    ///
    /// # Errors
    /// [`TranscriptError`] with the line, where it is none of what the format knows.
    pub fn from_vtt(text: &str) -> Result<Self, TranscriptError> {
        let mut lines = Lines::new(text);
        let first = lines.next().map_or("", |(_, line)| line);
        if first
            .strip_prefix("WEBVTT")
            .is_none_or(|rest| !rest.is_empty() && !rest.starts_with([' ', '\t']))
        {
            return Err(TranscriptError {
                line: 1,
                fault: Fault::Header(shortened(first)),
            });
        }
        while lines
            .next()
            .is_some_and(|(_, line)| !line.trim().is_empty())
        {}
        let mut transcript = Self::default();
        while let Some((number, line)) = lines.block() {
            let first = line.split_whitespace().next().unwrap_or_default();
            if ["NOTE", "STYLE", "REGION"].contains(&first) && !line.contains(ARROW) {
                while lines
                    .next()
                    .is_some_and(|(_, line)| !line.trim().is_empty())
                {}
                continue;
            }
            transcript.cue(number, line, &mut lines)?;
        }
        Ok(transcript)
    }

    /// Reads SubRip. The number of a cue may be missing or wrong; times may have a full stop for the comma.
    ///
    /// # Errors
    /// [`TranscriptError`] with the line, where it is none of what the format knows.
    pub fn from_srt(text: &str) -> Result<Self, TranscriptError> {
        let mut lines = Lines::new(text);
        let mut transcript = Self::default();
        while let Some((number, line)) = lines.block() {
            transcript.cue(number, line, &mut lines)?;
        }
        Ok(transcript)
    }

    /// Tells passages of [`Self::text`] when they are said and by whom.
    pub fn annotate(&self, chunks: &mut [Chunk]) {
        let mut first = 0;
        for chunk in chunks {
            while self
                .cues
                .get(first)
                .is_some_and(|cue| cue.bytes.end <= chunk.bytes.start)
            {
                first += 1;
            }
            let within = self
                .cues
                .iter()
                .skip(first)
                .take_while(|cue| cue.bytes.start < chunk.bytes.end);
            let metadata = &mut chunk.metadata;
            for cue in within {
                metadata.start = Some(
                    metadata
                        .start
                        .map_or(cue.start, |start| start.min(cue.start)),
                );
                metadata.end = Some(metadata.end.map_or(cue.end, |end| end.max(cue.end)));
                if let Some(speaker) = &cue.speaker
                    && !metadata.speakers.contains(speaker)
                {
                    metadata.speakers.push(speaker.clone());
                }
            }
        }
    }

    /// One cue, whose first line is `line`: its times, or a name or number before them.
    fn cue(
        &mut self,
        number: usize,
        line: &str,
        lines: &mut Lines<'_>,
    ) -> Result<(), TranscriptError> {
        let (number, times) = if line.contains(ARROW) {
            (number, line)
        } else {
            lines.next().unwrap_or((number, line))
        };
        let fault = |fault| TranscriptError {
            line: number,
            fault,
        };
        let Some((start, rest)) = times.split_once(ARROW) else {
            return Err(fault(Fault::Times(shortened(times))));
        };
        let end = rest.split_whitespace().next().unwrap_or_default();
        let start = seconds(start.trim()).map_err(fault)?;
        let end = seconds(end).map_err(fault)?;
        if end < start {
            return Err(fault(Fault::Backwards(shortened(times))));
        }
        let mut said = String::new();
        let mut speaker = None;
        while let Some((_, line)) = lines.next() {
            if line.trim().is_empty() {
                break;
            }
            plain(line, &mut said, &mut speaker);
            said.push(' ');
        }
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if !said.is_empty() {
            self.add(start, end, speaker, &said);
        }
        Ok(())
    }

    fn add(&mut self, start: f64, end: f64, speaker: Option<String>, said: &str) {
        let before = self.cues.last();
        let changed = before.is_none_or(|cue| cue.speaker != speaker);
        if before.is_some() {
            self.text.push_str(if changed { "\n\n" } else { "\n" });
        }
        let at = self.text.len();
        if let (true, Some(name)) = (changed, &speaker) {
            self.text.push_str(name);
            self.text.push_str(": ");
        }
        self.text.push_str(said);
        self.cues.push(Cue {
            bytes: at..self.text.len(),
            start,
            end,
            speaker,
        });
    }
}

const ARROW: &str = "-->";

/// The lines with their numbers, from 1; a byte order mark is none of the first.
struct Lines<'t> {
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            lines: text.lines().enumerate(),
        }
    }

    fn next(&mut self) -> Option<(usize, &'t str)> {
        self.lines.next().map(|(i, line)| (i + 1, line))
    }

    /// The next line that is not blank.
    fn block(&mut self) -> Option<(usize, &'t str)> {
        loop {
            let (number, line) = self.next()?;
            if !line.trim().is_empty() {
                return Some((number, line));
            }
        }
    }
}

/// `01:02:03.004`, hours optional, `,` for `.` allowed.
fn seconds(time: &str) -> Result<f64, Fault> {
    let wrong = || Fault::Time(shortened(time));
    let (clock, fraction) = time.split_once(['.', ',']).ok_or_else(wrong)?;
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain
            .then(|| digits.parse::<u32>().ok())
            .flatten()
            .ok_or_else(wrong)
    };
    if fraction.len() != 3 {
        return Err(wrong());
    }
    let parts: Vec<&str> = clock.split(':').collect();
    let (hours, minutes, whole) = match parts.as_slice() {
        [minutes, seconds] => (0, number(minutes)?, number(seconds)?),
        [hours, minutes, seconds] => (number(hours)?, number(minutes)?, number(seconds)?),
        _ => return Err(wrong()),
    };
    if minutes > 59 || whole > 59 {
        return Err(wrong());
    }
    let millis = (u64::from(hours) * 3_600 + u64::from(minutes) * 60 + u64::from(whole)) * 1_000
        + u64::from(number(fraction)?);
    Ok(millis as f64 / 1_000.0)
}

/// Appends the line without tags and with its entities read; notes who speaks. A `<` that begins no tag stays.
fn plain(line: &str, said: &mut String, speaker: &mut Option<String>) {
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{', '&']) {
        let (before, from) = rest.split_at(at);
        said.push_str(before);
        rest = markup(from, said, speaker);
    }
    said.push_str(rest);
}

/// What `from` begins with, a tag, an entity or just that character; gives what comes behind it.
fn markup<'t>(from: &'t str, said: &mut String, speaker: &mut Option<String>) -> &'t str {
    const ENTITIES: [(&str, &str); 8] = [
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&lrm;", "\u{200e}"),
        ("&rlm;", "\u{200f}"),
    ];
    for (entity, character) in ENTITIES {
        if let Some(behind) = from.strip_prefix(entity) {
            said.push_str(character);
            return behind;
        }
    }
    // Not to the end of a long line for each of its brackets.
    let near = |from: &'t str, end: char| {
        let near = from
            .get(..from.floor_char_boundary(LONGEST_TAG))
            .unwrap_or(from);
        let at = near.find(end)?;
        Some((from.get(..at)?, from.get(at + end.len_utf8()..)?))
    };
    if let Some((tag, behind)) = from.strip_prefix('<').and_then(|tag| near(tag, '>'))
        && is_tag(tag)
    {
        let name = tag.split([' ', '\t', '.']).next();
        if let (Some("v"), Some((_, voice))) = (name, tag.split_once([' ', '\t'])) {
            *speaker = Some(voice.trim().to_owned()).filter(|voice| !voice.is_empty());
        }
        return behind;
    }
    // SubRip's place on the screen: {\an8}.
    if let Some((_, behind)) = from.strip_prefix("{\\").and_then(|tag| near(tag, '}')) {
        return behind;
    }
    let mut characters = from.chars();
    said.extend(characters.next());
    characters.as_str()
}

/// Most bytes of a line that are looked through for the end of a tag.
const LONGEST_TAG: usize = 1_000;

/// A tag that transcripts have: formatting, voice, language, ruby, or a time within a cue.
fn is_tag(tag: &str) -> bool {
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let name = tag.split([' ', '\t', '.']).next().unwrap_or_default();
    let names = [
        "", "b", "c", "font", "i", "lang", "rt", "ruby", "s", "u", "v",
    ];
    names.contains(&name.to_ascii_lowercase().as_str()) && !tag.starts_with([' ', '\t'])
        || seconds(tag).is_ok()
}

/// As much of a line as a message needs.
fn shortened(line: &str) -> String {
    line.chars().take(60).collect()
}

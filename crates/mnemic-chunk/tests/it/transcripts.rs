//! Transcripts, plain ones and odd ones.

use mnemic_chunk::{Chunking, Fault, Transcript, TranscriptError, chunk};
use proptest::prelude::*;

const VTT: &str = "\
WEBVTT - a talk
Kind: captions

NOTE
not said

STYLE
::cue { color: red }

intro
00:00.100 --> 00:02.000 align:start position:0%
<v Ada>The pump <i>failed</i> on
Monday &amp; Tuesday.

00:01.500 --> 00:04.000
<v Ada>All of it.

01:00:04.000 --> 01:00:06.250
<v.loud Ben Smith><00:00:04.500><c.yellow>Which</c> one, 1 < 2?
";

fn cues(transcript: &Transcript) -> Vec<(&str, f64, f64, Option<&str>)> {
    transcript
        .cues
        .iter()
        .map(|cue| {
            let text = &transcript.text[cue.bytes.clone()];
            (text, cue.start, cue.end, cue.speaker.as_deref())
        })
        .collect()
}

#[test]
fn vtt_becomes_text_with_times_and_speakers() {
    let transcript = Transcript::from_vtt(VTT).unwrap();
    assert_eq!(
        transcript.text,
        "Ada: The pump failed on Monday & Tuesday.\nAll of it.\n\nBen Smith: Which one, 1 < 2?"
    );
    assert_eq!(
        cues(&transcript),
        [
            (
                "Ada: The pump failed on Monday & Tuesday.",
                0.1,
                2.0,
                Some("Ada")
            ),
            ("All of it.", 1.5, 4.0, Some("Ada")),
            (
                "Ben Smith: Which one, 1 < 2?",
                3_604.0,
                3_606.25,
                Some("Ben Smith")
            ),
        ]
    );
}

#[test]
fn srt_is_read_with_mark_windows_lines_tags_and_missing_numbers() {
    let srt = "\u{feff}1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Hello</i> {\\an8}there.\r\n\r\n\r\n\
               00:00:02.000 --> 00:00:03.000\r\n<font color=\"red\">No number.</font>\r\n\r\n\
               7\r\n00:00:03,000 --> 00:00:03,000\r\n\r\n\
               9\r\n99:59:59,999 --> 100:00:00,000\r\nThe end";
    let transcript = Transcript::from_srt(srt).unwrap();
    assert_eq!(transcript.text, "Hello there.\nNo number.\nThe end");
    assert_eq!(
        cues(&transcript),
        [
            ("Hello there.", 1.0, 2.5, None),
            ("No number.", 2.0, 3.0, None),
            ("The end", 359_999.999, 360_000.0, None),
        ]
    );
}

#[test]
fn passages_know_when_they_are_said_and_by_whom() {
    let transcript = Transcript::from_vtt(VTT).unwrap();
    let mut passages = chunk(&transcript.text, &Chunking::characters(60, 0)).unwrap();
    transcript.annotate(&mut passages);
    let known: Vec<_> = passages
        .iter()
        .map(|passage| {
            (
                passage.metadata.start,
                passage.metadata.end,
                passage.metadata.speakers.join("+"),
            )
        })
        .collect();
    assert_eq!(
        known,
        [
            (Some(0.1), Some(4.0), "Ada".to_owned()),
            (Some(3_604.0), Some(3_606.25), "Ben Smith".to_owned()),
        ]
    );
    assert_eq!(
        serde_json::to_string(&passages[0].metadata).unwrap(),
        r#"{"start":0.1,"end":4.0,"speakers":["Ada"]}"#
    );
}

#[test]
fn a_faulty_line_is_named() {
    let said = |result: Result<Transcript, TranscriptError>| {
        let error = result.unwrap_err();
        (error.line, error.fault)
    };
    assert_eq!(
        said(Transcript::from_vtt("WEBVTTX\n")),
        (1, Fault::Header("WEBVTTX".into()))
    );
    assert_eq!(
        said(Transcript::from_vtt("WEBVTT\n\nname\nno times\n")),
        (4, Fault::Times("no times".into()))
    );
    assert_eq!(
        said(Transcript::from_srt("1\n00:00:01,000 --> 00:00:02\nHi")),
        (2, Fault::Time("00:00:02".into()))
    );
    assert_eq!(
        said(Transcript::from_srt("1\n00:00:01,000 --> 00:61:02,000\nHi")),
        (2, Fault::Time("00:61:02,000".into()))
    );
    assert_eq!(
        said(Transcript::from_srt(
            "\n\n5\n00:00:03,000 --> 00:00:02,000\nHi"
        )),
        (4, Fault::Backwards("00:00:03,000 --> 00:00:02,000".into()))
    );
    assert_eq!(
        Transcript::from_srt("oops").unwrap_err().to_string(),
        "line 1: expected \"START --> END\", not \"oops\""
    );
    assert_eq!(Transcript::from_srt(" \n").unwrap(), Transcript::default());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), lines in prop::collection::vec(prop::sample::select(vec![
        "WEBVTT", "", "1", "00:01.000 --> 00:02.000", "00:00:01,000 --> 00:00:02,000", "<v", "<v A>a</v>", "&amp", "{\\a",
        "-->", "NOTE x", "\u{feff}", "<>", "é < & {", "00:00:61,000 --> x",
    ]), 0..30)) {
        for text in [text, lines.join("\n"), lines.join("\r\n")] {
            for transcript in [Transcript::from_vtt(&text), Transcript::from_srt(&text)].into_iter().flatten() {
                let mut at = 0;
                for cue in &transcript.cues {
                    prop_assert!(transcript.text[at..cue.bytes.start].trim().is_empty());
                    prop_assert!(cue.start <= cue.end);
                    at = cue.bytes.end;
                }
                prop_assert_eq!(at, transcript.text.len());
                let mut passages = chunk(&transcript.text, &Chunking::characters(8, 2)).unwrap();
                transcript.annotate(&mut passages);
                prop_assert!(passages.iter().all(|passage| passage.metadata.start.is_some()));
            }
        }
    }
}

/// A long line of brackets that begin no tag is text, and not looked through once for each of them.
#[test]
fn a_line_of_brackets_is_quickly_read() {
    let line = "<".repeat(2_000_000) + "{\\an8} end";
    let begun = std::time::Instant::now();
    let text = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{line}\n");
    let transcript = Transcript::from_vtt(&text).unwrap();
    assert_eq!(transcript.text, "<".repeat(2_000_000) + " end");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

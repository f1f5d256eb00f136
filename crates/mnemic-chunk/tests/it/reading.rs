//! Bytes as text, by format.

use mnemic_chunk::{Characters, Chunking, Format, ReadError, Rule, read};

#[test]
fn encodings_are_known_by_their_marks_and_others_refused() {
    let wide = |unit: fn(u16) -> [u8; 2]| {
        "\u{feff}Grüße 👋"
            .encode_utf16()
            .flat_map(unit)
            .collect::<Vec<u8>>()
    };
    for bytes in [
        "Grüße 👋".as_bytes().to_vec(),
        "\u{feff}Grüße 👋".as_bytes().to_vec(),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
    ] {
        assert_eq!(read(&bytes, Format::Text).unwrap().text, "Grüße 👋");
    }
    let error = read(b"\xEF\xBB\xBFGr\xFC\xDFe", Format::Text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 5 is not UTF-8: convert the file to UTF-8 first"
    );
    assert!(matches!(
        read(b"\xFF\xFEa", Format::Text),
        Err(ReadError::Utf16)
    ));
    assert!(matches!(
        read(b"\xFF\xFE\x00\xD8", Format::Markdown),
        Err(ReadError::Utf16)
    ));
    assert!(matches!(read(b" \n", Format::Text), Err(ReadError::Empty)));
}

#[test]
fn a_transcript_cut_as_a_source_keeps_its_times() {
    let source = read(
        b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello there.\n",
        Format::Vtt,
    )
    .unwrap();
    assert_eq!(source.text, "Hello there.");
    let chunks = source
        .chunk(&Chunking::characters(80, 0), &Characters)
        .unwrap();
    assert_eq!(
        (chunks[0].metadata.start, chunks[0].metadata.end),
        (Some(1.0), Some(2.0))
    );

    let error = read(b"WEBVTT\n\n00:01.000\n", Format::Vtt).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        cause,
        "line 3: expected \"START --> END\", not \"00:01.000\""
    );
}

#[test]
fn the_rule_follows_the_format() {
    assert_eq!(
        Format::of("a/b.TXT").unwrap().chunking(500),
        Chunking::characters(500, 0)
    );
    assert_eq!(Format::of("no ending"), None);
    let rule = Format::Markdown.chunking(500).rule();
    assert_eq!(rule == Rule::Markdown, cfg!(feature = "markdown"));
    let rule = Format::of("lib.rs").unwrap().chunking(500).rule();
    assert_eq!(rule == Rule::Prose, cfg!(not(feature = "code")));
}

#[cfg(feature = "html")]
mod html {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn structure_stays_and_scripts_go() {
        let html = "<html><head><title>T</title><style>p {}</style><script>bad()</script></head><body>\
            <h1>Pumps</h1><p>Two <b>pumps</b> are\nin <a href='/x'>store</a>.</p>\
            <h2>Care</h2><ul><li>Oil &amp; grease<li>Run dry</ul>\
            <table><tr><td>a</td><td>b</td></tr></table><pre>x\n  y</pre></body>";
        let source = read(html.as_bytes(), Format::Html).unwrap();
        assert_eq!(source.format, Format::Markdown);
        let lines: Vec<_> = source
            .text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(
            lines,
            [
                "# Pumps",
                "Two pumps are in store.",
                "## Care",
                "- Oil & grease",
                "- Run dry",
                "a b",
                "x",
                "  y"
            ]
        );
    }

    #[test]
    fn a_long_line_is_not_wrapped() {
        let html = format!("<p>{}</p>", "word ".repeat(5_000));
        assert_eq!(
            read(html.as_bytes(), Format::Html)
                .unwrap()
                .text
                .trim()
                .lines()
                .count(),
            1
        );
    }

    #[test]
    fn deep_nesting_does_not_overflow() {
        let html = format!("{}deep{}", "<div>".repeat(3_000), "</div>".repeat(3_000));
        let source = read(html.as_bytes(), Format::Html);
        assert!(source.is_ok_and(|source| source.text.trim() == "deep"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn anything_is_read(parts in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<table>", "<td>", "<tr>", "<ul><li>", "<h1>", "</h1>", "x", " ", "<pre>", "<!--", "&#0;", "é",
            "<svg>", "<ol start=99999999999>", "<img alt=a>", "<td colspan=99999>", "</table>", "<br>", "<blockquote>",
        ]), 0..40)) {
            let _ = read(parts.concat().as_bytes(), Format::Html);
        }
    }
}

#[cfg(not(feature = "html"))]
#[test]
fn html_without_its_feature_is_an_error_that_names_it() {
    let error = read(b"<p>x", Format::Html).unwrap_err();
    assert_eq!(
        error.to_string(),
        "to read HTML the feature \"html\" of mnemic-chunk is needed"
    );
}

#[cfg(feature = "pdf")]
mod pdf {
    use super::*;

    /// A PDF of one page a text, with a right table of contents.
    fn pdf(pages: &[&str]) -> Vec<u8> {
        let kids: Vec<String> = (0..pages.len())
            .map(|i| format!("{} 0 R", 4 + 2 * i))
            .collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!(
                "<< /Type /Pages /Kids [{}] /Count {} >>",
                kids.join(" "),
                pages.len()
            ),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
        ];
        for (i, text) in pages.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
                5 + 2 * i
            ));
            let stream = format!("BT /F1 12 Tf 50 700 Td ({text}) Tj ET");
            objects.push(format!(
                "<< /Length {} >>\nstream\n{stream}\nendstream",
                stream.len()
            ));
        }
        let mut out = b"%PDF-1.4\n".to_vec();
        let mut places = Vec::new();
        for (i, object) in objects.iter().enumerate() {
            places.push(out.len());
            out.extend(format!("{} 0 obj\n{object}\nendobj\n", i + 1).bytes());
        }
        let start = out.len();
        out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).bytes());
        for place in &places {
            out.extend(format!("{place:010} 00000 n \n").bytes());
        }
        out.extend(
            format!(
                "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
                places.len() + 1
            )
            .bytes(),
        );
        out
    }

    #[test]
    fn pages_become_paragraphs() {
        let source = read(&pdf(&["The pump failed.", "It was replaced."]), Format::Pdf).unwrap();
        assert_eq!(source.text, "The pump failed.\n\nIt was replaced.");
    }

    #[test]
    fn a_broken_file_is_an_error_and_no_panic() {
        assert!(matches!(
            read(b"not a PDF", Format::Pdf),
            Err(ReadError::Pdf(_))
        ));
        assert!(matches!(
            read(&pdf(&[""]), Format::Pdf),
            Err(ReadError::Empty)
        ));
        let whole = pdf(&["The pump failed."]);
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] = broken[at].wrapping_add(13);
            let _ = read(&broken, Format::Pdf);
            let _ = read(&whole[..at], Format::Pdf);
        }
    }
}

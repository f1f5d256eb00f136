//! Lines that an import refuses, leaves, or bounds.

use super::*;

/// Each wrong file with what its error must say.
#[test]
fn a_bad_line_is_named_and_nothing_is_stored() {
    let vector_header = r#"{"type":"header","format":"mnemic","version":1,"model":{"space":"s","id":"m","revision":"1","dims":2}}"#;
    let with_vector = |vector: &str| {
        let memory = line("a", "x").replace('}', &format!(r#","vector":{vector}}}"#));
        format!("{vector_header}\n{memory}\n")
    };
    let good = line("ok", "good");
    let memory_with = |fields: &str| lines(&[&good, &format!(r#"{{"type":"memory",{fields}}}"#)]);
    let at = r#""created_at":"2026-01-01""#;
    let long = "x".repeat(200);
    for (file, told) in [
        (String::new(), "empty"),
        ("\n \n".to_owned(), "empty"),
        (
            good.clone(),
            r#"line 1: it should be the first line of an export, its type "header""#,
        ),
        ("[]".to_owned(), "line 1"),
        (lines(&[&good, "nonsense"]), "line 3, column 2"),
        (
            lines(&[&good, r#"{"type":"memory","id":"a","#]),
            "line 3, column",
        ),
        (
            format!("{HEADER}\n{good}\n{}", r#"{"type":"memory","id":"a","con"#),
            "line 3: the file ends in the middle of it",
        ),
        (
            memory_with(&format!(r#""content":"x",{at}"#)),
            r#"line 3: field "id": it is missing"#,
        ),
        (
            memory_with(&format!(r#""id":"a",{at}"#)),
            r#"line 3: field "content": it is missing"#,
        ),
        (
            memory_with(r#""id":"a","content":"x""#),
            r#"line 3: field "created_at": it is missing"#,
        ),
        (
            memory_with(&format!(r#""id":7,"content":"x",{at}"#)),
            r#"line 3: field "id": invalid type: integer `7`"#,
        ),
        (
            memory_with(&format!(r#""id":"a b","content":"x",{at}"#)),
            r#"line 3: field "id": it cannot be an id"#,
        ),
        (
            memory_with(&format!(r#""id":"{long}","content":"x",{at}"#)),
            r#"line 3: field "id": it cannot be an id"#,
        ),
        (
            memory_with(&format!(r#""id":"a","content":" ",{at}"#)),
            r#"line 3: field "content": a memory needs a text"#,
        ),
        (
            memory_with(&format!(r#""id":"a","content":"\ud800",{at}"#)),
            r#"line 3: field "content": "#,
        ),
        (
            memory_with(&format!(r#""id":"a","content":"x","tags":"t",{at}"#)),
            r#"line 3: field "tags": invalid type"#,
        ),
        (
            memory_with(&format!(r#""id":"a","content":"x","tags":[1],{at}"#)),
            r#"line 3: field "tags": invalid type"#,
        ),
        (
            memory_with(&format!(r#""id":"a","content":"x","project":["p"],{at}"#)),
            r#"line 3: field "project": invalid type"#,
        ),
        (
            memory_with(r#""id":"a","content":"x","created_at":"yesterday""#),
            r#"line 3: field "created_at": "yesterday" is not a time"#,
        ),
        (
            memory_with(r#""id":"a","content":"x","created_at":1767225600"#),
            r#"line 3: field "created_at": invalid type"#,
        ),
        (
            memory_with(&format!(r#""id":"a","id":"b","content":"x",{at}"#)),
            r#"line 3: field "id": it is there twice"#,
        ),
        (
            lines(&[&good, &good]),
            r#"line 3: field "id": "ok" is the id of line 2 already"#,
        ),
        (lines(&[&good, HEADER]), "line 3: a second header"),
        (
            lines(&[&good, r#"{"id":"a"}"#]),
            r#"line 3: field "type": it is missing"#,
        ),
        (
            HEADER.replace("mnemic", "other"),
            r#"line 1: field "format": "other" is not "mnemic""#,
        ),
        (HEADER.replace(":1", ":0"), r#"line 1: field "version""#),
        (
            HEADER.replace(":1", ":-1"),
            r#"line 1: field "version": invalid value"#,
        ),
        (
            HEADER.replace("1}", r#"1,"memories":2}"#) + "\n" + &good,
            "tells of 2 memories, but 1 follow",
        ),
        (
            HEADER.replace("1}", r#"1,"vectors":1}"#) + "\n" + &good,
            "tells of 1 vectors, but 0 follow",
        ),
        (
            with_vector("[1,0]").replace(vector_header, HEADER),
            r#"line 2: field "vector": the first line names no model"#,
        ),
        (
            with_vector("[1,0,0]"),
            r#"line 2: field "vector": it has 3 numbers"#,
        ),
        (
            with_vector("[0,0]"),
            r#"line 2: field "vector": it is the zero vector"#,
        ),
        (
            with_vector("[1,1e39]"),
            r#"line 2: field "vector": number 2 of it"#,
        ),
        (
            with_vector(r#"[1,"0"]"#),
            r#"line 2: field "vector": number 2 of it"#,
        ),
        (
            with_vector("[1,[0]]"),
            r#"line 2: field "vector": number 2 of it"#,
        ),
        (
            with_vector(r#""[1,0]""#),
            r#"line 2: field "vector": it is not a list"#,
        ),
        (with_vector("[1,NaN]"), "line 2, column"),
        (
            with_vector("[1,0]").replace("\"dims\":2", "\"dims\":0"),
            r#"field "dims""#,
        ),
    ] {
        let memory = memory();
        let error = import(&memory, &file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{file}: {error:?}");
        assert!(
            error.to_string().contains(told),
            "{file}\n{error}\nshould say: {told}"
        );
        assert_eq!(memory.health().unwrap().memories, 0, "{file}");
    }
    let mut bytes = lines(&[&good]).into_bytes();
    bytes.extend(b"{\"type\":\"memory\",\"id\":\"\xff\"}\n");
    let memory = memory();
    let error = memory.import(Import::jsonl(bytes.as_slice())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 3: it is not UTF-8 at byte 24"),
        "{error}"
    );
    assert_eq!(memory.health().unwrap().memories, 0);
}

#[test]
fn a_newer_format_is_refused_and_both_versions_named() {
    let error = import(&memory(), &HEADER.replace(":1", ":7")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NewerFile);
    let message = error.to_string();
    assert!(
        message.contains("version 7") && message.contains("up to 1"),
        "{message}"
    );
}

#[test]
fn a_line_that_is_too_long_is_refused_unless_it_should_be() {
    let memory = memory();
    let file = lines(&[&line("a", &"word ".repeat(1_000))]);
    let with = |max| memory.import(Import::jsonl(file.as_bytes()).max_line(max));
    let error = with(4_000).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 2: it is longer than 4000 bytes"),
        "{error}"
    );
    assert_eq!(with(8_000).unwrap().added, 1);
    // A file of no lines at all does not fill the memory: what is read is bounded.
    let mut read = 0;
    let endless = BufReader::new(Counting {
        inner: io::repeat(b' '),
        read: &mut read,
    });
    let error = memory
        .import(Import::jsonl(endless).max_line(1_000))
        .unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
    assert!(read <= 16_384, "{read} bytes read");
}

struct Counting<'a, R> {
    inner: R,
    read: &'a mut u64,
}

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        *self.read += read as u64;
        Ok(read)
    }
}

#[test]
fn what_is_not_known_is_counted_and_kept_for_the_caller() {
    let memory = memory();
    let known = line("a", "plain");
    let odd = line("b", "odd").replace('}', r#","mood":"glad","weight":{"kg":1}}"#);
    let relation = r#"{"type":"friendship","from":"a","to":"b"}"#;
    let file = format!(
        "\u{feff}{}\r\n\r\n{odd}\r\n{relation}\r\n{known}",
        HEADER.replace("1}", r#"1,"by":"me"}"#)
    );
    let mut kept = Vec::new();
    let report = memory
        .import(Import::jsonl(file.as_bytes()).left_to(&mut kept))
        .unwrap();
    assert_eq!((report.added, report.left_written), (2, 3));
    let left: Vec<String> = report.left.iter().map(ToString::to_string).collect();
    assert_eq!(
        left,
        [
            "friendship: 1 row (this version of mnemic knows no such type of line)",
            "header.by: 1 (this version of mnemic knows no such field)",
            "memory.mood: 1 (this version of mnemic knows no such field)",
            "memory.weight: 1 (this version of mnemic knows no such field)",
        ]
    );
    let kept = String::from_utf8(kept).unwrap();
    let kept: Vec<&str> = kept.lines().collect();
    assert_eq!(kept[1..], [odd.as_str(), relation]);
}

/// A file made of names that are never the same is counted in bounded memory, and nothing of it is missing in the sum.
#[test]
fn names_without_end_are_counted_together() {
    let lines: String = (0..12_000)
        .map(|i| format!("{{\"type\":\"thing {i}\"}}\n"))
        .collect();
    let memory = memory();
    let mut out = Vec::new();
    memory.export(Export::new(), &mut out).unwrap();
    let empty = String::from_utf8(out).unwrap();
    let header = empty.lines().next().unwrap();
    let report = memory
        .import(Import::jsonl(format!("{header}\n{lines}").as_bytes()))
        .unwrap();
    assert!(report.left.len() <= 10_001, "{}", report.left.len());
    assert_eq!(
        report.left.iter().map(|left| left.count).sum::<u64>(),
        12_000
    );
}

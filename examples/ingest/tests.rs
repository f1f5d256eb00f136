//! A folder taken in, again, changed, and with what cannot be read among it.

use std::fs;
use std::path::Path;

use mnemic::Memory;

use crate::ingestion::{Ingestion, Outcome, Report};

fn ingest(memory: &Memory, folder: &Path) -> Report {
    Ingestion::of(&[folder.to_owned()]).run(memory, |_, _| {})
}

fn outcomes(report: &Report) -> Vec<(String, &'static str)> {
    let of = |outcome: &Outcome| match outcome {
        Outcome::Added(_) => "added",
        Outcome::Changed(_) => "changed",
        Outcome::Unchanged => "unchanged",
        Outcome::Failed(_) => "failed",
    };
    let name = |path: &Path| {
        path.file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned()
    };
    report
        .files
        .iter()
        .map(|(path, outcome)| (name(path), of(outcome)))
        .collect()
}

#[test]
fn a_folder_is_taken_in_once_and_then_where_it_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let paragraph =
        |i: usize| format!("Paragraph {i} tells of the voyage of ship number {i}. ").repeat(15);
    let book: String = (0..20).map(|i| paragraph(i) + "\n\n").collect();
    fs::create_dir(at("talks")).expect("a folder");
    fs::write(at("book.txt"), &book).expect("written");
    fs::write(at("latin.txt"), b"na\xEFve").expect("written");
    fs::write(at("notes.md"), "# Notes\n\nThe pump failed.\n").expect("written");
    fs::write(at("picture.png"), b"\x89PNG").expect("written");
    fs::write(at(".hidden.md"), "secret").expect("written");
    fs::write(
        at("talks/a.vtt"),
        "WEBVTT\n\n00:01.000 --> 00:02.500\nHello there.\n",
    )
    .expect("written");
    let memory = Memory::open_in_memory().expect("open");

    let report = ingest(&memory, folder.path());
    assert_eq!(
        outcomes(&report),
        [
            ("book.txt".to_owned(), "added"),
            ("latin.txt".to_owned(), "failed"),
            ("notes.md".to_owned(), "added"),
            ("a.vtt".to_owned(), "added"),
        ]
    );
    assert_eq!(report.others, 1);
    let Outcome::Failed(reason) = &report.files[1].1 else {
        panic!("{report:?}");
    };
    assert_eq!(
        reason,
        "byte 2 is not UTF-8: convert the file to UTF-8 first"
    );
    let talk = &memory.documents_from(
        &fs::canonicalize(at("talks/a.vtt"))
            .expect("a path")
            .to_string_lossy(),
    );
    let talk = talk.as_ref().expect("read")[0].memory.id.clone();
    let passages = memory.passages_of(&talk).expect("read");
    assert_eq!(passages[0].text, "Hello there.");
    assert_eq!(
        passages[0].metadata.as_deref(),
        Some(r#"{"start":1.0,"end":2.5}"#)
    );

    let again = ingest(&memory, folder.path());
    let expected = [
        ("book.txt", "unchanged"),
        ("latin.txt", "failed"),
        ("notes.md", "unchanged"),
        ("a.vtt", "unchanged"),
    ];
    assert_eq!(
        outcomes(&again),
        expected.map(|(name, outcome)| (name.to_owned(), outcome))
    );

    // One paragraph of the book becomes another: few passages are embedded.
    fs::write(
        at("book.txt"),
        book.replace("ship number 10", "ship number ten"),
    )
    .expect("written");
    fs::remove_file(at("notes.md")).expect("removed");
    let changed = ingest(&memory, folder.path());
    let Outcome::Changed(stored) = &changed.files[0].1 else {
        panic!("{changed:?}");
    };
    assert!(stored.chunks > 15 && stored.embedded <= 3, "{stored:?}");
    assert_eq!(stored.embedded + stored.reused, stored.chunks);
    assert_eq!(changed.gone.len(), 1);
    assert!(changed.gone[0].ends_with("notes.md"));
    assert_eq!(
        memory
            .documents(mnemic::Documents::new())
            .expect("read")
            .len(),
        3
    );
}

#[test]
fn what_is_not_there_is_reported_and_the_rest_goes_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.md");
    fs::write(&file, "# A\n\ntext").expect("written");
    let memory = Memory::open_in_memory().expect("open");
    let paths = [folder.path().join("nowhere"), file.clone(), file];
    let report = Ingestion::of(&paths).run(&memory, |_, _| {});
    let expected = [("a.md", "added"), ("nowhere", "failed")];
    assert_eq!(
        outcomes(&report),
        expected.map(|(name, outcome)| (name.to_owned(), outcome))
    );
}

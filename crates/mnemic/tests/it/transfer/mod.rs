//! Export and import: what goes out comes back, what is wrong is named, and nothing comes by half.

mod carried;
mod lines;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};

use mnemic::{
    EmbeddingModel, Error, ErrorKind, Export, Import, ImportReport, Include, Memory, NewMemory,
    OnConflict, Preset, Recall, Scope, StoredMemory, Timeline,
};
use proptest::prelude::*;

use crate::support::{Faulty, WordHash, builder, memory, sound, time};

fn exported(memory: &Memory, export: Export) -> String {
    let mut file = Vec::new();
    let report = memory.export(export, &mut file).unwrap();
    assert_eq!(report.bytes, file.len() as u64);
    String::from_utf8(file).unwrap()
}

fn import(memory: &Memory, lines: &str) -> Result<ImportReport, Error> {
    memory.import(Import::jsonl(lines.as_bytes()))
}

fn all(memory: &Memory) -> Vec<StoredMemory> {
    let all = Timeline::new().include(Include::all());
    memory.timeline(all.oldest_first()).unwrap()
}

const HEADER: &str = r#"{"type":"header","format":"mnemic","version":1}"#;

/// A file of these memories' lines.
fn lines(memories: &[&str]) -> String {
    format!("{HEADER}\n{}\n", memories.join("\n"))
}

fn line(id: &str, content: &str) -> String {
    format!(
        r#"{{"type":"memory","id":"{id}","content":"{content}","created_at":"2026-05-01T10:00:00Z"}}"#
    )
}

/// A few memories of every kind, with changes.
fn filled() -> Memory {
    let memory = memory();
    memory
        .store_all([
            NewMemory::new("the desk plant is a fern").created_at(time("2026-01-02")),
            NewMemory::new("deploys \"freeze\" \\ on\nFridays\u{2028} 🎉\0\u{7f}")
                .project("100%_real")
                .tags(["a,b", "say \"hi\"", "写真", ""])
                .created_at(time("2026-01-01 00:00:00.25")),
            NewMemory::new("今日は東京塔の夜景を見た")
                .project("")
                .created_at(time("2026-01-02")),
            NewMemory::new("third of one second")
                .id("own/id#1")
                .created_at(time("2026-01-02")),
        ])
        .unwrap();
    memory
        .update("own/id#1", "third of one second, changed")
        .unwrap();
    memory
}

#[test]
fn what_is_exported_comes_back_just_so() {
    let memory = filled();
    let file = exported(&memory, Export::new());
    let first: BTreeMap<String, serde_json::Value> =
        serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!(first["format"], "mnemic");
    assert_eq!(
        (&first["memories"], &first["vectors"]),
        (&4.into(), &4.into())
    );
    assert_eq!(first["model"]["id"], "word-hash");
    let other = self::memory();
    let report = import(&other, &file).unwrap();
    assert_eq!(
        (report.added, report.vectors_carried, report.vectors_made),
        (4, 4, 0)
    );
    assert!(report.left.is_empty(), "{report}");
    assert_eq!(all(&other), all(&memory));
    assert_eq!(exported(&other, Export::new()), file);
    sound(&other);
    let vectors = Recall::new("FERN")
        .scope(Scope::All)
        .preset(Preset::vector_only());
    assert_eq!(
        other.recall(vectors.clone()).unwrap(),
        memory.recall(vectors).unwrap()
    );
}

#[test]
fn to_import_again_changes_nothing_and_embeds_nothing() {
    let memory = filled();
    let file = exported(&memory, Export::new().no_vectors());
    let before = all(&memory);
    let report = import(&memory, &file).unwrap();
    assert_eq!(
        (report.unchanged, report.added, report.vectors_made),
        (4, 0, 0)
    );
    assert_eq!(all(&memory), before);
    // Not even where the model would refuse.
    let embedder = std::sync::Arc::new(Faulty::new());
    let other = Memory::builder()
        .embedder(embedder.clone())
        .open_in_memory()
        .unwrap();
    let cursed = lines(&[&line("a", "a cursed text")]);
    import(&other, &cursed).unwrap();
    embedder.fault(Some(|_| Ok(None)));
    assert_eq!(import(&other, &cursed).unwrap().unchanged, 1);
}

#[test]
fn lines_may_come_in_any_order() {
    let memory = filled();
    let file = exported(&memory, Export::new());
    let mut shuffled: Vec<&str> = file.lines().collect();
    shuffled[1..].reverse();
    let other = self::memory();
    import(&other, &(shuffled.join("\n") + "\n")).unwrap();
    let by_id = |memory: &Memory| {
        all(memory)
            .into_iter()
            .map(|m| (m.id.clone(), m))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(by_id(&other), by_id(&memory));
    sound(&other);
}

#[test]
fn an_export_is_of_what_the_filter_admits() {
    let memory = filled();
    for (export, count) in [
        (Export::new().scope(Scope::Global), 2),
        (Export::new().project("100%_real"), 1),
        (Export::new().tags_any(["写真"]), 1),
        (Export::new().since(time("2026-01-02")), 3),
        (Export::new().ids([""; 0]), 0),
    ] {
        let file = exported(&memory, export);
        assert_eq!(file.lines().count(), count + 1, "{file}");
        assert_eq!(import(&self::memory(), &file).unwrap().added, count as u64);
    }
}

#[test]
fn without_vectors_all_is_embedded_where_it_arrives() {
    let file = exported(&filled(), Export::new().no_vectors());
    assert!(!file.contains("vector\":["), "{file}");
    let other = Memory::builder()
        .embedder(WordHash::named("other", "9", 16))
        .open_in_memory()
        .unwrap();
    let report = import(&other, &file).unwrap();
    assert_eq!(
        (report.added, report.vectors_carried, report.vectors_made),
        (4, 0, 4)
    );
    sound(&other);
}

#[test]
fn vectors_of_another_model_are_told_and_made_anew() {
    let file = exported(&filled(), Export::new());
    // Another revision: as wide, and yet another space.
    let other = Memory::builder()
        .embedder(WordHash::named("word-hash", "2", 32))
        .open_in_memory()
        .unwrap();
    let report = import(&other, &file).unwrap();
    assert_eq!((report.vectors_carried, report.vectors_made), (0, 4));
    let left = &report.left[0];
    assert_eq!(
        (left.table.as_str(), left.field.as_deref(), left.count),
        ("memory", Some("vector"), 4)
    );
    assert!(
        left.why.contains("revision 1") && left.why.contains("revision 2"),
        "{left}"
    );
    sound(&other);
    assert_eq!(other.health().unwrap().model.unwrap().revision, "2");
}

#[test]
fn without_a_model_an_empty_memory_takes_that_of_the_export() {
    let memory = filled();
    let file = exported(&memory, Export::new());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let other = Memory::builder().no_embedder().open(&path).unwrap();
    assert_eq!(import(&other, &file).unwrap().vectors_carried, 4);
    assert_eq!(exported(&other, Export::new()), file);
    drop(other);
    let other = builder().open(&path).unwrap();
    sound(&other);
    assert_eq!(all(&other), all(&memory));
    // Beside memories that have no vectors they would be a half: then words alone.
    let words = Memory::builder().no_embedder().open_in_memory().unwrap();
    words.store("here already").unwrap();
    let report = import(&words, &file).unwrap();
    assert_eq!(
        (report.added, report.vectors_carried, report.left[0].count),
        (4, 0, 4)
    );
    assert!(words.check().unwrap().is_ok());
}

#[test]
fn what_is_to_be_embedded_needs_the_files_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    builder()
        .open(&path)
        .unwrap()
        .store("here already")
        .unwrap();
    let words = Memory::builder().no_embedder().open(&path).unwrap();
    let error = import(&words, &lines(&[&line("a", "new")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    let message = error.to_string();
    assert!(
        message.contains("word-hash") && message.contains("no model") && message.contains("\"a\""),
        "{message}"
    );
    assert_eq!(words.health().unwrap().memories, 1);
    // With vectors of that model nothing need be embedded.
    let file = exported(&filled(), Export::new());
    assert_eq!(import(&words, &file).unwrap().vectors_carried, 4);
    drop(words);
    sound(&builder().open(&path).unwrap());
}

#[test]
fn a_memory_that_differs_is_dealt_with_as_was_said() {
    let memory = memory();
    import(
        &memory,
        &lines(&[&line("a", "as it was"), &line("b", "untouched")]),
    )
    .unwrap();
    let changed = r#"{"type":"memory","id":"a","content":"as it is now","project":"p","tags":["t"],"created_at":"2026-05-02T00:00:00Z","updated_at":"2026-05-03T00:00:00Z"}"#;
    let file = lines(&[&line("b", "untouched"), changed, &line("c", "new")]);
    let error = import(&memory, &file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert!(
        error.to_string().contains("line 3") && error.to_string().contains("\"a\""),
        "{error}"
    );
    assert_eq!(memory.get("c").unwrap(), None, "all or nothing");

    let with = |policy| {
        memory
            .import(Import::jsonl(file.as_bytes()).on_conflict(policy))
            .unwrap()
    };
    let report = with(OnConflict::Keep);
    assert_eq!((report.kept, report.unchanged, report.added), (1, 1, 1));
    assert_eq!(memory.get("a").unwrap().unwrap().content, "as it was");

    let report = with(OnConflict::Replace);
    assert_eq!(
        (report.replaced, report.unchanged, report.vectors_made),
        (1, 2, 1)
    );
    let now = memory.get("a").unwrap().unwrap();
    assert_eq!(
        (now.content.as_str(), now.project.as_deref()),
        ("as it is now", Some("p"))
    );
    assert_eq!(
        (now.created_at, now.updated_at),
        (time("2026-05-02"), time("2026-05-03"))
    );
    assert_eq!(
        memory.recall(Recall::new("now").project("p")).unwrap()[0].memory,
        now
    );
    assert_eq!(with(OnConflict::Fail).unchanged, 3);
    sound(&memory);

    // Other tags alone need no vector.
    let tagged = file.replace(r#"["t"]"#, r#"["u"]"#);
    let report = memory
        .import(Import::jsonl(tagged.as_bytes()).on_conflict(OnConflict::Replace))
        .unwrap();
    assert_eq!((report.replaced, report.vectors_made), (1, 0));
    assert_eq!(memory.get("a").unwrap().unwrap().tags, ["u"]);
    sound(&memory);
}

#[test]
fn a_model_that_fails_fails_the_import() {
    let embedder = std::sync::Arc::new(Faulty::new());
    let memory = Memory::builder()
        .embedder(embedder.clone())
        .open_in_memory()
        .unwrap();
    let file = lines(&[&line("a", "fine"), &line("b", "a cursed text")]);
    embedder.fault(Some(|_| Err(mnemic::EmbedError::run("no"))));
    assert_eq!(
        import(&memory, &file).unwrap_err().kind(),
        ErrorKind::Embedding
    );
    embedder.fault(Some(|_| Ok(None)));
    let error = import(&memory, &file).unwrap_err();
    assert!(error.to_string().contains("a cursed text"), "{error}");
    assert_eq!(memory.health().unwrap().memories, 0);
    embedder.fault(None);
    assert_eq!(import(&memory, &file).unwrap().added, 2);
}

#[test]
fn readers_and_writers_that_fail_are_told_of() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is out"))
        }
    }
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let memory = filled();
    let error = memory.export(Export::new(), Broken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "the disk is full");
    let file = lines(&[&line("z", "half")]);
    let half = BufReader::new(file.as_bytes().chain(Broken));
    let error = memory.import(Import::jsonl(half)).unwrap_err();
    assert_eq!(
        (error.kind(), memory.get("z").unwrap()),
        (ErrorKind::Io, None)
    );
    assert!(error.to_string().contains("line 3"), "{error}");
    let odd = line("z", "odd").replace('}', r#","mood":"glad"}"#);
    let file = lines(&[&odd]);
    let error = memory
        .import(Import::jsonl(file.as_bytes()).left_to(Broken))
        .unwrap_err();
    assert_eq!(
        (error.kind(), memory.get("z").unwrap()),
        (ErrorKind::Io, None)
    );
}

#[test]
fn a_read_only_memory_exports_and_imports_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let file = exported(&filled(), Export::new());
    import(&builder().open(&path).unwrap(), &file).unwrap();
    let reader = builder().open_read_only(&path).unwrap();
    assert_eq!(exported(&reader, Export::new()), file);
    let error = import(&reader, &lines(&[&line("z", "new")])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A file that nobody had open is read without locks: where a writer comes during the export, it is not half of each.
#[test]
fn an_export_that_a_writer_came_into_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let writer = builder().open(&path).unwrap();
    writer
        .store_all((0..100).map(|i| format!("note {i}")))
        .unwrap();
    drop(writer);
    struct Meddling<'p>(&'p std::path::Path, u32);
    impl Write for Meddling<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1 == 1 {
                builder().open(self.0).unwrap().store("meanwhile").unwrap();
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let reader = builder().open_read_only(&path).unwrap();
    let error = reader
        .export(Export::new(), Meddling(&path, 0))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(
        reader.export(Export::new(), io::sink()).unwrap().memories,
        101
    );
}

#[test]
fn an_export_is_of_one_instant_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let memory = builder().open(&path).unwrap();
    memory
        .store_all((0..500).map(|i| format!("note {i}")))
        .unwrap();
    let (from, to) = io::pipe().unwrap();
    std::thread::scope(|scope| {
        let export = scope.spawn(|| memory.export(Export::new(), to).unwrap());
        let mut lines = BufReader::new(from).lines();
        // The export stands still, the pipe being full, when the first line is here.
        let header = lines.next().unwrap().unwrap();
        let other = builder().open(&path).unwrap();
        other.store("written meanwhile").unwrap();
        other.delete(&all(&other)[400].id).unwrap();
        assert!(header.contains(r#""memories":500"#), "{header}");
        assert_eq!(lines.map(Result::unwrap).count(), 500);
        assert_eq!(export.join().unwrap().memories, 500);
    });
}

/// More than waits in memory, so that the temporary file is used, in several batches.
#[test]
fn many_come_in_by_way_of_a_temporary_file() {
    let many: Vec<String> = (0..3_000)
        .map(|i| {
            line(
                &format!("id{i}"),
                &format!("note {i} {}", "filler ".repeat(500)),
            )
        })
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let file = lines(&many);
    assert!(file.len() > 10 << 20);
    let memory = memory();
    let report = import(&memory, &file).unwrap();
    assert_eq!((report.added, report.vectors_made), (3_000, 3_000));
    sound(&memory);
    let hits = memory
        .recall(Recall::new("2999").preset(Preset::word_only()))
        .unwrap();
    assert_eq!(hits[0].memory.id, "id2999");
}

#[test]
fn the_model_of_vectors_may_be_named_once() {
    let unknown = lines(&[&line("a", "plain").replace('}', r#","vector":[1,0]}"#)]).replace(
        "1}\n",
        r#"1,"model":{"space":"unknown","id":"unknown","revision":"6d61726b","dims":2}}"#,
    );
    let unknown = unknown.replacen("}{", "}\n{", 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let words = || Memory::builder().no_embedder().open(&path).unwrap();
    assert_eq!(import(&words(), &unknown).unwrap().vectors_carried, 1);
    // It cannot be asked by any model, not even by one that calls itself so, nor stored into without one.
    let impostor = WordHash::named("unknown", "6d61726b", 2);
    for error in [
        builder().open(&path).unwrap_err(),
        Memory::builder()
            .embedder(impostor)
            .open(&path)
            .unwrap_err(),
        words().store("new").unwrap_err(),
        words()
            .name_model(&EmbeddingModel::new("s", "m", "1", 3))
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ModelMismatch);
        assert!(error.to_string().contains("name_model"), "{error}");
    }
    let model = WordHash::named("m", "1", 2);
    let named = EmbeddingModel::new("m/1", "m", "1", 2);
    words().name_model(&named).unwrap();
    words().name_model(&named).unwrap();
    let error = words()
        .name_model(&EmbeddingModel::new("m/2", "m", "2", 2))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    let memory = Memory::builder().embedder(model).open(&path).unwrap();
    memory.store("another").unwrap();
    sound(&memory);
}

fn text() -> impl Strategy<Value = String> {
    // No NUL-free, escape-free or ASCII-only comfort: any text with something in it.
    ".{0,12}[a-z]{1,8}.{0,12}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Export, import into an empty file, export: the same bytes, and the same memory.
    #[test]
    fn a_round_trip_gives_the_same_bytes(
        rows in prop::collection::vec(
            (text(), prop::option::of(".{0,6}"), prop::collection::vec(".{0,6}", 0..4), 0i64..4_000_000, prop::option::of(text())),
            0..12,
        ),
        vectors in any::<bool>(),
    ) {
        let source = memory();
        for (content, project, tags, micros, change) in rows {
            let at = mnemic::Timestamp::from_micros(1_700_000_000_000_000 + micros).unwrap();
            let mut new = NewMemory::new(content).tags(tags).created_at(at);
            if let Some(project) = project {
                new = new.project(project);
            }
            let Ok(stored) = source.store(new) else { continue };
            if let Some(change) = change {
                let _ = source.update(&stored.id, change);
            }
        }
        let export = || if vectors { Export::new() } else { Export::new().no_vectors() };
        let file = exported(&source, export());
        let target = memory();
        let report = import(&target, &file).unwrap();
        prop_assert_eq!(report.added, source.health().unwrap().memories);
        prop_assert_eq!(exported(&target, export()), file);
        prop_assert_eq!(exported(&target, Export::new()), exported(&source, Export::new()));
        prop_assert_eq!(all(&target), all(&source));
    }

    /// Whatever is done to the bytes of an export, it is refused with nothing stored, or every memory is a whole one.
    #[test]
    fn no_bytes_panic_or_come_by_half(cut in 0usize..2_000, at in 0usize..2_000, byte in any::<u8>()) {
        let mut file = exported(&filled(), Export::new()).into_bytes();
        let length = file.len();
        file[at % length] = byte;
        file.truncate(length - cut % length);
        let target = memory();
        match target.import(Import::jsonl(file.as_slice())) {
            Err(_) => prop_assert_eq!(target.health().unwrap().memories, 0),
            Ok(report) => {
                prop_assert_eq!(report.added, target.health().unwrap().memories);
                sound(&target);
            }
        }
    }
}

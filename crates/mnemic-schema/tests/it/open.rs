use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mnemic_schema::{Durability, OpenOptions, SchemaError, Store};

use crate::{put, row};

fn count(store: &mut Store) -> u64 {
    store.read(|s| s.memory_count()).unwrap()
}

/// Every file of a folder with its bytes.
fn image(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect()
}

#[test]
fn any_path_means_exactly_that_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "with space.db",
        "a#b.db",
        "a?mode=memory.db",
        "50%.db",
        "%41.db",
        "日記.db",
        "file:x.db",
        "a'b\"c.db",
        "-wal",
        "ünï.db",
    ] {
        let path = folder.path().join(name);
        let mut store = Store::open(&path, OpenOptions::default()).unwrap();
        put(&mut store, &row("here"), None).unwrap();
        drop(store);
        assert_eq!(image(folder.path()).len(), 1, "{name}: only that file");
        assert!(path.is_file(), "{name}");
        assert_eq!(
            count(&mut Store::open(&path, OpenOptions::default()).unwrap()),
            1,
            "{name}"
        );
        let mut reader = Store::open_read_only(&path, OpenOptions::default()).unwrap();
        assert_eq!(count(&mut reader), 1, "{name}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_path_that_names_no_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        Path::new(""),
        Path::new(":memory:"),
        folder.path(),
        Path::new("a\0b"),
    ] {
        for open in [Store::open, Store::open_read_only] {
            let error = open(path, OpenOptions::default()).unwrap_err();
            assert!(
                matches!(error, SchemaError::BadPath { .. }),
                "{path:?}: {error:?}"
            );
        }
    }
    let absent = folder.path().join("absent.db");
    let error = Store::open_read_only(&absent, OpenOptions::default()).unwrap_err();
    assert!(matches!(error, SchemaError::Io { .. }), "{error:?}");
    assert!(!absent.exists());
    let nowhere = folder.path().join("no/such/folder.db");
    let error = Store::open(&nowhere, OpenOptions::default()).unwrap_err();
    assert!(matches!(error, SchemaError::Io { .. }), "{error:?}");
}

#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut store = Store::open(&path, OpenOptions::default()).unwrap();
    put(&mut store, &row("secret"), None).unwrap();
    for path in image(folder.path()).keys() {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{path:?}");
    }
}

#[test]
fn a_read_only_open_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut writer = Store::open(&path, OpenOptions::default()).unwrap();
    put(&mut writer, &row("one"), None).unwrap();
    drop(writer);
    let before = image(folder.path());
    assert_eq!(before.len(), 1);
    let mut reader = Store::open_read_only(&path, OpenOptions::default()).unwrap();
    assert_eq!(count(&mut reader), 1);
    assert_eq!(image(folder.path()), before);
    let refused = put(&mut reader, &row("two"), None).unwrap_err();
    assert!(
        matches!(refused, SchemaError::ReadOnly { .. }),
        "{refused:?}"
    );
    assert!(reader.check().unwrap().is_ok());
    assert_eq!(image(folder.path()), before);
    drop(reader);
    assert_eq!(image(folder.path()), before);
}

#[test]
fn a_read_only_handle_sees_a_writer_that_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    drop(Store::open(&path, OpenOptions::default()).unwrap());
    let mut reader = Store::open_read_only(&path, OpenOptions::default()).unwrap();
    assert_eq!(count(&mut reader), 0);
    for expected in 1..4 {
        let mut writer = Store::open(&path, OpenOptions::default()).unwrap();
        put(&mut writer, &row("more"), None).unwrap();
        assert_eq!(count(&mut reader), expected, "while the writer is there");
        drop(writer);
        assert_eq!(count(&mut reader), expected, "after it has gone");
    }
}

#[test]
fn a_read_only_open_beside_a_writer_changes_neither_file_nor_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut writer = Store::open(&path, OpenOptions::default()).unwrap();
    put(&mut writer, &row("one"), None).unwrap();
    let wal = folder.path().join("a.db-wal");
    let before = (std::fs::read(&path).unwrap(), std::fs::read(&wal).unwrap());
    let mut reader = Store::open_read_only(&path, OpenOptions::default()).unwrap();
    assert_eq!(count(&mut reader), 1);
    drop(reader);
    assert_eq!(
        (std::fs::read(&path).unwrap(), std::fs::read(&wal).unwrap()),
        before
    );
    drop(writer);
}

/// A22: 0444 file in a 0555 folder, seen by a user who may not write: without a leftover log it is read, with one it
/// says why not. Root may write anywhere, so the test runs itself as another user there.
#[cfg(unix)]
#[test]
fn a_read_only_file_in_a_read_only_folder() {
    use std::os::unix::fs::PermissionsExt;
    if let Some(path) = std::env::var_os("MNEMIC_TEST_FROZEN") {
        read_as_another_user(Path::new(&path));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(folder.path(), 0o755);
    let program = folder.path().join("test-program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    mode(&program, 0o755);
    for leftover in [false, true] {
        let inner = folder.path().join(format!("leftover-{leftover}"));
        std::fs::create_dir(&inner).unwrap();
        let path = inner.join("a.db");
        let mut writer = Store::open(&path, OpenOptions::default()).unwrap();
        put(&mut writer, &row("frozen"), None).unwrap();
        if leftover {
            // What a killed process leaves: the log is not merged, the shared memory is gone with the machine.
            let log = std::fs::read(inner.join("a.db-wal")).unwrap();
            drop(writer);
            std::fs::write(inner.join("a.db-wal"), log).unwrap();
        } else {
            drop(writer);
        }
        let before = image(&inner);
        for file in before.keys() {
            mode(file, 0o444);
        }
        mode(&inner, 0o555);
        let mut command = std::process::Command::new(&program);
        command
            .args([
                "--exact",
                "open::a_read_only_file_in_a_read_only_folder",
                "--nocapture",
            ])
            .env("MNEMIC_TEST_FROZEN", &path)
            .current_dir("/");
        // The user `nobody`, where this process may become it (it is root).
        if std::fs::metadata(folder.path())
            .map(|m| std::os::unix::fs::MetadataExt::uid(&m))
            .unwrap()
            == 0
        {
            std::os::unix::process::CommandExt::uid(&mut command, 65_534);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let expected = if leftover {
            "a write-ahead log lies beside it"
        } else {
            "read: 1 memories"
        };
        assert!(said.contains(expected), "{said}");
        assert_eq!(image(&inner), before);
        mode(&inner, 0o755);
    }
}

#[cfg(unix)]
fn read_as_another_user(path: &Path) {
    let beside = path.with_file_name("written.txt");
    assert!(
        std::fs::write(beside, "x").is_err(),
        "this user must not be able to write"
    );
    assert!(Store::open(path, OpenOptions::default()).is_err());
    match Store::open_read_only(path, OpenOptions::default()) {
        Ok(mut store) => {
            assert!(store.check().unwrap().is_ok());
            println!("read: {} memories", count(&mut store));
        }
        Err(error @ SchemaError::UnmergedLog { .. }) => println!("refused: {error}"),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_memory_without_a_file_has_one_connection() {
    let mut store = Store::open_in_memory(OpenOptions::default()).unwrap();
    put(&mut store, &row("here"), None).unwrap();
    assert_eq!(store.path(), None);
    assert!(store.readers().is_none());
    assert_eq!(count(&mut store), 1);
}

#[test]
fn a_large_log_is_cut_back_once_no_reader_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut options = OpenOptions::default();
    options.durability = Durability::Normal;
    let mut store = Store::open(&path, options).unwrap();
    put(&mut store, &row("first"), None).unwrap();
    let log = || {
        std::fs::metadata(folder.path().join("a.db-wal"))
            .unwrap()
            .len()
    };
    // A reader that holds an old state open: nothing can be cut meanwhile.
    let slow = rusqlite::Connection::open(&path).unwrap();
    slow.execute_batch("BEGIN; SELECT count(*) FROM memories;")
        .unwrap();
    let text = "word ".repeat(2_000);
    for batch in 0..20 {
        store
            .write(|w| {
                for i in 0..200 {
                    w.insert(&row(&format!("{batch} {i} {text}")), None)?;
                }
                Ok::<_, SchemaError>(())
            })
            .unwrap();
    }
    let grown = log();
    assert!(grown > 32 << 20, "{grown}");
    slow.execute_batch("COMMIT").unwrap();
    put(&mut store, &row("last"), None).unwrap();
    assert_eq!(log(), 0);
    assert_eq!(count(&mut store), 4_002);
}

//! Every kind of error, reached; and what a message tells.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use mnemic::{EmbedError, ErrorKind, Memory, NewMemory, Prune, Recall};

use crate::support::{Faulty, WordHash, builder, memory};

#[test]
fn every_kind_can_be_met() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let kind = |error: mnemic::Error| error.kind();
    let file = at("a.db");
    let open = builder()
        .busy_timeout(Duration::from_millis(20))
        .open(&file)
        .unwrap();
    let id = open.store("here").unwrap().id;

    for content in ["", "  ", "\n\t", "\u{3000}"] {
        assert_eq!(
            kind(open.store(content).unwrap_err()),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            kind(open.update(&id, content).unwrap_err()),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            kind(open.replace(&id, content).unwrap_err()),
            ErrorKind::InvalidInput
        );
    }
    assert_eq!(
        kind(open.store(NewMemory::new("x").id("not an id")).unwrap_err()),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(open.prune(Prune::new()).unwrap_err()),
        ErrorKind::InvalidInput
    );
    assert_eq!(kind(open.backup("").unwrap_err()), ErrorKind::InvalidInput);
    assert_eq!(
        kind(builder().open("").unwrap_err()),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(builder().open(":memory:").unwrap_err()),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        kind(builder().open_read_only(":memory:").unwrap_err()),
        ErrorKind::InvalidInput
    );

    assert_eq!(
        kind(open.explain("x", "absent").unwrap_err()),
        ErrorKind::NotFound
    );
    let calibrated = Recall::new("x").min_percentile(95.0);
    assert_eq!(
        kind(open.recall(calibrated).unwrap_err()),
        ErrorKind::NotCalibrated
    );
    assert_eq!(
        kind(open.update("absent", "x").unwrap_err()),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(
            open.update("absent", mnemic::MemoryUpdate::new())
                .unwrap_err()
        ),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(open.replace("absent", "x").unwrap_err()),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(open.store(NewMemory::new("x").id(&id)).unwrap_err()),
        ErrorKind::AlreadyExists
    );

    let faulty = Arc::new(Faulty::new());
    faulty.fault(Some(|_| Err(EmbedError::run("no"))));
    let broken = Memory::builder().embedder(faulty).open_in_memory().unwrap();
    assert_eq!(
        kind(broken.store("cursed").unwrap_err()),
        ErrorKind::Embedding
    );

    let other = Memory::builder().embedder(WordHash::named("other", "1", 8));
    assert_eq!(
        kind(other.open(&file).unwrap_err()),
        ErrorKind::ModelMismatch
    );

    let lock = rusqlite::Connection::open(&file).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = open.store("x").unwrap_err();
    assert_eq!(busy.source().unwrap().to_string(), "database is locked");
    assert_eq!(kind(busy), ErrorKind::Busy);
    lock.execute_batch("ROLLBACK").unwrap();

    assert_eq!(
        kind(builder().open_read_only(at("absent.db")).unwrap_err()),
        ErrorKind::Io
    );
    assert_eq!(
        kind(builder().open(at("no/such/folder.db")).unwrap_err()),
        ErrorKind::Io
    );
    assert_eq!(kind(open.backup(&file).unwrap_err()), ErrorKind::Io);

    let read_only = builder().open_read_only(&file).unwrap();
    assert_eq!(
        kind(read_only.delete(&id).unwrap_err()),
        ErrorKind::ReadOnly
    );
    assert_eq!(kind(read_only.repair().unwrap_err()), ErrorKind::ReadOnly);

    std::fs::write(at("text.db"), "not a database ".repeat(100)).unwrap();
    assert_eq!(
        kind(builder().open(at("text.db")).unwrap_err()),
        ErrorKind::Corrupt
    );

    let foreign = rusqlite::Connection::open(at("foreign.db")).unwrap();
    foreign.execute_batch("CREATE TABLE nodes (id)").unwrap();
    assert_eq!(
        kind(builder().open(at("foreign.db")).unwrap_err()),
        ErrorKind::NotAMemoryFile
    );

    builder().open(at("newer.db")).unwrap();
    let newer = rusqlite::Connection::open(at("newer.db")).unwrap();
    newer.pragma_update(None, "user_version", 1_000).unwrap();
    assert_eq!(
        kind(builder().open(at("newer.db")).unwrap_err()),
        ErrorKind::NewerFile
    );

    lock.execute_batch("DROP TABLE meta").unwrap();
    assert_eq!(kind(open.health().unwrap_err()), ErrorKind::Storage);
}

#[test]
fn a_message_tells_its_own_layer_and_the_source_the_rest() {
    let memory = memory();
    let error = memory.update("deadbeef", "x").unwrap_err();
    assert_eq!(error.to_string(), "no memory has the id \"deadbeef\"");
    assert!(error.source().is_none());
    fn threadable<T: std::error::Error + Send + Sync + 'static>(_: &T) {}
    threadable(&error);
}

//! What the verbs tell `tracing`: each is a span, events carry numbers, and no text of a user is in either.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use mnemic::{Memory, NewMemory, Prune, Recall, Timeline};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes down every span and event with its fields.
#[derive(Default, Clone)]
struct Log(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut log = self.0.lock().unwrap();
        write!(
            log,
            "span {} {}",
            span.metadata().level(),
            span.metadata().name()
        )
        .unwrap();
        span.record(&mut Fields(&mut log));
        log.push('\n');
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock().unwrap();
        write!(log, "event {}", event.metadata().level()).unwrap();
        event.record(&mut Fields(&mut log));
        log.push('\n');
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn verbs_are_spans_and_no_text_is_told() {
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        let memory = Memory::open_in_memory().unwrap();
        let secret = NewMemory::new("the secret word is swordfish")
            .project("hush")
            .tags(["quiet"]);
        let id = memory.store(secret).unwrap().id;
        for _ in 0..3 {
            memory
                .recall(Recall::new("which swordfish?").project("hush"))
                .unwrap();
        }
        memory.update(&id, "the secret word is marlin").unwrap();
        memory
            .timeline(Timeline::new().tags_any(["quiet"]))
            .unwrap();
        memory
            .explain(Recall::new("marlin").project("hush"), &id)
            .unwrap();
        memory.check().unwrap();
        memory.prune(Prune::new().project("hush").apply()).unwrap();
        assert!(memory.update(&id, "gone").is_err());
    });
    let log = log.0.lock().unwrap().clone();
    for verb in [
        "store_all",
        "recall",
        "update",
        "timeline",
        "explain",
        "check",
        "prune",
    ] {
        assert!(
            log.contains(&format!("span INFO {verb}")),
            "{verb} in {log}"
        );
    }
    assert!(log.contains("event DEBUG message=recalled hits=1"), "{log}");
    assert!(log.contains("by_index=true"), "{log}");
    assert!(
        log.contains("event DEBUG error="),
        "a failing verb tells its error: {log}"
    );
    for text in ["swordfish", "marlin", "secret", "hush", "quiet"] {
        assert!(!log.contains(text), "{text} in {log}");
    }
}

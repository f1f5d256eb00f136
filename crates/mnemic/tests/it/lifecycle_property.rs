//! Whatever is said of memories, a question finds exactly those that its conditions admit.

use mnemic::{
    Include, Layer, Memory, MemoryUpdate, NewMemory, Recall, StoredMemory, Timeline, Timestamp,
};
use proptest::prelude::*;

use crate::lifecycle::{ids, time};

/// Everything that a filter may ask of a lifecycle.
#[derive(Debug, Clone)]
struct Asked {
    kinds: Vec<&'static str>,
    importance: Option<f64>,
    trust: Option<f64>,
    layer: Option<Layer>,
    sources: Vec<&'static str>,
    pinned: Option<bool>,
    include: [bool; 4],
    known_at: Option<u8>,
    valid_at: Option<u8>,
}

fn day(day: u8) -> Timestamp {
    let first = time("2026-01-01").as_micros();
    Timestamp::from_micros(first + i64::from(day) * 86_400_000_000).unwrap()
}

impl Asked {
    fn recall(&self) -> Recall {
        let mut include = Include::new();
        let [superseded, forgotten, upcoming, expired] = self.include;
        if superseded {
            include = include.superseded();
        }
        if forgotten {
            include = include.forgotten();
        }
        if upcoming {
            include = include.upcoming();
        }
        if expired {
            include = include.expired();
        }
        let mut recall = Recall::new("alpha")
            .no_limit()
            .now(day(40))
            .include(include);
        recall = recall
            .kinds(self.kinds.iter())
            .sources(self.sources.iter().copied());
        if let Some(least) = self.importance {
            recall = recall.min_importance(least);
        }
        if let Some(least) = self.trust {
            recall = recall.min_trust(least);
        }
        if let Some(layer) = self.layer {
            recall = recall.layer(layer);
        }
        if let Some(pinned) = self.pinned {
            recall = recall.pinned(pinned);
        }
        if let Some(at) = self.known_at {
            recall = recall.known_at(day(at));
        }
        if let Some(at) = self.valid_at {
            recall = recall.valid_at(day(at));
        }
        recall
    }

    /// Written anew, from the documentation.
    fn admits(&self, memory: &StoredMemory) -> bool {
        let life = &memory.lifecycle;
        let [superseded, forgotten, upcoming, expired] = self.include;
        let known = self.known_at.map(day);
        let by = |time: Option<Timestamp>| {
            time.is_some_and(|time| known.is_none_or(|known| time <= known))
        };
        let valid = self.valid_at.map_or(day(40), day);
        (self.kinds.is_empty() || self.kinds.contains(&life.kind.as_str()))
            && self.importance.is_none_or(|least| life.importance >= least)
            && self.trust.is_none_or(|least| life.trust >= least)
            && self.layer.is_none_or(|layer| life.layer == layer)
            && (self.sources.is_empty()
                || life
                    .source
                    .as_deref()
                    .is_some_and(|source| self.sources.contains(&source)))
            && self.pinned.is_none_or(|pinned| life.pinned == pinned)
            && known.is_none_or(|known| memory.created_at <= known)
            && (superseded || !by(life.superseded_at))
            && (forgotten || !by(life.forgotten_at))
            && (upcoming || life.valid_from.is_none_or(|from| from <= valid))
            && (expired || life.valid_until.is_none_or(|until| until > valid))
    }
}

prop_compose! {
    fn asked()(
        kinds in prop::collection::vec(prop::sample::select(vec!["semantic", "episodic", "own"]), 0..3),
        importance in prop::option::of(prop::sample::select(vec![0.0, 0.3, 0.5, 0.7])),
        trust in prop::option::of(prop::sample::select(vec![0.2, 0.75, 0.8])),
        layer in prop::option::of(prop::sample::select(vec![Layer::ShortTerm, Layer::LongTerm])),
        sources in prop::collection::vec(prop::sample::select(vec!["a", "b", "none"]), 0..2),
        pinned in prop::option::of(any::<bool>()),
        include in any::<[bool; 4]>(),
        known_at in prop::option::weighted(0.3, 0u8..80),
        valid_at in prop::option::weighted(0.3, 0u8..80),
    ) -> Asked {
        Asked { kinds, importance, trust, layer, sources, pinned, include, known_at, valid_at }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Store(NewMemory),
    Say(usize, MemoryUpdate),
    Supersede(usize, usize),
    Forget(usize),
    Revive(usize),
    Delete(usize),
}

prop_compose! {
    fn said()(
        kind in prop::option::of(prop::sample::select(vec!["semantic", "episodic", "own"])),
        importance in prop::option::of(prop::sample::select(vec![0.1, 0.5, 0.7, 1.0])),
        trust in prop::option::of(prop::sample::select(vec![0.2, 0.75, 0.9])),
        layer in prop::option::of(prop::sample::select(vec![Layer::ShortTerm, Layer::LongTerm])),
        source in prop::option::of(prop::sample::select(vec!["a", "b"])),
        pinned in any::<bool>(),
        window in prop::option::of((0u8..80, 1u8..20)),
        created in 0u8..40,
    ) -> (MemoryUpdate, NewMemory) {
        let (mut update, mut new) = (MemoryUpdate::new(), NewMemory::new("alpha beta").created_at(day(created)));
        if let Some(kind) = kind {
            (update, new) = (update.kind(kind), new.kind(kind));
        }
        if let Some(importance) = importance {
            (update, new) = (update.importance(importance), new.importance(importance));
        }
        if let Some(trust) = trust {
            (update, new) = (update.trust(trust), new.trust(trust));
        }
        if let Some(layer) = layer {
            (update, new) = (update.layer(layer), new.layer(layer));
        }
        if let Some(source) = source {
            (update, new) = (update.source(source), new.source(source));
        }
        if pinned {
            (update, new) = (update.pinned(), new.pinned());
        }
        if let Some((from, days)) = window {
            let (from, until) = (day(from), day(from + days));
            (update, new) = (update.valid_from(from).valid_until(until), new.valid_from(from).valid_until(until));
        }
        (update, new)
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => said().prop_map(|(_, new)| Step::Store(new)),
        3 => (any::<usize>(), said()).prop_map(|(which, (update, _))| Step::Say(which, update)),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Step::Supersede(a, b)),
        1 => any::<usize>().prop_map(Step::Forget),
        1 => any::<usize>().prop_map(Step::Revive),
        1 => any::<usize>().prop_map(Step::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is said and done, a question finds exactly the memories that its conditions admit: by the index in memory,
    /// which follows another handle's changes, and by the file.
    #[test]
    fn filters_admit_what_they_say(
        rounds in prop::collection::vec((prop::collection::vec(step(), 1..8), asked()), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        let open = |budget| Memory::builder().no_embedder().index_budget(budget).open(&path).unwrap();
        let (by_index, by_file) = (open(1 << 20), open(0));
        for (steps, asked) in rounds {
            for step in steps {
                let there = by_file.timeline(Timeline::new().include(Include::all())).unwrap();
                let id = |which: usize| Some(there.get(which % there.len().max(1))?.id.clone());
                match step {
                    Step::Store(new) => {
                        by_file.store(new).unwrap();
                    }
                    Step::Say(which, update) => if let Some(id) = id(which) {
                        by_file.update(&id, update).unwrap();
                    },
                    Step::Supersede(a, b) => if let (Some(a), Some(b)) = (id(a), id(b)) {
                        // Not where it would go in a circle.
                        let _ = by_file.supersede(&a, &b);
                    },
                    Step::Forget(which) => by_file.forget(id(which)).unwrap(),
                    Step::Revive(which) => by_file.revive(id(which)).unwrap(),
                    Step::Delete(which) => if let Some(id) = id(which) {
                        by_file.delete(&id).unwrap();
                    },
                }
            }
            let all = by_file.timeline(Timeline::new().include(Include::all())).unwrap();
            let mut expected: Vec<&str> =
                all.iter().filter(|memory| asked.admits(memory)).map(|memory| memory.id.as_str()).collect();
            expected.sort_unstable();
            by_index.warm_up().unwrap();
            for memory in [&by_index, &by_file] {
                let hits = memory.recall(asked.recall()).unwrap();
                prop_assert_eq!(ids(&hits), expected.clone());
            }
        }
        prop_assert!(by_file.check().unwrap().is_ok());
    }
}

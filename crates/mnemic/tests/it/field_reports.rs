//! Faults that users of memory and hybrid-search software have met, each as a test of what is right. The numbers are
//! those of `docs/field-reports.md`.

mod keeping;
mod search;

use mnemic::{Preset, Recall};

fn words(query: &str) -> Recall {
    Recall::new(query).preset(Preset::word_only())
}

fn vectors(query: &str) -> Recall {
    Recall::new(query).preset(Preset::vector_only())
}

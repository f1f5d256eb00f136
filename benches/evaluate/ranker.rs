//! The rankers that are compared.

use mnemic::Preset;

/// A way of ranking, with the name it is printed under.
#[derive(Debug, Clone, Copy)]
pub struct Ranker {
    pub name: &'static str,
    pub preset: Preset,
}

/// Where the default is in [`rankers`].
pub const DEFAULT: usize = 4;

/// All that are compared, the default last.
pub fn rankers() -> [Ranker; 5] {
    let ranker = |name, preset| Ranker { name, preset };
    [
        ranker("word only", Preset::word_only()),
        ranker("vector only", Preset::vector_only()),
        ranker("rekal preset", Preset::rekal()),
        ranker("reciprocal rank", Preset::reciprocal_rank()),
        ranker("default", Preset::default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_where_it_is_said_to_be() {
        assert_eq!(rankers()[DEFAULT].preset, Preset::default());
        assert_eq!(rankers()[DEFAULT].name, "default");
    }
}

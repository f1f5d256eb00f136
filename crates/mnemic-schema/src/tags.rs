//! Tags as the file stores them: a JSON array of strings, or NULL for none. It never changes a tag.

/// The JSON text of a list of tags; `None` for an empty list.
pub(crate) fn to_json(tags: &[String]) -> Option<String> {
    if tags.is_empty() {
        None
    } else {
        Some(serde_json::Value::from(tags).to_string())
    }
}

/// The tags in a JSON text, or `None` where it is not an array of strings.
pub(crate) fn from_json(json: &str) -> Option<Vec<String>> {
    serde_json::from_str(json).ok()
}

/// The tags in a JSON text; a text of another shape is one tag, so that nothing is lost (`check` reports such rows).
pub(crate) fn lenient_from_json(json: &str) -> Vec<String> {
    from_json(json).unwrap_or_else(|| vec![json.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_tags_round_trip(tags in prop::collection::vec(any::<String>(), 0..6)) {
            let read = to_json(&tags).map_or_else(Vec::new, |json| lenient_from_json(&json));
            prop_assert_eq!(read, tags);
        }
    }

    #[test]
    fn another_shape_is_one_tag() {
        assert_eq!(lenient_from_json("not json"), ["not json"]);
        assert_eq!(lenient_from_json("[1]"), ["[1]"]);
        assert_eq!(from_json("[1]"), None);
    }
}

//! The structure of program text, by tree-sitter's grammars: what begins where, and how deep. It cuts nothing.

use tree_sitter::{Node, Parser};

use crate::chunking::Language;
use crate::prose::{AFTER_HEADING, LINE, Structure};

/// What begins at the top level: a function, a class.
const TOP: u8 = 13;

/// Reads the structure. Text that is not of the language has as much as the parser makes of it; none at worst, and then
/// lines alone count.
pub(crate) fn structure(text: &str, language: Language) -> Structure {
    let mut structure = Structure::default();
    structure.verbatim.push(0..text.len());
    let grammar = match language {
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
    };
    let mut parser = Parser::new();
    if parser.set_language(&grammar).is_err() {
        return structure;
    }
    let Some(tree) = parser.parse(text, None) else {
        return structure;
    };
    let mut cursor = tree.walk();
    let mut depth = 0_u8;
    'walk: loop {
        if depth > 0 {
            begins(&mut structure, cursor.node(), depth);
        }
        if depth < TOP - LINE && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
            depth -= 1;
        }
    }
    structure
}

/// Of those that begin at one place the outermost counts. What a comment or an attribute is about stays with it.
fn begins(structure: &mut Structure, node: Node<'_>, depth: u8) {
    let at = node.start_byte();
    if structure
        .strengths
        .last()
        .is_some_and(|(last, _)| *last >= at)
    {
        return;
    }
    let about = node.prev_sibling().is_some_and(|before| {
        ["comment", "attribute", "decorator"]
            .iter()
            .any(|kind| before.kind().contains(kind))
    });
    let strength = if about {
        AFTER_HEADING
    } else {
        TOP + 1 - depth
    };
    structure.strengths.push((at, strength));
}

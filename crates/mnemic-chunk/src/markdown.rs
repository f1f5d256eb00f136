//! The structure of a Markdown text: its blocks, and its headings as paths. It cuts nothing.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::bounds::{span, trim};
use crate::passage::Chunk;
use crate::prose::{AFTER_HEADING, PARAGRAPH, Structure};

/// A block begins without a blank line before it, or after one.
const BLOCK: u8 = PARAGRAPH;
/// A heading of level 1 begins; level 2 is one less.
const HEADING: u8 = 14;

/// A Markdown text's blocks and headings.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) structure: Structure,
    headings: Vec<Heading>,
}

#[derive(Debug)]
struct Heading {
    range: Range<usize>,
    level: u8,
    title: String,
}

/// Reads the structure. Any text is Markdown.
pub(crate) fn outline(text: &str) -> Outline {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_MATH;
    let mut headings: Vec<Heading> = Vec::new();
    let mut structure = Structure::default();
    let mut within: Option<Heading> = None;
    let mut after_heading = false;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let level = level as u8;
                within = Some(Heading {
                    range: range.clone(),
                    level,
                    title: String::new(),
                });
                let strength = if after_heading {
                    AFTER_HEADING
                } else {
                    HEADING - level
                };
                mark(text, &mut structure, range.start, strength);
            }
            Event::End(TagEnd::Heading(_)) => {
                headings.extend(within.take());
                after_heading = true;
            }
            Event::Start(
                ref tag @ (Tag::Paragraph
                | Tag::BlockQuote(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::List(_)
                | Tag::Item
                | Tag::FootnoteDefinition(_)
                | Tag::Table(_)
                | Tag::MetadataBlock(_)),
            ) => {
                let strength = if after_heading { AFTER_HEADING } else { BLOCK };
                after_heading = false;
                if matches!(
                    tag,
                    Tag::CodeBlock(_) | Tag::Table(_) | Tag::HtmlBlock | Tag::MetadataBlock(_)
                ) {
                    structure.verbatim.push(range.clone());
                }
                mark(text, &mut structure, range.start, strength);
            }
            Event::Rule => {
                let strength = if after_heading { AFTER_HEADING } else { BLOCK };
                after_heading = false;
                mark(text, &mut structure, range.start, strength);
            }
            Event::Text(ref words) | Event::Code(ref words) => {
                if let Some(heading) = &mut within {
                    heading.title.push_str(words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut within {
                    heading.title.push(' ');
                }
            }
            _ => {}
        }
    }
    Outline {
        structure,
        headings,
    }
}

/// Marks the first place of a block that is not white space. The outermost block that begins there counts.
fn mark(text: &str, structure: &mut Structure, at: usize, strength: u8) {
    let rest = span(text, at..text.len());
    let at = at + (rest.len() - rest.trim_start().len());
    if structure
        .strengths
        .last()
        .is_none_or(|(last, _)| *last < at)
    {
        structure.strengths.push((at, strength));
    }
}

impl Outline {
    /// Tells each passage the headings in force where it begins, those it begins with included.
    pub(crate) fn head(&self, text: &str, chunks: &mut [Chunk]) {
        let mut path: Vec<&Heading> = Vec::new();
        let mut ahead = self.headings.iter().peekable();
        for chunk in chunks {
            let mut at = chunk.bytes.start;
            while let Some(heading) = ahead.next_if(|heading| heading.range.start <= at) {
                path.retain(|over| over.level < heading.level);
                path.push(heading);
                if heading.range.start == at {
                    // Headings that follow at once belong to the passage's beginning too, as far as it holds them.
                    let rest = trim(text, heading.range.end..chunk.bytes.end);
                    at = rest.start;
                }
            }
            chunk.metadata.headings = path.iter().map(|heading| heading.title.clone()).collect();
        }
    }
}

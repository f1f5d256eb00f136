//! HTML as text: headings, lists and quotes as Markdown writes them, no links, no scripts. Read by html2text.

use html2text::config;
use html2text::render::TextDecorator;

/// Lines are not wrapped: a sentence stays in one piece. Wider than any table row needs.
const WIDTH: usize = 100_000;

pub(crate) fn text(html: &str) -> Result<String, html2text::Error> {
    config::with_decorator(Plain)
        .no_table_borders()
        .link_footnotes(false)
        .max_wrap_width(WIDTH)
        .string_from_read(html.as_bytes(), WIDTH)
}

/// Marks what has a structure, and nothing else.
#[derive(Clone, Debug)]
struct Plain;

impl TextDecorator for Plain {
    type Annotation = ();

    fn decorate_link_start(&mut self, _: &str) -> (String, ()) {
        Default::default()
    }
    fn decorate_link_end(&mut self) -> String {
        String::new()
    }
    fn decorate_em_start(&self) -> (String, ()) {
        Default::default()
    }
    fn decorate_em_end(&self) -> String {
        String::new()
    }
    fn decorate_strong_start(&self) -> (String, ()) {
        Default::default()
    }
    fn decorate_strong_end(&self) -> String {
        String::new()
    }
    fn decorate_strikeout_start(&self) -> (String, ()) {
        Default::default()
    }
    fn decorate_strikeout_end(&self) -> String {
        String::new()
    }
    fn decorate_code_start(&self) -> (String, ()) {
        Default::default()
    }
    fn decorate_code_end(&self) -> String {
        String::new()
    }
    fn decorate_preformat_first(&self) {}
    fn decorate_preformat_cont(&self) {}
    fn decorate_image(&mut self, _: &str, title: &str) -> (String, ()) {
        (title.to_owned(), ())
    }
    fn header_prefix(&self, level: usize) -> String {
        format!("{} ", "#".repeat(level))
    }
    fn quote_prefix(&self) -> String {
        "> ".to_owned()
    }
    fn unordered_item_prefix(&self) -> String {
        "- ".to_owned()
    }
    fn ordered_item_prefix(&self, i: i64) -> String {
        format!("{i}. ")
    }
    fn make_subblock_decorator(&self) -> Self {
        Self
    }
}

//! PDF as text, page by page. Read by pdf-extract, whose panics on broken files are caught here (the program's panic hook
//! still tells of them, and a build with `panic = "abort"` cannot catch any).

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The pages' texts, a blank line between them, or what is wrong.
pub(crate) fn text(bytes: &[u8]) -> Result<String, String> {
    match catch_unwind(AssertUnwindSafe(|| {
        pdf_extract::extract_text_from_mem_by_pages(bytes)
    })) {
        Ok(Ok(pages)) => Ok(pages
            .iter()
            .map(|page| page.trim())
            .filter(|page| !page.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n")),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|why| (*why).to_owned()))
            .unwrap_or_else(|| "the reader gave up".to_owned())),
    }
}

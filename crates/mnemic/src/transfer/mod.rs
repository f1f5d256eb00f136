//! Taking memories elsewhere and back: JSON lines out and in, files of other systems in. It never writes before the whole
//! of what comes in was looked at, and never drops anything without saying so.

pub(crate) mod adopt;
mod agent_lines;
mod agent_memory;
mod document;
mod entry;
mod events;
pub(crate) mod export;
pub(crate) mod import;
mod jsonl;
mod left;
mod lines;
mod ra_h;
mod reading;
mod records;
mod rekal;
mod said;
mod take_in;
mod threads;

/// What the first line of an export calls the format.
pub(crate) const FORMAT: &str = "mnemic";

/// The newest version of the format that this library reads, and the one that it writes.
pub(crate) const VERSION: u64 = 1;

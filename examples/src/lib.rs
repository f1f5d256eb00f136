//! Runnable examples of mnemic: see the files beside `Cargo.toml`.

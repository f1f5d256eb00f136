//! Benchmarks of mnemic: see the files beside `Cargo.toml`.

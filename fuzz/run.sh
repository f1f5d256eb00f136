#!/usr/bin/env bash
# Builds the fuzz targets with the stable compiler, instrumented for libFuzzer, and runs each for some seconds.
#   fuzz/run.sh [SECONDS [TARGET…]]        30 seconds each, all targets
# What is found lies in fuzz/artifacts. With a nightly compiler, `cargo fuzz run TARGET` adds the address sanitizer.
set -euo pipefail
cd "$(dirname "$0")"
seconds="${1:-30}"
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz_targets/*.rs; do
    targets+=("$(basename "$file" .rs)")
  done
fi
triple=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing"
# With a target named, the flags are not given to build scripts and macros.
cargo build --release --locked --target "$triple"
for target in "${targets[@]}"; do
  mkdir -p "corpus/$target" "artifacts/$target"
  echo "== $target, $seconds s"
  # No input may take longer than 20 s, or 2 GB.
  "target/$triple/release/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" \
    -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=0 -print_final_stats=1 2>&1 | grep -v '^stat::\(peak\|slowest\|new_units\)' 
done

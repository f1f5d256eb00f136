#!/usr/bin/env bash
# Measures recall of passages beside LanceDB and Chroma: same texts, same vectors, same questions, one run.
#   tools/passages/run.sh [COUNT]      COUNT passages (100000)
# Installs both from PyPI into target/passages (about 1 GB), which is also where data, files and results lie. README.md
# beside this says what is fair about it, and what is not.
set -euo pipefail
count="${1:-100000}"
cd "$(dirname "$0")/../.."
here="tools/passages"
place="target/passages"
mkdir -p "$place"

venv="${PASSAGES_VENV:-$place/venv}"
if [ -z "${PASSAGES_VENV:-}" ] && ! cmp --silent "$here/requirements.txt" "$venv/installed.txt"; then
  rm -rf "$venv"
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
cargo build --release --quiet -p mnemic-benches --bin passages
ours="${CARGO_TARGET_DIR:-target}/release/passages"

rm -rf "$place/data" "$place/files" "$place/results"
mkdir -p "$place/data" "$place/results"
"$ours" prepare "$count" "$place/data"

# drive NAME COMMAND…: each in a process of its own, one after the other, none with another's pages left to be written.
results=()
drive() {
  local name=$1
  shift
  mkdir -p "$place/files/$name"
  sync
  "$@" "$place/data" "$place/files/$name" "$place/results/$name.json"
  results+=("$place/results/$name.json")
}
drive mnemic "$ours" drive
drive lancedb "$venv/bin/python" "$here/peers.py" lancedb 2>"$place/lancedb.log" # it warns at each question
drive chromadb "$venv/bin/python" "$here/peers.py" chromadb
rm -rf "$place/files"
"$venv/bin/python" "$here/report.py" "$place/data" "${results[@]}" | tee "$place/result.md"

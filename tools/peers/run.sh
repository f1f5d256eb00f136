#!/usr/bin/env bash
# Measures mnemic beside other memories of its kind: same texts, same vectors, same questions, one run.
#   tools/peers/run.sh [COUNT [EVAL.json…]]      COUNT memories (10000), and evaluation sets, if any
# Installs the others from their registries into target/peers, which is also where the data, the files of every system
# and what they found lie (result.csv, result.md). README.md beside this says what is fair about it, and what is not.
set -euo pipefail
count="${1:-10000}"
shift || true
evaluations=()
for file in "$@"; do
  evaluations+=("$(realpath -e "$file")")
done
cd "$(dirname "$0")/../.."
here="tools/peers"
place="target/peers"
mkdir -p "$place"

# A Python whose sqlite3 loads extensions, as rekal and agent-memory-engine need.
python=""
for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
  if [ -n "$candidate" ] && "$candidate" -c 'import sqlite3; sqlite3.Connection.enable_load_extension' 2>/dev/null; then
    python="$candidate"
    break
  fi
done
if [ -z "$python" ]; then
  echo "no Python was found whose sqlite3 can load extensions: name one in PYTHON" >&2
  exit 1
fi

venv="$place/venv"
if ! cmp --silent "$here/requirements.txt" "$venv/installed.txt"; then
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --no-deps --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
cargo build --release --quiet -p mnemic-benches --bin peers
for crate in cel rig; do
  cargo build --release --quiet --locked --manifest-path "$here/$crate/Cargo.toml" --target-dir "$place/cargo"
done

rm -rf "$place/data" "$place/files" "$place/results"
mkdir -p "$place/data" "$place/results"
ours="${CARGO_TARGET_DIR:-target}/release/peers"
theirs="$place/cargo/release"
"$ours" prepare "$count" "$place/data" "${evaluations[@]}"

# drive NAME COMMAND…: each in a process of its own, one after the other, none with another's pages left to be written.
drive() {
  local name=$1
  shift
  mkdir -p "$place/files/$name"
  sync
  "$@" "$place/data" "$place/files/$name" "$place/results/$name.json"
}
drive mnemic "$ours" drive
drive rekal "$venv/bin/python" "$here/drive_rekal.py"
drive agent-memory-engine "$venv/bin/python" "$here/drive_agent_memory.py"
drive cel-memory-sqlite "$theirs/peer-cel-memory-sqlite"
drive rig-sqlite "$theirs/peer-rig-sqlite"
rm -rf "$place/files"

results=()
for name in mnemic rekal agent-memory-engine cel-memory-sqlite rig-sqlite; do
  results+=("$place/results/$name.json")
done
"$venv/bin/python" "$here/report.py" "$place/data" "$place/result.csv" "${results[@]}" | tee "$place/result.md"

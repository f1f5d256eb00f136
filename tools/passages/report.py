"""Measures what was found, one code for all systems: report.py DATA RESULT.json…

`python3 -m doctest tools/passages/report.py` tests the measures.
"""

import json
import math
import sys
from pathlib import Path


def percentile(values, percent):
    """The least value that so many per cent of the values are not above (nearest rank).

    >>> percentile(range(1, 201), 50), percentile(range(1, 201), 95), percentile([7], 95)
    (100, 190, 7)
    """
    values = sorted(values)
    return values[max(0, math.ceil(len(values) * percent / 100) - 1)]


def share(hits, wanted):
    """How many of the wanted are among the hits.

    >>> share([1, 9], [1, 2])
    0.5
    """
    return len(set(wanted).intersection(hits)) / len(wanted)


def main():
    nearest = json.loads((Path(sys.argv[1]) / "nearest.json").read_text())
    print("|  | recall p50 ms | p95 | first | nearest | stored in s | MB |")
    print("|---|---|---|---|---|---|---|")
    for path in sys.argv[2:]:
        told = json.loads(Path(path).read_text())
        for mode in told["modes"]:
            hits = mode["hits"]
            if any(len(found) > 10 or len(set(found)) != len(found) for found in hits):
                sys.exit(f"{told['system']}: more than ten hits, or one of them twice")
            first, *warm = mode["recall_ms"]
            exact = sum(share(found, wanted) for found, wanted in zip(hits, nearest, strict=True)) / len(nearest)
            cells = [
                f"{told['system']} {told['version']}, {mode['mode']}",
                f"{percentile(warm, 50):.1f}",
                f"{percentile(warm, 95):.1f}",
                f"{first:.0f}",
                f"{exact:.3f}".lstrip("0"),
                f"{mode['store_seconds']:.1f}",
                f"{mode['file_bytes'] / 1e6:.0f}",
            ]
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()

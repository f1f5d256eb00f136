"""Measures what was found, one code for all systems: report.py DATA RESULT.json…

`python3 -m doctest tools/passages/report.py` tests the measures.
"""

import json
import math
from collections import Counter
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
    """How many of the wanted are among the hits; of equal ones, any counts for any other.

    >>> share(["a", "z"], ["a", "b"]), share(["a", "a"], ["a", "b"])
    (0.5, 0.5)
    """
    return sum((Counter(wanted) & Counter(hits)).values()) / len(wanted)


def main():
    # By their texts: passages that read the same are equally near.
    texts = json.loads((Path(sys.argv[1]) / "passages.json").read_text())
    rows = json.loads((Path(sys.argv[1]) / "nearest.json").read_text())
    nearest = [[texts[row] for row in wanted] for wanted in rows]
    print("|  | recall p50 ms | p95 | first | nearest | stored in s | MB |")
    print("|---|---|---|---|---|---|---|")
    for path in sys.argv[2:]:
        told = json.loads(Path(path).read_text())
        for mode in told["modes"]:
            hits = mode["hits"]
            if any(len(found) > 10 or len(set(found)) != len(found) for found in hits):
                sys.exit(f"{told['system']}: more than ten hits, or one of them twice")
            first, *warm = mode["recall_ms"]
            found = [[texts[row] for row in rows] for rows in hits]
            exact = sum(map(share, found, nearest)) / len(nearest)
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

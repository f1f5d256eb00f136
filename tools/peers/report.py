"""Measures what the drivers found and prints it: report.py DATA CSV RESULT.json…

Only the measures are here; every system's ids are measured alike. Relevance is yes or no, a list has at most ten hits.
`python3 -m doctest tools/peers/report.py` tests them.
"""

import csv
import json
import math
import sys
from pathlib import Path

LIMIT = 10


def ndcg(hits, relevant):
    """Discounted gain of the hits as a share of the best possible.

    >>> round(ndcg(["x", "a"], {"a"}), 4), ndcg(["a", "b"], {"a", "b"}), ndcg([], {"a"})
    (0.6309, 1.0, 0.0)
    """
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(hits) if hit in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(len(relevant), LIMIT)))


def share(hits, wanted):
    """How many of the wanted are among the hits.

    >>> share(["a", "x"], {"a", "b"})
    0.5
    """
    return len(wanted.intersection(hits)) / len(wanted)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def percentile(values, percent):
    """The least value that so many per cent of the values are not above (nearest rank).

    >>> percentile(range(1, 201), 50), percentile(range(1, 201), 95), percentile([7], 95)
    (100, 190, 7)
    """
    values = sorted(values)
    return values[max(0, math.ceil(len(values) * percent / 100) - 1)]


def answers(each, found):
    """(hits, relevant, nearest) of each question of a set."""
    for scope, lists in zip(each["scopes"], found[each["name"]], strict=True):
        for question, hits in zip(scope["questions"], lists, strict=True):
            if len(hits) > LIMIT or len(set(hits)) != len(hits):
                sys.exit(f"{each['name']}: {len(hits)} hits, or one of them twice")
            yield hits, set(question["relevant"]), set(question["nearest"])


def quality(each, found):
    rows = list(answers(each, found))
    told = {
        "ndcg": mean(ndcg(hits, relevant) for hits, relevant, _ in rows),
        "recall": mean(share(hits, relevant) for hits, relevant, _ in rows),
        "empty": mean(not hits for hits, _, _ in rows),
        "hits": mean(len(hits) for hits, _, _ in rows),
    }
    if all(nearest for _, _, nearest in rows):
        told["nearest"] = mean(share(hits, nearest) for hits, _, nearest in rows)
    return told


def figures(result, sets):
    """One row for each way to rank of a system."""
    scale = result["scale"]
    for mode in result["modes"]:
        first, *warm = mode["recall_ms"]
        row = {
            "system": result["system"],
            "ranking": mode["mode"],
            "version": result["facts"]["version"],
            "memories": scale["memories"],
            "projects": result["facts"].get("projects") != "none",
            "first_ms": first,
            "second_ms": warm[0],
            "p50_ms": percentile(warm, 50),
            "p95_ms": percentile(warm, 95),
            "store_p50_ms": percentile(scale["store_ms"], 50),
            "store_p95_ms": percentile(scale["store_ms"], 95),
            "disk_p50_ms": percentile(scale["disk_ms"], 50),
            "bulk_a_second": scale["bulk_memories"] / scale["bulk_seconds"],
            "file_mb": scale["file_bytes"] / 1e6,
            "bytes_a_memory": scale["file_bytes"] / scale["memories"],
        }
        for each in sets:
            for measure, value in quality(each, mode["hits"]).items():
                row[f"{each['name']} {measure}"] = value
        yield row


def name(row):
    return row["system"] if row["ranking"] == "default" else f"{row['system']}, {row['ranking']}"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def points(value):
    """A share in [0, 1], in three decimals.

    >>> points(0.87349), points(1.0)
    ('.873', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def print_tables(rows, sets, results):
    print(f"### {rows[0]['memories']:,} memories\n")
    table(
        ["", "recall p50 ms", "p95", "first", "second", "finds", "nearest"],
        [
            [
                name(row),
                *(f"{row[key]:.1f}" for key in ("p50_ms", "p95_ms", "first_ms", "second_ms")),
                points(row["scale recall"]),
                points(row["scale nearest"]),
            ]
            for row in rows
        ],
    )
    table(
        ["", "store one p50 ms", "p95", "disk alone", "bulk a second", "file MB", "bytes a memory"],
        [
            [
                row["system"],
                f"{row['store_p50_ms']:.1f}",
                f"{row['store_p95_ms']:.1f}",
                f"{row['disk_p50_ms']:.1f}",
                f"{row['bulk_a_second']:,.0f}",
                f"{row['file_mb']:.1f}",
                f"{row['bytes_a_memory']:,.0f}",
            ]
            for row in rows
            if row["ranking"] == "default"
        ],
    )
    table(
        ["one project of 50", "finds", "nDCG@10", "hits of 10"],
        [
            [name(row), points(row["projects recall"]), points(row["projects ndcg"]), f"{row['projects hits']:.1f}"]
            for row in rows
            if row["projects"]
        ],
    )
    evaluations = [each for each in sets if each["name"] not in ("scale", "projects")]
    measured = [each["name"] for each in evaluations]
    if measured:
        table(
            ["nDCG@10 (recall@10; without a hit)", *measured],
            [
                [
                    name(row),
                    *(
                        f"{points(row[f'{each} ndcg'])} ({points(row[f'{each} recall'])}; {row[f'{each} empty']:.0%})"
                        for each in measured
                    ),
                ]
                for row in rows
            ],
        )
    for each in sets:
        memories = sum(len(scope["memories"]) for scope in each["scopes"])
        questions = sum(len(scope["questions"]) for scope in each["scopes"])
        print(f"- {each['name']}: {memories:,} memories, {questions} questions ({each['licence']})")
    for result in results:
        facts = result["facts"]
        told = [f"{key}: {facts[key]}" for key in ("durability", "bulk", "projects") if key in facts]
        print(f"- {result['system']} {facts['version']}. " + "; ".join(told))


def print_verdict(rows):
    """mnemic, the first row and its ways to rank, beside the fastest and the best of the others."""
    ours = rows[0]
    others = [row for row in rows if row["system"] != ours["system"]]
    pairs = [
        ("The fastest of the others", ours, min(others, key=lambda row: row["p50_ms"])),
        ("The best at finding", ours, max(others, key=lambda row: row["scale recall"])),
    ]
    exact = [row for row in rows if row["scale nearest"] > 0.999]
    exact_ours = [row for row in exact if row["system"] == ours["system"]]
    exact_others = [row for row in exact if row["system"] != ours["system"]]
    if exact_ours and exact_others:
        fastest = min(exact_others, key=lambda row: row["p50_ms"])
        pairs.append(("The fastest whose answers are the nearest by vector", exact_ours[0], fastest))
    print()
    for what, mine, row in pairs:
        print(
            f"- {what}: {name(row)}. Its recall takes {row['p50_ms'] / mine['p50_ms']:.1f} × the time of {name(mine)}, "
            f"and finds {points(row['scale recall'])} to {points(mine['scale recall'])}."
        )


def main():
    if len(sys.argv) < 5:
        sys.exit(f"usage: {sys.argv[0]} DATA CSV RESULT.json…, mnemic's first")
    sets = json.loads((Path(sys.argv[1]) / "sets.json").read_text())
    results = [json.loads(Path(path).read_text()) for path in sys.argv[3:]]
    rows = [row for result in results for row in figures(result, sets)]
    with open(sys.argv[2], "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0])
        writer.writeheader()
        writer.writerows(
            {key: round(value, 5) if isinstance(value, float) else value for key, value in row.items()}
            for row in rows
        )
    print_tables(rows, sets, results)
    print_verdict(rows)


if __name__ == "__main__":
    main()

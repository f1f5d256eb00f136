"""What every Python driver of the comparison does: the same steps in the same order as benches/peers/harness.rs.

A driver brings a class with NAME, FACTS, and the calls of its system. Nothing here computes a measure: report.py does.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

DIMS = 384
LIMIT = 10
BATCH = 1_000
SINGLES = 500
PROBES = 50
SCALE = "scale"


class Data:
    """The texts, their vectors and the sets, as `peers prepare` wrote them."""

    def __init__(self, folder):
        folder = Path(folder)
        self.texts = json.loads((folder / "texts.json").read_text())
        self.rows = {text: row for row, text in enumerate(self.texts)}
        self.vectors = (folder / "vectors.f32").read_bytes()
        self.sets = json.loads((folder / "sets.json").read_text())

    def vector(self, text):
        """The vector of a prepared text, as little-endian f32 bytes; KeyError for any other text."""
        at = self.rows[text] * DIMS * 4
        return self.vectors[at : at + DIMS * 4]

    def items(self, scope):
        return [(m["id"], self.texts[m["text"]], m["project"]) for m in scope["memories"]]

    def questions(self, scope):
        return [(self.texts[q["text"]], q["project"]) for q in scope["questions"]]


def files(path):
    return [Path(f"{path}{end}") for end in ("", "-wal", "-shm", "-journal")]


def millis(since):
    return (time.perf_counter() - since) * 1e3


def store_scope(system, data, scope, path, singly):
    items = data.items(scope)
    singles = min(SINGLES, len(items) // 4) if singly else 0
    bulk, single = items[: len(items) - singles], items[len(items) - singles :]
    system.open(path)
    begun = time.perf_counter()
    for first in range(0, len(bulk), BATCH):
        system.store_all(bulk[first : first + BATCH])
    seconds = time.perf_counter() - begun
    times = []
    for item in single:
        begun = time.perf_counter()
        system.store(*item)
        times.append(millis(begun))
    system.close()
    return {
        "memories": len(items),
        "bulk_memories": len(bulk),
        "bulk_seconds": seconds,
        "store_ms": times,
        "disk_ms": probe(path) if singly else [],
        "file_bytes": sum(os.path.getsize(f) for f in files(path)[:2] if f.exists()),
    }


def probe(path):
    """What the disk takes at this moment to append 4 KiB to a file and have it safe, in milliseconds."""
    path = Path(path).with_suffix(".probe")
    times = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(PROBES):
            begun = time.perf_counter()
            file.write(b"\1" * 4096)
            os.fdatasync(file.fileno())
            times.append(millis(begun))
    path.unlink()
    return times


def ask_scope(system, data, scope, path):
    begun = time.perf_counter()
    system.open(path)
    opened = millis(begun)
    times, hits = [], []
    for question in data.questions(scope):
        begun = time.perf_counter()
        found = system.recall(*question)
        times.append(millis(begun))
        hits.append(found)
    system.close()
    return opened, times, hits


def run(make):
    """Puts a system through everything. `make` makes it from Data; arguments: DATA PLACE OUT."""
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} DATA PLACE OUT")
    data, place, out = Data(sys.argv[1]), sys.argv[2], sys.argv[3]
    told = {"system": make.NAME, "facts": make.FACTS}
    mode = {"mode": "default", "hits": {}}
    for which, each in enumerate(data.sets):
        for number, scope in enumerate(each["scopes"]):
            path = f"{place}/{which}-{number}.db"
            for file in files(path):
                file.unlink(missing_ok=True)
            system = make(data)
            stored = store_scope(system, data, scope, path, each["name"] == SCALE)
            opened, times, hits = ask_scope(system, data, scope, path)
            if each["name"] == SCALE:
                told["scale"] = stored
                mode.update(open_ms=opened, recall_ms=times)
            mode["hits"].setdefault(each["name"], []).append(hits)
        print(f"{make.NAME}: {each['name']} done", file=sys.stderr)
    told["modes"] = [mode]
    Path(out).write_text(json.dumps(told))


@contextlib.contextmanager
def without_fsync(execute):
    """Bulk loads of systems that commit each memory: their own code, but SQLite does not wait for the disk.

    `execute` runs a statement; the durability that was there before is set again afterwards.
    """
    before = execute("PRAGMA synchronous")
    execute("PRAGMA synchronous = OFF")
    try:
        yield
    finally:
        execute(f"PRAGMA synchronous = {before}")

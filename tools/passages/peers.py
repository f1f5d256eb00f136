"""Drives the other stores over the passages: peers.py NAME DATA PLACE OUT.

The same steps for each as `passages drive` takes with mnemic: store all, close, open anew in the same process, ask each
question once, write down what was found and how long each answer took. Vectors are given; nothing is embedded here.
"""

import json
import sys
import time
from pathlib import Path

import numpy

DIMS = 384
LIMIT = 10
BATCH = 5_000


def size(folder):
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


class Data:
    def __init__(self, folder):
        folder = Path(folder)
        self.passages = json.loads((folder / "passages.json").read_text())
        self.questions = json.loads((folder / "questions.json").read_text())
        self.vectors = numpy.fromfile(folder / "passages.f32", "<f4").reshape(-1, DIMS)
        self.asked = numpy.fromfile(folder / "questions.f32", "<f4").reshape(-1, DIMS)


def ask(data, answer):
    """The rows found for each question, and the milliseconds each took."""
    found, times = [], []
    for text, vector in zip(data.questions, data.asked, strict=True):
        begun = time.perf_counter()
        rows = answer(text, vector)
        times.append((time.perf_counter() - begun) * 1e3)
        found.append(rows)
    return {"hits": found, "recall_ms": times}


def lancedb_modes(data, place):
    import lancedb
    import pyarrow

    schema = pyarrow.schema(
        [("row", pyarrow.int64()), ("text", pyarrow.string()), ("vector", pyarrow.list_(pyarrow.float32(), DIMS))]
    )
    begun = time.perf_counter()
    table = lancedb.connect(place).create_table("passages", schema=schema)
    for first in range(0, len(data.passages), BATCH):
        vectors = data.vectors[first : first + BATCH]
        table.add(
            pyarrow.table(
                [
                    pyarrow.array(range(first, first + len(vectors))),
                    pyarrow.array(data.passages[first : first + BATCH]),
                    pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), DIMS),
                ],
                schema=schema,
            )
        )
    table.create_fts_index("text")
    stored = time.perf_counter() - begun
    bytes_stored = size(place)

    def opened():
        return lancedb.connect(place).open_table("passages")

    def rows(query):
        return [row["row"] for row in query.limit(LIMIT).select(["row", "_distance"]).to_list()]

    def vector_alone(table):
        return lambda _, vector: rows(table.search(vector).distance_type("cosine"))

    from lancedb.index import HnswSq
    from lancedb.query import MatchQuery
    from lancedb.rerankers import RRFReranker

    def hybrid(table):
        reranker = RRFReranker()

        def answer(text, vector):
            query = table.search(query_type="hybrid").vector(vector).text(MatchQuery(text, "text"))
            found = query.distance_type("cosine").rerank(reranker).limit(LIMIT).select(["row", "text"]).to_list()
            return [row["row"] for row in found]

        return answer

    yield "vectors alone, no index", stored, bytes_stored, ask(data, vector_alone(opened()))
    yield "words and vectors, no index of vectors", stored, bytes_stored, ask(data, hybrid(opened()))
    begun = time.perf_counter()
    opened().create_index("vector", config=HnswSq(distance_type="cosine"))
    stored += time.perf_counter() - begun
    bytes_stored = size(place)
    yield "vectors alone, IVF_HNSW_SQ", stored, bytes_stored, ask(data, vector_alone(opened()))
    refined = opened()
    yield (
        "vectors alone, IVF_HNSW_SQ, refine_factor 10",
        stored,
        bytes_stored,
        ask(data, lambda _, vector: rows(refined.search(vector).distance_type("cosine").refine_factor(10))),
    )
    yield "words and vectors, IVF_HNSW_SQ", stored, bytes_stored, ask(data, hybrid(opened()))


def chromadb_modes(data, place):
    import chromadb
    from chromadb.config import Settings

    def client():
        return chromadb.PersistentClient(path=place, settings=Settings(anonymized_telemetry=False))

    begun = time.perf_counter()
    collection = client().create_collection(
        "passages", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    for first in range(0, len(data.passages), BATCH):
        texts = data.passages[first : first + BATCH]
        collection.add(
            ids=[str(row) for row in range(first, first + len(texts))],
            documents=texts,
            embeddings=data.vectors[first : first + BATCH],
        )
    stored = time.perf_counter() - begun
    collection = client().get_collection("passages", embedding_function=None)

    def answer(_, vector):
        found = collection.query(query_embeddings=[vector], n_results=LIMIT, include=[])
        return [int(row) for row in found["ids"][0]]

    yield "vectors alone, HNSW", stored, size(place), ask(data, answer)


def main():
    name, folder, place, out = sys.argv[1:]
    data = Data(folder)
    module = __import__(name)
    modes = {"lancedb": lancedb_modes, "chromadb": chromadb_modes}[name]
    told = {"system": name, "version": module.__version__, "modes": []}
    for mode, seconds, stored, found in modes(data, place):
        told["modes"].append({"mode": mode, "store_seconds": seconds, "file_bytes": stored, **found})
        print(f"{name}: {mode} done", file=sys.stderr)
    Path(out).write_text(json.dumps(told))


if __name__ == "__main__":
    main()

"""Compares tables by retrieval: nDCG@10 of keyword search (FTS5, bm25), of cosine, and of both fused.

Fused score: 0.4 * bm25 / (bm25 + 10) + 0.6 * cosine, over all memories of a scope. An evaluation file is JSON:
{name, scopes: [{memories: [{id, speaker, time, text, caption?}], queries: [{text, relevant: [memory id]}]}]}.
"""

import argparse
import json
import re
import sqlite3
from datetime import datetime
from pathlib import Path

import numpy as np

from minilm import MiniLM, load_tokenizer
from table import read

STOP_WORDS = set(
    "a about an and any are as at be been being but by can could did do does for from had has have he her him his how i "
    "if in into is it its me my of on or our she should so some than that the their them then there these they this "
    "those to was we were what when where which who whom whose why will with would you your".split()
)


def passage(memory):
    """What is embedded and indexed of a memory: who said it and when go before the text."""
    text = memory["text"]
    if memory.get("caption"):
        text += f" [shares {memory['caption']}]"
    who = memory.get("speaker")
    if who and memory.get("time"):
        when = datetime.fromisoformat(memory["time"])
        who = f"{who} ({when.day} {when:%B %Y})"
    return f"{who}: {text}" if who else text


def keyword_scores(passages, queries):
    """bm25 of every passage for every query: words ORed, stop words dropped, 0 where no word matches."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize = 'porter unicode61')")
    database.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", enumerate(passages))
    scores = np.zeros((len(queries), len(passages)))
    for number, query in enumerate(queries):
        words = re.findall(r"\w+", query.lower())
        words = [word for word in words if word not in STOP_WORDS] or words
        match = " OR ".join(f'"{word}"' for word in words)
        found = database.execute("SELECT rowid, -bm25(passages) FROM passages WHERE passages MATCH ?", [match])
        for row, score in found:
            scores[number, row] = score
    return scores


def ndcg(scores, relevant):
    """nDCG@10 of one query; `relevant` holds the numbers of the relevant passages. Equal scores keep their order."""
    gains = 1 / np.log2(np.arange(2, 12))
    best = np.argsort(-scores, kind="stable")[:10]
    found = sum(gain for gain, passage in zip(gains, best) if passage in relevant)
    return found / gains[: len(relevant)].sum()


class Table:
    def __init__(self, table, tokenizer):
        self.table, self.tokenizer = table, tokenizer

    def __call__(self, texts):
        vectors = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for number, encoding in enumerate(self.tokenizer.encode_batch(texts, add_special_tokens=False)):
            if encoding.ids:
                mean = self.table[encoding.ids].mean(0)
                vectors[number] = mean / np.linalg.norm(mean)
        return vectors


class Teacher:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = MiniLM(model), tokenizer

    def __call__(self, texts):
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        return self.model.embed([encoding.ids for encoding in encodings])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with the teacher's tokenizer.json")
    parser.add_argument("--tables", type=Path, nargs="+", required=True, help=".safetensors or .npy")
    parser.add_argument("--sets", type=Path, nargs="+", required=True, help="evaluation files, JSON")
    parser.add_argument("--teacher", action="store_true", help="also the teacher itself (minutes)")
    arguments = parser.parse_args()

    tokenizer = load_tokenizer(arguments.model)
    embedders = {path.name: Table(read(path), tokenizer) for path in arguments.tables}
    if arguments.teacher:
        embedders["teacher"] = Teacher(arguments.model, tokenizer)
    # Name of a line -> set -> nDCG of each query.
    alone, fused, names = {}, {}, []
    for path in arguments.sets:
        evaluation = json.loads(path.read_text("utf-8"))
        names.append(evaluation["name"])
        for scope in evaluation["scopes"]:
            passages = [passage(memory) for memory in scope["memories"]]
            numbers = {memory["id"]: number for number, memory in enumerate(scope["memories"])}
            queries = [query for query in scope["queries"] if any(id in numbers for id in query["relevant"])]
            relevant = [{numbers[id] for id in query["relevant"] if id in numbers} for query in queries]
            texts = [query["text"] for query in queries]

            def record(into, line, scores):
                results = into.setdefault(line, {}).setdefault(evaluation["name"], [])
                results += [ndcg(row, wanted) for row, wanted in zip(scores, relevant)]

            words = keyword_scores(passages, texts)
            record(alone, "keywords", words)
            record(fused, "keywords", words)
            stored = {name: embed(passages) for name, embed in embedders.items()}
            asked = {name: embed(texts) for name, embed in embedders.items()}
            for name in embedders:
                for other in dict.fromkeys([name, "teacher"] if arguments.teacher else [name]):
                    line = name if name == other else f"{name}, passages by the teacher"
                    cosine = asked[name] @ stored[other].T
                    record(alone, line, cosine)
                    record(fused, line, 0.4 * words / (words + 10) + 0.6 * cosine)
    for title, lines in (("alone", alone), ("fused with keywords", fused)):
        print(f"{'nDCG@10, ' + title:60}", *(f"{name:>14}" for name in [*names, "mean"]))
        for line, results in lines.items():
            means = [np.mean(results[name]) for name in names]
            print(f"{line:60}", *(f"{mean:14.4f}" for mean in [*means, np.mean(means)]))


if __name__ == "__main__":
    main()

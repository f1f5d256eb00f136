"""Gathers the training texts: short passages of public sources, one JSON object {source, text} a line.

No text of the corpus ends up in the table; it only says which pieces occur, how often, and next to which others.
"""

import argparse
import gzip
import html
import json
import random
import re
from collections import Counter
from pathlib import Path

SHORTEST, LONGEST = 16, 900

# How many texts of each source to keep. Where a source has fewer, all are kept.
KEEP = {
    "wordnet": 86_000,
    "pypi": 36_000,
    "pydoc": 17_000,
    "debian": 12_000,
    "fortune": 16_000,
    "man": 6_000,
}


def wordnet(folder):
    """Glosses with their examples; half of them headed by the word they explain."""
    for file in sorted(folder.glob("root/usr/share/wordnet/data.*")):
        for line in file.read_text("latin-1").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            fields, gloss = line.split("|", 1)
            word = fields.split()[4].replace("_", " ")
            yield f"{word}: {gloss.strip()}" if random.random() < 0.75 else gloss


def fortune(folder):
    """Quotations and jokes."""
    for file in sorted(folder.glob("root/usr/share/games/fortunes/*")):
        if file.suffix not in (".dat", ".u8") and not file.is_symlink():
            yield from file.read_text("utf-8", errors="ignore").split("\n%\n")


def pydoc(folder):
    """Paragraphs of the Python documentation."""
    for file in sorted(folder.glob("root/usr/share/doc/python3*/html/**/*.html")):
        for paragraph in re.findall(r"<p>(.*?)</p>", file.read_text("utf-8"), flags=re.S):
            text = html.unescape(re.sub(r"<[^>]+>", "", paragraph))
            if len(text) > 40:
                yield text


def man(folder):
    """Paragraphs of manual pages, without their roff markup."""
    for file in sorted(folder.glob("root/usr/share/man/man[1-8]/*.gz")):
        if file.is_symlink():
            continue
        page = gzip.decompress(file.read_bytes()).decode("utf-8", errors="ignore")
        for paragraph in re.split(r"\n\.(?:PP|P|LP|TP|IP|SH|SS|sp)[^\n]*\n", page):
            text = re.sub(r"\n?\.[A-Z]{1,2} ", "\n", paragraph)
            text = re.sub(r"^[.'].*$", "", text, flags=re.M)
            text = re.sub(r'\\f[A-Z]|\\f\(..|\\-|\\&|\\\(..|"', "", text)
            if len(text) > 80:
                yield text


def debian(folder):
    """One-line descriptions of Debian packages."""
    packages = (folder / "debian-packages.txt").read_text("utf-8")
    yield from re.findall(r"^Description(?:-en)?: (.+)$", packages, flags=re.M)


def pypi(table):
    """Summaries of PyPI packages: the last column of a tab-separated file."""
    with open(table, encoding="utf-8", errors="ignore") as lines:
        for line in lines:
            summary = line.rstrip("\n").rsplit("\t", 1)[-1]
            if len(summary) > 40:
                yield summary


def gather(folder, pypi_table):
    seen = set()
    for source, keep in KEEP.items():
        if source == "pypi":
            texts = list(pypi(pypi_table)) if pypi_table else []
        else:
            texts = list(globals()[source](folder))
        random.shuffle(texts)
        for text in texts:
            if keep == 0:
                break
            text = " ".join(text.split())
            if SHORTEST <= len(text) <= LONGEST and text not in seen:
                seen.add(text)
                keep -= 1
                yield {"source": source, "text": text}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what fetch.sh filled")
    parser.add_argument("out", type=Path, help="JSON lines to write")
    parser.add_argument("--pypi", type=Path, help="tab-separated file whose last column is a package's summary")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    corpus = list(gather(arguments.folder, arguments.pypi))
    random.shuffle(corpus)
    with arguments.out.open("w", encoding="utf-8") as out:
        for entry in corpus:
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")
    print(len(corpus), "texts:", dict(Counter(entry["source"] for entry in corpus)))


if __name__ == "__main__":
    main()

"""all-MiniLM-L6-v2 in numpy: the teacher. Texts of equal length are run together, so there is no padding to mask.

Embeds a corpus block by block (texts-0000.npy, ...), and each word piece alone (alone.npy), into a folder. Blocks that
are there already are kept, so a run that was stopped goes on where it was.
"""

import argparse
import json
import os
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

CLS, SEP = 101, 102
LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256  # what sentence-transformers uses, [CLS] and [SEP] included
BATCH_TOKENS = 1024  # what fits the caches
BLOCK = 4096  # texts


def load_tokenizer(model):
    """The model's tokenizer, without the padding and truncation that its file presets."""
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class MiniLM:
    def __init__(self, model):
        self.weights = {
            name: np.ascontiguousarray(weight.T) if name.endswith("dense.weight") else weight
            for name, weight in load_file(model / "model.safetensors").items()
        }
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}.attention.self"
            for what in ("weight", "bias"):
                parts = [self.weights[f"{name}.{part}.{what}"] for part in ("query", "key", "value")]
                self.weights[f"{name}.{what}"] = np.ascontiguousarray(np.concatenate(parts).T)

    def linear(self, x, name):
        y = x @ self.weights[f"{name}.weight"]
        y += self.weights[f"{name}.bias"]
        return y

    def norm(self, x, name):
        x -= x.mean(-1, keepdims=True)
        x /= np.sqrt(np.einsum("td,td->t", x, x)[:, None] / WIDTH + 1e-12)
        x *= self.weights[f"{name}.weight"]
        x += self.weights[f"{name}.bias"]
        return x

    def attention(self, x, texts, layer):
        size = WIDTH // HEADS
        parts = self.linear(x, f"{layer}.attention.self").reshape(texts, -1, 3, HEADS, size)
        query, key, value = parts.transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32(size**-0.5)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
        return self.linear(mixed, f"{layer}.attention.output.dense")

    def mean_of_tokens(self, ids):
        """ids: [texts, length], special tokens included. The mean over the last hidden states, not normalised."""
        texts, length = ids.shape
        weights = self.weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x += weights["embeddings.position_embeddings.weight"][:length]
        x += weights["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x.reshape(-1, WIDTH), "embeddings.LayerNorm")
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            x += self.attention(x, texts, layer)
            x = self.norm(x, f"{layer}.attention.output.LayerNorm")
            hidden = self.linear(x, f"{layer}.intermediate.dense")
            gate = hidden * np.float32(0.5**0.5)
            erf(gate, out=gate)
            gate += 1
            hidden *= gate
            hidden *= np.float32(0.5)
            x += self.linear(hidden, f"{layer}.output.dense")
            x = self.norm(x, f"{layer}.output.LayerNorm")
        return x.reshape(texts, length, WIDTH).mean(1)

    def embed(self, token_ids):
        """Unit vectors of texts given as lists of word pieces without special tokens."""
        by_length = defaultdict(list)
        for text, ids in enumerate(token_ids):
            by_length[min(len(ids), MAX_TOKENS - 2)].append(text)
        vectors = np.zeros((len(token_ids), WIDTH), np.float32)
        for length, texts in by_length.items():
            step = max(1, BATCH_TOKENS // (length + 2))
            for start in range(0, len(texts), step):
                batch = texts[start : start + step]
                ids = np.array([[CLS, *token_ids[text][:length], SEP] for text in batch])
                vectors[batch] = self.mean_of_tokens(ids)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def embed_block(job):
    model, token_ids, file = job
    if not file.exists():
        vectors = MiniLM(model).embed(token_ids).astype(np.float16)
        partial = file.with_suffix(".partial.npy")
        np.save(partial, vectors)
        partial.rename(file)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("corpus", type=Path, help="JSON lines with a `text`, see corpus.py")
    parser.add_argument("out", type=Path, help="folder for the vectors (f16)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    with arguments.corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    tokenizer = load_tokenizer(arguments.model)
    token_ids = [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]
    alone = [[piece] for piece in range(tokenizer.get_vocab_size())]
    arguments.out.mkdir(exist_ok=True)
    jobs = [(arguments.model, alone, arguments.out / "alone.npy")]
    for start in range(0, len(token_ids), BLOCK):
        file = arguments.out / f"texts-{start // BLOCK:04}.npy"
        jobs.append((arguments.model, token_ids[start : start + BLOCK], file))
    with Pool(arguments.processes) as pool:
        for done, file in enumerate(pool.imap_unordered(embed_block, jobs), 1):
            print(f"{file.name}: {done} of {len(jobs)}", flush=True)


if __name__ == "__main__":
    main()

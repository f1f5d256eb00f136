"""Fits one vector for each word piece, so that the mean of a text's pieces points where the teacher's vector points.

Start: the teacher's vector of each piece alone, weighted down by frequency (SIF: Arora, Liang and Ma, 2017). Loss: one
less the cosine to the teacher's vector, plus ALPHA times the Kullback-Leibler divergence between the distributions of
similarities within a batch (teacher's against table's, temperature TAU). Adam, one cycle of the learning rate (Smith and
Topin, 2018). All gradients are by hand: no autograd, no GPU.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from minilm import BLOCK, load_tokenizer

BATCH = 1024
PEAK_RATE = 2e-3
WARM_UP = 0.1  # share of the steps
ALPHA = 0.3
TAU = 0.05
SIF = 1e-3


def bags(token_ids, pieces):
    """A sparse matrix [texts, pieces] whose product with the table is the mean of each text's rows."""
    lengths = np.array([len(ids) for ids in token_ids])
    columns = np.concatenate([np.array(ids, np.int32) for ids in token_ids])
    weights = np.repeat(1 / lengths, lengths).astype(np.float32)
    matrix = csr_array(
        (weights, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(token_ids), pieces)
    )
    matrix.sum_duplicates()
    return matrix


def start(alone, token_ids):
    """The teacher's vector of each piece, times a weight that is low for frequent pieces (Zipf's law over their rank)."""
    count = np.bincount(np.concatenate(token_ids), minlength=len(alone))
    rank = np.argsort(np.argsort(-count, kind="stable"))
    probability = 1 / (rank + 1)
    probability /= probability.sum()
    return alone * (SIF / (SIF + probability))[:, None].astype(np.float32)


def softmax(similarity):
    """Over each row, less the diagonal: a text's likeness to itself says nothing."""
    scores = similarity / TAU
    np.fill_diagonal(scores, -1e4)
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores


def loss_and_gradient(mean, target):
    """The two parts of the loss for a batch of means [texts, dims], and the gradient with respect to the means."""
    texts = len(mean)
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    unit = mean / length
    cosine = np.einsum("td,td->t", unit, target)
    ours, theirs = softmax(unit @ unit.T), softmax(target @ target.T)
    divergence = (theirs * np.log((theirs + 1e-12) / (ours + 1e-12))).sum() / texts
    slope = (ours - theirs) * (ALPHA / (texts * TAU))
    gradient = (slope + slope.T) @ unit - target / texts
    gradient -= np.einsum("td,td->t", gradient, unit)[:, None] * unit
    return 1 - cosine.mean(), divergence, gradient / length


def cycle(share):
    """Learning rate and momentum at this share of the training: up to the peak and down to nothing, by cosines."""
    if share < WARM_UP:
        height = (1 - np.cos(np.pi * share / WARM_UP)) / 2
        rate = PEAK_RATE * (1 / 25 + (1 - 1 / 25) * height)
    else:
        height = (1 + np.cos(np.pi * (share - WARM_UP) / (1 - WARM_UP))) / 2
        rate = PEAK_RATE * height
    return np.float32(rate), np.float32(0.95 - 0.10 * height)


class Adam:
    def __init__(self, table):
        self.table = table
        self.first = np.zeros_like(table)
        self.second = np.zeros_like(table)
        self.work = np.empty_like(table)
        self.kept_first = self.kept_second = 1.0

    def step(self, gradient, rate, momentum, decay=np.float32(0.999)):
        self.kept_first *= float(momentum)
        self.kept_second *= float(decay)
        self.first *= momentum
        self.first += (1 - momentum) * gradient
        self.second *= decay
        np.square(gradient, out=self.work)
        self.work *= 1 - decay
        self.second += self.work
        np.sqrt(self.second, out=self.work)
        self.work *= np.float32(1 / np.sqrt(1 - self.kept_second))
        self.work += np.float32(1e-8)
        np.divide(self.first, self.work, out=self.work)
        self.work *= rate / np.float32(1 - self.kept_first)
        self.table -= self.work


def train(table, texts, targets, epochs, seed):
    optimiser, random, started = Adam(table), np.random.default_rng(seed), time.time()
    steps = texts.shape[0] // BATCH
    for epoch in range(epochs):
        order, losses = random.permutation(texts.shape[0]), []
        for step in range(steps):
            batch = order[step * BATCH : (step + 1) * BATCH]
            bag = texts[batch]
            away, divergence, gradient = loss_and_gradient(bag @ table, targets[batch].astype(np.float32))
            optimiser.step(bag.T @ gradient, *cycle((epoch * steps + step) / (epochs * steps)))
            losses.append((away, divergence))
        away, divergence = np.mean(losses, axis=0)
        print(f"epoch {epoch + 1}: 1 - cosine {away:.4f}, divergence {divergence:.4f}, "
              f"{time.time() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with the teacher's tokenizer.json")
    parser.add_argument("corpus", type=Path, help="what corpus.py wrote")
    parser.add_argument("teacher", type=Path, help="the folder that minilm.py filled")
    parser.add_argument("out", type=Path, help=".npy to write: the table, f32")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    with arguments.corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    encodings = load_tokenizer(arguments.model).encode_batch(texts, add_special_tokens=False)
    alone = np.load(arguments.teacher / "alone.npy").astype(np.float32)
    token_ids, targets = [], []
    for file in sorted(arguments.teacher.glob("texts-????.npy")):
        block = int(file.stem.removeprefix("texts-")) * BLOCK
        for vector, encoding in zip(np.load(file), encodings[block : block + BLOCK]):
            if encoding.ids:
                token_ids.append(encoding.ids)
                targets.append(vector)
    print(len(token_ids), "texts,", sum(map(len, token_ids)), "pieces", flush=True)
    table = start(alone, token_ids)
    train(table, bags(token_ids, len(table)), np.array(targets), arguments.epochs, arguments.seed)
    np.save(arguments.out, table)


if __name__ == "__main__":
    main()

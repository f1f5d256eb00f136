"""Quantises a table to 4 bits and writes it in the format that crates/mnemic-static reads.

Format: `q` u8 [pieces, dims / 2], the low nibble the even dimension, the high nibble the odd one, value = nibble - 8;
`scale` f16 [pieces]; entry = value * scale. A row's scale is the one of a few clips that errs least.
"""

import argparse
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

CLIPS = (1.0, 0.9, 0.8, 0.7, 0.6)


def quantise(table):
    best = np.full(len(table), np.inf, np.float32)
    values = np.zeros(table.shape, np.int8)
    scales = np.zeros(len(table), np.float16)
    largest = np.abs(table).max(1)
    for clip in CLIPS:
        scale = np.maximum(clip * largest / 7, np.finfo(np.float16).tiny).astype(np.float16)
        wide = scale.astype(np.float32)[:, None]
        value = np.clip(np.rint(table / wide), -8, 7)
        error = np.square(value * wide - table).sum(1)
        better = error < best
        best[better], values[better], scales[better] = error[better], value[better], scale[better]
    nibbles = (values + 8).astype(np.uint8)
    return {"q": nibbles[:, 0::2] | nibbles[:, 1::2] << 4, "scale": scales}


def read(path):
    """A table as f32: a .npy as it is, a .safetensors dequantised."""
    if path.suffix == ".npy":
        return np.load(path)
    tensors = load_file(path)
    packed = tensors["q"]
    values = np.stack([packed & 15, packed >> 4], axis=2).reshape(len(packed), -1).astype(np.float32) - 8
    return values * tensors["scale"].astype(np.float32)[:, None]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="the .npy that train.py wrote")
    parser.add_argument("out", type=Path, help=".safetensors to write")
    arguments = parser.parse_args()
    table = np.load(arguments.table)
    metadata = {
        "space": "all-MiniLM-L6-v2",
        "dims": str(table.shape[1]),
        "packing": "low nibble = even dimension, high nibble = odd dimension, value = nibble - 8, times scale",
    }
    save_file(quantise(table), arguments.out, metadata)
    error = np.linalg.norm(read(arguments.out) - table) / np.linalg.norm(table)
    print(f"{arguments.out.stat().st_size} bytes, relative error {error:.3f}")


if __name__ == "__main__":
    main()

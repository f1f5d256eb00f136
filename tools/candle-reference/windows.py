"""mnemic-candle's documented way with texts longer than the window, written again from its formula."""

import numpy as np


def spans(length, capacity):
    if length <= capacity:
        return [(0, length)]
    overlap = capacity // 8
    count = -(-(length - overlap) // (capacity - overlap))
    starts = [i * (length - capacity) // (count - 1) for i in range(count)]
    return [(start, start + capacity) for start in starts]


def pool(vectors):
    mean = np.mean(np.asarray(vectors, dtype=np.float64), axis=0)
    return mean / np.linalg.norm(mean)

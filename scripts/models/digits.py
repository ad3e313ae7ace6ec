"""The handwritten digits that the models learn: 1,797 images of 8×8 pixels. See ../data/README.md."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "data" / "digits.csv.gz"


def load() -> tuple[np.ndarray, np.ndarray]:
    """images: float32[1797, 64], 0 (paper) to 1 (ink); labels: int32[1797], 0 <= label < 10."""
    table = np.loadtxt(DATA, delimiter=",", dtype=np.float32)
    return table[:, :-1] / 16, table[:, -1].astype(np.int32)


def batches(size: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random batches of `size` digits, without end, the same ones for the same seed."""
    images, labels = load()
    draw = np.random.default_rng(seed)
    while True:
        rows = draw.integers(len(labels), size=size)
        yield images[rows], labels[rows]

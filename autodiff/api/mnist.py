"""Digits for scripts that ask for MNIST: from local files, else drawn on the spot; nothing is downloaded."""
from __future__ import annotations

import gzip
import os
import struct
import sys
from typing import Any, NamedTuple

import numpy as np

from ..core.dtypes import as_dtype, float32, uint8
from ..core.errors import ArgumentError, DataLossError
from .common.unsupported import refusing

__all__ = ["DataSet", "Datasets", "load_mnist", "read_data_sets"]

SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
DEFAULT_SOURCE_URL = SOURCE_URL  # the name before TensorFlow 1.13; neither is ever opened
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
TRAINING, TESTS = 60_000, 10_000
SIDE = 28
VARIANTS = 160  # drawings of each digit; those for tests are others than those for training

# Seven rows of five dots for each digit.
_DOTS = """
.###. ..#.. .###. ####. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... .#... ....# #...# #...#
#...# ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#...# ..#.. ..##. .###. #..#. ....# ####. ..#.. .###. .####
#...# ..#.. .#... ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. #.... ....# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### ####. ...#. .###. .###. .#... .###. .##..
"""


class DataSet:
    """Images and labels, handed out in batches. images: float[n, 784] in [0, 1]; labels: int[n] or float[n, 10]."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, fake_data: bool = False, one_hot: bool = False,
                 dtype: Any = float32, reshape: bool = True, seed: int | None = None) -> None:
        dtype = as_dtype(dtype).base_dtype
        if dtype not in (uint8, float32):
            raise ArgumentError(expected="images of dtype uint8 or float32", found=dtype.name)
        if len(images) != len(labels):
            raise ArgumentError(expected=f"a label for each of {len(images)} images", found=len(labels))
        if reshape:
            images = images.reshape(len(images), -1)
        self.images = images.astype(np.float32) * np.float32(1 / 255) if dtype is float32 else images
        self.labels = labels
        self._random = np.random.default_rng(0 if seed is None else seed)
        self._order = np.arange(len(images))
        self._next = 0
        self.epochs_completed = 0

    @property
    def num_examples(self) -> int:
        return len(self.images)

    def next_batch(self, batch_size: int, fake_data: bool = False,
                   shuffle: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The next images and labels; past the end the rest of this epoch and the beginning of the next."""
        if batch_size > self.num_examples:
            raise ArgumentError(expected=f"a batch of at most {self.num_examples} images", found=batch_size)
        if self._next == 0 and self.epochs_completed == 0 and shuffle:
            self._random.shuffle(self._order)
        chosen = self._order[self._next:self._next + batch_size]
        self._next += batch_size
        if self._next > self.num_examples:
            self.epochs_completed += 1
            self._next = batch_size - len(chosen)
            if shuffle:
                self._order = self._random.permutation(self.num_examples)
            chosen = np.concatenate([chosen, self._order[:self._next]])
        return self.images[chosen], self.labels[chosen]


class Datasets(NamedTuple):
    """The parts of MNIST."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(train_dir: str = "MNIST_data", fake_data: bool = False, one_hot: bool = False, dtype: Any = float32,
                   reshape: bool = True, validation_size: int = 5000, seed: int | None = None,
                   source_url: str = SOURCE_URL) -> Datasets:
    """MNIST out of the files in `train_dir`; digits drawn here, and a notice on stderr, if they are not there.

    Nothing is downloaded. one_hot: labels are float[n, 10]. validation_size: how many of the 60,000
    training images are kept for validation. Raises ArgumentError (ValueError) for one outside of them,
    and DataLossError for a file that is no idx file.
    """
    images, labels, test_images, test_labels = load_mnist(train_dir)
    if not 0 <= validation_size <= len(images):
        raise ArgumentError(expected=f"a validation size of 0 to {len(images)}", found=validation_size)
    if one_hot:
        labels, test_labels = np.eye(10)[labels], np.eye(10)[test_labels]
    cut = validation_size
    parts = (images[cut:], labels[cut:]), (images[:cut], labels[:cut]), (test_images, test_labels)
    return Datasets(*[DataSet(x[..., None], y, dtype=dtype, reshape=reshape, seed=seed) for x, y in parts])


def load_mnist(folder: str) -> tuple[np.ndarray, ...]:
    """Training images uint8[60000, 28, 28] and labels uint8[60000], and 10,000 of each for tests."""
    plain = [os.path.join(folder, name) for name in FILES]
    paths = [next(filter(os.path.exists, (path, path + ".gz")), "") for path in plain]
    if all(paths):
        return tuple(read_idx(path) for path in paths)
    print(f"gradbg: NOT MNIST: no {FILES[0]}(.gz) and its three companions in {folder!r}; these are digits drawn by "
          "gradbg, far easier than MNIST's, and accuracies on them mean nothing for MNIST", file=sys.stderr)
    return (*drawn_digits(TRAINING, seed=1), *drawn_digits(TESTS, seed=2))


def read_idx(path: str) -> np.ndarray:
    """The bytes of an idx file, gzipped or not. -> uint8[...]. Raises DataLossError if it is none.

    Source: the format's description on Y. LeCun's MNIST page.
    """
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        data = file.read()
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise DataLossError(f"{path!r} is no idx file of bytes", expected="it to begin with 00 00 08",
                            found=data[:3].hex(' '))
    shape = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
    body = np.frombuffer(data, np.uint8, offset=4 + 4 * data[3])
    if body.size != np.prod(shape):
        raise DataLossError(f"{path!r} is cut off", expected=f"{np.prod(shape)} bytes of data", found=body.size)
    return body.reshape(shape)


def drawn_digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8[count, 28, 28] and labels uint8[count]: a dotted font, bent at random; always the same."""
    random = np.random.default_rng(seed)
    drawings = _drawings(random)
    labels = random.integers(0, 10, count, dtype=np.uint8)
    images = drawings[labels, random.integers(0, VARIANTS, count)]
    noise = np.frombuffer(random.bytes(images.size), np.uint8).reshape(images.shape) >> 4
    return np.where(images > 239, images - noise, images + noise), labels


def _drawings(random: np.random.Generator) -> np.ndarray:
    """VARIANTS of each digit: turned, slanted, scaled and moved. -> uint8[10, VARIANTS, 28, 28]."""
    rows = [line.split() for line in _DOTS.split("\n") if line]
    dots = np.array([[[c == "#" for c in row[digit]] for row in rows] for digit in range(10)], float)
    dots = np.pad(dots, ((0, 0), (2, 2), (2, 2)))
    turn, slant = random.uniform(-0.25, 0.25, (2, VARIANTS, 1, 1))
    scale, wide = random.uniform(2.3, 3.2, (2, VARIANTS, 1, 1))
    down, right = random.uniform(-2.5, 2.5, (2, VARIANTS, 1, 1))
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    y, x = y - down, x - right
    row = (np.cos(turn) * y + np.sin(turn) * x) / scale + 5
    column = (np.cos(turn) * x - np.sin(turn) * y + slant * y) / wide + 4
    return (255 * _between(dots, row.clip(0, 9.99), column.clip(0, 7.99))).astype(np.uint8)


def _between(dots: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Bilinear values of dots[digit] at places. dots: float[10, h, w], row, column: float[...] -> float[10, ...]."""
    top, left = row.astype(int), column.astype(int)
    y, x = row - top, column - left
    return ((1 - y) * ((1 - x) * dots[:, top, left] + x * dots[:, top, left + 1])
            + y * ((1 - x) * dots[:, top + 1, left] + x * dots[:, top + 1, left + 1]))


__getattr__ = refusing("tf.examples.tutorials.mnist.input_data", __name__)

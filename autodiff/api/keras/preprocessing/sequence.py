"""tf.keras.preprocessing.sequence: sequences of one length, windows of a series in time, pairs of neighbours."""
from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ...common.unsupported import refusing
from .. import utils

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]

_EULER = 0.577  # the constant of harmonic numbers, as Keras has it


def pad_sequences(sequences: Sequence[Sequence[Any]], maxlen: int | None = None, dtype: Any = "int32",
                  padding: str = "pre", truncating: str = "pre", value: Any = 0.0) -> np.ndarray:
    """Sequences as the rows of one array, filled up with `value` or cut. -> dtype[n, maxlen, ...].

    maxlen: the longest one's length by default. padding, truncating: 'pre' fills or cuts at the beginning,
    'post' at the end.
    """
    for name, side in (("padding", padding), ("truncating", truncating)):
        if side not in ("pre", "post"):
            raise ArgumentError(expected=f"{name} to be 'pre' or 'post'", found=repr(side))
    longest = max(map(len, sequences), default=0) if maxlen is None else maxlen
    inner = next((np.shape(s)[1:] for s in sequences if len(s)), ())
    padded = np.full((len(sequences), longest, *inner), value, dtype)
    for row, sequence in zip(padded, sequences):
        kept = sequence[max(len(sequence) - longest, 0):] if truncating == "pre" else sequence[:longest]
        if len(kept):
            begin = longest - len(kept) if padding == "pre" else 0
            row[begin:begin + len(kept)] = kept
    return padded


class TimeseriesGenerator(utils.Sequence):
    """Batches of (window of `length` steps, target of the step after it). data, targets: arrays of one length.

    sampling_rate: every so many steps of a window are given. stride: between windows. shuffle: windows at random.
    """

    def __init__(self, data: Any, targets: Any, length: int, sampling_rate: int = 1, stride: int = 1,
                 start_index: int = 0, end_index: int | None = None, shuffle: bool = False, reverse: bool = False,
                 batch_size: int = 128) -> None:
        if len(data) != len(targets):
            raise ArgumentError("Data and targets have to be of same length.", expected=f"{len(data)} targets",
                                found=len(targets))
        self.data, self.targets, self.length, self.sampling_rate = data, targets, length, sampling_rate
        self.stride, self.shuffle, self.reverse, self.batch_size = stride, shuffle, reverse, batch_size
        self.start_index, self.end_index = start_index + length, len(data) - 1 if end_index is None else end_index
        if self.start_index > self.end_index:
            raise ArgumentError(f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, "
                                "as no part of the sequence would be left to be used as current step.")

    def __len__(self) -> int:
        return math.ceil((self.end_index - self.start_index + 1) / (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        ends = np.arange(self.start_index, self.end_index + 1, self.stride)
        ends = ends[index * self.batch_size:(index + 1) * self.batch_size]
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, self.batch_size)
        windows = np.array([self.data[end - self.length:end:self.sampling_rate] for end in ends])
        return windows[:, ::-1] if self.reverse else windows, np.array([self.targets[end] for end in ends])


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray:
    """How likely the word of each rank is kept, frequent ones less. -> float64[size]. Source: word2vec's formula."""
    rank = np.maximum(np.arange(size), 1)
    share = sampling_factor * (rank * (np.log(rank) + _EULER) + 0.5 - 1.0 / (12.0 * rank))
    return np.minimum(1.0, np.sqrt(share))


def skipgrams(sequence: Sequence[int], vocabulary_size: int, window_size: int = 4, negative_samples: float = 1.0,
              shuffle: bool = True, categorical: bool = False, sampling_table: Any = None,
              seed: int | None = None) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words within a window, labelled 1, and as many with words at random, labelled 0. 0 is no word."""
    one, zero = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs = [[word, sequence[j]] for i, word in enumerate(sequence)
             if word and (sampling_table is None or sampling_table[word] >= random.random())
             for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)) if j != i and sequence[j]]
    labels: list[Any] = [one] * len(pairs)
    if negative_samples > 0 and pairs:
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        others = int(len(pairs) * negative_samples)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(others)]
        labels += [zero] * others
    if shuffle:
        order = [*range(len(pairs))]
        random.Random(random.random() if seed is None else seed).shuffle(order)
        pairs, labels = [pairs[i] for i in order], [labels[i] for i in order]
    return pairs, labels


__getattr__ = refusing("tf.keras.preprocessing.sequence", __name__)

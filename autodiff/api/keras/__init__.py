"""tf.keras: models of layers, trained, evaluated and asked by loops over tf's own graphs; what data sets need.

Start with models.py; training.py has the loops.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...files.disk.arrays import read_arrays
from ..common.unsupported import refusing
from ..mnist import load_mnist
from . import (
    activations,
    backend,
    callbacks,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
    utils,
)
from .models import Input, Model, Sequential

__all__ = ["Input", "Model", "Sequential", "activations", "backend", "callbacks", "constraints", "datasets",
           "initializers", "layers", "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers",
           "utils"]


def _load_data(path: str = "mnist.npz") -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """((images, labels) to train with, (images, labels) to test with): uint8[n, 28, 28] and uint8[n].

    path: an npz archive as Keras keeps it, here or in ~/.keras/datasets; else the digits of autodiff.mnist.
    """
    for place in (path, os.path.join(os.path.expanduser("~"), ".keras", "datasets", path)):
        if os.path.isfile(place):
            found = read_arrays(place)
            return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])
    images, labels, test_images, test_labels = load_mnist("MNIST_data")
    return (images, labels), (test_images, test_labels)


def _pad_sequences(sequences: Sequence[Sequence[Any]], maxlen: int | None = None, dtype: Any = "int32",
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


def _module(name: str, **has: Any) -> ModuleType:
    """A module, which scripts also import from."""
    module = ModuleType(f"{__name__}.{name}")
    vars(module).update(has)
    return module


__version__ = "2.2.4-tf"
datasets = _module("datasets", mnist=_module("datasets.mnist", load_data=_load_data))
preprocessing = _module("preprocessing", sequence=_module("preprocessing.sequence", pad_sequences=_pad_sequences))

__getattr__ = refusing("tf.keras", __name__)

"""tf.keras: models of layers, trained, evaluated and asked by loops over tf's own graphs; what data sets need.

Start with models.py; training.py has the loops.
"""
from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np

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
    preprocessing,
    regularizers,
    utils,
    wrappers,
)
from .models import Input, Model, Sequential

__all__ = ["Input", "Model", "Sequential", "activations", "backend", "callbacks", "constraints", "datasets",
           "initializers", "layers", "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers",
           "utils", "wrappers"]


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


def _module(name: str, **has: Any) -> ModuleType:
    """A module, which scripts also import from."""
    module = ModuleType(f"{__name__}.{name}")
    vars(module).update(has)
    return module


__version__ = "2.2.4-tf"
datasets = _module("datasets", mnist=_module("datasets.mnist", load_data=_load_data))

__getattr__ = refusing("tf.keras", __name__)

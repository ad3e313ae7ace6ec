"""tf.keras.datasets: the data sets of Keras, from the files that it keeps of them; nothing is downloaded."""
from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ...files.disk.arrays import read_arrays
from ...files.disk.reading import read_pickle
from ..common.unsupported import refusing
from ..mnist import FILES, load_mnist, read_idx
from .utils import get_file, kept_at

_FROM = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_IMAGES = "https://www.cs.toronto.edu/~kriz/"
Part = tuple[np.ndarray, np.ndarray]  # x and y, to train or to test with


def _mnist(path: str = "mnist.npz") -> tuple[Part, Part]:
    """Digits: uint8[n, 28, 28] and uint8[n].

    path: an npz archive as Keras keeps it, here or in ~/.keras/datasets; else the digits of autodiff.mnist.
    """
    for place in (path, kept_at(path)):
        if os.path.isfile(place):
            found = read_arrays(place)
            return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])
    images, labels, test_images, test_labels = load_mnist("MNIST_data")
    return (images, labels), (test_images, test_labels)


def _fashion() -> tuple[Part, Part]:
    """Clothes: uint8[n, 28, 28] and uint8[n]."""
    x, y, tests, truth = (read_idx(get_file(f"{name}.gz", f"{_FROM}{name}.gz", cache_subdir="datasets/fashion-mnist"))
                          for name in FILES)
    return (x, y), (tests, truth)


def _photographs(folder: str, names: list[str], labels: str) -> Part:
    """uint8[n, 32, 32, 3] and uint8[n, 1], of what was unpacked."""
    parts = []
    for name in names:
        with open(get_file(f"{folder}/{name}", f"{_IMAGES}{folder.removesuffix('-batches-py').removesuffix('-python')}"
                           "-python.tar.gz"), "rb") as file:
            parts.append(read_pickle(file))
    x = np.concatenate([part[b"data"] for part in parts]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return x, np.concatenate([part[labels.encode()] for part in parts]).astype(np.uint8)[:, None]


def _cifar10() -> tuple[Part, Part]:
    """Photographs of ten kinds."""
    train, tests = ([f"data_batch_{i}" for i in range(1, 6)], ["test_batch"])
    return _photographs("cifar-10-batches-py", train, "labels"), _photographs("cifar-10-batches-py", tests, "labels")


def _cifar100(label_mode: str = "fine") -> tuple[Part, Part]:
    """Photographs of a hundred kinds, or of twenty coarse ones."""
    train, tests = (_photographs("cifar-100-python", [name], f"{label_mode}_labels") for name in ("train", "test"))
    return train, tests


def _texts(path: str, parts: tuple[str, ...], seed: int, words: Callable[[np.ndarray], np.ndarray]) -> list[Part]:
    """Examples in the order that Keras brings them in, each part by itself."""
    random = np.random.RandomState(seed)
    found: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(get_file(path, _FROM + path)) as archive:
        for name in archive.namelist():
            with archive.open(name) as file:
                found[name.removesuffix(".npy")] = read_pickle(file, is_array=True)  # type: ignore[arg-type]
    orders = [random.permutation(len(found["x" + part])) for part in parts]
    x = words(np.concatenate([found["x" + part][order] for part, order in zip(parts, orders)]))
    cuts = np.cumsum([len(order) for order in orders])[:-1]
    return list(zip(np.split(x, cuts), (found["y" + part][order] for part, order in zip(parts, orders))))


def _ranks(x: np.ndarray, most: int | None, least: int, start: int | None, unknown: int | None,
           shift: int) -> np.ndarray:
    """Ranks of words moved up by shift after a start; too rare and too common ones are unknown, or left out."""
    rows = [[*([] if start is None else [start]), *(rank + shift for rank in row)] for row in x]
    end = most or max(map(max, rows))
    found = np.empty(len(rows), object)
    found[:] = [[rank if least <= rank < end else unknown for rank in row
                 if least <= rank < end or unknown is not None] for row in rows]
    return found


def _short(part: Part, most: int | None) -> Part:
    kept = np.array([most is None or len(words) < most for words in part[0]], bool)
    return part[0][kept], part[1][kept]


def _cut(part: Part, share: float) -> tuple[Part, Part]:
    cut = int(len(part[0]) * (1 - share))
    return (part[0][:cut], part[1][:cut]), (part[0][cut:], part[1][cut:])


def _imdb(path: str = "imdb.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None,
          seed: int = 113, start_char: int | None = 1, oov_char: int | None = 2,
          index_from: int = 3) -> tuple[Part, Part]:
    """Reviews as lists of ranks of words, and whether they are good."""
    train, tests = _texts(path, ("_train", "_test"), seed, lambda x: _ranks(
        x, num_words, skip_top, start_char, oov_char, index_from))
    return _short(train, maxlen), _short(tests, maxlen)


def _reuters(path: str = "reuters.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None,
             test_split: float = 0.2, seed: int = 113, start_char: int | None = 1, oov_char: int | None = 2,
             index_from: int = 3) -> tuple[Part, Part]:
    """News as lists of ranks of words, and which of 46 topics they have."""
    [part] = _texts(path, ("",), seed, lambda x: _ranks(x, num_words, skip_top, start_char, oov_char, index_from))
    return _cut(_short(part, maxlen), test_split)


def _boston(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Part, Part]:
    """Thirteen numbers of a suburb, and what its houses cost."""
    return _cut(_texts(path, ("",), seed, lambda x: x)[0], test_split)


def _module(name: str, load_data: Callable[..., Any]) -> ModuleType:
    """A module, which scripts also import from."""
    def get_word_index(path: str = f"{name}_word_index.json") -> dict[str, int]:
        """The rank of each word."""
        with open(get_file(path, _FROM + path), encoding="utf-8") as file:
            return dict(json.load(file))
    module = ModuleType(f"{__name__}.{name}")
    vars(module).update(load_data=load_data, get_word_index=get_word_index)
    return module


boston_housing, cifar10 = _module("boston_housing", _boston), _module("cifar10", _cifar10)
cifar100, fashion_mnist = _module("cifar100", _cifar100), _module("fashion_mnist", _fashion)
imdb, mnist, reuters = _module("imdb", _imdb), _module("mnist", _mnist), _module("reuters", _reuters)
__getattr__ = refusing("tf.keras.datasets", __name__)

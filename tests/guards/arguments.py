"""Arguments by chance: a public function's usual ones, and one that fits nowhere in their place."""
from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

import autodiff as tf

SPACES = [
    "", "image", "linalg", "losses", "math", "metrics", "nn", "random", "signal", "sparse", "layers", "initializers",
    "train", "debugging", "data", "summary", "contrib.layers", "spectral", "io", "queue", "graph_util"]
_LEFT_OUT = {  # what changes the process, waits, or is made by the library alone
    "Graph", "Operation", "Tensor", "DType", "reset_default_graph", "enable_eager_execution", "disable_eager_execution",
    "disable_v2_behavior", "disable_resource_variables", "enable_resource_variables"}
NUMBERS = np.random.default_rng(0).random(400).astype("f")


def _of(*shape: int) -> Any:
    return tf.constant(NUMBERS[:int(np.prod(shape))].reshape(shape))


def _sparse() -> Any:
    return tf.SparseTensor(tf.constant([[0, 0], [1, 1]], tf.int64), tf.constant([1.0, 2.0]), [2, 2])


def _variable() -> Any:
    return tf.get_variable(f"v{len(tf.global_variables())}", [2])


_PICTURE, _MATRIX = (lambda: _of(2, 4, 4, 3)), (lambda: _of(2, 3))
_USUAL: dict[str, list[Any]] = {  # by a parameter's name; functions are called
    "dtype": [tf.float32, tf.int32], "axis": [0, None, -1], "dim": [0], "shape": [[2, 3], [3]], "name": [None],
    "indices": [[0, 1], [[0], [1]]], "depth": [3], "num_or_size_splits": [1, 2], "perm": [[1, 0]],
    "multiples": [[1, 2]], "paddings": [[[1, 1], [0, 0]]], "begin": [[0, 0]], "size": [[1, 1], [2, 2]],
    "fn": [lambda: lambda *a: a[0]], "true_fn": [lambda: lambda: tf.constant(1.0)],
    "false_fn": [lambda: lambda: tf.constant(2.0)], "pred": [True], "cond": [lambda: lambda *a: tf.constant(False)],
    "body": [lambda: lambda *a: a], "loop_vars": [[1.0]], "segment_ids": [[0, 1]], "num_segments": [2],
    "filter": [lambda: _of(2, 2, 3, 2)], "filters": [lambda: _of(2, 2, 3, 2), 3], "strides": [[1, 1, 1, 1], 1],
    "padding": ["SAME", "VALID"], "ksize": [[1, 2, 2, 1]], "units": [3], "kernel_size": [2], "pool_size": [2],
    "input": [_PICTURE, _MATRIX], "value": [_PICTURE, _MATRIX], "values": [lambda: [_of(2, 3), _of(2, 3)]],
    "inputs": [_MATRIX, _PICTURE], "images": [_PICTURE], "image": [_PICTURE], "labels": [_MATRIX, [0, 1]],
    "predictions": [_MATRIX, [0, 1]], "logits": [_MATRIX], "targets": [[0, 1]], "weights": [1.0], "k": [2],
    "sp_input": [_sparse], "sparse_tensor": [_sparse], "a": [lambda: _of(2, 2)], "b": [lambda: _of(2, 2)],
    "x": [_MATRIX, _PICTURE, [1, 2], [True, False]], "y": [_MATRIX, lambda: _of(3)], "params": [lambda: _of(3, 2)],
    "ids": [[0, 1]], "equation": ["ij,jk->ik"], "learning_rate": [0.1], "decay_steps": [10], "decay_rate": [0.5],
    "cell": [lambda: tf.nn.rnn_cell.BasicRNNCell(3)], "ref": [_variable], "updates": [lambda: _of(2)],
    "num_units": [3], "data": [lambda: [_of(2, 3)]], "tensors": [lambda: [_of(2, 3), _of(2, 3)]],
    "elems": [lambda: _of(3, 2)], "lengths": [[1, 2]], "matrix": [lambda: _of(2, 2)], "rhs": [lambda: _of(2, 2)],
    "block_size": [2]}
_OTHERWISE: list[Any] = [_MATRIX, lambda: _of(2), 1.0, 2, [1, 2], "a", _PICTURE, lambda: _of(2, 2), None]


class Odd:
    """An object that nothing converts."""


WRONG: list[Callable[[], Any]] = [
    lambda: None, lambda: "text", lambda: 3.5, lambda: -7, lambda: 7, lambda: 0, list, lambda: [None],
    lambda: [[1], [2, 3]], dict, lambda: {1: 2}, Odd, lambda: np.array([Odd(), None], object), lambda: np.array(3),
    lambda: np.zeros((0, 2), "f"), lambda: {1, 2}, lambda: lambda: 0, lambda: Odd, lambda: ["a"], lambda: 10 ** 30,
    lambda: 1j, lambda: tf.constant("a"), lambda: tf.constant(1.0), lambda: tf.zeros([1, 2, 1, 2]),
    lambda: tf.placeholder(tf.float32), lambda: tf.placeholder(tf.int32), lambda: tf.constant([True]),
    lambda: [1, "a"], lambda: [-1, -9], lambda: [9], lambda: tf.float32, lambda: [1.5],
    lambda: (i for i in range(2)), lambda: b"x", lambda: float("nan"), _sparse, lambda: [[1, 2, 3]],
    lambda: (2, 3, 4), tf.no_op, _variable]


def functions() -> Iterator[tuple[str, Any]]:
    """The public functions and classes, each under its first name."""
    seen = set()
    for space in SPACES:
        module: Any = tf
        for part in filter(None, space.split(".")):
            module = getattr(module, part)
        for name in sorted(set(dir(module)) - _LEFT_OUT):
            found = None if name.startswith("_") else getattr(module, name)
            ours = isinstance(found, (FunctionType, type)) and found.__module__.startswith("autodiff")
            if ours and isinstance(found, type):
                ours = not issubclass(found, (BaseException, Enum))
            if ours and found not in seen:
                seen.add(found)
                yield f"{space}.{name}".strip("."), found


def calls(function: Any, chance: random.Random) -> Iterator[Callable[[], Any]]:
    """Calls of one function without end, to be made in a graph each: one argument is wrong, or two."""
    parameters = [p for p in inspect.signature(function).parameters.values()
                  if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    required = [p.name for p in parameters if p.default is p.empty]

    while parameters:
        chosen = {name: chance.choice(_USUAL.get(name, _OTHERWISE)) for name in required}
        for parameter in chance.sample(parameters, min(chance.choice((1, 1, 2)), len(parameters))):
            chosen[parameter.name] = chance.choice(WRONG)
        yield lambda chosen=chosen: function(**{k: v() if callable(v) else v for k, v in chosen.items()})


def misfit(array: np.ndarray, chance: random.Random) -> np.ndarray:
    """An array of the same element type that an op may not expect: another rank, sizes, bad numbers."""
    least = np.zeros(array.shape, array.dtype)
    changes: list[Callable[[], np.ndarray]] = [
        lambda: array[None], lambda: array.ravel(), lambda: array.ravel()[:1].reshape(()) if array.size else array,
        lambda: array[:0] if array.ndim else array, lambda: array[:1] if array.ndim else array,
        lambda: np.concatenate([array, array], -1) if array.ndim else array, lambda: array.T,
        lambda: least - array.dtype.type(1) if array.dtype.kind in "if" else least, lambda: least,
        lambda: (least + 1).astype(array.dtype) * array.dtype.type(100) if array.dtype.kind in "iuf" else least,
        lambda: np.full(array.shape, np.nan, array.dtype) if array.dtype.kind == "f" else least]
    return chance.choice(changes)()

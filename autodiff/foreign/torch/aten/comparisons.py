"""ATen's comparisons, logic, bits, and choices between two tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...model import tf
from .common import as_type, aten, category, joint, number, promoted, rank, result_type, where
from .reductions import gathered


def _compared(function: Callable[..., Any]) -> Callable[..., Any]:
    def build(x: Any, y: Any) -> Any:
        x, y = promoted(x, y)
        if x.dtype.base_dtype is tf.bool and function not in (tf.equal, tf.not_equal):
            x, y = tf.cast(x, tf.int32), tf.cast(y, tf.int32)
        return function(x, y)
    return build


for _name, _function in {"eq": tf.equal, "ne": tf.not_equal, "lt": tf.less, "le": tf.less_equal, "gt": tf.greater,
                         "ge": tf.greater_equal}.items():
    aten.op(_name)(_compared(_function))


def _truth(x: Any) -> Any:
    return as_type(x, tf.bool)


def _bits(logic: Callable[..., Any], numbers: Callable[..., Any]) -> Callable[..., Any]:
    def build(x: Any, y: Any) -> Any:
        x, y = promoted(x, y)
        return logic(x, y) if x.dtype.base_dtype is tf.bool else tf.py_func(numbers, [x, y], x.dtype.base_dtype)
    return build


aten.op("bitwise_and", "__and__")(_bits(tf.logical_and, np.bitwise_and))
aten.op("bitwise_or", "__or__")(_bits(tf.logical_or, np.bitwise_or))
aten.op("bitwise_xor", "__xor__")(_bits(tf.logical_xor, np.bitwise_xor))


@aten.op("where")
def where_self(condition: Any, x: Any = None, y: Any = None) -> Any:
    x, y = promoted(x, y)
    return where(_truth(condition), x, y)


@aten.op("isclose")
def isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    near = tf.less_equal(tf.abs(x - y), number(atol, x) + number(rtol, x) * tf.abs(y))
    return tf.logical_or(near, tf.equal(x, y))


@aten.op("bucketize")
def bucketize(values: Any, edges: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    edges, values = promoted(edges, values)
    found = tf.searchsorted(edges, tf.reshape(values, [-1]), side="right" if right else "left")
    return tf.cast(tf.reshape(found, tf.shape(values)), tf.int32 if out_int32 else tf.int64)


@aten.op("searchsorted")
def searchsorted(edges: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
                 sorter: Any = None) -> Any:
    edges, values = promoted(edges if sorter is None else gathered(edges, rank(edges) - 1, sorter), values)
    wanted = tf.reshape(values, [-1]) if rank(edges) == 1 else values
    found = tf.searchsorted(edges, wanted, side=side or ("right" if right else "left"))
    return tf.cast(tf.reshape(found, tf.shape(values)), tf.int32 if out_int32 else tf.int64)


aten.rows({
    "bitwise_not": lambda x: tf.logical_not(x) if x.dtype.base_dtype is tf.bool else -x - number(1, x),
    "masked_fill": lambda x, mask, value: where(mask, as_type(value, x.dtype.base_dtype), x),
    "isnan": lambda x: tf.is_nan(x) if category(x.dtype.base_dtype) == 2 else tf.zeros_like(x, dtype=tf.bool),
    "isinf": lambda x: tf.is_inf(x) if category(x.dtype.base_dtype) == 2 else tf.zeros_like(x, dtype=tf.bool),
    "isfinite": lambda x: tf.is_finite(x) if category(x.dtype.base_dtype) == 2 else tf.ones_like(x, dtype=tf.bool),
    "isposinf": lambda x: tf.equal(x, number(np.inf, x)),
    "isneginf": lambda x: tf.equal(x, number(-np.inf, x)),
    "signbit": lambda x: tf.less(x, 0),
    "logical_and": lambda x, y: tf.logical_and(_truth(x), _truth(y)),
    "logical_or": lambda x, y: tf.logical_or(_truth(x), _truth(y)),
    "logical_xor": lambda x, y: tf.logical_xor(_truth(x), _truth(y)),
    "logical_not": lambda x: tf.logical_not(_truth(x)),
    "bitwise_left_shift __lshift__": joint(lambda x, y: x * tf.cast(tf.pow(number(2, y), y), x.dtype.base_dtype)),
    "bitwise_right_shift __rshift__": joint(lambda x, y:
        tf.floor_div(x, tf.cast(tf.pow(number(2, y), y), x.dtype.base_dtype))),
    "heaviside": joint(lambda x, values: where(tf.equal(x, 0), values, as_type(tf.greater(x, 0), result_type(x)))),
})

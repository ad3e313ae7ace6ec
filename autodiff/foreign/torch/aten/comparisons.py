"""ATen's comparisons, logic, bits, and choices between two tensors."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.op import build
from ...model import tf
from ...rules import COMPARISONS, bitwise, compared
from .common import aten, rank
from .reductions import gathered
from .types import as_type, category, joint, number, promoted, result_type, where


def _truth(x: Any) -> Any:
    return as_type(x, tf.bool)


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
    **{name: joint(compared(name)) for name in COMPARISONS},
    "bitwise_and __and__": joint(bitwise(tf.logical_and, build.BitwiseAnd)),
    "bitwise_or __or__": joint(bitwise(tf.logical_or, build.BitwiseOr)),
    "bitwise_xor __xor__": joint(bitwise(tf.logical_xor, build.BitwiseXor)),
    "bitwise_not": bitwise(tf.logical_not, lambda x: -x - number(1, x)),
    "masked_fill": lambda x, mask, value: where(mask, as_type(value, x.dtype.base_dtype), x),
    "where": lambda condition, x=None, y=None: where(_truth(condition), *promoted(x, y)),
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

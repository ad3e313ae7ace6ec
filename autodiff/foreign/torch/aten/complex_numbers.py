"""Complex numbers: made, taken apart, conjugated."""
from __future__ import annotations

import math
from typing import Any

from ...model import tf
from .common import aten, category, no_gradient, number, rank, where


@aten.op("polar", note="a negative size has the slope of its absolute value, as torch's")
def polar(size: Any, angle: Any) -> Any:
    size = tf.abs(size) + no_gradient(size - tf.abs(size))
    return tf.complex(size * tf.cos(angle), size * tf.sin(angle))


@aten.op("angle")
def angle(x: Any) -> Any:
    if category(x.dtype.base_dtype) == 3:
        return tf.angle(x)
    return where(tf.less(x, 0), tf.ones_like(x) * number(math.pi, x), tf.zeros_like(x))


@aten.op("real")
def real(x: Any) -> Any:
    return tf.real(x)


@aten.op("imag")
def imag(x: Any) -> Any:
    return tf.imag(x)


aten.rows({
    "complex": lambda real, imag: tf.complex(real, imag),
    "view_as_real": lambda x: tf.stack([tf.real(x), tf.imag(x)], axis=rank(x)),
    "view_as_complex": lambda x: tf.complex(x[..., 0], x[..., 1]),
    "_conj conj conj_physical _conj_physical": lambda x: tf.conj(x),
    "resolve_conj resolve_neg": lambda x: x,
})

"""ATen's special functions that are no op of ours."""
from __future__ import annotations

import math
from typing import Any

from ....core.op import build
from ...model import tf
from .common import aten, floating, joint, no_gradient, number, where

_FAR = {tf.float32: 5.0, tf.float64: 20.0}  # from here on erfc is near its least number, and the series is exact


@aten.op("special_erfcx", note="exp(x**2) erfc(x), which never underflows")
def erfcx(x: Any) -> Any:
    x = floating(x)
    is_far = tf.greater(x, number(_FAR.get(x.dtype.base_dtype, 5.0), x))
    near, far = where(is_far, tf.zeros_like(x), x), where(is_far, x, tf.ones_like(x) * 1e3)
    half = 0.5 / tf.square(far)
    series = tf.ones_like(x)
    for odd in (13, 11, 9, 7, 5, 3, 1):  # 1 - 1/(2x²) + 1·3/(2x²)² - …
        series = 1 - odd * half * series
    return where(is_far, series / (far * math.sqrt(math.pi)), tf.exp(tf.square(near)) * tf.erfc(near))


@aten.op("special_log_ndtr")
def log_ndtr(x: Any) -> Any:
    x = floating(x)
    is_low, t = tf.less(x, 1), x * math.sqrt(0.5)
    low, high = where(is_low, t, tf.zeros_like(t)), where(is_low, tf.ones_like(t), t)
    return where(is_low, tf.log(0.5 * erfcx(-low)) - tf.square(low), tf.math.log1p(-0.5 * tf.erfc(high)))


@aten.op("frexp", note="a mantissa from 0.5 to 1, and its power of two")
def frexp(x: Any) -> Any:
    size = no_gradient(tf.abs(x))
    usual = tf.logical_and(tf.is_finite(x), tf.greater(size, 0))
    power = tf.floor(tf.log(where(usual, size, tf.ones_like(x))) / math.log(2)) + 1
    over = where(usual, size * tf.pow(number(2, x), -power), tf.ones_like(x) * 0.5)
    power = power + where(tf.less(over, 0.5), -tf.ones_like(x), tf.cast(tf.greater_equal(over, 1), x.dtype))
    power = where(usual, power, tf.zeros_like(x))
    return x * tf.pow(number(2, x), -power), tf.cast(power, tf.int32)


aten.rows({
    "special_ndtri": lambda x: build.Ndtri(floating(x)),
    "nextafter": (joint(lambda x, y: x + no_gradient(build.NextAfter(x, y) - x)), "its slope is that of the first"),
})

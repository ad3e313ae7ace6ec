"""ONNX ops that reduce axes, and softmax."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model import tf
from .table import Node, flat_before_13, ints, onnx, shape_of, size_of


def _reduction(name: str, of: Callable[..., Any]) -> None:
    """Declare a reduction. of(x, axes, keepdims), where no axes are all."""
    @onnx.op(name)
    def build(x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        known = ints(axes)
        is_empty = axes is None or known == [] or known is None and axes.dims == (0,)
        if is_empty:
            return tf.identity(x) if noop_with_empty_axes else of(x, None, bool(keepdims))
        return of(x, axes if known is None else known, bool(keepdims))


def _log_sum_exp(x: Any, axes: Any, keep: bool) -> Any:
    """The largest is taken out first, and has no gradient of its own; of nothing it is -inf."""
    top = tf.stop_gradient(tf.reduce_max(x, axes, keepdims=True))
    top = tf.where_v2(tf.is_finite(top), top, tf.zeros_like(top))
    rest = tf.log(tf.reduce_sum(tf.exp(x - top), axes, keepdims=keep))
    return rest + (top if keep else tf.reshape(top, tf.shape(rest)))


def _extreme(of: Callable[..., Any]) -> Callable[..., Any]:
    """A largest or smallest element, which ONNX knows of truth values too."""
    def found(x: Any, axes: Any, keep: bool) -> Any:
        if x.dtype.base_dtype == tf.bool:
            return tf.cast(of(tf.cast(x, tf.uint8), axes, keep), tf.bool)
        return of(x, axes, keep)
    return found


for _name, _function in {"Sum": tf.reduce_sum, "Mean": tf.reduce_mean, "Prod": tf.reduce_prod,
                         "Max": _extreme(tf.reduce_max), "Min": _extreme(tf.reduce_min)}.items():
    _reduction(f"Reduce{_name}", _function)
_reduction("ReduceL1", lambda x, axes, keep: tf.reduce_sum(tf.abs(x), axes, keep))
_reduction("ReduceL2", lambda x, axes, keep: tf.sqrt(tf.reduce_sum(tf.square(x), axes, keep)))
_reduction("ReduceSumSquare", lambda x, axes, keep: tf.reduce_sum(tf.square(x), axes, keep))
_reduction("ReduceLogSum", lambda x, axes, keep: tf.log(tf.reduce_sum(x, axes, keep)))
_reduction("ReduceLogSumExp", _log_sum_exp)


def _hardmax(x: Any, axis: int) -> Any:
    return tf.one_hot(tf.argmax(x, axis), tf.cast(size_of(x, axis), tf.int32), dtype=x.dtype.base_dtype, axis=axis)


def _along(of: Callable[[Any, int], Any]) -> Callable[..., Any]:
    def build(x: Any, *, axis: Any = None, node: Node) -> Any:
        flat, at = flat_before_13(x, axis, node)
        y = of(flat, at)
        return y if flat is x else tf.reshape(y, shape_of(x))
    return build


onnx.rows({"Softmax": _along(tf.nn.softmax), "LogSoftmax": _along(tf.nn.log_softmax), "Hardmax": _along(_hardmax)})

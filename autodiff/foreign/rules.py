"""Ops of ours with the gradient that another framework has at their kinks and poles."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.graph import Tensor, get_default_graph
from .model import tf

COMPARISONS = {"eq": tf.equal, "ne": tf.not_equal, "lt": tf.less, "le": tf.less_equal, "gt": tf.greater,
               "ge": tf.greater_equal}  # by the names that torch and JAX have


def ruled(source: str, kind: str, rule: Callable[..., Any], made: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors like `made`, whose ops of one kind have another gradient: that of a source.

    rule: of the operation and the gradient of its output, to a gradient for each input; it need not know of complex
    numbers, as their functions here are analytic.
    """
    name = f"{source} {kind}"

    def of_any(op: Any, dy: Any) -> Any:
        found = rule(op, tf.math.conj(dy) if dy.dtype.is_complex else dy)
        return tf.nest.map_structure(tf.math.conj, found) if dy.dtype.is_complex else found

    tf.RegisterGradient(name)(of_any)

    def built(*inputs: Any) -> Tensor:
        with get_default_graph().gradient_override_map({kind: name}):
            return made(*inputs)

    return built


def compared(name: str) -> Callable[..., Any]:
    """A comparison of two tensors of one type, also of truth values, of which False is the less."""
    def build(x: Any, y: Any) -> Tensor:
        is_truth = x.dtype.base_dtype == tf.bool and name not in ("eq", "ne")
        return COMPARISONS[name](*[tf.cast(v, tf.int32) for v in (x, y)] if is_truth else (x, y))
    return build


def bitwise(logical: Callable[..., Any], numbers: Callable[..., Any]) -> Callable[..., Any]:
    """What is done to bits, or to truth values."""
    return lambda *xs: (logical if xs[0].dtype.base_dtype == tf.bool else numbers)(*xs)

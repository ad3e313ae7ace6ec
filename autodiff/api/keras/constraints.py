"""tf.keras.constraints: what a variable is made to be after each step, as functions of a tensor."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.op import build
from .. import math
from ..arrays.shaping import reshape
from ..common.made import Configured
from ..common.unsupported import refusing
from .utils import deserialized, serialized

__all__ = ["Constraint", "MaxNorm", "MinMaxNorm", "NonNeg", "RadialConstraint", "UnitNorm", "deserialize", "get",
           "max_norm", "min_max_norm", "non_neg", "radial_constraint", "serialize", "unit_norm"]
_EPSILON = 1e-7  # beside a norm, which may be zero


class Constraint(Configured):
    """A function of a tensor that gives one of its shape. Its settings are its attributes."""

    def __call__(self, w: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes of a variable")

    def get_config(self) -> dict[str, Any]:
        return dict(vars(self))


class MinMaxNorm(Constraint):
    """Norms along an axis between two bounds. rate: how far a norm beyond them is moved there, in [0, 1]."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        wanted = self.rate * math.clip_by_value(norms, self.min_value, self.max_value) + (1.0 - self.rate) * norms
        return w * (wanted / (_EPSILON + norms))


class MaxNorm(Constraint):
    """Norms along an axis of max_value at most."""

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        return w * (math.clip_by_value(norms, 0.0, self.max_value) / (_EPSILON + norms))


class UnitNorm(Constraint):
    """Norms of one along an axis."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        return w / (_EPSILON + _norms(w, self.axis))


class NonNeg(Constraint):
    """Zero where a number is negative."""

    def __call__(self, w: Any) -> Any:
        return w * math.cast(math.greater_equal(w, 0.0), w.dtype)


class RadialConstraint(Constraint):
    """Each filter the same on each square ring: what its diagonal has there. w: float[n, n, channels, filters]."""

    def __call__(self, w: Any) -> Any:
        if w.shape.ndims != 4:
            raise ArgumentError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        n = int(w.shape[0])
        away = np.abs(np.arange(n) - (n - 1) / 2).astype(int)
        ring = np.maximum(away[:, None], away)
        # TensorFlow's middle is the diagonal's element before it
        at = np.where(ring == 0, n // 2 - 1, n // 2 + ring - n % 2)
        return build.GatherV2(reshape(w, [n * n, *w.shape.as_list()[2:]]), at * (n + 1), 0)


def _norms(w: Any, axis: Any) -> Any:
    return build.Sqrt(math.reduce_sum(build.Square(w), axis=axis, keepdims=True))


max_norm, min_max_norm, non_neg, radial_constraint, unit_norm = MaxNorm, MinMaxNorm, NonNeg, RadialConstraint, UnitNorm


def get(identifier: Any) -> Any:
    """The constraint of a name or of settings; one itself; None for None. Raises ArgumentError (ValueError)."""
    if identifier is None or callable(identifier):
        return identifier
    return deserialize({"class_name": identifier, "config": {}} if isinstance(identifier, str) else identifier)


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The constraint that `serialize` told of. custom_objects: classes of one's own by name."""
    known = {name: each for name, each in globals().items() if isinstance(each, type) and issubclass(each, Constraint)}
    return deserialized(config, known, custom_objects, "constraint")


serialize = serialized
__getattr__ = refusing("tf.keras.constraints", __name__)

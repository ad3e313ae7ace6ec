"""tf.compat: texts and bytes, and the old version's module under its name."""
from __future__ import annotations

import numbers
import os
import sys
from typing import Any

import numpy as np

from ..core.errors import KindError
from ..core.shapes import Dimension, TensorShape
from .common.unsupported import refusing

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "integral_types",
           "dimension_at_index", "dimension_value", "path_to_str", "real_types", "v1"]

v1 = sys.modules[__name__.partition(".")[0]]
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text's bytes. Raises KindError (TypeError) for neither text nor bytes."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise KindError(f"expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The text that bytes hold. Raises KindError (TypeError) for neither text nor bytes."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise KindError(f"expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any) -> str:
    """Any value as a text."""
    return as_str(value) if isinstance(value, bytes) else str(value)


def dimension_value(dimension: Any) -> Any:
    """The size inside a Dimension; anything else as it is."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The Dimension at a place of a shape; an unknown one if the rank is unknown."""
    return shape[index]


def path_to_str(path: Any) -> Any:
    """A path object as a text; anything else as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def enable_v2_tensorshape() -> None:
    """Items of shapes are numbers, or None, from here on: as TensorFlow 2 has them."""
    TensorShape.item = staticmethod(dimension_value)


def disable_v2_tensorshape() -> None:
    """Items of shapes are Dimension objects."""
    TensorShape.item = Dimension


__getattr__ = refusing("tf.compat", __name__)

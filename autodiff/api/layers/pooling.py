"""Maxima and averages of sliding windows, as layers in one, two and three dimensions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..nn.pooling import avg_pool, avg_pool3d, max_pool, max_pool3d
from ..variables.layer_base import InputSpec, Layer
from .core import as_function, checked_format

__all__ = ["AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
           "average_pooling1d", "average_pooling2d", "average_pooling3d", "max_pooling1d", "max_pooling2d",
           "max_pooling3d"]

_FUNCTIONS: dict[tuple[str, int], Callable[..., Tensor]] = {("max", 2): max_pool, ("avg", 2): avg_pool,
                                                      ("max", 3): max_pool3d, ("avg", 3): avg_pool3d}


def sizes(value: Any, rank: int, what: str) -> tuple[int, ...]:
    """One int for each axis of space, from an int or a sequence. Raises ArgumentError (ValueError) else."""
    try:
        listed = tuple(int(v) for v in value) if not isinstance(value, int) else (value,) * rank
    except (TypeError, ValueError):
        listed = ()
    if len(listed) != rank:
        raise ArgumentError(expected=f"an int or {rank} ints as {what}", found=repr(value))
    return listed


def checked_padding(padding: Any, causal: bool = False) -> str:
    """'valid' or 'same', or 'causal' where it is allowed. Raises ArgumentError (ValueError) for anything else."""
    found = padding.lower() if isinstance(padding, str) else padding
    allowed = ("valid", "same", "causal") if causal else ("valid", "same")
    if found not in allowed:
        raise ArgumentError(expected=f"a padding of {', '.join(map(repr, allowed))}", found=repr(padding))
    return found


class _Pooling(Layer):
    """Windows of pool_size every `strides` elements. Raises ArgumentError (ValueError) for None."""

    _kind, _rank = "max", 2

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last",
                 name: Any = None, **options: Any) -> None:
        super().__init__(name=name, **options)
        self.pool_size = sizes(pool_size, self._rank, "pool_size")
        if strides is None:
            raise ArgumentError("Argument `strides` must not be None.")
        self.strides = sizes(strides, self._rank, "strides")
        self.padding, self.data_format = checked_padding(padding), checked_format(data_format)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs: Tensor) -> Tensor:
        first = self.data_format == "channels_first"
        space = "HW" if self._rank < 3 else "DHW"
        layout = f"NC{space}" if first else f"N{space}C"
        function = _FUNCTIONS[self._kind, max(self._rank, 2)]
        if self._rank > 1:
            return function(inputs, self.pool_size, self.strides, self.padding.upper(), data_format=layout)
        axis = 3 if first else 2  # rows as images of width 1
        images = build.ExpandDims(inputs, axis)
        pooled = function(images, (*self.pool_size, 1), (*self.strides, 1), self.padding.upper(), data_format=layout)
        return build.Squeeze(pooled, squeeze_dims=[axis])


def _layers(name: str, kind: str, words: str) -> list[Any]:
    """The classes for rows, images and volumes."""
    return [type(f"{name}{rank}D", (_Pooling,), {"_kind": kind, "_rank": rank, "__doc__": (
        f"{words}. inputs: float[n, {space}, c] -> float[n, {given}, c].")})
            for rank, space, given in ((1, "w", "w'"), (2, "h, w", "h', w'"), (3, "d, h, w", "d', h', w'"))]


MaxPooling1D, MaxPooling2D, MaxPooling3D = _layers("MaxPooling", "max", "The largest of each window")
AveragePooling1D, AveragePooling2D, AveragePooling3D = _layers(
    "AveragePooling", "avg", "The mean of each window, padding not counted")
max_pooling1d, max_pooling2d, max_pooling3d, average_pooling1d, average_pooling2d, average_pooling3d = (
    as_function(layer.__name__.replace("P", "_P").lower(), layer, reuses=False) for layer in (
        MaxPooling1D, MaxPooling2D, MaxPooling3D, AveragePooling1D, AveragePooling2D, AveragePooling3D))

"""The table of JAX's primitives, and what most of its rows need."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ....core.op import build
from ...model import Table, tf
from ...rules import ruled

Tensor = Any  # of ours, with a known shape, as all of JAX's have


class Primitives(Table):
    """The table. pulled_back: primitives whose gradient is traced from JAX, not that of the ops they are made of."""

    def __init__(self) -> None:
        super().__init__("JAX", ("accuracy", "sharding", "out_sharding", "precision", "weak_type",
                                 "indices_are_sorted", "is_stable", "input_dtype", "out_dtype"))
        self.pulled_back: set[str] = set()

    def op(self, *names: str, note: str = "", pulled_back: bool = False) -> Callable[..., Any]:
        if pulled_back:
            self.pulled_back.update(names)
            note = note or "its gradient is traced from JAX"
        return super().op(*names, note=note)


JAX = Primitives()


with_gradient = functools.partial(ruled, "JAX")


def unbroadcast(dy: Tensor, x: Tensor) -> Tensor:
    """`dy` summed to the shape of `x`."""
    return dy if x.dims == dy.dims else build.SumTo(dy, list(x.dims or ()))


def is_inexact(tensor: Any) -> bool:
    """Whether gradients flow through values of this type."""
    dtype = tf.as_dtype(tensor.dtype)
    return bool(dtype.is_floating or dtype.is_complex)

"""The table of JAX's primitives, and what most of its rows need."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.graph import get_default_graph
from ...core.op import build
from ..model import Table, tf

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


def with_gradient(kind: str, rule: Callable[..., Any], build: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors like `build`, whose ops of one kind have another gradient: JAX's at kinks and poles.

    rule: of the operation and the gradient of its output, to a gradient for each input.
    """
    name = f"JAX {kind}"
    tf.RegisterGradient(name)(rule)

    def built(*inputs: Any) -> Tensor:
        with get_default_graph().gradient_override_map({kind: name}):
            return build(*inputs)

    return built


def unbroadcast(dy: Tensor, x: Tensor) -> Tensor:
    """`dy` summed to the shape of `x`."""
    return dy if x.dims == dy.dims else build.SumTo(dy, list(x.dims or ()))


def is_inexact(tensor: Any) -> bool:
    """Whether gradients flow through values of this type."""
    dtype = tf.as_dtype(tensor.dtype)
    return bool(dtype.is_floating or dtype.is_complex)

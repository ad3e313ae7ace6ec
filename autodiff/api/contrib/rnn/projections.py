"""Cells with variables around them: a linear map of their input or output, a table of embeddings."""
from __future__ import annotations

import math
from typing import Any

from ....core.errors import ArgumentError, ShapeError
from ....core.graph import Tensor
from ....core.op import build
from ...arrays.shaping import concat
from ...control.dependencies import device as on_device
from ...nn.activations import bias_add
from ...nn.embedding import embedding_lookup
from ...nn.rnn_cell.wrappers import RNNCellWrapper
from ...variables.initializers import Constant, RandomUniform, Zeros
from ...variables.variable_scope import get_variable, get_variable_scope, variable_scope
from ..layers.normalization import layer_norm

__all__ = ["EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper"]


def linear(inputs: list[Tensor], size: int) -> Tensor:
    """[inputs side by side] · kernel + bias, with variables of the current scope."""
    for x in inputs:
        if x.dims is None or len(x.dims) != 2 or x.dims[1] is None:
            raise ShapeError("linear is expecting 2D arguments", expected="a known number of columns",
                             found=x.describe())
    dtype, rows = inputs[0].dtype.base_dtype, sum(x.dims[1] for x in inputs)  # type: ignore[index]
    kernel = get_variable("kernel", [rows, size], dtype)
    bias = get_variable("bias", [size], dtype, Zeros())
    return bias_add(build.MatMul(inputs[0] if len(inputs) == 1 else concat(inputs, 1), kernel), bias)


def normed(x: Tensor, scope: str, gain: float, shift: float) -> Tensor:
    """Layer normalization, with gamma and beta of `scope` that begin with these."""
    with variable_scope(scope):  # made here, for their initial values; layer_norm shares them
        for name, start in (("gamma", gain), ("beta", shift)):
            get_variable(name, x.dims[-1:], x.dtype.base_dtype, Constant(start))  # type: ignore[index]
    return layer_norm(x, reuse=True, scope=scope)


def sharded(name: str, shape: list[int], dtype: Any, shards: int) -> Tensor:
    """A matrix of variables name_0, name_1, …, each of some of its rows."""
    if shards > shape[0]:
        raise ArgumentError(f"Too many shards: shape={shape}, num_shards={shards}")
    sizes = [shape[0] // shards + (i < shape[0] % shards) for i in range(shards)]
    parts = [get_variable(f"{name}_{i}", [size, *shape[1:]], dtype) for i, size in enumerate(sizes)]
    return parts[0].as_tensor() if shards == 1 else concat(parts, 0)


class _Projection(RNNCellWrapper):
    """A cell with a projection of its input or output."""

    def __init__(self, cell: Any, size: int, activation: Any, reuse: bool | None) -> None:
        super().__init__(cell, _reuse=reuse)
        if size < 1:
            raise ArgumentError(expected="a size >= 1 of a projection", found=size)
        self._size, self._activation = size, activation

    def _projected(self, x: Tensor) -> Tensor:
        y = linear([x], self._size)
        return self._activation(y) if self._activation else y


class OutputProjectionWrapper(_Projection):
    """A cell whose output becomes activation(output · kernel + bias)."""

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: bool | None = None) -> None:
        super().__init__(cell, output_size, activation, reuse)

    @property
    def output_size(self) -> Any:
        return self._size

    def call(self, inputs: Tensor, state: Any) -> Any:
        output, state = self.cell(inputs, state)
        return self._projected(output), state


class InputProjectionWrapper(_Projection):
    """A cell whose input is activation(inputs · kernel + bias). input_size is accepted without effect."""

    def __init__(self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, num_proj, activation, reuse)

    def call(self, inputs: Tensor, state: Any) -> Any:
        return self.cell(self._projected(inputs), state)


class EmbeddingWrapper(RNNCellWrapper):
    """A cell whose input int[n] is looked up in a table `embedding`, float[classes, size].

    initializer: of the table; by default the scope's, else uniform with deviation 1.
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, _reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ArgumentError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, "
                                f"{embedding_size}.")
        self._table, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: Tensor, state: Any) -> Any:
        with on_device("/cpu:0"):
            start = self._initializer or get_variable_scope().initializer or RandomUniform(-math.sqrt(3), math.sqrt(3))
            first = state[0] if isinstance(state, tuple) else state
            table = get_variable("embedding", self._table, first.dtype.base_dtype, start)
            return self.cell(embedding_lookup(table, build.Reshape(inputs, [-1])), state)

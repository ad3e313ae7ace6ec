"""Products of matrices and tensors: TensorFlow's linear algebra functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from .convert import convert_to_tensor
from .errors import ArgumentError
from .graph import Tensor
from .op import build
from .scope import scope

__all__ = ["matmul"]


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """The product of matrices; of those in the last two axes if there are more, whose other axes broadcast.

    a: number[..., m, k], b: number[..., k, n], or transposed, or adjoint (conjugated too) -> number[..., m, n].
    Raises ShapeError (ValueError) for vectors: make them matrices with tf.expand_dims. a_is_sparse and
    b_is_sparse change nothing.
    """
    if transpose_a and adjoint_a or transpose_b and adjoint_b:
        raise ArgumentError("expected transpose or adjoint of one matrix, found both")
    with scope(name, "MatMul", [a, b]) as full:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if all(x.dims is not None and len(x.dims) <= 2 for x in (a, b)):
            a, b = _conjugate(a, adjoint_a), _conjugate(b, adjoint_b)
            return build.MatMul(a, b, transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b, name=full)
        a, b = _conjugate(a, transpose_a), _conjugate(b, transpose_b)
        return build.BatchMatMulV2(a, b, adj_x=transpose_a or adjoint_a, adj_y=transpose_b or adjoint_b, name=full)


def _conjugate(x: Tensor, wanted: bool) -> Tensor:
    return build.Conj(x) if wanted and x.dtype.is_complex else x

"""Sparse tensors: placeholders for them, making them dense, and arithmetic that uses their entries."""
from __future__ import annotations

from typing import Any

import numpy as np

from .convert import convert_to_tensor
from .dtypes import int64
from .graph import Tensor
from .op import build
from .scope import scope
from .shapes import as_dims, is_known
from .sources import placeholder, zeros
from .sparse_tensor import SparseTensor, as_sparse, parts_of

__all__ = ["sparse_placeholder", "sparse_tensor_dense_matmul", "sparse_tensor_to_dense", "sparse_to_dense"]


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor that each run is given in feed_dict: a SparseTensorValue, or (indices, values, dense_shape).

    shape: of the dense tensor. If all sizes are known, it need not be fed.
    """
    def part(dtype: Any, dims: Any, suffix: str) -> Tensor:
        return placeholder(dtype, dims, None if name is None else f"{name}/{suffix}")

    if isinstance(shape, Tensor):
        rank, dense_shape = shape.dims[0] if shape.dims else None, shape
    else:
        dims = as_dims(shape)
        rank = None if dims is None else len(dims)
        if is_known(dims):
            dense_shape = convert_to_tensor(np.array(dims, np.int64), None, f"{name}/shape" if name else None)
        else:
            dense_shape = part(int64, (rank,), "shape")
    values = part(dtype, (None,), "values")
    return SparseTensor(part(int64, (None, rank), "indices"), values, dense_shape)


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A tensor of `output_shape` with sparse_values at sparse_indices, default_value elsewhere.

    sparse_indices: int[n, rank], int[n] or int[], in row-major order. sparse_values: any[n], or any[] for all.
    """
    return build.SparseToDense(sparse_indices, output_shape, sparse_values, default_value,
                               validate_indices=validate_indices, name=name)


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
                           name: str | None = None) -> Tensor:
    """The dense tensor, default_value (zero) where there is no entry. The entries must be in row-major order."""
    sparse = as_sparse(sp_input)
    if default_value is None:
        default_value = zeros([], sparse.dtype.base_dtype)
    return sparse_to_dense(sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense one, or of their adjoints. sp_a: [m, k], b: number[k, n]."""
    sparse = as_sparse(sp_a)
    with scope(name, "SparseTensorDenseMatMul", [sparse, b]):
        b = convert_to_tensor(b, name="b")
        return build.SparseTensorDenseMatMul(*parts_of(sparse), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)

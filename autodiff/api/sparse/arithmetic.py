"""Sparse tensors: placeholders for them, making them dense, and arithmetic that uses their entries."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, complex64, complex128, float32, float64, int64
from ...core.errors import KindError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from ...core.shapes import as_dims, is_known
from ...core.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse, parts_of
from ..arrays.creation import placeholder, zeros
from ..common.arguments import one_of
from ..common.made import named


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor for a sparse value, a tensor for any other. Raises KindError (TypeError) for another dtype."""
    if not isinstance(value, (SparseTensor, SparseTensorValue)):
        return convert_to_tensor(value, dtype, name)
    sparse = as_sparse(value)
    if dtype is not None and as_dtype(dtype).base_dtype is not sparse.dtype.base_dtype:
        raise KindError(expected=f"a sparse tensor of dtype {as_dtype(dtype).name}", found=sparse)
    return sparse


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
    default_value = zeros([], sparse.dtype.base_dtype) if default_value is None else default_value
    return sparse_to_dense(sparse.indices, sparse.dense_shape, sparse.values, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """The product of a sparse matrix and a dense one, or of their adjoints. sp_a: [m, k], b: number[k, n]."""
    sparse = as_sparse(sp_a)
    with scope(name, "SparseTensorDenseMatMul", [sparse, b]):
        b = convert_to_tensor(b, name="b")
        return build.SparseTensorDenseMatMul(*parts_of(sparse), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """The sum of two sparse tensors, sparse; or of a sparse and a dense one, dense.

    threshold (thresh: its old name): smaller sums of two entries are left out. Raises KindError (TypeError)
    if both are dense, ShapeError (ValueError) if the sparse shapes are known and differ.
    """
    threshold = one_of("threshold", threshold, "thresh", thresh)
    is_sparse = [isinstance(x, (SparseTensor, SparseTensorValue)) for x in (a, b)]
    if not any(is_sparse):
        raise KindError(expected="a SparseTensor among the two", found=f"{a!r} and {b!r}",
                        hint="use tf.add for tensors")
    if not all(is_sparse):
        sparse, dense = (a, b) if is_sparse[0] else (b, a)
        return build.SparseTensorDenseAdd(*parts_of(as_sparse(sparse)), dense)
    a, b = as_sparse(a), as_sparse(b)
    dtype = {complex64: float32, complex128: float64}.get(a.dtype.base_dtype, a.dtype.base_dtype)
    limit = convert_to_tensor(0 if threshold is None else threshold, dtype, "threshold")
    indices, values, shape = build.SparseAdd(*parts_of(a), *parts_of(b), limit)
    return SparseTensor(indices, values, _constant_if_known(shape, a))


def _constant_if_known(shape: Tensor, like: SparseTensor) -> Any:
    dims = static_dims(like.dense_shape)
    return np.array(dims, np.int64) if is_known(dims) else shape


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of the entries of two sparse tensors of one shape, an absent one being zero."""
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of the entries of two sparse tensors of one shape, an absent one being zero."""
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def _extreme(op: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    indices, values = getattr(build, op)(*parts_of(a), *parts_of(b), name=name)
    return SparseTensor(indices, values, a.dense_shape)


def _reduction(op: str, name: str, words: str) -> Callable[..., Any]:
    def reduce(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
               keep_dims: bool | None = None) -> Any:
        sparse, axis = as_sparse(sp_input), one_of("axis", axis, "reduction_axes", reduction_axes)
        keep = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
        if axis is None:
            dims = sparse.dense_shape.dims
            axis = build.Range(0, build.Size(sparse.dense_shape), 1) if dims is None or dims[0] is None else \
                convert_to_tensor(np.arange(dims[0], dtype=np.int32))
        reduced = OPS[op](*parts_of(sparse), axis, keep_dims=keep)
        return SparseTensor(*reduced) if op.endswith("Sparse") else reduced

    return named(reduce, name, f"{words} reduction_axes, keep_dims: old names.")


_SUM, _MAX = "Sums of the entries along axes, or of all, ", "The greatest entries along axes, or of all, "
sparse_reduce_sum = _reduction("SparseReduceSum", "sparse_reduce_sum", _SUM + "dense.")
sparse_reduce_max = _reduction("SparseReduceMax", "sparse_reduce_max", _MAX + "dense; zero where there is none.")
sparse_reduce_sum_sparse = _reduction("SparseReduceSumSparse", "sparse_reduce_sum_sparse", _SUM + "sparse.")
sparse_reduce_max_sparse = _reduction("SparseReduceMaxSparse", "sparse_reduce_max_sparse", _MAX + "sparse.")


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax of the entries of each row of the last axis; what has no entry has no share."""
    sparse = as_sparse(sp_input)
    with scope(name, "SparseSoftmax", [sparse]):
        return sparse.with_values(build.SparseSoftmax(*parts_of(sparse)))


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """Levenshtein's distance of sequences along the last axis of SparseTensors: float32, of all axes but the last.

    normalize: divided by the length of the truth, inf where there is none.
    """
    for what, given in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(given, (SparseTensor, SparseTensorValue)):
            raise KindError(f"{what} must be a SparseTensor.", found=repr(given))
    guess, right = as_sparse(hypothesis), as_sparse(truth)
    return build.EditDistance(guess.indices, guess.values, guess.dense_shape, right.indices, right.values,
                              right.dense_shape, normalize=normalize, name=name)

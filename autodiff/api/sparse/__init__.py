"""Sparse tensors under their short names: the namespace tf.sparse.

Functions of SparseTensors, as ops of autodiff/ops/sparse. Start with arithmetic.py.
"""
from ...core.sparse_tensor import SparseTensor
from ..common.unsupported import refusing
from ..math.reductions import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from . import arithmetic as _math
from . import rearrange as _rearranging
from .rearrange import from_dense, sparse_expand_dims, sparse_eye

__all__ = ["SparseTensor", "add", "concat", "expand_dims", "eye", "fill_empty_rows", "from_dense", "mask", "matmul",
           "maximum", "merge", "minimum", "placeholder", "reduce_max", "reduce_max_sparse", "reduce_sum",
           "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain", "segment_mean", "segment_sqrt_n",
           "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split", "to_dense", "to_indicator", "transpose"]

add, maximum, minimum = _math.sparse_add, _math.sparse_maximum, _math.sparse_minimum
reduce_max, reduce_max_sparse = _math.sparse_reduce_max, _math.sparse_reduce_max_sparse
reduce_sum, reduce_sum_sparse = _math.sparse_reduce_sum, _math.sparse_reduce_sum_sparse
placeholder, softmax, to_dense = _math.sparse_placeholder, _math.sparse_softmax, _math.sparse_tensor_to_dense
matmul = sparse_dense_matmul = _math.sparse_tensor_dense_matmul
concat, split, slice = _rearranging.sparse_concat, _rearranging.sparse_split, _rearranging.sparse_slice
reorder, reshape, transpose = (_rearranging.sparse_reorder, _rearranging.sparse_reshape, _rearranging.sparse_transpose)
retain, reset_shape, mask = _rearranging.sparse_retain, _rearranging.sparse_reset_shape, _rearranging.sparse_mask
fill_empty_rows, merge = _rearranging.sparse_fill_empty_rows, _rearranging.sparse_merge
to_indicator, expand_dims, eye = _rearranging.sparse_to_indicator, sparse_expand_dims, sparse_eye
segment_mean, segment_sqrt_n, segment_sum = sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum

__getattr__ = refusing("tf.sparse", __name__)

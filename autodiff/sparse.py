"""Sparse tensors under their short names: TensorFlow's tf.sparse."""
from __future__ import annotations

from .reductions import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from .served import refusing
from .sparse_math import (
    sparse_placeholder,
    sparse_tensor_dense_matmul,
    sparse_tensor_to_dense,
)
from .sparse_tensor import SparseTensor

__all__ = ["SparseTensor", "matmul", "placeholder", "segment_mean", "segment_sqrt_n", "segment_sum",
           "sparse_dense_matmul", "to_dense"]

placeholder = sparse_placeholder
to_dense = sparse_tensor_to_dense
matmul = sparse_dense_matmul = sparse_tensor_dense_matmul
segment_mean, segment_sqrt_n, segment_sum = sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum

__getattr__ = refusing("tf.sparse", __name__)

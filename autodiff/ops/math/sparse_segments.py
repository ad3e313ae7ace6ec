"""What reductions of chosen rows by segment give back to the rows, as ops of TensorFlow's own."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.errors import ArgumentError
from ...core.op import Index, Int32, Spec
from ..common.batch_axis import slice_by_slice
from .segments import known_count


def _each_row(grad, indices, segment_ids, output_dim0):
    return Spec(grad.dtype.base_dtype, None if grad.dims is None else (known_count(output_dim0), *grad.dims[1:]))


def _given_back(grad, indices, segment_ids, rows, power):
    """The rows of gradients of segments, over a power of their counts, added at the indices that were chosen."""
    if segment_ids.size and segment_ids[-1] >= len(grad):
        raise ArgumentError("Invalid number of segments", expected=f"{len(grad)} at most", found=segment_ids[-1] + 1)
    for what, numbers, limit in ("Segment id", segment_ids, len(grad)), ("Index", indices, rows):
        outside = numbers[(numbers < 0) | (numbers >= limit)]
        if outside.size:
            raise ArgumentError(f"{what} {outside[0]} out of range [0, {limit})")
    sizes = np.maximum(np.bincount(segment_ids, minlength=len(grad)), 1).astype(grad.dtype) ** power
    result = np.zeros((rows, *grad.shape[1:]), grad.dtype)
    np.add.at(result, indices, (grad / sizes.reshape(-1, *[1] * (grad.ndim - 1)))[segment_ids])
    return result


@op("SparseSegmentMeanGrad", infer=_each_row, dtypes=FLOATS, batched=slice_by_slice,
    no_rule="TensorFlow has none for it")
def sparse_segment_mean_grad(grad, indices: Index, segment_ids: Index, output_dim0: Int32):
    """What sparse_segment_mean gives back. grad: float[k, ...], indices, segment_ids: int[n] -> float[rows, ...]."""
    return _given_back(grad, indices, segment_ids, int(output_dim0), 1)


@op("SparseSegmentSqrtNGrad", infer=_each_row, dtypes=FLOATS, batched=slice_by_slice,
    no_rule="TensorFlow has none for it")
def sparse_segment_sqrt_n_grad(grad, indices: Index, segment_ids: Index, output_dim0: Int32):
    """What sparse_segment_sqrt_n gives back. grad: float[k, ...], indices, segment_ids: int[n] -> float[rows, ...]."""
    return _given_back(grad, indices, segment_ids, int(output_dim0), 0.5)

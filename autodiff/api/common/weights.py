"""Whether weights fit the values of a loss or metric: TensorFlow's rule, which is stricter than broadcasting."""
from __future__ import annotations

from ...core.errors import ShapeError
from ...core.graph import Tensor


def check_weights(weights: Tensor, values: Tensor) -> None:
    """Weights are a scalar, or of the values' rank with each size theirs or 1. Raises ShapeError for known others."""
    if weights.dims is None or values.dims is None or not weights.dims:
        return
    start = "weights can not be broadcast to values."
    if len(weights.dims) != len(values.dims):
        raise ShapeError(f"{start} values.rank={len(values.dims)}. weights.rank={len(weights.dims)}. "
                         f"values.shape={values.shape}. weights.shape={weights.shape}.")
    for axis, (ours, theirs) in enumerate(zip(weights.dims, values.dims)):
        if ours not in (1, None) and theirs is not None and ours != theirs:
            raise ShapeError(f"{start} Mismatch at dim {axis}. values.shape={values.shape} "
                             f"weights.shape={weights.shape}.")

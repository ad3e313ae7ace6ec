"""How many values fall into each of several bins of one width."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import as_dtype, float32, float64, int32, int64
from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...core.infer import rank_of
from ...core.op import Int32, Spec
from ...core.shapes import compatible


def _bins(values, value_range, nbins, *, dtype=int32):
    if as_dtype(dtype) not in (int32, int64):
        raise DTypeError(expected="counts of dtype int32 or int64", found=as_dtype(dtype).name)
    if not compatible(value_range.dims, (2,)):
        rank_of(value_range, exactly=1, what="value_range")
        raise ShapeError(f"Dimension must be 2 but is {value_range.dims[0]}: value_range is [low, high]")
    rank_of(nbins, exactly=0, what="nbins")
    count = static_value(nbins)
    if count is not None and count <= 0:
        raise ArgumentError("Requires nbins > 0", found=count)
    return Spec(as_dtype(dtype), (None if count is None else int(count),))


@op("HistogramFixedWidth", infer=_bins, dtypes=(int32, int64, float32, float64),
    no_rule="counts do not change smoothly with what is counted")
def histogram_fixed_width(values, value_range, nbins: Int32, *, dtype=int32):
    """Counts of values in bins of one width; those out of the range go to the first or the last bin.

    values: real[...], value_range: real[2], low < high, nbins: int32[] > 0 -> int[nbins]. Raises
    InvalidArgumentError for another range, no bins, or a nan.
    """
    low, high = value_range
    count = int(nbins)
    if count <= 0:
        raise ValueError(f"nbins should be a positive number, but got {count!r}")
    if not low < high:
        raise ValueError(f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'")
    if np.isnan(values).any():
        raise ValueError("expected numbers to count, found nan")
    step = np.float64(high - low) / count  # as TensorFlow: in float64, whatever the type of values
    places = np.clip((np.clip(values.reshape(-1), low, high) - low) / step, 0, count - 1).astype(np.intp)
    return np.bincount(places, minlength=count).astype(as_dtype(dtype).as_numpy_dtype)


@histogram_fixed_width.batched
def _(node, args, batched):
    raise ShapeError(expected="the same counts for each slice", found=f"values that vary: {node.describe()}")

"""Counts of pairs of classes and of values in bins: TensorFlow's confusion matrix and histograms."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor, to_tensor
from ...core.dtypes import as_dtype, int32, int64
from ...core.graph import Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import merge
from ..arrays.creation import ones_like
from ..common.ranks import remove_squeezable_dimensions
from .casts import in_dtype


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = int32,
                     name: str | None = None, weights: Any = None) -> Tensor:
    """How often each label (row) was predicted as each class (column), or the sum of the weights of such pairs.

    labels, predictions: whole numbers[n] >= 0; a last axis of size 1 is dropped where only one has it. weights:
    number[n]. num_classes: one more than the largest number if None. -> dtype[num_classes, num_classes]. Raises
    InvalidArgumentError for numbers below 0 or above num_classes.
    """
    with scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        sides = [_checked(in_dtype(side, int64), what, 0)
                 for side, what in ((labels, "labels"), (predictions, "predictions"))]
        merge(sides[0].dims, sides[1].dims)
        if num_classes is None:
            count = build.Maximum(*(build.Max(side, [0]) for side in reversed(sides))) + 1
        else:
            count = in_dtype(to_tensor(get_default_graph(), num_classes, None, "num_classes"), int64)
            sides = [_checked(side, what, count) for side, what in zip(sides, ("labels", "predictions"))]
        if weights is None:
            values = ones_like(sides[1], dtype=dtype)
        else:
            values = convert_to_tensor(weights)
            merge(sides[1].dims, values.dims)
            values = in_dtype(values, as_dtype(dtype))
        return build.ScatterNd(build.Pack(*sides, axis=1), values, build.Pack(count, count, axis=0))


def _checked(numbers: Tensor, what: str, bound: Any) -> Tensor:
    """`numbers` once they are known to be >= 0, or below a tensor `bound`."""
    is_lower = not isinstance(bound, Tensor)
    holds = build.All(build.GreaterEqual(numbers, 0) if is_lower else build.Less(numbers, bound), [0])
    text = f"`{what}` contains negative values" if is_lower else f"`{what}` out of bound\nCondition x < y did not hold."
    check = build.Assert(holds, convert_to_tensor(text), numbers, summarize=3)
    with get_default_graph().control_dependencies([check]):
        return build.Identity(numbers)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32,
                          name: str | None = None) -> Tensor:
    """Counts of values in `nbins` bins of one width; those out of the range go to the first or the last bin.

    values: real[...], value_range: real[2], low < high. -> dtype[nbins], int32 or int64.
    """
    with scope(name, "histogram_fixed_width", [values, value_range, nbins]) as full:
        return build.HistogramFixedWidth(values, value_range, nbins, dtype=as_dtype(dtype), name=full)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32,
                               name: str | None = None) -> Tensor:
    """The number of the bin of each value; those out of the range are in the first or the last bin.

    values: float[...], value_range: float[2], low < high. -> int32[...].
    """
    with scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        value_range = to_tensor(values.graph, value_range, None, "value_range")
        count = build.Cast(to_tensor(values.graph, nbins, int32, "nbins"), dtype=values.dtype.base_dtype)
        low, high = value_range[0], value_range[1]
        places = build.Floor(count * build.RealDiv(values - low, high - low))
        return build.Cast(build.Maximum(build.Minimum(places, count - 1.0), 0.0), dtype=int32)

"""Ops that make tensors out of numbers: ranges, evenly spaced points, one-hot rows, masks of lengths."""

import math

import numpy as np

from ..define import op
from ..dtypes import FLOATS, REALS
from ..errors import ArgumentError
from ..infer import rank_of
from ..op import Spec, build
from ..shapes import Dims
from ..static import static_value


def _ranged(start, limit, delta):
    for value, what in ((start, "start"), (limit, "limit"), (delta, "delta")):
        rank_of(value, exactly=0, what=what)
    values = [static_value(v) for v in (start, limit, delta)]
    dims: Dims = (None if any(v is None for v in values) else _steps(*(v.item() for v in values)),)
    return Spec(start.dtype.base_dtype, dims)


def _steps(start, limit, delta):
    """Count of entries of a range."""
    if delta == 0:
        raise ArgumentError("expected delta other than 0")
    if (limit - start) * delta < 0:
        raise ArgumentError(f"expected start {'<=' if delta > 0 else '>='} limit when delta is {delta}, found start "
                            f"{start} and limit {limit}")
    return math.ceil((limit - start) / delta)


@op("Range", infer=_ranged, dtypes=REALS, no_grad="a range is made of constants")
def range_(start, limit, delta):
    """start, start + delta, … up to but without limit. start, limit, delta: real[] -> real[n]."""
    n = _steps(start.item(), limit.item(), delta.item())
    if start.dtype.kind == "f":
        return (start + np.arange(n, dtype=start.dtype) * delta).astype(start.dtype, copy=False)
    return np.arange(n, dtype=start.dtype) * delta + start


def _on_diagonal(diagonal):
    dims = diagonal.dims
    return Spec(diagonal.dtype.base_dtype, None if dims is None else (*dims, *dims))


@op("Diag", infer=_on_diagonal)
def diag(diagonal):
    """Zeros, with the input on the diagonal. diagonal: any[...] -> any[..., ...]."""
    return np.diag(np.ravel(diagonal)).reshape(np.shape(diagonal) * 2)


@diag.gradient
def _(node, dy):
    return build.DiagPart(dy)

"""Functions of the normal distribution of mean 0 and deviation 1, and their tails."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64
from ...core.errors import KindError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build

__all__ = ["erfinv", "log_cdf_laplace", "log_ndtr", "ndtr", "ndtri"]

# Where log_ndtr is a series in 1 / x below, and the small tail above.
LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT32_LOWER = np.array(-20, np.float64), np.array(-10, np.float32)
LOGNDTR_FLOAT64_UPPER, LOGNDTR_FLOAT32_UPPER = np.array(8, np.float64), np.array(5, np.float32)


def _floating(x: Any) -> Tensor:
    tensor = convert_to_tensor(x)
    if tensor.dtype.base_dtype not in (float32, float64):
        raise KindError(f"x.dtype={tensor.dtype!r} is not supported: expected float32 or float64")
    return tensor


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The probability of at most x. x: float[...] -> float[...]. Raises KindError (TypeError) for other dtypes."""
    with scope(name, "ndtr", [x]):
        x = _floating(x)
        # erf near 0, where erfc would lose digits that a gradient of small steps needs
        near = 0.5 * (1.0 + build.Erf(x * math.sqrt(0.5)))
        far = build.Erfc(build.Abs(x) * math.sqrt(0.5)) * 0.5
        return build.SelectV2(build.Abs(x) < 1.0, near, build.SelectV2(x > 0.0, 1.0 - far, far))


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The x with ndtr(x) = p, infinite at 0 and 1, where its gradient is 0. p: float[...] -> float[...]."""
    with scope(name, "ndtri", [p]):
        return build.Ndtri(_floating(p))


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """The y whose erf is x. x: float[...] -> float[...]."""
    with scope(name, "erfinv", [x]):
        return build.Erfinv(_floating(x))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """log(ndtr(x)), also where ndtr underflows. series_order: of the asymptotic series far below, 0 to 30.

    Source: Abramowitz and Stegun (1964), 26.2.12.
    """
    if not isinstance(series_order, int):
        raise KindError("series_order must be a Python integer.", found=repr(series_order))
    with scope(name, "log_ndtr", [x]):
        x = _floating(x)
        wide = x.dtype.base_dtype is float64
        lower = (LOGNDTR_FLOAT64_LOWER if wide else LOGNDTR_FLOAT32_LOWER).item()
        upper = (LOGNDTR_FLOAT64_UPPER if wide else LOGNDTR_FLOAT32_UPPER).item()
        far = build.Square(build.Minimum(x, convert_to_tensor(lower, x.dtype)))
        series, term = build.OnesLike(x), build.OnesLike(x)
        for n in range(1, series_order + 1):
            term = -(2 * n - 1) * term / far
            series += term
        below = -0.5 * far - 0.5 * build.Log(far) - 0.5 * math.log(2 * math.pi) + build.Log(series)
        middle = build.Log(ndtr(build.Maximum(x, convert_to_tensor(lower, x.dtype))))
        return build.SelectV2(x > upper, -ndtr(-x), build.SelectV2(x > lower, middle, below))


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the probability of at most x of the Laplace distribution of location 0 and scale 1."""
    with scope(name, "log_cdf_laplace", [x]):
        x = _floating(x)
        return build.SelectV2(x < 0.0, x - math.log(2.0), build.Log1p(-0.5 * build.Exp(-build.Abs(x))))

"""Distributions with a density: normal and uniform."""
from __future__ import annotations

import math
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..control.dependencies import control_dependencies
from ..debugging import assert_less, assert_positive
from ..math.reductions import reduce_sum
from .distribution import Distribution, as_floats, standard_normal, standard_uniform
from .special_math import log_ndtr, ndtr, ndtri

_LOG_2_PI = math.log(2.0 * math.pi)


class Normal(Distribution):
    """The normal distribution. loc, scale: float[...], broadcast against each other; scale > 0."""

    _parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Normal") -> None:
        self.loc, self.scale, self.allow_nan_stats = as_floats(loc), as_floats(scale), allow_nan_stats
        if self.loc.dtype.base_dtype is not self.scale.dtype.base_dtype:
            raise ArgumentError(expected="loc and scale of one dtype",
                                found=f"{self.loc.dtype.name} and {self.scale.dtype.name}")
        if validate_args:
            with control_dependencies([assert_positive(self.scale)]):
                self.scale = build.Identity(self.scale, name="scale")
        super().__init__(name, self.loc.dtype.base_dtype, self.loc + self.scale * 0.0, 0, reparameterised=True)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.loc + self.scale * standard_normal(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        return -0.5 * build.Square(self._standard(value)) - 0.5 * _LOG_2_PI - build.Log(self.scale)

    def _mean(self) -> Tensor:
        return self.loc * build.OnesLike(self.scale)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return self.scale * build.OnesLike(self.loc)

    def _variance(self) -> Tensor:
        return build.Square(self._stddev())

    def _entropy(self) -> Tensor:
        return 0.5 * (1.0 + _LOG_2_PI) + build.Log(self.scale * build.OnesLike(self.loc))

    def _cdf(self, value: Tensor) -> Tensor:
        return ndtr(self._standard(value))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log_ndtr(self._standard(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return ndtr(-self._standard(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return log_ndtr(-self._standard(value))

    def _quantile(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * ndtri(value)

    def _divergence(self, other: "Normal") -> Tensor:
        return _normal_divergence(self.loc, self.scale, other.loc, other.scale)


class MultivariateNormalDiag(Distribution):
    """A normal vector with independent entries. loc, scale_diag: float[..., k]."""

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiag") -> None:
        if loc is None and scale_diag is None:
            raise ArgumentError(expected="loc or scale_diag", found="neither")
        self.loc = as_floats(loc) if loc is not None else build.ZerosLike(as_floats(scale_diag))
        scale = as_floats(scale_diag) if scale_diag is not None else build.OnesLike(self.loc)
        if scale_identity_multiplier is not None:
            scale = scale * as_floats(scale_identity_multiplier)
        self.scale_diag = scale
        super().__init__(name, self.loc.dtype.base_dtype, self.loc + scale * 0.0, 1, reparameterised=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.loc + self.scale_diag * standard_normal(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        standard = (value - self.loc) / self.scale_diag
        return reduce_sum(-0.5 * build.Square(standard) - 0.5 * _LOG_2_PI - build.Log(self.scale_diag), -1)

    def _mean(self) -> Tensor:
        return self.loc * build.OnesLike(self.scale_diag)

    _mode = _mean

    def _stddev(self) -> Tensor:
        return build.Abs(self.scale_diag * build.OnesLike(self.loc))

    def _variance(self) -> Tensor:
        return build.Square(self._stddev())

    def _entropy(self) -> Tensor:
        return reduce_sum(0.5 * (1.0 + _LOG_2_PI) + build.Log(self.scale_diag * build.OnesLike(self.loc)), -1)

    def _divergence(self, other: "MultivariateNormalDiag") -> Tensor:
        return reduce_sum(_normal_divergence(self.loc, self.scale_diag, other.loc, other.scale_diag), -1)


class Uniform(Distribution):
    """Uniform between low (included) and high. low, high: float[...], low < high."""

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Uniform") -> None:
        self.low, self.high = as_floats(low), as_floats(high)
        if validate_args:
            why = "uniform not defined when low >= high."
            with control_dependencies([assert_less(self.low, self.high, message=why)]):
                self.low, self.high = build.Identity(self.low), build.Identity(self.high)
        super().__init__(name, self.low.dtype.base_dtype, self.low + self.high * 0.0, 0, reparameterised=True)

    def range(self, name: str = "range") -> Tensor:
        """high - low."""
        return self.high - self.low

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.low + self.range() * standard_uniform(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        outside = build.LogicalOr(build.Less(value, self.low), build.GreaterEqual(value, self.high))
        density = -build.Log(self.range()) + value * 0.0
        return build.SelectV2(outside, convert_to_tensor(-math.inf, self.dtype), density)

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return build.Square(self.range()) / 12.0

    def _entropy(self) -> Tensor:
        return build.Log(self.range())

    def _cdf(self, value: Tensor) -> Tensor:
        share = (value - self.low) / self.range()
        return build.Minimum(build.Maximum(share, build.ZerosLike(share)), build.OnesLike(share))


def _normal_divergence(loc_a: Tensor, scale_a: Tensor, loc_b: Tensor, scale_b: Tensor) -> Tensor:
    ratio = build.Square(scale_a / scale_b)
    return 0.5 * (build.Square((loc_a - loc_b) / scale_b) + ratio - 1.0 - build.Log(ratio))

"""Distributions of positive numbers and of shares, all made of gamma draws: gamma, exponential, beta, Dirichlet."""
from __future__ import annotations

import math
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.graph import Tensor
from ...core.op import build
from .. import random
from ..control.dependencies import control_dependencies
from ..debugging import Assert, assert_positive
from ..math.reductions import reduce_all, reduce_sum
from ..math.special import lbeta
from .distribution import Distribution, as_floats, standard_uniform


def positive(validate_args: bool, *values: Any) -> list[Tensor]:
    """Parameters as float tensors; with validate_args a run fails unless all are positive."""
    tensors = [as_floats(value) for value in values]
    if not validate_args:
        return tensors
    with control_dependencies([assert_positive(tensor) for tensor in tensors]):
        return [build.Identity(tensor) for tensor in tensors]


def defined_where(holds: Tensor, value: Tensor, allow_nan_stats: bool, what: str) -> Tensor:
    """`value` where the condition holds; elsewhere nan, or where that is not allowed a run that fails."""
    if allow_nan_stats:
        return build.SelectV2(holds, value, convert_to_tensor(math.nan, value.dtype.base_dtype))
    why = f"Condition x < y did not hold: {what} not defined for these parameters"
    with control_dependencies([Assert(reduce_all(holds), [why])]):
        return build.Identity(value)


def gamma_draws(shape: Tensor, concentration: Tensor, seed: int | None) -> Tensor:
    """Draws of this whole shape from gamma distributions of rate 1. concentration: broadcast to it."""
    whole = concentration + build.Fill(shape, convert_to_tensor(0.0, concentration.dtype.base_dtype))
    return random.random_gamma([], whole, dtype=concentration.dtype.base_dtype, seed=seed)


class Gamma(Distribution):
    """The gamma distribution, of mean concentration / rate. concentration, rate: float[...] > 0, broadcast."""

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Gamma") -> None:
        self.concentration, self.rate = positive(validate_args, concentration, rate)
        self.allow_nan_stats = allow_nan_stats
        super().__init__(name, self.concentration.dtype.base_dtype, self.concentration + self.rate * 0.0, 0,
                         reparameterised=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return gamma_draws(shape, self.concentration, seed) / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        normalized = build.Lgamma(self.concentration) - self.concentration * build.Log(self.rate)
        return build.Xlogy(self.concentration - 1.0, value) - self.rate * value - normalized

    def _cdf(self, value: Tensor) -> Tensor:
        scaled = self.rate * value
        return build.Igamma(self.concentration + scaled * 0.0, scaled + self.concentration * 0.0)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / build.Square(self.rate)

    def _mode(self) -> Tensor:
        return defined_where(build.Greater(self._batch, build.OnesLike(self._batch)),
                             (self.concentration - 1.0) / self.rate, self.allow_nan_stats, "mode")

    def _entropy(self) -> Tensor:
        a = self.concentration
        return a - build.Log(self.rate) + build.Lgamma(a) + (1.0 - a) * build.Digamma(a)

    def _divergence(self, other: "Gamma") -> Tensor:
        a, b = self.concentration, other.concentration
        return ((a - b) * build.Digamma(a) + build.Lgamma(b) - build.Lgamma(a)
                + b * (build.Log(self.rate) - build.Log(other.rate)) + a * (other.rate / self.rate - 1.0))


class Exponential(Gamma):
    """The exponential distribution, of mean 1 / rate. rate: float[...] > 0."""

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Exponential") -> None:
        rate = as_floats(rate)
        super().__init__(build.OnesLike(rate), rate, validate_args, allow_nan_stats, name)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return -build.Log1p(-standard_uniform(shape, self.dtype, seed)) / self.rate

    def _cdf(self, value: Tensor) -> Tensor:
        return -build.Expm1(-self.rate * value)

    def _mode(self) -> Tensor:
        return build.ZerosLike(self.rate)


class Beta(Distribution):
    """The beta distribution on (0, 1). concentration1, concentration0: float[...] > 0, of values near 1 and near 0."""

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Beta") -> None:
        self.concentration1, self.concentration0 = positive(validate_args, concentration1, concentration0)
        self.total_concentration, self.allow_nan_stats = self.concentration1 + self.concentration0, allow_nan_stats
        super().__init__(name, self.concentration1.dtype.base_dtype, self.total_concentration, 0, reparameterised=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        one = gamma_draws(shape, self.concentration1, seed)
        return one / (one + gamma_draws(shape, self.concentration0, None if seed is None else seed + 1))

    def _normalized(self) -> Tensor:
        return (build.Lgamma(self.concentration1) + build.Lgamma(self.concentration0)
                - build.Lgamma(self.total_concentration))

    def _log_prob(self, value: Tensor) -> Tensor:
        return (build.Xlogy(self.concentration1 - 1.0, value) - self._normalized()
                + (self.concentration0 - 1.0) * build.Log1p(-value))

    def _cdf(self, value: Tensor) -> Tensor:
        zero = value * 0.0 + self.total_concentration * 0.0
        return build.Betainc(self.concentration1 + zero, self.concentration0 + zero, value + zero)

    def _mean(self) -> Tensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (self.concentration0 / self.total_concentration) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        holds = build.LogicalAnd(*[build.Greater(c, build.OnesLike(c))
                                   for c in (self.concentration1, self.concentration0)])
        return defined_where(holds, (self.concentration1 - 1.0) / (self.total_concentration - 2.0),
                             self.allow_nan_stats, "mode")

    def _entropy(self) -> Tensor:
        a, b, total = self.concentration1, self.concentration0, self.total_concentration
        return (self._normalized() - (a - 1.0) * build.Digamma(a) - (b - 1.0) * build.Digamma(b)
                + (total - 2.0) * build.Digamma(total))

    def _divergence(self, other: "Beta") -> Tensor:
        pairs = ((self.concentration1, other.concentration1, 1.0), (self.concentration0, other.concentration0, 1.0),
                 (self.total_concentration, other.total_concentration, -1.0))
        first, second, third = (sign * (mine - their) * build.Digamma(mine) for mine, their, sign in pairs)
        return other._normalized() - self._normalized() + first + second + third


class Dirichlet(Distribution):
    """Shares that sum to 1. concentration: float[..., k] > 0, k >= 2."""

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Dirichlet") -> None:
        self.concentration, = positive(validate_args, concentration)
        self.validate_args = validate_args
        self.total_concentration, self.allow_nan_stats = reduce_sum(self.concentration, -1), allow_nan_stats
        super().__init__(name, self.concentration.dtype.base_dtype, self.concentration, 1, reparameterised=True)

    def _conditions(self, value: Tensor) -> list[tuple[Tensor, str]]:
        near = build.Less(build.Abs(build.Sum(value, -1) - 1.0), 1e-6 if self.dtype.size > 4 else 1e-4)
        return [(build.Greater(value, 0.0), "samples must be positive"),
                (near, "sample last-dimension must sum to `1`")]

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        draws = gamma_draws(shape, self.concentration, seed)
        return draws / reduce_sum(draws, -1, keepdims=True)

    def _log_prob(self, value: Tensor) -> Tensor:
        return reduce_sum(build.Xlogy(self.concentration - 1.0, value), -1) - lbeta(self.concentration)

    def _total(self) -> Tensor:
        return build.ExpandDims(self.total_concentration, -1)

    def _mean(self) -> Tensor:
        return self.concentration / self._total()

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self._total())

    def _covariance(self) -> Tensor:
        return self.covariance_of(self._mean(), build.ExpandDims(1.0 + self._total(), -1))

    @staticmethod
    def covariance_of(mean: Tensor, over: Any) -> Tensor:
        """diag(mean) - mean mean', divided by `over`."""
        products = build.ExpandDims(mean, -1) * build.ExpandDims(mean, -2)
        return (build.MatrixDiag(mean) - products) / over

    def _mode(self) -> Tensor:
        k = build.Cast(self.event_shape_tensor()[0], dtype=self.dtype)
        above = build.Greater(self.concentration, build.OnesLike(self.concentration))
        return defined_where(reduce_all(above, -1, keepdims=True),
                             (self.concentration - 1.0) / (self._total() - k), self.allow_nan_stats, "mode")

    def _entropy(self) -> Tensor:
        k, total = build.Cast(self.event_shape_tensor()[0], dtype=self.dtype), self.total_concentration
        return (lbeta(self.concentration) + (total - k) * build.Digamma(total)
                - reduce_sum((self.concentration - 1.0) * build.Digamma(self.concentration), -1))

    def _divergence(self, other: "Dirichlet") -> Tensor:
        gap = build.Digamma(self.concentration) - build.Digamma(self._total())
        return (reduce_sum((self.concentration - other.concentration) * gap, -1)
                - lbeta(self.concentration) + lbeta(other.concentration))

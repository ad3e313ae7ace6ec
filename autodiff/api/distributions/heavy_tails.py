"""Distributions with heavier tails than the normal one: Laplace and Student's t."""
from __future__ import annotations

import math
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.graph import Tensor
from ...core.op import build
from .distribution import Distribution, as_floats, standard_normal, standard_uniform
from .gamma_family import defined_where, gamma_draws, positive


class Laplace(Distribution):
    """Two exponentials back to back. loc, scale: float[...], broadcast; scale > 0."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Laplace") -> None:
        self.loc, (self.scale,) = as_floats(loc), positive(validate_args, scale)
        super().__init__(name, self.loc.dtype.base_dtype, self.loc + self.scale * 0.0, 0, reparameterised=True)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        u = 2.0 * standard_uniform(shape, self.dtype, seed) - 1.0
        return self.loc - self.scale * build.Sign(u) * build.Log1p(-build.Abs(u))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -build.Abs(self._standard(value)) - math.log(2.0) - build.Log(self.scale)

    def _cdf(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return 0.5 - 0.5 * build.Sign(z) * build.Expm1(-build.Abs(z))

    def _log_cdf(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        upper = build.Log1p(-0.5 * build.Exp(-build.Abs(z)))
        return build.SelectV2(build.Less(z, build.ZerosLike(z)), z - math.log(2.0), upper)

    def _mean(self) -> Tensor:
        return self.loc + build.ZerosLike(self.scale)

    _mode = _median = _mean

    def _variance(self) -> Tensor:
        return 2.0 * build.Square(self.scale) + build.ZerosLike(self.loc)

    def _entropy(self) -> Tensor:
        return build.Log(2.0 * self.scale) + 1.0 + build.ZerosLike(self.loc)


class StudentT(Distribution):
    """Student's t. df, loc, scale: float[...], broadcast; df > 0 degrees of freedom."""

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "StudentT") -> None:
        (self.df,), self.loc, self.scale = positive(validate_args, df), as_floats(loc), as_floats(scale)
        self.allow_nan_stats = allow_nan_stats
        batch = self.df * 0.0 + self.loc + self.scale * 0.0
        super().__init__(name, self.df.dtype.base_dtype, batch, 0, reparameterised=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        chi = gamma_draws(shape, 0.5 * self.df, None if seed is None else seed + 1)
        return standard_normal(shape, self.dtype, seed) * build.Rsqrt(2.0 * chi / self.df) * self.scale + self.loc

    def _log_prob(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / self.scale
        normalized = (build.Log(build.Abs(self.scale)) + 0.5 * build.Log(self.df) + 0.5 * math.log(math.pi)
                      + build.Lgamma(0.5 * self.df) - build.Lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * build.Log1p(build.Square(z) / self.df) - normalized

    def _cdf(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / build.Abs(self.scale)
        df, half = self.df + z * 0.0, build.OnesLike(z + self.df) * 0.5
        tail = 0.5 * build.Betainc(0.5 * df, half, df / (build.Square(z) + df))
        return build.SelectV2(build.Less(z, build.ZerosLike(z)), tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1.0)
        beta = build.Lgamma(0.5 * self.df) + math.lgamma(0.5) - build.Lgamma(half)
        return (build.Log(build.Abs(self.scale)) + 0.5 * build.Log(self.df) + beta + build.ZerosLike(self._batch)
                + half * (build.Digamma(half) - build.Digamma(0.5 * self.df)))

    def _mean(self) -> Tensor:
        df = self.df + self._batch * 0.0
        return defined_where(build.Greater(df, build.OnesLike(df)), self._batch, self.allow_nan_stats, "mean")

    def _mode(self) -> Tensor:
        return self._batch

    def _variance(self) -> Tensor:
        df = self.df + self._batch * 0.0
        above = build.Greater(df, 2.0 * build.OnesLike(df))
        safe = build.SelectV2(above, df - 2.0, build.OnesLike(df))
        finite = build.SelectV2(above, build.Square(self.scale) * df / safe, convert_to_tensor(math.inf, self.dtype))
        return defined_where(build.Greater(df, build.OnesLike(df)), finite, self.allow_nan_stats, "variance")

"""Distributions of counts: how many of so many draws fall into each class."""
from __future__ import annotations

from typing import Any

from ...core.dtypes import int32, int64
from ...core.graph import Tensor
from ...core.op import build
from .. import random
from ..math.reductions import reduce_max, reduce_sum
from ..math.softmax import log_softmax
from ..math.special import lbeta
from .distribution import Distribution, are_counts, as_floats
from .gamma_family import Dirichlet, gamma_draws, positive


def _arrangements(total: Tensor, counts: Tensor) -> Tensor:
    """The logarithm of the number of orders in which such counts come about."""
    return build.Lgamma(total + 1.0) - reduce_sum(build.Lgamma(counts + 1.0), -1)


def _draws_of(total: Tensor, logits: Tensor, seed: int | None) -> Tensor:
    """Counts of `total` draws from each row of logits. total: float[...], logits: float[..., k] -> float[..., k]."""
    shape, most = build.Shape(logits), build.Cast(reduce_max(total), dtype=int32)
    classes = shape[-1]
    rows = build.Reshape(logits, build.Pack(-1, classes, axis=0))
    drawn = random.multinomial(rows, most, seed=seed)
    wanted = build.Reshape(total + build.ZerosLike(logits[..., 0]), [-1, 1])
    counted = build.Less(build.Cast(build.Range(0, most, 1), dtype=wanted.dtype.base_dtype)[None], wanted)
    one_hot = build.OneHot(build.Cast(drawn, dtype=int64), classes, 1.0, 0.0)
    kept = build.Cast(one_hot, dtype=wanted.dtype.base_dtype) * build.Cast(counted, dtype=wanted.dtype.base_dtype)[
        ..., None]
    return build.Reshape(reduce_sum(kept, 1), shape)


class Multinomial(Distribution):
    """Counts of total_count draws. logits or probs: float[..., k], one of them; total_count: float[...]."""

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Multinomial") -> None:
        self.validate_args = validate_args
        if probs is None:
            self.logits = as_floats(logits)
            self.probs = build.Exp(log_softmax(self.logits))
        else:
            self.probs = as_floats(probs)
            self.logits = build.Log(self.probs)
        self.total_count = as_floats(total_count, None if hasattr(total_count, "dtype") else self.probs.dtype)
        self._n = build.ExpandDims(self.total_count, -1)
        super().__init__(name, self.probs.dtype.base_dtype, self._n * self.probs, 1, reparameterised=False)

    def _conditions(self, value: Tensor) -> list[tuple[Tensor, str]]:
        return are_counts(value, self.total_count, "counts")

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        zeros = build.Fill(shape, build.Cast(0.0, dtype=self.dtype))
        return _draws_of(self.total_count, self.logits + zeros, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        return (reduce_sum(value * log_softmax(self.logits + build.ZerosLike(value)), -1)
                + _arrangements(self.total_count, value))

    def _mean(self) -> Tensor:
        return build.Identity(self._batch)

    def _variance(self) -> Tensor:
        return self._batch * (1.0 - self.probs)

    def _covariance(self) -> Tensor:
        return Dirichlet.covariance_of(self.probs, 1.0) * build.ExpandDims(self._n, -1)


class DirichletMultinomial(Distribution):
    """Counts of total_count draws whose shares are Dirichlet's. concentration: float[..., k] > 0."""

    def __init__(self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "DirichletMultinomial") -> None:
        self.concentration, = positive(validate_args, concentration)
        self.validate_args = validate_args
        self.total_count = as_floats(total_count, None if hasattr(total_count, "dtype") else self.concentration.dtype)
        self.total_concentration = reduce_sum(self.concentration, -1)
        self._n = build.ExpandDims(self.total_count, -1)
        super().__init__(name, self.concentration.dtype.base_dtype, self._n * 0.0 + self.concentration, 1,
                         reparameterised=False)

    def _conditions(self, value: Tensor) -> list[tuple[Tensor, str]]:
        return are_counts(value, self.total_count, "counts last-dimension")

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return _draws_of(self.total_count, build.Log(gamma_draws(shape, self.concentration, seed)), seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        return lbeta(self.concentration + value) - lbeta(self.concentration) + _arrangements(self.total_count, value)

    def _share(self) -> Tensor:
        return self.concentration / build.ExpandDims(self.total_concentration, -1)

    def _mean(self) -> Tensor:
        return self._n * self._share()

    def _spread(self) -> Tensor:
        total = build.ExpandDims(self.total_concentration, -1)
        return self._n * (self._n + total) / (1.0 + total)

    def _variance(self) -> Tensor:
        share = self._share()
        return self._spread() * share * (1.0 - share)

    def _covariance(self) -> Tensor:
        return Dirichlet.covariance_of(self._share(), 1.0) * build.ExpandDims(self._spread(), -1)

"""Distributions of events: Bernoulli and categorical."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..math.reductions import reduce_logsumexp, reduce_sum
from ..nn.cross_entropy import sigmoid_cross_entropy_with_logits
from .distribution import Distribution, as_floats, standard_uniform, valid


class Bernoulli(Distribution):
    """0 or 1. Either logits (log-odds) or probs of 1: float[...]. Draws have `dtype`."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Bernoulli") -> None:
        self.validate_args = validate_args
        if validate_args and probs is not None:
            probs = as_floats(probs)
            probs = valid(probs, (build.LessEqual(probs, 1.0), "probs has components greater than 1."),
                          (build.GreaterEqual(probs, 0.0), "Condition x >= 0 did not hold: probs"))
        self.logits, self.probs = _logits_and_probs(logits, probs, sigmoid=True)
        super().__init__(name, dtype, self.probs, 0, reparameterised=False)

    def _conditions(self, value: Tensor) -> list[tuple[Tensor, str]]:
        return [(build.GreaterEqual(value, 0), "samples must be non-negative."),
                (build.LessEqual(value, 1), "Elements cannot exceed 1.")]

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        hit = build.Less(standard_uniform(shape, self.probs.dtype.base_dtype, seed), self.probs)
        return build.Cast(hit, dtype=self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        event = build.Cast(value, dtype=self.logits.dtype.base_dtype)
        return -sigmoid_cross_entropy_with_logits(labels=event + build.ZerosLike(self.logits),
                                                  logits=self.logits + build.ZerosLike(event))

    def _mean(self) -> Tensor:
        return build.Identity(self.probs)

    def _mode(self) -> Tensor:
        return build.Cast(self.probs > 0.5, dtype=self.dtype)

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def _entropy(self) -> Tensor:
        return -self.logits * (build.Sigmoid(self.logits) - 1.0) + build.Softplus(-self.logits)

    def _divergence(self, other: "Bernoulli") -> Tensor:
        on = build.Softplus(-other.logits) - build.Softplus(-self.logits)
        off = build.Softplus(other.logits) - build.Softplus(self.logits)
        return self.probs * on + build.Sigmoid(-self.logits) * off


class Categorical(Distribution):
    """One of k classes. Either logits (unnormalized log-probabilities) or probs: float[..., k]."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Categorical") -> None:
        self.logits, self.probs = _logits_and_probs(logits, probs, sigmoid=False)
        super().__init__(name, dtype, reduce_sum(self.probs, -1), 0, reparameterised=False)

    @property
    def event_size(self) -> Tensor:
        """How many classes. -> int32[]."""
        known = None if self.logits.dims is None else self.logits.dims[-1]
        return build.Shape(self.logits)[-1] if known is None else convert_to_tensor(known, int32)

    def _log_probs(self) -> Tensor:
        return self.logits - reduce_logsumexp(self.logits, -1, keepdims=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        classes = build.ConcatV2(0, shape, build.Pack(self.event_size, axis=0))
        uniform = standard_uniform(classes, self.logits.dtype.base_dtype, seed)
        gumbel = -build.Log(-build.Log(uniform + 1e-20))  # the largest of logits + Gumbel noise is a draw
        return build.ArgMax(self.logits + gumbel, -1, output_type=self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        dtype = self.logits.dtype.base_dtype
        chosen = build.OneHot(build.Cast(value, dtype=int32), self.event_size, convert_to_tensor(1, dtype),
                              convert_to_tensor(0, dtype))
        return reduce_sum(build.MulNoNan(self._log_probs() + chosen * 0.0, chosen), -1)

    def _cdf(self, value: Tensor) -> Tensor:
        """The probability of classes before `value`, which TensorFlow's leaves out."""
        before = build.Range(0, self.event_size, 1) < build.ExpandDims(build.Cast(value, dtype=int32), -1)
        return reduce_sum(self.probs * build.Cast(before, dtype=self.probs.dtype.base_dtype), -1)

    def _mode(self) -> Tensor:
        return build.ArgMax(self.logits, -1, output_type=self.dtype)

    def _entropy(self) -> Tensor:
        return -reduce_sum(self._log_probs() * self.probs, -1)

    def _divergence(self, other: "Categorical") -> Tensor:
        return reduce_sum(self.probs * (self._log_probs() - other._log_probs()), -1)


def _logits_and_probs(logits: Any, probs: Any, *, sigmoid: bool) -> tuple[Tensor, Tensor]:
    if (logits is None) == (probs is None):
        raise ArgumentError("expected either logits or probs, found " + ("neither" if logits is None else "both"))
    if logits is not None:
        logits = as_floats(logits)
        return logits, build.Sigmoid(logits) if sigmoid else build.Softmax(logits)
    probs = as_floats(probs)
    return build.Log(probs) - build.Log1p(-probs) if sigmoid else build.Log(probs), probs

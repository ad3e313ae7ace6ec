"""Probability distributions as tensors: densities, draws, divergences. TensorFlow's tf.distributions."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, float32, int32
from ..core.errors import ArgumentError, UnsupportedError
from ..core.graph import Tensor, get_default_graph
from ..core.op import build
from . import random
from .common.unsupported import refusing
from .control.dependencies import control_dependencies
from .debugging import assert_positive
from .math.reductions import reduce_logsumexp, reduce_sum

__all__ = ["Bernoulli", "Categorical", "Distribution", "MultivariateNormalDiag", "Normal", "Uniform", "kl_divergence"]

_LOG_2_PI = math.log(2.0 * math.pi)


def _numbers(values: Any, dtype: Any = None) -> Tensor:
    """Parameters as a float tensor; Python numbers are float32."""
    tensor = convert_to_tensor(values, dtype)
    return build.Cast(tensor, dtype=float32) if tensor.dtype.is_integer else tensor


class Distribution:
    """What all distributions offer; each has `_log_prob`, `_draw`, and what else it knows in closed form.

    The shape of a draw is sample_shape + batch_shape + event_shape.
    """

    def __init__(self, name: str, dtype: Any, batch: Tensor, event_rank: int, *, reparameterised: bool) -> None:
        self.name, self.dtype = name, as_dtype(dtype)
        self._batch, self._event_rank, self.is_reparameterised = batch, event_rank, reparameterised

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Sizes of the independent distributions. -> int32[rank]."""
        shape = build.Shape(self._batch)
        return shape[:-self._event_rank] if self._event_rank else shape

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """Sizes of one draw. -> int32[rank]."""
        return build.Shape(self._batch)[-self._event_rank:] if self._event_rank else convert_to_tensor([], int32)

    @property
    def batch_shape(self) -> Any:
        shape = self._batch.shape
        return shape[:-self._event_rank] if self._event_rank and shape.ndims is not None else shape

    @property
    def event_shape(self) -> Any:
        shape = self._batch.shape
        return shape[len(shape) - self._event_rank:] if shape.ndims is not None else shape

    def _scoped(self, name: str, function: Callable[..., Any], *args: Any) -> Tensor:
        with get_default_graph().name_scope(f"{self.name}/{name}"):
            return function(*args)

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Independent draws of shape sample_shape + batch_shape + event_shape."""
        def draw() -> Tensor:
            sizes = convert_to_tensor(sample_shape, None if hasattr(sample_shape, "dtype") else int32)
            return self._draw(build.ConcatV2(0, build.Reshape(sizes, [-1]), build.Shape(self._batch)), seed)
        return self._scoped(name, draw)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density or probability of `value`, in nats."""
        return self._scoped(name, self._log_prob, self._value(value))

    def _value(self, value: Any) -> Tensor:
        return convert_to_tensor(value, preferred_dtype=None if hasattr(value, "dtype") else self.dtype)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density or probability of `value`."""
        return self._scoped(name, lambda: build.Exp(self._log_prob(self._value(value))))

    def mean(self, name: str = "mean") -> Tensor:
        return self._scoped(name, self._known("_mean"))

    def mode(self, name: str = "mode") -> Tensor:
        return self._scoped(name, self._known("_mode"))

    def variance(self, name: str = "variance") -> Tensor:
        return self._scoped(name, self._known("_variance"))

    def stddev(self, name: str = "stddev") -> Tensor:
        return self._scoped(name, lambda: build.Sqrt(self._known("_variance")()))

    def entropy(self, name: str = "entropy") -> Tensor:
        """The entropy, in nats."""
        return self._scoped(name, self._known("_entropy"))

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability of at most `value`."""
        return self._scoped(name, self._known("_cdf"), self._value(value))

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of at most `value`, in nats."""
        return self._scoped(name, self._log_cdf, self._value(value))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return build.Log(self._known("_cdf")(value))

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability of more than `value`."""
        return self._scoped(name, lambda: 1.0 - self._known("_cdf")(self._value(value)))

    def cross_entropy(self, other: "Distribution", name: str = "cross_entropy") -> Tensor:
        """The expected -log_prob under `other` of draws of this one, in nats."""
        return self._scoped(name, lambda: self.entropy() + kl_divergence(self, other))

    def kl_divergence(self, other: "Distribution", name: str = "kl_divergence") -> Tensor:
        """KL(self || other), in nats."""
        return kl_divergence(self, other, name=name)

    def _known(self, method: str) -> Callable[..., Any]:
        found = getattr(self, method, None)
        if found is None:
            raise UnsupportedError(f"{type(self).__name__} has no closed form of {method.lstrip('_')} here")
        return found

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        raise UnsupportedError(f"{type(self).__name__} cannot be sampled")

    def _log_prob(self, value: Tensor) -> Tensor:
        raise UnsupportedError(f"{type(self).__name__} has no density")


class Normal(Distribution):
    """The normal distribution. loc, scale: float[...], broadcast against each other; scale > 0."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Normal") -> None:
        self.loc, self.scale = _numbers(loc), _numbers(scale)
        if self.loc.dtype.base_dtype is not self.scale.dtype.base_dtype:
            raise ArgumentError(f"expected loc and scale of one dtype, found {self.loc.dtype.name} and "
                                f"{self.scale.dtype.name}")
        if validate_args:
            with control_dependencies([assert_positive(self.scale)]):
                self.scale = build.Identity(self.scale, name="scale")
        super().__init__(name, self.loc.dtype.base_dtype, self.loc + self.scale * 0.0, 0, reparameterised=True)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.loc + self.scale * _normal_draw(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        return -0.5 * build.Square(self._standard(value)) - 0.5 * _LOG_2_PI - build.Log(self.scale)

    def _mean(self) -> Tensor:
        return self.loc * build.OnesLike(self.scale)

    _mode = _mean

    def _variance(self) -> Tensor:
        return build.Square(self.scale * build.OnesLike(self.loc))

    def _entropy(self) -> Tensor:
        return 0.5 * (1.0 + _LOG_2_PI) + build.Log(self.scale * build.OnesLike(self.loc))

    def _cdf(self, value: Tensor) -> Tensor:
        return 0.5 * build.Erfc(-self._standard(value) / math.sqrt(2.0))

    def _log_cdf(self, value: Tensor) -> Tensor:
        """Far below the mean, where the probability underflows, it is a series in 1 / z.

        Source: Abramowitz and Stegun (1964), 26.2.12.
        """
        z = self._standard(value)
        low = build.Less(z, convert_to_tensor(-10.0, self.dtype))
        far, near = (build.SelectV2(low, *pair) for pair in ((z, -build.OnesLike(z)), (build.ZerosLike(z), z)))
        inverse = 1.0 / build.Square(far)
        series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))
        tail = -0.5 * build.Square(far) - build.Log(-far) - 0.5 * _LOG_2_PI + build.Log(series)
        return build.SelectV2(low, tail, build.Log(0.5 * build.Erfc(-near / math.sqrt(2.0))))


class MultivariateNormalDiag(Distribution):
    """A normal vector with independent entries. loc, scale_diag: float[..., k]."""

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiag") -> None:
        if loc is None and scale_diag is None:
            raise ArgumentError("expected loc or scale_diag, found neither")
        self.loc = _numbers(loc) if loc is not None else build.ZerosLike(_numbers(scale_diag))
        scale = _numbers(scale_diag) if scale_diag is not None else build.OnesLike(self.loc)
        if scale_identity_multiplier is not None:
            scale = scale * _numbers(scale_identity_multiplier)
        self.scale_diag = scale
        super().__init__(name, self.loc.dtype.base_dtype, self.loc + scale * 0.0, 1, reparameterised=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.loc + self.scale_diag * _normal_draw(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        standard = (value - self.loc) / self.scale_diag
        return reduce_sum(-0.5 * build.Square(standard) - 0.5 * _LOG_2_PI - build.Log(self.scale_diag), -1)

    def _mean(self) -> Tensor:
        return self.loc * build.OnesLike(self.scale_diag)

    _mode = _mean

    def _variance(self) -> Tensor:
        return build.Square(self.scale_diag * build.OnesLike(self.loc))

    def _entropy(self) -> Tensor:
        return reduce_sum(0.5 * (1.0 + _LOG_2_PI) + build.Log(self.scale_diag * build.OnesLike(self.loc)), -1)


class Uniform(Distribution):
    """Uniform between low (included) and high. low, high: float[...], low < high."""

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Uniform") -> None:
        self.low, self.high = _numbers(low), _numbers(high)
        super().__init__(name, self.low.dtype.base_dtype, self.low + self.high * 0.0, 0, reparameterised=True)

    def range(self, name: str = "range") -> Tensor:
        """high - low."""
        return self.high - self.low

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        return self.low + self.range() * _uniform_draw(shape, self.dtype, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        inside = build.LogicalAnd(build.GreaterEqual(value, self.low), build.Less(value, self.high))
        density = -build.Log(self.range()) + value * 0.0
        return build.SelectV2(inside, density, convert_to_tensor(-math.inf, self.dtype))

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return build.Square(self.range()) / 12.0

    def _entropy(self) -> Tensor:
        return build.Log(self.range())

    def _cdf(self, value: Tensor) -> Tensor:
        share = (value - self.low) / self.range()
        return build.Minimum(build.Maximum(share, build.ZerosLike(share)), build.OnesLike(share))


class Bernoulli(Distribution):
    """0 or 1. Either logits (log-odds) or probs of 1: float[...]. Draws have `dtype`."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Bernoulli") -> None:
        self.logits, self.probs = _logits_and_probs(logits, probs, sigmoid=True)
        super().__init__(name, dtype, self.probs, 0, reparameterised=False)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        hit = build.Less(_uniform_draw(shape, self.probs.dtype.base_dtype, seed), self.probs)
        return build.Cast(hit, dtype=self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        event = build.Cast(value, dtype=self.logits.dtype.base_dtype)
        # -softplus keeps what log(p) and log(1 - p) lose for large logits
        return event * -build.Softplus(-self.logits) + (1.0 - event) * -build.Softplus(self.logits)

    def _mean(self) -> Tensor:
        return build.Identity(self.probs)

    def _mode(self) -> Tensor:
        return build.Cast(self.probs > 0.5, dtype=self.dtype)

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def _entropy(self) -> Tensor:
        return -self.logits * (build.Sigmoid(self.logits) - 1.0) + build.Softplus(-self.logits)


class Categorical(Distribution):
    """One of k classes. Either logits (unnormalized log-probabilities) or probs: float[..., k]."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Categorical") -> None:
        self.logits, self.probs = _logits_and_probs(logits, probs, sigmoid=False)
        super().__init__(name, dtype, reduce_sum(self.probs, -1), 0, reparameterised=False)

    @property
    def event_size(self) -> Tensor:
        """How many classes. -> int32[]."""
        return build.Shape(self.logits)[-1]

    def _log_probs(self) -> Tensor:
        return self.logits - reduce_logsumexp(self.logits, -1, keepdims=True)

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        classes = build.ConcatV2(0, shape, build.Pack(self.event_size, axis=0))
        uniform = _uniform_draw(classes, self.logits.dtype.base_dtype, seed)
        gumbel = -build.Log(-build.Log(uniform + 1e-20))  # the largest of logits + Gumbel noise is a draw
        return build.ArgMax(self.logits + gumbel, -1, output_type=self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        dtype = self.logits.dtype.base_dtype
        chosen = build.OneHot(build.Cast(value, dtype=int32), self.event_size, convert_to_tensor(1, dtype),
                              convert_to_tensor(0, dtype))
        return reduce_sum(build.MulNoNan(self._log_probs() + chosen * 0.0, chosen), -1)

    def _mode(self) -> Tensor:
        return build.ArgMax(self.logits, -1, output_type=self.dtype)

    def _entropy(self) -> Tensor:
        return -reduce_sum(self._log_probs() * self.probs, -1)


def _logits_and_probs(logits: Any, probs: Any, *, sigmoid: bool) -> tuple[Tensor, Tensor]:
    if (logits is None) == (probs is None):
        raise ArgumentError("expected either logits or probs, found " + ("neither" if logits is None else "both"))
    if logits is not None:
        logits = _numbers(logits)
        return logits, build.Sigmoid(logits) if sigmoid else build.Softmax(logits)
    probs = _numbers(probs)
    return build.Log(probs) - build.Log1p(-probs) if sigmoid else build.Log(probs), probs


def _normal_draw(shape: Tensor, dtype: Any, seed: int | None) -> Tensor:
    return random.random_normal(shape, dtype=dtype, seed=seed)


def _uniform_draw(shape: Tensor, dtype: Any, seed: int | None) -> Tensor:
    return random.random_uniform(shape, dtype=dtype, seed=seed)


def kl_divergence(distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True,
                  name: str | None = None) -> Tensor:
    """KL(a || b) of two distributions of one kind, in nats. Raises UnsupportedError for other pairs."""
    a: Any = distribution_a
    b: Any = distribution_b
    with get_default_graph().name_scope(name or "KullbackLeibler"):
        if isinstance(a, Normal) and isinstance(b, Normal):
            return _normal_divergence(a.loc, a.scale, b.loc, b.scale)
        if isinstance(a, MultivariateNormalDiag) and isinstance(b, MultivariateNormalDiag):
            return reduce_sum(_normal_divergence(a.loc, a.scale_diag, b.loc, b.scale_diag), -1)
        if isinstance(a, Bernoulli) and isinstance(b, Bernoulli):
            on = build.Softplus(-b.logits) - build.Softplus(-a.logits)
            off = build.Softplus(b.logits) - build.Softplus(a.logits)
            return a.probs * on + build.Sigmoid(-a.logits) * off
        if isinstance(a, Categorical) and isinstance(b, Categorical):
            return reduce_sum(a.probs * (a._log_probs() - b._log_probs()), -1)
    raise UnsupportedError(f"no KL divergence of {type(a).__name__} and {type(b).__name__} is known here: compute it "
                         "from samples and log_prob")


def _normal_divergence(loc_a: Tensor, scale_a: Tensor, loc_b: Tensor, scale_b: Tensor) -> Tensor:
    ratio = build.Square(scale_a / scale_b)
    return 0.5 * (build.Square((loc_a - loc_b) / scale_b) + ratio - 1.0 - build.Log(ratio))


__getattr__ = refusing("tf.distributions", __name__)

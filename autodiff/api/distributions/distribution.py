"""Distribution: what all distributions do, and the draws that they are made of."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, int32
from ...core.errors import ArgumentError, UnsupportedError
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import TensorShape
from .. import random
from ..common.made import named
from ..control.dependencies import control_dependencies
from ..debugging import Assert
from ..math.reductions import reduce_all
from .divergences import cross_entropy, kl_divergence


def as_floats(values: Any, dtype: Any = None) -> Tensor:
    """Parameters as a float tensor; Python numbers are float32."""
    tensor = convert_to_tensor(values, dtype)
    return build.Cast(tensor, dtype=float32) if tensor.dtype.is_integer else tensor


def valid(value: Tensor, *conditions: tuple[Tensor, str]) -> Tensor:
    """`value`; a run fails unless these hold, and says which does not."""
    with control_dependencies([Assert(reduce_all(holds), [message]) for holds, message in conditions]):
        return build.Identity(value)


def are_counts(value: Tensor, total: Tensor, what: str) -> list[tuple[Tensor, str]]:
    """What holds of counts: whole numbers from 0 that sum to `total`."""
    return [(build.GreaterEqual(value, 0.0), "counts must be non-negative"),
            (build.Equal(value, build.Floor(value)), "counts cannot contain fractional components."),
            (build.Equal(build.Sum(value, -1), total), f"{what} must sum to `self.total_count`")]


def _statistic(kind: str, words: str) -> Any:
    def statistic(self: Any, name: str = kind) -> Tensor:
        return self._scoped(name, self._known(f"_{kind}"))

    return named(statistic, kind, words)


def _at(kind: str, words: str) -> Any:
    def found(self: Any, value: Any, name: str = kind) -> Tensor:
        return self._scoped(name, self._known(f"_{kind}"), self._value(value))

    return named(found, kind, words)


class Distribution:
    """The interface of all distributions; each has `_log_prob`, `_draw`, and its closed forms.

    The shape of a draw is sample_shape + batch_shape + event_shape. _parameters: names of those of the draws' shape.
    """

    _parameters: tuple[str, ...] = ()
    allow_nan_stats = True
    validate_args = False

    def _conditions(self, value: Tensor) -> list[tuple[Tensor, str]]:
        """What must hold of values, with messages, where arguments are validated."""
        return []

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
        if not self._event_rank:
            return TensorShape([])
        return shape[len(shape) - self._event_rank:] if shape.ndims is not None else shape

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> dict[str, Tensor]:
        """The shapes of parameters whose draws have this shape, by name: int32[rank]."""
        return {name: convert_to_tensor(sample_shape, int32) for name in cls._parameters}

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """param_shapes as TensorShapes. Raises ArgumentError (ValueError) where they are not known."""
        known = static_value(sample_shape) if isinstance(sample_shape, Tensor) else sample_shape
        if known is None:
            raise ArgumentError("sample_shape must be a constant", expected="known sizes", found=repr(sample_shape))
        return {name: TensorShape(known) for name in cls._parameters}

    quantile = _at("quantile", "The x whose cdf is `value`.")

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
        return self._scoped(name, lambda: self._log_prob(self._valid(value)))

    def _value(self, value: Any) -> Tensor:
        return convert_to_tensor(value, preferred_dtype=None if hasattr(value, "dtype") else self.dtype)

    def _valid(self, value: Any) -> Tensor:
        tensor = self._value(value)
        return valid(tensor, *self._conditions(tensor)) if self.validate_args else tensor

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density or probability of `value`."""
        return self._scoped(name, lambda: build.Exp(self._log_prob(self._valid(value))))

    mean, mode, variance = (_statistic(kind, f"The {kind} of what is drawn. -> number[*batch, *event].")
                            for kind in ("mean", "mode", "variance"))
    covariance = _statistic("covariance", "Of the entries of one draw. -> float[..., k, k].")
    entropy = _statistic("entropy", "The entropy, in nats.")

    def stddev(self, name: str = "stddev") -> Tensor:
        return self._scoped(name, getattr(self, "_stddev", lambda: build.Sqrt(self._known("_variance")())))

    cdf = _at("cdf", "The probability of at most `value`.")
    log_cdf = _at("log_cdf", "The logarithm of the probability of at most `value`, in nats.")
    survival_function = _at("survival_function", "The probability of more than `value`.")
    log_survival_function = _at("log_survival_function", "The logarithm of the probability of more than `value`, in "
                                "nats.")

    def _log_cdf(self, value: Tensor) -> Tensor:
        return build.Log(self._known("_cdf")(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return 1.0 - self._known("_cdf")(value)

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return build.Log1p(-self._known("_cdf")(value))

    def cross_entropy(self, other: "Distribution", name: str = "cross_entropy") -> Tensor:
        """The expected -log_prob under `other` of draws of this one, in nats."""
        return self._scoped(name, cross_entropy, self, other, self.allow_nan_stats)

    def kl_divergence(self, other: "Distribution", name: str = "kl_divergence") -> Tensor:
        """KL(self || other), in nats."""
        return kl_divergence(self, other, self.allow_nan_stats, name)

    def _known(self, method: str) -> Callable[..., Any]:
        found = getattr(self, method, None)
        if found is None:
            raise UnsupportedError(f"{type(self).__name__} has no closed form of {method.lstrip('_')} here")
        return found

    def _draw(self, shape: Tensor, seed: int | None) -> Tensor:
        raise UnsupportedError(f"{type(self).__name__} cannot be sampled")

    def _log_prob(self, value: Tensor) -> Tensor:
        raise UnsupportedError(f"{type(self).__name__} has no density")


def standard_normal(shape: Tensor, dtype: Any, seed: int | None) -> Tensor:
    """Draws from the normal distribution of mean 0 and deviation 1."""
    return random.random_normal(shape, dtype=dtype, seed=seed)


def standard_uniform(shape: Tensor, dtype: Any, seed: int | None) -> Tensor:
    """Draws from the uniform distribution on [0, 1)."""
    return random.random_uniform(shape, dtype=dtype, seed=seed)

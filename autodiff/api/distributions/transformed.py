"""TransformedDistribution, draws put through a bijector; distributions whose parameters are given before a softplus."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core.errors import UnsupportedError
from ...core.graph import Tensor
from ...core.op import build
from .bijector import Bijector
from .bijectors import Identity
from .continuous import Normal
from .distribution import Distribution, as_floats
from .gamma_family import Beta, Exponential, Gamma
from .heavy_tails import Laplace, StudentT


class TransformedDistribution(Distribution):
    """y = bijector(x), x drawn from `distribution`. bijector: None is the identity."""

    def __init__(self, distribution: Distribution, bijector: Bijector | None = None, batch_shape: Any = None,
                 event_shape: Any = None, validate_args: bool = False, name: str | None = None) -> None:
        if batch_shape or event_shape:
            raise UnsupportedError("the shape of draws is that of the distribution: make its parameters of that shape")
        self.distribution, self.bijector, self.validate_args = distribution, bijector or Identity(), validate_args
        super().__init__(name or (bijector.name if bijector else "") + distribution.name, distribution.dtype,
                         distribution._batch, distribution._event_rank, reparameterised=distribution.is_reparameterised)

    @property
    def event_shape(self) -> Any:
        return self.bijector.forward_event_shape(super().event_shape)

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Tensor:
        return self._scoped(name, lambda: self.bijector.forward(self.distribution.sample(sample_shape, seed)))

    def _log_prob(self, value: Tensor) -> Tensor:
        log_prob = self.distribution.log_prob(self.bijector.inverse(value))
        return log_prob + self.bijector.inverse_log_det_jacobian(value, self._event_rank)

    def _entropy(self) -> Tensor:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        zeros = build.ZerosLike(self._batch)
        return self.distribution.entropy() - self.bijector.inverse_log_det_jacobian(zeros, self._event_rank)

    def _cdf(self, value: Tensor) -> Tensor:
        return self.distribution.cdf(self.bijector.inverse(value))

    def _quantile(self, value: Tensor) -> Tensor:
        return self.bijector.forward(self.distribution.quantile(value))


def _softplus(value: Any) -> Any:
    return build.Softplus(as_floats(value))


def _changed(kind: Any, name: str, **changes: Callable[[Any], Any]) -> Any:
    """A class of distributions like `kind`; each of its parameters named is changed by a function first."""
    signature = inspect.signature(kind)

    def __init__(self: Any, *args: Any, **options: Any) -> None:  # noqa: N807
        given = signature.bind(*args, **{"name": name, **options}).arguments
        kind.__init__(self, **{key: changes[key](value) if key in changes else value for key, value in given.items()})

    return type(name, (kind,), {"__init__": __init__, "__doc__": f"{kind.__name__} of softplus of its parameters."})


BetaWithSoftplusConcentration = _changed(Beta, "BetaWithSoftplusConcentration", concentration1=_softplus,
                                         concentration0=_softplus)
ExponentialWithSoftplusRate = _changed(Exponential, "ExponentialWithSoftplusRate", rate=_softplus)
GammaWithSoftplusConcentrationRate = _changed(Gamma, "GammaWithSoftplusConcentrationRate", concentration=_softplus,
                                              rate=_softplus)
LaplaceWithSoftplusScale = _changed(Laplace, "LaplaceWithSoftplusScale", scale=_softplus)
NormalWithSoftplusScale = _changed(Normal, "NormalWithSoftplusScale", scale=_softplus)
StudentTWithAbsDfSoftplusScale = _changed(StudentT, "StudentTWithAbsDfSoftplusScale", scale=_softplus,
                                          df=lambda df: build.Floor(build.Abs(as_floats(df))))

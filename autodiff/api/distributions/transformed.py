"""TransformedDistribution: draws of one distribution, each put through a bijector."""
from __future__ import annotations

from typing import Any

from ...core.errors import UnsupportedError
from ...core.graph import Tensor
from ...core.op import build
from .bijector import Bijector
from .bijectors import Identity
from .distribution import Distribution


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

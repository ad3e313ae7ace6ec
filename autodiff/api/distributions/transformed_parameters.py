"""Distributions whose parameters are given before a softplus, which makes them positive."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core.op import build
from .continuous import Normal
from .distribution import as_floats
from .gamma_family import Beta, Exponential, Gamma
from .heavy_tails import Laplace, StudentT


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

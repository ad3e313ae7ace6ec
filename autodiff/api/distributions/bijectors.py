"""tf.contrib.distributions.bijectors: invertible functions, alone and one after another."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..common.unsupported import refusing
from .bijector import Bijector
from .distribution import as_floats

__all__ = ["AffineScalar", "Bijector", "Chain", "Exp", "Identity", "Inline", "Invert", "Permute", "Sigmoid", "Softplus"]

Function = Callable[[Any], Any]


class Inline(Bijector):
    """A bijector of functions: forward, inverse, and log |det| of the Jacobian of either."""

    def __init__(self, forward_fn: Function | None = None, inverse_fn: Function | None = None,
                 inverse_log_det_jacobian_fn: Function | None = None,
                 forward_log_det_jacobian_fn: Function | None = None, is_constant_jacobian: bool = False,
                 validate_args: bool = False, forward_min_event_ndims: int | None = None,
                 inverse_min_event_ndims: int | None = None, name: str = "inline") -> None:
        super().__init__(None, is_constant_jacobian, validate_args, None, forward_min_event_ndims,
                         inverse_min_event_ndims, name)
        parts = {"forward": forward_fn, "inverse": inverse_fn, "forward_log_det_jacobian": forward_log_det_jacobian_fn,
                 "inverse_log_det_jacobian": inverse_log_det_jacobian_fn}
        vars(self).update({f"_{part}": function for part, function in parts.items() if function is not None})


def _zero(value: Tensor) -> Tensor:
    return convert_to_tensor(0.0, value.dtype)


def _elementwise(name: str, formula: str, *functions: Function, constant: bool = False) -> Any:
    """A class of one function of each element; functions: the four that Inline takes."""
    def __init__(self: Any, validate_args: bool = False, name: str = name.lower()) -> None:  # noqa: N807
        forward, inverse, *log_dets = functions
        Inline.__init__(self, forward, inverse, log_dets[0], log_dets[1], constant, validate_args, 0, name=name)
    return type(name, (Inline,), {"__init__": __init__, "__doc__": formula})


Identity = _elementwise("Identity", "y = x.", build.Identity, build.Identity, _zero, _zero, constant=True)
Exp = _elementwise("Exp", "y = exp(x).", build.Exp, build.Log, lambda y: -build.Log(y), build.Identity)
Sigmoid = _elementwise(
    "Sigmoid", "y = 1 / (1 + exp(-x)).", build.Sigmoid, lambda y: build.Log(y) - build.Log1p(-y),
    lambda y: -build.Log(y) - build.Log1p(-y), lambda x: -build.Softplus(-x) - build.Softplus(x))
Softplus = _elementwise(
    "Softplus", "y = log(1 + exp(x)).", build.Softplus, lambda y: y + build.Log(-build.Expm1(-y)),
    lambda y: -build.Log(-build.Expm1(-y)), lambda x: -build.Softplus(-x))


class AffineScalar(Inline):
    """y = scale * x + shift, element by element."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False,
                 name: str = "affine_scalar") -> None:
        self.shift, self.scale = as_floats(0.0 if shift is None else shift), as_floats(1.0 if scale is None else scale)
        super().__init__(lambda x: x * self.scale + self.shift, lambda y: (y - self.shift) / self.scale, None,
                         lambda x: build.Log(build.Abs(self.scale)), True, validate_args, 0, name=name)


class Chain(Bijector):
    """Bijectors one after another: Chain([f, g]) is f(g(x))."""

    def __init__(self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False,
                 name: str | None = None) -> None:
        self.bijectors = list(bijectors or ())
        super().__init__(None, all(b.is_constant_jacobian for b in self.bijectors), validate_args, None,
                         max([b.forward_min_event_ndims for b in self.bijectors], default=0),
                         max([b.inverse_min_event_ndims for b in self.bijectors], default=0),
                         name or "_of_".join(["chain"] * bool(self.bijectors) + [b.name for b in self.bijectors])
                         or "identity")

    def _forward(self, x: Tensor) -> Tensor:
        return functools.reduce(lambda x, b: b.forward(x), self.bijectors[::-1], x)

    def _inverse(self, y: Tensor) -> Tensor:
        return functools.reduce(lambda y, b: b.inverse(y), self.bijectors, y)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        total = _zero(y)
        for b in self.bijectors:
            total, y = total + b.inverse_log_det_jacobian(y, self.inverse_min_event_ndims), b.inverse(y)
        return total

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        total = _zero(x)
        for b in self.bijectors[::-1]:
            total, x = total + b.forward_log_det_jacobian(x, self.forward_min_event_ndims), b.forward(x)
        return total


class Invert(Inline):
    """A bijector turned round: y = g^-1(x)."""

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        self.bijector = bijector
        super().__init__(bijector.inverse, bijector.forward, bijector._forward_log_det_jacobian,
                         bijector._inverse_log_det_jacobian, bijector.is_constant_jacobian, validate_args,
                         bijector.inverse_min_event_ndims, bijector.forward_min_event_ndims,
                         name or f"invert_{bijector.name}")


class Permute(Inline):
    """The entries of the last axis in another order. permutation: int[k]."""

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None) -> None:
        self.permutation = convert_to_tensor(permutation, name="permutation")
        known = static_value(self.permutation)
        if known is not None and sorted(known) != list(range(known.size)):
            raise ArgumentError("Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`.",
                                found=str(known))
        super().__init__(lambda x: build.GatherV2(x, self.permutation, -1),
                         lambda y: build.GatherV2(y, build.InvertPermutation(self.permutation), -1),
                         _zero, _zero, True, validate_args, 1, name=name or "permute")


__getattr__ = refusing("tf.contrib.distributions.bijectors", __name__)

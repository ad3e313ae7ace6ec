"""Special functions: gamma, beta, zeta and Bessel; polynomials and cross products."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import to_tensor
from ...core.graph import Tensor, graph_of
from ...core.op import OPS, build
from ..common.made import named
from .elementwise import as_operand

__all__ = ["bessel_i0", "bessel_i1", "betainc", "cross", "igamma", "igammac", "lbeta", "polygamma", "polyval", "zeta"]


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz's zeta: the sum of (q + k)^-x over k >= 0, for x > 1. x, q: float[...] -> float[...]."""
    return build.Zeta(x, q, name=name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma, a = 0, 1, 2, … a, x: float[...] -> float[...]."""
    return build.Polygamma(a, x, name=name)


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function over gamma(a). a > 0, x >= 0, broadcast: float[...] -> 0 to 1, else nan."""
    return build.Igamma(a, x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """1 - igamma(a, x), exact where it is tiny. a > 0, x >= 0, broadcast: float[...] -> 0 to 1, else nan."""
    return build.Igammac(a, x, name=name)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The incomplete beta function over beta(a, b). a, b > 0, 0 <= x <= 1: float[...] of one shape or scalars."""
    return build.Betainc(a, b, x, name=name)


def _bessel(order: int) -> Callable[..., Tensor]:
    def bessel(x: Any, name: str | None = None) -> Tensor:
        with graph_of([x]).name_scope(name or f"bessel_i{order}"):
            x = as_operand(x)
            return build.Exp(build.Abs(x)) * OPS[f"BesselI{order}e"](x)

    return named(bessel, f"bessel_i{order}", f"The modified Bessel function I_{order}. x: float[...] -> float[...].")


bessel_i0, bessel_i1 = _bessel(0), _bessel(1)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log |beta(x)| over the last axis: the sum of lgamma less lgamma of the sum. x: float[..., k] -> float[...]."""
    with graph_of([x]).name_scope(name or "lbeta"):
        x = as_operand(x)
        return build.Sum(build.Lgamma(x), [-1]) - build.Lgamma(build.Sum(x, [-1]))


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, highest power first, by Horner's rule. x: number[...]."""
    with graph_of([*coeffs, x]).name_scope(name or "polyval"):
        x = as_operand(x)
        if len(coeffs) < 1:
            return build.ZerosLike(x)
        total = to_tensor(x.graph, coeffs[0], None if isinstance(coeffs[0], Tensor) else x.dtype.base_dtype, "coeff")
        for coefficient in coeffs[1:]:
            total = build.Add(coefficient, build.Mul(total, x))
        return total


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of vectors in the last axis. a, b: real[..., 3] -> real[..., 3]."""
    return build.Cross(a, b, name=name)

"""Special functions: error function, gamma and its derivatives, zeta, Bessel, and x log y and its like."""
import math
from functools import lru_cache

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS, NUMBERS
from ...core.infer import broadcast_shape, same_shape
from ...core.op import blocked, build
from .elementwise import unbroadcast
from .error_functions import horner, through_float64

WIDE = FLOATS[1:]


# ---- gamma --------------------------------------------------------------------------------

@lru_cache(maxsize=1)
def _gamma_series():
    """Coefficients of lgamma(2 + z), the highest power first: Abramowitz and Stegun 6.1.33."""
    k = np.arange(2.0, 27.0)
    signed = np.where(k % 2 == 0, 1.0, -1.0) * _zeta(k, np.full_like(k, 2.0)) / k
    return [*signed[::-1].tolist(), 1 - 0.57721566490153286, 0.0]


def log_gamma(x):
    """log |gamma(x)| of float64[...]: reflection below 0.5, a series about 2 up to 10, then Stirling's.

    Abramowitz and Stegun 6.1.17, 6.1.33, 6.1.41.
    """
    z = np.where(x < 0.5, 1 - x, x)
    near = np.where(z < _LARGE, z, 2.0)
    whole = np.maximum(np.rint(near), 1.0)
    product = np.ones_like(z)
    for j in range(1, int(_LARGE) - 1):
        product *= np.where(whole - 2 >= j, near - j, 1.0)
    below = np.where(whole < 2, np.log1p(near - 1), 0.0)
    near = horner(_gamma_series(), near - whole) + np.log(product) - below
    far = np.maximum(z, _LARGE)
    stirling = (far - 0.5) * (np.log(far) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + stirling_rest(far)
    found = np.where(z < _LARGE, near, stirling)
    turns = x - np.rint(x)
    found = np.where(x < 0.5, math.log(math.pi) - np.log(np.abs(np.sin(math.pi * turns))) - found, found)
    return np.where(np.isinf(x) | (x <= 0) & (turns == 0), np.inf, found)


def stirling_rest(x):
    """lgamma less Stirling's formula: the series of Abramowitz and Stegun 6.1.41. x: float64[...] >= 10."""
    inverse = 1 / x
    return inverse * horner([b / (2 * k * (2 * k - 1)) for k, b in reversed([*enumerate(_BERNOULLI[:9], 1)])],
                            inverse * inverse)


@op("Lgamma", infer=same_shape, elementwise=True, dtypes=FLOATS)
def lgamma(x):
    """log |gamma(x)|, inf at its poles 0, -1, -2, … x: float[...] -> float[...]."""
    return through_float64(log_gamma, x)


lgamma.gradient(lambda node, dy: (dy * build.Digamma(node.inputs[0]),))


_LARGE = 10.0  # asymptotic series are used from here on
# B_2k of Bernoulli, k = 1, 2, …: Abramowitz and Stegun, table 23.2
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
              854513 / 138, -236364091 / 2730)


def _digamma(x):
    """By reflection for x < 0, recurrence up to 10, then the asymptotic series; Abramowitz and Stegun 6.3.5, 7, 18."""
    negative = x < 0
    z = np.where(negative, 1 - x, x)
    total = np.zeros_like(z)
    for _ in range(int(_LARGE)):
        small = z < _LARGE
        total -= np.where(small, 1 / z, 0)
        z = np.where(small, z + 1, z)
    power = inverse = 1 / (z * z)
    total += np.log(z) - 0.5 / z
    for k, b in enumerate(_BERNOULLI[:8], start=1):
        total -= b / (2 * k) * power
        power = power * inverse
    turns = x - np.rint(x)  # tan has period pi; the fraction keeps its digits for large x
    total = np.where(negative, total - math.pi / np.tan(math.pi * turns), total)
    return np.where((x <= 0) & (turns == 0) | (x == -np.inf), np.inf, total)


@op("Digamma", infer=same_shape, elementwise=True, dtypes=FLOATS)
def digamma(x):
    """The slope of lgamma, inf at the poles 0, -1, -2, … x: float[...] -> float[...]."""
    return through_float64(_digamma, x)


@digamma.gradient
def _(node, dy):
    x, = node.inputs
    return (dy * build.Polygamma(build.OnesLike(x), x),)


def _zeta(x, q):
    """Hurwitz's zeta by Euler and Maclaurin's sum; Abramowitz and Stegun 23.1.30."""
    x, q = np.broadcast_arrays(x, q)
    lowest = np.min(q, initial=_LARGE, where=np.isfinite(q))
    total, base = np.zeros(x.shape), q
    for _ in range(int(np.ceil(max(_LARGE - max(lowest, -1000.0), 0.0)))):
        small = base < _LARGE
        total = total + np.where(small, base ** -x, 0)
        base = np.where(small, base + 1, base)
    total = total + base ** (1 - x) / (x - 1) + 0.5 * base ** -x
    factor = x * base ** (-x - 1)
    for k, b in enumerate(_BERNOULLI, start=1):
        total = total + b / math.factorial(2 * k) * factor
        factor = factor * (x + 2 * k - 1) * (x + 2 * k) / (base * base)
    total = np.where((q <= 0) & (q == np.floor(q)), np.inf, total)
    undefined = (x < 1) | (q <= 0) & (x != np.floor(x)) & (q != np.floor(q))
    return np.where(undefined, np.nan, np.where(x == 1, np.inf, total))


@op("Zeta", infer=broadcast_shape, elementwise=True, dtypes=WIDE)
def zeta(x, q):
    """Hurwitz's zeta: the sum of (q + k)^-x over k >= 0, for x > 1. x, q: float[...] -> float[...]."""
    return through_float64(_zeta, x, q)


@zeta.gradient
def _(node, dy):
    x, q = node.inputs
    dq = -(dy * x * build.Zeta(x + 1, q))
    return blocked("the slope of zeta by its exponent is not supported"), unbroadcast(dq, q)


def _polygamma(a, x):
    factorial = np.exp(log_gamma(a + 1))
    whole = np.where(factorial < 2.0 ** 53, np.rint(factorial), factorial)
    found = np.where(np.mod(a, 2) == 1, 1.0, -1.0) * whole * _zeta(a + 1, x)
    return np.where(a == 0, _digamma(x), np.where((a < 0) | (a != np.floor(a)), np.nan, found))


@op("Polygamma", infer=broadcast_shape, elementwise=True, dtypes=WIDE)
def polygamma(a, x):
    """The a-th derivative of digamma, a = 0, 1, 2, … a, x: float[...] -> float[...]."""
    return through_float64(_polygamma, a, x)


@polygamma.gradient
def _(node, dy):
    a, x = node.inputs
    return blocked("the order of a derivative is a whole number"), unbroadcast(dy * build.Polygamma(a + 1, x), x)


# ---- Bessel -------------------------------------------------------------------------------

def _scaled_bessel(order, x):
    """exp(-|x|) I_order(x), order 0 or 1; Abramowitz and Stegun 9.6.19, from 30 on 9.7.1.

    The integral's trapezoids converge to the last bit, as the integrand is periodic. Angles are
    taken in pairs, t and pi - t, so that I_1 keeps its digits near 0.
    """
    size = np.abs(x)
    z = np.minimum(size, 30.0)
    near = np.zeros_like(z)
    for c in np.cos((np.arange(32) + 0.5) * (math.pi / 64)).tolist():
        difference = -np.expm1(-2 * z * c)
        near += np.exp(z * (c - 1)) * (c * difference if order else 2 - difference) / 64
    z = np.maximum(size, 30.0)
    term = far = np.ones_like(z)
    for k in range(1, 20):
        term = -term * (4 * order - (2 * k - 1) ** 2) / (k * 8 * z)
        far = far + term
    found = np.where(size < 30, near, far / np.sqrt(2 * math.pi * z))
    return np.copysign(found, x) if order else found


@op("BesselI0e", infer=same_shape, elementwise=True, dtypes=FLOATS)
def bessel_i0e(x):
    """exp(-|x|) I_0(x), the modified Bessel function. x: float[...] -> float[...]."""
    return through_float64(lambda a: _scaled_bessel(0, a), x)


@bessel_i0e.gradient
def _(node, dy):
    x, = node.inputs
    return (dy * (build.BesselI1e(x) - build.Sign(x) * node.outputs[0]),)


@op("BesselI1e", infer=same_shape, elementwise=True, dtypes=FLOATS)
def bessel_i1e(x):
    """exp(-|x|) I_1(x), the modified Bessel function. x: float[...] -> float[...]."""
    return through_float64(lambda a: _scaled_bessel(1, a), x)


@bessel_i1e.gradient
def _(node, dy):
    x, y = node.inputs[0], node.outputs[0]
    zeros = build.ZerosLike(x)
    is_zero = build.Equal(x, zeros)
    ratio = build.Select(is_zero, zeros + 0.5, build.DivNoNan(y, x))  # y / x is 1/2 in the limit
    return (dy * (build.BesselI0e(x) - build.Sign(x) * y - ratio),)


# ---- 0 where the first factor is 0 ----------------------------------------------------------

def _zero_where(zero, values, out):
    return np.multiply(np.where(zero, values.dtype.type(0), values), 1, out=out)


@op("Xlogy", infer=broadcast_shape, elementwise=True, dtypes=FLOATS + NUMBERS[3:5])
def xlogy(x, y, *, out=None):
    """x log(y), and 0 wherever x is 0, broadcast. x, y: float[...] -> float[...]."""
    return _zero_where(x == 0, x * np.log(y), out)


@xlogy.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy * build.Xlogy(_not_zero(x), y), x), unbroadcast(dy * build.Xdivy(x, y), y)


@op("Xdivy", infer=broadcast_shape, elementwise=True, dtypes=FLOATS + NUMBERS[3:5])
def xdivy(x, y, *, out=None):
    """x / y, and 0 wherever x is 0, broadcast. x, y: float[...] -> float[...]."""
    return _zero_where(x == 0, x / y, out)


@xdivy.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy * build.Xdivy(_not_zero(x), y), x), unbroadcast(dy * build.Xdivy(-x, build.Square(y)), y)


def _not_zero(x):
    return build.Cast(build.NotEqual(x, build.ZerosLike(x)), dtype=x.dtype.base_dtype)


@op("MulNoNan", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def mul_no_nan(x, y, *, out=None):
    """x y, and 0 wherever y is 0, broadcast. x, y: float[...] -> float[...]."""
    return _zero_where(y == 0, x * y, out)


@mul_no_nan.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(build.MulNoNan(dy, y), x), unbroadcast(build.MulNoNan(x, dy), y)

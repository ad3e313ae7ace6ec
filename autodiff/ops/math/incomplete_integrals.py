"""The incomplete gamma and beta functions, regularized: integrals up to x, as parts of the whole."""

import math

import numpy as np

from ...core.declare import op
from ...core.dtypes import float32, float64
from ...core.errors import ShapeError
from ...core.infer import broadcast_shape
from ...core.op import Spec, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import rank_in
from .elementwise import unbroadcast
from .special import digamma, log_gamma, stirling_rest

_WIDE = (float32, float64)
_LAST = 100_000  # terms: about eight times the root of the largest parameter that converges
_TINY = 1e-300
_BIG = 2.0**200


def _settled(change, total, tolerance=2.0**-54):
    return (np.abs(change) <= tolerance * np.abs(total)) | ~np.isfinite(total)


# ---- gamma --------------------------------------------------------------------------------

def _weight(a, x):
    """x^a e^-x / gamma(a + 1), by the distance of x from a where a is large: powers lose no digits there."""
    mu = (x - a) / a
    far = a * (np.log1p(mu) - mu) - 0.5 * np.log(2 * math.pi * a) - stirling_rest(np.maximum(a, 10.0))
    return np.exp(np.where(a < 10, a * np.log(x) - x - log_gamma(a + 1), far))


def _series(a, x):
    """P(a, x) and its slope by a, for x up to about a. Abramowitz and Stegun 6.5.29, term by term."""
    term = total = np.ones_like(x)
    slope = total_slope = np.zeros_like(x)
    for n in range(1, _LAST):
        r = a + n
        slope = (slope - term / r) * (x / r)
        term = term * (x / r)
        total, total_slope = total + term, total_slope + slope
        if np.all(_settled(term, total) & _settled(slope, total_slope)):
            break
    weight = _weight(a, x)
    p = weight * total
    return p, p * (np.log(x) - digamma.kernel(a + 1)) + weight * total_slope


def _fraction(a, x):
    """Q(a, x) and its slope by a, for x above a and 1. The continued fraction of A. and S. 6.5.31, contracted."""
    one, zero = np.ones_like(x), np.zeros_like(x)
    y, z = 1 - a, x + 2 - a
    (p0, q0), (p1, q1) = (one, x), (x + 1, z * x)
    (dp0, dq0), (dp1, dq1) = (zero, zero), (zero, -x)
    value, slope = p1 / q1, -p1 * dq1 / (q1 * q1)
    done = np.zeros(x.shape, bool)  # each element stops by itself: rounding would add up over the steps of the slowest
    for c in range(1, _LAST):
        y, z = y + 1, z + 2
        yc = y * c
        p, q = p1 * z - p0 * yc, q1 * z - q0 * yc
        dp, dq = dp1 * z - p1 - dp0 * yc + p0 * c, dq1 * z - q1 - dq0 * yc + q0 * c
        ratio = p / q
        slope_of_ratio = (dp - ratio * dq) / q
        settled = _settled(ratio - value, ratio) & _settled(slope_of_ratio - slope, slope_of_ratio, 2.0**-51)
        value, slope = np.where(done, value, ratio), np.where(done, slope, slope_of_ratio)
        done |= settled
        scale = np.where(np.abs(p) > _BIG, 1 / _BIG, 1.0)
        p0, q0, dp0, dq0 = p1 * scale, q1 * scale, dp1 * scale, dq1 * scale
        p1, q1, dp1, dq1 = p * scale, q * scale, dp * scale, dq * scale
        if done.all():
            break
    weight = a * _weight(a, x)
    q = weight * value
    return q, q * (np.log(x) - digamma.kernel(a)) + weight * slope


def _gamma_parts(a, x):
    """(P, Q, dP/da) of float64 arrays; nan outside of a > 0, x >= 0."""
    a, x = np.broadcast_arrays(a, x)
    p, slope = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    q = p.copy()
    defined = (a > 0) & (x >= 0) & np.isfinite(a)
    inside = defined & (x > 0) & np.isfinite(x)
    low = inside & ((x <= 1) | (x <= a))
    high = inside & ~low
    if low.any():
        p[low], slope[low] = _series(a[low], x[low])
        q[low] = 1 - p[low]
    if high.any():
        q[high], falling = _fraction(a[high], x[high])
        p[high], slope[high] = 1 - q[high], -falling
    for where, whole in ((defined & (x == 0), 0.0), (defined & np.isinf(x), 1.0)):
        p[where], q[where], slope[where] = whole, 1 - whole, 0.0
    p[x == 0] = slope[x == 0] = 0.0  # for every a, as in TensorFlow
    return p, q, slope


def _part(index, a, x):
    return np.asarray(_gamma_parts(np.asarray(a, np.float64), np.asarray(x, np.float64))[index], a.dtype)


@op("Igamma", infer=broadcast_shape, elementwise=True, dtypes=_WIDE)
def igamma(a, x):
    """The lower incomplete gamma function over gamma(a), P(a, x). a > 0, x >= 0: float[...] -> 0 to 1, else nan."""
    return _part(0, a, x)


@op("Igammac", infer=broadcast_shape, elementwise=True, dtypes=_WIDE)
def igammac(a, x):
    """The upper incomplete gamma function over gamma(a), 1 - P(a, x), exact where it is tiny. a, x: float[...]."""
    return _part(1, a, x)


@op("IgammaGradA", infer=broadcast_shape, elementwise=True, dtypes=_WIDE,
    no_rule="the second slope by the order of an incomplete gamma function is not defined")
def igamma_grad_a(a, x):
    """The slope of P(a, x) by a. a, x: float[...] -> float[...]."""
    return _part(2, a, x)


@igamma.gradient
def _(node, dy):
    a, x = node.inputs
    by_x = build.Exp((a - 1.0) * build.Log(x) - x - build.Lgamma(a))
    return (unbroadcast(build.MulNoNan(build.IgammaGradA(a, x), dy), a), unbroadcast(build.MulNoNan(by_x, dy), x))


@igammac.gradient
def _(node, dy):
    by_a, by_x = igamma.gradient_rule(node, dy)
    return -by_a, -by_x


@op("RandomGammaGrad", infer=broadcast_shape, elementwise=True, dtypes=_WIDE,
    no_rule="the second slope by the order of an incomplete gamma function is not defined")
def random_gamma_grad(alpha, sample):
    """The slope of a gamma(alpha, 1) number by alpha, as P(alpha, sample) stays the same. alpha, sample: float[...].

    Source: Figurnov, Mohamed, Mnih (2018), Implicit reparameterization gradients, equation 5.
    """
    a, x = np.broadcast_arrays(np.asarray(alpha, np.float64), np.asarray(sample, np.float64))
    slope = -_gamma_parts(a, x)[2] * x / (a * _weight(a, x))
    return np.asarray(np.where(x == 0, 0.0, slope), alpha.dtype)


# ---- beta ---------------------------------------------------------------------------------

def _beta_weight(a, b, x):
    """x^a (1 - x)^b / B(a, b), by the distance of x from a / (a + b) where both are large."""
    whole = a + b
    plain = a * np.log(x) + b * np.log1p(-x) + log_gamma(whole) - log_gamma(a) - log_gamma(b)
    gap = x * b - a * (1 - x)
    shift = a * np.log1p(gap / a) + b * np.log1p(-gap / b) + 0.5 * np.log(a * (b / whole) / (2 * math.pi))
    rest = [stirling_rest(np.maximum(n, 10.0)) for n in (whole, a, b)]
    return np.exp(np.where((a < 10) | (b < 10), plain, shift + rest[0] - rest[1] - rest[2]))


def _away(x):
    return np.where(np.abs(x) < _TINY, _TINY, x)


def _beta_fraction(a, b, x):
    """I_x(a, b) for x up to about (a + 1) / (a + b + 2): Abramowitz and Stegun 26.5.8, by Lentz's steps."""
    found, weight, left = np.empty_like(x), _beta_weight(a, b, x) / a, np.arange(x.size)
    c, d = np.ones_like(x), 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _LAST):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _away(1 + step * d)
            c = _away(1 + step / c)
            change = c * d
            value = value * change
        done = _settled(change - 1, 1.0, 2.0**-52)
        if np.count_nonzero(done) * 8 > len(done):  # a few may take a thousand steps: on with those alone
            found[left[done]] = value[done]
            left, a, b, x, c, d, value = (part[~done] for part in (left, a, b, x, c, d, value))
            if not len(left):
                break
    found[left] = value
    return weight * found


def _betainc(a, b, x):
    a, b, x = np.broadcast_arrays(a, b, x)
    found = np.full(x.shape, np.nan)
    defined = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    found[defined & (x == 0)], found[defined & (x == 1)] = 0.0, 1.0
    inside = defined & (x > 0) & (x < 1)
    turned = inside & (x > (a + 1) / (a + b + 2))
    near = inside & ~turned
    if near.any():
        found[near] = _beta_fraction(a[near], b[near], x[near])
    if turned.any():
        found[turned] = 1 - _beta_fraction(b[turned], a[turned], 1 - x[turned])
    return found


def _one_shape(a, b, x):
    dims = ()
    for tensor in (a, b, x):
        if tensor.dims is None:
            return Spec(x.dtype.base_dtype, None)
        if tensor.dims == () or dims == ():
            dims = dims or tensor.dims
            continue
        try:
            dims = merge(dims, tensor.dims)
        except ShapeError as error:
            raise error.explain(hint=f"a, b and x have one shape or are scalars, found {show(a.dims)}, {show(b.dims)} "
                                f"and {show(x.dims)}") from None
    return Spec(x.dtype.base_dtype, dims)


@op("Betainc", infer=_one_shape, dtypes=_WIDE)
def betainc(a, b, x):
    """The incomplete beta function over B(a, b), I_x(a, b). a, b > 0, 0 <= x <= 1: one shape or scalars, else nan."""
    return np.asarray(_betainc(*(np.asarray(v, np.float64) for v in (a, b, x))), x.dtype)


@betainc.gradient
def _(node, dy):
    a, b, x = node.inputs
    log_beta = build.Lgamma(a) + build.Lgamma(b) - build.Lgamma(a + b)
    by_x = build.Exp((b - 1.0) * build.Log(1.0 - x) + (a - 1.0) * build.Log(x) - log_beta)
    reason = "the slope of betainc by its parameters is not supported, as in TensorFlow"
    return blocked(reason), blocked(reason), unbroadcast(build.MulNoNan(by_x, dy), x)


@betainc.batched
def _(node, args, batched):
    ranks = [rank_in(node, i) for i in range(3)]
    rows = [x[(slice(None), *[None] * (max(ranks) - r))] if has else x for x, r, has in zip(args, ranks, batched)]
    whole = build.Shape(build.ZerosLike(rows[0] + rows[1] + rows[2]))
    return build.Betainc(*(build.BroadcastTo(x, whole) for x in rows))

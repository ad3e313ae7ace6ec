"""The error function and its complement, in the precision of float64."""
import math
from functools import lru_cache

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.infer import same_shape
from ...core.op import build


def through_float64(function, *xs):
    """function of float64 arrays; the result in the inputs' own type."""
    return np.asarray(function(*[np.asarray(x, np.float64) for x in xs])).astype(xs[0].dtype, copy=False)


# ---- error function -----------------------------------------------------------------------

_STEPS = 512  # table entries per unit: five Taylor terms from the nearest one reach the last bits
_END = 6.0  # erf is 1 in float64 from here on


@lru_cache(maxsize=1)
def _erf_table():
    """erf and its slope at 0, 1/512, 2/512, … 6."""
    nodes = np.arange(int(_END * _STEPS) + 1) / _STEPS
    return np.array([math.erf(x) for x in nodes.tolist()]), 2 / math.sqrt(math.pi) * np.exp(-nodes * nodes)


def _erf(x):
    """By Taylor's series about the nearest entry of a table; Abramowitz and Stegun 7.1.1, 7.1.19."""
    values, slopes = _erf_table()
    size = np.abs(np.atleast_1d(x))
    np.minimum(size, _END, out=size)
    x0 = np.rint(size * _STEPS)
    with np.errstate(invalid="ignore"):  # nan takes any entry, and stays nan by its distance from it
        index = x0.astype(np.intp)
    x0 *= 1 / _STEPS
    d = np.subtract(size, x0)
    u, d2 = np.multiply(x0, d, out=x0), np.multiply(d, d, out=size)
    series = u * (2 / 15)
    for c in (-1 / 3, 2 / 3, -1.0):
        series += c
        series *= u
    rest = u * -0.4
    rest += 0.5
    rest *= u
    rest -= 1 / 3
    rest += 0.1 * d2
    rest *= d2
    series += rest
    series += 1
    series *= d
    series *= slopes.take(index, mode="clip")
    series += values.take(index, mode="clip")
    return np.copysign(series.reshape(x.shape), x)


@op("Erf", infer=same_shape, elementwise=True, dtypes=FLOATS)
def erf(x):
    """The error function. x: float[...] -> float[...]."""
    return through_float64(_erf, x)


erf.gradient(lambda node, dy: (dy * (2 / math.sqrt(math.pi) * build.Exp(-build.Square(node.inputs[0]))),))


# Cody (1969), Rational Chebyshev approximations for the error function, tables II and III: erfc(x) e^(x^2)
_NEAR = ((2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
          2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
          1.23033935479799725e3),
         (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
          3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3))
_FAR = ((1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
         1.60837851487422766e-2, 6.58749161529837803e-4),
        (1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
         2.33520497626869185e-3))
_ERFC_END = 27.0  # erfc is 0 in float64 from here on


def _ratio(polynomials, x):
    above, below = (horner(coefficients, x) for coefficients in polynomials)
    return above / below


def horner(coefficients, x):
    """The polynomial with these coefficients, highest power first."""
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


def _erfc(x):
    """1 - erf(x) up to 0.47, then by Cody's ratios; e^(-x^2) in two factors, so that x^2 loses no digits."""
    y = np.clip(x, 0.46875, _ERFC_END)
    inverse = 1 / (y * y)
    far = (1 / math.sqrt(math.pi) - inverse * _ratio(_FAR, inverse)) / y
    scaled = np.where(y <= 4, _ratio(_NEAR, np.minimum(y, 4.0)), far)
    head = np.trunc(y * 16) / 16
    tail = np.exp(-head * head) * np.exp(-(y - head) * (y + head)) * scaled
    return np.where(x <= 0.46875, 1 - _erf(x), np.where(x > _ERFC_END, 0.0, np.where(np.isnan(x), x, tail)))


@op("Erfc", infer=same_shape, elementwise=True, dtypes=FLOATS)
def erfc(x):
    """1 - erf(x), exact where it is tiny. x: float[...] -> float[...]."""
    return through_float64(_erfc, x)


erfc.gradient(lambda node, dy: (dy * (-2 / math.sqrt(math.pi) * build.Exp(-build.Square(node.inputs[0]))),))

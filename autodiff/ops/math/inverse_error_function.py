"""The inverses of the error function and of the normal distribution's, which turn uniform numbers into normal ones."""

import math

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.infer import same_shape
from ...core.op import build
from .error_functions import erf, erfc

# Giles, "Approximating the erfinv function" (2010), table 5: single precision, highest power first
_CENTER = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
           -0.00417768164, 0.246640727, 1.50140941)
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
         1.00167406, 2.83297682)


@op("Erfinv", infer=same_shape, elementwise=True, dtypes=FLOATS)
def erfinv(x):
    """The y whose erf is x; infinite at -1 and 1, nan beyond. x: float[...] -> float[...].

    Source: Giles (2010), then two steps of Halley's method on erf, or on erfc where x is near 1.
    """
    wide = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        w = -np.log((1 - wide) * (1 + wide))
        y = wide * np.where(w < 5, np.polyval(_CENTER, w - 2.5), np.polyval(_TAIL, np.sqrt(np.maximum(w, 5)) - 3))
        for _ in range(2):
            near = erf.kernel(y) - wide
            far = np.sign(wide) * ((1 - np.abs(wide)) - erfc.kernel(np.abs(y)))
            step = np.where(np.abs(wide) < 0.5, near, far) / (2 / math.sqrt(math.pi) * np.exp(-y * y))
            y = y - step / (1 + y * step)
        y = np.where(np.abs(wide) == 1, np.copysign(np.inf, wide), y)
    return y.astype(x.dtype, copy=False)


erfinv.gradient(lambda node, dy: (dy * (math.sqrt(math.pi) / 2 * build.Exp(build.Square(node.outputs[0]))),))


# Abramowitz and Stegun (1964), 26.2.23: a first guess from sqrt(-2 log p), highest power first
_ABOVE, _BELOW = (0.010328, 0.802853, 2.515517), (0.001308, 0.189269, 1.432788, 1.0)


@op("Ndtri", infer=same_shape, elementwise=True, dtypes=FLOATS)
def ndtri(x):
    """The y that a standard normal number is below of with probability x; infinite at 0 and 1, nan beyond.

    x: float[...] -> float[...]. Its gradient at 0 and 1 is taken to be 0, as TensorFlow's.
    Source: Abramowitz and Stegun (1964), 26.2.23, then three steps of Halley's method.
    """
    wide = np.asarray(x, np.float64)
    tail = np.minimum(wide, 1 - wide)
    with np.errstate(all="ignore"):
        root = np.sqrt(-2 * np.log(tail))
        y = root - np.polyval(_ABOVE, root) / np.polyval(_BELOW, root)
        for _ in range(3):
            step = (0.5 * erfc.kernel(y / math.sqrt(2)) - tail) * math.sqrt(2 * math.pi) * np.exp(y * y / 2)
            y = y + step / (1 - y * step / 2)
        y = np.where(tail == 0, np.inf, y)
    return np.where(wide < 0.5, -y, y).astype(x.dtype, copy=False)


@ndtri.gradient
def _(node, dy):
    y = node.outputs[0]
    slope = math.sqrt(2 * math.pi) * build.Exp(build.Square(y) / 2.0)
    return (dy * build.SelectV2(build.IsInf(y), build.ZerosLike(y), slope),)

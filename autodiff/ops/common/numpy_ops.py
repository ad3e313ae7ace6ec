"""Elementwise ops that are one function of NumPy's: a row each, of what it is and the slope."""
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, DType, bool_
from ...core.infer import broadcast_shape, same_shape
from ...core.op import Bool

CONTINUOUS = FLOATS + COMPLEX


def numpy_op(name: str, function: np.ufunc, says: str, slope: Callable[..., Any] | None = None, *,
             dtypes: tuple[DType, ...] = CONTINUOUS, infer: Callable[..., Any] | None = None,
             no_grad: str | None = None) -> None:
    """Declare an op of one tensor x, or of two that are broadcast, x and y.

    says: its docstring. slope(dy, x, y): the gradient at x, for an op of one tensor and its value y.
    """
    def of_one(x, *, out=None):  # type: ignore[no-untyped-def]
        return function(x, out=out)

    def of_two(x, y, *, out=None):  # type: ignore[no-untyped-def]
        return function(x, y, out=out)

    def rule(node, dy):  # type: ignore[no-untyped-def]
        return (slope(dy, node.inputs[0], node.outputs[0]),)

    kernel = of_one if function.nin == 1 else of_two
    row = sys._getframe(1)  # there it is declared, in its family
    for made in (kernel, rule):
        made.__code__ = made.__code__.replace(co_filename=row.f_code.co_filename, co_firstlineno=row.f_lineno)
    kernel.__doc__, kernel.__module__ = says, row.f_globals["__name__"]
    if dtypes == (bool_,):
        kernel.__annotations__ = dict.fromkeys("xy"[:function.nin], Bool)
    definition = op(name, infer=infer or (same_shape if function.nin == 1 else broadcast_shape), elementwise=True,
                    dtypes=dtypes, no_grad=no_grad)(kernel)
    if slope is not None:
        definition.gradient(rule)

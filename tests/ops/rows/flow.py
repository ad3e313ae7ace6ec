"""Rows of checks, printing and Python functions."""

import numpy as np
from autodiff.errors import InvalidArgumentError, UnknownError

from autodiff.core.op import build

from ..case import Case, array


def checked(x):
    return build.CheckNumerics(x, message="not finite")


def printed(x):
    return build.Print(x, x, message="x = ", first_n=0, count=[])


def cubed(x):
    return build.PyFunc(x, function=lambda a: a ** 3, types=["float64"], shapes=[x.dims], single=True,
                        gradient=lambda a, dy: 3 * a ** 2 * dy)


def failing(x):
    raise KeyError("no such thing")


ROWS: list[Case] = [
    Case("Assert", (np.array(True), array(2))),
    Case("Assert", (np.array(False), array(2)), fails=InvalidArgumentError, at_run=True, id="false"),
    Case("Assert", (np.array([True, False]), array(2)), fails=ValueError, id="rank"),
    Case("Print", (array(2, 3),), through=printed),
    Case("PrintV2", (array(2, 3), np.array(4)), {"text": ("x = ", ", n = ", "")}),
    Case("CheckNumerics", (array(2, 3),), through=checked),
    Case("CheckNumerics", (np.array([1.0, np.nan, np.inf]),), {"message": "x"}, fails=InvalidArgumentError, at_run=True,
         id="nan"),
    Case("SwitchSide", (array(2, 3), np.array(True)), dict(side=True)),
    Case("SwitchSide", (array(2, 3), np.array(True)), dict(side=False), id="not taken", fails=InvalidArgumentError,
         at_run=True),
    Case("Enter", (array(2, 3),), dict(frame_name="loop", is_constant=True)),
    *(Case(handed_on, (array(2, 3),)) for handed_on in ("Exit", "NextIteration")),
    Case("LoopCond", (np.array(True),)),
    Case("Merge", (array(2, 3), array(2, 3, seed=1))),
    Case("Merge", (array(2, 3),), dict(closed="loop"), id="in a loop", fails=InvalidArgumentError, at_run=True),
    Case("PyFunc", (array(2, 3),), through=cubed, second=False),
    Case("PyFunc", (array(2, 3),), {"function": np.shape, "types": ["float64"], "single": True},
         fails=InvalidArgumentError, at_run=True, id="dtype"),
    Case("PyFunc", (array(2, 3),), {"function": np.modf, "types": ["float64"] * 3}, fails=InvalidArgumentError,
         at_run=True, id="count"),
    Case("PyFunc", (array(2, 3),), {"function": failing, "types": ["float64"]}, fails=UnknownError, at_run=True,
         id="raises"),
]

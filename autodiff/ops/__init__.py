"""The op table: importing this package declares every op, one file per family."""

from . import (
    activation,
    control_flow,
    elementwise,
    join,
    lists,
    matmul,
    nn,
    random,
    sequence,
    shape,
    slice,
    softmax,
    source,
    state,
)

__all__ = [
    "activation",
    "control_flow",
    "elementwise",
    "join",
    "lists",
    "matmul",
    "nn",
    "random",
    "sequence",
    "shape",
    "slice",
    "softmax",
    "source",
    "state",
]

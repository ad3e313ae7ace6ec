"""The op table: importing this package declares every op, one file per family."""

from . import activation, elementwise, join, matmul, nn, random, sequence, shape, slice, softmax, source, state

__all__ = ["activation", "elementwise", "join", "matmul", "nn", "random", "sequence", "shape", "slice", "softmax", "source", "state"]

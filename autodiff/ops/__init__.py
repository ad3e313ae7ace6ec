"""The op table: importing this package declares every op, one file per family."""

from . import elementwise, join, sequence, shape, slice, source, state

__all__ = ["elementwise", "join", "sequence", "shape", "slice", "source", "state"]

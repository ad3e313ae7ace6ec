"""The op table: importing this package declares every op, one file per family."""

from . import elementwise, source, state

__all__ = ["elementwise", "source", "state"]

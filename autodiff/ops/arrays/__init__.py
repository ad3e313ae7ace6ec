"""Ops that make, shape, cut, join and index arrays.

A file is a family. Start with shape.py and slice.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    concat,
    constants,
    diagonal,
    gather,
    partition,
    rearrange,
    sequence,
    shape,
    slice,
    sort,
    space_blocks,
)

"""Ops on the entries of sparse tensors.

Start with with_dense.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    arrangement,
    pairs,
    with_dense,
)

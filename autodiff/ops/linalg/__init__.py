"""Ops on matrices: products, solutions, factors, roots.

A file is a family. Start with matmul.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    decompositions,
    einsum,
    matmul,
    roots,
    solve,
)

"""The whole table: importing this fills it with the rows of each file."""
from __future__ import annotations

from . import arrays, control, elementwise, indexing, linalg, products, random, reductions, windows  # noqa: F401
from .table import JAX

__all__ = ["JAX"]

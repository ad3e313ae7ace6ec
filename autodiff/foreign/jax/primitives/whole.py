"""The whole table: importing this fills it with the rows of each file."""
from __future__ import annotations

from . import arrays, control, elementwise, indexing, products, reductions  # noqa: F401
from .table import JAX

__all__ = ["JAX"]

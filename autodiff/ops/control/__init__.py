"""Ops that call functions of the graph, hold lists of tensors, or reach outside of it.

Start with if_and_while.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    batched_lists,
    if_and_while,
    side_effects,
    tensor_lists,
)

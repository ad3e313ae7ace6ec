"""Ops that read or change what a session keeps: variables, their rows, the steps of optimizers; and summaries.

Start with variables.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    optimizer_steps,
    scatter,
    sparse_optimizer_steps,
    summary,
    variables,
)

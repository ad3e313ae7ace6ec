"""Ops that draw random numbers, from a stream of their own or from a seed given as an input.

Start with stateful.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    candidate_sampling,
    stateful,
    stateless,
    threefry,
)

"""Derivatives: backprop, second order, vectorized subgraphs; importing it gives branches and loops their rules."""

from . import batched_functions, control_flow

__all__ = ["batched_functions", "control_flow"]

"""Derivatives: a graph comes in, the graph of its derivatives goes out; nothing here runs a graph.

Start with backprop.py and sweep.py (the chain rule), then higher_order.py and batching.py (Hessians as one batched
sweep) and tape.py. Importing this package gives branches and loops their rules.
"""

from . import batched_functions, control_flow

__all__ = ["batched_functions", "control_flow"]

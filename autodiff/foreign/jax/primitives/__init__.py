"""What JAX's primitives are made of: one table, filled by a module a kind, each entry a few lines of ours.

Start with `table.py`; `whole.py` is the table with all its rows. Rules take what an equation says, and never
import jax.
"""

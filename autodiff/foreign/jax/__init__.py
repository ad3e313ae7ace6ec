"""JAX: its jaxprs as plain data, a table of its primitives by kind, and the door for scripts.

Start with `reader.py`, which has `from_jax`. `program.py` makes plain data (`data.py`) of a jaxpr, `primitives/walk.py`
goes over its equations and builds each by the table that the files beside it fill: an entry is a few lines of our ops.
`door.py` and `steps.py` make a run of each call of a gradient function (`calls.py`). jax is imported by these and
`program.py` only: where a user's program needs it anyway.
"""

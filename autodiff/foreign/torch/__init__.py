"""PyTorch: what a program does is recorded below autograd, op by op, and made again of our ops. `record.py` sees the
ops, `graph.py` adds them to a graph, `reader.py` is from_torch; `aten/` is the table of ops. Only modules here import
torch, and nothing imports them before the user's program has it.

Start with record.py.
"""

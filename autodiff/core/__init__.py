"""What a graph is: types, shapes, ops, operations, tensors, graphs, and the errors that they raise.

Nothing of ours is imported here; an op, a kernel or a session has no place in it. Start with op.py (the record of an
op), then tensor.py, operation.py and graph.py; declare.py is how a file of `ops/` declares one.
"""

"""Dependencies, branches, loops, TensorArrays and functions of the user's own, at the top of `tf`.

Start with control_flow.py.
"""

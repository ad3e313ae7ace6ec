"""TensorFlow's eager mode: operations that have run, read into a graph, so that every question can be asked of them.

door.py makes each `tape.gradient` of a script a step; trace.py reads what a value was computed from. Start with
door.py.
"""

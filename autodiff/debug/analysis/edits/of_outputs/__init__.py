"""What mends the end of a model: its last activation, and the error that belongs to it.

Start with last_layers.py.
"""

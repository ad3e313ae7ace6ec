"""TensorFlow's functions that make, shape, index and order arrays, at the top of `tf`.

Start with shaping.py.
"""

"""tensorflow.python.framework: what its modules have beside TensorFlow's public names.

A module here is one of that name there. Start with device.py.
"""

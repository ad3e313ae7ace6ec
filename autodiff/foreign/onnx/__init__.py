"""ONNX: files and ModelProtos as graphs. `messages` holds the file format, `reader` the walk over nodes; the other
modules are the table of ops by kind, each row a few lines of our ops with the meaning that ONNX gives it.

Start with reader.py.
"""

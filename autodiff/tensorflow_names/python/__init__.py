"""What `tensorflow.python.*` has beside the public names: a module here for each that public code imports.

places.py says which path leads to which. Where a public name does the same, it is that name.
Start with framework_ops.py.
"""

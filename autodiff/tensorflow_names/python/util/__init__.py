"""tensorflow.python.util: what libraries decorate, inspect and export their functions with.

Start with decorating.py.
"""

"""Ops on numbers, element by element and along axes.

A file is a family: kernel, shape rule, gradient and batching of each op stand together. Start with elementwise.py.
"""

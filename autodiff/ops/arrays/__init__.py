"""Ops that make, shape, cut, join and index arrays.

A file is a family. Start with shape.py and slice.py.
"""

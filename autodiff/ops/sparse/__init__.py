"""Ops on the entries of sparse tensors.

Start with with_dense.py.
"""

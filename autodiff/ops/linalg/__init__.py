"""Ops on matrices: products, solutions, factors, roots.

A file is a family. Start with matmul.py.
"""

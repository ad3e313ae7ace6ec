"""Derivatives that a PyTorch script asks for on its way to a loss.

Start with second.py.
"""

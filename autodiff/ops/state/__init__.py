"""Ops that read or change what a session keeps: variables, their rows, the steps of optimizers; and summaries.

Start with variables.py.
"""

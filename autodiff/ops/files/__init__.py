"""Ops that read or write files, checkpoints and examples first, and ops that only stored graphs have.

A kernel loads the format that it needs from autodiff/files when it first runs. Start with checkpoints.py.
"""

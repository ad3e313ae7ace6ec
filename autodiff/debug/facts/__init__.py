"""Frozen answers and records: what the debugger tells, as names and numbers, never a Tensor.

Start with records.py and answers.py.
"""

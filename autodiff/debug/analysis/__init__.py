"""Why a gradient is as it is: pure functions of a graph and of values computed from it.

Start with why.py.
"""

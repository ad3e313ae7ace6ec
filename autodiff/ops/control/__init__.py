"""Ops that call functions of the graph, hold lists of tensors, or reach outside of it.

Start with if_and_while.py.
"""

"""What a user writes about a graph: targets, conditions, expressions, watches, as data.

Start with targets.py.
"""

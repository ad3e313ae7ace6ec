"""Mistakes about the axis of the examples, or of columns, that only their values or their derivatives show.

Start with mixed.py, which moves one example to see what depends on it.
"""

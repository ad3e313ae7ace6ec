"""Edits that keep nan and inf away: of the graph, to be tried, and of the user's line, to be written.

Start with in_graph.py.
"""

"""Derivatives of graphs, of first and second order."""

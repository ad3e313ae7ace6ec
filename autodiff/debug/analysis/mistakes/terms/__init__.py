"""Mistakes in what terms of a loss are made of, as densities and what is drawn from them.

Start with deviations.py.
"""

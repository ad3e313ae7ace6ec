"""Mistakes of which rows meet: those that are held back, and those that follow one another.

Start with fitted.py.
"""

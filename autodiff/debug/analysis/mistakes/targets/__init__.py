"""Mistakes about targets that a script makes of what its network says itself, as of the best that follows an action.

Start with bootstrapped.py.
"""

"""A user's script as text and as a tree: what stands where, what calls are given, which expression made an op; changes.

Start with parsed.py.
"""

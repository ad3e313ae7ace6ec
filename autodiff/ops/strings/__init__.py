"""Ops on strings, which are bytes.

Start with characters.py: what is done to each string by itself.
"""

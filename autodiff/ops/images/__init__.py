"""Ops on images: colors, crops, sizes, patches.

A file is a family. Start with resize.py.
"""

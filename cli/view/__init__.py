"""Results as text, colors, JSON and pictures. The only room that knows rich.

Start with render.py.
"""

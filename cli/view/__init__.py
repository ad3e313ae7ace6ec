"""Results as text, colors, JSON and pictures.

Start with blocks.py, from which both writers begin: plain.py for pipes, and drawn/ for people. render.py decides.
"""

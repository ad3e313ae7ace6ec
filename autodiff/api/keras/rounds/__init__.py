"""Rounds of Keras' models through batches: what is told of one, and rounds through generators.

Start with numbers.py.
"""

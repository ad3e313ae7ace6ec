"""Ops of neural networks: convolution, pooling, activations, normalization, softmax and its losses.

A file is a family. Start with activations.py.
"""

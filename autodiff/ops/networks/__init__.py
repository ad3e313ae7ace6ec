"""Ops of neural networks: convolution, pooling, activations, normalization, softmax and its losses.

A file is a family. Start with activations.py.
"""

from . import (  # noqa: F401  importing a family declares its ops
    activations,
    bias_and_losses,
    convolution,
    ctc,
    depthwise_convolution,
    normalization,
    pooling,
    pooling_argmax,
    softmax,
)

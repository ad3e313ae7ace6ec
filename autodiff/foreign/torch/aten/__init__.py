"""What PyTorch's ATen ops are made of: one table, declared in a module a kind, each op a few lines of ours.

Start with `common.py`: the table `aten`, how an op is declared, and what rules share (promotion, sizes, axes). Rules
take what ATen's schema says in its order, and never import torch.
"""
from . import (  # noqa: F401  (each declares its ops)
    activations,
    arithmetic,
    comparisons,
    complex_numbers,
    convolutions,
    creation,
    factors,
    images,
    indexing,
    layers,
    losses,
    matrices,
    order,
    pooling,
    reductions,
    shapes,
    special,
)
from .common import aten

__all__ = ["aten"]

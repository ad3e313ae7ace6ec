"""What PyTorch's ATen ops are made of: one table, declared in a module a kind, each op a few lines of ours.

Start with `common.py`: the table `aten`, how an op is declared, and what rules share; `types.py` has promotion. Rules
take what ATen's schema says in its order, and never import torch.
"""
from . import arithmetic, factors, indexing, layers, losses, matrices, reductions, shapes, windows  # noqa: F401
from .common import aten

__all__ = ["aten"]

"""Gradients that a PyTorch script asks for to look at, of parameters that its optimizer steps by those of backward."""
from __future__ import annotations

import ast
import functools
from typing import Any

import torch

from ....debug.analysis.scripts.parsed import Parsed
from ..record import user_frames


def is_measured(inputs: Any, habits: Any) -> bool:
    """Whether torch.autograd.grad asks only by parameters that an optimizer has, in a script that has it step by what
    backward gave them, and gives them nothing else."""
    asked = {id(t) for t in ([inputs] if isinstance(inputs, torch.Tensor) else list(inputs))}
    frames = user_frames()
    if not asked or not asked.issubset(habits.optimized()) or not frames:
        return False
    goes_back, sets = _told(frames[0][0].co_filename)
    return not sets and (goes_back or asked.issubset(habits.given))


@functools.lru_cache(64)
def _told(file: str) -> tuple[bool, bool]:
    """Whether a file calls backward, and whether it sets gradients itself, to something."""
    try:
        source = Parsed.of_file(file)
    except (OSError, SyntaxError, ValueError):
        return False, True
    called = [node.func for node in source.all(ast.Call) if isinstance(node.func, ast.Attribute)]
    set_to = [(target, node.value) for node in source.all(ast.Assign) for target in node.targets]
    return any(func.attr == "backward" for func in called), any(
        _is_gradient(target) and getattr(value, "value", 0) is not None for target, value in set_to) or any(
        _is_gradient(func.value) and func.attr in ("copy_", "add_", "set_") for func in called)


def _is_gradient(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "grad"

"""Gradients beside a step's: those that pile up from step to step, and those that a script asks for only to look at."""
from __future__ import annotations

import ast
import functools
from collections.abc import Collection
from typing import Any

import numpy as np
import torch

from ....debug.analysis.findings import Finding
from ....debug.analysis.scripts.parsed import Parsed
from ....debug.facts.records import Place
from ..graph import array_of
from ..record import numbers_of, user_frames

_LOOKED_AT = 64  # elements of a parameter, that show whether a script has stepped it itself


class Piled:
    """Parameters, by identity, whose gradients a step has used, and that were not zeroed since."""

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._times = 0  # steps in a row that used gradients again
        self._were: dict[int, Any] = {}  # the first elements, as they were before the last backward
        self._by_hand = False

    def stepped(self, own: Collection[int], *, is_first: bool) -> None:
        """Note a step by the gradients of these. is_first: before any backward."""
        self._times = self._times + 1 if not self._used.isdisjoint(own) and not is_first else 0
        self._used |= {*own}

    def before_backward(self, parameters: dict[str, Any], *, by_hand: bool) -> bool:
        """Look at the gradients that a backward will add to; gives whether there are any. by_hand: no optimizer is
        there, so that what has changed was stepped by the script itself."""
        piled = {id(p) for p in parameters.values() if p.grad is not None and bool(numbers_of(p.grad).any())}
        if by_hand:
            now = {id(p): array_of(p).ravel()[:_LOOKED_AT].copy() for p in parameters.values()}
            moved = {i for i in piled & self._were.keys() if not np.array_equal(now[i], self._were[i])}
            if moved:
                self.stepped(moved, is_first=False)
            self._were, self._by_hand = now, True
        self._used &= piled
        return bool(piled)

    def findings(self, parameters: dict[str, Any], at: Place | None) -> list[Finding]:
        """What is added to gradients that were used. parameters: all that the loss has, by name."""
        piled = [name for name, p in parameters.items() if id(p) in self._used]
        if not piled or not self._times:
            return []
        more = f" and {len(piled) - 1} more" if len(piled) > 1 else ""
        step = "the script's own step" if self._by_hand else "optimizer.step()"
        lacks = "they are not zeroed" if self._by_hand else "zero_grad() is not called"
        none = " = ".join([*(f"{name}.grad" for name in piled), "None"])
        return [Finding(92, "gradients accumulate", piled[0], "", piled[0],
                        f"loss.backward() adds to gradients that {step} has used already, in {piled[0]}{more}"
                        f", {self._times} times in a row: {lacks} in between",
                        f"{none if self._by_hand else 'call optimizer.zero_grad()'} before loss.backward()",
                        f"why {piled[0]}", at,
                        written=none if self._by_hand and all(map(str.isidentifier, piled)) else "")]


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

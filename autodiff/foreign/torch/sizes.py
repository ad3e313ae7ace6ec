"""Sizes that torch keeps as symbols, as tensors of ours, and numbers that change from step to step."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ..model import tf


class Numbers:
    """What stands for the numbers of Python's that a record's ops were given, one after the other."""

    def __init__(self, nodes: Sequence[Any], at: int = 0) -> None:
        self._nodes, self._at = nodes, at

    def next(self) -> Any:
        """The next one."""
        self._at += 1
        return self._nodes[self._at - 1]

    def copy(self) -> "Numbers":
        """Those that are left, once more."""
        return Numbers(self._nodes, self._at)

    def skip(self, count: int) -> None:
        """Leave so many out."""
        self._at += count


class Sizes:
    """What each symbol stands for. A size that is an expression of symbols becomes a scalar tensor int32."""

    def __init__(self) -> None:
        self._symbols: dict[str, Any] = {}
        self._made: dict[str, Any] = {}

    def know(self, size: Any, node: Any) -> None:
        """Let a scalar tensor stand for a size, if that is one symbol."""
        expression = getattr(getattr(size, "node", None), "expr", None)
        if expression is not None and expression.is_Symbol:
            self._symbols.setdefault(str(expression), node)

    @staticmethod
    def number(size: Any) -> int | None:
        """What a size has turned out to be; None if it can be any."""
        return int(size.node.expr) if size.node.expr.is_number else None

    def of(self, size: Any) -> Any:
        """A number, or a scalar tensor."""
        expression = size.node.expr
        if expression.is_number:
            return int(expression) if expression.is_Integer else float(expression)
        key = str(expression)
        if key not in self._made:
            self._made[key] = self._tensor(expression)
        return self._made[key]

    def _tensor(self, expression: Any) -> Any:
        if expression.is_Symbol:
            return self._symbols[str(expression)]
        if expression.is_number:
            return int(expression) if expression.is_Integer else float(expression)
        parts = [self._tensor(a) for a in expression.args]
        kind = type(expression).__name__
        if kind in _FOLDS:
            return reduce(_FOLDS[kind], parts)
        if kind in _FUNCTIONS:
            return _FUNCTIONS[kind](*parts)
        raise NotImplementedError(f"a size that is {expression}")


def _float(x: Any) -> Any:
    return float(x) if isinstance(x, (int, float)) else tf.cast(x, tf.float32)


_FOLDS: dict[str, Callable[..., Any]] = {
    "Add": lambda a, b: a + b, "Mul": lambda a, b: a * b, "Max": tf.maximum, "Min": tf.minimum}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "FloorDiv": lambda a, b: a // b, "CleanDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b, "Pow": lambda a, b: a**b, "PowByNatural": lambda a, b: a**b, "ToFloat": _float,
    "IntTrueDiv": lambda a, b: _float(a) / _float(b), "FloatTrueDiv": lambda a, b: _float(a) / _float(b),
    "FloatPow": lambda a, b: _float(a)**b,
    "OpaqueUnaryFn_sqrt": lambda a: tf.sqrt(_float(a)) if hasattr(a, "dtype") else math.sqrt(a)}

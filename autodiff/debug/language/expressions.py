"""NumPy expressions over tensors: parsed, checked and evaluated node by node, without eval."""
from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, AutodiffError
from ...core.names import did_you_mean

_NUMPY = """
    abs absolute add all allclose any arange arccos arcsin arctan arctan2 argmax argmin argsort argwhere around
    array array_equal average broadcast_to ceil clip concatenate cos cosh count_nonzero cov cumprod cumsum diag
    diff divide dot dtype equal exp expand_dims expm1 eye flip float32 float64 floor full full_like greater
    histogram imag int32 int64 inner isclose isfinite isinf isnan isneginf isposinf less linspace log log10
    log1p log2 logical_and logical_not logical_or matmul max maximum mean median min minimum mod multiply
    nan_to_num nanmax nanmean nanmin nansum ndim negative nonzero norm ones ones_like outer percentile power
    prod ptp quantile ravel real reciprocal repeat reshape round shape sign sin sinh size sort sqrt square
    squeeze stack std subtract sum take tan tanh tensordot tile trace transpose tril triu unique var where zeros
    zeros_like
"""
_FUNCTIONS: dict[str, Any] = {name: getattr(np, name) for name in _NUMPY.split() if hasattr(np, name)}
_FUNCTIONS.update(norm=np.linalg.norm, det=np.linalg.det, eigvalsh=np.linalg.eigvalsh, eigh=np.linalg.eigh,
                  inv=np.linalg.inv, svd=np.linalg.svd, matrix_rank=np.linalg.matrix_rank, cond=np.linalg.cond,
                  len=len, float=float, int=int, bool=bool)
FUNCTIONS = tuple(_FUNCTIONS)  # their names
_CONSTANTS = {"nan": np.nan, "inf": np.inf, "pi": np.pi, "e": np.e, "None": None, "True": True, "False": False,
              "newaxis": None}
_METHODS = frozenset("""
    all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot flatten item max mean min
    nonzero prod ravel repeat reshape round sort squeeze std sum swapaxes take tolist trace transpose var
""".split())
_ATTRIBUTES = frozenset("T shape size ndim dtype real imag name".split())
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: operator.invert, ast.Not: operator.not_}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge}
_NAME = re.compile(r"`(?P<quoted>[^`]+)`|\$(?P<history>\d+)|(?<![\w)\]])(?P<short>%\d+(?::\d+)?)(?!\w)"
                   r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<digits>\d[\w.]*)"
                   r"|(?P<name>[A-Za-z_][\w.\-]*(?:/[\w.\-]+)*(?::\d+)?)")
_GRADIENT = re.compile(r"(?<![\w.`/])grad\s*\(")
_LARGEST = 1 << 27  # elements that an expression may create out of nothing


@dataclass(frozen=True)
class Expression:
    """A parsed expression. names: placeholder in the tree -> target as typed. history: placeholder -> n of `$n`.

    gradients: placeholder -> target of `grad(TARGET)`.
    """

    text: str
    tree: ast.expr
    names: dict[str, str]
    history: dict[str, int]
    gradients: dict[str, str]


def parse_expression(text: str, known: Callable[[str], bool]) -> Expression:
    """known(word): whether a word is the full name, handle or short handle of a tensor.

    Names with `/`, `:` or `-` are taken as long as they are known; in backquotes, any target. Raises ArgumentError.
    """
    names: dict[str, str] = {}
    history: dict[str, int] = {}

    def stand_in(target: str) -> str:
        for placeholder, typed in names.items():
            if typed == target:
                return placeholder
        names[f"tensor_{len(names)}_"] = target
        return f"tensor_{len(names) - 1}_"

    def replace(match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        if kind == "quoted":
            return stand_in(match["quoted"])
        if kind == "short":
            return stand_in(match["short"]) if known(match["short"]) else match[0]
        if kind == "history":
            history[f"history_{match['history']}_"] = int(match["history"])
            return f"history_{match['history']}_"
        if kind != "name":
            return match[0]
        word = match["name"]
        for end in [len(word), *(m.start() for m in reversed(list(re.finditer(r"[/:.\-]", word))))]:
            head = word[:end]
            if known(head):
                return stand_in(head) + _NAME.sub(replace, word[end:]) if not word[end:].startswith(".") else (
                    stand_in(head) + word[end:])
        return word if not re.search(r"[/\-:]", word) else re.sub(r"[^/\-:]+", lambda m: m[0], word)

    bare, gradients = _without_gradients(text)
    replaced = _NAME.sub(replace, bare)
    try:
        tree = ast.parse(replaced.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(f"not an expression: {text!r}: {getattr(error, 'msg', error)}",
                            hint="names with unusual characters go in backquotes: `scope/name:0`") from None
    return Expression(text, tree, names, history, gradients)


def _without_gradients(text: str) -> tuple[str, dict[str, str]]:
    """An expression with a placeholder for each `grad(TARGET)` in it, and their targets."""
    gradients: dict[str, str] = {}
    while (match := _GRADIENT.search(text)) is not None:
        end = match.end()
        depth = 1
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if depth:
            raise ArgumentError(expected=f"a ')' after {text[match.start():]!r}", found="the end")
        placeholder = f"gradient_{len(gradients)}_"
        gradients[placeholder] = text[match.end():end - 1].strip().strip("`")
        text = text[:match.start()] + placeholder + text[end:]
    return text, gradients


def free_names(expression: Expression) -> set[str]:
    """Plain names in an expression that are neither functions nor constants: values or tensors of the script."""
    found = {node.id for node in ast.walk(expression.tree) if isinstance(node, ast.Name)}
    return {n for n in found if n not in expression.names and n not in expression.history
            and n not in expression.gradients and n not in _FUNCTIONS
            and n not in _CONSTANTS and n not in ("np", "numpy")}


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """The value. values: by placeholder and by plain name. Raises ArgumentError for what is not allowed or fails."""
    try:
        with np.errstate(all="ignore"):
            return _Evaluator(values).visit(expression.tree)
    except AutodiffError as error:
        raise error.explain(node=f"the expression {expression.text!r}") from None
    except RecursionError:
        raise ArgumentError(f"the expression nests too deeply: {expression.text[:60]!r}…") from None
    except (ArithmeticError, ValueError, TypeError, IndexError, KeyError, MemoryError, AttributeError,
            np.linalg.LinAlgError) as error:
        raise ArgumentError(f"{type(error).__name__} in the expression {expression.text!r}: {error}") from None


class _Evaluator:
    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def visit(self, node: ast.expr) -> Any:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ArgumentError(f"{type(node).__name__} is not allowed: expressions are made of tensors, numbers, "
                                "indexing, arithmetic, comparisons and NumPy functions")
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        for table in (self.values, _CONSTANTS, _FUNCTIONS):
            if node.id in table:
                return table[node.id]
        raise ArgumentError(f"no tensor, handle or function is called {node.id!r}").explain(
            hint=did_you_mean(node.id, [*self.values, *_FUNCTIONS]))

    def _attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "linalg") or isinstance(
                node.value, ast.Attribute) and node.value.attr == "linalg":
            if node.attr in _FUNCTIONS or node.attr in _CONSTANTS:
                return {**_CONSTANTS, **_FUNCTIONS}[node.attr]
            raise ArgumentError(f"np.{node.attr} is not supported here").explain(
                hint=did_you_mean(node.attr, _FUNCTIONS))
        if node.attr not in _ATTRIBUTES and node.attr not in _METHODS:
            raise ArgumentError(f"attribute {node.attr!r} is not allowed").explain(
                hint=did_you_mean(node.attr, [*_ATTRIBUTES, *_METHODS]))
        value = self.visit(node.value)
        return getattr(value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value), node.attr)

    def _subscript(self, node: ast.Subscript) -> Any:
        value = self.visit(node.value)
        value = value if isinstance(value, (tuple, list, np.ndarray)) else np.asarray(value)
        return value[self.visit(node.slice)]

    def _slice(self, node: ast.Slice) -> slice:
        return slice(*[None if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)])

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.visit(item) for item in node.elts)

    def _list(self, node: ast.List) -> list[Any]:
        return [self.visit(item) for item in node.elts]

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            whole = isinstance(left, int) and isinstance(right, int)
            return float(left) ** right if whole and abs(right) * max(abs(left),
                                                                      2).bit_length() > 512 else left ** right
        if type(node.op) not in _BINARY:
            raise ArgumentError(f"the operator {type(node.op).__name__} is not allowed")
        if isinstance(left, (str, list, tuple)) or isinstance(right, (str, list, tuple)):
            left, right = np.asarray(left), np.asarray(right)
        return _BINARY[type(node.op)](left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.visit(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        values = (bool(np.all(self.visit(v))) for v in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)

    def _compare(self, node: ast.Compare) -> Any:
        left = self.visit(node.left)
        result: Any = True
        for op, item in zip(node.ops, node.comparators):
            right = self.visit(item)
            if isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
                raise ArgumentError(f"the comparison {type(op).__name__} is not allowed")
            here = _COMPARE[type(op)](left, right)
            result = here if result is True else np.logical_and(result, here)
            left = right
        return result

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.visit(node.body) if np.all(self.visit(node.test)) else self.visit(node.orelse)

    def _call(self, node: ast.Call) -> Any:
        function = self.visit(node.func)
        if not callable(function):
            raise ArgumentError(f"{ast.unparse(node.func)!r} is not a function")
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise ArgumentError("* and ** are not allowed in calls")
        args = [self.visit(a) for a in node.args]
        keywords = {str(k.arg): self.visit(k.value) for k in node.keywords}
        if "out" in keywords:
            raise ArgumentError("out= is not allowed: an expression changes nothing")
        _check_size(getattr(function, "__name__", ""), args)
        return function(*args, **keywords)


def _check_size(name: str, args: list[Any]) -> None:
    """Refuse what would fill the memory."""
    if name in ("zeros", "ones", "full", "eye", "arange", "linspace", "tile", "repeat", "broadcast_to") and args:
        numbers = [float(n) for a in args for n in np.ravel(np.asarray(a, dtype=object)) if isinstance(n, (int, float))]
        if np.prod([max(abs(n), 1.0) for n in numbers[:8]] or [1.0]) > _LARGEST:
            raise ArgumentError(f"{name} would make more than {_LARGEST:,} elements")

"""Expressions of a script: which ops one makes, which number one is, and `a /= b` as what it computes."""
from __future__ import annotations

import ast
import copy
import math

from ....core.graph import Operation

_WRITTEN = {"Const": ("constant", "converttotensor"), "Sum": ("reducesum",), "Mean": ("reducemean",),
            "Prod": ("reduceprod",), "Mul": ("multiply",), "Sub": ("subtract",), "AddV2": ("add",),
            "RealDiv": ("div", "divide", "truediv"), "Pow": ("pow", "power"),
            "Select": ("where",), "SelectV2": ("where", "wherev2"),
            "Sqrt": ("sqrt", "norm", "std"), "Acos": ("arccos",), "Asin": ("arcsin",), "Atanh": ("arctanh",),
            "Acosh": ("arccosh",), "Square": ("pow", "power"),
            "SelfAdjointEigV2": ("eigh", "selfadjointeig"), "NotEqual": ("ne",), "Equal": ("eq",),
            **dict.fromkeys(("VariableV2", "VarHandleOp"), ("variable", "getvariable"))}
_OPERATORS: dict[str, type[ast.operator | ast.unaryop | ast.cmpop]] = {
    "Equal": ast.Eq, "NotEqual": ast.NotEq, "Less": ast.Lt, "LessEqual": ast.LtE, "Greater": ast.Gt,
    "GreaterEqual": ast.GtE,
    "RealDiv": ast.Div, "Pow": ast.Pow, "Sub": ast.Sub, "Add": ast.Add,
    "AddV2": ast.Add, "Mul": ast.Mult, "MatMul": ast.MatMult,
    "Neg": ast.USub, "Square": ast.Pow}  # as PyTorch takes one
LEAST, MOST = 3e-8, 65520.0  # what float16 takes for 0 and for inf


class Plainly(ast.NodeTransformer):
    """`a /= b` as `a = a / b`: what is computed stands where the statement does."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.Assign:
        left = copy.deepcopy(node.target)
        left.ctx = ast.Load()
        made = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], made), node)


def name_of(node: ast.expr) -> str:
    """The last word of a dotted name, in small letters without underscores; "" of anything else."""
    word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return word.replace("_", "").lower()


def pairs_of(statement: ast.Assign | ast.AnnAssign) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement gives values to, with these; of a tuple the whole and each of its parts."""
    if statement.value is None:
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    pairs = [(target, statement.value) for target in targets]
    return pairs + [part for pair in pairs for part in zip(*(getattr(side, "elts", ()) for side in pair))]


def makes(node: ast.expr, op: Operation) -> bool:
    """Whether an expression is one that makes ops of this type."""
    if op.type == "Reciprocal" and isinstance(node, ast.BinOp):  # with which PyTorch divides 1
        return isinstance(node.op, ast.Div) and number_of(node.left) == 1
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return isinstance(node.op, _OPERATORS.get(op.type, ()))
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], _OPERATORS.get(op.type, ()))
    return isinstance(node, ast.Call) and name_of(node.func) in (op.type.lower(), *_WRITTEN.get(op.type, ()))


def number_of(node: ast.expr) -> float:
    """What a literal, or inf by one of its names, is; nan for all else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -number_of(node.operand)
    if isinstance(node, ast.Attribute) or isinstance(node, ast.Call) and name_of(node.func) == "float" and node.args:
        word = node.attr if isinstance(node, ast.Attribute) else getattr(node.args[0], "value", "")
        return {"inf": math.inf, "Inf": math.inf, "-inf": -math.inf, "NINF": -math.inf}.get(word, math.nan)
    value = getattr(node, "value", None)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan

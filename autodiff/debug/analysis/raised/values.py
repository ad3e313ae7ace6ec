"""Errors of values: of another type, of another shape, numbers where tensors are wanted."""
from __future__ import annotations

import ast
import re
from math import prod

import numpy as np

from ....core.graph import Operation
from ...facts.roles import VARIABLES, at_line, place_of, traceback_of
from ..advice import Remark
from ..scripts.changes import Change
from ..scripts.parsed import LOOPS, is_within
from .raised_at import RaisedAt

_TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64")  # what is cast first; float32 last


def renamed(at: RaisedAt) -> Remark | None:
    """Names of tensors that were given to something else, as to what a run gave, before they are used again."""
    asked: list[ast.AST | None] = [key for node in ast.walk(at.tree) if isinstance(node, ast.Dict) for key in node.keys]
    asked += [node for call in at.calls("run") for given in call.args[:1] for node in ast.walk(given)]
    names = sorted({node.id for node in asked if isinstance(node, ast.Name) and is_within(node, at.node)
                    and isinstance(at.value(node), (np.ndarray, np.generic, float, int))})
    changes: list[Change] = []
    for name in names:
        named = [node for node in ast.walk(at.scope(at.node)) if isinstance(node, ast.Name) and node.id == name]
        first, *_, last = sorted((node for node in named if isinstance(node.ctx, ast.Store)), key=at.range)
        if isinstance(getattr(at.statement(first), "value", None), ast.Constant):
            return None  # it was no tensor before
        after = last.lineno if isinstance(at.statement(last), LOOPS) else getattr(at.statement(last), "end_lineno", 0)
        changes += [(*at.range(node), f"{name}_value") for node in named
                    if node is last or node.lineno > after and node not in asked]
    return at.remark(f"{' and '.join(names)} stood for a tensor, and is given to something else",
                     f"give that another name: {names[0]}_value", changes, last)


def one_number(at: RaisedAt) -> Remark | None:
    """An array of one element where Python wants a number, which NumPy 2.4 makes of none that has an axis."""
    nodes = [node for node in ast.walk(at.statement(at.node)) if isinstance(value := at.value(node), np.ndarray)
             and value.ndim and value.size == 1 and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))]
    text = " and ".join(dict.fromkeys(map(at.written, nodes)))
    return at.remark(f"{text} {'is' if len(nodes) == 1 else 'are each'} an array of one element, and NumPy "
                     f"{np.__version__} takes none for a number", f"{at.written(nodes[0])}.item() in place of it",
                     [(*at.range(node), f"{at.written(node)}.item()") for node in nodes], nodes[0]) if nodes else None


def of_operation(at: RaisedAt) -> Remark | None:
    """None, of an operation that was run, where a number is wanted."""
    for call in at.calls("run"):
        node, fetched = at.statement(call), call.args[0] if call.args else call
        target = node.targets[0] if isinstance(node, ast.Assign) and node.value is call else None
        is_none = isinstance(target, ast.Name) and at.names.get(target.id, call) is None
        is_it = target is not None and (is_none or node is at.statement(at.node))
        if is_it and isinstance(at.value(fetched), Operation):
            loss = next((at.written(given) for each in at.calls("minimize") for given in each.args[:1]
                         if at.tensor(given) is not None), "loss")
            changes = [(*at.range(fetched), f"[{at.written(fetched)}, {loss}]")]
            changes += [(*at.range(target), f"_, {at.written(target)}")] if isinstance(target, ast.Name) else []
            return at.remark(f"{at.written(fetched)} is an operation, of which a run gives None",
                             f"fetch the loss too, [{at.written(fetched)}, {loss}]", changes, node)
    return None


def other_type(at: RaisedAt) -> Remark | None:
    """Two types of numbers in one operation: what has the narrower one, or the wider one of two floats, is cast."""
    old, new = sorted(re.findall(r"\b(float\d+|u?int\d+|bool)", at.said.partition("\n")[0])[:2],
                      key=lambda name: _TYPES.index(name) if name in _TYPES else len(_TYPES))
    known = {node: t.dtype.base_dtype.name for node in at.operands if (t := at.tensor(node)) is not None}
    node = next(node for node in at.operands if known.get(node, old if new in known.values() else "") == old != new)
    made = f", made{at_line(place_of(tensor.op))}," if (tensor := at.tensor(node)) is not None else ""
    cast = at.cast(node, new)
    changes = [(*at.range(node), cast)]
    for each in ast.walk(at.scope(at.node)):  # and others of that type, beside what is not made yet
        sides = [each.left, each.right] if isinstance(each, ast.BinOp) and each.lineno > at.node.lineno else []
        for side, other in zip(sides, sides[::-1]):
            t = at.tensor(side)
            if t is not None and t.dtype.base_dtype.name == old and isinstance(other, ast.Name) and (
                    other.id not in at.names):
                changes.append((*at.range(side), at.cast(side, new)))
    return at.remark(f"{at.written(node)}{made} is {old}", f"{cast} in place of it", changes)


def inner_sizes(at: RaisedAt) -> Remark | None:
    """A matrix of other rows than there are columns, or what is no table and meets a matrix."""
    (left, x, inner), (right, w, shape) = ((node, t, t.dims or ()) for node in at.operands
                                           if (t := at.tensor(node)) is not None)
    size, (rows, columns) = prod(each or 0 for each in inner[1:]), shape
    if "transpose" in at.written(at.node) or w.op.type not in VARIABLES:
        return None
    if len(inner) > 2 and size == rows:
        return at.in_place(f"{at.written(left)} has {len(inner) - 1} axes after the first, {size} numbers together",
                           left, at.tensorflow("reshape", left, f"[-1, {size}]"))
    changes = [(*at.range(each.elts[0]), str(size)) for node in at.spanned(w.op, exact=False) for each in ast.walk(node)
               if isinstance(each, (ast.List, ast.Tuple)) and len(each.elts) == 2][:1]
    made = at_line(traceback_of(w.op)[:1 if changes else 2][-1])  # or where the layer that makes it is called
    called = {(site.file, site.line) for site in traceback_of(w.op)[1:]} if not changes else set()
    lists = [each for each in ast.walk(at.tree) if isinstance(each, (ast.List, ast.Tuple)) and len(each.elts) == 2
             and (at.file, each.lineno) in called and getattr(each.elts[1], "value", columns) == columns]
    changes += [(*at.range(each.elts[0]), str(size)) for each in lists if len(lists) == 1]
    return at.remark(f"{at.written(right)}, made{made}, has {rows} rows, and {at.written(left)} {size} columns",
                     f"[{size}, {columns}]{made}", changes) if len(inner) == 2 and size != rows else None


def of_another_shape(at: RaisedAt) -> Remark | None:
    """What is fed in another shape than its placeholder has, wherever it is fed."""
    key, given, fed = next((key, value, at.fed(t.op)) for node in ast.walk(at.node) if isinstance(node, ast.Dict)
                           for key, value in zip(node.keys, node.values)
                           if (t := at.tensor(key)) is not None and f"Tensor {t.name!r}" in at.said)
    call = re.search(r"(np\S*)value(.*[)\]])|$", at.hint)
    changes = [(*at.range(value), f"{call[1]}{at.written(value)}{call[2]}") for _, value in fed if call and call[1]]
    first = next(node for node in at.all(ast.Import, ast.ImportFrom) if getattr(node, "module", "") != "__future__")
    changes += [at.before(first, "import numpy as np")] if "np" not in at.names and changes else []
    return at.remark("", f"{at.hint}: {at.written(key)}: {at.written(given)}", changes) if (
        at.hint and key is not None) else None

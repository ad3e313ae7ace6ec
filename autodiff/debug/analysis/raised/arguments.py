"""Errors of arguments: labels of another rank, types that a function does not take, NumPy's functions, old orders."""
from __future__ import annotations

import ast
import re
from math import prod
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Tensor
from ....core.shapes import show
from ....core.traversal import ancestors, in_order
from ...facts.roles import VARIABLES, at_line, place_of
from ..advice import Remark
from ..scripts.calls import called, given, words_of
from ..scripts.changes import Change, changed
from .raised_at import RaisedAt

_IN_TENSORFLOW = {"mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min",
                  "dot": "matmul", "power": "pow", "absolute": "abs", "concatenate": "concat", "log1p": "math.log1p",
                  "clip": "clip_by_value", "arctan2": "atan2", "prod": "reduce_prod", **{name: name for name in (
                      "exp", "log", "sqrt", "square", "abs", "tanh", "sin", "cos", "maximum", "minimum", "matmul",
                      "multiply", "add", "subtract", "sign", "where", "zeros_like", "ones_like", "stack", "reshape")}}
_OF_ARRAYS = (ast.If, ast.While, ast.IfExp, ast.Try, ast.With, ast.comprehension, ast.Lambda, ast.Assert)


def labels(at: RaisedAt) -> Remark | None:
    """Labels of another rank than a loss takes: a class where ones and zeros are wanted, the reverse, or a column."""
    op = getattr(at.error, "op", None)
    call: Any = at.node if op is None else next(node for node in at.spanned(op) if isinstance(node, ast.Call))
    words = words_of(call)
    sides = [next((words[name] for name in names if name in words), None) for names in (
        ("labels", "targets", "onehot_labels", "multi_class_labels"), ("logits", "predictions"))]
    label, beside = (side if side is not None else next(iter(call.args[i:]), None) for i, side in enumerate(sides))
    y, z, is_sparse = at.tensor(label), at.tensor(beside), "sparse" in at.written(call.func)
    if label is None or y is None:
        return None
    said = re.findall(r"_size=\[(\d+),(\d+)\]", at.said)
    dims, wide = [*(y.dims or ())], [int(said[0][1])] if said else [*(z.dims or ())[-1:]] if z is not None else []
    text, n = at.written(label), len(dims)
    count = len(z.dims) if z is not None and z.dims is not None else 2
    if beside is None or (n < 2 if is_sparse else wide[:1] in ([], [None])):
        return None
    if is_sparse:
        new = at.tensorflow("squeeze" if dims[-1] == 1 else "argmax", text, "-1")
        asked = "the number of its class is wanted"
    elif wide[0] > 1 and (n < count or dims[-1] == 1) and "softmax" in at.written(call.func):
        ids = text if n < count else at.tensorflow("reshape", text, "[-1]")
        new = at.tensorflow("one_hot", ids if y.dtype.is_integer else at.cast(ids, "int32"), str(wide[0]))
        asked = f"a probability of each of the {wide[0]} classes is wanted"
    elif wide[0] == 1 and n == count - 1:
        new, asked = at.tensorflow("expand_dims", text, "-1"), f"a column is wanted, as {at.written(beside)} is"
    elif n == count + 1 and dims[-1] == 1:
        new, asked = at.tensorflow("squeeze", text, "-1"), f"a number is wanted, as {at.written(beside)} is"
    elif wide[0] > 1 and n == count and isinstance(dims[-1], int) and dims[-1] != wide[0] and z is not None:
        return _as_many(at, z, wide[0], dims[-1])
    else:
        return None
    return at.remark(f"{text}{at_line(place_of(y.op))} is {show(y.dims)} for the examples, where for each {asked}",
                     f"{new} in place of {text}", [(*at.range(label), new)], label)


def _as_many(at: RaisedAt, logits: Tensor, found: int, wanted: int) -> Remark | None:
    """A last layer of another number of classes than the labels have."""
    near = {op for op in ancestors([logits]) if op.type in VARIABLES and (op.attrs.get("shape") or [0])[-1] == found
            and logits.op.index - op.index < 40}
    spanned = {node for op in near for node in at.spanned(op, exact=False)}
    lists = [each for node in spanned for each in ast.walk(node) if isinstance(each, (ast.List, ast.Tuple))]
    ends = [each.elts[-1] for each in lists if each.elts]
    ends += [each for node in spanned if isinstance(node, ast.Call) and "dense" in at.written(node.func).lower()
             for each in given(node, 1, "units")]
    numbers = {number for node in ends for number in at.numbers(node, found)}
    changes: list[Change] = [(*at.range(number), str(wanted)) for number in numbers]
    return at.remark(f"the last layer{at_line(place_of(logits.op))} has {found} units, and there are {wanted} classes",
                     f"{wanted} in place of {found}", changes, min(numbers, key=at.range)) if numbers else None


def of_a_call_around(at: RaisedAt) -> Remark | None:
    """A text that the function around was given where it wants a tensor: arguments that stand one place too late."""
    name = next(node.id for node in ast.walk(at.node) if isinstance(node, ast.Name) and isinstance(at.value(node), str))
    function: Any = at.scope(at.node)
    wanted = [each.arg for each in function.args.args]
    frame = RaisedAt(at.error, at.outer, at.graph)
    args = frame.node.args
    if "DataType string" not in at.said or name not in wanted:
        return None
    place = wanted.index(name) - (wanted[0] == "self")
    moved = len(args) > place + 1 and frame.written(args[place + 1]).rpartition(".")[2] == name
    text = frame.written(args[place])
    return frame.remark(f"{function.name} is given {text}, the text {at.names[name]!r}, for {name}",
                        f"leave {text} out there" if moved else f"give it a tensor for {name}",
                        [(frame.range(args[place])[0], frame.range(args[place + 1])[0], "")] if moved else ())


def not_allowed(at: RaisedAt) -> Remark | None:
    """A type that a function does not take: what has it is cast."""
    name, old, allowed = re.findall(r"parameter '(\w+)' has DataType (\w+) not in list of allowed values: ([\w, ]+)",
                                    at.said)[0]
    new = next(each for each in ("float32", "int64", "int32") if each in allowed.split(", "))
    nodes = [*given(at.node, None, name), *at.node.args, *words_of(at.node).values()]
    typed = [each for each in nodes if (t := at.tensor(each)) is not None and t.dtype.base_dtype.name == old]
    node = [*typed, *(each for each in nodes if isinstance(each, (ast.Call, ast.Compare, ast.BinOp)))][0]
    return at.in_place(f"{at.written(node)} is {old}, and {at.written(at.node.func)} takes no {old}", node,
                       at.cast(node, new))


def in_numpy(at: RaisedAt) -> Remark | None:
    """NumPy's function of a tensor: TensorFlow's of that name."""
    func = at.node.func
    if not isinstance(func, ast.Attribute) or at.written(func.value) != at.numpy or func.attr not in _IN_TENSORFLOW:
        return None
    return at.in_place(f"{at.written(func)} is NumPy's, and is given a tensor", func,
                       f"{at.module()}.{_IN_TENSORFLOW[func.attr]}")


def by_tensorflow(at: RaisedAt, node: ast.AST) -> tuple[list[Change], str]:
    """A Python function of NumPy's as one of TensorFlow's, called by itself: a copy, where others call it too."""
    first, listed = (next(iter(given(node, i, word)), None) for i, word in enumerate(("func", "inp")))
    name = getattr(first, "attr", getattr(first, "id", ""))
    functions = [each for each in at.all(ast.FunctionDef) if each.name == name and not each.decorator_list]
    if first is None or len(functions) != 1 or not isinstance(listed, (ast.List, ast.Tuple)):
        return [], ""
    (function,), module = functions, at.module()
    inside = [each for line in function.body for each in ast.walk(line)]
    changes: list[Change] = []
    for each in inside:
        func: Any = getattr(each, "func", None)
        if called(each) == "astype":
            changes.append((at.range(func)[1] - len(".astype"), at.range(each)[1], ""))
        elif isinstance(func, ast.Attribute) and at.written(func.value) == at.numpy and func.attr in _IN_TENSORFLOW:
            changes.append((*at.range(func), f"{module}.{_IN_TENSORFLOW[func.attr]}"))
        elif func is not None and called(each) != "range" or isinstance(each, _OF_ARRAYS) or isinstance(
                each, ast.For) and called(each.iter) != "range" or isinstance(each, ast.Subscript) and isinstance(
                    each.ctx, ast.Store) or getattr(each, "attr", "") in ("shape", "size", "T"):
            return [], ""
    others = [each for each in ast.walk(at.tree) if name in (getattr(each, "id", ""), getattr(each, "attr", ""))]
    call, own = at.written(first), f"{name}_of_tensors" * (len(others) > 1)
    if own:
        (start, end), call = at.range(function), call[:-len(name)] + own
        text = changed(at.text[start:end], [(low - start, high - start, new) for low, high, new in changes])
        changes = [at.after(function, "", *[""] * (not function.col_offset), text.replace(name, own, 1))]
    call = f"{call}({', '.join(map(at.written, listed.elts))})"
    return [*changes, (*at.range(node), call)], f"{call}, with {module}'s functions in {own or name}"


def of_one_axis(at: RaisedAt) -> Remark | None:
    """A vector that is multiplied with a matrix as a row or a column of one."""
    side = next(i for i, node in enumerate(at.operands)
                if (t := at.tensor(node)) is not None and len(t.dims or ()) == 1)
    node = at.operands[side]
    return at.in_place(f"{at.written(node)} is a vector, and a matrix is wanted", node,
                       at.tensorflow("expand_dims", node, str(side)))


def axes_of_images(at: RaisedAt) -> Remark | None:
    """Images without an axis of channels."""
    node = at.node.args[0]
    t = at.tensor(node)
    rank = re.search(r"expected ndim=(\d), found ndim=(\d)", at.said)
    if t is None or rank is None or int(rank[2]) != int(rank[1]) - 1:
        return None
    return at.in_place(f"{at.written(node)}{at_line(place_of(t.op))} is {show(t.dims)}, without an axis of channels",
                       node, at.tensorflow("expand_dims", node, "-1"))


def given_too(at: RaisedAt) -> Remark | None:
    """An argument that is asked for: a dtype, or the names of two."""
    if "dtype" in at.said:
        new = f"dtype={at.module()}.float32"
        return at.remark("neither an initial state nor a dtype is given", new, [at.one_more(at.node, new)])
    logits, targets = at.node.args[:2]
    new = f"labels={at.written(targets)}, logits={at.written(logits)}"
    return at.remark("its arguments changed places, so they are given by their names", new, [
        (at.range(logits)[0], at.range(targets)[1], new)])


def axis_first(at: RaisedAt) -> Remark | None:
    """An axis in front of the tensors, as it was before TensorFlow 1."""
    axis, values = at.node.args[:2]
    new = f"{at.written(values)}, {at.written(axis)}"
    return at.remark("the tensors come first, then the axis", f"{at.written(at.node.func)}({new})", [
        (at.range(axis)[0], at.range(values)[1], new)]) if isinstance(axis, ast.Constant) else None


def rows_of_another_size(at: RaisedAt) -> Remark | None:
    """A reshape to rows of another size than these have, and all that is written in that size."""
    for op in in_order(ancestors([*at.error.op.inputs, *at.error.op.outputs])):
        wanted = static_value(op.inputs[1]) if op.type == "Reshape" and op.gradient_of is None else None
        found = op.inputs[0].dims if wanted is not None and np.size(wanted) == 2 else None
        size = prod(found[1:]) if found and None not in found[1:] else 0
        call = next((node for node in at.spanned(op) if isinstance(node, ast.Call) and len(node.args) > 1), None)
        if not size or found is None or wanted is None or wanted[0] != -1 or wanted[1] == size or call is None:
            continue
        old = getattr(call.args[1], "elts", [None])[-1]
        same = [node for node in ast.walk(at.tree) if old is not None and ast.dump(node) == ast.dump(old)]
        changes: list[Change] = [(*at.range(node), str(size)) for node in same]
        return at.remark(f"each example of {at.written(call.args[0])} has {' * '.join(map(str, found[1:]))} = {size} "
                         f"numbers, and not {wanted[1]}", f"{size} in place of {at.written(old)}" if old else str(size),
                         changes, call)
    return None

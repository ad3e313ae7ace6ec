"""Errors of sizes: rows that are built in, sizes that only a run has, tables too short, cells that are shared."""
from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ....core.site import Site
from ....core.traversal import ancestors, past
from ...facts.roles import PLACEHOLDERS, VARIABLES, as_place, at_line, place_of
from ..advice import Remark
from ..edits.in_datasets import arrays_of
from ..mistakes.units import shape_of
from ..refusals import maker_of
from ..scripts.calls import called, given, words_of
from ..scripts.changes import Change
from ..scripts.parsed import is_within, starts_of
from .raised_at import RaisedAt

_ARRANGED = ("Reshape", "Transpose", "Identity", "ReadVariableOp")


def rows_built_in(at: RaisedAt) -> Remark | None:
    """A number of rows that a state or constant has for ever, where a batch has fewer."""
    known = [t for t in at.error.op.inputs if t.dims and (t.dims[0] or 0) > 1]
    others = [op.outputs[0] for op in ancestors(at.error.op.inputs) if op.type in PLACEHOLDERS]
    of = next((name for t in others if t.dims and t.dims[0] is None and (name := at.spelling(t))), "")
    for t in known:
        maker, rows = maker_of(t), t.dims[0]
        for call in at.spanned(maker, exact=False):
            parts = [each for each in ast.walk(call) if _is_count(at, each, rows)] if isinstance(call, ast.Call) else []
            text, name = f"{rows} rows are built in{at_line(place_of(maker))}, and a batch has others", of
            if parts and (name := name or _begun_for(at, call)):
                new = f"{at.module()}.shape({name})[0]"
                return at.remark(text, f"{new} in place of {at.written(parts[0])}", [(*at.range(parts[0]), new)], call)
            batches = [each for each in at.calls("batch", "padded_batch") if not given(
                each, 1 if called(each) == "batch" else 3, "drop_remainder") and any(
                    _is_count(at, size, rows) for size in given(each, 0, "batch_size"))] if parts else []
            if batches:
                return at.remark(text, "only whole batches: drop_remainder=True", [
                    at.told(each, "drop_remainder", "True") for each in batches], call)
    return None


def _is_count(at: RaisedAt, node: ast.AST, count: int | None) -> bool:
    """Whether an expression is a number, or a name that has it, or an attribute that a class or object was given it as.
    """
    made = [each.value for each in at.all(ast.Assign) for target in each.targets if isinstance(
        node, ast.Attribute) and node.attr in (getattr(target, "id", ""), getattr(target, "attr", ""))]
    return isinstance(node, (ast.Name, ast.Attribute, ast.Constant)) and (at.value(node) == count or any(
        True for each in (node, *made) for _ in at.numbers(each, count or 0)))


def _begun_for(at: RaisedAt, state: ast.expr) -> str:
    """The name of what a state is the first one for, known before it; "" for none."""
    statement, scope = at.statement(state), at.scope(state)
    names = {getattr(target, "id", "") for target in getattr(statement, "targets", ())}
    for call in (each for each in ast.walk(scope) if isinstance(each, ast.Call) and "time_major" not in words_of(each)):
        is_begun = any(is_within(state, each) or getattr(each, "id", None) in names for each in given(
            call, None, "initial_state"))
        taken = next(iter(given(call, 1, "inputs")), None) if is_begun else None
        if isinstance(taken, ast.Name) and all(each.lineno < statement.lineno for each in at.assigned(
                taken.id, within=scope)):
            return taken.id
    return ""


def axis_of_inputs(at: RaisedAt) -> Remark | None:
    """A variable whose shape is read at another axis of its input than at the last one, which it meets."""
    known = [at.graph.operations[name].outputs[0] for name in re.findall(r"([^\s('<]+):0\b", at.error.node)]
    w, x = sorted((past(t, _ARRANGED) for t in known), key=lambda t: t.op.type not in VARIABLES)
    made, dims, shape = at_line(place_of(w.op)), x.dims or (), w.op.attrs["shape"] or ()
    numbers = {int(each) for each in re.findall(r"\d+ and \d+", at.said)[0].split(" and ")}
    rows = next(iter(numbers - {*dims[-1:]}))
    for call in (each for span in w.op.spans for each in at.all(ast.Call) if span.file == at.file and (
            each.end_lineno, each.end_col_offset) == span[3:] and span[1:3] in starts_of(each)):
        names: list[Any] = [each for each in ast.walk(call) if isinstance(each, (ast.Name, ast.Attribute))]
        read: dict[Any, str] = {
            node: f"{at.written(node.value)}[-1]" for part in (call, *(v for each in names for v in at.given_to(each)))
            for node in ast.walk(part) if isinstance(node, ast.Subscript) and isinstance(
                index := getattr(node.slice, "value", None), int) and dims[index:][:1] == (rows,)}
        unpacked = [each.targets[0].elts for each in ast.walk(at.scope(call)) if isinstance(each, ast.Assign)
                    and isinstance(each.targets[0], ast.Tuple)]
        read |= {each: at.written(parts[-1]) for each in names for parts in unpacked for i, part in enumerate(parts)
                 if dims[i:][:1] == (rows,) and at.written(part) == at.written(each)}
        if len(read) == 1 and dims[-1] in numbers and rows in shape:
            (node, new), = read.items()
            old, read_at = at.written(node), at_line(as_place(Site(at.file, node.lineno, "")))
            return at.remark(f"{at.spelling(w) or w.name}, made{made}, has {rows} rows by {old}"
                             f"{read_at * (read_at != made)}, and meets the last axis "
                             f"of {at.spelling(x) or x.name} of shape {shape_of(dims)}, which has {dims[-1]}",
                             f"{new} in place of {old}", [(*at.range(node), new)], node)
    return None


def whole_batches(at: RaisedAt) -> Remark | None:
    """A loop whose last batch is smaller than its placeholder."""
    shapes = re.search(r"shape \((\d+),.* which has shape '\((\d+),", at.said)
    for loop in at.around(at.node):
        call: Any = getattr(loop, "iter", None)
        given = getattr(call, "args", [])
        if shapes is not None and int(shapes[1]) < int(shapes[2]) and len(given) == 3 and (
                getattr(call.func, "id", "") == "range"):
            new = f"{at.beside(given[1])} - {at.beside(given[2])} + 1"
            return at.remark(f"the last batch has {shapes[1]} rows, and {shapes[2]} are wanted", "leave it out: "
                             f"range({at.written(given[0])}, {new}, {at.written(given[2])})", [
                (*at.range(given[1]), new)], call)
    return None


def one_for_many(at: RaisedAt) -> Remark | None:
    """A placeholder for one example, which is fed many: it is to take any number, and single ones as rows."""
    found = re.search(r"shape \(\d+, (.*)\) for Tensor '(.*)', which has shape '\((.*?),?\)'", at.said)
    op = at.graph.operations.get(found[2].partition(":")[0]) if found is not None else None
    calls = [node for node in at.spanned(op) if isinstance(node, ast.Call)] if op is not None else []
    shape: Any = next((each for call in calls for each in given(call, 1, "shape")), None)
    if op is None or found is None or found[1] != found[3] or not isinstance(shape, (ast.List, ast.Tuple)):
        return None
    new = f"[None, {at.written(shape)[1:]}"
    singles = [each for _, each in at.fed(op) if np.ndim(at.value(each)) == len(shape.elts) or isinstance(
        each, ast.Subscript) and np.ndim(at.value(each.value)) == len(shape.elts) + 1]
    more = [f"{at.written(each)} as [{at.written(each)}]" for each in singles]
    return at.remark(f"{at.spelling(op.outputs[0])} takes one example of {found[3]} numbers, and many are fed",
                     ", and ".join([f"{new} for its shape", *more]), [(*at.range(shape), new), *(
                         (*at.range(each), f"[{at.written(each)}]") for each in singles)], calls[0])


def size_of_a_run(at: RaisedAt) -> Remark | None:
    """None in a shape, where the number of rows is wanted."""
    shapes = [node for node in ast.walk(at.node) if isinstance(node, (ast.List, ast.Tuple)) and any(
        isinstance(each, ast.Constant) and each.value is None for each in node.elts)]
    if not shapes:
        return None
    none = next(each for each in shapes[0].elts if isinstance(each, ast.Constant) and each.value is None)
    axis = shapes[0].elts.index(none)
    rest = [each.value if isinstance(each, ast.Constant) else at.value(each) for each in shapes[0].elts]
    tensors = {name: t for name, t in at.tensors().items() if t.dims and len(t.dims) > axis and t.dims[axis] is None}
    like = [name for name, t in tensors.items() if t.dims is not None and [*t.dims][1:] == rest[1:]]
    name = next(iter([*like, *(name for name, t in tensors.items() if t.op.type in PLACEHOLDERS)]), "")
    new = f"{at.tensorflow('shape', name)}[{axis}]"
    return at.remark("how many rows there are is not known before a run", f"{new} in place of None", [
        (*at.range(none), new)]) if name else None


def known_size(at: RaisedAt) -> Remark | None:
    """A size of a run's, where the graph has that already."""
    for node in ast.walk(at.node):
        inner = node.value if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) else None
        t = at.tensor(inner.args[0]) if inner is not None and called(inner) == "shape" else None
        index = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        if inner is not None and t is not None and t.dims and isinstance(index, int) and t.dims[index] is not None:
            return at.in_place(f"{at.written(node)} has no value while the graph is built", node,
                               f"int({at.written(inner.args[0])}.shape[{index}])")
    return None


def too_few(at: RaisedAt) -> Remark | None:
    """Ids up to the number of what there is a row for: as many as there are and one."""
    said = re.search(r"(?:= |value of )(\d+) (?:is not in|which is outside the valid range of) \[0, (\d+)\)", at.said)
    low, size = (int(each) for each in said.groups() if each) if said is not None else (0, 0)
    fed = [np.max(value) for node in ast.walk(at.node) if isinstance(node, ast.Dict) for each in node.values
           if isinstance(value := at.value(each), np.ndarray) and value.dtype.kind in "iu" and value.size]
    more = int(max([low, *(most for most in fed if most < size + max(2, size // 10))])) + 1 - size
    if low == size and "label" in at.said and (told := _from_one(at, size)) is not None:
        return told
    names = [node for node in at.all(ast.Assign) if isinstance(value := at.value(node.targets[0]), (int, np.integer))
             and value == size]
    if more < 1 or len(names) != 1:
        return None
    node = names[0]
    twins = [] if isinstance(node.value, ast.Constant) else [each for each in at.all(ast.Assign) if each is not node
                                                             and _is_short_too(at, each, node)]
    new = str(size + more) if isinstance(node.value, ast.Constant) else f"{at.beside(node.value)} + {more}"
    return at.remark(f"{low} came where {at.written(node.targets[0])} is {size}: ids go from 0 to {size - 1}",
                     f"{at.written(node.targets[0])} = {new}" + "".join(
                         f", and so {at.written(each.targets[0])}" for each in twins), [
                         (*at.range(node.value), new), *((*at.range(each.value), f"{at.beside(each.value)} + {more}")
                                                         for each in twins)], node)


def _is_short_too(at: RaisedAt, node: ast.Assign, other: ast.Assign) -> bool:
    """Whether another number is made by the same expression of another array, which has it as its largest id."""
    kinds = [re.sub(r"id='\w+'", "", ast.dump(each.value)) for each in (node, other)]
    arrays = [value for each in ast.walk(node.value) if isinstance(value := at.value(each), np.ndarray)]
    return kinds[0] == kinds[1] and any(value.size and np.max(value) == at.value(node.targets[0]) for value in arrays)


def _from_one(at: RaisedAt, size: int) -> Remark | None:
    """Labels that the script has from 1 on, each of as many as there are classes: one less, where they are made."""
    made: dict[str, tuple[RaisedAt, Any]] = {}  # the last statement of each
    for frame in at.callers():
        scopes = (frame.scope(frame.node), frame.tree)
        for node in (each for each in frame.all(ast.Assign) if frame.scope(each) in scopes):
            names = [each for each in getattr(node.targets[0], "elts", node.targets) if isinstance(each, ast.Name)]
            made |= {each.id: (frame, node) for each in names if _counts_from_one(frame.value(each), size)}
    first = {name: each for name, each in made.items() if not any(
        isinstance(part, ast.Name) and part.id in made and part.id != name for part in ast.walk(each[1].value))}
    if not first:
        return None
    changes = [_one_less(*each, name) for name, each in first.items()]
    return at.remark(f"{' and '.join(first)}: 1 to {size}, and labels of {size} classes count from 0",
                     " and ".join(f"{name} - 1" for name in first), changes, next(iter(first.values()))[1])


def _one_less(frame: RaisedAt, made: ast.Assign, name: str) -> Change:
    """Where a statement makes what has a name; of several things where a dataset alone reads it, or behind it."""
    if isinstance(made.targets[0], ast.Name):
        return (*frame.range(made.value), f"{frame.beside(made.value)} - 1")
    reads = [each for each in ast.walk(frame.scope(made)) if isinstance(each, ast.Name) and each.id == name
             and isinstance(each.ctx, ast.Load)]
    sliced = [leaf for leaves in arrays_of(frame) for leaf in leaves]
    return (*frame.range(reads[0]), f"{name} - 1") if len(reads) == 1 and reads[0] in sliced else frame.after(
        made, f"{name} = {name} - 1")


def _counts_from_one(value: Any, size: int) -> bool:
    """Whether an array has the numbers 1 to `size`, and no others."""
    array = np.asarray(value) if isinstance(value, np.ndarray) else np.zeros(0)
    return bool(size > 1 and array.dtype.kind in "iuf" and array.ndim in (1, 2) and array.size > size and (
        array.ndim == 1 or array.shape[1] == 1) and np.array_equal(np.unique(array), np.arange(1, size + 1)))


def shared_cell(at: RaisedAt) -> Remark | None:
    """One cell in several layers, whose weights fit the first: a cell for each."""
    for call in at.calls("MultiRNNCell"):
        given = call.args[0]
        listed = given.left if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult) else None
        cell: Any = listed.elts[0] if isinstance(listed, ast.List) else given.elt if isinstance(
            given, ast.ListComp) else None
        text = _made(at, cell) if isinstance(cell, ast.Name) else ""
        if text:
            count = at.written(given.right) if isinstance(given, ast.BinOp) else ""
            change = (*at.range(given), f"[{text} for _ in range({count})]") if count else (*at.range(cell), text)
            return at.remark(f"{cell.id} is in each layer, with the weights of the first, and the second takes others",
                             "a cell for each layer", [change], call)
    return None


def _made(at: RaisedAt, name: ast.Name) -> str:
    """The expression that a name was given, with what the name was before in it."""
    text = ""
    for node in (each for each in at.assigned(name.id, within=at.scope(name)) if each.lineno < name.lineno):
        text = text.join(re.split(rf"\b{name.id}\b", at.written(node.value))) if text else at.written(node.value)
    return text


def as_columns(at: RaisedAt) -> Remark | None:
    """Labels of a sampled loss, which takes several for each example."""
    node = words_of(at.node)["labels"]
    t = at.tensor(node)
    if t is not None and len(t.dims or (0, 0)) != 1 or is_within(at.node, node):
        return None
    return at.in_place(f"{at.written(node)} is one label for each example, and a row of them is wanted", node,
                       at.tensorflow("expand_dims", node, "1"))

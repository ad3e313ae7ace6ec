"""Placeholders that a run lacks: all of them, what the script calls them, and what is fed for them elsewhere."""
from __future__ import annotations

import ast
import os
import re
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..advice import Remark
from ..scripts.calls import called, given, owner_of
from .raised_at import RaisedAt

_KEEP, _DROP, _RATE = "keep|prob", "drop|rate", "lr|learn|alpha|step_size"
_SOME = ("0.8", "0.2")  # what dropout keeps and drops where the script says nothing
_CAREFUL, _PLAIN = "0.001", "0.01"  # rates of optimizers that scale gradients, and of others


def unfed(at: RaisedAt) -> Remark | None:
    """What a run lacks, by the script's own names, and a value for each."""
    if not isinstance(at.node, ast.Call):
        return None
    call, feed = at.node, _dict_of(at, at.node)
    parts = [*call.args[:1], *filter(None, [owner_of(call)])]
    held = [at.value(each) for part in parts for each in ast.walk(part)]
    fetched = [value for each in held for one in (each if isinstance(each, (list, tuple)) else [each])
               if isinstance(value := at.variable(one), (Tensor, Operation))]
    behind = ancestors([t for value in fetched for t in (value.inputs if isinstance(value, Operation) else [value])])
    behind |= {op for value in fetched if isinstance(value, Operation) for op in value.waits_for}
    behind = ancestors([t for op in behind for t in (*op.inputs, *op.outputs)]) | {
        each for op in behind for w in op.waits_for for each in ancestors(w.outputs)}
    literal = feed if isinstance(feed, ast.Dict) else _literal(at, feed)
    trains = any("Apply" in op.type for op in behind)
    fed = _keys_of(at, literal or feed) if feed is not None else {}
    if feed is not None and literal is None and not isinstance(at.value(feed), dict):
        behind = set()  # nobody knows what else it has
    lacking = [op for op in sorted(behind | {at.error.op}, key=lambda op: op.index)
               if op.type == "Placeholder" and op.outputs[0] not in fed]
    names = {op: at.spelling(op.outputs[0]) for op in lacking}
    values = {op: _value(at, op, feed, fed, trains=trains) for op in lacking}
    if not all(names.values()):
        return None
    pairs = ", ".join(f"{names[op]}: {values[op]}" for op in lacking)
    said = " and ".join(f"{names[op]}{at_line(place_of(op))}" for op in lacking)
    said = f"nothing is fed for {said} in this run"
    if not all(values.values()):
        missing = ", ".join(names[op] for op in lacking if not values[op])
        return Remark(said, at.remark("", "", ()).place, f"feed a value for {missing} too")
    if literal is not None:
        end = at.range(literal)[1] - 1
        comma = ", " * (bool(literal.keys) and not at.text[:end].rstrip().endswith(","))
        change = (end, end, f"{comma}{pairs}")
    elif feed is not None:
        change = (*at.range(feed), f"{{**{at.beside(feed)}, {pairs}}}")
    else:
        change = at.one_more(call, f"feed_dict={{{pairs}}}")
    return at.remark(said, f"feed {pairs}", [change])


def _dict_of(at: RaisedAt, call: ast.Call) -> ast.expr | None:
    """The expression of what a call feeds."""
    is_run = called(call) == "run" and at.thing(owner_of(call)) is None
    return next(iter([*given(call, None, "feed_dict"), *given(call, int(is_run))]), None)


def _literal(at: RaisedAt, feed: ast.expr | None) -> ast.Dict | None:
    """The dict that a name was given, where that is the only one in its function."""
    made = at.assigned(feed.id, within=at.scope(at.node)) if isinstance(feed, ast.Name) else []
    return made[0].value if len(made) == 1 and isinstance(made[0].value, ast.Dict) else None


def _keys_of(at: RaisedAt, feed: ast.expr) -> dict[Any, str]:
    """The tensors that a dict has as keys, and the text of what is fed for each."""
    value = at.value(feed)
    if isinstance(value, dict):
        return dict.fromkeys(value, "")
    return {at.tensor(key): at.written(each) for key, each in zip(feed.keys, feed.values)
            } if isinstance(feed, ast.Dict) else {}


def _value(at: RaisedAt, op: Operation, feed: ast.expr | None, fed: dict[Any, str], *, trains: bool) -> str:
    """What is fed for a placeholder: what its kind asks for in a training or an evaluation, or what is elsewhere."""
    t, name = op.outputs[0], f"{at.spelling(op.outputs[0])} {op.name}".lower()
    elsewhere = [(node, value) for node in at.all(ast.Dict) if node is not feed
                 for key, value in zip(node.keys, node.values) if key is not None and _is_key(at, key, t)]
    if t.dtype.name == "bool":
        return str(trains)
    is_scalar = t.dims == () or t.dims is None and t.dtype.is_floating
    kept = 1 if re.search(_KEEP, name) else 0 if re.search(_DROP, name) else None
    if is_scalar and not trains and kept is not None and not re.search(_RATE, name):
        return "0.0" if not kept else "1.0"
    for node, value in elsewhere:
        if text := _likewise(at, node, at.written(value), fed):
            return text
    if is_scalar and t.dtype.is_floating:
        users = {each.type for each in op.graph.operations.values() if t in each.inputs}
        if re.search(_RATE, name) or any("Apply" in each for each in users):
            return _CAREFUL if any("Adam" in each or "RMS" in each for each in users) else _PLAIN
        return _SOME[not kept] if kept is not None else ""
    return _array(at, t, name, fed)


def _is_key(at: RaisedAt, key: ast.expr, t: Tensor) -> bool:
    """Whether a key of a dict is a placeholder, by its name, or its last part where it is an attribute."""
    name = at.spelling(t)
    return at.written(key).replace("'", '"') == name or "." in name and isinstance(
        key, ast.Attribute) and key.attr == name.rpartition(".")[2]


def _likewise(at: RaisedAt, other: ast.Dict, text: str, fed: dict[Any, str]) -> str:
    """What is fed elsewhere, as what is fed here differs from what is fed beside it there: test_y for train_y."""
    theirs = {at.tensor(key): at.written(value) for key, value in zip(other.keys, other.values)}
    both = [(theirs[key], fed[key]) for key in theirs if key is not None and fed.get(key)]
    for there, here in both:
        start = len(os.path.commonprefix([there, here]))
        end = len(os.path.commonprefix([there[start:][::-1], here[start:][::-1]]))
        old, new = there[start:len(there) - end], here[start:len(here) - end]
        if not old and there.strip():  # X, and here X[:100]
            return text + new if not end else ""
        found = text if there == here else text.replace(old, new, 1) if old in text else ""
        if found and _is_there(at, found):
            return found
    return "" if both else text if not fed and _is_there(at, text) else ""


def _is_there(at: RaisedAt, text: str) -> bool:
    """Whether all names in an expression are known to the frame."""
    return all(name in at.names for name in re.findall(r"(?<![\w.'\"])[A-Za-z_]\w*", text))


def _array(at: RaisedAt, t: Tensor, name: str, fed: dict[Any, str]) -> str:
    """The one array by a name in the script that fits a placeholder, with as many rows as what is fed beside it."""
    rows = {len(at.names[text]) for text in fed.values() if isinstance(at.names.get(text), np.ndarray)}
    found = [key for key, value in at.names.items() if isinstance(value, np.ndarray) and t.dims is not None
             and value.ndim == len(t.dims) and all(n is None or n == m for n, m in zip(t.dims, value.shape))
             and key not in fed.values() and (not rows or len(value) in rows)]
    if len(found) > 1:
        found = [key for key in found if name[:1] == key[:1].lower()]
    return found[0] if len(found) == 1 else ""

"""What a script read or made by NumPy before it fed it: where nan and inf began, and how they are kept away there."""
from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.op import build
from ....core.site import source_lines
from ...facts.records import Place
from ...facts.roles import place_on, takes_elements
from ..advice import Advice, Remark
from ..scripts.expressions import name_of
from ..scripts.source_tree import Source
from .in_datasets import arrays_of
from .in_graph import Edit, constant, replaced
from .in_numpy import LEAST, LOGARITHMS, InNumpy, begun_in, kept_from_zero, reader_of
from .of_givens import cleaned
from .of_keras.given import given_to_keras


def met_first(advice: Advice) -> list[Remark]:
    """What NumPy met last, as what is fed is made late, or where that began; at each line where it met the same; the
    first line first."""
    places = [each.place for each in advice.warned]
    text = "".join(source_lines(places[-1].file)) if places and places[-1] is not None else ""
    last = begun_in([each for each in places if each is not None], text) if text and None not in places else -1
    alike = [each for each in advice.warned if each.text == advice.warned[last].text]
    return list({each.place: each for each in alike}.values())


def over_a_spread(fed: Tensor, values: np.ndarray) -> list[Remark]:
    """Of a column that is nan throughout: the one line that divides by a deviation alone, which is 0 of a constant one.

    NumPy and torch need not warn of it.
    """
    site, bad = fed.op.site, np.isnan(values) if values.ndim > 1 and len(values) > 1 else np.zeros((1, 1), bool)
    columns = bad.all(axis=tuple(range(bad.ndim - 1)))
    if site is None or not columns.any() or columns.all():
        return []
    try:
        nodes = [*ast.walk(ast.parse("".join(lines := source_lines(site.file))))]
    except SyntaxError:
        return []
    spreads = {ast.unparse(target) for node in nodes if isinstance(node, ast.Assign) and is_spread(node.value)
               for target in node.targets}
    found = {node.lineno for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and (
        is_spread(node.right) or ast.unparse(node.right) in spreads)}
    return [Remark("invalid value encountered in divide", Place(site.file, line, "", lines[line - 1].strip()))
            for line in found] if len(found) == 1 else []


def is_spread(node: ast.expr) -> bool:
    """Whether an expression takes a standard deviation."""
    return isinstance(node, ast.Call) and name_of(node.func) == "std"


def read_whole(bad: Sequence[Tensor], feeds: Mapping[Tensor, Any]) -> list[Edit]:
    """What is fed, of a table that is read without the rows that it has not whole; [] where no line surely reads it."""
    file = next((t.op.site.file for t in bad if t.op.site is not None), "")
    try:
        source = Source("".join(source_lines(file)))
        given = [[value for _, value in source.fed(t.op) or given_to_keras(source, t.op)] for t, fed in feeds.items()
                 if np.ndim(fed) and not takes_elements(t.op)]
        given += arrays_of(source) if any(takes_elements(t.op) for t in feeds) else []
        call = reader_of(source, given)
        line = InNumpy(place_on(file, call.lineno), name_of(call.func))
        new = kept_from_zero(source, line)[0][2].strip()
    except (SyntaxError, ValueError, ArgumentError):
        return []
    words = f"leave out the rows that {ast.unparse(call.func)} reads as nan: {new}"
    return [replace(replaced(t, words, cleaned), line=line, explains=True) for t in bad]


def guarded(fed: Tensor, warned: Sequence[Remark]) -> Edit | None:
    """What is fed, as NumPy makes it of what is kept from 0; None where no one expression of a line surely is to blame.

    warned: of the same, at several lines. 0 / 0 is then 0 / 1e-8: that is 0, which the trial computes with.
    """
    said, _, what = warned[0].text.replace("true_", "").partition(" encountered in ") if warned else ("", "", "")
    places = [each.place for each in warned if each.place is not None]
    if {place.file for place in places} != {fed.op.site.file if fed.op.site is not None else ""} or what not in (
            *LOGARITHMS, "divide", "sqrt") or what == "divide" and not said.startswith("invalid"):
        return None
    line = InNumpy(places[0], what, tuple(places[1:]))
    try:
        source = Source("".join(source_lines(line.place.file)))
        changes = dict.fromkeys((source.text[start:end], new) for start, end, new in kept_from_zero(source, line))
    except (SyntaxError, ValueError, ArgumentError):
        return None
    value = float(getattr(np, what)(LEAST)) if what in LOGARITHMS else 0.0
    words = " and ".join(f"{old} is 0 there: divide by {new}" if what == "divide" else
                         f"np.{what} is given {'0' if said.startswith('divide') else 'what is below 0'} there: write "
                         f"{new}" for old, new in changes)
    return replace(replaced(fed, words, lambda x: build.SelectV2(build.IsFinite(x), x, build.Mul(
        constant(value, x), build.OnesLike(x)))), line=line, explains=True)

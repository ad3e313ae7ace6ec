"""Edits of the user's source: the expression that made an op is found and rewritten; all else stays as it is."""
from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ...facts.roles import ASSIGNS
from ..advice import advice_of
from ..scripts.calls import copied_by, given, is_call, word_of
from ..scripts.changes import Change, changed
from ..scripts.expressions import name_of
from ..scripts.parsed import is_within
from ..scripts.source_tree import WHOLE, Source
from .across_functions import AtCall, of_this_alone, taken_apart, written_at_call
from .activations import Activation, LeftOut, left_out, named_otherwise
from .carried_logarithms import Carried, in_logarithms
from .clipping import ClipGradients, ClippedApplied, RunToo, applied_anew, clipped_anew, run_too
from .entropies import Dense, OneUnit, dense, for_one_unit
from .first_values import Begun, begun_anew
from .given_numbers import LowerRate, numbered_anew
from .in_datasets import Taken, sliced, taken
from .in_numpy import Cleaned, InNumpy, kept_from_zero, without_nonfinite
from .of_keras.given import Weight, given_of, given_to_keras, predictions, weighed_anew
from .of_keras.schedules import SetRate, set_anew

_PART = re.compile(r"\{(\d+)\}")
_ALONE = re.compile(r"(?:(?<=\()|(?<=, ))\{\d+\}(?=[),{])")  # no operator is next to it
_OF_LOGITS = ("Softmax", "LogSoftmax", "Sigmoid")

Part = tuple[Operation, int | None]  # an operand of an op; None: the arguments after the first; WHOLE: all of it


@dataclass(frozen=True)
class Rewrite:
    """What is written anew. operand: which argument of `op`; None for the whole expression.

    template: with {tf} for the module, {0}, {1} … for the text of `parts`. otherwise: where that is in no one place.
    """

    op: Operation
    operand: int | None
    template: str
    parts: tuple[Part, ...]
    otherwise: Carried | None = None


class Number(NamedTuple):
    """A number in an op's expression, or one that a name there was given for it alone; what is written for it.

    everywhere: or for what else reads the name too."""

    op: Operation
    value: float
    text: str
    everywhere: bool = False


class Fed(NamedTuple):
    """What is made of the value fed for a placeholder, {0}, wherever it is fed; {np} is NumPy.

    back: what is written behind the predictions of a Keras model whose targets are so changed.
    """

    op: Operation
    template: str
    back: str = ""


class Rows(NamedTuple):
    """How many rows a variable of that rank has, in the shape that it is made with: some more."""

    op: Operation
    rank: int
    more: int


class Swapped(NamedTuple):
    """The labels of the call that made an op in place of its logits, and these in place of those; of an assignment, or
    of weights that are set, what is given and what takes it."""

    op: Operation


class Argument(NamedTuple):
    """What the call that made an op is given by a keyword: `text`, with {0} for what it was; "" for nothing any more.

    For the keyword "" it is what is written around the call.
    """

    op: Operation
    keyword: str
    text: str = ""


Line = (Rewrite | AtCall | LowerRate | Number | Rows | Fed | Taken | Activation | Swapped | Argument | ClipGradients |
        ClippedApplied | RunToo | Dense | OneUnit | InNumpy | Cleaned | Weight | Begun | SetRate | LeftOut | Carried)


def rewritten(text: str, rewrites: Sequence[Line]) -> str:
    """A file's text with what is written anew in it. Raises ArgumentError where an expression is not surely found."""
    try:
        source = Source(text, _words(*rewrites[:1]))
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"it is no Python now: {error}") from None
    return changed(text, [change for each in rewrites for change in _written(source, each)])


def _written(source: Source, line: Line) -> list[Change]:
    """What a line changes; where it is in no one place, what it does in several."""
    named = dict(source.named)
    try:
        return _changes[type(line)](source, line)
    except ArgumentError:
        if not isinstance(line, Rewrite) or line.otherwise is None:
            raise
        source.named = named
        return in_logarithms(source, line.otherwise)


def at_call(lines: Sequence[Line]) -> AtCall | None:
    """The same at the call of the function that returns what is written anew; None if it is no such."""
    line = lines[0] if len(lines) == 1 else None
    found = AtCall(line.op, line.template, line.parts) if isinstance(line, Rewrite) and line.operand is None else None
    return found if found is not None and found.file else None


def anew(text: str, line: Rewrite | Number | AtCall, *, by_hand: bool = False) -> tuple[str, str]:
    """The expression that made the op of an edit, as it is with it; what names in it are. Raises ArgumentError.

    text: the file's. "" where what is written is elsewhere. by_hand: also where no change of one place makes it; parts
    of another function stand as they are written there.
    """
    source = Source(text, _words(line))
    try:
        *_, (start, end, new) = _changes[type(line)](source, line)
    except ArgumentError:
        if isinstance(line, Rewrite) and line.otherwise is not None:
            changes = in_logarithms(Source(text), line.otherwise)
            first, last = (text.count("\n", 0, each[0]) + 1 for each in (changes[0], changes[-1]))
            return changes[-1][2], f"logarithms in lines {first} to {last} in place of exponentials"
        if not by_hand:
            raise
        return _by_hand(source, line)
    first, last = (start, end) if isinstance(line, AtCall) else source.range(source.spanned(line.op)[0])
    names = ", ".join(f"{name} = {source.raw(node)}" for node, name in source.named.items())
    is_there = (first if isinstance(line, Number) else 0) <= start < last
    return text[min(first, start):start] + new + text[end:max(last, end)] if is_there else "", names


def _by_hand(source: Source, line: Line) -> tuple[str, str]:
    """A whole expression that no change of one place makes; which parts of it are made at other lines."""
    if not isinstance(line, Rewrite) or line.operand is not None:
        raise ArgumentError("no one expression is to be written")
    at = source.expression(line.op, whole=(line.op, WHOLE) in line.parts).lineno
    made = [source.expression(op, whole=number == WHOLE) for op, number in line.parts]
    texts = [source.arguments(node, op, number) for node, (op, number) in zip(made, line.parts)]
    others = {text: node.lineno for node, text, (_, number) in zip(made, texts, line.parts)
              if number is not None and node.lineno != at}
    return _PART.sub(lambda found: texts[int(found[1])], source.spelled(line.template)), ", ".join(
        f"{text} as at line {number}" for text, number in others.items())


def _words(*lines: Line) -> Sequence[tuple[str, str]]:
    """What the framework that made an edit's op calls TensorFlow's names."""
    op = getattr(lines[0], "op", None) if lines else None
    return advice_of(op.graph).words if op is not None else ()


def _numbered(source: Source, rewrite: Number) -> list[Change]:
    """At the one number in the op's expression, or of the one name there that nothing else reads."""
    nodes = [each for node in source.spanned(rewrite.op) for each in ast.walk(node) if isinstance(each, ast.expr)]
    zeros = [each for each in nodes if name_of(each).startswith("zeros")]
    if len(zeros) == 1 and (rewrite.value, float(rewrite.text)) == (0.0, 1.0):
        return [(*source.range(*zeros), source.raw(*zeros).replace("zeros", "ones"))]
    found = {number for each in nodes for number in source.numbers(each, rewrite.value)
             if rewrite.everywhere or not isinstance(each, ast.Name) or source.loads(each.id) == 1}
    masks = [word.value for each in nodes if isinstance(each, ast.Call) and rewrite.value == -math.inf
             for word in each.keywords if word.arg == "key_padding_mask" and isinstance(word.value, ast.Name)]
    if not found and len(masks) == 1:  # of PyTorch, which puts -inf in: what is left out whole is let in whole
        return [(*source.range(*masks), "{0} & ~{0}.all(-1, keepdim=True)".format(source.raw(*masks)))]
    if len(found) != 1:
        raise ArgumentError(f"{rewrite.value:g} is written in {len(found) or 'no'} places of it")
    return [(*source.range(*found), rewrite.text)]


def _fed(source: Source, rewrite: Fed) -> list[Change]:
    """At each value fed."""
    module, told = source.imported().get("numpy", ""), given_of(rewrite.op)
    try:
        found = source.fed(rewrite.op) or given_to_keras(source, rewrite.op)
    except ArgumentError:
        if told is None or told.word == "y":
            raise
        return sliced(source, lambda leaves: leaves[told.number] if len(leaves) > told.of else None,
                      rewrite.template.replace("{np}.asarray({0})", "{0}"), rewrite.op.outputs[0].dtype.base_dtype.name)
    if not found or not module and "{np}" in rewrite.template:
        raise ArgumentError(f"what is fed for {rewrite.op.name} is not surely found")
    is_beside = rewrite.template.startswith("{0}")
    changes = [(*source.range(value), rewrite.template.format(
        source.beside(value) if is_beside else source.raw(value), np=module)) for _, value in found]
    for call in predictions(source, rewrite.op) if rewrite.back else ():
        start, end = source.range(call)
        changes += [(start, start, "("), (end, end, f"{rewrite.back})")]
    return changes


def _longer(source: Source, rewrite: Rows) -> list[Change]:
    """In the one list of that length in the expression that makes the variable."""
    shapes = {each for node in source.spanned(rewrite.op) for each in ast.walk(node)
              if isinstance(each, (ast.List, ast.Tuple)) and len(each.elts) == rewrite.rank}
    if len(shapes) != 1:
        raise ArgumentError(f"the shape of {rewrite.op.name} is written in {len(shapes) or 'no'} places there")
    start, end = source.range(shapes.pop().elts[0])
    return [(end, end, f" + {rewrite.more}")]


def _activated(source: Source, rewrite: Activation) -> list[Change]:
    """Where a layer is given the activation; else at the call of it."""
    if changes := named_otherwise(source, rewrite):
        return changes
    op, text = rewrite
    if not text:
        return _change(source, Rewrite(op, None, "{0}", ((op, 0),)))
    node = source.expression(op)
    assert isinstance(node, ast.Call)
    return [(*source.range(node.func), source.spelled(text if text.startswith("{") else f"({text})"))]


def _swapped(source: Source, rewrite: Swapped) -> list[Change]:
    sides = [side for node in source.spanned(rewrite.op) for side in (
        copied_by(node) if rewrite.op.type in ASSIGNS else given(node, None, "labels", "targets", "logits"))]
    if len(sides) != 2:
        raise ArgumentError(f"the two sides of {rewrite.op.name} are not written by name")
    return [(*source.range(side), source.raw(other)) for side, other in zip(sides, sides[::-1])]


def _taking(call: ast.Call, keyword: str) -> ast.Call:
    """Of a layer that is made and called in one, `Dense(3)(x)`, the call that takes a keyword: that which makes it."""
    made = call.func
    return made if isinstance(made, ast.Call) and keyword and word_of(call, keyword) is None else call


def _given(source: Source, rewrite: Argument) -> list[Change]:
    op, keyword, text = rewrite
    calls = [_taking(node, keyword) for node in source.spanned(op) if isinstance(node, ast.Call)]
    if keyword == "zero_infinity" and not any(is_call(call, "ctcloss") for call in calls):  # a layer takes it
        calls = [call for call in source.all(ast.Call) if is_call(call, "ctcloss")]
    word = word_of(calls[0], keyword) if len(calls) == 1 else None
    placed = given(calls[0], 1 + is_call(calls[0], "minimize")) if calls and keyword in ("var_list", "axis") else []
    if len(calls) != 1 or word is None and (("{0}" in text) == bool(keyword) or not text) or keyword == (
            "var_list") and not is_call(calls[0], "minimize", "computegradients"):
        raise ArgumentError(f"no {keyword} is written there")
    if not keyword:
        new = source.spelled(text.replace("{0}", "{}")).format(source.raw(calls[0]))
        return [(*source.range(calls[0]), new)]
    if word is not None and not text:
        return [source.without_word(word)]
    new = text.format(source.beside(word.value)) if word is not None and "{0}" in text else source.spelled(text)
    return [(*source.range(placed[0]), new) if placed and word is None else source.told(calls[0], keyword, new)]


def _change(source: Source, rewrite: Rewrite) -> list[Change]:
    """The names that parts are given, and the new text last."""
    is_whole = (rewrite.op, WHOLE) in rewrite.parts
    if is_whole and rewrite.template.startswith("{tf}.nn.") and of_this_alone(rewrite.op):  # an activation of one layer
        raise ArgumentError("other calls make others there")
    node = source.expression(rewrite.op, whole=is_whole)
    is_norm = is_call(node, "norm")
    if is_norm and not is_whole and (rewrite.operand is None or given(node, 1, "ord")):
        raise ArgumentError("the norm is not a plain one")
    template = source.spelled(rewrite.template)
    if isinstance(node, ast.Call) and name_of(node.func) == "std" and not is_whole:
        (start, end), at = source.range(node), source.range(node.func)[1]
        variance = template.format(f"{source.text[start:at - 3]}var{source.text[at:end]}")
        return [(start, end, source.spelled("{tf}.sqrt({0})").format(variance))]
    target = node if rewrite.operand is None else source.operand(node, rewrite.op, rewrite.operand)
    texts, changes = [], []
    for index, (op, number) in enumerate(rewrite.parts):
        if op.type in _OF_LOGITS and number in (0, None) and (apart := _apart(source, op, node)) is not None:
            texts.append([apart[0] if number == 0 else apart[1]] * 2)
            changes += apart[2]
            continue
        where = source.expression(op, whole=number == WHOLE)
        part = where if number is None else source.operand(where, op, number)
        uses = template.count(f"{{{index}}}") + (not is_within(part, target))
        named = source.named_first(part, node, "logits" if op.type in _OF_LOGITS else "value") if (
            number is not None and uses > 1) else []
        if not named and not is_within(where, node):
            source.check_alike(part, node)
        changes += named[:1] if is_within(part, target) else named
        texts.append([source.named.get(part) or source.arguments(where, op, number, beside=beside and not is_norm)
                      for beside in (False, True)])
    if is_norm and not is_whole:  # of which the root is a part that is not written
        root = source.spelled("{tf}.reduce_sum({tf}.square({0}){1})")
        squared = root.format(texts[0][0], source.arguments(node, rewrite.op, None))
        return [*changes, (*source.range(node), source.spelled("{tf}.sqrt({0})").format(template.format(squared)))]
    alone = {found.start() for found in _ALONE.finditer(template)} | ({0} if template == "{0}" else set())
    new = _PART.sub(lambda found: texts[int(found[1])][found.start() not in alone], template)
    new = re.sub(r"(, keepdims?=True){2}", r"\1", new)  # as the sum's own arguments have it already
    return [*changes, source.put(target, new)]


def _apart(source: Source, op: Operation, target: ast.expr) -> tuple[str, str, list[Change]] | None:
    """The logits of an activation that another function or a layer makes, by a name; None if they stand in reach."""
    try:
        if source.scope(source.expression(op)) is source.scope(target):
            return None
    except ArgumentError:
        pass
    return taken_apart(source, op, target)


_changes: dict[type, Callable[..., list[Change]]] = {
    Rewrite: _change, AtCall: written_at_call, InNumpy: kept_from_zero, LowerRate: numbered_anew, Number: _numbered,
    Rows: _longer, Fed: _fed, Taken: taken, Weight: weighed_anew, Begun: begun_anew, Activation: _activated,
    Swapped: _swapped, Argument: _given, ClipGradients: clipped_anew, ClippedApplied: applied_anew, SetRate: set_anew,
    Cleaned: without_nonfinite, RunToo: run_too, LeftOut: left_out, Dense: dense, OneUnit: for_one_unit,
    Carried: in_logarithms}

"""Lines that make layers of Keras, or say how these are trained, written anew: a number, a word."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection
from typing import TypeVar

from .....core.errors import ArgumentError
from ....facts.roles import place_of
from ...findings import Finding
from ...mistakes.case import Case
from ...mistakes.habits import TURNED, UNSEEN
from ...mistakes.heads import Head, heads
from ...mistakes.last_layer import SQUARED
from ...scripts.calls import given, is_call, owner_text
from ...scripts.changes import Change
from ...scripts.ends import ends, under
from ...scripts.expressions import name_of, number_of
from ...scripts.source_tree import Source

_Node = TypeVar("_Node", bound=ast.AST)
Way = Callable[[Source, int, Finding], tuple[int, list[Change]]]
_AVERAGES = {"batchnormalization": ("momentum",), "batchnorm": ("decay",)}
_WAYS = {"min": ["max"], "max": ["min"]}  # the word that a callback is told in place of others


def wider(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The number of units of a layer, as many as the finding says there should be."""
    had, wanted = (int(re.findall(pattern, text)[0]) for pattern, text in (
        (r"has (\d+) unit", finding.text), (r"^(\d+) units", finding.remedy)))
    units = [node for call in _calls(source, line_of(finding), "dense", "conv1d", "conv2d", "lstm", "gru")
             for node in given(call, 0, "units", "filters") if number_of(node) == had]
    return line_of(finding), [(*source.range(_one(units)), str(wanted))]


def quicker(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The momentum of all averages that follow too slowly; given where it is the usual one."""
    wanted, = re.findall(r"momentum=([\d.]+)", finding.remedy)
    made = [(call, word, given(call, None, word)) for call in source.all(ast.Call) for word in (
        _AVERAGES.get(name_of(call.func), ()) if not owner_text(call).endswith(("nn", "K", "backend")) else ())]
    return line_of(finding), [source.told(call, word, wanted) for call, word, told in made
                              if not told or number_of(told[0]) > float(wanted)]


def as_of_classes(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The cross entropy and the last activation that belong to classes, by their names in compile and in the layer."""
    head, = [each for each in heads(case) if each.op.name == finding.op]
    several = (head.prediction.dims or (1,))[-1] != 1 and finding.kind != "one class for several"
    made = _layer(source, head)
    return line_of(finding), _named(source, head, made, *(
        ("categorical_crossentropy", "softmax") if several else ("binary_crossentropy", "sigmoid")))


def a_unit_each(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The same of a layer with one unit for the numbers of classes: one for each of these."""
    head, = [each for each in heads(case) if each.op.name == finding.op]
    made = _layer(source, head)
    units = [node for node in given(made, 0, "units") if {number_of(end) for end in ends(source, node)} == {1}]
    count, = re.findall(r"each of (\d+) classes", finding.remedy)
    return line_of(finding), [(*source.range(_one(units)), count), *_named(
        source, head, made, "sparse_categorical_crossentropy", "softmax")]


def of_numbers(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """A squared error in place of a cross entropy of what are no classes, and no activation; else as of classes."""
    if SQUARED not in finding.remedy:
        return a_unit_each(source, line, finding, case)
    head, = [each for each in heads(case) if each.op.name == finding.op]
    return line_of(finding), _named(source, head, _layer(source, head), "mse", "linear")


def _layer(source: Source, head: Head) -> ast.Call:
    """The call that makes the last layer, or its activation."""
    place, names = place_of(head.end), ("dense", "activation")
    exact = [each for node in source.spanned(head.end) if isinstance(node, ast.Call) for each in (node, node.func)
             if isinstance(each, ast.Call) and is_call(each, *names)]
    return _one(exact or _calls(source, place.line if place is not None else 0, *names))


def _named(source: Source, head: Head, layer: ast.Call, loss: str, last: str) -> list[Change]:
    """A loss of compile and the activation of a layer, by other names. Raises ArgumentError if they are no names."""
    compiled = _one(_calls(source, getattr(place_of(head.op), "line", 0), "compile"))
    told = given(compiled, None, "loss") or given(compiled, 1)
    ends = given(layer, None, "activation") or given(layer, int(is_call(layer, "dense")))
    words = [(node, word) for nodes, word in ((told, loss), (ends, last)) for node in nodes]
    if not told or not all(isinstance(node, ast.Constant) and isinstance(node.value, str) for node, _ in words):
        raise ArgumentError("the loss, or the activation, is no name that is written there")
    changes = [_word(source, node, word) for node, word in words
               if node.value.replace("sparse_", "") != word]  # type: ignore[attr-defined]
    return changes if ends or last == "linear" else [*changes, source.one_more(layer, f"activation={last!r}")]


def other_word(keyword: str, words: dict[str, str]) -> Way:
    """A word for another in what calls at the line are told by a keyword, wherever that is written."""
    def way(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
        told = [end for node in source.at_line(line_of(finding), ast.Call)
                for word in under(source, node, keyword) or given(node, slice(None)) for end in ends(source, word)]
        told = told or source.at_line(line_of(finding), ast.Constant)  # where it is known to be written
        node = _one({each for part in told for each in ast.walk(part) if isinstance(each, ast.Constant)
                     and each.value in words})
        return node.lineno, [_word(source, node, words[str(node.value)])]
    return way


def of_watcher(keyword: str) -> Way:
    """The word that a callback is to be told in place of one, or beside what it is told."""
    def way(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
        words = dict.fromkeys(_WAYS.get(finding.written, [finding.target]), finding.written)
        try:
            return other_word(keyword, words)(source, line, finding)
        except ArgumentError:
            call = _one(_calls(source, line_of(finding), "earlystopping", "modelcheckpoint", "reducelronplateau"))
            if under(source, call, keyword) or any(word.arg is None for word in call.keywords):
                raise
            return call.lineno, [source.one_more(call, f"{keyword}={finding.written!r}")]
    return way


def _word(source: Source, node: ast.expr, word: str) -> Change:
    """A word for the one that a constant is, between the same marks."""
    mark = source.text[source.range(node)[0]]
    return *source.range(node), f"{mark}{word}{mark}"


def line_of(finding: Finding) -> int:
    """The line that a finding is about; 0 for none."""
    return finding.place.line if finding.place is not None else 0


def _calls(source: Source, line: int, *names: str) -> list[ast.Call]:
    return [node for node in source.at_line(line, ast.Call) if is_call(node, *names)]


def _one(found: Collection[_Node]) -> _Node:
    """The only one there is. Raises ArgumentError."""
    if len(found) != 1:
        raise ArgumentError(f"{len(found) or 'no'} places say so")
    return next(iter(found))


LAYER_LINES: dict[str, Way] = {
    "layer too narrow": wider,
    "accuracy of a regression": other_word("metrics", {"accuracy": "mae", "acc": "mae"}),
    TURNED: of_watcher("mode"), UNSEEN: of_watcher("monitor")}

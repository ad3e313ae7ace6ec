"""Lines that make layers of Keras, or say how these are trained, written anew: a number, a word."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from .....core.errors import ArgumentError
from ....facts.roles import place_of
from ...findings import Finding
from ...mistakes.case import Case
from ...mistakes.heads import Head, heads
from ..changes import Change
from ..expressions import name_of, number_of
from ..source_tree import Source

_Node = TypeVar("_Node", bound=ast.AST)
Way = Callable[[Source, int, Finding], tuple[int, list[Change]]]
_DROPS_ALL, _DROPS, _FOLLOWS, _FORGETS = 0.85, "0.5", "0.9", 0.9  # rates of dropout, and momenta of averages


def wider(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The number of units of a layer, as many as the finding says there should be."""
    had, wanted = (int(re.findall(pattern, text)[0]) for pattern, text in (
        (r"has (\d+) unit", finding.text), (r"^(\d+) units", finding.remedy)))
    given = [node for call in _calls(source, _line(finding), ("dense", "conv1d", "conv2d", "lstm", "gru"))
             for node in (*call.args[:1], *(word.value for word in call.keywords if word.arg in ("units", "filters")))]
    return _line(finding), [(*source.range(_one(node for node in given if number_of(node) == had)), str(wanted))]


def fewer_dropped(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The rates of all dropout that leaves hardly anything."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and name_of(node.func) == "dropout"]
    rates = [node for call in calls for node in (*call.args[:1], *(w.value for w in call.keywords if w.arg == "rate"))
             if _DROPS_ALL < number_of(node) < 1]
    if not rates or not any(node.lineno == _line(finding) for node in rates):
        raise ArgumentError("no rate is written there")
    return _line(finding), [(*source.range(node), _DROPS) for node in rates]


def quicker(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
    """The momentum of a batch normalization that follows too slowly; given where it is the usual one."""
    call = _one(_calls(source, _line(finding), ("batchnormalization",)))
    told = [word.value for word in call.keywords if word.arg == "momentum"]
    if told and not number_of(told[0]) > _FORGETS:
        raise ArgumentError("it is no number that is too large")
    end = source.range(call)[1] - 1
    return call.lineno, [(*source.range(told[0]), _FOLLOWS) if told else (
        end, end, f"{', ' * bool(call.args or call.keywords)}momentum={_FOLLOWS}")]


def as_of_classes(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The cross entropy and the last activation that belong to classes, by their names in compile and in the layer."""
    head = next(each for each in heads(case) if each.op.name == finding.op)
    several = (head.prediction.dims or (1,))[-1] != 1
    made = _layer(source, head)
    return _line(finding), _named(source, finding, made, *(
        ("categorical_crossentropy", "softmax") if several else ("binary_crossentropy", "sigmoid")))


def a_unit_each(source: Source, line: int, finding: Finding, case: Case) -> tuple[int, list[Change]]:
    """The same of a layer with one unit for the numbers of classes: one for each of these."""
    made = _layer(source, next(each for each in heads(case) if each.form in ("squared", "absolute")))
    units = [*made.args[:1], *(word.value for word in made.keywords if word.arg == "units")]
    count, = re.findall(r"each of (\d+) classes", finding.remedy)
    return _line(finding), [(*source.range(_one(node for node in units if number_of(node) == 1)), count), *_named(
        source, finding, made, "sparse_categorical_crossentropy", "softmax")]


def _layer(source: Source, head: Head) -> ast.Call:
    """The call that makes the last layer, or its activation."""
    place, names = place_of(head.end), ("dense", "activation")
    exact = [node for node in source.spanned(head.end) if isinstance(node, ast.Call) and name_of(node.func) in names]
    return _one(iter(exact) if exact else _calls(source, place.line if place is not None else 0, names))


def _named(source: Source, finding: Finding, layer: ast.Call, loss: str, last: str) -> list[Change]:
    """A loss of compile and the activation of a layer, by other names. Raises ArgumentError if they are no names."""
    compiled = _one(_calls(source, _line(finding), ("compile",)))
    told = [word.value for word in compiled.keywords if word.arg == "loss"] or compiled.args[1:2]
    given = [word.value for word in layer.keywords if word.arg == "activation"] or layer.args[
        name_of(layer.func) == "dense":][:1]
    words = [(node, word) for nodes, word in ((told, loss), (given, last)) for node in nodes]
    if not told or not all(isinstance(node, ast.Constant) and isinstance(node.value, str) for node, _ in words):
        raise ArgumentError("the loss, or the activation, is no name that is written there")
    changes = [_word(source, node, word) for node, word in words
               if node.value.replace("sparse_", "") != word]  # type: ignore[attr-defined]
    end = source.range(layer)[1] - 1
    return changes if given else [*changes, (end, end, f", activation={last!r}")]


def other_word(keyword: str, words: dict[str, str]) -> Way:
    """A word for another in what calls at the line are told by a keyword."""
    def way(source: Source, line: int, finding: Finding) -> tuple[int, list[Change]]:
        given = [word.value for node in _at(source, _line(finding)) if isinstance(node, ast.Call)
                 for word in node.keywords if word.arg == keyword]
        found = {each for node in given for each in ast.walk(node) if isinstance(each, ast.Constant)
                 and each.value in words}
        node = _one(iter(found))
        return node.lineno, [_word(source, node, words[str(node.value)])]
    return way


def _word(source: Source, node: ast.expr, word: str) -> Change:
    """A word for the one that a constant is, between the same marks."""
    mark = source.text[source.range(node)[0]]
    return *source.range(node), f"{mark}{word}{mark}"


def _line(finding: Finding) -> int:
    return finding.place.line if finding.place is not None else 0


def _at(source: Source, line: int) -> Iterator[ast.expr]:
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.expr)
            and node.lineno <= line <= (node.end_lineno or 0))


def _calls(source: Source, line: int, names: tuple[str, ...]) -> Iterator[ast.Call]:
    return (node for node in _at(source, line) if isinstance(node, ast.Call) and name_of(node.func) in names)


def _one(found: Iterator[_Node]) -> _Node:
    """The only one there is. Raises ArgumentError."""
    several = list(found)
    if len(several) != 1:
        raise ArgumentError(f"{len(several) or 'no'} places say so")
    return several[0]


LAYER_LINES: dict[str, Way] = {
    "layer too narrow": wider, "dropout drops too much": fewer_dropped, "averages behind": quicker,
    "accuracy of a regression": other_word("metrics", {"accuracy": "mae", "acc": "mae"}),
    "better taken for worse": other_word("mode", {"min": "max", "max": "min"})}

"""Activations where a script names them: as an argument of a layer, or as a call; another one, one more, or none.

Layers that are left out stand here too: of a model's list, of its `add`, or of the tensors that go through them.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import source_lines
from ...facts.records import Place
from ...facts.roles import place_on
from ..scripts.calls import called, given, is_call, word_of
from ..scripts.changes import Change
from ..scripts.ends import ends
from ..scripts.expressions import name_of
from ..scripts.parsed import is_within, stands_at
from ..scripts.source_tree import Source

_BY_DEFAULT = ("fullyconnected", "conv2d", "convolution2d", "conv2dtranspose", "separableconv2d")  # of contrib: a relu
_ARGUMENTS = ("activation", "activation_fn")
_NO = ("none", "linear")
DROPOUT, NORMALIZATION = ("dropout",), ("batchnormalization", "batchnorm")  # calls of layers
STOPS = ("stopgradient",)
_FIRST = ("inputs", "x")  # what layers call their input
_LAYERS = ("dense", "conv1d", "conv2d", "conv3d")


class Activation(NamedTuple):
    """Another activation in place of the one that an op is, or of a layer that ends in the op and has none: `text`,
    a name or a lambda, with {tf} for the module; "" for none.
    """

    op: Operation
    text: str = ""


class LeftOut(NamedTuple):
    """The layer that made an op, which is no part of the model any more. names: what its call may be called."""

    op: Operation
    names: tuple[str, ...]


def left_out(source: Source, rewrite: LeftOut) -> list[Change]:
    """Without the one call there that makes the layer. Raises ArgumentError where that is not surely found."""
    found = {call for node in source.spanned(rewrite.op) for call in ast.walk(node) if is_call(call, *rewrite.names)}
    if len(found) != 1:
        raise ArgumentError(f"the layer of {rewrite.op.name} is written in {len(found) or 'no'} places there")
    made: Any = found.pop()
    around = next(source.around(made))
    statement = source.statement(made)
    if is_call(around, "add") and made in given(around, slice(None)):
        return [_without_statement(source, statement)]
    if isinstance(around, ast.List):
        return _without_element(source, around, made)
    if isinstance(around, ast.Call) and made is around.func:
        made = around
    takes = given(made, slice(None), *_FIRST)
    if not takes:
        raise ArgumentError(f"what {rewrite.op.name} is given is not written there")
    if isinstance(statement, ast.Assign) and statement.value is made and [*map(ast.unparse, statement.targets)] == [
            ast.unparse(takes[0])]:
        return [_without_statement(source, statement)]
    return [(*source.range(made), source.raw(takes[0]))]


def _without_statement(source: Source, statement: ast.stmt) -> Change:
    try:
        return source.gone(statement)
    except ArgumentError:
        return (*source.range(statement), "pass")


def _without_element(source: Source, around: ast.List, element: ast.expr) -> list[Change]:
    at = around.elts.index(element)
    (start, end), (after, _) = source.range(element), source.range((*around.elts[1:], element)[0])
    return [(source.range(around.elts[at - 1])[1], end, "") if at else (
        start, after if len(around.elts) > 1 else end, "")]


def named_otherwise(source: Source, rewrite: Activation) -> list[Change]:
    """At the one word that names it; at `from_logits`, where a loss takes for logits what has one. [] for a call."""
    op, text = rewrite
    logits = [word for call in source.all(ast.Call) for word in given(call, None, "from_logits")
              if getattr(word, "value", None) is True]
    if len(logits) == 1 and not text and op.type in ("Softmax", "Sigmoid"):
        return [(*source.range(logits[0]), "False")]
    calls = list(_calls(source, op))
    named = list({node: call for call in calls for word in given(call, slice(None), *_ARGUMENTS)
                  if _word(node := told_at(source, op, word)) == op.type.lower()}.items())
    if len(named) == 1 or named and all(_is_cell(call) for _, call in named):
        return [(*source.range(node), _otherwise(source, call, node, text)) for node, call in named]
    called_by = {told_at(source, op, call.func) for call in calls if isinstance(call.func, ast.Name)} - {
        call.func for call in calls}
    if not named and len(called_by) == 1 and _word(*called_by) == op.type.lower() and text:
        return [(*source.range(*called_by), source.spelled(text))]
    made = [call for call in calls if is_call(call, *_LAYERS, *_BY_DEFAULT)]
    none = {told_at(source, op, word): call for call in made for word in given(call, None, *_ARGUMENTS)}
    if not named and len(none) == 1 and _word(*none) in _NO and text.startswith("{"):
        is_word = called(*none.values())[:1].isupper()
        return [(*source.range(*none), _word_of(text) if is_word else source.spelled(text))]
    made = [call for call in made if word_of(call, *_ARGUMENTS) is None]
    if named or len(made) != 1:
        return []
    if not text and op.type == "Relu" and is_call(made[0], *_BY_DEFAULT):
        return [source.one_more(made[0], "activation_fn=None")]
    if text and op.type in ("BiasAdd", "MatMul", "Conv2D") and is_call(made[0], *_LAYERS):
        word = _word_of(text) if called(made[0])[:1].isupper() and text.startswith("{") else source.spelled(text)
        return [source.one_more(made[0], f"activation={word}")]
    return []


def told_at(source: Source, op: Operation, node: ast.expr) -> ast.expr:
    """What an expression that made an op ends in: where calls that led to it pass that, or of a list that a loop goes
    through what made this op of all; else the one that names what the op is. The expression where none surely does."""
    words = ends(source, node)
    calls = [call for call in source.all(ast.Call) if stands_at(call, op.spans[1:])]
    here = [each for each in words if any(is_within(each, call) for call in calls)]
    alike = [each for each in op.graph.operations.values() if (each.type, each.span, each.site) == (
        op.type, op.span, op.site) and each.gradient_of is None]
    here = here or words[alike.index(op):][:1] if len(words) == len(alike) else here
    here = here or [each for each in words if _word(each) == op.type.lower()]
    return here[0] if len({*here}) == 1 else node


def named_at(op: Operation) -> Place | None:
    """The line that names the activation that an op is, or of its layer says that there is none, where it is not the
    line that made the op: a call of the function that did, or a list of layers. None for all else."""
    if op.site is None or op.type.lower() in op.site.text.lower():
        return None
    try:
        source = Source("".join(source_lines(op.site.file)))
        found = {node for call in _calls(source, op) for word in (call.func, *given(call, slice(None), *_ARGUMENTS))
                 if (node := told_at(source, op, word)) is not word and (_word(node) == op.type.lower() or _word(
                     node) in _NO and word in given(call, None, *_ARGUMENTS))}
    except (SyntaxError, ValueError, OSError):
        return None
    line = next(iter(found)).lineno if len(found) == 1 else 0
    return place_on(op.site.file, line) if line else None


def _calls(source: Source, op: Operation) -> Iterator[ast.Call]:
    """The calls that made an op: of the layer, or of what makes it."""
    for node in source.spanned(op):
        if isinstance(node, ast.Call):
            yield node
            if name_of(node.func).endswith("rnn"):
                yield from filter(_is_cell, source.all(ast.Call))
            elif name_of(node.func) == "add":
                yield from (each for each in node.args if isinstance(each, ast.Call))
            elif isinstance(node.func, ast.Call):
                yield node.func
            elif name_of(node.func) not in (*_LAYERS, *_BY_DEFAULT, op.type.lower()):
                yield from _assigned(source, node.func)


def _is_cell(call: ast.Call) -> bool:
    return name_of(call.func).endswith("cell")


def _assigned(source: Source, name: ast.expr) -> Iterator[ast.Call]:
    """The calls whose result an expression such as `self.out` was given, if it is one."""
    text = ast.unparse(name)
    values = [each.value for each in source.all(ast.Assign) if text in map(ast.unparse, each.targets)]
    if len(values) == 1 and isinstance(values[0], ast.Call):
        yield values[0]


def _word(node: ast.expr) -> str:
    """The activation that an argument names; "" if it names none."""
    return str(node.value).lower().replace("_", "") if isinstance(node, ast.Constant) else name_of(node)


def _otherwise(source: Source, call: ast.Call, node: ast.expr, text: str) -> str:
    """The text for another activation in the place of a word."""
    if not text:
        return "'linear'" if name_of(call.func) == "activation" else "None"
    return source.spelled(text) if isinstance(node, ast.Attribute) or text[0] != "{" else _word_of(text)


def _word_of(text: str) -> str:
    """`'relu'` for `{tf}.nn.relu`."""
    return repr(text.rpartition(".")[2])

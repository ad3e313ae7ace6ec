"""Where a script gives a Keras model data, as x and y of fit, evaluate and predict; and an optimizer without a rate."""
from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from .....core.errors import ArgumentError
from .....core.graph import Operation
from .....core.site import source_lines
from .....core.traversal import ancestors
from ....facts.records import Place
from ....facts.roles import place_on
from ...scripts.calls import given, is_call, owner_of, owner_text, words_of
from ...scripts.changes import Change
from ...scripts.expressions import pairs_of
from ...scripts.source_tree import Source

_TRAIN = ("fit", "trainonbatch")
_TAKE = (*_TRAIN, "evaluate", "testonbatch")
_PREDICT = ("predict", "predictonbatch")
_ARRANGE = ("reshape", "ravel", "flatten", "squeeze")  # what leaves all values as they are
_PENALTIES = ("l1", "l2", "l1l2", "l1regularizer", "l2regularizer", "l1l2regularizer")
_OPTIMIZERS = {name.lower(): name for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam")}
_MODULES = {"tensorflow.keras.optimizers": "", "tensorflow.keras": "optimizers.", "tensorflow": "keras.optimizers.",
            "keras.optimizers": "", "keras": "optimizers."}  # and where the optimizers are in them


class Given(NamedTuple):
    """What a Keras model was given for a placeholder. word: "x" or "y". number: which `of` how many. line: where."""

    word: str
    number: int
    of: int
    file: str
    line: int

    @property
    def place(self) -> Place:
        """The line that gives it."""
        return place_on(self.file, self.line)


def given_of(placeholder: Operation) -> Given | None:
    """How a Keras model was given what was fed for a placeholder; None if it was not."""
    found = placeholder.graph.extras.get("given_to_keras", {}).get(placeholder)
    return Given(*found) if found is not None else None


def given_behind(op: Operation | None) -> Given | None:
    """How a Keras model was given what an op is computed from; None if that is not known."""
    return next(filter(None, map(given_of, (op, *ancestors(op.inputs)))), None) if op is not None else None


def made_at(fed: Given) -> Place | None:
    """The line that made, or last changed the values of, an array that a model is given by its name; None if not known.
    """
    source = Source("".join(source_lines(fed.file)))
    calls = [call for call in source.at_line(fed.line, ast.Call) if is_call(call, *_TRAIN)]
    node: ast.expr | None = next(iter(given(next(iter(calls), None), "xy".index(fed.word), fed.word)), None)
    line, found = fed.line, 0
    while isinstance(node, ast.Name):
        made = [(each.lineno, value) for each in source.all(ast.Assign) for target, value in pairs_of(each)
                if getattr(target, "id", "") == node.id and each.lineno < line
                and source.scope(each) is source.scope(calls[0])]
        if not made:
            break
        line, node = max(made, key=lambda each: each[0])
        found = line
        while isinstance(node, ast.Subscript) or is_call(node, *_ARRANGE):
            node = node.value if isinstance(node, ast.Subscript) else owner_of(node)
    return place_on(fed.file, found) if found else None


def given_to_keras(source: Source, placeholder: Operation) -> list[tuple[ast.expr, ast.expr]]:
    """The word x or y and the expression given for a placeholder, by each call of that model, training first.

    Raises ArgumentError where one of several inputs is not written there by itself.
    """
    fed = given_of(placeholder)
    if fed is None:
        return []
    found, at = _yielded(source, fed), "xy".index(fed.word)
    for call in _calls(source, fed, _TAKE + _PREDICT * (fed.word == "x")):
        if is_call(call, *_TAKE) and not given(call, 1, "y"):
            raise ArgumentError("what trains is no pair of arrays")
        held = given(call, None, "validation_data")
        values = given(call, at, fed.word)
        values += [each.elts[at] for each in held if isinstance(each, ast.Tuple) and len(each.elts) > at]
        if is_call(call, "fit") and not all(isinstance(each, ast.Tuple) for each in held):
            raise ArgumentError("what it validates with is not written there")
        found += [_part(value, fed) for value in values]
    return found


def _yielded(source: Source, fed: Given) -> list[tuple[ast.expr, ast.expr]]:
    """The word and the expression of what a generator, or a sequence of batches, gives at its line."""
    made = [node.value for node in source.at_line(fed.line, ast.AST) if isinstance(node, (ast.Yield, ast.Return))
            and isinstance(node.value, ast.Tuple)]
    return [_part(made[0].elts["xy".index(fed.word)], fed)] if made and len(made[0].elts) > 1 else []


def _part(value: ast.expr, fed: Given) -> tuple[ast.expr, ast.expr]:
    """The word, and of all inputs or targets the one that was fed. Raises ArgumentError."""
    if fed.of > 1 and not isinstance(value, (ast.List, ast.Tuple)):
        raise ArgumentError("the inputs are not written one by one")
    part = value.elts[fed.number] if isinstance(value, (ast.List, ast.Tuple)) and fed.of > 1 else value
    return ast.copy_location(ast.Name(fed.word), part), part


def predictions(source: Source, placeholder: Operation) -> list[ast.Call]:
    """The calls that predict what a placeholder of targets is fed; none for inputs."""
    fed = given_of(placeholder)
    return _calls(source, fed, _PREDICT) if fed is not None and fed.word == "y" else []


def _calls(source: Source, fed: Given, names: tuple[str, ...]) -> list[ast.Call]:
    """The calls of these methods of what the line of `fed` trains."""
    own = {owner_text(call) for call in source.at_line(fed.line, ast.Call) if is_call(call, *_TRAIN)} - {""}
    calls = [call for call in source.calls_named(*names) if owner_text(call) in own]
    return sorted(calls, key=lambda call: not is_call(call, *_TRAIN))


class Weight(NamedTuple):
    """The numbers that regularizers are given, times a factor."""

    op: Operation
    factor: float


def weighed_anew(source: Source, rewrite: Weight) -> list[Change]:
    """At each number that a call of l1, l2 or both is given. Raises ArgumentError if there is none."""
    weights = [each for call in source.calls_named(*_PENALTIES) for each in (*call.args[:2], *words_of(call).values())
               if getattr(each, "value", None)]
    if not weights:
        raise ArgumentError("the weight of the penalty is not written as a number")
    return [(*source.range(each), f"{rewrite.factor * float(ast.unparse(each)):g}") for each in weights]


def with_argument(source: Source, argument: str, made: Sequence[ast.expr], here: Sequence[ast.expr] = ()
                  ) -> list[Change]:
    """One more argument, such as `clipnorm=1.0`, for the one optimizer that is made, or that compile names.

    here: the expressions that stand where it was made. made: the calls that make optimizers. Raises ArgumentError.
    """
    calls = source.calls_named("compile")
    own = [call for call in calls if call in here] or calls
    named = [node for call in own for node in given(call, 0, "optimizer")
             if isinstance(node, ast.Constant) and str(node.value).lower() in _OPTIMIZERS]
    if len(named) == 1 and not made:
        name = _OPTIMIZERS[str(named[0].value).lower()]
        first, before = _called(source, name)
        return [*first, (*source.range(named[0]), f"{before}{name}({argument})")]
    if len(made) != 1 or named or not isinstance(made[0], ast.Call):
        raise ArgumentError("no optimizer surely is the one")
    return [source.one_more(made[0], argument)]


def _called(source: Source, name: str) -> tuple[list[Change], str]:
    """What a script writes before the name of an optimizer, with the import that it needs for that."""
    known = source.imported()
    for module, path in _MODULES.items():
        if f"{module}.{name}" in known:
            return [], ""
        if module in known:
            return [], f"{known[module]}.{path}"
    imports = [node for node in source.tree.body if isinstance(node, ast.ImportFrom) and "keras" in (node.module or "")]
    if not imports:
        raise ArgumentError("Keras has no name in this file")
    package = "tensorflow." * str(imports[0].module).startswith("tensorflow")
    return [source.before(imports[0], f"from {package}keras.optimizers import {name}")], ""

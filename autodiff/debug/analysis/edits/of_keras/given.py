"""Where a script gives a Keras model data, as x and y of fit, evaluate and predict; and an optimizer without a rate."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .....core.errors import ArgumentError
from .....core.graph import Operation
from .....core.site import source_lines
from .....core.traversal import ancestors
from ....facts.records import Place
from ..changes import Change
from ..expressions import name_of
from ..source_tree import Source

_TRAIN = ("fit", "trainonbatch")
_TAKE = (*_TRAIN, "evaluate", "testonbatch")
_PREDICT = ("predict", "predictonbatch")
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
        return Place(self.file, self.line, "", source_lines(self.file)[self.line - 1].strip())


def given_of(placeholder: Operation) -> Given | None:
    """How a Keras model was given what was fed for a placeholder; None if it was not."""
    found = placeholder.graph.extras.get("given_to_keras", {}).get(placeholder)
    return Given(*found) if found is not None else None


def given_behind(op: Operation | None) -> Given | None:
    """How a Keras model was given what an op is computed from; None if that is not known."""
    return next(filter(None, map(given_of, (op, *ancestors(op.inputs)))), None) if op is not None else None


def given_to_keras(source: Source, placeholder: Operation) -> list[tuple[ast.expr, ast.expr]]:
    """The word x or y and the expression given for a placeholder, by each call of that model, training first.

    Raises ArgumentError where one of several inputs is not written there by itself.
    """
    given = given_of(placeholder)
    found = _yielded(source, given) if given is not None else []
    for call in _calls(source, given, _TAKE + _PREDICT * (given is not None and given.word == "x")):
        assert given is not None
        if name_of(call.func) in _TAKE and len(call.args) < 2 and "y" not in [word.arg for word in call.keywords]:
            raise ArgumentError("what trains is no pair of arrays")
        at = "xy".index(given.word)
        values = [*call.args[at:at + 1], *(word.value for word in call.keywords if word.arg == given.word)]
        held = [word.value for word in call.keywords if word.arg == "validation_data"]
        values += [each.elts[at] for each in held if isinstance(each, ast.Tuple) and len(each.elts) > at]
        if any(not isinstance(each, ast.Tuple) and name_of(call.func) == "fit" for each in held):
            raise ArgumentError("what it validates with is not written there")
        for value in values:
            if given.of > 1 and not isinstance(value, (ast.List, ast.Tuple)):
                raise ArgumentError("the inputs are not written one by one")
            each = value.elts[given.number] if isinstance(value, (ast.List, ast.Tuple)) and given.of > 1 else value
            found.append((_word(given.word, each), each))
    return found


def _yielded(source: Source, given: Given) -> list[tuple[ast.expr, ast.expr]]:
    """The word and the expression of what a generator, or a sequence of batches, gives at its line."""
    made = [node.value for node in ast.walk(source.tree) if isinstance(node, (ast.Yield, ast.Return))
            and node.lineno <= given.line <= (node.end_lineno or 0) and isinstance(node.value, ast.Tuple)]
    if not made or len(made[0].elts) < 2:
        return []
    value = made[0].elts["xy".index(given.word)]
    each = value.elts[given.number] if isinstance(value, (ast.List, ast.Tuple)) and given.of > 1 else value
    if given.of > 1 and each is value:
        raise ArgumentError("the inputs are not written one by one")
    return [(_word(given.word, each), each)]


def predictions(source: Source, placeholder: Operation) -> list[ast.Call]:
    """The calls that predict what a placeholder of targets is fed; none for inputs."""
    given = given_of(placeholder)
    return list(_calls(source, given, _PREDICT)) if given is not None and given.word == "y" else []


def _calls(source: Source, given: Given | None, names: tuple[str, ...]) -> Iterator[ast.Call]:
    """The calls of these methods of what the line of `given` trains."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Attribute) and name_of(node.func) in (*_TAKE, *_PREDICT)]
    own = [_owner(call) for call in calls if given is not None and name_of(call.func) in _TRAIN
           and call.lineno <= given.line <= (call.end_lineno or 0)]
    of_own = [call for call in calls if _owner(call) in own and name_of(call.func) in names]
    yield from sorted(of_own, key=lambda call: name_of(call.func) not in _TRAIN)


def _owner(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _word(word: str, at: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(word), at)


class Weight(NamedTuple):
    """The numbers that regularizers are given, times a factor."""

    op: Operation
    factor: float


def weighed_anew(source: Source, rewrite: Weight) -> list[Change]:
    """At each number that a call of l1, l2 or both is given. Raises ArgumentError if there is none."""
    given = [each for call in ast.walk(source.tree) if isinstance(call, ast.Call) and name_of(call.func) in _PENALTIES
             for each in (*call.args[:2], *(word.value for word in call.keywords)) if getattr(each, "value", None)]
    if not given:
        raise ArgumentError("the weight of the penalty is not written as a number")
    return [(*source.range(each), f"{rewrite.factor * float(ast.unparse(each)):g}") for each in given]


def with_argument(source: Source, given: str, made: Sequence[ast.expr], here: Sequence[ast.expr] = ()) -> list[Change]:
    """One more argument, such as `clipnorm=1.0`, for the one optimizer that is made, or that compile names.

    here: the expressions that stand where it was made. made: the calls that make optimizers. Raises ArgumentError.
    """
    calls = [call for call in ast.walk(source.tree) if isinstance(call, ast.Call) and name_of(call.func) == "compile"]
    own = [call for call in calls if call in here] or calls
    named = [node for call in own for node in (*call.args[:1], *(
        word.value for word in call.keywords if word.arg == "optimizer"))
        if isinstance(node, ast.Constant) and str(node.value).lower() in _OPTIMIZERS]
    if len(named) == 1 and not made:
        name = _OPTIMIZERS[str(named[0].value).lower()]
        first, before = _called(source, name)
        return [*first, (*source.range(named[0]), f"{before}{name}({given})")]
    if len(made) != 1 or named or not isinstance(made[0], ast.Call):
        raise ArgumentError("no optimizer surely is the one")
    end = source.range(made[0])[1] - 1
    return [(end, end, f"{', ' * bool(made[0].args or made[0].keywords)}{given}")]


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
    start, package = source.range(imports[0])[0], "tensorflow." * str(imports[0].module).startswith("tensorflow")
    return [(start, start, f"from {package}keras.optimizers import {name}\n")], ""

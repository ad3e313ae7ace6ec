"""Where a script has its gradients clipped: before they are applied; or what it clipped is applied at last."""
from __future__ import annotations

import ast
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ..scripts.calls import is_call, owner_of, owner_text, words_of
from ..scripts.changes import Change
from ..scripts.source_tree import Source
from .given_numbers import optimizers_of
from .of_keras.given import with_argument

_MINIMIZE = ("loss", "global_step", "var_list", "gate_gradients", "aggregation_method")
_APPLY = ("grads_and_vars", "global_step", "name")


class ClipGradients(NamedTuple):
    """The gradients of `minimize` or `apply_gradients`, clipped by their norm before they are applied.

    updates: ops that these made, which tell calls from others; () where there is but one.
    """

    norm: float
    updates: tuple[Operation, ...] = ()


class ClippedApplied(NamedTuple):
    """What was made of a gradient by `op`, and nothing takes, given to the update in the gradient's place."""

    op: Operation
    update: Operation

    @property
    def updates(self) -> tuple[Operation, ...]:
        """The update, as of ClipGradients."""
        return (self.update,)


def clipped_anew(source: Source, rewrite: ClipGradients) -> list[Change]:
    """The statements that make updates, with the gradients computed, clipped and applied one after the other."""
    made = [node for op in rewrite.updates for node in source.spanned(op)]
    calls = [node for node in source.calls_named("minimize", "applygradients") if owner_of(node) and (
        not made or node in made)]
    if not calls and "keras" in source.text:
        return with_argument(source, f"clipnorm={rewrite.norm}", optimizers_of(source))
    if not calls or len(calls) > 1 and not made:
        raise ArgumentError(f"minimize is called in {len(calls) or 'no'} places")
    return [change for call in calls for change in _clipped_in(source, call, rewrite.norm)]


def _clipped_in(source: Source, call: ast.Call, norm: float) -> list[Change]:
    """The statement of one call."""
    statement = source.statement(call)
    if any(isinstance(each, ast.Starred) for each in call.args) or any(word.arg is None for word in call.keywords):
        raise ArgumentError("the arguments of minimize are not written one by one")
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        raise ArgumentError("minimize is called within another statement")
    assert isinstance(call.func, ast.Attribute)
    is_whole = call.func.attr == "minimize"
    given = dict(zip(_MINIMIZE if is_whole else _APPLY, call.args)) | words_of(call)
    texts = {name: source.raw(node) for name, node in given.items()}
    words = {late: "".join(f", {name}={text}" for name, text in texts.items()
                           if (name in _APPLY) == late and name not in ("loss", _APPLY[0])) for late in (False, True)}
    start, (begun, end) = source.range(statement)[0], source.range(call)
    made = source.raw(call.func.value)
    optimizer = made if isinstance(call.func.value, (ast.Name, ast.Attribute)) else "optimizer"
    pairs = f"{optimizer}.compute_gradients({texts.get('loss', '')}{words[False]})" if is_whole else texts.get(
        _APPLY[0], "")
    lines = [*([f"optimizer = {made}"] if optimizer != made else ()), f"gradients, variables = zip(*{pairs})",
             f"gradients, _ = {source.module()}.clip_by_global_norm(gradients, {norm})",
             f"{source.text[start:begun]}{optimizer}.apply_gradients(zip(gradients, variables){words[True]})"
             f"{source.text[end:source.range(statement)[1]]}"]
    return [(start, source.range(statement)[1], source.lines(start, lines))]


class RunToo(NamedTuple):
    """An op that no run runs, by a line of its own after each that runs the update of `update`."""

    op: Operation
    update: Operation


def run_too(source: Source, rewrite: RunToo) -> list[Change]:
    """Behind each statement that runs what the update has the name of. Raises ArgumentError."""
    names = []
    for op in (rewrite.op, rewrite.update):
        made = {source.statement(node) for node in source.spanned(op)}
        given = {ast.unparse(each.targets[0]) for each in made if isinstance(each, ast.Assign)}
        if len(given) != 1 or not (name := given.pop()).isidentifier():
            raise ArgumentError(f"{op.name} has no name there")
        names.append(name)
    calls = [node for node in source.calls_named("run") if owner_of(node) and any(
        isinstance(each, ast.Name) and each.id == names[1] for given in node.args[:1] for each in ast.walk(given))]
    if not calls:
        raise ArgumentError(f"no line runs {names[1]}")
    return [source.after(source.statement(call), f"{owner_text(call)}.run({names[0]})") for call in calls]


def applied_anew(source: Source, rewrite: ClippedApplied) -> list[Change]:
    """The first argument of apply_gradients. Raises ArgumentError."""
    calls = [node for node in source.spanned(rewrite.update) if isinstance(node, ast.Call)
             and is_call(node, "applygradients") and node.args]
    made = {each for each in map(source.statement, source.spanned(rewrite.op)) if isinstance(each, ast.Assign)}
    if len(calls) != 1 or len(made) != 1:
        raise ArgumentError("what is clipped has no name, or apply_gradients is not called")
    (statement,), old = made, calls[0].args[0]
    target, value = statement.targets[0], statement.value
    name = ast.unparse(target.elts[0] if isinstance(target, ast.Tuple) else target)
    if isinstance(value, ast.ListComp) and isinstance(value.elt, ast.Tuple):
        return [(*source.range(old), name)]  # with its variables
    if isinstance(old, ast.Call) and is_call(old, "zip") and len(old.args) == 2:
        return [(*source.range(old.args[0]), name)]
    return [(*source.range(old), f"zip({name}, [v for _, v in {source.raw(old)}])")]

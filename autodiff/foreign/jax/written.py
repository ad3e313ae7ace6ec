"""What the remedies of findings are in a JAX script: the lines that they change, where these are surely known."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.site import Site
from ...debug.analysis.findings import Finding
from ...debug.facts.roles import as_place
from .. import new_calls
from ..course import TURNS, Turn
from ..handed_on import function_of, handed_on, returned_by
from ..new_calls import calls_on, given_too, other_sign
from ..new_lines import At, NewLines, Rules, after, before, moved, nodes_on, part_of, replaced, tight, written_by
from ..script_lines import (
    assigned_on,
    line_of_name,
    lines_of_use,
    loops_around,
    nodes_in,
    on_lines,
    read_by,
    spelled,
    usual_on,
)
from . import averages
from .calls import Call
from .draws import carried, kept_key, key_names, keys_on, relaxed, split_again
from .dropped import kept, taken_back
from .evaluated import trained
from .inner_keys import given_instead, made_on
from .optimizers import Optimizers, frozen
from .stale import as_argument

SCALES = ("scale", "scale_by_schedule")  # what of optax multiplies updates by a number, or by one of each step
_DEEP = 6  # names from a batch to the data


class Known(NamedTuple):
    """What is known of a script. sites: of the last gradient, innermost first. parameters: what its call was given to
    differentiate by, as text; "" if that is no name. optimizers: of optax, as far as there are any."""

    sites: tuple[Site, ...]
    parameters: str
    optimizers: Optimizers


_At = At[Known]


def slower(factor: float, known: Known) -> NewLines:
    """Learning rates times a factor: where an optimizer of optax is given it, or where gradients are multiplied."""
    rated = known.optimizers.rate()
    if rated is not None:
        for call in calls_on(rated.site.file, rated.site.line, rated.name):
            given = [word.value for word in call.keywords if word.arg == "learning_rate"]
            given += call.args[rated.position:][:1]
            given = [usual_on(rated.site.file, each) or each for each in given[:1]]
            return replaced(rated.site.file, given[0], _times(given[0], factor, rated.rate is None)) if given else {}
        return {}
    found = dict[tuple[str, int], NewLines]()
    for file, node in _steps(known):
        for product in ast.walk(node.right if isinstance(node, ast.BinOp) else node.value):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                rate = product.left if isinstance(product.left, (ast.Constant, ast.Name, ast.Attribute)) and not (
                    _is_gradient(product.left, known)) else product.right
                named = on_lines(file).get(line_of_name(file, rate.id)) if isinstance(rate, ast.Name) else None
                if isinstance(named, ast.Assign) and isinstance(named.value, ast.Constant):
                    return replaced(file, named.value, _times(named.value, factor, False))
                if (usual := usual_on(file, rate)) is not None:
                    return replaced(file, usual, _times(usual, factor, False))
                if (file, node.lineno) in found:
                    return {}  # two on one line
                found[file, node.lineno] = replaced(file, rate, _times(rate, factor, False))
                break
    return {at: text for each in found.values() for at, text in each.items()}


def _is_gradient(node: ast.expr, known: Known) -> bool:
    names = assigned_on(known.sites[0].file, known.sites[0].line)[-1:] if known.sites else []
    return isinstance(node, ast.Name) and node.id in (*names, "g", "grad", "grads")


def _times(node: ast.expr, factor: float, is_schedule: bool) -> str:
    if is_schedule:
        return f"lambda count: {factor:g} * {tight(node)}(count)"
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return f"{node.value * factor:g}"
    return f"{tight(node)} * {factor:g}"


def _steps(known: Known) -> Iterator[tuple[str, Any]]:
    """The sums and differences by which lines that use the gradients change the parameters; their files."""
    uses = [*lines_of_use(known.sites)]
    for site in tuple(uses):  # what is made of the gradients, as by an optimizer
        names, scope = {*assigned_on(site.file, site.line)} - {known.parameters}, function_of(site)
        uses += [Site(site.file, line, site.function) for line, statement in sorted(on_lines(site.file).items())
                 if line > site.line and function_of(Site(site.file, line, "")) is scope and names & read_by(statement)]
    for site in dict.fromkeys(uses):
        for node in nodes_on(site.file, site.line):
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(
                    node.left, (ast.Name, ast.Subscript, ast.Attribute)):
                yield site.file, node
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
                yield site.file, node


def _slower(at: _At) -> Iterator[NewLines]:
    yield slower(0.1, at.known)


def _turned(at: _At) -> Iterator[NewLines]:
    """Minus for plus where the parameters are changed, or a rate above 0."""
    if (rated := at.known.optimizers.rate()) is not None and (rated.rate or 0.0) < 0:
        yield slower(-1.0, at.known)
    for call in calls_on(at.file, at.line, *SCALES):
        yield replaced(at.file, call, at.finding.remedy)
    found = list(_steps(at.known))
    if len({node.lineno for _, node in found}) == len(found):
        yield {at: text for file, node in found for at, text in other_sign(file, node).items()}


def _updated(at: _At) -> Iterator[NewLines]:
    """What the optimizer makes of gradients, in place of these."""
    lost = at.known.optimizers.of_kind("update")[-1:]
    for call in calls_on(at.file, at.line, "apply_updates"):
        given = [word.value for word in call.keywords if word.arg == "updates"] + call.args[1:2]
        for update in lost:
            names = assigned_on(at.file, update.sites[0].line) if update.sites else []
            if names and given and update.sites[0].file == at.file:
                yield replaced(at.file, given[0], names[0])
        optimizer, state = begun(at.known.optimizers)
        if optimizer and state and given and len(call.args) + len(call.keywords) == 2:
            yield _joined(at.file, at.line, f"updates, {state} = {optimizer}.update({ast.unparse(given[0])}, {state}, "
                          f"{ast.unparse(call.args[0])})", replaced(at.file, given[0], "updates")) if call.args else {}
        if given and not optimizer:
            mapped = spelled(at.file, "jax.tree_util.tree_map")
            yield replaced(at.file, given[0], f"{mapped}(lambda g: -0.01 * g, {{}})")


def _joined(file: str, line: int, text: str, changed: NewLines) -> NewLines:
    """A statement in front of another that is changed, too."""
    (old,) = changed.values() if changed else ("",)
    put = before(file, line, text)
    return {at: f"{new.partition(chr(10))[0]}\n{old}" for at, new in put.items()} if old and put.keys() == (
        changed.keys()) else {}


def begun(optimizers: Optimizers) -> tuple[str, str]:
    """What the script calls the only optimizer that is begun at one line, and its state; "" where it has no name."""
    lines = {call.sites[0] for call in optimizers.begun.values() if call.sites}
    for site in lines if len(lines) == 1 else ():
        for call in calls_on(site.file, site.line, "init"):
            names = assigned_on(site.file, site.line)
            if isinstance(call.func, ast.Attribute) and len(names) == 1:
                return ast.unparse(call.func.value), names[0]
    return "", ""


def _kept(at: _At) -> Iterator[NewLines]:
    """The state that update returns, given to the next step; an init moved out of the loop."""
    loops, statement = loops_around(at.file, at.line), on_lines(at.file).get(at.line)
    if statement is not None and loops and any(calls_on(at.file, at.line, "init")):
        yield moved(at.file, at.line, before(at.file, loops[0].lineno, ast.unparse(statement)))
    call = at.known.optimizers.of_kind("update")[-1]
    for update in calls_on(at.file, at.line, "update"):
        given = [word.value for word in update.keywords if word.arg == "state"] + update.args[1:2]
        if given and isinstance(given[0], ast.Name):
            yield handed_on(call.sites, given[0].id, 1)
            yield _all_of_it(at, update, given[0].id)


def _all_of_it(at: _At, update: ast.Call, name: str) -> NewLines:
    """`updates, state = …` for `updates = …[0]`."""
    for node in nodes_on(at.file, at.line):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and node.value.value is update:
            return replaced(at.file, node, f"{ast.unparse(node.targets[0])}, {name} = {ast.unparse(update)}")
    return {}


def _handed_on(at: _At) -> Iterator[NewLines]:
    """Parameters that a step makes, given to the next one."""
    yield kept(at.file, at.line, at.known.parameters)
    applied = at.known.optimizers.of_kind("apply")[-1:]
    for call in applied:
        for each in calls_on(call.sites[0].file, call.sites[0].line, "apply_updates") if call.sites else ():
            if each.args and isinstance(each.args[0], ast.Name):
                yield handed_on(call.sites, each.args[0].id)
    for site in lines_of_use(at.known.sites) if not applied else ():
        statement, name = on_lines(site.file).get(site.line), at.known.parameters
        if statement is not None and name in read_by(statement) and assigned_on(site.file, site.line) != [name]:
            depth = next((i for i, each in enumerate(at.known.sites) if each.function == site.function), None)
            if depth is not None:
                yield handed_on((site, *at.known.sites[depth + 1:]), name)


def _carried(at: _At) -> Iterator[NewLines]:
    """The new state, where a function of a loop gives the old one back."""
    made, scope = assigned_on(at.file, at.line)[:1], function_of(Site(at.file, at.line, ""))
    given_back = returned_by(scope)[:1] if made else []
    titles = [each.arg for each in scope.args.args] if scope is not None else []
    if given_back and isinstance(given_back[0], ast.Name) and given_back[0].id in titles:
        yield replaced(at.file, given_back[0], made[0])


def _reached(at: _At) -> Iterator[NewLines]:
    yield from (relaxed(at.file, call) for call in calls_on(at.file, at.line, "bernoulli"))
    for call in calls_on(at.file, at.line, "stop_gradient"):
        if call.args:
            yield replaced(at.file, call, part_of(at.file, call.args[0]))


def _last_axis(at: _At) -> Iterator[NewLines]:
    for call in calls_on(at.file, at.line, "softmax", "log_softmax", "logsumexp", "sum"):
        is_plain = "sum" not in ast.unparse(call.func)
        given = [word.value for word in call.keywords if word.arg in ("axis", "dim")] + call.args[1:2] * is_plain
        for node in given:
            yield replaced(at.file, node, "-1")


def _drawn(at: _At) -> Iterator[NewLines]:
    """Values at random in place of one number."""
    module = spelled(at.file, "jax.random")
    name = at.finding.target.partition(":")[0].rpartition(".")[2]
    kept = [node for line in on_lines(at.file) for node in nodes_on(at.file, line) if isinstance(node, ast.Dict)]
    made = [value for node in kept for key, value in zip(node.keys, node.values) if getattr(key, "value", None) == name]
    for call in [each for each in made[:1] if isinstance(each, ast.Call)] or calls_on(
            at.file, at.line, "zeros", "ones", "full"):
        if call.args and module:
            yield replaced(at.file, call, f"0.1 * {module}.normal({module}.PRNGKey({at.line}), "
                           f"{_shape(call.args[0])})")


def _shape(node: ast.expr) -> str:
    return ast.unparse(node) if not isinstance(node, ast.Constant) else f"({ast.unparse(node)},)"


def _asked_for(at: _At) -> Iterator[NewLines]:
    """argnums, where the gradient function is made."""
    number = at.finding.target.partition(":")[0]
    for call in calls_on(at.file, at.line, "grad", "value_and_grad"):
        given = [word.value for word in call.keywords if word.arg == "argnums"] + call.args[1:2]
        yield replaced(at.file, given[0], number) if given else replaced(
            at.file, call.args[0], f"{{}}, argnums={number}") if call.args else {}


def _split(at: _At) -> Iterator[NewLines]:
    """A key of its own for each step, split before the line that draws."""
    if made_on(at.file, at.line) is not None:  # whatever else is split, it is not drawn by
        yield given_instead(at.file, at.line)
        return
    yield kept_key(at.file, at.line)
    uses = keys_on(at.file, at.line) or key_names(at.file, at.line)
    if len(uses) == 1 and (loops_around(at.file, at.line) or uses[0].id in carried(Site(at.file, at.line, ""))):
        key, split = uses[0].id, spelled(at.file, "jax.random.split")
        yield _joined(at.file, at.line, f"{key}, subkey = {split}({key})", replaced(at.file, uses[0], "subkey"))
    else:
        yield split_again(at.file, at.line)


def _scaled(at: _At) -> Iterator[NewLines]:
    """After the last line outside of loops that makes what is fed, or what that is a part of."""
    title = at.finding.target.partition(":")[0]
    for call in calls_on(at.file, at.line):
        given = [word.value for word in call.keywords if word.arg == title]
        given += [call.args[i] for i in _positions(at.file, title, len(call.args))]
        for node in given[:1]:
            name = _whole(at.file, node.value.id if isinstance(node, ast.Subscript) and isinstance(
                node.value, ast.Name) else node.id if isinstance(node, ast.Name) else "")
            lines = [line for line in on_lines(at.file) if name in assigned_on(at.file, line)]
            if lines and not loops_around(at.file, max(lines)) and function_of(Site(at.file, max(lines), "")) is None:
                axis = "" if "whole" in at.finding.text else "0"
                yield after(at.file, max(lines), f"{name} = {name} / 255" if "pixels" in at.finding.text else
                            f"{name} = ({name} - {name}.mean({axis})) / ({name}.std({axis}) + 1e-8)")


def _positions(file: str, title: str, count: int) -> list[int]:
    """Where functions of the script that take so many arguments have a parameter of that name."""
    taken = [[each.arg for each in node.args.args] for node in nodes_in(file) if isinstance(node, ast.FunctionDef)]
    return sorted({names.index(title) for names in taken if title in names and len(names) == count})


def _whole(file: str, name: str) -> str:
    """What a name's values are rows of, as far as each line that gives it takes parts of one other or is a cast."""
    for _ in range(_DEEP):
        parts = list[ast.expr | None]()
        for line in on_lines(file):
            for node in nodes_on(file, line) if name in assigned_on(file, line) else ():
                if isinstance(node, ast.Assign):
                    target, value = node.targets[0], node.value
                    pairs = zip(target.elts, value.elts) if isinstance(target, ast.Tuple) and isinstance(
                        value, ast.Tuple) else [(target, value)]
                    parts += [part for to, part in pairs if isinstance(to, ast.Name) and to.id == name]
        sources = {part.value.id for part in parts if isinstance(part, ast.Subscript) and isinstance(
            part.value, ast.Name)}
        casts = [part for part in parts if isinstance(part, ast.Call) and part.args and isinstance(
            part.args[0], ast.Name) and part.args[0].id == name]
        if len(sources) != 1 or len(casts) + sum(isinstance(part, ast.Subscript) for part in parts) < len(parts):
            break
        name = sources.pop()
    return name


_RULES: Rules[Known] = {
    **dict.fromkeys(("learning rate too high", "steps too large"), _slower),
    **dict.fromkeys(("uphill", "wrong sign"), _turned), "gradients for updates": _updated,
    "optimizer state left": _kept, "state stays": _carried, "never updated": _handed_on,
    **dict.fromkeys(("no gradient", "term cut off"), _reached),
    **dict.fromkeys(("softmax over the batch", "softmax over the wrong axis"), _last_axis),
    "equal initial values": _drawn, "other argument": _asked_for, "same random key": _split,
    "evaluated untrained": lambda at: iter([trained(at.file, at.line, at.finding.target)]),
    "masked gradients": lambda at: iter([frozen(at.file, at.line)]),
    "stale under jit": lambda at: iter([as_argument(at.file, at.finding.target)]),
    "averages left": lambda at: iter([averages.kept(at.file, at.line)]),
    "inputs not scaled": _scaled, **new_calls.SHARED,
    "change left": lambda at: iter([taken_back(at.file, at.line)]), "one for all": lambda at: iter([given_too(
        at.file, at.line, ("max", "min", "amax", "amin"), "axis=1")])}
written = partial(written_by, _RULES)


def other_argument(turns: Sequence[Turn], call: Call, known: Known) -> list[Finding]:
    """A gradient by data, with which something else is changed: argnums says by which argument it is to be."""
    names, sites = call.names(known.sites), known.sites
    last = turns[-1].step.values
    if len(turns) <= TURNS or len(call.numbers) != 1 or not names or any(
            not np.array_equal(turn.step.values.get(name, value), value) for turn in turns
            for name, value in last.items()):
        return []
    for site in lines_of_use(sites):
        statement = on_lines(site.file).get(site.line)
        changed = [name for name in assigned_on(site.file, site.line) if statement is not None and name in read_by(
            statement) and name in names and names.index(name) != call.numbers[0]]
        if not changed or site.file != sites[0].file:
            continue
        number, title = names.index(changed[0]), getattr(call.function, "__name__", "the function")
        line = next((node.lineno for at in (sites[0].line, *(line_of_name(site.file, name) for name in sorted(read_by(
            on_lines(site.file)[sites[0].line])))) for node in calls_on(site.file, at, "grad", "value_and_grad")), 0)
        by = names[call.numbers[0]] or f"argument {call.numbers[0]}"
        return [Finding(98, "other argument", "", "", str(number), f"{changed[0]} is changed at {site} by the gradient "
                        f"of {title} with respect to {by}: jax.grad differentiates by the first argument, if it is not "
                        f"told otherwise, and {changed[0]} is that of number {number}", f"jax.grad({title}, "
                        f"argnums={number})", "grads", as_place(Site(site.file, line or sites[0].line, site.function)))]
    return []

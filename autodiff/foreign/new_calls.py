"""The calls on a script's lines, and lines in which they are given something else: {} where it is not surely known."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.traversal import users_of
from ..debug.analysis.advice import advice_of
from ..debug.analysis.mistakes.axes.added_columns import KIND as ADDED_UP
from ..debug.analysis.mistakes.targets.left_open import NEVER_END
from ..debug.analysis.mistakes.terms.unbounded_scores import KIND as WITHOUT_BOUND
from ..debug.analysis.scripts.columns import one_alone
from ..debug.analysis.scripts.parsed import LOOSE, Parsed
from .new_lines import (
    At,
    NewLines,
    Rules,
    after,
    all_on,
    last_name,
    nodes_on,
    part_of,
    product_times,
    replaced,
    squared_first,
    tight,
)
from .script_lines import on_lines, spelled

JOINING = ("cat", "concat", "concatenate")  # functions that join arrays
_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}


def calls_on(file: str, line: int, *names: str) -> Iterator[ast.Call]:
    """The calls on a line of what has one of these as its last name; of anything, for none."""
    for node in nodes_on(file, line):
        if isinstance(node, ast.Call) and (not names or last_name(node.func) in names):
            yield node


def all_calls_on(file: str, line: int, *names: str) -> list[ast.Call]:
    """The same of all statements on the line."""
    return [node for node in all_on(file, line) if isinstance(node, ast.Call)
            and (not names or last_name(node.func) in names)]


def argument(file: str, line: int, word: str, position: int, new: str, is_it: Callable[[ast.expr], bool]) -> NewLines:
    """Another text, with {} for what it was, for an argument of a call on a line. is_it: tells by what is called.

    The only call of all is taken, if it is none of these.
    """
    calls = all_calls_on(file, line)
    for call in [call for call in calls if is_it(call.func)] or calls[:len(calls) == 1]:
        given = [each.value for each in call.keywords if each.arg == word] + call.args[position:position + 1]
        if given and not isinstance(given[0], ast.Starred):
            return replaced(file, given[0], new)
    return {}


def with_word(file: str, line: int, called: str, name: str, text: str, instead: tuple[str, ...] = ()) -> NewLines:
    """A keyword of the call of a name on a line, in place of itself or one of others, else behind the last one."""
    for call in all_calls_on(file, line, called):
        given = [each for each in call.keywords if each.arg in (name, *instead)]
        last = [*call.args, *call.keywords][-1:]
        if not last:
            return replaced(file, call, f"{ast.unparse(call.func)}({name}={text})")
        return next((replaced(file, node, new) for nodes, new in (
            (given, f"{name}={text}"), (last, f"{{}}, {name}={text}")) for node in nodes), {})
    return {}


def given_too(file: str, line: int, names: tuple[str, ...], text: str, *, behind: str = "",
              unless: tuple[str, ...] = ()) -> NewLines:
    """The only call of one of these names on a line with a keyword more, and text behind it; {} where it is given one
    of others."""
    calls = [*calls_on(file, line, *names)]
    if len(calls) != 1 or {each.arg for each in calls[0].keywords} & {*unless}:
        return {}
    given = ", ".join([*map(ast.unparse, [*calls[0].args, *calls[0].keywords]), text])
    return replaced(file, calls[0], f"{ast.unparse(calls[0].func)}({given}){behind}")


def along_another_axis(file: str, line: int, shapes: Sequence[Sequence[int]], name: str) -> tuple[int, NewLines] | None:
    """The one axis in which arrays differ that a call on a line joins along another, and the call with it.

    name: the keyword that says the axis.
    """
    axes = [axis for axis, sizes in enumerate(zip(*shapes)) if len({*sizes}) > 1]
    is_known = len(axes) == 1 and len({*map(len, shapes)}) == 1
    for call in all_calls_on(file, line, *JOINING) if is_known else ():
        return axes[0], replaced(file, call.args[1], str(axes[0])) if call.args[1:] else with_word(
            file, line, last_name(call.func), name, str(axes[0]), ("axis",))
    return None


def text_of_argument(file: str, line: int, position: int) -> str:
    """That of the first call on a line which has so many."""
    return next((ast.unparse(call.args[position]) for call in calls_on(file, line) if len(call.args) > position), "")


def copied_to_the_other(file: str, line: int) -> NewLines:
    """`target.load_state_dict(trained.state_dict())` for the same the other way round."""
    for call in calls_on(file, line):
        if not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
            continue
        state = call.args[0]
        if call.func.attr == "load_state_dict" and not call.keywords and isinstance(state, ast.Call) and isinstance(
                state.func, ast.Attribute) and state.func.attr == "state_dict" and not state.args:
            to, of = ast.unparse(call.func.value), ast.unparse(state.func.value)
            return replaced(file, call, f"{of}.load_state_dict({to}.state_dict())")
    return {}


def without_call(file: str, line: int, name: str) -> NewLines:
    """What the only call of a function or method of a name on a line is of, in its place."""
    calls = [*calls_on(file, line, name)]
    if len(calls) != 1:
        return {}
    func, given = calls[0].func, calls[0].args[:1]
    if not given or isinstance(getattr(given[0], "operand", given[0]), ast.Constant):  # an axis, of a method
        given = [func.value] if isinstance(func, ast.Attribute) else []
    return replaced(file, calls[0], ast.unparse(given[0])) if given else {}


def turned_mask(file: str, line: int) -> NewLines:
    """The one mask of bools that calls on a line are given, the other way round."""
    given = [node for call in calls_on(file, line) for node in (
        *(word.value for word in call.keywords if (word.arg or "").endswith("mask")),
        *call.args[:last_name(call.func) in ("masked_fill", "masked_fill_", "where")])]
    if len(given) != 1:
        return {}
    node = given[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return replaced(file, node, ast.unparse(node.operand))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (other := _OTHER.get(type(node.ops[0]))) is not None:
        return replaced(file, node, ast.unparse(ast.Compare(node.left, [other()], node.comparators)))
    return replaced(file, node, f"~{tight(node)}")


def other_sign(file: str, node: Any) -> NewLines:
    """A sum or difference, also one that is assigned, as the other one."""
    is_sum = isinstance(node, ast.BinOp)
    left, right = (node.left, node.right) if is_sum else (node.target, node.value)
    sign, text = "+" if isinstance(node.op, ast.Sub) else "-", part_of(file, right)
    text = f"({text})" if is_sum and isinstance(right, LOOSE) and not isinstance(getattr(right, "op", None), (
        ast.Mult, ast.Div, ast.MatMult, ast.Pow)) else text
    return replaced(file, node, f"{part_of(file, left)} {sign}{'' if is_sum else '='} {text}")


def other_step(file: str, line: int) -> NewLines:
    """The statement on a line with the other sign of what it adds to a tensor, or takes away."""
    for node in nodes_on(file, line):
        if isinstance(node, (ast.AugAssign, ast.BinOp)) and isinstance(node.op, (ast.Add, ast.Sub)):
            return other_sign(file, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and last_name(node.func).strip(
                "_").removeprefix("foreach_") in ("add", "sub"):
            scaled = next((word.value for word in node.keywords if word.arg == "alpha"), None)
            if scaled is not None:
                return replaced(file, scaled, f"-{tight(scaled)}")
            there, back = ("add", "sub") if "add" in node.func.attr else ("sub", "add")
            return replaced(file, node.func, f"{ast.unparse(node.func.value)}.{node.func.attr.replace(there, back)}")
    return {}


def kept_apart(file: str, line: int) -> NewLines:
    """What load_state_dict is given on a line, where it was taken: copies of what a module has."""
    given = next((call.args[0] for call in calls_on(file, line, "load_state_dict") if call.args), None)
    name = ast.unparse(given) if isinstance(given, (ast.Name, ast.Attribute)) else ""
    taken = [node.value for node in dict.fromkeys(on_lines(file).values()) if isinstance(node, ast.Assign)
             and name in map(ast.unparse, node.targets) and isinstance(node.value, ast.Call)
             and last_name(node.value.func) == "state_dict" and not node.value.args]
    return replaced(file, taken[0], "{k: v.clone() for k, v in {}.items()}") if len(taken) == 1 else {}


def activated_behind(file: str, line: int) -> NewLines:
    """An activation behind the only layer that a line makes: appended to the same list, or as the next argument."""
    layers = [call for call in calls_on(file, line) if call.lineno == line and last_name(call.func).startswith((
        "Linear", "Conv"))]
    if len(layers) != 1:
        return {}
    relu = ast.unparse(layers[0].func).removesuffix(last_name(layers[0].func)) + "ReLU()"
    for call in calls_on(file, line, "append"):
        if call.args == layers and isinstance(on_lines(file)[line], ast.Expr):
            return after(file, line, f"{ast.unparse(call.func)}({relu})")
    around = [node for node in nodes_on(file, line) if layers[0] in getattr(node, "elts", getattr(node, "args", []))]
    return replaced(file, layers[0], f"{{}}, {relu}") if around else {}


def scores_normalised(file: str, line: int, place: int) -> NewLines:
    """The logarithms of shares of the scores that a line picks of, or multiplies on that side by labels."""
    modules = Parsed.of_file(file).imported()
    text = f"{modules['torch']}.log_softmax({{}}, -1)" if "torch" in modules else (
        f"{spelled(file, 'jax.nn.log_softmax')}({{}})")
    found = list[ast.expr]()
    for node in nodes_on(file, line):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = node.left, node.right
            found += [] if any(isinstance(side, (ast.Constant, *LOOSE)) for side in sides) else [sides[place]]
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            found.append(node.value)
        elif isinstance(node, ast.Call) and last_name(node.func) in ("gather", "take_along_axis"):
            owned = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in modules.values()
            found.append(node.func.value if owned and isinstance(node.func, ast.Attribute) else node.args[0])
    return replaced(file, found[0], text) if len(found) == 1 and not isinstance(found[0], LOOSE) else {}


def _activated(at: At[Any]) -> Iterator[NewLines]:
    """Where the layer was made that lacks an activation, unless the last one is made there too."""
    graph = getattr(at.known, "graph", None)
    op = graph.operations.get(at.finding.op) if graph is not None else None
    if graph is None or op is None:
        return
    layers = [o for o in graph.operations.values() if o.type == op.type and o.gradient_of is None]
    made, last = (next((text for o in (each, *users_of(each)) if (text := advice_of(graph).makers.get(o.name))), "")
                  for each in (op, layers[-1]))
    if made != last and (found := re.search(r" made at \S+:(\d+)$", made)):
        yield activated_behind(at.file, int(found[1]))


SHARED: Rules[Any] = {  # of all frameworks
    NEVER_END: lambda at: iter([product_times(at.file, at.line, at.finding.written)] if at.finding.written else []),
    ADDED_UP: lambda at: iter([{**one_alone(at.file, at.line, int(at.finding.written))}] if at.finding.written else []),
    WITHOUT_BOUND: lambda at: iter([scores_normalised(at.file, at.line, int(at.finding.written))]),
    "mean before square": lambda at: iter([squared_first(at.file, at.line)]),
    "copied to itself": lambda at: iter([kept_apart(at.file, at.line)]), "no activation": _activated}

"""The first page: what was loaded, its graph in a few lines, what to type next; what is said of a stop unasked."""
from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby

from autodiff.core.errors import AutodiffError
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.facts.answers import OpRow, Script
from autodiff.debug.facts.graph_lists import trainable_tensors
from autodiff.debug.facts.roles import APPLIES, PLACEHOLDERS

from ..model.results import Card, Column, Group, Result, Table, Text
from ..model.shell import Shell
from .debugger_rows import called, place
from .pieces import Piece
from .text import count_of

PLAIN = {"Identity", "Const", "VariableV2", "VarHandleOp", "ReadVariableOp", "Shape", "Pack", "StridedSlice", "Fill",
         "Cast", "ExpandDims", "NoOp"}  # types of ops that say little of a model
LOSSES = ("loss", "cost", "error", "objective", "nll", "energy")  # words in the names of what is made small
LARGE = 10_000  # ops of a graph that is not drawn: the first prompt would wait for it
LONGEST = 330  # characters of the graph, about four lines
MEMBERS = 7  # ops of one scope that are named
SAID = 2  # parts of an answer that are shown unasked


def first_page(shell: Shell) -> Card | None:
    """The card of the script that is loaded; None if there is none, or it has built nothing."""
    if shell.script is None:
        return None
    try:
        card = shell.dbg.script()
        ops = shell.dbg.ops() if card.ops <= LARGE else ()
    except AutodiffError:
        return None
    if not card.ops:
        return None
    loss = _loss(card, ops)
    parts: list[Result] = [Text("\n".join(_facts(card, ops, called(shell.dbg, loss) if loss else "")))]
    if graph := _graph(ops, loss):
        parts.append(Text(f"{graph} = {shell.dbg.model.spoken(loss)}" if loss else graph))
    if said := advice_of(shell.dbg.model.graph).said:
        parts.append(Text(said))
    return Card((*parts, _commands(shell, card, ops, loss)), os.path.basename(card.file or shell.script.name))


def _facts(card: Script, ops: Sequence[OpRow], loss: str) -> list[str]:
    kinds = f": {card.forward} forward, {card.gradient} of gradients" if card.gradient else ""
    variables, parameters = count_of(card.variables, "variable"), count_of(card.parameters, "parameter")
    lines = [f"{count_of(card.ops, 'op')}{kinds}  ·  {variables}, {parameters}"]
    trained = [op for op in ops if op.type.startswith(APPLIES)]
    said = [f"loss {loss}"] if loss else []
    if trained:
        type_ = next(trained[0].type.removeprefix(begin) for begin in APPLIES if trained[0].type.startswith(begin))
        said.append(f"trained by {type_}" + (f" at {place(trained[0].place)}" if trained[0].place else ""))
    elif loss:
        said.append("no train op yet")
    return [*lines, *(["  ·  ".join(said)] if said else [])]


def _loss(card: Script, ops: Sequence[OpRow]) -> str:
    """What the gradients are of; else what its name says is a loss, the last one built."""
    if card.y:
        return card.y
    named = [op for op in ops if op.role == "forward" and op.outputs
             and any(word in op.name.rpartition("/")[2].lower() for word in LOSSES)]
    by_handle = [name for handle, name in card.handles if any(word in handle.lower() for word in LOSSES)]
    return by_handle[-1] if by_handle else named[-1].outputs[0] if named else ""


def _graph(ops: Sequence[OpRow], loss: str) -> str:
    """The longest way from a placeholder to the loss, scope by scope."""
    chain = _longest(ops, loss.partition(":")[0])
    groups: list[str] = []
    for scope, members in groupby(chain, key=lambda op: op.name.partition("/")[0] if "/" in op.name else ""):
        listed = [op.name if op.type in PLACEHOLDERS else op.type for op in members]
        more = f" … {len(listed) - MEMBERS} more" if len(listed) > MEMBERS else ""
        text = " ".join(listed[:MEMBERS]) + more
        groups += [f"{scope}: {text}"] if scope and len(listed) > 1 else listed
    if len(groups) < 2:
        return ""
    while len(" → ".join(groups)) > LONGEST and len(groups) > 4:
        middle = len(groups) // 2
        groups[middle - 1:middle + 1] = ["…"] if "…" not in groups[middle - 1:middle + 1] else []
        if "…" not in groups:
            groups.insert(len(groups) // 2, "…")
    return " → ".join(groups)


def _longest(ops: Sequence[OpRow], last: str) -> list[OpRow]:
    """The ops of the longest way to the op `last`, or to any where that is empty; those that say little left out."""
    by_name: dict[str, OpRow] = {}
    depths: dict[str, tuple[int, int]] = {}  # whether it begins at a placeholder, and how many ops it has
    before: dict[str, str] = {}
    for op in ops:
        if op.role not in ("forward", "placeholder") and op.type not in PLACEHOLDERS:
            continue
        by_name[op.name] = op
        sources = [name.partition(":")[0] for name in op.inputs if name.partition(":")[0] in depths]
        best = max(sources, key=depths.__getitem__, default="")
        fed, depth = depths[best] if best else (int(op.type in PLACEHOLDERS), 0)
        depths[op.name] = fed, depth + (op.type not in PLAIN)
        if best:
            before[op.name] = best
    name = last if last in depths else max(depths, key=depths.__getitem__, default="")
    chain: list[OpRow] = []
    while name:
        chain.append(by_name[name])
        name = before.get(name, "")
    return [op for op in reversed(chain) if op.type not in PLAIN]


def _commands(shell: Shell, card: Script, ops: Sequence[OpRow], loss: str) -> Table:
    """Three commands that make sense where this script stands."""
    rows = tuple((Piece("hint", line, line), Piece("", text)) for line, text in _advice(shell, card, ops, loss))
    return Table((Column("", "name"), Column("")), rows)


def _advice(shell: Shell, card: Script, ops: Sequence[OpRow], loss: str) -> list[tuple[str, str]]:
    script = shell.script
    static = ("doctor --static", "look for mistakes in the graph now")
    trainable = {t.name for t in trainable_tensors(shell.dbg.graph)}
    variable = next((handle for handle, name in card.handles if name in trainable), "")
    watch = [(f"watch {variable}", "see it and its gradient at every stop")] if variable else []
    if script is not None and script.is_live:
        return [("next", "let it make its next run, and stop after that"),
                ("run -f nan", "let it go on until something is not finite"), *(watch or [static])]
    if script is not None and script.state == "raised":
        return [("where", "the line that raised, and its op"), ("info script", "what it had built"), static]
    if shell.dbg.records:
        return [("grads", "the gradients of its last run"), ("doctor", "what is wrong with it"),
                *([(f"why {loss}", "why its gradient is what it is")] if loss else [])]
    train = (f"train {loss}", "build a train op; next then runs steps") if loss else \
        ("info tensors", "what there is to take gradients of")
    return [train, static, *watch]


def briefly(question: str, found: Result) -> Card:
    """The first parts of the answer to `question`, in a card of its name."""
    parts = found.parts if isinstance(found, Group) else (found,)
    more = (Text(f"{question} says more", "quiet"),) if len(parts) > SAID else ()
    return Card((*parts[:SAID], *more), question)

"""What mends a mistake that is in no op: lines of the script, as they are to be."""
from __future__ import annotations

import ast
from collections.abc import Mapping
from os.path import commonprefix

from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ....core.site import source_lines
from ....core.traversal import ancestors
from ...facts.records import NewLines
from ...facts.roles import place_of
from ..advice import advice_of
from ..findings import Finding
from ..mistakes.axes.added_columns import KIND as ADDED_UP
from ..mistakes.axes.second_derivatives import MIXED, STRAIGHT, STRAIGHT_KIND
from ..mistakes.case import Case, update_op
from ..mistakes.last_layer import squashed_before
from ..mistakes.stepping import Update
from ..mistakes.targets.left_open import NEVER_END
from ..mistakes.trainers import by_loss, judges
from ..scripts.changes import rows_of
from ..scripts.columns import apart, one_alone
from ..scripts.open_ends import open_end
from ..scripts.source_tree import Source
from ..scripts.states import state_instead
from ..scripts.straight_through import straight_past
from ..unused_states import unused_state
from .activations import NORMALIZATION, STOPS, Activation, LeftOut
from .by_names import asked_at, picked
from .clipping import RunToo
from .in_source import Argument, Dense, Rewrite, Swapped, rewritten
from .of_heads import head_of
from .of_keras.arrays import arranged
from .of_mistakes import attempts_of

_Line = Activation | Argument | Dense | RunToo | LeftOut | Swapped | Rewrite


def lines_of(finding: Finding, op: Operation | None, case: Case) -> NewLines:
    """New lines for what a finding about an op says; {} where they are not surely known."""
    done = arranged(finding, op, case)
    if done is not None and done.lines:
        return done.lines
    if (found := picked(finding, case)) is not None:
        return found[1]
    state = unused_state(case.y, op.outputs[0]) if op is not None and finding.kind == "no gradient" else None
    if state is not None:
        return state.lines
    if op is not None and finding.kind == "no gradient" and (lines := past_cut(case.y, op, finding.remedy)):
        return lines
    if finding.kind == NEVER_END and finding.place is not None and (end := open_end(finding.place.file)):
        return end.lines
    if op is not None and finding.kind == "last position of padding":
        return _final_state(op)
    if finding.kind == ADDED_UP and finding.place is not None and finding.written:
        return one_alone(finding.place.file, finding.place.line, int(finding.written))
    if finding.kind == MIXED and finding.place is not None:
        return apart(finding.place.file, finding.place.line, finding.written)
    line = _line(finding, op, case) if op is not None and case.steps else None
    written = line if isinstance(line, list) else [line] if line is not None else []
    site = written[0].op.site if written else None
    if site is None or any(each.op.span is None or each.op.site is None or each.op.site.file != site.file
                           for each in written):
        return {}
    try:
        old = "".join(source_lines(site.file))
        return rows_of(old, rewritten(old, written), site.file)
    except (ArgumentError, OSError, ValueError, SyntaxError, LookupError):
        return {}


def _final_state(op: Operation) -> NewLines:
    """New lines that take the last state of the one recurrence behind an op in its place, h of two of an LSTM."""
    file = op.site.file if op.site is not None else ""
    try:
        loop, = [each for each in ancestors(op.inputs) if each.type == "While"]
        source, states = Source("".join(source_lines(file))), [t for t in loop.outputs if len(t.dims or ()) == 2]
        taken, = [node for node in source.spanned(op) if isinstance(node, ast.Subscript)]
        return source.rows(state_instead(source, loop, taken, ["", ".h"][len(states) - 1]), file)
    except (ArgumentError, LookupError, ValueError, SyntaxError):
        return {}


def past_cut(y: Tensor, cut: Operation, remedy: str) -> NewLines:
    """New lines that let the gradient straight past a choice of rows, what only rounds, or is stopped.

    {} where they are not known. remedy: what is said of it.
    """
    try:
        old = "".join(source_lines(cut.site.file if cut.site is not None else ""))
        if "pass the gradient, x + " in remedy and cut.site is not None and len(cut.inputs) == 1:
            template = f"{{0}} + {{tf}}.stop_gradient({{tf}}.{cut.type.lower()}({{0}}) - {{0}})"
            return rows_of(old, rewritten(old, [Rewrite(cut, None, template, ((cut, 0),))]), cut.site.file)
        if remedy.startswith("remove the tf.stop_gradient") and cut.site is not None:
            return rows_of(old, rewritten(old, [LeftOut(cut, STOPS)]), cut.site.file)
        source = Source(old, advice_of(cut.graph).words)
        return source.rows(straight_past(source, cut, y)[0], cut.site.file if cut.site is not None else "")
    except (ArgumentError, OSError, SyntaxError):
        return {}


def _line(finding: Finding, op: Operation, case: Case) -> list[_Line] | _Line | None:
    update = update_op(case)
    if finding.kind == "log of no probability":
        head = head_of(op, case)
        return LeftOut(head.end, NORMALIZATION) if head is not None and squashed_before(head) is not None else None
    if finding.kind == "never bounded":
        trains = [u.op for u in case.updates if u.variable.op.name == finding.target]
        return RunToo(op, trains[0]) if trains else None
    if finding.kind == STRAIGHT_KIND:
        return [Activation(o, "{tf}.nn.tanh") for o in ancestors([case.y]) if o.type in STRAIGHT and not o.gradient_of]
    if finding.kind == "second derivative" and op.type.startswith("Sparse"):
        return Dense(op)
    if finding.kind == "copied the wrong way":
        return Swapped(op)
    if finding.kind == "no gradient":
        return next((edit.line for way in attempts_of(finding, op, case) for edit in way.edits
                     if isinstance(edit.line, Rewrite)), None)
    if finding.kind == "not updated":
        return Argument(update, "", f"{{tf}}.group({{0}}, {finding.written})") if finding.written else None
    if finding.kind == "two losses train the same":
        return _only_own(op, case)
    if finding.kind == "not trained":
        return Argument(update, "var_list")
    counter = case.graph.operations.get(finding.target.partition(":")[0])
    made, there = place_of(counter) if counter is not None else None, place_of(update)
    if finding.kind == "global_step not advanced" and made and there and made.file == there.file:
        name = source_lines(made.file)[made.line - 1].partition(" = ")[0].strip()
        is_known = made.function == there.function or "." in name or made.function in ("", "<module>")
        return Argument(update, "global_step", name) if is_known and name.replace(".", "").isidentifier() else None
    looks = [o for o in case.behind if o.type in ("GatherV2", "ResourceGather") and any(
        finding.target == t.name for each in ancestors([o.inputs[1]]) for t in each.outputs)
             ] if finding.kind == "padding is read" else []
    return Argument(looks[0], "mask_zero", "True") if looks and case.graph.extras.get("compiled") else None


def _only_own(update: Operation, case: Case) -> list[_Line]:
    """A list of the variables of one scope for the optimizer that trains those of another loss too; of both such, where
    they train the same: the scope between a loss and the data that it alone is of is its own."""
    losses = {y: {u.variable.op.name: u for u in updates} for y, updates in by_loss(case).items()}
    pairs = [(y, z) for y, mine in losses.items() for z, theirs in losses.items() if y is not z and
             any(u.op is update for u in (*mine.values(), *theirs.values())) and mine.keys() & theirs.keys()]
    if len({asked_at(next(iter(each.values()))).span for each in losses.values()}) < len(losses):
        return []  # one line asks for all
    root = len(commonprefix([name for updates in losses.values() for name in updates]).rpartition("/")[0]) + 1
    for y, z in pairs:
        scopes = {_top(name, root) for name in losses[y].keys() - losses[z].keys()}
        if len(scopes) == 1 and not scopes & {_top(name, root) for name in losses[z]}:
            return [_given_scope(losses[y], scopes.pop())]
    for y, z in pairs:
        its = {_top(v.name, root) for v in judges(y, z) if v.name in losses[y]}
        scopes = {_top(name, root) for name in losses[y]} - its
        if losses[y].keys() == losses[z].keys() and len(its) == len(scopes) == 1:
            return [_given_scope(losses[y], its.pop()), _given_scope(losses[z], scopes.pop())]
    return []


def _top(name: str, root: int) -> str:
    return name[:root] + name[root:].partition("/")[0]


def _given_scope(updates: Mapping[str, Update], scope: str) -> Argument:
    return Argument(asked_at(next(iter(updates.values()))), "var_list", f"{{tf}}.trainable_variables('{scope}/')")

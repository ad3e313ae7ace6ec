"""Who trains what: losses that pull against each other, sums never reset, copies nobody makes, graphs that grow."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants
from ...facts.roles import at_line, place_of
from ..advice import advice_of
from ..findings import Finding
from .adversaries import by_loss
from .case import Case, fed_behind, finding, held
from .stepping import Update

_OPPOSED = -0.3  # cosine of the gradients of two losses that pull against each other
_GROWS = 4  # ops of one line, each fetched first in a later run, from which on the graph grows


def trainer_mistakes(case: Case) -> list[Finding]:
    """Findings about which loss trains which variables, and what runs beside."""
    return [*_updated_twice(case), *_opposed(case), *_swapped_lists(case), *_never_reset(case), *_grows(case)]


def _updated_twice(case: Case) -> list[Finding]:
    """Variables that two optimizers update by the gradient of one loss in the same run."""
    for run in case.steps[:2]:
        first: dict[tuple[Tensor, Tensor | None], Update] = {}
        for update in case.updates:
            other = first.setdefault((update.variable, update.y), update) if update.op in run.ran else update
            if other is not update:
                return [finding(61 if not case.learns else 45, "updated twice", update.op, f"{update.variable.name} is "
                                f"updated twice in run {run.number}, by {other.op.name}{at_line(place_of(other.op))} "
                                f"and by {update.op.name}{at_line(place_of(update.op))}, both by the gradient of "
                                f"{case.y.name}: two optimizers that know nothing of each other take two steps",
                                "run one train op", target=update.variable.name, confidence="certain")]
    return []


def _opposed(case: Case) -> list[Finding]:
    """Variables that two losses train, of which one undoes what the other does."""
    losses = list(by_loss(case).items())
    for i, (y, mine) in enumerate(losses):
        for other, theirs in losses[i + 1:]:
            shared = [(u, v) for u in mine for v in theirs if u.variable is v.variable]
            if shared and _judge(y, case) & _judge(other, case) and (cosines := _cosines(case, shared)):
                against = [(c, u, v) for c, u, v in cosines if c < _OPPOSED]
                if against:
                    cosine, u, v = min(against, key=lambda each: each[0])
                    pair = (u, v) if len(mine) > len(theirs) else (v, u)  # who trains more has no var_list
                    return [_pulled(cosine, *pair, len(shared))]
            if shared and (found := _left_alone(case, y, other, *shared[0])):
                return found
    return []


def _left_alone(case: Case, y: Tensor, other: Tensor, u: Update, v: Update) -> list[Finding]:
    """Two losses that train the very same variables, while nobody trains others that both depend on."""
    updated = {each.variable for each in case.updates}
    mine, theirs = ({each.variable for each in case.updates if each.y is loss} for loss in (y, other))
    both = ancestors([y]) & ancestors([other])
    alone = [each for each in case.variables if each not in updated and each.op in both]
    if mine != theirs or not alone:
        return []
    return [finding(79, "two losses train the same", v.op, f"{y.name} and {other.name} both train the same {len(mine)} "
                    f"variables, {u.variable.name} … ({u.op.name}{at_line(place_of(u.op))} and {v.op.name}"
                    f"{at_line(place_of(v.op))}), and nothing trains {alone[0].name} and {len(alone) - 1} others, on "
                    "which both depend: a var_list names the wrong ones", "give each minimize its own variables: "
                    "var_list=the discriminator's for its loss, var_list=the generator's for the other",
                    target=u.variable.name)]


def _judge(y: Tensor, case: Case) -> set[Operation]:
    """The kernels that no other comes between and a loss: losses that have none in common may share a code."""
    behind = ancestors([y])
    kernels = {v.op: descendants([v]) & behind for v in case.variables if len(v.dims or ()) > 1 and v.op in behind}
    taken = {kernel: {held(t) for op in below if op.gradient_of is None for t in op.inputs}
             for kernel, below in kernels.items()}
    return {kernel for kernel in kernels if not (kernels.keys() - {kernel}) & taken[kernel]}


def _cosines(case: Case, shared: Sequence[tuple[Update, Update]]) -> list[tuple[float, Update, Update]]:
    """Of each pair of updates the cosine of their gradients in the first runs that can tell it."""
    case.want(*(u.gradient for pair in shared for u in pair))
    found = []
    trains = [run for run in case.runs if run.trains]
    for run in dict.fromkeys([*trains[:4], *trains[-2:]]):
        values = case.values(run)
        for u, v in shared:
            if u.gradient in values and v.gradient in values:
                a, b = (np.ravel(np.asarray(values[t.gradient], float)) for t in (u, v))
                size = float(np.linalg.norm(a) * np.linalg.norm(b))
                if a.shape == b.shape and size > 0 and np.isfinite(size):
                    found.append((float(np.dot(a, b)) / size, u, v))
    return found


def _pulled(cosine: float, u: Update, v: Update, count: int) -> Finding:
    losses = " and ".join(each.y.name for each in (u, v) if each.y is not None)
    return finding(79, "two losses train the same", u.op, f"{losses} both train {count} variables, "
                   f"such as {u.variable.name}, and pull against each other (cosine of their gradients {cosine:.2f}): "
                   f"the updates {u.op.name}{at_line(place_of(u.op))} and {v.op.name}{at_line(place_of(v.op))} undo "
                   "each other, as where minimize was given no "
                   "var_list", "give each minimize its own variables: var_list=the discriminator's for its loss, "
                   "var_list=the generator's for the other", target=u.variable.name)


def _swapped_lists(case: Case) -> list[Finding]:
    """The variables between real data and a loss that sees them, trained by the other loss alone."""
    losses = list(by_loss(case).items())
    for y, mine in losses:
        for other, theirs in losses:
            real = fed_behind([y]) - fed_behind([other])
            if y is other or not real:
                continue
            tower = descendants([t for op in real for t in op.outputs]) & ancestors([y])
            inside = {v for op in tower for v in map(held, op.inputs)}
            ours, its = {u.variable.op for u in mine}, {u.variable.op for u in theirs}
            wrong = inside & its
            if wrong and not inside & ours and ours:
                first = next(u for u in theirs if u.variable.op in wrong)
                return [finding(84, "var_list swapped", first.op, f"{first.variable.name} lies between {y.name} and "
                                f"the data it judges, but {other.name} trains it, and {y.name} trains others ("
                                f"{mine[0].variable.name} …): the lists of variables are swapped",
                                "swap var_list of the two minimize calls", target=first.variable.name)]
    return []


def _never_reset(case: Case) -> list[Finding]:
    """Gradients that are added up for an update, and never set back to zero, or before they are used."""
    trains = [run for run in case.runs if run.trains]
    for update in case.updates if trains else ():
        for total in {op for op in ancestors([update.gradient]) if op.type in ("VariableV2", "VarHandleOp")}:
            takers = list(total.outputs[0]._consumers)
            adds = [op for op in takers if op.type in ("AssignAdd", "AssignAddVariableOp")
                    and any(o.gradient_of is not None for o in ancestors(op.inputs[1:]))]
            resets = [op for op in takers if op.type in ("Assign", "AssignVariableOp")]
            later = [run for run in case.runs if run.number > trains[0].number]
            if not adds or not any(adds[0] in run.ran for run in case.runs):
                continue
            said = (f"{adds[0].name} adds gradients to {total.name}, of which {update.op.name}"
                    f"{at_line(place_of(update.op))} updates {update.variable.name}, but in {len(trains)} updates ")
            if not any(adds[0] in run.ran or np.any(run.before.get(total.name, 1)) for run in trains):
                return [finding(80, "gradients thrown away", adds[0], f"{said}it is always zero: it is set back before "
                                "it is used", "set it to zero after the update, not between the gradients",
                                target=f"{total.name}:0", confidence="certain")]
            if len(trains) > 1 and not any(op in run.ran for op in resets for run in later):
                return [finding(75, "gradients never reset", adds[0], f"{said}nothing sets it back to zero: each step "
                                "repeats all gradients so far", "run total.assign(tf.zeros_like(total)) after each "
                                "update", target=f"{total.name}:0", confidence="certain")]
    return []


def _grows(case: Case) -> list[Finding]:
    """Ops that are made anew for each run, by the script: not by us, who make a graph of what another program does."""
    if advice_of(case.graph).call:
        return []
    made: dict[object, list[tuple[int, Operation]]] = defaultdict(list)
    seen: set[Operation] = set()
    for run in case.runs:
        for op in sorted({*(t.op for t in run.fetched), *run.targets} - seen, key=lambda op: op.index):
            made[op.type, tuple((id(code), at) for code, at in op._frames)].append((run.number, op))
            seen.add(op)
    for same in made.values():
        steps = [step for step, _ in same]
        if len(same) >= _GROWS and len(set(steps)) == len(same) and all(
                a.index < b.index for (_, a), (_, b) in zip(same, same[1:])):
            (first, op), (last, end) = same[0], same[-1]
            each = (end.index - op.index) / (len(same) - 1)
            return [finding(68, "graph grows", op, f"this line makes new ops for each run: {op.name} for run {first}, "
                            f"{end.name} for run {last}, {each:.3g} ops each time, {end.index - op.index} so far: "
                            "every run takes longer, and memory fills", "build the ops once before the loop, feed what "
                            "changes; graph.finalize() finds such lines", confidence="certain")]
    return []

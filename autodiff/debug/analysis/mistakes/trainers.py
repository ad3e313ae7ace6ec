"""Who trains what: losses that pull against each other, adversaries that help each other, sums that are never reset."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants
from ...facts.roles import ADDS, ASSIGNS, at_line, is_variable, place_of
from ..advice import advice_of
from ..findings import Finding
from .case import Case, Run, fed_behind, finding, held
from .heads import DATA, Head, constant, heads
from .optimizers import stays_at_random
from .stepping import Update

_PAIRS = 6  # steps of the one loss after which the other is looked at
_LEAST = 4  # steps that show how two losses stand to each other
_FELL = 1e-6  # of its size: by which a loss is lower
_OPPOSED = -0.3  # cosine of the gradients of two losses that pull against each other
_APART = ("give each minimize its own variables: var_list=the discriminator's for its loss, var_list=the generator's "
          "for the other; in Keras: discriminator.trainable = False before the combined model is compiled")
_STEPS = 10  # in which a gradient should have been applied
_GROWS = 4  # ops of one line, each fetched first in a later run, from which on the graph grows


def trainer_mistakes(case: Case) -> list[Finding]:
    """Findings about which loss trains which variables, and what runs beside."""
    return [*_updated_twice(case), *_opposed(case), *_swapped_lists(case), *_never_reset(case), *_grows(case),
            *_not_applied(case)]


def _not_applied(case: Case) -> list[Finding]:
    """Gradients of a call that nothing applies, of variables that stay at random, while others of it are applied."""
    applied = {u.variable.op for u in case.updates}
    made = {op for u in case.own for op in ancestors([u.gradient])}
    for call in case.calls if len(case.steps) >= _STEPS else ():
        found = {x: getattr(g, "values", g) for x, g in call.found.items() if g is not None and x in case.variables}
        left = [x for x in found if x.op not in applied and stays_at_random(x, case)]
        if call.ys[0] is not case.y or not left or not any(g.op in made for x, g in found.items() if x.op in applied):
            continue
        u = next(each for each in case.own if each.variable in found)
        return [finding(45 if case.learns else 64, "gradient not applied", u.op, f"the gradient of {case.y.name} for "
                        f"{left[0].name} is computed, as for {len(found) - 1} others, but nothing applies it, as it "
                        f"does that for {u.variable.name}: {len(left)} of {len(found)} variables keep their random "
                        f"first values in all {len(case.steps)} steps; {case.went}", "give apply_gradients the "
                        "gradients of all variables", target=left[0].name, ask=f"why {left[0].name}",
                        confidence="certain")]
    return []


def _updated_twice(case: Case) -> list[Finding]:
    """Variables that two optimizers update by the gradient of one loss in the same run."""
    for run in case.steps[:2]:
        first: dict[tuple[Tensor, Tensor | None], Update] = {}
        for update in case.updates:
            other = first.setdefault((update.variable, update.y), update) if update.op in run.ran else update
            if other is not update:
                places = [place_of(each.op) for each in (other, update)]
                is_named_twice = places[0] == places[1] and other.gradient is update.gradient
                return [finding(61 if not case.learns else 45, "updated twice", update.op, f"{update.variable.name} is "
                                f"updated twice in run {run.number}, by {other.op.name}{at_line(places[0])} "
                                f"and by {update.op.name}{at_line(places[1])}, both by the gradient of {case.y.name}: "
                                + ("one call has it twice in its list of variables, where another may be meant"
                                   if is_named_twice else
                                   "two optimizers that know nothing of each other take two steps"),
                                "name it once in var_list, and the other one" if is_named_twice else
                                "run one train op", target=update.variable.name, confidence="certain")]
    return []


def _opposed(case: Case) -> list[Finding]:
    """Variables that two losses train, of which one undoes what the other does."""
    losses = list(by_loss(case).items())
    for i, (y, mine) in enumerate(losses):
        for other, theirs in losses[i + 1:]:
            shared = [(u, v) for u in mine for v in theirs if u.variable is v.variable]
            if shared and (last := _judge(y, case) & _judge(other, case)) and (
                    cosines := _cosines(case, shared) or _in_turns(case, [each for each in shared if
                                                                          each[0].variable.op in last])):
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
                    "which both depend: a var_list names the wrong ones", _APART, target=u.variable.name)]


def _judge(y: Tensor, case: Case) -> set[Operation]:
    """The kernels that no other comes between and a loss: losses that have none in common may share a code."""
    behind = ancestors([y])
    kernels = {v.op: descendants([v]) & behind for v in case.variables
               if len(v.op.attrs["shape"] or ()) > 1 and v.op in behind}
    taken = {kernel: {held(t) for op in below if op.gradient_of is None for t in op.inputs}
             for kernel, below in kernels.items()}
    return {kernel for kernel in kernels if not (kernels.keys() - {kernel}) & taken[kernel]}


def _cosines(case: Case, shared: Sequence[tuple[Update, Update]]) -> list[tuple[float, Update, Update]]:
    """Of each pair of updates the cosine of their gradients in the first runs that can tell it."""
    case.want(*(u.gradient for pair in shared for u in pair))
    trains = [run for run in case.runs if run.trains]
    return [(cosine, u, v) for run in dict.fromkeys([*trains[:4], *trains[-2:]]) for u, v in shared
            if (cosine := _cosine(case, u, run, v, run)) is not None]


def _in_turns(case: Case, shared: Sequence[tuple[Update, Update]]) -> list[tuple[float, Update, Update]]:
    """The same of losses that have runs of their own, in turns: of each run the nearest of the other's that is most
    against it, if one is against every run."""
    mine, theirs = ([run for run in case.runs if run.trains and update.op in run.ran] for update in shared[0])
    found: list[tuple[float, Update, Update]] = []
    if not mine or not theirs or mine[0].number > theirs[-1].number or theirs[0].number > mine[-1].number:
        return []
    for run in dict.fromkeys([*theirs[:_LEAST], *theirs[-2:]]):
        near = sorted(mine, key=lambda each: abs(each.number - run.number))[:2]
        all_of = [(cosine, u, v) for u, v in shared for each in near
                  if (cosine := _cosine(case, u, each, v, run)) is not None]
        found += [min(all_of, key=lambda each: each[0])] if all_of else []
    return found if len(found) >= _LEAST and max(cosine for cosine, *_ in found) < _OPPOSED else []


def _cosine(case: Case, u: Update, run: Run, v: Update, other: Run) -> float | None:
    a, b = (case.values(each).get(update.gradient) for update, each in ((u, run), (v, other)))
    if a is None or b is None or np.shape(a) != np.shape(b):
        return None
    a, b = (np.ravel(np.asarray(each, float)) for each in (a, b))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.dot(a, b)) / size if size > 0 and np.isfinite(size) else None


def _pulled(cosine: float, u: Update, v: Update, count: int) -> Finding:
    losses = " and ".join(each.y.name for each in (u, v) if each.y is not None)
    return finding(79, "two losses train the same", u.op, f"{losses} both train {count} variables, "
                   f"such as {u.variable.name}, and pull against each other (cosine of their gradients {cosine:.2f}): "
                   f"the updates {u.op.name}{at_line(place_of(u.op))} and {v.op.name}{at_line(place_of(v.op))} undo "
                   "each other, as where minimize was given no var_list", _APART, target=u.variable.name)


def _swapped_lists(case: Case) -> list[Finding]:
    """The variables between real data and a loss that sees them, trained by the other loss alone."""
    losses = list(by_loss(case).items())
    for y, mine in losses:
        for other, theirs in losses:
            if y is other or not (inside := judges(y, other)):
                continue
            ours, its = {u.variable.op for u in mine}, {u.variable.op for u in theirs}
            wrong = inside & its
            if wrong and not inside & ours and ours:
                first = next(u for u in theirs if u.variable.op in wrong)
                return [finding(84, "var_list swapped", first.op, f"{first.variable.name} lies between {y.name} and "
                                f"the data it judges, but {other.name} trains it, and {y.name} trains others ("
                                f"{mine[0].variable.name} …): the lists of variables are swapped",
                                "swap var_list of the two minimize calls", target=first.variable.name)]
    return []


def judges(y: Tensor, other: Tensor) -> set[Operation]:
    """What stands between y and the data that another loss does not see: a critic's variables, among others."""
    real = fed_behind([y]) - fed_behind([other])
    tower = descendants([t for op in real for t in op.outputs]) & ancestors([y])
    return {v for op in tower for v in map(held, op.inputs)}


def _never_reset(case: Case) -> list[Finding]:
    """Gradients that are added up for an update, and never set back to zero, or before they are used."""
    trains = [run for run in case.runs if run.trains]
    for update in case.updates if trains else ():
        for total in {op for op in ancestors([update.gradient]) if op.type in ("VariableV2", "VarHandleOp")}:
            takers = list(total.outputs[0]._consumers)
            adds = [op for op in takers if op.type in ADDS
                    and any(o.gradient_of is not None for o in ancestors(op.inputs[1:]))]
            resets = [op for op in takers if op.type in ASSIGNS]
            later = [run for run in case.runs if run.number > trains[0].number]
            if not adds or adds[0] is update.op or not any(adds[0] in run.ran for run in case.runs):
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
        on = [op.inputs[0] for _, op in same if op.inputs and is_variable(op.inputs[0])]
        if len({*on}) == len(same):
            continue  # a line for each variable
        if len(same) >= _GROWS and len(set(steps)) == len(same) and all(
                a.index < b.index for (_, a), (_, b) in zip(same, same[1:])):
            (first, op), (last, end) = same[0], same[-1]
            each = (end.index - op.index) / (len(same) - 1)
            weight = 68 if 2 * (end.index - op.index) >= last - first else 38  # few, made now and then
            return [finding(weight, "graph grows", op, f"this line makes new ops for each run: {op.name} for run "
                            f"{first}, {end.name} for run {last}, {each:.3g} ops each time, {end.index - op.index} so "
                            "far: every run takes longer, and memory fills", "build the ops once before the loop, feed "
                            "what changes; graph.finalize() finds such lines", confidence="certain")]
    return []


def by_loss(case: Case) -> dict[Tensor, list[Update]]:
    """The updates of each loss that is minimized."""
    found: dict[Tensor, list[Update]] = defaultdict(list)
    for update in case.updates:
        if update.y is not None:
            found[update.y].append(update)
    return found


def adversary_mistakes(case: Case) -> list[Finding]:
    """Findings about losses that are trained beside each other."""
    losses = by_loss(case)
    told_the_same = [found for y in losses for found in (
        *_same_labels(case, y, losses[y]), *_one_label(case, y, losses))]
    return told_the_same[:1] or [found for y in losses for other in losses if y is not other
            for found in (*_helps(case, y, other, losses), *_leaks(case, y, other, losses))][:1]


def _same_labels(case: Case, y: Tensor, updates: list[Update]) -> list[Finding]:
    """A critic that is to say the same of what is real and of what is made."""
    mine = {u.variable.op for u in updates}
    judged = [(head, value) for head in heads(case.about(y)) if head.form in ("sigmoid", "log")
              and (value := _told(head, case)) is not None]
    labels = {value for _, value in judged}
    said = sorted((head.prediction for head, _ in judged), key=lambda t: len(ancestors([t])))  # what is made, last
    data = [_data_of(t) for t in said]
    if len(said) < 2 or len(labels) != 1 or not set.intersection(*(mine & ancestors([t]) for t in said)) or not any(
            a - b for a in data for b in data):
        return []
    return [finding(82, "critic told the same of both", y.op, f"{y.name} trains {next(iter(mine)).name} to say "
                    f"{labels.pop():g} of {said[0].name} and of {said[-1].name} alike, though they come from different "
                    "data: there is nothing to tell apart, and the loss goes to 0 by saying that to everything",
                    f"labels of zeros for what is generated: tf.zeros_like({said[-1].op.name})", confidence="certain")]


def _one_label(case: Case, y: Tensor, losses: dict[Tensor, list[Update]]) -> list[Finding]:
    """A critic all of whose steps say the same, which a generator is trained through in steps of its own."""
    mine, about = {u.variable.op for u in losses[y]}, case.about(y)
    others = [other for other in losses if other is not y and mine & ancestors([other])]
    told = {_told(head, about) for head in heads(about) if head.form in ("sigmoid", "log")}
    if len(told) != 1 or None in told or len(about.steps) < _LEAST or not others or not _judge(y, case) & mine or any(
            mine & {u.variable.op for u in losses[other]} for other in others):
        return []
    return [finding(82, "critic told the same of both", y.op, f"{y.name} trains {next(iter(mine)).name} to say "
                    f"{told.pop():g} of all it was given in {len(about.steps)} steps, of what is real and of what is "
                    f"made for {others[0].name}: there is nothing to tell apart", "labels of zeros for what is "
                    "generated: np.zeros in the steps of the critic by it")]


def _told(head: Head, case: Case) -> float | None:
    """The one number that all labels of all steps looked at are; None for others."""
    if head.labels is None or head.labels.op in case.trained:
        return None
    value = constant(head.labels)
    known = np.concatenate([np.ravel(v) for v in ([value] if value is not None else case.series(head.labels))]
                           or [np.zeros(0)]).astype(float)
    return float(known[0]) if known.size and not np.ptp(known) else None


def _helps(case: Case, y: Tensor, other: Tensor, losses: dict[Tensor, list[Update]]) -> list[Finding]:
    """A generator whose steps lower the loss of its critic too: both are after the same."""
    mine, theirs = ({u.variable for u in losses[each]} for each in (y, other))
    data = _data_of(other) - _data_of(y)
    tower = descendants([t for op in data for t in op.outputs]) & ancestors([other])
    if mine & theirs or not data or not {v.op for v in mine} <= ancestors([other]) or not any(
            v in op.inputs or any(t.op.inputs[:1] == (v,) for t in op.inputs) for v in theirs for op in tower):
        return []
    if any(head.labels is not None and constant(head.labels) is None for head in heads(case.about(other))):
        return []  # a critic of returns, which is to be right: it is nobody's adversary
    steps = [run for run in case.runs if run.trains and any(u.op in run.ran for u in losses[y])][:_PAIRS]
    judged = [run for run in case.runs if any(u.op in run.ran for u in losses[other])]
    fell = [change for run in steps if judged and (change := _change(case, run, judged, other, mine)) is not None]
    if len(fell) < _LEAST or not all(change < -_FELL for change in fell):
        return []
    return [finding(77, "adversaries agree", y.op, f"each step of {y.name}{at_line(place_of(y.op))} lowers {other.name}"
                    f"{at_line(place_of(other.op))} too ({len(fell)} of {len(fell)} looked at), the loss of the critic "
                    f"that {next(iter(mine)).name} and {len(mine) - 1} others should deceive: the generator is trained "
                    "to be found out", f"turn {y.name}: labels of ones for what is generated (tf.ones_like), or the "
                    "other sign")]


def _data_of(y: Tensor) -> set[Operation]:
    return {op for op in ancestors([y]) if op.type in DATA}


def _change(case: Case, run: Run, judged: list[Run], other: Tensor, moved: set[Tensor]) -> float | None:
    """By how much of its size another loss changes with the step of a run."""
    at = min(judged, key=lambda each: abs(each.number - run.number))
    names = [v.op.name for v in moved if all(v.op.name in known for known in (run.before, run.after, at.before))]
    with_step = {**at.before, **{n: (at.before[n] + np.subtract(run.after[n], run.before[n])).astype(
        np.asarray(at.before[n]).dtype) for n in names}}
    first, then = (case.with_variables(at, other, values) for values in (at.before, with_step))
    return None if first is None or then is None or not np.isfinite(first - then) else (then - first) / (
        abs(first) + 1e-12)


def _leaks(case: Case, y: Tensor, other: Tensor, losses: dict[Tensor, list[Update]]) -> list[Finding]:
    """A loss that trains all that another, a critic's, does, as the critic's error goes into it."""
    mine, theirs = ({u.variable for u in losses[each]} for each in (y, other))
    if not theirs < mine or other.op in ancestors([y]):
        return []
    behind = ancestors([y])
    critic = next((head for head in heads(case.about(other)) if head.form in ("squared", "absolute")
                   and head.prediction.op in behind), None)
    if critic is None or {v for v in case.variables if v.op in ancestors([other])} - theirs:
        return []
    return [finding(66, "two losses train the same", y.op, f"{y.name} trains {next(iter(theirs)).name} and all "
                    f"{len(theirs)} variables of {other.name}{at_line(place_of(other.op))} too: the prediction "
                    f"{critic.prediction.name} goes into it, and the gradient through it, so that the critic is moved "
                    "to make this loss small, not to be right", "put tf.stop_gradient around what comes from the "
                    "critic, or give minimize var_list=the actor's variables", target=next(iter(theirs)).name)]

"""Steps that change nothing: a learning rate that is too low, a clipping or an epsilon that leaves nothing, averages
that hardly follow."""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.function_graph import functions_of
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import ancestors, outside
from ...facts.function_calls import InnerOps
from ...facts.graph_lists import variables_of
from ...facts.roles import VARIABLES
from ..findings import Finding
from ..update_blame import operands_of
from .case import Case, Run, finding, gradients_of, rate_of, update_op
from .habits import set_by_callback
from .heads import number_in
from .modes import average_of, choice_of
from .stepping import Average, averages_among, kept_by

_USUAL, _MILD, _SLOWISH, _SLOW = 1e-3, 3e-4, 1e-4, 1e-5  # change of a kernel by a step, relative to its size
_STILL = 1e-6
_AGAIN = 2  # times that all examples were seen, which are no others then
_NOT_YET = 0.7  # of the steps, up to which a rate that the script sets itself is not low on purpose
_GROWS = 1.5  # times: steps that were so much shorter
_STEEP = 5e-3  # of the loss: gained by one usual step, where a mildly slow training is called slow too
_MOVED = 0.03  # share of the loss by which a training that goes on has changed it
_LONG, _MOVED_IN_LONG, _WASTED = 200, 0.2, 20  # the same of so many steps; so many to what a usual one would gain
_ENOUGH = 100  # steps of a training that is over, in which something should have been learnt
_FEW, _LITTLE = 10, 0.9  # steps that are hardly any, and of the loss of a guess, above which little was learnt
_SLOW_STEPS, _LAST, _BEHIND = 30, 3, 0.5  # steps, those in the end, and the share of its way that an average lacks
_FIRST, _FOLLOWING = 0.1, (0.9, 0.8, 0.5)  # of its first value, which an average still is; momenta that leave less
_UNLEARNT = 0.7  # of the first loss, or a guess's: no less than that shows nothing of what was learnt
_MANY, _FEWEST = 20, 15  # steps that a training has to have had before it is called slow, or very slow


def too_low(case: Case) -> list[Finding]:
    """Steps so short that they change nothing, where longer ones along the gradient would lead down."""
    if len(case.steps) < _FEWEST or not case.paces or not case.again:
        return []
    pace, rate = float(np.median(_largest_paces(case))), rate_of(case, case.looked[0])
    first, then = case.again[0][1], case.with_variables(case.looked[0], case.y, case.looked[-1].after)
    if not pace < _MILD or not pace and rate is None or then is None:  # no rule is seen to change them at all
        return []
    moved, most = abs(then - first), _MOVED if len(case.steps) < _LONG else _MOVED_IN_LONG
    gains = [(run.step, gain) for run in case.looked[:3] if (gain := _gain(case, run, _USUAL)) is not None]
    wasted = bool(gains) and moved * _WASTED < len(case.steps) * min(g for _, g in gains)
    is_idle = wasted and case.is_over and len(case.steps) >= _ENOUGH and not case.learns
    is_cut_off = case.is_over and len(case.steps) >= _LONG and (
        _gain(case, case.looked[-1], _USUAL) or 0.0) > _STEEP * abs(case.last_loss)
    if not (moved < most * abs(first) or is_cut_off or is_idle) or not pace < (
            _MILD if is_idle or len(case.steps) >= _MANY and not is_cut_off else _SLOWISH):
        return []
    losses = dict(case.losses)
    is_blind = not gains and 0 < pace < _STILL  # gradients that are not followed here
    if not is_blind and not (gains and _reaches_kernels(case) and all(
            gain > (1e-4 if pace < _SLOWISH else _STEEP) * abs(losses.get(step, case.first_loss))
            for step, gain in gains)):
        return []
    if moved >= _MOVED * abs(first) and not is_cut_off and not is_idle and not (  # what a few usual steps would do
            pace < _SLOWISH and wasted):
        return []
    said = (f"a step changes the kernels by {pace:.2g} of their size, where {_USUAL:g} is usual, and in "
            f"{len(case.steps)} steps the loss of the first batch moved from {first:.5g} to {then:.5g}"
            f"{', and would go on falling' * is_cut_off}")
    if smaller := [*_clipped(case, said), *_damped(case, said)]:
        return smaller[:1]
    if _speeds_up(case):
        return []
    value = "" if rate is None else f" ({rate:.3g})"
    promise = "" if is_blind else (f"; moved by {_USUAL:g} along the gradient of step {gains[0][0]} it would fall by "
                                   f"{gains[0][1]:.2g} at once")
    return [finding(70 if pace < _SLOW else 44, "learning rate too low", update_op(case), "the learning rate is too "
                    f"low{value}: {said}{promise}", "raise the learning rate, ten times at a time",
                    step=case.looked[0].step)]


def too_few(case: Case) -> list[Finding]:
    """A program that ended after a few steps by all examples, of which nothing was learnt, though they led down."""
    count = len(case.steps)
    if not case.is_over or not 1 < count <= _FEW or case.is_spoiled or not case.again or not (
            case.guess < np.inf and case.last_loss > _LITTLE * min(case.first_loss, case.guess)) or not all(
            after < before for _, before, after in case.again):
        return []
    fed = [[v for t, v in run.feeds.items() if np.ndim(v) > 1] for run in case.steps]
    if not fed[0] or any(len(a) != len(b) or not np.isclose(np.sum(a, dtype=float), np.sum(b, dtype=float))
                         for each in fed[1:] for a, b in zip(fed[0], each)):  # not the same examples, in any order
        return []
    return [finding(43, "too few steps", update_op(case), f"the script ended after {count} training steps, each by all "
                    f"of {len(fed[0][0])} examples, which lower the loss ({case.again[-1][1]:.4g} to "
                    f"{case.again[-1][2]:.4g} in the last), but it is still {case.last_loss:.4g}, where one answer to "
                    f"everything has {case.guess:.4g}", "smaller batches, which are more steps an epoch, and more "
                    "epochs", step=case.steps[-1].step)]


def decayed(case: Case) -> list[Finding]:
    """A learning rate that a schedule has brought to nothing, or that does not move though it is meant to."""
    found, ran = [], {op for run in case.looked for op in run.ran}
    for rate in dict.fromkeys(u.rate for u in case.updates if u.rate is not None and u.op in ran):
        counters = [op for op in ancestors([rate]) if op.type in VARIABLES and case.looked
                    and np.asarray(case.looked[0].before.get(op.name, 0.0)).dtype.kind in "iu"]
        values = [(run.step, float(np.reshape(v, ()))) for run, v in zip(case.looked, case.series(rate))
                  if np.size(v) == 1]
        still = bool(counters) and all(np.array_equal(run.before.get(op.name, 0), run.after.get(op.name, 0))
                                       for op in counters for run in case.looked)
        at_end = next((value for step, value in values[::-1] if counters or step < _NOT_YET * values[-1][0]),
                      float("inf"))
        if still and len(case.steps) > 2:
            found.append(finding(52 if case.learns else 63, "global_step not advanced", update_op(case), "the learning "
                                 f"rate {rate.name} follows {counters[0].name}, which no training step changes: after "
                                 f"{case.steps[-1].step} steps it is still {np.ravel(_last(case, counters[0]))[0]}, "
                                 f"and the rate {values[-1][1] if values else float('nan'):.3g}: the schedule never "
                                 "begins",
                                 f"optimizer.minimize(loss, global_step={counters[0].name})",
                                 target=f"{counters[0].name}:0", confidence="certain"))
        elif len(values) > 2 and len(case.steps) < 2000 and 0 <= at_end < 0.01 * values[0][1] and (
                not case.learns or values[-2][1] < 0.01 * values[0][1]):  # and not at the end of what it is meant for
            half, latest = _first_below(case, rate, 0.5 * values[0][1], counters)
            said, remedy, waits = set_by_callback(case) or ("", "count decay_steps in steps, not epochs: "
                                                            f"{_in_an_epoch(case, half)}; or decay more slowly", False)
            learnt = case.last_loss <= 0.3 * case.first_loss
            found.append(finding(38 if waits and learnt else 46 if waits or learnt else 65, "learning rate decayed to "
                                 "nothing", rate.op, f"the learning rate falls from {values[0][1]:.3g} at step "
                                 f"{values[0][0]} to {values[-1][1]:.3g} at step {values[-1][0]}, below half by "
                                 f"step {half}{latest}{'; ' * bool(said)}{said}: the last steps change nothing, and "
                                 f"the loss stays at {case.last_loss:.4g}", remedy, step=half, confidence="certain"))
    return found[:1]


def _first_below(case: Case, rate: Tensor, bound: float, counters: Sequence[Operation]) -> tuple[int, str]:
    """The step at which a rate that falls is below a bound, also of those between that only its counter tells of."""
    at = bisect_left(case.steps, True, key=lambda run: (case.with_variables(run, rate, run.before) or 0.0) < bound)
    run, last = case.steps[at], case.steps[max(0, at - 1)]
    between = range(last.step, run.step + 1)
    known = {op.name: last.before.get(op.name, 0) for op in counters}
    if all(run.before.get(name, 0) - value == between[-1] - between[0] for name, value in known.items()) and known:
        return between[bisect_left(between, True, key=lambda step: (case.with_variables(last, rate, {**last.before, **{
            name: np.asarray(value + step - last.step, np.asarray(value).dtype) for name, value in known.items()}})
            or 0.0) < bound)], ""
    return run.step, " at the latest" * (len(between) > 2)


def _in_an_epoch(case: Case, half: int) -> str:
    """How many steps an epoch has, where the examples come again; not where so many epochs are more than there were."""
    for tensor, value in case.steps[-1].feeds.items() if case.steps else ():
        size = len(value) if np.ndim(value) > 1 else 0
        rows, count = set[bytes](), 0
        for run in reversed(case.steps if size > 1 else ()):
            rows |= {row.tobytes() for row in np.asarray(run.feeds.get(tensor, ()))}
            count += size
            if _AGAIN * len(rows) < count:
                if len(rows) // size > 1 and half * (len(rows) // size) <= case.steps[-1].step:
                    return f"an epoch has {len(rows)} // {size} of them, examples by a batch"
                break
    return "epochs * examples / batch size"


def _last(case: Case, variable: Operation) -> Any:
    return case.looked[-1].after.get(variable.name, 0)


def _largest_paces(case: Case) -> list[float]:
    """Of each step looked at, in order: the largest change of a kernel, relative to the size of the rows it changes."""
    largest: dict[int, float] = {}
    known = {run.step: run for run in case.looked}
    for step, variable, pace in case.paces:
        before, after = (np.asarray(values[variable.op.name]) for values in (known[step].before, known[step].after))
        rows = (before != after).any(axis=tuple(range(1, before.ndim)))
        share = float(np.linalg.norm(before[rows])) / float(np.linalg.norm(before))
        largest[step] = max(largest.get(step, 0.0), pace / share if share else pace)
    return [largest[step] for step in sorted(largest)]


def _speeds_up(case: Case) -> bool:
    """Whether the steps grow, as while a schedule warms up, or averages of squares that began at 1 shrink enough.

    Momentum gathers too, but soon has: what then grows no more stays as slow.
    """
    rates = [rate_of(case, run) or 0.0 for run in (case.looked[0], case.looked[-1])]
    paces = _largest_paces(case)
    first, later, last = paces[0], paces[-1 - len(paces) // 3], paces[-1]
    return last > _GROWS * first and (rates[1] > rates[0] or last > max(_SLOW, _GROWS * later)
                                      or "RMSProp" in update_op(case).type)


def _reaches_kernels(case: Case) -> bool:
    """Whether kernels have a gradient at all: where units are dead, no rate helps."""
    values = case.values(case.looked[0])
    sizes = {x: float(np.linalg.norm(values[g])) for x, g in gradients_of(case).items() if g in values}
    kernels = [size for x, size in sizes.items() if len(x.op.attrs["shape"] or ()) > 1]
    return not kernels or max(kernels) > 1e-3 * max(sizes.values())


def _clipped(case: Case, said: str) -> list[Finding]:
    """A clipping that leaves next to nothing of the gradients."""
    raw = gradients_of(case)
    given = {u.variable: u.gradient for u in case.own if u.variable in raw}
    case.want(*given.values())
    values = case.values(case.looked[0])
    pairs = [(float(np.linalg.norm(values[raw[x]])), float(np.linalg.norm(values[g])), g) for x, g in given.items()
             if g in values and raw[x] in values]
    if not pairs:
        return []
    before, after, given_one = max(pairs, key=lambda each: each[0])
    if after > 1e-2 * before:
        return []
    return [finding(71, "clipped too hard", given_one.op, f"the gradients are clipped to almost nothing: from the norm "
                    f"{before:.3g} to {after:.3g} at step {case.looked[0].step}; {said}", "raise the bound of the "
                    "clipping: 1 to 5 is usual for a global norm", step=case.looked[0].step, confidence="certain")]


def _damped(case: Case, said: str) -> list[Finding]:
    """An epsilon that outweighs the root which it guards."""
    for update in case.updates:
        given = dict(operands_of(update.op)).get("epsilon")
        epsilon = number_in(given) if given is not None else None
        if epsilon is not None and epsilon > 1e-2:
            return [finding(71, "epsilon too large", update.op, f"the epsilon of {update.op.type} is "
                            f"{epsilon:.3g}, far above the gradients that it is added to: {said}",
                            "1e-8 is usual, up to 1e-3", confidence="certain")]
    return []


def _gradients_of_rows(case: Case) -> dict[Tensor, tuple[Tensor, Tensor]]:
    """The script's gradients of y that are of some rows of a variable alone: which, and of these."""
    return {x: (g.indices, g.values) for call in case.calls if call.ys[0] is case.y for x, g in call.found.items()
            if x in case.variables and isinstance(g, IndexedSlices)}


def _gain(case: Case, run: Run, share: float) -> float | None:
    """By how much y of the same batch falls if all variables go along the gradient by this share of their size."""
    gradients, rows = gradients_of(case), _gradients_of_rows(case)
    case.want(*gradients.values(), *(t for each in rows.values() for t in each))
    values = case.values(run)
    known = {x.op.name: np.asarray(values[g], float) for x, g in gradients.items()
             if g in values and x.op.name in run.before}
    for x, (indices, slices) in rows.items():
        if {indices, slices} <= values.keys() and x.op.name in run.before:
            known[x.op.name] = np.zeros(np.shape(run.before[x.op.name]))
            np.add.at(known[x.op.name], np.asarray(values[indices]), np.asarray(values[slices], float))
    with np.errstate(all="ignore"):
        steep = float(np.sqrt(sum(np.vdot(g, g) for g in known.values())))
        size = float(np.sqrt(sum(np.vdot(w, w) for w in (np.asarray(run.before[n], float) for n in known))))
    if not steep or not np.isfinite(steep) or not size:
        return None
    moved = {name: (before - share * size / steep * known[name]).astype(np.asarray(before).dtype) if name in known
             else before for name, before in run.before.items()}
    value, then = values.get(case.y), case.with_variables(run, case.y, moved)
    return None if value is None or then is None or np.size(value) != 1 else float(np.reshape(value, ())) - then


def averages_behind(case: Case) -> list[Finding]:
    """Moving averages that are still much of what they began as, where runs that do not train normalize by them."""
    kept = {v.handle_tensor.op for v, trainable in variables_of(case.graph) if not trainable}
    used = [run for run in case.runs if case.steps and not run.trains and run.number > case.steps[0].number]
    is_late, count = case.is_over and bool(used) and len(case.looked) >= 2 * _LAST, case.steps[-1].step if used else 0
    inner = InnerOps(case.graph).by_name().values() if is_late else ()
    laws = {v: law for v, law in averages_among((*case.looked[0].ran, *inner)).items() if v in kept} if is_late else {}
    for op in case.operations if is_late else ():
        average = (average_of(op, kept) or _within(op, kept)) if any(op in run.ran for run in used) else None
        left, rate = (_still_moves(average, case), _rate_of(laws.get(average), case)) if average else (0.0, 0.0)
        share = (1 - rate) ** count if rate else left
        if average is None or max(share, left) < _FIRST:
            continue
        choice, name = op if op.type == "If" else choice_of(op), f"{average.name}:0"
        own, theirs, then = _by_averages(choice, laws, case) if choice is not None else (float("nan"),) * 3
        is_harm = share > _FIRST and theirs - own > abs(own) and not then > (own + theirs) / 2 and (
            theirs > _UNLEARNT * min(case.first_loss, case.guess))
        if not is_harm and not (np.isnan(theirs) and left > _BEHIND and len(case.steps) >= _SLOW_STEPS):
            continue
        fed = _followed(laws[average], case)[-1:] if average in laws else []
        told = "".join(f": it is {np.mean(case.steps[-1].after[average.name]):.3g} (mean), where batches have "
                       f"{np.mean(each):.3g}" for each in fed)
        said = (f"the loss of the last steps is {own:.4g} by their batches, and {theirs:.4g} by these averages" +
                (f"; had they followed, {then:.4g}" if np.isfinite(then) else "")) if is_harm else (
            f"it moves {left:.0%} as far in a step as in the first, so evaluation normalizes by what no batch has")
        momentum = next((m for m in _FOLLOWING if m ** count < _FIRST), _FOLLOWING[-1])
        at = f" at momentum {1 - rate:.4g}" if rate else ""
        return [finding(68 if is_harm else 52, "averages behind", op, f"batch normalization ({op.name}) goes by {name} "
                        f"in runs that do not train, but {count} updates{at} leave {share:.0%} of what it began with"
                        f"{told}; {said}", f"a smaller momentum, momentum={momentum}, or more steps: 1 / (1 - momentum)"
                        " of them are what an average needs to follow", target=name, step=case.looked[0].step)]
    return []


def _within(op: Operation, kept: set[Operation]) -> Operation | None:
    """The moving variance of a normalization that is written out: in a branch of an op, or x / sqrt(variance)."""
    roots = [o for f in functions_of(op) for o in f.graph.operations.values()] if op.type == "If" else [
        t.op for t in op.inputs[1:] if op.type == "RealDiv"]
    near = [t for o in roots if o.type in ("Rsqrt", "Sqrt") for t in (*o.inputs, *o.inputs[0].op.inputs)]
    return next((v for t in near if (v := kept_by(t)) in kept), None)


def _rate_of(law: Average | None, case: Case) -> float:
    """The share of the way that an average moves in a step; 0 where it is not known."""
    known = [] if law is None else case.series(law.factor) if law.factor.graph is case.graph else [
        static_value(law.factor)]
    rate = known[-1] if known and known[-1] is not None and known[-1].size == 1 else None
    return abs(law.keeps - float(np.ravel(rate)[0])) if law is not None and rate is not None else 0.0


def _followed(law: Average, case: Case) -> list[np.ndarray]:
    """What an average was to follow in the steps that are looked at; [] inside of a branch."""
    value = outside(law.value)
    return case.series(value) if value.graph is case.graph else []


def _still_moves(average: Operation, case: Case) -> float:
    """How far a variable moves in the last steps, along its first move and as a part of that."""
    moves = [np.ravel(run.after[average.name] - run.before[average.name]) for run in case.looked
             if average.name in run.after and average.name in run.before]
    first = float(np.linalg.norm(moves[0])) if len(moves) >= 2 * _LAST else 0.0
    return float(np.mean(moves[-_LAST:], axis=0) @ moves[0]) / first ** 2 if first else 0.0


def _by_averages(choice: Operation, laws: Mapping[Operation, Average], case: Case) -> tuple[float, ...]:
    """The mean loss of the last steps with the weights as trained: as they normalize, by the averages, and by these
    had they followed what they are of; nan where one is not known."""
    last, told, late = case.steps[-1].after, choice.inputs[0], case.looked[-_LAST:]
    near = {v.name: np.mean(known[-_LAST:], axis=0) for v, law in laws.items() if (known := _followed(law, case))}
    modes = [(run, now, np.logical_not(now).astype(np.asarray(now).dtype)) for run in late
             if case.series(told) and (now := case.values(run).get(told)) is not None]
    losses = [[case.with_variables(run, case.y, {**last, **given}, {told: turned} if is_turned else {})
               for run, _, turned in modes] for is_turned, given in ((False, {}), (True, {}), (True, near))]
    own, theirs, then = (float(np.mean([np.nan if y is None else y for y in each] or [np.nan])) for each in losses)
    return own, theirs, then if near.keys() == {v.name for v in laws} else float("nan")

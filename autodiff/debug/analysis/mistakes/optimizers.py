"""Between a gradient and its variable: updates that never run, clipping that leaves only signs, kernels left out."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from ....core.collections import GraphKeys
from ....core.graph import Operation, Tensor
from ....core.site import resolve, source_lines
from ....core.traversal import ancestors
from ...facts.graph_lists import added_by_layers
from ...facts.roles import ASSIGNS, BOUNDS, STORES, VARIABLES, as_place, at_line, place_of, rescaled
from ..findings import Finding
from ..update_blame import is_copy, is_store, operands_of
from .case import Case, finding, gradients_of, held, kernel_of, update_op
from .habits import frozen_in
from .heads import number_in, unbroadcast

_SHARES = ("momentum", "beta1", "beta2", "rho")
_RUNS = 10  # of a loss, with no update among them, from which on the train op is missed
_BOUND = 0.5  # share of elements at the bound of a clipping above which hardly more than signs is left
_SELDOM = 8  # steps looked at that show that a clipping does nothing
_SHORT = 0.1  # of the norm, if no more is left in any step
_FEW, _ENOUGH = 10, 25  # training runs after which an average, and a copy, that was never made is not going to be
_LEARNT = 10  # steps in which a model should have learnt something
_PRODUCTS = ("MatMul", "Conv2D", "BatchMatMulV2")
_DRAWN = ("Random", "Truncated", "StatelessRandom", "ParameterizedTruncated")
_SHRINKS = 0.97  # times its size, in each step: a decay that leaves nothing of what gradients add


def optimizer_mistakes(case: Case) -> list[Finding]:
    """Findings about what updates do with gradients, and about updates that do nothing."""
    return [*_settings(case), *_never_trained(case), *_never_copied(case), *_always_copied(case), *_never_bounded(case),
            *_copied_too_late(case), *_copied_to_itself(case), *_uncounted(case), *_epsilon_of_zero(case),
            *_clipped_always(case)]


def _settings(case: Case) -> list[Finding]:
    """Shares of the past that are 1 or more, so that nothing is ever forgotten, and averages that are swapped."""
    for update in case.updates:
        known = {name: value for name, tensor in operands_of(update.op) if name in _SHARES
                 and (value := number_in(tensor)) is not None}
        name, share = max(known.items(), key=lambda each: each[1], default=("", 0.0))
        if share >= 1:
            return [finding(106, "momentum of 1", update.op, f"the {name} of {update.op.type} is {share:g}: each step "
                            f"repeats all that were before{' ever larger' * (share > 1)}, so the training never "
                            "settles", "0.9 is usual, 0.99 is much; it is the share of the last step that is kept",
                            confidence="certain")]
        if known.get("beta1", 0.0) > known.get("beta2", 1.0) and not case.learns and case.steps:
            return [finding(47, "betas swapped", update.op, f"beta1 of {update.op.type} is {known['beta1']:g}, above "
                            f"beta2, {known['beta2']:g}: steps go by a longer past than their scale, and grow where "
                            f"gradients shrink; {case.went}", "beta1=0.9, beta2=0.999 are usual")]
    return []


def _never_trained(case: Case) -> list[Finding]:
    """A loss that is computed again and again, and an optimizer that is never run."""
    runs = [run for run in case.runs if case.y.op in run.ran]
    if not case.updates or len(runs) < _RUNS or any(run.trains for run in case.runs):
        return []
    if any(op.type.startswith("Restore") for run in case.runs for op in run.ran) or any(
            u.op in run.ran for u in case.updates for run in case.runs):
        return []
    values = [run.before for run in runs]
    names = [v.op.name for v in case.variables if v.op.name in values[0]]
    if not names or any(not np.array_equal(values[-1].get(n, ()), values[0][n]) for n in names):
        return []
    at = update_op(case)
    if not case.is_over and _is_still_to_come(at):
        return []
    said = f"what is fetched is {', '.join(t.name for t in runs[-1].fetched[:3])}" if runs[-1].fetched else ""
    return [finding(96, "never trained", at, f"{len(runs)} runs compute {case.y.name}, but none of them runs the train "
                    f"op: {at.name} never ran, and all {len(names)} variables keep their first values; {said}",
                    "fetch the train op too: session.run([train_op, loss], …)", confidence="certain")]


def _is_still_to_come(train: Operation) -> bool:
    """Whether the script reads what it calls the train op somewhere."""
    if train.site is None or not (lines := source_lines(train.site.file)):
        return False
    name = re.match(r"[\s\w.,]*?(\w+)\s*=(?!=)", lines[train.site.line - 1])
    return name is not None and len(re.findall(rf"\b{name[1]}\b", "\n".join(lines))) > 1


def _never_copied(case: Case) -> list[Finding]:
    """Variables that runs read, and that a copy or an average is made for which never runs."""
    trains = [run for run in case.runs if run.trains]
    if len(trains) < _FEW:
        return []
    later = [run for run in case.runs if run.number >= trains[0].number]
    read = {op for run in later for op in run.ran}
    normalizing = {op for ops in added_by_layers(case.graph, GraphKeys.UPDATE_OPS) for op in ops}
    for op in case.operations:
        if op.type not in STORES or not is_store(op) or op.inputs[0].op not in read or op.inputs[0].op.type not in \
                VARIABLES or any(op in run.ran for run in (later[1:] if case.is_over else case.runs)):
            continue
        if op in normalizing:
            continue  # of what a layer saw: "not updated" tells it
        behind = ancestors(op.inputs[1:])
        sources = [o for o in behind if o is not op.inputs[0].op and o.outputs and o.outputs[0] in case.variables]
        is_copy = op.type in ASSIGNS
        if not sources or any(o.gradient_of is not None for o in behind) or len(trains) < (_ENOUGH if is_copy else
                                                                                          _FEW):
            continue
        if op.inputs[0] in case.variables and not is_copy or any(
                o in read and o.type in STORES for o in op.inputs[0]._consumers):
            continue
        how = "copied from" if is_copy else "a moving average of"
        return [finding(56, "never copied", op, f"{op.inputs[0].op.name}, which the runs read, is to be {how} "
                        f"{sources[0].name}, but in {len(trains)} training runs {op.name} never ran: it keeps its "
                        "first values", "run the copies, once at the beginning and then every so many steps" if is_copy
                        else "run the averages with the train op: tf.group(train_op, ema_op)",
                        target=op.inputs[0].name)]
    return []


def _never_bounded(case: Case) -> list[Finding]:
    """Variables that are trained, and that an op which never runs would keep within bounds."""
    trains = [run for run in case.runs if run.trains]
    ran = {op for run in case.runs for op in run.ran}
    trained = {u.variable.op for u in case.updates if u.op in ran}
    found = [op for op in case.operations if op.type in ASSIGNS and op not in ran and held(op.inputs[0]) in trained
             and held(op.inputs[0]) in (behind := ancestors(op.inputs[1:])) and any(
                 o.type in BOUNDS and o.gradient_of is None for o in behind)] if len(trains) >= _FEW else []
    if not found:
        return []
    more = f", and {len(found) - 1} more likewise" if len(found) > 1 else ""
    bounded = held(found[0].inputs[0])
    return [finding(57, "never bounded", found[0], f"{found[0].name} keeps {bounded.name} within bounds, which is "
                    f"trained{more}, but none of {len(case.runs)} runs, {len(trains)} training ones, runs it",
                    "run it after each step of these variables", target=bounded.name, confidence="certain")]


def _always_copied(case: Case) -> list[Finding]:
    """Variables that y compares with those they are copied from, and that are the same in every step."""
    behind, later = ancestors([case.y]), case.steps[1:]
    trained = {update.variable.op for update in case.updates}
    for op in case.operations if len(later) >= _FEW else ():
        copied = op.inputs[0].op if op.type in STORES and is_store(op) else op
        if copied not in behind or copied in trained or copied.outputs[0] not in case.variables or not any(
                op in run.ran for run in case.runs):
            continue
        source = next((o for o in ancestors(op.inputs[1:]) & trained & behind if all(np.array_equal(
            run.before.get(copied.name, 0), run.before.get(o.name, 1)) for run in later)), None)
        if source is not None:
            return [finding(47, "copied in each step", op, f"{copied.name}, which {op.name} copies from {source.name}, "
                            f"is the same as that in all {len(later)} training steps after the first: what "
                            f"{case.y.name} is compared with moves with every step, as without a second network",
                            "copy it every so many steps (if step % 100 == 0), or a share of it: "
                            "0.99 * target + 0.01 * online", target=copied.outputs[0].name, confidence="certain")]
    return []


def _copied_too_late(case: Case) -> list[Finding]:
    """Differences between a variable and its copy that are 0 whenever they are asked for: it is made after the step."""
    differences = [(op, {held(t) for t in op.inputs}) for op in case.operations if op.type in (
        "Sub", "SquaredDifference")]
    for op in case.operations if differences else ():
        if op.type not in ASSIGNS or (source := held(op.inputs[1])).outputs[0] not in case.variables:
            continue
        for less in (each for each, of in differences if of == {source, op.inputs[0].op}):
            runs = [run for run in case.runs if less in run.ran and not run.trains]
            known = [(run.before.get(source.name, 0), run.before.get(op.inputs[0].op.name, 1)) for run in runs]
            if _FEW // 2 <= len(runs) >= sum(op in run.ran for run in case.runs) - 1 and all(
                    np.array_equal(*each) for each in known) and not np.array_equal(known[0][0], known[-1][0]):
                return [finding(66, "copied too late", op, f"{op.inputs[0].op.name} is to be what {source.name} was, "
                                f"but is the same as that in all {len(runs)} runs that compute their difference "
                                f"({less.name}{at_line(place_of(less))}), which is always 0: {op.name} runs after the "
                                "training step, and copies what that has made", f"run {op.name} before the training "
                                "step, and compare after it", target=op.inputs[0].name, confidence="certain")]
    return []


def _uncounted(case: Case) -> list[Finding]:
    """The count of steps that hooks go by, which no training step changes."""
    counts = [v.handle_tensor.op for v in case.graph.get_collection("global_step")] if len(case.steps) > _FEW else []
    still = [op for op in counts if all(op in run.ran and np.array_equal(run.before.get(op.name, 0), run.after.get(
        op.name, 1)) for run in case.steps)]
    return [finding(58, "global_step not advanced", update_op(case), f"{op.name}, which each run reads, is the same "
                    f"after {len(case.steps)} training steps: what stops, saves or decays by it never does",
                    "optimizer.minimize(loss, global_step=tf.train.get_global_step())", target=f"{op.name}:0",
                    confidence="certain") for op in still[:1]]


def _copied_to_itself(case: Case) -> list[Finding]:
    """Assignments of a variable to itself, as where two names stand for one network."""
    known = {v.op for v in case.variables}
    return [finding(61, "copied to itself", op, f"{op.name} copies {op.inputs[0].op.name} to itself: the two networks "
                    "that are to differ are one, of the same variables", "build the second network in a variable scope "
                    "of its own, and copy from the first", target=op.inputs[0].name, confidence="certain")
            for op in case.operations if op.type in ASSIGNS and op.inputs[0].op in known
            and held(op.inputs[1]) is op.inputs[0].op][:1]


def _epsilon_of_zero(case: Case) -> list[Finding]:
    """An epsilon that the type of its variable rounds to 0."""
    for update in case.updates:
        epsilon = dict(operands_of(update.op)).get("epsilon")
        if epsilon is None or update.variable.dtype.base_dtype.name != "float16":
            continue
        values = case.series(epsilon)
        if values and not np.any(values[0]):
            return [finding(107 if case.is_spoiled else 60, "epsilon underflows", update.op, "the epsilon of "
                            f"{update.op.type} is 0 in float16, whose smallest number is 6e-8: where a gradient is 0, "
                            "or its square underflows, the update divides by 0", "keep variables and optimizer in "
                            "float32, or give an epsilon of 1e-4", step=case.nonfinite, confidence="certain")]
    return []


def _clipped_always(case: Case) -> list[Finding]:
    """A clipping that bites in each step, so that hardly more than the signs, or little of the size, is left."""
    if not case.steps or case.is_spoiled:
        return []
    raw = gradients_of(case)
    given = [(each if (each := rescaled(raw[u.variable])).op in ancestors([u.gradient]) else raw[u.variable],
              u.gradient) for u in case.own if u.variable in raw]
    pairs = [(before, after) for before, after in given if before is not after]
    case.want(*(t for pair in pairs for t in pair))
    shares, rests = [], []
    for run in case.looked:
        values = case.values(run)
        known = [(np.asarray(values[a], float), np.asarray(values[b], float)) for a, b in pairs
                 if a in values and b in values and np.shape(values[a]) == np.shape(values[b])]
        size = float(np.sqrt(sum(np.vdot(a, a) for a, _ in known)))
        if known and size:
            count = sum(a.size for a, _ in known)
            shares.append(sum(int((np.abs(b) < 0.999 * np.abs(a)).sum()) for a, b in known) / count)
            rests.append(float(np.sqrt(sum(np.vdot(b, b) for _, b in known))) / size)
    if len(shares) < 3 or (clip := _clip_of(pairs)) is None:
        return []
    if not any(shares) and len(shares) > _SELDOM:
        return [finding(15, "clipping never bites", clip, f"the clipping at {clip.name}{at_line(place_of(clip))} "
                        f"changed nothing in {len(shares)} steps looked at: its bound is above all gradients",
                        "leave it for the rare step that is far too long, or lower the bound")]
    where, step = f"{clip.name}{at_line(place_of(clip))}", case.looked[0].step
    if min(shares) > _BOUND and clip.type in ("Minimum", "Maximum"):
        return [finding(38 if case.learns else 72, "clipped by value", clip, f"{where} clips the gradients by value, "
                        f"and {min(shares):.0%} or more of their elements are at the bound in each of {len(shares)} "
                        f"steps looked at ({rests[0]:.2g} of the norm is left at step {step}): little more than the "
                        "signs is left of them, and their direction is lost", "clip by the norm, which keeps the "
                        "direction: tf.clip_by_global_norm(gradients, 5.0); or raise the bound", step=step,
                        confidence="certain")]
    if max(rests) < _SHORT and not case.learns:
        return [finding(48, "clipped always", clip, f"the clipping at {where} bites in each of {len(rests)} steps "
                        f"looked at: at most {max(rests):.2g} of the norm of the gradients is left, so steps are that "
                        f"much shorter; {case.went}", "raise the bound of the clipping: 1 to 5 is usual for a global "
                        "norm", step=step)]
    return []


def _clip_of(pairs: list[tuple[Tensor, Tensor]]) -> Operation | None:
    """The op that clips, between a gradient and what is applied."""
    for raw, given in pairs:
        op = given.op
        for _ in range(8):
            if op.type in ("Minimum", "Maximum", "Mul", "RealDiv"):
                return op
            if op is raw.op or not op.inputs:
                break
            op = op.inputs[0].op
    return None


def left_alone_mistakes(case: Case) -> list[Finding]:
    """Findings about variables that keep what they began with, or lose what they learnt."""
    return [] if len(case.steps) < _LEARNT else [*_kernels_left_out(case), *(() if case.learns else _shrunk(case))]


def _kernels_left_out(case: Case) -> list[Finding]:
    """Kernels at their random first values, above layers that are trained, or with none that is."""
    products = [(op, kernel_of(op.inputs[1])) for op in case.behind if op.type in _PRODUCTS and len(op.inputs) > 1]
    known = {v.op: v for v in case.variables}
    moved = {u.variable.op for u in case.updates} | {op for op, v in known.items() if _has_moved(op, case)}
    vain = {x.op for call in case.calls for x in call.xs if call.found.get(x) is None}  # which is told as "no gradient"
    layers = [(op, known[kernel]) for op, kernel in products if kernel in known]
    alone = [(op, v) for op, v in layers if v.op not in moved | vain and not is_copy(v) and _is_random(v, case)]
    if not alone or not moved & set(known):
        return []
    at, variable = alone[-1]
    below = ancestors(at.inputs[:1]) & moved
    if not below and any(v.op in moved for _, v in layers):
        return []  # what lies below is frozen, as of a model that was taken over
    what = f"{len(alone)} of {len({v for _, v in layers})} kernels, such as {variable.name}{at_line(place_of(at))},"
    why = f", but what lies below, such as {min(op.name for op in below)}, is trained through them" if below else \
        ": what is trained is biases alone"
    by, remedy = "the gradient call was not asked for them", "leave var_list out, or give it these variables too"
    step, layer = update_op(case), frozen_in(variable)
    place = place_of(step)
    if layer is not None:
        place = next(map(as_place, resolve(layer.frozen_at[:1])), place)
        by = f"trainable of {layer.name!r}, which has them, is False{at_line(place)}"
        remedy = f"leave {layer.name!r} trainable, and compile after that: freeze only what has been trained"
        if layer in case.graph.extras["compiled"].values():  # a model that trains itself, as a critic does
            remedy = f"freeze {layer.name!r} after its own compile, and before that of the model that it is part of"
    said = finding(45 if case.learns else 63, "not trained", step, f"{what} keep their random first values in all "
                   f"{len(case.steps)} steps: {by}{why}; {case.went}", remedy, target=variable.name,
                   ask=f"why {variable.name}")
    return [replace(said, place=place)]


def stays_at_random(variable: Tensor, case: Case) -> bool:
    """Whether a kernel that steps could have changed is what it was drawn to be in all of them."""
    return not _has_moved(variable.op, case) and np.ndim(case.steps[0].before[variable.op.name]) > 1 and _is_random(
        variable, case)


def _has_moved(variable: Operation, case: Case) -> bool:
    first, last = case.steps[0].before.get(variable.name), case.steps[-1].after.get(variable.name)
    return first is None or last is None or not np.array_equal(first, last)


def _is_random(variable: Tensor, case: Case) -> bool:
    """Whether all that runs put into a variable was drawn or zero, none of it restored, copied or given."""
    stores = [op for op in variable._consumers if is_store(op) and any(op in run.ran for run in case.runs)]
    is_zero = not np.any(case.steps[0].before.get(variable.op.name, 1))
    return bool(stores) and all(is_zero or any(o.type.startswith(_DRAWN) for o in ancestors(op.inputs[1:]))
                                for op in stores)


def _shrunk(case: Case) -> list[Finding]:
    """An assignment in each step of a share of what a variable is."""
    ran, mine = case.looked[0].ran, set(case.variables)
    for op in case.operations:
        if op not in ran or not is_store(op) or op.inputs[0] not in mine or not op.type.startswith("Assign"):
            continue
        share = _share_of(op.inputs[1], op.inputs[0])
        factor = None if share is None else 1 - share if "Sub" in op.type else share
        if factor is not None and -1 < factor < _SHRINKS:
            return [finding(66, "decay too strong", op, f"{op.name} makes {op.inputs[0].name} {factor:.3g} times what "
                            f"it was in each step: of what a gradient added {abs(factor) ** 10:.2g} is left ten steps "
                            f"later, so little can be learnt; in {len(case.steps)} steps {case.went}", "a usual decay "
                            "is 1e-4 times the learning rate: 0.9999 or more", target=op.inputs[0].name)]
    return []


def _share_of(value: Tensor, variable: Tensor) -> float | None:
    """The constant that a variable is multiplied by to give a value."""
    if value.op.type not in ("Mul", "RealDiv"):
        return None
    for read, other in (value.op.inputs, value.op.inputs[::-1]):
        if held(read) is variable.op and (factor := number_in(unbroadcast(other))):
            return factor if value.op.type == "Mul" else 1 / factor
    return None

"""Modes: layers that do one thing in training and another in use, and are told the wrong one."""
from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ....core.collections import GraphKeys
from ....core.constant_value import static_value
from ....core.function_graph import functions_of
from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.graph_lists import added_by_layers, variables_of
from ...facts.roles import ADDS, APPLIES, ASSIGNS, PLACEHOLDERS, VARIABLES, at_line, place_of
from ..findings import Finding
from ..scripts.calls import is_call
from ..scripts.parsed import Parsed
from .case import Case, Run, finding, held
from .heads import SAME, heads, number_in
from .pairing import inputs_of
from .signs import source_of

_COLLECTED = "{tf}.get_collection({tf}.GraphKeys.UPDATE_OPS)"
MOST_DROPPED = 0.85  # share beyond which what is left is hardly enough
HALF, _NOTHING, _MANY = 0.5, 0.9, 40  # share that is too much where so many steps leave so much of a guess's loss
_OTHERWISE = 20.0  # times the size of what is trained with: inputs that were scaled, or not, unlike those
_FEW, _ROWS = 8, 4  # steps, and examples, that show how large inputs are
_RANDOM = ("RandomUniform",)
_OF_DROPOUT = re.compile("(?i)(^|/)dropout[^/]*/Identity[^/]*$")  # as a layer calls what it does outside of training


def mode_mistakes(case: Case) -> list[Finding]:
    """Findings about batch normalization and dropout."""
    rules = (_normalized_by_averages, _normalized_alone, _dropped, _dropped_inside, _never_dropped,
             _averaged_over_all, _scaled_otherwise)
    return [found for rule in rules for found in rule(case)] if case.steps else []


def not_updated(graph: Graph, trained: Sequence[Collection[Operation]]) -> list[Finding]:
    """Moving averages of batch normalization that no training run updates. trained: the ops that each of them ran."""
    for is_of_keras, ops in enumerate(added_by_layers(graph, GraphKeys.UPDATE_OPS)):
        if not ops or not trained or any(op in ran for ran in trained for op in ops):
            continue
        train, place = min((op for op in trained[-1] if op.type.startswith(APPLIES)), key=lambda op: op.index), ops[0]
        written = _updates_of_layers(train, len(ops)) if is_of_keras else _COLLECTED
        remedy = (f"layers of Keras keep them out of UPDATE_OPS: tf.group(train_op, {written or 'layer.updates'})"
                  if is_of_keras else f"build the train op under tf.control_dependencies({_COLLECTED.format(tf='tf')})")
        found = finding(48, "not updated", place, f"{len(ops)} updates of moving averages, such as {place.name}"
                        f"{at_line(place_of(place))}, do not run with the train op: batch normalization will go by its "
                        "initial averages in tests", remedy, ask="info vars", written=written)
        return [replace(found, place=place_of(train) or found.place)]
    return []


def _updates_of_layers(train: Operation, count: int) -> str:
    """The updates of all layers that the script of a train op gives a name, if they are so many; else ""."""
    body = Parsed.of_file(train.site.file).tree.body if train.site is not None else []
    names = [node.targets[0].id for node in body if isinstance(node, ast.Assign)
             and isinstance(node.targets[0], ast.Name) and is_call(node.value, "batchnormalization")]
    return ", ".join(f"{name}.updates" for name in names) if 2 * len(names) == count else ""


def _normalized_by_averages(case: Case) -> list[Finding]:
    """Batch normalization that goes by its moving averages while training."""
    kept = {v.handle_tensor.op for v, trainable in variables_of(case.graph) if not trainable}
    for op in case.behind:
        if op not in case.trained or not (average := average_of(op, kept)):
            continue
        choice = op if op.type == "If" else next((t.op for t in op.inputs if t.op.type == "If"), None) or choice_of(op)
        told = _chosen(choice, kept, case) if choice is not None else _never_chosen(op, average)
        if not told:
            continue
        values = [np.ravel(run.after[average.name]) for run in (case.looked[0], case.looked[-1])
                  if average.name in run.after]
        still = len(values) == 2 and np.array_equal(values[0], values[1])
        fitted = bool(values) and not (values[0] == 1).all()  # of a model that was trained before
        moves = f"{average.name} stays as it began" if still else f"{average.name} goes on changing"
        return [finding(36 if fitted else 62 if case.learns else 73, "batch norm in evaluation mode", op, f"batch "
                        f"normalization ({op.name}) goes by its moving averages in training runs: {told}; {moves} over "
                        f"{len(case.steps)} steps, so nothing is normalized by its batch",
                        "give it training=True in training runs (feed the placeholder True), and run its update ops",
                        target=f"{average.name}:0", step=case.looked[0].step)]
    return []


def _averaged_over_all(case: Case) -> list[Finding]:
    """A metric that adds up evaluations between which was trained, and is never set back."""
    later = [run for run in case.runs if run.number > case.steps[0].number]
    for total in (each.handle_tensor for each in case.graph.get_collection("metric_variables")):
        adds = [op for op in total._consumers if op.type in ADDS]
        steps = sorted({run.step for run in later if not run.trains and any(op in run.ran for op in adds)})
        if len(steps) > 2 and not any(op in run.ran for run in later for op in total._consumers if op.type in ASSIGNS):
            return [finding(47, "metric never reset", adds[0], f"{adds[0].name} adds to {total.name} in evaluations "
                            f"after {len(steps)} different steps, {steps[0]} to {steps[-1]}, and nothing sets it back: "
                            "what it says is the average of all of them, also of the model as it was long before",
                            "run the initializer of the metric's variables (tf.variables_initializer of "
                            "tf.local_variables(scope)) before each evaluation", target=total.name,
                            confidence="certain")]
    return []


def _scaled_otherwise(case: Case) -> list[Finding]:
    """Inputs that are of another size in the runs that do not train."""
    for tensor in inputs_of(case) if len(case.steps) >= _FEW else ():
        sizes = [float(np.abs(run.feeds[tensor]).mean()) for run in case.steps if tensor in run.feeds]
        size, least, most = (float(find(sizes)) if sizes else 0.0 for find in (np.median, np.min, np.max))
        for run in case.runs:
            array = np.asarray(run.feeds.get(tensor, 0.0))
            far = float(np.abs(array).mean()) if array.ndim > 1 and len(array) >= _ROWS else size
            if not run.trains and far > 0 and tensor.dtype.is_floating and (
                    _OTHERWISE * far < least or far > _OTHERWISE * most > 0):  # nothing of that size was trained with
                return [finding(66, "inputs scaled otherwise", next(iter(tensor._consumers), tensor.op), "what "
                                f"{tensor.name} is fed has the mean size {size:.3g} in training, but {far:.3g} in run "
                                f"{run.number}, which does not train: what that run says of the model is of inputs "
                                "that it has never seen", "scale all that is fed alike: by the mean and deviation of "
                                "what it is trained with", target=tensor.name, step=run.step)]
    return []


def _normalized_alone(case: Case) -> list[Finding]:
    """Batch normalization by the batch itself in runs that do not train, where that is one example."""
    for op in [op for op in case.behind if op.type == "Rsqrt" and op in case.trained]:
        total = past(op.inputs[0], ("Add", "AddV2", *SAME)).op
        axes = static_value(total.inputs[1]) if total.type == "Mean" else None
        if axes is None or 0 not in axes:
            continue
        x, runs = past(total.inputs[0], SAME).op.inputs[0], [r for r in case.runs if not r.trains and op in r.ran][-3:]
        case.want(x)
        shapes = [np.shape(values[x]) for run in runs if x in (values := case.values(run))]
        if shapes and all(len(shape) == 2 and shape[0] == 1 for shape in shapes) and all(
                len(v) > 1 for v in case.series(x)):
            return [finding(52, "batch norm of one example", total, f"runs that do not train, such as run "
                            f"{runs[-1].number}, give {total.name} one example, and it is normalized by that batch, "
                            "not by the moving averages: x less its mean is 0 whatever x is", "training=True in "
                            "training runs alone: feed a placeholder, or mode == TRAIN", target=x.name,
                            step=case.looked[0].step, confidence="certain")]
    return []


def average_of(op: Operation, kept: set[Operation]) -> Operation | None:
    """The moving variance that an op normalizes by, one of its branches if it has some."""
    if op.type == "If":
        fused = [o for f in functions_of(op) for o in f.graph.operations.values() if o.type.startswith("FusedBatchN")]
        return next((held(t) for t in reversed(op.inputs) if held(t) in kept), None) if fused else None
    if op.type == "FusedBatchNormV3" or op.type.startswith("FusedBatchNorm"):
        if op.attrs.get("is_training", True) or len(op.inputs) < 5:
            return None
        return next((o for o in (held(op.inputs[4]), *_captured(op.inputs[4])) if o in kept), None)
    if op.type != "Mul" or op.inputs[0].op.type != "Rsqrt" and op.inputs[1].op.type != "Rsqrt":
        return None
    root = next(t.op for t in op.inputs if t.op.type == "Rsqrt")
    near: list[Tensor] = list(root.inputs[0].op.inputs)
    return next((o for t in near for o in (held(t), *_captured(t)) if o in kept and o.type in VARIABLES), None)


def _captured(tensor: Tensor) -> Sequence[Operation]:
    return [held(t) for t in tensor.op.inputs] if tensor.op.type == "If" else []


def choice_of(op: Operation) -> Operation | None:
    """The branch by which an op is told its mode, near above it."""
    near = list(op.inputs)
    for _ in range(3):
        for tensor in near:
            if tensor.op.type == "If":
                return tensor.op
        near = [t for each in near for t in each.op.inputs]
    return None


def _chosen(choice: Operation, kept: set[Operation], case: Case) -> str:
    """How training runs choose the moving averages; "" if they do not."""
    values = case.series(choice.inputs[0])
    if not values or len({bool(np.ravel(v)[0]) for v in values}) != 1:
        return ""
    taken = bool(np.ravel(values[0])[0])
    branch = functions_of(choice)[0 if taken else 1]  # which may also move them, and give others
    if kept.isdisjoint(held(op.attrs["external"]) for op in ancestors(branch.outputs) if op.type == "Captured"):
        return ""
    source = next((op for op in ancestors([choice.inputs[0]]) if op.type in PLACEHOLDERS), None)
    return f"{source.name if source is not None else choice.inputs[0].name} is {taken} in all of them"


def _never_chosen(op: Operation, average: Operation) -> str:
    """That training=False is constant, if the average belongs to a batch normalization of the script's own."""
    updated = any(c.type.startswith("Assign") for t in average.outputs for c in t._consumers
                  if c.name != f"{average.name}/Assign")
    return "" if updated else "training is False whenever it is built"


def _dropped(case: Case) -> list[Finding]:
    """Dropout that keeps almost nothing, or is on where a model is used and off where it is trained."""
    found: list[Finding] = []
    for op in case.behind:
        rate = rate_of_dropout(op)
        if (kept := _kept_of(op)) is not None and kept < 1 - MOST_DROPPED:
            found.append(_too_much(op, op.inputs[0].name, 1 - kept, case))
        if rate is None or op not in case.looked[0].ran or np.isnan(dropped := dropped_by(rate, case)):
            continue
        if _hardly_learns(dropped, case):
            found.append(_too_much(op, op.inputs[0].name, dropped, case))
        else:
            found += _wrong_way_round(op, rate, dropped, case) or _of_the_logits(op, dropped, case)
    return found[:1]


def _hardly_learns(dropped: float, case: Case) -> bool:
    """Whether a share is so large, or more than half of what a training is left that is no better than a guess."""
    return dropped > MOST_DROPPED or dropped > HALF + 1e-6 and len(case.steps) >= _MANY and np.isfinite(
        case.guess) and case.last_loss > _NOTHING * case.guess


def dropouts_in(case: Case) -> Iterator[Tensor]:
    """The rates of dropout behind y, also within branches."""
    for op in case.behind:
        inner = (o for f in functions_of(op) for o in f.graph.operations.values()) if op.type == "If" else ()
        yield from (rate for each in (op, *inner) if (rate := rate_of_dropout(each)) is not None)


def dropped_by(rate: Tensor, case: Case) -> float:
    """The share that a rate drops in training; nan where it is not known."""
    values = [float(np.ravel(v)[0]) for v in case.series(rate) if np.size(v)] if rate.graph is case.graph else [
        number_in(rate) or 0.0]
    return float(np.median(values)) if values else float("nan")


def _dropped_inside(case: Case) -> list[Finding]:
    """The same of a dropout in a branch: it drops almost all, or its branch is never taken in training."""
    for op in case.behind:
        if op.type != "If":
            continue
        rates = [next((r for inner in f.graph.operations.values() if (r := rate_of_dropout(inner)) is not None), None)
                 for f in functions_of(op)]
        taken = {bool(np.ravel(v)[0]) for v in case.series(op.inputs[0])}
        if len(rates) != 2 or len(taken) != 1 or rates == [None, None]:
            continue
        is_first = taken.pop()
        rate = rates[0 if is_first else 1]
        if rate is None:
            uses = [case.values(run).get(op.inputs[0]) for run in case.runs if not run.trains and op in run.ran]
            if any(v is not None and bool(np.ravel(v)[0]) != is_first for v in uses[-3:]):
                return [finding(66, "dropout the wrong way round", op, f"dropout ({op.name}) is on in runs that do not "
                                "train, and off in training", "feed training=True in training runs, False in others",
                                step=case.looked[0].step)]
            continue
        if _hardly_learns(dropped := number_in(rate) or 0.0, case):
            return [_too_much(op, op.name, dropped, case)]
        if found := _of_the_logits(op, dropped, case):
            return found
    return []


def _never_dropped(case: Case) -> list[Finding]:
    """Dropout that was built with training=False, which only passes its input on, in what is trained."""
    passed = [op for op in case.behind if op.type == "Identity" and _OF_DROPOUT.search(op.name) and op in case.trained]
    return [finding(38, "dropout is off", passed[0], f"{len(passed)} layers of dropout, such as {passed[0].name}, are "
                    "built for evaluation, with training=False, which is what tf.layers.dropout takes if it is not told"
                    f": in {len(case.steps)} training steps they dropped nothing", "tf.layers.dropout(x, rate, training"
                    "=is_training), with a placeholder that is True in training runs", confidence="certain")
            ] if passed else []


def left_on(ran: Iterable[Operation]) -> list[Finding]:
    """Dropout in runs of a graph that trains nothing, as of an evaluation."""
    return [finding(43, "dropout in evaluation", op, f"dropout ({op.name}) drops {rate:.0%} in the graph that "
                    "evaluates, which trains nothing: what that says of the model is noisy and too low", "drop in "
                    "training alone: training=(mode == tf.estimator.ModeKeys.TRAIN)", confidence="certain")
            for op in ran if (tensor := rate_of_dropout(op)) is not None and (rate := number_in(tensor) or 0.0) > 0][:1]


def _too_much(op: Operation, what: str, dropped: float, case: Case) -> Finding:
    is_most = dropped > MOST_DROPPED
    so = "hardly anything of the layer is left, nor of its gradient" if is_most else (
        f"after {len(case.steps)} steps the loss is {case.last_loss:.4g}, where a guess has {case.guess:.4g}, as where "
        "the share that is to be kept was given for the one that is dropped, or the other way round")
    return finding(64 if not case.learns else 45, "dropout drops too much", op, f"dropout drops {dropped:.0%} of {what}"
                   f" in training (keep_prob {1 - dropped:.2g}): {so}", "keep_prob is the share that is kept, rate the "
                   "share that is dropped: 0.5 to 0.8 is kept as a rule", step=case.looked[0].step,
                   confidence="probable" if is_most else "possible")


def rate_of_dropout(op: Operation) -> Tensor | None:
    """The rate of a dropout, at the op that puts zeros in place of what is dropped."""
    if op.type != "Mul":
        return None
    for mask in op.inputs:
        if mask.op.type == "Cast" and mask.op.inputs[0].op.type == "GreaterEqual":
            noise, rate = mask.op.inputs[0].op.inputs
            if any(each.type in _RANDOM for each in ancestors([noise])):
                return rate.op.inputs[0] if rate.op.type == "BroadcastTo" else rate
    return None


def _kept_of(op: Operation) -> float | None:
    """The share that is kept, by which a dropout divides a mask of zeros and ones that is drawn elsewhere, and fed."""
    mask = op.inputs[1].op if op.type == "Mul" else op
    return number_in(mask.inputs[1]) if mask.type == "RealDiv" and mask.inputs[0].op.type in PLACEHOLDERS and \
        mask.inputs[0].op.name.startswith("bernoulli") else None


def _of_the_logits(op: Operation, dropped: float, case: Case) -> list[Finding]:
    """A dropout of what the last layer says."""
    head = next((h for h in heads(case) if op in (source_of(h.prediction), h.end)), None)
    if head is None or not 0 < dropped < 1:
        return []
    said = "the loss has a floor" if head.form != "log" else "the loss takes the logarithm of 0" + (
        " where it drops what is right, and divides 0 by 0 where it drops all" if case.nonfinite else "")
    return [finding(103 if case.nonfinite and head.form == "log" else 47, "dropout of the logits", op, f"dropout "
                    f"({op.name}) puts zeros in place of {dropped:.0%} of the predictions {head.end.outputs[0].name} "
                    f"themselves, not of a hidden layer: {said}", "move it before the last layer", step=case.nonfinite,
                    confidence="certain")]


def _is_of_a_step(run: Run, case: Case) -> bool:
    """Whether a run only reads the loss of a training step, with all that was fed for it; the one before may have been
    that, if it is forgotten."""
    if run.number - 1 not in {each.number for each in case.runs}:
        return True
    return case.y in run.fetched and any(step.feeds.keys() == run.feeds.keys() and all(
        np.array_equal(value, step.feeds[t]) for t, value in run.feeds.items()) for step in case.runs if step.trains)


def _wrong_way_round(op: Operation, rate: Tensor, dropped: float, case: Case) -> list[Finding]:
    first = next((i for i, run in enumerate(case.runs) if run.trains), 0)  # a step before it may be forgotten
    uses = [*islice((run for run in reversed(case.runs[first:]) if not run.trains and op in run.ran
                     and not _is_of_a_step(run, case)), 3)][::-1]
    known: list[tuple[Run, float]] = []
    for run in uses:
        value = case.values(run).get(rate)
        if value is not None:
            known.append((run, float(np.ravel(value)[0])))
    if not known or max(v for _, v in known) <= 0:
        return []
    run, used = known[-1]
    if dropped <= 0 < used:
        return [finding(66, "dropout the wrong way round", op, f"dropout drops {used:.0%} in runs that do not train "
                        f"(run {run.number}), and nothing in training", "feed keep_prob below 1 in training, and 1 in "
                        "evaluation", step=run.step)]
    if len(known) == len(uses) and min(v for _, v in known) > 0:
        return [finding(43, "dropout in evaluation", op, f"runs that do not train drop {used:.0%} of "
                        f"{op.inputs[0].name} too (run {run.number}{at_line(place_of(op))}): what they say of the "
                        "model is noisy and too low",
                        "feed keep_prob = 1 (rate = 0, training=False) in evaluation", step=run.step)]
    return []

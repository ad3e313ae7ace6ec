"""Where a training begins: initial values that are equal, too large or too small; starting again and again, also from
the weights of another network, which were to be given that."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import ancestors, descendants, past, reached
from ...facts.graph_lists import operations_of, variables_of
from ...facts.roles import ASSIGNS, PLACEHOLDERS, VARIABLES, at_line, place_of
from ..findings import Finding
from ..update_blame import is_store
from .case import Case, Run, finding, gradients_of, held, kernel_of
from .heads import SAME, heads, through
from .pairing import inputs_of
from .stepping import copies_among

_LARGE, SMALL = 8.0, 0.02  # of std * sqrt(inputs), 1 to 1.4 being usual
_LAYERS = ("MatMul", "Conv2D", "While", "BatchMatMulV2")
_ONCE = 0.6  # share of different examples among those of one pass
_AGAIN = 0.1  # of the training runs: initializers between them from which on nothing lasts
_NOTHING = 1e-4  # what all layers together leave of an input
_FACTORS = ("Mul", "MatMul", "BatchMatMulV2")
_ROWS = ("GatherV2", "ResourceGather", "Transpose", "ReadVariableOp", *SAME)
_FLAT = {"Relu": lambda x: x <= 0, "Sigmoid": lambda x: np.abs(x) > 8, "Tanh": lambda x: np.abs(x) > 4}
_SHOWN = 10  # steps, fewer of which do not show that a loss stays
_FAST = 0.9  # of the first loss, and less, is left where first values are soon forgotten
_BEYOND = 5.0  # times the loss of a guess
_APART = 1e-3  # of the largest gradient: what rounding does not make between units
_OF_OLD = 1.1  # above the deviation that tf.random_normal has if it is not told: it trains, if late
_COMPUTES = ("MatMul", "BatchMatMulV2", "Conv2D", "BiasAdd", "Add", "AddV2")
_OFTEN = 2  # times that a copy is made which is no start from other weights
_TARGET = re.compile("target|teacher|frozen|(?<![a-z])(old|slow)(?![a-z])", re.IGNORECASE)  # what a copy is called


def start_mistakes(case: Case) -> list[Finding]:
    """Findings about the values that training began with."""
    if not case.steps:
        return []
    return [*_started_late(case), *_started_again(case), *_equal_units(case), *_zero_factors(case), *_wrong_size(case),
            *_dead_at_first(case)]


def kernels_of(case: Case) -> list[tuple[Tensor, np.ndarray, Operation]]:
    """Kernels of layers, their first values, and the product that each goes into."""
    found = []
    first = case.steps[0].before
    for variable in case.variables:
        value = first.get(variable.op.name)
        if value is None or np.ndim(value) < 2 or np.asarray(value).dtype.kind != "f":
            continue
        product = next((op for op in case.behind if op.type in _LAYERS
                        and variable.op in map(kernel_of, op.inputs)), None)
        if product is not None:
            found.append((variable, _by_units(variable, value, product), product))
    return found


def _by_units(variable: Tensor, value: Any, product: Operation) -> np.ndarray:
    """A kernel's value with the layer's units along its last axis."""
    return np.asarray(value) if variable.op in map(held, product.inputs) else np.asarray(value).T


def is_hidden(product: Operation, kernels: list[tuple[Tensor, np.ndarray, Operation]]) -> bool:
    """Whether another kernel comes after this one."""
    below = descendants(product.outputs)
    return product.type == "While" or any(other in below and other is not product for _, _, other in kernels)


def _equal_units(case: Case) -> list[Finding]:
    """Hidden layers all of whose units begin equal, and so stay."""
    kernels = kernels_of(case)
    same = []
    for variable, value, product in kernels:
        columns = value.reshape(-1, value.shape[-1])
        if columns.shape[1] > 1 and np.ptp(columns, axis=1).max(initial=0) == 0 and is_hidden(product, kernels):
            same.append((variable, columns, product))
    apart = _told_apart(case, same)
    same = [each for each in same if each[0] not in apart or each[1].any()]
    if not same:
        return []
    variable, columns, product = same[0]
    last = case.looked[-1].after.get(variable.op.name)
    equal = last is not None and np.ptp(_by_units(variable, last, product).reshape(-1, columns.shape[1]),
                                        axis=1).max(initial=0) == 0
    one = "zero" if not columns.any() else f"equal ({columns.flat[0]:.3g})"
    what = one if np.ptp(columns) == 0 else "equal by column"
    others = f" and {len(same) - 1} others" if len(same) > 1 else ""
    still = f", and still do after step {case.looked[-1].step}" if equal else ""
    alike = " and get the same gradient" if variable not in apart else " at first"
    return [finding(86, "equal initial values", variable.op, f"the initial values of {variable.name}{others} are all "
                    f"{what}: the {columns.shape[1]} units of the layer compute the same{alike}{still}: no "
                    "symmetry is broken, and the layer is worth one unit", "initialize weights at "
                    "random: tf.glorot_uniform_initializer(), or tf.truncated_normal(shape, stddev=0.1); zeros are "
                    "right for biases", target=variable.name, step=case.steps[0].step, confidence="certain")]


def _told_apart(case: Case, kernels: Sequence[tuple[Tensor, Any, Operation]]) -> set[Tensor]:
    """Of kernels those whose units a step gives different gradients, as last layers of a branch have them."""
    raw, found = (gradients_of(case) if kernels else {}), set()
    case.want(*(raw[x] for x, *_ in kernels if x in raw))
    for variable, _, product in kernels:
        for run in case.looked if variable in raw else ():  # some of which may be of another loss
            value = case.values(run).get(raw[variable])
            if value is not None and np.isfinite(value).all():
                columns = _by_units(variable, value, product)
                columns = columns.reshape(-1, columns.shape[-1])
                if np.ptp(columns, axis=1).max(initial=0) > _APART * np.abs(columns).max(initial=0):
                    found.add(variable)
                    break
    return found


def _zero_factors(case: Case) -> list[Finding]:
    """Two variables of zeros that are multiplied with each other: the slope of each is the other."""
    first = case.steps[0].before
    zeros = {v.op for v in case.variables if (value := first.get(v.op.name)) is not None and not np.any(value)}
    for op in case.behind:
        factors = {past(t, _ROWS).op for t in op.inputs[:2]} if op.type in _FACTORS and len(zeros) > 1 else set()
        if len(factors) == 2 and factors <= zeros:
            a, b = sorted(factors, key=lambda each: each.index)
            said = finding(88, "zero factors", op, f"{op.name}{at_line(place_of(op))} multiplies {a.name} with "
                           f"{b.name}, and both begin with zeros: the gradient of each is a multiple of the other, so "
                           "both stay zero", "initialize at least one at random: tf.random_normal_initializer("
                           "stddev=0.1)", target=f"{a.name}:0", step=case.steps[0].step, confidence="certain")
            return [replace(said, place=place_of(a) or said.place)]
    return []


def _dead_at_first(case: Case) -> list[Finding]:
    """A bias that begins so far from 0 that it alone puts all units of an activation where it is flat."""
    for op in case.behind if case.steps[0].step <= 1 else ():
        if op.type not in _FLAT or op not in case.trained or op.inputs[0].op.type not in ("BiasAdd", "Add", "AddV2"):
            continue
        bias = next((b for t in op.inputs[0].op.inputs if (b := held(t)).outputs[0] in case.variables), None)
        start = np.asarray(case.steps[0].before.get(bias.name, 0.0)) if bias is not None else np.zeros(())
        values = case.series(op.inputs[0])[:1] if start.ndim == 1 and np.all(np.abs(start) > 1) else []
        if bias is None or not values or not _FLAT[op.type](values[0]).all():
            continue
        return [finding(85, "initial values too large", bias, f"the initial values of {bias.name}, {np.min(start):.3g} "
                        f"to {np.max(start):.3g}, put all inputs of {op.name}{at_line(place_of(op))} where it is flat: "
                        f"at step {case.looked[0].step} they go from {values[0].min():.3g} to {values[0].max():.3g}, "
                        "and no gradient comes through", "begin biases with zeros, or 0.1 before a relu",
                        target=f"{bias.name}:0", step=case.steps[0].step, confidence="certain")]
    return []


def _wrong_size(case: Case) -> list[Finding]:
    """Kernels whose first values are far too large or too small for the number of their inputs."""
    if not case.losses or case.steps[0].step > 1:  # later they are not initial any more
        return []
    rated, kernels = [], kernels_of(case)
    for variable, value, product in kernels:
        inputs = int(np.prod(value.shape[:-1]))
        spread = float(value.std())
        if spread and inputs > 1 and product.type != "While":  # a mean apart from 0 adds up, where deviations cancel
            gain = float(np.hypot(spread * np.sqrt(inputs), value.mean() * inputs / 2))
            rated.append((gain, spread, inputs, variable))
    if not rated:
        return []
    gain, spread, inputs, variable = max(rated, key=lambda each: each[0])
    told, guess = _far_from_a_guess(case)
    if gain > _LARGE and told:
        sizes = [np.abs(fed[0]).mean() for *_, product in kernels if product.inputs[0].op not in case.trained
                 and (fed := case.series(product.inputs[0]))]
        is_fast = len(kernels) == 1 and case.last_loss < _FAST * case.first_loss  # one layer forgets them soon
        is_harmless = is_fast or case.falls and spread < _OF_OLD or case.learns and case.last_loss < guess
        severity = 39 if is_harmless else 60 if max(sizes, default=0) > gain else 71
        mean = float(np.mean(case.steps[0].before[variable.op.name]))
        lies = f"the mean {mean:.3g} and " if abs(mean) > spread / 2 else ""
        return [finding(severity, "initial values too large", variable.op, f"the initial values of {variable.name} "
                        f"have {lies}the standard deviation {spread:.3g} for {inputs} inputs: sums of them are "
                        f"{gain:.3g} times as large as the inputs, where 1 is usual, so what follows is "
                        f"saturated{told}", f"initialize with stddev={1 / np.sqrt(inputs):.2g}, by "
                        "tf.glorot_uniform_initializer()", target=variable.name, step=case.steps[0].step)]
    small = [each for each in rated if each[0] < SMALL]
    if np.prod([min(each[0], 1.0) for each in rated]) < _NOTHING:
        small = sorted(each for each in rated if each[0] < 1 / 3)
    if len(small) > 2 and len(case.steps) >= _SHOWN and case.last_loss > 0.95 * case.first_loss:
        gain, spread, inputs, variable = small[0]
        return [finding(61, "initial values too small", variable.op, f"the initial values of {variable.name} have the "
                        f"standard deviation {spread:.3g} for {inputs} inputs, and {len(small) - 1} other layers begin "
                        f"as small: each layer shrinks what goes through to {gain:.2g}, and the gradients too; the "
                        f"loss stays at {case.last_loss:.4g}", f"initialize with stddev={1 / np.sqrt(inputs):.2g}, by "
                        "tf.glorot_uniform_initializer()", target=variable.name, step=case.steps[0].step)]
    return []


def _far_from_a_guess(case: Case) -> tuple[str, float]:
    """How much worse than guessing the first loss is, or how saturated what comes first; "" if neither is.

    And the loss of a guess, inf where it is not known.
    """
    guess = float("inf")
    predictions = [head.prediction for head in heads(case) if head.form in ("softmax", "sparse", "log")]
    case.want(*predictions)  # at once: those of each time step of an unrolled loop share what comes before
    for prediction in predictions:
        values = case.series(prediction)
        if values and values[0].ndim and values[0].shape[-1] > 1 and np.isfinite(case.first_loss):
            guess = float(np.log(values[0].shape[-1]))
            if case.first_loss > _BEYOND * guess:
                return f", and the first loss is {case.first_loss:.3g}, where guessing has {guess:.3g}", guess
    for head in heads(case) if case.first_loss > _BEYOND * case.guess else ():
        given = [known for t in (head.prediction, head.labels) if t is not None and (known := case.series(t))]
        said, told = (float(np.std(each[0])) for each in given) if len(given) > 1 else (0.0, 0.0)
        if said > _BEYOND * told > 0:
            return f", and predictions first differ by {said:.3g}, where {told:.3g} is to be predicted", case.guess
    squashing = [op for op in case.behind if op.type in ("Tanh", "Sigmoid") and op in case.trained]
    case.want(*(op.inputs[0] for op in squashing))
    first = case.values(case.looked[0]) if squashing and case.looked else {}
    for op in squashing:
        if op.inputs[0] in first:
            far = float((np.abs(first[op.inputs[0]]) > (4 if op.type == "Sigmoid" else 2)).mean())
            if far > 0.5:
                return (f": {far:.0%} of the inputs of {op.name}{at_line(place_of(op))} at step {case.looked[0].step}",
                        guess)
    return "", guess


def given_to(variable: Tensor, runs: Sequence[Run]) -> dict[Operation, int]:
    """The assignments by which runs gave a variable other values than its first ones, and the last run of each."""
    stores = [op for op in variable._consumers if op.type in ASSIGNS and op.inputs[0] is variable]
    starts = {each.initializer for each, _ in variables_of(variable.graph)} if stores else set()
    return {op: run.number for run in runs for op in stores if op in run.ran and op not in starts}


def _started_late(case: Case) -> list[Finding]:
    """An initializer that is run after what gave a variable its values, and before the training."""
    before = [run for run in case.runs if case.steps and run.number < case.steps[0].number]
    for variable, _ in variables_of(case.graph) if len(before) > 1 else ():
        given = given_to(variable.handle_tensor, before)
        last = max((run.number for run in before if variable.initializer in run.ran), default=0)
        if given and last > max(given.values()):
            op = max(given, key=lambda each: given[each])
            return [finding(103, "initialized after", op, f"{op.name} gives {op.inputs[0].name} its values in run "
                            f"{given[op]}, but run {last} initializes it again, and the training begins with those "
                            "first values: what was given is lost", "run the initializer first, then load or assign",
                            target=op.inputs[0].name, confidence="certain")]
    return []


def _started_again(case: Case) -> list[Finding]:
    """An initializer that is run again, of variables that were trained since, between steps of training."""
    starts = [op for variable in case.variables for op in variable._consumers
              if op.type in ASSIGNS and not ancestors(op.inputs[1:]) & case.trained]
    own = {variable.initializer for variable, _ in variables_of(case.graph)}
    first = {name: value for run in case.steps[:1] for name, value in run.before.items()}
    again: list[int] = []
    learnt: set[Tensor] = set()
    passes: list[list[Run]] = [[]]  # the training runs between
    for run in case.runs:
        if passes[-1] and not run.trains and any(op in run.ran and op.inputs[0] in learnt and (
                op in own or _is_same(run.after, first, name := op.inputs[0].op.name) and not _is_same(
                    run.before, first, name)) for op in starts):
            again.append(run.number)  # not of what was kept of a better epoch
            passes.append([])
        if run.trains:
            passes[-1].append(run)
            learnt |= {op.inputs[0] for op in run.ran if is_store(op)}
    trained = sum(map(len, passes))
    if len(again) < 2 or len(again) < _AGAIN * trained and not _is_pass_by_pass(case, passes[:2]):
        return []
    at = max([op for run in case.runs if run.number in again for op in run.ran if op.type == "NoOp"] or starts,
             key=lambda op: op.index)
    return [finding(101, "initialized again", at, f"the initializer is run {len(again)} times between {trained} "
                    f"training runs (first as run {again[0]}, then as run {again[1]}): each time all that was learnt "
                    f"is lost, and the loss begins at {case.first_loss:.4g} again", "run "
                    "tf.global_variables_initializer() once, before the loop", confidence="certain")]


def _is_same(values: Mapping[str, Any], others: Mapping[str, Any], name: str) -> bool:
    """Whether a variable has the same value in both."""
    return name in values and np.array_equal(values[name], others.get(name, ()))


def _is_pass_by_pass(case: Case, passes: Sequence[Sequence[Run]]) -> bool:
    """Whether each goes once through the same examples: folds and trials of a setting go through them many times."""
    for x in inputs_of(case):
        rows = [[row.tobytes() for run in each if x in run.feeds for row in np.atleast_1d(run.feeds[x])]
                for each in passes]
        first, then = map(set, rows)
        if all(len(set(each)) > _ONCE * len(each) for each in rows) and 2 * len(first & then) >= len(then) > 0:
            return True
    return False


def copied(case: Case) -> set[str]:
    """The scopes of variables that are given others' values while there is training, and of these."""
    known = {**copies_among(case.operations, case.variables), **_fed_back(case)}
    return {scope_of(op) for target, (source, _) in known.items() for op in (target, source)}


def scope_of(variable: Operation) -> str:
    """The name of a variable without its last part: its layer's."""
    return variable.name.rpartition("/")[0]


def copy_mistakes(case: Case) -> list[Finding]:
    """A network that is trained, and given again and again the weights of another, which nothing changes."""
    copies = {**copies_among(case.operations, case.variables), **_fed_back(case)}
    stored = _changed(case.graph) if copies else set()
    lost = [(u.variable, source, copy, times) for u in case.updates if u.variable.op in copies and u.y is not None
            for source, copy in [copies[u.variable.op]] if _computes(source) and source not in stored and (
                source not in _moved(u.y) or _TARGET.search(source.name) and not _TARGET.search(u.variable.name))
            and (times := sum(copy in run.ran for run in case.runs)) >= _OFTEN]
    if not lost:
        return []
    variable, source, copy, times = lost[0]
    name, other, more = variable.name, f"{source.name}:0", f" and {len(lost) - 1} others" * (len(lost) > 1)
    return [finding(67, "copied the wrong way", copy, f"{name}{more} {'are' if more else 'is'} trained, and in "
                    f"{times} runs {copy.name} put the value of {other} there, which nothing changes: "
                    "what was learnt is lost each time, and the other network, as a target, never learns it",
                    f"turn the copy: {other} is to be given {name}, tf.assign(target, trained)", target=name,
                    confidence="certain")]


def _fed_back(case: Case) -> dict[Operation, tuple[Operation, Operation]]:
    """Kernels that runs between are fed the values of another variable for, as Keras sets them: whose they are, and the
    assignment."""
    found = {}
    for run in case.runs:
        for op in run.ran if not run.trains and run.feeds else ():
            value = np.asarray(run.feeds.get(past(op.inputs[1], SAME), 0.0) if op.type in ASSIGNS else 0.0)
            source = next((v.op for v in case.variables if value.ndim > 1 and v is not op.inputs[0] and np.array_equal(
                run.before.get(v.op.name, ()), value)), None)
            if source is not None:
                found[op.inputs[0].op] = source, op
    return found


def _moved(y: Tensor) -> set[Operation]:
    """What a gradient of y goes through, as far as no stop_gradient is met."""
    return reached([y.op], lambda op: [t.op for t in op.inputs if op.type != "StopGradient"])


def _changed(graph: Graph) -> set[Operation]:
    """The variables that something else changes than what gives them their first values."""
    return {op.inputs[0].op for op in operations_of(graph) if is_store(op) and op.inputs and (
        op.type not in ASSIGNS or any(o.type in (*VARIABLES, *PLACEHOLDERS) for o in ancestors(op.inputs[1:])))}


def _computes(variable: Operation) -> bool:
    """Whether a variable is a weight of a layer, not a value that is kept."""
    reads = [t for c in variable.outputs[0]._consumers if c.type == "ReadVariableOp" for t in c.outputs]
    return any(op.type in _COMPUTES for t in (variable.outputs[0], *reads) for op in through(t))

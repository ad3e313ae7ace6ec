"""Passes: from a plan to a shorter plan that gives the same values. Run on data, before the first run.

Steps with an effect or state of their own (variables, random streams, py_func, printing) are never
touched, and the order of the rest is kept, so control dependencies hold.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import le
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ...core.graph import Operation
from ...ops.common.gc_pause import collector_paused
from ...ops.common.threads import as_kernels_run
from ...ops.control.tensor_lists import add_item
from .kernel_traits import passes_on
from .plan import Plan, Step
from .unknown_shapes import kernel_of

LARGEST_FOLDED = 1 << 16  # bytes of a result that is kept instead of computed
_SIMPLE = (int, float, bool, str, bytes, complex, type(None), DType)


@collector_paused()
def optimize(plan: Plan) -> Plan:
    """All passes: constants folded, identities elided, equal steps merged, unused ones dropped, and the rest."""
    with as_kernels_run(1, keeps_subnormals=plan.keeps_subnormals):
        folded = fold_constants(plan)
    plan = drop_unused(merge_equal(elide_identities(folded)))
    return rectify_before_spreading(add_single_items(plan))


def is_pure(step: Step) -> bool:
    """Whether the step's results depend on its inputs alone, and nothing else happens."""
    definition = step.op.definition
    return not (definition.stateful or definition.takes_run) and step.reads is None and bool(step.outputs)


def fold_constants(plan: Plan) -> Plan:
    """Compute once what depends on constants alone, if it is small."""
    constants = dict(plan.constants)
    known: dict[Any, int] = {}
    renamed: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        values = None
        inputs = [renamed.get(i, i) for i in step.inputs] if renamed else step.inputs
        if all([i in constants for i in inputs]) and is_pure(step):
            values = _folded(step, [constants[i] for i in inputs])
        if values is None:
            kept.append(step)
            continue
        for slot, value in zip(step.outputs, values):
            first = known.setdefault(_bits(value) or slot, slot)
            if first != slot:
                renamed[slot] = first
            else:
                constants[slot] = value
    return rewired(replace(plan, steps=kept, constants=constants), renamed)


def _bits(value: Any) -> Any:
    """A key that is equal for equal small constants; None for large ones."""
    is_small = value.nbytes <= 256 and value.dtype != object
    return (value.dtype.str, value.shape, value.strides, value.tobytes()) if is_small else None


def _folded(step: Step, inputs: list[Any]) -> list[Any] | None:
    if step.op.type == "Const":
        return [step.op.attrs["value"]]
    if not inputs or any(t.dtype.name == "variant" for t in step.op.outputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = kernel_of(step.op)(*inputs, **step.op.attrs)
    except Exception:  # let it fail in the run, where the failure belongs
        return None
    results = [r if isinstance(r, np.generic) else _copy(r) for r in (result if len(step.outputs) > 1 else [result])]
    if sum(r.nbytes for r in results) > LARGEST_FOLDED or any(r.dtype.kind in "SU" for r in results):
        return None
    for array in results:
        array.setflags(write=False)
    return results


def _copy(result: Any) -> np.ndarray:
    """A copy that repeats along the axes where the result does: how a result lies in memory decides about others."""
    if np.ndim(result) == 0 or 0 not in result.strides:
        return np.array(result)
    once = result[tuple([slice(None) if stride else slice(1) for stride in result.strides])]
    return np.broadcast_to(np.array(once), result.shape)


def elide_identities(plan: Plan) -> Plan:
    """Let the output of Identity, StopGradient and the like be their input; leave out steps without effect."""
    renamed: dict[int, int] = {}
    kept = []
    for step in plan.steps:
        if len(step.inputs) == 1 and is_pure(step) and passes_on(step.op) and not isinstance(step.inputs[0], str):
            renamed[step.outputs[0]] = renamed.get(step.inputs[0], step.inputs[0])
        elif step.op.type != "NoOp":
            kept.append(step)
    return rewired(replace(plan, steps=kept), renamed)


def merge_equal(plan: Plan) -> Plan:
    """Run equal ops on equal inputs once."""
    renamed: dict[int, int] = {}
    first: dict[Any, Step] = {}
    kept = []
    for step in plan.steps:
        what = (step.call or _comparable(step.op)) if is_pure(step) else None
        if what is not None:
            inputs = tuple([renamed.get(i, i) for i in step.inputs]) if renamed else step.inputs
            twin = first.setdefault((what, inputs), step)
            if twin is not step:
                renamed.update(zip(step.outputs, twin.outputs))
                continue
        kept.append(step)
    return rewired(replace(plan, steps=kept), renamed)


def _comparable(op: Operation) -> Any:
    """What is equal for equal ops and attributes: 1, 1.0 and True differ; None if there is no such thing."""
    if not op.attrs:
        return op.definition
    values = [v for value in op.attrs.values() for v in (value if isinstance(value, tuple) else (value,))]
    return (op.type, *map(repr, op.attrs.items())) if all(isinstance(v, _SIMPLE) for v in values) else None


def drop_unused(plan: Plan) -> Plan:
    """Leave out pure steps whose results nobody reads, even if other steps wait for them. The gates of an op's
    gradients make each gradient wait for all of them, wanted or not.
    """
    used = set(plan.fetches)
    kept = []
    for step in reversed(plan.steps):
        if not is_pure(step) or step.op in plan.targets or not used.isdisjoint(step.outputs):
            kept.append(step)
            used.update(step.inputs)
    return replace(plan, steps=kept[::-1])


def rectify_before_spreading(plan: Plan) -> Plan:
    """Let ReluGrad(MaxPoolGrad(x, y, dy), x) be MaxPoolGrad(x, y, ReluGrad(dy, y)): the same bits, from fewer elements.

    Where dy goes, x and y are equal; elsewhere there are zeros either way. Windows that overlap are left
    alone: what they add up to can be a zero of either sign.
    """
    readers = Counter(slot for step in plan.steps for slot in step.inputs)
    readers.update(plan.fetches)
    spreading = {step.outputs[0]: step for step in plan.steps if step.op.type == "MaxPoolGrad"
                 and readers[step.outputs[0]] == 1 and all(map(le, step.op.attrs["ksize"], step.op.attrs["strides"]))}
    later = {step.inputs[0]: step for step in plan.steps if step.op.type == "ReluGrad"
             and step.inputs[0] in spreading and step.inputs[1] == spreading[step.inputs[0]].inputs[0]}
    kept, gone, size = [], {id(step) for step in later.values()}, plan.size
    for step in plan.steps:
        relu = later.get(step.outputs[0]) if step.op.type == "MaxPoolGrad" else None
        if relu is not None:
            x, y, dy = step.inputs
            kept += [replace(relu, inputs=(dy, y), outputs=(size,)),
                     replace(step, inputs=(x, y, size), outputs=relu.outputs)]
            size += 1
        elif id(step) not in gone:
            kept.append(step)
    return replace(plan, steps=kept, size=size)


def add_single_items(plan: Plan) -> Plan:
    """Let ListAdd(x, ListOf(like, i, item)) be one step that makes one list: loops do it in every iteration."""
    made = {step.outputs[0]: step for step in plan.steps if step.op.type == "ListOf"}
    if not made:
        return plan
    readers = Counter(slot for step in plan.steps for slot in step.inputs)
    readers.update(plan.fetches)
    kept = []
    for step in plan.steps:
        if step.op.type == "ListAdd" and step.call is None:  # a body is made ready twice
            x, y = step.inputs[::-1 if step.inputs[0] in made else 1]
            if y in made and readers[y] == 1:
                step = replace(step, inputs=(x, *made[y].inputs), call=add_item)
        kept.append(step)
    return drop_unused(replace(plan, steps=kept))


def rewired(plan: Plan, renamed: dict[int, int]) -> Plan:
    """The plan with slots renamed wherever they are read."""
    if not renamed:
        return plan
    steps = [s if renamed.keys().isdisjoint(s.inputs) else replace(s, inputs=tuple([
        renamed.get(i, i) for i in s.inputs])) for s in plan.steps]
    return replace(plan, steps=steps, fetches=tuple([renamed.get(i, i) for i in plan.fetches]),
                   slots={t: renamed.get(i, i) for t, i in plan.slots.items()})

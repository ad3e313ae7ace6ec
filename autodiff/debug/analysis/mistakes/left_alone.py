"""What trains too little: kernels that a var_list leaves out, weights that shrink beside their updates."""
from __future__ import annotations

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of
from ..findings import Finding
from ..update_blame import is_copy, is_store
from .case import Case, finding, held, kernel_of
from .heads import number_in, unbroadcast
from .updates import update_op

_ENOUGH = 10  # steps in which a model should have learnt something
_PRODUCTS = ("MatMul", "Conv2D", "BatchMatMul", "BatchMatMulV2")
_DRAWN = ("Random", "Truncated", "StatelessRandom", "ParameterizedTruncated")
_SHRINKS = 0.97  # times its size, in each step: a decay that leaves nothing of what gradients add


def left_alone_mistakes(case: Case) -> list[Finding]:
    """Findings about variables that keep what they began with, or lose what they learnt."""
    return [] if len(case.steps) < _ENOUGH or case.learns else [*_kernels_left_out(case), *_shrunk(case)]


def _kernels_left_out(case: Case) -> list[Finding]:
    """Kernels at their random first values, above layers that are trained, or with none that is."""
    products = [(op, kernel_of(op.inputs[1])) for op in case.behind if op.type in _PRODUCTS and len(op.inputs) > 1]
    known = {v.op: v for v in case.variables}
    moved = {u.variable.op for u in case.updates} | {op for op, v in known.items() if _has_moved(op, case)}
    layers = [(op, known[kernel]) for op, kernel in products if kernel in known]
    alone = [(op, v) for op, v in layers if v.op not in moved and not is_copy(v) and _is_random(v, case)]
    if not alone or not moved & set(known):
        return []
    at, variable = alone[-1]
    below = ancestors(at.inputs[:1]) & moved
    if not below and any(v.op in moved for _, v in layers):
        return []  # what lies below is frozen, as of a model that was taken over
    what = f"{len(alone)} of {len({v for _, v in layers})} kernels, such as {variable.name}{at_line(place_of(at))},"
    why = f", but what lies below, such as {min(op.name for op in below)}, is trained through them" if below else \
        ": what is trained is biases alone"
    step = update_op(case)
    return [finding(63, "not trained", step, f"{what} keep their random first values in all {len(case.steps)} steps: "
                    f"the gradient call was not asked for them{why}; the loss goes from {case.first_loss:.4g} to "
                    f"{case.last_loss:.4g}", "leave var_list out, or give it these variables too", target=variable.name,
                    ask=f"why {variable.name}")]


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
            n = len(case.steps)
            return [finding(66, "decay too strong", op, f"{op.name} makes {op.inputs[0].name} {factor:.3g} times what "
                            f"it was in each step: of what a gradient added {abs(factor) ** 10:.2g} is left ten steps "
                            f"later, so little can be learnt; in {n} steps the loss goes from {case.first_loss:.4g} to "
                            f"{case.last_loss:.4g}", "a usual decay is 1e-4 times the learning rate: 0.9999 or more",
                            target=op.inputs[0].name)]
    return []


def _share_of(value: Tensor, variable: Tensor) -> float | None:
    """The constant that a variable is multiplied by to give a value."""
    if value.op.type not in ("Mul", "RealDiv"):
        return None
    for read, other in (value.op.inputs, value.op.inputs[::-1]):
        if held(read) is variable.op and (factor := number_in(unbroadcast(other))):
            return factor if value.op.type == "Mul" else 1 / factor
    return None

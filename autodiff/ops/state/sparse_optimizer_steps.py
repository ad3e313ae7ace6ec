"""One step of each optimizer, on the rows that a gradient names; the other rows stay as they are.

indices: int[k], no two alike. grad: float[k, ...].
"""

from functools import partial

from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.op import Index, Ref
from ..common.refusals import check_within
from . import optimizer_steps as dense
from .scatter import OF_ROWS

_by_rows = partial(dense.stepped, by_rows=True)


def _store_rows(run, refs, indices, step, *settings):
    """Take the rows of each, put them through `step`, and write the new rows."""
    check_within(indices, run.read(refs[0]).shape[0], OF_ROWS)
    changed = step(*[run.read(ref).take(indices, axis=0) for ref in refs], *settings)
    return [run.update(ref, indices, partial(_write, indices, rows)) for ref, rows in zip(refs, changed)][0]


def _write(indices, rows, value):
    value[indices] = rows


@op("SparseApplyMomentum", infer=_by_rows(2, 3), dtypes=dense.DTYPES, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_momentum(var: Ref, accum: Ref, lr, grad, indices: Index, momentum, *, use_nesterov=False, run):
    """ApplyMomentum on rows. lr, momentum: float[] -> the reference."""
    return _store_rows(run, (var, accum), indices, dense.momentum_step, lr, grad, momentum, use_nesterov)


@op("SparseApplyAdagrad", infer=_by_rows(2, 3), dtypes=dense.DTYPES, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_adagrad(var: Ref, accum: Ref, lr, grad, indices: Index, *, update_slots=True, run):
    """ApplyAdagrad on rows. lr: float[] -> the reference."""
    return _store_rows(run, (var, accum), indices, dense.adagrad_step, lr, grad, update_slots)


@op("SparseApplyAdagradDA", infer=_by_rows(3, 3), dtypes=FLOATS, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_adagrad_da(var: Ref, gradient_accumulator: Ref, gradient_squared_accumulator: Ref, grad,
                            indices: Index, lr, l1, l2, global_step: dense.Count, *, run):
    """ApplyAdagradDA on rows. lr, l1, l2: float[] -> the reference."""
    refs = (var, gradient_accumulator, gradient_squared_accumulator)
    return _store_rows(run, refs, indices, dense.adagrad_da_step, grad, lr, l1, l2, global_step)


@op("SparseApplyAdadelta", infer=_by_rows(3, 6), dtypes=dense.DTYPES, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_adadelta(var: Ref, accum: Ref, accum_update: Ref, lr, rho, epsilon, grad, indices: Index, *, run):
    """ApplyAdadelta on rows. lr, rho, epsilon: float[] -> the reference."""
    return _store_rows(run, (var, accum, accum_update), indices, dense.adadelta_step, lr, rho, epsilon, grad)


@op("SparseApplyRMSProp", infer=_by_rows(3, 7), dtypes=dense.DTYPES, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_rms_prop(var: Ref, ms: Ref, mom: Ref, lr, rho, momentum, epsilon, grad, indices: Index, *, run):
    """ApplyRMSProp on rows. lr, rho, momentum, epsilon: float[] -> the reference."""
    return _store_rows(run, (var, ms, mom), indices, dense.rms_step, lr, rho, momentum, epsilon, grad)


@op("SparseApplyCenteredRMSProp", infer=_by_rows(4, 8), dtypes=dense.DTYPES, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_centered_rms_prop(var: Ref, mg: Ref, ms: Ref, mom: Ref, lr, rho, momentum, epsilon, grad,
                                   indices: Index, *, run):
    """ApplyCenteredRMSProp on rows. lr, rho, momentum, epsilon: float[] -> the reference."""
    return _store_rows(run, (var, mg, ms, mom), indices, dense.centered_rms_step, lr, rho, momentum, epsilon, grad)


@op("SparseApplyFtrl", infer=_by_rows(3, 3), dtypes=FLOATS, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_ftrl(var: Ref, accum: Ref, linear: Ref, grad, indices: Index, lr, l1, l2, lr_power, *, run):
    """ApplyFtrl on rows. lr, l1, l2, lr_power: float[] -> the reference."""
    refs = (var, accum, linear)
    return _store_rows(run, refs, indices, dense.ftrl_step, grad, lr, l1, l2, lr.dtype.type(0), lr_power)


@op("SparseApplyFtrlV2", infer=_by_rows(3, 3), dtypes=FLOATS, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_ftrl_v2(var: Ref, accum: Ref, linear: Ref, grad, indices: Index, lr, l1, l2, l2_shrinkage, lr_power, *,
                         run):
    """ApplyFtrlV2 on rows. lr, l1, l2, l2_shrinkage, lr_power: float[] -> the reference."""
    return _store_rows(run, (var, accum, linear), indices, dense.ftrl_step, grad, lr, l1, l2, l2_shrinkage, lr_power)


@op("SparseApplyProximalGradientDescent", infer=_by_rows(1, 4), dtypes=FLOATS, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_proximal_gradient_descent(var: Ref, alpha, l1, l2, grad, indices: Index, *, run):
    """ApplyProximalGradientDescent on rows. alpha, l1, l2: float[] -> the reference."""
    return _store_rows(run, (var,), indices, dense.proximal_step, alpha, l1, l2, grad)


@op("SparseApplyProximalAdagrad", infer=_by_rows(2, 5), dtypes=FLOATS, stateful=True, no_rule=dense.NO_RULE)
def sparse_apply_proximal_adagrad(var: Ref, accum: Ref, lr, l1, l2, grad, indices: Index, *, run):
    """ApplyProximalAdagrad on rows. lr, l1, l2: float[] -> the reference."""
    return _store_rows(run, (var, accum), indices, dense.proximal_adagrad_step, lr, l1, l2, grad)

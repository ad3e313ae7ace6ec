"""One step of each optimizer, on a whole variable. The formulas (`*_step`) serve single rows as well.

Values of earlier steps stay as they were: kernels give new arrays, but where nobody holds the old. g is the gradient.
"""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, int64
from ...core.errors import ShapeError
from ...core.infer import held
from ...core.op import Kind, Ref
from ...core.shapes import compatible, show
from ..common.threads import in_pieces
from .variables import referred

Count = Kind("Count", allowed=(int64,), default=int64)
DTYPES = FLOATS + COMPLEX
IN_PLACE = 1 << 19  # elements of a variable from which on new arrays take longer than its own
NO_RULE = "a training step is not differentiated"


def stepped(states, grad, *, by_rows=False):
    """Inference of a step. states: how many inputs are the variable and its slots; grad: place of the gradient.

    by_rows: the gradient is of some rows, whose indices are behind it. All other inputs are scalars.
    """

    def infer(*inputs, **_):
        dims = held(inputs[0]).dims
        fitting = dict.fromkeys((*range(states), grad), dims)
        if by_rows:
            count = inputs[grad].dims[0] if inputs[grad].dims else None
            fitting[grad], fitting[grad + 1] = None if dims is None else (count, *dims[1:]), (count,)
        for place, tensor in enumerate(inputs):
            expected = fitting.get(place, ())
            found = held(tensor).dims if place < states else tensor.dims
            if not compatible(found, expected):
                raise ShapeError(f"input {place} of a training step has shape {show(found)}, expected {show(expected)}")
        return referred(inputs[0])

    return infer


def store(run, refs, values):
    """Assign each; gives the new value of the first."""
    for ref, value in zip(refs, values):
        run.assign(ref, value)
    return values[0]


def _step(run, refs, step, *numbers):
    """Put the variable and its slots through `step`, in pieces, and assign what it gives.

    Large ones are written over where nobody else holds them, as past runs do: that takes half the time.
    """
    if run.read(refs[0]).size >= IN_PLACE and (own := run.own(refs)):
        try:
            in_pieces(step, *own, *numbers, into=own)
        finally:
            for value in own:
                value.setflags(False)
        return own[0]
    return store(run, refs, in_pieces(step, *map(run.read, refs), *numbers))


# ---- plain descent and momentum ---------------------------------------------------------

def descent_step(var, alpha, g):
    """The variable one step down its gradient."""
    step = np.asarray(alpha * g)
    return (np.subtract(var, step, out=step),)


@op("ApplyGradientDescent", infer=stepped(1, 2), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_gradient_descent(var: Ref, alpha, delta, *, run):
    """var - alpha delta. var, delta: float[...], alpha: float[] -> the reference."""
    return _step(run, (var,), descent_step, alpha, delta)


def momentum_step(var, accum, lr, g, momentum, use_nesterov):
    """The variable and its velocity after one step."""
    accum = np.asarray(accum * momentum)
    accum += g
    step = np.asarray(accum * momentum + g if use_nesterov else accum * lr)
    if use_nesterov:
        step *= lr
    return np.subtract(var, step, out=step), accum


@op("ApplyMomentum", infer=stepped(2, 3), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_momentum(var: Ref, accum: Ref, lr, grad, momentum, *, use_nesterov=False, run):
    """Momentum: accum momentum + g, times lr. var, accum, grad: float[...], the others: float[] -> the reference.

    Source: Polyak (1964); Nesterov's form as in Sutskever et al. (2013), section 2.
    """
    return _step(run, (var, accum), momentum_step, lr, grad, momentum, use_nesterov)


# ---- scaled by past squares -------------------------------------------------------------

def adagrad_step(var, accum, lr, g, update_slots):
    """The variable and its sum of squares after one step."""
    if update_slots:
        accum = accum + g * g
    return var - lr * g / np.sqrt(accum), accum


@op("ApplyAdagrad", infer=stepped(2, 3), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_adagrad(var: Ref, accum: Ref, lr, grad, *, update_slots=True, run):
    """lr g / sqrt(sum of squares). var, accum, grad: float[...], lr: float[] -> the reference.

    Source: Duchi, Hazan and Singer (2011), equation 1 with a diagonal matrix.
    """
    return _step(run, (var, accum), adagrad_step, lr, grad, update_slots)


def adagrad_da_step(var, total, squares, g, lr, l1, l2, step):
    """The variable, the sum of gradients and that of squares after one step."""
    total, squares = total + g, squares + g * g
    steps = var.dtype.type(step)
    kept = np.sign(total) * np.maximum(np.abs(total) - l1 * steps, 0) if l1 > 0 else total
    return -lr * kept / (l2 * steps * lr + np.sqrt(squares)), total, squares


@op("ApplyAdagradDA", infer=stepped(3, 3), dtypes=FLOATS, stateful=True, no_rule=NO_RULE)
def apply_adagrad_da(var: Ref, gradient_accumulator: Ref, gradient_squared_accumulator: Ref, grad, lr, l1, l2,
                     global_step: Count, *, run):
    """Dual averaging: var anew from all gradients so far. grad: float[...], lr, l1, l2: float[] -> the reference.

    Source: Duchi, Hazan and Singer (2011), section 5.
    """
    refs = (var, gradient_accumulator, gradient_squared_accumulator)
    return store(run, refs, adagrad_da_step(*map(run.read, refs), grad, lr, l1, l2, global_step))


def adadelta_step(var, accum, accum_update, lr, rho, epsilon, g):
    """The variable and the mean squares of gradients and of steps after one step."""
    accum = accum * rho + g * g * (1 - rho)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * g
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


@op("ApplyAdadelta", infer=stepped(3, 6), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_adadelta(var: Ref, accum: Ref, accum_update: Ref, lr, rho, epsilon, grad, *, run):
    """g times root mean square of past steps over that of gradients. grad: float[...] -> the reference.

    Source: Zeiler (2012), algorithm 1.
    """
    return _step(run, (var, accum, accum_update), adadelta_step, lr, rho, epsilon, grad)


def rms_step(var, ms, mom, lr, rho, momentum, epsilon, g):
    """The variable, the mean square and the velocity after one step."""
    ms = ms + (g * g - ms) * (1 - rho)
    mom = mom * momentum + lr * g / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


@op("ApplyRMSProp", infer=stepped(3, 7), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_rms_prop(var: Ref, ms: Ref, mom: Ref, lr, rho, momentum, epsilon, grad, *, run):
    """lr g / root of the mean square, with momentum. grad: float[...], the others: float[] -> the reference.

    Source: Tieleman and Hinton (2012), lecture 6.5.
    """
    return _step(run, (var, ms, mom), rms_step, lr, rho, momentum, epsilon, grad)


def centered_rms_step(var, mg, ms, mom, lr, rho, momentum, epsilon, g):
    """The variable, the mean, the mean square and the velocity after one step."""
    ms = ms + (g * g - ms) * (1 - rho)
    mg = mg + (g - mg) * (1 - rho)
    mom = mom * momentum + lr * g / np.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


@op("ApplyCenteredRMSProp", infer=stepped(4, 8), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_centered_rms_prop(var: Ref, mg: Ref, ms: Ref, mom: Ref, lr, rho, momentum, epsilon, grad, *, run):
    """lr g / deviation of past gradients, with momentum. grad: float[...], the others: float[] -> the reference.

    Source: Graves (2013), equations 38 to 41.
    """
    return _step(run, (var, mg, ms, mom), centered_rms_step, lr, rho, momentum, epsilon, grad)


@op("ApplyAdam", infer=stepped(3, 9), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_adam(var: Ref, m: Ref, v: Ref, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *,
               use_nesterov=False, run):
    """Mean gradient over root mean square, bias corrected in the step size. grad: float[...] -> the reference.

    beta1_power, beta2_power: the betas to the power of the step's number.
    Source: Kingma and Ba (2015), algorithm 1 with the remark on its order ("epsilon hat").
    """
    beta1_power, beta2_power, lr, beta1, beta2 = [x[()] for x in (beta1_power, beta2_power, lr, beta1, beta2)]
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return _step(run, (var, m, v), adam_step, rate, beta1, beta2, epsilon, grad, use_nesterov)


def adam_step(var, m, v, rate, beta1, beta2, epsilon, g, use_nesterov):
    """The variable, the mean and the mean square after one step."""
    rate, rest, rest_of_squares = map(np.asarray, (rate, 1 - beta1, 1 - beta2))  # faster than NumPy's scalars
    mean = np.asarray(np.subtract(g, m))
    np.multiply(mean, rest, mean)
    np.add(mean, m, mean)
    square = np.asarray(np.multiply(g, g))
    np.subtract(square, v, square)
    np.multiply(square, rest_of_squares, square)
    np.add(square, v, square)
    step = np.asarray(np.sqrt(square))
    np.add(step, epsilon, step)
    np.divide(mean * beta1 + g * rest if use_nesterov else mean, step, step)
    np.multiply(step, rate, step)
    return np.subtract(var, step, step), mean, square


@op("ApplyAdaMax", infer=stepped(3, 8), dtypes=DTYPES, stateful=True, no_rule=NO_RULE)
def apply_ada_max(var: Ref, m: Ref, v: Ref, beta1_power, lr, beta1, beta2, epsilon, grad, *, run):
    """Mean gradient over its largest size, which decays. grad: float[...] -> the reference.

    beta1_power: beta1 to the power of the step's number. Source: Kingma and Ba (2015), algorithm 2.
    """
    refs = (var, m, v)
    return store(run, refs, ada_max_step(*map(run.read, refs), lr / (1 - beta1_power), beta1, beta2, epsilon, grad))


def ada_max_step(var, m, v, rate, beta1, beta2, epsilon, g):
    """The variable, the mean and the largest size after one step."""
    mean = m + (g - m) * (1 - beta1)
    largest = np.maximum(beta2 * v, np.abs(g))
    return var - rate * (mean / (largest + epsilon)), mean, largest


# ---- with penalties ---------------------------------------------------------------------

def ftrl_step(var, accum, linear, g, lr, l1, l2, l2_shrinkage, lr_power):
    """The variable, the sum of squares and the linear term after one step."""
    squares = accum + g * g
    new_power, old_power = squares ** -lr_power, accum ** -lr_power
    linear = linear + g + 2 * l2_shrinkage * var - (new_power - old_power) / lr * var
    shrunk = (np.sign(linear) * l1 - linear) / (new_power / lr + 2 * l2)
    return np.where(np.abs(linear) > l1, shrunk, var.dtype.type(0)), squares, linear


@op("ApplyFtrl", infer=stepped(3, 3), dtypes=FLOATS, stateful=True, no_rule=NO_RULE)
def apply_ftrl(var: Ref, accum: Ref, linear: Ref, grad, lr, l1, l2, lr_power, *, run):
    """Follow the regularized leader. grad: float[...], the others: float[] -> the reference.

    Source: McMahan et al. (2013), algorithm 1.
    """
    refs = (var, accum, linear)
    return store(run, refs, ftrl_step(*map(run.read, refs), grad, lr, l1, l2, lr.dtype.type(0), lr_power))


@op("ApplyFtrlV2", infer=stepped(3, 3), dtypes=FLOATS, stateful=True, no_rule=NO_RULE)
def apply_ftrl_v2(var: Ref, accum: Ref, linear: Ref, grad, lr, l1, l2, l2_shrinkage, lr_power, *, run):
    """ApplyFtrl with a penalty on magnitude that acts on the gradient alone. grad: float[...] -> the reference."""
    refs = (var, accum, linear)
    return store(run, refs, ftrl_step(*map(run.read, refs), grad, lr, l1, l2, l2_shrinkage, lr_power))


def shrink(var, rate, l1, l2):
    """The proximal step for l1 |x| + l2 x^2 / 2."""
    if l1 > 0:
        var = np.sign(var) * np.maximum(np.abs(var) - rate * l1, 0)
    return var / (1 + l2 * rate)


def proximal_step(var, alpha, l1, l2, g):
    """The variable after one step down its gradient, shrunk."""
    return (shrink(var - alpha * g, alpha, l1, l2),)


@op("ApplyProximalGradientDescent", infer=stepped(1, 4), dtypes=FLOATS, stateful=True, no_rule=NO_RULE)
def apply_proximal_gradient_descent(var: Ref, alpha, l1, l2, delta, *, run):
    """Descent, then shrinking toward zero. delta: float[...], alpha, l1, l2: float[] -> the reference.

    Source: Duchi and Singer (2009), equation 3.
    """
    return store(run, (var,), proximal_step(run.read(var), alpha, l1, l2, delta))


def proximal_adagrad_step(var, accum, lr, l1, l2, g):
    """The variable, shrunk, and its sum of squares after one step."""
    accum = accum + g * g
    rate = lr / np.sqrt(accum)
    return shrink(var - g * rate, rate, l1, l2), accum


@op("ApplyProximalAdagrad", infer=stepped(2, 5), dtypes=FLOATS, stateful=True, no_rule=NO_RULE)
def apply_proximal_adagrad(var: Ref, accum: Ref, lr, l1, l2, grad, *, run):
    """Adagrad, then shrinking toward zero. grad: float[...], lr, l1, l2: float[] -> the reference.

    Source: Duchi and Singer (2009).
    """
    return store(run, (var, accum), proximal_adagrad_step(run.read(var), run.read(accum), lr, l1, l2, grad))

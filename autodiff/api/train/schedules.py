"""Learning rate schedules: a rate as a function of the step.

In all of them learning_rate is the rate at step 0, global_step the count of steps (a tensor,
variable or number) and decay_steps over how many the decay is measured. When executing eagerly
they give a function without arguments that computes the present rate.
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, int32, int64
from ...core.errors import ArgumentError
from ...core.graph import Tensor, get_default_graph
from ...core.name_scope import scope
from ...core.op import build
from .. import random
from ..common.made import named
from ..control.control_flow import cond
from ..math.casts import cast

__all__ = ["cosine_decay", "cosine_decay_restarts", "exponential_decay", "inverse_time_decay", "linear_cosine_decay",
           "natural_exp_decay", "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
           "polynomial_decay"]


def _schedule(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """The schedule as a tensor, or eagerly as a function that computes it anew."""

    @functools.wraps(function)
    def schedule(*args: Any, **options: Any) -> Any:
        if get_default_graph().executing_eagerly:
            return lambda: function(*args, **options)
        return function(*args, **options)

    return schedule


def _begin(learning_rate: Any, global_step: Any, *numbers: Any) -> list[Tensor]:
    """The rate, the step and the other numbers, all of the rate's dtype."""
    if global_step is None:
        raise ArgumentError(expected="global_step", found="None: a schedule is a function of it")
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    return [rate, *(cast(value, rate.dtype.base_dtype) for value in (global_step, *numbers))]


def _decaying(kind: str, default: str, words: str, of: Callable[[Tensor, Tensor, Tensor, str], Tensor]) -> Any:
    """of(rate, factor, steps passed in decay_steps, name)."""
    def decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
              name: str | None = None) -> Any:
        with scope(name, default) as full:
            rate, step, steps, factor = _begin(learning_rate, global_step, decay_steps, decay_rate)
            return of(rate, factor, build.Floor(step / steps) if staircase else step / steps, full)

    return _schedule(named(decay, kind, f"{words}. staircase: the quotient of the steps is rounded down."))


exponential_decay = _decaying(
    "exponential_decay", "ExponentialDecay", "learning_rate * decay_rate ** (global_step / decay_steps)",
    lambda rate, factor, passed, name: build.Mul(rate, factor ** passed, name=name))
natural_exp_decay = _decaying(
    "natural_exp_decay", "NaturalExpDecay", "learning_rate * exp(-decay_rate * global_step / decay_steps)",
    lambda rate, factor, passed, name: build.Mul(rate, build.Exp(-factor * passed), name=name))
inverse_time_decay = _decaying(
    "inverse_time_decay", "InverseTimeDecay", "learning_rate / (1 + decay_rate * global_step / decay_steps)",
    lambda rate, factor, passed, name: build.RealDiv(rate, 1 + factor * passed, name=name))


@_schedule
def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Any:
    """From learning_rate to end_learning_rate like (1 - global_step / decay_steps) ** power.

    cycle: after the end it begins again over twice, three times, … as many steps; else it stays.
    """
    with scope(name, "PolynomialDecay") as full:
        rate, step, steps, end, power = _begin(learning_rate, global_step, decay_steps, end_learning_rate, power)
        if cycle:
            steps = steps * build.Maximum(build.Ceil(step / steps), cast(1, rate.dtype.base_dtype))
        else:
            step = build.Minimum(step, steps)
        return build.Add((rate - end) * (1 - step / steps) ** power, end, name=full)


@_schedule
def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
                 name: str | None = None) -> Any:
    """Half a cosine from learning_rate down to alpha * learning_rate. Source: Loshchilov and Hutter (2016)."""
    with scope(name, "CosineDecay") as full:
        rate, step, steps = _begin(learning_rate, global_step, decay_steps)
        return build.Mul(rate, _above(alpha, _half_wave(build.Minimum(step, steps) / steps)), name=full)


def _half_wave(fraction: Tensor) -> Tensor:
    """From 1 down to 0 as fraction goes from 0 to 1."""
    return 0.5 * (1 + build.Cos(math.pi * fraction))


def _above(alpha: Any, wave: Tensor) -> Tensor:
    return (1 - alpha) * wave + alpha


@_schedule
def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: Any = 2.0,
                          m_mul: Any = 1.0, alpha: Any = 0.0, name: str | None = None) -> Any:
    """cosine_decay that begins again: each time over t_mul times as many steps, from m_mul times the rate.

    Source: Loshchilov and Hutter (2016), equation 5.
    """
    with scope(name, "SGDRDecay") as full:
        rate, step, steps, longer, lower = _begin(learning_rate, global_step, first_decay_steps, t_mul, m_mul)
        passed = step / steps
        count = cond(build.Equal(longer, 1.0), lambda: build.Floor(passed),
                     lambda: build.Floor(build.Log(1 - passed * (1 - longer)) / build.Log(longer)))
        before = cond(build.Equal(longer, 1.0), lambda: count, lambda: (1 - longer ** count) / (1 - longer))
        wave = lower ** count * _half_wave((passed - before) / longer ** count)
        return build.Mul(rate, _above(alpha, wave), name=full)


@_schedule
def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: Any = 0.5,
                        alpha: Any = 0.0, beta: Any = 0.001, name: str | None = None) -> Any:
    """A line down to zero times a cosine of num_periods: ((alpha + line) * wave + beta) * learning_rate.

    Source: Bello et al. (2017).
    """
    with scope(name, "LinearCosineDecay") as full:
        rate, step, steps, periods = _begin(learning_rate, global_step, decay_steps, num_periods)
        step = build.Minimum(step, steps)
        line = (steps - step) / steps
        return build.Mul(rate, (alpha + line) * _half_wave(2 * periods * step / steps) + beta, name=full)


@_schedule
def noisy_linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: Any = 1.0,
                              variance_decay: Any = 0.55, num_periods: Any = 0.5, alpha: Any = 0.0, beta: Any = 0.001,
                              name: str | None = None) -> Any:
    """linear_cosine_decay with normal noise on the line.

    Its variance is initial_variance / (1 + step) ** variance_decay.
    """
    with scope(name, "NoisyLinearCosineDecay") as full:
        rate, step, steps, variance, slower, periods = _begin(learning_rate, global_step, decay_steps, initial_variance,
                                                              variance_decay, num_periods)
        step = build.Minimum(step, steps)
        line = (steps - step) / steps
        deviation = build.Sqrt(variance / (1 + step) ** slower)
        line = line + random.random_normal([], stddev=deviation, dtype=rate.dtype.base_dtype)
        return build.Mul(rate, (alpha + line) * _half_wave(2 * periods * step / steps) + beta, name=full)


@_schedule
def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Any:
    """values[i] where boundaries[i - 1] < x <= boundaries[i]. One value more than boundaries.

    Raises ArgumentError (ValueError) for another count, or dtypes that differ.
    """
    if len(boundaries) != len(values) - 1:
        raise ArgumentError(expected="one value more than boundaries",
                            found=f"{len(values)} values and {len(boundaries)} boundaries")
    with scope(name, "PiecewiseConstant") as full:
        x = convert_to_tensor(x)
        dtype = x.dtype.base_dtype
        limits = [_limit(convert_to_tensor(b), dtype) for b in boundaries]
        rates = [convert_to_tensor(v) for v in values]
        if any(rate.dtype.base_dtype is not rates[0].dtype.base_dtype for rate in rates):
            raise ArgumentError(expected="values of one dtype", found=[r.dtype.name for r in rates])
        if not limits:
            return build.Identity(rates[0], name=full)
        passed = build.Cast(build.Greater(x, build.Pack(*limits, axis=0)), dtype=int32)
        return build.GatherV2(build.Pack(*rates, axis=0), build.Sum(passed, [0]), 0, name=full)


piecewise_constant_decay = piecewise_constant


def _limit(limit: Tensor, dtype: DType) -> Tensor:
    if limit.dtype.base_dtype is int32 and dtype is int64:
        return build.Cast(limit, dtype=int64)
    if limit.dtype.base_dtype is not dtype:
        raise ArgumentError(expected=f"boundaries of dtype {dtype.name} like x", found=limit.dtype.name)
    return limit

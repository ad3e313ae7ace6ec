"""Primitives that call programs: jit and its like, branches, loops, functions with derivatives of their own."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ...model import tf
from .table import JAX, Tensor
from .walk import Called


def _called(*programs: Called | None) -> Called:
    return next(program for program in programs if program is not None)


JAX.rows({
    "jit pjit closed_call core_call remat2 checkpoint custom_vmap_call composite call": (
        lambda *xs, jaxpr=None, call_jaxpr=None, call=None, **params:
        _called(jaxpr, call_jaxpr, call).in_scope(*xs), "its equations, in place"),
    "relu": (lambda x, **params: tf.nn.relu(x),
        "jax.nn.relu, which has a gradient of its own: 0 at 0, as that of our op"),
    "platform_index": (lambda *, platforms=(): tf.constant(next((i for i, names in enumerate(
        platforms) if names is None or "cpu" in names), 0), tf.int32), "that of the CPU")})
JAX.rows({
    "custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr": (lambda *xs, call_jaxpr=None, fun_jaxpr=None, **params:
        _called(call_jaxpr, fun_jaxpr)(*xs), "its gradient is the user's own rule, traced")}, pulled_back=True)


@JAX.op("custom_linear_solve", pulled_back=True)
def custom_linear_solve(*xs: Tensor, const_lengths: dict[str, int], jaxprs: dict[str, Called]) -> list[Tensor]:
    before = [const_lengths[name] for name in ("matvec", "vecmat")]
    constants, right = xs[sum(before):sum(before) + const_lengths["solve"]], xs[sum(const_lengths.values()):]
    return jaxprs["solve"](*constants, *right)


@JAX.op("pure_callback", note="the script's own function is called; no gradient goes through it")
def pure_callback(*xs: Tensor, callback: Callable[..., Sequence[Any]], results: Sequence[tuple[Any, str]],
                  **params: Any) -> list[Tensor]:
    found = tf.py_func(lambda *values: [np.asarray(value) for value in callback(*values)], list(xs),
                       [tf.as_dtype(dtype) for _, dtype in results])
    for tensor, (shape, _) in zip(found, results):
        tensor.set_shape(shape)
    return found


@JAX.op("cond")
def cond(index: Tensor, *xs: Tensor, branches: Sequence[Called], **params: Any) -> list[Tensor]:
    if not branches[0].program.outputs:
        return []

    def chosen(among: Sequence[Called], start: int) -> list[Tensor]:
        if len(among) == 1:
            return [tf.identity(y) for y in among[0](*xs)]
        is_first = tf.less_equal(tf.cast(index, tf.int32), start)
        return list(tf.cond(is_first, lambda: [tf.identity(y) for y in among[0](*xs)],
                            lambda: chosen(among[1:], start + 1), strict=True))

    if (known := static_value(index)) is not None:  # as of the platform
        return list(branches[min(max(int(known), 0), len(branches) - 1)](*xs))
    if index.dtype == tf.bool:
        index = tf.cast(index, tf.int32)
    return chosen(branches, 0)


@JAX.op("while", note="with a condition for each of a batch, until none holds")
def while_(*xs: Tensor, cond_nconsts: int, cond_jaxpr: Called, body_nconsts: int, body_jaxpr: Called) -> list[Tensor]:
    of_cond, of_body = xs[:cond_nconsts], xs[cond_nconsts:cond_nconsts + body_nconsts]
    state = list(xs[cond_nconsts + body_nconsts:])

    def goes_on(*now: Tensor) -> Tensor:
        return cond_jaxpr(*of_cond, *now)[0]

    def body(*now: Tensor) -> list[Tensor]:
        found, batch = body_jaxpr(*of_body, *now), _shape_of(cond_jaxpr.program.outputs[0])
        if not batch:
            return found
        each = goes_on(*now)
        return [tf.where_v2(tf.reshape(each, [*batch, *[1] * (len(y.shape) - len(batch))]), y, before)
                for y, before in zip(found, now)]

    return list(tf.while_loop(lambda *now: tf.reduce_any(goes_on(*now)), body, state, return_same_structure=True))


@JAX.op("scan")
def scan(*xs: Tensor, jaxpr: Called, length: int, num_consts: int, num_carry: int, reverse: bool = False,
         **params: Any) -> list[Tensor]:
    constants, carried = xs[:num_consts], xs[num_consts:num_consts + num_carry]
    rows = [tf.TensorArray(x.dtype, length, element_shape=x.dims[1:], clear_after_read=False).unstack(x)
            for x in xs[num_consts + num_carry:]]
    results = jaxpr.program.outputs[num_carry:]
    stacked = [tf.TensorArray(_type_of(v), length, element_shape=_shape_of(v)) for v in results]

    def body(i: Tensor, state: list[Tensor], arrays: list[Any]) -> Any:
        at = length - 1 - i if reverse else i
        found = jaxpr(*constants, *state, *[row.read(at) for row in rows])
        written = [array.write(at, y) for array, y in zip(arrays, found[num_carry:])]
        return i + 1, [tf.identity(y) for y in found[:num_carry]], written

    _, last, arrays = tf.while_loop(lambda i, *_: i < length, body, (0, list(carried), stacked))
    outputs = [array.stack() for array in arrays]
    for tensor, variable in zip(outputs, results):
        tensor.set_shape((length, *_shape_of(variable)))
    return [*last, *outputs]


def _type_of(atom: Any) -> str:
    return str(atom.dtype if hasattr(atom, "dtype") else atom.value.dtype)


def _shape_of(atom: Any) -> tuple[int, ...]:
    return tuple(atom.shape if hasattr(atom, "shape") else atom.value.shape)

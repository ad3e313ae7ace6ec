"""Logarithms of products, quotients and sums of exponentials, computed of the exponents: none is too large or small."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ....core.constant_value import is_one, static_value
from ....core.dtypes import int32
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import past, users_of
from ..arithmetic_rules import letters_of
from .carried_logarithms import carried
from .in_graph import Edit, Now, constant, copied, is_half, replaced
from .in_source import Part, Rewrite

_ARRANGED = {"Identity": "", "Reshape": "reshape", "Squeeze": "squeeze", "ExpandDims": "expand_dims", "Slice": "slice",
             "Transpose": "transpose", "DiagPart": "diag_part", "MatrixDiagPart": "matrix_diag_part", "Tile": "tile",
             "GatherV2": "gather", "GatherNd": "gather_nd", "StridedSlice": "strided_slice"}
_WITHIN = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"  # what is between two brackets, with two levels of them inside
_PICKED = re.compile(rf"tf\.(?:gather|gather_nd|slice|strided_slice)\(({_WITHIN})\)")  # words say no places
_POWERS = {"Square": 2.0, "Sqrt": 0.5, "Rsqrt": -0.5, "Reciprocal": -1.0}
_ADDS = ("Add", "AddV2")
_TINY = 1e-3  # what is added to a probability to keep it from 0
_DEEP, _FAR, _NEAR = 12, 10, 4  # ops up to the exponentials; from one to a logarithm, and to the sum it is part of
_BETWEEN = ("Mul", "Identity", "Cast", "Reshape", "ExpandDims", "Squeeze", "Tile", "Maximum", *_ADDS)


class _Logarithm(NamedTuple):
    """The logarithm of a tensor. text: with {n} for parts of the script. gains: whether an exponential is gone."""

    made: Callable[[Now], Tensor]
    text: str
    gains: bool
    is_loose: bool = False

    @property
    def factor(self) -> str:
        return f"({self.text})" if self.is_loose else self.text


def logarithm_of_exponents(log: Operation) -> list[Edit]:
    """A logarithm that goes down to exponentials, without them; [] where it does not."""
    parts: list[Part] = []
    found = _log_of(log.inputs[0], parts, _DEEP)
    if found is None or not found.gains:
        return []
    letters = iter("xyzabcdefghijklmnopqrstuvw")
    names = [next(letters, "…") if number is not None else "" for _, number in parts]
    is_whole = "…" not in found.text and "tf.strided_slice" not in found.text
    line = Rewrite(log, None, found.factor.replace("tf.", "{tf}."), tuple(parts),
                   carried(log)) if is_whole else carried(log)
    words = re.sub(r"tf\.reshape\((\w+)\)\[", r"\1[", _PICKED.sub(r"\1[…]", found.text.format(*names)))
    return [Edit(log, f"stay in logarithms, {words}" if found.is_loose else words, found.made, line, is_exact=True)]


def logarithms_after(exp: Operation) -> list[Edit]:
    """The nearest logarithms that are taken of what is made of an exponential, or of a part of that, without it."""
    return [edit for op in _after(exp, _FAR, until="Log") if op.type == "Log" for edit in logarithm_of_exponents(op)]


def over_exponentials(division: Operation) -> list[Edit]:
    """What is divided by a sum of exponentials that is 0: computed of the exponents, or of shifted ones."""
    level = [division.inputs[1].op]
    for _ in range(_NEAR):
        if exp := next((op for op in level if op.type == "Exp"), None):
            return [*logarithms_after(exp), *shifted(exp)]
        level = [t.op for op in level if op.type in (*_BETWEEN, "Sum") for t in op.inputs]
    return []


def shifted(exp: Operation) -> list[Edit]:
    """An exponential over a sum of such: the largest of each sum subtracted before, which cancels."""
    near = list(_after(exp, _NEAR, _BETWEEN))
    for total in (each for each in near if each.type == "Sum"):
        over = [op for op in _after(total, _NEAR, _BETWEEN) if op.type == "RealDiv"]
        ranks = {len(t.dims) if t.dims is not None else None for t in (total.inputs[0], exp.inputs[0])}
        if None in ranks or len(ranks) > 1 or not any(op.inputs[0].op in (exp, *near) for op in over):
            continue
        keeps = ", keepdims=True" * (not total.attrs.get("keep_dims"))
        line = Rewrite(exp, 0, f"{{0}} - {{tf}}.reduce_max({{0}}{{1}}{keeps})", ((exp, 0), (total, None)))
        words = "tf.exp(x - tf.reduce_max(x, axis, keepdims=True)), of the sum's axis"
        return [Edit(exp, words, partial(_shifted, exp, total.inputs[1]), line, is_exact=True)]
    return []


def _shifted(exp: Operation, axes: Tensor, now: Now) -> Tensor:
    x = now(exp.inputs[0])
    return build.Exp(build.Sub(x, build.StopGradient(build.Max(x, now(axes), keep_dims=True))))


def _after(op: Operation, far: int, through: tuple[str, ...] = (), until: str = "") -> Iterator[Operation]:
    """The forward ops that use what an op gives, the nearest first. through: types that it may pass, () for all but
    `until`."""
    level, seen = [op], {op}
    for _ in range(far):
        level = [c for each in level if each is op or (each.type in through if through else each.type != until)
                 for c in users_of(each)]
        level = [each for each in dict.fromkeys(level) if each not in seen]
        seen.update(level)
        yield from level


def _log_of(t: Tensor, parts: list[Part], deep: int) -> _Logarithm | None:
    """The logarithm of a tensor, None where it is none of what is known to be positive. parts: of the script, grows."""
    op, value = t.op, static_value(t)
    if value is not None:
        return _of_number(np.asarray(value), t)
    if not deep or op.gradient_of is not None or not op.inputs:
        return None
    if op.type == "Transpose" and (below := op.inputs[0].op).type == "Softmax" and below.span == op.span:
        return _of_one(below, parts, lambda x, now: copied(op, (x, now(op.inputs[1]))).outputs[0])
    if op.type in _OF_ONE:
        return _of_one(op, parts, lambda x, _: x)
    if op.type == "Sub" and is_one(op.inputs[0]) and op.inputs[1].op.type == "Sigmoid":
        sigmoid = op.inputs[1].op
        return _Logarithm(lambda now: build.Neg(build.Softplus(now(sigmoid.inputs[0]))),
                          f"tf.log_sigmoid(-{_name(parts, (sigmoid, 0))})", True)
    if op.type in ("Mul", "RealDiv"):
        return _of_two(op, parts, deep)
    if op.type in (*_ADDS, "Maximum"):
        return _of_sum(op, parts, deep)
    if op.type in ("Sum", "Mean"):
        return _of_total(op, parts, deep)
    if (products := _products(op)) is not None:
        return _of_products(*products, parts, deep)
    exponent = static_value(op.inputs[1]) if op.type == "Pow" else _POWERS.get(op.type)
    factor = float(exponent) if exponent is not None and np.ndim(exponent) == 0 else 0.0
    inner = _log_of(op.inputs[0], parts, deep - 1) if factor or op.type in _ARRANGED else None
    if inner is None:
        return None
    if op.type in _ARRANGED:
        name = _ARRANGED[op.type]
        text = f"tf.{name}({inner.text}{_name(parts, (op, None))})" if name else inner.text
        return inner._replace(made=lambda now: copied(op, (inner.made(now), *map(now, op.inputs[1:]))).outputs[0],
                              text=text, is_loose=inner.is_loose and not name)
    return inner._replace(made=lambda now: _times(factor, inner.made(now)), text=f"{factor:g} * {inner.factor}",
                          is_loose=True)


def _of_one(op: Operation, parts: list[Part], after: Callable[[Tensor, Now], Tensor]) -> _Logarithm:
    make, written = _OF_ONE[op.type]
    text = written.format(_name(parts, (op, 0)), _name(parts, (op, None)) if "{}{}" in written else "")
    return _Logarithm(lambda now: after(make(now(op.inputs[0])), now), text, True, "+" in written)


def _name(parts: list[Part], part: Part) -> str:
    if part not in parts:
        parts.append(part)
    return f"{{{parts.index(part)}}}"


def _times(factor: float, x: Tensor) -> Tensor:
    return build.Mul(constant(factor, x), x)


_OF_ONE: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "Exp": (lambda x: x, "{}"), "Softmax": (lambda x: build.LogSoftmax(x), "tf.nn.log_softmax({}{})"),
    "Sigmoid": (lambda x: build.Neg(build.Softplus(build.Neg(x))), "tf.log_sigmoid({})"),
    "Cosh": (lambda x: build.AddV2(x, build.Sub(build.Softplus(_times(-2.0, x)), constant(float(np.log(2.0)), x))),
             "{0} + tf.nn.softplus(-2.0 * {0}) - 0.693147"),
    "Expm1": (lambda x: build.AddV2(x, build.Log(build.Neg(build.Expm1(build.Neg(x))))),
              "{0} + tf.log(-tf.expm1(-{0}))")}


def _of_number(value: np.ndarray, t: Tensor) -> _Logarithm | None:
    if value.dtype.kind != "f" or not (value > 0).all():
        return None
    log = np.log(value.astype(np.float64))
    text = f"{float(log):.6g}" if log.ndim == 0 else "np.log(…)"
    dtype = t.dtype.base_dtype
    return _Logarithm(lambda now: build.Const(value=log.astype(dtype.as_numpy_dtype), dtype=dtype), text, False,
                      text.startswith("-"))


def _of_two(op: Operation, parts: list[Part], deep: int) -> _Logarithm | None:
    """Of a product or a quotient, one part of which may be any positive number."""
    before = list(parts)
    found = [_log_of(t, parts, deep - 1) for t in op.inputs]
    if not any(each is not None and each.gains for each in found):
        parts[:] = before
        return None
    a, b = (each or _plain(op, i, parts) for i, each in enumerate(found))
    joins, sign = (build.Sub, "-") if op.type == "RealDiv" else (build.AddV2, "+")
    right = b.factor if sign == "-" or b.text.startswith("-") else b.text
    return _Logarithm(lambda now: joins(a.made(now), b.made(now)), f"{a.text} {sign} {right}", True, True)


def _plain(op: Operation, i: int, parts: list[Part]) -> _Logarithm:
    return _Logarithm(lambda now: build.Log(now(op.inputs[i])), f"tf.log({_name(parts, (op, i))})", False)


def _of_sum(op: Operation, parts: list[Part], deep: int) -> _Logarithm | None:
    """Of two numbers added, or of one that is kept from 0 by a tiny one."""
    values = [static_value(t) for t in op.inputs]
    kept = [t for t, value in zip(op.inputs, values) if value is None or np.any(np.abs(value) > _TINY)]
    if len(kept) < 2:
        return _log_of(kept[0], parts, deep - 1) if kept else None
    found = [_log_of(t, parts, deep - 1) for t in kept]
    if op.type == "Maximum" or any(each is None for each in found) or not any(each.gains for each in found if each):
        return None
    a, b = (each for each in found if each is not None)
    text = f"tf.reduce_logsumexp(tf.stack([{a.text}, {b.text}]), 0)"
    if any(map(is_one, kept)):
        text = f"tf.nn.softplus({(b if is_one(kept[0]) else a).text})"
    return _Logarithm(lambda now: _added(a.made(now), b.made(now)), text, True)


def _added(a: Tensor, b: Tensor) -> Tensor:
    return build.AddV2(b, build.Softplus(build.Sub(a, b)))


def _products(op: Operation) -> tuple[Operation, list[Tensor], str] | None:
    """The op that sums products of two tensors, these, and letters of their axes, as of einsum, `a` the first of them;
    None for others."""
    of_vector = op.type == "Squeeze" and op.inputs[0].op.span == op.span
    made = op.inputs[0].op if of_vector else op
    letters, given = letters_of(made), [*made.inputs]
    if of_vector and letters and given[1].op.type == "ExpandDims" and given[1].op.span == op.span:
        return made, [given[0], given[1].op.inputs[0]], "ab,b->a"
    names = dict(zip(dict.fromkeys(filter(str.isalpha, letters)), "abcdefgh"))
    return (made, given, "".join(names.get(each, each) for each in letters)) if letters and not of_vector else None


def _of_products(op: Operation, given: list[Tensor], letters: str, parts: list[Part], deep: int) -> _Logarithm | None:
    """Of sums of products, as of a matrix product: of sums of logarithms. letters: of the axes, as of einsum."""
    left, right, result = re.split(",|->", letters)
    is_one = f"{result}{right}" == left or f"{result}{left}" == right
    form, before = (0, 0, -1) if is_one else _FORMS.get(letters), list(parts)
    found = [_log_of(t, parts, deep - 1) for t in given] if form else []
    if not form or not any(each and each.gains for each in found) or op.type == "Einsum" and None in found:
        parts[:] = before
        return None
    a, b = (_wider(each or _plain(op, i, parts), form[i]) for i, each in enumerate(found))
    return _Logarithm(lambda now: _log_sum_exp(build.AddV2(a.made(now), b.made(now)), _axis([form[2]])),
                      f"tf.reduce_logsumexp({a.text} + {b.text}, {form[2]})", True)


_FORMS = {"ab,bc->ac": (2, 0, 1), "ab,cb->ac": (1, 0, -1), "a,ab->b": (1, 0, 0), "ab,a->b": (0, 1, 0)}
# letters of a product -> where each of its sides has one more axis of 1, 0 for nowhere; and what is summed over


def _wider(log: _Logarithm, axis: int) -> _Logarithm:
    """With one more axis of size 1, where it is not to be the first."""
    return log if not axis else _Logarithm(lambda now: build.ExpandDims(log.made(now), _axis(axis)),
                                           f"{log.factor}[{':, ' * axis}None]", log.gains)


def _of_total(op: Operation, parts: list[Part], deep: int) -> _Logarithm | None:
    inner = _log_of(op.inputs[0], parts, deep - 1)
    if inner is None or not inner.gains:
        return None
    text = f"tf.reduce_logsumexp({inner.text}{_name(parts, (op, None))})"
    is_mean = op.type == "Mean"
    return _Logarithm(lambda now: _log_sum_exp(inner.made(now), now(op.inputs[1]), op),
                      text + " - tf.log(…), of the count" * is_mean, True, is_mean)


def _axis(axis: int | list[int]) -> Tensor:
    return build.Const(value=np.array(axis, np.int32), dtype=int32)


def _log_sum_exp(x: Tensor, axes: Tensor, total: Operation | None = None) -> Tensor:
    """Of x over axes, as a sum or mean `total` is shaped, else as a sum; -inf throughout stays so without nan."""
    lowest = float(np.finfo(np.float16 if is_half(x.op) else np.float32).min)
    largest = build.StopGradient(build.Maximum(build.Max(x, axes, keep_dims=True), constant(lowest, x)))
    small = build.Exp(build.Sub(x, largest))
    summed = copied(total, (small, axes)).outputs[0] if total is not None else build.Sum(small, axes)
    return build.AddV2(build.Log(summed), build.Sum(largest, axes, **(total.attrs if total is not None else {})))


def logged(exp: Operation) -> Edit | None:
    """The logarithm of what an exponential is given, where that is above 0 as it is made; None where it is not so.

    What is exponentiated later, as by log_poisson_loss, is a logarithm; who makes it positive gives the number itself.
    """
    maker = past(exp.inputs[0], _ARRANGED)
    if _is_positive(maker, _FAR):
        words = f"give its logarithm, tf.log(x + 1e-08), as tf.exp is taken of it: {maker.op.name} is above 0 already"
        return replace(replaced(maker, words, lambda x: build.Log(build.AddV2(x, constant(1e-8, x))),
                                "tf.log({0} + 1e-08)"), explains=True)
    return None


def _is_positive(t: Tensor, far: int) -> bool:
    """Whether a tensor is a relu, softplus or exponential, times or with positive numbers."""
    if t.op.type in ("Relu", "Softplus", "Exp"):
        return True
    if t.op.type not in ("Mul", "Add", "AddV2") or not far:
        return False
    numbers = [x for x in t.op.inputs if (value := static_value(x)) is not None and np.all(value > 0)]
    return len(numbers) == 1 and all(x in numbers or _is_positive(x, far - 1) for x in t.op.inputs)

"""Edits of a graph that may keep nan and inf away: what to compute in place of the op to blame."""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ....core.constant_value import is_one, static_value
from ....core.graph import Operation, Tensor, get_default_graph
from ....core.op import Spec, build
from ....core.traversal import ancestors, users_of
from ...facts.roles import PLACEHOLDERS, VARIABLES
from ..mistakes.signs import is_squared
from ..scripts.source_tree import WHOLE
from .in_source import Line, Part, Rewrite

Now = Callable[[Tensor], Tensor]  # a tensor -> what stands in its place by now
SELECTS = ("Select", "SelectV2")
_COUNTS = ("Sum", "Floor", "FloorDiv", "Cast", "Size")  # what may give a number of things
_OF_COUNTS = ("Log", "Pow", "Rsqrt", "Reciprocal")  # what 0 is nothing for, and counts may begin with it
OVER_COUNT = "x / tf.maximum(y, 1.0)"  # words for a mean over a count that may be 0
_ARRANGE = ("Identity", "Reshape", "Squeeze", "ExpandDims", "StridedSlice", "Transpose")
_FAR = 8  # ops from what a choice should guard to the choice
# op type -> the bounds that its argument is kept in, None for none; and as they are written
_BOUNDS: dict[str, tuple[tuple[float | None, float | None], str]] = {
    "Log": ((1e-12, None), "tf.maximum({}, 1e-12)"), "Pow": ((1e-12, None), "tf.maximum({}, 1e-12)"),
    "Sqrt": ((1e-12, None), "tf.maximum({}, 1e-12)"), "Rsqrt": ((1e-12, None), "tf.maximum({}, 1e-12)"),
    "Log1p": ((-1 + 1e-6, None), "tf.maximum({}, -1 + 1e-6)"), "Acosh": ((1 + 1e-6, None), "tf.maximum({}, 1 + 1e-6)"),
    **dict.fromkeys(("Acos", "Asin", "Atanh", "Erfinv"),
                    ((-1 + 1e-6, 1 - 1e-6), "tf.clip_by_value({}, -1 + 1e-6, 1 - 1e-6)")),
    **dict.fromkeys(("Lgamma", "Digamma"), ((1e-6, None), "tf.maximum({}, 1e-6)")),
    **dict.fromkeys(("Exp", "Expm1"), ((None, 80.0), "")), **dict.fromkeys(("Cosh", "Sinh"), ((-80.0, 80.0), ""))}
_EXPONENTS, _HALF_EXPONENTS = (80.0, 20.0, 5.0), (10.0, 5.0)
_HALF = {1e-12: 1e-6, 1e-8: 1e-4}  # what float16 can tell from 0


@dataclass(frozen=True, eq=False)
class Edit:
    """One change. op: whose first output, or all, is replaced; None: the gradients are clipped. words: what to write.

    build: makes the replacement. line: the same in the source, None where only words say it.
    is_late: it changes what is stored, not what the run computes. is_exact: the same number by a better formula.
    is_bound: it keeps the argument in bounds, outside of which its gradient is 0. explains: it mends what the failure
    came of, so that other steps change as well. norm: that gradients are clipped to.
    """

    op: Operation | None
    words: str
    build: Callable[[Now], Tensor | tuple[Tensor, ...]] | None = None
    line: Line | None = None
    is_late: bool = False
    is_exact: bool = False
    is_bound: bool = False
    explains: bool = False
    is_of_logits: bool = False
    norm: float = 1.0

    def made(self, now: Now) -> tuple[Tensor, ...]:
        """What takes the place of the op's outputs."""
        found = self.build(now) if self.build is not None else ()
        return found if isinstance(found, tuple) else (found,)


def edits_of(op: Operation, trap: str) -> list[Edit]:
    """The edits that may help where `op`, a forward one, is to blame: the usual form first. trap: as of an Origin."""
    found = _guards(op) if trap == "where" and op.type in (*_BOUNDS, "RealDiv", "Reciprocal") else []
    if op.type in _OF_COUNTS and (cast := source_of(op.inputs[0])[0]).type == "Cast" and (
            cast.inputs[0].dtype.base_dtype.is_integer):
        found.append(on_argument(op, "tf.maximum({}, 1.0)", partial(between, 1.0, None)))
    if op.type == "Log":
        found += of_log(op)
    elif op.type == "Exp":
        found += [*_of_exp(op), *(_guards(op) if trap != "where" else ())]
    elif op.type in ("Sqrt", "Rsqrt"):
        found += _of_exp(op.inputs[0].op) if op.type == "Sqrt" and op.inputs[0].op.type == "Exp" else []
        small = _fitting(1e-12, op)
        found.append(on_argument(op, f"{{}} + {small:g}", lambda x: build.AddV2(x, constant(small, x))))
        found += [_zero_at_zero(op, "tf.rsqrt", "")] if op.type == "Rsqrt" else []
    elif op.type == "Pow":
        power = static_value(op.inputs[1])
        found += [_zero_at_zero(op, "tf.pow", ", {1}")] if power is not None and power.ndim == 0 and power < 0 else []
    elif op.type == "Reciprocal":
        found.append(Edit(op, "tf.div_no_nan(1.0, x)", lambda now: build.DivNoNan(
            constant(1.0, op.inputs[0]), now(op.inputs[0])), instead(op, "div_no_nan(1.0, {0})", (op, 0))))
    elif op.type == "RealDiv":
        below = op.inputs[1].op
        if below.type == "Sum" and op.inputs[0].op.type == "Exp" and alike(below.inputs[0], op.inputs[0]):
            found += _softmax(op, below)
        root, _ = source_of(op.inputs[1])
        is_ratio = _normalizes(op) or root.type == "Sum" and is_squared(root.inputs[0].op)
        if root.type == "Sqrt":
            found.append(on_argument(root, "{} + 1e-5", lambda x: build.AddV2(x, constant(1e-5, x))))
        elif root.type in _COUNTS and not is_ratio:
            found.append(Edit(op, OVER_COUNT, partial(_of_changed, op, 1, partial(between, 1.0, None)),
                              Rewrite(op, 1, "{tf}.maximum({0}, 1.0)", ((op, 1),))))
        elif is_ratio or (over := static_value(op.inputs[0])) is not None and np.all(over):
            tiny = _fitting(1e-8, op)
            found.append(Edit(op, f"x / (y + {tiny:g})", partial(_of_changed, op, 1, lambda y: build.AddV2(
                y, constant(tiny, y))), Rewrite(op, 1, f"{{0}} + {tiny:g}", ((op, 1),))))
        found.append(Edit(op, "tf.div_no_nan(x, y)", lambda now: build.DivNoNan(*map(now, op.inputs)),
                          Rewrite(op, None, "{tf}.div_no_nan({0}, {1})", ((op, 0), (op, 1)))))
    return found


def _normalizes(division: Operation) -> bool:
    """Whether what is divided is part of what it is divided by, as of its sum, norm or largest element."""
    divided, _ = source_of(division.inputs[0])
    parts = {divided, *(t.op for t in divided.inputs if divided.type == "Sub")}
    shared = parts & ancestors([division.inputs[1]])
    return any(each.inputs or each.type in (*PLACEHOLDERS, *VARIABLES) for each in shared)


def _zero_at_zero(op: Operation, name: str, rest: str) -> Edit:
    """A negative power of what is above 0, and 0 of 0, as of a node without neighbors."""
    def made(now: Now) -> Tensor:
        x = now(op.inputs[0])
        power = copied(op, (build.Maximum(x, constant(_fitting(1e-12, op), x)), *map(now, op.inputs[1:]))).outputs[0]
        return build.SelectV2(build.Greater(x, constant(0.0, x)), power, build.ZerosLike(power))

    written = "tf.where({0} > 0, " + name + "(tf.maximum({0}, 1e-12)" + rest + "), tf.zeros_like({0}))"
    parts: tuple[Part, ...] = ((op, 0), (op, 1)) if rest else ((op, 0),)
    return Edit(op, written.format("x", "p"), made, Rewrite(op, None, written.replace("tf.", "{tf}."), parts))


def bounds_of(op: Operation) -> list[Edit]:
    """The op, of an argument kept where it is finite; of an exponential also where its gradients are no giants."""
    if op.type not in _BOUNDS or op.type == "Pow" and not _needs_positive(op):
        return []
    (low, high), written = _BOUNDS[op.type]
    if high == 80.0:
        sizes = _HALF_EXPONENTS if is_half(op) else _EXPONENTS
        found = [_exponent_within(op, low and -size, size) for size in sizes]
        return found + [_exponent_within(op, -size, size) for size in sizes[1:] if low is None]
    if is_half(op):
        written = written.replace("1e-12", "1e-6")
    return [replace(on_argument(op, written, partial(between, _fitting(low, op), _fitting(high, op))), is_bound=True)]


def _exponent_within(op: Operation, low: float | None, high: float) -> Edit:
    written = f"tf.minimum({{}}, {high})" if low is None else f"tf.clip_by_value({{}}, {low}, {high})"
    return replace(on_argument(op, written, partial(between, low, high)), is_bound=True)


def _needs_positive(power: Operation) -> bool:
    """Whether a power is of no negative number, or of no 0."""
    p = static_value(power.inputs[1])
    return p is None or bool(np.any((np.asarray(p) < 0) | (np.mod(p, 1) != 0)))


def at_one_place(op: Operation) -> list[Operation]:
    """The ops that the same expression of the script made, in a loop or in several calls: one edit of it is of all."""
    if op.span is None:
        return [op]
    return [op, *(other for other in op.graph.operations.values() if other.type == op.type and other is not op
                  and other.gradient_of is None and other.span == op.span and other.site == op.site)]


def copied(op: Operation, inputs: tuple[Tensor, ...]) -> Operation:
    """The same operation of other inputs, in the graph that is built in. Raises ShapeError where they do not fit."""
    specs: Any = [Spec(t.dtype, t.dims) for t in op.outputs]
    if [t.dims for t in inputs] != [t.dims for t in op.inputs]:
        inferred = op.definition.infer(*inputs, **op.attrs)
        specs = [inferred] if isinstance(inferred, Spec) else inferred
    return get_default_graph().add(op.definition, inputs, op.attrs, specs, op.name.rpartition("/")[2])


def _called(op: Operation, argument: str) -> str:
    """A call of the op, as it is written."""
    name = {"Softmax": "nn.softmax", "LogSoftmax": "nn.log_softmax"}.get(op.type) or re.sub(
        r"(?<=[a-z])(?=[A-Z])", "_", op.type).lower()
    return f"tf.{name}({argument}{ {'Pow': ', p', 'Cast': ', tf.float16'}.get(op.type, '')})"


def on_argument(op: Operation, written: str, change: Callable[[Tensor], Tensor]) -> Edit:
    """The op, of a first argument that is changed. written: that, with {} for the argument."""
    line = Rewrite(op, 0, written.replace("tf.", "{tf}.").replace("{}", "{0}"), ((op, 0),))
    below, _ = source_of(op.inputs[0])
    is_norm = op.site is not None and "norm(" in op.site.text and below.type == "Sum" and is_squared(below.inputs[0].op)
    words = _called(op, written.format("tf.reduce_sum(x * x, axis)" if is_norm else "x"))
    return Edit(op, words + " in place of the norm" * is_norm, partial(_of_changed, op, 0, change), line)


def _of_changed(op: Operation, index: int, change: Callable[[Tensor], Tensor], now: Now) -> Tensor:
    inputs = [now(t) for t in op.inputs]
    inputs[index] = change(inputs[index])
    return copied(op, tuple(inputs)).outputs[0]


def replaced(tensor: Tensor, words: str, made: Callable[[Tensor], Tensor], written: str = "") -> Edit:
    """What is made of a tensor, in its place. written: that, with {0} for what it is."""
    several = len(tensor.op.outputs) > 1
    return Edit(tensor.op, words, lambda now: tuple(made(t) if t is tensor else t for t in tensor.op.outputs) if several
                else made(tensor), around(tensor.op, written) if written and not several else None)


def around(op: Operation, written: str) -> Rewrite:
    """What is written around the expression of an op, {0}."""
    return Rewrite(op, None, written.replace("tf.", "{tf}."), ((op, WHOLE),))


def instead(op: Operation, template: str, *parts: Part) -> Rewrite:
    """What to write for the whole of an op."""
    return Rewrite(op, None, "{tf}." + template, parts)


def constant(value: Any, like: Tensor) -> Tensor:
    """A number, or an array, in another tensor's type."""
    dtype = like.dtype.base_dtype
    return build.Const(value=np.asarray(value, dtype.as_numpy_dtype), dtype=dtype)


def _fitting(bound: Any, op: Operation) -> Any:
    return _HALF.get(bound, bound) if is_half(op) else bound


def is_half(op: Operation) -> bool:
    """Whether an op computes in 16 bits."""
    return op.outputs[0].dtype.base_dtype.name in ("float16", "bfloat16")


def between(low: float | None, high: float | None, x: Tensor) -> Tensor:
    """x, kept within bounds; None for none."""
    if low is not None:
        x = build.Maximum(x, constant(low, x))
    return x if high is None else build.Minimum(x, constant(high, x))


def squashed(log: Operation) -> tuple[Operation | None, list[Operation], bool]:
    """The softmax or sigmoid that a logarithm is of, what arranged it on the way, and whether it is of 1 less."""
    source, passed = source_of(log.inputs[0])
    if source.type in ("Softmax", "Sigmoid"):
        return source, passed, False
    if source.type == "Sub" and is_one(source.inputs[0]):
        below, more = source_of(source.inputs[1])
        if below.type == "Sigmoid":
            return below, [*passed, *more], True
    return None, [], False


def of_log(op: Operation) -> list[Edit]:
    """A logarithm of a probability, by its logits."""
    source, passed, turned = squashed(op)
    if source is None:
        return []
    if source.type == "Sigmoid":
        return [_log_sigmoid(op, source, passed, turned=turned)]
    line = None if passed else instead(op, "nn.log_softmax({0}{1})", (source, 0), (source, None))
    return [Edit(op, "tf.nn.log_softmax(logits)", lambda now: _passing(
        build.LogSoftmax(now(source.inputs[0])), passed), line, is_of_logits=True)]


def source_of(tensor: Tensor) -> tuple[Operation, list[Operation]]:
    """The op that a tensor's elements come from, and those that chose or arranged them, the last one first."""
    op, passed = tensor.op, []
    while op.type in (*_ARRANGE, "Captured"):
        passed += [op] if op.inputs else []
        op = op.inputs[0].op if op.inputs else op.attrs["external"].op
    return op, passed


def _passing(tensor: Tensor, passed: list[Operation]) -> Tensor:
    for op in reversed(passed):
        tensor = copied(op, (tensor, *op.inputs[1:])).outputs[0]
    return tensor


def _log_sigmoid(op: Operation, sigmoid: Operation, passed: list[Operation], *, turned: bool) -> Edit:
    def made(now: Now) -> Tensor:
        x = now(sigmoid.inputs[0])
        return _passing(build.Neg(build.Softplus(x if turned else build.Neg(x))), passed)

    line = None if passed else instead(op, f"log_sigmoid({'-' * turned}{{0}})", (sigmoid, 0))
    return Edit(op, f"tf.log_sigmoid({'-' * turned}x)", made, line, is_exact=True, is_of_logits=True)


def _of_exp(op: Operation) -> list[Edit]:
    found: list[Edit] = []
    for after in users_of(op):
        if after.type == "Log1p":
            line = instead(after, "nn.softplus({0})", (op, 0))
            found.append(Edit(after, "tf.nn.softplus(x)", lambda now: build.Softplus(now(op.inputs[0])), line))
        if after.type == "Sqrt":
            line = instead(after, "exp(0.5 * {0})", (op, 0))
            found.append(Edit(after, "tf.exp(0.5 * x)", lambda now: build.Exp(build.Mul(
                constant(0.5, op.inputs[0]), now(op.inputs[0]))), line))
        for log in users_of(after):
            if after.type == "Sum" and log.type == "RealDiv" and alike(log.inputs[0], op.outputs[0]):
                found += _softmax(log, after)
    return found


def alike(a: Tensor, b: Tensor, far: int = 6) -> bool:
    """Whether two tensors are made in the same way, as where an expression is written twice."""
    if a is b or not far:
        return a is b
    value, other = static_value(a), static_value(b)
    return np.array_equal(value, other) if value is not None and other is not None else (
        a.op.type == b.op.type and a.op.attrs == b.op.attrs and not a.op.definition.takes_run
        and bool(a.op.inputs) and len(a.op.inputs) == len(b.op.inputs)
        and all(alike(x, y, far - 1) for x, y in zip(a.op.inputs, b.op.inputs)))


def _softmax(op: Operation, total: Operation) -> list[Edit]:
    """For exp(x) / sum(exp(x)) over the last axis."""
    x, axes = total.inputs[0].op.inputs[0], static_value(total.inputs[1])
    rank = None if x.dims is None else len(x.dims)
    if axes is None or rank is None or np.ravel(axes).tolist() not in ([-1], [rank - 1]):
        return []
    return [Edit(op, "tf.nn.softmax(x)", lambda now: build.Softmax(now(x)),
                 instead(op, "nn.softmax({0})", (total.inputs[0].op, 0)), is_exact=True)]


def _guards(op: Operation) -> list[Edit]:
    """A choice of the argument, by the condition of the choice that comes after the op."""
    level = [(op, c) for c in users_of(op)]
    for _ in range(_FAR):
        for before, after in level:
            branch = next((i for i in (1, 2) if after.type in SELECTS and after.inputs[i].op is before), 0)
            if branch:
                return [_guard(op, after, branch)]
        level = [(after, c) for _, after in level for c in users_of(after)]
    return []


def _guard(op: Operation, choice: Operation, branch: int) -> Edit:
    index, ok = 1 if op.type == "RealDiv" else 0, choice.inputs[0]

    def made(now: Now) -> Tensor:
        x = now(op.inputs[index])
        either = (x, build.OnesLike(x))
        return _of_changed(op, index, lambda _: build.SelectV2(now(ok), *either[::1 if branch == 1 else -1]), now)

    call = "x / safe" if index else _called(op, "safe")
    either = "x, tf.ones_like(x)" if branch == 1 else "tf.ones_like(x), x"
    line = Rewrite(op, index, "{tf}.where({1}, %s)" % ("{0}, {tf}.ones_like({0})" if branch == 1 else
                                                       "{tf}.ones_like({0}), {0}"), ((op, index), (choice, 0)))
    return Edit(op, f"safe = tf.where(ok, {either}), then {call}", made, line)

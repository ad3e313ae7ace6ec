"""Formulas written out for which TensorFlow has a name: cross entropies of logits, vectors of length one."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....api.math.norms import l2_normalize
from ....api.math.reductions import reduce_sum
from ....api.nn.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from ....core.constant_value import is_one, static_value
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import past, users_of
from ..mistakes.signs import is_squared
from .activations import Activation
from .in_graph import Edit, alike, copied, instead, source_of
from .in_source import Part, Rewrite

_REDUCED = {"Mean": "reduce_mean", "Sum": "reduce_sum"}
_LAYERS = ("MatMul", "BatchMatMulV2", "BiasAdd", "Add", "AddV2", "Relu", "LeakyRelu", "Elu")
_CALLED = {"Softmax": "softmax", "Sigmoid": "sigmoid"}


class _Share(NamedTuple):
    """`weight` times the logarithm of what `squash` gives, or, turned, of 1 less that. sign: of the whole.

    squash: a softmax or sigmoid of `logits`; or a layer that gives these, where that was forgotten.
    """

    sign: int
    weight: Tensor
    label: Part
    squash: Operation
    is_turned: bool
    logits: Part


def named(op: Operation) -> list[Edit]:
    """The function in place of the formula that an op is part of, an exponential, logarithm, root or division."""
    if op.type == "Exp":
        written = [each for user in _users(op) for each in (user, *_users(user)) if sigmoid_by_hand(each)]
        logs = [c for each in written for user in (each, *users_of(each)) for c in users_of(user) if c.type == "Log"]
        return next(filter(None, map(named, logs)), []) or [edit for each in written for edit in _sigmoid(each)]
    if op.type == "Log":
        sums = [total for product in users_of(op) for each in (product, *users_of(product)) for total in users_of(each)]
        return next(filter(None, map(_cross_entropy, dict.fromkeys(sums))), [])
    divisions = [op] if op.type == "RealDiv" else [c for each in users_of(op) for c in (each, *users_of(each))
                                                   ] if op.type == "Sqrt" else []
    return [edit for each in divisions if each.type == "RealDiv" for edit in _of_length_one(each)]


def _users(op: Operation) -> list[Operation]:
    """What takes an op's outputs; of one in a script's own gradient what does there."""
    users = [c for t in op.outputs for c in t._consumers if c.gradient_of is op.gradient_of]
    return [each for c in users for each in (_users(c) if c.type == "StopGradient" else [c])]


def _past(t: Tensor) -> Tensor:
    return past(t, ("StopGradient",))  # as all is that a script's own gradient computes in PyTorch


def sigmoid_by_hand(op: Operation) -> tuple[int, Operation] | None:
    """Of 1 / (1 + exp(x)), or exp(x) / (1 + exp(x)): -1 or 1, by which x is multiplied, and the op that takes x."""
    total = op.inputs[-1].op if op.type in ("RealDiv", "Reciprocal") else op
    exps = [_past(a).op for a, b in (total.inputs, total.inputs[::-1]) if is_one(b) and _past(a).op.type == "Exp"
            ] if total is not op and total.type in ("Add", "AddV2") else []
    above = op.inputs[0] if op.type == "RealDiv" else None
    if exps and above is not None and above.op.type == "Mul" and op.gradient_of is not None:  # times what arrives
        above = next((t for t in map(_past, above.op.inputs) if alike(t, exps[0].outputs[0])), above)
    if not exps or above is not None and not is_one(above) and not alike(above, exps[0].outputs[0]):
        return None
    sign, inner = -1 if above is None or is_one(above) else 1, exps[0].inputs[0].op
    return (-sign, inner) if inner.type == "Neg" else (sign, exps[0])


def _sigmoid(division: Operation) -> list[Edit]:
    sign, op = sigmoid_by_hand(division) or (1, division)
    call, above = f"{{tf}}.sigmoid({'-' * (sign < 0)}{{0}})", division.inputs[0].op
    factors = [i for i, t in enumerate(above.inputs) if above.type == "Mul" and not alike(_past(t), op.outputs[0])]
    parts: tuple[Part, ...] = ((op, 0), *((above, i) for i in factors))

    def made(now: Callable[[Tensor], Tensor]) -> Tensor:
        y = build.Sigmoid(now(op.inputs[0]) if sign > 0 else build.Neg(now(op.inputs[0])))
        return build.Mul(now(above.inputs[factors[0]]), y) if factors else y

    line = Rewrite(division, None, "{1} * " * len(factors) + call, parts)
    return [Edit(division, call.format("z", tf="tf"), made, line, is_exact=True)]


def _squashed(op: Operation) -> Operation | None:
    """The op that takes the logits of a softmax or a sigmoid; None for all else."""
    if op.type in _CALLED:
        return op
    is_scaled = op.type == "Mul" and is_one(op.inputs[1])  # as PyTorch divides 1
    sign, takes = sigmoid_by_hand(op.inputs[0].op if is_scaled else op) or (0, op)
    return takes if sign > 0 else None


def _cross_entropy(total: Operation) -> list[Edit]:
    """Of a sum over the classes, or of the two products of a class and its opposite."""
    shares = [_share(t) for t in total.inputs[:1 if total.type == "Sum" else 2]]
    first, second = shares[0] if shares else None, shares[-1] if shares else None
    if first is None or second is None:
        return []
    sign, is_whole = first.sign, False
    if total.type == "Sum":
        rank, axes = len(total.inputs[0].dims or ()), np.ravel(np.asarray(static_value(total.inputs[1]))).tolist()
        is_whole = rank == 2 and len(axes) == 2
        last = rank - 1 if rank else 1
        if first.squash.type not in ("Softmax", *_LAYERS) or not is_whole and axes not in ([-1], [last]) or (
                total.attrs.get("keep_dims")):
            return []
        entropy: Callable[..., Tensor] = softmax_cross_entropy_with_logits_v2
    else:
        minus = -1 if total.type == "Sub" else 1
        if total.type not in ("Add", "AddV2", "Sub") or sign != minus * second.sign or (
                first.is_turned == second.is_turned) or "Softmax" in (first.squash.type, second.squash.type):
            return []
        if first.is_turned:
            first, second = second, first
        rest = second.weight.op
        if rest.type != "Sub" or not is_one(rest.inputs[0]) or rest.inputs[1] is not first.weight or not alike(
                first.squash.outputs[0], second.squash.outputs[0]):
            return []
        entropy = sigmoid_cross_entropy_with_logits
    users = users_of(total)
    at = users[0] if sign > 0 and len(users) == 1 and users[0].type == "Neg" else total
    means = users[0] if sign > 0 and at is total and len(users) == 1 and users[0].type in _REDUCED and not users[
        0].outputs[0].dims and [each.type for each in users_of(users[0])] == ["Neg"] else None
    at = users_of(means)[0] if means else at  # of minus the mean
    turns = sign > 0 and at is total
    label, z = first.weight, first.logits[0].inputs[first.logits[1] or 0]
    is_raw = _squashed(first.squash) is None
    if is_raw and total.type == "Sum" and (z.dims or [None])[-1] == 1:
        return []  # one output has a sigmoid, and both halves of the loss
    kind = "Softmax" if total.type == "Sum" else "Sigmoid"
    called = _CALLED.get(kind, "")
    end = first.squash
    if is_raw and end.type == "Relu":  # logits that are never below 0 would be no better
        made_of = getattr(build, kind)
        return [Edit(end, f"tf.nn.{kind.lower()} in place of the relu", lambda now: made_of(now(end.inputs[0])),
                     Activation(end, f"{{tf}}.nn.{kind.lower()}"), explains=True)]
    call = f"{{tf}}.nn.{called}_cross_entropy_with_logits(labels={{0}}, logits={{1}})"
    call = f"{{tf}}.reduce_sum({call})" if is_whole else call
    call = f"{{tf}}.{_REDUCED[means.type]}({call})" if means else call
    line = Rewrite(at, None, "-" * turns + call, (first.label, first.logits))

    def made(now: Callable[[Tensor], Tensor]) -> Tensor:
        loss = entropy(labels=now(label), logits=now(z))
        loss = reduce_sum(loss) if is_whole else loss
        loss = copied(means, (loss, now(means.inputs[1]))).outputs[0] if means else loss
        return build.Neg(loss) if turns else loss

    return [Edit(at, call.format("labels", "logits", tf="tf"), made, line, is_exact=not is_raw, explains=is_raw)]


def _share(t: Tensor) -> _Share | None:
    sign, op = (-1, t.op.inputs[0].op) if t.op.type == "Neg" else (1, t.op)
    for i in (0, 1) if op.type == "Mul" else ():
        log, weight = op.inputs[1 - i].op, op.inputs[i]
        if log.type != "Log":
            continue
        source = log.inputs[0].op
        is_turned = source.type == "Sub" and is_one(source.inputs[0])
        source = source.inputs[1].op if is_turned else source
        takes = _squashed(source)
        if takes is None and not _is_layer(source) or source_of(weight)[0] is source:
            continue  # of an entropy, which has no labels
        logits: Part = (takes, 0) if takes is not None else (log.inputs[0].op, 1) if is_turned else (log, 0)
        if weight.op.type == "Neg":
            return _Share(-sign, weight.op.inputs[0], (weight.op, 0), source, is_turned, logits)
        return _Share(sign, weight, (op, i), source, is_turned, logits)
    return None


def _is_layer(op: Operation) -> bool:
    """Whether an op ends a linear layer, with its bias, or is its relu."""
    if op.type in ("Relu", "LeakyRelu", "Elu"):
        return _is_layer(op.inputs[0].op)
    products = [t.op for t in op.inputs] if op.type in ("Add", "AddV2", "BiasAdd") else [op]
    return any(each.type in ("MatMul", "BatchMatMulV2", "Conv2D") for each in products)


def _of_length_one(division: Operation) -> list[Edit]:
    root, _ = source_of(division.inputs[1])
    total = root.inputs[0].op if root.type == "Sqrt" else root
    x, axes = division.inputs[0], static_value(total.inputs[1]) if root.type == "Sqrt" and total.type == "Sum" else None
    if axes is None or not is_squared(total.inputs[0].op) or not alike(total.inputs[0].op.inputs[0], x):
        return []
    axis, dims, below = np.ravel(np.asarray(axes)).tolist(), x.dims, division.inputs[1].dims
    if dims is None or below is None or len(axis) < len(dims) and (
            len(below) < len(dims) or any(below[each] != 1 for each in axis)):
        return []
    written = "" if len(axis) == len(dims) else f", {axis[0] if len(axis) == 1 else axis}"
    call = f"nn.l2_normalize({{0}}{written})"
    return [Edit(division, f"tf.{call.format('x')}", lambda now: l2_normalize(now(x), axis),
                 instead(division, call, (division, 0)))]

"""What mends a silent mistake, to be tried on the remembered steps."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors, past
from ...facts.roles import place_of
from ..attenuation import SATURATING
from ..cut_remedies import error_of_stopped
from ..findings import Finding, Origin
from ..mistakes.axes.added_columns import KIND as ADDED_UP
from ..mistakes.case import Case
from ..mistakes.comparisons import masks_beside, reduction_of
from ..mistakes.heads import heads, through, unbroadcast
from ..mistakes.last_layer import logits_of
from ..mistakes.modes import HALF, MOST_DROPPED, dropouts_in, dropped_by
from ..mistakes.reach import HAZARDS, NEAR
from ..mistakes.terms.unbounded_scores import KIND as WITHOUT_BOUND
from ..mistakes.wiring import linear_pairs
from ..scripts.source_tree import WHOLE
from . import of_heads, of_training
from .activations import DROPOUT, STOPS, Activation, LeftOut
from .in_graph import Now, around, constant, copied, instead
from .in_source import Argument, Rewrite
from .of_givens import turned
from .of_keras.given import Weight
from .of_outputs import last_layers, of_each
from .of_training import Attempt, Way, changed, edit, otherwise
from .together import forms_of

_REGULARIZER = "/Regularizer/"  # in the names of what one computes
_PENALTIES = (1e-2, 1e-3, 1e-4)  # by which a penalty is scaled


def attempts_of(finding: Finding, op: Operation, case: Case) -> Iterator[Attempt]:
    """Ways to do what a finding about `op` says, the most careful first; none if it is no edit of the graph."""
    yield from _WAYS.get(finding.kind, _none)(op, case, finding)


def _none(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    yield from ()


def _column(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """[n] and [n, 1] as columns."""
    shape = of_heads.build_axes(-1, 1)
    dims = [np.shape(known[0]) if t.dims is None and (known := case.series(t)) else t.dims or () for t in op.inputs]
    column = next((i for i, each in enumerate(dims) if each and each[-1] == 1), None)
    yield otherwise(op, "both of shape [n, 1]", lambda now: getattr(build, op.type)(
        *(build.Reshape(now(unbroadcast(t)), shape()) for t in op.inputs)), None if column is None else Rewrite(
            op, column, "{tf}.squeeze({0}, 1)", ((op, column),)))


def _over_the_others(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A mean over what is not masked."""
    product = op.inputs[0].op
    mask = next((t for t in product.inputs if t.op not in case.trained), None)
    if mask is not None:
        yield otherwise(op, "the sum over the count of the others", lambda now: build.DivNoNan(
            build.Sum(now(op.inputs[0]), op.inputs[1], **op.attrs),
            build.Sum(build.Mul(mask, build.OnesLike(op.inputs[0])), op.inputs[1], **op.attrs)))


def _of_the_known(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Errors weighed by the mask that a metric weighs them by."""
    known = next((each for head in heads(case) if head.labels is not None and op is reduction_of(head, case)
                  for each in masks_beside(head, head.labels, case) if each.mask.name == finding.target), None)
    if known is not None:
        parts, is_mean = ((op, 0), (known.product, known.place)), op.type == "Mean"
        yield otherwise(op, "the mean error of what is known", lambda now: _weighed(op, build.Mul(
            known.mask, now(op.inputs[0])), known.mask), Rewrite(op, None if is_mean else 0, (
                "{tf}.reduce_sum({1} * {0}) / {tf}.reduce_sum({1})" if is_mean else "{1} * {0}"), parts))


def _weighed(op: Operation, errors: Tensor, mask: Tensor) -> Tensor:
    """What an op makes of all errors, a mean by the sum of what they were weighed by."""
    if op.type != "Mean":
        return copied(op, (errors, *op.inputs[1:])).outputs[0]
    return build.DivNoNan(build.Sum(errors, op.inputs[1]), build.Sum(mask, op.inputs[1]))


def _with_the_others(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The whole of a sum of losses."""
    others = [t for t in op.inputs if t is not case.y and t.op in case.trained]
    if case.y in op.inputs and others and not finding.target:
        yield Attempt((changed(case.y, f"minimize {op.outputs[0].name}", lambda y: build.AddN(y, *others)),),
                      is_same=False)


def _larger(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    yield otherwise(op, "tf.maximum", lambda now: build.Maximum(*map(now, op.inputs)), instead(
        op, "maximum({0}, {1})", (op, 0), (op, 1)))


def _of_what_is_stopped(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """An error of what a stop_gradient was given, which stays for what else it goes into."""
    error = error_of_stopped(op)
    if error is None:
        return
    less = error.inputs[0].op
    parts = [(op, 0)] if less is op else [(op, 0) if t.op is op else (less, i) for i, t in enumerate(less.inputs)]
    is_power = len(error.inputs) == 1 or error.type == "Pow"
    text = " - ".join(f"{{{i}}}" for i in range(len(parts)))

    def made(now: Now) -> Tensor:
        free = now(op.inputs[0]) if less is op else build.Sub(*(
            now(op.inputs[0] if t.op is op else t) for t in less.inputs))
        return copied(error, (free, *error.inputs[1:]) if is_power else (free, free)).outputs[0]

    yield Attempt((edit(error, "the error of what is stopped, which stays so for the rest", made, Rewrite(
        error, 0 if is_power else None, text if is_power else f"{{tf}}.square({text})", tuple(parts))),))


def _as_mean(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    sizes = case.series(op.inputs[0])
    if sizes and np.ndim(sizes[0]):
        mean = instead(op, "reduce_mean({0}{1})", (op, 0), (op, None)) if np.ndim(sizes[0]) == 1 else None
        yield otherwise(op, "tf.reduce_mean", lambda now: build.Mul(op.outputs[0], constant(
            1.0 / len(sizes[0]), op.outputs[0])), mean or around(op, f"{{0}} / {len(sizes[0])}"))


def _summed(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A mean times the size of an example, or of a batch, that it is over."""
    if known := case.series(op.inputs[0]):
        is_of_all, text = "of a batch" in finding.text, getattr(place_of(op), "text", "")
        size = known[0].size if is_of_all else int(finding.written)
        mended = changed(op.outputs[0], f"{size} times the mean", lambda x: build.Mul(x, constant(float(size), x)),
                         f"{size} * {{0}}" * (not is_of_all))
        if ".compile(" in text and not {*"[{"} & {*text}:  # of the one output of a model of Keras
            mended = replace(mended, line=Argument(op, "loss_weights", f"[{size}]"))
        yield Attempt((mended,), is_same=False)


def _made_to(words: str, made: Callable[[Tensor], Tensor], written: str) -> Way:
    """What the op gives is changed. written: that, with {0} for what it is."""
    return lambda op, case, finding: iter([Attempt((changed(op.outputs[0], words, made, written),), is_same=False)])


def _instead(words: str, made: Callable[[Tensor], Tensor], name: str = "") -> Way:
    """Another op of the same input. name: of an activation that it is, as it is written."""
    return lambda op, case, finding: iter([Attempt((edit(op, words, lambda now: made(now(op.inputs[0])), Activation(
        op, name) if name else None),))])


def _reduced_alike(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A sum of all numbers of the examples in place of the mean beside it; a mean where that is over examples alone."""
    mean = case.graph.operations.get(finding.target.partition(":")[0])
    if mean is None or not mean.inputs or np.ndim(next(iter(case.series(mean.inputs[0])), 0)) < 2:
        yield from _as_mean(op, case, finding)
        return
    yield Attempt((edit(mean, "both summed", lambda now: build.Sum(now(mean.inputs[0]), mean.inputs[1], **mean.attrs),
                        instead(mean, "reduce_sum({0}{1})", (mean, 0), (mean, None))),), is_same=False)


def _not_dropped(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    source = next((t for t in op.inputs if t.op in case.trained), op.inputs[0])
    yield otherwise(op, "without the dropout", lambda now: now(source), LeftOut(op, DROPOUT))


def _kept(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What is left of 1 in place of the share, of all dropout that leaves hardly anything."""
    rates = {rate: dropped_by(rate, case) for rate in dropouts_in(case)}
    least = MOST_DROPPED if max(rates.values(), default=0.0) > MOST_DROPPED else HALF + 1e-6
    if edits := tuple(edit(rate.op, f"drop {1 - dropped:.3g}, keep {dropped:.3g}", lambda now, rate=rate, share=(
            1 - dropped): constant(share, rate)) for rate, dropped in rates.items()  # type: ignore[misc]
            if dropped > least):
        yield Attempt(edits)


def _lighter(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The penalty times a factor; that of a regularizer together with those of other layers, as it is written."""
    what = op.name.rpartition(_REGULARIZER)
    alike = [o for o in case.behind if o.name.rpartition(_REGULARIZER)[1:] == what[1:]] if what[1] else [op]
    for factor in _PENALTIES:
        mended = [changed(each.outputs[0], f"the penalty times {factor:g}", lambda x, f=factor: build.Mul(
            x, constant(f, x)), f"{factor:g} * {{0}}") for each in alike]  # type: ignore[misc]
        yield Attempt(tuple(replace(each, line=Weight(op, factor)) if what[1] else each for each in mended),
                      is_same=False)


def _other_sign(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The sign of what a finding says is turned: of an error, of a term of the loss, of the loss, or of updates."""
    words = "the other sign"
    if any(op is u.op for u in case.own):
        yield Attempt(tuple(edit(u.gradient.op, words, lambda now, g=u.gradient: build.Neg(now(g)),  # type: ignore
                                  late=True) for u in case.own))
    elif any(op is head.op for head in heads(case)) and op.type != "Log":
        yield Attempt((changed(op.outputs[0], words, build.Neg, "-{0}"),), is_same=False)
    elif op.type == "Sub" and [any(head.op in ancestors([t]) for head in heads(case)) for t in op.inputs] == [
            True, False]:
        yield otherwise(op, "a + b in place of a - b", lambda now: build.AddV2(*map(now, op.inputs)))
    elif op.type in ("Sub", "Exp", "Neg", "Log", "LogSoftmax", "Softmax") and (term := _term(op, case)) is not None:
        yield Attempt((changed(term, words, build.Neg, "-{0}"),), is_same=False, part=term)
    elif op in case.behind:
        yield Attempt((turned(past(case.y, ("Identity",))),), is_same=False)


def _term(op: Operation, case: Case) -> Tensor | None:
    """The addend of the loss that an op goes into, where the errors of the data are in another."""
    errors = {head.op for head in heads(case)}
    tensor = op.outputs[0]
    for _ in range(40):
        taker = next((c for c in tensor._consumers if c in case.behind), None)
        if taker is None or not taker.outputs:
            return None
        if taker.type in ("Add", "AddV2", "AddN", "Sub") and any(
                errors & ancestors([t]) for t in taker.inputs if t is not tensor):
            return tensor
        tensor = taker.outputs[0]
    return None


def _activated(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    ends = dict.fromkeys(past(above.inputs[0], ("Reshape", "Identity")) for _, above in linear_pairs(case))
    yield Attempt(tuple(of_heads.with_activation(t, "tf.nn.relu between them", build.Relu, "relu") for t in ends))


def _left_away(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    yield Attempt((edit(op, f"without the {op.type.lower()} {op.name}", lambda t: t(op.inputs[0]), Activation(op)),))


def _all_relu(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    ends = {head.end for head in heads(case)}
    squashing = [o for o in case.behind if o.type in SATURATING and o in case.trained and o not in ends]
    if squashing:
        yield Attempt(tuple(edit(o, "tf.nn.relu in hidden layers", lambda now, o=o: build.Relu(  # type: ignore[misc]
            now(o.inputs[0])), Activation(o, "{tf}.nn.relu")) for o in squashing))


def _last_axis(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A softmax, or a cross entropy, over the last axis, of what it is taken over another one."""
    if op.type == "SoftmaxCrossEntropyWithLogits":
        given = [past(t, ("Reshape", "Identity")).op.inputs[0] for t in op.inputs]  # before it was turned
        end = next((c for c in op.outputs[0]._consumers if c.type == "Reshape" and c in case.behind), op)
        yield otherwise(end, "over the last axis", lambda now: build.SoftmaxCrossEntropyWithLogits(*map(now, given))[0],
                        Argument(op, "dim" if "dim=" in getattr(place_of(op), "text", "") else "axis"))
    outer = op if op.type != "Softmax" else next((c for c in op.outputs[0]._consumers if c.type == "Transpose"), op)
    inner = outer.inputs[0].op if outer.type == "Transpose" else op
    moved = inner.inputs[0].op if inner.type == "Softmax" else None
    if outer.type == "RealDiv":
        z, both = logits_of(outer), of_heads.reductions_in(outer)
        if len(both) > 1 and both[0].attrs.get("keep_dims"):  # of the other axis too
            yield Attempt(tuple(edit(each, "axis=-1 of the sum and of the maximum", partial(of_heads.along, each, -1),
                                     Argument(each, "axis", "-1")) for each in both))
            return
        yield Attempt((edit(outer, "tf.nn.softmax(x, axis=-1)", lambda now: build.Softmax(now(z)),
                            instead(op, "nn.softmax({0})", (z.op, WHOLE))),))
    elif moved is not None and moved.type == "Transpose":
        yield Attempt((edit(outer, "tf.nn.softmax(x, axis=-1)", lambda now: build.Softmax(now(moved.inputs[0])),
                            instead(inner, "nn.softmax({0})", (inner, 0))),))


def _bias_after(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    product = next((c for c in op.outputs[0]._consumers if len(c.inputs) > 1 and c.inputs[1] is op.outputs[0]), None)
    bias, kernel = sorted(op.inputs, key=lambda t: len(unbroadcast(t).dims or ()))
    if product is not None:
        yield Attempt((edit(product, "the bias after the product", lambda now: build.AddV2(
            copied(product, (now(product.inputs[0]), now(kernel))).outputs[0], now(unbroadcast(bias)))),))


def _last_step(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    begin = static_value(op.inputs[1])
    axis = int(op.attrs["shrink_axis_mask"]).bit_length() - 1
    if begin is not None:
        yield Attempt((edit(op, "the last step", lambda now: copied(op, (build.ReverseV2(
            now(op.inputs[0]), of_heads.build_axes(axis)()), *op.inputs[1:])).outputs[0]),))


def _floating(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Numbers that stay floats where they were cut to integers."""
    cast = next((c for c in through(op.outputs[0]) if c.type == "Cast" and c.outputs[0].dtype.is_floating), None)
    if cast is not None:
        dtype = cast.outputs[0].dtype.base_dtype
        yield Attempt((edit(cast, "floats", lambda now: _fraction(op, [build.Cast(now(unbroadcast(t)), dtype=dtype)
                                                                        for t in op.inputs])),))


def _fraction(op: Operation, inputs: Sequence[Tensor]) -> Tensor:
    return inputs[0] if op.type == "Cast" else build.RealDiv(*inputs)


def _value_of_index(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    cast = next((c for c in through(op.outputs[0]) if c.type == "Cast"), None)
    if cast is not None:
        yield otherwise(cast, "tf.reduce_max", lambda now: build.Max(now(op.inputs[0]), op.inputs[1]))


def _swapped(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    if op.type == "Sub":
        yield otherwise(op, "the other way round", lambda now: build.Sub(now(op.inputs[1]), now(op.inputs[0])),
                        Rewrite(op, None, "{1} - {0}", ((op, 0), (op, 1))))


def _kept_away(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A better form of what came near nan, or may, or what it is given within bounds: first what is surely written."""
    origin = Origin(op.name, op.type, op.outputs[0].name, "forward", "nan", 0, 0, (), (), "", "", op.name, op.type,
                    harmful=True, secondary=False, trap="", place=None)
    forms = [form for kind in forms_of(op, origin) for form in kind]
    yield from (Attempt(tuple(form), is_same=all(edit.op is not case.y.op for edit in form)) for form in sorted(
        forms, key=lambda form: any(edit.line is None for edit in form)))


_WAYS: dict[str, Way] = {
    "term cut off": lambda op, *_: iter((Attempt((edit(op, "without the tf.stop_gradient", lambda now: now(
        op.inputs[0]), LeftOut(op, STOPS)),)),)),
    "weights on a mean": of_heads.weighed, "class weights the wrong way round": of_heads.reciprocal,
    "logits for probabilities": of_heads.halved_at, "argmax over one": of_heads.one_or_other,
    "distances turned": _swapped, "mask the wrong way round": of_heads.compared_otherwise,
    **dict.fromkeys(("summed over the examples", "one for all"), lambda op, *_: iter((
        otherwise(op, "along axis 1", partial(of_heads.along, op, -1), Argument(op, "axis", "1")),))),
    **dict.fromkeys(("double softmax", "double sigmoid", "bounded logits", "relu on the logits"),
                    of_heads.without_activation),
    "labels and logits swapped": of_heads.other_way_round, "targets out of range": last_layers.within_range,
    **dict.fromkeys(("log of no probability", "labels out of range"), last_layers.other_error),
    **dict.fromkeys(("squared error of a softmax", "squared error of classes", "sigmoid over classes"),
                    of_heads.entropy_instead),
    "one class for several": of_heads.each_alone, "one class": of_heads.one_unit, "broadcast": _column,
    "missing counts": _of_the_known, "mean counts the masked": _over_the_others,
    "part of the loss": _with_the_others, "sum for mean": _as_mean, "sum beside a mean": _reduced_alike,
    **dict.fromkeys(("loss weight of 0", "divergence weighs too much"), of_heads.of_weight_one),
    "penalty too large": _lighter, "divergence too heavy": _summed, "deviation is the variance": of_training.root_of,
    "penalty subtracted": _made_to("the penalty added", build.Neg, "-{0}"),
    "error not squared": _made_to("the square of the error", build.Square, "tf.square({0})"),
    "mean before square": of_heads.mean_of_squares, "summed before the loss": of_each.each_scored,
    "dropout of the logits": _not_dropped, WITHOUT_BOUND: of_heads.normalised, "wrong sign": _other_sign,
    ADDED_UP: of_each.one_column, "dropout drops too much": _kept, "no gradient": _of_what_is_stopped,
    "softmax in a hidden layer": _instead("tf.nn.relu in its place", build.Relu, "{tf}.nn.relu"),
    "no activation": _activated, "two activations": _left_away, "zero gradient": of_training.unbounded,
    **dict.fromkeys(("dead relu", "dead units"), _instead("tf.nn.leaky_relu", build.LeakyRelu, "{tf}.nn.leaky_relu")),
    "softmax over the batch": _last_axis, "softmax over the wrong axis": _last_axis, "vanishing gradient": _all_relu,
    "hinge the wrong way": _larger, "advantage is trained": of_heads.stopped, "choices not used": of_heads.chosen,
    "bias in the kernel": _bias_after, "first time step": _last_step, "reshape for transpose": of_heads.moved,
    **dict.fromkeys(("integer division", "cast cuts fractions"), _floating), "index for value": _value_of_index,
    **dict.fromkeys((NEAR, *HAZARDS), _kept_away),
    "learning rate too low": of_training.other_rate([10.0 ** power for power in range(1, 7)]),
    **dict.fromkeys(("learning rate too high", "steps too large"), of_training.other_rate([
        10.0 ** -power for power in range(1, 7)])),
    **dict.fromkeys(("clipped by value", "clipped always", "clipped too hard", "clipped away"), of_training.unclipped),
    "clipping not applied": of_training.clipping_applied,
    "epsilon too large": of_training.small_epsilon, "learning rate decayed to nothing": of_training.not_decayed,
    **dict.fromkeys(("inputs not scaled", "inputs almost zero", "targets not scaled"), of_training.scaled_once),
    **dict.fromkeys(("equal initial values", "zero factors", "initial values too large", "initial values too small"),
                    of_training.drawn)}

"""What mends a mistake where predictions meet labels: activations, sides, errors of another form, weights."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ....core.dtypes import int32
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.site import source_lines
from ....core.traversal import ancestors, past, users_of
from ...facts.roles import place_of
from ..advice import advice_of
from ..findings import Finding
from ..mistakes.axes.over_the_batch import axis_of_places
from ..mistakes.case import Case
from ..mistakes.classes import classes_in
from ..mistakes.formulas import OTHERWISE
from ..mistakes.heads import ENTROPIES, SAME, Head, divided_by, heads, number_in, through, unbroadcast, weights_of
from ..mistakes.last_layer import NO_PROBABILITY, has_other_half, last_layer_mistakes, logits_of, squashed_before
from ..mistakes.penalties import averaged_in, how_reduced
from ..mistakes.units import order_of, order_told
from ..scripts.expressions import pairs_of
from ..scripts.source_tree import Source
from .activations import Activation, named_at
from .entropies import OneUnit
from .in_graph import Edit, Now, around, constant, copied, instead
from .in_source import Argument, Number, Rewrite, Swapped
from .named import named
from .of_keras.given import given_behind
from .of_training import Attempt, changed, edit, otherwise

_KINDS = {"==": "Equal", "!=": "NotEqual", ">": "Greater", "<=": "LessEqual", "<": "Less", ">=": "GreaterEqual"}
NAMED = ("Softmax", "Sigmoid", "Tanh", "Relu", "Relu6")  # as calls of them, or arguments of layers, are too


def head_of(op: Operation, case: Case) -> Head | None:
    """The place where predictions meet labels that an op is, or ends in."""
    return next((head for head in heads(case) if op in (head.op, head.end)), None)


def without_activation(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The last layer, without its activation."""
    head = head_of(op, case)
    end = op if head is None else head.end
    if end.inputs and end.type != "MatMul":
        yield Attempt((edit(end, f"without the {end.type.lower()} {end.name}", lambda now: now(logits_of(end)), (
            Activation(end)) if end.type in NAMED else None),))


def compared_otherwise(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The opposite of a comparison."""
    if op.type not in OTHERWISE:
        return
    kind = _KINDS[sign := OTHERWISE[op.type]]
    text = f"{{0}} {sign} {{1}}" if advice_of(op.graph).words or "Equal" not in (op.type, kind) else (
        f"{{tf}}.{'equal' if kind == 'Equal' else 'not_equal'}({{0}}, {{1}})")
    yield otherwise(op, sign, lambda now: getattr(build, kind)(now(op.inputs[0]), now(op.inputs[1])), Rewrite(
        op, None, text, ((op, 0), (op, 1))))


def other_way_round(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The two sides of a cross entropy, each in place of the other."""
    words, head = "labels and logits the other way round", head_of(op, case)
    if op.type == "SoftmaxCrossEntropyWithLogits":
        a, b = op.inputs
        said = past(b, (*SAME, "StopGradient"))
        yield otherwise(op, words, lambda now: build.SoftmaxCrossEntropyWithLogits(build.Reshape(
            now(said), build.Shape(b)), now(a))[0], Swapped(op))
    elif head is not None and head.form == "sigmoid" and head.labels is not None:
        yield otherwise(op, words, lambda now: _logistic(now(head.labels), now(head.prediction)),  # type: ignore
                        Swapped(op))
    elif op.type == "Log" and (product := next((c for c in through(op.outputs[0]) if c.type == "Mul"), None)):
        p = next((t for t in product.inputs if t.op in case.trained), None)
        turned = any(t.op.type == "Neg" for t in product.inputs)
        if p is not None:
            yield otherwise(product, words, lambda now: _signed(turned, build.Mul(
                op.inputs[0], build.Log(build.Maximum(now(p), constant(1e-12, p))))))


def _signed(turned: bool, x: Tensor) -> Tensor:
    return build.Neg(x) if turned else x


def _logistic(x: Tensor, z: Tensor) -> Tensor:
    """The cross entropy of sigmoid(x) and z, in nats."""
    rest = build.Softplus(build.Neg(build.Abs(x)))
    return build.AddV2(build.Sub(build.Maximum(x, constant(0.0, x)), build.Mul(x, z)), rest)


def as_probability(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A softmax or sigmoid of what a logarithm takes for a probability."""
    head = head_of(op, case)
    if head is not None and head.end.outputs and squashed_before(head) is None and "square" not in finding.remedy:
        end = head.end.outputs[0]
        name = "Softmax" if end.dims and (end.dims[-1] or 2) > 1 else "Sigmoid"
        if head.activation in NAMED:
            yield otherwise(head.end, f"tf.nn.{name.lower()} in its place", lambda now: getattr(build, name)(
                now(logits_of(head.end))), Activation(head.end, f"{{tf}}.nn.{name.lower()}"))
            return
        yield Attempt((with_activation(end, f"tf.nn.{name.lower()} of {end.name}", getattr(build, name),
                                       name.lower()),), is_same=False)


def squashed_ends(log: Operation, case: Case) -> Iterator[list[Edit]]:
    """The last layer with the softmax or sigmoid that it lacks, where a logarithm that labels weigh is of what it gives
    and no cross entropy of logits can take its place."""
    found = last_layer_mistakes(case) if not named(log) else []
    for each in (attempt for f in found if (f.op, f.kind) == (log.name, NO_PROBABILITY)
                 for attempt in as_probability(log, case, f)):
        yield [replace(one, words=f"{one.words}, as the last layer has none", explains=True) for one in each.edits]


def with_activation(tensor: Tensor, words: str, made: Callable[[Tensor], Tensor], name: str) -> Edit:
    """One more activation; of a Keras model as an argument of the layer."""
    found = changed(tensor, words, made, f"tf.nn.{name}({{0}})")
    is_argument = given_behind(tensor.op) or named_at(tensor.op)
    return replace(found, line=Activation(tensor.op, f"{{tf}}.nn.{name}")) if is_argument else found


def entropy_instead(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A cross entropy of the logits, in place of another error."""
    head = head_of(op, case)
    if head is None or head.labels is None or head.labels.dims != head.prediction.dims:
        return
    labels, source = head.labels, logits_of(head.end) if head.activation else head.prediction
    if head.form == "log":
        yield otherwise(op, "a softmax in its place", lambda now: build.LogSoftmax(now(source)), Activation(
            head.end, "{tf}.nn.softmax"))
        return
    residual = op if len(op.inputs) > 1 else op.inputs[0].op
    place = next((i for i, t in enumerate(residual.inputs) if t.op not in case.trained), 0)
    is_one = bool(source.dims) and source.dims[-1] == 1  # type: ignore[index]
    name = f"{'sigmoid' if is_one else 'softmax'}_cross_entropy_with_logits{'_v2' * (not is_one)}"
    line = instead(op, f"nn.{name}(labels={{0}}, logits={{1}})", (residual, place), (head.end, 0)) if (
        head.activation) else None
    if is_one:
        yield otherwise(op, "a cross entropy of the logits", lambda now: _logistic(now(source), now(labels)), line)
        return

    def made(now: Now) -> Tensor:
        error = build.Neg(build.Mul(now(labels), build.LogSoftmax(now(source))))
        return build.Mul(error, constant(float((source.dims or (1,))[-1] or 1), error))  # a mean over classes too

    yield otherwise(op, "a cross entropy of the logits", made, line)


def each_alone(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A cross entropy of each column alone."""
    head = head_of(op, case)
    if head is not None and head.labels is not None and head.form != "log":
        labels, source = head.labels, logits_of(head.end) if head.activation else head.prediction
        axis = build_axes(-1)
        yield otherwise(op, "a cross entropy of each column", lambda now: build.Mean(
            _logistic(now(source), now(labels)), axis()) if op.type in ENTROPIES else _logistic(
                now(source), now(labels)))
    elif head is not None and head.activation == "Softmax" and has_other_half(head):
        yield otherwise(head.end, "tf.sigmoid", lambda now: build.Sigmoid(now(logits_of(head.end))), Activation(
            head.end, "{tf}.sigmoid"))


def one_unit(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What suits one output, in place of a softmax."""
    head, place = head_of(op, case), axis_of_places(op, case)
    if place is not None and op.type == "RealDiv":
        yield Attempt(tuple(edit(each, f"axis={place}", partial(along, each, place), Argument(
            each, "axis", str(place))) for each in reductions_in(op)), is_same=False)
    elif place is not None and op.type == "Softmax":
        order = [*range(len(op.inputs[0].dims or ()))]
        order[place], order[-1] = order[-1], order[place]
        turned = build_axes(*order)
        yield otherwise(op, f"tf.nn.softmax(x, axis={place})", lambda now: build.Transpose(build.Softmax(
            build.Transpose(now(op.inputs[0]), turned())), turned()),
                        instead(op, f"nn.softmax({{0}}, axis={place})", (op, 0)) if _is_called(op) else
                        Activation(op, f"lambda z: {{tf}}.nn.softmax(z, axis={place})"))
    elif head is not None and head.form in ("squared", "absolute") and not classes_in(head, case):
        yield from without_activation(op, case, finding)
    elif op.type == "Softmax":
        yield otherwise(op, "tf.sigmoid", lambda now: build.Sigmoid(now(op.inputs[0])), Activation(op, "{tf}.sigmoid"))
    elif op.type == "SoftmaxCrossEntropyWithLogits":
        x, z = op.inputs
        axis = build_axes(-1)
        yield otherwise(op, "tf.nn.sigmoid_cross_entropy_with_logits", lambda now: build.Sum(
            _logistic(now(x), now(z)), axis()), OneUnit(op))


def normalised(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The logarithms of shares in place of the scores that a loss takes."""
    scores = case.graph.operations[finding.target.partition(":")[0]]
    yield Attempt((changed(scores.outputs[0], "tf.nn.log_softmax of the scores", lambda t: build.LogSoftmax(t),
                           "nn.log_softmax({0})"),), is_same=False)


def _is_called(op: Operation) -> bool:
    """Whether a softmax is no argument of a layer, but a call of its own."""
    return "softmax(" in getattr(place_of(op), "text", "")


def reductions_in(division: Operation) -> list[Operation]:
    """The sum that a softmax written by hand divides by, and the largest that is taken out first."""
    total, inner = divided_by(division), division.inputs[0].op.inputs[:1]
    most = unbroadcast(inner[0].op.inputs[1]).op if inner and inner[0].op.type == "Sub" else division
    return [each for each in (total, most) if each is not None and each.type in ("Sum", "Mean", "Max")]


def along(op: Operation, axis: int, now: Now) -> Tensor:
    """What an op reduces, reduced along another axis."""
    return copied(op, (now(op.inputs[0]), build_axes(axis)())).outputs[0]


def halved_at(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What is compared with the middle of a probability, made one of logits."""
    if op.type != "Equal":
        line = Rewrite(op, 0, "{tf}.sigmoid({0})", ((op, 0),))
        yield otherwise(op, "tf.sigmoid of the logits", lambda now: copied(op, (
            build.Sigmoid(now(op.inputs[0])), op.inputs[1])).outputs[0], line)


def one_or_other(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Whether the one output is in its upper half, in place of the class of which it is the largest."""
    equal = next((c for c in through(op.outputs[0]) if c.type == "Equal"), None)
    logits = {head.prediction for head in heads(case) if head.form == "sigmoid"}
    both = [o for t in equal.inputs for o in [t.op] if o.type == "ArgMax" and o.inputs[0].dims and o.inputs[0].dims[
        -1] == 1] if equal is not None else []
    if len(both) == 2 and len(op.inputs[0].dims or ()) == 2:
        yield Attempt(tuple(edit(each, "whether it is in the upper half", partial(_upper, each, half), Rewrite(
            each, None, f"{{tf}}.cast({{tf}}.squeeze({{0}}, 1) > {half}, {{tf}}.int64)", ((each, 0),)))
            for each in both for half in [0.0 if each.inputs[0] in logits else 0.5]))


def _upper(op: Operation, half: float, now: Now) -> Tensor:
    x = build.Reshape(now(op.inputs[0]), build_axes(-1)())
    return build.Cast(build.Greater(x, constant(half, x)), dtype=op.outputs[0].dtype)


def build_axes(*axes: int) -> Callable[[], Tensor]:
    """Axes, or another list of small integers, as a constant of the graph that is built then."""
    return lambda: build.Const(value=np.array(axes, np.int32), dtype=int32)


def weighed(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Weights of the losses of which the mean was weighed."""
    place, mean = next((i, t.op) for i, t in enumerate(op.inputs) if t.name == finding.target)
    yield otherwise(op, "the losses weighed, not their mean", lambda now: build.Mul(*(
        now(mean.inputs[0] if t.op is mean else unbroadcast(t)) for t in op.inputs)), Rewrite(
            op, place, "{0}", ((mean, 0),)))


def reciprocal(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """Weights of classes, one over what they were."""
    head = head_of(op, case)
    weights = next((t for t in weights_of(head, case) if t.name == finding.target), None) if head is not None else None
    if weights is not None:
        line = Argument(op, "pos_weight", "1.0 / {0}") if weights.op.span == op.span else around(
            weights.op, "1.0 / {0}")
        yield otherwise(weights.op, "1 / the weights", lambda now: build.Reciprocal(weights), line)


def moved(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The axes moved in place of a reshape, or before it."""
    order, dims = order_of(op) or order_told(op, finding), op.inputs[0].dims or ()
    words, axes = f"tf.transpose(x, {[*order]})", build_axes(*order)
    if order and [dims[i] for i in order] == [*(op.outputs[0].dims or ())]:
        yield otherwise(op, words, lambda now: build.Transpose(now(op.inputs[0]), axes()),
                        instead(op, f"transpose({{0}}, {[*order]})", (op, 0)))
    elif order:
        yield otherwise(op, words, lambda now: copied(op, (build.Transpose(now(op.inputs[0]), axes()), *op.inputs[1:])
                                                      ).outputs[0], Rewrite(op, 0, "{tf}.transpose({0}, "
                                                                            f"{[*order]})", ((op, 0),)))


def mean_of_squares(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The mean of squares in place of the square of a mean."""
    mean = averaged_in(op)
    if mean is not None:
        yield otherwise(op, "the mean of squares", lambda now: copied(mean, (
            build.Square(now(mean.inputs[0])), mean.inputs[1])).outputs[0], Rewrite(
                op, None, f"{{tf}}.reduce_{how_reduced(mean)}({{tf}}.square({{0}}){{1}})", ((mean, 0), (mean, None))))


def of_weight_one(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """A part of the loss that was weighted otherwise, by 1."""
    loss, weight = sorted(op.inputs, key=lambda t: t.op not in case.trained)
    yield otherwise(op, "a weight of 1", lambda now: build.Identity(now(loss)), Number(
        weight.op, number_in(weight) or 0.0, "1.0"))


def stopped(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """What weighs others is stopped: only where it does, if it is the critic's error too."""
    x, words, written = op.outputs[0], "tf.stop_gradient", "tf.stop_gradient({0})"
    takers = [c for c in x._consumers if c in case.behind]
    weighed = [(c, i) for c in takers if c.type == "Mul" for i, t in enumerate(c.inputs)
               if t is x and op not in ancestors([c.inputs[1 - i]])]
    yield Attempt((changed(x, words, build.StopGradient, written),) if len(weighed) in (0, len(takers)) else tuple(
        edit(c, words, lambda now, c=c, i=i: build.Mul(build.StopGradient(x), now(c.inputs[1 - i])),  # type: ignore[misc]
             Rewrite(c, i, "{tf}.stop_gradient({0})", ((c, i),))) for c, i in weighed))


def chosen(op: Operation, case: Case, finding: Finding) -> Iterator[Attempt]:
    """The logarithm of the one probability that is fed, in place of those of all."""
    fed = next((t for t in case.steps[0].feeds if t.name == finding.target), None)
    if fed is None:  # it is not known which was chosen
        return
    count, is_log, y = (op.outputs[0].dims or (0,))[-1], op.type == "Log", op.outputs[0]
    name, is_column = _called(fed.op, op), np.ndim(case.steps[0].feeds[fed]) != 1
    code = f"tf.one_hot(tf.reshape({name}, [-1]), {count})" if is_column else f"tf.one_hot({name}, {count})"
    text = f"tf.reduce_sum({code} * {{0}}, -1, keepdims=True)"
    is_shared = any(y in run.fetched for run in case.runs) or any(c not in case.behind for c in users_of(op))

    def picked(x: Tensor) -> Tensor:
        hot = build.OneHot(build.Reshape(build.Cast(fed, dtype=int32), build_axes(-1)()), build.Const(
            value=np.int32(count), dtype=int32), constant(1.0, x), constant(0.0, x))
        return build.Sum(build.Mul(hot, x), build_axes(-1)(), keep_dims=True)

    line = None if not name or is_shared else around(op, text) if not is_log else Rewrite(
        op, 0, text.replace("tf.", "{tf}."), ((op, 0),))
    yield otherwise(op, "of the one that is fed alone", lambda now: copied(op, (picked(now(op.inputs[0])),)).outputs[0]
                    if is_log else picked(copied(op, (now(op.inputs[0]),)).outputs[0]), line)


def _called(made: Operation, there: Operation) -> str:
    """What the script calls an op where another is made, as it was assigned; "" where that is not sure."""
    one, other = place_of(made), place_of(there)
    if one is None or other is None or one.file != other.file:
        return ""
    source = Source("".join(source_lines(one.file)))
    names = [ast.unparse(target) for node in source.all(ast.Assign) for target, value in pairs_of(node)
             if value in source.spanned(made)]
    is_there = one.function in (other.function, "", "<module>") or "." in "".join(names)
    return names[0] if len(names) == 1 and is_there and names[0].replace(".", "").isidentifier() else ""

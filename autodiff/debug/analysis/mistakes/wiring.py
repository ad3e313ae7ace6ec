"""How layers are put together: nothing between two of them, axes that are not meant, parts of a loss left out."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ....core.collections import GraphKeys
from ....core.constant_value import static_dims, static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.graph_lists import added_by_layers
from ...facts.roles import VARIABLES, at_line, place_of, traceback_of
from ..findings import Finding
from .axes.over_the_batch import one_class
from .case import Case, finding, is_variable_read, kernel_of
from .heads import SAME, constant, heads, last_layer, through, unbroadcast
from .signs import is_of_one, source_of
from .units import ACTIVATIONS, axes_mixed, order_of, shape_of

_PRODUCTS, _STEPS = ("MatMul", "Conv2D"), ("MatMul", "BatchMatMulV2", "Einsum")  # of layers, of loops
_LINEAR = ("BiasAdd", "Add", "AddV2", *SAME)
_LEFT = 0.1  # of the loss, below which a linear model has learnt what there was
_CONVOLVED = 3  # rank from which on a tensor is a map or a sequence


def wiring_mistakes(case: Case) -> list[Finding]:
    """Findings about layers, axes and parts; of all ops, as metrics lie beside the loss."""
    found = [*_linear_layers(case), *_same_weights(case),
             *_left_out(case), *_untrained_losses(case), *_forgotten_penalties(case)]
    for op in case.operations:
        for rule in (_crossed, _argmax, _flattened, axes_mixed, _hidden_softmax,
                     _mean_over_mask, one_class, _pooled_over_the_batch, _stays):
            found += rule(op, case)
    return found


def counts_down(made: Tensor) -> bool:
    """Whether a loop goes from the last step to the first, by what it makes of its number."""
    by = static_value(made.op.inputs[1]) if made.op.type in ("Add", "AddV2", "Sub") and made.dims == () else None
    return by is not None and made.dtype.is_integer and (by > 0) == (made.op.type == "Sub")


def _stays(loop: Operation, case: Case) -> list[Finding]:
    """A loop that computes with a state and hands it on as it came, zeros in each iteration."""
    if loop.type != "While" or loop not in case.trained:
        return []
    body = loop.attrs["body"]
    same = [(state, given) for given, state, made in zip(loop.inputs, body.inputs, body.outputs)
            if past(made, SAME) is state]  # JAX hands such a state in beside the others
    same += [(op.outputs[0], op.attrs["external"]) for op in body.graph.operations.values() if op.type == "Captured"]
    for state, given in same:
        used = next((c for c in through(state) if c.type in _STEPS), None)
        begun = unbroadcast(given)
        value = static_value(begun.op.inputs[1] if begun.op.type == "Fill" else begun) if used is not None else None
        if used is not None and given.dtype.is_floating and value is not None and not np.any(value):
            return [finding(89, "state stays", used, f"{loop.name} hands its state on as it came, zeros in each "
                            f"iteration: what it makes of it{at_line(place_of(used))} is not carried on, so that "
                            "nothing is remembered from one to the next", "give the new state back in place of the old "
                            "one")]
    return []


def linear_pairs(case: Case) -> list[tuple[Operation, Operation]]:
    """Products with weights whose result goes into the next product, with nothing between, and that one.

    Not of a layer that is called once more, where something else takes what it gives, as an embedding with a probe.
    """
    pairs, layers = [], [op for op in case.behind if op.type in _PRODUCTS and len(op.inputs) > 1 and _is_weight(
        op.inputs[1], case)]
    for op in layers:
        if op in case.trained:
            below = linear_source(op.inputs[0], case)
            if below is not None and below.type == op.type and _trainers(below, case) == _trainers(op, case) and \
                    not _is_bottleneck(below, op):
                pairs.append((below, op))
    calls = Counter(kernel_of(op.inputs[1]) for op in layers)
    calls.subtract(kernel_of(below.inputs[1]) for below, _ in pairs)
    return [(below, op) for below, op in pairs if not calls[kernel_of(below.inputs[1])]]


def _linear_layers(case: Case) -> list[Finding]:
    pairs = linear_pairs(case)
    if not pairs:
        return []
    below, op = pairs[0]
    layers = [each for each in case.behind if each.type in _PRODUCTS and _is_weight(each.inputs[1], case)]
    all_of_it = (f", as all of it is of its inputs, and the loss stays at {case.last_loss:.4g}"
                 if len(layers) == len(pairs) + 1 and below in case.first_layers and case.last_loss > _LEFT * min(
                     case.first_loss, case.guess) > 0 else "")
    more = f" ({len(pairs)} such pairs)" if len(pairs) > 1 else ""
    return [finding(62 if not case.learns else 44 if all_of_it else 42, "no activation", below, f"the output of "
                    f"{below.name} goes into {op.name}{at_line(place_of(op))} with no activation between{more}: two "
                    f"linear layers are one linear layer, of {_weights(below)} by {_weights(op)}, and can learn no more"
                    f" than that{all_of_it}",
                    "put an activation between them: tf.nn.relu(...), or activation=tf.nn.relu in tf.layers",
                    target=kernel_of(op.inputs[1]).name + ":0")]


def _same_weights(case: Case) -> list[Finding]:
    """A layer that is called on its own output, at another line: two layers that share weights, as by a name."""
    for op in case.behind:
        if op.type not in _PRODUCTS or len(op.inputs) < 2 or not _is_weight(op.inputs[1], case):
            continue
        below = past(op.inputs[0], (*_LINEAR, *ACTIVATIONS, "LayerNorm")).op
        if below.type == op.type and kernel_of(below.inputs[1]) is kernel_of(op.inputs[1]) and _is_turned(
                below) == _is_turned(op) and traceback_of(below) != traceback_of(op):
            name = kernel_of(op.inputs[1]).name
            return [finding(46, "weights shared by two layers", op, f"{op.name} and {below.name}, whose output it takes"
                            f", have the same weights {name}, though they are called at different lines: two layers "
                            "learn one thing", "a name, or a layer object, of its own for each", target=f"{name}:0")]
    return []


def _is_turned(product: Operation) -> bool:
    """Whether a layer takes its kernel transposed, as a decoder has that of its encoder."""
    return bool(product.attrs.get("transpose_b")) != (product.inputs[1].op.type == "Transpose")


def _is_bottleneck(below: Operation, op: Operation) -> bool:
    """Whether what is between two layers is narrower than both: a code of low rank, which one layer could not be."""
    before, after = (each.inputs[1].dims or (0, 0) for each in (below, op))
    return (before[-1] or 0) < min(before[-2] or 0, after[-1] or 0)


def _trainers(op: Operation, case: Case) -> set[Tensor]:
    """Which losses a layer's weights are trained by: a generator's are not those of what it feeds."""
    weights = kernel_of(op.inputs[1])
    return {call.ys[0] for call in case.calls if any(x.op is weights for x in call.xs)}


def _is_weight(tensor: Tensor, case: Case) -> bool:
    source = kernel_of(tensor)
    return source.type in VARIABLES and source.outputs[0] in case.variables


def linear_source(tensor: Tensor, case: Case) -> Operation | None:
    """The product with weights that a tensor is, up to a bias; None if something else is between."""
    op = tensor.op
    for _ in range(12):
        if sum(c.gradient_of is None for c in op.outputs[0]._consumers) > 1:
            return None  # also used otherwise, as a code, an embedding or what a shortcut passes on is
        if op.type in _PRODUCTS:
            return op if _is_weight(op.inputs[1], case) and \
                last_layer(op.inputs[0]).type != "Softmax" else None  # which weighs rows, as of an embedding
        if op.type not in _LINEAR or not op.inputs:
            return None
        if op.type in ("Add", "AddV2") and not any(is_variable_read(unbroadcast(t)) for t in op.inputs):
            return None  # a sum of branches
        op = next((t.op for t in op.inputs if not is_variable_read(unbroadcast(t))), op.inputs[0].op)
    return None


def _weights(op: Operation) -> str:
    return str(list(op.inputs[1].dims or ()))


def _hidden_softmax(op: Operation, case: Case) -> Iterator[Finding]:
    """A softmax that is the activation of a layer before the last.

    What is put between, such as noise, or a division by a temperature, makes it a choice or a share of attention.
    """
    if op.type not in ("Softmax", "LogSoftmax") or op not in case.trained or linear_source(op.inputs[0], case) is None:
        return
    pools = [c for c in through(op.outputs[0]) if c.type in ("MaxPool", "AvgPool")]
    for layer in (*through(op.outputs[0]), *(c for pool in pools for c in through(pool.outputs[0]))):
        if layer.type in ("MatMul", "Conv2D") and _is_weight(layer.inputs[1], case) and any(
                c.type == "BiasAdd" or c.type in ("Add", "AddV2") and any(map(is_variable_read, c.inputs))
                for c in layer.outputs[0]._consumers):
            yield finding(62 if not case.learns else 42, "softmax in a hidden layer", op, f"the softmax {op.name} goes "
                          f"into the next layer, {layer.name}{at_line(place_of(layer))}: its units share a sum of 1, "
                          "so little of the input and of the gradient gets through", "use tf.nn.relu or tf.nn.tanh in "
                          "hidden layers, and a softmax in the last one alone")
            return


def _argmax(op: Operation, case: Case) -> Iterator[Finding]:
    """The class of each example, taken over the examples; or over an axis of one."""
    if op.type != "ArgMax" or not op.inputs[0].dims:
        return
    axis = static_value(op.inputs[1])
    dims = op.inputs[0].dims
    if axis is None or axis.size != 1 or len(dims) < 2:
        return
    place = int(axis.reshape(())) % len(dims)
    said = f"tf.argmax {op.name} is over axis {int(axis.reshape(()))} of {op.inputs[0].name} of shape {shape_of(dims)}"
    if dims[place] == 1:
        yield finding(64, "argmax over one", op, f"{said}, which has one element: it is 0 for every example, so what "
                      "is made of it, such as an accuracy, says nothing", "for a single output compare "
                      "tf.round(tf.sigmoid(logits)) or logits > 0 with the labels", confidence="certain")
    elif place == 0 and len(dims) == 2 and dims[0] is None and any(
            c.type in ("Equal", "NotEqual") for c in through(op.outputs[0])):
        yield finding(63, "argmax over the batch", op, f"{said}, the examples: it names the best example of each "
                      "class, not the class of each example, so the accuracy made of it is meaningless",
                      "take it over the classes: tf.argmax(x, axis=1)")


def _crossed(op: Operation, case: Case) -> Iterator[Finding]:
    """[n] combined or compared with [n, 1]: all pairs of examples."""
    if op.type not in ("Equal", "Mul", "Sub", "SquaredDifference") or is_of_one(op):
        return
    dims = [unbroadcast(t).dims for t in op.inputs]
    is_near = None in dims or sorted(len(d or ()) for d in dims) == [1, 2]
    if is_near and op.type not in ("Equal", "Mul") and op in case.trained and op in case.behind:  # all may be known
        dims = [np.shape(known[0]) if (known := case.series(unbroadcast(t))) else d for t, d in zip(op.inputs, dims)]
    row, column = sorted((d or () for d in dims), key=len)
    if (len(row), len(column)) != (1, 2) or column[1] != 1 or 1 in (row[0], column[0]):
        return
    said = f"{shape_of(dims[0] or ())} and {shape_of(dims[1] or ())}: all pairs of examples, n by n values, not n"
    if op.type == "Equal" and (row[0] is None) == (column[0] is None):  # how many a choice gives, nobody knows
        yield finding(61, "compared crosswise", op, f"{op.name} compares shapes {said}",
                      "give both the same shape: tf.squeeze(x, 1), or tf.reshape(x, [-1])")
    elif op in case.trained and row[0] == column[0] and (op.type != "Mul" or row[0] is None):
        is_error = op.type != "Mul" and len({t.op in case.trained for t in op.inputs}) == 2
        yield finding(64 if op in case.behind else 60, "broadcast", op, f"{op.name} ({op.type}) combines shapes {said}",
                      "give both the same shape: tf.squeeze(prediction, 1), or tf.expand_dims(target, 1)",
                      confidence="certain" if is_error else "probable")


def _pooled_over_the_batch(op: Operation, case: Case) -> Iterator[Finding]:
    """A layer of what was averaged over the examples, where labels are of each."""
    if op.type != "MatMul" or op not in case.trained or not _is_weight(op.inputs[1], case):
        return
    pool = source_of(op.inputs[0])
    axes = static_value(pool.inputs[1]) if pool.type in ("Mean", "Sum", "Max") and len(pool.inputs) > 1 else None
    dims = pool.inputs[0].dims if axes is not None else None
    if axes is None or not dims or dims[0] is not None or 0 not in np.ravel(axes) % len(dims) or not case.steps:
        return
    head = next((h for h in heads(case) if h.labels is not None and op in ancestors([h.prediction])), None)
    labels = case.series(head.labels)[:1] if head is not None and head.labels is not None else []
    if labels and np.ndim(labels[0]) and len(labels[0]) > 1:
        yield finding(70, "pooled over the batch", pool, f"{pool.name} takes the {pool.type.lower()} of "
                      f"{pool.inputs[0].name} over axis 0, the examples, and {op.name}{at_line(place_of(op))} goes on "
                      f"with that: all {len(labels[0])} examples of a batch get the same answer",
                      "leave axis 0 out: the axes of an image are [1, 2], that of time is 1", confidence="certain")


def _flattened(op: Operation, case: Case) -> Iterator[Finding]:
    """A map reshaped to [-1, k], where k is not the size of an example."""
    told = regrouped(op, failed=bool(case.failed)) if op in case.trained else None
    if told is not None and not order_of(op):
        yield finding(105 if case.failed else 78, "reshape changes the rows", op, *told, confidence="certain")


def regrouped(op: Operation, *, failed: bool) -> tuple[str, str] | None:
    """Of a reshape to [-1, k], where k is not the size of an example: what it does, and what to write for it."""
    dims, to = (op.inputs[0].dims, static_dims(op.inputs[1])) if op.type == "Reshape" else (None, None)
    if dims is None or to is None or len(dims) < _CONVOLVED or len(to) != 2 or to[0] is not None or to[1] is None:
        return None
    sizes = dims[1:]
    whole = int(np.prod([n or 0 for n in sizes]))
    if dims[0] is not None and not failed or to[1] in (whole, sizes[-1]) or not whole:
        return None
    rows = f"{whole / to[1]:.3g} rows" if whole > to[1] else f"{whole / to[1]:.3g} of a row"
    return (f"{op.name} reshapes {op.inputs[0].name} of shape {shape_of(dims)} to [-1, {to[1]}], but an example has "
            f"{' * '.join(map(str, sizes))} = {whole} elements: each becomes {rows}, and the rows no longer are the "
            "examples of the labels", f"tf.reshape(x, [-1, {whole}]), or tf.layers.flatten(x)")


def _mean_over_mask(op: Operation, case: Case) -> Iterator[Finding]:
    """A mean over masked elements, which counts those that are masked."""
    if op.type != "Mean" or op not in case.trained or op.inputs[0].op.type != "Mul" or op not in case.behind:
        return
    for mask in op.inputs[0].op.inputs:
        source = last_layer(mask)
        cast = source if source.type == "Sign" else mask.op if mask.op.type == "Cast" else None
        asks = None if cast is None or not cast.inputs else cast.inputs[0].op
        if asks is not None and asks.type == "Equal" and all(constant(t) is None for t in asks.inputs):
            continue  # whether an answer is right, as a reward says
        if cast is None or mask.op in case.trained or any(o.type.startswith(("Random", "Truncated"))
                                                           for o in ancestors([mask])):
            continue
        values = case.series(mask)
        share = float(np.mean([(v == 0).mean() for v in values])) if values else 0.0
        if share > 0.1:
            is_of_keras = ".compile(" in getattr(place_of(op), "text", "")  # whose losses are so
            yield finding(30 if is_of_keras else 45, "mean counts the masked", op, f"{op.name} is the mean over all "
                          f"elements, of which {mask.name} sets {share:.0%} to 0: the masked count as if they were "
                          f"right, and the loss is {1 / (1 - min(share, 0.99)):.2g} times too small", "divide by the "
                          "count of the others: tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)")
            return


def _left_out(case: Case) -> list[Finding]:
    """A sum of losses of which one is trained alone."""
    trained = {y for call in case.calls for y in call.ys}
    for total in case.y._consumers:
        if total.type not in ("Add", "AddV2", "AddN") or total.gradient_of is not None or not total.outputs or \
                total.outputs[0].dims != () or case.y not in trained:
            continue
        others = [t for t in total.inputs if t is not case.y and t.op in case.trained]
        if others and not any(_is_or_below(t, trained) for t in (*total.outputs, *others)):
            return [finding(58, "part of the loss", total, f"{total.name} adds {others[0].name} to {case.y.name}, but "
                            f"{case.y.name} alone is minimized: {others[0].name} trains nothing",
                            f"minimize {total.outputs[0].name}")]
    return []


def _untrained_losses(case: Case) -> list[Finding]:
    """A loss that runs fetch beside y, or that is collected, of variables that no loss that is trained has."""
    asked = {op for call in case.calls for op in ancestors(call.ys)}
    updated = {update.variable.op for update in case.updates} | {  # or in rows, which are no updates here
        x.op for call in case.calls for x, gradient in call.found.items() if gradient is not None}
    fetched = [t for run in case.steps[:3] for t in run.fetched]
    listed = [t for t in case.graph.get_collection("losses") if isinstance(t, Tensor)]
    for loss in dict.fromkeys([*listed, *fetched]):
        if loss.op in asked or loss.op not in case.trained or loss.dims != () or not loss.dtype.is_floating:
            continue
        head = next(iter(heads(case.about(loss))), None)
        alone = [v for v in case.variables if v.op in ancestors([loss]) and v.op not in updated | asked]
        if head is not None and alone and updated:
            return [finding(61, "part of the loss", loss.op, f"{loss.name} is computed of {alone[0].name} and "
                            f"{len(alone) - 1} others, but it is in no loss that is minimized, and nothing trains them",
                            f"add it to {case.y.name}, or minimize it too", target=alone[0].name)]
    return []


def _is_or_below(tensor: Tensor, trained: set[Tensor]) -> bool:
    """Whether a tensor is trained, or goes into what is."""
    return tensor in trained or any(tensor.op in ancestors([y]) for y in trained)


def _forgotten_penalties(case: Case) -> list[Finding]:
    """Penalties of layers that are collected, and added to no loss."""
    asked = {op for call in case.calls for op in ancestors(call.ys)}
    for is_of_keras, ops in enumerate(added_by_layers(case.graph, GraphKeys.REGULARIZATION_LOSSES)):
        if ops and case.calls and not any(op in asked for op in ops):
            return [finding(47, "penalty left out", ops[0], f"{len(ops)} penalties of regularizers, such as "
                            f"{ops[0].name}, are in no loss that is minimized: they do nothing",
                            "layers of Keras keep them to themselves, add them: loss + tf.add_n(layer.losses)"
                            if is_of_keras else "add them: loss + tf.losses.get_regularization_loss()",
                            confidence="certain")]
    return []

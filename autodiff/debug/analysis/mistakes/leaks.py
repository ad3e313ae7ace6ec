"""Leaks: labels that a model is given among its inputs, masks and weights of the wrong examples, and recurrences that
go through padding, or through the examples of a batch; examples that are all padding, or few of those there are."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, past, reached
from ...facts.roles import VARIABLES, at_line, place_of
from ..findings import Finding
from .batches import is_padded
from .case import SHAPES, Case, fed_behind, finding, kernel_of, values_behind
from .heads import SAME, Head, comes_of_data, heads, is_data, number_in, through, weights_of
from .pairing import FLAT, TRAINED, classes_of, source_of_labels

_SURE, _KINDS = 60, 3  # examples of which none is another; different labels from which on they are no mere flag
_LOOKS, _MOST = ("GatherV2", "ResourceGather"), 0.4  # of words; share of padding that drowns the rest
_BATCHES = 4  # all of padding, that are no chance
_MANY, _TIMES, _ROWS = 8, 8, 200  # steps; times that few examples come again, and that there are more; rows to tell it
_TURNED = 1.5  # times what is rare
_TAKES = ("StridedSlice", "GatherV2")  # of positions
_LENGTHS, _SHARE = 3, 0.1  # different lengths that are no chance; share of examples that end before
_PASS = ("Transpose", "Add", "AddV2", "BiasAdd", "Mul", "RealDiv", "Tanh", "Relu", "Sigmoid", "OneHot", "While",
         "ListUnstack", "ListStack", *SAME)  # that keep what belongs to a position in its place
_SCALES = ("Mul", "Neg", "Identity", "StopGradient", "Cast", "BroadcastTo", "Minimum", "Maximum")
_FLAT = ("Reshape", "MatMul", "BiasAdd", "AddV2", "Add")  # of all positions in one axis
_BY_VARIABLES = ("MatMul", "BatchMatMulV2", "Einsum", "GatherV2", "ResourceGather")


def leak_mistakes(case: Case) -> list[Finding]:
    """Findings about what the inputs tell of the labels, and about what a mask lets count."""
    return [found for head in (heads(case) if case.steps else ()) if head.labels is not None
            and head.labels.op not in case.trained
            for rule in (_among_inputs, _masked_wrong, _weights_turned,
                         _padding_counted, _over_examples, _through_padding)
            for found in rule(head, head.labels, case)][:1] + [
                each for op in case.behind for each in _one_for_all(op, case)][:1] + [
                    *_last_of_padding(case), *_all_padding(case), *_few_seen(case)]


def _all_padding(case: Case) -> list[Finding]:
    """Ids all of which are the one that a mask leaves out as padding, so that it leaves nothing."""
    for op in case.behind if case.steps else ():
        left = number_in(op.inputs[1]) if op.type in ("Equal", "NotEqual") else None
        looks = [c for c in through(past(op.inputs[0], SAME)) if c.type in _LOOKS] if left is not None else []
        fed = case.series(op.inputs[0]) if looks else []
        if len(fed) < _BATCHES or not all(np.ndim(ids) > 1 and np.shape(ids)[1] > 1 and (ids == left).all()
                                          for ids in fed):
            continue
        ids = past(op.inputs[0], SAME)
        return [finding(89, "all padding", looks[0], f"every id of {ids.name} is {left:g} in all {len(fed)} steps "
                        f"looked at, which {op.name}{at_line(place_of(op))} leaves out as padding: nothing of the "
                        f"sequences is seen, and {case.y.name} can say nothing by them", "feed the ids as "
                        "they are: look at what makes them, as a division of integers", target=ids.name,
                        confidence="certain")]
    return []


def _few_seen(case: Case) -> list[Finding]:
    """Inputs of which all steps have a few different ones alone, where the other runs have many."""
    whole = {t for run in case.steps[:1] for t, v in run.feeds.items() if np.ndim(v)}  # no mere questions about a grid
    others = [run for run in case.runs if not run.trains and whole <= run.feeds.keys()]
    labels = fed_behind([head.labels for head in heads(case) if head.labels is not None])
    for tensor in [t for op in case.behind for t in op.outputs if is_data(t)] if len(case.steps) >= _MANY else ():
        taker = next((c for c in through(tensor) if c.type in (*_BY_VARIABLES, "Conv2D", "While")), None)
        if taker is None or tensor.op in labels or tensor.dtype.is_floating and len(tensor.dims or ()) < 2:
            continue
        is_fed = tensor in case.steps[0].feeds
        seen = _different([run.feeds.get(tensor, ()) for run in case.steps] if is_fed else case.series(tensor))
        told = _different([run.feeds.get(tensor, ()) if is_fed else case.values(run).get(tensor, ())
                           for run in others[-_MANY:]], 1) if seen and any(map(any, seen)) else set()
        if seen and len(told - seen) >= _TIMES * len(seen):
            return [finding(64, "same batch", taker, f"{tensor.name} has no more than {len(seen)} different examples "
                            f"in all {len(case.steps)} training steps, again and again, where other runs have "
                            f"{len(told)}: the model learns these by heart", "look at what makes the training's "
                            "examples: a take(), an index or a division that leaves few",
                            target=tensor.name, step=case.steps[0].step)]
    return []


def _different(arrays: Iterable[Any], times: int = _TIMES) -> set[bytes]:
    """The different rows, where each comes so many times in the mean; none where they are more."""
    rows, count = set[bytes](), 0
    for array in arrays:
        rows |= {np.asarray(row).tobytes() for row in array} if np.ndim(array) else set()
        count += len(array) if np.ndim(array) else 0
        if count > _ROWS and len(rows) * times > count:
            return set()
    return rows if len(rows) * times <= count else set()


def _among_inputs(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """Labels that are one of the columns of the inputs, or what a model of sequences is given at the same position."""
    if (labels := source_of_labels(given)) is None:
        return
    inputs = [op.outputs[0] for op in values_behind([head.prediction]) if is_data(op.outputs[0])]
    case.want(labels, *inputs)
    seen = [{**case.values(run), **run.feeds} for run in case.looked]
    for x in inputs if all(labels in values for values in seen) else ():
        pairs = [(np.asarray(values[x]), np.asarray(values[labels])) for values in seen if x in values]
        late = next((k for k in (0, 1) if pairs and all(a.ndim > 1 and a.dtype.kind in "iu" and a.shape == b.shape and
                     a.shape[1] > k and np.array_equal(a[:, :a.shape[1] - k], b[:, k:]) for a, b in pairs)), None)
        if late is not None and _keeps_places(x, head) and np.unique(pairs[0][1]).size >= _KINDS:
            same = "they are its inputs themselves" if x is labels else f"{x.name} is fed the same"
            same += ", one place before," * late
            yield finding(67, "targets are the inputs", head.op, f"the labels of {head.op.name} are {labels.name}, and "
                          f"{same} in all {len(pairs)} steps looked at: at each position the model has been "
                          "given what it is to tell there, and learns to copy it", "inputs x[:, :-1], targets x[:, 1:];"
                          " to a decoder a first symbol and then the targets but the last", target=x.name)
        elif pairs and x is not labels and (column := _column(pairs)) is not None:
            yield finding(66, "target among the inputs", head.op, f"column {column} of {x.name} is the target "
                          f"{labels.name} itself, in all examples of {len(pairs)} steps: the model is given what it is "
                          "to predict, and is worth nothing where that is not known", "leave that column out of the "
                          "inputs; or predict its next value", target=x.name)


def _one_for_all(op: Operation, case: Case) -> Iterator[Finding]:
    """The largest value of all examples together, added to data of each, as what a target network says to rewards."""
    dims = op.inputs[0].dims if op.type in ("Max", "Min") and op.outputs[0].dims == () else None
    if not dims or len(dims) != 2 or dims[1] == 1 or all(len(values) == 1 for values in case.series(op.inputs[0])):
        return
    above = reached([op], lambda each: [c for t in each.outputs for c in t._consumers if c.type in _SCALES])
    for total in {c for each in above for t in each.outputs for c in t._consumers if c.type in ("Add", "AddV2")}:
        for other in [t for t in total.inputs if t.dims == dims[:1] and t.op not in case.trained]:
            if op not in ancestors([other]) and comes_of_data([other]):
                yield finding(70, "one for all", op, f"{op.name} is the {'least' if op.type == 'Min' else 'largest'} "
                              f"value of {op.inputs[0].name} of all examples together: {total.name}"
                              f"{at_line(place_of(total))} adds that one number to {other.name} of each",
                              "take it of each example alone: axis=1")
                return


def _column(pairs: list[tuple[np.ndarray, np.ndarray]]) -> int | None:
    """The column of features that one-column targets are the same as."""
    pairs = [(a[..., 0] if a.ndim == 3 and a.shape[-1] == 1 else a, b) for a, b in pairs]  # of a sequence of numbers
    if any(a.ndim != 2 or a.shape[1] < 2 or b.size != len(a) or a.dtype.kind != "f" or b.dtype.kind not in "fiub"
           for a, b in pairs):
        return None
    x, y = (np.concatenate(each) for each in zip(*[(a, b.reshape(-1, 1).astype(float)) for a, b in pairs]))
    alike = np.isclose(x, y, rtol=1e-6, atol=0).all(axis=0) & (np.ptp(y) > 0) & (len(y) >= _SURE)
    return int(alike.argmax()) if alike.any() else None


def _keeps_places(x: Tensor, head: Head) -> bool:
    """Whether a way from ids to predictions leaves what belongs to a position where it was: no shift, no last state."""
    behind, rank = ancestors([head.prediction]), len(x.dims or (0, 0))
    stack, seen = [x], {x}
    while stack and head.prediction not in seen:
        tensor = stack.pop()
        new = {t for op in tensor._consumers if op in behind and _is_placed(op) for t in op.outputs if t.dims is None
               or len(t.dims) > rank or t.dtype.name == "variant" or t.dtype.is_integer or op.type in _FLAT
               or t is head.prediction} - seen
        new |= {t for op in tensor._consumers if op.type == "ConcatV2" and op in behind for t in _cut_again(op, tensor)}
        apart = [op for op in tensor._consumers if op.type == "Unpack" and op in behind]
        new |= {t for op in apart[:1] for t in _put_together(op, behind)}
        stack += new - seen
        seen |= new
    return head.prediction in seen


def _put_together(apart: Operation, behind: set[Operation]) -> list[Tensor]:
    """What is put together again, in their order, of what was made of each part of a tensor."""
    places = {0, len(apart.outputs) // 2, len(apart.outputs) - 1}
    below = {i: descendants([apart.outputs[i]]) for i in places}
    return [op.outputs[0] for op in behind if op.type == "Pack" and len(op.inputs) == len(apart.outputs) > 1
            and all(op.inputs[i].op in below[i] for i in places)]


def _cut_again(joined: Operation, tensor: Tensor) -> list[Tensor]:
    """What is cut from a tensor with something put before it, as a start symbol, so that only the tensor is left."""
    axis, first = static_value(joined.inputs[0]), joined.inputs[1]
    size = None if axis is None or int(axis) < 0 or first.dims is None else first.dims[int(axis)]
    found = []
    for op in joined.outputs[0]._consumers if size and joined.inputs[2:] == (tensor,) else ():
        given = [static_value(t) for t in (op.inputs[1], op.inputs[3])] if op.type == "StridedSlice" else [None]
        start, step = given[0], given[-1]
        if start is not None and step is not None and len(start) == int(axis or 0) + 1 and start[-1] == size and (
                not start[:-1].any() and (step == 1).all() and op.attrs["end_mask"] == 2 ** len(start) - 1):
            found.append(op.outputs[0])
    return found


def _is_placed(op: Operation) -> bool:
    if op.type == "ConcatV2":
        axis = static_value(op.inputs[0])
        return axis is not None and int(axis) in (-1, len(op.outputs[0].dims or ()) - 1)
    return op.type in _PASS or op.type in _BY_VARIABLES and any(
        kernel_of(t.op.inputs[-1] if t.op.type == "SelectV2" else t).type in VARIABLES for t in op.inputs)


def _masked_wrong(head: Head, labels: Tensor, case: Case) -> Iterator[Finding]:
    """A mask that counts one label only, as that of padding, while what it leaves out has several."""
    for mask in weights_of(head, case):
        pairs = [(np.ravel(w), np.ravel(y)) for w, y in zip(case.series(mask), case.series(labels))
                 if np.size(w) == np.size(y) and y.dtype.kind in "iu"]
        weights, y = (np.concatenate(each) for each in zip(*pairs)) if pairs else (np.zeros(0), np.zeros(0))
        kept, dropped = np.unique(y[weights != 0]), np.unique(y[weights == 0])
        if len(kept) == 1 and len(dropped) >= _KINDS and kept[0] not in dropped:
            yield finding(71, "mask the wrong way round", mask.op, f"{mask.name} lets only those of the labels "
                          f"{labels.name} count that are {kept[0]}, {np.mean(weights != 0):.0%} of them, and leaves "
                          f"out {len(dropped)} different ones: as where padding is kept and the rest dropped",
                          "turn the mask: tf.not_equal(tokens, 0), or 1 - mask", target=mask.name)


def _weights_turned(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """Weights of classes that make the most frequent one count most."""
    for weights in weights_of(head, case):
        pairs = [(np.ravel(w), c) for w, y in zip(case.series(weights), case.series(given))
                 if (c := classes_of(y)) is not None and c.size == np.size(w)]
        w, y = (np.concatenate(each) for each in zip(*pairs)) if pairs else (np.zeros(0), np.zeros(0))
        of = sorted((float((y == k).mean()), k, w[y == k]) for k in np.unique(y))
        means = [float(each.mean()) for *_, each in of]
        if len(of) > 1 and not any(map(np.ptp, (each for *_, each in of))) and means == sorted(means) and (
                means[-1] > _TURNED * means[0] > 0 and of[-1][0] > _TURNED * of[0][0]):
            (rare, few, _), *_, (much, most, _) = of
            yield finding(47, "class weights the wrong way round", head.op, f"{weights.name} weighs examples of class "
                          f"{most}, {much:.0%} of them, with {means[-1]:.3g}, and those of class {few}, {rare:.0%}, "
                          f"with {means[0]:.3g}: the rare class has still less to say", "weigh by the reciprocal of "
                          "how many there are: n / (classes * count)", target=weights.name)


def _padding_counted(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """Positions behind the ends of sequences that count in the loss as the others do."""
    if (labels := source_of_labels(given)) is None or weights_of(head, case):
        return
    after = (descendants(head.op.outputs) - {head.op}).intersection(case.behind)
    chosen = {op.inputs[0] for op in case.behind if op.type == "SelectV2" and labels.op in ancestors(op.inputs[:1])}
    beside = values_behind([t for op in after for t in op.inputs if t.op not in after and t.op is not head.op], chosen)
    fed = [run.feeds for run in case.steps if labels in run.feeds]
    if not fed or any(np.ndim(value) and tensor.op in beside for tensor, value in fed[0].items()):
        return
    for other in fed[0]:
        if other.op not in ancestors([head.prediction]) or any(
                np.size(value) != np.size(fed[0][labels]) for value in case.series(given)):
            continue
        ends = [_behind_ends(feeds.get(other), np.asarray(feeds[labels])) for feeds in fed]
        counted = [np.ravel(each) for t in chosen for each in case.series(t)[:1] if each.size == ends[0].size]
        if not all(e.any() for e in ends) or not all(each[ends[0]].all() for each in counted):
            continue
        yield finding(45, "padding counts", head.op, f"the loss of {head.op.name} is taken at all positions, also "
                      f"behind the ends that {other.name} tells, where {labels.name} is "
                      f"{np.ravel(fed[0][labels])[ends[0]][0]}: {np.mean([e.mean() for e in ends]):.0%} of what is "
                      "learnt from is padding", "weigh it: mask = tf.sequence_mask(lengths, dtype=tf.float32), then "
                      "tf.reduce_sum(mask * loss) / tf.reduce_sum(mask)", target=other.name)
        return


def _behind_ends(other: object, labels: np.ndarray) -> np.ndarray:
    """Where labels, one after the other, stand behind the ends that lengths or other rows of tokens tell, and are all
    the same there; nowhere if these tell none."""
    told, nowhere = np.asarray(other), np.zeros(labels.size, bool)
    if told.ndim == 1 and labels.ndim == 2 and is_padded(labels, told):
        return np.ravel(np.arange(labels.shape[1]) >= told[:, None])
    if told.size != labels.size or len(np.unique(labels)) < 2:
        return nowhere
    ends = padding_of(told)
    return next((e for e in (ends.ravel(), ends.T.ravel()) if len(np.unique(labels.ravel()[e])) == 1), nowhere)


def padding_of(tokens: np.ndarray) -> np.ndarray:
    """Where rows of tokens have ended, by the same token in all of them; nowhere if they tell no ends."""
    if tokens.ndim != 2 or not tokens.size or (tokens != np.round(tokens)).any():
        return np.zeros(tokens.shape, bool)
    ids, counts = np.unique(tokens[:, -1], return_counts=True)
    is_padding = tokens == ids[counts.argmax()]
    ends = np.logical_and.accumulate(is_padding[:, ::-1], axis=1)[:, ::-1]
    return ends & bool((ends == is_padding).all() and len(set(ends.sum(axis=1))) >= _KINDS)


def _loops(case: Case) -> list[Operation]:
    """Those that carry a state from step to step."""
    return [op for op in case.behind if op.type == "While" and any(
        t.dtype.is_floating and t.dims for t in op.inputs[:len(op.attrs["shapes"])])]


def _over_examples(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """A recurrence whose steps are the examples of a batch, not the moments of a sequence."""
    for op in [t.op for loop in _loops(case) for t in loop.inputs if t.op.type == "ListUnstack"]:
        pairs = list(zip(case.series(op.inputs[0]), case.series(given)))
        if pairs and all(x.ndim > 2 and y.ndim and len(x) == len(y) != x.shape[1] > 1 and y.shape[1:2] != x.shape[1:2]
                         for x, y in pairs):
            n, moments = pairs[0][0].shape[:2]
            yield finding(68, "recurrence over the examples", op, f"the recurrence runs along axis 0 of "
                          f"{op.inputs[0].name}, of {n} elements, as many as there are labels {given.name}: from "
                          f"example to example of a batch, not through the {moments} moments of each", "leave "
                          "time_major=True out for [batch, time, ...]; or tf.transpose(x, [1, 0, 2])",
                          target=op.inputs[0].name, confidence="certain")
            return


def _through_padding(head: Head, given: Tensor, case: Case) -> Iterator[Finding]:
    """A recurrence that goes on behind the ends of sequences, and learns nothing."""
    learns = len(case.steps) < TRAINED or not FLAT * case.guess <= case.last_loss < np.inf
    loops = () if learns else _loops(case)
    for loop, look in [(o, op) for o in loops for op in ancestors(o.inputs) if op.type in _LOOKS]:
        ids = past(look.inputs[1], SAME)
        beside = {op for op in fed_behind(loop.inputs) if np.ndim(case.steps[0].feeds.get(op.outputs[0], 0))} - {ids.op}
        takers = {c.type for c in through(ids) if c in case.behind} - {*_LOOKS, *SAME, *SHAPES}  # lengths, or a mask
        share = float(np.mean([padding_of(rows).mean() for rows in case.series(ids)] or [0]))
        if is_data(ids) and not beside and not takers and share > _MOST:
            yield finding(58, "padding is read", loop, f"nothing is learnt: the loss stays at {case.last_loss:.4g}, "
                          f"one answer to everything has {case.guess:.4g}; {loop.name} goes through all of {ids.name}, "
                          f"{share:.0%} of which is padding behind the ends of sequences, and forgets what it read",
                          "Embedding(mask_zero=True) in Keras, sequence_length=lengths in tf.nn.dynamic_rnn; or pad in "
                          "front, padding='pre'", target=ids.name)
            return


def _last_of_padding(case: Case) -> list[Finding]:
    """What a model takes of the last position, where most of what it computed is 0 as the sequences ended before."""
    taken = [op for op in case.behind if case.steps and op.type in _TAKES and op in case.trained
             and op.inputs[0].op in case.trained and op.inputs[0].dims is not None and len(op.inputs[0].dims) == 3
             and op.outputs[0].dims is not None and len(op.outputs[0].dims) == 2]
    case.want(*(t for op in taken for t in (op.inputs[0], op.outputs[0])))
    return [found for op in taken for found in _ended_before(op, case)][:1]


def _ended_before(op: Operation, case: Case) -> list[Finding]:
    """An op that takes the last position, if the examples are 0 there from the ends of their sequences on."""
    lengths = []
    for whole, last in zip(case.series(op.inputs[0]), case.series(op.outputs[0])):
        rows = whole if np.array_equal(whole[:, -1], last) else np.swapaxes(whole, 0, 1)  # of a batch first
        alive = np.any(rows, axis=-1)
        if rows.shape[1] < 2 or not np.array_equal(rows[:, -1], last) or (alive[:, 1:] > alive[:, :-1]).any():
            return []
        lengths.append(alive.sum(axis=1))
    known, longest = np.concatenate(lengths or [np.zeros(0)]), rows.shape[1] if lengths else 0
    short = float((known < longest).mean()) if known.size else 0.0
    if short < _SHARE or len(np.unique(known)) < _LENGTHS:
        return []
    return [finding(70, "last position of padding", op, f"{op.name} takes the last of {longest} positions of "
                    f"{op.inputs[0].name}, where {short:.0%} of the examples are all 0: these sequences ended before "
                    f"(their lengths go from {known.min()} to {known.max()}), so nothing of them is told", "take the "
                    "final state that dynamic_rnn gives too (state.h of an LSTM); or the position length - 1 of each: "
                    "tf.gather_nd(outputs, tf.stack([tf.range(n), lengths - 1], 1))", confidence="certain")]

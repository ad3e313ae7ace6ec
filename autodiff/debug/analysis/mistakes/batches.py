"""What is fed: inputs that are not scaled, labels of one class or that do not follow, the same examples always."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past
from ...facts.roles import PLACEHOLDERS, VARIABLES, is_mask, place_of
from ..advice import advice_of
from ..findings import Finding
from .case import Case, fed_behind, finding, held, values_behind
from .heads import DATA, SAME, Head, above, heads, is_data, made_smaller, weights_of
from .pairing import batches_of, classes_of, drawn_apart, inputs_of, is_of_choices, named, nothing_learnt

_LARGE = 50.0  # mean size of inputs beyond which squashing functions and initial weights of 1/sqrt(n) do not fit
_DARK = 5.0  # mean size from which on numbers of 0 to 255 are pixels: most of an image may be black
_BEYOND = 5.0  # times the loss of a guess
_ALIKE = 3  # batches of one class, from which on it is no accident
_APART = 1000.0  # times the deviation of the usual column: beside such a one the others do not count
_ROWS = 16  # examples over which a column has to vary
_WIDE = 200  # columns; wider ones are images, or words
_MIXES = ("MatMul", "BatchMatMulV2", "Conv2D", "While")
_PASS = ("Identity", "Reshape", "Transpose", "ExpandDims", "Squeeze", "ConcatV2", "Cast", "StridedSlice",
         "ListUnstack", "BiasAdd", "Add", "AddV2")
_SQUASHES = ("Sigmoid", "Tanh")
_BATCHES = 8  # from which on they say how examples are dealt out
_LONG = 25  # steps that are no mere trial of the program
_MEANT = 38  # severity of what may be done on purpose, to see whether a model can learn a batch by heart
_PARTS = 4  # times a batch, of what it is cut from, that is no division into training and test
_REPEATED = 1.5  # times a batch: all examples of a training that sees few others than its first ones
_FEW = 0.55  # of the classes that a batch drawn at random has
_RARE, _SEEN = 0.04, 200  # share of the smaller class below which one is all but missing; labels that show it
ALMOST_ZERO, _TWICE = "inputs almost zero", 0.02  # largest input that looks as if it were scaled twice


def batch_mistakes(case: Case) -> list[Finding]:
    """Findings about what is fed, batch by batch."""
    if not case.steps:
        return []
    found = [*_bad_numbers(case), *_unread(case), *_same_batch(case), *_overlapping(case), *_scaled_twice(case),
             *_cast_away(case)]
    for head in heads(case):
        if head.labels is not None and head.labels.op not in case.trained and not is_of_choices(head, case):
            batches = batches_of(case, head.labels)
            found += [*drawn_apart(head, head.labels, case), *_sorted(head, batches, case),
                      *_unbalanced(head, batches, case), *nothing_learnt(head, batches, case)]
    return found


def _bad_numbers(case: Case) -> list[Finding]:
    """nan or inf in what is fed."""
    for run in case.steps:
        if not all(np.isfinite(v).all() for v in run.before.values() if np.asarray(v).dtype.kind == "f"):
            return []  # what is fed may be made with them
        for tensor, array in ((t, np.asarray(v)) for t, v in run.feeds.items() if t.op.type in DATA):
            bad = np.argwhere(~np.isfinite(array)) if array.dtype.kind == "f" else np.empty(0)
            if len(bad) and (case.is_spoiled or np.isneginf(array).sum() < len(bad) or not is_mask(tensor.op)):
                weight = 106 if case.is_spoiled else 15  # 15: masked, as by a where
                return [finding(
                    weight, "nan in the data", next(iter(tensor._consumers), tensor.op), f"{tensor.name} is fed "
                    f"{len(bad)} numbers that are nan or inf at step {run.step}, the first in element {bad[0].tolist()}"
                    " (row, column): they are in the data, not made by the model", "clean the data: drop these rows, "
                    "or np.nan_to_num", target=tensor.name, step=run.step, confidence="certain")]
    return []


def _unread(case: Case) -> list[Finding]:
    """Examples that are fed to a placeholder which no op takes."""
    for tensor, first in case.steps[0].feeds.items():
        if tensor.op.type in PLACEHOLDERS and not tensor._consumers and np.size(first) > 1 and all(
                tensor in run.feeds for run in case.steps) and any(
                not np.array_equal(first, run.feeds[tensor]) for run in case.steps[1:]):
            padded = next((x for x, value in case.steps[0].feeds.items() if np.ndim(first) == 1 and is_padded(
                np.asarray(value), np.asarray(first))), None)
            is_flag = np.size(first) == len(first) and all(
                np.isin(run.feeds[tensor], (0, 1)).all() for run in case.steps)
            sums = [op for op in case.behind if op.type in ("Add", "AddV2") and any(
                fed_behind([t]) and t.op not in case.trained for t in op.inputs)] if is_flag else []
            best = next((o for op in sums for o in above(op, 5) if o.type == "Max" and any(
                v.type in VARIABLES for v in ancestors(o.inputs))), None)
            told = "" if padded is None else f"; it has the lengths of {padded.name}, whose rows go on with zeros"
            told = told or "; a target takes the best of what comes next, also where it is 1: the end" * bool(best)
            both = next((x for x, value in case.steps[0].feeds.items() if np.shape(value) == np.shape(first) and len({
                held(c.inputs[0]) for c in x._consumers if c.type in ("GatherV2", "ResourceGather")}) > 1), None)
            if both is not None and np.asarray(first).dtype.kind in "iu":
                told = f"; {both.name}, as many numbers, picks rows of two tables"
            if not told and advice_of(case.graph).words:  # it is of what a function gives beside the loss
                continue
            return [finding(47 if told else _MEANT, "fed in vain", best or tensor.op, f"{tensor.name} is fed other "
                            f"numbers in each of {len(case.steps)} training steps, but no op takes it: {case.y.name} "
                            f"does not depend on it{told}", "give it to the recurrence as sequence_length"
                            if padded is not None else "reward + (1 - done) * gamma * best" if best is not None else
                            "look for the op that is to take it, and was given another tensor", target=tensor.name,
                            confidence="certain")]
    return []


def is_padded(x: np.ndarray, lengths: np.ndarray) -> bool:
    """Whether all rows are zero from their lengths on, and not before."""
    if x.ndim < 2 or x.shape[:1] != lengths.shape or lengths.dtype.kind not in "iu" or x.dtype.kind not in "fiu":
        return False
    is_zero = (x.reshape(*x.shape[:2], -1) == 0).all(axis=-1)
    return bool(is_zero.any()) and bool((is_zero == (np.arange(x.shape[1]) >= lengths[:, None])).all())


def _same_batch(case: Case) -> list[Finding]:
    """The same few examples in each step, though there are more."""
    if len(case.steps) < _BATCHES:
        return []
    labels = fed_behind([head.labels for head in heads(case) if head.labels is not None])
    fed = {t: [np.asarray(run.feeds[t]) for run in case.steps] for t, v in case.steps[0].feeds.items()
           if np.ndim(v) and t.op.type in PLACEHOLDERS and all(np.ndim(run.feeds.get(t, 0)) for run in case.steps)}
    for tensor, arrays in fed.items():
        is_still = all(np.array_equal(a, arrays[0]) for a in arrays[1:])
        is_target = is_still and tensor.op in labels and len(np.unique(arrays[0])) > 1
        beside = next((t for t, others in fed.items() if is_target and len(others[0]) == len(arrays[0]) and not all(
            np.array_equal(a, others[0]) for a in others)), None)
        if len(arrays[0]) < 2 or arrays[0].dtype.kind not in "fiu" or arrays[0].ndim < 2 and beside is None:
            continue
        seen, times = (len(arrays[0]), 1) if is_still else (_few_examples(arrays), _PARTS)
        other = max((len(run.feeds[tensor]) for run in case.runs if not run.trains and all(
            np.ndim(run.feeds.get(t, 0)) for t in fed)), default=0)
        whole = case.wholes.get(tensor, 0)
        more = f"other runs feed {other}" if other > times * seen else f"they are cut from an array of {whole}"
        if seen and (other > times * seen or whole >= _PARTS * seen) and tensor.op in ancestors([case.y]):
            is_part = whole >= 2 * _PARTS * seen and len(case.steps) >= _LONG
            weight = 64 if other >= 2 * times * seen else 42 if is_part else _MEANT
            at = next(iter(tensor._consumers), tensor.op)
            said = (f"{tensor.name} is fed the same {seen} examples in all {len(case.steps)} training steps, though "
                    f"{more}")
            if beside is not None:
                return [finding(73, "labels do not follow from inputs", at, f"{said}, while {beside.name} is fed "
                                f"{len(arrays[0])} others in each: they do not belong together", "cut both by the same "
                                "indices: x[i * n:(i + 1) * n] and y[i * n:(i + 1) * n]", target=tensor.name)]
            return [finding(weight, "same batch", at, f"{said}: the model learns these by heart", "take the next batch "
                            "in each step: x[i * n:(i + 1) * n]", target=tensor.name, step=case.steps[1].step)]
    return []


def _few_examples(arrays: Sequence[np.ndarray]) -> int:
    """How many examples there are in all batches, where they are hardly more than those of one; else 0."""
    rows: set[bytes] = set()
    for array in arrays:
        rows |= (batch := {row.tobytes() for row in array})
        if len(rows) > _REPEATED * len(arrays[0]) or len(batch) < len(array):
            return 0
    return len(rows)


def _overlapping(case: Case) -> list[Finding]:
    """Batches each of which is the one before, moved on by a few examples."""
    for tensor in inputs_of(case):
        arrays = [np.asarray(run.feeds[tensor]) for run in case.steps[:_BATCHES] if tensor in run.feeds]
        n = len(arrays[0])
        move = next((k for k in range(1, n // 8 + 1) if len(arrays) == _BATCHES and all(
            a.shape == b.shape and np.array_equal(b[:-k], a[k:]) and not np.array_equal(a, b)
            for a, b in zip(arrays, arrays[1:]))), 0)
        if move:
            return [finding(47, "batches overlap", next(iter(tensor._consumers), tensor.op), f"each batch of "
                            f"{tensor.name} is the one before moved on by {move} of its {n} examples: in "
                            f"{len(case.steps)} steps {n + move * (len(case.steps) - 1)} examples are seen, not "
                            f"{n * len(case.steps)}", "count in batches: x[i * n:(i + 1) * n]", target=tensor.name,
                            step=case.steps[1].step, confidence="certain")]
    return []


def _scaled_twice(case: Case) -> list[Finding]:
    """Inputs that are almost nothing."""
    case.want(*(op.inputs[0] for op in case.first_layers))
    for op in case.first_layers:
        tensor = past(op.inputs[0], SAME)
        largest = max((float(np.abs(a).max(initial=0)) for a in case.series(tensor)), default=0.0)
        if 0 < largest < _TWICE and not case.learns and any(
                is_data(o.outputs[0]) for o in values_behind([tensor]) if o.outputs):
            at = next(filter(made_smaller, values_behind([tensor])), op)
            here = f", here by {at.name}" if at is not op else ""
            return [finding(72, ALMOST_ZERO, at, f"{tensor.name}, what the first layer is given, is nowhere larger "
                            f"than {largest:.3g}: as if it were scaled twice{here}, and the gradients of that layer "
                            "are as small", "scale once: x / 255 for pixels of 0 to 255", target=tensor.name,
                            step=case.looked[0].step)]
    return []


def _cast_away(case: Case) -> list[Finding]:
    """Fractions that a cast to integers cuts off."""
    drawn = case.graph.extras.get("drawn", ())
    for op in case.behind:
        if op.type != "Cast" or not op.inputs[0].dtype.is_floating or not op.outputs[0].dtype.is_integer:
            continue
        made_of = ancestors(op.inputs)
        if not any(o.type in PLACEHOLDERS for o in made_of) or any(
                o in drawn or o.type.startswith("Random") for o in made_of):
            continue  # of what is drawn the whole part is meant, as an index
        if any(c.type in ("Sub", "Floor", "Ceil") for c in op.inputs[0]._consumers):
            continue  # and the rest is used too, as between two elements
        values = case.series(op.inputs[0])
        if values and values[0].size and np.isfinite(values[0]).all():
            cut = float((values[0] != np.trunc(values[0])).mean())
            if cut > 0.1:
                return [finding(62, "cast cuts fractions", op, f"{op.name} casts {op.inputs[0].name} to "
                                f"{op.outputs[0].dtype.name}: {cut:.0%} of its numbers, from {values[0].min():.3g} to "
                                f"{values[0].max():.3g}, have fractions that are cut off", "feed ids as they are, not "
                                "scaled; keep other numbers floating", step=case.looked[0].step, confidence="certain")]
    return []


def _sorted(head: Head, labels: list[np.ndarray], case: Case) -> list[Finding]:
    """Batches that are of one class each, or all of one."""
    batches = [c for each in labels if (c := classes_of(each)) is not None and c.size >= 4]
    is_alike = head.form in ("sparse", "softmax") and len(batches) >= _ALIKE and not np.ptp(np.hstack(batches))
    if is_alike and head.labels is not None and any(op.type in DATA for op in values_behind([head.labels])):  # fed
        return [finding(54, "one label", head.op, f"{named(head.labels)} has the class {batches[0][0]} alone in all "
                        f"{len(batches)} steps: the loss falls by answering {batches[0][0]} to everything",
                        "shuffle the examples before they are cut into batches", target=named(head.labels))]
    if len(batches) < _BATCHES or head.form in ("squared", "absolute") or head.labels is None:
        return []
    everything = np.concatenate(batches)
    kinds, counts = np.unique(everything, return_counts=True)
    if len(kinds) < 2 or counts.max() > 0.9 * everything.size:
        return []
    shares = counts / everything.size
    drawn = [float((1 - (1 - shares) ** c.size).sum()) for c in batches]  # classes in a batch, were it drawn at random
    few = [len(np.unique(c)) for c, many in zip(batches, drawn) if len(np.unique(c)) <= _FEW * many]
    if len(few) < 0.6 * len(batches):
        return []
    return [finding(65, "sorted by class", head.op, f"{len(few)} of {len(batches)} batches of {named(head.labels)} "
                    f"have {np.mean(few):.2g} classes each, where {np.mean(drawn):.2g} of {len(kinds)} are to be "
                    "expected: the examples are sorted, so each step unlearns the other classes, and the loss swings",
                    "shuffle the examples before they are cut into batches: dataset.shuffle(count), or one permutation "
                    "of inputs and labels", target=named(head.labels), step=case.steps[0].step)]


def _unbalanced(head: Head, labels: list[np.ndarray], case: Case) -> list[Finding]:
    """Two classes of which one is all but missing, in a loss that does not weigh them."""
    dims = head.prediction.dims
    if head.labels is None or not dims or dims[-1] not in (1, 2) or head.form not in ("sigmoid", "softmax", "sparse",
                                                                                      "log"):
        return []
    batches = [c for each in labels if (c := classes_of(each)) is not None]
    everything = np.concatenate(batches) if batches else np.zeros(0, int)
    rare = float(min((everything == k).mean() for k in (0, 1))) if everything.size >= _SEEN else 1.0
    if rare >= _RARE or not np.isin(everything, (0, 1)).all() or _is_weighed(head, case):
        return []
    guess = -sum(p * np.log(p) for p in (rare, 1 - rare) if p)
    losses = [float(np.mean(v)) for v in case.series(head.op.outputs[0])[-3:]]
    if not rare or losses and head.form != "log" and np.mean(losses) < 0.5 * guess:
        return []
    most = int((everything == 1).mean() > 0.5)
    return [finding(47, "unbalanced classes", head.op, f"of {everything.size} labels of {named(head.labels)} "
                    f"{1 - rare:.1%} are {most}, and nothing weighs the others: to answer {most} to everything has an "
                    f"accuracy of {1 - rare:.1%} and a loss of {guess:.3g}, which is what is learnt first", "weigh the "
                    "rare class: tf.nn.weighted_cross_entropy_with_logits(pos_weight=…), or draw batches with as many "
                    "of each; measure precision and recall", target=named(head.labels), step=case.steps[0].step)]


def _is_weighed(head: Head, case: Case) -> bool:
    """Whether what labels say multiplies the loss of an example, or weights that are fed and not all the same."""
    source = values_behind([head.labels] if head.labels is not None else [])
    return any(ancestors([t]) & source or any(np.ptp(v) > 0 for v in case.series(t)) for t in weights_of(head, case))


def feed_mistakes(batches: Sequence[Mapping[Tensor, Any]], *, learns: bool = False,
                  beyond: float = 0.0) -> list[Finding]:
    """Findings about what was fed, or came of iterators and queues, in the last steps.

    learns: the loss falls all the same. beyond: the first loss over that of one answer to everything, 0 for unknown.
    """
    fed: dict[Tensor, list[np.ndarray]] = {}
    for batch in batches:
        for tensor, value in batch.items():
            if tensor.op.type in DATA and not isinstance(value, list):
                fed.setdefault(tensor, []).append(np.asarray(value))
    return [finding for tensor, arrays in fed.items() for finding in _scale(tensor, arrays, learns, beyond)]


def _scale(tensor: Tensor, arrays: Sequence[np.ndarray], learns: bool, beyond: float) -> list[Finding]:
    """Inputs of a layer that are far from 1, and columns of them that never change; of codes of zeros and ones what is
    always 0 has not come yet."""
    if not tensor.dtype.is_floating or not all(a.ndim >= 2 and a.size for a in arrays):
        return []
    layer = _first(tensor, _MIXES)
    if layer is None or not all(np.isfinite(a).all() for a in arrays):
        return []
    found = []
    values = np.concatenate([a.reshape(-1, a.shape[-1]) for a in arrays]).astype(np.float64)
    size = float(np.abs(values).mean())
    low, high, mean, spread = values.min(), values.max(), values.mean(), values.std()
    are_pixels = 0 <= low and 128 < high <= 255 and size > _DARK
    spreads = values.std(axis=0)
    wide = len(values) >= _ROWS and arrays[0].ndim == 2 and spreads.max() > _APART * max(np.median(spreads), 1e-9)
    uneven = not learns and arrays[0].ndim == 2 and np.abs(values).mean(axis=0).max() > _LARGE  # one column is enough
    if size > _LARGE or are_pixels or uneven:
        what = "pixels from 0 to 255" if are_pixels else f"values from {low:.4g} to {high:.4g}"
        squashed = _first(layer.outputs[0], _SQUASHES) is not None
        weight = 61 if wide or not learns else 46 if squashed else 39
        told = f"; the first loss is {beyond:.3g} times what one answer to everything costs" * (beyond > _BEYOND)
        found.append(_fed(weight, "inputs not scaled", layer, tensor, f"{tensor.name} is fed {what} (mean {mean:.3g}, "
                          f"standard deviation {spread:.3g}): {layer.type} makes sums of them that saturate what "
                          f"follows, and gradients of their size{told}", "scale what is fed: x / 255 for pixels, or (x "
                          "- mean) / std by column", "probable" if learns else "certain"))
    still = np.flatnonzero((values.std(axis=0) == 0) & (values[0] != 0 if np.isin(values, (0, 1)).all() else True))
    if values.ndim == 2 and len(values) >= _ROWS and 0 < still.size < values.shape[1] and arrays[0].ndim == 2:
        found.append(_fed(18, "constant columns", layer, tensor, f"{still.size} of {values.shape[1]} columns of "
                              f"{tensor.name}, such as {still[0]}, are the same in all {len(values)} examples",
                              "leave them out: they only add to the bias"))
    same = _twins(values) if arrays[0].ndim == 2 else []
    if same:
        found.append(_fed(42, "duplicated columns", layer, tensor, f"columns {same[0][0]} and {same[0][1]} of "
                              f"{tensor.name} are equal in all {len(values)} examples"
                              f"{f', and {len(same) - 1} other pairs' if len(same) > 1 else ''}: one says nothing that "
                              "the other does not, and another column may be missing",
                              "look at how the columns are put together"))
    return found


def _twins(values: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of equal columns, of tables that are not too wide, where that is no accident of few values."""
    if values.shape[1] > _WIDE or len(values) < 2 * _ROWS:
        return []
    first: dict[bytes, int] = {}
    found = []
    for i, column in enumerate(values.T):
        if len(np.unique(column)) >= _ROWS and (other := first.setdefault(column.tobytes(), i)) != i:
            found.append((other, i))
    return found if 4 * len(found) < values.shape[1] else []


def _first(tensor: Tensor, types: Sequence[str]) -> Operation | None:
    """The nearest op of these types that takes the tensor, through ops that only pass it on."""
    level, seen = [tensor], {tensor}
    while level:
        above = []
        for taker in (c for t in level for c in t._consumers):
            if taker.type in types:
                return taker
            if taker.type in _PASS:
                above += [t for t in taker.outputs if t not in seen]
        seen.update(above)
        level = above
    return None


def _fed(severity: int, kind: str, op: Operation, tensor: Tensor, text: str, remedy: str,
         confidence: str = "probable") -> Finding:
    return Finding(severity, kind, tensor.op.name, tensor.op.type, tensor.name, text, remedy, f"print /d {tensor.name}",
                   place_of(op), confidence=confidence)

"""Batches: labels of one class, the same examples always, labels that have nothing to do with the inputs."""
from __future__ import annotations

import numpy as np

from ....core.graph import Tensor
from ....core.traversal import ancestors
from ...facts.roles import PLACEHOLDERS
from ..findings import Finding
from .case import Case, finding
from .heads import Head, heads

_BATCHES = 8  # from which on they say how examples are dealt out
_PURE = 0.95  # share of a batch that one class makes up
_MANY = 400  # examples that are compared with each other
_FEWEST = 120  # distinct examples that show whether labels follow from inputs
_FLAT = 0.97  # of the loss of a guess: above it nothing is learnt
_TRAINED = 60  # steps that should have taught something
_TWICE = 0.02  # largest input that looks as if it were scaled twice


def batch_mistakes(case: Case) -> list[Finding]:
    """Findings about what is fed, batch by batch."""
    if not case.steps:
        return []
    found = [*_bad_numbers(case), *_same_batch(case), *_scaled_twice(case), *_cast_away(case)]
    for head in heads(case):
        labels = _fed_labels(head)
        if labels is not None:
            found += [*_sorted(head, labels, case), *_nothing_learnt(head, labels, case)]
    return found


def _fed_labels(head: Head) -> Tensor | None:
    """The placeholder that labels come from."""
    if head.labels is None:
        return None
    fed = [op for op in ancestors([head.labels]) if op.type in PLACEHOLDERS]
    return fed[0].outputs[0] if len(fed) == 1 else None


def _inputs(case: Case, labels: Tensor | None) -> list[Tensor]:
    return [t for t, v in case.steps[0].feeds.items() if t is not labels and np.ndim(v) >= 2
            and np.asarray(v).dtype.kind in "fiu" and t.op.type in PLACEHOLDERS]


def _classes(labels: np.ndarray) -> np.ndarray | None:
    """The class of each example, of integers or a one-hot code; None for anything else."""
    array = np.asarray(labels)
    if array.ndim > 1 and array.shape[-1] > 1 and array.dtype.kind in "fiu":
        rows = array.reshape(-1, array.shape[-1])
        return rows.argmax(-1) if np.allclose(rows.sum(-1), 1) and np.isin(rows, (0, 1)).all() else None
    flat = array.ravel()
    whole = flat.dtype.kind in "iub" or flat.dtype.kind == "f" and bool(np.isfinite(flat).all()
                                                                        and (flat == flat.round()).all())
    return flat.astype(int) if whole and flat.size and np.ptp(flat.astype(float)) < 1000 else None


def _bad_numbers(case: Case) -> list[Finding]:
    """nan or inf in what is fed."""
    for run in case.steps:
        for tensor, value in run.feeds.items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and array.size and not np.isfinite(array).all():
                bad = np.argwhere(~np.isfinite(array))
                taker = next(iter(tensor._consumers), tensor.op)
                return [finding(106, "nan in the data", taker, f"{tensor.name} is fed {len(bad)} numbers that are nan "
                                f"or inf at step {run.step}, the first in element {bad[0].tolist()} (row, column): "
                                "they are in the data, not made by the "
                                "model", "clean the data: drop these rows, or np.nan_to_num",
                                target=tensor.name, step=run.step, confidence="certain")]
    return []


def _same_batch(case: Case) -> list[Finding]:
    """The same few examples in each step, though there are more."""
    if len(case.steps) < _BATCHES:
        return []
    for tensor in _inputs(case, None):
        arrays = [np.asarray(run.feeds[tensor]) for run in case.steps if tensor in run.feeds]
        first = arrays[0]
        if len(first) < 2 or len(arrays) < len(case.steps) or any(
                a.shape != first.shape or not np.array_equal(a, first) for a in arrays[1:]):
            continue
        other = max((len(run.feeds[tensor]) for run in case.runs if not run.trains and tensor in run.feeds
                     and np.ndim(run.feeds[tensor])), default=0)
        if other > len(first) and tensor.op in ancestors([case.y]):
            return [finding(64, "same batch", next(iter(tensor._consumers), tensor.op), f"{tensor.name} is fed the "
                            f"same {len(first)} examples in all {len(case.steps)} training steps, though other runs "
                            f"feed {other}: the model learns these by heart", "take the next batch in each step: x[i "
                            "* n:(i + 1) * n]", target=tensor.name, step=case.steps[1].step)]
    return []


def _scaled_twice(case: Case) -> list[Finding]:
    """Inputs that are almost nothing."""
    for tensor in _inputs(case, None):
        arrays = [np.asarray(run.feeds[tensor], float) for run in case.looked if tensor in run.feeds]
        largest = max((float(np.abs(a).max(initial=0)) for a in arrays), default=0.0)
        if 0 < largest < _TWICE and not case.learns and any(
                c.type in ("MatMul", "Conv2D", "Reshape") for c in tensor._consumers):
            return [finding(57, "inputs almost zero", tensor._consumers[0], f"{tensor.name} is fed nothing larger than "
                            f"{largest:.3g}: as if it were scaled twice, and the gradients of the first layer are as "
                            "small", "scale once: x / 255 for pixels of 0 to 255", target=tensor.name,
                            step=case.looked[0].step)]
    return []


def _cast_away(case: Case) -> list[Finding]:
    """Fractions that a cast to integers cuts off."""
    for op in case.behind:
        if op.type != "Cast" or not op.inputs[0].dtype.is_floating or not op.outputs[0].dtype.is_integer or \
                not any(o.type in PLACEHOLDERS for o in ancestors(op.inputs)):
            continue
        values = case.series(op.inputs[0])
        if values and values[0].size and np.isfinite(values[0]).all():
            cut = float((values[0] != np.trunc(values[0])).mean())
            if cut > 0.1:
                return [finding(62, "cast cuts fractions", op, f"{op.name} casts {op.inputs[0].name} to "
                                f"{op.outputs[0].dtype.name}: {cut:.0%} of its numbers, from {values[0].min():.3g} to "
                                f"{values[0].max():.3g}, have fractions that are cut off", "keep it floating",
                                step=case.looked[0].step, confidence="certain")]
    return []


def _sorted(head: Head, labels: Tensor, case: Case) -> list[Finding]:
    """Batches that are of one class each."""
    batches = [c for run in case.steps if labels in run.feeds and (c := _classes(run.feeds[labels])) is not None
               and c.size >= 4]
    if len(batches) < _BATCHES or head.form in ("squared", "absolute"):
        return []
    everything = np.concatenate(batches)
    kinds, counts = np.unique(everything, return_counts=True)
    if len(kinds) < 2 or counts.max() > 0.9 * everything.size:
        return []
    pure = sum(np.unique(c, return_counts=True)[1].max() >= _PURE * c.size for c in batches)
    if pure < 0.6 * len(batches):
        return []
    return [finding(65, "sorted by class", head.op, f"{pure} of {len(batches)} batches of {labels.name} are of one "
                    f"class, though {len(kinds)} classes are fed in all: the examples are sorted, so each step "
                    "unlearns the other classes, and the loss "
                    "swings", "shuffle the examples before they are cut into batches",
                    target=labels.name, step=case.steps[0].step)]


def _nothing_learnt(head: Head, labels: Tensor, case: Case) -> list[Finding]:
    """A loss that stays where guessing would be, and why: whether the labels follow from the inputs at all."""
    if len(case.steps) < _TRAINED or case.learns or head.op is None or not np.isfinite(case.last_loss):
        return []
    guess = _guess(head, labels, case)
    losses = [float(np.mean(v)) for v in case.series(head.op.outputs[0])]
    if guess is None or not losses or np.mean(losses[-3:]) < _FLAT * guess[0]:
        return []
    chance = _by_neighbors(labels, case)
    if chance is None or chance[0] > chance[1] + 3 * chance[2]:
        return []
    said = (f"nothing is learnt in {len(case.steps)} steps: the {_named(head)} stays at {np.mean(losses[-3:]):.4g}, "
            f"and {guess[1]} is {guess[0]:.4g}")
    return [finding(63, "labels do not follow from inputs", head.op, f"{said}; the labels have nothing to do with the "
                    f"inputs: of {chance[3]} different examples that were fed, the nearest other one has the same "
                    f"label in {chance[0]:.0%}, by chance {chance[1]:.0%}", "look at how inputs and labels are paired: "
                    "shuffle both by the same permutation, batch both by the same indices", target=labels.name,
                    step=case.steps[-1].step)]


def _named(head: Head) -> str:
    return "squared error" if head.form == "squared" else "cross entropy"


def _guess(head: Head, labels: Tensor, case: Case) -> tuple[float, str] | None:
    """The loss of always giving the same answer: the entropy of labels, or the variance of targets."""
    fed = [np.asarray(run.feeds[labels]) for run in case.steps if labels in run.feeds]
    if head.form == "squared":
        values = np.concatenate([a.ravel() for a in fed]).astype(float)
        return float(values.var()), "the variance of the targets"
    classes = [c for a in fed if (c := _classes(a)) is not None]
    if not classes or head.form not in ("softmax", "sparse"):
        return None
    shares = np.unique(np.concatenate(classes), return_counts=True)[1].astype(float)
    shares /= shares.sum()
    return float(-(shares * np.log(shares)).sum()), "the entropy of the labels"


def _by_neighbors(labels: Tensor, case: Case) -> tuple[float, float, float, int] | None:
    """Share of examples whose nearest other has their label; that by chance; its deviation; of how many."""
    inputs = _inputs(case, labels)
    if len(inputs) != 1:
        return None
    pairs = [(np.asarray(run.feeds[inputs[0]]), _classes(run.feeds[labels])) for run in case.steps
             if inputs[0] in run.feeds and labels in run.feeds]
    kept = [(x.reshape(len(x), -1), c) for x, c in pairs if c is not None and len(x) == len(c)]
    if not kept:
        return None
    x, c = np.concatenate([x for x, _ in kept]).astype(float), np.concatenate([c for _, c in kept])
    _, firsts = np.unique(x, axis=0, return_index=True)
    firsts = np.sort(firsts)[:_MANY]
    x, c = x[firsts], c[firsts]
    if len(x) < _FEWEST:
        return None
    shares = np.unique(c, return_counts=True)[1] / len(c)
    chance = float((shares ** 2).sum())
    if chance > 0.9:
        return None
    return (*_hits(x, c), chance, float(np.sqrt(chance * (1 - chance) / len(x))), len(x))


def _hits(x: np.ndarray, c: np.ndarray) -> tuple[float]:
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    squares = (x ** 2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * x @ x.T
    np.fill_diagonal(distances, np.inf)
    return (float((c[distances.argmin(axis=1)] == c).mean()),)



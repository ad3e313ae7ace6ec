"""Pairing: whether labels follow from the inputs that they are fed with, where a training learns nothing."""
from __future__ import annotations

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, past
from ...facts.roles import PLACEHOLDERS, as_place, at_line, place_of
from ..findings import Finding
from .case import Case, Values, fed_behind, finding, values_behind
from .heads import ENTROPIES, SAME, Head, constant, heads, is_data, through, unbroadcast, weights_of

_MANY = 400  # examples that are compared with each other
_FEWEST = 120  # distinct examples that show whether labels follow from inputs
FLAT = 0.93  # of the loss of a guess: above it nothing is learnt
TRAINED = 20  # steps that should have taught something
_WORDS = 2000  # ids of which it is counted how often an example has each
_RIDGE = 0.1  # of the mean variance: what the straight fit is held down by
_FIRST, _ALIKE = 3, 2e-3  # steps in which the loss is the same multiple of the error, up to so much
_CHANNELS = 8  # numbers of a place, at most, that are multiplied with each other
_AXES, _ALONE, _APART = 25, 0.15, 4.0  # numbers of an example; their correlation; variance of means over that by chance
_OF_NUMBERS = ("squared", "absolute")  # forms of errors
_SURE = 3.0  # standard deviations beyond chance
_LATEST, _FEW_RUNS = 40, 4  # runs that are looked at for what they were given; steps that show how that is done
_MOSTLY = 0.9  # share of one class, beyond which the others are too few to tell


def batches_of(case: Case, labels: Tensor) -> list[np.ndarray]:
    """The labels of all steps where they are fed as they are, else of those that are looked at."""
    fed = source_of_labels(labels)
    if fed is not None and fed.op.type in PLACEHOLDERS:
        return [np.asarray(run.feeds[fed]) for run in case.steps if fed in run.feeds]
    return case.series(labels)


def source_of_labels(labels: Tensor) -> Tensor | None:
    """What is fed, or comes of an iterator, that labels are up to their shape, their type or a one-hot code."""
    labels = past(labels, (*SAME, "OneHot", "StopGradient"))
    return labels if is_data(labels) else None


def named(labels: Tensor) -> str:
    """What labels come from, else their own name."""
    found = fed_behind([labels])
    return next(iter(found)).outputs[0].name if len(found) == 1 else labels.name


def inputs_of(case: Case) -> list[Tensor]:
    """The placeholders that examples are fed to."""
    return [t for t, v in case.steps[0].feeds.items() if np.ndim(v) >= 2
            and np.asarray(v).dtype.kind in "fiu" and t.op.type in PLACEHOLDERS]


def classes_of(labels: np.ndarray) -> np.ndarray | None:
    """The class of each example, of integers or a one-hot code; None for anything else."""
    array = np.asarray(labels)
    if array.ndim > 1 and array.shape[-1] > 1 and array.dtype.kind in "fiu":
        rows = array.reshape(-1, array.shape[-1])
        return rows.argmax(-1) if np.allclose(rows.sum(-1), 1) and np.isin(rows, (0, 1)).all() else None
    flat = array.ravel()
    whole = flat.dtype.kind in "iub" or flat.dtype.kind == "f" and bool(np.isfinite(flat).all()
                                                                        and (flat == flat.round()).all())
    return flat.astype(int) if whole and flat.size and np.ptp(flat.astype(float)) < 1000 else None


def guess_of(case: Case) -> float:
    """y for one answer to everything, where y is a multiple of the mean error of predictions; else inf."""
    known = [head for head in heads(case) if head.form != "log" or not any(
        taker.type in ENTROPIES for taker in through(head.op.outputs[0]))]
    labeled = [(head, head.labels) for head in known if head.labels is not None and head.labels.op not in case.trained]
    if not labeled or len(labeled) < len(known) or len({head.form for head in known}) > 1 or (
            len(known) > 1 and known[0].form != "log"):
        return float("inf")
    guess = _guess(known[0], batches_of(case, labeled[0][1]))
    case.want(*(t for head, labels in labeled for t in (head.op.outputs[0], labels)))
    ratios = [ratio for run in case.looked[:_FIRST] if (ratio := _ratio(labeled, case, case.values(run))) is not None]
    if guess is None or not guess[0] > 0 or not ratios or not ratios[0] > 0 or not np.allclose(
            ratios, ratios[0], rtol=_ALIKE):
        return float("inf")
    return guess[0] * ratios[0]


def _ratio(known: list[tuple[Head, Tensor]], case: Case, values: Values) -> float | None:
    """y over the mean error of an example, or of an element where it is not a cross entropy."""
    errors = 0.0
    for head, given in known:
        if not {head.op.outputs[0], given, case.y} <= values.keys():
            return None
        error, labels = (np.asarray(values[t], float) for t in (head.op.outputs[0], given))
        if head.form == "log":
            if error.shape != labels.shape or not error.ndim:
                return None
            error = -(error * labels).sum(axis=-1)
        errors += float(np.mean(error))
    return float(np.mean(values[case.y])) / errors if errors > 0 and np.isfinite(errors) else None


def nothing_learnt(head: Head, labels: list[np.ndarray], case: Case) -> list[Finding]:
    """A loss that stays where guessing would be, and why: whether the labels follow from the inputs at all."""
    if len(case.steps) < TRAINED or head.labels is None or not np.isfinite(case.last_loss) or is_rewarded(head, case):
        return []
    guess = _guess(head, labels)
    losses = [float(np.mean(v)) for v in case.series(head.op.outputs[0])]
    if guess is None or not losses or not guess[0] > 0:
        return []
    stays = max(float(np.mean(losses[-3:])), guess[0] * case.last_loss / case.guess)
    told = "" if stays < FLAT * guess[0] else _independent(head, case)
    if not told:
        return []
    which = f"{head.form} error" if head.form in _OF_NUMBERS else "cross entropy"
    stays = guess[0] * case.last_loss / case.guess or stays
    said = f"nothing is learnt in {len(case.steps)} steps: the {which} is {stays:.4g}, {guess[1]} {guess[0]:.4g}; "
    if (dealt := next((t for t in inputs_of(case) if _is_dealt_out(case.series(t))), None)) is not None:
        return [finding(63, "examples dealt out", head.op, f"{said}what lies side by side in an example of {dealt.name}"
                        " has only its size in common, as where np.reshape brought examples to the front: each is made "
                        "of pieces of many", "np.transpose(x, (2, 0, 1)) for [height, width, n]", target=dealt.name)]
    remedy = ("look at how inputs and labels are paired: shuffle both by the same permutation, batch both by the same "
              "indices")
    for zipped, shuffles in case.graph.extras.get("shuffled apart", ()):
        lines = dict.fromkeys(at_line(as_place(each.site)) for each in shuffles if each.site is not None)
        told += (f"; datasets that are shuffled{' and'.join(lines)}, each in an order of its own, are zipped"
                 f"{at_line(as_place(zipped)) if zipped is not None else ''}")
        remedy = "shuffle after zip, or give the shuffles the same seed and the same buffer_size"
    return [finding(63, "labels do not follow from inputs", head.op, f"{said}the labels seem to have nothing to do "
                    f"with the inputs: {told}", remedy, target=named(head.labels), step=case.steps[-1].step)]


def _is_dealt_out(batches: list[np.ndarray]) -> bool:
    """Whether examples with axes of their own differ in size, while numbers side by side in them do not go together."""
    if len({x.shape[1:] for x in batches}) != 1 or batches[0].ndim < 3:
        return False
    rows = np.concatenate([x.reshape(len(x), -1) for x in batches]).astype(float)
    off, n = rows - rows.mean(axis=1, keepdims=True), rows.shape[1]
    inside, beside = np.square(off).mean(), (off[:, 1:] * off[:, :-1]).mean()
    return bool(n >= _AXES and abs(beside) < _ALONE * inside < _ALONE / _APART * n * rows.mean(axis=1).var())


def drawn_apart(head: Head, labels: Tensor, case: Case) -> list[Finding]:
    """Labels of another element of an iterator than their inputs: each get_next() takes one of its own."""
    told, given = (_components(t) for t in (labels, head.prediction))
    if not told and not given:
        return _of_two_runs(head, labels, case)
    if len({op for op, _ in told}) != 1 or not given or {op for op, _ in told} & {op for op, _ in given}:
        return []
    (op, _), other = next(iter(told)), next(iter(given))[0]
    if iterator_of(other) is not iterator_of(op):
        return _shuffled_apart(head, labels, (other, op), case)
    if {i for _, i in told} & {i for _, i in given}:
        return []  # the same component of two elements is one and what follows it
    return [finding(72, "drawn apart", op, f"the labels of {head.op.name} come of {op.name}, what predicts them of "
                    f"{other.name}{at_line(place_of(other))}: these are two get_next() of one iterator, and each takes "
                    "an element of its own, so no label belongs to its input", "call get_next() once: x, y = "
                    "iterator.get_next()", target=labels.name, confidence="certain")]


def _of_two_runs(head: Head, labels: Tensor, case: Case) -> list[Finding]:
    """What is fed for labels and inputs, taken of an iterator in runs of their own."""
    draws = [op for op in case.operations if iterator_of(op) is not None]
    case.want(*(t for op in draws for t in op.outputs))
    made: dict[bytes, tuple[Operation, int]] = {}
    pairs = []
    for run in case.runs[-_LATEST:] if draws and labels.op.type in PLACEHOLDERS and not case.learns else ():
        if not run.trains:
            made.update((np.asarray(value).tobytes(), (op, run.number)) for op in draws if op in run.ran
                        for t in op.outputs if t in run.fetched and (value := case.values(run).get(t)) is not None)
            continue
        inputs = [t for t in run.feeds if t.op in fed_behind([head.prediction])]
        fed = [np.asarray(run.feeds[t]).tobytes() for t in (*inputs, labels) if t in run.feeds]
        pairs += [[made[each] for each in fed]] if len(fed) > 1 and made.keys() >= {*fed} else []
    apart = [(first, last) for first, *others, last in pairs if last not in (first, *others)
             and iterator_of(first[0]) is iterator_of(last[0])]
    if len(apart) < _FEW_RUNS or len(apart) < len(pairs):
        return []
    (op, number), (_, its) = apart[-1]
    return [finding(72, "drawn apart", op, f"what is fed for {labels.name} was taken of {op.name} in run {its}, what "
                    f"is fed for the inputs in run {number}, and so in all {len(apart)} steps looked at: each takes an "
                    "element of its own, so no label belongs to its input", "take both in one run: x, y = "
                    "session.run([next_x, next_y])", target=labels.name, confidence="certain")]


def _shuffled_apart(head: Head, labels: Tensor, both: tuple[Operation, Operation], case: Case) -> list[Finding]:
    """Labels of an iterator whose elements come in another order than those of the one that their inputs are of."""
    shuffles = [getattr(iterator_of(op), "shuffled", ()) for op in both]
    if case.learns or len({tuple(each.order for each in several) for several in shuffles}) < len(both):
        return []
    orders = [f"{op.name}{at_line(place_of(op))} are " + (f"shuffled{at_line(as_place(several[-1].site))}" if several
              and several[-1].site is not None else "in the order given") for op, several in zip(both, shuffles)]
    return [finding(72, "drawn apart", both[1], f"the labels of {head.op.name} and what predicts them come of two "
                    f"iterators: elements of {orders[0]}, those of {orders[1]}, so no label belongs to its input; "
                    f"{case.went}", "shuffle both together: tf.data.Dataset.zip((inputs, labels)).shuffle(n), or give "
                    "both shuffles the same seed and buffer_size", target=labels.name, confidence="certain")]


def _components(tensor: Tensor) -> set[tuple[Operation, int]]:
    """The get_next() that a tensor comes from, and which component of each."""
    behind = {tensor.op, *values_behind([tensor])}
    return {(op, i) for op in behind if iterator_of(op) is not None for i, t in enumerate(op.outputs)
            if t is tensor or not behind.isdisjoint(t._consumers)}


def iterator_of(op: Operation) -> object | None:
    """The iterator that an op takes the next element of; None for any other op."""
    return getattr(op.attrs.get("function"), "iterator", None) if op.type == "PyFunc" else None


def is_rewarded(head: Head, case: Case) -> bool:
    """Whether something else than a constant or a mask weighs the loss of each example, as rewards do."""
    return any(t is not head.labels and t.op.type != "Cast" and not _is_mask(t.op) for t in weights_of(head, case))


def is_of_choices(head: Head, case: Case) -> bool:
    """Whether what was chosen is weighed by what came of it: weights below 0, or of many sizes within one class."""
    made = {head.op, *descendants(head.op.outputs) & set(case.behind)}
    factors = {unbroadcast(t): None for op in made if op.type == "Mul" for t in op.inputs
               if t.op not in made and t is not head.labels and constant(t) is None}
    labels = [classes_of(each) for each in case.series(head.labels)] if head.labels is not None and factors else []
    return any(known is not None and np.size(weights) == known.size > 1 and (np.min(weights) < 0 or any(
        len(np.unique(np.ravel(weights)[np.ravel(known) == k])) > 2 for k in np.unique(known)))
        for t in factors for known, weights in zip(labels, case.series(t)))


def _is_mask(op: Operation) -> bool:
    """Whether an op chooses between constants, as where labels of padding are left out."""
    return op.type in ("Select", "SelectV2") and all(constant(t) is not None for t in op.inputs[1:])


def _guess(head: Head, labels: list[np.ndarray]) -> tuple[float, str] | None:
    """The loss of always giving the same answer: the entropy of labels, or the variance of targets."""
    if not labels:
        return None
    if head.form == "squared":
        return float(np.concatenate([a.ravel() for a in labels]).astype(float).var()), "the variance of the targets"
    if head.form == "absolute":
        targets = np.concatenate([a.ravel() for a in labels]).astype(float)
        return float(np.abs(targets - np.median(targets)).mean()), "the mean distance of the targets from their median"
    if head.form == "sigmoid" and np.ndim(labels[0]) > 1 and np.shape(labels[0])[-1] > 1:
        rows = np.concatenate([a.reshape(-1, a.shape[-1]) for a in labels])
        shares = rows.mean(axis=0, dtype=float).clip(1e-9, 1 - 1e-9)
        return float(-(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).mean()), "the entropy of the labels"
    classes = [c for a in labels if (c := classes_of(a)) is not None]
    if not classes or head.form not in ("softmax", "sparse", "sigmoid", "log"):
        return None
    shares = np.unique(np.concatenate(classes), return_counts=True)[1].astype(float)
    shares /= shares.sum()
    return float(-(shares * np.log(shares)).sum()), "the entropy of the labels"


def _independent(head: Head, case: Case) -> str:
    """How it shows that labels say nothing of their inputs: neither the nearest example nor a straight fit does.

    "" where they do, or where it cannot be told.
    """
    examples = _examples(head, case)
    if examples is None:
        return ""
    x, products, y = examples
    n = len(x)
    guesses = y[_nearest(x)], _straight_fit(x, y), _straight_fit(products, y)
    if head.form in _OF_NUMBERS:
        known = [_correlation(y[:, 0], guess[:, 0]) for guess in guesses]  # a fit to nothing is below 0
        return "" if max(np.hypot(known[0], max(known[1], 0.0)), known[2]) > _SURE / np.sqrt(n) else (
            f"of {n} different examples, the target of the nearest other one has a correlation of {known[0]:.2g} with "
            f"their own, and what straight fits of the others, and of products of their numbers, give of {known[1]:.2g}"
            f" and {known[2]:.2g}")
    shares = y.mean(axis=0)
    truth = y.argmax(1)
    hits, right, by_products = (float((guess.argmax(1) == truth).mean()) for guess in guesses)
    chance, most = float((shares ** 2).sum()), float(shares.max())
    off = np.sqrt(most * (1 - most) / n)
    beyond = [(hits - chance) / np.sqrt(chance * (1 - chance) / n), max(right - most, 0.0) / off] if (
        most <= _MOSTLY) else [np.inf]  # in deviations; the two say so together
    if np.linalg.norm(beyond) > _SURE or by_products - most > _SURE * off:
        return ""  # fewer hits than by chance show that they do as well, as with a parity
    return (f"of {n} different examples that were fed, the nearest other one has the same label in {hits:.0%}, by "
            f"chance {chance:.0%}, and straight fits of the others, and of products of their numbers, are right in "
            f"{right:.0%} and {by_products:.0%}")


def _products(x: np.ndarray) -> np.ndarray:
    """Squares and products of the few numbers of each place, summed over all places, or of an example's own."""
    few = x.ndim > 2 and x.shape[-1] <= _CHANNELS or x.shape[-1] > _AXES
    rows = x.reshape(len(x), -1, x.shape[-1] if few and x.ndim > 2 else 1) if few else x.reshape(len(x), 1, -1)
    rows = rows - rows.mean(axis=(0, 1))
    i, j = np.triu_indices(rows.shape[-1])
    return _scaled(np.einsum("npi,npj->nij", rows, rows)[:, i, j])


def _scaled(x: np.ndarray) -> np.ndarray:
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)


def _examples(head: Head, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Different examples that were fed, products of their numbers, and their targets, or classes as a one-hot code."""
    labels = None if head.labels is None else source_of_labels(head.labels)
    if labels is None or not ancestors([head.prediction]).isdisjoint(labels._consumers):  # the input itself, as of
        return None  # an autoencoder
    behind, is_fed = ancestors([case.y]), labels.op.type in PLACEHOLDERS
    given = [t for t, v in case.steps[0].feeds.items() if np.ndim(v)] if is_fed else [
        t for op in case.behind if is_data(t := op.outputs[0])] if labels.op.type == "Pack" else labels.op.outputs
    inputs = [t for t in given if t is not labels and not behind.isdisjoint(t._consumers)]
    read = [*inputs, *(t for c in through(inputs[0]) if c.type == "Cast" for t in c.outputs)] if inputs else []
    are_ids = any(t.dtype.is_integer for t in read)
    if len(inputs) != 1 or not all(t.dtype.is_floating or len(t.dims or ()) == 2 for t in read):
        return None  # of several, such as actions, they may follow from the others
    case.want(labels, inputs[0])
    known = [run.feeds for run in case.steps] if is_fed else [case.values(run) for run in case.looked]
    pairs = [(np.asarray(values[inputs[0]], float), np.asarray(values[labels])) for values in known
             if inputs[0] in values and labels in values and np.ndim(values[inputs[0]]) > 1]
    if head.form in _OF_NUMBERS:
        kept = [(x, y.reshape(len(y), -1)[:, :1].astype(float)) for x, y in pairs if np.ndim(y) and len(x) == len(y)]
    else:
        kept = [(x, c[:, None]) for x, y in pairs if (c := classes_of(y)) is not None and len(x) == len(c)]
    if len({x.shape[1:] for x, _ in kept}) != 1:
        return None
    fed, y = (np.concatenate(each)[::-1] for each in zip(*kept))  # the last first: they may come apart on the way
    x = fed.reshape(len(fed), -1)
    firsts = np.sort(np.unique(x, axis=0, return_index=True)[1])[:3 * _MANY if are_ids else _MANY]
    x, fed, y = x[firsts], fed[firsts], y[firsts]
    if len(firsts) < (2 * _MANY if are_ids else _FEWEST) or not np.isfinite(x).all():
        return None
    if are_ids:
        if x.shape[1] < 2 or not 0 <= x.min() <= x.max() < _WORDS:
            return None
        x = np.stack([np.bincount(row, minlength=int(x.max()) + 1) for row in x.astype(int)]).astype(float)
    return _scaled(x), _products(fed), y if head.form in _OF_NUMBERS else (y == np.unique(y)).astype(float)


def _nearest(x: np.ndarray) -> np.ndarray:
    """The place of the nearest other row of each."""
    squares = (x ** 2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * x @ x.T
    np.fill_diagonal(distances, np.inf)
    return distances.argmin(axis=1)


def _straight_fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What a ridge regression on all other examples gives for each. Source: Allen's PRESS residuals, by hand."""
    gram = x @ x.T + 1.0
    hat = np.linalg.solve(gram + _RIDGE * np.trace(gram) / len(x) * np.eye(len(x)), gram).T
    left = 1 - np.diag(hat)[:, None]
    return y - (y - hat @ y) / np.where(np.abs(left) > 1e-12, left, 1)


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() and b.std() else 0.0
